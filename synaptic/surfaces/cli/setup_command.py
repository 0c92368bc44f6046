"""The command `setup`: says what it will do with each client, does it, and says how to check."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ...errors import InvalidArgument
from ..clients import report
from ..clients.clients import Client, folders
from ..clients.register import Step, carry_out, named, plan
from ..clients.server import NAME, Server, this_server
from ..present import clean
from .replies import answer
from .terminal import Screen, emit, say, screen

_UNSEEN = ("SYNAPTIC_JOURNAL", "SYNAPTIC_MODEL", "SYNAPTIC_PROJECT")


def run(
    home: str | None,
    names: Sequence[str],
    *,
    as_json: bool,
    dry_run: bool,
    show: bool,
    status: bool,
    remove: bool,
    scope: str | None = None,
    project: str | None = None,
) -> int:
    """The exit status of one of the four things that `setup` does: 1 where a client could not be served."""
    if sum((show, status, remove)) > 1 or (dry_run and (show or status)):
        raise InvalidArgument(
            "--print, --status, --remove and --dry-run are different things.", hint="Give one of them."
        )
    chosen, wanted, to = named(names, scope), this_server(home, project), screen(Path.cwd())
    steps = _plans(chosen, scope, wanted, remove=remove, every_scope=status)
    if show and not as_json:
        for step in steps:
            say(f"{step.client.title}, in {to.path(step.file)}:")
            emit(clean(step.snippet if len(steps) > 1 else step.snippet.rstrip()))
        return 0
    if show or status:
        states = clean("\n".join(report.state(step, to.path) for step in steps))
        answer(as_json, {"clients": [report.as_json(step, done=False) for step in steps]}, states)
        return 0
    concerned = steps if names else [step for step in steps if _concerns(step, remove=remove)]
    absent = [] if names or remove else [step.client for step in steps if step not in concerned]
    return _serve(concerned, absent, to, dry_run=dry_run, remove=remove, as_json=as_json)


def _concerns(step: Step, *, remove: bool) -> bool:
    """True when a client that was not named is meant: one that is here; for a removal, one that may know Synaptic."""
    if not remove:
        return step.found
    if step.judged.state == "unreadable":
        return step.old is None or NAME.encode() in step.old
    return step.judged.state != "not registered"


def _serve(
    steps: Sequence[Step], absent: Sequence[Client], to: Screen, *, dry_run: bool, remove: bool, as_json: bool
) -> int:
    done = []
    for step in steps:
        if not as_json:
            emit(clean(report.intent(step, to.path)))
        after = step if dry_run else carry_out(step)
        if not as_json and (said := report.outcome(step, after, to.path, dry_run=dry_run, remove=remove)):
            emit(clean(said))
        done.append(after)
    success = all(step.action != "fail" for step in done)
    notices = [] if remove else _notices(done)
    remarks = []
    if not steps:
        remarks.append("Synaptic is registered with no client." if remove else "No client was found on this machine.")
    if absent:
        remarks.append(report.not_found(absent))
    if dry_run:
        remarks.append("Nothing was changed.")
    data = {
        "success": success,
        "clients": [report.as_json(step, done=not dry_run) for step in done],
        "not_found": [client.name for client in absent],
        "notices": notices,
    }
    answer(as_json, data, "\n".join(remarks), notices)
    return 0 if success else 1


def _plans(
    clients: Sequence[Client], scope: str | None, wanted: Server, *, remove: bool, every_scope: bool
) -> list[Step]:
    """A step for each client; with `every_scope` also for this folder, where it is registered there."""
    where = folders()
    steps = []
    for client in clients:
        steps.append(plan(client, scope or "user", wanted, where, remove=remove))
        if every_scope and scope is None and client.project:
            here = plan(client, "project", wanted, where)
            if here.judged.state != "not registered" and here.file != steps[-1].file:
                steps.append(here)
    return steps


def _notices(steps: Sequence[Step]) -> list[str]:
    """What its user should know, beside what was done."""
    notices = [
        f"{name} is set here, but no client will see it; config.toml can hold it."
        for name in _UNSEEN
        if os.environ.get(name)
    ]
    program = steps[0].wanted.command if steps else ""
    if {"archive-v0", ".cache"} & set(Path(program).parts):
        notices.append(f"{program} is in a cache that may be cleared. Install Synaptic and run this again.")
    if any(step.scope == "project" and step.changes for step in steps):
        notices.append(
            "A client may ask whether you trust a project's server. The path is this machine's: others run this too."
        )
    return notices

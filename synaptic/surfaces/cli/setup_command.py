"""The command `setup`: says what it will do with each client, does it, and says how to check."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...config import HooksConfig, load_config
from ...errors import ConfigError, InvalidArgument
from ...models import Checkup
from ..clients import report
from ..clients.clients import Client, folders, note_command
from ..clients.parts import parts_of
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
    no_hooks: bool = False,
    guidance: bool = False,
    scope: str | None = None,
    project: str | None = None,
) -> int:
    """The exit status of one of the four things that `setup` does: 1 where a client could not be served."""
    if sum((show, status, remove)) > 1 or (dry_run and (show or status)):
        raise InvalidArgument(
            "--print, --status, --remove and --dry-run are different things.", hint="Give one of them."
        )
    chosen, wanted, to = named(names, scope), this_server(home, project), screen(Path.cwd())
    left_out = {"hooks": no_hooks, "guidance": not (guidance or status or remove)}
    steps = _plans(chosen, scope, wanted, _events(home), left_out, remove=remove, every_scope=status and scope is None)
    if show and not as_json:
        for step in steps:
            say(f"{step.client.title}, in {to.path(step.file)}:")
            emit(clean(step.snippet if len(steps) > 1 else step.snippet.rstrip()))
        return 0
    if show or status:
        told = [step for step in steps if step.part.name == "server" or step.judged.state != "not registered" or show]
        states = clean("\n".join(report.state(step, to.path) for step in told))
        answer(as_json, _as_json(steps, done=False), states)
        return 0
    meant = {step.client.name for step in steps if names or _concerns(step, remove=remove)}
    concerned = [step for step in steps if step.client.name in meant]
    absent = [] if remove else [client for client in chosen if client.name not in meant]
    if not (dry_run or remove) and "claude-code" in meant:
        note_command(wanted)
    return _serve(concerned, absent, to, dry_run=dry_run, remove=remove, as_json=as_json)


def checked(found: Checkup, home: str | None) -> Checkup:
    """The checkup, and what is wrong with Claude Code's plugin."""
    client = named(["claude-code"], None)
    added = report.findings(_plans(client, None, this_server(home), (), {}, remove=False, every_scope=False), str)
    return replace(found, ok=found.ok and not added, findings=(*added, *found.findings))


def _events(home: str | None) -> list[str]:
    """The events of hooks that config.toml switches on."""
    hooks = HooksConfig()
    with suppress(ConfigError):  # which hooks.log and every other command name
        hooks = load_config(home).hooks
    return [event for event in ("session-start", "user-prompt", "stop") if getattr(hooks, event.replace("-", "_"))]


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
    done: list[Step] = []
    for planned in steps:
        # what was done before may have changed the same file
        step = plan(planned.client, planned.scope, planned.part, planned.wanted, folders(), remove=remove)
        if step.part.name != "server" and step.action == "nothing" and (remove or step.plugin is not None):
            continue
        if step.part.name == "hooks" and not remove and done and done[-1].action in ("fail", "leave"):
            continue  # beside another server they would speak of another journal
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
        **_as_json(done, done=not dry_run),
        "not_found": [client.name for client in absent],
        "notices": notices,
    }
    answer(as_json, data, "\n".join(remarks), notices)
    return 0 if success else 1


def _as_json(steps: Sequence[Step], *, done: bool) -> dict[str, Any]:
    """The steps by part; those of the server under `clients`."""
    by_part: dict[str, Any] = {"clients": [], "hooks": [], "guidance": []}
    for step in steps:
        by_part["clients" if step.part.name == "server" else step.part.name].append(report.as_json(step, done=done))
    return by_part


def _plans(
    clients: Sequence[Client],
    scope: str | None,
    wanted: Server,
    events: Sequence[str],
    left_out: Mapping[str, bool],
    *,
    remove: bool,
    every_scope: bool,
) -> list[Step]:
    """A step for each part of each client; with `every_scope` also for this folder, where it is registered there.

    A removal goes the other way round, so that each part finds its file as it was when that part was put in.
    """
    where = folders()
    steps: list[Step] = []
    for client in clients:
        there = [
            plan(client, scope or "user", part, wanted, where, remove=remove)
            for part in parts_of(client, scope or "user", wanted, where, events)
            if not left_out.get(part.name)
        ]
        for part in parts_of(client, "project", wanted, where, events) if every_scope and client.project else ():
            here = plan(client, "project", part, wanted, where)
            if here.judged.state != "not registered" and here.file not in {step.file for step in there}:
                there.append(here)
        steps += reversed(there) if remove else there
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

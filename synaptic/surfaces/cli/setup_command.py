"""The command `setup`: registers Synaptic with each client, and says how to check it."""

from __future__ import annotations

import os
import shlex
import sys
import textwrap
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...config import HooksConfig, load_config, resolve_home
from ...errors import ConfigError, InvalidArgument
from ...verbs.adopt import write_setting
from ..clients.clients import (
    PLUGIN,
    Client,
    Server,
    folders,
    has_plugin,
    named,
    note_command,
    server_at,
    this_server,
)
from ..clients.parts import EVENTS, Part, parts_of
from ..clients.register import Step, carry_out, plan
from ..render.present import clean
from ..render.terminal import emit, is_terminal, say, screen
from .import_command import offer
from .replies import answer

_LOCAL = ("http://127.0.0.1", "http://[::1]", "http://localhost")


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
    capture: bool = False,
    project: str | None = None,
    url: str | None = None,
) -> int:
    """Returns the exit status: 1 where a client could not be served."""
    _check_flags([show, status, remove], dry_run, url, project or capture)
    kinds = ["server"]
    if not (no_hooks or url):
        kinds.append("hooks")
    if guidance or status or remove:
        kinds.append("guidance")
    wanted = server_at(url) if url else this_server(home, project)
    clients = named(names, remote=bool(url))
    absent = []
    if not (names or show or status or remove):
        absent = [client for client in clients if not client.found(folders())]
    here = [client for client in clients if client not in absent]
    parts = _parts(here, wanted, kinds, _events(home, capture))
    if show or status:
        _tell(parts, show=show, as_json=as_json)
        return 0
    adds = not (dry_run or remove)
    if adds and capture:
        write_setting(resolve_home(home), "capture", True)
    if adds and not url and named(["claude-code"])[0] in here:
        note_command(wanted)
    done = _work_off(parts, bool(names), remove=remove, dry_run=dry_run, as_json=as_json)
    notices = [] if remove else _notices(wanted)
    if remove and not (names or dry_run):
        notices = _end_capture(home)
    data = {
        "success": not _failed(done),
        **_as_json(done, done=not dry_run),
        "not_found": [client.name for client in absent],
        "notices": notices,
    }
    answer(as_json, data, _remarks(done, absent, remove=remove, dry_run=dry_run), notices)
    asks = adds and not (url or as_json) and is_terminal(sys.stdin, sys.stderr)
    if asks and not (resolve_home(home) / "sessions").exists():
        offer(home)
    return 1 if _failed(done) else 0


def _work_off(
    parts: Sequence[Part], chosen: bool, *, remove: bool, dry_run: bool, as_json: bool
) -> list[Step]:
    """Says and does the step of each part; returns them as they ended. Where clients were not
    chosen by name, a removal passes over what is not there.
    """
    done: list[Step] = []
    for part in parts:
        step = _planned(part, remove=remove)
        if step.action == "nothing" and remove and not (chosen and part.name == "server"):
            continue
        if part.name == "hooks" and _failed(done[-1:]) and not remove:
            continue  # beside another server they would speak of another journal
        after = step if dry_run else carry_out(step)
        done.append(after)
        if not as_json:
            emit(clean(_told(step, after, remove=remove, dry_run=dry_run)))
    return done


def _check_flags(
    actions: Sequence[bool], dry_run: bool, url: str | None, local: str | bool
) -> None:
    show, status, _ = actions
    if sum(actions) > 1 or (dry_run and (show or status)):
        raise InvalidArgument(
            "--print, --status, --remove and --dry-run exclude each other.",
            hint="Give one of them.",
        )
    if url and local:
        hint = (
            "The server's token names the project; `synaptic setup --capture` on its machine "
            "keeps digests."
        )
        raise InvalidArgument("--url goes without --project and --capture.", hint=hint)


def _events(home: str | None, capture: bool) -> list[str]:
    """Returns the events of hooks that config.toml switches on."""
    hooks = HooksConfig()
    with suppress(ConfigError):  # which hooks.log and every other command name
        config = load_config(home)
        hooks, capture = config.hooks, config.capture or capture
    return [event for event in EVENTS if getattr(hooks, event.replace("-", "_"), capture)]


def _parts(
    clients: Sequence[Client], wanted: Server, kinds: Sequence[str], events: Sequence[str]
) -> list[Part]:
    parts = []
    for client in clients:
        every = parts_of(client, wanted, folders(), events)
        parts += [part for part in every if part.name in kinds]
    return parts


def _planned(part: Part, *, remove: bool = False) -> Step:
    """Returns the step for a part; where Claude Code's plugin brings it, there is nothing to
    do.
    """
    step = plan(part, remove=remove)
    brought = part.client.name == "claude-code" and part.name != "guidance"
    if remove or not (brought and has_plugin(folders())):
        return step
    why = f"the plugin {PLUGIN} brings the server, the hooks and a skill"
    if step.there:
        why += "; `synaptic setup claude-code --remove` leaves it alone"
    return replace(step, action="nothing", why=why)


def _failed(steps: Sequence[Step]) -> bool:
    return any(step.action == "fail" for step in steps)


def _tell(parts: Sequence[Part], *, show: bool, as_json: bool) -> None:
    """Shows the text of each part, or says where it is registered."""
    if show and not as_json:
        for part in parts:
            say(f"{part.client.title}, in {_shown(part)}:")
            emit(clean(part.put("")))
        return
    steps = [_planned(part) for part in parts]
    lines = [
        f"{step.part.client.title:15} {_state(step)}"
        for step in steps
        if step.state != "not registered" or step.part.name == "server"
    ]
    answer(as_json, _as_json(steps, done=False), clean("\n".join(lines)))


def _remarks(
    done: Sequence[Step], absent: Sequence[Client], *, remove: bool, dry_run: bool
) -> str:
    remarks = []
    if not done and remove:
        remarks.append("Synaptic is registered with no client.")
    elif not done:
        remarks.append("No client was found on this machine.")
    if absent:
        titles = ", ".join(f"{client.title} ({client.name})" for client in absent)
        remarks.append(
            f"Not found: {titles}.\n`synaptic setup NAME` registers one all the same, "
            f"--print shows what to paste."
        )
    if dry_run:
        remarks.append("Nothing was changed.")
    return "\n".join(remarks)


def _end_capture(home: str | None) -> list[str]:
    """Switches `capture` off, as no client notes ended sessions any more; returns notices."""
    with suppress(ConfigError):
        if load_config(home).capture:
            write_setting(resolve_home(home), "capture", False)
            return [
                "No digests of sessions are made any more: config.toml says capture = false. "
                "Those that are there stay."
            ]
    return []


def _as_json(steps: Sequence[Step], *, done: bool) -> dict[str, Any]:
    """Returns the steps by part; those of the server under `clients`."""
    by_part: dict[str, Any] = {"server": [], "hooks": [], "guidance": []}
    for step in steps:
        part = step.part
        fields = {
            "client": part.client.name,
            "title": part.client.title,
            "found": part.client.found(folders()),
            "path": str(part.file),
            "state": step.state,
            "action": step.action,
            "done": done and step.changes,
            "by": list(step.by),
            "message": step.why,
            "backup": str(step.backup) if step.backup else None,
            "snippet": part.put(""),
            "check": part.check,
        }
        by_part[part.name].append(fields)
    return {"clients": by_part.pop("server"), **by_part}


def _notices(wanted: Server) -> list[str]:
    """Returns what the user should know beside the steps."""
    notices = []
    if wanted.url:
        notices.append(
            "SYNAPTIC_TOKEN must hold the token where these clients start; `synaptic token "
            "NAME` makes one."
        )
        if wanted.url.startswith("http:") and not wanted.url.startswith(_LOCAL):
            notices.append(
                f"Anyone on the way to {wanted.url} can read the token: put TLS in front."
            )
        return notices
    unseen = ("SYNAPTIC_JOURNAL", "SYNAPTIC_MODEL", "SYNAPTIC_PROJECT")
    notices += [
        f"{name} is set here, but no client will see it; config.toml can hold it."
        for name in unseen
        if os.environ.get(name)
    ]
    if not {"archive-v0", ".cache"}.isdisjoint(Path(wanted.command).parts):
        notices.append(
            f"{wanted.command} is in a cache that may be cleared. Install Synaptic and run "
            f"this again."
        )
    return notices


# -- sentences
# ----------------------------------------------------------------------------------------------


def _shown(part: Part) -> str:
    return screen(Path.cwd().joinpath).path(part.file)


def _told(step: Step, after: Step, *, remove: bool, dry_run: bool) -> str:
    """Returns the sentence on a step, its result, and the next thing to do."""
    part, file = step.part, _shown(step.part)
    if step.action == "fail":
        deed = f"{step.why} It is left as it is."
    elif step.action == "nothing":
        deed = _state(step)
    elif step.by:
        deed = f"runs {shlex.join([Path(step.by[0]).name, *step.by[1:]])}"
    elif remove:
        deed = f"takes {part.noun} out of {file}"
    else:
        deed = f"adds {part.noun} to {file}"
    lines = [f"{part.client.title}: {deed}"]
    if after.action == "fail":
        if step.action != "fail":
            lines.append(f"  Failed. {after.why}")
        if remove:
            lines.append(f"  Take {part.noun} out of it.")
        else:
            lines.append(f"  Paste this into {file}:")
            lines.append(textwrap.indent(part.put("").rstrip(), "  "))
    elif step.changes and not dry_run:
        lines.append("  Done.")
        if after.backup:
            lines.append(f"  As it was before: {after.backup}")
        if not remove:
            lines.append(f"  Check: {part.check}")
    return "\n".join(lines)


def _state(step: Step) -> str:
    """Returns the sentence on this part of the client."""
    part, file = step.part, _shown(step.part)
    if step.state == "unreadable":
        return step.why
    if step.there and part.name == "server":
        said = f"registered in {file}"
    elif step.there:
        said = f"{part.noun} in {file}"
    elif step.why:
        return step.why
    else:
        said = "not registered" if part.name == "server" else f"no {part.name}"
        if not part.client.found(folders()):
            said += "; not found on this machine"
    if step.state == "outdated":
        said += ", not up to date: the same setup again mends that"
    return f"{said}; {step.why}" if step.why else said

"""The command `setup`: registers Synaptic with each client, and says how to check it."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from ...config import HooksConfig, load_config, resolve_home
from ...errors import ConfigError, InvalidArgument
from ...verbs.adopt import write_setting
from ..clients.clients import (
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
from ..render.terminal import emit, is_terminal, say
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
    if show + status + remove > 1:
        raise InvalidArgument("--print, --status and --remove exclude each other.")
    if url and (project or capture):
        hint = "The server's token names the project; `synaptic setup --capture` there digests."
        raise InvalidArgument("--url goes without --project and --capture.", hint=hint)
    wanted = server_at(url) if url else this_server(home, project)
    clients = named(names, remote=bool(url))
    absent = []
    if not (names or show or status or remove):
        absent = [client for client in clients if not client.found(folders())]
    kinds = {
        "server": True,
        "hooks": not (no_hooks or url),
        "guidance": guidance or status or remove,
    }
    parts = []
    for client in clients:
        if client not in absent:
            every = parts_of(client, wanted, folders(), _events(home, capture))
            parts += [part for part in every if kinds[part.name]]
    if show or status:
        _tell(parts, show=show, as_json=as_json)
        return 0
    notices = [] if remove else _notices(wanted)
    adds = not (dry_run or remove)
    if adds and capture:
        write_setting(resolve_home(home), "capture", True)
    if adds and not url and "claude-code" in {part.client.name for part in parts}:
        note_command(wanted)
    if remove and not (names or dry_run):
        notices = _end_capture(home)
    done = _work_off(parts, remove=remove, dry_run=dry_run, as_json=as_json)
    failed = any(step.action == "fail" for step in done)
    data = {
        "success": not failed,
        **_as_json(done),
        "not_found": [client.name for client in absent],
        "notices": notices,
    }
    answer(as_json, data, _remarks(done, absent, dry_run=dry_run), notices)
    asks = adds and not (url or as_json) and is_terminal(sys.stdin, sys.stderr)
    if asks and not (resolve_home(home) / "sessions").exists():
        offer(home)
    return 1 if failed else 0


def _events(home: str | None, capture: bool) -> list[str]:
    """Returns the events of hooks that config.toml switches on."""
    hooks = HooksConfig()
    with suppress(ConfigError):  # which hooks.log and every other command name
        config = load_config(home)
        hooks, capture = config.hooks, config.capture or capture
    return [event for event in EVENTS if getattr(hooks, event.replace("-", "_"), capture)]


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


def _planned(part: Part, *, remove: bool = False) -> Step:
    """Returns the step for a part; there is nothing to add beside Claude Code's plugin."""
    step = plan(part, remove=remove)
    brought = part.client.name == "claude-code" and part.name != "guidance"
    if brought and not remove and has_plugin(folders()):
        why = "the plugin synaptic@synaptic brings the server, the hooks and a skill"
        return replace(step, action="nothing", why=why)
    return step


def _work_off(
    parts: Sequence[Part], *, remove: bool, dry_run: bool, as_json: bool
) -> list[Step]:
    """Says and does the step of each part; returns them as they ended."""
    done: list[Step] = []
    for part in parts:
        step = _planned(part, remove=remove)
        if step.action == "nothing" and not step.there and (remove or part.name != "server"):
            continue
        if part.name == "hooks" and done[-1].action == "fail" and not remove:
            continue  # beside another server they would speak of another journal
        if not dry_run:
            step = carry_out(step)
        done.append(step)
        if not as_json:
            emit(clean(_told(step, remove=remove)))
    return done


def _tell(parts: Sequence[Part], *, show: bool, as_json: bool) -> None:
    """Shows the text of each part, or says where it is registered."""
    steps = [_planned(part) for part in parts]
    if as_json:
        return answer(True, _as_json(steps), "")
    for step in steps:
        part = step.part
        if show:
            say(f"{part.client.title}, in {part.file}:")
            emit(clean(part.put("")))
        elif step.state != "not registered" or part.name == "server":
            emit(clean(f"{part.client.title:15} {_state(step)}"))
    return None


def _remarks(done: Sequence[Step], absent: Sequence[Client], *, dry_run: bool) -> str:
    remarks = []
    if not done:
        remarks.append("Synaptic is registered with none of these clients.")
    if absent:
        titles = ", ".join(f"{client.title} ({client.name})" for client in absent)
        remarks.append(
            f"Not found: {titles}.\n`synaptic setup NAME` registers one all the same, "
            f"--print shows what to paste."
        )
    if dry_run:
        remarks.append("Nothing was changed.")
    return "\n".join(remarks)


def _as_json(steps: Sequence[Step]) -> dict[str, Any]:
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
            "done": step.done,
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
    if not wanted.url:
        unseen = ("SYNAPTIC_JOURNAL", "SYNAPTIC_MODEL", "SYNAPTIC_PROJECT")
        return [
            f"{name} is set here, but no client will see it; config.toml can hold it."
            for name in unseen
            if os.environ.get(name)
        ]
    notices = [
        "SYNAPTIC_TOKEN must hold the token where these clients start; `synaptic token NAME` "
        "makes one."
    ]
    if wanted.url.startswith("http:") and not wanted.url.startswith(_LOCAL):
        notices.append(
            f"Anyone on the way to {wanted.url} can read the token: put TLS in front."
        )
    return notices


# -- sentences
# ----------------------------------------------------------------------------------------------


def _told(step: Step, *, remove: bool) -> str:
    """Returns the sentence on a step, its result, and the next thing to do."""
    part = step.part
    deed = f"adds {part.noun} to {part.file}"
    if step.action == "fail":
        deed = f"{step.why} It is left as it is."
    elif step.action == "nothing":
        deed = _state(step)
    elif step.by:
        deed = f"runs {shlex.join(step.by)}"
    elif remove:
        deed = f"takes {part.noun} out of {part.file}"
    lines = [f"{part.client.title}: {deed}"]
    if step.action == "fail" and remove:
        lines.append(f"  Take {part.noun} out of it.")
    elif step.action == "fail":
        lines.append(f"  Paste this into {part.file}:\n{part.put('').rstrip()}")
    if step.done:
        lines.append("  Done.")
        if step.backup:
            lines.append(f"  As it was before: {step.backup}")
        if not remove:
            lines.append(f"  Check: {part.check}")
    return "\n".join(lines)


def _state(step: Step) -> str:
    """Returns the sentence on this part of the client."""
    part = step.part
    if step.state == "unreadable":
        return step.why
    said = []
    if step.there:
        noun = "registered" if part.name == "server" else part.noun
        said.append(f"{noun} in {part.file}")
    if step.state == "outdated":
        said.append("not up to date: the same setup again mends that")
    if step.why:
        said.append(step.why)
    elif not step.there:
        said.append("not registered")
    if not part.client.found(folders()):
        said.append("not found on this machine")
    return "; ".join(said)

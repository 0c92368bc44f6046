"""The command `setup`: says how each client will change, changes it, and names the check."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ...config import HooksConfig, load_config, resolve_home
from ...errors import ConfigError, InvalidArgument, SynapticError
from ...verbs.adopt import write_setting
from ...verbs.doctor import Checkup, Finding
from ..clients.clients import (
    NAME,
    Client,
    Server,
    folders,
    note_command,
    server_at,
    this_server,
)
from ..clients.parts import EVENTS, parts_of
from ..clients.register import Step, carry_out, named, plan
from ..render.present import clean
from ..render.terminal import Output, emit, is_terminal, say, screen
from .import_command import offer
from .replies import answer

_PLUGIN = {
    True: "the plugin synaptic@synaptic brings the server, the hooks and a skill",
    False: "the plugin synaptic@synaptic finds no program; `synaptic setup claude-code` "
    "tells it where this one is",
}
_BESIDE = "; the plugin is there, too: `synaptic setup claude-code --remove` leaves it alone"
_LOCAL = ("127.0.0.1", "::1", "localhost")
_PARTS = ("server", "hooks", "guidance")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    """The server that clients should start, the parts that are meant, and the direction."""

    home: str | None
    wanted: Server
    parts: Sequence[str] = _PARTS
    remove: bool = False
    dry_run: bool = False
    capture: bool = False

    def steps(self, clients: Iterable[Client], scope: str) -> Iterator[Step]:
        """Yields a step for each part of each client, planned when the one before it is done.

        A removal goes the other way round, so that each part finds its file as it was when that
        part was put in.
        """
        where, events = folders(), self._events()
        for client in clients:
            parts = parts_of(client, scope, self.wanted, where, events)
            if self.remove:
                parts.reverse()
            for part in parts:
                if part.name in self.parts:
                    yield plan(client, scope, part, self.wanted, where, remove=self.remove)

    def _events(self) -> list[str]:
        """Returns the events of hooks that config.toml switches on."""
        hooks, capture = HooksConfig(), self.capture
        with suppress(ConfigError):  # which hooks.log and every other command name
            config = load_config(self.home)
            hooks, capture = config.hooks, config.capture or capture
        return [event for event in EVENTS if getattr(hooks, event.replace("-", "_"), capture)]


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
    scope: str | None = None,
    project: str | None = None,
    url: str | None = None,
) -> int:
    """Returns the exit status: 1 where a client could not be served."""
    _check_flags([show, status, remove], dry_run, url, project or capture)
    reads_only = dry_run or show or status
    if capture and not (reads_only or remove):
        write_setting(resolve_home(home), "capture", True)
    parts = ["server"]
    if not (no_hooks or url):
        parts.append("hooks")
    if guidance or status or remove:
        parts.append("guidance")
    request = _Request(
        home=home,
        wanted=server_at(url) if url else this_server(home, project),
        parts=parts,
        remove=remove,
        dry_run=dry_run,
        capture=capture,
    )
    clients = named(names, scope, remote=bool(url))
    meant = clients
    if not (names or show or status or remove):
        meant = tuple(client for client in clients if client.found(folders()))
    if status or show:
        steps = list(request.steps(meant, scope or "user"))
        if status and scope is None:
            steps += _project_steps(request, clients, steps)
        _tell_state(steps, show=show, as_json=as_json)
        return 0
    if not (reads_only or remove or url) and any(c.name == "claude-code" for c in meant):
        note_command(request.wanted)
    planned = request.steps(meant, scope or "user")
    done = _work_off(planned, request, all_clients=not names, as_json=as_json)
    if not remove:
        notices = _notices(done)
    elif scope == "project" or dry_run:
        notices = []
    else:
        notices = _end_capture(home, all_clients=not names)
    absent = [client for client in clients if client not in meant]
    code = _conclude(done, absent, request, notices, as_json=as_json)
    first = not (url or (resolve_home(home) / "sessions").exists())
    if first and not (reads_only or remove or as_json) and is_terminal(sys.stdin, sys.stderr):
        offer(home)
    return code


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


def _project_steps(
    request: _Request, clients: Iterable[Client], steps: Iterable[Step]
) -> list[Step]:
    """Returns the registrations in this folder's own files."""
    files = {step.part.file for step in steps}
    able = [client for client in clients if client.project]
    others = [step for step in request.steps(able, "project") if step.part.file not in files]
    return [step for step in others if step.judged.state != "not registered"]


def _tell_state(steps: Sequence[Step], *, show: bool, as_json: bool) -> None:
    to = screen(Path.cwd().joinpath)
    if show and not as_json:
        for step in steps:
            say(f"{step.client.title}, in {to.path(step.part.file)}:")
            snippet = step.part.put("")
            emit(clean(snippet if len(steps) > 1 else snippet.rstrip()))
        return
    lines = [
        f"{step.client.title:15} {_state(step, to.path(step.part.file))}"
        for step in steps
        if step.part.name == "server" or step.judged.state != "not registered"
    ]
    answer(as_json, _as_json(steps, done=False), clean("\n".join(lines)))


def checked(checkup: Checkup, home: str | None) -> Checkup:
    """Returns the checkup with faults of Claude Code's plugin."""
    request = _Request(home=home, wanted=this_server(home))
    findings = []
    for step in request.steps(named(["claude-code"], None), "user"):
        twice = step.plugin and step.judged.state != "not registered"
        if step.plugin is False or twice:
            text = f"Claude Code: {_state(step, str(step.part.file))}."
            findings.append(Finding("warning", "plugin", text))
    ok = checkup.ok and not findings
    return replace(checkup, ok=ok, findings=(*findings, *checkup.findings))


def _work_off(
    steps: Iterable[Step], request: _Request, *, all_clients: bool, as_json: bool
) -> list[Step]:
    """Says and does each step; returns them as they ended."""
    to = screen(Path.cwd().joinpath)
    done: list[Step] = []
    for step in steps:
        idle = step.action == "nothing"
        if idle and request.remove and (all_clients or step.part.name != "server"):
            continue
        if idle and step.part.name != "server" and step.plugin is not None:
            continue
        refused = done and done[-1].action in ("fail", "leave")
        if step.part.name == "hooks" and refused and not request.remove:
            continue  # beside another server they would speak of another journal
        if not as_json:
            emit(clean(_intent(step, to)))
        after = step if request.dry_run else carry_out(step)
        text = _outcome(step, after, to, request)
        if text and not as_json:
            emit(clean(text))
        done.append(after)
    return done


def _conclude(
    done: Sequence[Step],
    absent: Sequence[Client],
    request: _Request,
    notices: Sequence[str],
    *,
    as_json: bool,
) -> int:
    """Answers with the remarks on all steps; returns the exit status."""
    success = all(step.action != "fail" for step in done)
    remarks = []
    if not done and request.remove:
        remarks.append("Synaptic is registered with no client.")
    elif not done:
        remarks.append("No client was found on this machine.")
    if absent:
        titles = ", ".join(f"{client.title} ({client.name})" for client in absent)
        remarks.append(
            f"Not found: {titles}.\n`synaptic setup NAME` registers one all the same, "
            f"--print shows what to paste."
        )
    if request.dry_run:
        remarks.append("Nothing was changed.")
    data = {
        "success": success,
        **_as_json(done, done=not request.dry_run),
        "not_found": [client.name for client in absent],
        "notices": notices,
    }
    answer(as_json, data, "\n".join(remarks), notices)
    return 0 if success else 1


def _end_capture(home: str | None, *, all_clients: bool) -> list[str]:
    """Switches `capture` off if no client is left that notes ended sessions; returns notices.

    Claude Code's plugin counts as such a client, unless all clients were removed.
    """
    try:
        if not load_config(home).capture:
            return []
        request = _Request(home=home, wanted=this_server(home), parts=["hooks"])
        for step in request.steps(named((), None), "user"):
            state = step.judged.state
            if all_clients and state == "unreadable":
                continue  # a client ignores such a file whole
            if state != "not registered" or (step.plugin is not None and not all_clients):
                return []
        write_setting(resolve_home(home), "capture", False)
    except SynapticError as error:
        return [str(error)]
    return [
        "No digests of sessions are made any more: config.toml says capture = false. Those "
        "that are there stay."
    ]


def _as_json(steps: Sequence[Step], *, done: bool) -> dict[str, Any]:
    """Returns the steps by part; those of the server under `clients`."""
    by_part: dict[str, Any] = {"clients": [], "hooks": [], "guidance": []}
    for step in steps:
        server = step.judged.server
        fields = {
            "client": step.client.name,
            "title": step.client.title,
            "found": step.found,
            "scope": step.scope,
            "path": str(step.part.file),
            "state": step.judged.state,
            "registered": server.line if server else None,
            "action": step.action,
            "done": done and step.changes,
            "by": list(step.by),
            "message": step.why,
            "backup": str(step.backup) if step.backup else None,
            "snippet": step.part.put(""),
            "check": step.part.check,
            "waits": list(step.waits),
            "plugin": step.plugin,
        }
        by_part["clients" if step.part.name == "server" else step.part.name].append(fields)
    return by_part


def _notices(steps: Sequence[Step]) -> list[str]:
    """Returns what the user should know beside the steps."""
    wanted = steps[0].wanted if steps else Server("", ())
    if wanted.url:
        notices = [
            "SYNAPTIC_TOKEN must hold the token where these clients start; `synaptic token "
            "NAME` makes one."
        ]
        if wanted.url.startswith("http:") and urlsplit(wanted.url).hostname not in _LOCAL:
            notices.append(
                f"Anyone on the way to {wanted.url} can read the token: put TLS in front."
            )
        return notices
    notices = []
    for name in ("SYNAPTIC_JOURNAL", "SYNAPTIC_MODEL", "SYNAPTIC_PROJECT"):
        if os.environ.get(name):
            notices.append(
                f"{name} is set here, but no client will see it; config.toml can hold it."
            )
    if not {"archive-v0", ".cache"}.isdisjoint(Path(wanted.command).parts):
        notices.append(
            f"{wanted.command} is in a cache that may be cleared. Install Synaptic and run "
            f"this again."
        )
    if any(step.scope == "project" and step.changes for step in steps):
        notices.append(
            "A client may ask whether you trust a project's server. The path is this "
            "machine's: others run this too."
        )
    return notices


# -- sentences
# ----------------------------------------------------------------------------------------------


def _intent(step: Step, to: Output) -> str:
    """Returns the sentence before a step."""
    return f"{step.client.title}: {_deed(step, to.path(step.part.file))}"


def _deed(step: Step, file: str) -> str:
    noun = step.part.noun
    if step.action == "nothing":
        return _state(step, file)
    if step.action == "fail":
        return f"{step.why} It is left as it is."
    if step.action == "leave":
        command = f"synaptic setup {step.client.name}"
        if step.scope == "project":
            command += " --scope project"
        return (
            f"{file} registers it in another way, which is left as it is: {_there(step)}\n"
            f"  Wanted: {step.wanted.line}\n"
            f"  To have that: {command} --remove, then this again"
        )
    if step.by:
        return f"runs {shlex.join([Path(step.by[0]).name, *step.by[1:]])}"
    if step.action == "remove":
        if step.new is None:
            return f"removes {file}, which is empty then"
        return f"takes {noun} out of {file}"
    if step.action == "register":
        return (
            f"adds {noun} to {file}" if step.old is not None else f"makes {file}, with {noun}"
        )
    old = f", in place of {step.judged.server.line}" if step.judged.server else ""
    return f"puts {noun} into {file}{old}"


def _outcome(step: Step, after: Step, to: Output, request: _Request) -> str:
    """Returns the result of a step and the next thing to do; empty where there is neither."""
    part = after.part
    if after.action == "fail":
        text = "" if step.action == "fail" else f"Failed. {after.why}\n"
        if not request.remove:
            text += f"Paste this into {to.path(part.file)}:\n{part.put('').rstrip()}"
        elif part.name == "server":
            text += f"Take what stands at {after.client.key}.{NAME} out of it."
        else:
            text += f"Take {part.noun} out of it."
        return textwrap.indent(text, "  ")
    if request.dry_run or not after.changes:
        return ""
    lines = ["  Done."]
    if after.backup:
        lines = [f"  Done. As it was before: {to.path(after.backup)}"]
    if after.action != "remove":
        lines.append(f"  Check: {part.check}")
        if part.name == "server" and after.scope == "user" and after.client.offer:
            lines.append(f"  {after.client.offer}")
    return "\n".join(lines)


def _state(step: Step, file: str) -> str:
    """Returns the sentence on this part of the client."""
    state, server = step.judged.state, step.judged.server
    is_server = step.part.name == "server"
    if state == "unreadable":
        return step.why
    if state == "not registered":
        if step.plugin is not None:
            return _PLUGIN[step.plugin]
        absent = state if is_server else f"no {step.part.name}"
        return absent if step.found else f"{absent}; not found on this machine"
    if server and server.url and not step.wanted.url:
        return f"registered in {file}, at {server.line}"
    text = f"{'registered' if is_server else step.part.noun} in {file}"
    if state == "gone" and server:
        text += f", but the command is gone: {server.line}"
    elif state == "different":
        text += f" in another way: {_there(step)}"
    elif state == "other program" and is_server:
        text += f" with another program: {_there(step)}"
    elif state == "other program":
        flag = " --guidance" if step.part.name == "guidance" else ""
        text += f", not up to date: `synaptic setup {step.client.name}{flag}` mends that"
    if step.judged.off:
        text += ", but switched off there"
    if step.waits:
        text += f", waiting for approval ({', '.join(step.waits)}): approve in /hooks"
    if step.plugin is not None:
        text += _BESIDE if step.plugin else f"; {_PLUGIN[False]}"
    return text


def _there(step: Step) -> str:
    """Returns the command or address of an entry, with a remark where the command is gone."""
    server = step.judged.server
    if server is None:
        return "no program of this machine"
    if server.url or shutil.which(server.command):
        return server.line
    return f"{server.line}, and that command is gone"

"""The command `setup`: says what it will do with each client, does it, and says how to check."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
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
    """The exit status of one of the four things that `setup` does: 1 where a client could not
    be served.
    """
    if sum((show, status, remove)) > 1 or (dry_run and (show or status)):
        raise InvalidArgument(
            "--print, --status, --remove and --dry-run are different things.",
            hint="Give one of them.",
        )
    if url and (project or capture):
        hint = (
            "The server's token says the project; `synaptic setup --capture` on its "
            "machine keeps "
            "digests."
        )
        raise InvalidArgument("--url goes without --project and --capture.", hint=hint)
    if capture and not (dry_run or show or status or remove):
        write_setting(resolve_home(home), "capture", True)
    wanted = server_at(url) if url else this_server(home, project)
    chosen, to = named(names, scope, remote=bool(url)), screen(Path.cwd().joinpath)
    asked = {
        "server": True,
        "hooks": not (no_hooks or url),
        "guidance": guidance or status or remove,
    }
    left_out = [part for part in asked if not asked[part]]
    meant = [
        client
        for client in chosen
        if names or show or status or remove or client.found(folders())
    ]
    plans = partial(
        _plans, wanted=wanted, home=home, left_out=left_out, remove=remove, capture=capture
    )
    if show or status:
        steps = list(plans(meant, scope or "user"))
        if status and scope is None:
            files = {step.part.file for step in steps}
            here = plans([client for client in chosen if client.project], "project")
            steps += [
                step
                for step in here
                if step.judged.state != "not registered" and step.part.file not in files
            ]
        for step in steps if show and not as_json else ():
            say(f"{step.client.title}, in {to.path(step.part.file)}:")
            emit(clean(step.part.put("") if len(steps) > 1 else step.part.put("").rstrip()))
        if status or as_json:
            told = (
                step
                for step in steps
                if step.part.name == "server" or step.judged.state != "not registered"
            )
            lines = (
                f"{step.client.title:15} {_state(step, to.path(step.part.file))}"
                for step in told
            )
            answer(as_json, _as_json(steps, done=False), clean("\n".join(lines)))
        return 0
    if not (dry_run or remove or url) and "claude-code" in (client.name for client in meant):
        note_command(wanted)
    ordered = (
        step
        for step in plans(meant, scope or "user")
        if names or not remove or step.action != "nothing"
    )
    absent = [client for client in chosen if client not in meant]
    ending = (
        partial(_end_capture, home, some=bool(names))
        if scope != "project" and not dry_run
        else list[str]
    )
    code = _serve(
        ordered, absent, to, dry_run=dry_run, remove=remove, as_json=as_json, ending=ending
    )
    first = not (url or (resolve_home(home) / "sessions").exists())
    if first and not (dry_run or remove or as_json) and is_terminal(sys.stdin, sys.stderr):
        offer(home)
    return code


def checked(found: Checkup, home: str | None) -> Checkup:
    """The checkup, and what is wrong with Claude Code's plugin."""
    added = [
        Finding("warning", "plugin", f"Claude Code: {_state(step, str(step.part.file))}.")
        for step in _plans(
            named(["claude-code"], None), "user", this_server(home), home, (), remove=False
        )
        if step.plugin is False or (step.plugin and step.judged.state != "not registered")
    ]
    return replace(found, ok=found.ok and not added, findings=(*added, *found.findings))


def _serve(
    steps: Iterable[Step],
    absent: Sequence[Client],
    to: Output,
    *,
    dry_run: bool,
    remove: bool,
    as_json: bool,
    ending: Callable[[], list[str]],
) -> int:
    """The exit status. `ending` is called after a removal, for its notices."""
    done: list[Step] = []
    for step in steps:
        if (
            step.part.name != "server"
            and step.action == "nothing"
            and (remove or step.plugin is not None)
        ):
            continue
        if (
            step.part.name == "hooks"
            and not remove
            and done
            and done[-1].action in ("fail", "leave")
        ):
            continue  # beside another server they would speak of another journal
        if not as_json:
            emit(clean(_intent(step, to)))
        after = step if dry_run else carry_out(step)
        if not as_json and (said := _outcome(step, after, to, dry_run=dry_run, remove=remove)):
            emit(clean(said))
        done.append(after)
    success = all(step.action != "fail" for step in done)
    notices = ending() if remove else _notices(done)
    remarks = []
    if not done:
        remarks.append(
            "Synaptic is registered with no client."
            if remove
            else "No client was found on this machine."
        )
    if absent:
        titles = ", ".join(f"{client.title} ({client.name})" for client in absent)
        remarks.append(
            f"Not found: {titles}.\n`synaptic setup NAME` registers one all the same, "
            f"--print shows what to paste."
        )
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


def _end_capture(home: str | None, *, some: bool) -> list[str]:
    """Notices. Where no client is left that notes the sessions which end, the setting `capture`
    goes off.

    After a removal from `some` clients Claude Code's plugin counts as one.
    """
    try:
        if not load_config(home).capture:
            return []
        steps = _plans(
            named((), None),
            "user",
            this_server(home),
            home,
            ("server", "guidance"),
            remove=False,
        )
        idle = (
            {"not registered"} if some else {"not registered", "unreadable"}
        )  # a client ignores such a file whole
        if any(
            step.judged.state not in idle or (some and step.plugin is not None)
            for step in steps
        ):
            return []
        write_setting(resolve_home(home), "capture", False)
    except SynapticError as error:
        return [str(error)]
    return [
        "No digests of sessions are made any more: config.toml says capture = false. Those "
        "that are there stay."
    ]


def _as_json(steps: Sequence[Step], *, done: bool) -> dict[str, Any]:
    """The steps by part; those of the server under `clients`."""
    by_part: dict[str, Any] = {"clients": [], "hooks": [], "guidance": []}
    for step in steps:
        said = {
            "client": step.client.name,
            "title": step.client.title,
            "found": step.found,
            "scope": step.scope,
            "path": str(step.part.file),
            "state": step.judged.state,
            "registered": step.judged.server.line if step.judged.server else None,
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
        by_part["clients" if step.part.name == "server" else step.part.name].append(said)
    return by_part


def _plans(
    clients: Sequence[Client],
    scope: str,
    wanted: Server,
    home: str | None,
    left_out: Collection[str],
    *,
    remove: bool,
    capture: bool = False,
) -> Iterator[Step]:
    """A step for each part of each client, planned when those before it are done; hooks as
    config.toml has them.

    A removal goes the other way round, so that each part finds its file as it was when that
    part was put in.
    """
    where, hooks = folders(), HooksConfig()
    with suppress(ConfigError):  # which hooks.log and every other command name
        hooks, capture = (config := load_config(home)).hooks, config.capture or capture
    events = [event for event in EVENTS if getattr(hooks, event.replace("-", "_"), capture)]
    for client in clients:
        parts = parts_of(client, scope, wanted, where, events)
        for part in reversed(parts) if remove else parts:
            if part.name not in left_out:
                yield plan(client, scope, part, wanted, where, remove=remove)


def _notices(steps: Sequence[Step]) -> list[str]:
    """What its user should know, beside what was done."""
    if steps and (url := steps[0].wanted.url):
        notices = [
            "SYNAPTIC_TOKEN must hold the token where these clients start; `synaptic token "
            "NAME` makes one."
        ]
        if url.startswith("http:") and urlsplit(url).hostname not in (
            "127.0.0.1",
            "::1",
            "localhost",
        ):
            notices.append(f"Anyone on the way to {url} can read the token: put TLS in front.")
        return notices
    notices = [
        f"{name} is set here, but no client will see it; config.toml can hold it."
        for name in ("SYNAPTIC_JOURNAL", "SYNAPTIC_MODEL", "SYNAPTIC_PROJECT")
        if os.environ.get(name)
    ]
    program = steps[0].wanted.command if steps else ""
    if {"archive-v0", ".cache"} & set(Path(program).parts):
        notices.append(
            f"{program} is in a cache that may be cleared. Install Synaptic and run this again."
        )
    if any(step.scope == "project" and step.changes for step in steps):
        notices.append(
            "A client may ask whether you trust a project's server. The path is this "
            "machine's: others run this too."
        )
    return notices


# -- what is said
# ---------------------------------------------------------------------------------------


def _intent(step: Step, to: Output) -> str:
    """What is going to be done with one client."""
    file, (there, gone) = to.path(step.part.file), _there(step)
    again = f"synaptic setup {step.client.name}" + (
        " --scope project" if step.scope == "project" else ""
    )
    leaves = (
        f"{file} registers it in another way, which is left as it is: {there}{gone}\n"
        f"  Wanted: {step.wanted.line}\n"
        f"  To have that: {again} --remove, then this again"
    )
    noun, beside = step.part.noun, f", in place of {there}" if step.judged.server else ""
    said = {
        "fail": f"{step.why} It is left as it is.",
        "leave": leaves,
        "register": f"makes {file}, with {noun}"
        if step.old is None
        else f"adds {noun} to {file}",
        "update": f"puts {noun} into {file}{beside}",
        "remove": f"takes {noun} out of {file}"
        if step.new is not None
        else f"removes {file}, which is empty then",
        "nothing": _state(step, file),
    }[step.action]
    if step.by and step.changes:
        said = f"runs {shlex.join([Path(step.by[0]).name, *step.by[1:]])}"
    return f"{step.client.title}: {said}"


def _outcome(step: Step, after: Step, to: Output, *, dry_run: bool, remove: bool) -> str:
    """What became of it, and the next thing to do; empty where there is nothing to add."""
    if after.action == "fail":
        failed = "" if step.action == "fail" else f"Failed. {after.why}\n"
        what = (
            f"what stands at {after.client.key}.{NAME}"
            if after.part.name == "server"
            else after.part.noun
        )
        help = f"Take {what} out of it."
        if not remove:
            help = f"Paste this into {to.path(after.part.file)}:\n{after.part.put('').rstrip()}"
        return textwrap.indent(failed + help, "  ")
    if dry_run or not after.changes:
        return ""
    kept = f" As it was before: {to.path(after.backup)}" if after.backup else ""
    lines = [f"  Done.{kept}"]
    if after.action != "remove":
        lines.append(f"  Check: {after.part.check}")
        offered = after.part.name == "server" and after.scope == "user" and after.client.offer
        lines += [f"  {offered}"] if offered else []
    return "\n".join(lines)


def _state(step: Step, file: str) -> str:
    """How it stands with this part of the client; `file` is the path of its file, made
    readable.
    """
    server, found = step.part.name == "server", step.judged.state
    if found == "unreadable":
        return step.why
    if found == "not registered":
        if step.plugin is not None:
            return _PLUGIN[step.plugin]
        absent = "not registered" if server else f"no {step.part.name}"
        return absent if step.found else f"{absent}; not found on this machine"
    there, gone = _there(step)
    if step.judged.server and step.judged.server.url and not step.wanted.url:
        return f"registered in {file}, at {there}"
    mend = (
        f"synaptic setup "
        f"{step.client.name}{' --guidance' if step.part.name == 'guidance' else ''}"
    )
    other = (
        f" with another program: {there}"
        if server
        else f", not up to date: `{mend}` mends that"
    )
    said = {
        "registered": "",
        "other program": other,
        "gone": f", but the command is gone: {there}",
        "different": f" in another way: {there}{gone}",
    }[found]
    said += ", but switched off there" if step.judged.off else ""
    said += (
        f", waiting for approval ({', '.join(step.waits)}): approve in /hooks"
        if step.waits
        else ""
    )
    said += {None: "", True: _BESIDE, False: f"; {_PLUGIN[False]}"}[step.plugin]
    return f"{'registered' if server else step.part.noun} in {file}{said}"


def _there(step: Step) -> tuple[str, str]:
    """(what the entry starts, a remark where that is gone)."""
    if step.judged.server is None:
        return "no program of this machine", ""
    gone = not step.judged.server.url and shutil.which(step.judged.server.command) is None
    return step.judged.server.line, ", and that command is gone" if gone else ""

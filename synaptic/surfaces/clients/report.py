"""Steps as lines for people, and as JSON. `show` makes a path readable."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ...models import Finding
from .clients import Client
from .register import Step

Show = Callable[[Path], str]

_PLUGIN = {
    True: "the plugin synaptic@synaptic brings the server, the hooks and a skill",
    False: "the plugin synaptic@synaptic finds no program; `synaptic setup claude-code` tells it where this one is",
}
_BESIDE = "; the plugin is there, too: `synaptic setup claude-code --remove` leaves it alone"


def intent(step: Step, show: Show) -> str:
    """What is going to be done with one client."""
    file, (there, gone) = show(step.file), _there(step)
    again = f"synaptic setup {step.client.name}" + (" --scope project" if step.scope == "project" else "")
    same = f"{again} --project {shlex.quote(step.wanted.project)}" if step.wanted.project else again
    leaves = (
        f"{file} registers it in another way, which is left as it is: {there}{gone}\n"
        f"  Wanted: {step.wanted.line}\n"
        f"  To have that: {again} --remove, then {same}"
    )
    noun, only = step.part.noun, "nothing else is in it"
    what = "this program" if step.part.name == "server" else noun
    beside = f", in place of {there}" if step.judged.server else ""
    said = {
        "fail": f"{_why(step, file)} It is left as it is.",
        "leave": leaves,
        "register": f"makes {file}, with {noun}" if step.old is None else f"adds {noun} to {file}",
        "update": f"puts {what} into {file}{beside}",
        "remove": f"takes {noun} out of {file}" if step.new is not None else f"removes {file}; {only}",
        "nothing": _state(step, file),
    }[step.action]
    if step.by and step.changes:
        said = f"runs {shlex.join([Path(step.by[0]).name, *step.by[1:]])}"
    return f"{step.client.title}: {said}"


def outcome(step: Step, after: Step, show: Show, *, dry_run: bool, remove: bool) -> str:
    """What became of it, and the next thing to do; empty where there is nothing to add."""
    if after.action == "fail":
        failed = "" if step.action == "fail" else f"Failed. {after.why}\n"
        what = f"what stands at {'.'.join(after.client.path)}" if after.part.name == "server" else after.part.noun
        help = f"Take {what} out of it."
        if not remove:
            help = f"Paste this into {show(after.file)}:\n{after.snippet.rstrip()}"
        return textwrap.indent(failed + help, "  ")
    if dry_run or not after.changes:
        return ""
    kept = f" As it was before: {show(after.backup)}" if after.backup else ""
    lines = [f"  Done.{kept}"]
    if after.action != "remove":
        lines.append(f"  Check: {after.part.check}")
        offered = after.part.name == "server" and after.scope == "user" and after.client.offer
        lines += [f"  {offered}"] if offered else []
    return "\n".join(lines)


def state(step: Step, show: Show) -> str:
    """How it stands with one client."""
    return f"{step.client.title:15} {_state(step, show(step.file))}"


def _state(step: Step, file: str) -> str:
    there, gone = _there(step)
    off = ", but switched off there" if step.judged.off else ""
    server = step.part.name == "server"
    known, absent = ("registered", "not registered") if server else (step.part.noun, f"no {step.part.name}")
    if step.plugin is not None and step.judged.state == "not registered":
        return _PLUGIN[step.plugin]
    mend = f"synaptic setup {step.client.name}{' --guidance' if step.part.name == 'guidance' else ''}"
    other = f" with another program: {there}" if server else f", not up to date: `{mend}` mends that"
    off += f", waiting for approval ({', '.join(step.waits)}): approve in /hooks" if step.waits else ""
    off += {None: "", True: _BESIDE, False: f"; {_PLUGIN[False]}"}[step.plugin]
    return {
        "registered": f"{known} in {file}{off}",
        "other program": f"{known} in {file}{other}{off}",
        "gone": f"{known} in {file}, but the command is gone: {there}{off}",
        "different": f"{known} in {file} in another way: {there}{gone}{off}",
        "unreadable": _why(step, file),
    }.get(step.judged.state, absent if step.found else f"{absent}; not found on this machine")


def findings(steps: Sequence[Step], show: Show) -> list[Finding]:
    """What is wrong with Claude Code's plugin."""
    return [
        Finding("warning", "plugin", f"Claude Code: {_state(step, show(step.file))}.")
        for step in steps
        if step.plugin is False or (step.plugin and step.judged.state != "not registered")
    ]


def _there(step: Step) -> tuple[str, str]:
    """(what the entry starts, a remark where that is gone)."""
    there = step.judged.server.line if step.judged.server else "no program of this machine"
    return there, ", and that command is gone" if step.judged.gone else ""


def _why(step: Step, file: str) -> str:
    return step.why if step.why.startswith(str(step.file)) else f"{file} cannot be used: {step.why}."


def as_json(step: Step, *, done: bool) -> dict[str, Any]:
    return {
        "client": step.client.name,
        "title": step.client.title,
        "found": step.found,
        "scope": step.scope,
        "path": str(step.file),
        "state": step.judged.state,
        "registered": step.judged.server.line if step.judged.server else None,
        "action": step.action,
        "done": done and step.changes,
        "by": list(step.by),
        "message": step.why,
        "backup": str(step.backup) if step.backup else None,
        "snippet": step.snippet,
        "check": step.part.check,
        "waits": list(step.waits),
        "plugin": step.plugin,
    }


def not_found(clients: Sequence[Client]) -> str:
    """Which clients are not on this machine, and what to do about that."""
    names = ", ".join(f"{client.title} ({client.name})" for client in clients)
    return f"Not found: {names}.\n`synaptic setup NAME` registers one all the same, --print shows what to paste."

"""Steps as lines for people, and as JSON. `show` makes a path readable."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .clients import Client
from .register import Step

Show = Callable[[Path], str]


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
    said = {
        "fail": f"{_why(step, file)} It is left as it is.",
        "leave": leaves,
        "register": f"makes {file}" if step.old is None else f"adds synaptic to {file}",
        "update": f"puts this program into {file}, in place of {there}",
        "remove": f"takes synaptic out of {file}" if step.new is not None else f"removes {file}; nothing else is in it",
        "nothing": _state(step, file),
    }[step.action]
    if step.by and step.changes:
        said = f"runs {shlex.join([Path(step.by[0]).name, *step.by[1:]])}"
    return f"{step.client.title}: {said}"


def outcome(step: Step, after: Step, show: Show, *, dry_run: bool, remove: bool) -> str:
    """What became of it, and the next thing to do; empty where there is nothing to add."""
    if after.action == "fail":
        failed = "" if step.action == "fail" else f"Failed. {after.why}\n"
        help = f"Take what stands at {'.'.join(after.client.path)} out of it."
        if not remove:
            help = f"Paste this into {show(after.file)}:\n{after.snippet.rstrip()}"
        return textwrap.indent(failed + help, "  ")
    if dry_run or not after.changes:
        return ""
    kept = f" As it was before: {show(after.backup)}" if after.backup else ""
    lines = [f"  Done.{kept}"]
    if after.action != "remove":
        lines.append(f"  Check: {after.client.check}")
        lines += [f"  {after.client.offer}"] if after.client.offer and after.scope == "user" else []
    return "\n".join(lines)


def state(step: Step, show: Show) -> str:
    """How it stands with one client."""
    return f"{step.client.title:15} {_state(step, show(step.file))}"


def _state(step: Step, file: str) -> str:
    there, gone = _there(step)
    off = ", but switched off there" if step.judged.off else ""
    return {
        "registered": f"registered in {file}{off}",
        "other program": f"registered in {file} with another program: {there}{off}",
        "gone": f"registered in {file}, but the command is gone: {there}",
        "different": f"registered in {file} in another way: {there}{gone}{off}",
        "unreadable": _why(step, file),
    }.get(step.judged.state, "not registered" if step.found else "not registered; not found on this machine")


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
        "check": step.client.check,
    }


def not_found(clients: Sequence[Client]) -> str:
    """Which clients are not on this machine, and what to do about that."""
    names = ", ".join(f"{client.title} ({client.name})" for client in clients)
    return f"Not found: {names}.\n`synaptic setup NAME` registers one all the same, --print shows what to paste."

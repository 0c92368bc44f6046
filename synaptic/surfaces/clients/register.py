"""Registers Synaptic with a client, or takes it out: plans a step, then carries it out."""

from __future__ import annotations

import json
import os
import subprocess
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...errors import Changed, JournalError, SynapticError
from ...files import open_regular
from ...journal import disk
from . import jsonc
from .clients import NAME, ODD
from .parts import Part

_TIMEOUT_S = 120

BACKUP = ".before-synaptic"
"""The ending of a file's copy from before the first change."""


@dataclass(frozen=True, slots=True)
class Step:
    """The action for a part: register, remove, nothing, or fail and `why`.

    `there` says whether the file holds the part already. `by` is the client's own command for
    the action; without one the file goes from `old` to `new`, None being no file. `backup` was
    made when it was done.
    """

    part: Part
    action: str = "nothing"
    there: bool = False
    why: str = ""
    by: tuple[str, ...] = ()
    old: bytes | None = None
    new: bytes = b""
    done: bool = False
    backup: Path | None = None

    @property
    def state(self) -> str:
        if self.action == "fail":
            return "unreadable"
        if not self.there:
            return "not registered"
        return "outdated" if self.action == "register" else "registered"


def plan(part: Part, *, remove: bool = False) -> Step:
    """Returns the step for this part. It reads, and changes nothing."""
    step = Step(part)
    try:
        step = replace(step, old=_read(part.file))
        text = (step.old or b"").decode()
        if remove and NAME not in text:
            return step
        if part.client.strict and part.file.suffix == ".json" and not remove:
            _refuse_comments(part, text)
        there = part.drop(text) != text
        new = part.drop(text) if remove else part.put(text)
        step = replace(step, there=there, new=new.encode())
    except SynapticError as problem:
        return replace(step, action="fail", why=str(problem))
    except ODD as problem:
        reason = problem if isinstance(problem, ValueError) else "it has an unexpected form"
        return replace(step, action="fail", why=f"{part.file}: {reason}.")
    if new == text:
        return step
    if remove:
        return replace(step, action="remove", by=_own_command(part, part.client.removal))
    by = () if there else _own_command(part, part.client.add)
    return replace(step, action="register", by=by)


def _refuse_comments(part: Part, text: str) -> None:
    if jsonc.plain(text) != text:
        raise ValueError(
            f"{part.client.title} ignores all of a file with comments or a comma too many; "
            f"take them out"
        )


def _own_command(part: Part, words: Any) -> tuple[str, ...]:
    """Returns the client's own command; empty where it has none."""
    program = part.client.program()
    if part.name != "server" or not words or program is None:
        return ()
    [entry] = json.loads(part.put(""))[part.client.key].values()
    filled = [json.dumps(entry) if word == "{entry}" else word for word in words]
    return (program, *filled)


def carry_out(step: Step) -> Step:
    """Returns the step after it was done; one that failed says why."""
    if step.action in ("nothing", "fail"):
        return step
    backup = None
    try:
        if step.by:
            _run(step)
        else:
            backup = _write(step)
    except SynapticError as problem:
        return replace(step, action="fail", why=f"Failed. {problem}")
    return replace(step, done=True, backup=backup)


def _run(step: Step) -> None:
    """Runs the client's own command. Raises JournalError where it changed nothing."""
    try:
        ended = subprocess.run(
            step.by,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise JournalError(f"{step.by[0]}: {error}") from error
    if plan(step.part, remove=step.action == "remove").action != "nothing":
        said = (ended.stderr or ended.stdout).strip()
        raise JournalError(f"{step.part.file} did not change; {step.by[0]} said: {said}")


def _read(file: Path) -> bytes | None:
    """Returns the bytes; None where there is no file. Raises JournalError."""
    with disk.disk_errors(file, "read"):
        try:
            with open_regular(file) as opened:
                return opened.read()
        except FileNotFoundError:
            return None


def _write(step: Step) -> Path | None:
    """Replaces the file's bytes in one step; mode and owner stay, and a link is written
    through. Returns the copy of the file before the first change, if it was made.

    Raises JournalError, and Changed when another program wrote meanwhile.
    """
    file = step.part.file
    target = Path(os.path.realpath(file))
    backup = file.with_name(file.name + BACKUP)
    with disk.disk_errors(file):
        if step.old is None:
            disk.make_dirs(target.parent, private=False)
            disk.create(target, step.new, private=False)
            return None
        inode = target.stat().st_ino
        if not disk.replace(target, step.old, inode, step.new):
            raise Changed(
                f"{file} was changed by another program meanwhile.", hint="Run this again."
            )
        if step.action == "remove" and backup.exists():
            backup.unlink()
        elif step.action == "remove" and b"".join(step.new.split()) in (b"", b"{}"):
            target.unlink()
            with suppress(OSError):
                target.parent.rmdir()  # a folder that was made for it
    with suppress(OSError):
        if step.action == "register" and not step.there:
            disk.create(backup, step.old, private=True)
            return backup
    return None

"""Registers a part of Synaptic in a client's file, or removes it again."""

import json
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..errors import Changed, JournalError, SynapticError
from ..files import open_regular_file, real_path
from ..journal import disk
from ..models import Texts
from . import jsonc
from .clients import FORM_ERRORS, NAME
from .parts import Part

_TIMEOUT_S = 120
"""Seconds that a client's own command may take."""

BACKUP_ENDING = ".before-synaptic"
"""Added to a file's name for the copy that is made before the first change."""


@dataclass(slots=True)
class SetupStep:
    """The action that registers or removes a part: "register", "remove", "nothing", or "fail"
    because of `why`.

    `was_there` says whether the file held the part before, `done` whether the action was
    carried out. `command` is the client's own command for the action; if it is empty, the file
    is edited, and `backup` is the path of the copy made before.
    """

    part: Part
    action: str = "nothing"
    was_there: bool = False
    why: str = ""
    command: Texts = ()
    done: bool = False
    backup: Path | None = None

    @property
    def state(self) -> str:
        """ "unreadable", "not registered", "outdated" or "registered": the state of the part
        before the step.
        """
        if self.action == "fail":
            return "unreadable"
        if not self.was_there:
            return "not registered"
        return "outdated" if self.action == "register" else "registered"


def set_up_part(part: Part, *, remove: bool = False, only_read: bool = True) -> SetupStep:
    """Registers a part, or removes it with `remove`, and returns the step with its result. With
    `only_read` nothing is changed.
    """
    step = SetupStep(part)
    try:
        before = _read_settings(part.file)
        text = (before or b"").decode()
        if remove and NAME not in text:
            return step
        strict = part.client.strict and part.file.suffix == ".json"
        if strict and not remove and jsonc.blank_comments(text) != text:
            raise ValueError(
                f"{part.client.title} ignores a settings file with comments or trailing "
                "commas, so remove them first"
            )
        without = part.edit(text, drop=True)
        new = without if remove else part.edit(text)
        step.was_there = without != text
        if new == text:
            return step
        step.action = "remove" if remove else "register"
        step.command = _client_command(step)
        if only_read:
            return step
        if step.command:
            _run_client_command(step)
        else:
            _write_part(step, before, new.encode())
        step.done = True
    except SynapticError as problem:
        step.action = "fail"
        step.why = str(problem)
    except FORM_ERRORS as problem:
        reason = problem if isinstance(problem, ValueError) else "it has an unexpected form"
        step.action = "fail"
        step.why = f"{part.file}: {reason}."
    return step


def _client_command(step: SetupStep) -> Texts:
    """Returns the words of the client's own command for the step; empty where the client has
    none.
    """
    client = step.part.client
    program = client.program
    if step.part.name != "server" or not client.add_args or program is None:
        return ()
    if step.action == "remove":
        return (program, *client.removal)
    if step.was_there:
        return ()
    [entry] = json.loads(step.part.edit(""))[client.key].values()
    return (program, *client.add_args, json.dumps(entry))


def _run_client_command(step: SetupStep) -> None:
    """Runs the client's own command for the step. Raises JournalError if it cannot run, or if
    the file does not change.
    """
    try:
        ended = subprocess.run(
            step.command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise JournalError(
            f"{step.command[0]} could not be run: {error}.",
            hint=f"Run `{' '.join(step.command)}` yourself to see why.",
        ) from error
    if set_up_part(step.part, remove=step.action == "remove").action != "nothing":
        output = (ended.stderr or ended.stdout).strip()
        raise JournalError(
            f"{step.command[0]} did not change {step.part.file}. It said: "
            f"{output or 'nothing'}.",
            hint=f"Run `{' '.join(step.command)}` yourself to see why.",
        )


def _read_settings(file: Path) -> bytes | None:
    """Returns the bytes of a settings file; None where there is no file. Raises
    JournalError.
    """
    with disk.disk_errors(file, "read"):
        try:
            with open_regular_file(file) as opened:
                return opened.read()
        except FileNotFoundError:
            return None


def _write_part(step: SetupStep, before: bytes | None, new: bytes) -> None:
    """Replaces the bytes of the part's file atomically. Mode and owner are kept; a symbolic
    link is followed. Raises JournalError, and Changed when another program wrote meanwhile.
    """
    file = step.part.file
    target = real_path(file)
    backup = file.with_name(file.name + BACKUP_ENDING)
    with disk.disk_errors(file):
        if before is None:
            disk.make_dirs(target.parent, private=False)
            disk.create_file(target, new, private=False)
            return
        if not disk.replace_if_unchanged(target, before, target.stat().st_ino, new):
            raise Changed(
                f"Another program changed {file} at the same time.", "Run the command again."
            )
        if step.action == "remove" and backup.exists():
            backup.unlink()
        elif step.action == "remove" and b"".join(new.split()) in (b"", b"{}"):
            target.unlink()
            with suppress(OSError):
                target.parent.rmdir()  # a folder that was made for it
    if not step.was_there:
        with suppress(OSError):
            disk.create_file(backup, before, private=True)
            step.backup = backup

"""Registers Synaptic with a client, or takes it out: plans a step, then carries it out."""

from __future__ import annotations

import codecs
import contextlib
import os
import stat
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...errors import Changed, InvalidArgument, JournalError, SynapticError
from ...files import open_regular
from ...journal import disk
from . import jsonc
from .clients import CLIENTS, NAME, Client, Server, expand, plugin
from .jsonc import Unreadable
from .parts import Judgement, Part, unapproved

SCOPES = ("user", "project")
_TIMEOUT_S = 120

BACKUP = ".before-synaptic"
"""The ending of a file's copy from before the first change."""


@dataclass(frozen=True, slots=True)
class Step:
    """The state of a part of one client, and the action: register, update, remove, nothing,
    leave, or fail.

    `by` is the client's own command for it; without one the file goes from `old` to `new`,
    None being no file. `backup` was made when it was done. `waits` are the events of hooks that
    their user has not approved. `plugin` says whether a plugin works that brings this part as
    well; None: there is none.
    """

    client: Client
    scope: str
    part: Part
    found: bool
    judged: Judgement
    wanted: Server
    action: str = "nothing"
    why: str = ""
    by: tuple[str, ...] = ()
    old: bytes | None = None
    new: bytes | None = None
    backup: Path | None = None
    waits: tuple[str, ...] = ()
    plugin: bool | None = None

    @property
    def changes(self) -> bool:
        return self.action in ("register", "update", "remove")


def named(
    names: Iterable[str], scope: str | None, *, remote: bool = False
) -> tuple[Client, ...]:
    """Returns the clients of these names; without names all that know the scope, and with
    `remote` a server elsewhere.

    Raises InvalidArgument for an unknown name or scope, and for a client without such a scope.
    """
    if scope is not None and scope not in SCOPES:
        raise InvalidArgument(f"There is no scope {scope!r}.", valid=SCOPES)
    every = {client.name: client for client in CLIENTS}
    valid = dict(every)
    if scope == "project":
        valid = {name: client for name, client in valid.items() if client.project}
    if remote:
        valid = {name: client for name, client in valid.items() if client.remote}
    chosen = list(dict.fromkeys(name.lower() for name in names))
    for name in chosen:
        if name in valid:
            continue
        if name not in every:
            hint = "synaptic setup --help"
            raise InvalidArgument(f"There is no client {name!r}.", valid=valid, hint=hint)
        lacks = "configuration for a project"
        if remote and not every[name].remote:
            lacks = "entry for a server elsewhere"
        raise InvalidArgument(f"{every[name].title} has no {lacks}.", valid=valid)
    return tuple(valid[name] for name in chosen or valid)


def plan(
    client: Client,
    scope: str,
    part: Part,
    wanted: Server,
    where: Mapping[str, Path],
    *,
    remove: bool = False,
) -> Step:
    """Returns the step for this part of the client. It reads, and changes nothing."""
    step = Step(client, scope, part, client.found(where), Judgement("unreadable"), wanted)
    if client.name == "claude-code" and part.name != "guidance":
        step = replace(step, plugin=plugin(where))
    try:
        step = replace(step, old=_read(part.file, scope))
        text = _text_of(step.old)
        if client.strict and part.file.suffix == ".json" and not remove:
            _refuse_comments(client, text)
        step = replace(step, judged=part.judge(text))
        if "approved" in client.hooks and part.name == "hooks":
            config = _text_of(_read(expand(client.hooks["approved"], where)))
            step = replace(step, waits=unapproved(part.file, text, config))
        return _plan_removal(step) if remove else _plan_registration(step)
    except (Unreadable, JournalError) as problem:
        why = str(problem)
        if isinstance(problem, Unreadable):
            why = f"{part.file} cannot be used: {problem}."
        without_us = step.old is not None and NAME.encode() not in step.old
        return replace(step, action="nothing" if remove and without_us else "fail", why=why)


def _refuse_comments(client: Client, text: str) -> None:
    line = jsonc.first_comment(text)
    if line:
        reason = "ignores all of a file with comments or a comma too many; take them out"
        raise Unreadable(line, f"{client.title} {reason}")


def _plan_registration(step: Step) -> Step:
    state = step.judged.state
    if step.plugin is not None or state == "registered":
        return step
    if state == "different":
        return replace(step, action="leave")
    new = _with_part(step.old, step.part)
    if new == (step.old or b""):
        return step
    if state != "not registered":
        return replace(step, action="update", new=new)
    words = step.client.add_remote if step.wanted.url else step.client.command
    return replace(step, action="register", new=new, by=_own_command(step, words))


def _plan_removal(step: Step) -> Step:
    if step.judged.state == "not registered" or step.old is None:
        return step
    by = _own_command(step, step.client.removal)
    if by:
        return replace(step, action="remove", by=by)
    new = _without_part(step.old, step.part, _read_backup(step.part.file))
    return replace(step, action="remove", new=new)


def _own_command(step: Step, words: Sequence[str]) -> tuple[str, ...]:
    """Returns the client's own command; empty where it has none, or would drop comments."""
    program = step.client.program()
    if step.part.name != "server" or step.scope != "user" or not words or program is None:
        return ()
    if step.old is not None and not step.client.keeps_file:
        return ()
    env = []
    for name, value in step.wanted.env.items():
        env += [step.client.env_flag, f"{name}={value}"]
    values = {
        "{env}": env,
        "{server}": [step.wanted.command, *step.wanted.args],
        "{url}": [step.wanted.line],
    }
    command = [program]
    for word in words:
        command += values.get(word, [word])
    return tuple(command)


def carry_out(step: Step) -> Step:
    """Returns the step after it was done; one that failed says why."""
    if not step.changes:
        return step
    backup = None
    try:
        backup = _back_up(step)
        if step.by:
            _run(step)
        else:
            _write(step)
    except (Unreadable, SynapticError, OSError) as problem:
        if backup:
            backup.unlink()
        return replace(step, action="fail", why=str(problem))
    restored = step.new is not None and step.new == _read_backup(step.part.file)
    if restored or (step.by and step.action == "remove"):
        _backup_of(step.part.file).unlink(missing_ok=True)  # nothing is left to undo
        backup = None
    return replace(step, backup=backup)


def _run(step: Step) -> None:
    """Runs the client's own command. Raises JournalError where it fails."""
    try:
        done = subprocess.run(
            step.by,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT_S,
            env=os.environ | {"NO_COLOR": "1"},
        )
    except subprocess.TimeoutExpired as error:
        raise JournalError(f"It did not end within {_TIMEOUT_S} s.") from error
    if done.returncode:
        output = done.stderr.strip() or done.stdout.strip() or "nothing"
        last_line = output.splitlines()[-1]
        raise JournalError(f"It ended with {done.returncode} and said: {last_line}")
    state = step.part.judge(_text_of(_read(step.part.file))).state
    expected = "not registered" if step.action == "remove" else "registered"
    if state != expected:
        raise JournalError(f"It reported success, but {step.part.file} says: {state}.")


# -- files
# ----------------------------------------------------------------------------------------------


def _read(file: Path, scope: str = "user") -> bytes | None:
    """Returns the bytes; None where there is no file. Raises JournalError, also where it leads
    out of a project.
    """
    target = _target(file, scope)
    with disk.disk_errors(file, "read"):
        try:
            with open_regular(target, follow=False) as opened:
                return opened.read()
        except FileNotFoundError:
            return None


def _backup_of(file: Path) -> Path:
    return file.with_name(file.name + BACKUP)


def _read_backup(file: Path) -> bytes | None:
    with contextlib.suppress(OSError), open_regular(_backup_of(file), follow=False) as backup:
        return backup.read()
    return None


def _text_of(data: bytes | None) -> str:
    """Returns the text without its byte order mark. Raises Unreadable."""
    data = data or b""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Unreadable(line, "it is not UTF-8") from None


def _bytes_of(text: str, old: bytes | None) -> bytes:
    """Returns the bytes, with a byte order mark if the old ones have it. Raises Unreadable."""
    mark = codecs.BOM_UTF8 if old and old.startswith(codecs.BOM_UTF8) else b""
    try:
        return mark + text.encode()
    except UnicodeEncodeError:
        raise Unreadable(1, "it holds half a character") from None


def _with_part(data: bytes | None, part: Part) -> bytes:
    return _bytes_of(part.put(_text_of(data)), data)


def _without_part(data: bytes, part: Part, backup: bytes | None) -> bytes | None:
    """Returns the bytes without the part; None when nothing is left of a file that is
    Synaptic's own.

    Where only the part was added since the backup, the backup comes back exactly.
    """
    if backup is not None:
        with contextlib.suppress(Unreadable):
            clean = part.judge(_text_of(backup)).state == "not registered"
            if clean and _with_part(backup, part) == data:
                return backup
    text = part.drop(_text_of(data))
    if backup is None and text.strip() in ("", "{}"):
        return None
    return _bytes_of(text, data)


def _write(step: Step) -> None:
    """Replaces the file's bytes in one step; mode and owner stay.

    A link is written through, unless it leads out of the project. Raises JournalError, and
    Changed when another program wrote meanwhile.
    """
    file = step.part.file
    target = _target(file, step.scope)
    with disk.disk_errors(file):
        if step.old is None:
            disk.make_dirs(target.parent, private=False)
            disk.create(target, step.new or b"", private=False)
        elif step.new is None and target.read_bytes() == step.old:
            target.unlink()
            with contextlib.suppress(OSError):
                target.parent.rmdir()  # a folder that was made for it
        elif step.new is None or not disk.replace(
            target, step.old, target.stat().st_ino, step.new
        ):
            hint = "Run this again."
            raise Changed(f"{file} was changed by another program meanwhile.", hint=hint)


def _back_up(step: Step) -> Path | None:
    """Returns the backup, if it was made now; an older one is the first state and stays.

    A file that is to go or is Synaptic's alone gets none, nor does a link within a project.
    """
    target, backup = _target(step.part.file, step.scope), _backup_of(step.part.file)
    goes = step.new is None and not step.by
    linked = step.scope == "project" and target != step.part.file
    if step.old is None or goes or linked:
        return None
    if step.action == "update" and _without_part(step.old, step.part, None) is None:
        return None
    with disk.disk_errors(step.part.file, "backed up"):
        try:
            disk.create(backup, step.old, private=True)
        except FileExistsError:
            return None
        backup.chmod(stat.S_IMODE(target.stat().st_mode))
    return backup


def _target(file: Path, scope: str) -> Path:
    """Returns the file behind links. Raises JournalError where it is outside the project."""
    target = Path(os.path.realpath(file))
    if scope == "project" and not target.is_relative_to(os.path.realpath(Path.cwd())):
        raise JournalError(
            f"{file} is a link that leads out of the project, to {target}. It is not followed.",
            hint="Put a file in its place, or leave --scope out.",
        )
    return target

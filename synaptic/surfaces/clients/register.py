"""Registers Synaptic with a client, or takes it out: first a plan that says all of it, then the
deed.
"""

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
from .jsonc import Unreadable, table
from .parts import Judgement, Part, unapproved

SCOPES = ("user", "project")
_TIMEOUT_S = 120

BACKUP = ".before-synaptic"
"""What the copy of a file as it was before the first change is called, after the file's name.
"""


@dataclass(frozen=True, slots=True)
class Step:
    """What is with a part of one client, and what is to be done: register, update, remove,
    nothing, leave, or fail.

    `by` is the client's own command that does it; without one the file goes from `old` to
    `new`, None being no file. `backup` was made when it was done. `waits` are the events of
    hooks that their user has not approved, and `plugin` says whether a plugin works that brings
    this part as well; None where there is none.
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
    """The clients of these names; all that know the scope, and servers elsewhere, where none is
    named.

    Raises InvalidArgument for an unknown name or scope, and for a client that has no such
    scope.
    """
    if scope is not None and scope not in SCOPES:
        raise InvalidArgument(f"There is no scope {scope!r}.", valid=SCOPES)
    every = {client.name: client for client in CLIENTS}
    able = (
        client
        for client in CLIENTS
        if (scope != "project" or client.project) and (client.remote or not remote)
    )
    valid = {client.name: client for client in able}
    chosen = list(dict.fromkeys(name.lower() for name in names))
    for name in chosen:
        if name not in every:
            raise InvalidArgument(
                f"There is no client {name!r}.", valid=valid, hint="synaptic setup --help"
            )
        if name not in valid:
            client = every[name]
            lacks = (
                "entry for a server elsewhere"
                if remote and not client.remote
                else "configuration for a project"
            )
            raise InvalidArgument(f"{client.title} has no {lacks}.", valid=valid)
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
    """The step for this part of the client. It reads, and changes nothing."""
    bundled = (
        plugin(where) if client.name == "claude-code" and part.name != "guidance" else None
    )
    step = Step(
        client,
        scope,
        part,
        client.found(where),
        Judgement("unreadable"),
        wanted,
        plugin=bundled,
    )
    try:
        step = replace(step, old=_read(part.file, scope))
        text = _text_of(step.old)
        if (
            client.strict
            and part.file.suffix == ".json"
            and not remove
            and (line := jsonc.first_comment(text))
        ):
            raise Unreadable(
                line,
                f"{client.title} ignores all of a file with comments or a comma too many; "
                f"take them out",
            )
        step = replace(step, judged=part.judge(text))
        if "approved" in client.hooks and part.name == "hooks":
            config = _read(expand(client.hooks["approved"], where))
            step = replace(step, waits=unapproved(part.file, text, _text_of(config)))
        return _removal(step) if remove else _registration(step)
    except (Unreadable, JournalError) as problem:
        harmless = remove and NAME.encode() not in (step.old or NAME.encode())
        why = (
            str(problem)
            if isinstance(problem, JournalError)
            else f"{part.file} cannot be used: {problem}."
        )
        return replace(step, action="nothing" if harmless else "fail", why=why)


def carry_out(step: Step) -> Step:
    """The step after it was done; one that failed says why."""
    if not step.changes:
        return step
    backup = None
    try:
        backup = _back_up(step)
        (_run if step.by else _write)(step)
    except (Unreadable, SynapticError, OSError) as problem:
        if backup:
            backup.unlink()
        return replace(step, action="fail", why=str(problem))
    undone = step.new is not None and step.new == _kept(step.part.file)
    if undone or (step.by and step.action == "remove"):
        _backup_of(step.part.file).unlink(missing_ok=True)  # nothing is left that it could undo
        backup = None
    return replace(step, backup=backup)


def _registration(step: Step) -> Step:
    if step.plugin is not None or step.judged.state == "registered":
        return step
    if step.judged.state == "different":
        return replace(step, action="leave")
    new = _with_part(step.old, step.part)
    if new == (step.old or b""):
        return step
    if step.judged.state == "not registered":
        words = step.client.add_remote if step.wanted.url else step.client.command
        return replace(step, action="register", new=new, by=_own_command(step, words))
    return replace(step, action="update", new=new)


def _removal(step: Step) -> Step:
    if step.judged.state == "not registered" or step.old is None:
        return step
    if by := _own_command(step, step.client.removal):
        return replace(step, action="remove", by=by)
    return replace(
        step, action="remove", new=_without_part(step.old, step.part, _kept(step.part.file))
    )


def _own_command(step: Step, words: Sequence[str]) -> tuple[str, ...]:
    """The client's own command of these words; empty where it has none, or the file is better
    edited.
    """
    program, server = step.client.program(), step.wanted
    edited = (
        step.part.name != "server"
        or step.scope != "user"
        or (step.old is not None and not step.client.keeps_file)
    )
    if edited or not words or program is None:
        return ()
    env = (
        word
        for name, value in server.env.items()
        for word in (step.client.env_flag, f"{name}={value}")
    )
    filled = {
        "{env}": [*env],
        "{server}": [server.command, *server.args],
        "{url}": [server.line],
    }
    return (program, *(part for word in words for part in filled.get(word, [word])))


def _run(step: Step) -> None:
    """Lets the client do it. Raises JournalError where it does not."""
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
        said = (done.stderr.strip() or done.stdout.strip() or "nothing").splitlines()[-1]
        raise JournalError(f"It ended with {done.returncode} and said: {said}")
    state = step.part.judge(_text_of(_read(step.part.file))).state
    if state != ("not registered" if step.action == "remove" else "registered"):
        raise JournalError(f"It said it did, and {step.part.file} says: {state}.")


# -- files
# ----------------------------------------------------------------------------------------------


def _backup_of(file: Path) -> Path:
    return file.with_name(file.name + BACKUP)


def _read(file: Path, scope: str = "user") -> bytes | None:
    """The bytes; None where there is no file. Raises JournalError, also where it leads out of a
    project.
    """
    target = _target(file, scope)
    with disk.disk_errors(file, "read"):
        try:
            with open_regular(target, follow=False) as opened:
                return opened.read()
        except FileNotFoundError:
            return None


def _kept(file: Path) -> bytes | None:
    """The bytes of the backup; None where there is none that could be Synaptic's."""
    with contextlib.suppress(OSError), open_regular(_backup_of(file), follow=False) as backup:
        return backup.read()
    return None


def _text_of(data: bytes | None) -> str:
    """The text of a file, without its byte order mark. Raises Unreadable."""
    try:
        return (data or b"").decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(
            (data or b"").count(b"\n", 0, error.start) + 1, "it is not UTF-8"
        ) from None


def _with_part(data: bytes | None, part: Part) -> bytes:
    """The file's bytes with the part. Raises Unreadable where that would change something else."""
    return _bom(data) + part.put(_text_of(data)).encode()


def _without_part(data: bytes, part: Part, backup: bytes | None) -> bytes | None:
    """The file's bytes without the part; None when nothing at all is left of a file that is
    Synaptic's own.

    Where the part is all that was added since the backup, that is exactly what comes back.
    """
    before = ""
    with contextlib.suppress(Unreadable):
        clean = part.judge(_text_of(backup)).state == "not registered"
        before = _text_of(backup)
        if backup is not None and clean and _with_part(backup, part) == data:
            return backup
    text = part.drop(_text_of(data))
    for path in part.holders:
        now, then = (
            table(jsonc.parse(each), path[:-1]).get(path[-1]) for each in (text, before)
        )
        if now in ({}, []) and then is None:
            text = jsonc.drop(text, path)
    if backup is None and text.strip() in ("", "{}"):
        return None
    return _bom(data) + text.encode()


def _write(step: Step) -> None:
    """Puts the new bytes in the place of the old ones in one step.

    A link is written through, but for one that leads out of the project. Mode and owner stay.
    Raises JournalError, and Changed when somebody else wrote meanwhile.
    """
    target = _target(step.part.file, step.scope)
    with disk.disk_errors(step.part.file):
        if step.old is None:
            disk.make_dirs(target.parent, private=False)
            disk.create(target, step.new or b"", private=False)
        elif step.new is None:
            target.unlink()
            with contextlib.suppress(OSError):
                target.parent.rmdir()  # a folder that was made for it
        elif not disk.replace(target, step.old, target.stat().st_ino, step.new):
            raise Changed(
                f"{step.part.file} was changed by another program meanwhile.",
                hint="Run this again.",
            )


def _back_up(step: Step) -> Path | None:
    """The backup, if it was made now: there is one only, of what was there first.

    None is made of a file that is to go or is Synaptic's alone, nor of what a link within a
    project points to.
    """
    target, backup = _target(step.part.file, step.scope), _backup_of(step.part.file)
    goes = step.new is None and not step.by
    if step.old is None or goes or (step.scope == "project" and target != step.part.file):
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
    """Where the file is, links followed. Raises JournalError where that leads out of a project."""
    target = Path(os.path.realpath(file))
    if scope == "project" and not target.is_relative_to(os.path.realpath(Path.cwd())):
        raise JournalError(
            f"{file} is a link that leads out of the project, to {target}. It is not followed.",
            hint="Put a file in its place, or leave --scope out.",
        )
    return target


def _bom(data: bytes | None) -> bytes:
    return codecs.BOM_UTF8 if (data or b"").startswith(codecs.BOM_UTF8) else b""

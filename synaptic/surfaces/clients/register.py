"""Registers Synaptic with a client, or takes it out: first a plan that says all of it, then the deed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ...errors import InvalidArgument, JournalError, SynapticError
from . import files
from .clients import CLIENTS, Client
from .jsonc import Unreadable
from .server import Judgement, Server, judge

SCOPES = ("user", "project")
_TIMEOUT_S = 120


@dataclass(frozen=True, slots=True)
class Step:
    """What is with one client, and what is to be done: register, update, remove, nothing, leave, or fail.

    `by` is the client's own command that does it; without one the file goes from `old` to `new`, None being no
    file. `snippet` is what a person would paste into the file. `backup` was made when it was done. `within` is the
    project that the file must not lead out of.
    """

    client: Client
    scope: str
    file: Path
    found: bool
    judged: Judgement
    wanted: Server
    snippet: str
    action: str = "nothing"
    why: str = ""
    by: tuple[str, ...] = ()
    old: bytes | None = None
    new: bytes | None = None
    backup: Path | None = None
    within: Path | None = None

    @property
    def changes(self) -> bool:
        return self.action in ("register", "update", "remove")


def named(names: Iterable[str], scope: str | None) -> tuple[Client, ...]:
    """The clients of these names; all that know the scope where none is named.

    Raises InvalidArgument for an unknown name or scope, and for a client that has no such scope.
    """
    if scope is not None and scope not in SCOPES:
        raise InvalidArgument(f"There is no scope {scope!r}.", valid=SCOPES)
    by_name = {client.name: client for client in CLIENTS}
    scoped = tuple(client for client in CLIENTS if scope != "project" or client.project)
    chosen = []
    for name in dict.fromkeys(name.lower() for name in names):
        if name not in by_name:
            raise InvalidArgument(f"There is no client {name!r}.", valid=by_name, hint="synaptic setup --help")
        if by_name[name] not in scoped:
            raise InvalidArgument(
                f"{by_name[name].title} has no configuration for a project.",
                valid=(client.name for client in scoped),
                hint="Leave --scope out.",
            )
        chosen.append(by_name[name])
    return tuple(chosen) or scoped


def plan(client: Client, scope: str, wanted: Server, where: Mapping[str, Path], *, remove: bool = False) -> Step:
    """The step for this client. It reads, and changes nothing."""
    file = client.file(scope, where)
    snippet = files.with_value(file, None, client.path, client.shape(wanted)).decode()
    within = where["project"] if scope == "project" else None
    step = Step(client, scope, file, client.found(where), Judgement("unreadable"), wanted, snippet, within=within)
    try:
        step = replace(step, old=files.read(file, within))
        step = replace(step, judged=judge(files.entry_in(file, step.old, client.path), wanted))
        return _removal(step) if remove else _registration(step)
    except (Unreadable, JournalError) as problem:
        return replace(step, action="fail", why=str(problem))


def carry_out(step: Step) -> Step:
    """The step after it was done; one that failed says why."""
    if not step.changes:
        return step
    try:
        if not step.by:
            return replace(step, backup=files.write(step.file, step.old, step.new, step.within))
        backup = files.keep_copy(step.file, step.old)
        _run(step.by)
        state = judge(files.entry_in(step.file, files.read(step.file), step.client.path), step.wanted).state
        if state != ("not registered" if step.action == "remove" else "registered"):
            raise JournalError(f"It said it did, and {step.file} says: {state}.")
        if step.action == "remove":
            files.backup_of(step.file).unlink(missing_ok=True)  # the client writes that file anew all the time
            backup = None
        return replace(step, backup=backup)
    except Unreadable as problem:
        return replace(step, action="fail", why=f"{step.file}, {problem}")
    except (SynapticError, OSError) as problem:
        return replace(step, action="fail", why=str(problem))


def _registration(step: Step) -> Step:
    client, server, judged = step.client, step.wanted, step.judged
    if judged.state == "registered":
        return step
    if judged.state == "different":
        return replace(step, action="leave")
    if judged.state == "not registered":
        new = files.with_value(step.file, step.old, client.path, client.shape(server))
        return replace(step, action="register", new=new, by=_own_command(step))
    new = step.old or b""
    for name, value in client.shape(server).items():
        if name in ("command", "args"):  # whatever else a person wrote into it stays
            new = files.with_value(step.file, new, (*client.path, name), value)
    return replace(step, action="update", new=new)


def _removal(step: Step) -> Step:
    if step.judged.state == "not registered" or step.old is None:
        return step
    program = step.client.program() if step.client.keeps_file and step.scope == "user" else None
    if program:
        return replace(step, action="remove", by=(program, *step.client.removal))
    new = files.without_entry(step.file, step.old, step.client.path, files.kept(step.file))
    return replace(step, action="remove", new=new)


def _own_command(step: Step) -> tuple[str, ...]:
    """The client's own command that adds the server; empty where the file is better edited."""
    client, server = step.client, step.wanted
    program = client.program()
    if not client.command or step.scope != "user" or program is None:
        return ()
    if step.old is not None and not client.keeps_file:
        return ()
    words: list[str] = [program]
    for word in client.command:
        if word.startswith("{env:"):
            flag = word[len("{env:") : -1]
            words += [part for name, value in server.env.items() for part in (flag, f"{name}={value}")]
        else:
            words += [server.command, *server.args] if word == "{server}" else [word]
    return tuple(words)


def _run(command: tuple[str, ...]) -> None:
    try:
        done = subprocess.run(
            command,
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

"""How Synaptic is started by a client, and what a client's entry says of it."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...config import resolve_home
from ...errors import JournalError

NAME = "synaptic"
"""What the server is called in every client."""

_PROGRAMS = ("synaptic", "synaptic-journal")


@dataclass(frozen=True, slots=True)
class Server:
    """The command, and what it is told: the home and the project; None stands for the usual ones."""

    command: str
    args: tuple[str, ...]
    home: str | None = None
    project: str | None = None

    @property
    def env(self) -> dict[str, str]:
        told = {"SYNAPTIC_HOME": self.home, "SYNAPTIC_PROJECT": self.project}
        return {name: value for name, value in told.items() if value}

    @property
    def line(self) -> str:
        return shlex.join([*(f"{name}={value}" for name, value in self.env.items()), self.command, *self.args])

    def hook_words(self, client: str) -> list[str]:
        """The command of this client's hooks, to which the name of an event is added."""
        home = ["--home", self.home] if self.home else []
        return [self.command, *self.args[:-1], *home, "hook", "--client", client]

    def hook(self, event: str, client: str) -> str:
        """The command of a hook as a line for the shell."""
        words = [*self.hook_words(client), event]
        return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def this_server(home: str | None = None, project: str | None = None) -> Server:
    """This very program, by an absolute path: a desktop program has no PATH that would find it.

    A home that was chosen, by --home or SYNAPTIC_HOME, is part of it.
    """
    chosen = str(resolve_home(home)) if home or os.environ.get("SYNAPTIC_HOME") else None
    command, args = _program()
    try:
        f"{command}{chosen}{project}".encode()
    except UnicodeEncodeError as error:
        raise JournalError("A path that is no UTF-8 cannot stand in a client's configuration.") from error
    return Server(command, args, chosen, project)


def _program() -> tuple[str, tuple[str, ...]]:
    called = Path(sys.argv[0])
    beside = Path(sys.executable)
    for path in (called.absolute(), beside.with_name("synaptic"), beside.with_name("synaptic.exe")):
        if path.stem in _PROGRAMS and path.is_file() and os.access(path, os.X_OK):
            return str(path), ("mcp",)
    return sys.executable, ("-m", "synaptic", "mcp")


@dataclass(frozen=True, slots=True)
class Judgement:
    """What an entry is to the wanted server, in one word, and the server that it starts, if it can be told.

    | state          | the entry                                                        | setup              |
    |----------------|------------------------------------------------------------------|--------------------|
    | not registered | is not there                                                     | adds it            |
    | registered     | starts this program                                              | does nothing       |
    | other program  | starts another Synaptic, with the usual arguments                | puts this one in   |
    | gone           | names a command that is not there                                | puts this one in   |
    | different      | has other arguments, another home or project, or is another thing | leaves it         |
    """

    state: str
    server: Server | None = None
    off: bool = False


def judge(entry: object, wanted: Server) -> Judgement:
    """What this entry of a client's configuration is; None is one that is not there."""
    if entry is None:
        return Judgement("not registered")
    server = _server_of(entry)
    if server is None:
        return Judgement("different")
    assert isinstance(entry, dict)
    off = entry.get("disabled") is True or entry.get("enabled") is False
    by_name = server.args == ("mcp",) and Path(server.command).stem in _PROGRAMS
    usual = by_name or server.args == ("-m", "synaptic", "mcp")
    if not usual or any(server.env.get(name) != value for name, value in wanted.env.items()):
        return Judgement("different", server, off)
    if shutil.which(server.command) is None:
        return Judgement("gone", server, off)
    real = os.path.realpath(server.command)
    same = (
        server.args == wanted.args and Path(server.command).is_absolute() and real == os.path.realpath(wanted.command)
    )
    return Judgement("registered" if same else "other program", server, off)


def _server_of(entry: object) -> Server | None:
    """The server in any client's shape: command and arguments apart, or in one list."""
    if not isinstance(entry, dict):
        return None
    command, args = entry.get("command"), entry.get("args", [])
    if isinstance(command, list) and command:
        command, args = command[0], command[1:]
    words = [command, *args] if isinstance(args, list) else []
    if not words or not all(isinstance(word, str) for word in words):
        return None
    env: Any = entry.get("env", entry.get("environment"))
    told = [env.get(name) for name in ("SYNAPTIC_HOME", "SYNAPTIC_PROJECT")] if isinstance(env, dict) else []
    return Server(words[0], tuple(words[1:]), *(str(value) if value else None for value in told))

"""The server, and the clients that start it, of `data/clients.toml`: where each keeps it, and
in which shape.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import platformdirs

from ...config import resolve_home
from ...errors import InvalidArgument, JournalError
from ...journal.disk import make_dirs, overwrite
from . import jsonc

NAME = "synaptic"
"""What the server is called in every client."""

PROGRAMS = ("synaptic", "synaptic-journal")

_PACKAGE = Path(__file__).parents[2]
DATA = _PACKAGE / "data"


@dataclass(frozen=True, slots=True)
class Server:
    """The command, and what it is told: the home and the project; None stands for the usual
    ones.

    A server elsewhere has a `url`, and no command.
    """

    command: str
    args: tuple[str, ...]
    home: str | None = None
    project: str | None = None
    url: str | None = None

    @property
    def env(self) -> dict[str, str]:
        told = {"SYNAPTIC_HOME": self.home, "SYNAPTIC_PROJECT": self.project}
        return {name: value for name, value in told.items() if value}

    @property
    def line(self) -> str:
        told = (f"{name}={value}" for name, value in self.env.items())
        return self.url or shlex.join([*told, self.command, *self.args])

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
        raise JournalError(
            "A path that is no UTF-8 cannot stand in a client's configuration."
        ) from error
    return Server(command, args, chosen, project)


def server_at(url: str) -> Server:
    """The server elsewhere that is reached by this address; without a path it is `/mcp`. Raises
    InvalidArgument.
    """
    try:
        parts = urlsplit(url.strip())
        good = (
            parts.scheme in ("http", "https")
            and bool(parts.hostname)
            and parts.port != 0
            and not parts.query
        )
    except ValueError:
        good = False
    if not good or "@" in parts.netloc or {*url} & {*'{}$<>"\\ '}:
        raise InvalidArgument(
            f"{url!r} is no address of a server.", hint="--url http://192.168.1.5:8765/mcp"
        )
    return Server(
        "", (), url=parts._replace(path=parts.path.rstrip("/") or "/mcp", fragment="").geturl()
    )


def _program() -> tuple[str, tuple[str, ...]]:
    called = Path(sys.argv[0])
    beside = Path(sys.executable)
    for path in (
        called.absolute(),
        beside.with_name("synaptic"),
        beside.with_name("synaptic.exe"),
    ):
        if path.stem in PROGRAMS and path.is_file() and os.access(path, os.X_OK):
            return str(path), ("mcp",)
    return sys.executable, ("-m", "synaptic", "mcp")


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A program that speaks MCP; `data/clients.toml` says what each field means."""

    name: str
    title: str
    key: str
    entry: Mapping[str, Any]
    user: Sequence[str]
    check: str
    remote: Mapping[str, Any] = field(default_factory=dict)
    add_remote: Sequence[str] = ()
    project: Sequence[str] = ()
    programs: Sequence[str] = ()
    signs: Sequence[str] = ()
    command: Sequence[str] = ()
    env_flag: str = ""
    removal: Sequence[str] = ()
    keeps_file: bool = False
    strict: bool = False
    memory: Mapping[str, str] = field(default_factory=dict)
    hooks: Mapping[str, Any] = field(default_factory=dict)

    def shape(self, server: Server) -> dict[str, Any]:
        """The entry of this server."""
        if server.url:
            return {
                name: server.url if value == "{url}" else value
                for name, value in self.remote.items()
            }
        words = [server.command, *server.args]
        said = {
            "{command}": words[0],
            "{args}": words[1:],
            "{words}": words,
            "{env}": server.env,
        }
        return {
            name: said.get(value, value)
            for name, value in self.entry.items()
            if value != "{env}" or server.env
        }

    def file(self, scope: str, where: Mapping[str, Path]) -> Path:
        """The configuration of this scope."""
        files = [
            expand(path, where) for path in (self.user if scope == "user" else self.project)
        ]
        return next((file for file in files if file.exists()), files[0])

    def program(self) -> str | None:
        """The client's own command, if it is on the PATH."""
        return next(
            (found for program in self.programs if (found := shutil.which(program))), None
        )

    def found(self, where: Mapping[str, Path]) -> bool:
        """True when the client seems to be on this machine."""
        return self.program() is not None or any(
            expand(sign, where).exists() for sign in self.signs
        )

    @property
    def offer(self) -> str:
        """How to have the plugin instead, which lies beside this package, or at the root of a
        clone.
        """
        market = _PACKAGE / "claude" if (_PACKAGE / "claude").is_dir() else _PACKAGE.parent
        if self.name != "claude-code" or not (market / ".claude-plugin").is_dir():
            return ""
        return (
            f"With a skill as well, as a plugin: `synaptic setup claude-code --remove`, "
            f"then `claude plugin "
            f"marketplace add {shlex.quote(str(market))}` and `claude plugin install "
            f"{NAME}@{NAME}`"
        )


def folders(
    environ: Mapping[str, str] = os.environ, platform: str = sys.platform
) -> dict[str, Path]:
    """The folders that the clients' paths begin with, on this machine."""

    def told(name: str, usual: Path) -> Path:
        return Path(environ.get(name) or usual)

    home = Path.home()
    config = told("XDG_CONFIG_HOME", home / ".config")
    mac, windows = (
        home / "Library" / "Application Support",
        told("APPDATA", home / "AppData" / "Roaming"),
    )
    return {
        "home": home,
        "config": config,
        "app": {"darwin": mac, "win32": windows}.get(platform, config),
        "zed": {"darwin": home / ".config" / "zed", "win32": windows / "Zed"}.get(
            platform, config / "zed"
        ),
        "claude": told("CLAUDE_CONFIG_DIR", home),
        "claude_dir": told("CLAUDE_CONFIG_DIR", home / ".claude"),
        "codex": told("CODEX_HOME", home / ".codex"),
        "gemini": told("GEMINI_CLI_HOME", home) / ".gemini",
        "project": Path.cwd(),
    }


def note_command(server: Server) -> None:
    """Notes for the plugin, which is the same on every machine, how Synaptic is started on this
    one.
    """
    with suppress(OSError, JournalError):
        make_dirs(_note().parent, private=True)
        overwrite(_note(), shlex.join(server.hook_words("claude-code")[:-3]).encode())


def plugin(where: Mapping[str, Path]) -> bool | None:
    """Whether Claude Code's plugin finds a program to start; None where it is not installed, or
    switched off.
    """
    folder, name = where["claude_dir"], f"{NAME}@{NAME}"
    with suppress(OSError, ValueError, KeyError, TypeError, jsonc.Unreadable):
        installed = json.loads((folder / "plugins" / "installed_plugins.json").read_bytes())[
            "plugins"
        ]
        on = jsonc.parse((folder / "settings.json").read_text("utf-8-sig"))["enabledPlugins"]
        if installed[name] and on[name] is not False:
            noted = shlex.split(_note().read_text("utf-8"))[:1] if _note().exists() else []
            path = os.pathsep.join(
                [os.environ.get("PATH", ""), str(where["home"] / ".local" / "bin")]
            )
            return any(
                shutil.which(program, path=path) for program in (*noted, "synaptic-journal")
            )
    return None


def _note() -> Path:
    return platformdirs.user_state_path(NAME) / "command"


def expand(path: str, where: Mapping[str, Path]) -> Path:
    """The path with its folder in place of the name in braces."""
    return Path(path.format_map(where))


CLIENTS = tuple(
    Client(**client)
    for client in tomllib.loads((DATA / "clients.toml").read_text("utf-8"))["client"]
)

"""The server as a client starts it, and the clients of `data/clients.toml`."""

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
"""The server's name in every client."""

PROGRAMS = ("synaptic", "synaptic-journal")

_PACKAGE = Path(__file__).parents[2]
DATA = _PACKAGE / "data"
_NO_URL = frozenset('{}$<>"\\ ')
"""A client would expand or break these characters in an address."""


@dataclass(frozen=True, slots=True)
class Server:
    """A command with its home and project, None standing for the usual ones; a server elsewhere
    has a `url` instead.
    """

    command: str
    args: tuple[str, ...]
    home: str | None = None
    project: str | None = None
    url: str | None = None

    @property
    def env(self) -> dict[str, str]:
        values = {"SYNAPTIC_HOME": self.home, "SYNAPTIC_PROJECT": self.project}
        return {name: value for name, value in values.items() if value}

    @property
    def line(self) -> str:
        """The address, or the command as a line for the shell."""
        settings = [f"{name}={value}" for name, value in self.env.items()]
        return self.url or shlex.join([*settings, self.command, *self.args])

    def hook_words(self, client: str) -> list[str]:
        """Returns the command of this client's hooks without the event, its last word."""
        home = ["--home", self.home] if self.home else []
        return [self.command, *self.args[:-1], *home, "hook", "--client", client]

    def hook(self, event: str, client: str) -> str:
        """Returns the command of a hook as a line for the shell."""
        words = [*self.hook_words(client), event]
        return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def this_server(home: str | None = None, project: str | None = None) -> Server:
    """Returns this very program by its absolute path, as a desktop program has no PATH; a home
    that was chosen by --home or SYNAPTIC_HOME is part of it.
    """
    chosen = None
    if home or os.environ.get("SYNAPTIC_HOME"):
        chosen = str(resolve_home(home))
    command, args = _program()
    try:
        f"{command}{chosen}{project}".encode()
    except UnicodeEncodeError as error:
        raise JournalError(
            "A path that is no UTF-8 cannot stand in a client's configuration."
        ) from error
    return Server(command, args, chosen, project)


def server_at(url: str) -> Server:
    """Returns the server at this address; without a path it is `/mcp`. Raises
    InvalidArgument.
    """
    try:
        parts = urlsplit(url.strip())
        complete = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        complete = False
    if not complete or parts.query or "@" in parts.netloc or not _NO_URL.isdisjoint(url):
        raise InvalidArgument(
            f"{url!r} is no address of a server.", hint="--url http://192.168.1.5:8765/mcp"
        )
    path = parts.path.rstrip("/") or "/mcp"
    return Server("", (), url=parts._replace(path=path, fragment="").geturl())


def _program() -> tuple[str, tuple[str, ...]]:
    python = Path(sys.executable)
    called = Path(sys.argv[0]).absolute()
    for path in (called, python.with_name("synaptic"), python.with_name("synaptic.exe")):
        if path.stem in PROGRAMS and path.is_file() and os.access(path, os.X_OK):
            return str(path), ("mcp",)
    return sys.executable, ("-m", "synaptic", "mcp")


def _usual_entry() -> dict[str, str]:
    return {"command": "{command}", "args": "{args}", "env": "{env}"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A program that speaks MCP; `data/clients.toml` says what each field means."""

    name: str
    title: str
    user: Sequence[str]
    check: str
    key: str = "mcpServers"
    entry: Mapping[str, Any] = field(default_factory=_usual_entry)
    remote: Mapping[str, Any] = field(default_factory=dict)
    add_remote: Sequence[str] = ()
    project: Sequence[str] = ()
    programs: Sequence[str] = ()
    signs: Sequence[str] = ()
    command: Sequence[str] = ()
    env_flag: str = "-e"
    removal: Sequence[str] = ()
    keeps_file: bool = False
    strict: bool = False
    memory: Mapping[str, str] = field(default_factory=dict)
    hooks: Mapping[str, Any] = field(default_factory=dict)

    def shape(self, server: Server) -> dict[str, Any]:
        """Returns the entry of this server."""
        words = [server.command, *server.args]
        values = {
            "{url}": server.url,
            "{command}": words[0],
            "{args}": words[1:],
            "{words}": words,
            "{env}": server.env,
        }
        entry = {}
        for name, value in (self.remote if server.url else self.entry).items():
            if value != "{env}" or server.env:
                entry[name] = values.get(value, value) if isinstance(value, str) else value
        return entry

    def file(self, scope: str, where: Mapping[str, Path]) -> Path:
        """Returns the configuration of this scope: the first that exists, else the first."""
        names = self.user if scope == "user" else self.project
        files = [expand(name, where) for name in names]
        existing = [file for file in files if file.exists()]
        return (existing or files)[0]

    def program(self) -> str | None:
        """Returns the client's own command, if it is on the PATH."""
        for program in self.programs:
            path = shutil.which(program)
            if path:
                return path
        return None

    def found(self, where: Mapping[str, Path]) -> bool:
        """True when the client seems to be on this machine."""
        signs = [expand(sign, where) for sign in self.signs]
        return self.program() is not None or any(sign.exists() for sign in signs)

    @property
    def offer(self) -> str:
        """The way to install Claude Code's plugin instead; empty for other clients."""
        market = _PACKAGE / "claude"  # in an installed package; in a clone it is at the root
        if not market.is_dir():
            market = _PACKAGE.parent
        if self.name != "claude-code" or not (market / ".claude-plugin").is_dir():
            return ""
        return (
            f"With a skill as well, as a plugin: `synaptic setup claude-code --remove`, "
            f"then `claude plugin marketplace add {shlex.quote(str(market))}` and "
            f"`claude plugin install {NAME}@{NAME}`"
        )


def folders(
    environ: Mapping[str, str] = os.environ, platform: str = sys.platform
) -> dict[str, Path]:
    """Returns this machine's folders, with which the clients' paths begin."""

    def folder(name: str, usual: Path) -> Path:
        return Path(environ.get(name) or usual)

    home = Path.home()
    config = folder("XDG_CONFIG_HOME", home / ".config")
    app, zed = config, config / "zed"
    if platform == "darwin":
        app, zed = home / "Library" / "Application Support", home / ".config" / "zed"
    elif platform == "win32":
        app = folder("APPDATA", home / "AppData" / "Roaming")
        zed = app / "Zed"
    return {
        "home": home,
        "config": config,
        "app": app,
        "zed": zed,
        "claude": folder("CLAUDE_CONFIG_DIR", home),
        "claude_dir": folder("CLAUDE_CONFIG_DIR", home / ".claude"),
        "codex": folder("CODEX_HOME", home / ".codex"),
        "gemini": folder("GEMINI_CLI_HOME", home) / ".gemini",
        "project": Path.cwd(),
    }


def note_command(server: Server) -> None:
    """Notes for the plugin, which is the same everywhere, how to start Synaptic here."""
    words = server.hook_words("claude-code")[:-3]
    with suppress(OSError, JournalError):
        make_dirs(_note().parent, private=True)
        overwrite(_note(), shlex.join(words).encode())


def plugin(where: Mapping[str, Path]) -> bool | None:
    """True when Claude Code's plugin finds a program to start; None where it is not installed,
    or switched off.
    """
    folder, name = where["claude_dir"], f"{NAME}@{NAME}"
    try:
        manifest = json.loads((folder / "plugins" / "installed_plugins.json").read_bytes())
        settings = jsonc.parse((folder / "settings.json").read_text("utf-8-sig"))
        if not manifest["plugins"][name] or settings["enabledPlugins"][name] is False:
            return None
        programs = ["synaptic-journal"]
        if _note().exists():
            programs += shlex.split(_note().read_text("utf-8"))[:1]
    except (OSError, ValueError, KeyError, TypeError, jsonc.Unreadable):
        return None
    own_folder = str(where["home"] / ".local" / "bin")
    path = os.pathsep.join([os.environ.get("PATH", ""), own_folder])
    return any(shutil.which(program, path=path) for program in programs)


def _note() -> Path:
    return platformdirs.user_state_path(NAME) / "command"


def expand(path: str, where: Mapping[str, Path]) -> Path:
    """Returns the path with its folder in place of the name in braces."""
    return Path(path.format_map(where))


def _client(row: Mapping[str, Any]) -> Client:
    name = row["name"]
    usual = {"title": name.replace("-", " ").title(), "programs": [name]}
    return Client(**{**usual, **row})


_ROWS = tomllib.loads((DATA / "clients.toml").read_text("utf-8"))["client"]
CLIENTS = tuple(_client(row) for row in _ROWS)

"""The clients, read from `data/clients.toml`: where each keeps its servers, and in which shape."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .server import NAME, Server

_PACKAGE = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A program that speaks MCP; `data/clients.toml` says what each field means."""

    name: str
    title: str
    key: str
    form: str
    user: Sequence[str]
    check: str
    project: Sequence[str] = ()
    programs: Sequence[str] = ()
    signs: Sequence[str] = ()
    command: Sequence[str] = ()
    removal: Sequence[str] = ()
    keeps_file: bool = False

    @property
    def path(self) -> tuple[str, str]:
        """Where the entry stands in the file."""
        return self.key, NAME

    def shape(self, server: Server) -> dict[str, Any]:
        """The entry of this server."""
        if self.form == "one-list":
            entry: dict[str, Any] = {"type": "local", "command": [server.command, *server.args], "enabled": True}
            return entry | ({"environment": server.env} if server.env else {})
        entry = {"type": "stdio"} if self.form == "typed" else {}
        entry |= {"command": server.command, "args": list(server.args)}
        return entry | ({"env": server.env} if server.env else {})

    def file(self, scope: str, where: Mapping[str, Path]) -> Path:
        """The configuration of this scope."""
        files = [_expand(path, where) for path in (self.user if scope == "user" else self.project)]
        return next((file for file in files if file.exists()), files[0])

    def program(self) -> str | None:
        """The client's own command, if it is on the PATH."""
        return next((found for program in self.programs if (found := shutil.which(program))), None)

    def found(self, where: Mapping[str, Path]) -> bool:
        """True when the client seems to be on this machine."""
        return self.program() is not None or any(_expand(sign, where).exists() for sign in self.signs)

    @property
    def offer(self) -> str:
        """How to have the plugin instead, which lies beside this package, or at the root of a clone."""
        market = _PACKAGE / "claude" if (_PACKAGE / "claude").is_dir() else _PACKAGE.parent
        if self.name != "claude-code" or not (market / ".claude-plugin").is_dir():
            return ""
        return (
            f"With hooks and a skill as well, as a plugin: `synaptic setup claude-code --remove`, then `claude plugin "
            f"marketplace add {shlex.quote(str(market))}` and `claude plugin install {NAME}@{NAME}`"
        )


def folders(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> dict[str, Path]:
    """The folders that the clients' paths begin with, on this machine."""
    home = Path.home()
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    app = config
    if platform == "darwin":
        app = home / "Library" / "Application Support"
    elif platform == "win32":
        app = Path(environ.get("APPDATA") or home / "AppData" / "Roaming")
    zed = {"win32": app / "Zed", "darwin": home / ".config" / "zed"}.get(platform, config / "zed")
    return {
        "home": home,
        "config": config,
        "app": app,
        "zed": zed,
        "claude": Path(environ.get("CLAUDE_CONFIG_DIR") or home),
        "codex": Path(environ.get("CODEX_HOME") or home / ".codex"),
        "gemini": Path(environ.get("GEMINI_CLI_HOME") or home) / ".gemini",
        "project": Path.cwd(),
    }


def _expand(path: str, where: Mapping[str, Path]) -> Path:
    return Path(path.format_map(where))


CLIENTS = tuple(
    Client(**client) for client in tomllib.loads((_PACKAGE / "data" / "clients.toml").read_text("utf-8"))["client"]
)

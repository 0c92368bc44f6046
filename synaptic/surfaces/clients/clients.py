"""The clients, as data: where each keeps its servers, in which shape, and how its user sees that it worked.

Paths begin with a folder in braces; `folders` says which. The first path that exists is taken, else the first.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .server import NAME, Server

Entry = dict[str, Any]


def _plain(server: Server) -> Entry:
    entry: Entry = {"command": server.command, "args": list(server.args)}
    return entry | ({"env": server.env} if server.env else {})


def _typed(server: Server) -> Entry:
    return {"type": "stdio"} | _plain(server)


def _one_list(server: Server) -> Entry:
    entry: Entry = {"type": "local", "command": [server.command, *server.args], "enabled": True}
    return entry | ({"environment": server.env} if server.env else {})


@dataclass(frozen=True, slots=True)
class Client:
    """A program that speaks MCP.

    `key` holds its servers. It is taken to be on the machine when one of `programs` is on the PATH or one of
    `signs` exists. `command` adds a server in the client's own way: {env} stands for the environment, {server}
    for the command line. It is used where there is no file yet, and always where the file is the client's own
    (`keeps_file`): it writes the file anew, and with it what a person wrote there. `offer` is what else there is.
    """

    name: str
    title: str
    key: str
    shape: Callable[[Server], Entry]
    user: tuple[str, ...]
    check: str
    project: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    signs: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    removal: tuple[str, ...] = ()
    keeps_file: bool = False
    offer: str = ""

    @property
    def path(self) -> tuple[str, str]:
        """Where the entry stands in the file."""
        return self.key, NAME

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


def _plugin_offer() -> str:
    """How to have the plugin, which lies beside this package, or at the root of a clone."""
    packaged = Path(__file__).parents[2] / "claude"
    market = packaged if packaged.is_dir() else packaged.parent.parent
    if not (market / ".claude-plugin").is_dir():
        return ""
    return (
        f"With hooks and a skill as well, as a plugin: `synaptic setup claude-code --remove`, then `claude plugin "
        f"marketplace add {shlex.quote(str(market))}` and `claude plugin install {NAME}@{NAME}`"
    )


CLIENTS = (
    Client(
        name="claude-code",
        title="Claude Code",
        key="mcpServers",
        shape=_typed,
        user=("{claude}/.claude.json",),
        project=("{project}/.mcp.json",),
        programs=("claude",),
        signs=("{claude}/.claude.json", "{home}/.claude"),
        command=("mcp", "add", "-s", "user", NAME, "{env:-e}", "--", "{server}"),
        removal=("mcp", "remove", "-s", "user", NAME),
        keeps_file=True,
        check="`claude mcp list` says Connected",
        offer=_plugin_offer(),
    ),
    Client(
        name="claude-desktop",
        title="Claude Desktop",
        key="mcpServers",
        shape=_plain,
        user=("{app}/Claude/claude_desktop_config.json",),
        signs=("{app}/Claude", "/Applications/Claude.app"),
        check="quit it and start it again; Settings > Developer shows synaptic as running",
    ),
    Client(
        name="codex",
        title="Codex",
        key="mcp_servers",
        shape=_plain,
        user=("{codex}/config.toml",),
        project=("{project}/.codex/config.toml",),
        programs=("codex",),
        signs=("{codex}",),
        command=("mcp", "add", NAME, "{env:--env}", "--", "{server}"),
        check="`codex mcp list` shows it as enabled",
    ),
    Client(
        name="gemini",
        title="Gemini CLI",
        key="mcpServers",
        shape=_plain,
        user=("{gemini}/settings.json",),
        project=("{project}/.gemini/settings.json",),
        programs=("gemini",),
        signs=("{gemini}",),
        command=("mcp", "add", "-s", "user", "{env:-e}", NAME, "{server}"),  # it does not know --
        check="`gemini mcp list` says Connected, in a folder that Gemini trusts",
    ),
    Client(
        name="cursor",
        title="Cursor",
        key="mcpServers",
        shape=_plain,
        user=("{home}/.cursor/mcp.json",),
        project=("{project}/.cursor/mcp.json",),
        programs=("cursor",),
        signs=("{home}/.cursor", "/Applications/Cursor.app"),
        check="restart it; its MCP settings list synaptic with its tools",
    ),
    Client(
        name="vscode",
        title="VS Code",
        key="servers",
        shape=_typed,
        user=("{app}/Code/User/mcp.json",),
        project=("{project}/.vscode/mcp.json",),
        programs=("code",),
        signs=("{app}/Code", "/Applications/Visual Studio Code.app"),
        check="`MCP: List Servers` in the Command Palette shows synaptic; start it there",
    ),
    Client(
        name="windsurf",
        title="Windsurf",
        key="mcpServers",
        shape=_plain,
        user=("{home}/.codeium/windsurf/mcp_config.json",),
        programs=("windsurf",),
        signs=("{home}/.codeium/windsurf", "/Applications/Windsurf.app"),
        check="press refresh in Cascade's MCP panel; synaptic turns green",
    ),
    Client(
        name="zed",
        title="Zed",
        key="context_servers",
        shape=_plain,
        user=("{zed}/settings.json",),
        programs=("zed", "zeditor"),
        signs=("{zed}", "/Applications/Zed.app"),
        check="the Agent Panel's settings show synaptic with a green dot",
    ),
    Client(
        name="opencode",
        title="OpenCode",
        key="mcp",
        shape=_one_list,
        user=("{config}/opencode/opencode.json", "{config}/opencode/opencode.jsonc"),
        project=("{project}/opencode.json", "{project}/opencode.jsonc"),
        programs=("opencode",),
        signs=("{config}/opencode",),
        check="`opencode mcp list` says connected",
    ),
)


def folders(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> dict[str, Path]:
    """The folders that the paths above begin with, on this machine."""
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

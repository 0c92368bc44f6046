"""The command that starts Synaptic's server, and the table of clients in
`data/clients.toml`.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import platformdirs

from ..config import resolve_home
from ..errors import InvalidArgument, JournalError
from ..files import DATA
from ..journal.disk import make_dirs, overwrite
from ..models import Json, Texts
from ..serving.tool_lists import BY_CLIENT, FLAG, HEADER, SHORT, WHOLE
from . import jsonc

NAME = "synaptic"
"""The name of Synaptic's server in the settings of every client."""

PLUGIN = f"{NAME}@{NAME}"
PROGRAMS = ("synaptic", "synaptic-journal")
"""The names of the programs that start Synaptic."""
FORM_ERRORS = (ValueError, LookupError, TypeError, AttributeError, RecursionError)
"""The errors that a settings file of an unexpected form raises."""

_SERVER_URL = re.compile(
    r"(?i)(https?://(?:[\w.-]+|\[[\da-f:.]+\])(?::[1-9]\d{0,4})?)(/[^\s{}$<>\"\\?#]*)?"
)
"""The address of a server, without characters that a client would expand."""


class Server(NamedTuple):
    """The way to reach Synaptic's server: a command with its arguments and environment, or a
    `url`. `tool_list` is the key of config.toml.
    """

    command: str
    args: Texts
    env: Mapping[str, str] = {}
    url: str = ""
    tool_list: str = BY_CLIENT

    def hook_words(self, client: str) -> list[str]:
        """Returns the words of the command that runs this client's hooks; the name of the event
        has to be added as the last word.
        """
        words = [self.command, *self.args[:-1]]
        home = self.env.get("SYNAPTIC_HOME")
        if home:
            words += ["--home", home]
        return [*words, "hook", "--client", client]

    def hook_line(self, event: str, client: str) -> str:
        """Returns the command that runs this client's hook for an event, as a line for the
        shell.
        """
        words = [*self.hook_words(client), event]
        if os.name == "nt":
            return subprocess.list2cmdline(words)
        return shlex.join(words)


def local_server(home: str | None, project: str | None) -> Server:
    """Returns the command that starts this program as a server, with its absolute path, because
    a desktop program has no PATH. A home from --home or SYNAPTIC_HOME, and the project, go into
    its environment.
    """
    env = {}
    if home or os.environ.get("SYNAPTIC_HOME"):
        env["SYNAPTIC_HOME"] = str(resolve_home(home))
    if project:
        env["SYNAPTIC_PROJECT"] = project
    program = shutil.which(NAME, path=Path(sys.executable).parent)
    if program:
        return Server(program, ("mcp",), env)
    return Server(sys.executable, ("-m", "synaptic", "mcp"), env)


def remote_server(url: str) -> Server:
    """Returns the server at this address; the path is `/mcp` if the address has none. Raises
    InvalidArgument for a text that is not an http or https address.
    """
    parts = _SERVER_URL.fullmatch(url)
    if not parts:
        raise InvalidArgument(
            f"{url!r} is not the http or https address of a server.",
            "As in: --url http://192.168.1.5:8765/mcp",
        )
    origin, path = parts.groups(default="")
    path = path.rstrip("/") or "/mcp"
    return Server("", (), url=origin + path)


class Client(NamedTuple):
    """A program that speaks MCP; `data/clients.toml` says what each field means."""

    name: str
    title: str
    files: Sequence[str]
    check: str
    entry: Mapping[str, Any]
    programs: Sequence[str]
    key: str = "mcpServers"
    remote: Mapping[str, Any] = {}
    signs: Sequence[str] = ()
    add_args: Sequence[str] = ()
    removal: Sequence[str] = ()
    strict: bool = False
    memory: str = ""
    hooks: Mapping[str, Any] = {}
    tool_list: str = SHORT

    def build_entry(self, server: Server) -> Json:
        """Returns the settings that register this server with the client, as its file holds
        them.
        """
        tool_list = server.tool_list
        if tool_list == BY_CLIENT:
            tool_list = self.tool_list
        args = [*server.args]
        if tool_list != WHOLE:
            args += [FLAG, tool_list]
        values = {
            "{url}": server.url,
            "{command}": server.command,
            "{args}": args,
            "{words}": [server.command, *args],
            "{env}": dict(server.env),
        }
        entry = {}
        form = self.remote if server.url else self.entry
        for name, value in form.items():
            filled = values.get(str(value), value)
            if filled != {}:
                entry[name] = filled
        if "headers" in entry and tool_list != WHOLE:
            entry["headers"] = {**entry["headers"], HEADER: tool_list}
        return entry

    @property
    def file(self) -> Path:
        """The settings file in which servers are registered: the first of `files` that exists,
        else the first.
        """
        files = list(map(client_path, self.files))
        existing = [file for file in files if file.exists()]
        return (existing or files)[0]

    @property
    def program(self) -> str | None:
        """The path of the client's own program, or None if it is not on the PATH."""
        for name in self.programs:
            path = shutil.which(name)
            if path:
                return path
        return None

    @property
    def is_present(self) -> bool:
        """True when the client's program, or a file of it, is on this machine."""
        if self.program:
            return True
        return any(client_path(sign).exists() for sign in self.signs)


def _parse_client(part: Json) -> Client:
    """Returns the client of a table of `data/clients.toml`, with the usual values for missing
    fields.
    """
    name = part["name"]
    usual = {
        "title": name.replace("-", " ").title(),
        "programs": [name],
        "entry": {"command": "{command}", "args": "{args}", "env": "{env}"},
    }
    return Client(**usual | part)


_TABLE = (DATA / "clients.toml").read_text("utf-8")
CLIENTS = [_parse_client(row) for row in tomllib.loads(_TABLE)["client"]]


def clients_by_name(names: Iterable[str], *, remote: bool) -> list[Client]:
    """Returns the clients with these names, or all clients without names; with `remote` only
    clients that can use a server at an address. Raises InvalidArgument for an unknown name.
    """
    valid = {client.name: client for client in CLIENTS if client.remote or not remote}
    chosen = dict.fromkeys(name.lower() for name in names)
    unknown = chosen.keys() - valid.keys()
    if unknown:
        raise InvalidArgument(
            f"Synaptic knows no client named {', '.join(unknown)}.", valid=valid
        )
    return [valid[name] for name in chosen or valid]


def client_folders(platform: str = sys.platform) -> dict[str, Path]:
    """Returns the folders of this machine by the names that paths in `data/clients.toml` begin
    with.
    """
    home = Path.home()
    config = _env_folder("XDG_CONFIG_HOME", home / ".config")
    app = config
    zed = config / "zed"
    if platform == "darwin":
        app = home / "Library" / "Application Support"
        zed = home / ".config" / "zed"
    elif platform == "win32":
        app = _env_folder("APPDATA", home / "AppData" / "Roaming")
        zed = app / "Zed"
    return {
        "home": home,
        "config": config,
        "app": app,
        "zed": zed,
        "claude": _env_folder("CLAUDE_CONFIG_DIR", home),
        "claude_dir": _env_folder("CLAUDE_CONFIG_DIR", home / ".claude"),
        "codex": _env_folder("CODEX_HOME", home / ".codex"),
        "gemini": _env_folder("GEMINI_CLI_HOME", home) / ".gemini",
    }


def _env_folder(name: str, usual: Path) -> Path:
    return Path(os.environ.get(name) or usual)


def client_path(path: str) -> Path:
    """Returns the path with its leading {name} replaced by that folder of this machine."""
    return Path(path.format_map(client_folders()))


# -- Claude Code's plugin
# ----------------------------------------------------------------------------------------------


def write_start_command(server: Server) -> None:
    """Writes the command that starts Synaptic to a file, which the plugin of Claude Code reads,
    because the plugin is the same on every machine.
    """
    words = server.hook_words("")[:-3]
    note = platformdirs.user_state_path(NAME) / "command"
    with suppress(OSError, JournalError):
        make_dirs(note.parent, private=True)
        overwrite(note, os.fsencode(shlex.join(words)))


def has_claude_plugin() -> bool:
    """True when Synaptic's plugin is installed in Claude Code and switched on."""
    folder = client_folders()["claude_dir"]
    with suppress(OSError, *FORM_ERRORS):
        manifest = (folder / "plugins" / "installed_plugins.json").read_text("utf-8")
        settings = (folder / "settings.json").read_text("utf-8")
        on = jsonc.parse(settings)["enabledPlugins"][PLUGIN] is not False
        return on and bool(jsonc.parse(manifest)["plugins"][PLUGIN])
    return False

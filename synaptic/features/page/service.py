"""`synaptic serve --install`: the page from each login on, by systemd or launchd."""

import os
import plistlib
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import typer

from ...config import load_config, resolve_home
from ...errors import ConfigError, InvalidArgument, NotFound
from ...journal.settings import write_setting
from ...render.terminal import emit, is_terminal
from ...serving.running import find_running_server
from ...setup.clients import local_server

PORT = 8765
"""The port of the page if neither the command nor config.toml gives one."""
_TIMEOUT_S = 60
Commands = Sequence[Sequence[str]]


class Service(NamedTuple):
    """A systemd or launchd service of this user: its file, and the commands that start it and
    stop it.
    """

    file: Path
    start: Commands
    stop: Sequence[str]


def install_service(home: str | None, port: int | None, *, read_only: bool) -> None:
    """Installs and starts the service that runs `synaptic serve` at each login, and says so.
    Raises InvalidArgument for a used port, and ConfigError.
    """
    place = resolve_home(home)
    service = find_service(place)
    port = _choose_free_port(home, port or load_config(home).port or PORT)
    server = local_server(home, None)
    words = [server.command, *server.args[:-1], "--home", str(place), "serve", "--no-link"]
    if read_only:
        words.append("--read-only")
    write_setting(place, "port", port)
    make = render_launchd_agent if service.file.suffix == ".plist" else render_systemd_unit
    if service.file.exists():
        with suppress(ConfigError):  # the old one may not run
            _run_manager([service.stop])
    service.file.parent.mkdir(parents=True, exist_ok=True)
    service.file.write_bytes(make(service.file.stem, words))
    emit(f"Wrote {service.file}\nWrote port = {port} to {place / 'config.toml'}")
    _run_manager(service.start)
    emit("It serves the page from now on, and after each login.\nNext: synaptic today --page")


def uninstall_service(home: str | None) -> None:
    """Stops the service and deletes its file. Raises ConfigError if none is installed."""
    service = find_service(resolve_home(home))
    if not service.file.exists():
        raise ConfigError(
            f"No service is installed for this home: {service.file} does not exist.",
            "`synaptic serve --install` installs one.",
        )
    try:
        _run_manager([service.stop])
    finally:
        service.file.unlink()
        emit(f"Removed {service.file}. The port stays in config.toml.")


def find_service(home: Path) -> Service:
    """Returns the service of a home; each home has its own. Raises ConfigError if this machine
    has neither systemd nor launchd.
    """
    name = "synaptic"
    if home != resolve_home("~/.synaptic"):
        name += f"-{blake2b(str(home).encode(), digest_size=4).hexdigest()}"
    if sys.platform == "darwin":
        file = Path("~/Library/LaunchAgents").expanduser() / f"org.{name}.plist"
        stop = ("launchctl", "unload", "-w", str(file))
        return Service(file, [("launchctl", "load", "-w", str(file))], stop)
    if shutil.which("systemctl"):
        folder = Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser()
        file = folder / "systemd" / "user" / f"{name}.service"
        ask = ("systemctl", "--user")
        start = [(*ask, "daemon-reload"), (*ask, "enable", "--now", name)]
        return Service(file, start, (*ask, "disable", "--now", name))
    raise ConfigError(
        "This machine has neither systemd nor launchd, with which a service could be "
        "installed.",
        "Have your desktop start `synaptic serve --no-link` when you log in.",
    )


def render_systemd_unit(name: str, words: Sequence[str]) -> bytes:
    """Returns the text of a systemd unit that runs the command `words`."""
    quoted = []
    for word in words:
        for old, new in (("\\", "\\\\"), ('"', '\\"'), ("%", "%%"), ("$", "$$")):
            word = word.replace(old, new)
        quoted.append(f'"{word}"')
    return f"""\
[Unit]
Description=The page of Synaptic

[Service]
ExecStart={" ".join(quoted)}
Restart=on-failure
RestartSec=5

[Install]
WantedBy=default.target
""".encode()


def render_launchd_agent(name: str, words: Sequence[str]) -> bytes:
    """Returns the property list of a launchd agent that runs the command `words`."""
    return plistlib.dumps(
        {
            "Label": name,
            "ProgramArguments": list(words),
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
        }
    )


def _choose_free_port(home: str | None, port: int) -> int:
    """Returns `port` if it is free or used by a server of this home; asks a person for another
    one otherwise.

    Raises InvalidArgument where nobody can be asked.
    """
    while port == 0 or not _is_port_usable(home, port):
        if not is_terminal(sys.stdin, sys.stderr):
            raise InvalidArgument(
                f"Another program uses the port {port}.", "Choose another port: --port N"
            )
        question = f"The port {port} is taken. Which other"
        port = typer.prompt(question, port + 1, type=int, err=True)
    return port


def _is_port_usable(home: str | None, port: int) -> bool:
    with suppress(OSError, OverflowError), socket.create_server(("127.0.0.1", port)):
        return True
    with suppress(NotFound):
        return find_running_server(home).url.endswith(f":{port}")
    return False


def _run_manager(commands: Commands) -> None:
    """Runs commands of systemd or launchd. Raises ConfigError if one of them fails."""
    for command in commands:
        try:
            ended = subprocess.run(
                command, capture_output=True, text=True, errors="replace", timeout=_TIMEOUT_S
            )
            reason = ended.returncode and (ended.stderr.strip() or f"status {ended.returncode}")
        except (OSError, subprocess.TimeoutExpired) as error:
            reason = str(error)
        if reason:
            raise ConfigError(
                f"`{shlex.join(command)}` failed: {reason}",
                "The file of the service is written. Log in on this machine as this user, and "
                "run that command there.",
            )

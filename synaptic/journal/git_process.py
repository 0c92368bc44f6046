"""Runs git without running what a repository names."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from functools import lru_cache
from pathlib import Path

from ..errors import JournalError

TIMEOUT_S = 60

_LEADS = re.compile(r"GIT_(?!SSL_)")  # a user may name an authority for https so
_HARMLESS = {
    # the guarantee: no setting of a repository widens it, so nothing is fetched
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}
_SETTINGS = (
    "safe.bareRepository=explicit",
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    "protocol.allow=never",
    "log.showRoot=true",
)
_REMOTE_ALLOWED = {
    "GIT_ALLOW_PROTOCOL": "file:ssh:https",
    "GIT_ASKPASS": "",
    "SSH_ASKPASS_REQUIRE": "never",
    "LC_ALL": "C",
}
_REMOTE_SETTINGS = (
    "gc.auto=0",  # the objects belong to another repository: nothing here may remove any
    "maintenance.auto=false",
    "push.gpgSign=false",
    "fetch.fsckObjects=true",
    "fetch.recurseSubmodules=false",
    "push.recurseSubmodules=no",
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=20",
)


def run_git(
    folder: Path,
    *args: str,
    timeout_s: float = TIMEOUT_S,
    stdin: bytes = b"",
    objects: Path | None = None,
    within: Path | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Runs git in `folder` and returns its exit status and output. Synaptic calls git only
    through this function.

    Git runs no program that the repository configures, and opens only repositories that
    `safe.directory` allows. `stdin` is its standard input. With `objects`, the place of what
    git fetches, `folder` is a bare repository of Synaptic's own, and other repositories are
    reached by file, ssh and https, with the user's settings and without any question. With
    `within` no repository above that folder is looked for. Raises JournalError if git is
    missing or does not end.
    """
    # Git sets such variables for the programs it starts; they would lead another git to that
    # repository.
    environ = {name: value for name, value in os.environ.items() if not _LEADS.match(name)}
    environ |= _HARMLESS
    settings: tuple[str, ...] = _SETTINGS
    if objects:
        settings += _REMOTE_SETTINGS
        environ |= _REMOTE_ALLOWED
        environ |= {"GIT_DIR": str(folder), "GIT_OBJECT_DIRECTORY": str(objects)}
        environ["GIT_SSH_COMMAND"] = _ssh_command(folder)
    if within:
        environ["GIT_CEILING_DIRECTORIES"] = str(within.parent)
    command = ["git", "--no-pager"]
    for setting in settings:
        command += ["-c", setting]
    command += ["-C", str(folder), *args]
    try:
        return subprocess.run(
            command,
            env=environ,
            input=stdin,
            capture_output=True,
            timeout=timeout_s,
            start_new_session=objects is not None,  # ssh finds no terminal to ask on
        )
    except subprocess.TimeoutExpired as error:
        raise JournalError(
            f"git {args[0]} did not end within {timeout_s} s.", "Try again."
        ) from error
    except OSError as error:
        raise JournalError(
            "git is not installed.", hint="Install it, then run this again."
        ) from error


@lru_cache(1)
def _ssh_command(folder: Path) -> str:
    """The ssh command that the user configured for git, with options that forbid questions."""
    setting = run_git(folder, "config", "--global", "--get", "core.sshCommand").stdout
    command = os.environ.get("GIT_SSH_COMMAND") or os.fsdecode(setting).strip() or "ssh"
    if Path(shlex.split(command)[0]).stem == "ssh":
        command += " -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=15"
    return command

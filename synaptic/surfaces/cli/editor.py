"""Opens the person's own editor: at an entry's line, or on an empty page."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from ...errors import ConfigError, InvalidArgument, SynapticError
from .terminal import is_terminal

_PLUS_LINE = frozenset(("vi", "vim", "nvim", "gvim", "nano", "emacs", "emacsclient", "micro", "kak", "ed", "joe"))
_GOTO = frozenset(("code", "code-insiders", "codium", "vscodium", "cursor", "windsurf"))
_COLON_LINE = frozenset(("hx", "helix", "subl", "zed"))
_RETURNS_AT_ONCE = _GOTO | {"subl", "zed"}


def editor() -> list[str] | None:
    """The command in VISUAL, else EDITOR, as a list; None where neither is set, or where nobody sits at a terminal."""
    if not is_terminal(sys.stdin, sys.stdout):
        return None
    for name in ("VISUAL", "EDITOR"):
        if command := os.environ.get(name, "").strip():
            try:
                return shlex.split(command)
            except ValueError as error:
                raise ConfigError(f"${name} is {command!r}, which is no command: {error}.") from error
    return None


def command_at(command: Sequence[str], path: Path, line: int | None) -> list[str]:
    """The command that shows a file at a line.

    | editor          | arguments          |
    |-----------------|--------------------|
    | `vim`, `nano`   | `+12 notes.md`     |
    | `hx`, `subl`    | `notes.md:12`      |
    | `code --wait`   | `--goto notes.md:12` |
    | any other       | `notes.md`         |
    """
    name = Path(command[0]).stem.lower()
    if line is None:
        return [*command, str(path)]
    if name in _PLUS_LINE:
        return [*command, f"+{line}", str(path)]
    if name in _GOTO:
        return [*command, "--goto", f"{path}:{line}"]
    return [*command, f"{path}:{line}" if name in _COLON_LINE else str(path)]


@contextlib.contextmanager
def composed(begin: str = "") -> Iterator[str]:
    """A context that gives the text a person wrote in the editor, which shows `begin`. If it fails, the text stays.

    Raises InvalidArgument when there is no terminal or no editor.
    """
    command = editor()
    if command is None:
        raise InvalidArgument(
            "There is no text to save.",
            hint='Give it: synaptic save "TEXT", or pipe it: ... | synaptic save -, or set EDITOR and use a terminal.',
        )
    if Path(command[0]).stem.lower() in _RETURNS_AT_ONCE and "--wait" not in command:
        command = [*command, "--wait"]
    handle, name = tempfile.mkstemp(prefix="synaptic-", suffix=".md")
    os.close(handle)
    path = Path(name)
    path.write_text(begin, encoding="utf-8")
    try:
        run([*command, name])
        yield path.read_text(encoding="utf-8", errors="replace")
    except BaseException as error:
        if not path.exists() or not path.stat().st_size:
            path.unlink(missing_ok=True)
        elif isinstance(error, SynapticError):
            error.hint = f"{error.hint} Your text is kept in {path}.".strip()
        raise
    path.unlink(missing_ok=True)


def run(command: Sequence[str]) -> None:
    """Starts the editor and waits until it ends. Raises ConfigError when it cannot be started or failed."""
    # Ctrl-C belongs to the editor meanwhile; a handler, unlike SIG_IGN, is not handed down to it
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        status = subprocess.call(command)
    except OSError as error:
        raise ConfigError(
            f"The editor {command[0]} cannot be started: {error.strerror}.", hint="Set VISUAL or EDITOR."
        ) from error
    finally:
        signal.signal(signal.SIGINT, before)
    if status:
        raise ConfigError(f"The editor {command[0]} ended with status {status}.")

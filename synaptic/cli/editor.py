"""Opens the person's own editor: at an entry's line, or on an empty page."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ..errors import ConfigError, InvalidArgument, SynapticError
from ..render.terminal import is_terminal
from ..serving.editors import RETURNS_AT_ONCE, chosen_editor, editor_name


def editor_command() -> list[str] | None:
    """The command in VISUAL, else EDITOR, as a list; None where neither is set, or where nobody
    sits at a terminal.
    """
    return chosen_editor() if is_terminal(sys.stdin, sys.stdout) else None


@contextmanager
def compose_text() -> Iterator[str]:
    """A context that gives the text a person wrote in the editor. If it fails, the text stays.

    Raises InvalidArgument when there is no terminal or no editor.
    """
    command = editor_command()
    if command is None:
        raise InvalidArgument(
            "There is no text to save.",
            'Give it: synaptic save "TEXT", or pipe it: ... | synaptic save -, or set '
            "EDITOR and use a terminal.",
        )
    if editor_name(command) in RETURNS_AT_ONCE and "--wait" not in command:
        command = [*command, "--wait"]
    handle, name = tempfile.mkstemp(prefix="synaptic-", suffix=".md")
    os.close(handle)
    path = Path(name)
    try:
        run_editor([*command, name])
        yield path.read_text(encoding="utf-8", errors="replace")
    except BaseException as error:
        if not path.exists() or not path.stat().st_size:
            path.unlink(missing_ok=True)
        elif isinstance(error, SynapticError):
            error.hint = f"{error.hint} Your text is kept in {path}.".strip()
        raise
    path.unlink(missing_ok=True)


def run_editor(command: Sequence[str]) -> None:
    """Starts the editor and waits until it ends. Raises ConfigError when it cannot be started
    or failed.
    """
    # Ctrl-C belongs to the editor meanwhile; a handler, unlike SIG_IGN, is not handed down to
    # it
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        status = subprocess.call(command)
    except OSError as error:
        raise ConfigError(
            f"The editor {command[0]} cannot be started: {error.strerror}.",
            "Set VISUAL or EDITOR.",
        ) from error
    finally:
        signal.signal(signal.SIGINT, before)
    if status:
        raise ConfigError(f"The editor {command[0]} ended with status {status}.")

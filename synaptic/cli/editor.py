"""Starts the person's own text editor: to write a new text, or to show a file."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ..errors import ConfigError, InvalidArgument, SynapticError
from ..notes.privacy import has_private_tag
from ..render.terminal import is_terminal, say
from ..serving.editors import RETURNS_AT_ONCE, chosen_editor, editor_name


def editor_command() -> list[str] | None:
    """Returns the words of the command in VISUAL, else in EDITOR; None where neither is set, or
    where standard input or output is not a terminal.
    """
    return chosen_editor() if is_terminal(sys.stdin, sys.stdout) else None


@contextmanager
def compose_text() -> Iterator[str]:
    """Opens the editor on an empty file and gives the text that the person wrote, as a context.
    If the body of the context fails, the file is kept and the error names it; it is kept, too,
    if it has a private passage, which no save writes.

    Raises InvalidArgument when there is no terminal or no editor.
    """
    command = editor_command()
    if command is None:
        raise InvalidArgument(
            "There is no text to save.",
            'Give it: synaptic save "TEXT", or pipe it: ... | synaptic save, or set '
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
    if path.exists() and has_private_tag(path.read_bytes()):
        say(
            f"Your whole text is still in {path}: add what is private by `synaptic edit`, "
            "which leaves it in its file, and delete this one."
        )
    else:
        path.unlink(missing_ok=True)


def run_editor(command: Sequence[str]) -> None:
    """Starts the editor and waits until it ends. Raises ConfigError when it cannot be started,
    or ended with a status other than 0.
    """
    # Ctrl-C belongs to the editor meanwhile; a handler, unlike SIG_IGN, is not handed down to
    # it
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        status = subprocess.call(command)
    except OSError as error:
        raise ConfigError(
            f"The editor {command[0]} cannot be started: {error.strerror}.",
            "Set VISUAL or EDITOR to the command of an editor.",
        ) from error
    finally:
        signal.signal(signal.SIGINT, before)
    if status:
        raise ConfigError(
            f"The editor {command[0]} ended with status {status}.",
            "Set VISUAL or EDITOR to another editor if it cannot run here.",
        )

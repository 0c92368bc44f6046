"""The command of the text editor that a person has chosen, and its arguments to show a file at
a line.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from ..errors import ConfigError

_PLUS_LINE_EDITORS = frozenset(
    ("vi", "vim", "nvim", "gvim", "nano", "emacs", "emacsclient", "micro", "kak", "ed", "joe")
)
_GOTO_EDITORS = frozenset(("code", "code-insiders", "codium", "vscodium", "cursor", "windsurf"))
_WAITING_EDITORS = (_PLUS_LINE_EDITORS | {"hx", "helix"}) - {"gvim", "emacsclient"}
"""Editors whose command ends when the person has closed the file."""
_WAIT_FLAGS = frozenset(("--wait", "-w", "-f", "--nofork", "--block"))
_COLON_LINE_EDITORS = frozenset(("hx", "helix", "subl", "zed"))
RETURNS_AT_ONCE = _GOTO_EDITORS | {"subl", "zed"}
"""Editors with a window of their own: their command ends at once unless it has --wait."""


def chosen_editor() -> list[str] | None:
    """Returns the words of the command in VISUAL, else in EDITOR; None where neither is set.
    Raises ConfigError if it cannot be split into words.
    """
    for name in ("VISUAL", "EDITOR"):
        if command := os.environ.get(name, "").strip():
            try:
                return shlex.split(command)
            except ValueError as error:
                raise ConfigError(
                    f"${name} is {command!r}, which is not a command: {error}.",
                    "Set it to the command of an editor.",
                ) from error
    return None


def editor_name(command: Sequence[str]) -> str:
    """Returns the name of an editor's program: `code` of `/usr/bin/code --wait`."""
    return Path(command[0]).stem.lower()


def waits_for_person(command: Sequence[str]) -> bool:
    """True if the command of the editor surely ends after the person has edited the file."""
    return editor_name(command) in _WAITING_EDITORS or bool(_WAIT_FLAGS & {*command})


def command_to_open(command: Sequence[str], path: Path, line: int | None) -> list[str]:
    """Returns the words of the command that shows a file in the editor, at a line if it is
    given.

    | editor          | arguments          |
    |-----------------|--------------------|
    | `vim`, `nano`   | `+12 notes.md`     |
    | `hx`, `subl`    | `notes.md:12`      |
    | `code --wait`   | `--goto notes.md:12` |
    | any other       | `notes.md`         |
    """
    name = editor_name(command)
    if line is None:
        return [*command, str(path)]
    if name in _PLUS_LINE_EDITORS:
        return [*command, f"+{line}", str(path)]
    if name in _GOTO_EDITORS:
        return [*command, "--goto", f"{path}:{line}"]
    return [*command, f"{path}:{line}" if name in _COLON_LINE_EDITORS else str(path)]

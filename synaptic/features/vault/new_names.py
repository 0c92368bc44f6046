"""Says which names no note or folder can have, so that all programs can open it, and which are
taken.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from pathlib import PurePosixPath

from ...errors import Refused, Sentence
from ...journal.folder import is_note
from ...journal.names import MOST_BYTES, is_readable
from ...workspace.workspace import Workspace

_FORBIDDEN = {
    '\\/:*?"<>|': "Windows allows no {sign}",
    "#^[]": "links of Obsidian allow no {sign}",
}
_DEVICES = re.compile(r"(?i)(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|\Z)")


def why_forbidden(name: str) -> str:
    """The reason why macOS, Windows, Obsidian or Synaptic has no file of this name; "" if each
    has.

    | name                    | reason                             |
    |-------------------------|------------------------------------|
    | `a:b.md`, `what?.md`    | Windows allows no such sign        |
    | `C#.md`, `[x].md`       | links of Obsidian allow none       |
    | `aux.md`, `a.md.`       | Windows: a device, a dot at the end |
    | `.a.md`                 | it would be hidden                 |
    """
    if not name.strip() or name in (".", ".."):
        return Sentence("a part of it is empty")
    for signs, words in _FORBIDDEN.items():
        for sign in signs:
            if sign in name:
                return Sentence(words, sign=sign)
    if not is_readable(name) or not name.isprintable():
        return Sentence("it has a sign that nobody sees")
    if name[0] == ".":
        return Sentence("files that begin with a dot are hidden")
    if name != name.strip() or name[-1] == ".":
        return Sentence("Windows allows no blank and no dot at its end")
    stem = name.rpartition(".")[0] if is_note(name) else name
    if stem != stem.strip() or stem[-1:] in (".", ""):
        return Sentence("Windows allows no blank and no dot at its end")
    if _DEVICES.match(name):
        return Sentence("Windows keeps this name for a device")
    if len(name.encode("utf-8", "surrogatepass")) > MOST_BYTES:
        return Sentence("it has more than {most_bytes} bytes", most_bytes=MOST_BYTES)
    if name.endswith(("~", ".swp", ".tmp")):
        return Sentence("editors name their own files so")
    return ""


def check_path_is_free(
    ws: Workspace, old_path: str, new_path: str, others: Collection[str]
) -> None:
    """Raises Refused if something has the new path of a note or folder, or if some system takes
    it, or a folder above it, for another that is there. `others` are the files that stay.
    """
    there = {*others}
    for path in (*others, old_path):
        there.update(folder.as_posix() for folder in PurePosixPath(path).parents)
    hint = "Give another name, or rename that one first."
    if new_path in there or ws.journal.place(new_path).is_dir():  # which may be empty
        raise Refused("{there} is there already.", hint, there=new_path)
    by_form = {_fold(path): path for path in there}
    for folder in (PurePosixPath(new_path), *PurePosixPath(new_path).parents):
        path = folder.as_posix()
        same = by_form.get(_fold(path))
        if same and path not in there:
            message = (
                "{there} is there already, and some systems take {path} for the same name."
            )
            raise Refused(message, hint, there=same, path=path)


def _fold(path: str) -> str:
    """The form in which paths are equal that some system takes for the same."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", path).casefold())

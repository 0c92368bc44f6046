"""Says which names no note or folder can have, so that all programs can open it."""

from __future__ import annotations

import re

from ...errors import Sentence
from ...journal.folder import is_note
from ...journal.names import MOST_BYTES, is_readable

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

"""Says which names no note or folder can have, so that all programs can open it."""

from __future__ import annotations

import re

from ...journal.names import MOST_BYTES, is_readable

_FORBIDDEN = {'\\/:*?"<>|': "Windows allows no {}", "#^[]": "links of Obsidian allow no {}"}
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
        return "a part of it is empty"
    for signs, words in _FORBIDDEN.items():
        for sign in signs:
            if sign in name:
                return words.format(sign)
    if not is_readable(name) or not name.isprintable():
        return "it has a sign that nobody sees"
    if name[0] == ".":
        return "files that begin with a dot are hidden"
    if name != name.strip() or name[-1] == ".":
        return "Windows allows no blank and no dot at its end"
    stem = name.rpartition(".")[0] if name.lower().endswith((".md", ".markdown")) else name
    if stem != stem.strip() or stem[-1:] in (".", ""):
        return "Windows allows no blank and no dot at its end"
    if _DEVICES.match(name):
        return "Windows keeps this name for a device"
    if len(name.encode("utf-8", "surrogatepass")) > MOST_BYTES:
        return f"it has more than {MOST_BYTES} bytes"
    if name.endswith(("~", ".swp", ".tmp")):
        return "editors name their own files so"
    return ""

"""Edits TOML: comments, order and blanks of everything else stay.

A new table comes last; comments below a removed table stay.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from typing import Any

from .jsonc import Unreadable, table

_LINE = re.compile(r"line (\d+)")
_SECTION = re.compile(r"^(?=[ \t]*\[)", re.MULTILINE)
_LAST_COMMENTS = re.compile(r"(?:^[ \t]*(?:#.*)?\n)*(?:^[ \t]*#.*)?\Z", re.MULTILINE)
_LAST_BLANK_LINE = re.compile(r"(\A|\n)[ \t]*\r?\n\Z")


def parse(text: str) -> Any:
    """Returns the value of TOML. Raises Unreadable."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        place = _LINE.search(str(error))
        line = int(place[1]) if place else text.count("\n") + 1
        reason = str(error).partition(" (at")[0]
        raise Unreadable(line, reason or "nested too deeply") from None


def put(text: str, path: Sequence[str], value: Any) -> str:
    """Returns the text with `value` at `path`. Raises Unreadable."""
    import tomlkit

    wanted = parse(text)
    table(wanted, path[:-1])[path[-1]] = value
    added = value
    for name in reversed(path):
        added = {name: added}
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = newline if text.endswith("\n") else newline * 2
    longer = tomlkit.dumps(added).replace("\n", newline)
    if text:
        longer = text + gap + longer
    return longer if _means(longer, wanted) else _edited(text, path, wanted, value)


def drop(text: str, path: Sequence[str]) -> str:
    """Returns the text without the value at `path`. Raises Unreadable."""
    wanted = parse(text)
    holder = table(wanted, path[:-1])
    if path[-1] not in holder:
        return text
    del holder[path[-1]]
    own_section = re.compile(rf"\s*\[{re.escape('.'.join(path))}[].]")
    shorter = ""
    for section in _SECTION.split(text):
        comments = _LAST_COMMENTS.search(section)
        if own_section.match(section) and comments:  # `put` wrote the blank line above
            shorter = _LAST_BLANK_LINE.sub(r"\1", shorter) + comments[0]
        else:
            shorter += section
    return shorter if _means(shorter, wanted) else _edited(text, path, wanted)


def _edited(text: str, path: Sequence[str], wanted: Any, value: Any = None) -> str:
    """Returns the text after tomlkit set or, without a value, removed the item at `path`."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
        holder: Any = document
        for name in path[:-1]:
            holder = holder[name]
        if value is None:
            del holder[path[-1]]
        else:
            holder[path[-1]] = value
        new = tomlkit.dumps(document)
    except (TOMLKitError, KeyError, ValueError):
        new = ""
    if not _means(new, wanted):
        raise Unreadable(1, "it cannot be changed without changing something else")
    return new


def _means(text: str, wanted: Any) -> bool:
    """True when the text has this value; empty tables do not count."""
    try:
        return bool(_without_empty(tomllib.loads(text)) == _without_empty(wanted))
    except tomllib.TOMLDecodeError:
        return False


def _without_empty(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    shorter = {name: _without_empty(each) for name, each in value.items()}
    return {name: each for name, each in shorter.items() if each != {}}

"""TOML edited by tomlkit: comments, order and spacing of everything else stay.

A new table comes at the end of the file, where its user looks for it; comments below a table
that is taken out stay.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from typing import Any

from .jsonc import Unreadable, table

_LINE = re.compile(r"line (\d+)")
_SECTION = re.compile(r"^(?=[ \t]*\[)", re.MULTILINE)
_COMMENTS = re.compile(r"(?:^[ \t]*(?:#.*)?\n)*(?:^[ \t]*#.*)?\Z", re.MULTILINE)
_BLANK_LINE = re.compile(r"(\A|\n)[ \t]*\r?\n\Z")


def parse(text: str) -> Any:
    """What the text says. Raises Unreadable."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        found = _LINE.search(str(error))
        line = int(found[1]) if found else text.count("\n") + 1
        raise Unreadable(line, str(error).split(" (at")[0] or "nested too deeply") from None


def put(text: str, path: Sequence[str], value: Any) -> str:
    """The text with `value` at `path`. Raises Unreadable."""
    import tomlkit

    wanted, added = parse(text), value
    table(wanted, path[:-1])[path[-1]] = value
    for name in reversed(path):
        added = {name: added}
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    longer = text + gap + tomlkit.dumps(added).replace("\n", newline)
    return longer if _says(longer, wanted) else _edited(text, path, wanted, value)


def drop(text: str, path: Sequence[str]) -> str:
    """The text without what stands at `path`. Raises Unreadable."""
    wanted = parse(text)
    holder = table(wanted, path[:-1])
    if path[-1] not in holder:
        return text
    del holder[path[-1]]
    ours = re.compile(rf"\s*\[{re.escape('.'.join(path))}[].]")
    shorter = ""
    for section in _SECTION.split(text):
        if ours.match(section) and (comments := _COMMENTS.search(section)):
            shorter = _BLANK_LINE.sub(r"\1", shorter) + comments[0]  # `put` wrote that line
        else:
            shorter += section
    return shorter if _says(shorter, wanted) else _edited(text, path, wanted)


def _edited(text: str, path: Sequence[str], wanted: Any, value: Any = None) -> str:
    """The text after tomlkit put `value` at `path`, or took out what stood there where it is
    None.

    Raises Unreadable where the result would not say `wanted`.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
        table: Any = document
        for name in path[:-1]:
            table = table[name]
        if value is None:
            del table[path[-1]]
        else:
            table[path[-1]] = value
        text = tomlkit.dumps(document)
    except (TOMLKitError, KeyError, ValueError):
        text = ""
    if not _says(text, wanted):
        raise Unreadable(1, "it cannot be changed without changing something else")
    return text


def _says(text: str, wanted: Any) -> bool:
    """True when this is what the text means, whether or not empty tables are written."""
    try:
        return bool(_full(tomllib.loads(text)) == _full(wanted))
    except tomllib.TOMLDecodeError:
        return False


def _full(table: Any) -> Any:
    """The table without tables that are empty."""
    if not isinstance(table, dict):
        return table
    return {name: each for name, value in table.items() if (each := _full(value)) != {}}

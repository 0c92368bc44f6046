"""TOML edited by tomlkit: comments, order and spacing of everything else stay.

A new table comes at the end of the file, where its user looks for it; comments below a table that is taken out stay.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from .jsonc import Unreadable, table

_LINE = re.compile(r"line (\d+)")


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
    wanted = parse(text)
    table(wanted, path[:-1])[path[-1]] = value
    longer = _with_table_at_end(text, path, value)
    return longer if _says(longer, wanted) else _edited(text, path, wanted, value)


def drop(text: str, path: Sequence[str]) -> str:
    """The text without what stands at `path`. Raises Unreadable."""
    wanted = parse(text)
    holder = table(wanted, path[:-1])
    if path[-1] not in holder:
        return text
    value = _full(holder[path[-1]])
    if isinstance(value, dict) and (inner := [name for name, each in value.items() if isinstance(each, dict)]):
        return drop(drop(text, (*path, inner[0])), path)  # its own tables may stand elsewhere
    del holder[path[-1]]
    lines, left = text.splitlines(keepends=True), _edited(text, path, wanted).splitlines(keepends=True)
    above = [line for line, _ in takewhile(lambda pair: pair[0] == pair[1], zip(lines, left, strict=False))]
    below = left[len(above) :]
    end = len(lines) - len(below)
    if lines[end:] != below:  # it was a part of a line
        return "".join(left)
    comments = [*takewhile(_says_nothing, reversed(lines[len(above) : end]))][::-1]
    if above and not above[-1].strip() and lines[len(above)].lstrip().startswith("["):
        above.pop()  # the blank line that `put` wrote
    return "".join([*above, *comments, *below])


def _says_nothing(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _with_table_at_end(text: str, path: Sequence[str], value: Any) -> str:
    import tomlkit

    for name in reversed(path):
        value = {name: value}
    newline = "\r\n" if "\r\n" in text else "\n"
    end = newline if text and not text.endswith("\n") else ""
    return text + end + (newline if text else "") + tomlkit.dumps(value).replace("\n", newline)


def _edited(text: str, path: Sequence[str], wanted: Any, value: Any = None) -> str:
    """The text after tomlkit put `value` at `path`, or took out what stood there where it is None.

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

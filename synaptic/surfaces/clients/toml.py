"""TOML edited in place: comments, order and spacing of everything else stay.

A table comes at the end of the file and goes with its own lines only. Whatever is written in another way, such as
an inline table, is left to tomlkit. A text that would then say something else is not changed at all.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Sequence
from typing import Any

from .jsonc import Unreadable

_LINE = re.compile(r"line (\d+)")
_EMPTY_LINE = re.compile(r"(?<=\n)\r?\n\Z")
_HEADING = re.compile(r"^[ \t]*\[", re.MULTILINE)


def parse(text: str) -> Any:
    """What the text says. Raises Unreadable."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        found = _LINE.search(str(error))
        line = int(found[1]) if found else text.count("\n") + 1
        raise Unreadable(line, str(error).split(" (at")[0] or "nested too deeply") from None


def put(text: str, path: Sequence[str], value: Any) -> str:
    """The text with `value` at `path`."""
    wanted = parse(text)
    table = wanted
    for depth, name in enumerate(path[:-1], start=1):
        table = table.setdefault(name, {})
        if not isinstance(table, dict):
            raise Unreadable(1, f"{'.'.join(path[:depth])} is no table")
    by_text = _append(text, path, value) if path[-1] not in table and isinstance(value, dict) else text
    table[path[-1]] = value

    def exchange(inner: Any) -> None:
        inner[path[-1]] = _inline(value)

    return by_text if _says(by_text, wanted) else _checked(_by_tomlkit(text, path, exchange), wanted)


def drop(text: str, path: Sequence[str]) -> str:
    """The text without what stands at `path`."""
    wanted = parse(text)
    table = wanted
    for name in path[:-1]:
        table = table.get(name, {})
    if path[-1] not in table:
        return text
    del table[path[-1]]

    def delete(inner: Any) -> None:
        del inner[path[-1]]

    by_text = _cut(text, path)
    return by_text if _says(by_text, wanted) else _checked(_by_tomlkit(text, path, delete), wanted)


def _checked(text: str, wanted: Any) -> str:
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


# -- tables with a heading, as text -------------------------------------------------------------------


def _append(text: str, path: Sequence[str], value: dict[str, Any]) -> str:
    import tomlkit

    newline = "\r\n" if "\r\n" in text else "\n"
    block = tomlkit.table()
    for name, each in value.items():
        block[name] = _inline(each)
    lines = f"[{'.'.join(path)}]\n{block.as_string()}".replace("\n", newline)
    end = "" if not text or text.endswith("\n") else newline
    gap = newline if text else ""
    return text + end + gap + lines


def _cut(text: str, path: Sequence[str]) -> str:
    """The text without the tables of this heading and below it; comments that follow them stay."""
    names = r"\s*\.\s*".join(rf'(?:{re.escape(name)}|"{re.escape(name)}")' for name in path)
    mine = re.compile(rf"^[ \t]*\[[ \t]*{names}[ \t]*[.\]]", re.MULTILINE)
    while match := mine.search(text):
        following = _HEADING.search(text, match.end())
        begin, end = match.start(), following.start() if following else len(text)
        lines = text[begin:end].splitlines(keepends=True)
        while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
            lines.pop()
        head, tail = text[:begin], text[begin + len("".join(lines)) :]
        blank = _EMPTY_LINE.search(head)  # the one that stood before the heading
        text = head[: blank.start() if blank else None] + tail
    return text


# -- everything else ----------------------------------------------------------------------------------


def _by_tomlkit(text: str, path: Sequence[str], change: Callable[[Any], None]) -> str:
    """The text after `change` of the table in which `path` ends; unchanged where tomlkit cannot do that."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
        table: Any = document
        for name in path[:-1]:
            table = table[name]
        change(table)
        return tomlkit.dumps(document)
    except (TOMLKitError, KeyError, ValueError):
        return text


def _inline(value: Any) -> Any:
    import tomlkit

    if not isinstance(value, dict):
        return value
    inner = tomlkit.inline_table()
    inner.update({name: _inline(each) for name, each in value.items()})
    return inner

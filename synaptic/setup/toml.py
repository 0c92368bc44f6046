"""Edits the table of a server in TOML; comments, order and blanks elsewhere stay unchanged."""

import re
import tomllib
from collections.abc import Sequence
from typing import Any

_BODY = r".*\n?(?:(?:[ \t]*(?:#.*)?\r?\n)*[ \t]*[^\s#\[].*\n?)*"
"""The rest of a table's first line, and its lines up to the last that is not a comment."""


parse = tomllib.loads


def put(text: str, path: Sequence[str], value: Any) -> str:
    """Returns the text with `value` at `path`, the names of a table, a server and perhaps a
    field; a new table is added at the end. Raises ValueError.
    """
    import tomlkit

    wanted = tomllib.loads(text)
    table, name, *fields = path
    if not fields:
        wanted.setdefault(table, {})[name] = value
        blank = "\n" if text.endswith("\n") else "\n\n"
        added = tomlkit.dumps({table: {name: value}})
        if text:
            added = text + blank + added
        return _check_toml(added, wanted, table)
    wanted[table][name][fields[0]] = value
    document = tomlkit.parse(text)
    document[table][name][fields[0]] = value
    return _check_toml(tomlkit.dumps(document), wanted, table)


def drop(text: str, path: Sequence[str]) -> str:
    """Returns the text without the table at `path`, the names of a table and a server; comments
    below the table are kept. Raises ValueError.
    """
    table, name = path
    wanted = tomllib.loads(text)
    if name not in wanted.get(table, {}):
        return text
    del wanted[table][name]
    own = rf"(?m)(?:^\r?\n)?^[ \t]*\[{re.escape(f'{table}.{name}')}[.\]]{_BODY}"
    return _check_toml(re.sub(own, "", text), wanted, table)


def _check_toml(new: str, wanted: Any, table: str) -> str:
    """Returns the new text if its value is `wanted`. Raises ValueError if the edit changed
    anything else.
    """
    value = tomllib.loads(new)
    value.setdefault(table, {})
    if value != wanted:
        raise ValueError("it cannot be edited without changing other settings")
    return new

"""Writes settings into config.toml. Every other character of the file stays."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import ConfigError
from ..files import SETTINGS_BYTES, read_regular_file
from ..models import Json
from .disk import disk_errors, make_dirs, overwrite


def toml_lines(values: Mapping[str, Any]) -> list[str]:
    """A line of TOML for each value."""
    return [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()]


def set_toml_value(text: str, key: str, value: Any) -> str:
    """The text of a config.toml with this value; the key of a table is written `hooks.tools`.
    A new key comes first, because the end may belong to a table.

    Raises ValueError where something else would change with it, or where the text is not TOML.
    """
    import tomlkit

    values = tomllib.loads(text)
    document = tomlkit.parse(text)
    table, _, name = key.rpartition(".")
    if table:
        wanted = values | {table: values.get(table, {}) | {name: value}}
        document.setdefault(table, {})[name] = value
        changed = tomlkit.dumps(document)
    else:
        wanted = values | {key: value}
        changed = "\n".join([*toml_lines({key: value}), text])
        if key in document:
            document[key] = value
            changed = tomlkit.dumps(document)
    if tomllib.loads(changed) != wanted:
        raise ValueError("it cannot be changed without changing something else")
    return changed


def write_setting(home: Path, key: str, value: Any, *, new: str = "") -> Json:
    """Writes a setting into config.toml; returns the values that the file had before.

    `new` is what a file that was not there says besides. Raises ConfigError where the value
    cannot be written safely, and JournalError.
    """
    path = home / "config.toml"
    with disk_errors(path, "changed"):
        make_dirs(home, private=True)
        toml_text = (
            read_regular_file(path, SETTINGS_BYTES).decode("utf-8-sig")
            if path.exists()
            else new
        )
        try:
            changed = set_toml_value(toml_text, key, value)
        except ValueError as error:
            [line] = toml_lines({key: value})
            raise ConfigError(
                f"{path} cannot be changed safely.", f"Put this line at its top: {line}"
            ) from error
        if changed != toml_text:
            overwrite(path.resolve(), changed.encode())
    return tomllib.loads(toml_text)

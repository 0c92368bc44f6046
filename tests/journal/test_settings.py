"""A setting is written, and every other character of config.toml stays."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from synaptic.errors import ConfigError
from synaptic.journal.settings import set_toml_value, write_setting

TABLE = "[hooks]\ntools = false  # by hand\n"


@pytest.mark.parametrize(
    ("text", "key", "value", "expected"),
    [
        ("", "port", 8080, "port = 8080\n"),
        ("# mine\n", "port", 8080, "port = 8080\n# mine\n"),
        ("port = 1 # mine\n", "port", 8080, "port = 8080 # mine\n"),
        (TABLE, "journal", "/notes", f'journal = "/notes"\n{TABLE}'),
        (TABLE, "hooks.tools", True, "[hooks]\ntools = true  # by hand\n"),
        ("hooks.tools = false\n", "hooks.tools", True, "hooks.tools = true\n"),
        ("port = 1\n", "sync.auto", True, "port = 1\n\n[sync]\nauto = true\n"),
    ],
)
def test_a_setting_is_written_and_the_rest_stays(
    text: str, key: str, value: Any, expected: str
) -> None:
    assert set_toml_value(text, key, value) == expected


def test_the_values_before_are_returned_and_a_file_that_is_no_toml_stays(
    tmp_path: Path,
) -> None:
    file = tmp_path / "config.toml"
    assert write_setting(tmp_path, "port", 1, new="capture = true\n") == {"capture": True}
    assert tomllib.loads(file.read_text()) == {"port": 1, "capture": True}
    assert write_setting(tmp_path, "port", 2) == {"port": 1, "capture": True}
    file.write_text("port = \n")
    with pytest.raises(ConfigError, match="cannot be changed safely"):
        write_setting(tmp_path, "port", 3)
    assert file.read_text() == "port = \n"

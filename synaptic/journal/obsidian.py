"""Reads what a vault of Obsidian says of itself: its settings, and its folders of templates."""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ..files import read_regular_file
from .repository import SMALL_BYTES

_NAMING_TEMPLATES = {
    ".obsidian/templates.json": "folder",
    ".obsidian/plugins/templater-obsidian/data.json": "templates_folder",
}
"""The settings of Obsidian, and their keys, that name a folder of templates."""


def template_folders(vault: Path) -> list[str]:
    """The folders of a vault that hold templates, by their paths within it: those that Obsidian
    or its plug-in Templater names, and `Templates`.
    """
    named = names_of_template_folders(lambda path: _setting_bytes(vault / path))
    items = os.listdir(vault)  # noqa: PTH208
    return [
        name
        for name in sorted(named)
        if name.split("/")[0] in items and (vault / name).is_dir()
    ]


def names_of_template_folders(read: Callable[[str], bytes]) -> set[str]:
    """The folders of a vault that may hold templates. `read` returns the bytes of a file at a
    path within it.
    """
    named = [_text_in_json(read(path), key) for path, key in _NAMING_TEMPLATES.items()]
    return {"Templates", "templates", *named} - {""}


def obsidian_setting(path: Path, key: str) -> str:
    """A text in a JSON file of Obsidian, without slashes around it; "" where there is none."""
    return _text_in_json(_setting_bytes(path), key)


def _setting_bytes(path: Path) -> bytes:
    with suppress(OSError):
        return read_regular_file(path, SMALL_BYTES)
    return b""


def _text_in_json(data: bytes, key: str) -> str:
    with suppress(ValueError, RecursionError, AttributeError):
        value = json.loads(data).get(key)
        if isinstance(value, str) and value.isprintable():
            return value.strip("/ ")
    return ""


def globs_of_templates(name: str) -> set[str]:
    """The globs of `exclude` that keep the notes of a folder of templates out of searches, and
    not from being inserted: the one that `init` writes, which comes first, and the one that it
    wrote before for a folder of this usual name. Any other glob holds for templates, too.
    """
    folder = glob.escape(name)
    usual = {f"{folder}/**"} if name.lower() == "templates" else set()
    return {glob_of_templates(name)} | usual


def glob_of_templates(name: str) -> str:
    """The glob by which `init` leaves the notes of a folder of templates out."""
    return f"{glob.escape(name)}/**/*"

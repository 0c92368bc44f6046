"""Compares the names of notes and files as links write them. Pure."""

from __future__ import annotations

import re
import unicodedata

NOT_IN_LINK = re.compile(r"[\[\]|#^\n]+")
"""What would end the target of a wikilink, or be read as a heading or block of it."""


def name_key(name: str) -> str:
    """The form in which paths and names are compared: NFC, in lower case."""
    return _composed(name).lower()


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name.replace("\u00a0", " "))


def rank_path(path: str, written: str, folder: str) -> tuple[bool, bool, bool, int, str]:
    """The rank of a file among those that a link in `folder` may mean by this name; the least
    wins. A name in the same letters comes before one that differs by case.
    """
    key = name_key(path)
    near = f"{name_key(folder)}/" if folder else ""
    is_whole = key == name_key(written)
    is_exact = ends_with_name(path, written)
    return not is_exact, not is_whole, not key.startswith(near), len(key), path


def ends_with_name(path: str, written: str) -> bool:
    """True if a path ends with this name in the same upper and lower case."""
    return f"/{_composed(path)}".endswith(f"/{_composed(written)}")

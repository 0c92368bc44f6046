"""Reads the notes of basic-memory (seen: 0.24.1): Markdown files below the folder of each of
its projects.

`config.json` in `~/.basic-memory` or `BASIC_MEMORY_CONFIG_DIR` names them: `projects` is {name:
{"path": ...}}, once {name: path}. A note has front matter (title, type, permalink, tags); its
lines `- [category] text #tag (context)` and `- relation [[Target]]` stay as they are. Its time
is its file's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from .record import Record, Skipped
from .shared import named_in, notes


def find(home: Path, environ: Mapping[str, str]) -> list[Path]:
    config = Path(
        environ.get("BASIC_MEMORY_CONFIG_DIR") or home / ".basic-memory", "config.json"
    )
    usual = home / (environ.get("BASIC_MEMORY_HOME") or "basic-memory").removeprefix("~/")
    places = {usual, *named_in(config, "projects", "path", home)}
    return sorted(
        place for place in places if place.is_dir() and places.isdisjoint(place.parents)
    )


def read(path: Path, skipped: Skipped) -> Iterator[Record]:
    yield from (record for _, record in notes(path, skipped))

"""Reads the notes of basic-memory (seen: 0.24.1): a folder of Markdown for each project.

`config.json` in `~/.basic-memory` or `BASIC_MEMORY_CONFIG_DIR` names the folders: `projects` is
{name: {"path": ...}}, in older versions {name: path}. A note has front matter (title, type,
permalink, tags). Its lines `- [category] text #tag (context)` and `- relation [[Target]]` stay
as they are. Its time is the time of its file.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from .record import Record, Skipped
from .shared import paths_in_config, read_notes


def find(home: Path, environ: Mapping[str, str]) -> list[Path]:
    folder = environ.get("BASIC_MEMORY_CONFIG_DIR") or home / ".basic-memory"
    places = paths_in_config(Path(folder, "config.json"), "projects", "path", home)
    return sorted(place for place in places if place.is_dir())


def read(path: Path, skipped: Skipped) -> Iterator[Record]:
    for _, record in read_notes(path, skipped):
        yield record

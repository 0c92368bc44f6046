"""Reads the memory of OpenClaw (seen: 2026.9.6): Markdown in an agent's workspace,
`~/.openclaw/workspace` by default.

`MEMORY.md` and `USER.md` are lasting notes, `memory/2026-11-21.md` is a day, also with a slug
(`2026-11-21-vendor-pitch.md`) or the local time of a session
(`2026-11-21-1430.md`). `DREAMS.md` is its diary, `memory/.dreams` state.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path

from .record import Record, Skipped
from .shared import find_places, read_notes

_PARTS = ("memory", "memory.md", "user.md", "dreams.md")
_DAY = re.compile(r"(\d{4}-\d\d-\d\d)(?:-((?:[01]\d|2[0-3])[0-5]\d))?(?:-.+)?")
_MARKER = re.compile(r"(?s)<!-- openclaw:.*?(?:-->\n?|\Z)")
find = partial(
    find_places, names=[], usual=[".openclaw*/workspace*"], holds="[Mm][Ee][Mm][Oo][Rr][Yy]*"
)


def read(path: Path, skipped: Skipped) -> Iterator[Record]:
    parts = [part.name for part in path.glob("*") if part.name.lower() in _PARTS]
    for file, record in read_notes(path, skipped, parts):
        at = record.at
        with suppress(ValueError):
            day = _DAY.fullmatch(file.stem)
            if day:
                at = datetime.strptime(day[1] + (day[2] or "0000"), "%Y-%m-%d%H%M")
        yield replace(record, at=at, text=_MARKER.sub("", record.text).strip())

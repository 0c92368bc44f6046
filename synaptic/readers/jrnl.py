"""jrnl: its text file, its folder of text files, or what `jrnl --export json` writes.

Text: `[2026-11-21 09:31] Title. @tag`, the time in the format of its config, ` *` at the line's end for a starred
entry, and the body below. JSON: `{"tags": ..., "entries": [{title, body, date, time, tags, starred}]}`. The files are
named in `~/.config/jrnl/jrnl.yaml` (`journals: {default: {journal: PATH}}`); the default is
`~/.local/share/jrnl/journal.txt`.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

from .archive import json_items, read_items
from .record import Record, Skipped
from .shared import named_in

_BEGIN = re.compile(r"^\[(\d{4}-\d\d-\d\d) (\d\d)(:\d\d)(?::\d\d)?( [AP]M)?\] ", re.MULTILINE)
_TAG = re.compile(r"(?<!\S)@([-+*#/\w]+)")
_HINT = "Is it encrypted, or its time of another form? Import what `jrnl --export json` writes to a file."


def find(home: Path, environ: Mapping[str, str]) -> list[Path]:
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config", "jrnl", "jrnl.yaml")
    usual = Path(environ.get("XDG_DATA_HOME") or home / ".local/share", "jrnl", "journal.txt")
    return sorted(path for path in {usual, *named_in(config, "journals", "journal", home)} if path.exists())


def read(path: Path, skipped: Skipped) -> Iterator[Record]:
    """A record for each entry; a starred one has importance 8."""
    alike = Counter[str]()

    def taken(entry: Any, *_: object) -> Iterator[Record]:
        title, at = entry["title"].strip(), f"{entry['date']} {entry['time']}"
        key = f"{at}-{sha256(title.encode()).hexdigest()[:8]}"  # it gives entries no ids
        alike[key] += 1
        yield Record(
            key=f"{key}/{alike[key]}" if alike[key] > 1 else key,
            title=title,
            text=entry["body"].strip() or title,
            at=datetime.fromisoformat(at),
            tags=tuple(tag.lstrip("@#") for tag in entry.get("tags") or ()),
            importance=8 if entry.get("starred") else None,
        )

    return read_items(path, skipped, _entries, taken, named="*", hint=_HINT)


def _entries(stream: IO[bytes]) -> Iterator[dict[str, Any]]:
    """The entries of a text file, as the JSON has them, or those of the JSON."""
    data = stream.read().removeprefix(BOM_UTF8)
    if data.lstrip().startswith(b"{"):
        yield from json_items("entries.item", data)
        return
    text = data.decode()
    begins = list(_BEGIN.finditer(text))
    for begin, end in zip(begins, [*(begin.start() for begin in begins[1:]), len(text)], strict=False):
        title, _, body = text[begin.end() : end].partition("\n")
        day, hour, minute, half = begin.groups()
        hour = f"{int(hour) % 12 + 12 * ('P' in half):02}" if half else hour
        tags = dict.fromkeys(_TAG.findall(f"{title}\n{body}".lower()))
        starred = title.endswith(" *")
        title = title.removesuffix(" *")
        yield {"title": title, "body": body, "date": day, "time": hour + minute, "tags": tags, "starred": starred}

"""jrnl: its text file, its folder of text files, or what `jrnl --export json` writes.

Text: `[2026-11-21 09:31] Title. @tag`, the time in the format of its config, ` *` at the line's
end for a starred entry, and the body below. JSON: `{"tags": ..., "entries": [{title, body,
date, time, tags, starred}]}`. The files are named in `~/.config/jrnl/jrnl.yaml` (`journals:
{default: {journal: PATH}}`); the default is `~/.local/share/jrnl/journal.txt`.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial
from hashlib import sha256
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, cast

from .archive import read_items
from .record import Record, Skipped
from .shared import named_in
from .source import RECORD_BYTES, json_items

_BEGIN = re.compile(rb"\[(\d{4}-\d\d-\d\d) (\d\d)(:\d\d)(?::\d\d)?( [AP]M)?\] ")
_TAG = re.compile(r"(?<!\S)@([-+*#/\w]+)")
_HINT = (
    "Is it encrypted, or its time of another form? Import what `jrnl --export json` writes "
    "to a file."
)


def find(home: Path, environ: Mapping[str, str]) -> list[Path]:
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config", "jrnl", "jrnl.yaml")
    usual = Path(environ.get("XDG_DATA_HOME") or home / ".local/share", "jrnl", "journal.txt")
    return sorted(
        path
        for path in {usual, *named_in(config, "journals", "journal", home)}
        if path.exists()
    )


def read(path: Path, skipped: Skipped) -> Iterator[Record]:
    """A record for each entry; a starred one has importance 8."""
    alike = Counter[str]()

    def taken(entry: Any, *_: object) -> Iterator[Record]:
        entry = _of_text(entry) if isinstance(entry, bytes) else entry
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


def _entries(stream: IO[bytes]) -> Iterator[dict[str, Any] | bytes]:
    """The bytes of each entry of a text file, or the entries of the JSON."""
    file = cast(BufferedReader, stream)
    if file.peek(len(BOM_UTF8)).startswith(BOM_UTF8):
        file.read(len(BOM_UTF8))
    if file.peek(1).lstrip().startswith(b"{"):
        yield from json_items("entries.item", file)
        return
    entry, begun = bytearray(), False
    for line in iter(partial(file.readline, RECORD_BYTES), b""):
        if _BEGIN.match(line):
            yield from [bytes(entry)] if begun else []
            entry, begun = bytearray(), True
        entry += line if begun else b""
        if len(entry) > RECORD_BYTES:
            raise ValueError(f"an entry is longer than {RECORD_BYTES >> 20} MB")
    yield from [bytes(entry)] if begun else []


def _of_text(entry: bytes) -> dict[str, Any]:
    """An entry of a text file as the JSON has it."""
    text = entry.decode()
    begin = cast("re.Match[bytes]", _BEGIN.match(entry))
    title, _, body = text[begin.end() :].partition("\n")
    day, hour, minute, half = ((part or b"").decode() for part in begin.groups())
    hour = f"{int(hour) % 12 + 12 * ('P' in half):02}" if half else hour
    tags = dict.fromkeys(_TAG.findall(f"{title}\n{body}".lower()))
    starred = title.endswith(" *")
    title = title.removesuffix(" *")
    return {
        "title": title,
        "body": body,
        "date": day,
        "time": hour + minute,
        "tags": tags,
        "starred": starred,
    }

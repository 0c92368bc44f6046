"""Reads jrnl: its text file, its folder of text files, or the output of `jrnl --export json`.

Text: `[2026-11-21 09:31] Title. @tag`, the time in the format of its config, ` *` at the line's
end for a starred entry, and the body below; jrnl 1 wrote no brackets. JSON: `{"tags": ...,
"entries": [{title, body, date, time, tags, starred}]}`. The files are named in
`~/.config/jrnl/jrnl.yaml` (`journals: {default: {journal: PATH}}`); the default is
`~/.local/share/jrnl/journal.txt`.
"""

import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from hashlib import sha256
from io import BufferedReader
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, cast

from ....models import Json
from .archive import Export, read_items
from .record import Record, Skipped
from .shared import paths_in_config, strip_blank_lines
from .source import ENTRIES, FILE_BYTES, read_json_items

_LINE = rb"(?m)(?:^|(?<=\A\xef\xbb\xbf))"
_BEGINS = (
    re.compile(_LINE + rb"\[\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?(?: [AP]M)?\] "),
    re.compile(_LINE + rb"\d{4}-\d\d-\d\d \d\d:\d\d(?: [AP]M)? (?=\S)"),  # of jrnl 1
)
_BEGIN = re.compile(rb"\[?([\d-]+) (\d+):(\d+)\S*(?: ([AP])M)?\]? ")
_TAG = re.compile(r"(?<!\S)@([-+*#/\w]+)")
_LAST_TAGS = re.compile(r"(?:\s+@[-+*#/\w]+)+\Z")
"""The tags at the end of a title: they are written there as `#name`."""
_OF_A_FOLDER = ("*.txt", "*.json")
_HINT = (
    "Is it encrypted, or its time of another form? Import what `jrnl --export json` writes "
    "to a file."
)


def find(home: Path, environ: Mapping[str, str]) -> list[Path]:
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config", "jrnl", "jrnl.yaml")
    usual = Path(environ.get("XDG_DATA_HOME") or home / ".local/share", "jrnl", "journal.txt")
    places = {usual, *paths_in_config(config, "journals", "journal", home)}
    return sorted(place for place in places if place.exists())


def read(path: Path | Export, skipped: Skipped) -> Iterator[Record]:
    """Yields a record for each jrnl entry; a starred entry has importance 8."""
    keys: Counter[str] = Counter()

    def record_of(entry: Any, *_: object) -> Iterator[Record]:
        if isinstance(entry, bytes):
            entry = _parse_text_entry(entry)
        title = entry["title"].strip()
        at = f"{entry['date']} {entry['time']}"
        bare = _LAST_TAGS.sub("", title)
        key = f"{at}-{sha256(title.encode()).hexdigest()[:8]}"  # jrnl gives entries no ids
        keys[key] += 1
        yield Record(
            key=f"{key}/{keys[key]}" if keys[key] > 1 else key,
            place=at,
            growing=True,
            title=bare,
            text=strip_blank_lines(entry["body"]) or bare,
            at=datetime.fromisoformat(at),
            tags=tuple(tag.lstrip("@#") for tag in entry.get("tags") or ()),
            importance=8 if entry.get("starred") else None,
        )

    is_folder = isinstance(path, Path) and path.is_dir()
    patterns = _OF_A_FOLDER if is_folder else ("*",)  # a file may have any name
    return read_items(path, skipped, _split_entries, record_of, patterns=patterns, hint=_HINT)


def begins_with_entry(head: bytes) -> bool:
    """True if the first bytes of a text file are those of an entry of jrnl."""
    return any(begin.match(head) for begin in _BEGINS)


def _split_entries(stream: IO[bytes]) -> Iterator[Json | bytes]:
    """Yields the bytes of each entry of a text file, or the entries of a JSON export."""
    file = cast(BufferedReader, stream)
    if file.peek(3).removeprefix(BOM_UTF8).lstrip().startswith(b"{"):
        yield from read_json_items(ENTRIES, file)
        return
    text = file.read(FILE_BYTES + 1)
    if len(text) > FILE_BYTES:
        raise ValueError(f"it is larger than {FILE_BYTES >> 20} MB")
    firsts = [first for first in (begin.search(text) for begin in _BEGINS) if first]
    # the form that occurs first; text before it is dropped
    form = min(firsts, key=re.Match.start).re if firsts else _BEGINS[0]
    begins = [begin.start() for begin in form.finditer(text)]
    for start, end in pairwise([*begins, len(text)]):
        yield text[start:end]


def _parse_text_entry(entry: bytes) -> Json:
    """Parses an entry of a jrnl text file into the form of the JSON export."""
    begin = _BEGIN.match(entry.removeprefix(BOM_UTF8))
    assert begin, "it was split there"
    day, hour, minute, half = (part and part.decode() for part in begin.groups())
    if half:
        hour = str(int(hour) % 12 + 12 * (half == "P"))
    title, _, body = entry[begin.end() :].decode().partition("\n")
    return {
        "title": title.removesuffix(" *"),
        "body": body,
        "date": day,
        "time": f"{hour:0>2}:{minute}",
        "tags": dict.fromkeys(_TAG.findall(f"{title}\n{body}".lower())),
        "starred": title.endswith(" *"),
    }

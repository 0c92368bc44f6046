"""Reads Day One's export as JSON: a zip or folder with a file for each journal (`Journal.json`)
and `photos/MD5.jpeg`.

`{"metadata": {...}, "entries": [...]}`. An entry has `uuid`, `text` (Markdown, whose stops are
escaped), `creationDate` (ISO, UTC), `timeZone`, `tags`, `starred`, `location` (`placeName`,
`localityName`, `country`) and `photos` (`identifier`, `md5`, `type`), which its text shows as
`![](dayone-moment://IDENTIFIER)`.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any
from zoneinfo import ZoneInfo

from ....files import PICTURE_FOLDER
from ....notes.dates import owner_time
from ....notes.picture_kinds import is_picture_name
from .archive import Export, read_items
from .record import Record, Skipped
from .shared import split_off_heading, strip_blank_lines, text_at
from .source import ENTRIES, read_json_items

_MOMENT = re.compile(r"!\[[^\]]*\]\(dayone-moment:/+(?:\w+/)?([\w-]+)\)")
_PHOTO = re.compile(r"[\w-]{1,80}\.\w{1,8}")
_ESCAPED = re.compile(r"\\([.!()'\"])")


def read(path: Path | Export, skipped: Skipped) -> Iterator[Record]:
    """Yields a record for each diary entry, with the local time of its place.

    A starred entry has importance 8; the name of a journal is a tag.
    """
    return read_items(path, skipped, partial(read_json_items, ENTRIES), _diary_record)


def _diary_record(entry: Any, name: str, files: Export) -> Iterator[Record]:
    journal = PurePosixPath(name)
    photos = {}
    pictures = {}
    for photo in entry.get("photos") or ():
        file_name = f"{photo['md5']}.{photo['type']}"
        photos[photo["identifier"]] = file_name
        path = str(journal.parent / "photos" / file_name)
        if path in files and _PHOTO.fullmatch(file_name) and is_picture_name(file_name):
            pictures[file_name] = files.picture(path)

    def show(moment: re.Match[str]) -> str:
        photo = photos.get(moment[1])
        return f"![]({PICTURE_FOLDER}/{photo})" if photo in pictures else "(left in Day One)"

    text = entry.get("text") or ""
    for identifier in photos:
        if identifier not in text:
            text += f"\n\n![](dayone-moment://{identifier})"
    title, body = split_off_heading(_MOMENT.sub(show, _ESCAPED.sub(r"\1", text)).strip())
    location = entry.get("location") or {}
    places = [text_at(location.get(part)) for part in ("placeName", "localityName", "country")]
    if any(places):
        body += f"\n\nlocation:: {', '.join(filter(None, places))}"
    tags = list(entry.get("tags") or ())
    if journal.stem != "Journal":
        tags.append(journal.stem)
    yield Record(
        key=entry["uuid"],
        title=title,
        text=strip_blank_lines(body) or title,
        at=_time_of(entry),
        tags=tuple(tags),
        importance=8 if entry.get("starred") else None,
        pictures=tuple(pictures.items()),
    )


def _time_of(entry: Any) -> datetime:
    """Returns the local time at the place of a Day One entry, naive; in this machine's zone if
    the entry's is unknown.
    """
    at = owner_time(datetime.fromisoformat(entry["creationDate"]))
    with suppress(ValueError, OSError, LookupError):
        at = at.astimezone(ZoneInfo(entry["timeZone"])).replace(tzinfo=None)
    return at

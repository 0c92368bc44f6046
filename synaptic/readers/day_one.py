"""Day One's export as JSON: a zip or folder with a file for each journal (`Journal.json`) and
`photos/MD5.jpeg`.

`{"metadata": {...}, "entries": [...]}`. An entry has `uuid`, `text` (Markdown, whose stops are
escaped), `creationDate` (ISO, UTC), `timeZone`, `tags`, `starred`, `location` (`placeName`,
`localityName`, `country`) and `photos` (`identifier`, `md5`, `type`), which its text shows as
`![](dayone-moment://IDENTIFIER)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any
from zoneinfo import ZoneInfo

from ..files import PICTURE_BYTES, PICTURE_FOLDER, is_picture_name
from .archive import File, read_items
from .record import Record, Skipped
from .shared import headed, words_of
from .source import json_items

_MOMENT = re.compile(r"!\[[^\]]*\]\(dayone-moment:/+(?:\w+/)?([\w-]+)\)")
_PHOTO = re.compile(r"[\w-]{1,80}\.\w{1,8}")
_ESCAPED = re.compile(r"\\([.!()'\"])")


def read(path: Path, skipped: Skipped) -> Iterator[Record]:
    """A record for each entry, in the time of its place; a starred one has importance 8, a
    journal's name is a tag.
    """
    return read_items(path, skipped, partial(json_items, "entries.item"), _entry)


def _entry(entry: Any, name: str, files: Mapping[str, File]) -> Iterator[Record]:
    text, journal, location = (
        entry.get("text") or "",
        PurePosixPath(name),
        entry.get("location") or {},
    )
    photos = {
        photo["identifier"]: f"{photo['md5']}.{photo['type']}"
        for photo in entry.get("photos") or ()
    }
    named = {
        photo for photo in photos.values() if _PHOTO.fullmatch(photo) and is_picture_name(photo)
    }
    beside = {photo: files.get(str(journal.parent / "photos" / photo)) for photo in named}
    pictures = {
        photo: partial(file.read, PICTURE_BYTES) for photo, file in beside.items() if file
    }

    def shown(moment: re.Match[str]) -> str:
        photo = photos.get(moment[1])
        return f"![]({PICTURE_FOLDER}/{photo})" if photo in pictures else "(left in Day One)"

    text += "".join(f"\n\n![](dayone-moment://{one})" for one in photos if one not in text)
    text = _MOMENT.sub(shown, _ESCAPED.sub(r"\1", text)).strip()
    title, body = headed(text)
    places = (words_of(location.get(part)) for part in ("placeName", "localityName", "country"))
    if place := ", ".join(filter(None, places)):
        body += f"\n\nlocation:: {place}"
    at = datetime.fromisoformat(entry["creationDate"]).astimezone()
    with suppress(ValueError, OSError, LookupError):  # else in the local zone
        at = at.astimezone(ZoneInfo(entry["timeZone"])).replace(
            tzinfo=None
        )  # the day and hour that it was there
    yield Record(
        key=entry["uuid"],
        title=title,
        text=body.strip() or title,
        at=at,
        tags=(
            *(entry.get("tags") or ()),
            *([] if journal.stem == "Journal" else [journal.stem]),
        ),
        importance=8 if entry.get("starred") else None,
        pictures=tuple(pictures.items()),
    )

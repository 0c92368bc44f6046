"""The question before an entry is deleted on the page. It names the entry, or the file that
goes with it.
"""

from __future__ import annotations

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response

from ...models import Entry
from ..render.present import short
from .site import page


async def ask_first(
    request: Request, entry: Entry, *, back: str, fields: Mapping[str, str] | None = None
) -> Response:
    """The page of the question. Its form sends the same request again, with these fields."""
    return await page(
        request,
        "delete.html",
        entry=entry,
        file=file_of(entry),
        back=back,
        fields=fields or {},
    )


def is_agreed(form: Mapping[str, str], entry: Entry) -> bool:
    """True when a form was shown the question about this entry, where it stands now."""
    return form.get("agreed") == f"{entry.id} {entry.there.path}"


def file_of(entry: Entry) -> str:
    """The file that goes with an entry; empty where others may stand in it."""
    return entry.there.path if entry.whole_file else ""


def deleted_text(entry: Entry) -> str:
    return f"Deleted {f'the file {file_of(entry)}' if entry.whole_file else short(entry.id)}."

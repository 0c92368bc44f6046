"""Reads entries and passages back from the journal, where the index says they stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..index.rows import Passage, hash64
from ..models import Entry
from ..notes.blocks import MASK, decode_body
from ..notes.privacy import mask_private
from .file_rows import body_lines, holds_conflict, is_typed, text_of_passage, text_to_embed
from .workspace import Workspace


class Stale(Exception):
    """A file of the journal has changed since it was indexed: sync and try again."""


class Body(NamedTuple):
    """The body of an entry, which is given without content; private passages are masked.
    `hides`: the entry has such a passage.
    """

    entry: Entry
    masked: bytes
    is_typed: bool
    hides: bool

    def text(self, start: int, end: int | None) -> str:
        """The text of these bytes of the body."""
        return decode_body(self.masked[start:end], typed=self.is_typed)


def read_entries(ws: Workspace, rowids: Sequence[int]) -> dict[int, Entry]:
    """Entries by index row, whole, their content read from the journal."""
    return read_hits(ws, rowids, ())[0]


def read_hits(
    ws: Workspace, rowids: Sequence[int], chunk_rowids: Sequence[int]
) -> tuple[dict[int, Entry], dict[int, tuple[str, int]]]:
    """(the result of `read_entries`, the text of each of these chunks with the line of its file
    where it begins); each file is read once.
    """
    chunks = ws.index.passages(chunk_rowids)
    needed = [chunk.entry_rowid for chunk in chunks.values()]
    bodies = read_bodies(ws, [*rowids, *needed])
    entries = {}
    for rowid in rowids:
        if rowid in bodies:
            body = bodies[rowid]
            content = body.text(0, None) or body.entry.title
            entries[rowid] = replace(body.entry, content=content)
    passages = {}
    for rowid, chunk in chunks.items():
        if chunk.entry_rowid in bodies:
            body = bodies[chunk.entry_rowid]
            line = body.entry.there.body_line + body.masked[: chunk.start].count(b"\n")
            passages[rowid] = (body.text(chunk.start, chunk.end) or body.entry.title, line)
    return entries, passages


def read_body_lines(ws: Workspace, rowids: Sequence[int]) -> dict[int, tuple[Entry, str]]:
    """Entries without content, and their bodies line for line as in the file."""
    bodies = read_bodies(ws, rowids)
    return {rowid: (body.entry, body_lines(body.masked)) for rowid, body in bodies.items()}


def texts_to_embed(
    ws: Workspace, passages: Sequence[Passage]
) -> Iterator[tuple[int, int, str]]:
    """(chunk rowid, hash, text to embed) of passages that stand in the journal as the index
    says.
    """
    bodies = read_bodies(ws, [passage.entry_rowid for passage in passages], strict=False)
    for passage in passages:
        if passage.entry_rowid in bodies:
            body = bodies[passage.entry_rowid]
            text = body.text(passage.start, passage.end)
            text = text_of_passage(text, holds_conflict(body.masked))
            yield passage.rowid, passage.hash, text_to_embed(body.entry, text)


def read_bodies(
    ws: Workspace, rowids: Sequence[int], *, strict: bool = True
) -> dict[int, Body]:
    """The bodies of the entries of these rows.

    If a file changed, raises Stale, or leaves the entry out if not `strict`.
    """
    bodies = {}
    entries = ws.index.entries(rowids)
    paths = {stored.entry.there.path for stored in entries.values()}
    files = {
        path: (data, mask_private(data)) for path, data in ws.journal.read_all(paths).items()
    }
    for rowid, stored in entries.items():
        place = stored.entry.there
        data, masked = files.get(place.path, (b"", b""))
        if hash64(data[place.start : place.end]) == stored.hash:
            masked_body = masked[place.body_start : place.body_end]
            hides = MASK in masked[place.start : place.end]
            bodies[rowid] = Body(stored.entry, masked_body, is_typed(masked, place), hides)
        elif strict:
            raise Stale
    return bodies

"""Reads entries and passages back from the journal, where the index says they stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..index.rows import Passage, hash_of
from ..models import Entry
from ..notes.blocks import body_text, plain_text
from ..notes.privacy import mask
from .file_rows import embedded_text, is_typed, lines_of
from .workspace import Workspace


class Stale(Exception):
    """The journal is no longer what the index says; sync and try again."""


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
    bodies = _bodies(ws, [*rowids, *needed])
    entries = {}
    for rowid in rowids:
        if rowid in bodies:
            entry, body, typed = bodies[rowid]
            content = body_text(body, typed=typed) or entry.title
            entries[rowid] = replace(entry, content=content)
    passages = {}
    for rowid, chunk in chunks.items():
        if chunk.entry_rowid in bodies:
            entry, body, typed = bodies[chunk.entry_rowid]
            line = entry.there.body_line + body[: chunk.start].count(b"\n")
            text = body_text(body[chunk.start : chunk.end], typed=typed)
            passages[rowid] = (text or entry.title, line)
    return entries, passages


def read_lines(ws: Workspace, rowids: Sequence[int]) -> dict[int, tuple[Entry, str]]:
    """Entries without content, and their bodies line for line as in the file."""
    bodies = _bodies(ws, rowids)
    return {rowid: (entry, lines_of(body)) for rowid, (entry, body, _) in bodies.items()}


def texts_of(ws: Workspace, passages: Sequence[Passage]) -> Iterator[tuple[int, int, str]]:
    """(chunk rowid, hash, text to embed) of passages that stand in the journal as the index
    says.
    """
    bodies = _bodies(ws, [passage.entry_rowid for passage in passages], strict=False)
    for passage in passages:
        if passage.entry_rowid in bodies:
            entry, body, typed = bodies[passage.entry_rowid]
            text = plain_text(body_text(body[passage.start : passage.end], typed=typed))
            yield passage.rowid, passage.hash, embedded_text(entry, text)


def _bodies(
    ws: Workspace, rowids: Sequence[int], *, strict: bool = True
) -> dict[int, tuple[Entry, bytes, bool]]:
    """Entries without content, their masked bodies, and True for a body typed by a person.

    If a file changed, raises Stale, or leaves the entry out if not `strict`.
    """
    bodies = {}
    entries = ws.index.entries(rowids)
    paths = {stored.entry.there.path for stored in entries.values()}
    files = {path: (data, mask(data)) for path, data in ws.journal.read_all(paths).items()}
    for rowid, stored in entries.items():
        place = stored.entry.there
        data, masked = files.get(place.path, (b"", b""))
        if hash_of(data[place.start : place.end]) == stored.hash:
            body = masked[place.body_start : place.body_end]
            bodies[rowid] = (stored.entry, body, is_typed(masked, place))
        elif strict:
            raise Stale
    return bodies

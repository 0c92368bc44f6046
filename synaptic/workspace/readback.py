"""Reads entries and passages back from the journal, where the index says they stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ..errors import NotFound
from ..index import (
    Passage,
    Stored,
)
from ..models import Entry
from ..notes.markdown import body_text, plain_text
from ..notes.privacy import mask
from .rows import embedded_text, hash_of, place_of
from .workspace import Workspace


class Stale(Exception):
    """The journal is no longer what the index says; sync and try again."""


def read_entries(ws: Workspace, rowids: Sequence[int]) -> dict[int, Entry]:
    """Entries by index row, whole, their content read from the journal."""
    return _whole(_blocks(ws, ws.index.entries(rowids)))


def read_passages(ws: Workspace, chunk_rowids: Sequence[int]) -> dict[int, tuple[str, int]]:
    """For each of these chunks its text and the line of its file where it begins."""
    passages = ws.index.passages(chunk_rowids)
    return _cut_out(passages, _blocks(ws, ws.index.entries([p.entry_rowid for p in passages.values()])))


def read_hits(
    ws: Workspace, rowids: Sequence[int], chunk_rowids: Sequence[int]
) -> tuple[dict[int, Entry], dict[int, tuple[str, int]]]:
    """Entries, and chunks of them, as `read_entries` and `read_passages` answer them; each file is read once."""
    blocks = _blocks(ws, ws.index.entries(rowids))
    return _whole(blocks), _cut_out(ws.index.passages(chunk_rowids), blocks)


def _whole(blocks: Mapping[int, tuple[Stored, bytes]]) -> dict[int, Entry]:
    return {
        rowid: replace(stored.entry, content=_content(stored.entry, block)) for rowid, (stored, block) in blocks.items()
    }


def _cut_out(passages: Mapping[int, Passage], blocks: Mapping[int, tuple[Stored, bytes]]) -> dict[int, tuple[str, int]]:
    found = {}
    for rowid, passage in passages.items():
        if passage.entry_rowid in blocks:
            stored, block = blocks[passage.entry_rowid]
            body, line = _body(stored.entry, block), place_of(stored.entry).body_line
            if body:
                line += body[: passage.start].count(b"\n")
            found[rowid] = (body_text(body[passage.start : passage.end]) or stored.entry.title, line)
    return found


def texts_of(ws: Workspace, passages: Sequence[Passage]) -> Iterator[tuple[int, int, str]]:
    """(chunk rowid, hash, text to embed) of passages that stand in the journal as the index says."""
    blocks = _blocks(ws, ws.index.entries([p.entry_rowid for p in passages]), strict=False)
    for passage in passages:
        if passage.entry_rowid in blocks:
            stored, block = blocks[passage.entry_rowid]
            text = plain_text(body_text(_body(stored.entry, block)[passage.start : passage.end]))
            yield passage.rowid, passage.hash, embedded_text(stored.entry, text)


def _blocks(ws: Workspace, entries: Mapping[int, Stored], *, strict: bool = True) -> dict[int, tuple[Stored, bytes]]:
    """The masked bytes of entries. Where a file changed, raises Stale, or leaves the entry out if not `strict`."""
    files: dict[str, tuple[bytes, bytes]] = {}
    found: dict[int, tuple[Stored, bytes]] = {}
    for rowid, stored in entries.items():
        place = place_of(stored.entry)
        if place.path not in files:
            try:
                data = ws.journal.read(place.path)
            except NotFound:
                data = b""
            files[place.path] = data, mask(data)
        data, masked = files[place.path]
        if hash_of(data[place.start : place.end]) == stored.hash:
            found[rowid] = (stored, masked[place.start : place.end])
        elif strict:
            raise Stale
    return found


def _body(entry: Entry, block: bytes) -> bytes:
    place = place_of(entry)
    return block[place.body_start - place.start : place.body_end - place.start]


def _content(entry: Entry, block: bytes) -> str:
    return body_text(_body(entry, block)) or entry.title

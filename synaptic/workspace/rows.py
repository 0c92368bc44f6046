"""What the index keeps of a journal file: a pure function of its bytes."""

from __future__ import annotations

import hashlib
from dataclasses import fields
from functools import partial
from operator import attrgetter
from typing import Any

from ..index.chunking import cut
from ..index.rows import ChunkRow, EntryRow, FileRows
from ..models import Entry, ParsedFile, Place, Stamp
from ..notes.blocks import MASK, body_text, newlines, plain_text
from ..notes.copies import original_of
from ..notes.marks import front_fields, links_of, names_of, tasks_of
from ..notes.privacy import mask
from ..notes.reading import composed, derived_id, is_saved

CONTEXT_CHARS = 100
"""Of each neighbour. With 900 long neighbours drown a short note's own words: recall@10 of
words alone on BEAM is .38
instead of .45 (`bench.py panel`)."""


def file_rows(stamp: Stamp, data: bytes, parsed: ParsedFile, settled: bool) -> FileRows:
    """What the index keeps of a file."""
    masked = mask(data)
    texts = [_whole_text(entry, masked) for entry in parsed.entries]
    before = ["", *(text[-CONTEXT_CHARS:] for text in texts[:-1])]
    after = [*(text[:CONTEXT_CHARS] for text in texts[1:]), ""]
    rows = []
    entries = zip(parsed.entries, before, after, strict=False)  # none in an empty file
    for number, (entry, previous, following) in enumerate(entries):
        place, first = entry.there, number == 0
        block, body = data[place.start : place.end], masked[place.body_start : place.body_end]
        made_of = repr((previous, following, first, _ROW(entry))).encode(
            "utf-8", "surrogatepass"
        )
        rows.append(
            EntryRow(
                entry=entry,
                hash=hash_of(block),
                content_hash=hash_of(entry.content),
                row_hash=hash_of(made_of + block),
                chunks=partial(
                    _chunk_rows, entry, body, is_typed(masked, place), previous, following
                ),
                marks=partial(_mark_rows, entry, body, first),
                hides=masked[place.start : place.end] != block,
            )
        )
    return FileRows(
        stamp, hash_of(data), settled, tuple(rows), parsed.issues, hides=masked != data
    )


def _mark_rows(
    entry: Entry, body: bytes, first: bool
) -> tuple[list[Any], list[Any], list[Any]]:
    text, of_path = (
        lines_of(body),
        derived_id(None, original_of(composed(entry.there.path)), "", 1),
    )
    names = names_of(entry, of_file=of_path.endswith(entry.short_id), first=first)
    links = {(key,) for keys in links_of(entry, text) for key in keys}
    tasks = [not task.done for task in tasks_of(entry, text)]
    return sorted(links), sorted(names.items()), [(sum(tasks),)] if tasks else []


def lines_of(masked: bytes) -> str:
    """A masked body as text in which each line has its number; private passages are blank."""
    return newlines(masked.replace(MASK, b" ").decode("utf-8", "replace"))


_ROW = attrgetter(
    *(
        field.name
        for field in fields(Entry)
        if field.name not in ("content", "place", "changed_files")
    )
)
"""What the index keeps of an entry; some of it says its file, not its own bytes."""


def _chunk_rows(
    entry: Entry, body: bytes, typed: bool, previous: str, following: str
) -> tuple[ChunkRow, ...]:
    spans = cut(body.replace(MASK, b" "))
    title, labels = entry.title, _labels(entry)
    chunks = []
    for number, span in enumerate(spans):
        text = plain_text(body_text(body[span.start : span.end], typed=typed))
        # a long entry's first passage stands beside the entry before, its last beside the one
        # after
        own = "\n".join(part for part in (title, text, labels) if part)
        title, labels = _repeated(title), _repeated(labels)
        context = f"{previous if number == 0 else ''} {following if span is spans[-1] else ''}".strip()
        chunks.append(
            ChunkRow(
                start=span.start,
                end=span.end,
                hash=hash_of(embedded_text(entry, text)),
                words_hash=hash_of(f"{own}\0{context}"),
                own=own,
                context=context,
                embed=span.embed,
            )
        )
    return tuple(chunks)


MAX_REPEATED = 2_000
"""Characters of a title or of labels that each passage repeats: 100,000 tags in 2,000 passages
are too many.
"""
MAX_REPEATED_TAGS = 200


def embedded_text(entry: Entry, text: str) -> str:
    """What the model reads of a passage: it stands alone there, so it carries title and tags.

    Not the date: with it, recall@10 on LoCoMo was 0.758 instead of 0.775.
    """
    title = "" if text.startswith(entry.title.rstrip(".…")) else entry.title
    tags = " ".join(entry.tags[:MAX_REPEATED_TAGS])
    return "\n".join([part for part in (_repeated(title), text, _repeated(tags)) if part])


def _repeated(label: str) -> str:
    """A title or labels as every passage repeats them; of very long ones, which the first
    passage has whole, a part.
    """
    return label if len(label) <= MAX_REPEATED else label[:MAX_REPEATED].rpartition(" ")[0]


def _labels(entry: Entry) -> str:
    aliases = [value for key, value in entry.extra if key == "aliases"]
    fields = plain_text(" ".join(text for pair in front_fields(entry) for text in pair))
    return " ".join((*entry.tags, entry.project or "", *entry.files, *aliases, fields)).strip()


def _whole_text(entry: Entry, masked: bytes) -> str:
    """Title and text, as the neighbours' context; only its two ends are ever used."""
    place = entry.there
    body = masked[place.body_start : place.body_end]
    if len(body) > 8 * CONTEXT_CHARS:
        body = body[: 4 * CONTEXT_CHARS] + b"\n" + body[-4 * CONTEXT_CHARS :]
    return f"{entry.title} {plain_text(body_text(body, typed=is_typed(masked, place)))}".strip()


def hash_of(value: str | bytes) -> int:
    """The hash by which the index knows a text again; signed, 64 bit."""
    raw = value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(raw, digest_size=8).digest(), "big", signed=True)


def is_typed(masked: bytes, place: Place) -> bool:
    """Whether an entry's text is that of a person: it reads `body_text` otherwise. Asked of its
    masked file.
    """
    return place.whole_file or not is_saved(
        masked[place.start : place.body_start].decode("latin-1")
    )

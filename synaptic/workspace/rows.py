"""Makes the rows of the index from a journal file: a pure function of its bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import cache, partial
from itertools import chain
from operator import attrgetter
from typing import Any

from ..index.chunking import cut
from ..index.rows import ChunkRow, EntryRow, FileRows, hash_of
from ..models import Entry, ParsedFile, Place, Stamp
from ..notes.blocks import MASK, body_text, newlines, plain_text
from ..notes.copies import original_of
from ..notes.marks import front_fields, links_of, names_of, tasks_of
from ..notes.privacy import mask
from ..notes.reading import composed, derived_id, is_saved

CONTEXT_CHARS = 100
"""Characters of each neighbour. With 900, long neighbours drown a short note's own words:
recall@10 of words alone on BEAM is .38 instead of .45 (`bench.py panel`).
"""


def file_rows(
    stamp: Stamp,
    data: bytes,
    parsed: ParsedFile,
    settled: bool,
) -> FileRows:
    """The rows of a file."""
    masked = mask(data)
    entries = parsed.entries
    edges = [(), *(_edges(entry, masked) for entry in entries), ()]
    rows = []

    @cache
    def text_of(number: int) -> str:
        """Title and text of an entry, as far as its neighbours use it."""
        one = entries[number]
        body = body_text(_ends(one, masked), typed=is_typed(masked, one.there))
        return f"{one.title} {plain_text(body)}".strip()

    for number, entry in enumerate(entries):
        place = entry.there
        block = data[place.start : place.end]
        body = masked[place.body_start : place.body_end]
        made_of = repr((edges[number], edges[number + 2], number == 0, _ROW(entry)))
        row = EntryRow(
            entry=entry,
            block=block,
            row_hash=hash_of(made_of.encode("utf-8", "surrogatepass") + block),
            chunks=partial(
                _chunk_rows,
                entries,
                number,
                masked,
                text_of,
            ),
            marks=partial(_mark_rows, entry, body, number == 0),
            hides=masked[place.start : place.end] != block,
        )
        rows.append(row)
    hides = masked != data
    return FileRows(
        stamp,
        hash_of(data),
        settled,
        tuple(rows),
        parsed.issues,
        hides,
    )


def _mark_rows(
    entry: Entry,
    body: bytes,
    first: bool,
) -> tuple[list[Any], list[Any], list[Any]]:
    text = lines_of(body)
    id_of_path = derived_id(None, original_of(composed(entry.there.path)), "", 1)
    names = names_of(entry, of_file=id_of_path.endswith(entry.short_id), first=first)
    links = {(key,) for key in chain.from_iterable(links_of(entry, text))}
    tasks = list(tasks_of(entry, text))
    open_tasks = sum(not task.done for task in tasks)
    return sorted(links), sorted(names.items()), [(open_tasks,)] if tasks else []


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
"""The attributes that the index stores; some depend on the file, not on the entry's bytes."""


def _chunk_rows(
    entries: Sequence[Entry],
    number: int,
    masked: bytes,
    text_of: Callable[[int], str],
) -> tuple[ChunkRow, ...]:
    entry = entries[number]
    place = entry.there
    body = masked[place.body_start : place.body_end]
    typed = is_typed(masked, place)
    previous = following = ""
    if number > 0:
        previous = text_of(number - 1)[-CONTEXT_CHARS:]
    if entry is not entries[-1]:
        following = text_of(number + 1)[:CONTEXT_CHARS]
    spans = cut(body.replace(MASK, b" "))
    title = entry.title
    labels = _labels(entry)
    chunks = []
    for span in spans:
        text = plain_text(body_text(body[span.start : span.end], typed=typed))
        # a long entry's first passage stands beside the entry before, its last beside the one
        # after
        own = "\n".join(part for part in (title, text, labels) if part)
        title = _repeated(title)
        labels = _repeated(labels)
        before = previous if span is spans[0] else ""
        after = following if span is spans[-1] else ""
        context = f"{before} {after}".strip()
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


def embedded_text(
    entry: Entry,
    text: str,
) -> str:
    """The text of a passage that the model embeds, with title and tags of its entry.

    Not the date: with it, recall@10 on LoCoMo was 0.758 instead of 0.775.
    """
    title = "" if text.startswith(entry.title.rstrip(".…")) else entry.title
    tags = " ".join(entry.tags[:MAX_REPEATED_TAGS])
    return "\n".join([part for part in (_repeated(title), text, _repeated(tags)) if part])


def _repeated(label: str) -> str:
    """A title or labels for a later passage; the first passage has them whole."""
    return label if len(label) <= MAX_REPEATED else label[:MAX_REPEATED].rpartition(" ")[0]


def _labels(entry: Entry) -> str:
    aliases = [value for key, value in entry.extra if key == "aliases"]
    fields = plain_text(" ".join(chain.from_iterable(front_fields(entry))))
    return " ".join((*entry.tags, entry.project or "", *entry.files, *aliases, fields)).strip()


def _edges(
    entry: Entry,
    masked: bytes,
) -> tuple[object, ...]:
    """All of an entry that its neighbours' rows are made of."""
    place = entry.there
    return (
        entry.title,
        place.whole_file,
        masked[place.start : place.body_start],
        _ends(entry, masked),
    )


def _ends(
    entry: Entry,
    masked: bytes,
) -> bytes:
    """The body of an entry; of a long one only both ends, which its neighbours use."""
    body = masked[entry.there.body_start : entry.there.body_end]
    if len(body) <= 8 * CONTEXT_CHARS:
        return body
    return body[: 4 * CONTEXT_CHARS] + b"\n" + body[-4 * CONTEXT_CHARS :]


def is_typed(
    masked: bytes,
    place: Place,
) -> bool:
    """True if a person typed the entry, which `body_text` then reads another way."""
    return place.whole_file or not is_saved(
        masked[place.start : place.body_start].decode("latin-1")
    )

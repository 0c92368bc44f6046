"""Makes the rows of the index from a journal file: a pure function of its bytes."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import Any

from ..index.chunking import cut_passages
from ..index.rows import ChunkRow, EntryRow, FileRows, hash64
from ..models import Entry, ParsedFile, Place, Stamp
from ..notes.blocks import MASK, decode_body, find_at_tags, plain_text, unify_newlines
from ..notes.conflicts import find_conflicts, without_marks_of_versions
from ..notes.copies import path_without_conflict_mark
from ..notes.header import unique
from ..notes.marks import (
    fields_of_front_matter,
    find_links,
    find_tasks,
    link_key,
    link_keys_of_entry,
)
from ..notes.privacy import mask_private
from ..notes.reading import composed_form, is_saved, make_derived_id


def make_file_rows(
    stamp: Stamp, data: bytes, parsed: ParsedFile, settled: bool, day_title: str = ""
) -> FileRows:
    """The rows of a file."""
    masked = mask_private(data)
    entries = parsed.entries
    rows = []
    for number, entry in enumerate(entries):
        place = entry.there
        block = data[place.start : place.end]
        body = masked[place.body_start : place.body_end]
        made_of = repr((number == 0, _ROW(entry)))
        entry_row = EntryRow(
            entry=entry,
            block=block,
            row_hash=hash64(made_of.encode("utf-8", "surrogatepass") + block),
            chunks=partial(_chunk_rows, entry, masked),
            marks=partial(_link_name_task_rows, entry, body, number == 0, day_title),
            hides=masked[place.start : place.end] != block,
        )
        rows.append(entry_row)
    hides = masked != data
    return FileRows(stamp, hash64(data), settled, tuple(rows), parsed.issues, hides)


def with_at_tags(entry: Entry) -> Entry:
    """The entry with each `@name` in its title and text as a tag, for the setting `at_tags`."""
    names = (*find_at_tags(entry.title), *find_at_tags(entry.content))
    return replace(entry, tags=unique((*entry.tags, *names)))


def _link_name_task_rows(
    entry: Entry, body: bytes, first: bool, day_title: str
) -> tuple[list[Any], list[Any], list[Any]]:
    text = body_lines(body)
    id_of_path = make_derived_id(
        None, path_without_conflict_mark(composed_form(entry.there.path)), "", 1
    )
    is_whole = id_of_path.endswith(entry.short_id)
    names = link_keys_of_entry(entry, text, of_file=is_whole, first=first, day_title=day_title)
    links = {(link_key(name),) for name in chain.from_iterable(find_links(entry, text))}
    tasks = list(find_tasks(entry, text))
    open_tasks = sum(not task.done for task in tasks)
    return sorted(links), sorted(names.items()), [(open_tasks,)] if tasks else []


def body_lines(masked: bytes) -> str:
    """A masked body as text in which each line has its number; private passages are blank."""
    return unify_newlines(masked.replace(MASK, b" ").decode("utf-8", "replace"))


_ROW = attrgetter(
    *(
        field.name
        for field in fields(Entry)
        if field.name not in ("content", "place", "changed_files")
    )
)
"""The attributes that the index stores; some depend on the file, not on the entry's bytes."""


def _chunk_rows(entry: Entry, masked: bytes) -> tuple[ChunkRow, ...]:
    place = entry.there
    body, typed = masked[place.body_start : place.body_end], is_typed(masked, place)
    title, labels = entry.title, _label_text(entry)
    has_versions = holds_conflict(body)
    chunks = []
    for span in cut_passages(body.replace(MASK, b" ")):
        text = decode_body(body[span.start : span.end], typed=typed)
        text = text_of_passage(text, has_versions)
        words = "\n".join(part for part in (title, text, labels) if part)
        title, labels = _shorten_label(title), _shorten_label(labels)
        to_embed = text_to_embed(entry, text)
        chunks.append(
            ChunkRow(
                start=span.start,
                end=span.end,
                hash=hash64(to_embed),
                words_hash=hash64(words),
                text=to_embed,
                words=words,
                embed=span.embed,
            )
        )
    return tuple(chunks)


def holds_conflict(masked: bytes) -> bool:
    """True for a body in which a merge left two versions."""
    return b"<<<<<<< " in masked and bool(find_conflicts(body_lines(masked)))


def text_of_passage(text: str, has_versions: bool) -> str:
    """The plain text of a passage; without marks of a merge if its entry `has_versions`."""
    return plain_text(without_marks_of_versions(text) if has_versions else text)


MAX_REPEATED = 2_000
"""Characters of a title or of labels that each passage repeats: 100,000 tags in 2,000 passages
are too many.
"""
MAX_REPEATED_TAGS = 200


def text_to_embed(entry: Entry, text: str) -> str:
    """The text of a passage that the model embeds, with title and tags of its entry.

    Not the date: with it, recall@10 on LoCoMo was 0.758 instead of 0.775.
    """
    title = "" if text.startswith(entry.title.rstrip(".…")) else entry.title
    tags = " ".join(entry.tags[:MAX_REPEATED_TAGS])
    return "\n".join(
        [part for part in (_shorten_label(title), text, _shorten_label(tags)) if part]
    )


def _shorten_label(label: str) -> str:
    """A title or labels for a later passage; the first passage has them whole."""
    return label if len(label) <= MAX_REPEATED else label[:MAX_REPEATED].rpartition(" ")[0]


def _label_text(entry: Entry) -> str:
    aliases = [value for key, value in entry.extra if key == "aliases"]
    fields = plain_text(" ".join(chain.from_iterable(fields_of_front_matter(entry))))
    return " ".join((*entry.tags, entry.project or "", *entry.files, *aliases, fields)).strip()


def is_typed(masked: bytes, place: Place) -> bool:
    """True if a person typed the entry, which `decode_body` then reads another way."""
    return place.whole_file or not is_saved(
        masked[place.start : place.body_start].decode("latin-1")
    )

"""Spells tags as most notes do: the index keeps and compares them in lower case."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress

from ...errors import SynapticError
from ...filters import Filters
from ...notes.blocks import inline_tags, slug_tag
from ...notes.link_places import read_note_text
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace

LOOKED_AT = 50
"""The number of newest entries of a tag in whose files it is looked at."""
MOST_KEPT = 5_000
"""The most files whose tags are kept, by the hash of their bytes."""
_OF_PROPERTY = re.compile(
    r"(?im)^[ \t]*(?:[-*+][ \t])?tags?::?(?P<names>[^\n]*(?:\n[ \t]*-[^\n]*)*)"
)
_NAME = re.compile(r"[^\s,\[\]\"'#]+")
_counts_by_hash: dict[int, Counter[str]] = {}


def spell_tags(ws: Workspace, tags: Sequence[str]) -> dict[str, str]:
    """Maps each of these tags to its spelling."""
    return in_step(ws, lambda _: {tag: spell_tag(ws, tag) for tag in tags})


def spell_tag(ws: Workspace, tag: str) -> str:
    """Returns a tag in the spelling that its newest notes use most; of two, one with capitals.
    The index is in step.
    """
    filters = Filters(tags=(tag,), include_superseded=True)
    rows = ws.index.list_rows(filters, order="newest", limit=LOOKED_AT)
    paths = dict.fromkeys(one.entry.path for one in ws.index.entries(rows).values())
    counts = Counter[str]()
    for path in paths:
        with suppress(SynapticError):  # it went meanwhile
            counts += _count_spellings(ws.journal.read(path))
    spellings = [written for written in counts if slug_tag(written) == tag]
    return max(spellings, key=lambda one: (counts[one], one != tag), default=tag)


def _count_spellings(data: bytes) -> Counter[str]:
    key = hash(data)
    if key not in _counts_by_hash:
        if len(_counts_by_hash) >= MOST_KEPT:
            _counts_by_hash.clear()
        _counts_by_hash[key] = Counter(_written_tags(data))
    return _counts_by_hash[key]


def _written_tags(data: bytes) -> Iterator[str]:
    """Yields the tags of a file as they are written outside private passages, and each tag
    above one: `Food` of `Food/Soup`.
    """
    text = read_note_text(data)
    body = text.plain[text.body :]
    names = [body[begin + 1 : end].strip("[]") for begin, end, _ in inline_tags(body)]
    for part in (text.raw[: text.body], body):
        for match in _OF_PROPERTY.finditer(part):
            names += _NAME.findall(match["names"])
    for name in names:
        steps = name.split("/")
        yield from ("/".join(steps[:depth]) for depth in range(1, len(steps) + 1))

"""What a journal would be clearer without: entries that others repeat or replace, or that time
has passed by.

Nothing is done by itself; what a person answers is done by `update` and `delete`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import Any

from ..errors import InvalidArgument, one_of
from ..index.rows import Stored, units
from ..journal.disk import overwrite
from ..models import Entry, Filters, Receipt
from ..notes.blocks import project_key
from ..search.near import DONE, MOST, is_open, lacks_a_name, numbers, standing_out
from ..search.search import any_of_all
from ..workspace.changes import has_expired, marked
from ..workspace.readback import read_entries
from ..workspace.sync import in_step
from ..workspace.workspace import Workspace
from .writing import delete, update

SAME, AT_ONCE = 0.95, 1_000
"""The cosine from which on two entries say the same, by eye; vectors that are compared in one
step.
"""
OPEN_DAYS, UNREAD_DAYS = 60, 365

KINDS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "proposed": ("is proposed for the beginning of each session", ("pin", "keep")),
    "replaced": ("seems to be replaced by the second", ("supersede", "delete", "keep")),
    "repeated": ("says what the second says", ("merge", "delete", "keep")),
    "expired": ("has expired", ("delete", "keep")),
    "open": (f"has been open for {OPEN_DAYS} days", ("close", "delete", "keep")),
    "changed": ("is about files that changed since or are gone", ("delete", "keep")),
    "handed-on": ("is outdated by the second", ("supersede", "delete", "keep")),
    "unread": ("is more than a year old and was never opened", ("delete", "keep")),
}
"""What is said of the first entry of a finding, and how it can be answered; the most valuable
first.
"""


@dataclass(frozen=True, slots=True)
class Matter:
    """A finding: the first entry may go; the second, if there is one, stays."""

    kind: str
    about: tuple[Stored, ...]

    @property
    def key(self) -> str:
        """By what a person names it: `replaced:7k3m9q2x:8h2j4d5f`."""
        return ":".join((self.kind, *(one.entry.short_id for one in self.about)))

    @property
    def said(self) -> str:
        """What there is to say of the first entry."""
        return KINDS[self.kind][0]

    @property
    def answers(self) -> tuple[str, ...]:
        return KINDS[self.kind][1]

    @property
    def state(self) -> str:
        """Another after each edit of an entry."""
        return ":".join(str(one.hash) for one in self.about)


def review(ws: Workspace, *, project: Sequence[str] = ()) -> list[Matter]:
    """The findings that were not answered with keep, the best of each kind in turn."""

    def run(_: object) -> list[Matter]:
        filters = any_of_all(Filters(projects=tuple(map(project_key, project))))
        rows = ws.index.listing(filters, order="oldest", limit=-1)[1]
        stored = ws.index.entries(rows)
        known = {row: stored[row] for row in rows}
        kept = _kept(ws)
        found: dict[str, list[Matter]] = {kind: [] for kind in KINDS}
        for matter in _matters(ws, known):
            if kept.get(matter.key) != matter.state:
                found[matter.kind].append(matter)
        return [matter for turn in zip_longest(*found.values()) for matter in turn if matter]

    return in_step(ws, run)


def answer(ws: Workspace, key: str, said: str, *, by_person: bool = True) -> Receipt | None:
    """The receipt of what an answer to a finding does; None for keep, which is remembered until
    an entry is edited.
    """
    matter = _named(ws, key, said)
    first, last = matter.about[0].entry, matter.about[-1].entry
    if said == "keep":
        overwrite(
            ws.config.state / "review.json",
            json.dumps(_kept(ws) | {matter.key: matter.state}).encode(),
        )
        return None
    change = partial(update, ws, by_person=by_person)
    if said == "pin":
        return change(first.id, pin=True)
    if said == "supersede":
        return change(last.id, supersedes=[*last.supersedes, first.id])
    if said == "close":
        return change(first.id, add_tags=["done"])
    if said == "merge":
        texts = read_entries(ws, [one.rowid for one in matter.about])
        one, other = (texts[stored.rowid].content for stored in matter.about)
        if one not in other:
            change(last.id, append=one)
    return delete(ws, first.id, by_person=by_person)


def first_of(ws: Workspace, key: str, said: str) -> Entry:
    """The entry that an answer to a finding is about. Raises what `answer` raises for a wrong
    one.
    """
    row = _named(ws, key, said).about[0].rowid
    return read_entries(ws, [row])[row]


def _named(ws: Workspace, key: str, said: str) -> Matter:
    """The finding of this key. Raises InvalidArgument where it is none, or cannot be answered
    so.
    """
    kind, *ids = key.split(":")
    answers = KINDS[one_of(KINDS, kind, "finding")][1]
    one_of(answers, said, "answer")
    if len(ids) != 1 + (not {"supersede", "merge"}.isdisjoint(answers)):
        raise InvalidArgument(
            f"{key} is no finding.", valid=(f"{kind}:ID",), hint="`synaptic review` lists them."
        )
    return Matter(kind, tuple(in_step(ws, lambda _: [ws.index.resolve(id) for id in ids])))


def _kept(ws: Workspace) -> dict[str, Any]:
    with suppress(OSError, ValueError, TypeError):
        return dict(json.loads((ws.config.state / "review.json").read_bytes()))
    return {}


def _matters(ws: Workspace, known: Mapping[int, Stored]) -> Iterator[Matter]:
    """All findings among these entries, which are in order of time; of each kind the best
    first.
    """
    now = ws.clock()
    reads = {
        row: standing.accesses for row, standing in ws.index.standings(list(known)).items()
    }
    groups: dict[tuple[str, str], list[int]] = {}
    for row, one in marked(ws, {row: one.entry for row, one in known.items()}).items():
        if (
            one.dated and one.type != "note"
        ):  # what has no type is no statement that another could replace
            groups.setdefault((project_key(one.project or ""), one.type), []).append(row)
        days = (now - one.at).days if one.dated else 0
        for kind, holds in (
            ("proposed", "pin" in one.tags and not one.pin),
            ("expired", has_expired(one.expires, now.date().isoformat())),
            ("open", is_open(one) and days >= OPEN_DAYS),
            ("changed", one.changed_files),
            ("unread", days >= UNREAD_DAYS and not (reads[row] or one.derived_id or one.pin)),
        ):
            if holds:
                yield Matter(kind, (known[row],))
    for (_, kind), rows in groups.items():
        if kind == "handoff":
            yield from (Matter("handed-on", (known[row], known[rows[-1]])) for row in rows[:-1])
        else:
            yield from _alike(ws, known, rows)


def _alike(ws: Workspace, known: Mapping[int, Stored], rows: Sequence[int]) -> Iterator[Matter]:
    """Entries of one project and type that a later one repeats or seems to replace, the nearest
    first.
    """
    pairs = sorted(_near(ws, rows), reverse=True)
    texts = read_entries(ws, list({row for _, *two in pairs for row in two}))
    for cosine, old, new in pairs:
        if cosine >= SAME and numbers(texts[old]) == numbers(texts[new]):
            yield Matter("repeated", (known[new], known[old]))
        elif texts[new].type != DONE and not lacks_a_name(
            texts[old], texts[new], ws.index.stem
        ):
            yield Matter("replaced", (known[old], known[new]))


def _near(ws: Workspace, rows: Sequence[int]) -> Iterator[tuple[float, int, int]]:
    """(cosine, earlier entry, later entry) of those of these entries, in order of time, that
    stand out as near.
    """
    import numpy as np

    stored = ws.index.meanings(rows)
    rows = [row for row in rows if row in stored]
    vectors = units([stored[row] for row in rows]) if rows else np.zeros((0, 0), np.float32)
    for start in range(0, len(rows), AT_ONCE):
        end = min(start + AT_ONCE, len(rows))
        cosines = ws.index.scaled(vectors[start:end] @ vectors[:end].T)
        cosines[:, start:] *= np.tri(
            end - start, k=-1, dtype=np.float32
        )  # each is compared with earlier ones
        most = min(MOST + 1, end)
        for line, places in enumerate(
            np.argpartition(cosines, -most, axis=1)[:, -most:].tolist()
        ):
            near = sorted(
                ((float(cosines[line, place]), rows[place]) for place in places), reverse=True
            )
            count = max(standing_out([cosine for cosine, _ in near]), int(near[0][0] >= SAME))
            yield from ((cosine, old, rows[start + line]) for cosine, old in near[:count])

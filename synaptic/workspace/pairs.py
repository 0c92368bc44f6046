"""Finds pairs of entries of which the later seems to replace or repeat the earlier.

There is one set of such pairs. `review` lists it, the receipt of a save names what belongs to
it, and where the earlier entry is read, the later one is named beside it. It depends on the
entries alone: each is compared with all others of its project and type (`index/nearest`), and
`language/replacement` judges each two that are nearer to each other than to all others.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ..journal.disk import read_state_json
from ..models import Entry, Json, short_id

if TYPE_CHECKING:
    from ..index.index import Index
    from ..index.nearest import Neighbour
    from ..index.plain_index import PlainIndex
    from ..language.replacement import Nearness, Note, PairKind, Verdict
    from .workspace import Workspace

JUDGED_AT_ONCE = 200
"""Entries that are judged in one transaction: it takes about .1 s."""
PERHAPS_REPLACED = "perhaps replaced by"
"""The mark of an earlier entry where it is read, before the id of the later one."""
ACCEPTED = "review.json"
"""The file in the state folder with the findings that a person keeps as they are."""


def pair_entries(ws: Workspace, *, until: float | None = None, wait_ms: int) -> bool:
    """Compares and judges the entries that wait for it, until the `time.monotonic` `until`
    (None: all); returns True if none is left.

    Raises IndexBusy after `wait_ms` while another process writes, and Stale.
    """
    while ws.index.waits_for_pairs():
        from ..index.nearest import Nearest  # it imports numpy

        if until is not None and time.monotonic() > until:
            return False
        with ws.index.writing(wait_ms):
            nearest = Nearest(ws.index.file)
            if not nearest.compare_some():
                neighbours = nearest.unjudged(JUDGED_AT_ONCE)
                nearest.store_verdicts(_judge_all(ws, neighbours))
    return True


def _judge_all(
    ws: Workspace, neighbours: Sequence[Neighbour]
) -> list[tuple[int, Verdict | None]]:
    """What each of these entries and its nearest are to each other; nothing unless they are
    nearer to each other than to all others.
    """
    from ..language.replacement import judge

    verdicts: dict[int, Verdict | None] = {one.entry: None for one in neighbours}
    for one, earlier, later, near, kind in compare_notes(ws, neighbours):
        verdict = judge(earlier, later, near, kind)
        for entry in verdicts.keys() & {one.entry, one.nearest}:
            verdicts[entry] = verdict
    return list(verdicts.items())


def compare_notes(
    ws: Workspace, neighbours: Sequence[Neighbour]
) -> Iterator[tuple[Neighbour, Note, Note, Nearness, PairKind]]:
    """(neighbour, the earlier text and the later, how near they are, what both are), once for
    each two entries that are the nearest of each other.
    """
    from ..index.nearest import share_unmatched
    from ..language.replacement import Nearness, Note, PairKind
    from .readback import read_entries

    pairs = {frozenset(one[:2]): one for one in neighbours if one.is_mutual}
    mutual = pairs.values()
    rows = list({row for one in mutual for row in one[:2]})
    read = read_entries(ws, rows)
    codes: dict[int, bytes] = {}
    for row, more in ws.index.token_codes(rows):
        codes[row] = codes.get(row, b"") + more
    notes = {row: Note(_whole_text(entry), ws.index.stem) for row, entry in read.items()}
    for one in mutual:
        earlier, later = sorted(one[:2], key=lambda row: _timeline_position(read[row]))
        near = Nearness(one.closeness)
        if earlier in codes and later in codes:
            unmatched = share_unmatched(codes[earlier], codes[later])
            near = near._replace(unmatched=unmatched)
        type = read[later].type
        kind = PairKind(type == "decision", type == "note" and not read[later].project)
        yield one, notes[earlier], notes[later], near, kind


def _timeline_position(entry: Entry) -> tuple[datetime, str, int]:
    return entry.at, entry.there.path, entry.there.line


def _whole_text(entry: Entry) -> str:
    """The content, behind a title that is not made of it."""
    if entry.content.startswith(entry.title.rstrip(".… ")):
        return entry.content
    return f"{entry.title}\n{entry.content}"


def find_later_ids(
    index: Index | PlainIndex, state: Path, rowids: Sequence[int]
) -> dict[int, str]:
    """Maps each of these entries that a later one seems to replace or repeat to the id of the
    latest such one. Left out are pinned entries, and pairs that a person keeps: the folder
    `state` has a list of these.
    """
    rows = index.later_entries(rowids)
    accepted = read_state_json(state / ACCEPTED) if rows else {}
    return {
        row: later_id
        for row, id, hash_, later_id, later_hash in rows
        if not is_accepted(accepted, (id, hash_), (later_id, later_hash))
    }


def is_accepted(accepted: Json, earlier: tuple[str, int], later: tuple[str, int]) -> bool:
    """True if a person said that both entries, each an id and a hash, stay as they are, and
    neither was edited since. `accepted` maps names of findings to hashes.
    """
    for verdict, first, second in (("replaced", earlier, later), ("repeated", later, earlier)):
        key = f"{verdict}:{short_id(first[0])}:{short_id(second[0])}"
        if accepted.get(key) == f"{first[1]}:{second[1]}":
            return True
    return False

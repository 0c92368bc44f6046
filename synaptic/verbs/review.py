"""Lists entries that a journal could do without, such as outdated ones, and, if asked for,
entries that are near each other.

Nothing is done by itself; what a person answers is done by `update` and `delete`.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import chain, zip_longest
from typing import NamedTuple

from ..errors import InvalidArgument, NotFound, match_valid_name
from ..filters import Filters
from ..index.rows import Stored
from ..journal.disk import REVIEWED, overwrite, read_state_json
from ..kinds import has_expired
from ..models import PERSON, Entry, Texts
from ..notes.blocks import project_key
from ..plugin import PLAN_MENDING
from ..search.near import LEAST_OF_PAIRS, find_near_rows, is_open_issue
from ..search.search import drop_any_project
from ..workspace.changes import mark_entries
from ..workspace.many_edits import EditPlan, Renamed, make_edits
from ..workspace.readback import read_entries
from ..workspace.sync import in_step
from ..workspace.workspace import Workspace
from . import settling
from .changing import update
from .receipts import Receipt, make_receipt
from .removing import delete

OPEN_DAYS = 60
UNREAD_DAYS = 365

UNDO = "undo"
"""The answer that takes the choice in a conflict of a whole file back."""
EMBED_MS = 500
"""The time in which a review embeds and compares what waits for it."""
FINDINGS = {
    "conflict": ("has two versions: it was changed on two machines", settling.ANSWERS),
    "proposed": ("is proposed for the beginning of each session", ("pin", "keep")),
    "moved": ("was moved or renamed, and links to it are broken", ("mend", "keep")),
    "expired": ("has expired", ("delete", "keep")),
    "open": (f"has been open for {OPEN_DAYS} days", ("close", "delete", "keep")),
    "changed": ("is about files that changed since or are gone", ("delete", "keep")),
    "handed-on": ("is outdated by the second", ("supersede", "delete", "keep")),
    "unread": ("is more than a year old and was never opened", ("delete", "keep")),
    "near": ("is near the second: perhaps both hold", ("keep", "supersede", "same")),
}
"""Of each kind of finding: a sentence on its first entry, and the answers. The most valuable
kind comes first; `near` is listed only where it is asked for.
"""
COMPARED = 500
"""The number of newest entries of which those near them are sought: it takes about 2 s."""


class ReviewFinding(NamedTuple):
    """A finding of a review: its first entry may be removed; its second, if there is one, is
    kept. `versions` are the texts of this machine and of another one, in a conflict.
    """

    kind: str
    about: tuple[Stored, ...]
    versions: Texts = ()

    @property
    def key(self) -> str:
        """The name a person types: `near:7k3m9q2x:8h2j4d5f`."""
        return ":".join((self.kind, *(one.entry.short_id for one in self.about)))

    @property
    def sentence(self) -> str:
        """The finding about its first entry as the end of a sentence: "has expired"."""
        return FINDINGS[self.kind][0]

    @property
    def answers(self) -> Texts:
        return FINDINGS[self.kind][1]

    @property
    def state(self) -> str:
        """A text that changes with each edit of an entry."""
        return ":".join(str(one.hash) for one in self.about)


def review(ws: Workspace, *, project: Sequence[str] = ()) -> list[ReviewFinding]:
    """The findings that were not answered with keep, the best of each kind in turn."""

    moved = _plans_of_mending(ws, confirms=True)

    def run(_: object) -> list[ReviewFinding]:
        filters = drop_any_project(Filters(projects=tuple(map(project_key, project))))
        rows = ws.index.list_rows(filters, order="oldest", limit=-1)
        stored = ws.index.entries(rows)
        accepted = read_state_json(ws.config.state / REVIEWED)
        findings: dict[str, list[ReviewFinding]] = {kind: [] for kind in FINDINGS}
        for conflict in settling.find_open_conflicts(ws):
            if conflict.about.rowid in stored:
                versions = (conflict.mine, conflict.theirs)
                matter = ReviewFinding("conflict", (conflict.about,), versions)
                findings["conflict"].append(matter)
        rows_by_path = {stored[rowid].entry.path: rowid for rowid in reversed(rows)}
        for path in moved:
            if path in rows_by_path:
                matter = ReviewFinding("moved", (stored[rows_by_path[path]],))
                if accepted.get(matter.key) != matter.state:
                    findings["moved"].append(matter)
        for matter in _find_all(ws, {rowid: stored[rowid] for rowid in rows}):
            if accepted.get(matter.key) != matter.state:
                findings[matter.kind].append(matter)
        turns = chain.from_iterable(zip_longest(*findings.values()))
        return [matter for matter in turns if matter]

    return in_step(ws, run, embed_ms=EMBED_MS)


def review_near(ws: Workspace, *, project: Sequence[str] = ()) -> list[ReviewFinding]:
    """The pairs of an earlier and a later entry of one project that are nearest to each other,
    of the newest COMPARED entries; those answered with keep are left out.
    """

    def run(_: object) -> list[ReviewFinding]:
        filters = drop_any_project(Filters(projects=tuple(map(project_key, project))))
        rows = ws.index.list_rows(filters, order="newest", limit=COMPARED)
        accepted = read_state_json(ws.config.state / REVIEWED)
        pairs = []
        for later in ws.index.entries(rows).values():
            rows_near = find_near_rows(ws, later)
            near = {row: close for row, close in rows_near if close >= LEAST_OF_PAIRS}
            stored = ws.index.entries(list(near))
            hidden = ws.index.superseded_by([one.entry.id for one in stored.values()])
            for rowid, earlier in stored.items():
                is_earlier = _place_in_time(earlier) < _place_in_time(later)
                is_kept = _is_kept(accepted, earlier, later)
                if is_earlier and not is_kept and earlier.entry.id not in hidden:
                    pairs.append((near[rowid], ReviewFinding("near", (earlier, later))))
                    break
        pairs.sort(key=lambda pair: -pair[0])
        return [pair for _, pair in pairs]

    return in_step(ws, run, embed_ms=EMBED_MS)


def _place_in_time(one: Stored) -> tuple[datetime, str, int]:
    return one.entry.at, one.entry.path, one.entry.there.line


def _is_kept(accepted: Mapping[str, object], earlier: Stored, later: Stored) -> bool:
    """True if a person said that both entries hold, also under the names of former kinds, and
    neither was edited since.
    """
    orders = {
        "near": (earlier, later),
        "replaced": (earlier, later),
        "repeated": (later, earlier),
    }
    return any(
        accepted.get(ReviewFinding(kind, pair).key) == ReviewFinding(kind, pair).state
        for kind, pair in orders.items()
    )


def answer_finding(
    ws: Workspace, key: str, chosen: str, *, by_person: bool = True, confirms: bool = False
) -> Receipt | None:
    """Acts on an answer to a finding and returns the receipt; None for keep, which is
    remembered until an entry is edited. `undo` takes the choice in a conflict of a whole file
    back. Only a person `confirms`.
    """
    if chosen == UNDO:
        return settling.undo_choice(ws, key, by_person=by_person)
    matter = _parse_finding_key(ws, key, chosen)
    first = matter.about[0].entry
    last = matter.about[-1].entry
    if matter.kind == "conflict":
        return settling.settle_conflict(
            ws, first, chosen, by_person=by_person, confirms=confirms
        )
    if chosen == "mend":
        done = mend_links(ws, first.path, confirms=confirms)
        files = "1 file" if done.files == 1 else f"{done.files:,} files"
        notice = (
            f"Links in {files} lead to it again; `synaptic undo {done.run}` takes that back."
        )
        return make_receipt(first, notices=[notice])
    if chosen == "keep":
        file = ws.config.state / REVIEWED
        accepted = read_state_json(file) | {matter.key: matter.state}
        overwrite(file, json.dumps(accepted).encode())
        return None
    change = partial(update, ws, by_person=by_person, confirms=confirms)
    if chosen == "pin":
        return change(first.id, pin=True)
    if chosen in ("supersede", "same"):
        receipt = change(last.id, supersedes=[*last.supersedes, first.id])
        # what leans on an entry whose text still holds needs no look
        return receipt if chosen == "supersede" else replace(receipt, leaning=())
    if chosen == "close":
        return change(first.id, add_tags=["done"])
    return delete(ws, first.id, by_person=by_person, confirms=confirms)


def mend_links(ws: Workspace, path: str, *, confirms: bool) -> Renamed:
    """Mends the links to the old path of the note that is now at `path`. Raises NotFound if no
    link is broken by now.
    """
    plan = _plans_of_mending(ws, confirms=confirms).get(path)
    if not plan:
        raise NotFound(f"No broken link leads to an old path of {path}.")
    return make_edits(ws, plan)


def _plans_of_mending(ws: Workspace, *, confirms: bool) -> dict[str, EditPlan]:
    """For each note that moved, by its present path, the plan that mends the links to its old
    one.
    """
    plans: dict[str, EditPlan] = {}
    for answer in PLAN_MENDING.ask_each(ws, confirms):
        plans |= answer
    return plans


def entry_of_finding(ws: Workspace, key: str, chosen: str) -> Entry:
    """The entry that an answer to a finding is about. Raises the errors of `answer_finding`."""
    rowid = _parse_finding_key(ws, key, chosen).about[0].rowid
    return read_entries(ws, [rowid])[rowid]


def _parse_finding_key(ws: Workspace, key: str, chosen: str) -> ReviewFinding:
    """The finding of this key. Raises InvalidArgument for an unknown key or answer."""
    kind, *ids = key.split(":")
    answers = FINDINGS[match_valid_name(FINDINGS, kind, "finding")][1]
    match_valid_name(answers, chosen, "answer")
    is_pair = "supersede" in answers
    if len(ids) != 1 + is_pair:
        raise InvalidArgument(
            f"{key} is not the name of a finding.",
            valid=(f"{kind}:ID:ID" if is_pair else f"{kind}:ID",),
            hint="`synaptic review` lists them.",
        )
    return ReviewFinding(
        kind, tuple(in_step(ws, lambda _: [ws.index.resolve(id) for id in ids]))
    )


def _find_all(ws: Workspace, stored: Mapping[int, Stored]) -> Iterator[ReviewFinding]:
    """All findings among these entries, which are in order of time; of each kind the best
    first.
    """
    now = ws.clock()
    standings = ws.index.ranking_facts(list(stored))
    entries = mark_entries(ws, {rowid: one.entry for rowid, one in stored.items()})
    handoffs: dict[str, list[int]] = {}
    for rowid, entry in entries.items():
        if entry.dated and entry.type == "handoff":
            handoffs.setdefault(project_key(entry.project or ""), []).append(rowid)
        days = (now - entry.at).days if entry.dated else 0
        is_used = standings[rowid].accesses or entry.derived_id or entry.pin
        is_diary = entry.type == "note" and entry.by in (None, PERSON)
        holds = {
            "proposed": "pin" in entry.tags and not entry.pin,
            "expired": has_expired(entry.expires, now.date().isoformat()),
            "open": is_open_issue(entry) and days >= OPEN_DAYS,
            "changed": entry.changed_files,
            "unread": days >= UNREAD_DAYS and not (is_used or is_diary),
        }
        for kind in filter(holds.get, holds):
            yield ReviewFinding(kind, (stored[rowid],))
    for rows in handoffs.values():
        for rowid in rows[:-1]:
            yield ReviewFinding("handed-on", (stored[rowid], stored[rows[-1]]))

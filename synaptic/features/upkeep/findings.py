"""Lists entries that a journal could do without, such as outdated ones, and, if asked for,
entries that are near each other.

Nothing is done by itself; what a person answers is done by `update` and `delete`.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import chain, zip_longest

from ...errors import InvalidArgument, Sentence, match_valid_name
from ...filters import Filters
from ...index.rows import Stored
from ...index.statistics import UNREAD_DAYS
from ...journal.disk import REVIEWED, overwrite, read_state_json
from ...kinds import has_expired
from ...models import PERSON, Entry, Receipt, Texts
from ...notes.blocks import project_key
from ...plugin import PLAN_MENDING, ReviewFinding
from ...search.near import LEAST_OF_PAIRS, find_near_rows, is_open_issue
from ...search.search import drop_any_project
from ...verbs import settling
from ...verbs.changing import update
from ...verbs.mending import mend_links
from ...verbs.receipts import make_receipt
from ...verbs.removing import delete
from ...workspace.changes import (
    fingerprint_path,
    key_of_review,
    mark_entries,
    store_line_hashes,
)
from ...workspace.checkout import working_checkout
from ...workspace.readback import read_entries
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace

OPEN_DAYS = 60

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
ANSWERS = frozenset(chain.from_iterable(answers for _, answers in FINDINGS.values()))
COMPARED = 500
"""The number of newest entries of which those near them are sought: it takes about 2 s."""


def list_findings(ws: Workspace, *, project: Sequence[str] = ()) -> list[ReviewFinding]:
    """The findings that were not answered with keep, the best of each kind in turn."""

    moved = PLAN_MENDING.ask_in_turn(ws, True) or {}

    def run(_: object) -> list[ReviewFinding]:
        filters = drop_any_project(Filters(projects=tuple(map(project_key, project))))
        rows = ws.index.list_rows(filters, order="oldest", limit=-1)
        stored = ws.index.entries(rows)
        accepted = read_state_json(ws.config.state / REVIEWED)
        findings: dict[str, list[ReviewFinding]] = {kind: [] for kind in FINDINGS}
        for conflict in settling.find_open_conflicts(ws):
            if conflict.about.rowid in stored:
                versions = (conflict.mine, conflict.theirs)
                matter = _make_finding("conflict", conflict.about, versions=versions)
                findings["conflict"].append(matter)
        rows_by_path = {stored[rowid].entry.path: rowid for rowid in reversed(rows)}
        moved_rows = [rows_by_path[path] for path in moved if path in rows_by_path]
        of_moved = [_make_finding("moved", stored[rowid]) for rowid in moved_rows]
        for matter in (*of_moved, *_find_all(ws, {rowid: stored[rowid] for rowid in rows})):
            if accepted.get(matter.key) != _state_of(matter.about):
                findings[matter.kind].append(matter)
        turns = chain.from_iterable(zip_longest(*findings.values()))
        return [matter for matter in turns if matter]

    return in_step(ws, run, embed_ms=EMBED_MS)


def list_near_pairs(ws: Workspace, *, project: Sequence[str] = ()) -> list[ReviewFinding]:
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
                    pairs.append((near[rowid], _make_finding("near", earlier, later)))
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
        accepted.get(ReviewFinding(kind, pair, "", ()).key) == _state_of(pair)
        for kind, pair in orders.items()
    )


def carry_out_answer(
    ws: Workspace, key: str, chosen: str, *, by_person: bool = True, confirms: bool = False
) -> Receipt | None:
    """Acts on an answer to a finding and returns the receipt; None for keep, which is
    remembered until an entry is edited, and of changed files until they change again. `undo`
    takes the choice in a conflict of a whole file back. Only a person `confirms`.
    """
    if chosen == settling.UNDO_CHOICE:
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
        text = "Links in {n:,} files lead to it again; `synaptic undo {run}` takes that back."
        if done.file_count == 1:
            text = "Links in 1 file lead to it again; `synaptic undo {run}` takes that back."
        notice = Sentence(text, n=done.file_count, run=done.run)
        return make_receipt(first, notices=[notice])
    if chosen == "keep":
        file = ws.config.state / REVIEWED
        states = {matter.key: _state_of(matter.about)}
        if matter.kind == "changed":
            states = _fingerprints_seen(ws, matter.about[0])
        accepted = read_state_json(file) | states
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


def _fingerprints_seen(ws: Workspace, one: Stored) -> dict[str, str]:
    """The present fingerprints of the files by which an entry is out of date, each by the name
    under which `mark_entries` looks for it.
    """
    here = working_checkout(ws)
    [entry] = mark_entries(ws, {one.rowid: one.entry}).values()
    seen: dict[str, str] = {}
    if not here:
        return seen
    for path in entry.changed_files:
        fingerprint = fingerprint_path(here.root, path) or ""
        seen[key_of_review(entry, path)] = fingerprint
        with suppress(OSError, ValueError):  # it is gone, or large
            store_line_hashes(ws.config.state / "lines", fingerprint, here.root / path)
    return seen


def resolve_subject(ws: Workspace, key: str, chosen: str) -> Entry:
    """The entry that an answer to a finding is about. Raises InvalidArgument, NotFound and
    Ambiguous.
    """
    rowid = _parse_finding_key(ws, key, chosen).about[0].rowid
    return read_entries(ws, [rowid])[rowid]


def _parse_finding_key(ws: Workspace, key: str, chosen: str) -> ReviewFinding:
    """The finding of this key, or the only one about the entry of this id. Raises
    InvalidArgument for an unknown key or answer.
    """
    if ":" not in key and key not in FINDINGS:
        key = _find_key_by_id(ws, key, chosen)
    kind, *ids = key.split(":")
    answers = FINDINGS[match_valid_name(FINDINGS, kind, "finding")][1]
    match_valid_name(answers, chosen, "answer")
    is_pair = "supersede" in answers
    if len(ids) != 1 + is_pair:
        raise InvalidArgument(
            "{key} is not the name of a finding.",
            valid=(f"{kind}:ID:ID" if is_pair else f"{kind}:ID",),
            hint="`synaptic review` lists them.",
            key=key,
        )
    return _make_finding(kind, *in_step(ws, lambda _: [ws.index.resolve(id) for id in ids]))


def _find_key_by_id(ws: Workspace, id: str, chosen: str) -> str:
    findings = list_findings(ws)
    keys = []
    for matter in findings:
        ids = {name for one in matter.about for name in (one.entry.id, one.entry.short_id)}
        if id in ids and (chosen in matter.answers or chosen not in ANSWERS):
            keys.append(matter.key)
    if len(keys) == 1:
        return keys[0]
    raise InvalidArgument(
        "{n:,} findings are about {id}.",
        "`synaptic review` lists them.",
        valid=keys or [matter.key for matter in findings[:5]],
        n=len(keys),
        id=id,
    )


def _make_finding(kind: str, *about: Stored, versions: Texts = ()) -> ReviewFinding:
    return ReviewFinding(kind, about, *FINDINGS[kind], versions)


def _state_of(about: Sequence[Stored]) -> str:
    """A text that changes with each edit of one of these entries."""
    return ":".join(str(one.hash) for one in about)


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
            yield _make_finding(kind, stored[rowid])
    for rows in handoffs.values():
        for rowid in rows[:-1]:
            yield _make_finding("handed-on", stored[rowid], stored[rows[-1]])

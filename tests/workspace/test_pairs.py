"""Pairs of entries of which the later seems to replace the earlier: one set, whatever the order in
which the entries came.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from homes import Clock, open_home

from synaptic import Workspace, delete, rebuild, recent, restore, save, search, update
from synaptic.config import DEFAULT_MODEL
from synaptic.index.embedding import FastEmbedder
from synaptic.index.nearest import Nearest
from synaptic.render.terminal import Output, listing_text
from synaptic.verbs.review import answer_finding, review
from synaptic.workspace.pairs import pair_entries

POOL = "The pgbouncer pool of the orders database has {} connections."
NOTES = (
    (POOL.format(40), "decision", "2026-03-01"),
    (POOL.format(25), "decision", "2026-04-01"),
    (POOL.format(60), "decision", "2026-05-01"),
    ("Rehearsals are in the parish hall on Mill Lane.", "note", "2026-03-02"),
    ("We no longer rehearse in the parish hall on Mill Lane.", "note", "2026-06-02"),
    ("Invoices are numbered by year.", "decision", "2026-03-03"),
    ("The logo is blue.", "decision", "2026-03-04"),
    ("The skip is emptied every second Wednesday.", "note", "2026-03-05"),
    ("The sitemap job must not run before four in the morning.", "insight", "2026-03-06"),
)


@pytest.fixture
def known(tmp_path: Path, clock: Clock, model: FastEmbedder) -> Iterator[Workspace]:
    """A journal that is read by the shipped model."""
    model.load()
    with open_home(tmp_path / "home", clock=clock, embedder=model) as ws:
        yield ws


def save_notes(ws: Workspace, order: list[int]) -> dict[int, str]:
    ids = {}
    for number in order:
        text, type, day = NOTES[number]
        ids[number] = save(ws, text, type=type, at=day, project="shop").id
    return ids


def named(ws: Workspace) -> set[tuple[str, str]]:
    """The texts of each pair that a review names, the earlier first."""
    return {
        (finding.about[0].entry.title, finding.about[1].entry.title)
        for finding in review(ws)
        if finding.kind == "replaced"
    }


def stored(ws: Workspace) -> set[tuple[object, ...]]:
    """The table of nearest entries, with titles in place of rows."""
    pair_entries(ws, wait_ms=1000)
    return set(
        ws.index.file.rows("""
            SELECT e.title, n.state, a.title, n.closeness
            FROM near n JOIN entry e ON e.rowid = n.entry LEFT JOIN entry a ON a.rowid = n.first""")
    )


@pytest.mark.parametrize("seed", range(4))
def test_any_order_of_arrival_gives_the_same_pairs(known: Workspace, seed: int) -> None:
    order = list(range(len(NOTES)))
    random.Random(seed).shuffle(order)
    save_notes(known, order)
    table = stored(known)
    pairs = named(known)
    assert (NOTES[3][0], NOTES[4][0]) in pairs
    assert pairs & {(NOTES[i][0], NOTES[j][0]) for i, j in ((0, 1), (0, 2), (1, 2))}
    rebuild(known)
    assert stored(known) == table
    assert named(known) == pairs


def test_deleted_changed_and_replaced_entries_leave_no_trace(known: Workspace) -> None:
    ids = save_notes(known, [0, 3, 4, 5, 6, 7, 8])
    before = stored(known)
    more = save_notes(known, [1, 2])
    delete(known, more[1])
    delete(known, more[2])
    assert stored(known) == before
    restore(known, more[1])
    update(known, ids[0], content="The cat is called Mia.")
    update(known, ids[4], supersedes=[ids[3]])
    table = stored(known)
    rebuild(known)
    assert stored(known) == table
    assert named(known) == set()


def test_vectors_that_come_late_give_the_same_pairs(
    known: Workspace, tmp_path: Path, clock: Clock
) -> None:
    save_notes(known, list(range(len(NOTES))))
    table = stored(known)
    shutil.copytree(known.config.journal, tmp_path / "other" / "journal")
    embedder = FastEmbedder(DEFAULT_MODEL, cache=tmp_path / "models")
    with open_home(tmp_path / "other", clock=clock, embedder=embedder) as late:
        recent(late)
        pair_entries(late, wait_ms=1000)
        assert late.index.pairs() == []  # no entry has a vector yet
        embedder.load()
        while late.index.pending(1):
            search(late, "pool", embed_ms=1)
        assert stored(late) == table


def test_many_entries_are_compared_part_by_part(
    known: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_notes(known, list(range(len(NOTES))))
    table = stored(known)
    monkeypatch.setattr("synaptic.index.nearest.COMPARED_AT_ONCE", 2)
    with known.index.writing():
        known.index.file.db.execute("UPDATE near SET state = 'compare'")
    with known.index.writing():
        assert Nearest(known.index.file).compare_some()
    assert known.index.waits_for_pairs()
    assert stored(known) == table


def test_the_earlier_entry_is_marked_where_it_is_read(known: Workspace) -> None:
    ids = save_notes(known, [3, 4, 5])
    mark = f"perhaps replaced by {ids[4].partition('-')[2]}"
    found = {hit.entry.id: hit.entry.marks for hit in search(known, "parish hall").hits}
    assert mark in found[ids[3]]
    assert mark not in found[ids[4]]
    listed = {entry.id: entry.marks for entry in recent(known).entries}
    assert [id for id, marks in listed.items() if mark in marks] == [ids[3]]
    for width in (80, None):  # a terminal names the way to the later one
        text = listing_text(recent(known), Output(False, width, Path))
        command = f"`synaptic get {mark.split()[-1]}` shows the later entry."
        assert text.endswith(command) == (width == 80)


def test_a_diary_is_compared_but_its_days_are_not_taken_for_changes(known: Workspace) -> None:
    code = "Der Alarmcode am Haus ist 4471, die Nachbarin kennt ihn auch."
    later = (
        "Nach dem Fehlalarm alles neu eingestellt: Haustür scharf und unscharf mit 9028. "
        "Die Nachbarin hat den neuen Alarmcode auf einem Zettel bekommen."
    )
    old = save(known, code, project="", at="2026-01-12")
    save(known, "Paid the dentist: 31 EUR.", project="", at="2026-02-01")
    save(known, "Paid the dentist: 753 EUR.", project="", at="2026-03-01")
    assert [near.id for near in save(known, later, project="").near or ()] == [old.id]
    assert named(known) == {(code, next(e.title for e in recent(known).entries))}


def test_keep_silences_a_pair_until_one_of_both_is_edited(known: Workspace) -> None:
    ids = save_notes(known, [3, 4, 5])
    (finding,) = [one for one in review(known) if one.kind == "replaced"]
    answer_finding(known, finding.key, "keep")

    def is_marked() -> bool:
        marks = [entry.marks for entry in recent(known).entries if entry.id == ids[3]]
        return any("perhaps replaced" in mark for mark in marks[0])

    assert not is_marked()
    assert named(known) == set()
    update(known, ids[4], add_tags=["choir"])
    review(known)
    assert is_marked()

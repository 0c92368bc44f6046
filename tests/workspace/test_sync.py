"""The index follows the journal: whatever happened to the files, it says what a fresh one would
say.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from embedders import HashingEmbedder
from homes import Clock, open_home
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule
from killed import started, was_killed
from pictures import picture
from trials import examples

from synaptic import (
    Filters,
    Workspace,
    delete,
    find,
    get,
    rebuild,
    recent,
    restore,
    save,
    search,
    update,
)
from synaptic.errors import Busy, JournalError, ModelError, NotFound, Refused
from synaptic.models import Entry, Meaning, Stamp
from synaptic.workspace import sync
from synaptic.workspace.embed import embed_pending
from synaptic.workspace.index_check import verify_index
from synaptic.workspace.readback import read_entries
from synaptic.workspace.sync import SyncReport, in_step, sync_index

# -- the law
# ----------------------------------------------------------------------------------------

LONG = "\n\n".join(
    f"Paragraph {n} tells of cables, switches and the {n}th floor. " * 6 for n in range(6)
)
LINES = [
    "Restarted the billing worker.",
    "see #ops and #db/postgres",
    "## Why",
    "# Part two",
    "## 11:45 lunch",
    "```",
    "## 12:05 decision: Keep redis #db",
    "",
    "---",
    "<!-- a remark -->",
    "naïve café 東京",
    LONG,
    "<!-- syn:20261121-abcdefgh importance=7 files=a.py,src/b.py -->",
    "## 9:15 issue: Printer jams",
    "- [ ] Cut the [[Plan]] of [[2026-11-19]]",
    "mood:: calm [with:: Ada]",
    "tags:: [[two words]], b",
    "title:: A page",
]
FRONT_MATTER = [
    "---\ntags: [home, plans]\naliases: [Plan B]\n---\n",
    "---\ndate: 2026-10-03\n---\n",
    "---\ntitle: Other\nauthor: '[[Ada]]'\n---\n",
    "---\nsynaptic: false\n---\n",
    "---\ndate: [\n---\n",
    "---\ntags: garden\ndate: 2026-10-05\n---\n",
    "",
]
texts = st.lists(st.sampled_from(LINES), min_size=1, max_size=4).map("\n".join)
words = texts.filter(lambda text: re.search(r"\w", text))
any_one = st.integers(0, 99)


class Journaling(RuleBasedStateMachine):
    """Everything that people and programs do to a journal, with a sync now and then."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.clock = Clock()
        self.roots = {
            "@vault": self.folder / "vault",
            "@sessions": self.folder / "home" / "sessions",
        }
        self.ws = open_home(self.folder / "home", clock=self.clock, sources=self.roots)
        self.journal = self.ws.config.journal
        self.fresh = open_home(
            self.folder / "other", journal=self.journal, clock=self.clock, sources=self.roots
        )
        save(self.ws, "Chose redis over memcached.", type="decision", tags=["db"], force=True)
        save(self.ws, LONG, importance=8, files=["src/a.py"], force=True)
        (self.journal / "Garden.md").write_text(
            "# Garden #home\n\nThe hedge by the road must be cut in June.\n"
        )
        sync_index(self.ws)

    def teardown(self) -> None:
        try:
            self.compare()
        finally:
            self.ws.close()
            self.fresh.close()
            shutil.rmtree(self.folder)

    def compare(self) -> None:
        sync_index(self.ws)
        embed_pending(self.ws, budget_s=None)
        rebuild(self.fresh, fresh=True)
        incremental, fresh = picture(self.ws.index), picture(self.fresh.index)
        for part, expected in fresh.items():
            assert incremental[part] == expected
        with open_home(self.folder / "home", clock=self.clock, sources=self.roots) as other:
            assert kept(self.ws) == kept(other)
        assert self.ws.index.file.check(whole=True) is None

    # what programs do

    @rule(
        text=words,
        kind=st.sampled_from(["note", "decision"]),
        day=st.integers(0, 2),
        after=st.none() | any_one,
    )
    def save(self, text: str, kind: str, day: int, after: int | None) -> None:
        self.clock.forward(minutes=7)
        older = [] if after is None or not self.entries() else [self.pick(after).id]
        at = self.clock.now.replace(day=21 - day)
        save(self.ws, text, type=kind, tags=["saved"], at=at, supersedes=older, force=True)

    @precondition(lambda self: self.entries())
    @rule(
        one=any_one,
        content=st.none() | words,
        title=st.none() | st.just("Renamed"),
        tag=st.sampled_from("ab"),
    )
    def update(self, one: int, content: str | None, title: str | None, tag: str) -> None:
        with suppress(Refused):
            update(
                self.ws,
                self.pick(one).id,
                content=content,
                title=title,
                add_tags=[tag],
                remove_tags=["saved"],
            )

    @precondition(lambda self: self.entries())
    @rule(one=any_one)
    def delete(self, one: int) -> None:
        with suppress(Refused):
            delete(self.ws, self.pick(one).id)

    @precondition(lambda self: self.ws.journal.trashed())
    @rule(one=any_one)
    def restore(self, one: int) -> None:
        pieces = self.ws.journal.trashed()
        with suppress(
            NotFound, Refused
        ):  # nothing older than what stands there, or that lost its heading
            restore(self.ws, pieces[one % len(pieces)].id)

    @rule()
    def sync_index(self) -> None:
        sync_index(self.ws)
        kept(self.ws)

    @rule(files=st.integers(1, 2))
    def sync_in_a_hurry(self, files: int) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("synaptic.workspace.sync.LEAST_FILES", files)
            in_step(self.ws, lambda _: None, within_s=0)

    @rule()
    def embed_some(self) -> None:
        embed_pending(self.ws, budget_s=0, at_least=2)

    @rule()
    def rebuild(self) -> None:
        rebuild(self.ws)

    # what people and their other programs do

    @rule(
        name=st.sampled_from(["2026-11-19.md", "Plan.md", "area/Kitchen.md", "@vault/Plan.md"]),
        text=texts,
    )
    def write_file(self, name: str, text: str) -> None:
        path = self.ws.journal.place(name)
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    @precondition(lambda self: self.files())
    @rule(one=any_one, text=texts)
    def append(self, one: int, text: str) -> None:
        with self.file(one).open("a") as file:
            file.write(f"\n{text}\n")

    @precondition(lambda self: self.files())
    @rule(one=any_one, line=any_one, text=words, copied=st.booleans())
    def insert_an_entry(self, one: int, line: int, text: str, copied: bool) -> None:
        path = self.file(one)
        lines = path.read_bytes().split(b"\n")
        entry = b"## 10:15 Typed by hand #finance\n" + text.encode()
        path.write_bytes(
            b"\n".join([*lines[: line % len(lines)], entry, *lines[line % len(lines) :]])
        )

    @precondition(lambda self: self.files())
    @rule(
        one=any_one,
        nth=st.integers(0, 5),
        heading=st.sampled_from([b"## 10:44 Another title #new", b"## no entry"]),
    )
    def change_a_heading(self, one: int, nth: int, heading: bytes) -> None:
        path = self.file(one)
        found = list(re.finditer(rb"^## \d.*$", path.read_bytes(), re.M))
        if found:
            start, end = found[nth % len(found)].span()
            path.write_bytes(path.read_bytes()[:start] + heading + path.read_bytes()[end:])

    @precondition(lambda self: self.files())
    @rule(one=any_one)
    def turn_into_crlf(self, one: int) -> None:
        path = self.file(one)
        path.write_bytes(path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))

    @precondition(lambda self: self.files())
    @rule(one=any_one, block=st.sampled_from(FRONT_MATTER))
    def change_front_matter(self, one: int, block: str) -> None:
        path = self.file(one)
        rest = re.sub(rb"\A---\n.*?^---\n", b"", path.read_bytes(), flags=re.S | re.M)
        path.write_bytes(block.encode() + rest)

    @precondition(lambda self: self.files())
    @rule(
        one=any_one,
        name=st.sampled_from(["2026-11-20.md", "area/Moved.md", "@sessions/2026-11-18.md"]),
    )
    def rename(self, one: int, name: str) -> None:
        path = self.ws.journal.place(name)
        path.parent.mkdir(exist_ok=True)
        self.file(one).rename(path)

    @precondition(lambda self: self.files())
    @rule(one=any_one, edited=st.booleans(), first=st.booleans())
    def copy(self, one: int, edited: bool, first: bool) -> None:
        path = self.file(one)
        name = f"{'0 ' if first else ''}{path.stem}.sync-conflict-20261121.md"
        data = path.read_bytes()  # ids hold no o
        path.with_name(name).write_bytes(data.replace(b"o", b"u") if edited else data)

    @precondition(lambda self: self.entries())
    @rule(one=any_one, to=any_one)
    def move_an_entry(self, one: int, to: int) -> None:
        place = self.pick(one).place
        assert place
        source = self.ws.journal.place(place.path)
        data = source.read_bytes()
        source.write_bytes(data[: place.start] + data[place.end :])
        with self.file(to).open("ab") as file:
            file.write(b"\n" + data[place.start : place.end])

    @rule()
    def unmount_or_mount(self) -> None:
        vault = self.roots["@vault"]
        with suppress(OSError):  # there may be neither
            vault.rename(vault.with_name("away")) if vault.exists() else vault.with_name(
                "away"
            ).rename(vault)

    @precondition(lambda self: self.files())
    @rule(one=any_one)
    def delete_file(self, one: int) -> None:
        self.file(one).unlink()

    # choosing

    def files(self) -> list[Path]:
        return sorted(
            file for root in (self.journal, *self.roots.values()) for file in root.rglob("*.md")
        )

    def file(self, one: int) -> Path:
        return self.files()[one % len(self.files())]

    def entries(self) -> list[Entry]:
        """In the order of the journal: ids are random, and a failing run must be repeatable."""
        found = find(self.ws, limit=100).entries
        return sorted(
            found, key=lambda e: (e.place.path, e.place.start) if e.place else ("", 0)
        )

    def pick(self, one: int) -> Entry:
        return self.entries()[one % len(self.entries())]


def kept(ws: Workspace) -> list[object]:
    """What an open index keeps in memory, beside what it must equal in the file."""
    index = ws.index
    return [
        dict(index.signatures()),
        index.vocabulary(),
        index.field_names(),
        index.document_counts(["redi", "hedg"]),
    ]


Journaling.TestCase.settings = settings(
    max_examples=examples(60, 6), stateful_step_count=12, deadline=None
)
test_an_incremental_index_equals_a_fresh_one = Journaling.TestCase


# -- what is kept, and what is made anew
# --------------------------------------------------------------


def found(ws: Workspace, phrase: str) -> list[str]:
    """What the next search finds that holds this phrase itself, not just beside it."""
    return [
        hit.entry.content
        for hit in search(ws, f'"{phrase}"', strategy="lexical", limit=100).hits
    ]


def vectors(ws: Workspace) -> set[bytes]:
    rowids = [rowid for (rowid,) in ws.index.file.db.execute("SELECT rowid FROM chunk")]
    return set(ws.index.vectors(rowids).values())


@pytest.fixture
def filled(ws: Workspace) -> Workspace:
    for number in range(12):
        save(
            ws,
            f"Entry number {number} about the {number}th cable.\n\nMore of it.",
            title=f"Cable {number}",
        )
    embed_pending(ws, budget_s=None)
    return ws


@pytest.fixture
def day_file(filled: Workspace) -> Path:
    return filled.config.journal / "2026-11-21.md"


def test_an_entry_takes_its_vector_along_to_another_file(
    filled: Workspace, day_file: Path
) -> None:
    before = vectors(filled)
    head, *blocks = re.split(rb"(?m)^(?=## )", day_file.read_bytes())
    day_file.write_bytes(head + b"".join(blocks[1:]))
    (day_file.parent / "elsewhere.md").write_bytes(blocks[0])
    assert sync_index(filled).changed == 2
    assert embed_pending(filled, budget_s=None) == 0
    assert vectors(filled) == before


def test_a_renamed_file_keeps_its_vectors(filled: Workspace, day_file: Path) -> None:
    day_file.rename(day_file.with_name("2026-11-20.md"))
    assert sync_index(filled).removed == 1
    assert embed_pending(filled, budget_s=None) == 0
    assert {entry.date for entry in find(filled).entries} == {"2026-11-20"}


def test_where_only_offsets_change_nothing_is_embedded(
    filled: Workspace, day_file: Path
) -> None:
    data = day_file.read_bytes()
    day_file.write_bytes(b"# 2026-11-21\n\n\n" + data.partition(b"\n")[2])
    assert sync_index(filled).changed == 1
    assert embed_pending(filled, budget_s=None) == 0
    assert found(filled, "7th") == ["Entry number 7 about the 7th cable.\n\nMore of it."]


def test_a_new_index_goes_on_where_a_rebuild_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "journal").mkdir()
    for number in range(90):
        (tmp_path / "journal" / f"{number}.md").write_text(f"# Cable {number}\n\nA cable.\n")
    monkeypatch.setattr(sync, "PART_S", -1.0)
    steps: list[tuple[str, int, int]] = []

    def die(_: str, done: int, __: int) -> None:
        if done >= 40:
            os.kill(os.getpid(), signal.SIGKILL)

    def work() -> None:
        with open_home(tmp_path) as ws:
            rebuild(ws, progress=die)

    assert was_killed(started(work))
    with open_home(tmp_path) as ws:
        assert len(ws.index.signatures()) == 40
        assert rebuild(ws, progress=lambda *step: steps.append(step)).entries == 90
        assert [one for one in steps if one[0] == "reading"] == [
            ("reading", done, 90) for done in (60, 80, 90)
        ]
        steps.clear()
        rebuild(ws, progress=lambda *step: steps.append(step))
        assert steps[0] == ("reading", 1, 90), "a whole index is made anew"


def test_another_model_embeds_everything_again(filled: Workspace) -> None:
    before = vectors(filled)
    filled.close()
    with open_home(filled.config.home, embedder=HashingEmbedder("another")) as other:
        assert search(other, "cable").mode == "hybrid"
        embed_pending(other, budget_s=None)
        assert other.index.counts()[3:5] == (0, 0)
        assert len(vectors(other)) == 12
        other.embedder.dimensions = 16  # type: ignore[misc]
        other.embedder.name = "smaller"  # type: ignore[misc]
        assert rebuild(other).embedded == 12
        assert {len(vector) for vector in vectors(other)} == {16}
    assert {len(vector) for vector in before} == {32}


def test_front_matter_and_its_tags_follow_the_file(ws: Workspace) -> None:
    note = ws.config.journal / "Plan.md"
    note.write_text("# Plan\n\nPaint the fence.\n")
    assert found(ws, "fence")
    note.write_text("---\ntags: [home]\n---\n# Plan\n\nPaint the fence.\n")
    assert [entry.tags for entry in find(ws).entries] == [("home",)]
    assert embed_pending(ws, budget_s=None) == 1  # its tags are embedded with it
    note.write_text("---\ntags: [garden]\n---\n# Plan\n\nPaint the fence.\n")
    assert [hit.entry.tags for hit in search(ws, "tag:garden").hits] == [("garden",)]
    assert rebuild(ws).embedded == 0
    note.write_text("# Plan\n\nPaint the fence.\n")
    assert [entry.tags for entry in find(ws).entries] == [()]


def test_an_endless_embedding_run_ends_when_the_text_reads_otherwise(filled: Workspace) -> None:
    """As after an upgrade that makes other text of the same bytes."""
    with filled.index.writing():
        filled.index.file.db.execute("UPDATE chunk SET hash = hash + 1, vector = 0")
    assert embed_pending(filled, budget_s=None) == 12
    assert filled.index.counts()[3:5] == (0, 0)


def test_a_changed_zone_moves_what_was_typed_without_one(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    (ws.config.journal / "2026-11-21.md").write_text(
        "## 10:15 Called the bank\nthey call back\n"
    )
    instants = set()
    try:
        for zone in ("UTC", "Asia/Tokyo", "America/New_York"):
            monkeypatch.setenv("TZ", zone)
            time.tzset()
            [entry] = find(ws).entries
            assert entry.time == "10:15"
            instants.add(entry.at)
    finally:
        monkeypatch.undo()
        time.tzset()
    assert len(instants) == 3


def test_a_conflict_copy_is_no_second_entry_and_an_edited_one_is_told_apart(
    filled: Workspace, day_file: Path
) -> None:
    copy = day_file.with_name("2026-11-21.sync-conflict-20261122.md")
    copy.write_bytes(day_file.read_bytes())
    assert len(found(filled, "cable")) == 12
    assert filled.index.issues() == ()
    copy.write_bytes(day_file.read_bytes().replace(b"the 7th cable", b"the 7th wire"))
    assert sorted(text.splitlines()[0] for text in found(filled, "7th")) == [
        "Entry number 7 about the 7th cable.",
        "Entry number 7 about the 7th wire.",
    ]
    [issue] = filled.index.issues()
    assert (issue.path, issue.code) == (copy.name, "duplicate-id")
    copy.write_bytes(day_file.read_bytes().replace(b"Cable 5", b"Wire 5"))
    assert {"Cable 5", "Wire 5"} <= {entry.title for entry in find(filled).entries}
    copy.write_bytes(day_file.read_bytes().replace(b"the 7th cable", b"the 7th wire"))
    day_file.unlink()
    assert len(found(filled, "cable")) == 12
    assert len(found(filled, "7th wire")) == 1
    assert filled.index.issues() == ()


def test_the_id_of_an_edited_copy_follows_the_date_of_its_file(ws: Workspace) -> None:
    journal = ws.config.journal
    (journal / "a.md").write_text("## 10:00 One\n<!-- syn:20261121-aaaabbbb -->\n")
    for day, expected in (("2026-10-03", "20261003"), ("2026-10-04", "20261004")):
        copy = f"---\ndate: {day}\n---\n## 10:00 Another\n<!-- syn:20261121-aaaabbbb -->\n"
        (journal / "copy.md").write_text(copy)
        ids = {entry.title: entry.id for entry in find(ws).entries}
        assert ids["One"] == "20261121-aaaabbbb"
        assert ids["Another"].startswith(expected)


# -- seeing that a file changed
# -----------------------------------------------------------------------


def test_an_edit_with_the_same_size_and_time_is_found(ws: Workspace) -> None:
    note = ws.config.journal / "note.md"
    note.write_text("the gate is green\n")
    for older, newer in (("green", "black"), ("black", "white"), ("white", "brown")):
        assert found(ws, older) == [f"the gate is {older}\n".strip()]
        status = note.stat()
        with note.open("r+") as file:
            file.write(f"the gate is {newer}\n")
        os.utime(note, ns=(status.st_atime_ns, status.st_mtime_ns))
        assert found(ws, newer) == [f"the gate is {newer}"]
        assert found(ws, older) == []


SECOND = 1_000_000_000
STAMP = Stamp("a.md", mtime_ns=10 * SECOND, ctime_ns=10 * SECOND, size=5, inode=1)


@pytest.mark.parametrize(
    ("stamp", "scanned_s", "must_read"),
    [
        (STAMP, 12.1, False),
        (
            STAMP,
            11.9,
            True,
        ),  # changed less than two seconds before it was read: its stamp proves nothing
        (STAMP, 9, True),
        (STAMP._replace(mtime_ns=1), 60, True),
        (STAMP._replace(ctime_ns=1), 60, True),
        (STAMP._replace(size=6), 60, True),
        (STAMP._replace(inode=2), 60, True),
        (STAMP._replace(path="b.md"), 60, True),
    ],
)
def test_a_stamp_is_trusted_only_where_it_proves_something(
    stamp: Stamp, scanned_s: float, must_read: bool
) -> None:
    signature = STAMP.signature if STAMP.is_settled(int(scanned_s * SECOND)) else None
    known = {STAMP.path: signature}
    assert (known.get(stamp.path) != stamp.signature) == must_read


def test_an_unchanged_file_is_not_indexed_again(filled: Workspace, day_file: Path) -> None:
    sync_index(filled)
    before = filled.index.file.db.total_changes()
    day_file.chmod(0o640)
    assert sync_index(filled).changed == 0
    assert filled.index.file.db.total_changes() == before


def test_a_save_beside_other_changes_leaves_them_to_the_next_search(
    filled: Workspace, day_file: Path
) -> None:
    other = day_file.with_name("2026-11-20.md")
    other.write_text("## 9:00 Other\na zebra\n")
    assert found(filled, "zebra") == ["a zebra"]
    other.write_text("## 9:00 Other\na giraffe\n")
    (other.parent / "new.md").write_text("an okapi")
    saved = save(filled, "a lion")
    assert filled.index.resolve(saved.id).entry.title == "a lion"
    assert [found(filled, animal) for animal in ("giraffe", "okapi", "lion")] == [
        ["a giraffe"],
        ["an okapi"],
        ["a lion"],
    ]
    other.unlink()
    delete(filled, saved.id)
    assert [found(filled, animal) for animal in ("giraffe", "okapi", "lion")] == [
        [],
        ["an okapi"],
        [],
    ]


def test_what_is_excluded_stays_out_when_it_is_saved_to(tmp_path: Path) -> None:
    with open_home(tmp_path, day_file="diary/%Y-%m-%d.md", exclude=("diary/**",)) as ws:
        for text in ("a zebra", "a giraffe"):
            assert "exclude" in save(ws, text).notices[0]
            assert found(ws, text) == []
    assert len((tmp_path / "journal" / "diary" / "2026-11-21.md").read_text().splitlines()) > 4


def test_at_tags_come_and_go_with_the_setting_and_change_no_file(tmp_path: Path) -> None:
    def names(ws: Workspace) -> dict[str, int]:
        return dict(find(ws, filters=Filters(tags=("ida",)), facets=True).facets.tags)

    with open_home(tmp_path) as ws:
        first = save(ws, "Lunch with @Ida.", tags=["food"]).id
        assert find(ws, filters=Filters(tags=("ida",))).total == 0
    before = {file: file.read_bytes() for file in (tmp_path / "journal").iterdir()}
    with open_home(tmp_path, at_tags=True) as ws:
        assert names(ws) == {"food": 1, "ida": 1}
        assert before == {file: file.read_bytes() for file in (tmp_path / "journal").iterdir()}
        update(ws, first, add_tags=["paid"])
        assert names(ws) == {"food": 1, "ida": 1, "paid": 1}
        rebuild(ws)
        assert names(ws) == {"food": 1, "ida": 1, "paid": 1}
        assert "#ida" not in next(iter(before)).read_text()
    with open_home(tmp_path) as ws:
        assert find(ws, filters=Filters(tags=("ida",))).total == 0


def test_a_rebuild_also_embeds_what_another_saved_meanwhile(tmp_path: Path) -> None:
    other = open_home(tmp_path, embedder=HashingEmbedder(broken=True))
    saved: list[object] = []

    def save_once(phase: str, *_: int) -> None:
        if phase == "embedding" and not saved:
            saved.append(save(other, "meanwhile"))

    with open_home(tmp_path) as ws, other:
        for number in range(70):
            save(ws, f"note {number}")
        rebuild(ws, fresh=True, progress=save_once)
        assert saved and ws.index.counts()[3:5] == (0, 0)


def test_a_text_that_the_model_fails_on_is_found_by_words(tmp_path: Path) -> None:
    class Failing(HashingEmbedder):
        def embed_passage(self, text: str) -> Meaning:
            if "poison" in text:
                raise ModelError("The model failed on a text.")
            return super().embed_passage(text)

    with open_home(tmp_path, embedder=Failing()) as ws:
        for text in ("an aardvark", "a poisoned well", "a badger"):
            save(ws, text)
        assert found(ws, "poisoned") == ["a poisoned well"]
        assert ws.index.counts()[3:5] == (1, 1)
        report = rebuild(ws, fresh=True)
        assert (report.embedded, ws.index.counts()[3:5]) == (2, (1, 1))
        assert "cannot read 1 piece of text" in report.notices[0]


@pytest.mark.parametrize("eol", ["\n", "\r\n"])
def test_who_saves_or_restores_into_a_file_that_is_left_out_is_told(
    filled: Workspace, day_file: Path, eol: str
) -> None:
    saved = save(filled, "a zebra")
    assert saved.notices == ()
    delete(filled, saved.id)
    left_out = "---\nsynaptic: false\n---\n" + day_file.read_text()
    day_file.write_bytes(left_out.replace("\n", eol).encode())
    for receipt in (restore(filled, saved.id), save(filled, "a giraffe")):
        assert "`synaptic: false`" in receipt.notices[0] and day_file.name in receipt.notices[0]
    assert found(filled, "a zebra") == [] and "a zebra" in day_file.read_text()
    day_file.write_text(day_file.read_text().replace("synaptic: false", "mood: fine"))
    assert found(filled, "a zebra") == ["a zebra"]


def test_a_day_file_behind_a_link_is_followed_after_each_save(tmp_path: Path) -> None:
    (tmp_path / "journal" / "days").mkdir(parents=True)
    (tmp_path / "journal" / "2026-11-21.md").symlink_to("days/today.md")
    (tmp_path / "journal" / "days" / "today.md").write_text("## 8:00 Breakfast\ntoast\n")
    with open_home(tmp_path) as ws:
        assert set(found(ws, "toast")) == {"toast"}
        for text in ("a zebra", "a giraffe"):
            save(ws, text)
            assert found(ws, text) == [text]


def test_searching_changes_no_file(filled: Workspace, day_file: Path) -> None:
    (day_file.parent / "odd.md").write_bytes(
        b"\xef\xbb\xbf## 9:15 odd\r\n\0\xff ```\r<!-- syn:nonsense\n"
    )
    before = {
        path: (path.read_bytes(), path.stat().st_mtime_ns) for path in day_file.parent.iterdir()
    }
    search(filled, "cable")
    rebuild(filled)
    assert {
        path: (path.read_bytes(), path.stat().st_mtime_ns) for path in day_file.parent.iterdir()
    } == before


def test_a_file_that_changes_while_it_is_read_is_read_again(
    filled: Workspace, day_file: Path
) -> None:
    edits = [
        lambda: day_file.write_bytes(
            day_file.read_bytes().replace(b"the 3th cable", b"no wire at all")
        ),
        lambda: day_file.rename(day_file.with_name("2026-11-20.md")),
    ]

    def read(_: SyncReport) -> list[Entry]:
        rowids = filled.index.list_rows(Filters(), order="oldest", limit=20)
        if edits:
            edits.pop(0)()
        return list(read_entries(filled, rowids).values())

    entries = in_step(filled, read)
    assert edits == []
    assert {entry.date for entry in entries} == {"2026-11-20"}
    assert sum("no wire" in entry.content for entry in entries) == 1


def test_a_file_that_never_rests_is_an_error(
    filled: Workspace, day_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("synaptic.workspace.sync.PATIENCE_S", 0)

    def read(_: SyncReport) -> object:
        day_file.write_bytes(b"\n" + day_file.read_bytes())
        return read_entries(filled, filled.index.list_rows(Filters(), order="newest", limit=1))

    with pytest.raises(JournalError, match="faster than it can be read"):
        in_step(filled, read)


def test_a_file_that_rests_after_many_edits_is_read(
    filled: Workspace, day_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("synaptic.workspace.sync.PATIENCE_S", 600)
    edits = iter(range(12))

    def read(_: SyncReport) -> dict[int, Entry]:
        row = filled.index.list_rows(Filters(), order="newest", limit=1)
        if next(edits, None) is not None:
            day_file.write_bytes(b"\n" + day_file.read_bytes())
        return read_entries(filled, row)

    assert len(in_step(filled, read)) == 1


def test_a_search_beside_a_writer_answers_from_what_there_is(
    filled: Workspace, day_file: Path
) -> None:
    with open_home(filled.config.home) as other, other.index.writing():
        day_file.write_bytes(day_file.read_bytes() + b"\n## 23:00 Late\na giraffe\n")
        answer = search(filled, "cable giraffe", limit=20, embed_ms=0)
        listings = [find(filled), recent(filled), get(filled, [answer.hits[0].entry.id])]
    assert len(answer.hits) == 12
    for said in (answer, *listings):
        assert any("latest changes may be missing" in notice for notice in said.notices)
    assert found(filled, "giraffe") == ["a giraffe"]


def many_files(ws: Workspace) -> list[str]:
    """The titles in 50 files, the newest first; the last two change the journal on one day."""
    for number in range(50):
        path = ws.config.journal / f"note-{number:02d}.md"
        path.write_text(f"# Note {number}\n\nThe {number}th cable.\n")
        os.utime(path, (1_700_000_000 + 86_400 * min(number, 48),) * 2)
    return [f"Note {number}" for number in reversed(range(50))]


def test_who_is_in_a_hurry_reads_the_newest_files_and_the_next_goes_on(ws: Workspace) -> None:
    titles = many_files(ws)

    def listed(**hurry: float) -> tuple[int, list[str]]:
        told = in_step(
            ws,
            lambda report: (report, ws.index.list_rows(Filters(), order="newest", limit=60)),
            **hurry,
        )
        return told[0].unread, [read_entries(ws, [row])[row].title for row in told[1]]

    assert listed(within_s=0) == (30, titles[:20])
    assert listed(within_s=0) == (10, titles[:40])
    assert listed(within_s=0) == listed(within_s=0) == (0, titles)
    os.utime(ws.config.journal / "note-00.md")
    assert listed(within_s=0)[0] == 0 and listed() == (0, ["Note 0", *titles[:-1]])


def test_who_is_in_a_hurry_leaves_a_new_file_that_takes_long(ws: Workspace) -> None:
    many_files(ws)
    long = "Many words of a long year.\n" * 50_000
    path = ws.config.journal / "long.md"
    path.write_text(f"# Long\n\n{long}")
    assert in_step(ws, lambda report: report.unread, within_s=600) == 1
    assert in_step(ws, lambda report: report.unread, within_s=600) == 1
    assert in_step(ws, lambda report: report.changed) == 1
    path.write_text(f"# Longer\n\n{long}")
    assert in_step(ws, lambda report: report.changed, within_s=0) == 1


def test_who_is_in_a_hurry_does_not_wait_for_the_process_that_fills_a_new_index(
    ws: Workspace,
) -> None:
    titles = many_files(ws)
    with open_home(ws.config.home) as other, other.index.writing():
        report, count = in_step(
            ws, lambda report: (report, ws.index.counts().entries), within_s=0
        )
        assert (report.unread, count) == (30, 20) and "kept in memory" in report.notices[0]
    ws.index.file.close()
    assert (
        sync_index(ws).changed == 50 and [e.title for e in find(ws, limit=60).entries] == titles
    )


@contextmanager
def held_for_a_while(home: Path) -> Iterator[None]:
    """Another connection writes the index when the block begins, and for a second more."""
    is_held = threading.Event()

    def write() -> None:
        with open_home(home) as other, other.index.writing():
            is_held.set()
            time.sleep(1)

    writer = threading.Thread(target=write)
    writer.start()
    is_held.wait()
    yield
    writer.join()


def test_a_hand_edit_is_read_once_the_process_that_writes_is_done(
    filled: Workspace, day_file: Path
) -> None:
    assert len(search(filled, "cable", limit=20, embed_ms=0).hits) == 12
    with held_for_a_while(filled.config.home):
        day_file.write_bytes(day_file.read_bytes().replace(b"cable", b"giraffe cable"))
        hits = search(filled, "cable", limit=20, embed_ms=0).hits
    assert all("giraffe cable" in hit.entry.content for hit in hits)


def test_who_is_in_a_hurry_does_not_wait_long_for_the_process_that_writes(
    filled: Workspace, day_file: Path
) -> None:
    row = filled.index.list_rows(Filters(), order="newest", limit=1)
    with open_home(filled.config.home) as other, other.index.writing():
        day_file.write_bytes(b"\n" + day_file.read_bytes())
        with pytest.raises(Busy, match=r"not done writing to the index within 0\.05 s"):
            in_step(filled, lambda _: read_entries(filled, row), within_s=0)


def test_an_id_is_not_missing_because_another_process_writes(
    filled: Workspace, day_file: Path
) -> None:
    known = find(filled, limit=1).entries[0].id
    entry = "\n## 23:00 Late\n<!-- syn:20261120-g1raffe9 -->\na giraffe\n"
    with held_for_a_while(filled.config.home):
        day_file.write_bytes(day_file.read_bytes() + entry.encode())
        both = get(filled, [known, "g1raffe9"])
    assert [entry.id for entry in both.entries] == [known, "20261120-g1raffe9"]
    assert both.notices == ()


# -- a damaged, vanished or foreign index
# ---------------------------------------------------------------


def remove_alone(index: Path) -> None:
    index.unlink()


def remove_all(index: Path) -> None:
    for path in index.parent.glob("index.db*"):
        path.unlink()


def truncate(index: Path) -> None:
    os.truncate(index, index.stat().st_size // 2)


def empty(index: Path) -> None:
    os.truncate(index, 0)


def garble(index: Path) -> None:
    with index.open("r+b") as file:
        file.write(b"\x13garbage" * (index.stat().st_size // 8))


def exchange(index: Path) -> None:
    for path in index.parent.glob("index.db*"):
        path.unlink()
    index.write_bytes(b"this is no database, " * 300)


DAMAGES = (remove_alone, remove_all, truncate, empty, garble, exchange)


@pytest.mark.sweep
@pytest.mark.parametrize("flushed", [True, False])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_index_under_an_open_workspace_is_made_anew(
    filled: Workspace, day_file: Path, damage: Callable[[Path], None], flushed: bool
) -> None:
    if flushed:
        filled.index.compact()
    damage(filled.config.state / "index.db")
    day_file.write_bytes(day_file.read_bytes().replace(b"the 3th cable", b"the giraffe"))
    assert len(found(filled, "cable")) == 12  # the word stands in every title
    assert found(filled, "giraffe") == ["Entry number 3 about the giraffe.\n\nMore of it."]
    save(filled, "An okapi came by.")
    with open_home(filled.config.home) as other:
        assert found(other, "okapi") == ["An okapi came by."]
        assert search(other, "okapi").mode == "hybrid"
    assert verify_index(filled)
    assert filled.index.file.check(whole=True) is None


def test_the_index_shrinks_with_the_journal_while_others_read_it(ws: Workspace) -> None:
    notes = [ws.config.journal / f"note {number}.md" for number in range(240)]
    for number, note in enumerate(notes):
        note.write_text(
            "".join(
                f"Cable {number}-{line} leads to the {number * line}th socket.\n"
                for line in range(9)
            )
        )
    sync_index(ws)
    embed_pending(ws, budget_s=None)
    before = ws.index.file.db.execute("PRAGMA page_count").get
    with open_home(ws.config.home) as reader, reader.index.file.transaction():
        assert reader.index.counts()[1] == 240
        for some in range(0, 220, 20):
            for note in notes[some : some + 20]:
                note.unlink()
            assert sync_index(ws).removed == 20
        assert reader.index.counts()[1] == 240
        assert [
            passage.entry_rowid for passage in reader.index.passages(range(1, 241)).values()
        ]
    pages, free = (
        ws.index.file.db.execute(f"PRAGMA {name}").get
        for name in ("page_count", "freelist_count")
    )
    assert pages < before / 2
    assert free < pages / 8
    assert ws.index.file.check(whole=True) is None
    assert verify_index(ws)
    assert len(found(ws, "leads to")) == 20


def test_a_damage_that_no_search_meets_is_found_by_a_check(filled: Workspace) -> None:
    filled.close()
    path = filled.config.state / "index.db"
    data = bytearray(path.read_bytes())
    with open_home(filled.config.home) as again:
        root = again.index.file.db.execute(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'chunk_vector'"
        ).get
        size = again.index.file.db.execute("PRAGMA page_size").get
    data[(root - 1) * size : root * size] = b"\xff" * size
    path.write_bytes(data)
    with open_home(filled.config.home) as again:
        assert not verify_index(again)
        assert verify_index(again)
        assert len(found(again, "cable")) == 12


def test_an_index_of_another_version_is_filled_again(filled: Workspace) -> None:
    db = filled.index.file.db
    db.execute(
        "CREATE TABLE of_the_future (x); DROP TABLE supersedes; PRAGMA user_version = 4711"
    )
    filled.close()
    with open_home(filled.config.home) as again:
        assert len(found(again, "cable")) == 12
        assert search(again, "cable").mode == "hybrid"
        tables = {
            row[0] for row in again.index.file.db.execute("SELECT name FROM sqlite_schema")
        }
        assert "of_the_future" not in tables and "supersedes" in tables
        assert again.index.file.check(whole=True) is None

"""The index follows the journal: whatever happened to the files, it says what a fresh one would say."""

from __future__ import annotations

import re
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from homes import Clock, open_home
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule
from pictures import picture

from synaptic import delete, find, rebuild, restore, save, update
from synaptic.errors import NotFound, Refused
from synaptic.models import Entry
from synaptic.sync import embed_pending, sync

# -- the law ----------------------------------------------------------------------------------------

LONG = "\n\n".join(f"Paragraph {n} tells of cables, switches and the {n}th floor. " * 6 for n in range(6))
LINES = [
    "Restarted the billing worker.", "see #ops and #db/postgres", "## Why", "# Part two", "## 11:45 lunch", "```",
    "## 12:05 decision: Keep redis #db", "", "---", "<!-- a remark -->", "naïve café 東京", LONG,
    "<!-- syn:20261121-abcdefgh importance=7 files=a.py,src/b.py -->", "## 9:15 issue: Printer jams",
]  # fmt: skip
FRONT_MATTER = [
    "---\ntags: [home, plans]\naliases: [Plan B]\n---\n", "---\ndate: 2026-10-03\n---\n", "---\ntitle: Other\n---\n",
    "---\nsynaptic: false\n---\n", "---\ndate: [\n---\n", "---\ntags: garden\ndate: 2026-10-05\n---\n", "",
]  # fmt: skip
texts = st.lists(st.sampled_from(LINES), min_size=1, max_size=4).map("\n".join)
words = texts.filter(lambda text: re.search(r"\w", text))
any_one = st.integers(0, 99)


class Journaling(RuleBasedStateMachine):
    """Everything that people and programs do to a journal, with a sync now and then."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.clock = Clock()
        self.ws = open_home(self.folder / "home", clock=self.clock)
        self.journal = self.ws.config.journal
        self.fresh = open_home(self.folder / "other", journal=self.journal, clock=self.clock)
        save(self.ws, "Chose redis over memcached.", type="decision", tags=["db"], force=True)
        save(self.ws, LONG, importance=8, files=["src/a.py"], force=True)
        (self.journal / "Garden.md").write_text("# Garden #home\n\nThe hedge by the road must be cut in June.\n")
        sync(self.ws)

    def teardown(self) -> None:
        try:
            self.compare()
        finally:
            self.ws.close()
            self.fresh.close()
            shutil.rmtree(self.folder)

    def compare(self) -> None:
        sync(self.ws)
        embed_pending(self.ws, budget_s=None)
        rebuild(self.fresh, fresh=True)
        incremental, fresh = picture(self.ws.index), picture(self.fresh.index)
        for part, expected in fresh.items():
            assert incremental[part] == expected
        assert self.ws.index.orphans() == 0

    # what programs do

    @rule(text=words, kind=st.sampled_from(["note", "decision"]), day=st.integers(0, 2), after=st.none() | any_one)
    def save(self, text: str, kind: str, day: int, after: int | None) -> None:
        self.clock.forward(minutes=7)
        older = [] if after is None or not self.entries() else [self.pick(after).id]
        at = self.clock.now.replace(day=21 - day)
        save(self.ws, text, type=kind, tags=["saved"], at=at, supersedes=older, force=True)

    @precondition(lambda self: self.entries())
    @rule(one=any_one, content=st.none() | words, title=st.none() | st.just("Renamed"), tag=st.sampled_from("ab"))
    def update(self, one: int, content: str | None, title: str | None, tag: str) -> None:
        with suppress(Refused):
            update(self.ws, self.pick(one).id, content=content, title=title, add_tags=[tag], remove_tags=["saved"])

    @precondition(lambda self: self.entries())
    @rule(one=any_one)
    def delete(self, one: int) -> None:
        with suppress(Refused):
            delete(self.ws, self.pick(one).id)

    @precondition(lambda self: self.ws.journal.trashed())
    @rule(one=any_one)
    def restore(self, one: int) -> None:
        pieces = self.ws.journal.trashed()
        with suppress(NotFound):  # nothing older than what stands there
            restore(self.ws, pieces[one % len(pieces)].id)

    @rule()
    def sync(self) -> None:
        sync(self.ws)

    @rule()
    def embed_some(self) -> None:
        embed_pending(self.ws, budget_s=0, at_least=2)

    @rule()
    def rebuild(self) -> None:
        rebuild(self.ws)

    # what people and their other programs do

    @rule(name=st.sampled_from(["2026-11-19.md", "Plan.md", "area/Kitchen.md"]), text=texts)
    def write_file(self, name: str, text: str) -> None:
        (self.journal / name).parent.mkdir(exist_ok=True)
        (self.journal / name).write_text(text)

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
        path.write_bytes(b"\n".join([*lines[: line % len(lines)], entry, *lines[line % len(lines) :]]))

    @precondition(lambda self: self.files())
    @rule(one=any_one, nth=st.integers(0, 5), heading=st.sampled_from([b"## 10:44 Another title #new", b"## no entry"]))
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
    @rule(one=any_one, name=st.sampled_from(["2026-11-20.md", "Moved.md", "area/Moved too.md"]))
    def rename(self, one: int, name: str) -> None:
        (self.journal / name).parent.mkdir(exist_ok=True)
        self.file(one).rename(self.journal / name)

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
        source = self.journal / place.path
        data = source.read_bytes()
        source.write_bytes(data[: place.start] + data[place.end :])
        with self.file(to).open("ab") as file:
            file.write(b"\n" + data[place.start : place.end])

    @precondition(lambda self: self.files())
    @rule(one=any_one)
    def delete_file(self, one: int) -> None:
        self.file(one).unlink()

    # choosing

    def files(self) -> list[Path]:
        return sorted(self.journal.rglob("*.md"))

    def file(self, one: int) -> Path:
        return self.files()[one % len(self.files())]

    def entries(self) -> list[Entry]:
        """In the order of the journal: ids are random, and a failing run must be repeatable."""
        found = find(self.ws, limit=100).entries
        return sorted(found, key=lambda e: (e.place.path, e.place.start) if e.place else ("", 0))

    def pick(self, one: int) -> Entry:
        return self.entries()[one % len(self.entries())]


Journaling.TestCase.settings = settings(max_examples=40, stateful_step_count=12, deadline=None)
test_an_incremental_index_equals_a_fresh_one = Journaling.TestCase

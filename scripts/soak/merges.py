"""Random merges of a journal file in three versions, against what a person would expect of
them.

The promise: every entry that either side added is there once; what one side deleted and the
other left alone is gone; where both changed one entry, both texts stand there; changes of
different entries never conflict; no id stands there twice without a conflict, also where both
sides added one entry; nothing that is private becomes readable. Every fiftieth merge goes
through git with the driver that `synaptic git-setup` installs.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from attack import Broken, attack, check, git, ids

from synaptic import Config
from synaptic.features.sharing.merge import merge
from synaptic.features.sharing.merge_driver import set_up_merge_driver
from synaptic.notes.privacy import mask_private
from synaptic.notes.reading import parse_entries

DAY = "2026-11-21.md"
THROUGH_GIT = 50
_WORD = re.compile(r"w\d{5}x")
_PRIVATE_WORD = re.compile(r"p\d{5}x")
_MARKS = (b"<<<<<<<", b"=======", b">>>>>>>")


@dataclass(frozen=True)
class Note:
    """One entry of a version: its paragraphs, each with a word that stands nowhere else."""

    at: str
    title: str
    paragraphs: tuple[str, ...]
    id: str = ""
    private: str = ""

    def text(self) -> str:
        comment = f"<!-- syn:{self.id} -->\n" if self.id else ""
        body = "\n\n".join([*self.paragraphs, self.private]).strip()
        return f"## {self.at} {self.title}\n{comment}\n{body}\n"

    @property
    def words(self) -> set[str]:
        return set(_WORD.findall(" ".join([self.title, *self.paragraphs])))


class Author:
    """Writes entries, edits and private passages; every word with a number is new."""

    def __init__(self, choose: random.Random) -> None:
        self.choose, self.count = choose, 0

    def word(self, letter: str = "w") -> str:
        self.count += 1
        return f"{letter}{self.count:05d}x"

    def paragraph(self) -> str:
        shape = self.choose.choice(
            (
                "Some {} text.",
                "- one {}\n- two",
                "```\n## 10:00 {} in a fence\n```",
                "### Part\n\nWith {}.",
                "Same text {}.",
                "A `<private>` in code {}.",
                "> quoted {}\n> twice",
                "    indented {}",
            )
        )
        return shape.format(self.word())

    def passage(self) -> str:
        """A private passage. Its words begin with `p`."""
        shape = self.choose.choice(
            (
                "<private>{}</private>",
                "<private>\n{}\n\n{}\n</private>",
                "<private>{}\n\n## 11:00 {}\n\nmore\n</private>",
                "before <private>{}</private> behind",
                "<private>\n```\n{}\n```\n</private>",
            )
        )
        return shape.format(*(self.word("p") for _ in range(shape.count("{}"))))

    def note(self) -> Note:
        choose = self.choose
        id = f"20261121-{choose.getrandbits(32):08x}"
        title = choose.choice(("Same title", "Title {}", "decision: Chose {}"))
        return Note(
            f"{choose.randrange(8, 20):02d}:{choose.randrange(60):02d}",
            title.format(self.word()),
            tuple(self.paragraph() for _ in range(choose.randrange(1, 5))),
            id if choose.random() < 0.7 else "",
            self.passage() if choose.random() < 0.15 else "",
        )

    def edited(self, note: Note, part: int) -> Note:
        """With another paragraph in this place, which may be below the last one, or another
        private passage.
        """
        if note.private and self.choose.random() < 0.4:
            return replace(note, private=self.passage())
        paragraphs = list(note.paragraphs)
        paragraphs[part : part + 1] = [self.paragraph()]
        return replace(note, paragraphs=tuple(paragraphs))


@dataclass
class Side:
    """One version after its changes, and what it did to the notes of the base, by number."""

    notes: list[Note]
    changed: dict[int, Note | None]
    added: list[Note]


def trial(number: int, choose: random.Random, folder: Path) -> int:
    """One merge."""
    author = Author(choose)
    base = sorted((author.note() for _ in range(choose.randrange(7))), key=lambda note: note.at)
    shared = [note for note in [author.note()] if note.id and choose.random() < 0.4]
    ours = _changed(author, base, shared)
    theirs = _changed(author, base, shared)
    titles = ("# 2026-11-21\n\n", "", "---\ntags: [home]\n---\n\n# 2026-11-21\n\n")
    title = choose.choice(titles)
    texts = [_written(title, notes, choose) for notes in (base, ours.notes, theirs.notes)]
    if number % THROUGH_GIT:
        done = merge(texts[0], texts[1], texts[2], DAY, "%Y-%m-%d.md")
        data, conflicts = done.data, done.conflicts > 0
    else:
        data, conflicts = _through_git(folder, texts)
    try:
        _judge(data, conflicts, base, (ours, theirs))
        _judge_private(data, base, (ours, theirs))
        known = {line.strip() for text in texts for line in text.splitlines()}
        for line in data.splitlines():
            own = line.strip() not in known and line[:7] not in _MARKS
            check(not own, f"The merge wrote a line of its own: {line!r}")
    except Broken as broken:
        way = "merge" if number % THROUGH_GIT else "git"
        raise Broken(f"{broken} ({way})\n{texts}\n{data!r}") from None
    return 1


def _changed(author: Author, base: Sequence[Note], shared: Sequence[Note]) -> Side:
    choose = author.choose
    notes: list[Note] = []
    changed: dict[int, Note | None] = {}
    for place, note in enumerate(base):
        kind = choose.random()
        if kind < 0.15:
            changed[place] = None
            continue
        if kind < 0.35:
            changed[place] = note = author.edited(
                note, choose.randrange(len(note.paragraphs) + 1)
            )
        notes.append(note)
    added = [*shared, *(author.note() for _ in range(choose.randrange(4)))]
    notes += added
    if choose.random() < 0.5:
        notes.sort(key=lambda note: note.at)
    return Side(notes, changed, added)


def _written(title: str, notes: Sequence[Note], choose: random.Random) -> bytes:
    text = title + "\n".join(note.text() for note in notes)
    return (text if choose.random() < 0.9 else text.rstrip("\n")).encode()


def _judge(data: bytes, conflicts: bool, base: list[Note], sides: tuple[Side, Side]) -> None:
    all_notes = _all_notes(base, sides)
    headings = any("## 11:00" in note.private for note in all_notes)
    # passages that hide headings are left to git's merge by lines
    by_git = clashes = conflicts and headings
    twice = max(ids(data).values(), default=0) > 1
    check(conflicts or not twice, "An id stands there twice, without a conflict")

    def stands(words: set[str], *, maybe_twice: bool = by_git) -> None:
        for word in words:
            count = data.count(word.encode())
            check(count, "A text is lost")
            check(count == 1 or maybe_twice, f"A text stands there {count} times")

    for side in sides:
        for note in side.added:
            stands(note.words)
    for place, note in enumerate(base):
        one, other = (side.changed.get(place, note) for side in sides)
        if note in (one, other) or one == other:
            left = other if one == note else one
            wanted = left.words if left else set()
            stands(wanted)
            for word in note.words - wanted:
                back = word.encode() in data and not by_git
                check(not back, "A text that one side took away is back")
            continue
        for changed in (one, other):
            if changed:
                stands(changed.words - note.words, maybe_twice=True)
        if one and other:
            clashes = True
            stands(one.words & other.words, maybe_twice=True)
    check(clashes or not conflicts, "A conflict, though no entry was changed on both sides")


def _all_notes(base: list[Note], sides: tuple[Side, Side]) -> list[Note]:
    return [*base, *sides[0].notes, *sides[1].notes]


def _judge_private(data: bytes, base: list[Note], sides: tuple[Side, Side]) -> None:
    """No private word can be read, and none is lost but by an edit."""
    shown = mask_private(data).decode("latin-1")
    parsed = parse_entries(data, DAY, mtime=datetime(2026, 11, 21, tzinfo=UTC)).entries
    said = " ".join(f"{entry.title} {entry.content}" for entry in parsed)
    read = _PRIVATE_WORD.findall(f"{shown} {said}")
    check(not read, f"A private text can be read after the merge: {read}")
    kept = {note.private for side in sides for note in side.added}
    for place, note in enumerate(base):
        versions = [side.changed.get(place, note) for side in sides]
        edited = {left.private for left in versions if left and left.private != note.private}
        kept |= edited or {note.private if all(versions) else ""}
    for line in "\n".join(kept).split("\n"):
        check(line.encode() in data, "A private text is lost")


def _through_git(folder: Path, texts: Sequence[bytes]) -> tuple[bytes, bool]:
    """The file, and True for a conflict, after a real merge of two branches."""
    journal = folder / "journal"
    journal.mkdir()
    git(journal, "init", "-q", "-b", "main")
    set_up_merge_driver(Config(home=folder, journal=journal))
    for branch, text in zip(("main", "ours", "theirs"), texts, strict=True):
        if branch != "main":
            git(journal, "checkout", "-q", "-b", branch, "main")
        (journal / DAY).write_bytes(text)
        git(journal, "add", "-A")
        git(journal, "commit", "-qm", branch, "--allow-empty")
    git(journal, "checkout", "-q", "ours")
    conflict = git(journal, "merge", "-q", "--no-edit", "theirs", ok=False)
    return (journal / DAY).read_bytes(), bool(conflict)


if __name__ == "__main__":
    sys.exit(attack(trial, trials=7_500, unit="merges"))

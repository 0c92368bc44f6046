"""Random merges of a journal file in three versions, against what a person would expect of
them.

The promise: every entry that either side added is there once; what one side deleted and the
other left alone is gone; where both changed one entry, both texts stand there; changes of
different entries never conflict; no id stands there twice without a conflict, also where both
sides added one entry; nothing that is private becomes readable. Every fiftieth merge goes
through git with the driver that `synaptic git-setup` installs.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from attack import Broken, attack, check, ids

from synaptic import Config
from synaptic.notes.merge import merge
from synaptic.notes.privacy import mask
from synaptic.notes.reading import parse_entries
from synaptic.verbs.gitdriver import by_lines, set_up

DAY = "2026-11-21.md"
THROUGH_GIT = 50
_IDENTITY = {
    f"GIT_{who}_{what}": "a@b.c"
    for who in ("AUTHOR", "COMMITTER")
    for what in ("NAME", "EMAIL")
}
_GIT = _IDENTITY | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


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
        return (
            f"## {self.at} {self.title}\n{comment}\n"
            + "\n\n".join([*self.paragraphs, self.private]).strip()
            + "\n"
        )

    @property
    def words(self) -> set[str]:
        return {
            word
            for text in (self.title, *self.paragraphs)
            for word in text.split()
            if word[:1] == "w"
        }


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
        id = f"20261121-{choose.getrandbits(40):010x}"[:17].translate(
            str.maketrans("ilou", "7777")
        )
        return Note(
            f"{choose.randrange(8, 20):02d}:{choose.randrange(60):02d}",
            choose.choice(("Same title", "Title {}", "decision: Chose {}")).format(self.word()),
            tuple(self.paragraph() for _ in range(choose.randrange(1, 5))),
            id if choose.random() < 0.7 else "",
            self.passage() if choose.random() < 0.15 else "",
        )

    def edited(self, note: Note, part: int) -> Note:
        """With another paragraph in this place, or another private passage."""
        if note.private and self.choose.random() < 0.4:
            return replace(note, private=self.passage())
        return replace(
            note,
            paragraphs=(
                *note.paragraphs[:part],
                self.paragraph(),
                *note.paragraphs[part + 1 :],
            ),
        )


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
    ours, theirs = _changed(author, base, shared), _changed(author, base, shared)
    title = choose.choice(
        ("# 2026-11-21\n\n", "", "---\ntags: [home]\n---\n\n# 2026-11-21\n\n")
    )
    texts = [_written(title, notes, choose) for notes in (base, ours.notes, theirs.notes)]
    if number % THROUGH_GIT:
        done = merge(texts[0], texts[1], texts[2], DAY, "%Y-%m-%d.md", by_lines)
        data, conflicts = done.data, done.conflicts > 0
    else:
        data, conflicts = _through_git(folder, texts)
    try:
        _judge(data, conflicts, base, ours, theirs, texts)
    except Broken as broken:
        for name, text in zip(
            ("base", "ours", "theirs", "merged"), (*texts, data), strict=True
        ):
            Path(f"soak-merge-{number}.{name}.md").write_bytes(
                text
            ) if "--only" in sys.argv else None
        raise Broken(f"{broken} ({'git' if number % THROUGH_GIT == 0 else 'merge'})") from None
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
            changed[place] = note = author.edited(note, choose.randrange(len(note.paragraphs)))
        notes.append(note)
    added = [*shared, *(author.note() for _ in range(choose.randrange(4)))]
    return Side(
        sorted([*notes, *added], key=lambda note: note.at)
        if choose.random() < 0.5
        else notes + added,
        changed,
        added,
    )


def _written(title: str, notes: Sequence[Note], choose: random.Random) -> bytes:
    text = title + "\n".join(note.text() for note in notes)
    return (text if choose.random() < 0.9 else text.rstrip("\n")).encode()


def _judge(
    data: bytes,
    conflicts: bool,
    base: list[Note],
    ours: Side,
    theirs: Side,
    texts: Sequence[bytes],
) -> None:
    headings = any("## 11:00" in note.private for note in (*base, *ours.notes, *theirs.notes))
    by_git = clashes = (
        conflicts and headings
    )  # passages that hide headings are left to git's merge by lines
    counted = {
        word: data.count(word.encode())
        for note in (*base, *ours.notes, *theirs.notes)
        for word in note.words
    }
    check(
        conflicts or max(ids(data).values(), default=0) <= 1,
        "An id stands there twice, without a conflict",
    )
    for note in (*ours.added, *theirs.added):
        for word in note.words:
            check(
                counted[word] == 1 or (by_git and counted[word]),
                f"An added text stands there {counted[word]} times",
            )
    for place, note in enumerate(base):
        one, other = (side.changed.get(place, note) for side in (ours, theirs))
        clash = note not in (one, other) and one != other
        clashes |= clash and one is not None and other is not None
        if clash:
            kept = {word for side in (one, other) if side for word in side.words - note.words}
            wanted, gone = (
                kept | (one.words & other.words if one and other else set()),
                set[str](),
            )
        else:
            left = other if one == note else one
            wanted = left.words if left else set()
            gone = note.words - wanted
        for word in wanted:
            check(
                counted[word] > 0,
                f"A text is lost ({'both changed its entry' if clash else 'one side has it'})",
            )
            check(
                counted[word] == 1 or clash or by_git,
                f"A text stands there {counted[word]} times",
            )
        for word in gone:
            check(
                counted[word] == 0 or by_git,
                "A text that one side took away, and the other left alone, is back",
            )
    check(clashes or not conflicts, "A conflict, though no entry was changed on both sides")
    _judge_private(data, [*base, *ours.notes, *theirs.notes], base, ours, theirs)
    known = {line.strip() for text in texts for line in text.splitlines()}
    strange = [
        line
        for line in data.splitlines()
        if line.strip() not in known and line[:7] not in _MARKS
    ]
    check(not strange, f"The merge wrote lines of its own: {strange[:2]}")


def _judge_private(
    data: bytes, notes: list[Note], base: list[Note], ours: Side, theirs: Side
) -> None:
    """No private word can be read, and none is lost but by an edit."""
    words = {
        word
        for note in notes
        for word in note.private.replace("<", " <").replace(">", "> ").split()
        if word[0] == "p"
    }
    words = {word for word in words if word[1:6].isdigit()}
    shown = mask(data)
    parsed = parse_entries(data, DAY, mtime=datetime(2026, 11, 21, tzinfo=UTC)).entries
    said = " ".join(f"{entry.title} {entry.content}" for entry in parsed)
    for word in words:
        check(
            word.encode() not in shown and word not in said,
            "A private text can be read after the merge",
        )
    kept = {note.private for side in (ours, theirs) for note in side.added}
    for place, note in enumerate(base):
        versions = [side.changed.get(place, note) for side in (ours, theirs)]
        edited = {left.private for left in versions if left and left.private != note.private}
        kept |= edited or {note.private if all(versions) else ""}
    for line in "\n".join(kept).split("\n"):
        check(line.encode() in data, "A private text is lost")


_MARKS = (b"<<<<<<<", b"=======", b">>>>>>>")


def _through_git(folder: Path, texts: Sequence[bytes]) -> tuple[bytes, bool]:
    """The file, and whether git reports a conflict, after a real merge of two branches."""
    os.environ |= _GIT
    journal = folder / "journal"
    journal.mkdir()
    _git(journal, "init", "-q", "-b", "main")
    set_up(Config(home=folder, journal=journal))
    for branch, text in zip(("main", "ours", "theirs"), texts, strict=True):
        if branch != "main":
            _git(journal, "checkout", "-q", "-b", branch, "main")
        (journal / DAY).write_bytes(text)
        _git(journal, "add", "-A")
        _git(journal, "commit", "-qm", branch, "--allow-empty")
    _git(journal, "checkout", "-q", "ours")
    conflict = _git(journal, "merge", "-q", "--no-edit", "theirs", ok=False) != 0
    return (journal / DAY).read_bytes(), conflict


def _git(folder: Path, *words: str, ok: bool = True) -> int:
    done = subprocess.run(
        ["git", *words], cwd=folder, capture_output=True, text=True, check=False
    )
    assert not ok or done.returncode == 0, done.stderr
    return done.returncode


if __name__ == "__main__":
    sys.exit(attack(trial, trials=7_500, unit="merges"))

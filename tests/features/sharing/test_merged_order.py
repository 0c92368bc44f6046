"""What git merges line by line without a conflict keeps its order here, too."""

from __future__ import annotations

import random
import subprocess
from difflib import SequenceMatcher
from itertools import count
from pathlib import Path

import pytest
from trials import drawn

from synaptic.features.sharing.merge import MergedFile, merge

WORDS = "amber birch cedar delta ember fjord grove heath inlet jetty knoll lagoon marsh".split()
DAY = "%Y-%m-%d.md"


class Writer:
    """Writes notes of lines that stand once, and edits them, as `choose` draws."""

    def __init__(self, choose: random.Random) -> None:
        self.choose = choose
        self.numbers = count(1)

    def words(self) -> str:
        return " ".join(f"{self.choose.choice(WORDS)}{next(self.numbers)}" for _ in range(2))

    def note(self, *, of_day: bool) -> list[str]:
        choose, lines = self.choose, list[str]()
        if not of_day and choose.random() < 0.3:
            lines += ["---", f"status: {self.words()}", f"area: {self.words()}", "---", ""]
        if choose.random() < 0.7:
            lines += [f"# {self.words()}", ""]
        for _ in range(choose.randint(1, 5)):
            kind = choose.choice(["list", "list", "text", "text", "section", "title", "part"])
            if kind == "list":
                lines += [f"- {self.words()}" for _ in range(choose.randint(1, 4))]
            elif kind == "section" and of_day:
                number = next(self.numbers)
                lines.append(f"## {8 + number % 12:02d}:{number % 60:02d} {self.words()}")
                if choose.random() < 0.5:
                    lines.append(f"<!-- syn:20261121-{number:08d} -->")
                lines += ["", self.words()]
            elif kind == "text":
                lines += [self.words() for _ in range(choose.randint(1, 3))]
            else:
                level = {"section": "##", "title": "#", "part": "###"}[kind]
                lines += [f"{level} {self.words()}", "", self.words()]
            lines.append("")
        return lines[:-1]

    def edit(self, note: list[str]) -> list[str]:
        lines = list(note)
        for _ in range(self.choose.randint(1, 2)):
            start = lines.index("---", 1) + 1 if lines[0] == "---" else 0
            places = [
                at
                for at in range(start, len(lines))
                if lines[at] and not lines[at].startswith(("#", "<!--"))
            ]
            at = self.choose.choice(places) if places else len(lines)
            kind = self.choose.choice(["end", "top", "line", "heading", "longer", "shorter"])
            if kind == "end" or not places:
                lines.append(self.words())
            elif kind == "top":
                lines[start:start] = [self.words(), ""]
            elif kind == "line":
                lines.insert(at, self.words())
            elif kind == "heading":
                level = self.choose.choice(["#", "##", "###"])
                lines[at:at] = [f"{level} {self.words()}", "", self.words(), ""]
            elif kind == "longer":
                lines[at] += f" {self.words()}"
            elif len(lines) > 1:
                del lines[at]
        return lines


def by_git(folder: Path, base: bytes, ours: bytes, theirs: bytes) -> list[str] | None:
    """The lines as git merges them; None where they conflict."""
    for name, data in (("base", base), ("ours", ours), ("theirs", theirs)):
        (folder / name).write_bytes(data)
    command = ["git", "merge-file", "-p", "ours", "base", "theirs"]
    done = subprocess.run(command, cwd=folder, capture_output=True)
    return None if done.returncode else filled(done.stdout)


def touched(note: list[str], side: list[str]) -> set[int]:
    """The numbers of the lines of a note that a side changed, and of those beside them; without
    blank lines, of which none is told from another.
    """
    old, new = ([line for line in lines if line] for lines in (note, side))
    changes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return {
        at
        for kind, start, end, *_ in changes
        if kind != "equal"
        for at in range(start - 1, end + 1)
    }


def filled(data: bytes) -> list[str]:
    return [line for line in data.decode().split("\n") if line]


def as_bytes(lines: list[str]) -> bytes:
    return "\n".join([*lines, ""]).encode()


@pytest.mark.sweep
@pytest.mark.parametrize("seed", drawn("merged order", range(100)))
def test_what_git_merges_keeps_its_order(tmp_path: Path, seed: int) -> None:
    choose = random.Random(seed)
    clean = 0
    for _ in range(40):
        of_day = choose.random() < 0.4
        writer = Writer(choose)
        note = writer.note(of_day=of_day)
        sides = writer.edit(note), writer.edit(note)
        is_apart = touched(note, sides[0]).isdisjoint(touched(note, sides[1]))
        texts = [as_bytes(lines) for lines in (note, *sides)]
        wanted = by_git(tmp_path, *texts) if is_apart else None
        if wanted is None:
            continue
        clean += 1
        path = "2026-11-21.md" if of_day else "note.md"
        done = merge(*texts, path, DAY)
        assert (done.conflicts, filled(done.data)) == (0, wanted), texts
    assert clean > 5


@pytest.mark.parametrize(
    "note", ["# Title\n\na\nb\nc\n", "---\nstatus: open\n---\n# Title\n\n- a\n- b\n"]
)
def test_a_text_above_the_title_moves_nothing(note: str) -> None:
    above, below = note.replace("# Title", "TOP\n\n# Title"), f"{note}BOTTOM\n"
    both = above + "BOTTOM\n"
    for sides in ((above, below), (below, above)):
        ours, theirs = (side.encode() for side in sides)
        done = merge(note.encode(), ours, theirs, "Title.md", DAY)
        assert done == MergedFile(both.encode(), 0)

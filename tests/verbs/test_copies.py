"""Copies that programs which sync files leave beside a note: equal ones count once, others are
named.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from outside import Home

from synaptic.notes.copies import (
    path_without_conflict_mark,
    path_without_number,
    share_half_of_lines,
)

SYNCTHING = "Turtle.sync-conflict-20261110-101010-ABCDEFG.md"
DROPBOX = "Turtle (Ada's conflicted copy 2026-11-10).md"
ICLOUD = "Turtle 2.md"
NAMES = [SYNCTHING, DROPBOX, ICLOUD]
NOTE = "The turtle eats lettuce.\n\nIt sleeps in the shed.\n\n- [ ] Buy lettuce\n"


@pytest.fixture
def journal(home: Home) -> Path:
    folder = home.path / "journal"
    home.path.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(exist_ok=True)
    (folder / "Turtle.md").write_text(NOTE)
    return folder


def listed(home: Home) -> list[str]:
    return [entry["path"] for entry in home.ask("find")["entries"]]


@pytest.mark.parametrize(
    ("path", "original"),
    [
        (f"pets/{SYNCTHING}", "pets/Turtle.md"),
        (f"pets/{DROPBOX}", "pets/Turtle.md"),
        ("Turtle (conflicted copy 2026-11-10 101010).md", "Turtle.md"),
        ("Turtle (Ada's conflicted copy 2026-11-10 (1)).md", "Turtle.md"),
        ("On conflict (a talk).md", "On conflict (a talk).md"),
        (ICLOUD, ICLOUD),
    ],
)
def test_the_name_of_a_copy_says_of_what(path: str, original: str) -> None:
    assert path_without_conflict_mark(path) == original


def test_a_number_may_make_a_copy() -> None:
    assert path_without_number(f"pets/{ICLOUD}") == "pets/Turtle.md"
    assert [
        path_without_number(path)
        for path in ("2.md", "a/ 2.md", "Turtle 1.md", "Turtle 12.md", "Turtle2.md")
    ] == [""] * 5


@pytest.mark.parametrize("name", NAMES)
def test_an_equal_copy_counts_once_with_its_tasks(home: Home, journal: Path, name: str) -> None:
    (journal / name).write_text(NOTE)
    assert listed(home) == ["Turtle.md"]
    assert [task["path"] for task in home.ask("tasks")["tasks"]] == ["Turtle.md"]
    assert home.run("doctor").code == 0
    (journal / "Turtle.md").unlink()
    assert listed(home) == [name]
    (journal / "Turtle.md").write_text(NOTE)
    assert listed(home) == ["Turtle.md"]
    before = home.ask("find")["entries"]
    home.run("rebuild-index")
    assert home.ask("find")["entries"] == before


@pytest.mark.parametrize("name", NAMES)
def test_another_copy_is_named_and_stands_behind(home: Home, journal: Path, name: str) -> None:
    (journal / name).write_text(
        NOTE.replace("lettuce.", "lettuce. Turtle lettuce, turtle lettuce!")
    )
    found = home.ask("search", "turtle lettuce")["hits"]
    assert [hit["path"] for hit in found] == ["Turtle.md", name]
    assert {hit["date"] for hit in found} == {found[0]["date"]} and {
        hit["date_source"] for hit in found
    } == {"mtime"}
    doctor = home.run("doctor", "--json")
    [named] = [one for one in doctor.json["findings"] if one["level"] == "warning"]
    assert doctor.code == 1 and f"{name} is a copy of Turtle.md" in named["message"]
    assert named["code"] == "conflict-copy"
    assert "could not be read" not in home.run("init").out
    (journal / "Zoo.md").write_text("See [[Turtle]].\n")
    assert [link["id"] for link in home.ask("links", "Zoo")["links"]] == [found[0]["id"]]


def test_a_second_note_of_a_name_is_no_copy(home: Home, journal: Path) -> None:
    (journal / ICLOUD).write_text(
        "Another turtle, which is of bronze, stands in the park. Turtle!\n"
    )
    assert sorted(listed(home)) == [ICLOUD, "Turtle.md"]
    assert home.run("doctor").code == 0
    assert home.ask("search", "bronze turtle")["hits"][0]["path"] == ICLOUD
    assert not share_half_of_lines(b"", b"") and share_half_of_lines(b"a\nb\n", b"b\nc\n")


def test_a_note_deleted_with_its_copy_comes_back_under_its_own_name(
    home: Home, journal: Path
) -> None:
    (journal / SYNCTHING).write_text(NOTE)
    [entry] = home.ask("find")["entries"]
    home.ask("delete", entry["id"], "--yes")
    assert list(journal.glob("*.md")) == []
    home.ask("restore", entry["id"])
    assert [path.name for path in journal.glob("*.md")] == ["Turtle.md"]
    assert (journal / "Turtle.md").read_text() == NOTE


def test_typed_entries_of_a_days_copy_count_once(home: Home, journal: Path) -> None:
    (journal / "Turtle.md").unlink()
    day = "## 09:31 Milk\n\nBought.\n\n## 10:15 Bread\n\nBaked.\n"
    for name in (
        "2026-11-10.md",
        "2026-11-10.sync-conflict-20261112-101010-ABCDEFG.md",
        "2026-11-10 2.md",
    ):
        (journal / name).write_text(day)
    assert [entry["date"] for entry in home.ask("find")["entries"]] == ["2026-11-10"] * 2


def test_entries_of_one_title_in_a_file_are_no_copies(home: Home, journal: Path) -> None:
    """In a talk many turns begin alike; the one that answers stays first."""
    turns = (
        "I painted a lighthouse window for the church.",
        "I will call you.",
        "See you on Sunday.",
        "The soup is hot.",
    )
    talk = "".join(
        f"\n## 09:{number:02} Ada: Thanks!\n\n{turn}\n" for number, turn in enumerate(turns)
    )
    (journal / "2026-11-10.md").write_text(f"# 2026-11-10\n{talk}")
    hits = home.ask("search", "lighthouse window for the church", "--strategy", "lexical")[
        "hits"
    ]
    assert "lighthouse" in hits[0]["content"]

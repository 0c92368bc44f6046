"""What one machine renames and another edits under the old name becomes one note."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from forks import ForkedHome, Forks
from hubs import Machines

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="paths of POSIX")

TEXT = "# Ida\n\nLikes tea.\n\nLives in Hull, by the harbour.\n\nSee [[Ida]].\n"


@pytest.mark.sweep
@pytest.mark.parametrize("first", ["the one who renames", "the one who edits"])
def test_an_edit_under_the_old_name_reaches_the_new_one(
    tmp_path: Path, forks: Forks, first: str
) -> None:
    desk, laptop = Machines(tmp_path, forks).shared("desk", "laptop")
    (desk.journal / "Ida.md").write_text(TEXT)
    (desk.journal / "Team.md").write_text("[[Ida]]\n")
    for home in (desk, laptop, desk):
        home.ask("sync")
    desk.ask("rename", "--yes", "Ida", "people/Ada")
    (laptop.journal / "Ida.md").write_text(TEXT.replace("tea", "coffee"))
    (laptop.journal / "Late.md").write_text("[[Ida]], since yesterday\n")
    order: tuple[ForkedHome, ...] = (desk, laptop, desk, laptop)
    if first == "the one who edits":
        order = (laptop, desk, laptop, desk)
    for home in order:
        home.ask("sync")
    new = TEXT.replace("tea", "coffee").replace("[[Ida]]", "[[Ada]]")
    for home in (desk, laptop):
        assert not (home.journal / "Ida.md").exists()
        assert (home.journal / "people/Ada.md").read_text() == new
        assert (home.journal / "Team.md").read_text() == "[[Ada]]\n"
        [found] = [one for one in home.ask("review")["findings"] if one["kind"] == "moved"]
    laptop.ask("review", "mend", found["finding"])
    assert (laptop.journal / "Late.md").read_text() == "[[Ada]], since yesterday\n"
    assert laptop.run("doctor").code == 0


def test_a_note_that_both_renamed_and_edited_is_one_note(tmp_path: Path, forks: Forks) -> None:
    desk, laptop = Machines(tmp_path, forks).shared("desk", "laptop")
    (desk.journal / "Ida.md").write_text(TEXT)
    for home in (desk, laptop, desk):
        home.ask("sync")
    desk.ask("rename", "--yes", "Ida", "people/Ada")
    laptop.ask("rename", "--yes", "Ida", "Eda")
    # of so few lines little stays, so that git alone would not know the note again
    edited = (
        "# Ida\n\nLikes coffee, and nothing else at all.\n\nLives in Hull, by the harbour.\n"
    )
    (desk.journal / "people/Ada.md").write_text(edited)
    for home in (desk, laptop, desk):
        home.ask("sync")
    for home in (desk, laptop):
        texts = {path.name: path.read_text() for path in home.journal.rglob("*.md")}
        assert texts["Ada.md"] == edited and "Eda.md" not in texts and "Ida.md" not in texts


def test_a_secret_that_left_a_note_with_its_name_stops_no_sync(
    tmp_path: Path, forks: Forks
) -> None:
    [desk] = Machines(tmp_path, forks).shared("desk")
    secret = " = ".join(("password", "hunter2-Xk9-long-enough"))
    (desk.journal / "Ida.md").write_text(f"{TEXT}\n{secret}\n")
    refused = desk.run("sync", "--json").json["error"]["message"]
    [id] = re.findall(r", ([0-9a-f]{10})\)", refused)
    desk.ask("sync", "--allow", id)
    desk.ask("sync")
    desk.ask("rename", "--yes", "Ida", "Ada")
    (desk.journal / "Ada.md").write_text(TEXT)
    assert desk.ask("sync")["sent"] == 2


@pytest.mark.sweep
@pytest.mark.parametrize("first", ["the one who moves", "the one who saves"])
def test_an_entry_of_a_day_stays_there_when_all_others_are_moved(
    tmp_path: Path, forks: Forks, first: str
) -> None:
    desk, laptop = Machines(tmp_path, forks).shared("desk", "laptop")
    text = "\n".join(f"The ferry {number} left without us." for number in range(20))
    moved = desk.ask("save", text, "--at", "2026-11-10 09:00")["id"]
    for home in (desk, laptop, desk):
        home.ask("sync")
    desk.ask("update", moved, "--at", "2026-11-12")
    (desk.journal / "2026-11-10.md").unlink(missing_ok=True)  # no entry is left in it
    stays = laptop.ask("save", "Tea with Ida.", "--at", "2026-11-10 10:00")["id"]
    order = [desk, laptop, desk] if first == "the one who moves" else [laptop, desk, laptop]
    for home in order:
        home.ask("sync")
    for home in (desk, laptop):
        days = {one["id"]: one["path"] for one in home.ask("find", "--limit", "9")["entries"]}
        assert (days[moved], days[stays]) == ("2026-11-12.md", "2026-11-10.md")
        assert not home.ask("review")["findings"]

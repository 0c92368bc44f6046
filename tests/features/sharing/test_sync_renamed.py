"""What one machine renames and another edits under the old name becomes one note."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from forks import ForkedHome, Forks
from hubs import Machines

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="paths of POSIX")

TEXT = "# Ida\n\nLikes tea.\n\nLives in Hull, by the harbour.\n\nSee [[Ida]].\n"


@pytest.mark.parametrize("first", ["the one who renames", "the one who edits"])
def test_an_edit_under_the_old_name_reaches_the_new_one(
    tmp_path: Path, forks: Forks, first: str
) -> None:
    desk, laptop = Machines(tmp_path, forks).shared("desk", "laptop")
    (desk.journal / "Ida.md").write_text(TEXT)
    (desk.journal / "Team.md").write_text("[[Ida]]\n")
    for home in (desk, laptop, desk):
        home.ask("sync")
    desk.ask("rename", "Ida", "people/Ada")
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

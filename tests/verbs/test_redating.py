"""An entry that is moved to another day keeps its id, links and pin, and one undo takes it back."""

from __future__ import annotations

import pytest
from homes import open_home

from synaptic.config import SyncConfig
from synaptic.errors import Refused
from synaptic.journal.losses import find_losses
from synaptic.verbs.browse import find, get
from synaptic.verbs.changing import update
from synaptic.verbs.removing import delete, restore
from synaptic.verbs.saving import save
from synaptic.workspace.workspace import Workspace

DAY = """# 2026-11-20

## 08:00 First

a

## 6pm Typed by hand #oar
b

## Log

- rained
"""


def texts(ws: Workspace) -> dict[str, str]:
    files = sorted(ws.config.journal.rglob("*.md"))
    return {file.relative_to(ws.config.journal).as_posix(): file.read_text() for file in files}


@pytest.mark.parametrize(
    ("title", "at", "path", "heading"),
    [
        ("Typed by hand", "2026-11-18", "2026-11-18.md", "## 6pm Typed by hand #oar"),
        ("Typed by hand", "2026-11-18 07:15", "2026-11-18.md", "## 07:15 Typed by hand #oar"),
        ("Typed by hand", "2026-11-20 07:15", "2026-11-20.md", "## 07:15 Typed by hand #oar"),
        ("Log", "2026-11-19", "2026-11-19.md", "## Log"),
        ("Log", "2026-11-19 12:00", "2026-11-19.md", "## 12:00 Log"),
        ("Saved", "yesterday 23:59", "2026-11-20.md", "## 23:59 Saved"),
        ("Saved", "2024-02-29", "2024-02-29.md", "## 10:11 Saved"),
    ],
)
def test_an_entry_moves_to_its_day_and_one_undo_takes_it_back(
    ws: Workspace, title: str, at: str, path: str, heading: str
) -> None:
    (ws.config.journal / "2026-11-20.md").write_text(DAY)
    (ws.config.journal / "2026-11-19.md").write_text("# 2026-11-19\n\n## 09:00 Other\n\nx\n")
    saved = save(ws, "It is here.", title="Saved", at="2026-11-21 10:11:12", pin=True).id
    ids = {entry.title: entry.id for entry in find(ws, limit=50).entries}
    save(ws, "And so it went on.", parent=ids[title], at="2026-11-21 12:00")
    before = texts(ws)
    receipt = update(ws, ids[title], at=at, append="And more.")
    assert (receipt.id, receipt.path) == (ids[title], path)
    [entry] = get(ws, [ids[title]]).entries
    assert (entry.date, entry.path, entry.title) == (path[:10], path, title)
    assert entry.content.endswith("And more.") and entry.pin == (entry.id == saved)
    assert heading in texts(ws)[path].splitlines()
    everything = "".join(texts(ws).values())
    assert everything.count(heading) == everything.count("And more.") == 1
    assert find_losses(ws.journal) == []
    moved = texts(ws)
    for _ in range(2):  # the undo can be undone, too
        assert restore(ws, ids[title]).id == ids[title]
        left = {name: text for name, text in texts(ws).items() if name in before}
        assert left == before
        assert set(texts(ws)) - set(before) <= {path}
        assert get(ws, [ids[title]]).entries[0].path != path or "2026-11-20" in at
        restore(ws, ids[title])
        assert texts(ws) == moved
        assert find_losses(ws.journal) == []


ENTRY = "## 09:00 Rowing\n\nUp to the lock.\n"


@pytest.mark.sweep("change")
@pytest.mark.parametrize(
    ("above", "below", "stays"),
    [
        ("# 2026-11-20\n\n", "", False),
        ("# 2026-11-20\r\n\r\n", "", False),
        ("# 2026-11-20\n", "", False),
        ("", "", False),
        ("# 2026-11-20\n\n", "\n\n", False),
        ("# Friday\n\n", "", True),
        ("---\nmood: good\n---\n\n# 2026-11-20\n\n", "", True),
        ("# 2026-11-20\n\nSunny.\n\n", "", True),
        ("# 2026-11-20\n\n", "\n## Log\n\n- rained\n", True),
    ],
)
@pytest.mark.parametrize("change", ["move to a new day", "move to another day", "delete"])
def test_a_day_goes_with_its_last_entry_unless_a_person_wrote_more(
    ws: Workspace, above: str, below: str, stays: bool, change: str
) -> None:
    day = ws.config.journal / "2026-11-20.md"
    target = ws.config.journal / "2026-11-18.md"
    if change == "move to another day":
        target.write_text("# 2026-11-18\n\n## 08:00 Other\n\nx\n")
    end = "\r\n" if "\r" in above else "\n"
    before = (above + ENTRY.replace("\n", end) + below).encode()
    day.write_bytes(before)
    id = next(entry.id for entry in find(ws).entries if entry.title == "Rowing")
    for _ in range(2):
        if change == "delete":
            delete(ws, id)
        else:
            update(ws, id, at="2026-11-18")
        assert (day.exists(), target.exists()) == (stays, change != "delete")
        restore(ws, id)
        assert day.read_bytes() == before
        assert target.exists() == (change == "move to another day")
        assert find_losses(ws.journal) == []
        if change != "delete":
            restore(ws, id)
            assert (day.exists(), target.exists()) == (stays, True)
            restore(ws, id)


def test_only_the_file_of_a_day_goes_with_its_last_entry(ws: Workspace) -> None:
    note = ws.config.journal / "Boat.md"
    id = "20261120-abcd2345"
    note.write_text(f"# Boat\n\n## 10:00 Sun\n<!-- syn:{id} date=2026-11-20 -->\n\nx\n")
    delete(ws, id)
    assert note.read_text() == "# Boat\n\n"


@pytest.mark.parametrize("url", ["", "hub.git"])
def test_where_git_alone_merges_a_day_keeps_its_heading(ws: Workspace, url: str) -> None:
    """Git would take the new day for the old one renamed; a sync does not."""
    (ws.config.journal / ".git").mkdir()
    ws = open_home(ws.config.home, sync=SyncConfig(url))
    id = save(ws, "Up to the lock.", at="2026-11-20 09:00").id
    day = ws.config.journal / "2026-11-20.md"
    before = day.read_bytes()
    update(ws, id, at="2026-11-18")
    assert day.exists() == (url == "")
    assert url or day.read_text() == "# 2026-11-20\n"
    restore(ws, id)
    assert day.read_bytes() == before
    delete(ws, id)
    assert day.exists() == (url == "")
    restore(ws, id)
    assert day.read_bytes() == before


def test_an_entry_whose_date_stands_elsewhere_is_not_moved(ws: Workspace) -> None:
    files = {
        "Diary.md": "## 2026-11-20 10:00 Sun\n\nx\n\n## 2026-11-19 10:00 Rain\n\ny\n",
        "Trip 2026-11-18.md": "# Trip\n\n## 10:00 By boat\n\nz\n",
        "Garden.md": "# Garden\n\nBeds.\n",
        "Ideas.md": "## 10:00 A sail\n\nw\n",
    }
    for name, text in files.items():
        (ws.config.journal / name).write_text(text)
    for entry in find(ws, limit=50).entries:
        with pytest.raises(Refused, match=entry.path):
            update(ws, entry.id, at="2026-11-01 10:30")
    assert texts(ws) == files

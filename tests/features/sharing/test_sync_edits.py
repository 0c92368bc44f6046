"""Two machines edit one entry, each in its way. Edits that do not touch each other are one
entry; those that do are a conflict that shows both. No entry contradicts itself, and none
stands twice.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import Any

import pytest
from homes import open_home
from hubs import git

from synaptic import save, status, update
from synaptic.config import load_config
from synaptic.features.sharing.syncing import init_sync, sync

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="paths of POSIX")

MONDAY = "Dentist on Monday at 9."
TUESDAY = "Dentist on Tuesday at 10."
LIST = "Shopping for the boat\n\n- rope\n- paint\n- tea"


@dataclass(frozen=True)
class Case:
    """The text of an entry, the update on each machine, and what stands in the
    file of the day afterwards.
    """

    text: str
    desk: dict[str, Any]
    laptop: dict[str, Any]
    heading: str = ""
    body: str = ""
    is_conflict: bool = False
    day: str = "2026-11-21"


CASES = {
    "a line below a sentence that changed": Case(
        MONDAY, {"append": "Bring the X-ray."}, {"content": TUESDAY}, is_conflict=True
    ),
    "the sentence once more above a line": Case(
        MONDAY,
        {"content": f"{MONDAY}\n\nBring the X-ray."},
        {"content": TUESDAY},
        is_conflict=True,
    ),
    "the sentence word by word above a line": Case(
        MONDAY,
        {"content": f"{MONDAY}\n\nBring the X-ray.", "title": MONDAY},
        {"content": TUESDAY},
        is_conflict=True,
    ),
    "two sentences": Case(
        MONDAY, {"content": TUESDAY}, {"content": "Dentist: none."}, is_conflict=True
    ),
    "a title of its own for a sentence that changed": Case(
        MONDAY, {"title": "Teeth"}, {"content": TUESDAY}, is_conflict=True
    ),
    "one sentence on both": Case(
        MONDAY,
        {"content": TUESDAY},
        {"content": TUESDAY, "add_tags": ["health"]},
        f"{TUESDAY} #health",
    ),
    "lines below one sentence": Case(
        MONDAY,
        {"append": "Bring the X-ray."},
        {"append": "Take the bus."},
        MONDAY,
        "Take the bus.\n\nBring the X-ray.",
    ),
    "a type, and a line": Case(
        MONDAY,
        {"type": "issue"},
        {"append": "Bring the X-ray."},
        f"issue: {MONDAY}",
        "Bring the X-ray.",
    ),
    "a type, and another sentence": Case(
        MONDAY, {"type": "issue"}, {"content": TUESDAY}, f"issue: {TUESDAY}"
    ),
    "two types": Case(MONDAY, {"type": "issue"}, {"type": "handoff"}, is_conflict=True),
    "tags of both": Case(
        MONDAY, {"add_tags": ["health"]}, {"add_tags": ["town"]}, f"{MONDAY} #town #health"
    ),
    "a mark of each": Case(MONDAY, {"importance": 8}, {"due": "2026-12-01"}, MONDAY),
    "two values of a mark": Case(
        MONDAY, {"importance": 8}, {"importance": 2}, is_conflict=True
    ),
    "items beside each other": Case(
        LIST,
        {"content": LIST.replace("rope", "10 m of rope")},
        {"content": LIST.replace("paint", "red paint")},
        "Shopping for the boat",
        LIST.replace("rope", "10 m of rope").replace("paint", "red paint"),
    ),
    "an item below one that changed": Case(
        LIST,
        {"content": f"{LIST}\n- salt"},
        {"content": LIST.replace("tea", "black tea")},
        "Shopping for the boat",
        LIST.replace("tea", "black tea\n- salt"),
    ),
    "one item": Case(
        LIST,
        {"content": LIST.replace("tea", "green tea")},
        {"content": LIST.replace("tea", "black tea")},
        is_conflict=True,
    ),
    "headings in the text": Case(
        "Plan\n\nOne.",
        {"content": "Plan\n\n## Before\n\nOne."},
        {"append": "## After\n\nTwo."},
        "Plan",
        "Plan\n\n## Before\n\nOne.\n\n## After\n\nTwo.",
    ),
    "another day, and another line": Case(
        LIST,
        {"at": "2026-11-19"},
        {"content": LIST.replace("tea", "black tea")},
        "Shopping for the boat",
        LIST.replace("tea", "black tea"),
        day="2026-11-19",
    ),
    "another time, and a line": Case(
        MONDAY,
        {"at": "2026-11-21 15:30"},
        {"append": "Bring the X-ray."},
        MONDAY,
        "Bring the X-ray.",
    ),
    "two days": Case(
        MONDAY, {"at": "2026-11-18"}, {"at": "2026-11-17"}, MONDAY, day="2026-11-17"
    ),
    "one other day on both": Case(
        MONDAY,
        {"at": "2026-11-16"},
        {"at": "2026-11-16", "append": "Bring the X-ray."},
        MONDAY,
        "Bring the X-ray.",
        day="2026-11-16",
    ),
}


@pytest.fixture(scope="module")
def blocks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[str, str]]]:
    """For each case the day and the text of each block with the id of its entry, on a machine
    that merged all cases at once.
    """
    folder = tmp_path_factory.mktemp("edits")
    git(folder, "init", "-q", "--bare", "-b", "main", "hub.git")
    desk, laptop = (open_home(folder / name) for name in ("desk", "laptop"))
    ids = {name: save(desk, case.text, force=True).id for name, case in CASES.items()}
    for ws in (desk, laptop):
        init_sync(load_config(ws.config.home), str(folder / "hub.git"), lambda _: True)
    for name, case in CASES.items():
        update(desk, ids[name], **case.desk)
        update(laptop, ids[name], **case.laptop)
    for ws in (desk, laptop, desk):
        sync(load_config(ws.config.home))
    files = [
        {path.stem: path.read_text() for path in sorted(ws.config.journal.glob("*.md"))}
        for ws in (desk, laptop)
    ]
    assert files[0] == files[1]
    assert {issue.code for issue in status(desk).issues} == {"conflict-marker"}
    desk.close()
    laptop.close()
    found: dict[str, list[tuple[str, str]]] = {name: [] for name in CASES}
    for day, text in files[0].items():
        for block in re.split(r"(?m)^(?=## [0-9]{2}:[0-9]{2} )", text):
            for name, id in ids.items():
                if re.search(f"(?m)^<!-- syn:{id}", block):
                    found[name].append((day, block))
    return found


@pytest.mark.parametrize("name", CASES)
def test_edits_of_one_entry_meet(blocks: dict[str, list[tuple[str, str]]], name: str) -> None:
    case = CASES[name]
    [(day, block)] = blocks[name]
    assert day == case.day
    values = [*case.desk.items(), *case.laptop.items()]
    if case.is_conflict:
        assert block.count("<<<<<<< first version") == 1
        for part, value in values:
            form = {"type": "{}: ", "importance": "importance={}"}.get(part, "{}")
            assert form.format(value) in block
        return
    head, comment, *lines = block.strip().split("\n")
    assert head.split(" ", 2)[2] == case.heading
    assert "\n".join(lines).strip() == case.body
    for part in ("importance", "due"):
        assert f"{part}=" in comment or part not in dict(values)

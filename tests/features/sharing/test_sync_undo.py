"""An undo on one machine of a vault whose other machine changed the note since."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest
from homes import open_home
from hubs import git

from synaptic import Workspace, save, update
from synaptic.config import load_config
from synaptic.errors import Changed
from synaptic.features.sharing.syncing import init_sync, sync
from synaptic.journal.losses import find_losses
from synaptic.verbs.removing import delete
from synaptic.verbs.undoing import undo_last, undo_run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="paths of POSIX")

AT = "2026-11-20T09:00"


def notes_of(ws: Workspace) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in ws.config.journal.glob("*.md")}


class Pair(NamedTuple):
    """Two homes that share a journal with two entries on one day, and what it held."""

    desk: Workspace
    laptop: Workspace
    boiler: str
    ferry: str
    first: dict[str, bytes]

    def share(self) -> None:
        for ws in (self.desk, self.laptop, self.desk):
            sync(load_config(ws.config.home))
        assert notes_of(self.desk) == notes_of(self.laptop)


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "hub.git")
    with ExitStack() as stack:
        desk, laptop = (
            stack.enter_context(open_home(tmp_path / name)) for name in ("desk", "laptop")
        )
        boiler, ferry = (
            save(desk, text, at=AT).id for text in ("The boiler leaks.", "The ferry is late.")
        )
        for ws in (desk, laptop):
            init_sync(load_config(ws.config.home), str(tmp_path / "hub.git"), lambda _: True)
        made = Pair(desk, laptop, boiler, ferry, notes_of(desk))
        made.share()
        yield made


CHANGES: dict[str, Callable[[Workspace, Pair], object]] = {
    "update": lambda ws, pair: update(ws, pair.boiler, append="In the cellar."),
    "delete": lambda ws, pair: delete(ws, pair.boiler),
}


@pytest.mark.sweep
@pytest.mark.parametrize("change", CHANGES)
def test_what_the_other_machine_wrote_beside_it_stays(pair: Pair, change: str) -> None:
    """The undo goes back to the first bytes once the other machine takes its change back."""
    CHANGES[change](pair.desk, pair)
    pair.share()
    update(pair.laptop, pair.ferry, append="By an hour.")
    pair.share()
    undo_last(pair.desk)
    pair.share()
    text = b"".join(notes_of(pair.laptop).values())
    assert b"By an hour." in text and b"boiler leaks." in text and b"cellar" not in text
    undo_last(pair.laptop)
    pair.share()
    assert notes_of(pair.desk) == pair.first
    assert find_losses(pair.desk.journal) == find_losses(pair.laptop.journal) == []


def test_lines_that_the_other_machine_changed_are_left_and_named(pair: Pair) -> None:
    update(pair.desk, pair.boiler, content="The boiler hums.")
    pair.share()
    update(pair.laptop, pair.boiler, content="The boiler is new.")
    pair.share()
    before = notes_of(pair.desk)
    with pytest.raises(Changed, match=r"another machine; near line \d+ it now reads 'The bo"):
        undo_last(pair.desk)
    assert notes_of(pair.desk) == before
    undo_last(pair.laptop)
    pair.share()
    undo_last(pair.desk)
    assert notes_of(pair.desk) == pair.first


def test_an_undo_that_meets_a_change_of_the_same_text_is_a_conflict(pair: Pair) -> None:
    """Neither text is lost, and the undo can still be taken back where it was made."""
    update(pair.desk, pair.boiler, content="The boiler hums.")
    pair.share()
    undone = undo_last(pair.desk)
    update(pair.laptop, pair.boiler, content="The boiler is new.")
    pair.share()
    text = b"".join(notes_of(pair.desk).values())
    assert b"The boiler leaks." in text and b"The boiler is new." in text
    with pytest.raises(Changed):
        undo_run(pair.desk, undone.run)
    assert b"".join(notes_of(pair.desk).values()) == text

"""Mentions without a link: found as whole words of text, and linked byte for byte."""

from pathlib import Path

import pytest
from homes import open_home

from synaptic import Entry, Workspace, find
from synaptic.errors import NotFound
from synaptic.features.page.unlinked import find_mentions, plan_mention_link
from synaptic.filters import Filters
from synaptic.workspace.many_edits import make_edits, take_back

NOTES = {
    "people/Ines.md": "---\ntitle: Ines Ode\naliases: [the Captain]\n---\nA friend, Ines.\n",
    "plain.md": "Met ines today,\r\nand Ines.\r\n",
    "title.md": "# Trip\n\nIt was Ines Ode's idea.\n",
    "alias.md": "The captain (the Captain) rows.\n",
    "2026-11-03.md": "# 2026-11-03\n\n## 09:00 Rowing\n\nTea.\n\n## 10:00 Tea\n\nWith Ines, at last.\n",
    "linked.md": "[[Ines]] and Ines.\n",
    "code.md": "`Ines` is a host.\n\n```\nInes\n```\n",
    "hidden.md": "<private>Ines was ill.</private> Soup.\n",
    "address.md": "See https://example.org/Ines and [a](Ines.png), #ines, ines@example.org.\n",
    "part.md": "Inesa and Pines and Ines-like.\n",
}


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    for name, text in NOTES.items():
        file = tmp_path / "journal" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    return tmp_path


def ines(ws: Workspace) -> Entry:
    return find(ws, filters=Filters(paths=("/people/",))).entries[0]


def test_a_mention_is_a_whole_word_of_text_that_is_no_link(vault: Path) -> None:
    with open_home(vault) as ws:
        mentions = {(one.entry.path, one.written) for one in find_mentions(ws, ines(ws))}
    assert mentions == {
        ("plain.md", "ines"),
        ("title.md", "Ines Ode"),
        ("alias.md", "The captain"),
        ("2026-11-03.md", "Ines"),
    }


def test_names_that_differ_by_case_are_mentioned_apart(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    journal.mkdir()
    notes = {
        "Deed.md": "Upper.\n",
        "deed.md": "Lower.\n",
        "one.md": "The deed, and the Deed.\n",
        "two.md": "A deed with [[Deed]].\n",
    }
    for name, text in notes.items():
        (journal / name).write_text(text)
    with open_home(tmp_path) as ws:
        entries = {one.path: one for one in find(ws).entries}
        found = {
            name: {(one.entry.path, one.written) for one in find_mentions(ws, entries[name])}
            for name in ("Deed.md", "deed.md")
        }
        assert found == {
            "Deed.md": {("one.md", "Deed")},
            "deed.md": {("one.md", "deed"), ("two.md", "deed")},
        }
        plan = plan_mention_link(ws, entries["Deed.md"].id, entries["one.md"].id)
        make_edits(ws, plan)
    # by its id, which no case changes
    assert (journal / "one.md").read_text() == (
        f"The deed, and the [[{entries['Deed.md'].short_id}|Deed]].\n"
    )


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("plain.md", b"Met ines today", b"Met [[Ines|ines]] today"),
        ("title.md", b"Ines Ode's", b"[[Ines|Ines Ode]]'s"),
        ("2026-11-03.md", b"With Ines, at", b"With [[Ines]], at"),
    ],
)
def test_one_mention_becomes_a_link_and_no_other_byte_changes(
    vault: Path, path: str, before: bytes, after: bytes
) -> None:
    file = vault / "journal" / path
    old = file.read_bytes()
    with open_home(vault) as ws:
        note = ines(ws)
        [source] = [one.entry.id for one in find_mentions(ws, note) if one.entry.path == path]
        plan = plan_mention_link(ws, note.id, source)
        done = make_edits(ws, plan)
        assert file.read_bytes() == old.replace(before, after, 1) != old
        now = plan.ids.get(source, source)
        assert now not in [one.entry.id for one in find_mentions(ws, note)]
        take_back(ws, done.run)
        assert file.read_bytes() == old
        file.write_bytes(old.replace(b"nes", b"da"))
        with pytest.raises(NotFound, match="any more"):
            plan_mention_link(ws, note.id, source)

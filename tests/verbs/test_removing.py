"""What a deletion takes, and what its undoing gives back."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from synaptic import Workspace, delete, find, get, restore, save, update
from synaptic.errors import Changed, Refused
from synaptic.journal.losses import find_losses
from synaptic.journal.rewriting import keep_opened, note_edit
from synaptic.verbs.removing import restorable_texts
from synaptic.verbs.undoing import undo_last

DAY = "2026-11-21.md"
SAMPLE = (
    "## 07:40 issue: Oiled the hinge #gate\n"
    "<!-- syn:20261121-aaaabbbb at=2026-11-21T07:40:00+00:00 h2=0 by=person -->\n\n"
    "It creaked.\n"
)
ABOVE = "# 2026-11-21\n\n## 08:00 Notes on the format\n\n"
BELOW = "\nThat was it.\n\n## 10:00 Tin order\n\nOn Friday.\n"


def day_file(ws: Workspace, text: str) -> Path:
    file = ws.config.journal / DAY
    file.write_text(text, "utf-8")
    return file


def id_of(ws: Workspace, title: str) -> str:
    [id] = [entry.id for entry in find(ws, limit=50).entries if entry.title == title]
    return id


# -- code fences
# ---------------------------------------------------------------------------------------


def test_a_deletion_takes_the_entry_with_its_sample_and_no_other(ws: Workspace) -> None:
    file = day_file(ws, f"{ABOVE}```markdown\n{SAMPLE}```\n{BELOW}")
    delete(ws, id_of(ws, "Notes on the format"))
    assert file.read_text("utf-8") == "# 2026-11-21\n\n## 10:00 Tin order\n\nOn Friday.\n"


@pytest.mark.parametrize("purge", [False, True])
@pytest.mark.parametrize("title", ["Oiled the hinge", "Notes on the format"])
def test_no_entry_between_two_fences_is_deleted_on_a_guess(
    ws: Workspace, title: str, purge: bool
) -> None:
    text = f"{ABOVE}```\n{SAMPLE}```\n{BELOW}"
    file = day_file(ws, text)
    with pytest.raises(Refused, match=f"{DAY}:.* code fence"):
        delete(ws, id_of(ws, title), purge=purge)
    assert file.read_text("utf-8") == text
    delete(ws, id_of(ws, "Tin order"))


def test_no_entry_is_deleted_whose_open_fence_hides_another(ws: Workspace) -> None:
    text = f"{ABOVE}```sh\nls\n{BELOW}"
    file = day_file(ws, text)
    with pytest.raises(Refused):
        delete(ws, id_of(ws, "Notes on the format"))
    assert file.read_text("utf-8") == text


def test_an_entry_comes_back_though_a_sample_has_its_id(ws: Workspace) -> None:
    id = save(ws, "Greased the lock.").id
    file = ws.config.journal / DAY
    block = file.read_text("utf-8").partition("\n\n")[2]
    quoted = f"{ABOVE}```md\n{block}```\n"
    day_file(ws, f"{quoted}\n{block}")
    delete(ws, id)
    restore(ws, id)
    assert file.read_text("utf-8") == f"{quoted}\n{block}"
    assert get(ws, [id]).entries[0].title == "Greased the lock."


# -- bringing back
# ---------------------------------------------------------------------------------------

TYPED = "# 2026-11-21\n\n## Plans\n\n- oil the gate\n\n## Log\n\n- rained\n\n\n## 18:00 Bread #rye\nBaked.\n"
FILES = {
    "sections": (DAY, TYPED),
    "CRLF": (DAY, TYPED.replace("\n", "\r\n")),
    "no line end": (DAY, TYPED[:-1]),
    "two of one name": (DAY, TYPED + "\n## Log\n\n- snowed\n"),
    "a sample": (DAY, TYPED.replace("- rained\n", f"```markdown\n{SAMPLE}```\n")),
    "a diary": (
        "Diary.md",
        "## 2026-11-20\n\nSun.\n\n## 2026-11-19\n\nRain.\n\n## 2026-11-18\n\nFog.\n",
    ),
}


@pytest.mark.parametrize(("name", "text"), FILES.values(), ids=FILES)
def test_an_undo_gives_the_bytes_of_the_file_back(ws: Workspace, name: str, text: str) -> None:
    """While nothing else changed: for each entry, deleted or updated, alone and two of them."""
    file = ws.config.journal / name
    file.write_bytes(text.encode())
    ids = [entry.id for entry in find(ws, limit=50).entries]
    for id in ids:
        delete(ws, id)
        assert file.read_bytes() != text.encode()
        assert restore(ws, id).id == id
        assert file.read_bytes() == text.encode()
        update(ws, id, append="And more.", add_tags=["new"])
        restore(ws, id)
        assert file.read_bytes() == text.encode()
        assert [entry.id for entry in find(ws, limit=50).entries] == ids
    for id in ids[:2]:
        delete(ws, id)
    for id in reversed(ids[:2]):
        restore(ws, id)
    assert file.read_bytes() == text.encode()
    assert find_losses(ws.journal) == []


def test_an_undo_of_an_undo_gives_the_update_back(ws: Workspace) -> None:
    file = day_file(ws, TYPED)
    id = id_of(ws, "Plans")
    update(ws, id, append="- paint it")
    updated = file.read_bytes()
    restore(ws, id)
    restore(ws, id)
    assert file.read_bytes() == updated


def test_an_entry_of_a_file_that_changed_keeps_what_came_in_between(ws: Workspace) -> None:
    file = day_file(ws, TYPED)
    id = id_of(ws, "Log")
    delete(ws, id)
    file.write_text(file.read_text("utf-8") + "\n## 19:00 Later\n\nx\n", "utf-8")
    assert restore(ws, id).id == id
    titles = {entry.title for entry in find(ws, limit=50).entries}
    assert titles == {"Plans", "Log", "Bread", "Later"}


# -- edits in the person's own editor
# ---------------------------------------------------------------------------------------


def edit(ws: Workspace, name: str, *changes: tuple[str, str], waits: bool = True) -> list[str]:
    """The ids that an editor changed, in which each first text was replaced by the second."""
    file = ws.config.journal / name
    opened = keep_opened(ws.journal, name, waits=waits)
    assert opened
    text = file.read_bytes().decode()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    file.write_bytes(text.encode())
    return note_edit(ws.journal, opened, waits=waits)


@pytest.mark.parametrize(
    "left", ["", " \n", "\ufeff", "<private>x</private>\n", "## 09:00 Another\nx\n", "# \n"]
)
def test_a_note_that_an_editor_emptied_comes_back_over_what_was_left(
    ws: Workspace, left: str
) -> None:
    """And undo gives what was left; over anything else nothing is written."""
    file = ws.config.journal / "Garden.md"
    text = "# Garden\n\nBeds.\n"
    file.write_text(text)
    find(ws)
    id = edit(ws, file.name, (text, left))[0]
    restore(ws, id, confirms=True)
    assert file.read_text() == text
    undo_last(ws, confirms=True)
    assert file.read_text() == left
    if left.startswith("##"):
        file.write_text(f"{left}more\n")
        with pytest.raises(Refused, match="overwrites no file"):
            restore(ws, id)
        assert file.read_text() == f"{left}more\n"


EDITS = {
    "a text": ("sections", "- rained", "- snowed"),
    "a heading": ("sections", "## 18:00 Bread #rye", "## 18:30 Rolls #rye"),
    "a heading and its text": ("sections", "Bread #rye\nBaked.", "Rolls\nBaked, at last."),
    "an entry": ("sections", "## Log\n\n- rained\n\n\n", ""),
    "the last entry": ("sections", "## 18:00 Bread #rye\nBaked.\n", ""),
    "CRLF": ("CRLF", "- oil the gate\r\n", ""),
    "no line end": ("no line end", "Baked.", "Burnt."),
    "a diary": ("a diary", "## 2026-11-19\n\nRain.\n\n", "## 2026-11-19 Wet\n\nRain.\n\n"),
    "a note": ("a note", "Beds.", "Beds and\n\npots."),
}
EDITED = FILES | {"a note": ("Garden.md", "---\nzone: 7\n---\n# Garden\n\nBeds.\n")}


@pytest.mark.parametrize(("kind", "old", "new"), EDITS.values(), ids=EDITS)
def test_restore_takes_an_edit_back_and_itself(
    ws: Workspace, kind: str, old: str, new: str
) -> None:
    """To the byte while nothing else changed, and the entries beside it stay as they are."""
    name, text = EDITED[kind]
    file = ws.config.journal / name
    file.write_bytes(text.encode())
    before = [(entry.id, entry.content) for entry in find(ws, limit=50).entries]
    [id] = edit(ws, name, (old, new))
    edited = file.read_bytes()
    listed = restorable_texts(ws)
    [one] = [*listed.deleted, *listed.edited]
    assert one.id == id and one.in_editor
    assert listed.deleted == (
        [] if id in {entry.id for entry in find(ws, limit=50).entries} else [one]
    )
    back = restore(ws, id)
    assert file.read_bytes() == text.encode()
    assert [(entry.id, entry.content) for entry in find(ws, limit=50).entries] == before
    assert restorable_texts(ws) == ([], [])
    if new:
        for one in (back.id, id):
            restore(ws, one)
            assert file.read_bytes() == edited
            restore(ws, one)
            assert file.read_bytes() == text.encode()
    assert find_losses(ws.journal) == []


def test_an_edit_without_a_change_leaves_nothing_in_the_trash(ws: Workspace) -> None:
    day_file(ws, TYPED)
    assert edit(ws, DAY) == []
    assert ws.journal.trashed() == ()


def test_of_two_texts_edited_at_once_each_comes_back_alone(ws: Workspace) -> None:
    file = day_file(ws, TYPED)
    first, second = edit(ws, DAY, ("the gate", "the door"), ("Baked", "Burnt"))
    assert {one.id for one in restorable_texts(ws).edited} == {first, second}
    restore(ws, second)
    assert "the door" in file.read_text() and "Baked" in file.read_text()
    restore(ws, first)
    assert "the gate" in file.read_text() and "Burnt" not in file.read_text()


def test_what_was_saved_into_the_file_since_an_edit_stays(ws: Workspace) -> None:
    day_file(ws, TYPED)
    [id] = edit(ws, DAY, ("## 18:00 Bread", "## 18:00 Rolls"))
    later = save(ws, "Swept the yard.").id
    assert restore(ws, id).id
    titles = [entry.title for entry in find(ws, limit=50).entries]
    assert sorted(titles) == ["Bread", "Log", "Plans", "Swept the yard."]
    assert get(ws, [later]).entries


def test_an_entry_that_changed_since_the_edit_is_shown_in_both_forms(ws: Workspace) -> None:
    file = day_file(ws, TYPED)
    [id] = edit(ws, DAY, ("- rained", "- snowed"))
    file.write_text(file.read_text().replace("- snowed", "- hailed"))
    changed = file.read_bytes()
    with pytest.raises(Changed, match="was changed since you edited it") as refused:
        restore(ws, id)
    for part in ("synaptic edit", "- rained", "- hailed"):
        assert part in refused.value.hint
    assert file.read_bytes() == changed


def test_an_update_after_an_edit_is_taken_back_first(ws: Workspace) -> None:
    file = day_file(ws, TYPED)
    [id] = edit(ws, DAY, ("- rained", "- snowed"))
    edited = file.read_bytes()
    update(ws, id, append="- hailed")
    restore(ws, id)
    assert file.read_bytes() == edited


def test_an_agent_takes_no_edit_of_a_person_back(ws: Workspace) -> None:
    file = day_file(ws, TYPED)
    [id] = edit(ws, DAY, ("- rained", "- snowed"))
    edited = file.read_bytes()
    with pytest.raises(Refused, match="only a person"):
        restore(ws, id, by_person=False)
    assert file.read_bytes() == edited


def test_a_restore_that_takes_a_restore_back_says_so(ws: Workspace) -> None:
    for change in ({"content": "Black tea."}, {"at": "2026-11-18"}):
        id = save(ws, f"Green tea, before {change}.", at="2026-11-20 09:00").id
        update(ws, id, **change)
        said = [
            bool([n for n in restore(ws, id).notices if "last restore" in n]) for _ in "123"
        ]
        assert said == [False, True, True]
    deleted = save(ws, "White tea.").id
    delete(ws, deleted)
    assert not [n for n in restore(ws, deleted).notices if "last restore" in n]


def test_texts_before_an_edit_leave_with_a_purge(ws: Workspace) -> None:
    """Also the text of an entry whose heading, and so its id, is another one now."""
    day_file(ws, TYPED)
    [id] = edit(ws, DAY, ("Bread #rye\nBaked.", "Rolls #rye\nBaked and Burnt."))
    edit(ws, DAY, ("Rolls", "Buns"))
    now = id_of(ws, "Buns")
    assert now != id
    delete(ws, now, purge=True)
    for word in (b"Bread", b"Rolls", b"Buns", b"Baked"):
        assert word not in ws.journal.trash.path.read_bytes()


def test_an_editor_that_returns_at_once_loses_no_text(ws: Workspace) -> None:
    """What it may replace is kept before it opens, once, and listed when it was replaced."""
    file = day_file(ws, TYPED)
    for _ in range(3):
        edit(ws, DAY, waits=False)
        time.sleep(0.001)
    assert len(ws.journal.trashed()) == 3
    assert restorable_texts(ws) == ([], [])
    file.write_text(TYPED.replace("- rained", "- snowed"))
    [one] = restorable_texts(ws).edited
    assert (one.title, one.text) == ("Log", "- rained")
    restore(ws, one.id)
    assert file.read_text() == TYPED


# -- outlines of Logseq
# ---------------------------------------------------------------------------------------


PAGE = "- queens\n\t- two\n- hives"


def page_of_graph(ws: Workspace, text: str) -> Path:
    page = ws.config.journal / "pages" / "Bees.md"
    settings = ws.config.journal / "logseq" / "config.edn"
    for file, data in ((page, text), (settings, "{}")):
        file.parent.mkdir()
        file.write_bytes(data.encode())
    return page


@pytest.mark.parametrize(
    ("before", "parts", "after"),
    [
        (PAGE, {"append": "More."}, f"{PAGE}\n- More."),
        (f"{PAGE}\n\n", {"append": "One\ntwo"}, f"{PAGE}\n- One\n  two\n\n"),
        (
            PAGE,
            {"append": "Buy:\n- cups\n\t- red\n- tea"},
            f"{PAGE}\n- Buy:\n\t- cups\n\t\t- red\n\t- tea",
        ),
        (PAGE, {"append": "- cups\n  of glass\n- tea"}, f"{PAGE}\n- cups\n  of glass\n- tea"),
        (
            PAGE,
            {"append": "One\n\ntwo\n\n- a\n\nThree"},
            f"{PAGE}\n- One\n\n  two\n\n\t- a\n\n- Three",
        ),
        (PAGE, {"append": "Run:\n```\n- x\n```"}, f"{PAGE}\n- Run:\n  ```\n  - x\n  ```"),
        (
            PAGE.replace("\n", "\r\n"),
            {"append": "One\ntwo"},
            f"{PAGE}\n- One\n  two".replace("\n", "\r\n"),
        ),
        (PAGE, {"add_tags": ["wax", "honey"]}, f"tags:: wax, honey\n\n{PAGE}"),
        (f"tags:: old\n\n{PAGE}", {"add_tags": ["wax"]}, f"tags:: old, wax\n\n{PAGE}"),
        (f"icon:: B\n\n{PAGE}", {"add_tags": ["wax"]}, f"icon:: B\ntags:: wax\n\n{PAGE}"),
        (f"- icon:: B\n{PAGE}", {"add_tags": ["wax"]}, f"- icon:: B\n  tags:: wax\n{PAGE}"),
        (
            "icon:: B\r\ntags::\r\n\r\n- hives\r\n",
            {"add_tags": ["wax"]},
            "icon:: B\r\ntags:: wax\r\n\r\n- hives\r\n",
        ),
        ("icon:: B\n", {"append": "More."}, "icon:: B\n- More.\n"),
        (f"{PAGE}\n-\n", {"append": "More."}, f"{PAGE}\n-\n- More.\n"),
        (f"{PAGE}\n- ", {"append": "More."}, f"{PAGE}\n-\n- More. "),
        (
            f"- icon:: B\n  tags:: [[old]]\n{PAGE}",
            {"add_tags": ["wax"]},
            f"- icon:: B\n  tags:: [[old]], wax\n{PAGE}",
        ),
        (
            f"---\ntags: [old]\n---\n{PAGE}",
            {"add_tags": ["wax"], "append": "More."},
            f"---\ntags: [old, wax]\n---\n{PAGE}\n- More.",
        ),
        (
            PAGE,
            {"append": "More #jam", "add_tags": ["wax", "jam"]},
            f"tags:: wax\n\n{PAGE}\n- More #jam",
        ),
    ],
)
def test_a_page_of_logseq_gets_blocks_and_properties_and_loses_nothing(
    ws: Workspace, before: str, parts: dict[str, Any], after: str
) -> None:
    page = page_of_graph(ws, before)
    id = id_of(ws, "Bees")
    update(ws, id, **parts)
    assert page.read_bytes() == after.encode()
    [entry] = get(ws, [id]).entries
    assert set(parts.get("add_tags", ())) <= set(entry.tags)
    restore(ws, id)
    assert page.read_bytes() == before.encode()


def test_an_agent_adds_a_heading_and_a_comment_to_a_page_of_logseq(ws: Workspace) -> None:
    page = page_of_graph(ws, PAGE)
    update(ws, id_of(ws, "Bees"), append="## 10:00 Swarm\n<!-- syn:x -->\n## Wax", by="codex")
    lines = page.read_text("utf-8").removeprefix(PAGE).split("\n")
    assert lines == ["", "- ## 10:00 Swarm", "  \\<!-- syn:x -->", "  ## Wax"]
    [entry] = get(ws, [id_of(ws, "Bees")]).entries
    assert entry.content.endswith("- ## 10:00 Swarm\n  <!-- syn:x -->\n  ## Wax")


def test_a_page_of_logseq_is_not_rewritten(ws: Workspace) -> None:
    page = page_of_graph(ws, PAGE)
    with pytest.raises(Refused, match="you can append"):
        update(ws, id_of(ws, "Bees"), content="- drones")
    assert page.read_text("utf-8") == PAGE

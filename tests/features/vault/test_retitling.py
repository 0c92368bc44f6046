"""An entry of a day gets another title, and the links that lead to it by its title follow."""

from __future__ import annotations

import pytest
from homes import put
from steady import SteadyHome

from synaptic import Workspace
from synaptic.errors import InvalidArgument, Refused
from synaptic.features.vault.renaming import plan_note_rename
from synaptic.features.vault.retitling import plan_links_to_title
from synaptic.verbs.changing import update
from synaptic.verbs.linked import unresolved_links
from synaptic.verbs.saving import save
from synaptic.workspace.many_edits import make_edits, take_back

DAY = """\
# 2026-11-02

## 9:00 decision: Tea \\#two with Ida #tea
Green.

## 10:00 In [[Tea with Ida]]

## 11:00 Only a line
"""


def text_of(ws: Workspace, path: str) -> str:
    return (ws.config.journal / path).read_text()


def test_a_heading_and_the_links_to_it_change_and_nothing_else(ws: Workspace) -> None:
    put(ws, "2026-11-02.md", DAY.replace("\\#two ", ""))
    put(ws, "From.md", "[[tea with ida|her]] `[[Tea with Ida]]` [[Tea]]\n\n[[Only a line]]\n")
    first = {path: text_of(ws, path) for path in ("2026-11-02.md", "From.md")}
    done = make_edits(ws, plan_note_rename(ws, "Tea with Ida", "Coffee", confirms=True))
    assert text_of(ws, "2026-11-02.md") == first["2026-11-02.md"].replace(
        "Tea with Ida", "Coffee"
    )
    assert (
        text_of(ws, "From.md")
        == "[[Coffee|her]] `[[Tea with Ida]]` [[Tea]]\n\n[[Only a line]]\n"
    )
    make_edits(ws, plan_note_rename(ws, "Only a line", "One line", confirms=True))
    assert "## 11:00 One line\n" in text_of(ws, "2026-11-02.md")
    assert text_of(ws, "From.md").endswith("[[One line]]\n")
    take_back(ws, done.run)
    assert text_of(ws, "From.md").startswith("[[tea with ida|her]] ")


def test_a_title_that_no_link_could_name_is_refused_where_links_lead(ws: Workspace) -> None:
    put(ws, "2026-11-02.md", DAY.partition("## 10:00")[0])
    put(ws, "Coffee.md", "Black.\n")
    first = text_of(ws, "2026-11-02.md")
    make_edits(ws, plan_note_rename(ws, "Tea #two with Ida", "Tea #three", confirms=True))
    assert "## 9:00 decision: Tea \\#three #tea\n" in text_of(ws, "2026-11-02.md")
    put(ws, "2026-11-02.md", first.replace("\\#two ", ""))
    put(ws, "From.md", "[[Tea with Ida]]\n")
    for title, why in (("Coffee", "another entry"), ("Tea [or] coffee", "may stand in one")):
        with pytest.raises(Refused, match=why):
            plan_note_rename(ws, "Tea with Ida", title)
    for title in ("", " Tea  with Ida "):
        with pytest.raises(InvalidArgument, match="Give another title"):
            plan_note_rename(ws, "Tea with Ida", title)
    put(ws, "2026-11-02.md", "# 2026-11-02\n\n## 9:00\n\nMade of the text.\n")
    with pytest.raises(Refused, match="does not hold its title"):
        plan_note_rename(ws, "Made of the text", "Another")


def test_links_to_an_old_title_follow_but_not_those_to_another_entry(ws: Workspace) -> None:
    id = save(ws, "They pay late.", title="Kunz Ltd").id
    put(ws, "From.md", "Offer for [[Kunz Ltd]].\n")
    assert update(ws, id, title="Kunz and Sons").old_title == "Kunz Ltd"
    make_edits(ws, plan_links_to_title(ws, id, "Kunz Ltd", confirms=True))
    assert text_of(ws, "From.md") == "Offer for [[Kunz and Sons]].\n"
    assert unresolved_links(ws) == ()
    save(ws, "The other one.", title="Kunz and Sons")
    assert update(ws, id, title="Kunz").old_title == ""
    assert not plan_links_to_title(ws, id, "Kunz and Sons", confirms=True).edits


def test_the_command_renames_an_entry_and_undo_takes_it_back(home: SteadyHome) -> None:
    home.ask("save", "They pay late.", "--title", "Kunz Ltd")
    home.ask("save", "Offer for [[Kunz Ltd]].")
    first = home.files()
    done = home.ask("rename", "Kunz Ltd", "Kunz and Sons", "--yes")
    assert len(done["changes"]) == 2 and not done["moves"]
    assert b"Offer for [[Kunz and Sons]]." in b"".join(home.files().values())
    home.ask("undo")
    assert home.files() == first

"""Where links lead: to pages, not to sections of days; in exact letters before others; and to
the same end for lists of links, backlinks, graphs and renames.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from homes import open_home, put

from synaptic import Workspace, save, update
from synaptic.notes.blocks import without_code
from synaptic.verbs.linked import link_targets, links, unresolved_links
from synaptic.verbs.neighbours import link_graph


def test_a_section_of_a_day_is_no_page(ws: Workspace) -> None:
    put(ws, "2026-11-20.md", "# 2026-11-20\n\n## Errands\n\nx\n\n## 09:00 Dentist\n\ny\n")
    put(ws, "journals/2026_11_19.md", "- ## Garden\n\t- dug\n- see [[Garden]], [[Errands]]\n")
    put(ws, "Shed.md", "Tools.\n")
    put(ws, "Titled.md", "---\ntitle: Long name\n---\nx\n")
    save(ws, "Text.", title="Chose oak")
    put(
        ws,
        "Links.md",
        "[[Errands]] [[Dentist]] [[shed]] [[long name]] [[Chose oak]] [[Garden]]\n",
    )
    broken = [link.text for link in unresolved_links(ws)]
    assert broken == ["Errands", "Garden", "Garden", "Errands"]
    assert [link.title for link in links(ws, "Garden").backlinks] == [
        "Links",
        "2026-11-19 > see [[Garden]], [[Errands]]",
    ]


def test_a_link_leads_to_the_page_in_its_letters(ws: Workspace) -> None:
    put(ws, "a/AIDS.md", "An illness.\n")
    put(ws, "b/Aids.md", "Helpers.\n")
    put(ws, "From.md", "[[Aids]], [[AIDS]] and [[aids]]\n")
    entries = link_targets(ws, ["Aids", "AIDS", "b/Aids.md"], "From.md")
    assert [entry.path for entry in entries.values()] == ["b/Aids.md", "a/AIDS.md", "b/Aids.md"]
    [page] = links(ws, "From").links[:1]
    assert page.text == "Aids" and page.id == entries["Aids"].id


def test_a_link_to_a_note_that_is_left_out_is_not_broken(tmp_path: Path) -> None:
    with open_home(tmp_path / "home", exclude=("Forms/**", "old/*.md")) as ws:
        put(ws, "Forms/Weekly review.md", "# Week\n")
        put(ws, "old/Barn.md", "x\n")
        put(ws, "From.md", "[[weekly review]], [barn](old/Barn.md), [[Forms/None]], [[Loft]]\n")
        assert [link.text for link in unresolved_links(ws)] == ["Forms/None", "Loft"]


def test_a_link_in_the_front_matter_stands_at_its_line(ws: Workspace) -> None:
    front = 'title: Buy wisely\nauthor:\n  - "[[Ann Lee]]"\ntype: "[[Published]]"\n'
    put(ws, "Buy.md", f"---\n{front}---\n\nA [[Missing]] link.\n")
    lines = {"Ann Lee": 4, "Published": 5, "Missing": 8}
    assert {link.text: link.line for link in unresolved_links(ws)} == lines
    assert {link.text: link.line for link in links(ws, "Buy wisely").links} == lines


def ends_id(ws: Workspace, path: str) -> str:
    return link_targets(ws, [path], "")[path].id


def test_a_graph_joins_only_the_ends_of_links(ws: Workspace) -> None:
    put(ws, "Deed.md", "Upper. [[deed]]\n")
    put(ws, "deed.md", "Lower. [[Other]]\n")
    put(ws, "DEED.md", "Capitals.\n")
    put(ws, "Other.md", "Other.\n")
    graph = link_graph(ws, ends_id(ws, "Deed.md"))
    paths = [[graph.entries[row].path for row in column] for column in graph.columns]
    assert paths == [["Deed.md"], ["deed.md"], ["Other.md"]]
    assert len(graph.pairs) == 2


def test_a_part_of_an_attached_file_is_no_note_and_a_heading_may_end_like_one(
    ws: Workspace,
) -> None:
    put(ws, "Real.md", "Real.\n")
    put(ws, "From.md", "[[scan.pdf#page=3]] ![[gel.png#part]] [[gel.png]] [[Real#the a.png]]\n")
    assert unresolved_links(ws) == ()
    assert [link.text for link in links(ws, "From").links] == ["Real#the a.png"]


@pytest.mark.parametrize("sign", ["${", "{", "}", "${{", "${}", "\n\n${"])
def test_many_braces_are_read_in_one_pass(sign: str) -> None:
    text = sign * 30_000
    assert len(without_code(text)) == len(text)


def test_a_new_title_says_which_links_to_the_old_one_break(ws: Workspace) -> None:
    id = save(ws, "They pay late.", title="Kunz Ltd").id
    save(ws, "Offer for [[Kunz Ltd]].")
    save(ws, "Called [[kunz ltd]] again.")
    update(ws, id, append="Always.")
    notices = " ".join(update(ws, id, title="Kunz and Sons Ltd").notices)
    assert "2 entries link to its old title" in notices
    assert {link.path for link in unresolved_links(ws)} != set()
    back = update(ws, id, title="Kunz Ltd").notices
    assert not any("old title" in notice for notice in back) and unresolved_links(ws) == ()
    save(ws, "The other one.", title="Kunz Ltd")
    again = update(ws, id, title="Kunz and Sons").notices
    assert not any("old title" in notice for notice in again)


DAYS = {
    "Coop.md": "Of oak.\n",
    "Hens.md": "# Hens\n\n## Home\n\nThe [[Coop]].\n",
    "2026-11-20 Visit.md": "Ida saw the [[Coop]].\n",
    "2026-11-24.md": "The [[Coop]] leaks.\n",
    "2026-11-25.md": "# Wednesday, 25 November\n\n## Log\n\nMended the [[Coop]].\n",
    "2026-11-26.md": "# Thursday\n\n### Garden\n\n```\n# no heading\n```\n\nThe [[Coop]].\n",
    "2026-11-27.md": "# Mittwoch\n\nThe [[Coop]].\n",
}


def test_a_backlink_names_its_day_and_its_note(ws: Workspace) -> None:
    for name, text in DAYS.items():
        put(ws, name, text)
    titles = {link.path: link.title for link in links(ws, "Coop").backlinks}
    assert titles == {
        "Hens.md": "Hens",
        "2026-11-20 Visit.md": "2026-11-20 Visit",
        "2026-11-24.md": "2026-11-24",
        "2026-11-25.md": "2026-11-25 > Log",
        "2026-11-26.md": "2026-11-26 > Garden",
        "2026-11-27.md": "2026-11-27",
    }
    graph = link_graph(ws, ends_id(ws, "Coop.md"))
    shown = {graph.titles[row] for row in graph.columns[1]}
    assert shown == {*titles.values(), "2026-11-26"} - {"2026-11-26 > Garden"}

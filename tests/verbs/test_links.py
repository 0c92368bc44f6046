"""Where links lead: to pages, not to sections of days; in exact letters before others; and to
the same end for lists of links, backlinks, graphs and renames.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from homes import open_home

from synaptic import Filters, Workspace, find, save, update
from synaptic.features.vault.renaming import plan_note_rename
from synaptic.features.vault.retagging import plan_tag_rename
from synaptic.notes.blocks import without_code
from synaptic.verbs.linked import link_targets, links, unresolved_links
from synaptic.verbs.neighbours import link_graph
from synaptic.workspace.many_edits import make_edits


def put(ws: Workspace, name: str, text: str) -> None:
    file = ws.config.journal / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")


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


def test_names_that_differ_by_case_are_two_notes_to_every_command(ws: Workspace) -> None:
    put(ws, "Deed.md", "Upper. [[deed]]\n")
    put(ws, "deed.md", "Lower.\n")
    put(ws, "deep/DEED.md", "Deep. [here](deed.md), [[Deed]] and [[deed|it]]\n")
    put(ws, "From.md", "[[DEED]], [[deed]], [[Deed.md]], [x](deed.md) and [[dEeD]]\n")
    ends = {path: link_targets(ws, [path], "")[path].id for path in ("Deed.md", "deed.md")}
    assert [link.id for link in links(ws, "From").links] == [
        ends_id(ws, "deep/DEED.md"),
        ends["deed.md"],
        ends["Deed.md"],
    ]
    assert sorted((link.path, link.text) for link in links(ws, "deed").backlinks) == [
        ("Deed.md", "deed"),
        ("From.md", "deed"),
        ("From.md", "deed.md"),
        ("deep/DEED.md", "deed"),
    ]
    for name, sources in (("Deed", "From deep/DEED"), ("deed", "Deed From deep/DEED")):
        found = find(ws, filters=Filters(links_to=name))
        assert sorted(entry.path[:-3] for entry in found.entries) == sources.split()
    found = find(ws, query="lower deep", filters=Filters(links_to="deep/DEED"))
    assert [entry.path for entry in found.entries] == ["From.md"]
    assert ends_id(ws, "Deed.md") == links(ws, "deep/DEED").links[1].id
    make_edits(ws, plan_note_rename(ws, "deed", "contract", confirms=True))
    read = {path.name: path.read_text() for path in ws.config.journal.rglob("*.md")}
    assert read["Deed.md"] == "Upper. [[contract]]\n"
    assert (
        read["From.md"]
        == "[[DEED]], [[contract]], [[Deed.md]], [x](contract.md) and [[dEeD]]\n"
    )
    assert unresolved_links(ws) == ()


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


def test_of_two_notes_of_one_name_links_and_renames_mean_the_same(ws: Workspace) -> None:
    put(ws, "a/Plan.md", "A. See [[Plan]].\n")
    put(ws, "b/Plan.md", "B.\n")
    put(ws, "b/From.md", "[[Plan]], [x](Plan.md) and [[a/Plan]]\n")
    targets = [link.id for link in links(ws, "From").links]
    assert targets == [ends_id(ws, path) for path in ("b/Plan.md", "b/Plan.md", "a/Plan.md")]
    assert [link.path for link in links(ws, "a/Plan").backlinks] == ["b/From.md"]
    make_edits(ws, plan_note_rename(ws, "b/Plan.md", "b/Aim.md", confirms=True))
    text = (ws.config.journal / "b/From.md").read_text()
    assert text == "[[Aim]], [x](Aim.md) and [[a/Plan]]\n"


def test_a_note_in_a_label_before_a_bar_is_found_behind_it(ws: Workspace) -> None:
    put(ws, "dendron.yml", "version: 5\n")
    put(ws, "tools.file-card.md", "# File card\n\n## Steel\n")
    put(ws, "him.md", "Him.\n")
    put(ws, "tools.md", "Tools.\n")
    put(
        ws,
        "From.md",
        "[[the card: Steel|tools.file-card#steel]], [[cards|dendron://vault/tools.file-card]], "
        "[[all|tools]], [[him|tools]], [[gone|the other words]] and [[gone|tools.none]]\n",
    )
    assert [link.text for link in unresolved_links(ws)] == ["gone", "gone"]
    found = [link.id for link in links(ws, "From").links]
    card = ends_id(ws, "tools.file-card.md")
    expected = [card, card, ends_id(ws, "tools.md"), ends_id(ws, "him.md"), None, None]
    assert found == expected
    assert [link.text for link in links(ws, "tools").backlinks] == ["all"]
    assert len(links(ws, "tools.file-card").backlinks) == 2
    make_edits(ws, plan_note_rename(ws, "tools.md", "steel.md", confirms=True))
    make_edits(ws, plan_note_rename(ws, "tools.file-card.md", "steel.card.md", confirms=True))
    assert (ws.config.journal / "From.md").read_text() == (
        "[[the card: Steel|steel.card#steel]], [[cards|dendron://vault/steel.card]], "
        "[[all|steel]], [[him|tools]], [[gone|the other words]] and [[gone|tools.none]]\n"
    )


EXPRESSIONS = """
${query[[from index.tag "task" select "[[" .. name .. "]]"]]} [[Real]]

${template.each(query[[
  from p = index.tag "page" where p.name == "x"
  select {Page = "[[".. p.name .."]]", Count = #p.tags}
]], templates.item)}

cost ${ 5 and [[Real]]

- ${a.b({c = "[[None]]"})} [[tag:steel/cold|words]] [[tag:steel]] [[Tag: real]]
`${` [[Real]] `}`
"""


def test_what_silverbullet_runs_holds_no_link_and_a_tag_is_no_note(ws: Workspace) -> None:
    put(ws, "Real.md", "Real.\n")
    put(ws, "Tag real.md", '---\ntitle: "Tag: real"\n---\nx #steel\n')
    put(ws, "From.md", EXPRESSIONS)
    assert unresolved_links(ws) == ()
    assert [link.text for link in links(ws, "From").links] == ["Real", "Tag: real"]
    assert len(links(ws, "Real").backlinks) == 1
    assert link_targets(ws, ["From"], "")["From"].tags == ()
    make_edits(ws, plan_tag_rename(ws, "steel", "iron"))
    make_edits(ws, plan_note_rename(ws, "Real.md", "Made.md", confirms=True))
    text = (ws.config.journal / "From.md").read_text()
    assert text == EXPRESSIONS.replace("[[Real", "[[Made").replace("tag:steel", "tag:iron")


def test_a_part_of_an_attached_file_is_no_note_and_a_heading_may_end_like_one(
    ws: Workspace,
) -> None:
    put(ws, "Real.md", "Real.\n")
    put(ws, "From.md", "[[scan.pdf#page=3]] ![[gel.png#part]] [[gel.png]] [[Real#the a.png]]\n")
    assert unresolved_links(ws) == ()
    assert [link.text for link in links(ws, "From").links] == ["Real#the a.png"]


def test_a_link_behind_a_code_span_follows_a_rename(ws: Workspace) -> None:
    put(ws, "Real.md", "Real.\n")
    put(ws, "From.md", "Text.\n\n`a code span` [[Real]]\n\n    [[Real]]\n")
    make_edits(ws, plan_note_rename(ws, "Real.md", "Made.md", confirms=True))
    text = (ws.config.journal / "From.md").read_text()
    assert text == "Text.\n\n`a code span` [[Made]]\n\n    [[Real]]\n"


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

"""Links of all forms after a rename."""

from __future__ import annotations

from homes import put

from synaptic import Filters, Workspace, find
from synaptic.features.vault.renaming import plan_note_rename
from synaptic.features.vault.retagging import plan_tag_rename
from synaptic.verbs.linked import link_targets, links, unresolved_links
from synaptic.workspace.many_edits import make_edits


def ends_id(ws: Workspace, path: str) -> str:
    return link_targets(ws, [path], "")[path].id


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


def test_a_link_behind_a_code_span_follows_a_rename(ws: Workspace) -> None:
    put(ws, "Real.md", "Real.\n")
    put(ws, "From.md", "Text.\n\n`a code span` [[Real]]\n\n    [[Real]]\n")
    make_edits(ws, plan_note_rename(ws, "Real.md", "Made.md", confirms=True))
    text = (ws.config.journal / "From.md").read_text()
    assert text == "Text.\n\n`a code span` [[Made]]\n\n    [[Real]]\n"

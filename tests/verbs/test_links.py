"""Where links lead: to pages, not to sections of days; in exact letters before others."""

from __future__ import annotations

from pathlib import Path

from homes import open_home

from synaptic import Workspace, save
from synaptic.verbs.mentions import broken_links, link_targets, links


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
    broken = [link.text for link in broken_links(ws)]
    assert broken == ["Errands", "Garden", "Garden", "Errands"]
    assert [link.title for link in links(ws, "Garden").backlinks] == [
        "Links",
        "see [[Garden]], [[Errands]]",
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
        assert [link.text for link in broken_links(ws)] == ["Forms/None", "Loft"]

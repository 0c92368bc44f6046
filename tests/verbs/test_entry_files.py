"""An entry has files where a mark names one, or its text links to or shows one."""

from __future__ import annotations

from pathlib import Path

import pytest
from homes import open_home

from synaptic import Filters, Workspace, find, rebuild, save, update
from synaptic.journal.shelf import ATTACHMENTS
from synaptic.notes.marks import links_to_file

WITH = (
    "![[boiler.png]]",
    "![[boiler.png|300]]",
    "[[Plan.PDF#page=3|the plan]]",
    "![x](../assets/image_1700000000_0.png)",
    "![](attachments/imported/2026-gel.heic)",
    '![gel](gel.webp "The gel")',
    "[coa](certificate%20(1).pdf#page=2)",
    "[it](<my talk.m4a>)",
    "[![](small.png)](https://a.org)",
    "[it](file:///etc/passwd.pdf)",
    "cover:: [[cover.png]]",
    "Text, and code `a.png`, and ![x](b.png).",
)
WITHOUT = (
    "certificate.pdf",
    "[[Boiler]]",
    "[[todo.txt]]",
    "![[Boiler#Parts]]",
    "[x](Boiler.md)",
    "[x](../notes/Boiler.md#parts.pdf)",
    "[web](https://a.org/y.pdf)",
    "![web]( https://a.org/y.png)",
    "[mail](mailto:ida@a.png)",
    "[x](Boiler) and (see y.png)",
    "`![x](b.png)`",
    "```\n![[b.png]]\n```",
    "<private>![[b.png]]</private>",
)


def listed(ws: Workspace, *, has_files: bool) -> set[str]:
    return {one.id for one in find(ws, filters=Filters(has_files=has_files), limit=100).entries}


def test_an_entry_has_the_files_that_its_text_links_to(tmp_path: Path) -> None:
    with open_home(tmp_path) as ws:
        expected = {save(ws, f"Nr {n}.\n\n{text}").id for n, text in enumerate(WITH)}
        expected.add(save(ws, "About code.", files=["src/a.py"]).id)
        others = {save(ws, f"No {n}.\n\n{text}").id for n, text in enumerate(WITHOUT)}
        for note, front in (("Cover", "cover: '[[c.png]]'"), ("Bare", "cover: none")):
            text = f"---\n{front}\ndate: 2026-11-01\n---\n\n# {note}\n"
            (ws.config.journal / f"{note}.md").write_text(text)
        [cover] = find(ws, filters=Filters(where=(("cover", "c.png"),))).entries
        [bare] = find(ws, filters=Filters(where=(("cover", "none"),))).entries
        for _ in range(2):
            assert listed(ws, has_files=True) == expected | {cover.id}
            assert listed(ws, has_files=False) == others | {bare.id}
            rebuild(ws)


def test_a_new_text_brings_and_takes_its_files(tmp_path: Path) -> None:
    with open_home(tmp_path) as ws:
        id = save(ws, "Boiler.").id
        for text, has_files in (("![[boiler.png]]", True), ("No picture.", False)):
            update(ws, id, content=text)
            assert listed(ws, has_files=has_files) == {id}
            assert not listed(ws, has_files=not has_files)


@pytest.mark.parametrize("suffix", sorted(ATTACHMENTS))
def test_what_the_page_shows_is_a_file(suffix: str) -> None:
    assert links_to_file(f"See [it](It{suffix}).") and links_to_file(
        f"![](a/It{suffix.upper()})"
    )

"""What the page shows of Obsidian's and Logseq's Markdown: `tests/data/markdown.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from homes import open_home

from synaptic.features.page.rendering import EMBEDS, Quoted, plain_lines, render_markdown
from synaptic.verbs.linked import link_targets
from synaptic.workspace.workspace import Workspace

CORPUS = tomllib.loads((Path(__file__).parents[2] / "data" / "markdown.toml").read_text())


@pytest.fixture(scope="module")
def ws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    home = tmp_path_factory.mktemp("markdown") / "home"
    for name, text in CORPUS["pages"].items():
        place = home / "journal" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    with open_home(home) as opened:
        yield opened


def html_of(ws: Workspace, text: str) -> BeautifulSoup:
    def quoted(names: Sequence[str], path: str) -> Quoted:
        return link_targets(ws, names, path)

    return BeautifulSoup(render_markdown(text, "n.md", quoted), "html.parser")


def words_of(found: Any) -> str:
    return " ".join(found.get_text().split())


@pytest.mark.parametrize("case", CORPUS["construct"], ids=lambda case: case["name"])
def test_a_construct_shows_what_its_owner_sees(ws: Workspace, case: dict[str, Any]) -> None:
    shown = html_of(ws, case["text"])
    words = words_of(shown)
    for selector, expected in case.get("has", {}).items():
        found = shown.select_one(selector.removeprefix("no "))
        if selector.startswith("no "):
            assert found is None, f"{selector}: {shown}"
        else:
            assert found is not None, f"{selector}: {shown}"
            assert " ".join(expected.split()) in words_of(found), f"{selector}: {shown}"
    for hidden in case.get("hides", ()):
        assert hidden not in words, shown
    for part in case.get("shows", ()):
        assert part in words, shown


def test_what_embeds_itself_is_shown_once_and_no_note_embeds_without_end(ws: Workspace) -> None:
    shown = html_of(ws, "![[Loop]] and ![[Other]]")
    assert (
        len(shown.select(".md-embed")) == 2 and len(shown.select("a[href*='name=Loop']")) == 3
    )
    many = html_of(
        ws, " ".join(f"![[Tea#^pot|{at}]] ![[Tea#Cups{'#' * at}]]" for at in range(99))
    )
    assert len({one["href"] for one in many.select(".md-embed > .md-title > a")}) <= EMBEDS


@pytest.mark.parametrize(
    "text", ["> - <pre>\n>", "> - <pre>\n> ", "> | a | b |\n> |---|---|\n>"]
)
def test_a_text_that_ends_within_a_quotation_is_rendered(text: str) -> None:
    assert BeautifulSoup(render_markdown(text, "n.md"), "html.parser").find("blockquote")


def test_an_extract_keeps_lists_and_tables_apart() -> None:
    text = (
        "…\n- [ ] a\n  - **b**\n3. c\n\n| d | `e` |\n|:--|--:|\n| f | g |\n> [!tip] h\n> i\n…"
    )
    shown = ["…", "• ☐ a", "• b", "3. c", "d · e", "f · g", "h", "i", "…"]
    assert plain_lines(text).split("\n") == shown


@pytest.mark.parametrize("sign", ["${a} ", "${ "])
def test_a_text_of_very_many_expressions_is_rendered(ws: Workspace, sign: str) -> None:
    """Each of them is looked at once: its note does not reach the limit of time."""
    assert html_of(ws, f"**bold** {sign * 4_000}").strong

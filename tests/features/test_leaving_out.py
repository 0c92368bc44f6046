"""A minus before a value of a filter leaves out what has it, wherever filters are given; no
command drops it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from forks import Forks
from outside import Server
from served import Served, served
from steady import SteadyHome

from synaptic.filters import FILTERS, MINUS
from synaptic.models import Texts

pytestmark = [pytest.mark.needs(feature="page"), pytest.mark.needs(feature="takeaway")]

DAYS = {
    "2026-11-02.md": """\
## 09:00 decision: Alpha #private
<!-- syn:20261102-aaaaaaaa project=harbor files=src/a.py -->

Text of the quay.

## 10:00 Beta #vole #private/own
<!-- syn:20261102-bbbbbbbb project=ferry via=mcp -->

mood:: calm
""",
    "Manuals/Gamma.md": "---\ndate: 2026-11-03\nmood: calm and dry\n---\n\n# Gamma\n\nQuay.\n",
    "2026-11-04.md": "## 08:00 Delta #vole\n\nmood:: wild\n",
}
NAMES = {"Alpha", "Beta", "Gamma", "Delta"}
CASES: dict[str, tuple[str, set[str]]] = {
    "type": ("decision", {"Alpha"}),
    "tag": ("private", {"Alpha", "Beta"}),
    "project": ("harbor", {"Alpha"}),
    "source": ("mcp", {"Beta"}),
    "file": ("src/a.py", {"Alpha"}),
    "path": ("Manuals/", {"Gamma"}),
    "where": ("mood=calm", {"Beta", "Gamma"}),
}
"""By filter of texts: a value, and what has it."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, forks: Forks) -> SteadyHome:
    folder = tmp_path_factory.mktemp("left")
    env = {"HOME": str(folder), "SYNAPTIC_NOW": "2026-11-05T10:30:00"}
    home = SteadyHome(folder / "home", env, folder=folder, forks=forks)
    for path, text in DAYS.items():
        file = Path(home.journal) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return home


@pytest.fixture(scope="module")
def server(home: SteadyHome) -> Iterator[Server]:
    with home.server() as server:
        yield server


@pytest.fixture(scope="module")
def page(home: SteadyHome) -> Iterator[Served]:
    with served(home.path, **home.env) as server:
        yield server


def names_in(text: str) -> set[str]:
    return set(re.findall(r"\b(Alpha|Beta|Gamma|Delta)\b", text))


def shown_by(home: SteadyHome, command: str, *flags: str) -> set[str]:
    words = {"search": ("November 2026",), "export": ("--csv",), "book": ("2026-11", "--to")}
    if command != "book":
        return names_in(home.run(command, *words.get(command, ()), *flags).out)
    file = Path(home.env["HOME"]) / "book.html"
    file.unlink(missing_ok=True)
    home.run("book", "2026-11", "--to", str(file), *flags)
    return names_in(file.read_text())


def test_each_filter_that_takes_several_texts_has_a_case() -> None:
    assert {row.name for row in FILTERS.values() if row.form == "texts"} == {*CASES}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("command", ["find", "search", "export", "book"])
def test_a_flag_with_a_minus_leaves_out(home: SteadyHome, command: str, name: str) -> None:
    if command not in FILTERS[name].commands:
        assert name == "source" or command == "book"
        return
    value, having = CASES[name]
    flag = f"--{name}"
    assert having >= shown_by(home, command, flag, value) > set()
    for flags in ((flag, f"-{value}"), (f"{flag}=-{value}",), (f"{flag}=–{value}",)):
        assert shown_by(home, command, *flags) == NAMES - having, flags


def test_values_with_and_without_a_minus_hold_together(home: SteadyHome) -> None:
    def find(*arguments: str) -> set[str]:
        return names_in(home.run("find", *arguments).out)

    assert find("--tag", "vole", "--tag", "-private") == {"Delta"}
    assert find("--tag", "-vole", "--tag", "-private") == {"Gamma"}
    assert find("--tag", "-vole+private") == NAMES - {"Beta"}
    assert find("--where=-mood=calm", "--where=-mood=wild") == {"Alpha"}
    assert find("-tag:private", "--type=-note") == set()
    assert find("tag:-private", "--tag=-vole") == {"Gamma"}
    assert names_in(home.run("recent", "--project", "-ferry").out) == NAMES - {"Beta"}


KEYED = [name for name in CASES if FILTERS[name].key]


@pytest.mark.parametrize("name", [*KEYED, "mood"])
def test_a_query_with_a_minus_leaves_out(home: SteadyHome, name: str) -> None:
    value, having = ("calm", {"Beta", "Gamma"}) if name == "mood" else CASES[name]
    for query in (f"-{name}:{value}", f"{name}:-{value}", f"–{name}:{value}"):
        answer = home.ask("find", query)
        assert names_in(str(answer["entries"])) == NAMES - having, query
        assert answer.get("notices", []) == []


@pytest.mark.parametrize(
    ("query", "found"), [("has:-body", set()), ("-has:body", set()), ("has:body", NAMES)]
)
def test_what_an_entry_has_is_left_out_alike(
    home: SteadyHome, query: str, found: set[str]
) -> None:
    assert names_in(home.run("find", query).out) == found


@pytest.mark.parametrize("name", [name for name in CASES if "find" in FILTERS[name].tools])
def test_an_agent_leaves_out_alike(server: Server, name: str) -> None:
    value, having = CASES[name]
    for given in (f"-{value}", [f"-{value}"]):
        answer = server.call("find", **{name: given})
        assert names_in(str(answer["entries"])) == NAMES - having


@pytest.mark.parametrize("name", [name for name in CASES if FILTERS[name].page])
def test_the_page_leaves_out_and_says_so(page: Served, name: str) -> None:
    value, having = CASES[name]
    shown = page.shown(f"/search?{name}=-{value}")
    assert {one for one in NAMES if f">{one}</a>" in shown} == NAMES - having
    assert "without " in shown and f'name="{name}" value="-{value}"' in shown
    book = page.client.get("/book/file", params={name: f"-{value}"}).text
    assert names_in(book) == NAMES - having
    assert name == "source" or "<title>without " in book
    printed = page.shown(f"/print?{name}=-{value}")
    assert names_in(printed) == NAMES - having


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("find", "--tag", "--private"), "a minus leaves out the name behind it"),
        (("find", "--tag=-"), "a minus leaves out the name behind it"),
        (("find", "--project=-*"), "a minus leaves out the name behind it"),
        (("find", "--tag", "vole+-private"), "a minus leaves out, before the whole value"),
        (("find", "--where", "mood=-calm"), "before the name: -mood=calm"),
        (("find", "--since=-2026"), "is not a date"),
        (("find", "--parent=-x"), "No entry has the id"),
        (("search", "quay", "--prefer", "tag=-private"), "A filter leaves out"),
        (("save", "Text", "--tag", "-private"), "a minus leaves out, before the whole value"),
        (
            ("update", "aaaaaaaa", "--add-tag=-private"),
            "a minus leaves out, before the whole value",
        ),
    ],
)
def test_a_minus_that_leaves_nothing_out_is_refused(
    home: SteadyHome, flags: Texts, said: str
) -> None:
    answer = home.run(*flags)
    assert answer.code and said in answer.err
    assert not home.run("find", "--tag=x").code


def test_each_minus_that_people_type_counts() -> None:
    assert {"-", "−", "–"} == {*MINUS}


def test_what_no_list_can_mean_is_searched_as_words(home: SteadyHome) -> None:
    [notice] = home.ask("search", "quay -tag:-private")["notices"]
    assert "leaves out the name behind it" in notice

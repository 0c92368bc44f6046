"""Each option of `search` answers a wish that a user has, or its help says that it is for
experts. An agent has the same options in the tool `context_search`, and three of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from forks import Forks
from outside import Server
from steady import SteadyHome
from typer.main import get_command

from synaptic.cli.flags import EXPERTS
from synaptic.cli.main import program_for
from synaptic.mcp.tools import TOOLS_BY_NAME
from synaptic.models import Json, Texts

DAYS = {
    "2026-10-05.md": """\
## 09:00 decision: Old: the pump is made of brass #boat #engine
<!-- syn:20261005-aaaaaaaa project=harbor -->

The brass pump is the cheaper one.

## 10:00 Sails: both are at the maker's #boat
""",
    "2026-10-12.md": """\
## 09:00 Winter: drain the pump before the frost #boat

A pump that holds water bursts.

## 11:00 decision: Paint: the hull stays blue #boat
<!-- syn:20261012-eeeeeeee project=harbor -->
""",
    "2026-11-02.md": """\
## 07:00 issue: Leak: the pump drips at its seal #engine
<!-- syn:20261102-ffffffff project=harbor files=docs/seal.md -->

## 08:00 Ropes: two are new #boat
""",
    "2026-11-19.md": """\
## 09:00 decision: New: the pump is made of steel #boat #engine
<!-- syn:20261119-bbbbbbbb project=harbor supersedes=20261005-aaaaaaaa files=src/pump.py -->

Salt eats the brass pump.

## 10:00 Log: the pump ran for an hour #boat
<!-- syn:20261119-cccccccc project=ferry by=codex via=import:codex -->

The pump was loud.

## 11:00 Timetable: the ferry leaves at eight
<!-- syn:20261119-99999999 project=ferry by=codex via=import:codex -->
""",
    "2026-11-20.md": "## 12:00 Lunch: soup with Ida\n\n## 15:00 Tide: high at six #boat\n",
    "Manuals/Pump.md": """\
---
author: Ida
date: 2026-11-12
---

# Manual of the pump

Grease the pump each month.
""",
    "Manuals/Stove.md": "---\nauthor: Ida\ndate: 2026-11-13\n---\n\n# Stove\n\nOpen the lid.\n",
    "2026-11-21.md": """\
## 08:00 Today the pump is dry #engine
<!-- syn:20261121-dddddddd importance=9 -->

The pump stands still.
""",
}
OLD, WINTER, LEAK, NEW, LOG, MANUAL, TODAY = "Old Winter Leak New Log Manual Today".split()


class Case(NamedTuple):
    """What a user types behind `search pump`, and the first word of each entry that is found,
    in a list where the order counts. `without` is what stays without the option. `arguments`
    are those of an agent, the option first; None where the tool lacks it.
    """

    flags: Texts
    found: set[str] | list[str]
    arguments: Json | None
    without: Texts = ()


CASES = {
    "--type": Case(("--type", "decision"), {NEW}, {"type": "decision"}),
    "--tag": Case(("--tag", "boat+engine"), {NEW}, {"tag": "boat+engine"}),
    "--project": Case(("--project", "ferry"), {LOG}, {"project": "ferry"}),
    "--since": Case(("--since", "today"), {TODAY}, {"since": "today"}),
    "--until": Case(("--until", "2026-11-02"), {WINTER, LEAK, OLD}, {"until": "2026-11-02"}),
    "--file": Case(("--file", "src/pump.py"), {NEW}, {"file": "src/pump.py"}),
    "--path": Case(("--path", "Manuals/"), {MANUAL}, None),
    "--where": Case(("--where", "author=Ida"), {MANUAL}, None),
    "--sessions": Case(("--sessions",), {LOG}, {"sessions": True}),
    "--include-superseded": Case(
        ("--include-superseded", "--type", "decision"),
        {OLD, NEW},
        {"include_superseded": True, "type": "decision"},
        without=("--type", "decision"),
    ),
    "--order": Case(
        ("--order", "oldest", "--tag", "engine"),
        [LEAK, NEW, TODAY],
        {"order": "oldest", "tag": "engine"},
        without=("--tag", "engine"),
    ),
    "--limit": Case(
        ("--limit", "1", "--include-superseded", "--type", "decision"),
        {NEW},
        {"limit": 1, "include_superseded": True, "type": "decision"},
        without=("--include-superseded", "--type", "decision"),
    ),
    "--days": Case(("--days", "3"), {NEW, LOG, TODAY}, {"days": 3}),
    "--as-of": Case(("--as-of", "2026-10-31"), {OLD, WINTER}, {"as_of": "2026-10-31"}),
}
"""By option."""
SHOWN: dict[str, tuple[Json, Texts, Texts]] = {
    "query": ({"query": '"holds water"'}, ("Winter",), ("Leak", "Log")),
    "max_tokens": (
        {"query": "pump", "max_tokens": 100},
        ("did not fit: raise max_tokens",),
        (),
    ),
    "format": ({"query": "pump", "format": "detailed"}, ("by codex", "Salt eats"), ()),
}
"""By parameter that the tool alone has: arguments, what the answer says, and what it does not."""


@pytest.fixture(scope="module")
def boat(tmp_path_factory: pytest.TempPathFactory, forks: Forks) -> SteadyHome:
    folder = tmp_path_factory.mktemp("boat")
    env = {"HOME": str(folder), "SYNAPTIC_NOW": "2026-11-21T10:30:00"}
    home = SteadyHome(folder / "home", env, folder=folder, forks=forks)
    for path, text in DAYS.items():
        file = Path(home.journal) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return home


@pytest.fixture(scope="module")
def server(boat: SteadyHome) -> Iterator[Server]:
    with boat.server() as server:
        yield server


def names_in(answer: Json) -> list[str]:
    return [hit["title"].split(":")[0].split()[0] for hit in answer["hits"]]


def test_each_option_of_search_has_a_case_or_is_for_experts() -> None:
    program: Any = get_command(program_for(["search"]))
    [command] = program.commands.values()
    options = [one for one in command.params if one.param_type_name == "option"]
    for_experts = {one.opts[0]: one.name for one in options if one.rich_help_panel == EXPERTS}
    assert {one.opts[0] for one in options} == {*CASES, *for_experts, "--json"}
    assert not for_experts.keys() & {*CASES}
    _, _, last_section = command.get_help(command.make_context("search", [])).partition(EXPERTS)
    assert all(f"  {flag}" in last_section for flag in for_experts)
    assert not [flag for flag in CASES if f"  {flag} " in last_section]
    tool = TOOLS_BY_NAME["context_search"]
    cases = {next(iter(case.arguments)) for case in CASES.values() if case.arguments}
    experts = {"weights" if name == "weight" else name for name in for_experts.values()}
    assert {*tool.parameters, *tool.options} == cases | {*SHOWN} | experts


@pytest.mark.parametrize("option", CASES)
def test_an_option_of_search_does_what_its_help_says(boat: SteadyHome, option: str) -> None:
    flags, expected, _, without = CASES[option]
    assert option in flags
    found = names_in(boat.ask("search", "pump", *flags))
    assert type(expected)(found) == expected
    assert type(expected)(names_in(boat.ask("search", "pump", *without))) != expected


@pytest.mark.parametrize("option", [name for name, case in CASES.items() if case.arguments])
def test_an_agent_has_the_same_option(server: Server, option: str) -> None:
    case = CASES[option]
    found = names_in(server.call("search", query="pump", **(case.arguments or {})))
    assert type(case.found)(found) == case.found


@pytest.mark.parametrize("parameter", SHOWN)
def test_a_parameter_of_the_tool_does_what_it_says(server: Server, parameter: str) -> None:
    arguments, said, unsaid = SHOWN[parameter]
    assert parameter in arguments

    def says_so(answer: str) -> bool:
        return all(one in answer for one in said) and not any(one in answer for one in unsaid)

    assert says_so(server.text("search", **arguments))
    assert not says_so(server.text("search", query="pump"))


def test_an_answer_in_json_is_for_programs(boat: SteadyHome) -> None:
    assert "Salt eats" in boat.run("search", "pump").out
    assert json.loads(boat.run("search", "pump", "--json").out)["hits"]

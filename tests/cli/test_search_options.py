"""Each option of `search` answers a wish that a user has, or its help says that it is for experts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from forks import Forks
from steady import SteadyHome
from typer.main import get_command

from synaptic.cli.flags import EXPERTS
from synaptic.cli.main import program_for
from synaptic.models import Texts

DAYS = {
    "2026-10-05.md": """\
## 09:00 decision: Old: the pump is made of brass #boat #engine
<!-- syn:20261005-aaaaaaaa project=harbor -->

The brass pump is the cheaper one.
""",
    "2026-11-19.md": """\
## 09:00 decision: New: the pump is made of steel #boat #engine
<!-- syn:20261119-bbbbbbbb project=harbor supersedes=20261005-aaaaaaaa files=src/pump.py -->

Salt eats the brass pump.

## 10:00 Log: the pump ran for an hour #boat
<!-- syn:20261119-cccccccc project=ferry by=codex via=import:codex -->

The pump was loud.
""",
    "Manuals/Pump.md": """\
---
author: Ida
date: 2026-11-12
---

# Manual of the pump

Grease the pump each month.
""",
    "2026-11-21.md": """\
## 08:00 Today the pump is dry #engine
<!-- syn:20261121-dddddddd importance=9 -->

The pump stands still.
""",
}
OLD, NEW, LOG, MANUAL, TODAY = "Old", "New", "Log", "Manual", "Today"
CASES: dict[str, tuple[Texts, set[str] | list[str]]] = {
    "--type": (("--type", "decision"), {NEW}),
    "--tag": (("--tag", "boat+engine"), {NEW}),
    "--project": (("--project", "ferry"), {LOG}),
    "--since": (("--since", "today"), {TODAY}),
    "--until": (("--until", "2026-11-15"), {MANUAL}),
    "--file": (("--file", "src/pump.py"), {NEW}),
    "--path": (("--path", "Manuals/"), {MANUAL}),
    "--where": (("--where", "author=Ida"), {MANUAL}),
    "--sessions": (("--sessions",), {LOG}),
    "--include-superseded": (("--include-superseded", "--type", "decision"), {OLD, NEW}),
    "--order": (
        ("--order", "newest", "--tag", "engine", "--include-superseded"),
        [TODAY, NEW, OLD],
    ),
    "--limit": (("--limit", "4"), {NEW, LOG, MANUAL, TODAY}),
    "--days": (("--days", "3"), {NEW, LOG, TODAY}),
    "--as-of": (("--as-of", "2026-10-31"), {OLD}),
}
"""By option: flags behind `search pump`, and the first word of each entry that is found, in a
list where the order counts.
"""


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


def test_each_option_of_search_has_a_case_or_is_for_experts() -> None:
    program: Any = get_command(program_for(["search"]))
    [command] = program.commands.values()
    options = [one for one in command.params if one.param_type_name == "option"]
    for_experts = {one.opts[0] for one in options if one.rich_help_panel == EXPERTS}
    assert {one.opts[0] for one in options} == {*CASES, *for_experts, "--json"}
    assert not for_experts & {*CASES}
    _, _, last_section = command.get_help(command.make_context("search", [])).partition(EXPERTS)
    assert all(f"  {flag}" in last_section for flag in for_experts)
    assert not [flag for flag in CASES if f"  {flag} " in last_section]


@pytest.mark.parametrize("option", CASES)
def test_an_option_of_search_does_what_its_help_says(boat: SteadyHome, option: str) -> None:
    flags, expected = CASES[option]
    assert option in flags
    hits = boat.ask("search", "pump", *flags)["hits"]
    found = [hit["title"].split(":")[0].split()[0] for hit in hits]
    assert type(expected)(found) == expected

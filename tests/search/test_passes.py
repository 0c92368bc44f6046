"""The list of passes: each has its own name, a bench that exists, and can be switched off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from homes import open_home

from synaptic import Filters, rebuild, save, search
from synaptic.errors import InvalidArgument
from synaptic.models import EntryType
from synaptic.search import passes
from synaptic.search.adjust import worth_factor

BENCHES = Path(__file__).parents[2] / "scripts" / "bench"


def test_each_pass_has_a_name_of_its_own_a_figure_and_a_bench_that_exists() -> None:
    names = [row.name for row in passes.PASSES]
    assert len(set(names)) == len(names)
    for row in passes.PASSES:
        assert row.figure
        assert not row.bench or (BENCHES / f"{row.bench}.py").exists(), row.name


def test_a_pass_is_switched_off_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_home(tmp_path / "home") as ws:
        save(ws, "The certificates of the portal end in May.")
        rebuild(ws)
        corrected = search(ws, "certifcates", strategy="lexical")
        assert corrected.hits and "searched for `certificates`" in corrected.notices[0]
        monkeypatch.setattr(passes, "PASSES", passes.passes_without("spelling"))
        assert not search(ws, "certifcates", strategy="lexical").hits


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        ("parse_line_items", "parseLineItems"),
        ("parseLineItems", "parse_line_items"),
        ("lineitems", "parseLineItems"),
        ("LineItems", "line_items"),
    ],
)
def test_a_name_of_code_is_found_in_another_spelling_and_by_its_end(
    tmp_path: Path, typed: str, written: str
) -> None:
    with open_home(tmp_path / "home") as ws:
        save(ws, f"The sums were wrong until {written} took the tax in.")
        save(ws, "A line of a bank: its items are parted by a tab.")
        rebuild(ws)
        found = search(ws, typed, strategy="lexical")
        assert written in found.hits[0].entry.content
        assert found.notices[0].startswith(f"Nothing holds `{typed}`; searched for `{written}`")


def test_what_holds_comes_before_a_step_unless_the_step_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_home(tmp_path / "home") as ws:
        save(ws, "The importer reads the files of the bank at night.", type="decision")
        save(ws, "The importer reads the files of the post at night.", type="progress")
        save(ws, "Ida mows the lawn.")

        def first_type(query: str, **options: Any) -> str:
            return search(ws, query, strategy="lexical", **options).hits[0].entry.type

        question = "importer files at night"
        assert first_type(question) == "decision"
        assert first_type(question, prefer=Filters(types=("progress",))) == "progress"
        monkeypatch.setattr(passes, "PASSES", passes.passes_without("worth"))
        assert first_type(question) == "progress", "it is the later one"


def test_rules_and_important_entries_count_more_and_steps_less() -> None:
    kinds: list[tuple[EntryType, int | None]] = [
        ("progress", 2),
        ("progress", None),
        ("handoff", None),
        ("note", None),
        ("note", 8),
        ("preference", 8),
    ]
    factors = [worth_factor(*kind) for kind in kinds]
    assert factors == sorted(set(factors)) and factors[0] > 0 and factors[3] == 1


def test_a_name_that_no_pass_has_is_an_error() -> None:
    with pytest.raises(InvalidArgument, match="speling"):
        passes.passes_without("speling")

"""The list of passes: each has its own name, a bench that exists, and can be switched off."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from homes import open_home

from synaptic import rebuild, save, search
from synaptic.errors import InvalidArgument
from synaptic.search import passes

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


def test_a_name_that_no_pass_has_is_an_error() -> None:
    with pytest.raises(InvalidArgument, match="speling"):
        passes.passes_without("speling")


def test_asked_from_no_project_no_project_is_set_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that only another project knows is asked as from no project."""
    question = "what must PGBOUNCER do with statements"
    reasons = []
    monkeypatch.chdir(tmp_path)  # no checkout, so the last entry has no project
    with open_home(tmp_path / "home", project="") as ws:
        save(ws, "PGBOUNCER runs in transaction mode, else statements leak.", project="tides")
        save(ws, "The shop prepares its statements at the start.", project="shop")
        save(ws, "Statements of the bank lie in the drawer.")

        def ask(project: str) -> None:
            asking = replace(ws, config=replace(ws.config, project=project))
            answer = search(asking, question, strategy="lexical", limit=3, explain=True)
            reasons.append([(hit.entry.id, hit.why) for hit in answer.hits])

        ask("")
        ask("shop")
        monkeypatch.setattr(passes, "PASSES", passes.passes_without("other-projects"))
        ask("shop")
    assert len(reasons[0]) == 3 and reasons[0] == reasons[1] == reasons[2]

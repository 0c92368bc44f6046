"""The list of passes: each has its own name, a bench that exists, and can be switched off."""

from __future__ import annotations

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

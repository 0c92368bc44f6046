"""The table of filters is all that a filter needs, but its SQL."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from homes import open_home

from synaptic import build_filters, save, search
from synaptic.filters import Filters
from synaptic.language.query import parse_query

NOW = datetime(2026, 11, 21, tzinfo=UTC)


def test_no_and_zero_are_values_of_a_filter() -> None:
    """A flag that says no is in force, is named in answers, and stands before the query."""
    for values in ({"has_body": False}, {"max_importance": 0}, {"min_importance": 0}):
        filters = Filters(**values)  # type: ignore[arg-type]
        assert filters.in_force() == values and list(filters.each()) == list(values)
    no_body = build_filters(now=NOW, has_body=False)
    assert parse_query("has:body redis", no_body, now=NOW).filters == no_body


def test_a_filter_that_says_no_is_named_as_a_reason(tmp_path: Path) -> None:
    with open_home(tmp_path) as ws:
        save(ws, "Redis keeps the sessions.")
        filters = build_filters(now=ws.clock(), has_files=False)
        [hit] = search(ws, "redis", filters=filters, explain=True).hits
        assert hit.why is not None and hit.why.matched_filters == ("has_files",)

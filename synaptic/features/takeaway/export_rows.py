"""Entries and sums as rows for other programs: a JSON array, or a table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from ...models import Entry, Json
from ...render.wire import csv_line, entry_json, total_json
from ...verbs.totals import Totals

ROW_FIELDS = (
    """id at date date_source type title content tags project importance files by via path
    line"""
).split()
"""The columns of an export, in order."""


def json_rows(entries: Iterable[Entry]) -> Iterator[str]:
    """Yields the lines of a JSON array with an object for each entry."""
    return _array_rows(
        {name: data[name] for name in ROW_FIELDS} for data in map(entry_json, entries)
    )


def totals_json_rows(totals: Totals) -> Iterator[str]:
    """Yields the lines of a JSON array with an object for each sum."""
    return _array_rows(map(total_json, totals.rows))


def _array_rows(rows: Iterable[Json]) -> Iterator[str]:
    before = "["
    for record in rows:
        yield before + json.dumps(record, ensure_ascii=False)
        before = ","
    yield "]" if before == "," else "[]"


def csv_rows(entries: Iterable[Entry]) -> Iterator[str]:
    """Yields the lines of a CSV table (RFC 4180), the column names first; a list fills one
    cell, with an item a line.
    """
    yield ",".join(ROW_FIELDS)
    for data in map(entry_json, entries):
        yield csv_line(data[name] for name in ROW_FIELDS)

"""Results as JSON: the field names that users script against."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import SynapticError
from ..journal.names import printable_path
from ..models import Entry, Facets, Hit, Json, Round, SearchResult, Why
from ..notes.conflicts import with_versions_shown

if TYPE_CHECKING:
    from ..plugin import ReviewFinding
    from ..verbs.browse import Listing
    from ..verbs.day_lists import Days
    from ..verbs.status import Status
    from ..verbs.totals import Total, Totals

WHOLE_CONTENT = 2_000
"""The most characters of an entry that a search shows whole; of a longer entry it shows the
best passage.
"""

ENTRY_FIELDS = (
    """id at date time date_source type title tags project importance files changed_files
    parent supersedes
    superseded_by by via branch expires due source pin fields content truncated path line"""
).split()
"""The fields of an entry in JSON, in order."""
ERROR_FIELDS = ("code", "message", "valid", "hint")


def as_json(value: Any) -> Any:
    """Returns the value in types that `json` can write: a dataclass becomes an object, a path a
    text.
    """
    if is_dataclass(value):
        return {field.name: as_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {name: as_json(each) for name, each in value.items()}
    if isinstance(value, tuple | list):
        return [as_json(each) for each in value]
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float):
        return round(value, 4)
    return str(value) if isinstance(value, Path) else value


def entry_json(entry: Entry, superseded_by: str | None = None) -> Json:
    """Returns the JSON object of an entry, with the fields of ENTRY_FIELDS; `at`, `date` and
    `time` are null for an undated one.
    """
    properties: dict[str, list[str]] = {}
    for name, value in entry.fields:
        properties.setdefault(name, []).append(value)
    data = {name: as_json(getattr(entry, name, None)) for name in ENTRY_FIELDS}
    if not entry.dated:
        data |= dict.fromkeys(("at", "date", "time"))
    data |= {"superseded_by": superseded_by, "fields": properties, "truncated": False}
    return data | {"line": entry.there.line}


TOTAL_FIELDS = ("group", "value", "unit", "entries")
"""The columns of a table of sums, in order."""


def total_json(total: Total) -> Json:
    return {name: getattr(total, name) for name in TOTAL_FIELDS} | {
        "value": round(float(total.value), 4)
    }


def totals_json(totals: Totals) -> Json:
    """Returns the JSON of the sums of a field: those of each group, and those over all
    entries.
    """
    return {
        "field": totals.field,
        "by": totals.by,
        "rows": list(map(total_json, totals.rows)),
        "all": list(map(total_json, totals.all)),
        "notices": list(totals.notices),
    }


def totals_csv_rows(totals: Totals) -> Iterator[str]:
    """Yields the lines of a CSV table of sums, the column names first."""
    yield csv_line((totals.by, totals.field, *TOTAL_FIELDS[2:]))
    for record in map(total_json, totals.rows):
        yield csv_line(record.values())


def csv_line(cells: Iterable[Any]) -> str:
    """Returns a line of a CSV table (RFC 4180).

    A cell that a spreadsheet would take for a formula begins with an apostrophe (OWASP, CSV
    Injection); a number does not.
    """
    line = io.StringIO()
    csv.writer(line).writerow(map(_csv_cell, cells))
    return line.getvalue().removesuffix("\r\n")


def _csv_cell(value: Any) -> Any:
    if isinstance(value, float):
        return f"{value:g}" if value.is_integer() else value
    text = "\n".join(value) if isinstance(value, list) else value
    return f"'{text}" if str(text).startswith(_FORMULA_SIGNS) else text


_FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")
"""Beginnings of a cell that a spreadsheet takes for a formula."""


def hit_json(hit: Hit) -> Json:
    """Returns the JSON object of a hit: its entry, score and snippet, and the reasons for its
    rank if they were asked for.
    """
    result = entry_json(hit.entry, hit.superseded_by)
    if len(hit.entry.content) > WHOLE_CONTENT:
        result |= {"content": hit.passage, "truncated": True}
    result |= {"score": hit.score, "snippet": hit.snippet, "snippet_line": hit.snippet_line}
    result["also_in"] = [f"{place.path}:{place.line}" for place in hit.also]
    result |= {"later": as_json(hit.later), "replaces": as_json(hit.replaces)}
    if hit.why:
        result["why"] = why_json(hit.why)
    return result


def why_json(why: Why) -> Json:
    """Returns the reasons for a hit's rank: its scores by signal, and its ranks by words and by
    meaning.
    """
    data: Json = as_json(why)
    scores = as_json(why.signals._asdict())
    del data["signals"]
    data["scores"] = scores | {"combined": data.pop("combined")}
    data["ranks"] = {"lexical": data.pop("lexical_rank"), "semantic": data.pop("semantic_rank")}
    return data


def search_json(result: SearchResult) -> Json:
    """Returns the JSON of a search: its hits, notices, mode and weights."""
    data: Json = as_json(replace(result, hits=(), rounds=()))
    data["hits"] = [hit_json(hit) for hit in result.hits]
    del data["terms"]
    if result.rounds:
        data["rounds"] = list(map(_round_json, result.rounds))
    for name in ("plan", "rounds", "choice"):
        if not data[name]:
            del data[name]
    return data


def _round_json(searched: Round) -> Json:
    """A round that ran as JSON."""
    from ..search.plan import sub_query_as_json  # slow to import

    queries = [sub_query_as_json(query) for query in searched.sub_queries]
    return {"sub_queries": queries, "new": searched.new, "because": searched.because}


def listing_json(listing: Listing) -> Json:
    """Returns the JSON of a listing: the total number, the entries, notices, and the cursor and
    counts where it has them.
    """
    entries = []
    for entry in listing.entries:
        record = entry_json(with_versions_shown(entry), listing.superseded_by.get(entry.id))
        if listing.links:
            record |= as_json(listing.links[entry.id])
        if listing.attached:
            record["attached"] = list(listing.attached[entry.id])
        entries.append(record)
    data: Json = {"total": listing.total, "entries": entries, "notices": list(listing.notices)}
    if listing.cursor:
        data["cursor"] = listing.cursor
    if listing.facets:
        data["facets"] = facets_json(listing.facets)
    return data


def days_json(days: Days) -> Json:
    data = {name: getattr(days, name) for name in ("since", "until", "before", "after")}
    on_this_day = listing_json(days.on_this_day)["entries"]
    return data | listing_json(days.listing) | {"on_this_day": on_this_day}


def facets_json(facets: Facets) -> Json:
    return {kind: _counts_json(pairs) for kind, pairs in as_json(facets).items()}


def status_json(status: Status) -> Json:
    issues = [replace(issue, path=printable_path(issue.path)) for issue in status.issues]
    data: Json = as_json(replace(status, issues=tuple(issues)))
    return data | {"facets": facets_json(status.facets), "months": _counts_json(status.months)}


def finding_json(matter: ReviewFinding) -> Json:
    entries = [
        {name: getattr(one.entry, name) for name in ("id", "date", "type", "title", "project")}
        for one in matter.about
    ]
    commands = {answer: f"synaptic review {answer} {matter.key}" for answer in matter.answers}
    return {
        "finding": matter.key,
        "kind": matter.kind,
        "about": matter.sentence,
        "entries": entries,
        "versions": list(matter.versions),
        "answers": commands,
    }


def error_json(error: SynapticError) -> Json:
    details = {name: as_json(getattr(error, name)) for name in ERROR_FIELDS}
    return {"success": False, "error": details}


def _counts_json(pairs: Any) -> list[Json]:
    return [{"name": name, "count": count} for name, count in pairs]

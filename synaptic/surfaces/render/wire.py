"""Results as JSON: the field names that users script against."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import SynapticError
from ...models import Entry, Facets, Hit, SearchResult, Why
from ...verbs.browse import Days, Listing, Status

if TYPE_CHECKING:
    from ...verbs.review import Matter

Json = dict[str, Any]
WHOLE_CONTENT = 2_000
"""Characters. A search shows only the best passage of a longer entry."""

OF_AN_ENTRY = (
    "id at date time date_source type title tags project importance files changed_files "
    "parent supersedes "
    "superseded_by by via branch expires pin fields content truncated path line"
).split()
OF_A_ROW = (
    "id at date type title content tags project importance files by via path line".split()
)


def as_json(value: Any) -> Any:
    """The value as `json` can write it: a dataclass as an object, a path as a text."""
    if is_dataclass(value):
        return {field.name: as_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {name: as_json(each) for name, each in value.items()}
    if isinstance(value, tuple | list):
        return [as_json(each) for each in value]
    if isinstance(value, date):
        return value.isoformat()
    return str(value) if isinstance(value, Path) else value


def entry_json(entry: Entry, superseded_by: str | None = None) -> Json:
    place = entry.place
    properties: dict[str, list[str]] = {}
    for name, value in entry.fields:
        properties.setdefault(name, []).append(value)
    data: Json = dict.fromkeys(OF_AN_ENTRY)
    for name in OF_AN_ENTRY:
        data[name] = as_json(getattr(entry, name, None))
    return data | {
        "superseded_by": superseded_by,
        "fields": properties,
        "truncated": False,
        "path": place.path if place else None,
        "line": place.line if place else None,
    }


def json_rows(entries: Iterable[Entry]) -> Iterator[str]:
    """The lines of an array, an object each."""
    before = "["
    for data in map(entry_json, entries):
        yield before + json.dumps({name: data[name] for name in OF_A_ROW}, ensure_ascii=False)
        before = ","
    yield "]" if before == "," else "[]"


def csv_rows(entries: Iterable[Entry]) -> Iterator[str]:
    """The lines of a table (RFC 4180), names first; a list stands in a cell, an item a line.

    A cell that a spreadsheet would take for a formula begins with an apostrophe (OWASP, CSV
    Injection).
    """
    yield ",".join(OF_A_ROW)
    for data in map(entry_json, entries):
        line = io.StringIO()
        csv.writer(line).writerow(_cell(data[name]) for name in OF_A_ROW)
        yield line.getvalue().removesuffix("\r\n")


def _cell(value: Any) -> Any:
    text = "\n".join(value) if isinstance(value, list) else value
    return f"'{text}" if str(text).startswith(_FORMULA) else text


_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def hit_json(hit: Hit) -> Json:
    result = entry_json(hit.entry, hit.superseded_by)
    if len(hit.entry.content) > WHOLE_CONTENT:
        result |= {"content": hit.passage, "truncated": True}
    result |= {"score": hit.score, "snippet": hit.snippet, "snippet_line": hit.snippet_line}
    if hit.why:
        result["why"] = why_json(hit.why)
    return result


def why_json(why: Why) -> Json:
    scores = {
        name: None if value is None else round(value, 4)
        for name, value in why.signals._asdict().items()
    }
    accessed = why.last_accessed_at
    return {
        "scores": scores | {"combined": why.combined},
        "ranks": {"lexical": why.lexical_rank, "semantic": why.semantic_rank},
        "similarity": None if why.similarity is None else round(why.similarity, 4),
        "matched_layers": list(why.matched_layers),
        "matched_filters": list(why.matched_filters),
        "decay": round(why.decay, 6),
        "age_days": round(why.age_days, 4),
        "access_count": why.access_count,
        "last_accessed_at": accessed.isoformat(timespec="seconds") if accessed else None,
    }


def search_json(result: SearchResult) -> Json:
    data: Json = {
        "query": result.query,
        "mode": result.mode,
        "strategy": result.strategy,
        "weights": dict(result.weights),
        "total": result.total,
        "hits": [hit_json(hit) for hit in result.hits],
        "notices": list(result.notices),
    }
    optional = {"rounds": as_json(result.rounds), "choice": as_json(result.choice)}
    return data | {name: value for name, value in optional.items() if value}


def listing_json(listing: Listing) -> Json:
    result: Json = {
        "total": listing.total,
        "entries": [
            entry_json(entry, listing.superseded_by.get(entry.id)) for entry in listing.entries
        ],
        "notices": list(listing.notices),
    }
    for data in result["entries"] if listing.links else ():
        data |= as_json(listing.links[data["id"]])
    if listing.cursor:
        result["cursor"] = listing.cursor
    if listing.facets:
        result["facets"] = facets_json(listing.facets)
    return result


def days_json(days: Days) -> Json:
    beside = {name: getattr(days, name) for name in ("since", "until", "before", "after")}
    return (
        beside
        | listing_json(days.found)
        | {"on_this_day": listing_json(days.on_this_day)["entries"]}
    )


def facets_json(facets: Facets) -> Json:
    return {kind: _counts(pairs) for kind, pairs in as_json(facets).items()}


def status_json(status: Status) -> Json:
    data: Json = as_json(status)
    return data | {"facets": facets_json(status.facets), "months": _counts(status.months)}


def matter_json(matter: Matter) -> Json:
    entries = [
        {name: getattr(one.entry, name) for name in ("id", "date", "type", "title", "project")}
        for one in matter.about
    ]
    commands = {answer: f"synaptic review {answer} {matter.key}" for answer in matter.answers}
    return {
        "finding": matter.key,
        "kind": matter.kind,
        "about": matter.said,
        "entries": entries,
        "answers": commands,
    }


def error_json(error: SynapticError) -> Json:
    details = {
        "code": error.code,
        "message": error.message,
        "valid": list(error.valid),
        "hint": error.hint,
    }
    return {"success": False, "error": details}


def _counts(pairs: Any) -> list[Json]:
    return [{"name": name, "count": count} for name, count in pairs]

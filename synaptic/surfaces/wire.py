"""Results as JSON: the field names that users script against."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ..errors import SynapticError
from ..models import Checkup, Entry, Facets, Hit, Listing, RebuildReport, Receipt, SearchResult, Status, Why

if TYPE_CHECKING:
    from ..language.analysis import Analysis, NoteReading

Json = dict[str, Any]
WHOLE_CONTENT = 2_000
"""Characters up to which a search answers an entry's content whole; longer ones by their best passage."""


def entry_json(entry: Entry, superseded_by: str | None = None) -> Json:
    place = entry.place
    return {
        "id": entry.id,
        "at": entry.at.isoformat(),
        "date": entry.date,
        "time": entry.time,
        "date_source": entry.date_source,
        "type": entry.type,
        "title": entry.title,
        "tags": list(entry.tags),
        "project": entry.project,
        "importance": entry.importance,
        "files": list(entry.files),
        "changed_files": list(entry.changed_files),
        "parent": entry.parent,
        "supersedes": list(entry.supersedes),
        "superseded_by": superseded_by,
        "by": entry.by,
        "content": entry.content,
        "truncated": False,
        "path": place.path if place else None,
        "line": place.line if place else None,
    }


def hit_json(hit: Hit) -> Json:
    result = entry_json(hit.entry, hit.superseded_by)
    if len(hit.entry.content) > WHOLE_CONTENT:
        result |= {"content": hit.passage, "truncated": True}
    result |= {"score": hit.score, "snippet": hit.snippet, "snippet_line": hit.snippet_line}
    if hit.why:
        result["why"] = why_json(hit.why, hit.score)
    return result


def why_json(why: Why, score: float) -> Json:
    scores = {name: None if value is None else round(value, 4) for name, value in why.signals._asdict().items()}
    accessed = why.last_accessed_at
    return {
        "scores": scores | {"combined": score},
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
    if result.rounds:
        data["rounds"] = [asdict(part) for part in result.rounds]
    if result.choice:
        data["choice"] = asdict(result.choice)
    return data


def analysis_json(found: Analysis) -> Json:
    span = found.time_range
    return {
        "query": found.query,
        "text": found.text,
        "intent": found.intent,
        "target": asdict(found.target),
        "temporal_reference": found.temporal_reference,
        "time_range": {
            "start": span.start.isoformat() if span.start else None,
            "end": span.end.isoformat() if span.end else None,
            "phrase": span.phrase,
        }
        if span
        else None,
        "entities": [asdict(entity) for entity in found.entities],
        "question_type": found.question_type,
        "complexity": found.complexity,
        "confidence": found.confidence,
        "info_types": list(found.info_types),
        "keywords": [asdict(keyword) for keyword in found.keywords],
        "plan": {
            "sub_queries": [
                asdict(part) | {"filters": dict(part.filters), "depends_on": list(part.depends_on)}
                for part in found.plan.sub_queries
            ],
            "execution": found.plan.execution,
            "merge": found.plan.merge,
            "estimated_complexity": found.plan.estimated_complexity,
        },
    }


def note_json(reading: NoteReading) -> Json:
    return {
        "original": reading.original,
        "normalized": reading.normalized,
        "changes": [{"from": c.was, "to": c.now, "kind": c.kind} for c in reading.changes],
        "keywords": [asdict(keyword) for keyword in reading.keywords],
        "suggested_tags": list(reading.suggested_tags),
    }


def listing_json(listing: Listing) -> Json:
    result: Json = {
        "total": listing.total,
        "entries": [entry_json(entry, listing.superseded_by.get(entry.id)) for entry in listing.entries],
        "notices": list(listing.notices),
    }
    if listing.cursor:
        result["cursor"] = listing.cursor
    if listing.facets:
        result["facets"] = facets_json(listing.facets)
    return result


def facets_json(facets: Facets) -> Json:
    return {
        "types": [{"name": name, "count": count} for name, count in facets.types],
        "tags": [{"name": name, "count": count} for name, count in facets.tags],
        "projects": [{"name": name, "count": count} for name, count in facets.projects],
    }


def receipt_json(receipt: Receipt) -> Json:
    lists = {"notices": list(receipt.notices), "suggested_tags": list(receipt.suggested_tags)}
    return {"success": True} | asdict(receipt) | lists


def rebuild_json(report: RebuildReport) -> Json:
    return asdict(report) | {
        "issues": [asdict(issue) for issue in report.issues],
        "notices": list(report.notices),
    }


def status_json(status: Status) -> Json:
    return asdict(status) | {
        "home": str(status.home),
        "journal": str(status.journal),
        "issues": [asdict(issue) for issue in status.issues],
        "facets": facets_json(status.facets),
        "months": [{"name": name, "count": count} for name, count in status.months],
        "notices": list(status.notices),
    }


def checkup_json(checkup: Checkup) -> Json:
    return {"ok": checkup.ok, "findings": [asdict(finding) for finding in checkup.findings]}


def error_json(error: SynapticError) -> Json:
    return {
        "success": False,
        "error": {
            "code": error.code,
            "message": error.message,
            "valid": list(error.valid),
            "hint": error.hint,
        },
    }

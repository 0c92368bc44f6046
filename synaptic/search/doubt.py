"""Judges an answer: how sure each hit is, and the notices if nothing is close or a filter hides
everything.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..language.lexicon import TYPE_WORDS
from ..language.words import places
from ..models import NOTHING_CLOSE, Filters, Hit
from ..workspace.sync import SyncReport
from ..workspace.workspace import Workspace
from .calibration import (
    BY_MEANING,
    BY_WORDS,
    LOOKED_AT,
    MOST_HITS,
    NONE_FIT,
    SHARED,
    Signs,
    chances,
    closeness,
    fitting,
)
from .evidence import Evidence, Request
from .ranking import Ranked


class Surety(NamedTuple):
    """The share of such hits that were right, the number that fit, and the notice if nothing is
    close.

    `held` is for each hit the share of the question's words that it holds.
    """

    chances: list[float]
    fit: int
    doubts: tuple[str, ...]
    held: list[float]


def surety(evidence: Evidence, ranked: Sequence[Ranked], hits: Sequence[Hit]) -> Surety:
    """The surety of these hits, the first of the ranking."""
    total, counts = evidence.frequencies(evidence.request.parsed.terms)
    idf = {word: math.log(1 + (1 + total) / (1 + count)) for word, count in counts.items()}
    idf = {
        word: weight for word, weight in idf.items() if word not in TYPE_WORDS
    } or idf  # a kind is no matter
    weights = {stem: weight for word, weight in idf.items() if (stem := evidence.stem(word))}
    in_all = sum(idf.values())
    unknown = (
        sum(weight for word, weight in idf.items() if not counts[word]) / in_all
        if in_all
        else 0.0
    )
    meaning = evidence.meaning([r.rowid for r in ranked[: len(hits)]])
    held = [_held(evidence, hit, weights) for hit in hits]
    signs = [
        Signs(near or 0.0, words, unknown) for near, words in zip(meaning, held, strict=True)
    ]
    curve = BY_WORDS if evidence.vector is None else BY_MEANING
    close = [closeness(one, curve, passages=total) for one in signs]
    scores, of_all = (
        [r.score for r in ranked[: len(hits)]],
        sum(r.score for r in ranked[:SHARED]),
    )
    found = chances(close, scores, curve, of_all=of_all)
    fit = fitting(found[:MOST_HITS], signs)
    curves = [
        BY_WORDS if near is None else curve for near in meaning
    ]  # without a vector words alone can tell
    fits = any(
        closeness(one, own, passages=total) >= own.doubt
        for one, own in zip(signs[:LOOKED_AT], curves, strict=False)
    )
    if fits or not hits:
        return Surety(found, fit, (), held)
    return Surety(found, min(fit, NONE_FIT), (NOTHING_CLOSE,), held)


def _held(evidence: Evidence, hit: Hit, weights: Mapping[str, float]) -> float:
    """The share of the question's words, by the weight of their stems, that a hit holds."""
    entry = hit.entry
    asked_by = (word for word, kind in TYPE_WORDS.items() if kind == entry.type)
    said = " ".join(
        (entry.title, hit.passage, *entry.tags, *entry.files, entry.project or "", *asked_by)
    )
    held = {stem for _, stem in places(said, weights, evidence.stem)}
    return sum(weights[stem] for stem in held) / sum(weights.values()) if weights else 0.0


def notices_of(
    evidence: Evidence,
    report: SyncReport,
    remarks: Sequence[str],
    ranked: Sequence[Ranked],
    kept: Sequence[Ranked],
) -> tuple[str, ...]:
    """Notices for the user, most important first."""
    request, index = evidence.request, evidence.ws.index
    notices = [
        *remarks,
        *request.parsed.notices,
        *([evidence.trouble] if evidence.trouble else []),
    ]
    entries = index.counts().entries if report.pending_entries or not kept else len(kept)
    if not evidence.trouble and report.pending_entries:
        notices.append(
            f"{report.pending_entries:,} of {entries:,} notes are found by words only; "
            "`synaptic rebuild-index` finishes them."
        )
    notices += report.notices
    no_words = not request.parsed.terms and request.filters.each().keys() <= {
        "include_superseded"
    }
    if no_words and kept and request.order == "relevance":
        notices.append("The query holds no words to search for; these are the newest entries.")
    if request.min_similarity is not None and any(r.similarity is None for r in kept):
        notices.append(
            "Some of these have no vector to compare yet; min_similarity let them pass."
        )
    if not kept and entries:
        notices.append(request.nothing or _why_nothing(evidence.ws, request, ranked))
    return tuple(notices)


def _why_nothing(ws: Workspace, request: Request, ranked: Sequence[Ranked]) -> str:
    """A notice of the reason that no entry is left, and of a next try."""
    if ranked:
        nearest = max(math.floor((r.similarity or 0.0) * 100) / 100 for r in ranked)
        return (
            f"min_similarity {request.min_similarity} cut all {len(ranked)}; the nearest has "
            f"{nearest}. Try less."
        )
    culprit = _culprit(ws, request.filters)
    if culprit:
        return culprit
    if request.parsed.phrases:
        return (
            "No entry holds that phrase; without the quotes its words are searched one by one."
        )
    if request.strategy == "bounded":
        return (
            "None of the best 100 lies within these days; the default strategy searches all of "
            "them."
        )
    return "Nothing fits; try other words, or fewer filters."


def _culprit(ws: Workspace, filters: Filters) -> str:
    """A notice where the filters leave no entry, with the one filter to leave out if there is
    one; else empty.
    """
    names = filters.each()
    if not names or ws.index.listing(filters, order="newest", limit=1)[0]:
        return ""
    for name in names:
        gone = (
            {"since": None, "until": None}
            if name == "time"
            else {name: getattr(Filters(), name)}
        )
        left = ws.index.listing(replace(filters, **gone), order="newest", limit=1)[0]
        if left:
            said = {
                "time": "without since and until",
                "without": "with what `-` leaves out",
            }.get(name, f"without {name}")
            return f"No entry passes these filters; {said} there are {left:,}."
    return "No entry passes these filters, nor all but one of them; leave some out."

"""What speaks against an answer: nothing comes close, something is missing, a filter hides everything."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from ..index import Index
from ..language.lexicon import TYPE_WORDS
from ..language.words import places, words
from ..models import Filters, Hit, Mode
from ..workspace.embed import DEFAULT_RATE
from ..workspace.sync import SyncReport
from ..workspace.workspace import Workspace
from .evidence import Evidence, Request, given
from .ranking import Ranked

CLOSE = 0.62
"""A hit fits from this sum on: its cosine, plus COVERAGE times the share of the question's words that it holds.

Chosen on the even half of 160 labelled questions on 450 notes, so that nearly all that a note answers stay above it
(`bench.py quality --notes FILE --answerable tests/data/answerable.json`).
"""

COVERAGE = 0.8
"""Chosen with CLOSE."""
LOOKED_AT = 5
"""Hits of which one must fit. By eye."""


def closeness(index: Index, terms: Sequence[str], hits: Sequence[Hit], cosines: Sequence[float | None]) -> list[float]:
    """How well each of the first hits fits the words of a question; a rare word counts for more, by its idf."""
    total, counts = index.document_counts({word for term in terms for _, word in words(term)})
    idf = {word: math.log(1 + (1 + total) / (1 + count)) for word, count in counts.items()}
    weights = {stem: weight for word, weight in idf.items() if (stem := index.stem(word))}
    most = sum(weights.values())
    found = []
    for hit, cosine in zip(hits[:LOOKED_AT], cosines, strict=False):
        entry = hit.entry
        asked_by = (word for word, kind in TYPE_WORDS.items() if kind == entry.type)
        marks = (*entry.tags, *entry.files, entry.project or "", *asked_by)
        said = " ".join((entry.title, hit.passage, *marks))
        held = {stem for _, stem in places(said, weights, index.stem)}
        share = sum(weight for stem, weight in weights.items() if stem in held) / most if most else 0.0
        found.append((cosine or 0.0) + COVERAGE * share)
    return found


def doubts(evidence: Evidence, mode: Mode, hits: Sequence[Hit], winners: Sequence[Ranked]) -> tuple[str, ...]:
    """What speaks against taking the best hits for an answer; one thing at most."""
    request = evidence.request
    if evidence.vector is None or not hits or request.order != "relevance" or request.recent:
        return ()
    doubtful = max(closeness(evidence.ws.index, request.parsed.terms, hits, [r.similarity for r in winners])) < CLOSE
    if mode == "hybrid" and not evidence.lists.lexical:
        said = "No entry holds a word of this query; these come near in meaning only."
        return (f"{said[:-1]}: no close match." if doubtful else said,)
    return ("There is no close match; these are the nearest.",) if doubtful else ()


def notices_of(
    evidence: Evidence, report: SyncReport, remarks: Sequence[str], ranked: Sequence[Ranked], kept: Sequence[Ranked]
) -> tuple[str, ...]:
    """What the user should know, most important first."""
    request, index = evidence.request, evidence.ws.index
    notices = [*request.parsed.notices, *([evidence.trouble] if evidence.trouble else []), *remarks]
    entries = index.counts().entries if report.pending_entries or not kept else len(kept)
    if not evidence.trouble and report.pending_entries:
        passages = index.counts().pending_passages
        rate = float(index.meta("embed_rate") or DEFAULT_RATE)
        notices.append(
            f"{report.pending_entries:,} of {entries:,} notes are found by words only; "
            f"`synaptic rebuild-index` finishes them in about {max(1, round(passages / rate))} s."
        )
    notices += report.notices
    if not request.parsed.terms and kept and request.order == "relevance":
        notices.append("The query holds no words to search for; these are the newest entries.")
    if request.min_similarity is not None and any(r.similarity is None for r in kept):
        notices.append("Some of these have no vector to compare yet; min_similarity let them pass.")
    if not kept and entries:
        notices.append(_why_nothing(evidence.ws, request, ranked))
    return tuple(notices)


def _why_nothing(ws: Workspace, request: Request, ranked: Sequence[Ranked]) -> str:
    """A notice of the reason that no entry is left, and of a next try."""
    if ranked:
        nearest = max(math.floor((r.similarity or 0.0) * 100) / 100 for r in ranked)
        return f"min_similarity {request.min_similarity} cut all {len(ranked)}; the nearest has {nearest}. Try less."
    culprit = _culprit(ws, request.filters)
    if culprit:
        return culprit
    if request.parsed.phrases:
        return "No entry holds that phrase; without the quotes its words are searched one by one."
    if request.strategy == "bounded":
        return "None of the best 100 lies within these days; the default strategy searches all of them."
    return "Nothing fits; try other words, or fewer filters."


def _culprit(ws: Workspace, filters: Filters) -> str:
    """A notice where the filters leave no entry, with the one filter to leave out if there is one; else empty."""
    names = given(filters)
    if not names or ws.index.listing(filters, order="newest", limit=1)[0]:
        return ""
    for name in names:
        gone = {"since": None, "until": None} if name == "time" else {name: getattr(Filters(), name)}
        left = ws.index.listing(replace(filters, **gone), order="newest", limit=1)[0]
        if left:
            said = "since and until" if name == "time" else name
            return f"No entry passes these filters; without {said} there are {left:,}."
    return "No entry passes these filters, nor all but one of them; leave some out."

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
from ..models import NOTHING_CLOSE, Filters, Hit, Round
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


class Answer(NamedTuple):
    """`ranked` are the candidates, `passing` those that passed the adjustments, `hits` those of
    these that are shown.

    `close`: something clearly fits, or nothing was sought. `weak`: nothing is shown, nothing is
    close, or no hit holds a word of the question.
    """

    ranked: Sequence[Ranked]
    passing: Sequence[Ranked]
    hits: tuple[Hit, ...]
    close: bool = True
    weak: bool = False
    rounds: tuple[Round, ...] = ()


def surety(
    evidence: Evidence, ranked: Sequence[Ranked], hits: Sequence[Hit]
) -> tuple[list[float], int, bool, list[float]]:
    """(share of such hits that were right, for each of these; the number of hits that fit; True
    unless nothing is close; the share of the question's words that each holds).

    The hits are the first of the ranking.
    """
    total, counts = evidence.frequencies(evidence.request.parsed.terms)
    idf = {word: math.log(1 + (1 + total) / (1 + count)) for word, count in counts.items()}
    telling = {word: weight for word, weight in idf.items() if word not in TYPE_WORDS}
    weights: dict[str, float] = {}
    unknown = 0.0
    for word, weight in (telling or idf).items():  # a kind is no matter
        stem = evidence.stem(word)
        if stem:
            weights[stem] = weight
        if not counts[word]:
            unknown += weight
    unknown /= sum((telling or idf).values()) or 1.0
    curve = BY_WORDS if evidence.vector is None else BY_MEANING
    meaning = evidence.meaning([r.rowid for r in ranked[: len(hits)]])
    held = [_held(evidence, hit, weights) for hit in hits]
    signs: list[Signs] = []
    is_close = not hits
    for near, words in zip(meaning, held, strict=True):
        sign = Signs(near or 0.0, words, unknown)
        own = BY_WORDS if near is None else curve  # without a vector words alone can tell
        if len(signs) < LOOKED_AT and closeness(sign, own, passages=total) >= own.doubt:
            is_close = True
        signs.append(sign)
    close = [closeness(sign, curve, passages=total) for sign in signs]
    scores = [r.score for r in ranked]
    found = chances(close, scores[: len(hits)], curve, of_all=sum(scores[:SHARED]))
    fit = fitting(found[:MOST_HITS], signs)
    return found, fit if is_close else min(fit, NONE_FIT), is_close, held


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
    evidence: Evidence, report: SyncReport, answer: Answer, remarks: Sequence[str]
) -> tuple[str, ...]:
    """Notices for the user, most important first."""
    request, kept = evidence.request, answer.passing
    notices = [] if answer.close else [NOTHING_CLOSE]
    notices += [*remarks, *request.parsed.notices]
    entries = len(kept)
    if report.pending_entries or not kept:
        entries = evidence.ws.index.counts().entries
    if evidence.trouble:
        notices.append(evidence.trouble)
    elif report.pending_entries:
        notices.append(
            f"{report.pending_entries:,} of {entries:,} notes are found by words only; "
            "`synaptic rebuild-index` finishes them."
        )
    notices += report.notices
    asks_nothing = request.is_list and request.filters.each().keys() <= {"include_superseded"}
    if asks_nothing and kept and request.order == "relevance":
        notices.append("The query holds no words to search for; these are the newest entries.")
    if request.min_similarity is not None and any(r.similarity is None for r in kept):
        notices.append(
            "Some of these have no vector to compare yet; min_similarity let them pass."
        )
    if not kept and entries:
        notices.append(request.nothing or _why_nothing(evidence.ws, request, answer.ranked))
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

    def count(filters: Filters) -> int:
        return ws.index.listing(filters, order="newest", limit=1)[0]

    names = filters.each()
    if not names or count(filters):
        return ""
    said = {"time": "without since and until", "without": "with what `-` leaves out"}
    for name in names:
        left_out = ("since", "until") if name == "time" else (name,)
        left = count(replace(filters, **{one: getattr(Filters(), one) for one in left_out}))
        if left:
            way = said.get(name, f"without {name}")
            return f"No entry passes these filters; {way} there are {left:,}."
    return "No entry passes these filters, nor all but one of them; leave some out."

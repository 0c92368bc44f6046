"""The pipeline of a search: understand, candidates, fuse, adjust, doubt, read.

A strategy is a list of these steps:

| strategy              | candidates         | of each query     | of all that was found                              |
|-----------------------|--------------------|-------------------|----------------------------------------------------|
| lexical, semantic     | words, or meaning  | faded             | speakers, near enough, later, set back, newest     |
| hybrid                | words and meaning  | beside, faded     | the same                                           |
| smart                 | of its sub-queries | the same          | the same                                           |
| any with weights      | the same           | weighed           | near enough, set back                              |
| bounded               | 100 by meaning     | within dates      | near enough                                        |
| any, without words    | all, in order      |                   |                                                    |
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

from ..index.rows import moment
from ..language.query import MAX_LIMIT
from ..language.words import places
from ..models import Entry, Hit, Round, SearchResult, Why
from ..notes.blocks import without_code
from ..notes.header import read_title
from ..workspace.changes import marked
from ..workspace.sync import SyncReport
from .adjust import (
    Adjustment,
    beside,
    best_first,
    copies_behind,
    faded,
    in_order,
    near_enough,
    newest_fitting,
    set_back,
    speakers_first,
    weighed,
    within_dates,
)
from .budget import Budget, choice
from .calibration import MOST
from .doubt import notices_of, surety
from .evidence import LISTED_MOST, Evidence, Lists, Query, Request
from .fuse import fusion_weights, mode_of, ranked_for, weighed_up
from .ranking import Ranked
from .smart import think
from .snippet import snippet
from .topic import later_first
from .understanding import spelled

REPLACED = "Only what a later entry replaced fits; `superseded by` names that entry."

_SECTION = re.compile(r"^ {0,3}#{1,6}[ \t]([^\n]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Steps:
    """`each` adjusts the candidates of one query, `together` (if any) and then `last` those of
    all queries.
    """

    each: tuple[Adjustment, ...] = ()
    together: Adjustment | None = None
    last: tuple[Adjustment, ...] = ()


FUSED = Steps(
    (beside, faded, best_first),
    speakers_first,
    (near_enough, later_first, set_back, newest_fitting, copies_behind),
)
ALONE = replace(FUSED, each=(faded, best_first))
WEIGHTED = Steps((weighed, best_first), None, (near_enough, set_back, copies_behind))
BOUNDED = Steps((within_dates,), None, (near_enough, copies_behind))
LISTED = Steps()


class Found(NamedTuple):
    """`ranked` are the candidates, `kept` those that passed the last steps, `hits` those of
    these that are shown.

    `weak`: nothing is shown, nothing is close, or no hit holds a word of the question.
    """

    ranked: Sequence[Ranked]
    kept: Sequence[Ranked]
    hits: tuple[Hit, ...]
    doubts: tuple[str, ...]
    weak: bool
    rounds: tuple[Round, ...]


def run(
    query: str, evidence: Evidence, report: SyncReport, budget: Budget | None, forced: str
) -> SearchResult:
    """The answer to a request that is understood; `forced` says why the budget allows words
    only.

    Where nothing close is found, the search runs once more among what later entries replaced.
    Where no entry holds a word as typed either, it runs with the nearest word for each unknown
    one.
    """
    request, watch = evidence.request, evidence.watch
    steps = (
        WEIGHTED
        if request.weights
        else FUSED
        if request.strategy in ("hybrid", "smart")
        else ALONE
    )
    if request.strategy == "bounded" or not request.parsed.terms:
        steps = BOUNDED if request.parsed.terms else LISTED
    with watch.stage("embed"):
        evidence.vector = evidence.embed(request.parsed.text) if request.parsed.terms else None
    mode = mode_of(evidence, evidence.vector)
    found, told = sought(evidence, steps, budget), tuple[str, ...]()
    if found.weak and evidence.superseded_by and steps is not LISTED:
        found, told = replaced(evidence, steps, budget, found)
    if found.weak and mode != "semantic":
        found, spelling = corrected(evidence, steps, budget, found)
        told += spelling
    hurried = (f"By words only: {forced}, more than budget_ms.",) if forced else ()
    remarks = (*found.doubts, *hurried, *told)
    return SearchResult(
        query=query,
        mode=mode,
        strategy=request.strategy,
        weights=dict(request.weights) if request.weights else fusion_weights(evidence, mode),
        total=len(found.hits if request.only_fitting or is_cut(request, steps) else found.kept),
        hits=found.hits,
        terms=evidence.request.parsed.terms,
        notices=notices_of(evidence, report, remarks, found.ranked, found.kept),
        rounds=found.rounds if request.explain else (),
        choice=choice(request.strategy, forced, budget, watch.read()) if budget else None,
    )


def replaced(
    evidence: Evidence, steps: Steps, budget: Budget | None, found: Found
) -> tuple[Found, tuple[str, ...]]:
    """(what is found among replaced entries too, a notice of that), if one of these fits; else
    what was found.
    """
    request, lists = evidence.request, evidence.lists
    evidence.admit_superseded()
    among = sought(evidence, steps, budget)
    if among.hits and among.hits[0].superseded_by and not among.weak:
        return among, (REPLACED,)
    evidence.request, evidence.lists = request, lists
    return found, ()


def corrected(
    evidence: Evidence, steps: Steps, budget: Budget | None, found: Found
) -> tuple[Found, tuple[str, ...]]:
    """(what the nearest known words find, a notice of each), or what was found.

    Where meaning found it without a doubt, `signing` is no typing error for `singing`, unless
    both find the same.
    """
    before = evidence.request, evidence.lists, evidence.vector
    nearest = spelled(evidence)
    if not nearest:
        return found, ()
    evidence.correct(nearest)
    again = sought(evidence, steps, budget)
    first, second = ([hit.entry.id for hit in one.hits[:1]] for one in (found, again))
    if found.doubts or not first or first == second:
        return again, tuple(
            f"Nothing holds `{typed}`; searched for `{word}`."
            for typed, word in nearest.items()
        )
    evidence.request, evidence.lists, evidence.vector = before
    return found, ()


def sought(evidence: Evidence, steps: Steps, budget: Budget | None) -> Found:
    """What these steps find for the words of the request."""
    request, watch = evidence.request, evidence.watch
    asked = Query(
        request.parsed.terms, evidence.vector, request.parsed.phrases, request.filters
    )
    rounds: tuple[Round, ...] = ()
    if steps is LISTED:
        ranked: Sequence[Ranked] = listed(evidence)
    elif request.strategy == "smart":
        ranked, rounds = think(evidence, steps.each, steps.together, asked, budget)
    else:
        ranked = ranked_for(evidence, steps.each, asked)
        ranked = steps.together(ranked, evidence) if steps.together else ranked
    kept = ranked
    with watch.stage("rank"):
        for adjust in steps.last:
            kept = adjust(kept, evidence)
    if steps not in (LISTED, BOUNDED) and len(ranked) < (request.limit or 0):
        kept = [*kept, *deeper(evidence, steps, asked, kept)]
    with watch.stage("read"):
        hits, doubts, weak = answer(evidence, steps, kept)
    return Found(ranked, kept, hits, doubts, weak, rounds)


def deeper(
    evidence: Evidence, steps: Steps, asked: Query, kept: Sequence[Ranked]
) -> list[Ranked]:
    """What lies deeper in the lists than what was found, to stand behind it.

    It is the same for every limit, and nothing that is known of an entry changes: a larger
    limit only adds hits.
    """
    first = evidence.lists
    known = first.lexical.keys() | first.semantic.keys()
    found = ranked_for(evidence, steps.each, asked, MAX_LIMIT)
    others = evidence.lists
    evidence.lists = Lists(
        first.lexical | {row: one for row, one in others.lexical.items() if row not in known},
        first.semantic | {row: one for row, one in others.semantic.items() if row not in known},
    )
    worst = min((r.score for r in kept), default=math.inf)
    added = [r._replace(score=min(r.score, worst)) for r in found if r.rowid not in known]
    return list(near_enough(added, evidence))


def answer(
    evidence: Evidence, steps: Steps, ranked: Sequence[Ranked]
) -> tuple[tuple[Hit, ...], tuple[str, ...], bool]:
    """The hits in the order that is asked for, what speaks against them, and whether they are
    weak.

    Without a limit the answer ends where nothing more fits. Where ranks are fused a score is
    the share of such hits that were right.
    """
    request = evidence.request
    if steps is LISTED:
        if request.about:
            ranked = sorted(ranked, key=lambda r: evidence.days_away(r.standing))
        shown = in_order(ranked[: request.limit or LISTED_MOST], request.order)
        shown.sort(key=lambda r: request.project not in (None, r.standing.project))
        return read(evidence, shown), (), False
    looked = ranked[: MAX_LIMIT if request.only_fitting else max(request.limit or 0, MOST)]
    hits = read(evidence, looked)
    chances, fit, doubts, held = surety(evidence, ranked, hits)
    if steps in (FUSED, ALONE):
        hits = tuple(
            replace(hit, score=round(one, 4)) for hit, one in zip(hits, chances, strict=True)
        )
    count = fit if is_cut(request, steps) else request.limit or MOST
    wanted = (
        [r for place, r in enumerate(looked) if place < fit or held[place]]
        if request.only_fitting
        else looked
    )
    shown = in_order(wanted[:count], request.order)
    found = {r.rowid: hit for r, hit in zip(looked, hits, strict=True)}
    return tuple(found[r.rowid] for r in shown), doubts, bool(doubts) or not any(held)


def is_cut(request: Request, steps: Steps) -> bool:
    """Whether the answer ends where nothing more fits."""
    return request.limit is None and steps in (FUSED, ALONE)


def listed(evidence: Evidence) -> list[Ranked]:
    """Entries in order, for a query that is nothing but filters, or nothing."""
    request = evidence.request
    index, rowids = evidence.ws.index, request.within
    if rowids is None:
        rowids = index.listing(
            request.filters, order=request.order, limit=MAX_LIMIT, first=request.project
        )[1]
    else:
        passing = index.passing(request.filters, rowids)
        rowids = [rowid for rowid in rowids if rowid in passing]
    return weighed_up(evidence, Lists({}, {}), dict.fromkeys(rowids, 0.0))


def read(evidence: Evidence, winners: Sequence[Ranked]) -> tuple[Hit, ...]:
    """The winners as the journal says them, with the passage that fits best."""
    request = evidence.request
    chunks = {r.rowid: evidence.chunk(r.rowid) for r in winners}
    evidence.read(chunks)
    entries = marked(evidence.ws, {row: evidence.entries[row] for row in chunks}, request.here)
    stems = {
        stem
        for term in (*request.parsed.terms, *request.parsed.phrases)
        for stem in evidence.stems(term)
    }

    def find(text: str) -> list[int]:
        return [start for start, _ in places(text, stems, evidence.stem)]

    hits = []
    for ranked in winners:
        entry = entries[ranked.rowid]
        passage, line = evidence.passage(ranked.rowid, chunks[ranked.rowid])
        shown, offset = snippet(passage, find)
        if entry.whole_file and _SECTION.search(entry.content):
            first = next(iter(find(shown)), 0)
            entry = _section(entry, passage, line, offset + shown[:first].count("\n"))
        hits.append(
            Hit(
                entry=entry,
                score=round(ranked.score, 6),
                passage=passage,
                snippet=shown,
                snippet_line=line + offset,
                superseded_by=evidence.superseded_by.get(entry.id),
                why=_why(evidence, ranked) if request.explain else None,
            )
        )
    return tuple(hits)


def _section(entry: Entry, passage: str, line: int, above: int) -> Entry:
    """A note of a whole file, entitled and placed as the section in which the hit stands, if it
    is in one.

    `line` is that of the passage, `above` the lines of it above the first word that was sought.
    """
    place, at = entry.place, entry.content.find(passage)
    if place is None or at < 0:
        return entry
    lines = passage.split("\n")
    end = at + sum(len(one) + 1 for one in lines[:above]) + len(lines[above])
    headings = list(_SECTION.finditer(without_code(entry.content), 0, end))
    title = read_title(entry.content[slice(*headings[-1].span(1))])[0] if headings else ""
    if title in ("", entry.title):
        return entry
    below = entry.content[:at].count("\n") - entry.content[: headings[-1].start()].count("\n")
    return replace(
        entry, title=f"{entry.title} > {title}", place=replace(place, line=line - below)
    )


def _why(evidence: Evidence, ranked: Ranked) -> Why:
    request, lists = evidence.request, evidence.lists
    ranks = {
        name: list(candidates).index(ranked.rowid) + 1
        for name, candidates in (("lexical", lists.lexical), ("semantic", lists.semantic))
        if ranked.rowid in candidates
    }
    hard = [
        f.name
        for f in fields(request.filters)
        if getattr(request.filters, f.name) not in (None, (), False)
    ]
    accessed = ranked.standing.accessed_at
    return Why(
        signals=ranked.signals,
        lexical_rank=ranks.get("lexical"),
        semantic_rank=ranks.get("semantic"),
        similarity=ranked.signals.semantic,
        matched_layers=(*ranks, *(["symbolic"] if ranked.met else [])),
        matched_filters=(*hard, *(f"prefer {name}" for name in ranked.met)),
        combined=round(ranked.score, 6),
        decay=ranked.decay,
        age_days=ranked.age_days,
        access_count=ranked.standing.accesses,
        last_accessed_at=None if accessed is None else moment(accessed, request.now.tzinfo),
    )

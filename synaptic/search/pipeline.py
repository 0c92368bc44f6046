"""The pipeline of a search: understand, candidates, fuse, adjust, doubt, read.

A strategy is a list of these steps:

| strategy              | candidates         | of each query | of the candidates of all queries       |
|-----------------------|--------------------|---------------|----------------------------------------|
| lexical, semantic     | words, or meaning  | faded         | as hybrid                              |
| hybrid                | words and meaning  | beside, faded | speakers, near enough, later, set back |
| smart                 | of its sub-queries | as hybrid     | as hybrid                              |
| any with weights      | as without         | weighed       | near enough, set back                  |
| bounded               | 100 by meaning     | within dates  | near enough                            |
| any, without words    | all, in order      |               |                                        |
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
from ..models import Entry, Hit, Mode, Round, SearchResult, Why
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
from .calibration import MOST_HITS
from .doubt import notices_of, surety
from .evidence import LIST_LIMIT, Evidence, Lists, Query, Request
from .fuse import fusion_weights, mode_of, ranked_for, weighed_up
from .ranking import Ranked
from .smart import search_smart
from .snippet import snippet
from .topic import later_first
from .understanding import spelled

REPLACED = "Only what a later entry replaced fits; `superseded by` names that entry."

_SECTION = re.compile(r"^ {0,3}#{1,6}[ \t]([^\n]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Steps:
    """Adjustments: `each` of the candidates of one query, `together` (if any) and then `last`
    of those of all queries.
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


class Answer(NamedTuple):
    """`ranked` are the candidates, `passing` those that passed the last steps, `hits` those of
    these that are shown.

    `weak`: nothing is shown, nothing is close, or no hit holds a word of the question.
    """

    ranked: Sequence[Ranked]
    passing: Sequence[Ranked]
    hits: tuple[Hit, ...]
    doubts: tuple[str, ...] = ()
    weak: bool = False
    rounds: tuple[Round, ...] = ()


def run(
    query: str, evidence: Evidence, report: SyncReport, remarks: Sequence[str] = ()
) -> SearchResult:
    """The answer to an understood request; its notices say `remarks` too.

    Where nothing close is found, the search runs once more among replaced entries. Where no
    entry holds a word as typed either, it runs with the nearest word for each unknown one.
    """
    request = evidence.request
    steps = steps_of(request)
    with evidence.watch.stage("embed"):
        evidence.vector = evidence.embed(request.parsed.text) if request.parsed.terms else None
    mode = mode_of(evidence, evidence.vector)
    answer = search_once(evidence, steps)
    notices: tuple[str, ...] = ()
    if answer.weak and evidence.superseded_by and steps is not LISTED:
        answer, notices = search_replaced(evidence, steps, answer)
    if answer.weak and mode != "semantic":
        answer, spelling = search_corrected(evidence, steps, answer)
        notices += spelling
    is_cut = request.only_fitting or ends_itself(request, steps)
    return SearchResult(
        query=query,
        mode=mode,
        strategy=request.strategy,
        weights=shown_weights(evidence, mode),
        total=len(answer.hits if is_cut else answer.passing),
        hits=answer.hits,
        terms=evidence.request.parsed.terms,
        notices=notices_of(
            evidence,
            report,
            (*answer.doubts, *remarks, *notices),
            answer.ranked,
            answer.passing,
        ),
        rounds=answer.rounds if request.explain else (),
    )


def steps_of(request: Request) -> Steps:
    if not request.parsed.terms:
        return LISTED
    if request.strategy == "bounded":
        return BOUNDED
    if request.weights:
        return WEIGHTED
    return FUSED if request.strategy in ("hybrid", "smart") else ALONE


def shown_weights(evidence: Evidence, mode: Mode) -> dict[str, float]:
    weights = evidence.request.weights
    return dict(weights) if weights else fusion_weights(evidence, mode)


def search_replaced(
    evidence: Evidence, steps: Steps, answer: Answer
) -> tuple[Answer, tuple[str, ...]]:
    """(an answer with replaced entries, its notice), if one of these fits; else `answer`."""
    request, lists = evidence.request, evidence.lists
    evidence.admit_superseded()
    wider = search_once(evidence, steps)
    if wider.hits and wider.hits[0].superseded_by and not wider.weak:
        return wider, (REPLACED,)
    evidence.request, evidence.lists = request, lists
    return answer, ()


def search_corrected(
    evidence: Evidence, steps: Steps, answer: Answer
) -> tuple[Answer, tuple[str, ...]]:
    """(the answer to the nearest known words, a notice of each), or `answer`.

    Where meaning found it without a doubt, `signing` is no typing error for `singing`, unless
    both find the same.
    """
    before = evidence.request, evidence.lists, evidence.vector
    nearest = spelled(evidence)
    if not nearest:
        return answer, ()
    evidence.correct(nearest)
    corrected = search_once(evidence, steps)
    first = [hit.entry.id for hit in answer.hits[:1]]
    same = first == [hit.entry.id for hit in corrected.hits[:1]]
    if answer.doubts or not first or same:
        notices = [
            f"Nothing holds `{typed}`; searched for `{word}`."
            for typed, word in nearest.items()
        ]
        return corrected, tuple(notices)
    evidence.request, evidence.lists, evidence.vector = before
    return answer, ()


def search_once(evidence: Evidence, steps: Steps) -> Answer:
    """The answer of these steps to the words of the request."""
    request, watch = evidence.request, evidence.watch
    if steps is LISTED:
        entries = listed(evidence)
        with watch.stage("read"):
            return Answer(entries, entries, shown_list(evidence, entries))
    parsed = request.parsed
    query = Query(parsed.terms, evidence.vector, parsed.phrases, request.filters)
    rounds: tuple[Round, ...] = ()
    if request.strategy == "smart":
        ranked, rounds = search_smart(evidence, steps.each, steps.together, query)
    else:
        ranked = ranked_for(evidence, steps.each, query)
        if steps.together:
            ranked = steps.together(ranked, evidence)
    passing = ranked
    with watch.stage("rank"):
        for adjust in steps.last:
            passing = adjust(passing, evidence)
    if steps is not BOUNDED and len(ranked) < (request.limit or 0):
        passing = [*passing, *deeper(evidence, steps, query, passing)]
    with watch.stage("read"):
        hits, doubts, weak = best_hits(evidence, steps, passing)
    return Answer(ranked, passing, hits, doubts, weak, rounds)


def deeper(
    evidence: Evidence, steps: Steps, query: Query, passing: Sequence[Ranked]
) -> list[Ranked]:
    """Candidates from deeper in the lists, to stand behind the others.

    They are the same for every limit, and nothing that is known of an entry changes: a larger
    limit only adds hits.
    """
    first = evidence.lists
    known = first.lexical.keys() | first.semantic.keys()
    candidates = ranked_for(evidence, steps.each, query, MAX_LIMIT)
    wider = evidence.lists
    lexical = {row: hit for row, hit in wider.lexical.items() if row not in known}
    semantic = {row: hit for row, hit in wider.semantic.items() if row not in known}
    evidence.lists = Lists(first.lexical | lexical, first.semantic | semantic)
    worst = min((r.score for r in passing), default=math.inf)
    added = [r._replace(score=min(r.score, worst)) for r in candidates if r.rowid not in known]
    return list(near_enough(added, evidence))


def best_hits(
    evidence: Evidence, steps: Steps, ranked: Sequence[Ranked]
) -> tuple[tuple[Hit, ...], tuple[str, ...], bool]:
    """The hits in the order that is asked for, doubts about them, and whether they are weak.

    Without a limit the answer ends where nothing more fits. Where ranks are fused a score is
    the share of such hits that were right.
    """
    request = evidence.request
    depth = MAX_LIMIT if request.only_fitting else max(request.limit or 0, MOST_HITS)
    looked_at = ranked[:depth]
    hits = read(evidence, looked_at)
    chances, fit, doubts, held = surety(evidence, ranked, hits)
    if steps in (FUSED, ALONE):
        hits = tuple(
            replace(hit, score=round(chance, 4))
            for hit, chance in zip(hits, chances, strict=True)
        )
    wanted = looked_at
    if request.only_fitting:
        wanted = [r for place, r in enumerate(looked_at) if place < fit or held[place]]
    count = fit if ends_itself(request, steps) else request.limit or MOST_HITS
    by_row = {r.rowid: hit for r, hit in zip(looked_at, hits, strict=True)}
    shown = in_order(wanted[:count], request.order)
    return tuple(by_row[r.rowid] for r in shown), doubts, bool(doubts) or not any(held)


def ends_itself(request: Request, steps: Steps) -> bool:
    """True where the answer ends after the last hit that fits."""
    return request.limit is None and steps in (FUSED, ALONE)


def listed(evidence: Evidence) -> list[Ranked]:
    """Entries in order, for a query that is nothing but filters, or nothing."""
    request, index = evidence.request, evidence.ws.index
    if request.within is None:
        _, rowids = index.listing(
            request.filters, order=request.order, limit=MAX_LIMIT, first=request.project
        )
    else:
        passing = index.passing(request.filters, request.within)
        rowids = [rowid for rowid in request.within if rowid in passing]
    return weighed_up(evidence, Lists({}, {}), dict.fromkeys(rowids, 0.0))


def shown_list(evidence: Evidence, entries: Sequence[Ranked]) -> tuple[Hit, ...]:
    request = evidence.request
    if request.about:
        entries = sorted(entries, key=lambda r: evidence.days_away(r.standing))
    shown = in_order(entries[: request.limit or LIST_LIMIT], request.order)
    shown.sort(key=lambda r: request.project not in (None, r.standing.project))
    return read(evidence, shown)


def read(evidence: Evidence, winners: Sequence[Ranked]) -> tuple[Hit, ...]:
    """The winners with their text and the passage that fits best."""
    request, parsed = evidence.request, evidence.request.parsed
    chunks = {r.rowid: evidence.chunk(r.rowid) for r in winners}
    evidence.read(chunks)
    entries = marked(evidence.ws, {row: evidence.entries[row] for row in chunks}, request.here)
    stems: set[str] = set()
    for term in (*parsed.terms, *parsed.phrases):
        stems |= evidence.stems(term)

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
        hit = Hit(
            entry=entry,
            score=round(ranked.score, 6),
            passage=passage,
            snippet=shown,
            snippet_line=line + offset,
            superseded_by=evidence.superseded_by.get(entry.id),
            why=_why(evidence, ranked) if request.explain else None,
        )
        hits.append(hit)
    return tuple(hits)


def _section(entry: Entry, passage: str, line: int, above: int) -> Entry:
    """A note of a whole file, with the title and line of the section that holds the hit.

    `line` is that of the passage, `above` its lines above the first word that was sought.
    """
    place, at = entry.place, entry.content.find(passage)
    if place is None or at < 0:
        return entry
    lines = passage.split("\n")
    end = at + sum(len(text) + 1 for text in lines[:above]) + len(lines[above])
    headings = list(_SECTION.finditer(without_code(entry.content), 0, end))
    if not headings:
        return entry
    heading = headings[-1]
    title = read_title(entry.content[slice(*heading.span(1))])[0]
    if title in ("", entry.title):
        return entry
    below = entry.content[:at].count("\n") - entry.content[: heading.start()].count("\n")
    in_file = replace(place, line=line - below)
    return replace(entry, title=f"{entry.title} > {title}", place=in_file)


def _why(evidence: Evidence, ranked: Ranked) -> Why:
    request, standing = evidence.request, ranked.standing
    ranks = {}
    for name in ("lexical", "semantic"):
        rows = list(getattr(evidence.lists, name))
        if ranked.rowid in rows:
            ranks[name] = rows.index(ranked.rowid) + 1
    values = {f.name: getattr(request.filters, f.name) for f in fields(request.filters)}
    hard = [name for name, value in values.items() if value not in (None, (), False)]
    symbolic = ["symbolic"] if ranked.met else []
    read_at = standing.accessed_at
    return Why(
        signals=ranked.signals,
        lexical_rank=ranks.get("lexical"),
        semantic_rank=ranks.get("semantic"),
        similarity=ranked.signals.semantic,
        matched_layers=(*ranks, *symbolic),
        matched_filters=(*hard, *(f"prefer {name}" for name in ranked.met)),
        combined=round(ranked.score, 6),
        decay=ranked.decay,
        age_days=ranked.age_days,
        access_count=standing.accesses,
        last_accessed_at=None if read_at is None else moment(read_at, request.now.tzinfo),
    )

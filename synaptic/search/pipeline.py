"""The pipeline of a search: candidates, fuse, adjust, doubt, read.

| strategy           | candidates                       | scores                             |
|--------------------|----------------------------------|------------------------------------|
| lexical, semantic  | by words, or by meaning          | faded ranks                        |
| hybrid             | by words and by meaning          | fused ranks, beside and faded      |
| smart              | of its parts, each as in hybrid  | the fused ranks of all parts       |
| any with weights   | as without                       | the weighted mean of the signals   |
| bounded            | 100 by meaning                   | the cosine                         |
| any, without words | all, in order                    |                                    |
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..index.rows import from_microseconds
from ..language.analysis.asked import QUESTIONS
from ..language.query import MAX_LIMIT
from ..language.words import find_stems, words
from ..models import Entry, Hit, Near, SearchResult, Why
from ..notes.blocks import without_code
from ..notes.conflicts import find_conflicts, show_versions_in_piece, with_versions_shown
from ..notes.header import read_title, shorten
from ..workspace.changes import mark_entries
from ..workspace.readback import read_entries
from ..workspace.sync import SyncReport
from .adjust import drop_dissimilar
from .candidates import gather_signals, rank_candidates
from .doubt import MOST_HITS, Attempt, Judgement, judge_hits, keep_nearest, write_notices
from .evidence import Evidence, Query
from .fuse import fusion_weights
from .later import find_later_entries
from .near import to_near
from .passes import apply_answer_passes, apply_ranking_passes
from .plan import LIST_LIMIT, group_by_text, plan_as_json
from .ranking import Ranked, Ranking, sort_ranking
from .second_search import missing_names
from .snippet import cut_snippet, stands_alone

MOST_REPLACED = 2
"""The largest number of replaced entries that are named below the hit in their place. By eye.
"""

REASON_CHARS = 160
"""The largest length, in characters, of the reason why an entry was replaced. By eye."""

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n\n")
_SECTION = re.compile(r"(?m)^ {0,3}#{1,6}[ \t]([^\n]+)")


def answer_query(query: str, evidence: Evidence, report: SyncReport) -> SearchResult:
    """Runs a plan and returns the result.

    The passes (`passes`) may change the ranking within, and the answer behind it, by another
    search.
    """
    plan = evidence.plan
    attempt = apply_answer_passes(search_once(evidence), search_once)
    notices = [*attempt.notices]
    if plan.over_budget:
        notices.insert(0, f"By words only: {plan.over_budget}, more than budget_ms.")
    searched = attempt.evidence.plan.parsed.terms
    # a word in whose place another was searched has its notice
    missing = [name for name in missing_names(evidence) if name.lower() in searched]
    attempt = keep_nearest(attempt, missing)
    is_cut = plan.only_fitting or plan.ends_itself
    return SearchResult(
        query=query,
        mode=attempt.evidence.mode,
        strategy=plan.strategy,
        weights=dict(plan.weights or fusion_weights(attempt.evidence)),
        total=len(attempt.hits if is_cut else attempt.passing),
        hits=attempt.hits,
        terms=attempt.evidence.plan.parsed.terms,
        notices=write_notices(attempt, report, notices, missing),
        plan=plan_as_json(plan) if plan.explain else None,
        rounds=tuple(evidence.rounds) if plan.explain else (),
    )


def search_once(evidence: Evidence, because: str = "") -> Attempt:
    """Runs one search, without answer passes, and returns its hits in the order that the plan
    asks for; `because` names the pass that searches again.

    Without a limit the answer ends after the last hit that fits. If ranks are fused, the score
    of a hit is its chance of being right.
    """
    plan = evidence.plan
    if plan.is_list:
        return list_entries(evidence, because)
    terms = () if evidence.mode == "semantic" else plan.parsed.terms
    of_question, *of_parts = group_by_text(plan.sub_queries)
    query = Query(terms, evidence.asked, of_question)
    if plan.strategy == "smart":
        from .smart import search_smart  # few ask for it

        ranked = search_smart(evidence, query, of_parts, because)
    else:
        ranked = apply_ranking_passes("candidates", rank_candidates(evidence, query), evidence)
        evidence.end_round(len(ranked), because)
    with evidence.watch.stage("rank"):
        passing = apply_ranking_passes("ranking", drop_dissimilar(ranked, evidence), evidence)
        passing = apply_ranking_passes("equals", passing, evidence)
    candidates = passing
    if plan.strategy != "bounded" and len(passing) < (plan.limit or 0):
        passing = [*passing, *fetch_deeper(evidence, query, passing)]
        passing = apply_ranking_passes("equals", passing, evidence)
    with evidence.watch.stage("read"):
        best, hits, judgement = _judge_best(evidence, passing)
        winners, hits = _order_winners(evidence, best, hits, judgement, candidates)
    return Attempt(
        evidence,
        ranked,
        passing,
        hits=add_neighbours(evidence, {r.rowid: hits[r.rowid] for r in winners}),
        close=judgement.close,
        weak=not (judgement.close and any(one.words for one in judgement.signs)),
    )


def _judge_best(
    evidence: Evidence, passing: Ranking
) -> tuple[Ranking, dict[int, Hit], Judgement]:
    """(the candidates that may be shown, their hits by row, the judgement on these). If ranks
    are fused, the score of a hit is its chance.
    """
    plan = evidence.plan
    depth = MAX_LIMIT if plan.only_fitting else max(plan.limit or 0, MOST_HITS)
    best = passing[:depth]
    hits = read_winners(evidence, best)
    judgement = judge_hits(evidence, passing, list(hits.values()))
    if plan.fuses:
        judged = zip(hits, judgement.chances, judgement.signs, strict=True)
        for row, chance, signs in judged:
            score = round(chance, 4)
            hits[row] = replace(hits[row], score=score, rare_words=signs.rare_words)
    if plan.only_fitting:
        best = _keep_fitting(best, judgement)
    return best, hits, judgement


def _order_winners(
    evidence: Evidence,
    best: Ranking,
    hits: dict[int, Hit],
    judgement: Judgement,
    candidates: Ranking,
) -> tuple[Ranking, dict[int, Hit]]:
    """(the candidates that are shown, in the order that the plan asks for; the hits by row,
    each with its later entries among the `candidates`).
    """
    plan = evidence.plan
    count = judgement.fitting if plan.ends_itself else plan.limit or MOST_HITS
    if plan.fuses and plan.order == "relevance":
        # of a given number, so that a limit changes nothing
        looked_at = count if plan.ends_itself else MOST_HITS
        later = find_later_entries(evidence, best[:looked_at], candidates)
        hits = name_later_entries(evidence, later, hits)
    return sort_ranking(best[:count], plan.order), hits


def name_later_entries(
    evidence: Evidence, later: Mapping[int, Sequence[int]], hits: dict[int, Hit]
) -> dict[int, Hit]:
    """The hits, each with its later entries by their rows; the page of a day is named by its
    line with the most words of the question and of the hit's title.
    """
    stored = evidence.index.entries([row for rows in later.values() for row in rows])
    near = {row: to_near(one.entry) for row, one in stored.items()}
    pages = evidence.passages([row for row, one in stored.items() if one.entry.whole_file])
    for hit_row, rows in later.items():
        title = [word for _, word in words(hits[hit_row].entry.title)]
        stems = {evidence.stem(word) or word for word in (*evidence.plan.parsed.terms, *title)}
        for row in pages.keys() & {*rows}:
            lines = pages[row].text.split("\n")
            counts = [len(find_stems(line, stems, evidence.stem)) for line in lines]
            best = lines[counts.index(max(counts))].strip(" \t>#*-")
            near[row] = replace(near[row], title=shorten(best, REASON_CHARS) or near[row].title)
        named = tuple(near[row] for row in rows if row in near)
        hits = {**hits, hit_row: replace(hits[hit_row], later=named)}
    return hits


def _keep_fitting(winners: Ranking, judgement: Judgement) -> Ranking:
    """The winners that fit, and others that contain a word of the question."""
    fitting = []
    for place, (r, signs) in enumerate(zip(winners, judgement.signs, strict=True)):
        if place < judgement.fitting or signs.words:
            fitting.append(r)
    return fitting


def add_neighbours(evidence: Evidence, hits: dict[int, Hit]) -> tuple[Hit, ...]:
    """Adds to each hit that cannot be understood alone the entries before and after it, unless
    these are hits too.
    """
    unclear = []
    for row, hit in hits.items():
        if hit.entry.type == "note" and not stands_alone(hit.entry.content):
            unclear.append(row)
    neighbours = evidence.index.neighbours_in_file(unclear, evidence.plan.filters)
    for row, beside in neighbours.items():
        entries = read_entries(evidence.ws, [other for other in beside if other not in hits])
        hits[row] = replace(hits[row], beside=tuple(entries.values()))
    return tuple(hits.values())


def fetch_deeper(evidence: Evidence, query: Query, passing: Ranking) -> Ranking:
    """Fetches further candidates below those in `passing`, for a large limit; none gets a
    higher score than the worst of `passing`.

    They do not depend on the limit, and the scores of entries in `passing` do not change: a
    larger limit only adds hits.
    """
    first = dict(evidence.lists)
    rows = first["lexical"].keys() | first["semantic"].keys()
    candidates = rank_candidates(evidence, query, MAX_LIMIT)
    for name, hits in evidence.lists.items():
        new = {row: hit for row, hit in hits.items() if row not in rows}
        evidence.lists[name] = first[name] | new
    worst = min((r.score for r in passing), default=math.inf)
    added = [r for r in candidates if r.rowid not in rows]
    for r in added:
        r.score = min(r.score, worst)
    return drop_dissimilar(added, evidence)


def list_entries(evidence: Evidence, because: str = "") -> Attempt:
    """Lists entries in order, for a query without words."""
    plan = evidence.plan
    index = evidence.index
    if plan.within is None:
        rowids = index.list_rows(
            plan.filters, order=plan.order, limit=MAX_LIMIT, first=plan.project
        )
    else:
        passing = index.filter_entries(plan.filters, plan.within)
        rowids = [row for row in plan.within if row in passing]
    entries = gather_signals(evidence, rowids, {})
    for one in plan.sub_queries:
        evidence.note_run(one)
    evidence.end_round(len(entries), because)
    winners = list(entries)
    if plan.about:
        winners.sort(key=lambda r: evidence.days_away(r.standing))
    winners = sort_ranking(winners[: plan.limit or LIST_LIMIT], plan.order)
    winners.sort(key=lambda r: plan.project not in (None, r.standing.project))
    with evidence.watch.stage("read"):
        hits = read_winners(evidence, winners)
    return Attempt(evidence, entries, entries, tuple(hits.values()))


def read_winners(evidence: Evidence, winners: Ranking) -> dict[int, Hit]:
    """Reads the texts of the winners and returns them as hits by row, each with its best
    passage and a snippet.
    """
    plan = evidence.plan
    parsed = plan.parsed
    passages = evidence.passages([r.rowid for r in winners])
    entries = {row: entry for row, (entry, _, _) in passages.items()}
    entries = mark_entries(evidence.ws, entries, plan.here)
    others = evidence.index.entries([row for ranked in winners for row in ranked.also])
    later = {}
    if not plan.is_list:
        ids = {entry.id for entry in entries.values()}
        later = reasons_of_replacement(
            evidence, [id for old, id in evidence.superseded_by.items() if old in ids]
        )
    replaced = name_replaced_entries(evidence, winners)
    stems = set()
    for term in (*parsed.terms, *parsed.phrases):
        stems |= evidence.stems(term)

    def find(text: str) -> list[int]:
        return [start for start, _ in find_stems(text, stems, evidence.stem)]

    hits = {}
    for ranked in winners:
        entry = entries[ranked.rowid]
        _, passage, line = passages[ranked.rowid]
        is_conflict = bool(find_conflicts(entry.content))
        readable = show_versions_in_piece(passage) if is_conflict else passage
        excerpt, offset = cut_snippet(readable, find)
        if entry.whole_file:
            first = next(iter(find(excerpt)), 0)
            entry = _title_of_section(
                entry, passage, line, offset + excerpt[:first].count("\n")
            )
        hits[ranked.rowid] = Hit(
            entry=with_versions_shown(entry),
            score=round(ranked.score, 6),
            passage=readable,
            snippet=excerpt,
            snippet_line=line + offset,
            superseded_by=evidence.superseded_by.get(entry.id),
            outcome=plan.changes.get(ranked.rowid)
            or later.get(evidence.superseded_by.get(entry.id, ""), ""),
            also=tuple(others[row].entry.there for row in ranked.also),
            replaces=replaced.get(ranked.rowid, ()),
            why=_explain_hit(evidence, ranked) if plan.explain else None,
        )
    return hits


def name_replaced_entries(evidence: Evidence, winners: Ranking) -> dict[int, tuple[Near, ...]]:
    """By row of a hit: the first entries in whose place it stands."""
    rows = {r.rowid: evidence.replaced_by_row.get(r.rowid, ())[:MOST_REPLACED] for r in winners}
    stored = evidence.index.entries([row for some in rows.values() for row in some])
    return {
        row: tuple(to_near(stored[one].entry) for one in some) for row, some in rows.items()
    }


def reasons_of_replacement(evidence: Evidence, ids: Sequence[str]) -> dict[str, str]:
    """Maps the id of a replaced entry to a line about the later one: day, title, and why."""
    index = evidence.index
    lines = {}
    for entry in read_entries(evidence.ws, [index.resolve(id).rowid for id in ids]).values():
        sentences = _SENTENCE.split(entry.content.removeprefix(entry.title).strip(" .\n"))
        because = list(filter(QUESTIONS.finder("because").search, sentences)) or sentences
        why = " ".join(because[0].split())[:REASON_CHARS]
        title = entry.title.rstrip(".…")
        is_said_twice = why.casefold().startswith(title.casefold())
        about = why if is_said_twice else f"{title}. {why}"
        lines[entry.id] = f"replaced {entry.date}: {about}".rstrip()
    return lines


def _title_of_section(entry: Entry, passage: str, line: int, above: int) -> Entry:
    """For an entry that is a whole file: the entry with the title and line of the section in
    which the hit lies.

    `line` is the passage's first line, `above` the number of its lines before the first word
    that was searched.
    """
    at = entry.content.find(passage)
    end = at + len("\n".join(passage.split("\n")[: above + 1]))
    headings = list(_SECTION.finditer(without_code(entry.content), 0, end))
    if at < 0 or not headings:
        return entry
    start = headings[-1].start()
    (begin, stop) = headings[-1].span(1)
    title, *_ = read_title(entry.content[begin:stop])
    if title in ("", entry.title):
        return entry
    line += entry.content[:start].count("\n") - entry.content[:at].count("\n")
    place = replace(entry.there, line=line)
    return replace(entry, title=f"{entry.title} > {title}", place=place)


def _explain_hit(evidence: Evidence, ranked: Ranked) -> Why:
    """The signals, ranks and factors that made the score of a hit."""
    plan = evidence.plan
    standing = ranked.standing
    ranks = {}
    for name, candidates in evidence.lists.items():
        if ranked.rowid in candidates:
            ranks[name] = list(candidates).index(ranked.rowid) + 1
    hard = plan.filters.active_values()
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
        last_accessed_at=None
        if read_at is None
        else from_microseconds(read_at, plan.now.tzinfo),
    )

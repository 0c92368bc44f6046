"""Hybrid search: words and meaning, fused, decayed, and read from the journal."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from .errors import InvalidArgument, ModelError
from .index import Candidate, Standing, instant
from .models import STRATEGIES, Entry, Filters, Hit, Mode, SearchResult, Vector, Why
from .query import MAX_LIMIT, ParsedQuery, check_limit, nearest_word, parse_query, snippet
from .ranking import age_in_days, decay, newest_of_a_topic_first, reciprocal_rank_fusion
from .sync import DEFAULT_RATE, SyncReport, in_step, read_hits, read_passages
from .words import match, words
from .workspace import Workspace

DEPTH = 80
"""Chunks taken from each list before fusion, at least."""

MAX_NEIGHBOURS = 4096
"""The most that sqlite-vec finds at once; an entry has no more than 200 vectors."""

TOPIC_DEPTH = 20
NEARLY_AS_GOOD = 0.74
"""The share of an entry's score that a later one on its topic must reach to go before it."""


@dataclass(frozen=True, slots=True)
class _Lists:
    """Both candidate lists, collapsed to entries: their order, and the best chunk of each entry."""

    lexical: dict[int, Candidate]
    semantic: dict[int, Candidate]


@dataclass(frozen=True, slots=True)
class _Ranked:
    standing: Standing
    fused: float
    decay: float
    age_days: float
    score: float

    @property
    def rowid(self) -> int:
        return self.standing.rowid


def search(
    ws: Workspace,
    query: str,
    *,
    filters: Filters | None = None,
    limit: int = 20,
    strategy: str = "hybrid",
    explain: bool = False,
    within: Sequence[int] | None = None,
    load_model: bool = True,
    embed_ms: float = 200,
) -> SearchResult:
    """The entries that fit the query best, best first.

    Steps: bring the index in step; parse the query; the lexical and the semantic list; fusion; decay;
    read the winners. Without a model or without vectors it answers from words and says so. A query
    without words lists the newest entries. `within` restricts it to these index rows. `load_model`
    False leaves a model that is still loading alone.

    Raises InvalidArgument for a limit outside 1 to 100 or an unknown strategy.
    """
    check_limit(limit)
    if strategy not in STRATEGIES:
        raise InvalidArgument(f"strategy {strategy!r} is unknown.", valid=STRATEGIES)
    now = ws.clock()
    parsed = parse_query(query, filters or Filters(), now=now, stop_words=ws.config.search.stop_words)
    trouble = "" if strategy == "lexical" else _load(ws, wait=load_model)

    def run(report: SyncReport) -> SearchResult:
        return _run(ws, query, parsed, report, now, limit, strategy, explain, within, trouble)

    return in_step(ws, run, embed_ms=embed_ms, at_least=8)


def _load(ws: Workspace, *, wait: bool) -> str:
    """Empty when the model is ready, else why not and what to do."""
    if ws.embedder.ready:
        return ""
    if not wait:
        return "The model is still loading, so this answer is from words only; ask again in a second."
    try:
        ws.embedder.load()
    except ModelError as error:
        return f"{error} Until then search works by words only."
    return ""


def _run(
    ws: Workspace,
    query: str,
    parsed: ParsedQuery,
    report: SyncReport,
    now: datetime,
    limit: int,
    strategy: str,
    explain: bool,
    within: Sequence[int] | None,
    trouble: str,
) -> SearchResult:
    vector = None
    if strategy != "lexical" and not trouble and parsed.text and ws.index.meta("model") == ws.embedder.name:
        vector = ws.embedder.embed_query(parsed.text)
    terms, corrections = _terms(ws, parsed)
    lexical_terms = terms if strategy != "semantic" or vector is None else ()
    lists = _candidates(ws, parsed, lexical_terms, vector, within, limit)
    mode: Mode = "lexical" if vector is None else "hybrid" if strategy == "hybrid" else "semantic"
    used = {"hybrid": ("lexical", "semantic"), "lexical": ("lexical",), "semantic": ("semantic",)}[mode]
    ranked = _rank(ws, lists, used, parsed.filters, now) if parsed.terms else _newest(ws, parsed.filters, within)
    winners = _later_first(ws, lists, ranked)[:limit] if vector is not None else ranked[:limit]
    if mode == "hybrid" and winners and not lists.lexical:
        corrections = (*corrections, "No entry holds a word of this query; these come near in meaning only.")
    weights = {name: float(ws.config.search.weights.get(name, 0.0)) for name in used}
    hits = _hits(ws, winners, lists, (*terms, *parsed.phrases), explain, parsed.filters)
    return SearchResult(
        query=query,
        mode=mode,
        strategy=strategy,
        weights=weights,
        total=len(ranked),
        hits=hits,
        terms=tuple(terms),
        notices=_notices(ws, parsed, report, corrections, trouble, len(hits)),
    )


def _terms(ws: Workspace, parsed: ParsedQuery) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words to look up, and a notice for each that was replaced by its nearest indexed word."""
    terms: list[str] = []
    notices: list[str] = []
    for term in parsed.terms:
        terms.append(term)
        if len(term) < 4 or not term.isalpha() or ws.index.has_word(match(term)):
            continue
        stem = ws.index.stem(term)
        nearest = nearest_word(stem, ws.index.stems_like(stem)) if stem else None
        word = _spelled_out(ws, nearest) if nearest else None
        if word:
            terms.append(word)
            notices.append(f"No entry holds the word {term!r}; {word!r} was searched as well.")
    return tuple(terms), tuple(notices)


def _spelled_out(ws: Workspace, stem: str) -> str | None:
    """A word of the journal that has this stem: stems are not words, and stemming them again breaks them."""
    for rowid in ws.index.chunks_with_stem(stem, limit=3):
        text, _ = read_passages(ws, [rowid]).get(rowid, ("", 0))
        for word in text.lower().split():
            bare = word.strip(".,;:!?()[]{}<>\"'`*_#")
            if bare.isalpha() and ws.index.stem(bare) == stem:
                return bare
    return None


def _candidates(
    ws: Workspace,
    parsed: ParsedQuery,
    terms: Sequence[str],
    vector: Vector | None,
    within: Sequence[int] | None,
    limit: int,
) -> _Lists:
    phrases = tuple(match(phrase) for phrase in parsed.phrases)

    def lexical(depth: int) -> list[Candidate]:
        return ws.index.lexical(
            [match(term) for term in terms],
            filters=parsed.filters,
            within=within,
            phrases=phrases,
            context_weight=ws.config.search.context,
            limit=depth,
        )

    def semantic(depth: int) -> list[Candidate]:
        assert vector is not None
        return ws.index.semantic(vector, filters=parsed.filters, within=within, phrases=phrases, limit=depth)

    return _Lists(
        _best_chunks(lexical, limit) if terms else {},
        _best_chunks(semantic, limit, at_most=MAX_NEIGHBOURS) if vector is not None else {},
    )


def _best_chunks(
    fetch: Callable[[int], Sequence[Candidate]], limit: int, *, at_most: float = math.inf
) -> dict[int, Candidate]:
    """The best chunk of each entry, best first. Looks deeper where few long entries fill the whole list."""
    depth = max(DEPTH, 4 * limit)
    while True:
        candidates = fetch(depth)
        best: dict[int, Candidate] = {}
        for candidate in candidates:
            best.setdefault(candidate.entry_rowid, candidate)
        if len(candidates) < depth or len(best) >= limit or depth >= at_most:
            return best
        depth = int(min(4 * depth, at_most))


def _rank(ws: Workspace, lists: _Lists, used: Sequence[str], filters: Filters, now: datetime) -> list[_Ranked]:
    """All candidates, best first; of equals the later. A list that ran and found nothing counts all the same."""
    config = ws.config.search
    rankings = {name: list(getattr(lists, name)) for name in used}
    fused = reciprocal_rank_fusion(rankings, k=config.k, weights=config.weights)
    if not fused:
        return []
    present = instant(now)
    ranked = []
    for rowid, standing in _visible(ws, ws.index.standings(list(fused)), filters).items():
        age = age_in_days(standing.at, present)
        lasting = standing.type == "reference" or standing.date_source == "mtime"
        weight = 1.0 if lasting else decay(age, half_life_days=config.half_life_days, floor=config.decay_floor)
        ranked.append(_Ranked(standing, fused[rowid], weight, age, fused[rowid] * weight))
    latest_first = sorted(ranked, key=lambda r: r.standing.position, reverse=True)
    return sorted(latest_first, key=lambda r: r.score, reverse=True)


def _visible(ws: Workspace, entries: Mapping[int, Standing], filters: Filters) -> dict[int, Standing]:
    """Without what a later entry supersedes, unless the filters ask for it."""
    if filters.include_superseded:
        return dict(entries)
    superseded = ws.index.superseded_by([standing.id for standing in entries.values()])
    return {rowid: standing for rowid, standing in entries.items() if standing.id not in superseded}


def _newest(ws: Workspace, filters: Filters, within: Sequence[int] | None) -> list[_Ranked]:
    """The newest entries, for a query that is nothing but filters, or nothing."""
    rowids = within if within is not None else ws.index.listing(filters, order="newest", limit=MAX_LIMIT)[1]
    entries = _visible(ws, ws.index.standings(list(rowids)), filters)
    return [_Ranked(entries[rowid], 0.0, 1.0, 0.0, 0.0) for rowid in rowids if rowid in entries]


def _later_first(ws: Workspace, lists: _Lists, ranked: Sequence[_Ranked]) -> list[_Ranked]:
    """The ranking, in which of two entries of the top that say the same thing the later stands first.

    It takes the other's place, and the score of that place.
    """
    import numpy as np

    first, rest = ranked[:TOPIC_DEPTH], ranked[TOPIC_DEPTH:]
    top = [r for r in first if r.rowid in lists.semantic]
    chunks = [lists.semantic[r.rowid].chunk_rowid for r in top]
    stored = ws.index.vectors(chunks)
    if len(top) < 2 or len(stored) < len(top):
        return list(ranked)
    matrix = np.stack([np.frombuffer(stored[chunk], dtype=np.int8) for chunk in chunks]).astype(np.float32)
    matrix /= np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1.0)
    alike = [
        (one, other)
        for one, other in np.argwhere(np.triu(matrix @ matrix.T >= ws.config.search.same_topic, k=1))
        if top[other].score >= NEARLY_AS_GOOD * top[one].score
    ]
    by_rowid = {r.rowid: r for r in first}
    order = newest_of_a_topic_first(
        list(by_rowid),
        [(top[one].rowid, top[other].rowid) for one, other in alike],
        {rowid: r.standing.position for rowid, r in by_rowid.items()},
    )
    moved = [replace(by_rowid[rowid], score=place.score) for rowid, place in zip(order, first, strict=True)]
    return [*moved, *rest]


def _hits(
    ws: Workspace,
    winners: Sequence[_Ranked],
    lists: _Lists,
    terms: Sequence[str],
    explain: bool,
    filters: Filters,
) -> tuple[Hit, ...]:
    rowids = [r.rowid for r in winners]
    best = {
        rowid: (lists.lexical.get(rowid) or lists.semantic[rowid]).chunk_rowid
        for rowid in rowids
        if rowid in lists.lexical or rowid in lists.semantic
    }
    entries, passages = read_hits(ws, rowids, list(best.values()))
    superseded = ws.index.superseded_by([entry.id for entry in entries.values()])
    stems = {stem for term in terms for _, word in words(term) if (stem := ws.index.stem(word))}
    hits = []
    for ranked in winners:
        entry = entries[ranked.rowid]
        passage, line = passages.get(best.get(ranked.rowid, -1), (entry.content, _first_line(entry)))
        shown, offset = snippet(passage, lambda word: ws.index.stem(word) in stems)
        hits.append(
            Hit(
                entry=entry,
                score=round(ranked.score, 6),
                passage=passage,
                snippet=shown,
                snippet_line=line + offset,
                superseded_by=superseded.get(entry.id),
                why=_why(ranked, lists, filters) if explain else None,
            )
        )
    return tuple(hits)


def _first_line(entry: Entry) -> int:
    return entry.place.body_line if entry.place else 1


def _why(ranked: _Ranked, lists: _Lists, filters: Filters) -> Why:
    rowid = ranked.rowid
    ranks = {
        name: list(candidates).index(rowid) + 1
        for name, candidates in (("lexical", lists.lexical), ("semantic", lists.semantic))
        if rowid in candidates
    }
    similarity = lists.semantic[rowid].similarity if rowid in lists.semantic else None
    return Why(
        lexical_rank=ranks.get("lexical"),
        semantic_rank=ranks.get("semantic"),
        similarity=None if similarity is None else round(similarity, 4),
        fused=round(ranked.fused, 6),
        decay=round(ranked.decay, 6),
        age_days=round(ranked.age_days, 4),
        matched_layers=tuple(ranks),
        matched_filters=tuple(name for name in filters.__slots__ if getattr(filters, name) not in (None, (), False)),
    )


def _notices(
    ws: Workspace,
    parsed: ParsedQuery,
    report: SyncReport,
    corrections: Sequence[str],
    trouble: str,
    found: int,
) -> tuple[str, ...]:
    """What the user should know, most important first."""
    notices = [*parsed.notices, *([trouble] if trouble else []), *corrections]
    entries = ws.index.counts()[1] if report.pending_entries or not found else found
    if not trouble and report.pending_entries:
        passages = ws.index.pending_counts()[1]
        rate = float(ws.index.meta("embed_rate") or DEFAULT_RATE)
        notices.append(
            f"{report.pending_entries:,} of {entries:,} notes are found by words only; "
            f"`synaptic rebuild-index` finishes them in about {max(1, round(passages / rate))} s."
        )
    if report.trouble:
        notices.append(f"{report.trouble}; it is kept in memory, which is slower. `synaptic doctor` says what to do.")
    if report.behind:
        notices.append("Another process is writing the index; the latest changes may be missing. Ask again.")
    if report.queued:
        notices.append(f"{report.queued} saved entries wait for the write lock and are not searchable yet.")
    if not parsed.terms and found:
        notices.append("The query holds no words to search for; these are the newest entries.")
    if not found and entries and parsed.phrases:
        notices.append("No entry holds that phrase; without the quotes its words are searched one by one.")
    elif not found and entries and parsed.filters != Filters():
        notices.append("No entry passes these filters; leave one out.")
    return tuple(notices)

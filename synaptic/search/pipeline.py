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

from ..index.rows import moment
from ..language.analysis.asked import QUESTIONS
from ..language.query import MAX_LIMIT
from ..language.words import places
from ..models import ONLY_REPLACED, Entry, Hit, Round, SearchResult, Why
from ..notes.blocks import without_code
from ..notes.header import read_title
from ..workspace.changes import marked
from ..workspace.readback import read_entries
from ..workspace.sync import SyncReport
from .adjust import adjusted, near_enough
from .candidates import known, ranked_for
from .doubt import MOST_HITS, Answer, notices_of, surety
from .equal_hits import told_once
from .evidence import LIST_LIMIT, Evidence, Query, corrected
from .fuse import weights_of
from .ranking import Ranked, Ranking, in_order
from .smart import search_smart
from .snippet import snippet, stands_alone
from .talk import speakers_first
from .understanding import (
    is_known_elsewhere,
    names_of,
    of_its_time,
    replaced_alone,
    spelled,
    unheld,
)

BY_TIME = "Nothing fits the other words; these are the entries of that time, newest first."
REPLACED = "Only entries that a later one replaced fit; `superseded by` names the later one."

REASON_CHARS = 160
REASONS = 3
"""Among the first of these hits a replaced entry is shown to who asks for a reason. By eye."""

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n\n")
_SECTION = re.compile(r"(?m)^ {0,3}#{1,6}[ \t]([^\n]+)")


def run(
    query: str, evidence: Evidence, report: SyncReport, remarks: Sequence[str] = ()
) -> SearchResult:
    """The answer to an understood request; its notices say `remarks` too.

    Where nothing close is found, the search runs once more among replaced entries. Where no
    entry holds a word as typed either, it runs with the nearest word for each unknown one.
    Where meaning found something close, `signing` does not count as a typing error for
    `singing`, unless both find the same.
    """
    request = evidence.request
    notices = list(remarks)
    names = names_of(evidence)
    if is_known_elsewhere(evidence, names):
        evidence = evidence.of(project=None)
    answer = search_once(evidence)
    if evidence.superseded_by:
        answer, evidence, told = with_replaced(answer, evidence, names)
        notices += told
    absent = unheld(evidence, names)
    of_time = None if answer.close else of_its_time(request)
    if of_time:
        evidence = evidence.of(**of_time)
        answer = search_once(evidence)
        notices.append(BY_TIME)
    elif answer.weak and evidence.mode != "semantic":
        nearest = spelled(evidence)
        if nearest:
            other = evidence.of(parsed=corrected(request.parsed, nearest))
            tried = search_once(other)
            first = [hit.entry.id for hit in answer.hits[:1]]
            same = first == [hit.entry.id for hit in tried.hits[:1]]
            if same or not (first and answer.close):
                answer = tried
                evidence = other
                for typed, word in nearest.items():
                    notices.append(f"Nothing holds `{typed}`; searched for `{word}`.")
    if absent:
        notices.append(absent)
    is_cut = request.only_fitting or request.ends_itself
    return SearchResult(
        query=query,
        mode=evidence.mode,
        strategy=request.strategy,
        weights=dict(request.weights or weights_of(evidence)),
        total=len(answer.hits if is_cut else answer.passing),
        hits=answer.hits,
        terms=evidence.request.parsed.terms,
        notices=notices_of(evidence, report, answer, notices),
        rounds=answer.rounds if request.explain else (),
    )


def with_replaced(
    answer: Answer, evidence: Evidence, names: Mapping[str, str]
) -> tuple[Answer, Evidence, list[str]]:
    """The answer with replaced entries, its evidence, and notices of them.

    | replaced entries stand           | where                                         |
    |----------------------------------|-----------------------------------------------|
    | in place of the answer           | only they come near the question              |
    | below what replaced them         | only they hold a name of the question         |
    | below what replaced them         | the question asks for a reason: "why Redis"   |
    | above what replaced them         | it asks for what held before: "why Redis then"|
    """
    request = evidence.request
    alone = replaced_alone(evidence, names)
    is_former = QUESTIONS.finder("former").search(request.parsed.text) is not None
    asks_why = is_former or QUESTIONS.finder("for_a_reason").search(request.parsed.text)
    if not (answer.weak or alone or asks_why):
        return answer, evidence, []
    wider = evidence.of(filters=replace(request.filters, include_superseded=True))
    tried = search_once(wider)
    if answer.weak and tried.hits and tried.hits[0].superseded_by and not tried.weak:
        return tried, wider, [REPLACED]
    old = [hit for hit in tried.hits if hit.entry.id in alone]
    if old:
        hits = beside_later(answer.hits, old)
        held = ", ".join(dict.fromkeys(alone[hit.entry.id] for hit in old))
        found = answer._replace(hits=hits, weak=False, close=True)
        return found, evidence, [f"{ONLY_REPLACED}: {held}."]
    if asks_why:
        shown = {hit.entry.id for hit in answer.hits}
        old = [hit for hit in tried.hits[:REASONS] if hit.superseded_by in shown]
        answer = answer._replace(hits=beside_later(answer.hits, old, above=is_former))
    return answer, evidence, []


def beside_later(
    hits: Sequence[Hit], old: Sequence[Hit], *, above: bool = False
) -> tuple[Hit, ...]:
    """The hits and replaced ones, each below or above the hit that replaced it, else first."""
    shown = list(hits)
    for hit in reversed(old):
        ids = [one.entry.id for one in shown]
        place = 0
        if hit.superseded_by in ids:
            place = ids.index(hit.superseded_by) + (not above)
        shown.insert(place, hit)
    return tuple(shown)


def search_once(evidence: Evidence) -> Answer:
    """The answer to the words of the request, its hits in the order that is asked for.

    Without a limit it ends where nothing more fits. Where ranks are fused a score is the share
    of such hits that were right.
    """
    request = evidence.request
    if request.is_list:
        return listed(evidence)
    terms = () if evidence.mode == "semantic" else request.parsed.terms
    query = Query(terms, evidence.asked, request.filters)
    rounds: tuple[Round, ...] = ()
    if request.strategy == "smart":
        ranked, rounds = search_smart(evidence, query)
    else:
        ranked = speakers_first(ranked_for(evidence, query), evidence)
    with evidence.watch.stage("rank"):
        passing = adjusted(ranked, evidence)
    if request.strategy != "bounded" and len(passing) < (request.limit or 0):
        passing = told_once(passing + deeper(evidence, query, passing), evidence)
    with evidence.watch.stage("read"):
        depth = MAX_LIMIT if request.only_fitting else max(request.limit or 0, MOST_HITS)
        shown = passing[:depth]
        hits = read(evidence, shown)
        chances, fit, close, held = surety(evidence, passing, list(hits.values()))
        if request.fuses:
            for row, chance in zip(hits, chances, strict=True):
                hits[row] = replace(hits[row], score=round(chance, 4))
        if request.only_fitting:
            shown = [r for place, r in enumerate(shown) if place < fit or held[place]]
        count = fit if request.ends_itself else request.limit or MOST_HITS
        shown = in_order(shown[:count], request.order)
    return Answer(
        ranked,
        passing,
        hits=in_talk(evidence, {r.rowid: hits[r.rowid] for r in shown}),
        close=close,
        weak=not (close and any(held)),
        rounds=rounds,
    )


def in_talk(evidence: Evidence, hits: dict[int, Hit]) -> tuple[Hit, ...]:
    """These hits; one that does not stand alone with the entries beside it, unless they are
    hits.
    """
    unclear = []
    for row, hit in hits.items():
        if hit.entry.type == "note" and not stands_alone(hit.entry.content):
            unclear.append(row)
    found = evidence.index.beside(unclear, evidence.request.filters)
    for row, rows in found.items():
        near = read_entries(evidence.ws, [one for one in rows if one not in hits])
        hits[row] = replace(hits[row], beside=tuple(near.values()))
    return tuple(hits.values())


def deeper(evidence: Evidence, query: Query, passing: Ranking) -> Ranking:
    """Candidates from deeper in the lists, to stand behind the others.

    They are the same for every limit, and nothing that is known of an entry changes: a larger
    limit only adds hits.
    """
    first = dict(evidence.lists)
    seen = first["lexical"].keys() | first["semantic"].keys()
    candidates = ranked_for(evidence, query, MAX_LIMIT)
    for name, found in evidence.lists.items():
        new = {row: hit for row, hit in found.items() if row not in seen}
        evidence.lists[name] = first[name] | new
    worst = min((r.score for r in passing), default=math.inf)
    added = [r for r in candidates if r.rowid not in seen]
    for r in added:
        r.score = min(r.score, worst)
    return near_enough(added, evidence)


def listed(evidence: Evidence) -> Answer:
    """Entries in order, for a query that is nothing but filters, or nothing."""
    request = evidence.request
    index = evidence.index
    if request.within is None:
        _, rowids = index.listing(
            request.filters, order=request.order, limit=MAX_LIMIT, first=request.project
        )
    else:
        passing = index.passing(request.filters, request.within)
        rowids = [row for row in request.within if row in passing]
    entries = known(evidence, rowids, {})
    shown = list(entries)
    if request.about:
        shown.sort(key=lambda r: evidence.days_away(r.standing))
    shown = in_order(shown[: request.limit or LIST_LIMIT], request.order)
    shown.sort(key=lambda r: request.project not in (None, r.standing.project))
    with evidence.watch.stage("read"):
        return Answer(entries, entries, tuple(read(evidence, shown).values()))


def read(evidence: Evidence, winners: Ranking) -> dict[int, Hit]:
    """The winners with their text and the passage that fits best, by row."""
    request = evidence.request
    parsed = evidence.request.parsed
    passages = evidence.passages([r.rowid for r in winners])
    entries = {row: entry for row, (entry, _, _) in passages.items()}
    entries = marked(evidence.ws, entries, request.here)
    others = evidence.index.entries([row for ranked in winners for row in ranked.also])
    later = {}
    if not request.is_list:
        ids = {entry.id for entry in entries.values()}
        later = reasons(
            evidence, [id for old, id in evidence.superseded_by.items() if old in ids]
        )
    stems = set()
    for term in (*parsed.terms, *parsed.phrases):
        stems |= evidence.stems(term)

    def find(text: str) -> list[int]:
        return [start for start, _ in places(text, stems, evidence.stem)]

    hits = {}
    for ranked in winners:
        entry = entries[ranked.rowid]
        _, passage, line = passages[ranked.rowid]
        shown, offset = snippet(passage, find)
        if entry.whole_file:
            first = next(iter(find(shown)), 0)
            entry = _section(entry, passage, line, offset + shown[:first].count("\n"))
        hits[ranked.rowid] = Hit(
            entry=entry,
            score=round(ranked.score, 6),
            passage=passage,
            snippet=shown,
            snippet_line=line + offset,
            superseded_by=evidence.superseded_by.get(entry.id),
            told=request.changes.get(ranked.rowid)
            or later.get(evidence.superseded_by.get(entry.id, ""), ""),
            also=tuple(others[row].entry.there for row in ranked.also),
            why=_why(evidence, ranked) if request.explain else None,
        )
    return hits


def reasons(evidence: Evidence, ids: Sequence[str]) -> dict[str, str]:
    """Maps the id of a replaced entry to a line about the later one: day, title, and why."""
    index = evidence.index
    said = {}
    for entry in read_entries(evidence.ws, [index.resolve(id).rowid for id in ids]).values():
        sentences = _SENTENCE.split(entry.content.removeprefix(entry.title).strip(" .\n"))
        because = list(filter(QUESTIONS.finder("because").search, sentences)) or sentences
        why = " ".join(because[0].split())[:REASON_CHARS]
        title = entry.title.rstrip(".…")
        said[entry.id] = f"replaced {entry.date}: {title}. {why}".rstrip()
    return said


def _section(entry: Entry, passage: str, line: int, above: int) -> Entry:
    """A note of a whole file, with the title and line of the section that holds the hit.

    `line` is that of the passage, `above` its lines above the first word that was sought.
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


def _why(evidence: Evidence, ranked: Ranked) -> Why:
    request = evidence.request
    standing = ranked.standing
    ranks = {}
    for name, found in evidence.lists.items():
        if ranked.rowid in found:
            ranks[name] = list(found).index(ranked.rowid) + 1
    hard = request.filters.in_force()
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

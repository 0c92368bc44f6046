"""What a question asks and what a note says, as far as this journal knows its words."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date

from ..language.analysis import NO_NAMES, READ_CHARACTERS, Analysis, Keyword, Known, NoteReading, analyze, types_alone
from ..language.lexicon import SHARED, STOP_WORDS
from ..language.query import terms_of
from ..language.timephrase import TimeRange
from ..language.words import words
from ..notes.privacy import without_private
from ..workspace.sync import SyncReport, in_step, read_passages
from ..workspace.workspace import Workspace
from .scoring import Ask
from .tagging import suggest_tags

MAX_KEYWORDS = 12
NAMES_SOUGHT = 8
"""Words of a question that the journal is asked about: whether it writes them as names."""
PASSAGES_READ = 4
"""Passages for each such word; enough to see how the journal writes it, few enough for each question."""
_ISO = re.compile(r"\d{4}-\d{2}")


def understand(ws: Workspace, query: str) -> Analysis:
    """What a question asks for. Its keywords weigh what they tell in this journal."""

    def run(_: SyncReport) -> Analysis:
        names = _names_used(ws, query[:READ_CHARACTERS])
        found = analyze(query, known=replace(known(ws), names=names), today=ws.clock().date())
        rarity = _rarity(ws, [keyword.term for keyword in found.keywords])
        weighed = [replace(k, weight=round(k.weight * rarity[k.term], 3)) for k in found.keywords]
        return replace(found, keywords=tuple(sorted(weighed, key=lambda k: -k.weight)))

    return in_step(ws, run)


def _names_used(ws: Workspace, question: str) -> frozenset[str]:
    """Those words of the question, and runs of them, that passages of the journal write as names.

    A name has a capital within a sentence, more often than not: `where is maria lopez` asks for Maria Lopez where
    the journal says "lunch with Maria Lopez".
    """
    line = " ".join(word for _, word in words(question))
    sought = _looked_up(line.split())
    if not sought:
        return frozenset()
    stems = filter(None, map(ws.index.stem, sought))
    chunks = {chunk for stem in stems for chunk in ws.index.chunks_with_stem(stem, limit=PASSAGES_READ)}
    written: dict[str, list[tuple[str, list[str]]]] = {}
    for name, after in _occurrences(sought, (text for text, _ in read_passages(ws, list(chunks)).values())):
        written.setdefault(name.lower(), []).append((name, after))
    return frozenset(name for places in written.values() for name in _names(places, line))


def _looked_up(found: Iterable[str]) -> list[str]:
    named = [word for word in dict.fromkeys(found) if word.isalpha() and len(word) > 2]
    return [word for word in named if word not in NO_NAMES and word not in SHARED.tools][:NAMES_SOUGHT]


def _occurrences(sought: Iterable[str], texts: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """(word as it is written, what follows it with a capital), wherever one stands within a sentence."""
    pattern = re.compile(rf"(?<=[\w,;)] )\b((?i:{'|'.join(sought)}))\b(?=((?: [A-Z]\w+){{0,3}}))")
    return ((found[1], found[2].split()) for text in texts for found in pattern.finditer(text))


def _names(places: list[tuple[str, list[str]]], line: str) -> Iterator[str]:
    """The word where it is a name more often than not, and with it what follows in the question and in the name."""
    names = [place for place in places if place[0][0].isupper()]
    if 2 * len(names) <= len(places):
        return
    for name, after in names:
        yield name
        for count in range(len(after), 0, -1):
            whole = " ".join([name, *after[:count]])
            if f" {whole.lower()} " in f" {line} ":
                yield whole
                break


def known(ws: Workspace) -> Known:
    """The tags, projects and files of the journal."""
    tags, projects, files = ws.index.vocabulary()
    return Known(tags=frozenset(tags), projects=projects, files=files)


def understood(ws: Workspace, ask: Ask) -> Ask:
    """The search with what its words ask for besides themselves: a time, the newest, a type, a tag, a project, a file.

    All of that is preferred, not required, but a time that stands alone or with "only", and what is asked for as a
    list: "decisions of January". What was given wins.
    """
    found = analyze(ask.parsed.text, known=known(ws), today=ask.now.date())
    if listed := _as_a_list(ws, ask, found):
        return listed
    filters, parsed = ask.filters, ask.parsed
    prefer = replace(
        ask.prefer,
        types=ask.prefer.types or found.prefer_types,
        tags=ask.prefer.tags or found.prefer_tags,
        projects=ask.prefer.projects or found.prefer_projects,
        files=found.prefer_files,
    )
    if found.time_range and not (filters.since or filters.until):
        terms = terms_of(found.text, stop_words=ws.config.search.stop_words) if found.text else ()
        since, until = _days(found.time_range)
        if _may_be_named(found):
            return replace(ask, prefer=replace(prefer, since=since, until=until))
        if found.only_time or not terms:
            filters = replace(filters, since=since, until=until)
        else:
            prefer = replace(prefer, since=since, until=until)
        parsed = replace(parsed, text=found.text, terms=terms)
    return replace(ask, parsed=parsed, filters=filters, prefer=prefer, recent=found.recent)


def _as_a_list(ws: Workspace, ask: Ask, found: Analysis) -> Ask | None:
    """The search as a list of what is of a type or a time, newest first; None where words are left to search for."""
    types = types_alone(terms_of(found.text))
    if types is None or ask.strategy not in ("hybrid", "smart") or ask.parsed.phrases or ask.within is not None:
        return None
    filters = replace(ask.filters, types=ask.filters.types or types)
    if found.time_range and not (filters.since or filters.until):
        if not types and _may_be_named(found):
            return None
        since, until = _days(found.time_range)
        filters = replace(filters, since=since, until=until)
    if filters == ask.filters or not ws.index.listing(filters, order="newest", limit=1)[1]:
        return None
    what = " and ".join(f"type {kind}" for kind in filters.types) or "all entries"
    when = " to ".join(day for day in (filters.since, filters.until) if day)
    said = f"Read as a list, newest first: {what}{f', {when}' if when else ''}."
    parsed = replace(ask.parsed, text="", terms=(), notices=(*ask.parsed.notices, said))
    return replace(ask, parsed=parsed, filters=filters, order="newest" if ask.order == "relevance" else ask.order)


def _may_be_named(found: Analysis) -> bool:
    """Whether notes of other days may name the time, which is a date in digits."""
    return found.time_range is not None and not found.only_time and bool(_ISO.search(found.time_range.phrase))


def _days(times: TimeRange) -> tuple[str | None, str | None]:
    return times.start.isoformat() if times.start else None, times.end.isoformat() if times.end else None


def read_note(ws: Workspace, text: str, *, on: date | None = None) -> NoteReading:
    """A note before it is saved, without what is private in it. `on` is the day it is of; without it today."""
    from ..language.normalize import normalize  # a search needs none of its words

    text = without_private(text)
    reading = normalize(text, on=on or ws.clock().date())

    def run(_: SyncReport) -> NoteReading:
        keywords = _keywords(ws, reading.text)
        return NoteReading(text, reading.text, reading.changes, keywords, suggest_tags(ws, text))

    return in_step(ws, run)


def _keywords(ws: Workspace, text: str) -> tuple[Keyword, ...]:
    counts: dict[str, int] = {}
    for _, word in words(text):
        if word not in STOP_WORDS and len(word) > 1:
            counts[word] = counts.get(word, 0) + 1
    rarity = _rarity(ws, list(counts))
    scores = {word: (1 + math.log(count)) * rarity[word] for word, count in counts.items()}
    top = max(scores.values(), default=1.0) or 1.0
    best = sorted(scores, key=lambda word: (-scores[word], word))[:MAX_KEYWORDS]
    return tuple(Keyword(word, round(scores[word] / top, 3)) for word in best)


def _rarity(ws: Workspace, terms: Sequence[str]) -> dict[str, float]:
    """For each word how rare it is in this journal, from 0 (in every passage) to 1 (in none): its idf over the most."""
    total, counts = ws.index.document_counts(terms)
    most = math.log(1 + total) or 1.0
    return {term: math.log((1 + total) / (1 + count)) / most if total else 1.0 for term, count in counts.items()}

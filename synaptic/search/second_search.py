"""Rules that ask once more: in all projects, among replaced entries, for a time alone, or with
another spelling. `passes` has their order and their figures.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from ..filters import Filters
from ..language.analysis.asked import QUESTIONS
from ..language.lexicon import TYPE_WORDS
from ..language.query import merge_filters
from ..language.tongues import guess_languages
from ..language.words import words
from ..models import ONLY_REPLACED, Hit
from .doubt import MOST_HITS, Attempt
from .evidence import Evidence, replace_words
from .near import NAME

Search: TypeAlias = Callable[[Evidence], Attempt]
"""Searches with this evidence."""

BY_TIME = "Nothing fits the other words; these are the entries of that time, newest first."
REPLACED = "Only entries that a later one replaced fit; `superseded by` names the later one."

REASONS = 3
"""Among the first of these hits a replaced entry is shown to who asks for a reason. By eye."""

_CAPITALS = re.compile(r"\b[A-Z]{2,}\b")


def is_known_elsewhere(evidence: Evidence) -> bool:
    """True if entries of other projects alone hold a name in the question."""
    own = evidence.request.project
    for word in find_names(evidence) if own else ():
        projects = {standing.project for standing in evidence.holders(word)}
        if projects and own not in projects:
            return True
    return False


def ask_all_projects(evidence: Evidence) -> Evidence:
    """The evidence of the same question, asked from no project."""
    return evidence.of(project=None)


def has_replaced_candidates(attempt: Attempt) -> bool:
    """True if a later entry replaced a candidate."""
    return bool(attempt.evidence.superseded_by)


def show_replaced(attempt: Attempt, search: Search) -> Attempt:
    """The answer with replaced entries, where they are asked for or they alone fit.

    | replaced entries stand           | where                                         |
    |----------------------------------|-----------------------------------------------|
    | in place of the answer           | only they come near the question              |
    | below what replaced them         | only they hold a name of the question         |
    | below what replaced them         | the question asks for a reason: "why Redis"   |
    | above what replaced them         | it asks for what held before: "why Redis then"|
    """
    evidence = attempt.evidence
    text = evidence.request.parsed.text
    names = names_of_replaced(evidence)
    is_former = QUESTIONS.finder("former").search(text) is not None
    asks_why = is_former or QUESTIONS.finder("for_a_reason").search(text)
    if not (attempt.weak or names or asks_why):
        return attempt
    filters = replace(evidence.request.filters, include_superseded=True)
    wider = search(evidence.of(filters=filters))
    if attempt.weak and wider.hits and wider.hits[0].superseded_by and not wider.weak:
        return replace(wider, notices=(*attempt.notices, REPLACED))
    holders = [hit for hit in wider.hits if hit.entry.id in names]
    if holders:
        hits = put_beside_later(attempt.hits, holders)
        alone = ", ".join(dict.fromkeys(names[hit.entry.id] for hit in holders))
        notices = (*attempt.notices, f"{ONLY_REPLACED}: {alone}.")
        return replace(attempt, hits=hits, weak=False, close=True, notices=notices)
    if asks_why:
        ids = {hit.entry.id for hit in attempt.hits}
        replaced = [hit for hit in wider.hits[:REASONS] if hit.superseded_by in ids]
        hits = put_beside_later(attempt.hits, replaced, above=is_former)
        return replace(attempt, hits=hits)
    return attempt


def put_beside_later(
    hits: Sequence[Hit], replaced: Sequence[Hit], *, above: bool = False
) -> tuple[Hit, ...]:
    """The hits and replaced ones, each below or above the hit that replaced it, else first."""
    result = list(hits)
    for hit in reversed(replaced):
        ids = [other.entry.id for other in result]
        place = 0
        if hit.superseded_by in ids:
            place = ids.index(hit.superseded_by) + (not above)
        result.insert(place, hit)
    return tuple(result)


def names_of_replaced(evidence: Evidence) -> dict[str, str]:
    """Maps the id of each replaced entry to the name in the question, as typed, that only
    replaced entries hold.
    """
    names: dict[str, str] = {}
    for word, typed in find_names(evidence).items():
        ids = [standing.id for standing in evidence.holders(word)]
        if len(evidence.index.superseded_by(ids)) == len(ids):
            names |= dict.fromkeys(ids, typed)
    return names


def misses_preferred_time(attempt: Attempt) -> bool:
    """True if nothing close is of the time that is preferred."""
    request = attempt.evidence.request
    prefers_time = request.prefer.since or request.prefer.until
    return bool(prefers_time) and not (attempt.close or request.parsed.phrases)


def list_preferred_time(attempt: Attempt, search: Search) -> Attempt:
    """The entries of the time that is preferred, the newest first."""
    request = attempt.evidence.request
    time = Filters(since=request.prefer.since, until=request.prefer.until)
    evidence = attempt.evidence.of(
        parsed=replace(request.parsed, text="", terms=()),
        filters=merge_filters(request.filters, time),
        prefer=Filters(),
        order="newest",
        limit=request.limit or MOST_HITS,
    )
    return replace(search(evidence), notices=(*attempt.notices, BY_TIME))


def is_worth_spelling_check(attempt: Attempt) -> bool:
    """True if the answer is weak and words count."""
    return attempt.weak and attempt.evidence.mode != "semantic"


def correct_spelling(attempt: Attempt, search: Search) -> Attempt:
    """The answer with the nearest known words in place of typing errors.

    Where meaning found something close, `signing` does not count as a typing error for
    `singing`, unless both find the same.
    """
    nearest = find_spelling_corrections(attempt.evidence)
    if not nearest:
        return attempt
    parsed = replace_words(attempt.evidence.request.parsed, nearest)
    other = search(attempt.evidence.of(parsed=parsed))
    first = [hit.entry.id for hit in attempt.hits[:1]]
    is_same = first == [hit.entry.id for hit in other.hits[:1]]
    if first and attempt.close and not is_same:
        return attempt
    notices = list(attempt.notices)
    for typed, word in nearest.items():
        notices.append(f"Nothing holds `{typed}`; searched for `{word}`.")
    return replace(other, notices=tuple(notices))


def find_spelling_corrections(evidence: Evidence) -> dict[str, str]:
    """The nearest known word for each word of the question that no entry holds and that may be
    a typing error.
    """
    nearest = {}
    for term in evidence.request.parsed.terms:
        is_word = len(term) >= 5 and term.isalpha() and term not in TYPE_WORDS
        is_unknown = is_word and not evidence.has_word(term)
        word = evidence.nearest_word(term) if is_unknown else None
        if word:
            nearest[term] = word
    return nearest


def find_names(evidence: Evidence) -> dict[str, str]:
    """The words of the question that are names or rare in any text, as typed, by term: `Vue`,
    `pgbouncer`. The model has a token for each usual word, and several for each of these. None
    in another language than English.

    Measured on tests/data/panel (begun, beliefs, project): a name that no entry holds is in 49
    of 120 questions without an answer, and in 17 of 300 with one.
    """
    text = evidence.request.parsed.text
    if guess_languages(text):
        return {}
    tokens = evidence.asked.words if evidence.asked else ()
    pieces = Counter(word.lower() for word in tokens)
    named = {word.lower() for word in (*NAME.findall(text), *_CAPITALS.findall(text))}
    names = {}
    for start, word in words(text):
        is_sought = word.isascii() and word in evidence.request.parsed.terms
        if is_sought and (word in named or pieces[word] > 1):
            names[word] = text[start : start + len(word)]
    return names


def missing_names(evidence: Evidence) -> list[str]:
    """The names in the question, as typed, that no entry holds, but for typing errors."""
    missing = []
    for word, typed in find_names(evidence).items():
        is_mistyped = typed.islower() and len(word) > 5 and evidence.near_stems(word)
        if not (evidence.has_word(word) or is_mistyped):
            missing.append(typed)
    return missing

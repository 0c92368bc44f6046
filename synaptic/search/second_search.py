"""Answer passes that search a second time: with replaced entries, or with other words.
`passes` has their order and their figures.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from ..errors import Sentence
from ..language.analysis.asked import QUESTIONS
from ..language.lexicon import TYPE_WORDS, is_tool
from ..language.tongues import guess_languages
from ..language.words import is_sign, words
from ..models import Hit
from .doubt import Attempt
from .evidence import Evidence, replace_words
from .near import NAME

Search: TypeAlias = Callable[..., Attempt]
"""A function that runs a search with the given evidence, and `because` it is asked for."""

SEARCHED_INSTEAD = "Nothing holds `{typed}`; searched for {words}."
REASONS = 3
"""If the question asks for a reason, replaced entries among this many first hits are shown. By
eye.
"""

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
"""The parts of an identifier: `parse HTTP Rows 2` of `parseHTTPRows2`."""
LEAST_PART, LEAST_OWN = 5, 3
"""Letters of a word that is sought within longer ones, and of a part of its own. By eye."""
_CAPITALS = re.compile(r"\b[A-Z]{2,}\b")


def asks_for_former(attempt: Attempt) -> bool:
    """True if the question asks for a reason or for what held before, and a later entry
    replaced one of the candidates.
    """
    text = attempt.evidence.plan.parsed.text
    is_asked = any(QUESTIONS.finder(name).search(text) for name in ("former", "for_a_reason"))
    return is_asked and bool(attempt.evidence.superseded_by)


def show_replaced(attempt: Attempt, search: Search) -> Attempt:
    """Adds the replaced entries among the first hits to the answer, each beside the hit that
    replaced it.

    | the question asks for            | replaced entries stand  |
    |----------------------------------|-------------------------|
    | a reason: "why Redis"            | below what replaced them|
    | what held before: "why Redis then"| above what replaced them|
    """
    evidence = attempt.evidence
    is_former = QUESTIONS.finder("former").search(evidence.plan.parsed.text) is not None
    filters = replace(evidence.plan.filters, include_superseded=True)
    wider = search(evidence.of(filters=filters))
    ids = {hit.entry.id for hit in attempt.hits}
    replaced = [hit for hit in wider.hits[:REASONS] if hit.superseded_by in ids]
    return replace(attempt, hits=put_beside_later(attempt.hits, replaced, above=is_former))


def put_beside_later(
    hits: Sequence[Hit], replaced: Sequence[Hit], *, above: bool
) -> tuple[Hit, ...]:
    """The hits with the replaced ones inserted: each below (or `above`) the hit that replaced
    it, or first if that is no hit.
    """
    result = list(hits)
    for hit in reversed(replaced):
        ids = [other.entry.id for other in result]
        place = 0
        if hit.superseded_by in ids:
            place = ids.index(hit.superseded_by) + (not above)
        result.insert(place, hit)
    return tuple(result)


def misses_words(attempt: Attempt) -> bool:
    """True if the answer is weak and the search uses words."""
    return attempt.weak and attempt.evidence.mode != "semantic"


def correct_spelling(attempt: Attempt, search: Search) -> Attempt:
    """Searches again with the nearest known words in place of typing errors, and returns that
    answer if it is better.

    If meaning found something close, the new answer is used only if its first hit is the same:
    `signing` need not be a typing error for `singing`.
    """
    nearest = find_spelling_corrections(attempt.evidence)
    if not nearest:
        return attempt
    parsed = replace_words(attempt.evidence.plan.parsed, nearest)
    other = search(attempt.evidence.of(parsed=parsed))
    first = [hit.entry.id for hit in attempt.hits[:1]]
    is_same = first == [hit.entry.id for hit in other.hits[:1]]
    if first and attempt.close and not is_same:
        return attempt
    notices = list(attempt.notices)
    for typed, word in nearest.items():
        notices.append(Sentence(SEARCHED_INSTEAD, typed=typed, words=f"`{word}`"))
    return replace(other, notices=tuple(notices))


def find_spelling_corrections(evidence: Evidence) -> dict[str, str]:
    """Maps each word of the question that no entry contains to the known word for which it may
    be a typing error.
    """
    nearest = {}
    for term in evidence.plan.parsed.terms:
        is_word = len(term) >= 5 and term.isalpha() and term not in TYPE_WORDS
        is_unknown = is_word and not evidence.has_word(term)
        word = evidence.nearest_word(term) if is_unknown else None
        if word:
            nearest[term] = word
    return nearest


def search_parts(attempt: Attempt, search: Search) -> Attempt:
    """Searches again, in place of a word that no entry contains, for the same name as entries
    spell it and for longer identifiers that contain it, else for its own parts.

    | typed              | searched                                            |
    |--------------------|-----------------------------------------------------|
    | `parse_line_items` | `parseLineItems`                                    |
    | `LineItems`        | `line_items`, `parseLineItems`                      |
    | `lineitems`        | `parseLineItems`                                    |
    | `fetchLineItems`   | `fetch`, `Line`, `Items`                            |
    """
    evidence = attempt.evidence
    parsed = evidence.plan.parsed
    names_of = find_identifiers(evidence)
    if not names_of:
        return attempt
    terms = dict.fromkeys(parsed.terms)
    text = parsed.text
    notices = list(attempt.notices)
    for typed, names in names_of.items():
        del terms[typed.lower()]
        terms |= dict.fromkeys(name.lower() for name in names)
        text = text.replace(typed, " ".join(names))
        named = ", ".join(f"`{name}`" for name in names)
        notices.append(Sentence(SEARCHED_INSTEAD, typed=typed, words=named))
    changed = replace(parsed, terms=tuple(terms), text=text)
    other = search(evidence.of(parsed=changed))
    return replace(other, notices=tuple(notices)) if other.hits else attempt


def find_identifiers(evidence: Evidence) -> dict[str, list[str]]:
    """Maps each word of the question, as typed, that no entry contains to the names that
    entries hold in its place.
    """
    parsed = evidence.plan.parsed
    names_of = {}
    for start, word in words(parsed.text):
        is_sought = word.isascii() and word in parsed.terms and word not in TYPE_WORDS
        if is_sought and not evidence.has_word(word):
            typed = parsed.text[start : start + len(word)]
            names = find_spellings(evidence, typed)
            if len(typed) >= LEAST_PART:
                names = names + evidence.longer_identifiers(typed)
            names = names or find_parts(evidence, typed)
            if names:
                names_of[typed] = list(dict.fromkeys(names))
    return names_of


def find_spellings(evidence: Evidence, typed: str) -> list[str]:
    """How entries spell this identifier: `parseLineItems` for `parse_line_items`."""
    parts = [part.lower() for part in _PARTS.findall(typed)]
    if len(parts) < 2:
        return []
    together, apart = "".join(parts), "_".join(parts)
    names = evidence.spellings(evidence.stem(together) or together)
    return [*names, apart] if evidence.has_word(apart) else names


def find_parts(evidence: Evidence, typed: str) -> list[str]:
    """The parts of this identifier that some entry contains."""
    parts = _PARTS.findall(typed)
    if not typed.isidentifier() or len(parts) < 2:
        return []
    return [part for part in parts if len(part) >= LEAST_OWN and evidence.has_word(part)]


def find_names(evidence: Evidence) -> dict[str, str]:
    """Maps the terms of the question that are names or rare words to their spelling in the
    question: `Vue`, `pgbouncer`. Empty for a question that is not in English.

    A word is rare if the model splits it into several tokens; the only word of a query counts
    as a name.

    Measured on tests/data/panel (begun, beliefs, project): a name that no entry holds is in 52
    of 120 questions without an answer, and in 23 of 300 with one.
    """
    text = evidence.plan.parsed.text
    if guess_languages(text):
        return {}
    tokens = evidence.asked.words if evidence.asked else ()
    pieces = Counter(word.lower() for word in tokens)
    typed_names = " ".join((*NAME.findall(text), *_CAPITALS.findall(text)))
    named = {word for _, word in words(typed_names)}
    names = {}
    is_alone = len(evidence.plan.parsed.terms) == 1
    for start, word in words(text):
        is_sought = word.isascii() and word in evidence.plan.parsed.terms
        is_name = word in named or pieces[word] > 1 or is_tool(word)
        if is_sought and (is_name or is_alone):
            names[word] = text[start : start + len(word)]
    return names


def missing_names(evidence: Evidence) -> list[str]:
    """The names in the question, as typed, that no entry contains, without likely typing
    errors and the time that it asks for.
    """
    missing = []
    for word, typed in find_names(evidence).items():
        plain = re.sub("([aou])e", r"\1", word) if len(word) > 5 else word  # Gruenwald
        is_mistyped = typed.islower() and len(word) > 5 and evidence.near_stems(word)
        is_there = any(map(evidence.has_word, {word, plain}))
        if not (is_there or is_mistyped or word in evidence.plan.time_words):
            missing.append(typed)
    signs = [term for term in evidence.plan.parsed.terms if is_sign(term)]
    return missing + [sign for sign in signs if not evidence.has_word(sign)]

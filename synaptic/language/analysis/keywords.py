"""The words of a question that tell something, and the types of notes among them."""

from __future__ import annotations

from collections.abc import Iterable

from ...models import TYPES, EntryType
from ..lexicon import STOP_WORDS, TYPE_NAMES, TYPE_WORDS
from ..patterns import compiled
from ..words import words
from .name_words import ASKING
from .shapes import EntityMention, Keyword

MAX_KEYWORDS = 64

_LISTING = ASKING | frozenset("every noted open saved taken took write wrote written".split())


def keywords_of(text: str, entities: tuple[EntityMention, ...]) -> tuple[Keyword, ...]:
    """The words that tell something, the weightiest first: names, identifiers and numbers, long words, the rest."""
    named = {word for entity in entities for _, word in words(entity.name)}
    weights: dict[str, float] = {}
    for start, word in words(text):
        if word not in STOP_WORDS:
            weights.setdefault(word, _weight(word, text[start : start + len(word)], named))
    ranked = sorted(weights.items(), key=lambda item: -item[1])
    return tuple(Keyword(word, weight) for word, weight in ranked[:MAX_KEYWORDS])


def _weight(word: str, written: str, named: set[str]) -> float:
    if word in named:
        return 1.0
    if word in ASKING:
        return 0.2
    if any(letter.isdigit() for letter in word) or "_" in word or written[1:] != written[1:].lower():
        return 0.9
    return 0.7 if len(word) >= 7 else 0.6 if len(word) >= 4 else 0.4


def types_named(line: str, known: Iterable[str]) -> tuple[EntryType, ...]:
    """The types of notes that the question calls by their name, alone or as a plural."""
    allowed = frozenset(known)
    return tuple(name for name in TYPES if name in allowed and name in line and _is_named(name, line))


def types_alone(terms: Iterable[str]) -> tuple[EntryType, ...] | None:
    """The types that these words ask for, none where they ask for notes of any; None where a word says more.

    | terms              | types       |
    |--------------------|-------------|
    | show, decisions    | decision    |
    | decide             | decision    |
    | happened           |             |
    | decisions, redis   | None        |
    """
    asked = [TYPE_WORDS.get(term) for term in terms if term not in _LISTING]
    if None in asked:
        return None
    return tuple(dict.fromkeys(kind for kind in asked if kind and kind != "note"))


def _is_named(name: str, line: str) -> bool:
    forms = "|".join(form for form, kind in TYPE_NAMES.items() if kind == name)
    return compiled(rf"\b(?:{forms})\b(?! that\b)").search(line) is not None

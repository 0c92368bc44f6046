"""What a text names by its form: words and their spelling, and what stands around them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from ..lexicon import TOOLS, TOOLS_WITH_A_CAPITAL
from ..patterns import compiled
from ..sentences import sentence_ends
from .name_words import (
    AFTER,
    ASKING,
    BEFORE,
    EVENTS,
    FORMS,
    LAST_WORD,
    NO_NAMES,
    TOOL,
    Kinds,
)
from .shapes import EntityMention

_TOKEN = r"(?:[#@]|~?\.{0,2}/)?\w[\w'./\\:+&-]*"


class Token(NamedTuple):
    start: int
    end: int
    word: str
    opens: bool  # the first of a sentence


def tokens_of(text: str) -> list[Token]:
    """The words, paths, tags and identifiers of a text, without the marks that end them."""
    ends, tokens, before = sentence_ends(text), list[Token](), -1
    for found in compiled(_TOKEN).finditer(text):
        start, word = found.start(), found[0].rstrip("'./\\:&-")
        sentence = bisect_right(ends, start)
        opens = sentence != before or text[:start].endswith(": ")
        tokens.append(Token(start, start + len(word), word, opens))
        before = sentence
    return tokens


def named_by_form(text: str, tokens: list[Token], taken: set[int]) -> Iterator[tuple[int, EntityMention]]:
    """(start, entity) of files, tags, tools and capitalised names that nothing else has taken."""
    next_free = 0
    for place, token in enumerate(tokens):
        if place < next_free or place in taken:
            continue
        bare = token.word.removesuffix("'s")
        if kind := _kind_of_word(bare):
            yield token.start, EntityMention(bare, kind)
        elif _is_name(text, tokens, place):
            last = place
            while last - place < 4 and last + 1 not in taken and _goes_on(text, tokens, last):
                last += 1
            next_free = last + 1
            name = text[token.start : tokens[last].end].removesuffix("'s")
            yield token.start, EntityMention(name, kind_of(text, token.start, token.start + len(name), name))


def kind_of(text: str, start: int, end: int, name: str) -> str:
    """What a name that stands there is, by itself and by what stands around it."""
    if name.lower() in EVENTS:
        return "event"
    return (
        _kind_of_word(name)
        or _first(LAST_WORD, name.lower())
        or _first(AFTER, text[end : end + 40])
        or _first(BEFORE, text[max(0, start - 40) : start].lower())
        or "unknown"
    )


def _kind_of_word(word: str) -> str | None:
    """The kind that a single word has by its form alone."""
    lower = word.lower()
    if kind := _first(FORMS, lower):
        return kind
    is_tool = lower in TOOLS and (lower not in TOOLS_WITH_A_CAPITAL or word[:1].isupper())
    return "tool" if is_tool or compiled(TOOL).match(word) else None


def _first(kinds: Kinds, text: str) -> str | None:
    return next((kind for kind, pattern in kinds if compiled(pattern).search(text)), None)


def _is_name(text: str, tokens: list[Token], place: int) -> bool:
    """Whether a name begins here: a capital, within the sentence or where what follows makes it a subject."""
    token = tokens[place]
    bare = token.word.removesuffix("'s").lower()
    if not token.word[:1].isupper() or bare in NO_NAMES or len(bare) < 2:
        return False
    if not token.opens or token.word.isupper():
        return True
    if bare in ASKING:
        return False
    after = text[token.start + len(bare) : token.end + 40]
    return _first(AFTER, after) is not None or _goes_on(text, tokens, place)


def _goes_on(text: str, tokens: list[Token], place: int) -> bool:
    """Whether the name of this token includes the next one."""
    if place + 1 >= len(tokens):
        return False
    one, other = tokens[place], tokens[place + 1]
    if one.word.endswith("'s") or text[one.end : other.start] != " ":
        return False
    word = other.word.removesuffix("'s")
    return word[:1].isupper() and word.lower() not in NO_NAMES and _kind_of_word(word) in (None, "tool")

"""Everything that a text names: what the journal knows, what is quoted, and what is spelled
like a name.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator

from ..lexicon import compiled, is_tool, sentence_ends
from .asked import NO_NAMES, QUESTIONS, Known, Token, known_mentions, tokens_of
from .shapes import EntityMention

_QUOTED = r'"([^"]{2,120})"|“([^”]{2,120})”'


def entities_of(text: str, known: Known) -> Iterator[EntityMention]:
    """Everything that the text names, in its order."""
    tokens = tokens_of(text)
    opening = _opening(text, tokens)
    found: dict[int, EntityMention] = {}
    taken: set[int] = set()
    for place, mention in known_mentions(text, tokens, known, opening).items():
        start, name = tokens[place].start, mention.name
        kind = mention.type or kind_of(text, start, start + len(name), name)
        found[start] = EntityMention(name, kind)
        taken.update(range(place, place + mention.length))
    for quoted in compiled(_QUOTED).finditer(text):
        inside = {
            n for n, token in enumerate(tokens) if quoted.start() <= token.start < quoted.end()
        }
        if inside and taken.isdisjoint(inside):
            found[quoted.start()] = EntityMention((quoted[1] or quoted[2]).strip(), "unknown")
            taken |= inside
    found |= _named_by_form(text, tokens, opening, taken)
    return (found[start] for start in sorted(found))


def kind_of(text: str, start: int, end: int, name: str) -> str:
    """The kind of a name, by its form and by the words around it."""
    if name.lower() in QUESTIONS.events:
        return "event"
    return (
        _kind_of_word(name)
        or _first("kind_last_word", name.lower())
        or _first("kind_after", text[end : end + 40])
        or _first("kind_before", text[max(0, start - 40) : start].lower())
        or "unknown"
    )


def _opening(text: str, tokens: list[Token]) -> set[int]:
    """The tokens that open a sentence."""
    ends = sentence_ends(text)
    sentences = [-1, *(bisect_right(ends, token.start) for token in tokens)]
    return {
        place
        for place, token in enumerate(tokens)
        if sentences[place + 1] != sentences[place] or text[: token.start].endswith(": ")
    }


def _named_by_form(
    text: str, tokens: list[Token], opening: Collection[int], taken: set[int]
) -> dict[int, EntityMention]:
    """By their first character, files, tags, tools and capitalised names that nothing else has
    taken.
    """
    found = {}
    next_free = 0
    for place, token in enumerate(tokens):
        if place < next_free or place in taken:
            continue
        bare = token.word.removesuffix("'s")
        if kind := _kind_of_word(bare):
            found[token.start] = EntityMention(bare, kind)
        elif _is_name(text, tokens, place, place in opening):
            last = place
            while last - place < 4 and last + 1 not in taken and _goes_on(text, tokens, last):
                last += 1
            next_free = last + 1
            name = text[token.start : tokens[last].end].removesuffix("'s")
            found[token.start] = EntityMention(
                name, kind_of(text, token.start, token.start + len(name), name)
            )
    return found


def _kind_of_word(word: str) -> str | None:
    """The kind that a single word has by its form alone."""
    if kind := _first("kind_by_form", word.lower()):
        return kind
    return (
        "tool"
        if is_tool(word) or compiled(QUESTIONS.pattern("tool_word")).match(word)
        else None
    )


def _first(kinds: str, text: str) -> str | None:
    """The first of these kinds whose pattern fits the text."""
    patterns = QUESTIONS.patterns(kinds).items()
    return next((kind for kind, pattern in patterns if compiled(pattern).search(text)), None)


def _is_name(text: str, tokens: list[Token], place: int, opens: bool) -> bool:
    """True if a name begins here: a capital, within the sentence or where what follows makes it
    a subject.
    """
    token = tokens[place]
    bare = token.word.removesuffix("'s").lower()
    if not token.word[:1].isupper() or bare in NO_NAMES or len(bare) < 2:
        return False
    if not opens or token.word.isupper():
        return True
    if bare in QUESTIONS.asking:
        return False
    after = text[token.start + len(bare) : token.end + 40]
    return _first("kind_after", after) is not None or _goes_on(text, tokens, place)


def _goes_on(text: str, tokens: list[Token], place: int) -> bool:
    """True if the name of this token includes the next one."""
    if place + 1 >= len(tokens):
        return False
    one, other = tokens[place], tokens[place + 1]
    if one.word.endswith("'s") or text[one.end : other.start] != " ":
        return False
    word = other.word.removesuffix("'s")
    return (
        word[:1].isupper()
        and word.lower() not in NO_NAMES
        and _kind_of_word(word) in (None, "tool")
    )

"""Groups of people that a note names, and words for many."""

from __future__ import annotations

from ..lexicon import TOOLS
from .grammar_words import FUNCTION, MANY, NO_NAMES, PLURAL_BEFORE, SPANS
from .mentions import Mention
from .note import Note
from .people_words import DOES, GROUPS, SAYS


def group_at(note: Note, i: int) -> Mention | None:
    """The Finance team, the Millers."""
    if note.lower(i) != "the" or i + 1 >= len(note.tokens):
        return None
    last = i + 1
    while last < min(i + 4, len(note.tokens)) and note.tokens[last].joined and note.is_capital(last):
        last += 1
    if last == i + 1:
        return None
    if note.joined(last) in GROUPS:
        return Mention(i, last + 1, "the" + note.written(i, last + 1)[3:])
    word, after = note.tokens[last - 1], note.joined(last)
    plural = word.lower.endswith("s") and not word.lower.endswith(("ss", "us")) and word.lower not in TOOLS
    if last != i + 2 or not plural or not note.is_spelled_as_name(i + 1) or word.lower in NO_NAMES:
        return None
    if after and after not in FUNCTION and after not in DOES and not after.endswith("ed"):
        return None  # the Beatles album
    return Mention(i, last, "the" + note.written(i, last)[3:])


def is_plural(note: Note, i: int) -> bool:
    """Whether the word is, as far as form tells, several things or people."""
    token = note.tokens[i]
    if token.lower in MANY:
        return True
    if not token.lower.endswith("s") or token.lower.endswith(("ss", "us", "is")) or token.lower in FUNCTION:
        return False
    if token.lower in SPANS or token.lower in SAYS:
        return False
    if note.is_capital(i) and not token.opens:
        return False
    before = note.before(i)
    return token.opens or before in PLURAL_BEFORE or before.isdigit() or note.lower(i - 2) in PLURAL_BEFORE

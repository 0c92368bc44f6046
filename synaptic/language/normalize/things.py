"""The things that a note names: tools, projects, files, code."""

from __future__ import annotations

from ..lexicon import TOOLS, TOOLS_WITH_A_CAPITAL
from ..patterns import compiled
from .grammar_words import ADVERBS, AUX, COMMON_END, DETERMINERS, FUNCTION, NO_NAMES, PRONOUNS, VERBS
from .mentions import Mention
from .note import Note
from .people_words import DOES, GENDERS, ROLES, TITLES
from .thing_words import DEPARTMENTS, GENERIC, KINDS, NO_NAMED_THING, PLACES, TELLS

_NO_THING = (
    FUNCTION | GENERIC | NO_NAMES | PLACES | ROLES | ADVERBS | DEPARTMENTS
    | PRONOUNS.keys() | TITLES.keys() | GENDERS.keys()
) - TOOLS  # fmt: skip
_BARE_TOOLS = TOOLS - TOOLS_WITH_A_CAPITAL
_OF_THINGS = AUX | TELLS
_VERSION = r"v?\d{1,4}(?:\.[\dx]{1,4}){0,3}\Z"
_NAME_IN_CODE = r"`+[\w./:@+-]+(?:\(\))?`+"


def thing_at(note: Note, i: int) -> Mention | None:
    """A named thing; its name is "" where what is named is something else: "the Kestrel dashboard"."""
    token = note.tokens[i]
    if i in note.taken:
        return None
    if token.form == "code":
        name = note.text[token.start : token.end]
        return Mention(i, i + 1, name if compiled(_NAME_IN_CODE).fullmatch(name) else "")
    if token.form == "file":
        return Mention(i, i + 1, token.word)
    if not _names_thing(note, i):
        return None
    last = i + 1
    while last < min(i + 4, len(note.tokens)) and _continues_name(note, last):
        last += 1
    return Mention(i, last, "" if _is_compound(note, i, last) else note.written(i, last))


def _names_thing(note: Note, i: int) -> bool:
    token = note.tokens[i]
    if token.lower in _BARE_TOOLS:
        return True
    if not note.is_capital(i) or len(token.word) < 2 or token.lower in _NO_THING:
        return False
    if not token.opens or token.lower in TOOLS or not (token.word[1:].islower() and token.word.isalpha()):
        return True
    if token.lower in VERBS or compiled(COMMON_END).search(token.lower):
        return False
    told = note.joined(i + 2) in _OF_THINGS
    if told and note.joined(i + 1) not in TOOLS and _continues_name(note, i + 1):
        return True  # Home Assistant crashed
    if token.lower in NO_NAMED_THING:
        return False
    if token.word in note.inside:
        return True
    if i + 1 >= len(note.tokens) or not note.tokens[i + 1].joined:
        return False
    after = note.tokens[i + 1]
    if compiled(_VERSION).match(after.word) or (token.lower == "project" and after.word[0].isupper()):
        return True
    # A single thing without an article, of which something is told, is called so: "Atlas is late".
    is_one = not token.lower.endswith("s") or after.lower in ("is", "was") or after.lower.endswith("s")
    return is_one and (after.lower in _OF_THINGS)


def _continues_name(note: Note, i: int) -> bool:
    token = note.tokens[i]
    if not token.joined or i in note.taken:
        return False
    if compiled(_VERSION).match(token.word):
        return True
    return note.is_capital(i) and token.lower not in FUNCTION and token.lower not in NO_NAMES


def _is_compound(note: Note, first: int, last: int) -> bool:
    after = note.joined(last)
    if not after or after in FUNCTION or after in KINDS or not note.tokens[last].word.isalpha() or after in DOES:
        return False
    if after.endswith("ed") or note.is_capital(last) or after in PRONOUNS:
        return False
    determined = note.before(first) in DETERMINERS
    return determined or note.joined(last + 1) in AUX

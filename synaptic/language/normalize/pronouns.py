"""Names for pronouns: "Anna is ill. She called." A wrong name is worse than a pronoun that
stays.

A pronoun means the one name before it that agrees with it; as soon as two different names
agree, it stays. Only what is surely a name counts: a first name of `data/words/notes.toml`, a
name after a title, "the Finance team", "the Millers", a known tool, a file, code.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from ..lexicon import (
    COUNTS,
    MONTHS,
    SHARED,
    STOP_WORDS,
    WEEKDAYS,
    Words,
    compiled,
    is_tool,
    sentence_ends,
)
from .shown import CODE, MAX_LENGTH, Change, shown

NOTES = Words("notes")
PRONOUNS, TITLES, FIRST_NAMES = map(NOTES.table, ("pronouns", "titles", "first_names"))
_NO_NAMES = {"i", *MONTHS, *WEEKDAYS}
_AFTER_OBJECT = STOP_WORDS.union(COUNTS, NOTES.after_object)
"""Words before which "her" is no possessive."""

_FILE = r"(?<![\w/.~-])(?:[\w.~-]{1,60}/){0,8}[\w-]{1,80}(?:\.[\w-]{1,40}){0,3}\.(?:<endings>)(?![\w/])"
_WORD = r"[^\W_]\w*(?:[-.+]\w+|\+\+)*"
_REACH = 200
"""Characters before a pronoun in which a clause may begin. By eye."""


class NoteToken:
    """A word, a file or code. `joined`: one blank lies between it and the token before.
    `sentence` is its number.
    """

    def __init__(self, found: re.Match[str], joined: bool, sentence: int) -> None:
        self.start, self.end = found.span()
        self.word, self.lower = found[0], found[0].lower()
        self.is_thing, self.joined, self.sentence = found.lastgroup == "thing", joined, sentence
        self.is_capital = (
            self.word[0].isupper()
            and self.word[1:].islower()
            and self.word.replace("-", "").isalpha()
        )


def resolve_pronouns(text: str) -> tuple[Change, ...]:
    """The name for each pronoun that can mean nothing else; none where two could be meant.
    Never raises.
    """
    return tuple(_changes(text[:MAX_LENGTH]))


def _changes(text: str) -> Iterator[Change]:
    seen = shown(text)
    tokens = _tokens(seen)
    named: dict[
        str, tuple[str, NoteToken]
    ] = {}  # by pronoun the name that it means, "" after two, and its last token
    stranger = -2  # the sentence that last spoke of somebody without a name
    at = 0
    while at < len(tokens):
        token, (last, agreeing) = tokens[at], _name_at(tokens, at)
        kind = PRONOUNS.get(token.lower)
        for one in agreeing:
            name = " ".join(text[token.start : tokens[last].end].split())
            named[one] = _fuller(named[one][0], name) if one in named else name, tokens[last]
        is_name = _is_capital(tokens, at) and token.lower not in _NO_NAMES
        if (
            not agreeing and is_name and token.sentence == tokens[at - 1].sentence
        ):  # of something unknown
            named["it"] = "", token
        elif token.lower in NOTES.somebody and not _is_capital(tokens, at + 1):
            stranger = token.sentence
        elif (
            kind in named
            and _is_plain(seen, tokens, at)
            and not _is_object(seen, tokens, at, named[kind][1])
        ):
            name, before = named[kind]
            is_person = kind in ("he", "she")
            if name and not (
                stranger >= token.sentence - 1
                if is_person
                else _is_rivalled(seen, token, before)
            ):
                named[kind] = name, token
                yield Change(
                    token.word,
                    _written(name, token, _is_owning(tokens, at)),
                    "coreference",
                    token.start,
                )
        at = last + 1


def _tokens(seen: str) -> list[NoteToken]:
    ends, tokens = sentence_ends(seen), list[NoteToken]()
    file = _FILE.replace("<endings>", SHARED.pattern("file_endings"))
    pattern = f"(?P<thing>{CODE}+|{file})|{_WORD}"
    for found in compiled(pattern).finditer(seen):
        gap = seen[tokens[-1].end : found.start()] if tokens else ""
        joined = gap in (" ", "\n") or (gap == ". " and tokens[-1].lower in TITLES)
        tokens.append(NoteToken(found, joined, bisect_right(ends, found.start())))
    return tokens


def _name_at(tokens: list[NoteToken], i: int) -> tuple[int, tuple[str, ...]]:
    """(the last token of the name that begins at i, the pronouns that agree with it); (i, ())
    where none begins.
    """
    token = tokens[i]
    if token.is_thing:
        return i, ("it",)
    if is_tool(token.word):
        return i + (_joined(tokens, i + 1)[:1].isdigit()), ("it",)
    if token.lower == "the":
        last = _capitals(tokens, i, 3)
        after = _joined(tokens, last + 1)
        if last > i and after in NOTES.groups:
            return last + 1, ("they",)
        is_subject = (
            not after or after.endswith("ed") or after in STOP_WORDS
        )  # not the Beatles album
        return (
            (last, ("they",))
            if last == i + 1 and tokens[last].lower.endswith("s") and is_subject
            else (i, ())
        )
    last = _capitals(tokens, i, 2)
    gender = FIRST_NAMES.get(token.lower) if token.is_capital else None
    if token.lower in TITLES and last > i:
        gender = TITLES[token.lower]
    return (last, ("he", "she") if gender == "any" else (gender,)) if gender else (i, ())


def _joined(tokens: list[NoteToken], i: int) -> str:
    """The word at `i` in lower case, or "" where it does not follow the word before by one
    blank.
    """
    return tokens[i].lower if i < len(tokens) and tokens[i].joined else ""


def _capitals(tokens: list[NoteToken], i: int, most: int) -> int:
    """The last of at most so many words after `i` that are spelled like names."""
    last = i
    while last < i + most and _is_capital(tokens, last + 1):
        last += 1
    return last


def _is_capital(tokens: list[NoteToken], i: int) -> bool:
    """True if the token at `i` follows the one before by one blank and is spelled like a name."""
    return i < len(tokens) and tokens[i].joined and tokens[i].is_capital


def _is_rivalled(seen: str, token: NoteToken, before: NoteToken) -> bool:
    """True if "it" or "they" may mean something without a name, or nothing."""
    if token.lower in ("it", "its"):
        pattern = compiled(NOTES.pattern("means_nothing"))
        return (
            before.sentence < token.sentence - 1 or pattern.match(seen, token.end) is not None
        )
    return (
        compiled(NOTES.pattern("plural")).search(
            seen, max(0, token.start - _REACH), token.start
        )
        is not None
    )


def _is_plain(seen: str, tokens: list[NoteToken], i: int) -> bool:
    """True if the pronoun is no part of something else: "he/she", "he or she", "IT", "it-self"."""
    token = tokens[i]
    around = seen[max(0, token.start - 1) : token.start] + seen[token.end : token.end + 1]
    others = {one.lower for one in tokens[max(0, i - 1) : i + 2]}
    return (
        token.word[1:].islower()
        and not any(sign in "/\\_-@#=+$" for sign in around)
        and "or" not in others
    )


def _is_object(seen: str, tokens: list[NoteToken], i: int, before: NoteToken) -> bool:
    """True if grammar forbids the pronoun to mean the name before it: in "Anna met her" it is
    not Anna.
    """
    token = tokens[i]
    is_object = token.lower in ("him", "them") or (
        token.lower == "her" and not _is_owning(tokens, i)
    )
    between = seen[max(before.end, token.start - _REACH) : token.start]
    clause = any(word in NOTES.clause_words for word in between.lower().split()) or re.search(
        r"[,;:—–(]", between
    )
    return is_object and before.sentence == token.sentence and not clause


def _is_owning(tokens: list[NoteToken], i: int) -> bool:
    """True if the pronoun reads "Anna's" rather than "Anna"."""
    if tokens[i].lower != "her":
        return tokens[i].lower in NOTES.owning
    after = _joined(tokens, i + 1)
    return bool(after) and after not in _AFTER_OBJECT and not after.isdigit()


def _fuller(one: str, other: str) -> str:
    """The fuller of two names of the same: "Anna" and "Anna Berg", "Redis" and "Redis 7"; ""
    for two names.
    """
    short, long = sorted((one.split(), other.split()), key=len)
    is_part = short and (long[: len(short)] == short or long[-len(short) :] == short)
    return " ".join(long) if is_part else ""


def _written(name: str, token: NoteToken, owning: bool) -> str:
    """The name in the place of the pronoun: Anna's, the Millers', The Finance team."""
    if owning:
        name = (
            f"{name}'"
            if name.lower().startswith("the ") and name.endswith("s")
            else f"{name}'s"
        )
    if not name.lower().startswith("the "):
        return name
    return ("T" if token.word[0].isupper() else "t") + name[1:]

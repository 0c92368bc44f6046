"""Rewrites a note so that it is understood without its context: dates replace "yesterday",
names replace "she" and "it". Pure, for English, without a model.

| in a note of Saturday 2026-11-21     | reads                                        |
|--------------------------------------|----------------------------------------------|
| yesterday, 3 days ago, last Tuesday  | 2026-11-20, 2026-11-18, 2026-11-17           |
| last week                            | 2026-11-09 to 2026-11-15                     |
| last month, last year                | 2026-10, 2025                                |
| Anna is ill. She called.             | Anna is ill. Anna called.                    |
| We moved to Redis. It is fast.       | We moved to Redis. Redis is fast.            |

A wrong name is worse than a pronoun that stays: a pronoun means the one name before it that
agrees with it, and stays after two. A name is a first name of `data/words/notes.toml`, a name
after a title, a known tool, a file, code. Code, links, comments and quotations are never
touched. Every pattern is bounded, so that no text takes long.

The patterns `note_*` in `data/words/times.toml` say where words like "last week" mean a time;
`timephrase` says which time.
"""

import re
from datetime import date
from typing import Literal

from ..models import Texts, frozen
from ..notes.blocks import scan_structure
from .lexicon import (
    COUNTS,
    MONTHS,
    SHARED,
    STOP_WORDS,
    WEEKDAYS,
    Words,
    compile_once,
    is_tool,
    sentence_ends,
)
from .timephrase.table import TIMES, When
from .timephrase.typed import read_time

MAX_LENGTH = 20_000
"""Characters of a note that are searched for times and pronouns; the rest is not changed."""

CODE = "\x1e"
HIDDEN = "\x1f"
_CODE_SPAN = r"(?<!`)(`+)(?!`)(?:(?!\n[ \t]*\n)[\s\S]){1,2000}?(?<!`)\1(?!`)"
_FOREIGN = (
    # links
    r"(?m)\[\[[^\[\]\n]{0,300}\]\]"
    r"|\[[^\[\]\n]{0,300}\](?:\([^()\n]{0,500}\)|\[[^\[\]\n]{0,100}\])"
    r"|\b(?:https?|ftp|file|ssh)://\S{1,2000}|\bwww\.\S{1,500}"
    r"|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{1,64}|(?<![\w#@])[#@][\w/-]{1,100}"
    # comments, HTML
    r"|<!--(?:[^-]|-(?!->)){0,2000}-->|</?[A-Za-z][^<>\n]{0,300}>"
    # quotations
    r"|^[ \t]{0,3}>[^\n]*"
    r'|"(?:[^"\n]|\n(?![ \t]*(?:\n|[-*+#>]))){1,600}"'
    r"|“[^“”]{1,600}”|„[^„“”]{1,600}[“”]|«[^«»]{1,600}»"
    r"|‘[^‘’\n]{1,300}(?:’\w[^‘’\n]{0,300}){0,5}’(?!\w)"
    r"|(?<![\w'’)])'(?=\w)(?:[^'\n]|(?<=\w)'(?=\w)){1,300}(?<=\S)'(?!\w)"
)

NOTES = Words("notes")
PRONOUNS, TITLES, FIRST_NAMES = map(NOTES.table, ("pronouns", "titles", "first_names"))
_NO_NAMES = {*MONTHS, *WEEKDAYS}
_AFTER_OBJECT = STOP_WORDS.union(COUNTS, NOTES.after_object)
"""If one of these words follows "her", "her" is an object ("met her and") and not a possessive
("her book").
"""
_REACH = 200
"""Characters before a pronoun in which a clause may begin. By eye."""

_CAPITAL = r"[A-ZÀ-ÖØ-Þ]\w+(?:-\w+)?"
_ENDINGS = SHARED.pattern("file_endings")
_FILE = rf"(?:[\w.~-]{{1,60}}/){{0,8}}[\w.-]{{1,80}}\.(?:{_ENDINGS})"
_MENTION = re.compile(
    rf"""(?x)(?P<thing>{CODE}+|(?<![\w/.~-]){_FILE}(?![\w/]))
    |(?<![\w/\\@\#=+$-])(?<!\bor\ )(?i:(?P<pronoun>{"|".join(PRONOUNS)}))(?![\w/\\@=+-]|\ or\b)
    |\b(?i:(?:{"|".join(TITLES)})\.\ )?{_CAPITAL}(?:\ {_CAPITAL}){{0,3}}(?:\ \d+(?:\.\d+)*)?\b
    |\b[^\W_]\w*"""
)


@frozen
class Change:
    """One replacement in a note: `was`, at the offset `start`, becomes `now`."""

    was: str
    now: str
    kind: Literal["time", "coreference"]
    start: int


def normalize(text: str, *, on: date) -> tuple[str, tuple[Change, ...]]:
    """Replaces relative times by dates and unambiguous pronouns by names; returns the new text
    and the replacements.

    `on` is the day on which the note was written. Never raises.
    """
    changes = [*resolve_relative_times(text, on=on), *resolve_pronouns(text)]
    changes.sort(key=lambda change: change.start)
    plain = ""
    at = 0
    for change in changes:
        plain += text[at : change.start] + change.now
        at = change.start + len(change.was)
    return plain + text[at:], tuple(changes)


def _mask_untouchable_text(text: str) -> str:
    """The text in which control characters replace code, links, comments and quotations; its
    length and offsets do not change.
    """
    text = text[:MAX_LENGTH].replace(CODE, " ").replace(HIDDEN, " ")
    for start, end in scan_structure(text).opaque:
        text = text[:start] + re.sub(r"[^\n]", HIDDEN, text[start:end]) + text[end:]
    text = compile_once(_CODE_SPAN).sub(lambda span: re.sub(r"[^\n]", CODE, span[0]), text)
    foreign = compile_once(_FOREIGN)
    return foreign.sub(lambda match: re.sub(r"[^\n]", HIDDEN, match[0]), text)


# -- times


def resolve_relative_times(text: str, *, on: date) -> tuple[Change, ...]:
    """The replacements of relative times ("yesterday") by a date, two dates, a month or a year,
    for a note that was written on the day `on`. Never raises.

    A phrase that only looks like a relative time is not replaced: "the last week of May", "took
    two weeks", "in 2 days of work", "USA Today".
    """
    masked = _mask_untouchable_text(text)
    changes = []
    for match in TIMES.finder("relative").finditer(masked):
        dates = _format_dates(match[0], on) if _is_relative_time(match, masked) else None
        if dates:
            start, end = match.span()
            changes.append(Change(text[start:end], dates, "time", start))
    return tuple(changes)


def _format_dates(phrase: str, on: date) -> str | None:
    """The dates that a relative time means, as text: a day, `day to day`, a month or a year.
    None if they lie outside the years 1 to 9999.
    """
    span = read_time(TIMES.finder("tail").sub("", phrase), When(on, around=True))
    first, last = (span.start, span.end) if span else (None, None)
    if not first or not last or first == date.min or last == date.max:
        return None
    days = (last - first).days
    if days >= 364:
        return str(first)[:4]
    if days >= 27:
        return str(first)[:7]
    return f"{first} to {last}" if days else str(first)


def _is_relative_time(match: re.Match[str], masked: str) -> bool:
    """True if the words around the phrase show that it is a relative time and not part of a
    name like "USA Today".
    """
    before = masked[max(0, match.start() - 300) : match.start()]
    phrase = match[0]
    is_word = phrase[0].islower() or phrase.isupper() or not phrase[0].isalpha()
    if not (is_word or _note_pattern("starts_sentence").search(before)):
        return False
    if match["ago"]:
        return not _note_pattern("vague").search(before.lower())
    if match["which"]:
        return not _note_pattern("determined").search(before.lower())
    clause = _note_pattern("clause").split(before.lower())[-1]
    return not match["ahead"] or _note_pattern("future").search(clause) is not None


def _note_pattern(name: str) -> re.Pattern[str]:
    return compile_once(TIMES.pattern(f"note_{name}"))


# -- names


def resolve_pronouns(text: str) -> tuple[Change, ...]:
    """The replacements of pronouns by the names that they refer to; a pronoun that may refer to
    two names is not replaced. Never raises.
    """
    masked = _mask_untouchable_text(text)
    named: dict[str, tuple[str, int]] = {}  # by pronoun the name, "" after two, and its end
    changes = []
    for mention in _MENTION.finditer(masked):
        start, end = mention.span()
        if not mention["pronoun"]:
            name, kinds = _name_and_its_pronouns(mention, text[start:end])
            for kind in kinds:
                named[kind] = _longer_name(named.get(kind, (name,))[0], name), end
            continue
        kind = PRONOUNS[mention[0].lower()]
        name, before = named.get(kind, ("", 0))
        is_owning = _is_possessive(mention)
        between = masked[max(before, start - _REACH) : start]
        if name and _can_refer_to_name(mention, between, is_owning):
            named[kind] = name, end
            replacement = f"{name}'s" if is_owning else name
            changes.append(Change(mention[0], replacement, "coreference", start))
    return tuple(changes)


def _name_and_its_pronouns(mention: re.Match[str], text: str) -> tuple[str, Texts]:
    """(the name in a matched text, the pronouns that may refer to it). An unknown name is "", a
    match that is no name has no pronouns.
    """
    if mention["thing"]:
        return text, ("it",)
    words = text.split(" ")
    for index, word in enumerate(words):
        name = " ".join(words[index:])
        if is_tool(word):
            return name, ("it",)
        lower = word.lower().removesuffix(".")
        titled = TITLES.get(lower) if name != word else None
        gender = titled or (FIRST_NAMES.get(lower) if word[0].isupper() else None)
        if gender:
            name = name.rstrip(" .0123456789")
            return name, ("he", "she") if gender == "any" else (gender,)
    before = mention.string[max(0, mention.start() - 2) : mention.start()].strip(" ")
    opens = len(words) == 1 and before in ".!?:\n"  # as does the first word
    is_name = text[0].isupper() and not opens and words[0].lower() not in _NO_NAMES
    return "", ("it",) if is_name else ()


def _can_refer_to_name(mention: re.Match[str], between: str, is_owning: bool) -> bool:
    """True if the pronoun may refer to the last name before it; `between` is the text from that
    name to the pronoun. In "Anna met her" it may not, and in "it rained" the pronoun refers to
    nothing.
    """
    pronoun = mention[0].lower()
    if PRONOUNS[pronoun] == "it":
        means_nothing = compile_once(NOTES.pattern("means_nothing"))
        is_near = len(sentence_ends(between)) < 2
        return is_near and not means_nothing.match(mention.string, mention.end())
    is_object = pronoun in ("him", "her") and not is_owning
    return not is_object or compile_once(NOTES.pattern("clause")).search(between) is not None


def _is_possessive(mention: re.Match[str]) -> bool:
    """True if the pronoun means "Anna's" rather than "Anna"."""
    if mention[0].lower() != "her":
        return mention[0].lower() in ("his", "hers", "its")
    after = re.match(r" ([^\W\d]+)", mention.string[mention.end() : mention.end() + _REACH])
    return after is not None and after[1].lower() not in _AFTER_OBJECT


def _longer_name(one: str, other: str) -> str:
    """The longer of two names if it contains the shorter ("Anna" and "Anna Berg", "Redis" and
    "Redis 7"), else "".
    """
    short, long = sorted((one, other), key=len)
    return long if short and f" {short} " in f" {long} " else ""

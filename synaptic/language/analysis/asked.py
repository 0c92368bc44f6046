"""The time, the list and the known names that a question asks for. Pure.

Every search asks this; `analyze` says more.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import date
from typing import NamedTuple

from ...models import TYPES, Filters, Order
from ..lexicon import COUNTS, DAY_NAMES, MONTHS, SHARED, STOP_WORDS, TYPE_NAMES, Words, compiled
from ..timephrase.find import TimeRange, find_time, is_recent, without
from ..tongues import times_in, tongues_of, without_frame
from ..words import words

QUESTIONS = Words("questions")

NO_NAMES = STOP_WORDS.union(MONTHS, DAY_NAMES, QUESTIONS.small_talk)
"""Words that name nobody and nothing, even with a capital."""

READ_CHARACTERS = 2_000
"""Of a longer text only the beginning is analysed; a pasted page asks nothing in its middle."""

_TAKEN = "\0"
STATES = frozenset(("open", "solved", "wontfix", "settled"))


@dataclass(frozen=True, slots=True)
class Asked:
    """`read` is the beginning of the query on one line, `text` all of the query without its
    time phrase.

    `recent`: the newest of the fitting entries is asked for. `reasons`: a choice is, or why it
    was made. `only_time`: the range is a hard filter. `tongue` is the language of the time, ""
    for English.
    """

    read: str
    text: str
    time_range: TimeRange | None
    only_time: bool
    recent: bool
    reasons: bool = False
    tongue: str = ""


class Listed(NamedTuple):
    """A list of what passes `filters` (project `*`: any), the `most` first, or all.

    `state` is one of STATES, or "". `order` is None where it needs a time to be one. `among`:
    words to seek in it.
    """

    filters: Filters
    state: str
    order: Order | None
    most: int | None
    among: str


def asked_of(query: str, *, today: date) -> Asked:
    """The time, the order and the reasons that the query asks for; any text may be given."""
    read = " ".join(query[:READ_CHARACTERS].replace("\u2019", "'").replace("\0", " ").split())
    time_range, text, tongue = _time_in(read, today)
    only_time = time_range is not None and _is_only(read, time_range.phrase)
    if only_time:
        text = (
            _pattern("only_left_over")
            .sub("", _pattern("only_left").sub("", text, count=1))
            .strip(" ,")
        )
    return Asked(
        read=read,
        text=(text + query[READ_CHARACTERS:]).strip(),
        time_range=time_range,
        only_time=only_time,
        recent=is_recent(read),
        reasons=_pattern("why_chosen").search(read) is not None,
        tongue=tongue,
    )


def _time_in(read: str, today: date) -> tuple[TimeRange | None, str, str]:
    """(the time that the text names, the text without it, the language of the time), where
    English reads less of it.
    """
    plain = find_time(read, today=today)
    least = len(plain[0].phrase) if plain else 0
    for tongue in tongues_of(read):
        for first, last, english in times_in(read, tongue):
            found = find_time(english, today=today)
            if found and not found[1] and last - first >= least:
                return (
                    replace(found[0], phrase=read[first:last]),
                    without(read, first, last),
                    tongue,
                )
    return (*plain, "") if plain else (None, read, "")


def listed_of(text: str, tongue: str = "", projects: Collection[str] = ()) -> Listed | None:
    """The list that a text asks for; None where it says more than the parts of one.

    The parts (kinds, a state, an order, a number) stand in `data/words/questions.toml`;
    `projects` may be named too.

    | text                          | types          | state | among     |
    |-------------------------------|----------------|-------|-----------|
    | `show me the decisions`       | decision       |       |           |
    | `was habe ich gemacht` (de)   |                |       |           |
    | `what is left to do`          | issue, handoff | open  |           |
    | `open issues about the login` | issue          | open  | the login |
    | `decisions on redis`          | None           |       |           |
    """
    if len(text) > READ_CHARACTERS:
        return None
    said = _pattern("short_is").sub(r"\1 is", text.lower()).replace("n't", " not")
    said = without_frame(said, tongue) if tongue else _pattern("list_frame").sub(" ", said)
    names = "|".join(
        sorted(
            (re.escape(name) for name in projects if name not in TYPE_NAMES),
            key=len,
            reverse=True,
        )
    )
    before = r"(?<![\w-])(?:(?:in|of|for|on|with|from|at) )?(?:the )?"
    is_named = compiled(rf"{before}({names})(?:'s)?(?![\w-])" if names else r"(?!)")
    named, whole, said = is_named.findall(said), said, " ".join(is_named.sub(" ", said).split())
    means: list[str] = []
    for meaning, pattern in QUESTIONS.patterns("parts").items():
        said, count = compiled(pattern).subn(_TAKEN, said)
        means += meaning.split() if count else ()
    if not means:
        named, said = [], whole
    state = "".join(STATES & {*means}) or "open" * ("still" in means)
    kinds = [name for name in means if name in TYPES]
    types = kinds or [TYPE_NAMES[name] for name in means if name in TYPE_NAMES]
    types = types or ["issue", "handoff"] * (state == "open")
    is_of_work = types and {*types} <= {"issue", "handoff"}
    if state and not (state in STATES and is_of_work and _pattern("state_asked").search(said)):
        return None
    number = _pattern("state_number").search(said)
    said = said.replace(number[0], _TAKEN, 1) if number else said
    among = _pattern("state_among").search(said) if state and kinds else None
    nothing = (
        STOP_WORDS | QUESTIONS.listing | (QUESTIONS.beside_a_state if means else frozenset())
    )
    parts = (said, among[1] if among else "")
    left, sought = ([word for _, word in words(part) if word not in nothing] for part in parts)
    if left != sought or (means and _pattern("no").search(said)):
        return None
    filters = Filters(
        types=tuple(kind for kind in dict.fromkeys(types) if kind != "note"),
        projects=("*",) if "*" in means else tuple(named),
        tags=SHARED.ordered(state) if state not in ("", "open") else (),
        without=Filters(tags=SHARED.ordered("settled")) if state == "open" else None,
    )
    oldest: Order | None = "oldest" if "oldest" in means else None
    order = "newest" if "newest" in means or (filters.types and not oldest) else oldest
    most = (
        COUNTS.get(number[0].strip()) or int(number[0])
        if number
        else 1
        if "one" in means
        else None
    )
    return Listed(filters, state, order, most, " ".join(sought))


def _is_only(text: str, phrase: str) -> bool:
    """True if the text names the phrase as a filter, and not only as a preference: "only from
    last week".
    """
    before, found, after = text.lower().partition(phrase.lower())
    return bool(
        found
        and (
            _pattern("only_before").search(before[-60:]) or _pattern("only_after").search(after)
        )
    )


def _pattern(name: str) -> re.Pattern[str]:
    return compiled(QUESTIONS.pattern(name), re.IGNORECASE)

"""Finds in a question the time, the list and the names that it asks for. Pure.

Every search asks this; `analyze` says more.
"""

import re
from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import date
from functools import cache, partial
from typing import NamedTuple

from ...filters import Filters
from ...kinds import CLOSABLE, CLOSING_TAGS, KINDS, TAGS_OF_STATE
from ...models import TYPES, Order, Texts, frozen
from ..lexicon import COUNTS, DAY_NAMES, MONTHS, STOP_WORDS, TYPE_NAMES, Words, compile_once
from ..timephrase.find import TimeRange, find_time, is_recent, remove_phrase
from ..timephrase.table import TIMES
from ..tongues import (
    LATIN,
    guess_languages,
    iter_time_translations,
    remove_question_words,
    translate_list_words,
)
from ..words import words

QUESTIONS = Words("questions")
_finder = QUESTIONS.finder

NO_NAMES = STOP_WORDS.union(MONTHS, DAY_NAMES, QUESTIONS.small_talk)
"""Words that are not names, even with a capital."""

READ_CHARACTERS = 2_000
"""Of a longer text only the beginning is analysed; a pasted page asks nothing in its middle."""

_TAKEN = "\0"
_SIGNS = r"[$%&@`~^*_=<>{}\\|]"
_CODE = re.compile(rf"{_SIGNS}\w|\w{_SIGNS}|\w\(\)")
"""A name of code: a sign stands directly beside its word."""
STATES = frozenset(("open", *TAGS_OF_STATE))


@frozen
class Asked:
    """The time, order and reasons that a question asks for. `read` is the beginning of the
    query on one line, `text` the query without its time phrase.

    `recent`: the question asks for the newest fitting entry. `reasons`: it asks for a choice,
    or why it was made. `only_time`: the range is a hard filter. `time_words` are the words of
    the time that a text may hold too: "august" of "last August", none of "last week". `tongue`
    is the language of the time, "" for English.
    """

    read: str
    text: str
    time_range: TimeRange | None
    only_time: bool
    recent: bool
    reasons: bool = False
    time_words: Texts = ()
    tongue: str = ""


class Listed(NamedTuple):
    """A list that a question asks for: the entries that pass `filters` (project `*`: any), the
    first `most` of them, or all.

    `state` is one of STATES, or "". `order` is None where it needs a time to be one. `among`:
    words to seek in it. `changes`: what changed is asked for too. `tasks`: entries with open
    tasks belong to it.
    """

    filters: Filters
    state: str
    order: Order | None
    most: int | None
    among: str
    changes: bool = False
    tasks: bool = False


def read_question(query: str, *, today: date) -> Asked:
    """Finds the time, the order and the reasons that a query asks for.

    A month, a weekday or a day without a year is the latest one that has begun; in a question
    about the future it is the next one that is not over.
    """
    read = " ".join(query[:READ_CHARACTERS].replace("\u2019", "'").replace("\0", " ").split())
    is_future = _finder("future").search(read) and not _finder("past").search(read)
    find = partial(find_time, today=today, ahead=bool(is_future))
    time_range, text, tongue = _find_time_in_languages(read, find)
    if time_range and _is_in_code(read, time_range.phrase):
        time_range, text, tongue = None, read, ""
    only_time = False
    if time_range:
        marked = read.replace(time_range.phrase, _TAKEN, 1)
        left, count = _finder("only").subn("", marked)
        if count:
            only_time = True
            text = left
    return Asked(
        read=read,
        text=(text + query[READ_CHARACTERS:]).strip(),
        time_range=time_range,
        only_time=only_time,
        recent=is_recent(read),
        reasons=_finder("why_chosen").search(read) is not None,
        time_words=_calendar_words(time_range, tongue) if time_range else (),
        tongue=tongue,
    )


def _is_in_code(read: str, phrase: str) -> bool:
    """True if the phrase is, or begins or ends with, a name of code: `$today`, `{{date}}`."""
    start = read.find(phrase)
    around = read[max(start - 1, 0) : start + len(phrase) + 2]
    return _CODE.search(around) is not None


def _find_time_in_languages(
    read: str, find: Callable[[str], tuple[TimeRange, str] | None]
) -> tuple[TimeRange | None, str, str]:
    """(the time that the text names, the text without it, the language of the time), where
    English reads less of it.
    """
    plain, text = find(read) or (None, read)
    least = len(plain.phrase) if plain else 0
    for tongue in guess_languages(read):
        for first, last, english in iter_time_translations(read, tongue):
            time_and_rest = find(english)
            if time_and_rest and not time_and_rest[1] and last - first >= least:
                times = replace(time_and_rest[0], phrase=read[first:last])
                return times, remove_phrase(read, first, last), tongue
    return plain, text, ""


def _calendar_words(time_range: TimeRange, tongue: str) -> Texts:
    """The words of a time that names a year, a season, a month or a weekday, without stop words
    and words such as "last"; empty for any other time.
    """
    if not time_range.is_named:
        return ()
    phrase = time_range.phrase
    if tongue:
        phrase = remove_question_words(phrase, tongue)
    nothing = STOP_WORDS.union(TIMES.numbers("which"))
    return tuple(dict.fromkeys(word for _, word in words(phrase) if word not in nothing))


def read_list_request(
    text: str, tongue: str = "", projects: Collection[str] = ()
) -> Listed | None:
    """The list that a text asks for; None if it has words beyond those that ask for a list.

    The parts (kinds, a state, an order, a number) stand in `data/words/questions.toml`;
    `projects` may be named too.

    | text                          | types          | state | among     |
    |-------------------------------|----------------|-------|-----------|
    | `show me the decisions`       | decision       |       |           |
    | `was habe ich gemacht` (de)   |                |       |           |
    | `what is left to do`          | issue, handoff | open  |           |
    | `open issues about the login` | issue          | open  | the login |
    | `offene Aufgaben`             | issue, handoff | open  |           |
    | `decisions on redis`          | None           |       |           |
    | `$last`                       | None           |       |           |
    """
    if len(text) > READ_CHARACTERS or _CODE.search(text):
        return None
    english = translate_list_words(text)
    if english == text:
        return _read_english_list(text, tongue, projects)
    requests = (
        _read_english_list(english, one, projects) for one in guess_languages(text) or LATIN
    )
    return next(filter(None, requests), None)


def _read_english_list(text: str, tongue: str, projects: Collection[str]) -> Listed | None:
    """`read_list_request` of a text whose words for a list are English; the others may be of
    another language.
    """
    rest = _finder("short_is").sub(r"\1 is", text.lower()).replace("n't", " not")
    rest = (
        remove_question_words(rest, tongue) if tongue else _finder("list_frame").sub(" ", rest)
    )
    named, means, rest = _list_parts(rest, projects)
    kinds = [name for name in means if name in TYPES]
    is_of_tasks = "tasks" in means
    state = "".join(STATES.intersection(means))
    state = state or ("open" if "still" in means or is_of_tasks else "")
    types = kinds or [TYPE_NAMES[name] for name in means if name in TYPE_NAMES]
    has_tasks = state == "open" and not types
    if has_tasks:
        types = list(CLOSABLE)
    if state:
        is_of_work = types and {*types} <= {*CLOSABLE}
        is_name = is_of_tasks and len(words(rest)) < 2
        is_asked = is_name or _finder("state_asked").search(rest)
        if state not in STATES or not is_of_work or not is_asked:
            return None
    number = _finder("state_number").search(rest)
    most = 1 if "one" in means else None
    if number:
        most = COUNTS.get(number[0].strip()) or int(number[0])
        rest = rest.replace(number[0], _TAKEN, 1)
    among = _finder("state_among").search(rest) if state and kinds else None
    sought = _telling_words(among[1], means) if among else []
    if _telling_words(rest, means) != sought or (means and _finder("no").search(rest)):
        return None
    filters = Filters(
        types=tuple(kind for kind in dict.fromkeys(types) if kind != "note"),
        projects=("*",) if "*" in means else named,
        tags=TAGS_OF_STATE.get(state, ()),
        without=Filters(tags=CLOSING_TAGS) if state == "open" else None,
    )
    order: Order | None = "oldest" if "oldest" in means else None
    if "newest" in means or (filters.types and not order):
        order = "newest"
    return Listed(filters, state, order, most, " ".join(sought), "changes" in means, has_tasks)


def _list_parts(text: str, projects: Collection[str]) -> tuple[Texts, list[str], str]:
    """(projects that are named, meanings of the parts, the text with _TAKEN for each part);
    without a part no project is taken out.
    """
    names = sorted(map(re.escape, {*projects} - TYPE_NAMES.keys()), key=len, reverse=True)
    before = r"(?<![\w-])(?:(?:in|of|for|on|with|from|at) )?(?:the )?"
    is_named = re.compile(rf"{before}({'|'.join(names)})(?:'s)?(?![\w-])" if names else r"(?!)")
    left = " ".join(is_named.sub(" ", text).split())
    means: list[str] = []
    for meaning, pattern in _patterns_of_parts().items():
        left, count = compile_once(pattern).subn(_TAKEN, left)
        means += meaning.split() if count else ()
    return (tuple(is_named.findall(text)), means, left) if means else ((), [], text)


@cache
def _patterns_of_parts() -> dict[str, str]:
    """The pattern of each part, by what it means: those of the table, and for each other entry
    type its name.
    """
    patterns = QUESTIONS.patterns("parts")
    for kind in KINDS.values():
        patterns.setdefault(kind.name, rf"\b(?:{kind.name}|{kind.plural})\b")
    return patterns


def _telling_words(text: str, means: list[str]) -> list[str]:
    """The words that say something beside a list."""
    nothing = STOP_WORDS | QUESTIONS.listing
    if set(means) - {"aside"}:  # a remark beside a question asks for no list
        nothing |= QUESTIONS.beside_a_state
    return [word for _, word in words(text) if word not in nothing]


def event_words(text: str) -> list[Texts]:
    """For a question how often, or when last, something happened: each word of that event in
    all its forms; empty for any other text.

    | text                               | words            |
    |------------------------------------|------------------|
    | `when did I last see the dentist`  | dentist          |
    | `how often did I run`              | (run, ran)       |
    | `how often should I water a fern`  |                  |
    """
    if not _finder("happened").search(text[:READ_CHARACTERS]):
        return []
    sets = [tuple(line.split()) for line in QUESTIONS.read["forms"]]
    forms = {form: those for those in sets for form in those}
    nothing = STOP_WORDS | QUESTIONS.of_events
    words_of_event = dict.fromkeys(word for _, word in words(text) if word not in nothing)
    return [forms.get(word, (word,)) for word in words_of_event]

"""The time, the list and the known names that a question asks for. Pure.

Every search asks this; `analyze` says more.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from ...models import TYPES, Filters, Order
from ...notes.blocks import project_key, slug_tag
from ..lexicon import COUNTS, DAY_NAMES, MONTHS, SHARED, STOP_WORDS, TYPE_NAMES, Words, compiled
from ..timephrase.find import TimeRange, find_time, is_recent, without
from ..tongues import times_in, tongues_of, without_frame
from ..words import words

QUESTIONS = Words("questions")

NO_NAMES = STOP_WORDS.union(MONTHS, DAY_NAMES, QUESTIONS.small_talk)
"""Words that name nobody and nothing, even with a capital."""

READ_CHARACTERS = 2_000
"""Of a longer text only the beginning is analysed; a pasted page asks nothing in its middle."""

LONGEST_NAME = 4
"""Words that a tag, a project or a file of a question has at most. By eye."""

_TAKEN = "\0"
STATES = frozenset(("open", "solved", "wontfix", "settled"))

_TOKEN = r"(?:[#@]|~?\.{0,2}/)?\w[\w'./\\:+&-]*"


@dataclass(frozen=True, slots=True)
class Known:
    """The names that the journal uses; all in lower case but `names`."""

    tags: frozenset[str] = frozenset()
    projects: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()


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


class Token(NamedTuple):
    """A word, path, tag or identifier of a text, and its characters."""

    start: int
    end: int
    word: str


class Mention(NamedTuple):
    """`length` tokens that the journal knows as `name`; `type` is that of an entity, "" where
    its place tells it.
    """

    length: int
    name: str
    type: str


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


# -- what the journal knows by name
# -------------------------------------------------------------------


def tokens_of(text: str) -> list[Token]:
    """The words, paths, tags and identifiers of a text, without the marks that end them."""
    tokens = []
    for found in compiled(_TOKEN).finditer(text):
        word = found[0].rstrip("'./\\:&-")
        tokens.append(Token(found.start(), found.start() + len(word), word))
    return tokens


def known_mentions(
    text: str, tokens: list[Token], known: Known, opening: Collection[int] = ()
) -> dict[int, Mention]:
    """Names of the journal in the text, by the number of their first token; the longest win.

    `opening` are the tokens that open a sentence: a capital there makes a stop word no name.
    """
    joins = [text[one.end : other.start] in (" ", "-") for one, other in pairwise(tokens)]
    found: dict[int, Mention] = {}
    taken: set[int] = set()
    for count in range(LONGEST_NAME, 0, -1):
        for place in range(len(tokens) - count + 1):
            if not all(joins[place : place + count - 1]) or not taken.isdisjoint(
                range(place, place + count)
            ):
                continue
            written = " ".join([token.word for token in tokens[place : place + count]])
            bare, is_name = written.removesuffix("'s"), place not in opening
            mention = _known(written, count, is_name, known)
            if mention is None and bare != written:
                mention = _known(bare, count, is_name, known)
            if mention:
                found[place] = mention
                taken.update(range(place, place + count))
    return dict(sorted(found.items()))


def _known(written: str, count: int, is_name: bool, known: Known) -> Mention | None:
    """The file, project, name or tag of the journal that these `count` tokens mean; None where
    they mean none.
    """
    plain = written.lower().lstrip("#@")
    if len(plain) < 2:
        return None
    if plain in STOP_WORDS and not written.startswith("#"):
        return Mention(count, written, "") if is_name and written in known.names else None
    slug, key = slug_tag(plain), project_key(plain)
    tag = next((form for form in (slug, slug.removesuffix("s")) if form in known.tags), "")
    project = next(
        (form for form in (key, key.replace(" ", "-")) if form in known.projects), ""
    )
    if known.files and (file := _by_file_name(known.files).get(plain)):
        return Mention(count, file, "file")
    if project:
        return Mention(count, project, "project")
    name = _by_lower_case(known.names).get(plain) if known.names else None
    if name and (written[:1].isupper() or not (tag or plain in NO_NAMES)):
        return Mention(count, name, "")
    return Mention(count, tag, "tag") if tag else None


@lru_cache(maxsize=4)
def _by_lower_case(names: frozenset[str]) -> Mapping[str, str]:
    return {name.lower(): name for name in sorted(names, reverse=True)}


@lru_cache(maxsize=4)
def _by_file_name(files: frozenset[str]) -> Mapping[str, str]:
    """Each file under its path and, unless two share it, under its name."""
    names = Counter(path.rpartition("/")[2] for path in files)
    alone = {name: path for path in files if names[name := path.rpartition("/")[2]] == 1}
    return {**alone, **{path: path for path in files}}

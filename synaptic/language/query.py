"""Reads what a user typed: filters, phrases, words, dates. Pure; the clock and the zone come in with `now`."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from ..errors import InvalidArgument
from ..models import Filters
from ..notes.blocks import check_tag, project_key
from ..notes.header import check_type, unique
from .lexicon import STOP_WORDS
from .words import words

MAX_TERMS = 64
"""Words of a query that are looked up; a pasted page needs no more to be found again."""

MAX_QUERY = 10_000
"""Characters of a query that are read; the words beyond could not be looked up anyway."""

MAX_PHRASES = 16
MAX_VALUES, MAX_VALUE = 100, 1_000
"""Values of one filter, and characters of a value."""

MAX_DATES = 8
"""`since:` or `until:` of a query that are read; the last counts. To refuse one that is no date takes 10 ms."""

MAX_NOTICES = 8
MAX_LIMIT = 100
MAX_SHOWN = 60
"""Characters of a time that an error repeats."""

_FILTER = re.compile(r"""(?<![\w"/])([A-Za-z_]+):(?:"([^"]*)"|([^\s"/:][^\s"]*))""")
_PHRASE = re.compile(r'"([^"]+)"')
_UNBROKEN = re.compile(r"\S+")
_KEYS = ("type", "tag", "file", "project", "since", "until")


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """`text` is what meaning is taken from; `terms` are looked up as words; every phrase must occur."""

    text: str
    terms: tuple[str, ...]
    phrases: tuple[str, ...]
    filters: Filters
    notices: tuple[str, ...] = ()


def parse_query(raw: str, filters: Filters, *, now: datetime, stop_words: bool = True) -> ParsedQuery:
    """The query without its inline filters, which are joined to `filters`.

    | typed                         | read as                                     |
    |-------------------------------|---------------------------------------------|
    | `type:decision tag:db redis`  | two filters and the word redis              |
    | `"connection pool" size`      | a phrase that must occur, and three words   |
    | `status:open`                 | words, with a notice that names the filters |
    | `http://host:80 std::vector`  | words                                       |

    A longer query is read up to MAX_QUERY, MAX_VALUES, MAX_PHRASES and MAX_TERMS, with a notice that names the bound.
    """
    read = raw[:MAX_QUERY].replace("\0", " ").encode("utf-8", "replace").decode()  # SQLite takes no half a character
    bounds: list[str] = []
    notices: tuple[str, ...] = ()
    if ":" in read:
        read, inline, bounds, notices = _inline_filters(read, now)
        given = {name: value for name in inline.__slots__ if (value := getattr(inline, name))}
        filters = replace(filters, **{name: value for name, value in given.items() if not getattr(filters, name)})
    text = unicodedata.normalize("NFC", " ".join(read.split()))
    phrases = tuple(dict.fromkeys(p for p in (m.strip() for m in _PHRASE.findall(text)) if words(p)))
    text = text.replace('"', " ").strip()
    terms = _words_of(text, stop_words)
    if len(raw) > MAX_QUERY:
        bounds.append(f"Only the first {MAX_QUERY:,} characters of the query were read.")
    if len(phrases) > MAX_PHRASES:
        bounds.append(f"Only the first {MAX_PHRASES} phrases must occur; the words of the others were searched.")
    if len(terms) > MAX_TERMS:
        bounds.append(f"Only the first {MAX_TERMS} words of the query were looked up.")
    return ParsedQuery(text, terms[:MAX_TERMS], phrases[:MAX_PHRASES], filters, (*bounds, *notices))


def _inline_filters(text: str, now: datetime) -> tuple[str, Filters, list[str], tuple[str, ...]]:
    """(the text without its filters, these, notices of bounds, notices of words that are no filters)."""
    notices: dict[str, None] = {}
    found: dict[str, list[str]] = {}
    tried: Counter[str] = Counter()
    bounds: dict[str, str] = {}

    def take(match: re.Match[str]) -> str:
        key, value = match[1].lower(), match[2] if match[2] is not None else match[3]
        if key not in _KEYS:
            notices[f"`{match[1]}:` is no filter, so it was searched as a word. Filters: {', '.join(_KEYS)}."] = None
            return match[0]
        tried[key] += 1
        most = MAX_DATES if key in ("since", "until") else MAX_VALUES
        if tried[key] > most:
            bounds[key] = f"Only the first {most} `{key}:` were read; the others were left out."
            return " "
        other = {"since": "until", "until": "since"}.get(key)
        with_it = {other: found[other][-1]} if other in found else {}
        try:
            build_filters(now=now, **{key: value}, **with_it)  # type: ignore[arg-type]
        except InvalidArgument as error:
            quoted = f' Quotes hold words together: {key}:"last week".' if key in ("since", "until") else ""
            notices[f"{error} It was searched as words.{quoted}"] = None
            return match[0]
        found.setdefault(key, []).append(value)
        return " "

    rest = _FILTER.sub(take, text)
    single = {key: found.pop(key)[-1] for key in ("since", "until") if key in found}
    filters = build_filters(now=now, **found, **single)  # type: ignore[arg-type]
    said = list(notices)[:MAX_NOTICES]
    if len(notices) > MAX_NOTICES:
        said.append(f"{len(notices) - MAX_NOTICES:,} more notices of this kind are left out.")
    return rest, filters, list(bounds.values()), tuple(said)


def terms_of(text: str, *, stop_words: bool = True) -> tuple[str, ...]:
    """The words of a text that are looked up, each once: without stop words, unless there are no others."""
    return _words_of(text, stop_words)[:MAX_TERMS]


def _words_of(text: str, stop_words: bool) -> tuple[str, ...]:
    found = list(dict.fromkeys(word for _, word in words(text)))
    kept = [word for word in found if word not in STOP_WORDS] if stop_words else found
    return tuple(kept or found)


def build_filters(
    *,
    now: datetime,
    type: str | Sequence[str] = (),
    tag: str | Sequence[str] = (),
    project: str | Sequence[str] = (),
    file: str | Sequence[str] = (),
    days: int | None = None,
    since: str | None = None,
    until: str | None = None,
    min_importance: int | None = None,
    max_importance: int | None = None,
    parent: str | None = None,
    has_body: bool | None = None,
    has_files: bool | None = None,
    include_superseded: bool = False,
) -> Filters:
    """Checked filters from what a user gave. Raises InvalidArgument that names the valid values."""
    if days is not None:
        if since is not None:
            raise InvalidArgument("days and since exclude each other.", hint="Give one of them.")
        if not 0 <= days <= 400_000:
            raise InvalidArgument(f"days is {days}.", valid=("0 to 400000",))
        since = _shift(now.date(), -days).isoformat()
    first = read_date(since, now=now, name="since") if since is not None else None
    last = read_date(until, now=now, name="until") if until is not None else None
    if first and last and first > last:
        raise InvalidArgument(f"since ({first}) is later than until ({last}).", hint="Swap them.")
    low, high = _importance(min_importance, "min_importance"), _importance(max_importance, "max_importance")
    if low is not None and high is not None and low > high:
        raise InvalidArgument(f"min_importance ({low}) is above max_importance ({high}).", hint="Swap them.")
    return Filters(
        types=unique(map(check_type, _values("type", type))),
        tags=unique(map(check_tag, _values("tags", tag))),
        projects=unique(map(project_key, _values("project", project))),
        files=_values("file", file),
        since=first,
        until=last or (now.date().isoformat() if days is not None else None),
        min_importance=low,
        max_importance=high,
        parent=parent,
        has_body=has_body,
        has_files=has_files,
        include_superseded=include_superseded,
    )


def build_preference(values: Mapping[str, object]) -> Filters:
    """What a user prefers, as filters that need not be met. Raises InvalidArgument."""
    valid = ("types", "tags", "projects")
    given: dict[str, list[str]] = {}
    for name, value in values.items():
        key = name if name.endswith("s") else f"{name}s"
        if key not in valid:
            raise InvalidArgument(f"prefer has no {name!r}.", valid=valid)
        if not isinstance(value, str | list | tuple) or not all(isinstance(one, str) for one in value):
            raise InvalidArgument(f"prefer: {name} is {value!r}.", valid=("a text", "a list of texts"))
        given.setdefault(key, []).extend([value] if isinstance(value, str) else value)
    return Filters(
        types=unique(map(check_type, _values("prefer: types", given.get("types", ())))),
        tags=unique(map(check_tag, _values("prefer: tags", given.get("tags", ())))),
        projects=unique(map(project_key, _values("prefer: projects", given.get("projects", ())))),
    )


def check_limit(limit: int) -> int:
    """The limit, if it is within 1 to 100. Raises InvalidArgument."""
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidArgument(f"limit is {limit}.", valid=(f"1 to {MAX_LIMIT}",))
    return limit


def read_date(text: str, *, now: datetime, name: str) -> str:
    """A local date, `YYYY-MM-DD`, of a time as users type it. Raises InvalidArgument.

    Of a longer time its last day where `name` is until, else its first: `last week`, `Q2`, `early October`.
    `timephrase.read_typed` says what is read.
    """
    moment = _typed(text, now, name)
    try:
        return (moment.astimezone(now.tzinfo) if moment.tzinfo else moment).date().isoformat()
    except OverflowError:
        raise _no_time(name, text) from None


def read_moment(text: str, *, now: datetime, name: str) -> datetime:
    """The moment of a time as users type it, naive where it is local: `yesterday 18:00`. Raises InvalidArgument.

    A time without a clock means the time of the day that it is now; of a longer time its first day counts.
    """
    return _typed(text, now, name)


def _typed(text: str, now: datetime, name: str) -> datetime:
    from .timephrase import read_typed  # most saves and searches need none of its words

    found = read_typed(text, now=now)
    moment = found and (found.last if name == "until" else found.first)
    if moment is None:
        raise _no_time(name, text)
    return moment


def _no_time(name: str, text: str) -> InvalidArgument:
    shown = text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 3] + "..."
    valid: tuple[str, ...]
    if name == "at":
        valid = ("2026-11-03T14:00", "18:00", "yesterday 18:00", "2 hours ago", "last tuesday")
    else:
        valid = ("2026-11-03", "yesterday", "10 days ago", "last tuesday", "last week", "Q2", "early October")
    return InvalidArgument(f"{name} is {shown!r}, which is no {'time' if name == 'at' else 'date'}.", valid=valid)


def _shift(day: date, days: int) -> date:
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return date.min if days < 0 else date.max


def _values(name: str, value: str | Sequence[str]) -> tuple[str, ...]:
    """The values of a filter, each once, without empty ones. Raises InvalidArgument that names the bound."""
    values = check_values(name, (value,) if isinstance(value, str) else value)
    return unique(stripped for one in values if (stripped := one.encode("utf-8", "replace").decode().strip()))


def check_values(name: str, values: Sequence[str]) -> Sequence[str]:
    """The values, if there are at most MAX_VALUES of at most MAX_VALUE characters. Raises InvalidArgument."""
    if len(values) > MAX_VALUES:
        raise InvalidArgument(f"{name} has {len(values):,} values.", valid=(f"up to {MAX_VALUES} values",))
    if any(len(one) > MAX_VALUE for one in values):
        raise InvalidArgument(
            f"{name} has a value of {max(map(len, values)):,} characters.", valid=(f"up to {MAX_VALUE:,} characters",)
        )
    return values


def _importance(value: int | None, name: str) -> int | None:
    if value is not None and not 0 <= value <= 10:
        raise InvalidArgument(f"{name} is {value}.", valid=("0 to 10",))
    return value


def nearest_word(stem: str, indexed: Iterable[tuple[str, int]]) -> str | None:
    """The indexed stem nearest to this one: one typing error for up to seven letters, two for more.

    Of equally near ones the most frequent. `indexed` holds (stem, number of documents).
    """
    allowed = 1 if len(stem) <= 7 else 2
    best: tuple[int, int, str] | None = None
    for other, documents in indexed:
        distance = typing_distance(stem, other, allowed)
        if distance <= allowed and (best is None or (distance, -documents, other) < best):
            best = (distance, -documents, other)
    return best[2] if best else None


def typing_distance(a: str, b: str, most: int) -> int:
    """Edits from a to b: insert, delete, replace, swap neighbours; `most + 1` where it takes more.

    Optimal string alignment (Damerau 1964).
    """
    if abs(len(a) - len(b)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a, start=1):
        before, row, last = row, [i], before
        for j, other in enumerate(b, start=1):
            cost = min(row[j - 1] + 1, before[j] + 1, before[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == b[j - 2] and a[i - 2] == other:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]


def snippet(text: str, find: Callable[[str], Sequence[int]], *, length: int = 240) -> tuple[str, int]:
    """(the stretch of a passage that holds most of the sought words, lines before it).

    `find` tells where these begin. At most about `length` characters, cut between words, with an ellipsis where
    text was left out.
    """
    if len(text) <= length:
        return text, 0
    hits = find(text)
    window = length * 3 // 4
    within = {first: bisect_left(hits, first + window) - place for place, first in enumerate(hits)}
    hit = max(within, key=lambda first: (within[first], -first), default=0)
    near = max(0, hit - length // 8 - 1), hit + length + 1  # what is cut off at these ends is not chosen
    unbroken = [stretch.span() for stretch in _UNBROKEN.finditer(text, *near)]
    # where nothing is blank for long (a URL, Chinese) it is cut anywhere
    start = min((first for first, _ in unbroken if hit - length // 8 <= first <= hit), default=hit)
    end = max((end for _, end in unbroken if start + length // 2 < end <= start + length), default=start + length)
    lead, tail = "… " if text[:start].strip() else "", " …" if text[end:].strip() else ""
    return f"{lead}{text[start:end].strip()}{tail}", text[:start].count("\n")

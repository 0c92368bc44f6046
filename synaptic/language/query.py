"""Reads what a user typed: filters, phrases, words, dates. Pure; the clock and the zone come in with `now`."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from ..errors import InvalidArgument
from ..models import TYPES, EntryType, Filters
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
MAX_PHRASE = 60
"""Characters of a time in words."""

_FILTER = re.compile(r"""(?<![\w"/])([A-Za-z_]+):(?:"([^"]*)"|([^\s"/:][^\s"]*))""")
_PHRASE = re.compile(r'"([^"]+)"')
_UNBROKEN = re.compile(r"\S+")
_KEYS = ("type", "tag", "file", "project", "since", "until")
_DAYS_AGO = re.compile(r"(\d{1,6})\s*d(?:ays?)?(?:\s+ago)?", re.IGNORECASE)


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

    read = _readable(raw[:MAX_QUERY].replace("\0", " "))
    text = " ".join(_FILTER.sub(take, read).split())
    phrases = tuple(dict.fromkeys(p for p in (m.strip() for m in _PHRASE.findall(text)) if words(p)))
    text = text.replace('"', " ").strip()
    terms = _words_of(text, stop_words)
    if len(raw) > MAX_QUERY:
        bounds["text"] = f"Only the first {MAX_QUERY:,} characters of the query were read."
    if len(phrases) > MAX_PHRASES:
        bounds["phrases"] = f"Only the first {MAX_PHRASES} phrases must occur; the words of the others were searched."
    if len(terms) > MAX_TERMS:
        bounds["terms"] = f"Only the first {MAX_TERMS} words of the query were looked up."
    inline = build_filters(
        now=now,
        type=found.get("type", ()),
        tag=found.get("tag", ()),
        file=found.get("file", ()),
        project=found.get("project", ()),
        since=found.get("since", [None])[-1],
        until=found.get("until", [None])[-1],
    )
    return ParsedQuery(
        text=text,
        terms=terms[:MAX_TERMS],
        phrases=phrases[:MAX_PHRASES],
        filters=_join(filters, inline),
        notices=(*bounds.values(), *_some(list(notices))),
    )


def terms_of(text: str, *, stop_words: bool = True) -> tuple[str, ...]:
    """The words of a text that are looked up, each once: without stop words, unless there are no others."""
    return _words_of(text, stop_words)[:MAX_TERMS]


def _words_of(text: str, stop_words: bool) -> tuple[str, ...]:
    found = list(dict.fromkeys(word for _, word in words(text)))
    kept = [word for word in found if word not in STOP_WORDS] if stop_words else found
    return tuple(kept or found)


def _readable(text: str) -> str:
    """The text with a question mark for each half of a character, which SQLite cannot take."""
    return text.encode("utf-8", "replace").decode()


def _some(notices: list[str]) -> tuple[str, ...]:
    more = len(notices) - MAX_NOTICES
    return (*notices[:MAX_NOTICES], *([f"{more:,} more notices of this kind are left out."] if more > 0 else []))


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
        types=tuple(dict.fromkeys(check_type(value) for value in _values("type", type))),
        tags=tuple(dict.fromkeys(_tag(value) for value in _values("tags", tag))),
        projects=tuple(dict.fromkeys(value.casefold() for value in _values("project", project))),
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
        types=tuple(dict.fromkeys(check_type(value) for value in _values("prefer: types", given.get("types", ())))),
        tags=tuple(dict.fromkeys(_tag(value) for value in _values("prefer: tags", given.get("tags", ())))),
        projects=tuple(
            dict.fromkeys(value.casefold() for value in _values("prefer: projects", given.get("projects", ())))
        ),
    )


def check_type(value: str) -> EntryType:
    """The type of this name, whatever its case. Raises InvalidArgument."""
    for known in TYPES:
        if known == value.strip().lower():
            return known
    raise InvalidArgument(f"type {value!r} is unknown.", valid=TYPES)


def check_limit(limit: int) -> int:
    """The limit, if it is within 1 to 100. Raises InvalidArgument."""
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidArgument(f"limit is {limit}.", valid=(f"1 to {MAX_LIMIT}",))
    return limit


def read_date(text: str, *, now: datetime, name: str, phrases: bool = True) -> str:
    """A local date, `YYYY-MM-DD`, from ISO or plain English. Raises InvalidArgument.

    Of a longer time its last day where `name` is until, else its first. Without `phrases` only what names a day by
    itself is read: ISO, `yesterday` and its kin, `10d`.

    | text                   | on Saturday 2026-11-21                     |
    |------------------------|--------------------------------------------|
    | `2026-11-03`           | 2026-11-03                                 |
    | `2026-11-03T23:00`     | 2026-11-03                                 |
    | `yesterday`            | 2026-11-20                                 |
    | `10d`, `10 days ago`   | 2026-11-11                                 |
    | `last week`            | since 2026-11-09, until 2026-11-15         |
    | `Q2`, `early October`  | since 2026-04-01, 2026-10-01               |
    | other English          | by dateparser, past                        |
    """
    value = " ".join(text.split())
    try:
        if re.match(r"\d{4}-\d{2}-\d{2}$", value):
            return date.fromisoformat(value).isoformat()
        if re.match(r"\d{4}-\d{2}-\d{2}[T ]\d", value):
            moment = datetime.fromisoformat(value)
            return (moment.astimezone(now.tzinfo) if moment.tzinfo else moment).date().isoformat()
    except (ValueError, OverflowError):
        raise _no_date(name, text, phrases) from None
    simple = {"today": 0, "yesterday": -1, "tomorrow": 1}.get(value.lower())
    if simple is not None:
        return _shift(now.date(), simple).isoformat()
    if ago := _DAYS_AGO.fullmatch(value):
        return _shift(now.date(), -int(ago[1])).isoformat()
    day = _day_of_phrase(value, now, name) if phrases and len(value) <= MAX_PHRASE else None
    if day is None:
        raise _no_date(name, text, phrases)
    return day.isoformat()


def _day_of_phrase(value: str, now: datetime, name: str) -> date | None:
    """The first day of the time that the phrase names, of until the last; None where it names none."""
    from .timephrase import read_time  # a save needs none of its words

    if found := read_time(value, today=now.date()):
        return found.end if name == "until" else found.start
    if not re.search(r"[A-Za-z]{3}", value):
        return None
    import dateparser  # slow to import, and rarely needed

    try:
        read = dateparser.parse(
            value,
            languages=["en"],
            settings={
                "RELATIVE_BASE": now.replace(tzinfo=None),
                "PREFER_DATES_FROM": "past",
                "PREFER_DAY_OF_MONTH": "last" if name == "until" else "first",
                "RETURN_AS_TIMEZONE_AWARE": False,
            },
        )
    except (ValueError, OverflowError, RecursionError):
        return None
    return read.date() if read else None


def _no_date(name: str, text: str, phrases: bool) -> InvalidArgument:
    shown = text if len(text) <= MAX_PHRASE else text[: MAX_PHRASE - 3] + "..."
    longer = ("last tuesday", "last week", "Q2", "early October", "March 2026") if phrases else ("2026-11-03T14:00",)
    return InvalidArgument(
        f"{name} is {shown!r}, which is no date.", valid=("2026-11-03", "yesterday", "10 days ago", *longer)
    )


def _shift(day: date, days: int) -> date:
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return date.min if days < 0 else date.max


def _values(name: str, value: str | Sequence[str]) -> tuple[str, ...]:
    """What was given for a filter, each once. Raises InvalidArgument that names the bound."""
    values: Sequence[str] = (value,) if isinstance(value, str) else value
    if len(values) > MAX_VALUES:
        raise InvalidArgument(f"{name} has {len(values):,} values.", valid=(f"up to {MAX_VALUES} values",))
    if any(len(one) > MAX_VALUE for one in values):
        raise InvalidArgument(
            f"{name} has a value of {max(map(len, values)):,} characters.", valid=(f"up to {MAX_VALUE:,} characters",)
        )
    return tuple(dict.fromkeys(stripped for one in values if (stripped := _readable(one).strip())))


def _tag(value: str) -> str:
    """A tag as it is stored: without `#`, lower case, blanks as dashes."""
    return "-".join(value.lstrip("#").lower().split())


def _importance(value: int | None, name: str) -> int | None:
    if value is not None and not 0 <= value <= 10:
        raise InvalidArgument(f"{name} is {value}.", valid=("0 to 10",))
    return value


def _join(given: Filters, inline: Filters) -> Filters:
    """Both sets of filters: inline values narrow what the parameters left open."""
    changes = {name: value for name in inline.__slots__ if (value := getattr(inline, name))}
    return replace(given, **{name: value for name, value in changes.items() if not getattr(given, name)})


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

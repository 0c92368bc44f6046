"""Reads what a user typed: filters, phrases, words, dates. Pure; the clock and the zone come in
with `now`.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ..errors import InvalidArgument, check_range
from ..models import TYPES, Filters
from ..notes.blocks import check_tag, project_key, slug_tag
from ..notes.header import check_type, unique
from ..notes.marks import field_name
from .lexicon import STOP_WORDS, compiled
from .words import words

MAX_TERMS = 64
"""Words of a query that are looked up; a pasted page needs no more to be found again."""

MAX_QUERY = 10_000
"""Characters of a query that are read; the words beyond could not be looked up anyway."""

MAX_PHRASES = 16
MAX_VALUES, MAX_VALUE = 100, 1_000
"""Values of one filter, and characters of a value."""

MAX_DATES = 8
"""`since:` or `until:` of a query that are read; the last counts. To refuse one that is no date
takes 10 ms.
"""

MAX_NOTICES = 8
MAX_LIMIT = 100
MAX_SHOWN = 60
"""Characters of a time that an error repeats."""

_FILTER = re.compile(
    r"""(?<![\w"/])((?<!\S)-)?([A-Za-z_]+):(?:"([^"]*)"|((?:(?<=path:)/)?[^\s"/:][^\s"]*))"""
)
_LEFT_OUT = re.compile(
    r"""(?<!\S)-(?:"([^"]+)"|([^\W\d_][\w'’.-]*\w\*?)(?=[,;.?!]?(?:\s|\Z)))"""
)
_BEGINNING = re.compile(r"(?<!\S)(\w{2,})\*(?![^\s,;.?!])")
_PHRASE = re.compile(r'"([^"]+)"')
_HAS = {"has:task": "has_tasks", "has:body": "has_body", "has:files": "has_files"}
_KEYS = ("type", "tag", "file", "project", "path", "since", "until", *_HAS)
_TAG = re.compile(r"(?<!\S)(-?)#([^\W_][\w/-]*)(?=[,;.?!]?(?:\s|\Z))")
_NO_OPERATORS = (
    (
        r"(?<!\S)([^\W\d_]\w*\*\w+|\*[^\W\d_]\w+|[^\W\d_]\*)(?!\S)",
        "`{}` was searched as words; `*` stands behind two or more letters: `plug*`.",
    ),
    (
        r'(?:^|(?<!\S)(?=\S*[a-z"])\S+\s+)(AND|OR|NOT)\s+(?=\S*[a-z])',
        "{} is no operator: what holds more of the words comes first. `-word` leaves out, "
        '"a phrase" must occur.',
    ),
    (
        rf"""(?i)(?<![\w"/])((?:{"|".join(_KEYS[:7])}|has):)(?=\s|\Z)""",
        "`{}` names nothing, so it was searched as a word; a value follows without a blank.",
    ),
)
"""What looks like an operator and is none, and what is said of it."""

_AHEAD = ("due", "expires")
"""What lies ahead of the day on which it is said."""

Fields = Callable[[], Collection[str]]
"""The names of fields, or the tags, that some entry has; asked for only where a query may name
one.
"""


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """`text` is what meaning is taken from; `terms` are looked up as words; every phrase must
    occur.
    """

    text: str
    terms: tuple[str, ...]
    phrases: tuple[str, ...]
    filters: Filters
    notices: tuple[str, ...] = ()


def parse_query(
    raw: str,
    filters: Filters,
    *,
    now: datetime,
    stop_words: bool = True,
    fields: Fields = frozenset,
    tags: Fields = frozenset,
) -> ParsedQuery:
    """The query without its inline filters, which are joined to `filters`.

    | typed                         | read as                                     |
    |-------------------------------|---------------------------------------------|
    | `type:decision tag:db redis`  | two filters and the word redis              |
    | `redis -kafka -tag:old`       | a word, without entries of that word or tag |
    | `"connection pool" size`      | a phrase that must occur, and three words   |
    | `plug* well-known --flag`     | a beginning of words, and three words       |
    | `author:Zelazny`              | a filter, if `author` is one of `fields`    |
    | `#db redis`                   | a filter, if `db` is one of `tags`          |
    | `status:open`                 | words, with a notice that names the filters |
    | `http://host:80 std::vector`  | words                                       |

    A longer query is read up to MAX_QUERY, MAX_VALUES, MAX_PHRASES and MAX_TERMS, with a notice
    that names the bound.
    """
    read = (
        raw[:MAX_QUERY].replace("\0", " ").encode("utf-8", "replace").decode()
    )  # SQLite takes no half a character
    bounds: list[str] = []
    notices: tuple[str, ...] = ()
    if "#" in read:
        read = _TAG.sub(
            lambda found: (
                f"{found[1]}tag:{found[2]} " if slug_tag(found[2]) in tags() else found[0]
            ),
            read,
        )
    if ":" in read:
        read, inline, bounds, notices = _inline_filters(read, now, fields)
        filters = filled(filters, inline)
    read, beginnings, filters, remarks = _operators(read, filters)
    text = unicodedata.normalize("NFC", " ".join(read.split()))
    phrases = tuple(
        dict.fromkeys(p for p in (m.strip() for m in _PHRASE.findall(text)) if words(p))
    )
    text = text.replace('"', " ").strip()
    terms = tuple(
        dict.fromkeys(beginnings.get(term, term) for term in _words_of(text, stop_words))
    )
    if len(raw) > MAX_QUERY:
        bounds.append(f"Only the first {MAX_QUERY:,} characters of the query were read.")
    if len(phrases) > MAX_PHRASES:
        bounds.append(
            f"Only the first {MAX_PHRASES} phrases must occur; the words of the others "
            f"were searched."
        )
    if len(terms) > MAX_TERMS:
        bounds.append(f"Only the first {MAX_TERMS} words of the query were looked up.")
    return ParsedQuery(
        text, terms[:MAX_TERMS], phrases[:MAX_PHRASES], filters, (*bounds, *notices, *remarks)
    )


def filled(filters: Filters, others: Filters) -> Filters:
    """These filters, and those of the others about which they say nothing."""
    given = {name: value for name in others.__slots__ if (value := getattr(others, name))}
    return replace(
        filters, **{name: value for name, value in given.items() if not getattr(filters, name)}
    )


def _operators(text: str, filters: Filters) -> tuple[str, dict[str, str], Filters, list[str]]:
    """(the text without the words that are left out, beginnings of words, the filters with
    these, notices).

    A pasted text of several lines leaves nothing out.
    """
    notices = []
    left_out = (
        list(_LEFT_OUT.finditer(text)) if "-" in text and "\n" not in text.strip() else []
    )
    rest = _LEFT_OUT.sub(" ", text) if left_out else text
    if left_out and (
        words(rest) or filters != Filters(include_superseded=filters.include_superseded)
    ):
        unwanted = unique(found[1] or found[2] for found in left_out)[:MAX_PHRASES]
        without = filters.without or Filters()
        text, filters = (
            rest,
            replace(filters, without=replace(without, words=(*without.words, *unwanted))),
        )
        named = ", ".join(f"`{one}`" for one in unwanted)
        notices.append(
            f"Left out: entries with {named}. In quotes a word with a dash is searched: "
            f'"-{unwanted[0]}".'
        )
    elif left_out:
        notices.append(
            f"`{left_out[0][0]}` leaves a word out of something else, which is missing; it "
            f"was searched."
        )
    for pattern, said in _NO_OPERATORS:
        if found := compiled(pattern).search(text):
            notices.append(said.format(found[1]))
    beginnings = {found.lower(): f"{found.lower()}*" for found in _BEGINNING.findall(text)}
    return _BEGINNING.sub(r"\1", text), beginnings, filters, notices


def _inline_filters(
    text: str, now: datetime, fields: Fields
) -> tuple[str, Filters, list[str], tuple[str, ...]]:
    """(the text without its filters, these, notices of bounds, notices of words that are no
    filters).
    """
    notices: dict[str, None] = {}
    found: dict[str, list[str]] = {}
    unwanted: dict[str, list[str]] = {}
    tried: Counter[str] = Counter()
    bounds: dict[str, str] = {}

    def take(match: re.Match[str]) -> str:
        key, value = match[2].lower(), match[3] if match[3] is not None else match[4]
        key = f"has:{value}".lower().replace("tasks", "task") if key == "has" else key
        if (
            key not in _KEYS or (key == "type" and value.lower() not in TYPES)
        ) and key in fields():
            key, value = "where", f"{key}={value}"
        if key not in (*_KEYS, "where") or (match[1] and key in ("since", "until")):
            said = (
                f"`{match[1] or ''}{key if key[:4] == 'has:' else match[2] + ':'}` is no "
                f"filter, so it "
                f"was searched"
            )
            notices[f"{said} as a word. Filters: {', '.join(_KEYS)}."] = None
            return match[0]
        tried[key] += 1
        most = MAX_DATES if key in ("since", "until") else MAX_VALUES
        if tried[key] > most:
            bounds[key] = f"Only the first {most} `{key}:` were read; the others were left out."
            return " "
        other = {"since": "until", "until": "since"}.get(key)
        with_it = {other: found[other]} if other in found else {}
        try:
            _built({key: [value], **with_it}, now)
        except InvalidArgument as error:
            quoted = (
                f' Quotes hold words together: {key}:"last week".'
                if key in ("since", "until")
                else ""
            )
            notices[f"{error} It was searched as words.{quoted}"] = None
            return match[0]
        (unwanted if match[1] else found).setdefault(key, []).append(value)
        return " "

    rest = _FILTER.sub(take, text)
    filters = replace(_built(found, now), without=_built(unwanted, now) if unwanted else None)
    said = list(notices)[:MAX_NOTICES]
    if len(notices) > MAX_NOTICES:
        said.append(f"{len(notices) - MAX_NOTICES:,} more notices of this kind are left out.")
    return rest, filters, list(bounds.values()), tuple(said)


def _built(found: Mapping[str, Sequence[str]], now: datetime) -> Filters:
    """The filters of these values; of a date the last counts."""
    given: dict[str, Any] = {
        _HAS.get(key, key): True if key in _HAS else values for key, values in found.items()
    }
    single = {key: given[key][-1] for key in ("since", "until") if key in given}
    return build_filters(now=now, **given | single)


def terms_of(text: str, *, stop_words: bool = True) -> tuple[str, ...]:
    """The words of a text that are looked up, each once: without stop words, unless there are
    no others.
    """
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
    path: str | Sequence[str] = (),
    days: int | None = None,
    since: str | None = None,
    until: str | None = None,
    min_importance: int | None = None,
    max_importance: int | None = None,
    parent: str | None = None,
    has_body: bool | None = None,
    has_files: bool | None = None,
    has_tasks: bool | None = None,
    where: str | Sequence[str] = (),
    links_to: str | None = None,
    source: str | Sequence[str] = (),
    sessions: bool = False,
    include_superseded: bool = False,
) -> Filters:
    """Checked filters from what a user gave. Raises InvalidArgument that names the valid
    values.
    """
    if days is not None:
        if since is not None:
            raise InvalidArgument(
                "days and since exclude each other.", hint="Give one of them."
            )
        check_range("days", days, 0, 400_000)
        from .timephrase.table import shift  # most saves and searches need none of its words

        since = shift(now.date(), -days).isoformat()
    first = read_date(since, now=now, name="since") if since is not None else None
    last = read_date(until, now=now, name="until") if until is not None else None
    if first and last and first > last:
        raise InvalidArgument(
            f"since ({first}) is later than until ({last}).", hint="Swap them."
        )
    check_range("min_importance", min_importance, 0, 10)
    check_range("max_importance", max_importance, 0, 10)
    if (
        min_importance is not None
        and max_importance is not None
        and min_importance > max_importance
    ):
        said = f"min_importance ({min_importance}) is above max_importance ({max_importance})."
        raise InvalidArgument(said, hint="Swap them.")
    return Filters(
        types=unique(map(check_type, _values("type", type))),
        tags=unique(map(check_tag, _values("tags", tag))),
        projects=unique(map(project_key, _values("project", project))),
        files=_values("file", file),
        paths=_values("path", path),
        since=first,
        until=last or (now.date().isoformat() if days is not None else None),
        min_importance=min_importance,
        max_importance=max_importance,
        parent=parent,
        has_body=has_body,
        has_files=has_files,
        has_tasks=has_tasks,
        where=tuple(map(_field, _values("where", where))),
        links_to=links_to,
        sources=_values("source", source),
        sessions=sessions,
        include_superseded=include_superseded,
    )


def _field(text: str) -> tuple[str, str]:
    name, sign, value = (part.strip() for part in text.partition("="))
    if not (sign and name and value):
        raise InvalidArgument(
            f"where is {text!r}.", valid=("NAME=VALUE",), hint="As in author=Zelazny."
        )
    return field_name(name), value


def build_preference(values: Mapping[str, object]) -> Filters:
    """Preferences as filters that need not be met. Raises InvalidArgument."""
    checks: dict[str, Callable[[str], Any]] = {
        "types": check_type,
        "tags": check_tag,
        "projects": project_key,
    }
    given: dict[str, list[str]] = {}
    for name, value in values.items():
        key = name if name.endswith("s") else f"{name}s"
        if key not in checks:
            raise InvalidArgument(f"prefer has no {name!r}.", valid=checks)
        if not isinstance(value, str | list | tuple) or not all(
            isinstance(one, str) for one in value
        ):
            raise InvalidArgument(
                f"prefer: {name} is {value!r}.", valid=("a text", "a list of texts")
            )
        given.setdefault(key, []).extend([value] if isinstance(value, str) else value)
    found: dict[str, Any] = {
        key: unique(map(checks[key], _values(f"prefer: {key}", given[key]))) for key in given
    }
    return Filters(**found)


def read_date(text: str, *, now: datetime, name: str) -> str:
    """A local date, `YYYY-MM-DD`, of a time as users type it. Raises InvalidArgument.

    Of a longer time its last day where `name` is until, due or expires, else its first: `last
    week`, `Q2`. What is due or expires lies ahead: `friday` is the next one, today included.
    `timephrase.read_typed` says what is read.
    """
    moment = read_moment(text, now=now, name=name)
    try:
        return (moment.astimezone(now.tzinfo) if moment.tzinfo else moment).date().isoformat()
    except OverflowError:
        raise _no_time(name, text) from None


def read_moment(text: str, *, now: datetime, name: str) -> datetime:
    """The moment of a time as users type it, naive where it is local: `yesterday 18:00`. Raises
    InvalidArgument.

    A time without a clock means the time of the day that it is now; of a longer time its first
    day counts.
    """
    from .timephrase.typed import read_typed  # most saves and searches need none of its words

    found = read_typed(text, now=now, ahead=name in _AHEAD)
    moment = found and found[name in ("until", *_AHEAD)]
    if moment is None:
        raise _no_time(name, text)
    return moment


def _no_time(name: str, text: str) -> InvalidArgument:
    shown = text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 3] + "..."
    if name == "at":
        moments = (
            "2026-11-03T14:00",
            "18:00",
            "yesterday 18:00",
            "2 hours ago",
            "last tuesday",
        )
        return InvalidArgument(f"at is {shown!r}, which is no time.", valid=moments)
    days = (
        "2026-11-03",
        "yesterday",
        "10 days ago",
        "last tuesday",
        "last week",
        "Q2",
        "early October",
    )
    if name in _AHEAD:
        days = (
            "2026-12-31",
            "tomorrow",
            "in 10 days",
            "next friday",
            "next week",
            "Q1 2027",
            "next month",
        )
    return InvalidArgument(f"{name} is {shown!r}, which is no date.", valid=days)


def _values(name: str, value: str | Sequence[str]) -> tuple[str, ...]:
    """The values of a filter, each once, without empty ones. Raises InvalidArgument that names
    the bound.
    """
    values = check_values(name, (value,) if isinstance(value, str) else value)
    return unique(
        stripped
        for one in values
        if (stripped := one.encode("utf-8", "replace").decode().strip())
    )


def check_values(name: str, values: Sequence[str]) -> Sequence[str]:
    """The values, if there are at most MAX_VALUES of at most MAX_VALUE characters. Raises
    InvalidArgument.
    """
    if len(values) > MAX_VALUES:
        raise InvalidArgument(
            f"{name} has {len(values):,} values.", valid=(f"up to {MAX_VALUES} values",)
        )
    if any(len(one) > MAX_VALUE for one in values):
        raise InvalidArgument(
            f"{name} has a value of {max(map(len, values)):,} characters.",
            valid=(f"up to {MAX_VALUE:,} characters",),
        )
    return values

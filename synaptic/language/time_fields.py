"""The fields that take a time as a person types it, such as `--since`, Due and `--at`, and what
each takes of it. Pure; the time and its zone come in with `now`.

All read the same texts: `timephrase.typed` says which. They differ in what they take of a time
of several days, and in the direction in which `friday` lies.
"""

from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from typing import Literal, NamedTuple

from ..errors import InvalidArgument, Sentence
from ..models import Texts

MAX_SHOWN = 60
"""Characters of a wrong value that an error message repeats."""
_MONDAY_TO_SUNDAY = timedelta(6)


_DAYS_BACK = ("2026-11-03", "yesterday", "10 days ago", "last tuesday", "Q2", "early October")
_MOMENTS = ("2026-11-03T14:00", "18:00", "yesterday 18:00", "2 hours ago")
_DAYS_AHEAD = ("2026-12-31", "tomorrow", "in 10 days", "next friday", "Q1 2027")


class TimeField(NamedTuple):
    """A field that takes a time.

    `takes`: of a time of several days, `last week` or `Q2`, it takes the first day, the last
    day or all; `monday` is the last day, but of a week that is still to come its Monday.
    `ahead`: `friday` is the next Friday, today included, and otherwise the last one. `examples`
    of what it takes, and the `noun` for it.
    """

    takes: Literal["first", "last", "monday", "all"]
    examples: Texts = _DAYS_BACK
    ahead: bool = False
    noun: str = "date"


TIME_FIELDS: Mapping[str, TimeField] = {
    "since": TimeField("first"),
    "until": TimeField("last"),
    "as_of": TimeField("last"),
    "date": TimeField("all", ("2026-11-03", "yesterday", "last week", "2026-11")),
    "due": TimeField("monday", _DAYS_AHEAD, ahead=True),
    "due by": TimeField("last", _DAYS_AHEAD, ahead=True),
    "expires": TimeField("last", _DAYS_AHEAD, ahead=True),
    "at": TimeField("first", _MOMENTS, noun="time"),
}
"""The fields by their names in messages; each is a parameter, a flag or a key of a query. A
filter by day without a row takes a time as `since` does.
"""


def read_date(text: str, now: datetime, name: str, *, of: str = "") -> str:
    """The local date, `YYYY-MM-DD`, that the field `name` takes of a typed time. Raises
    InvalidArgument with examples; it names the parameter `of`, by default as the field.
    """
    moment = _take(_read_span(text, now, name, None), name, now)
    if not moment:
        raise _time_error(name, text, of)
    return moment.date().isoformat()


def read_days(text: str, now: datetime, name: str) -> tuple[date, date]:
    """The first and last local day of a typed time. Raises InvalidArgument with examples."""
    first, last = _read_span(text, now, name, None)
    if not first or not last:
        raise _time_error(name, text)
    return first.date(), last.date()


def read_moment(text: str, now: datetime, name: str, *, clock: time | None = None) -> datetime:
    """The moment that the field `name` takes of a typed time, on the clock of its owner; a
    local one has no zone. Raises InvalidArgument with examples.

    A day without a time of day gets the time `clock`, by default that of `now`.
    """
    moment = _take(_read_span(text, now, name, clock), name, now)
    if not moment:
        raise _time_error(name, text)
    return moment


def _take(
    span: tuple[datetime | None, datetime | None], name: str, now: datetime
) -> datetime | None:
    """The end of a span that the field `name` takes."""
    first, last = span
    takes = _field(name).takes
    if takes == "monday" and first and last and first.date() > now.date():
        is_week = first.weekday() == 0 and last.date() - first.date() == _MONDAY_TO_SUNDAY
        takes = "first" if is_week else "last"
    return last if takes in ("last", "monday") else first


def _field(name: str) -> TimeField:
    return TIME_FIELDS.get(name, TIME_FIELDS["since"])


def _read_span(
    text: str, now: datetime, name: str, clock: time | None
) -> tuple[datetime | None, datetime | None]:
    from .timephrase.typed import read_typed  # most saves and searches need none of its words

    span = read_typed(text, now=now, ahead=_field(name).ahead, clock=clock)
    return span or (None, None)


def _time_error(name: str, text: str, of: str = "") -> InvalidArgument:
    field = _field(name)
    short = text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 3] + "..."
    of = of or name
    values = {"name": Sentence(of), "text": short, "noun": Sentence(field.noun)}
    message = Sentence("{name}: {text!r} is not a {noun}.", **values)
    return InvalidArgument(message, valid=map(Sentence, field.examples), of=[of])

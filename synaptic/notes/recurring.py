"""Moves tasks that repeat to their next day, in the forms of Obsidian Tasks and Logseq. Pure.

| a task that is done on Friday 2026-11-27     | moves to   |
|----------------------------------------------|------------|
| `🔁 every week 📅 2026-11-27`                | 2026-12-04 |
| `🔁 every month on the 1st ⏳ 2026-11-01`    | 2026-12-01 |
| `🔁 every month due:2026-11-01`              | 2026-12-01 |
| `🔁 every 10 days when done 📅 2026-11-01`   | 2026-12-07 |
| `SCHEDULED: <2026-11-01 Sun +1w>`            | 2026-11-08 |
| `SCHEDULED: <2026-11-01 Sun ++1w>`           | 2026-11-29 |
| `SCHEDULED: <2026-11-01 Sun .+1w>`           | 2026-12-04 |

The rules are those of the documentation of Obsidian Tasks ("Recurring Tasks"), and of Logseq's
repeaters: a date after its time is moved back to the last day of a shorter month.
"""

import re
from calendar import monthrange
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, datetime, timedelta
from itertools import count

from ..errors import Sentence
from .day_forms import with_day
from .due_marks import DueMark, find_due_mark

REPEAT_SIGN = "🔁"
_RULE = re.compile(rf"{REPEAT_SIGN}\ufe0f?[ \t]*(\w[\w, !]*?)[ \t]*(?=$|[^\w, !])")
_DATE = "[ ]?([0-9]{4}-[0-9]{2}-[0-9]{2})"
_OTHER_DATES = (re.compile(rf"[⏳⌛]\ufe0f?{_DATE}"), re.compile(rf"🛫\ufe0f?{_DATE}"))
"""The dates of a task that move with the day on which it is due."""
_CREATED = re.compile(rf"➕\ufe0f?{_DATE}")
_OF_ONE_ONLY = re.compile(
    r"[ ]?(?:🆔\ufe0f?[ ]?[\w-]+|⛔\ufe0f?[ ]?[\w-]+(?:[ ]?,[ ]?[\w-]+)*|(?<=[ ])\^[\w-]+[ ]*$)"
)
_DELETES_ITSELF = re.compile(r"(?i)🏁\ufe0f?[ ]?delete")
_IN_DATAVIEW = re.compile(r"[\[(]repeat::")
WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_MONTHS = (
    "january february march april may june july august september october november december"
).split()
_EVERY = re.compile(r"every (?:(\d{1,3}) )?(day|week|month|year)s?(?: on (?:the )?(.+))?")
_EVERY_NAMED = re.compile(r"every (.+?)(?: on the (.+))?")
_ORDINAL = re.compile(r"(?:(\d{1,2})(?:st|nd|rd|th)(?: (last))?|(last))(?: ([a-z]+))?")
_LIST = re.compile(r" ?, ?(?:and )?| and ")
_YEARS_AHEAD = 12
"""The number of years in which a next day is looked for: 29 February may take eight."""

_STAMP = re.compile(
    r"(?P<label>SCHEDULED|DEADLINE):(?P<gap>[ ]*)"
    r"<(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})(?P<rest>[^<>\n]*)>"
)
_REPEATER = re.compile(
    r" (?P<name>Mon|Tue|Wed|Thu|Fri|Sat|Sun)(?: (?P<time>[0-9]{2}:[0-9]{2}))?"
    r" (?P<kind>\.\+|\+\+|\+)(?P<number>[1-9][0-9]{0,2})(?P<unit>[hdwmy])"
)
_SPANS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
"""The units that are always equally long."""
_LEAST_DAYS = 28
"""The days that each month has."""
_LOGBOOK = re.compile(r"(?m)^[ \t]*:LOGBOOK:")
_LOGBOOK_END = re.compile(r"(?m)^([ \t]*):END:")


class CannotRepeat(ValueError):
    """A task that repeats in a way that is not understood; the message is the reason."""


def repeats(block: str) -> bool:
    """True if a task repeats; `block` is its line and the lines that belong to it."""
    line = block.partition("\n")[0]
    if REPEAT_SIGN in line or _IN_DATAVIEW.search(line):
        return True
    return any("+" in match["rest"] for match in _STAMP.finditer(block))


def reason_not_to_move(block: str) -> str:
    """The reason why a task that repeats is not moved to its next day here; "" if it can be."""
    line, _, _ = block.partition("\n")
    try:
        if REPEAT_SIGN in line or _IN_DATAVIEW.search(line):
            next_occurrence(line, date(2026, 1, 1))
        else:
            moved_stamps(block, datetime(2999, 1, 1))
    except CannotRepeat as error:
        return str(error.args[0])
    return ""


# -- Obsidian Tasks


def next_occurrence(words: str, today: date) -> str:
    """The words of the next task, where a task with these `words` is done `today`; the words
    hold no date of its end. Raises CannotRepeat.
    """
    if _IN_DATAVIEW.search(words):
        raise CannotRepeat(Sentence("it repeats in Dataview's form, `[repeat:: ...]`"))
    if _DELETES_ITSELF.search(words):
        raise CannotRepeat(Sentence("its plugin deletes it when it is done (🏁 delete)"))
    dates = [*_find_moving_marks(words)]
    rule = _RULE.search(_without_due_mark(words))
    if not rule or words.count(REPEAT_SIGN) != 1:
        raise CannotRepeat(Sentence("its rule behind 🔁 is not understood"))
    reference = _date_of(dates[0]) if dates else None
    day = _day_of_rule(rule[1], reference, today)
    if reference and day:
        shift = day - reference
        for mark in sorted(dates, key=lambda mark: -mark.date_start):
            words = with_day(mark, words, _date_of(mark) + shift)
    words = _CREATED.sub(lambda match: match[0].replace(match[1], f"{today}"), words)
    return _OF_ONE_ONLY.sub("", words)


def _without_due_mark(words: str) -> str:
    """The words with a sign that no rule has in place of the day on which the task is due."""
    mark = find_due_mark(words)
    return f"{words[: mark.start]}|{words[mark.end :]}" if mark else words


def _find_moving_marks(words: str) -> Iterator[DueMark]:
    """Yields the dates of a task that move; the first is the one by which it repeats."""
    due = find_due_mark(words)
    if due:
        yield due
    for pattern in _OTHER_DATES:
        for match in pattern.finditer(words):
            if not due or match.start(1) != due.date_start:
                ends = (match.end(),) * 3
                yield DueMark(match[1], match.start(), match.start(1), *ends, "")


def _date_of(mark: DueMark) -> date:
    with suppress(ValueError):
        return date.fromisoformat(mark.day)
    raise CannotRepeat(Sentence("its date {day} is not in the calendar", day=mark.day))


def _day_of_rule(text: str, reference: date | None, today: date) -> date | None:
    """The next day by a rule such as `every 2 weeks on Monday when done`; None for a task
    without a date.
    """
    rule = " ".join(text.lower().replace("!", " ").split())
    from_done = rule.endswith(" when done")
    rule = rule.removesuffix(" when done")
    start = today if from_done or not reference else reference
    with suppress(OverflowError, ValueError):
        day = next_day(rule, start)
        if day:
            return day if reference else None
    raise CannotRepeat(
        Sentence("its rule `{rule}` is not one that is understood here", rule=text.strip())
    )


def next_day(rule: str, start: date) -> date | None:
    """The first day after `start` by a rule; None if the rule is not understood."""
    match = _EVERY.fullmatch(rule)
    if match:
        interval = int(match[1] or 1)
        unit, days = match[2], match[3]
        if not interval:
            return None
        if not days:
            return _day_after(start, interval, unit)
        if unit == "week":
            return _next_weekday(start, interval, _LIST.split(days))
        if unit == "month":
            months = (start.month - 1 + interval * step for step in count())
            return _next_in_months(start, months, _LIST.split(days))
        return None
    match = _EVERY_NAMED.fullmatch(rule)
    if not match:
        return None
    names = _LIST.split(match[1])
    if match[1] == "weekday" and not match[2]:
        return _next_weekday(start, 1, WEEKDAYS[:5])
    if all(name in WEEKDAYS for name in names) and not match[2]:
        return _next_weekday(start, 1, names)
    if all(name in _MONTHS for name in names) and match[2]:
        wanted = {_MONTHS.index(name) for name in names}
        months = (month for month in count(start.month - 1) if month % 12 in wanted)
        return _next_in_months(start, months, _LIST.split(match[2]))
    return None


def _day_after(start: date, number: int, unit: str) -> date:
    """`start` and so many days, weeks, months or years; in a shorter month its last day."""
    if unit in ("day", "week"):
        return start + timedelta(days=number * (7 if unit == "week" else 1))
    month = start.month - 1 + number * (12 if unit == "year" else 1)
    year = start.year + month // 12
    month = month % 12 + 1
    return date(year, month, min(start.day, monthrange(year, month)[1]))


def _next_weekday(start: date, interval: int, names: list[str]) -> date | None:
    """The next of these weekdays, in each `interval`th week from that of `start` on."""
    if not all(name in WEEKDAYS for name in names):
        return None
    numbers = {WEEKDAYS.index(name) for name in names}
    monday = start - timedelta(days=start.weekday())
    for ahead in range(1, 7 * (interval + 1) + 1):
        day = start + timedelta(days=ahead)
        week = (day - monday).days // 7
        if day.weekday() in numbers and week % interval == 0:
            return day
    return None


def _next_in_months(start: date, months: Iterator[int], ordinals: list[str]) -> date | None:
    """The next of these days of a month: `1st`, `last`, `2nd last friday`. `months` are
    counted from January of the year of `start`; a month without the day is left out.
    """
    matches = [_ORDINAL.fullmatch(ordinal) for ordinal in ordinals]
    for month in months:
        year = start.year + month // 12
        if month > 12 * _YEARS_AHEAD:
            return None
        days = []
        for match in matches:
            if not match or (match[4] and match[4] not in WEEKDAYS):
                return None
            days += _days_at(match, year, month % 12 + 1)
        later = [day for day in days if day > start]
        if later:
            return min(later)
    return None


def _days_at(match: re.Match[str], year: int, month: int) -> list[date]:
    """The day of a month at a place such as `2nd last friday`; [] if the month has none."""
    length = monthrange(year, month)[1]
    days = [date(year, month, number) for number in range(1, length + 1)]
    if match[4]:
        days = [day for day in days if day.weekday() == WEEKDAYS.index(match[4])]
    if match[2] or match[3]:
        days.reverse()
    number = int(match[1] or 1)
    return days[number - 1 : number] if number else []


# -- Logseq


def moved_stamps(block: str, now: datetime) -> str:
    """The text of a block whose repeating dates are moved as Logseq moves them when it is done
    `now` (naive, local). Raises CannotRepeat.
    """

    def move(match: re.Match[str]) -> str:
        rest = match["rest"]
        if "+" not in rest:
            return match[0]
        repeater = _REPEATER.fullmatch(rest)
        if not repeater:
            raise CannotRepeat(
                Sentence(
                    "its date <{day}{rest}> is not in Logseq's form",
                    day=match["day"],
                    rest=rest,
                )
            )
        try:
            start = datetime.fromisoformat(f"{match['day']} {repeater['time'] or '00:00'}")
            moved = _moved_moment(start, repeater, now)
        except (ValueError, OverflowError):
            raise CannotRepeat(
                Sentence(
                    "its date <{day}{rest}> is not in the calendar", day=match["day"], rest=rest
                )
            ) from None
        clock = f" {moved:%H:%M}" if repeater["time"] else ""
        tail = rest[repeater.start("kind") :]
        day = f"{moved:%Y-%m-%d} {WEEKDAYS[moved.weekday()][:3].title()}"
        return f"{match['label']}:{match['gap']}<{day}{clock} {tail}>"

    moved = _STAMP.sub(move, block)
    if moved == block:
        raise CannotRepeat(
            Sentence("its day is still to come, and `.+` counts from the day when it is done")
        )
    return moved


def _moved_moment(start: datetime, repeater: re.Match[str], now: datetime) -> datetime:
    """`+` moves by one step, `++` to the first one after `now`, `.+` by one step from `now`."""
    if repeater["kind"] == ".+":
        return start if start > now else _moment_after(now, repeater)
    moved = _moment_after(start, repeater)
    while repeater["kind"] == "++" and moved <= now:
        moved = _moment_after(moved, repeater, _steps_to(now, moved, repeater))
    return moved


def _steps_to(now: datetime, moment: datetime, repeater: re.Match[str]) -> int:
    """The number of steps, at least one, that lead from a moment to the first one after `now`,
    or to one before that. A day that some months lack takes a single step: it may become
    another.
    """
    number = int(repeater["number"])
    unit = repeater["unit"]
    if unit in _SPANS:
        return (now - moment) // (number * _SPANS[unit]) + 1
    if moment.day > _LEAST_DAYS:
        return 1
    months = 12 * (now.year - moment.year) + now.month - moment.month
    return max(1, months // (number * (12 if unit == "y" else 1)))


def _moment_after(moment: datetime, repeater: re.Match[str], steps: int = 1) -> datetime:
    units = {"d": "day", "w": "week", "m": "month", "y": "year"}
    number = steps * int(repeater["number"])
    if repeater["unit"] == "h":
        return moment + timedelta(hours=number)
    day = _day_after(moment.date(), number, units[repeater["unit"]])
    return datetime.combine(day, moment.time())


def with_logbook(block: str, now: datetime, line_end: str) -> str:
    """The text of a block with a line in its logbook that it was done `now`; unchanged without
    a logbook. `block` begins before the logbook and holds its end.
    """
    drawer = _LOGBOOK.search(block)
    end = drawer and _LOGBOOK_END.search(block, drawer.end())
    if not end:
        return block
    name = WEEKDAYS[now.weekday()][:3].title()
    line = f'{end[1]}* State "DONE" from "TODO" [{now:%Y-%m-%d} {name} {now:%H:%M}]{line_end}'
    return block[: end.start()] + line + block[end.start() :]

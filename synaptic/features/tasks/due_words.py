"""Reads the day out of the words of a task, as people type it behind them. Pure; the time and
its zone come in with `now`.

| typed on Sunday, 29 November 2026      | the task               | its day     |
|----------------------------------------|------------------------|-------------|
| `Write the bill by friday`             | `Write the bill`       | 4 December  |
| `Rechnung schreiben bis Freitag`       | `Rechnung schreiben`   | 4 December  |
| `Pay due:friday, fällig 4.12.`         | by the first of them   | 4 December  |
| `Pay [due:: friday] the rent`          | `Pay the rent`         | 4 December  |
| `Call Ida next friday`, `am 4.12.`     | `Call Ida`             | 4 December  |
| `Call Ida tomorrow`, `Ida rufen morgen`| `Call Ida`, `Ida rufen`| 30 November |
| `Order cloth friday`, `für Freitag`    | `Order cloth`          | 4 December  |
| `Friday: order cloth`                  | `order cloth`          | 4 December  |
| `Sort the photos of friday`            | as it is               | none        |
| `Jog every friday`, `jeden Morgen`     | as it is               | none        |
| `Run am Morgen`, `Tea on friday 5pm`   | as it is               | none        |
| `Black Friday`, `Plan 2027`, `friday`  | as it is               | none        |

Within a text the days behind a mark alone are read, and stand there as dates: `Pay due:friday`
becomes `Pay due:2026-12-04`.
"""

import re
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import NamedTuple

from ...errors import Sentence
from ...language.time_fields import read_date
from ...language.timephrase.table import compile_row
from ...language.timephrase.typed import read_typed, translate_whole_time
from ...models import Texts
from ...notes.due_marks import find_due_mark
from ...notes.marks import task_blocks
from ...notes.recurring import WEEKDAYS, repeats
from .rule_words import find_rule, first_day

MOST_WORDS = 5
"""The most words of a day."""
_MARK = re.compile(
    r"(?i)(?<!\S)[\[(]?(?:@?(?:due|fällig|期限)(?:(?P<colon>[ ]?(?:::?|：)|(?=\())|(?=[ ]))"
    r"|(?P<sign>[📅📆🗓]\ufe0f?))[ ]*\(?(?:(?:by|on)[ ])?"
)
_WORD = re.compile(r"[^\s)\]]+")
_CLOSERS = re.compile(r"[)\]]{0,2}")
_ORIGIN = re.compile(r"(?i)(?:from|of|vom|von|du|de|del|do|da|van)\b")
"""Words before the day of something that is there already."""
_NEAR_DAYS = {"today", "tomorrow", "the day after tomorrow"}
_NAMED_DAY = re.compile(
    r"(?i)(?:black|good|casual|cyber|ash|palm|shrove|easter|blue|schwarzer|blauer)\s+\Z"
)
"""Words that make a weekday behind them a name, as in `Black Friday`."""
_FOR = re.compile(r"(?i)(?:for|für|pour|para|per)\s+")
_BEFORE_NO_DAY = re.compile(
    r"(?i)\b(?:from|of|since|until|la|de|del|di|every|jeden|von|vom|seit|by|on|bis|am)\s+\Z"
)
"""Words before a day alone that make it part of what is to be done, or of a longer phrase."""
_NO_CLOCK = time(0, 0, 0, 1)
"""The time of a day that was typed without one."""
_WEEK = timedelta(days=6)


class DueWords(NamedTuple):
    """The words `start:end` that say the day of a task; `first:last` in them is the day alone,
    behind a mark.
    """

    day: date
    start: int
    end: int
    first: int
    last: int


def split_due_words(text: str, now: datetime) -> tuple[str, date] | None:
    """(the words of a task without those that say its day, that day); None where no day is
    said. Words are left where they are if they also say a time of day.
    """
    marked, at_end = _days_behind_marks(text, now), _days_at_end(text, now)
    for words in (*marked, *at_end, *_days_at_begin(text, now)):
        rest = " ".join(f"{text[: words.start]} {text[words.end :]}".split())
        if rest:
            return rest, words.day
    return None


def date_and_describe(text: str, now: datetime, before: str) -> tuple[str, Texts]:
    """(the text as `write_days` returns it, a sentence on each of the words, and one on a task
    that says how often, without the sign by which it repeats).
    """
    dated, read = write_days(text, now, before)
    form = "“{phrase}” is written as {day}."
    unique = dict.fromkeys(read)
    sentences = [Sentence(form, phrase=words, day=day) for words, day in unique]
    lines_before = {line.strip() for line in before.split("\n")}
    for match, _ in task_blocks(dated):
        is_new = match[0].strip() not in lines_before
        is_open = match["open"] or match["box"] == " "
        rule = _rule_without_sign(match[0], now.date()) if is_new and is_open else ""
        if rule:
            form_of_rule = "A task repeats if 🔁 stands before its rule: `🔁 {rule}`."
            sentences.append(Sentence(form_of_rule, rule=rule))
            break
    return dated, tuple(sentences)


def _rule_without_sign(line: str, today: date) -> str:
    """The rule in the words of a task that does not repeat, with a day if it is not due; ""
    without one.
    """
    if repeats(line):
        return ""
    mark = find_due_mark(line)
    if mark:
        return find_rule(f"{line[: mark.start]} {line[mark.end :]}")
    rule = find_rule(line)
    return f"{rule} due:{first_day(rule, today)}" if rule else ""


def write_days(
    text: str, now: datetime, before: str = ""
) -> tuple[str, list[tuple[str, date]]]:
    """(the text with a date for the words behind a mark that say the day of a task, each of
    these words with its day). Tasks whose lines the text `before` has stay.
    """
    read = []
    lines_before = {line.strip() for line in before.split("\n")}
    for match, block in reversed([*task_blocks(text)]):
        words = None if match[0].strip() in lines_before else _day_to_write(block, now)
        if words:
            at = match.start()
            read.append((block[words.start : words.end], words.day))
            start, end, written = _date_for(words, block)
            text = text[: at + start] + written + text[at + end :]
    return text, read[::-1]


def _day_to_write(block: str, now: datetime) -> DueWords | None:
    """The words that say the day of a task which is due by them once they are a date, and not
    before.
    """
    former = find_due_mark(block)
    for words in _days_behind_marks(block, now):
        is_date = former and words.start <= former.date_start < words.end
        start, end, written = _date_for(words, block)
        mark = find_due_mark(block[:start] + written + block[end:])
        if mark and not is_date and start <= mark.date_start < start + len(written):
            return words
    return None


def _date_for(words: DueWords, block: str) -> tuple[int, int, str]:
    """(start, end, the text in place of that span) that make the words a date. A mark that is
    read before words alone, as `fällig`, becomes `due:`.
    """
    alone = f"{block[words.start : words.first]}{words.day}"
    if find_due_mark(alone):
        return words.first, words.last, f"{words.day}"
    return words.start, words.end, f"due:{words.day}"


def _days_behind_marks(text: str, now: datetime) -> Iterator[DueWords]:
    """Yields the day behind each mark, as the field Due reads the longest phrase that says one.
    Without a sign behind the mark it is a day or a week, and none of the past.
    """
    for mark in _MARK.finditer(text):
        first = mark.end()
        line_end = text.find("\n", first) if "\n" in text[first:] else len(text)
        ends = [word.end() for word in _WORD.finditer(text, first, line_end)][:MOST_WORDS]
        for end in reversed(ends):
            phrase = text[first:end].rstrip(",;")
            days = _read_day_span(phrase, now)
            if not days or any(sign in phrase for sign in ")]"):
                continue
            is_sure = mark["colon"] is not None or mark["sign"]
            if (is_sure and days[0] == days[1]) or _lies_ahead(days, now, is_sure):
                day = date.fromisoformat(read_date(phrase, now, "due"))
                last = first + len(phrase)
                has_opener = any(sign in mark[0] for sign in "([")
                closers = _CLOSERS.match(text, last) if has_opener else None
                end = closers.end() if closers else end
                yield DueWords(day, mark.start(), end, first, last)
                break


def _days_at_end(text: str, now: datetime) -> Iterator[DueWords]:
    """Yields the day at the end of a text without a mark: one day, or the last one of several,
    as `by friday` does.
    """
    starts = [word.start() for word in re.finditer(r"\S+", text)][1:]
    for start in starts[-MOST_WORDS:]:
        phrase = " ".join(text[start:].split())
        if start == starts[-1] and not _is_day_alone(text, start):
            continue
        if is_length(phrase.lstrip("+ ")):  # of what is to be done: "Rest 3 days"
            continue
        day = _read_day_ahead(_FOR.sub("", phrase, count=1), now)
        if day and not _ORIGIN.match(phrase):
            yield DueWords(day, start, len(text), start, len(text))


def _days_at_begin(text: str, now: datetime) -> Iterator[DueWords]:
    """Yields the day before a colon at the beginning of a text."""
    phrase, colon, _ = text.partition(": ")
    day = _read_day_ahead(phrase, now) if colon else None
    if day and len(phrase.split()) <= MOST_WORDS:
        yield DueWords(day, 0, len(phrase) + len(colon), 0, len(phrase))


def _is_day_alone(text: str, start: int) -> bool:
    """True if a text ends at `start` with a word that is a day: a weekday, or one such as
    `tomorrow`, in any language. The latter with a capital is another: the German `Morgen` is a
    morning.
    """
    word = text[start:].strip()
    meant = {word.lower(), *map(str.lower, translate_whole_time(word))}
    if _BEFORE_NO_DAY.search(text[:start]):
        return False
    if not meant.isdisjoint(WEEKDAYS):
        return not _NAMED_DAY.search(text[:start])
    return word == word.lower() and not meant.isdisjoint(_NEAR_DAYS)


def _read_day_ahead(phrase: str, now: datetime) -> date | None:
    """The one day that a phrase says, or the last one of several; None for one of the past."""
    days = _read_day_span(phrase, now)
    is_day = days and days[1] >= now.date() and days[0] in (None, days[1])
    return days[1] if days and is_day else None


def is_length(text: str) -> bool:
    """True for a number of days or longer units without a direction: `3 days`, `eine Woche`."""
    phrase = " ".join(text.lower().split())
    phrases = (phrase, *translate_whole_time(phrase))
    return any(compile_row("<amount>").fullmatch(each) for each in phrases)


def _lies_ahead(days: tuple[date | None, date], now: datetime, is_sure: object) -> bool:
    first, last = days
    return last >= now.date() and bool(is_sure or not first or last - first <= _WEEK)


def _read_day_span(phrase: str, now: datetime) -> tuple[date | None, date] | None:
    """The first and the last day that a phrase says; None if it says none, or a time of day."""
    span = read_typed(phrase, now=now, ahead=True, clock=_NO_CLOCK)
    if not span or not span[1] or span[1].time() != _NO_CLOCK:
        return None
    return span[0] and span[0].date(), span[1].date()

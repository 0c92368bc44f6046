"""Dates as people say them in the present language, by CLDR, and the heading and text of an
entry.
"""

from collections.abc import Sequence
from datetime import date
from functools import lru_cache

from babel import Locale, dates

from ...models import Entry, Texts
from ...notes.due_marks import remove_due_date
from ...notes.header import clean_title, derive_title, leading_markup, make_title
from .rendering import markdown_to_line, plain_heading
from .translation import LOCALES, present_locale, translate


def format_date(day: str, weekday: bool = True) -> str:
    """Formats a date as people say it: `Saturday, 21 November 2026`. Text that is not a date is
    returned unchanged.
    """
    return _format_date_in(present_locale(), day, weekday)


@lru_cache(4_000)  # a calendar names each day of its year
def _format_date_in(locale: str, day: str, weekday: bool) -> str:
    try:
        on = date.fromisoformat(day)
    except ValueError:
        return day
    return dates.format_date(on, "full" if weekday else "long", locale)


def format_weekday(day: date) -> str:
    """Returns the name of the weekday of a date: `Saturday`."""
    return dates.format_date(day, "EEEE", present_locale())


def format_near_day(day: str, today: str) -> str:
    """Formats a date without its year where that is the present one: `21 November`."""
    try:
        on = date.fromisoformat(day)
    except ValueError:
        return day
    if day[:4] != today[:4]:
        return format_date(day, False)
    return dates.format_skeleton("MMMMd", on, locale=present_locale())


def format_month(month: str) -> str:
    """Formats a month as people say it: `November 2026`."""
    on = date.fromisoformat(f"{month}-01")
    return dates.format_skeleton("yMMMM", on, locale=present_locale())


def month_names() -> Texts:
    """Returns the names of the twelve months as they stand alone."""
    names = _locale().months["stand-alone"]["wide"]
    return tuple(names[number] for number in sorted(names))


def _locale() -> Locale:
    return Locale.parse(present_locale())


def first_weekday() -> int:
    """Returns the day on which a week begins; 0 is Monday."""
    return _locale().first_week_day


def begin_of_week(day: date) -> date:
    """Returns the first day of the week of a day, as the present locale counts weeks."""
    # the calendar's first week may begin before its first day
    return date.fromordinal(max(1, day.toordinal() - (day.weekday() - first_weekday()) % 7))


def format_week(week: str) -> str:
    """Formats a week of ISO 8601, `2026-W47`, with the day on which it begins: a Monday in all
    locales, as sums by week are the same everywhere.
    """
    year, number = map(int, week.split("-W"))
    return translate(
        "Week %(number)s of %(year)s, from %(day)s",
        number=number,
        year=str(year),
        day=format_date(date.fromisocalendar(year, number, 1).isoformat(), weekday=True),
    )


def weekday_names() -> Sequence[tuple[str, str]]:
    """Returns (name, short name) of the days of a week, in the order of the present locale."""
    names = _locale().days["stand-alone"]
    order = [(first_weekday() + number) % 7 for number in range(7)]
    return [(names["wide"][day], names["abbreviated"][day]) for day in order]


def heading_and_text(entry: Entry) -> tuple[str, str]:
    """Returns (heading, text) of an entry for its page, its day, and in print. The heading is
    empty if the text is prose whose first words are its title: a sentence stays in its
    paragraph. A heading that only says the date is left out.

    | title          | text                                | heading   |
    |----------------|-------------------------------------|-----------|
    | Lunch with Ida | She is moving to Lisbon.            | the title |
    | It rained      | It rained. We stayed in.            | none      |
    | For the trip   | For the trip (a line), and the rest | the title |
    | For the trip   | For the trip                        | none      |
    """
    title = entry.title
    content = entry.content
    heading, below = plain_heading(title, content)
    made = (make_title(content), derive_title(content))
    if title in made or remove_due_date(title) in made:
        line = content.strip().partition("\n")[0].rstrip()
        is_prose = derive_title(line) != title or not _is_one_sentence(line)
        opens_with_heading = leading_markup(line).endswith("# ")
        if not below.strip() or (is_prose and not opens_with_heading):
            return "", content
    locales = present_locale(), LOCALES["en"]
    written = {
        _format_date_in(locale, entry.date, weekday)
        for locale in locales
        for weekday in (True, False)
    }
    return "" if heading in {entry.date, *written} else heading, below


def heading_of_page(entry: Entry) -> tuple[str, str]:
    """Returns (heading, text) of an entry for its own page, where one sentence that is all of
    the text is the heading.
    """
    heading, text = heading_and_text(entry)
    if not heading and text == entry.title and _is_one_sentence(text):
        return plain_heading(entry.title, text)
    return heading, text


def _is_one_sentence(line: str) -> bool:
    """True for a line that is one sentence of at most a heading's length, with any tags."""
    words = clean_title(markdown_to_line(line))[0]
    return derive_title(line) in (words, words.removesuffix("."))

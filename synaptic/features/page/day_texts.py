"""Dates as people say them, and the heading and text of an entry. Pure."""

from datetime import date

from ...models import Entry
from ...notes.header import clean_title, derive_title, leading_markup, make_title
from .rendering import markdown_to_line, plain_heading


def format_date(day: str, weekday: bool = True) -> str:
    """Formats a date as people say it: `Saturday, 21 November 2026`. Text that is not a date is
    returned unchanged.
    """
    try:
        on = date.fromisoformat(day)
    except ValueError:
        return day
    name = f"{on:%A}, " if weekday else ""
    return f"{name}{on.day} {on:%B} {on.year}"


def format_month(month: str) -> str:
    """Formats a month as people say it: `November 2026`."""
    return f"{date.fromisoformat(f'{month}-01'):%B %Y}"


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
    if title in (make_title(content), derive_title(content)):
        line = content.strip().partition("\n")[0].rstrip()
        is_prose = derive_title(line) != title or not _is_one_sentence(line)
        opens_with_heading = leading_markup(line).endswith("# ")
        if not below.strip() or (is_prose and not opens_with_heading):
            return "", content
    says_date = heading in (entry.date, format_date(entry.date), format_date(entry.date, False))
    return "" if says_date else heading, below


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

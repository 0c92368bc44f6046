"""The language of a page: its texts by catalogues of gettext, its numbers by CLDR.

English is the source: a text without a translation is shown as it stands in the code. A request
and its verbs have a locale, see `speaking`; elsewhere, as in a command, all is English.
`scripts/translate.py` makes the catalogues.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date
from decimal import Decimal
from functools import cache
from gettext import GNUTranslations, NullTranslations
from pathlib import Path
from string import Formatter
from typing import TypeVar

from ...errors import Sentence
from ...search.doubt import ONLY_NEAREST, UNFINISHED
from ...search.planner import ALL_AT_LIMIT, MORE_AT_LIMIT
from ...workspace.workspace import Workspace

Result = TypeVar("Result")
CATALOGUES = Path(__file__).parent / "catalogues"
LOCALES = {"en": "en_001", "de": "de_DE", "ja": "ja_JP"}
"""The languages of the page, each with the locale where a browser names no region."""
_present: ContextVar[str] = ContextVar("locale", default=LOCALES["en"])


def choose_locale(accepted: str, setting: str = "") -> str:
    """Returns the locale for a browser: the first one of its header Accept-Language whose
    language the page has, else English. A `setting` decides on the language, and leaves the
    region to the browser.

    | header              | setting | locale  |
    |---------------------|---------|---------|
    | `fr, de-AT;q=0.8`   |         | `de_AT` |
    | `de-AT`             | `ja`    | `ja_JP` |
    | `fr`                |         | `en_001`|
    """
    from babel.localedata import exists  # a server without the page may lack it

    for tag in _tags_by_preference(accepted):
        language, *others = tag.split("-")
        if language not in LOCALES or (setting and language != setting):
            continue
        regions = [part.upper() for part in others if len(part) == 2 and part.isalpha()]
        named = "_".join((language, *regions[:1]))
        return named if regions and exists(named) else LOCALES[language]
    return LOCALES[setting or "en"]


def _tags_by_preference(accepted: str) -> list[str]:
    """Returns the language tags of a header in lower case, the preferred one first."""
    weights: dict[str, float] = {}
    for row in accepted[:200].lower().replace(" ", "").split(","):
        tag, _, quality = row.partition(";q=")
        try:
            weights.setdefault(tag, float(quality or 1))
        except ValueError:
            continue
    return sorted(weights, key=lambda tag: -weights[tag])


@contextmanager
def speaking(locale: str) -> Iterator[None]:
    """Sets the locale of all that runs in the block."""
    before = _present.set(locale)
    try:
        yield
    finally:
        _present.reset(before)


def run_in_locale(verb: Callable[[Workspace], Result], locale: str, ws: Workspace) -> Result:
    """Runs a verb, which may be on another thread or in another process, in this locale."""
    with speaking(locale):
        return verb(ws)


def present_locale() -> str:
    """Returns the locale of the present context, such as `de_DE`."""
    return _present.get()


def present_language() -> str:
    """Returns the language of the present context, such as `de`."""
    return present_locale().partition("_")[0]


@cache
def _catalogue(language: str) -> NullTranslations:
    if language == "en":
        return NullTranslations()
    with (CATALOGUES / language / "LC_MESSAGES" / "page.mo").open("rb") as file:
        return GNUTranslations(file)


def format_number(number: float | Decimal) -> str:
    """Returns a number as the present locale writes it: `1,234.5` or `1.234,5`."""
    from babel.numbers import format_decimal  # a server without the page may lack it

    return format_decimal(number, locale=present_locale())


def translate(text: str, /, **values: object) -> str:
    """Returns the text in the present language, with `%(name)s` replaced by the value of that
    name.
    """
    return _catalogue(present_language()).gettext(text) % localize_numbers(values)


def translate_in(context: str, text: str, /, **values: object) -> str:
    """Returns the translation of a text that has another meaning in each `context`."""
    return _catalogue(present_language()).pgettext(context, text) % localize_numbers(values)


def translate_count(one: str, many: str, number: int, /, **values: object) -> str:
    """Returns the form of the text that fits the `number`, which is also its `%(n)s`."""
    text = _catalogue(present_language()).ngettext(one, many, number)
    return text % localize_numbers({"n": number} | values)


def mark_text(text: str) -> str:
    """Marks a text for the catalogues where it is not yet shown, as in a table."""
    return text


class _LocalizedValues(Formatter):
    """`str.format` that writes a number with `,`, and the weekday of a day with `%A`, as the
    present locale does.
    """

    def format_field(self, value: object, format_spec: str) -> str:
        if format_spec == "%A" and isinstance(value, date):
            from babel.dates import format_date  # a server without the page may lack it

            return format_date(value, "EEEE", present_locale())
        if format_spec in (",", ",f") and isinstance(value, int | Decimal):
            return format_number(value)
        return str(super().format_field(value, format_spec))


PLAINER = {
    UNFINISHED: mark_text(
        "{n:,} of {total:,} notes are found only by their exact words so far; they are being "
        "prepared."
    ),
    ONLY_NEAREST: mark_text("The three nearest are shown; “More that may fit” shows others."),
    ALL_AT_LIMIT: mark_text("{list}; {limit} of {total:,} are shown"),
    MORE_AT_LIMIT: mark_text("{list}; {limit} of {total:,} are shown"),
}
"""What the page says in place of a sentence, in plain words."""


def localize_sentence(text: str) -> str:
    """Returns a sentence of the core in the present language; any other text as it is, and a
    sentence that the catalogue lacks in English.
    """
    if not isinstance(text, Sentence):
        return text
    template = PLAINER.get(text.template, text.template)
    message = _catalogue(present_language()).gettext(template) if template else ""
    if not text.values:
        return message
    values = {
        name: localize_sentence(value) if isinstance(value, Sentence) else value
        for name, value in text.values.items()
    }
    return _LocalizedValues().vformat(message, (), values)


def localize_numbers(values: Mapping[str, object]) -> dict[str, object]:
    """Returns the values with whole numbers and sentences as the present locale has them."""
    return {
        name: format_number(value)
        if type(value) is int
        else localize_sentence(value)
        if isinstance(value, Sentence)
        else value
        for name, value in values.items()
    }

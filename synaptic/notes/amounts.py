"""Reads amounts: the numbers of fields that are summed. This module knows no files.

| written                                  | is                           |
|------------------------------------------|------------------------------|
| `hours:: 2`, `hours: 1.5`, `hours:: 1,5` | 2, 1.5, 1.5                  |
| `hours:: 1:30 #acme`, `1h 30m`, `90 min` | 1.5 hours                    |
| `cost:: 12.50 EUR`, `cost:: € 12`        | 12.5 EUR, 12 €               |
| `cost:: 1 200`, `1.200,50`, `1,200.50`   | 1200, 1200.5, 1200.5         |
| `cost:: 1,200`                           | nothing: 1200, or 1.2?       |
| `(2h)`, `(1:30)`, `(45m)` in a text      | hours, by `hours_in_text`    |
"""

import re
from decimal import Decimal
from typing import NamedTuple

from .blocks import without_code

HOURS = "hours"
"""The field to which times in a text belong, as `(2h)`."""

_HOURS_UNIT = r"(?:h|hrs?|hours?|std\.?|stunden?)"
_MINUTES_UNIT = r"(?:mins?|minutes?|minuten?)"  # `5 m` may be metres
_TIME = (
    r"(?P<clock>{clock}:[0-5][0-9])(?:[ ]?{h})?"
    r"|(?P<hours>[0-9]{{1,9}}(?:[.,][0-9]{{1,2}})?)[ ]?{h}"
    r"(?:[ ]?(?P<rest>[0-5]?[0-9])(?:[ ]?(?:m|{m}))?)?"
    r"|(?P<minutes>[0-9]{{1,9}})[ ]?{m}"
)
_HOURS = re.compile(_TIME.format(clock="[0-9]{1,9}", h=_HOURS_UNIT, m=_MINUTES_UNIT), re.I)
_HOURS_IN_TEXT = re.compile(  # (14:30) is a time of day, and nobody writes (45 m) of a length
    rf"\((?:{_TIME.format(clock='[0-9]', h=_HOURS_UNIT, m=rf'(?:m|{_MINUTES_UNIT})')})\)", re.I
)
_UNIT = r"[^\W\d_]{1,4}|[$€£¥₹%]"
_GROUP = r"[., '\u00a0\u202f’]"
_NUMBER = re.compile(
    rf"(?:(?P<before>{_UNIT})[ ]?)?(?P<sign>[-+−]?)"
    rf"(?P<number>[0-9]{{1,3}}(?P<group>{_GROUP})[0-9]{{3}}(?:(?P=group)[0-9]{{3}})*"
    r"(?P<part>[.,][0-9]{1,2})?|[0-9]{1,12}(?:[.,][0-9]{1,9})?)"
    rf"(?:[ ]?(?P<after>{_UNIT}))?"
)
_NAMES_GROUPS = re.compile(rf"[0-9]*{_GROUP}[0-9]{{3}}{_GROUP}|[0-9]*[ '\u00a0\u202f’]")
"""The beginning of a number whose first separator cannot be both: of groups and decimals."""


_TAGS_AT_END = re.compile(r"(?:[ \t]+#[^\s#]+)+[ \t]*\Z")


class Amount(NamedTuple):
    """A number with its unit as written; "" without one."""

    value: Decimal
    unit: str = ""


def read_amount(text: str) -> Amount | None:
    """The amount that a field's value is; None for a text that is more than one amount.

    A time is counted in hours and has no unit, so that `2` and `2h` can be summed.
    """
    plain = _TAGS_AT_END.sub("", text).strip()
    time = _HOURS.fullmatch(plain)
    if time:
        return Amount(_count_hours(time))
    match = _NUMBER.fullmatch(plain)
    if not match or (match["before"] and match["after"]):
        return None
    number = match["number"]
    if match["group"] and not number.startswith("0"):
        if not match["part"] and not _NAMES_GROUPS.match(number):
            return None  # 1,200 is 1200 to one reader and 1.2 to another
        if match["part"] and match["part"][0] == match["group"]:
            return None
        number = number.replace(match["group"], "")
    value = Decimal(number.replace(",", "."))
    unit = match["before"] or match["after"] or ""
    return Amount(-value if match["sign"] in ("-", "−") else value, unit)


def read_hours_in_text(text: str) -> list[Amount]:
    """The times in parentheses in a text, such as `(2h)`, in hours; code has none."""
    return [
        Amount(_count_hours(match)) for match in _HOURS_IN_TEXT.finditer(without_code(text))
    ]


def _count_hours(time: re.Match[str]) -> Decimal:
    if time["clock"]:
        hours, minutes = map(Decimal, time["clock"].split(":"))
    elif time["hours"]:
        hours = Decimal(time["hours"].replace(",", "."))
        minutes = Decimal(time["rest"] or 0)
    else:
        hours, minutes = Decimal(0), Decimal(time["minutes"])
    return hours + minutes / 60

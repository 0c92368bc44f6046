"""Says in the language of the reader how often a task repeats. The note keeps the English rule
of Obsidian Tasks. A rule of another form is shown as it is. `tasks/rule_words` reads what this
says.

| in the note                       | shown in German                 | in Japanese      |
|-----------------------------------|---------------------------------|------------------|
| `🔁 every 2 weeks on Monday`      | `🔁 alle 2 Wochen am Montag`    | `🔁 2週間ごとの月曜日` |
| `🔁 every month on the 10th`      | `🔁 jeden Monat am 10.`         | `🔁 毎月10日`     |
| `🔁 every month on the last`      | `🔁 jeden Monat am letzten Tag` | `🔁 毎月最終日`   |
"""

import re

from babel.dates import get_day_names
from babel.lists import format_list

from ...notes.recurring import REPEAT_SIGN, WEEKDAYS
from .translation import mark_text, present_language, present_locale, translate

_DAY = "|".join(WEEKDAYS)
_DAYS = rf"(?:{_DAY})(?:(?:, ?| and )(?:{_DAY}))*"
_RULE = re.compile(
    rf"(?i)(?P<sign>{REPEAT_SIGN}\ufe0f?[ \t]*)every (?:(?P<days>{_DAYS})|(?P<workday>weekday)"
    r"|(?:(?P<number>\d{1,3}) )?(?P<unit>day|week|month|year)s?"
    rf"(?: on (?P<on>{_DAYS})| on the (?:(?P<at>\d{{1,2}})(?:st|nd|rd|th)|last)"
    rf"(?: (?P<nth>{_DAY}))?)?)(?P<done> when done)?(?=\s*(?:$|[^\w\s,!]|due\b))"
)
EACH = {
    "day": (mark_text("every day"), mark_text("every %(n)s days")),
    "week": (mark_text("every week"), mark_text("every %(n)s weeks")),
    "month": (mark_text("every month"), mark_text("every %(n)s months")),
    "year": (mark_text("every year"), mark_text("every %(n)s years")),
}
"""By a unit of time the words for each one, and for each so many."""


def say_rules(text: str) -> str:
    """Returns a text with the rules behind 🔁 in the present language."""
    if REPEAT_SIGN not in text or present_language() == "en":
        return text
    return _RULE.sub(lambda match: match["sign"] + _say_rule(match), text)


def _say_rule(match: re.Match[str]) -> str:
    rule = _say_how_often(match)
    if match["on"]:
        rule = translate("%(often)s on %(days)s", often=rule, days=_name_days(match["on"]))
    elif " on the " in match[0].lower():
        rule = _say_day_of(rule, match)
    return translate("%(rule)s when done", rule=rule) if match["done"] else rule


def _say_how_often(match: re.Match[str]) -> str:
    if match["days"]:
        return translate("every %(days)s", days=_name_days(match["days"]))
    if match["workday"]:
        return translate("every weekday")
    one, many = EACH[match["unit"].lower()]
    number = int(match["number"] or 1)
    return translate(many, n=number) if number > 1 else translate(one)


def _say_day_of(often: str, match: re.Match[str]) -> str:
    """A rule of a numbered day, or of a weekday, in each month or year."""
    values: dict[str, object] = {"often": often}
    if match["at"]:
        values["number"] = int(match["at"])
    if match["nth"]:
        values["day"] = _name_days(match["nth"])
        if match["at"]:
            return translate("%(often)s on %(day)s number %(number)s", **values)
        return translate("%(often)s on the last %(day)s", **values)
    if match["at"]:
        return translate("%(often)s on day %(number)s", **values)
    return translate("%(often)s on the last day", **values)


def _name_days(days: str) -> str:
    names = get_day_names("wide", locale=present_locale())
    named = [names[WEEKDAYS.index(day.lower())] for day in re.findall(rf"(?i){_DAY}", days)]
    return format_list(named, locale=present_locale())

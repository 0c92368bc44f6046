"""Reads out of the words of a task how often it repeats, as people type it before or behind
them, and writes it as the rule of Obsidian Tasks. Pure.

| typed on Sunday, 29 November 2026        | its rule                         |
|------------------------------------------|----------------------------------|
| `Pay the rent on the 1st of every month` | `every month on the 1st`         |
| `Miete zahlen jeden Monat am Ersten`     | `every month on the 1st`         |
| `Jeden zweiten Montag Blumen gießen`     | `every 2 weeks on Monday`        |
| `Chor jeden letzten Freitag im Monat`    | `every month on the last Friday` |
| `Backup alle 3 Monate`, `quartalsweise`  | `every 3 months`                 |
| `家賃 毎月25日`                          | `every month on the 25th`        |
| `Yoga jeden Morgen`, `Read the daily`    | none                             |
"""

import re
from collections.abc import Iterator
from datetime import date, timedelta

from ...notes.moment import write_ordinal
from ...notes.recurring import REPEAT_SIGN, WEEKDAYS, next_day

MOST_WORDS = 8
"""The most words that say how often."""
_MEANS = {
    "every": "each jeden jede jedes alle",
    "day": "tag tage",
    "week": "woche",
    "weeks": "wochen",
    "month": "monat monats",
    "months": "monate",
    "year": "jahr jahres",
    "years": "jahre",
    "weekday": "werktag",
    "on": "am by bis",
    "in": "im",
    "and": "und",
    "the": "der den dem zum",
    "1st": "first ersten erster",
    "2nd": "second other zweiten zweiter",
    "3rd": "third dritten dritter",
    "4th": "fourth vierten vierter",
    "10th": "tenth zehnten",
    "15th": "fifteenth fünfzehnten",
    "last": "letzten letzter",
    "2": "two zwei",
    "3": "three drei",
    "4": "four vier",
    "6": "six sechs",
    "monday": "montag",
    "tuesday": "dienstag",
    "wednesday": "mittwoch",
    "thursday": "donnerstag",
    "friday": "freitag",
    "saturday": "samstag sonnabend",
    "sunday": "sonntag",
    "every day": "täglich",
    "every week": "wöchentlich",
    "every month": "monatlich",
    "every 3 months": "vierteljährlich quartalsweise",
    "every 6 months": "halbjährlich",
    "every year": "jährlich",
}
"""By a word of a rule the words that mean it."""
_WORDS = {word: meant for meant, words in _MEANS.items() for word in words.split()}
_IN_JAPANESE = re.compile(
    r"毎(?P<unit>[日週月年])(?:(?P<weekday>[月火水木金土日])曜日?)?(?:(?P<number>\d{1,2})日)?"
)
_UNITS = {"日": "day", "週": "week", "月": "month", "年": "year"}
_ANY_WEEKDAY = "|".join(WEEKDAYS)
_ORDINAL = r"\d{1,2}(?:st|nd|rd|th)|last"
_FORMS = {
    rf"on ({_ORDINAL}) (?:of )?every month": r"every month on the \1",
    rf"every ({_ORDINAL}) ({_ANY_WEEKDAY}) (?:in|of) month": r"every month on the \1 \2",
    rf"every (\d)(?:nd|rd|th) ({_ANY_WEEKDAY})": r"every \1 weeks on \2",
    rf"(every (?:\d{{1,2}} )?months?) on ((?:{_ORDINAL})(?: (?:{_ANY_WEEKDAY}))?)(?: day)?": (
        r"\1 on the \2"
    ),
    r"every (?:\d{1,2} )?(?:day|week|month|year)s?": r"\g<0>",
    rf"every (?:\d{{1,2}} )?weeks? on (?:{_ANY_WEEKDAY})": r"\g<0>",
    rf"every (?:weekday|(?:{_ANY_WEEKDAY})(?: and (?:{_ANY_WEEKDAY}))*)": r"\g<0>",
}
"""The forms in which people say a rule, after `_MEANS`, and the rule."""


def split_rule_words(text: str) -> tuple[str, str] | None:
    """(the words of a task without those that say how often, the rule); None where none say
    it, or where a rule stands behind its sign already.
    """
    words = text.split()
    if REPEAT_SIGN in text:
        return None
    for count in range(min(MOST_WORDS, len(words) - 1), 0, -1):
        for phrase, task in ((words[-count:], words[:-count]), (words[:count], words[count:])):
            rule = read_rule(" ".join(phrase).strip(",;"))
            if rule:
                return " ".join(task).strip(" ,;"), rule
    return None


def find_rule(text: str) -> str:
    """The rule that some words of a text say, the longest such words; "" if none do."""
    words = text.split()
    for count in range(min(MOST_WORDS, len(words)), 0, -1):
        for first in range(len(words) - count + 1):
            rule = read_rule(" ".join(words[first : first + count]).strip(",;"))
            if rule:
                return rule
    return ""


def read_rule(phrase: str) -> str:
    """The rule that a phrase says, as Obsidian Tasks writes it; "" if it says none."""
    translated = " ".join(_translate(phrase))
    for form, rule in _FORMS.items():
        match = re.fullmatch(form, translated)
        if match:
            written = match.expand(rule)
            is_rule = next_day(written, date(2026, 1, 1))
            return re.sub(_ANY_WEEKDAY, lambda day: day[0].title(), written) if is_rule else ""
    return ""


def first_day(rule: str, today: date) -> date:
    """The first day from `today` on that fits a rule."""
    rule = rule.lower()
    if re.fullmatch(r"every (?:\d+ )?(?:day|week|month|year)s?", rule):
        return today
    each = re.sub(r"every \d+ (\w+?)s? on", r"every \1 on", rule)
    return next_day(each, today - timedelta(days=1)) or today


def _translate(phrase: str) -> Iterator[str]:
    """Yields the words of a phrase as `_FORMS` have them."""
    japanese = _IN_JAPANESE.fullmatch(phrase)
    if japanese:
        yield from _translate_japanese(japanese)
        return
    for word in phrase.lower().split():
        number = re.fullmatch(r"(\d{1,2})\.", word)
        meant = write_ordinal(int(number[1])) if number else _WORDS.get(word, word)
        if meant != "the":
            yield meant


def _translate_japanese(match: re.Match[str]) -> Iterator[str]:
    if match["weekday"]:
        yield f"every {WEEKDAYS['月火水木金土日'.index(match['weekday'])]}"
        return
    yield f"every {_UNITS[match['unit']]}"
    if match["number"]:
        yield f"on {write_ordinal(int(match['number']))}"

"""Dates for relative times: "yesterday", "3 days ago", "last week". English, in prose, where they cannot mean else."""

from __future__ import annotations

import re
from datetime import date, timedelta

from ..lexicon import COUNTS, DAY_NAMES, MONTH_NAMES, NUMBERS
from ..patterns import compiled
from .change import MAX_LENGTH, Change
from .shown import shown

_ = r"(?:[ \t]{1,3}|[ \t]{0,3}\n[ \t]{0,3})"
_DAY = f"(?:{'|'.join(DAY_NAMES)})"
_COUNT = rf"(?:\d{{1,4}}|{'|'.join(COUNTS)})"
_TIME = rf"""(?<![\w/\\.@#$%&'’+=-])(?:
      (?P<around>(?:the{_})?day{_}(?:before{_}yesterday|after{_}tomorrow))
    | (?P<day>yesterday|today|tonight|tomorrow|this{_}(?:morning|afternoon|evening)|last{_}(?:night|evening))
    | (?P<ago>{_COUNT}){_}(?P<ago_unit>day|week|fortnight|month|year)s?{_}
      (?:ago(?:{_}today)?|(?P<later>from{_}(?:now|today)))
    | in{_}(?P<ahead>{_COUNT}){_}(?P<ahead_unit>day|week|fortnight|month|year)s?(?:['’]{_}time|{_}time)?
    | (?:(?P<weekday>{_DAY}){_}(?:(?:of|in){_})?(?P<its_week>last|this|next){_}week)
    | (?:(?P<that_week>last|this|next){_}week{_}(?:on{_})?(?P<on_weekday>{_DAY}))
    | (?P<which>last|this|next){_}(?P<what>week(?:end)?|month|year|{_DAY})
    )(?![\w/\\@=+-]|\.\w|['’](?!s\b)[\w])"""
_STARTS_SENTENCE = r"(?:\A|[\n.!?:;—–(|\]]|(?<=\s)-)[ \t*_#>(\-+]*(?:\d{1,3}[.)][ \t]+)?\Z"
_INITIAL = r"(?:\b[A-Z]|\b(?:Mr|Mrs|Ms|Dr|Prof|St|vs))\.[ \t]*\Z"
_DETERMINED = (
    r"\b(?:the|a|an|each|every|these|those|that|this|any|some|no|past|very|my|our|your|his|her|its|their|[\w]+['’]s)"
    rf"{_}\Z"
)
_FOLLOWED_BY_OF = rf"{_}(?:of|before)\b|{_}in{_}(?:the{_})?(?:{'|'.join(MONTH_NAMES)}|month|quarter|year)\b"
_VAGUE = (
    rf"(?:\b(?:half|than|over|under|least|most|nearly|almost|every|no|{'|'.join(NUMBERS)}|hundred)"
    rf"|\b(?:or|to|and|between)|\d{_}?[–—-]){_}?\Z|\d,\Z"
)
_COUNT_BEFORE = rf"\b{_COUNT}{_}(?:\w+{_})?(?:or|to|and)\s*\Z|\bbetween\s*\Z|\d\s*[–—-]\s*\Z"
_TITLE_AFTER = (
    r"[ ](?:Show|Tonight|Never|Land|Corp|Inc|Ltd|GmbH|Labs?|AI|App|Group|Media|Project|Club|Magazine|FM|Once)\b"
    r"|[ ](?:is|was)[ ](?:a|an|the)[ ](?:\w+[ ])?(?:film|song|movie|book|album|band|play|novel|show|newspaper)\b"
)
_SHOUTED_BEFORE = r"[A-Z]{2}\W*\Z"
_SHOUTED_AFTER = r"\W*[A-Z]{2}"
_NOWADAYS = r"['’]s[ ](?:world|standards?|society|youth|age|generation|internet|climate|economy)\b"
_IDIOM = rf"\b(?:born|no|better|brighter|of{_}the){_}\Z"
_FUTURE = (
    r"\b(?:will|shall|going\s+to|gonna|is|are|am|be|due|expires?|ends?|starts?|begins?|ships?|launch(?:es)?|runs?|"
    r"returns?|arrives?|moves?|leaves?|flies|opens?|closes?|again|back|meet|check|review|retry|remind|next|let['’]s|"
    r"plan|planned|scheduled|must|need|should|comes?|happens?|goes)\b|['’](?:ll|s|re|m)\b"
)
_SPAN_OF_WORK = (
    r"\b(?:has|have|had|can|could|cannot|takes?|took|possible|once|twice|times|first|only|not|never|done|finished|"
    r"[a-z]{2,}ed|built|wrote|made|grew|went|fell|rose|got|was|were|did|lost|spent|learnt|read|saw|came|cut|fix|within|"
    r"learn|finish|done|per)\b|n['’]t\b"
)
_GOES_ON = rf"{_}(?:of|or|ago|later|before|after|for{_}the{_}first|straight|flat|at{_}most|on{_}average|and)\b"
_PLANNED = r"\b(?:will|shall|due|going\s+to|expires?|scheduled|planned)\b|['’]ll\b"
_HOW_OFTEN = r"\b(?:once|twice|times|first|only)\b"
_CLAUSE = r"[.!?;\n](?=\s|\Z)"

_DAY_SHIFTS = {"yesterday": -1, "tomorrow": 1, "last night": -1, "last evening": -1}
_UNIT_DAYS = {"day": 1, "week": 7, "fortnight": 14}
_STEPS = {"last": -1, "this": 0, "next": 1}


def anchor_times(text: str, *, on: date) -> tuple[Change, ...]:
    """What each relative time in a note of the day `on` means: a date, two dates, a month or a year. Never raises.

    Times that only look relative stay: "the last week of May", "took two weeks", "in 2 days of work", "USA Today".
    """
    seen = shown(text[:MAX_LENGTH])
    changes = []
    for found in compiled(_TIME, re.IGNORECASE | re.VERBOSE).finditer(seen):
        if not _is_meant(found, seen):
            continue
        try:
            now = _date_of(found, on)
        except (OverflowError, ValueError):  # before year 1 or after 9999
            continue
        changes.append(Change(text[found.start() : found.end()], now, "time", found.start()))
    return tuple(changes)


def _is_meant(found: re.Match[str], seen: str) -> bool:
    before, after = seen[max(0, found.start() - 60) : found.start()], seen[found.end() : found.end() + 40]
    if not _is_cased_as_words(found[0], before, after):
        return False
    before, after = before.lower(), after.lower()
    if found["day"]:
        return not (compiled(_NOWADAYS).match(after) or compiled(_IDIOM).search(before))
    if found["ago"]:
        return not (compiled(_VAGUE).search(before) or compiled(_COUNT_BEFORE).search(before))
    if found["ahead"]:
        return _is_ahead(found, seen, after)
    if found["which"]:
        return not (compiled(_DETERMINED).search(before) or compiled(_FOLLOWED_BY_OF).match(after))
    return True


def _is_cased_as_words(phrase: str, before: str, after: str) -> bool:
    """Whether the phrase is no name: "USA Today", "Last Week Tonight"."""
    plain = compiled(_DAY, re.IGNORECASE).sub("", phrase).lstrip()
    if plain[:1].islower() or plain[:1].isdigit():
        return plain == plain.lower()
    if phrase.isupper():  # emphasis, unless all around it shouts
        return not (compiled(_SHOUTED_BEFORE).search(before) or compiled(_SHOUTED_AFTER).match(after))
    rest = plain[1:]
    if rest != rest.lower() or compiled(_INITIAL).search(before) or not compiled(_STARTS_SENTENCE).search(before):
        return False
    return not compiled(_TITLE_AFTER).match(after)


def _is_ahead(found: re.Match[str], seen: str, after: str) -> bool:
    """Whether "in 3 days" tells when, and not how long something takes."""
    if compiled(_GOES_ON).match(after):
        return False
    if "time" in found[0].lower():
        return True
    start = max(0, found.start() - 300)
    for end in compiled(_CLAUSE).finditer(seen, start, found.start()):
        start = end.end()
    clause = seen[start : found.start()].lower()
    if compiled(_PLANNED).search(clause):
        return not compiled(_HOW_OFTEN).search(clause)
    if compiled(_SPAN_OF_WORK).search(clause):
        return False
    return found["ahead"].lower() not in ("a", "an") or compiled(_FUTURE).search(clause) is not None


def _date_of(found: re.Match[str], on: date) -> str:
    if found["around"]:
        return _moved(on, -2 if "yesterday" in found[0].lower() else 2)
    if found["day"]:
        return _moved(on, _DAY_SHIFTS.get(" ".join(found["day"].lower().split()), 0))
    if found["ago"]:
        return _counted(on, found["ago"], found["ago_unit"], 1 if found["later"] else -1)
    if found["ahead"]:
        return _counted(on, found["ahead"], found["ahead_unit"], 1)
    step = _STEPS[(found["its_week"] or found["that_week"] or found["which"]).lower()]
    monday = on + timedelta(weeks=step, days=-on.weekday())
    if weekday := found["weekday"] or found["on_weekday"]:
        return _moved(monday, DAY_NAMES.index(weekday.lower()))
    what = found["what"].lower()
    if what == "week":
        return f"{monday} to {_moved(monday, 6)}"
    if what == "weekend":
        return f"{_moved(monday, 5)} to {_moved(monday, 6)}"
    if what in DAY_NAMES:
        ahead = (DAY_NAMES.index(what) - on.weekday()) % 7
        return _moved(on, ahead - 7 if step < 0 else ahead or 7 * step)
    return _counted(on, "1", what, step)


def _counted(on: date, count: str, unit: str, sign: int) -> str:
    """The day, month or year that many units on."""
    number, unit = sign * (COUNTS.get(count.lower()) or int(count)), unit.lower()
    if unit == "year":
        return str(on.replace(year=on.year + number, day=1))[:4]
    if unit == "month":
        years, month = divmod(on.month - 1 + number, 12)
        return str(on.replace(year=on.year + years, month=month + 1, day=1))[:7]
    return _moved(on, number * _UNIT_DAYS[unit])


def _moved(day: date, days: int) -> str:
    return str(day + timedelta(days=days))

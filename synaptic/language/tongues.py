"""Questions in other languages than English: guesses the language, removes question words, and
translates times to English. Pure.

`timephrase` has one grammar of times, which is English: `vor drei Tagen` and `3天前` are "3 day
ago" to it, `la semaine dernière` and `上周` "last week". The words are in
`data/words/tongues.toml`.
"""

import re
from collections.abc import Iterator
from functools import cache

from ..kinds import SYNONYMS
from ..models import Texts
from ..notes.dates import calendar_names, fold_letters
from .lexicon import DAY_NAMES, MONTH_NAMES, SHARED, STOP_WORDS, Words, compile_once

TONGUES = Words("tongues")
EAST = "east"
RUSSIAN = "ru"
KOREAN = "ko"
LATIN = ("de", "fr", "es", "it", "pt", "nl")
"""Languages that share the letters of English, and are told apart by their words."""

ENGLISH = {"week", "weekend"}
"""Words of times elsewhere that are English, too, and so do not show the language."""

_DAYS = [name.title() for name in DAY_NAMES]
_SEASONS = ["spring", "summer", "autumn", "winter"]
_MONTHS = [name.title() for name in MONTH_NAMES]
SERIES = {
    "numbers": SHARED.list_in_order("numbers"),
    "weekdays": _DAYS,
    "weekdays of last week": [f"last week {name}" for name in _DAYS],
    "weekdays of next week": [f"next week {name}" for name in _DAYS],
    "months": _MONTHS,
    "in months": [f"in {name}" for name in _MONTHS],
    "seasons": _SEASONS,
    "in seasons": [f"in {name}" for name in _SEASONS],
}
"""English words for the tables of `tongues.toml` with these names: the n-th word of a table (or
words joined by `|`) translates to the n-th English one.
"""

MOST_PIECES = 8
"""The most words of one time: `zwischen dem 3. und dem 18. November 2025` has 8."""
LOOKED_AT = 200
"""Characters of a question that are searched for a time in another language."""

_BY_NAME = {name: "|".join(TONGUES.list_in_order(name)) for name in ("units", "not_described")}
_BY_NAME["parts_of_year"] = "|".join((*_MONTHS, *_SEASONS))
ORDER = [
    (re.sub(r"<(\w+)>", lambda name: _BY_NAME[name[1]], pattern), replacement)
    for pattern, replacement in TONGUES.read["order"]
]
"""(pattern, replacement) pairs that put translated words into English order."""

_ANY_TIME = {"tomorrow", "on the weekend", *_DAYS, *_MONTHS, *SERIES["in months"]}
"""Times that also occur in names of things: `金曜ロードショー`, `bolsa de fin de semana`. In
German `Morgen` is the morning where it does not begin a sentence.
"""
WEEKENDS = ("week-end", "weekend", "fin de semana", "fim de semana")

_DATES, _KOREAN_DATES, _KOREAN_COUNT = TONGUES.read["dates"]
_PARTICLES = "|".join(sorted(TONGUES.list_in_order("particles_ko"), key=len, reverse=True))
_GERMAN_DATE = re.compile(r"\b(?:am|vom|zum) \d{1,2}\.")
_GOES_ON = "".join(TONGUES.list_in_order("after_times_east"))
_NOUN = re.compile(f"(?![{_GOES_ON}])[\u30a1-\u30fa\u3400-\u9fff]")
_SCRIPTS = {
    KOREAN: re.compile("[\uac00-\ud7a3]"),
    EAST: re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]"),
    RUSSIAN: re.compile("[\u0400-\u04ff]"),
}
"""Languages that are known by a letter of their own."""


def guess_languages(text: str) -> Texts:
    """The codes of the languages that a question is most likely in: several if they are equally
    likely, none for English or if no word shows the language.
    """
    by_script = language_of_script(text)
    if by_script:
        return (by_script,)
    words = set(compile_once(r"[\w'-]+").findall(fold_letters(text))) - ENGLISH
    english = len(words & STOP_WORDS)
    if 2 * english > len(words):
        return ()
    counts = {tongue: len(words & _vocabulary(tongue)) for tongue in LATIN}
    counts["de"] += bool(_GERMAN_DATE.search(text))
    most = max(counts.values())
    return tuple(tongue for tongue in LATIN if counts[tongue] == most > english)


def language_of_script(text: str) -> str:
    """The code of the language whose own letters a text holds; "" if it holds none."""
    return next((tongue for tongue, own in _SCRIPTS.items() if own.search(text)), "")


def remove_question_words(text: str, tongue: str) -> str:
    """The text in lower case and without accents, from which the stop words of the language and
    words that ask for a list are removed.
    """
    frame = TONGUES.list_in_order(f"stop_{tongue}") + TONGUES.list_in_order(f"list_{tongue}")
    return _words_pattern(tongue, frame).sub(" ", fold_letters(text))


def translate_list_words(text: str) -> str:
    """The text with the words that ask for a list in English, `open tasks` for `offene
    Aufgaben`; the same text if it holds none of another language.
    """
    english = _english_of_list_words()
    pattern = _words_pattern(language_of_script(text), tuple(english))
    folded = fold_letters(text)
    put = pattern.sub(lambda word: f" {english[word['word']]} " if word["word"] else "", folded)
    return text if put == folded else put


@cache
def _english_of_list_words() -> dict[str, str]:
    """Maps the words that ask for a list, and the names of types, to their English."""
    table = SHARED.table("type_names") | SHARED.table("words_of_lists")
    return {
        fold_letters(word.replace("_", " ")): name
        for word, name in table.items()
        if word not in SYNONYMS and word != name
    }


def iter_time_translations(text: str, tongue: str) -> Iterator[tuple[int, int, str]]:
    """Yields (start offset, end offset, English words) for each part of a text that may be a
    time, the longest first.
    """
    runs: list[list[re.Match[str]]] = []
    end = -1
    dates = _KOREAN_DATES if tongue == KOREAN else _DATES
    pattern = _words_pattern(tongue, tuple(_english_of_time_words(tongue)), dates)
    for piece in pattern.finditer(fold_letters(text[:LOOKED_AT])):
        if end < 0 or text[end : piece.start()].strip(" ,"):
            runs.append([])
        runs[-1].append(piece)
        end = piece.end()
    for run in runs:
        for size in range(min(len(run), MOST_PIECES), 0, -1):
            for first in range(len(run) - size + 1):
                pieces = run[first : first + size]
                english = _translate_pieces(pieces, tongue)
                if english not in _ANY_TIME or not _is_part_of_a_name(text, pieces, tongue):
                    yield pieces[0].start(), pieces[-1].end(), english


def _is_part_of_a_name(text: str, pieces: list[re.Match[str]], tongue: str) -> bool:
    """True if the weekday, month or weekend in these pieces is only part of the name of a
    thing.

    In Chinese and Japanese a noun follows at once: `金曜ロードショー`. In Romance languages and
    Dutch it has a capital, or no article behind "de": `sac de week-end`, but `du week-end`. In
    Russian no preposition is before it: `настройка среды`, but `в среду`.
    """
    last = pieces[-1]
    start, end = last.span()
    is_word = len(pieces) == 1 and " " not in last[0]
    if tongue == RUSSIAN and is_word and end - start < len(text):
        return True
    if tongue == EAST:
        return _NOUN.match(text, end) is not None
    is_kind = last[0] in WEEKENDS and text[:start].endswith(" de ")
    has_capital = start > 0 and text[start].isupper()
    return is_kind or (has_capital and (tongue != "de" or last[0] == "morgen"))


def _translate_pieces(pieces: list[re.Match[str]], tongue: str) -> str:
    words = []
    for piece in pieces:
        groups = piece.groupdict()
        if groups["month"]:
            month = MONTH_NAMES[int(groups["month"]) - 1].title()
            words.append(f"{groups['day'] or 'in'} {month} {groups['year'] or ''}".strip())
        elif groups.get("only_year"):
            words.append(f"in {groups['only_year']}")
        else:
            words.append(groups["number"] or _english_of_time_words(tongue)[groups["word"]])
        words.append(_english_of_time_words(tongue).get(groups.get("particle") or "", ""))
    english = " ".join(filter(None, words))
    for pattern, replacement in ORDER:
        english = compile_once(pattern).sub(replacement, english)
    return english


@cache
def _english_of_time_words(tongue: str) -> dict[str, str]:
    """Maps each word of times in a language to its English."""
    english: dict[str, str] = {}
    for key, words in TONGUES.read[f"times_{tongue}"].items():
        names = SERIES.get(key, [])
        for number, word in enumerate(words.split()):
            name = names[number] if names else key
            english |= dict.fromkeys(word.replace("_", " ").split("|"), name)
    for kind in ("weekdays", "months"):
        for forms, name in zip(
            calendar_names(kind).get(tongue, []), SERIES[kind], strict=False
        ):
            english |= dict.fromkeys((form.replace("_", " ") for form in forms), name)
    return english


@cache
def _vocabulary(tongue: str) -> frozenset[str]:
    return frozenset(TONGUES.list_in_order(f"stop_{tongue}")).union(
        *map(str.split, _english_of_time_words(tongue))
    )


@cache
def _words_pattern(tongue: str, words: Texts, dates: str = r"(?!)") -> re.Pattern[str]:
    """A regular expression that finds these words, the longest first, and dates. In Korean a
    particle may end a word, and a count stands at its unit.
    """
    escaped = sorted(map(re.escape, words), key=len, reverse=True)
    either = f"(?P<word>{'|'.join(escaped).replace('_', ' ')})"
    if tongue == KOREAN:
        word = rf"(?:{dates}|(?<![^\W\d]){either})(?P<particle>{_PARTICLES})?(?!\w)"
        return re.compile(f"{word}|{_KOREAN_COUNT}")
    if tongue == EAST:
        return re.compile(f"{either}|{dates}")
    return re.compile(rf"(?<!\w)(?:{dates}|{either})(?:(?<=['-])|(?!\w))")

"""Splits text in any script into the words that the full-text index stores. Pure.

FTS5's tokenizer finds words between blanks, drops accents and stems English. What it cannot do
happens here, alike for the text that is indexed and for the query that looks for it:

| script                                 | becomes                                         |
|----------------------------------------|-------------------------------------------------|
| Chinese, Japanese, Korean              | overlapping pairs: 東京都: 東京 京都 都         |
| Thai, Lao, Khmer, Burmese              | the same, a letter with its marks being one     |
| Arabic                                 | one form of alef, ya and ta; no vowels, article |
| letters that are not a letter plus accent | ß ss, ł l, ø o, đ d, ı i, þ th, æ ae, œ oe     |
| full-width and other compatible forms  | the plain ones (NFKC)                           |
| signs and emoji: € ± → 🐛                | a letter for private use, which is a word       |

Pairs are what Lucene's CJKAnalyzer makes of such text; a text without blanks needs no
dictionary this way. Plain ASCII is left as it is.

A number with dots is one word, with or without a `v`: `3.13` is `v3.13`. The index has its
parts, so the query asks for them as a phrase.
"""

import re
import unicodedata
from collections.abc import Callable, Collection
from itertools import accumulate, pairwise
from typing import Any

TOKENIZER = ("unicode61", "remove_diacritics", "2", "categories", "L* N* Co Mn Mc")
"""The arguments of FTS5's tokenizer. Combining marks (M*) are part of words, or words of Hindi
and Thai would be split.
"""

_EAST_ASIAN = (
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3041-\u3096\u30a1-\u30fa"
    "\u30fc-\u30ff\u3105-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f"
    "\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)
_SOUTH_EAST = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ebd\u0ec0-\u0ece\u1000-\u103f\u1050-\u109f"
    "\u1780-\u17d3\u17d7-\u17dd"
)
_MARKS = (
    "\u0e31\u0e33-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb3-\u0ebc\u0ec8-\u0ece\u102b-\u103e"
    "\u1056-\u1059\u105e-\u1060\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d"
    "\u109a-\u109d\u17b4-\u17d3\u17dd"
)
# what \w leaves out of words: marks of Latin, Cyrillic, Hebrew, Arabic and the scripts of India
_ANY_MARK = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed"
    "\u0900-\u0963\u0970-\u0dff\u0f18-\u0fbc" + _MARKS
)
_SIGNS = (
    "\u00a2-\u00a7\u00a9\u00ac\u00ae\u00b0\u00b1\u00b6\u00d7\u00f7\u2020\u2021\u2030\u20a0-\u20cf"
    "\u2100-\u214f\u2190-\u24ff\u25a0-\u27bf\u2900-\u2bff\u3004\u3012\u3013\u3020\u3036"
    "\U0001f000-\U0001f3fa\U0001f400-\U0001faff"
)
"""Signs that are words: currencies, arrows, marks, emoji; no dashes, quotes, lines of boxes."""
_TONES = "\ufe0e\ufe0f\U0001f3fb-\U0001f3ff"
"""What changes the look of an emoji."""
_SKIN_ALONE = re.compile(rf"(?<![{_SIGNS}{_TONES}\u200d])[\U0001f3fb-\U0001f3ff]+")
"""Tones of skin behind no emoji: they divide words, as other signs do."""
_SIGN = re.compile(rf"(?!\w)[{_SIGNS}]")
_EMOJI = (
    rf"[\U0001f1e6-\U0001f1ff]{{2}}"  # a flag
    rf"|(?!\w)[{_SIGNS}][{_TONES}]*(?:\u200d[{_SIGNS}][{_TONES}]*)*"
)
_PRIVATE = 0xF0000
"""The letter for a sign is this many code points behind it: FTS5 takes it for a word."""
_LETTER_WITH_BLANKS = rf"(?![{_EAST_ASIAN}{_SOUTH_EAST}])[\w{_ANY_MARK}]"
_DOTTED = rf"\d+(?:\.\d+)+(?:{_LETTER_WITH_BLANKS})*"
_NUMBER = rf"(?:(?<!\w)|(?<=[{_EAST_ASIAN}{_SOUTH_EAST}]))[vV]?({_DOTTED})"
_ONE_NUMBER = re.compile(_DOTTED)
_RUN = re.compile(f"[{_EAST_ASIAN}{_SOUTH_EAST}]+")
_LETTER = re.compile(f"[^{_MARKS}][{_MARKS}]*|[{_MARKS}]+")
_WORD = re.compile(
    rf"[{_EAST_ASIAN}{_SOUTH_EAST}]+|{_NUMBER}"
    rf"|(?:{_LETTER_WITH_BLANKS})+|{_EMOJI}"
)
_WORD_WITH_BLANKS = re.compile(rf"[\w{_ANY_MARK}]+")
_NUMBERS = re.compile(_NUMBER)
_NUMBERS_AND_SIGNS = re.compile(rf"{_NUMBER}|{_EMOJI}")
_ANY_SIGN = re.compile(f"[{_SIGNS}\U0001f1e6-\U0001f1ff]")
_ASCII_WORD = re.compile(r"\w+", re.ASCII)

_ARABIC = re.compile("[\u0621-\u064a]+")
_ARTICLE = re.compile("^(?:[\u0648\u0628\u0643\u0641]?\u0627\u0644|\u0644\u0644)(?=..)")
# vowels of Arabic and Hebrew, signs that nobody types, and tones of skin
_UNWRITTEN = re.compile(
    "[\u0640\u0670\u064b-\u065f\u0591-\u05bd\u00ad\u200b-\u200f\u2060\ufeff\ufe00-\ufe0f"
    "\U0001f3fb-\U0001f3ff]+"
)
_LETTERS: dict[int, Any] = {
    **str.maketrans("łŁøØđĐðÐħĦŧŦıآأإٱىة", "llooddddhhttiاااايه"),
    **str.maketrans({"ß": "ss", "ẞ": "ss", "æ": "ae", "Æ": "ae", "œ": "oe", "Œ": "oe"}),
    **str.maketrans({"þ": "th", "Þ": "th"}),
}


def normalize_for_index(text: str) -> str:
    """The text as it is written into the full-text index: plain letters, and pairs of
    characters for scripts without blanks.
    """
    if text.isascii():
        return text
    paired = _RUN.sub(
        lambda run: f" {' '.join(_overlapping_pairs(run[0]))} ", _plain_letters(text)
    )
    return _SIGN.sub(lambda sign: f" {chr(_PRIVATE + ord(sign[0]))} ", paired)


def fts5_expression(text: str) -> str:
    """Quotes a word or a phrase as an FTS5 query, safe for any text: `a"b` becomes `"a""b"`.

    `plug*` finds words that begin with `plug`. A single character of a script without blanks
    finds pairs that begin with it, and `3.13` finds `v3.13`.
    """
    plain = text.removesuffix("*")
    spelled, is_prefix = index_words_and_prefix(plain)
    star = "*" if is_prefix or plain != text else ""
    quoted = spelled.replace('"', '""')
    expression = f'"{quoted}"{star}'
    is_number = _ONE_NUMBER.fullmatch(spelled)
    return f'{expression} OR "v{spelled}"{star}' if is_number else expression


def index_words_and_prefix(text: str) -> tuple[str, bool]:
    """(the words of `text` as the index stores them, True if the last one must be searched as a
    prefix).
    """
    if text.isascii():
        return text.strip(), False
    plain = _plain_letters(text).rstrip()
    last = next((run for run in _RUN.finditer(plain) if run.end() == len(plain)), None)
    spelled = normalize_for_index(text).strip()
    if not last:
        return spelled, False
    letters = _LETTER.findall(last[0])
    if len(letters) == 1:
        return spelled, True
    return spelled.removesuffix(letters[-1]).rstrip(), False  # the run may go on there


def words(text: str) -> list[tuple[int, str]]:
    """(offset, word in lower case) for every word of a text; in scripts without blanks every
    pair of characters counts as a word.
    """
    if text.isascii() or not _RUN.search(text):
        return _words_with_blanks(text)
    pairs_and_words: list[tuple[int, str]] = []
    for word in _WORD.finditer(text):
        run = word[0]  # taken once: each `word[0]` copies the whole run
        begin = word.start()
        if _RUN.match(run):
            starts = accumulate(map(len, _LETTER.findall(run)), initial=begin)
            pairs = _overlapping_pairs(run)
            pairs_and_words += zip(starts, pairs[:-1] or pairs, strict=False)
        else:
            pairs_and_words.append(_locate_word(word))
    return pairs_and_words


def _words_with_blanks(text: str) -> list[tuple[int, str]]:
    word = _ASCII_WORD if text.isascii() else _WORD_WITH_BLANKS
    places = []
    end = 0
    special = _NUMBERS_AND_SIGNS if _ANY_SIGN.search(text) else _NUMBERS
    for other in special.finditer(text):
        between = word.finditer(text, end, other.start())
        places += [(match.start(), match[0].lower()) for match in between]
        places.append(_locate_word(other))
        end = other.end()
    rest = word.finditer(text, end)
    return places + [(match.start(), match[0].lower()) for match in rest]


def is_sign(word: str) -> bool:
    """True for a sign or an emoji."""
    return _SIGN.match(word) is not None


def _locate_word(word: re.Match[str]) -> tuple[int, str]:
    """(where a word begins, the word), of a number without its `v`."""
    return (word.start(1), word[1].lower()) if word[1] else (word.start(), word[0].lower())


def stems(text: str, stem: Callable[[str], str | None]) -> set[str]:
    """The stems of the words of a text; `stem` returns the stem of a word, or None to leave it
    out.
    """
    return set(filter(None, map(stem, {word for _, word in words(text)})))


def find_stems(
    text: str, sought: Collection[str], stem: Callable[[str], str | None]
) -> list[tuple[int, str]]:
    """(offset, stem) for each word of a text whose stem is in `sought`."""
    hits = []
    for start, word in words(text) if sought else ():
        form = stem(word)
        if form and form in sought:
            hits.append((start, form))
    return hits


def _plain_letters(text: str) -> str:
    composed = _SKIN_ALONE.sub(" ", unicodedata.normalize("NFKC", text))
    plain = _UNWRITTEN.sub("", composed).translate(_LETTERS)
    return _ARABIC.sub(lambda word: _ARTICLE.sub("", word[0], count=1), plain)


def _overlapping_pairs(run: str) -> list[str]:
    """The pairs of neighbouring characters, and the last character alone, so that it can be
    found too.
    """
    letters = _LETTER.findall(run)
    return [one + other for one, other in pairwise(letters)] + letters[-1:]

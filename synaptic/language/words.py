"""Splits text in any script into the words that the full-text index stores. Pure.

FTS5's tokenizer finds words between blanks, drops accents and stems English. What it cannot do
happens here, alike for the text that is indexed and for the query that looks for it:

| script                                 | becomes                                         |
|----------------------------------------|-------------------------------------------------|
| Chinese, Japanese, Korean              | overlapping pairs: 東京都: 東京 京都 都         |
| Thai, Lao, Khmer, Burmese              | the same, a letter with its marks being one     |
| Arabic                                 | one form of alef, ya and ta; no vowels, article |
| letters that are not a letter plus accent | ß ss, ł l, ø o, đ d, æ ae, œ oe                 |
| full-width and other compatible forms  | the plain ones (NFKC)                           |

Pairs are what Lucene's CJKAnalyzer makes of such text; a text without blanks needs no
dictionary this way. Plain ASCII is left as it is.
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
_RUN = re.compile(f"[{_EAST_ASIAN}{_SOUTH_EAST}]+")
_LETTER = re.compile(f"[^{_MARKS}][{_MARKS}]*|[{_MARKS}]+")
_WORD = re.compile(
    rf"[{_EAST_ASIAN}{_SOUTH_EAST}]+|(?:(?![{_EAST_ASIAN}{_SOUTH_EAST}])[\w{_ANY_MARK}])+"
)
_WORD_WITH_BLANKS = re.compile(rf"[\w{_ANY_MARK}]+")

_ARABIC = re.compile("[\u0621-\u064a]+")
_ARTICLE = re.compile("^(?:[\u0648\u0628\u0643\u0641]?\u0627\u0644|\u0644\u0644)(?=..)")
# vowels of Arabic and Hebrew, and signs that nobody types
_UNWRITTEN = re.compile(
    "[\u0640\u0670\u064b-\u065f\u0591-\u05bd\u00ad\u200b-\u200f\u2060\ufeff\ufe00-\ufe0f]+"
)
_LETTERS: dict[int, Any] = {
    **str.maketrans("łŁøØđĐآأإٱىة", "llooddاااايه"),
    **str.maketrans({"ß": "ss", "ẞ": "ss", "æ": "ae", "Æ": "ae", "œ": "oe", "Œ": "oe"}),
}


def normalize_for_index(text: str) -> str:
    """The text as it is written into the full-text index: plain letters, and pairs of
    characters for scripts without blanks.
    """
    if text.isascii():
        return text
    return _RUN.sub(
        lambda run: f" {' '.join(_overlapping_pairs(run[0]))} ", _plain_letters(text)
    )


def fts5_expression(text: str) -> str:
    """Quotes a word or a phrase as an FTS5 query, safe for any text: `a"b` becomes `"a""b"`.

    `plug*` finds words that begin with `plug`. A single character of a script without blanks
    finds pairs that begin with it.
    """
    spelled, is_prefix = index_words_and_prefix(text.removesuffix("*"))
    quoted = spelled.replace('"', '""')
    return f'"{quoted}"*' if is_prefix or text.endswith("*") else f'"{quoted}"'


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
        return [(match.start(), match[0].lower()) for match in _WORD_WITH_BLANKS.finditer(text)]
    pairs_and_words: list[tuple[int, str]] = []
    for word in _WORD.finditer(text):
        run = word[0]  # taken once: each `word[0]` copies the whole run
        begin = word.start()
        if _RUN.match(run):
            starts = accumulate(map(len, _LETTER.findall(run)), initial=begin)
            pairs = _overlapping_pairs(run)
            pairs_and_words += zip(starts, pairs[:-1] or pairs, strict=False)
        else:
            pairs_and_words.append((begin, run.lower()))
    return pairs_and_words


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
    plain = _UNWRITTEN.sub("", unicodedata.normalize("NFKC", text)).translate(_LETTERS)
    return _ARABIC.sub(lambda word: _ARTICLE.sub("", word[0], count=1), plain)


def _overlapping_pairs(run: str) -> list[str]:
    """The pairs of neighbouring characters, and the last character alone, so that it can be
    found too.
    """
    letters = _LETTER.findall(run)
    return [one + other for one, other in pairwise(letters)] + letters[-1:]

"""Finds the words for which a word may be a typing error. Pure."""

from collections.abc import Iterable

from ..notes.dates import fold_letters

NEAR_STEMS = 5
"""The largest number of similar stems that are looked up for a word that no entry contains. By
eye.
"""

LONGEST_TYPED = 64
"""A longer word is not checked for typing errors; comparing two words of 20,000 letters takes 4
seconds.
"""


def find_near_stems(stem: str, indexed: Iterable[tuple[str, int]]) -> list[str]:
    """Up to NEAR_STEMS stems of the index for which `stem` may be a typing error, nearest
    first, then the most frequent.

    `indexed` has (stem, number of documents). A stem may also match the beginning of `stem`,
    because an error in the ending prevents stemming: `configuraton`.
    """
    allowed = allowed_typing_errors(stem)
    near = []
    for other, documents in indexed:
        typed = stem[: len(other)] if stem.startswith(other) else stem
        distance = typing_distance(typed, other, allowed)
        if distance <= allowed:
            near.append((distance, -documents, other))
    return [other for _, _, other in sorted(near)[:NEAR_STEMS]]


def allowed_typing_errors(word: str) -> int:
    """The number of typing errors that a word may have: 1 for up to seven letters, 2
    for more.
    """
    return 1 if len(word) <= 7 else 2


def count_typing_errors(typed: str, word: str) -> int:
    """Returns the number of typing errors that turn `word` into `typed`; differences in the
    ending do not count.

    Accents do not count. A text of at most seven letters may only lack the `s` of a plural;
    in one of at most six no letter is replaced, so `regen` is not `regex`. Counting ends at
    one more than `allowed_typing_errors` allows.
    """
    typed = fold_letters(typed)
    word = fold_letters(word)
    length = len(typed)
    allowed = allowed_typing_errors(typed)
    if length <= 7:
        forms = {word, word.removesuffix("s")}
    else:
        forms = {word[: length + more] for more in (-1, 0, 1)}
    if length <= 6:
        letters = sorted(typed)
        forms = {form for form in forms if len(form) != length or sorted(form) == letters}
    distances = [typing_distance(typed, form, allowed) for form in forms]
    return min(distances, default=allowed + 1)


def typing_distance(a: str, b: str, most: int) -> int:
    """The number of edits from a to b (insert, delete, replace a letter, swap neighbours); if
    it is above `most`, `most + 1`.

    Optimal string alignment (Damerau 1964). Words above LONGEST_TYPED letters are equal or far.
    """
    if a == b:
        return 0
    if abs(len(a) - len(b)) > most or len(a) > LONGEST_TYPED:
        return most + 1
    before = []
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        before, row, last = row, [i], before
        for j, other in enumerate(b, 1):
            replaced = before[j - 1] + (letter != other)
            cost = min(row[j - 1] + 1, before[j] + 1, replaced)
            if i > 1 and j > 1 and letter == b[j - 2] and a[i - 2] == other:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]

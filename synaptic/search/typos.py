"""Words that a typing error may have changed. Pure."""

from collections.abc import Iterable

from ..notes.dates import fold

NEAR_STEMS = 5
"""Stems near a word that no entry holds; their words are looked up. By eye."""

LONGEST_TYPED = 64
"""Letters of a word that may hold a typing error; comparing two of 20,000 takes 4 seconds."""


def find_near_stems(stem: str, indexed: Iterable[tuple[str, int]]) -> list[str]:
    """Up to NEAR_STEMS indexed stems that `stem` may be a typing error of.

    The nearest come first, then the frequent. `indexed` holds (stem, number of documents).
    A beginning counts: an error in its ending keeps `configuraton` whole.
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
    """Typing errors that a word may hold: one in up to seven letters, two in more."""
    return 1 if len(word) <= 7 else 2


def count_typing_errors(typed: str, word: str) -> int:
    """Counts the typing errors in `typed` if `word` was meant, whatever its ending.

    Accents do not count. A text of at most seven letters may only lack the `s` of a plural;
    in one of at most six no letter is replaced, so `regen` is not `regex`. Counting ends at
    one more than `allowed_typing_errors` allows.
    """
    typed = fold(typed)
    word = fold(word)
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
    """Edits from a to b: insert, delete, replace, swap neighbours; at most `most + 1`.

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

"""Typing errors, and the lines that a hit shows."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synaptic.language.words import words as words_in
from synaptic.search.snippet import cut_snippet
from synaptic.search.typos import (
    allowed_typing_errors,
    count_typing_errors,
    find_near_stems,
    typing_distance,
)


@given(st.text("abc", max_size=6), st.text("abc", max_size=6))
def test_typing_distance_is_symmetric_and_zero_for_equals(a: str, b: str) -> None:
    assert typing_distance(a, b, 9) == typing_distance(b, a, 9)
    assert (typing_distance(a, b, 9) == 0) == (a == b)


def test_a_word_of_very_many_letters_is_equal_or_far() -> None:
    long = "x" * 20_000
    assert typing_distance(long, long, 2) == 0 and typing_distance(long, long[1:], 2) == 3


def test_the_nearest_stems_come_first_and_then_the_frequent() -> None:
    words = [("databas", 3), ("databank", 9), ("datum", 50)]
    assert find_near_stems("datbas", words) == ["databas"]
    assert find_near_stems("dtaabas", words) == ["databas"]
    assert find_near_stems("databats", words) == ["databas", "databank"]
    assert find_near_stems("kubernet", words) == []


@pytest.mark.parametrize(
    ("typed", "word", "is_error"),
    [
        ("pluggin", "plugins", True),  # a letter too many, and another ending
        ("comit", "commits", True),
        ("dokcer", "docker", True),  # two letters in the wrong order
        ("grammer", "grammar", True),
        ("Αθηνα", "Αθήνα", True),
        ("wand", "want", False),  # another word
        ("stadt", "started", False),
        ("comunity", "communicated", False),
        ("configuraton", "configuration", True),
    ],
)
def test_a_typing_error_is_told_from_another_word(
    typed: str, word: str, is_error: bool
) -> None:
    assert (count_typing_errors(typed, word) <= allowed_typing_errors(typed)) == is_error


def finder(is_sought: Callable[[str], bool]) -> Callable[[str], list[int]]:
    return lambda text: [start for start, word in words_in(text) if is_sought(word)]


@given(st.text(min_size=0, max_size=900), st.integers(20, 300))
def test_a_snippet_is_short_and_stands_in_its_text(text: str, length: int) -> None:
    shown, line = cut_snippet(text, finder(lambda word: word.startswith("a")), length=length)
    bare = shown.removeprefix("… ").removesuffix(" …").strip()
    assert bare in text
    assert 0 <= line <= text.count("\n")


def test_a_snippet_shows_the_sought_words() -> None:
    text = "filler " * 80 + "the pool size is 40 " + "filler " * 80
    shown, _ = cut_snippet(text, finder({"pool", "size"}.__contains__))
    assert "pool size is 40" in shown
    assert len(shown) < 260


@given(
    st.lists(
        st.sampled_from(["isn't", "end.", "(see", "a/b)", "kestrel", "naïve,", "it"]),
        min_size=1,
        max_size=60,
    ),
    st.sampled_from([" ", "\n", "  "]),
    st.integers(20, 120),
)
def test_a_snippet_is_cut_between_words_and_an_ellipsis_means_that_words_are_missing(
    words: list[str], blank: str, length: int
) -> None:
    text = blank.join(words)
    shown, line = cut_snippet(text, finder("kestrel".__eq__), length=length)
    bare = shown.removeprefix("… ").removesuffix(" …")
    kept = bare.split()
    starts = [n for n in range(len(words)) if words[n : n + len(kept)] == kept]
    assert starts
    assert shown.startswith("… ") or 0 in starts
    assert shown.endswith(" …") or len(words) - len(kept) in starts
    assert (shown == text) == (kept == words)
    assert len(bare) <= length
    assert blank == "\n" or line == 0
    assert "kestrel" not in words or "kestrel" in kept

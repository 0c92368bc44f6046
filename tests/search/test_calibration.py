"""How sure a hit is, and where an answer ends: laws of the curves."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from synaptic.search.doubt import (
    BY_MEANING,
    BY_WORDS,
    LARGEST,
    LEAST_CHANCE,
    LEAST_SHARE,
    LOOKED_AT,
    MOST_HITS,
    SHARED,
    SMALLEST,
    Curve,
    Signs,
    count_hits_to_show,
    estimate_hit_chances,
    log_odds_of_answer,
)

share = st.floats(0, 1)
signs = st.builds(Signs, meaning=share, words=share, unknown=share)
curves = st.sampled_from([BY_MEANING, BY_WORDS])
sizes = st.integers(0, 10**7)
ranking = st.lists(st.tuples(st.floats(-20, 20), st.floats(0, 1)), max_size=100).map(
    lambda hits: (
        [close for close, _ in hits],
        sorted((score for _, score in hits), reverse=True),
    )
)
"""The closeness of each hit, and the falling scores of the ranking."""


def found(
    hits: tuple[list[float], list[float]], curve: Curve, *, limit: int | None = None
) -> list[float]:
    close, scores = hits
    return estimate_hit_chances(
        close[:limit], scores[:limit], curve, of_all=sum(scores[:SHARED])
    )


# -- closeness
# ------------------------------------------------------------------------------------------


@given(signs, signs, curves, sizes)
def test_more_of_what_speaks_for_a_hit_makes_it_no_less_close(
    one: Signs, other: Signs, curve: Curve, size: int
) -> None:
    best = Signs(
        max(one.meaning, other.meaning),
        max(one.words, other.words),
        min(one.unknown, other.unknown),
    )
    least = max(log_odds_of_answer(some, curve, passages=size) for some in (one, other))
    assert log_odds_of_answer(best, curve, passages=size) >= least - 1e-9


@given(signs, curves, sizes, sizes)
def test_in_a_larger_journal_the_same_hit_is_no_closer(
    one: Signs, curve: Curve, few: int, many: int
) -> None:
    few, many = sorted((few, many))
    assert (
        log_odds_of_answer(one, curve, passages=many)
        <= log_odds_of_answer(one, curve, passages=few) + 1e-9
    )


@given(signs, curves)
def test_beyond_what_was_measured_the_size_says_nothing(one: Signs, curve: Curve) -> None:
    small, large = (
        log_odds_of_answer(one, curve, passages=size) for size in (SMALLEST, LARGEST)
    )
    assert small > large
    for size in (0, 1, SMALLEST - 1):
        assert log_odds_of_answer(one, curve, passages=size) == small
    for size in (LARGEST + 1, 10**7):
        assert log_odds_of_answer(one, curve, passages=size) == large


@pytest.mark.parametrize("curve", [BY_MEANING, BY_WORDS])
@pytest.mark.parametrize("size", [1, 300, 10**6])
def test_nothing_is_doubted_and_everything_is_not(curve: Curve, size: int) -> None:
    assert log_odds_of_answer(Signs(0, 0, 1), curve, passages=size) < curve.doubt
    assert log_odds_of_answer(Signs(1, 1, 0), curve, passages=size) > curve.doubt


@given(share, share, share, share, sizes)
def test_by_words_meaning_says_nothing(
    one: float, other: float, words: float, unknown: float, size: int
) -> None:
    near, far = (
        log_odds_of_answer(Signs(some, words, unknown), BY_WORDS, passages=size)
        for some in (one, other)
    )
    assert near == far


# -- chances
# --------------------------------------------------------------------------------------------


@given(ranking, curves)
def test_a_chance_lies_between_none_and_all_and_never_rises(
    hits: tuple[list[float], list[float]], curve: Curve
) -> None:
    chance = found(hits, curve)
    assert len(chance) == len(hits[0])
    assert all(0 <= one <= 1 for one in chance)
    assert chance == sorted(chance, reverse=True)


@given(ranking, curves, st.integers(MOST_HITS, 100), st.integers(MOST_HITS, 100))
def test_a_limit_does_not_change_the_first_scores(
    hits: tuple[list[float], list[float]], curve: Curve, one: int, other: int
) -> None:
    few, many = sorted((one, other))
    assert found(hits, curve, limit=few) == found(hits, curve, limit=many)[:few]


@given(ranking, curves, st.integers(0, LOOKED_AT - 1), st.floats(0, 10))
def test_a_hit_that_is_closer_has_no_worse_a_chance(
    hits: tuple[list[float], list[float]], curve: Curve, place: int, nearer: float
) -> None:
    close, scores = hits
    assume(
        place < len(close) and close[place] + nearer <= max(close[:LOOKED_AT])
    )  # the best stays the best
    moved = [*close[:place], close[place] + nearer, *close[place + 1 :]]
    assert found((moved, scores), curve)[place] >= found(hits, curve)[place] - 1e-12


@given(ranking, curves, st.floats(0, 10))
def test_where_all_hits_are_closer_all_chances_are_better(
    hits: tuple[list[float], list[float]], curve: Curve, nearer: float
) -> None:
    moved = [one + nearer for one in hits[0]], hits[1]
    assert all(
        new >= old - 1e-12
        for new, old in zip(found(moved, curve), found(hits, curve), strict=True)
    )


def test_hits_without_a_score_have_a_chance_all_the_same() -> None:
    assert estimate_hit_chances([], [], BY_MEANING, of_all=0.0) == []
    [one] = estimate_hit_chances([0.0], [0.0], BY_MEANING, of_all=0.0)
    assert 0 < one < 1


# -- where an answer ends
# -------------------------------------------------------------------------------

SAYS = Signs(0.0, 1.0, 0.0)


@given(st.lists(share, max_size=20).map(lambda some: sorted(some, reverse=True)))
def test_an_answer_keeps_the_best_and_drops_what_has_hardly_a_chance(
    chance: list[float],
) -> None:
    kept = count_hits_to_show(chance, [SAYS] * len(chance))
    assert min(1, len(chance)) <= kept <= len(chance)
    least = max(LEAST_CHANCE, LEAST_SHARE * chance[0]) if chance else 0.0
    assert all(one >= least for one in chance[1:kept])
    assert all(one < least for one in chance[max(kept, 1) :])


@pytest.mark.parametrize(
    ("chance", "kept"),
    [
        ([], 0),
        ([0.0], 1),
        ([0.0, 0.0], 1),
        ([0.9, 0.5, 0.05], 2),
        ([0.9, 0.065], 2),
        ([0.1, 0.03, 0.01], 2),
    ],
)
def test_an_answer_ends_after_the_last_that_may_be_right(
    chance: list[float], kept: int
) -> None:
    assert count_hits_to_show(chance, [SAYS] * len(chance)) == kept


def test_an_answer_does_not_go_on_for_hits_that_say_nothing_of_the_question_themselves() -> (
    None
):
    nothing, near = Signs(0.05, 0.0, 0.0), Signs(0.15, 0.0, 0.0)
    assert count_hits_to_show([0.9, 0.8], [SAYS, nothing]) == 1
    assert count_hits_to_show([0.9, 0.8, 0.7], [SAYS, nothing, near]) == 3
    assert count_hits_to_show([0.9], [nothing]) == 1

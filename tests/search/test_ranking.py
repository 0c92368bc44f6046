"""Laws of fusion and decay, with numbers and no database."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from synaptic.search.ranking import (
    FARTHEST,
    Usual,
    decay_by_age,
    reciprocal_rank_fusion,
    scale_to_best,
    surprise,
)

ranking = st.lists(st.integers(0, 30), unique=True, max_size=15)
scored = st.dictionaries(st.integers(0, 30), st.floats(0, 50), max_size=15)
rankings = st.dictionaries(
    st.sampled_from(["lexical", "semantic", "third"]), scored, min_size=1
)
ages = st.floats(0, 5000)


@given(rankings, st.floats(0.5, 100))
@example({"lexical": {0: 5e-324}}, 1.0)
def test_fusion_does_not_depend_on_the_order_of_the_lists(
    lists: dict[str, dict[int, float]], k: float
) -> None:
    weights = {"lexical": 1.0, "semantic": 0.7, "third": 2.0}
    backwards = dict(reversed(lists.items()))
    assert reciprocal_rank_fusion(lists, k=k, weights=weights) == reciprocal_rank_fusion(
        backwards, k=k, weights=weights
    )


@given(rankings, st.floats(0.5, 100))
def test_fused_scores_lie_in_0_to_1_and_best_everywhere_is_1(
    lists: dict[str, dict[int, float]], k: float
) -> None:
    with_winner = {name: {-1: 100.0, **scores} for name, scores in lists.items()}
    scores = reciprocal_rank_fusion(with_winner, k=k, weights={})
    assert scores[-1] == pytest.approx(1.0)
    assert all(0 <= score <= scores[-1] for score in scores.values())


@given(ranking.filter(bool), ranking.filter(bool))
def test_where_all_votes_are_equal_the_fusion_is_the_published_one(
    one: list[int], other: list[int]
) -> None:
    """Cormack, Clarke and Buettcher 2009, over the best possible."""
    lists = {"a": one, "b": other}
    scores = reciprocal_rank_fusion(
        {name: dict.fromkeys(keys, 7.0) for name, keys in lists.items()},
        k=60,
        weights={"b": 2.0},
    )
    for key in {*one, *other}:
        votes = [
            w / (60 + keys.index(key) + 1) for keys, w in ((one, 1), (other, 2)) if key in keys
        ]
        assert scores[key] == pytest.approx(sum(votes) / (3 / 61))


def test_a_vote_falls_with_its_value_and_a_list_with_little_to_say_decides_little() -> None:
    lists = {"a": {"x": 8.0, "y": 4.0}, "b": {"y": 2.0}}
    scores = reciprocal_rank_fusion(lists, k=60, weights={})
    assert scores["x"] == pytest.approx((8 / 61) / (10 / 61))
    assert scores["y"] == pytest.approx((4 / 62 + 2 / 61) / (10 / 61))


@given(st.floats(-9, 9), st.floats(-9, 9), st.floats(-1, 1), st.floats(0.01, 1))
@example(1e9, 5.0, 0.0, 1.0)
def test_what_is_nearer_is_no_less_surprising_up_to_the_farthest(
    one: float, other: float, mean: float, deviation: float
) -> None:
    usual = Usual(mean, deviation)
    near, far = max(one, other), min(one, other)
    assert 0 <= surprise(far, usual) <= surprise(near, usual) < 15.1
    assert surprise(mean, usual) == pytest.approx(0.6931, abs=1e-4), "one of two is nearer"
    beyond = surprise(mean + 2 * FARTHEST * deviation, usual)
    assert beyond == pytest.approx(surprise(mean + FARTHEST * deviation, usual))


@given(scored)
def test_scaled_to_the_best_no_value_is_above_1(scores: dict[int, float]) -> None:
    scaled = scale_to_best(scores)
    assert scaled.keys() == scores.keys()
    assert all(0 <= value <= 1 for value in scaled.values())


@given(st.floats(0.1, 1000), st.floats(0, 1))
def test_decay_is_halfway_to_the_floor_at_the_half_life(half_life: float, floor: float) -> None:
    assert decay_by_age(0, half_life_days=half_life, floor=floor) == pytest.approx(1.0)
    assert decay_by_age(half_life, half_life_days=half_life, floor=floor) == pytest.approx(
        floor + (1 - floor) / 2
    )


@given(ages, ages, st.floats(0, 1))
def test_decay_never_rises_with_age_nor_falls_below_its_floor(
    one: float, other: float, floor: float
) -> None:
    young, old = sorted((one, other))
    weights = [decay_by_age(age, half_life_days=30, floor=floor) for age in (young, old)]
    assert weights[0] >= weights[1] >= floor - 1e-12

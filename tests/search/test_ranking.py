"""Laws of fusion and decay, with numbers and no database."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from synaptic.search.ranking import decay_by_age, score_aware_rrf

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
    assert score_aware_rrf(lists, k=k, weights=weights) == score_aware_rrf(
        backwards, k=k, weights=weights
    )


@given(rankings, st.floats(0.5, 100))
def test_fused_scores_lie_in_0_to_1_and_best_everywhere_is_1(
    lists: dict[str, dict[int, float]], k: float
) -> None:
    with_winner = {name: {-1: 100.0, **scores} for name, scores in lists.items()}
    scores = score_aware_rrf(with_winner, k=k, weights={})
    assert scores[-1] == pytest.approx(1.0)
    assert all(0 <= score <= scores[-1] for score in scores.values())


@given(ranking, ranking)
def test_where_all_scores_are_equal_the_fusion_is_the_published_one(
    one: list[int], other: list[int]
) -> None:
    """Cormack, Clarke and Buettcher 2009, over the best possible."""
    lists = {"a": one, "b": other}
    scores = score_aware_rrf(
        {name: dict.fromkeys(keys, 7.0) for name, keys in lists.items()},
        k=60,
        weights={"b": 2.0},
    )
    for key in {*one, *other}:
        votes = [
            w / (60 + keys.index(key) + 1) for keys, w in ((one, 1), (other, 2)) if key in keys
        ]
        assert scores[key] == pytest.approx(sum(votes) / (3 / 61))


def test_a_vote_falls_with_the_score_and_a_weak_list_has_no_full_vote() -> None:
    lists = {"a": {"x": 8.0, "y": 4.0}, "b": {"y": 1.0}}
    scores = score_aware_rrf(lists, k=60, weights={}, floors={"b": 4.0})
    assert scores["x"] == pytest.approx((1 / 61) / (2 / 61))
    assert scores["y"] == pytest.approx((0.5 / 62 + 0.25 / 61) / (2 / 61))


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

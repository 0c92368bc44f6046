"""No text stops the one worker: what reads a stranger's text takes time by its length alone."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest
from linear import GROWTH, is_linear, seconds
from shapes import FUNCTIONS, NOW, PAIRS, SHAPES, Shape

from synaptic import Filters, SynapticError, Workspace, find, save
from synaptic.language.query import parse_query
from synaptic.notes.redaction import find_secrets

SMALL, LARGE = 100_000, 400_000
FEW = 10_000
QUICK_S = 0.05
"""What takes less for the large text is told from nothing by no clock."""


def best(function: Callable[[str], object], text: str) -> float:
    """The least processor seconds of five calls."""
    taken = [0.0]
    with suppress(SynapticError):  # a refusal is an answer
        taken = [seconds(function, text) for _ in range(5)]
    return min(taken)


def grown(function: Callable[[str], object], shape: Shape) -> float:
    """How many times longer the function takes for four times the text; 0 where it takes next
    to nothing.
    """
    large = shape(LARGE)
    with suppress(SynapticError):
        if seconds(function, large) > QUICK_S:
            return best(function, large) / max(best(function, shape(SMALL)), 0.001)
    return 0.0


@pytest.mark.slow
@pytest.mark.fault(row=10)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_four_times_the_text_takes_about_four_times_as_long(name: str) -> None:
    ratios = {shape: grown(FUNCTIONS[name], make) for shape, make in SHAPES.items()}
    assert {shape: round(ratio, 1) for shape, ratio in ratios.items() if ratio >= GROWTH} == {}


@pytest.mark.slow
@pytest.mark.fault(row=10)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_two_signs_again_and_again_are_slow(name: str) -> None:
    function, over = FUNCTIONS[name], {}
    for shape, make in PAIRS.items():
        with suppress(SynapticError):
            if seconds(function, make(FEW)) > QUICK_S:
                ratio = best(function, make(4 * FEW)) / max(best(function, make(FEW)), 0.001)
                over |= {shape: round(ratio, 1)} if ratio >= GROWTH else {}
    assert over == {}


# function, shape, characters: sixteen times longer than a quarter of it, or seconds, before
WERE_SLOW = [
    ("words", "Chinese", 400_000),
    ("words", "Thai", 400_000),
    ("as a title", "tags", 120_000),
    ("scan", "quoted fences", 100_000),
    ("parse_entries", "comments without a time", 60_000),
    ("plain_text", "one open link", 40_000),
    ("front matter", "YAML depth", 60_000),
    ("front matter", "braces", 60_000),
]


@pytest.mark.fault(row=10)
@pytest.mark.sweep("name")
@pytest.mark.parametrize(
    ("name", "shape", "size"),
    WERE_SLOW,
    ids=[f"{name}-{shape}" for name, shape, _ in WERE_SLOW],
)
def test_what_was_slow_is_linear(name: str, shape: str, size: int) -> None:
    function, make = FUNCTIONS[name], SHAPES[shape]
    assert is_linear(function, make(size), make(size // 4), least_s=0.02)


@pytest.mark.slow
@pytest.mark.fault(row=10)
def test_a_long_value_costs_no_more_than_its_names() -> None:
    """The same names with a blank between them are the measure: each value ends there."""
    values, names = (SHAPES[shape](60_000) for shape in ("api_key=", "api_key a"))
    assert is_linear(find_secrets, values, names, least_s=0.02)


@pytest.mark.slow
@pytest.mark.fault(row=10)
def test_a_save_of_many_tags_is_linear(ws: Workspace) -> None:
    taken = []
    for size in (20_000, 80_000):
        text = SHAPES["tags"](size)
        taken.append(seconds(lambda text: save(ws, text), text))
    assert taken[1] < GROWTH * max(taken[0], 0.05)
    assert find(ws, filters=Filters(tags=("tag8000",))).entries


def test_a_query_names_few_dates() -> None:
    parsed = parse_query(
        'since:"zz1" ' * 3 + "since:2026-01-01 " * 500 + "redis", Filters(), now=NOW
    )
    assert parsed.filters.since == "2026-01-01" and parsed.text.endswith("redis")
    assert len(parsed.notices) == 2 and "first 8" in parsed.notices[0]

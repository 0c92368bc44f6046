"""Cases of a sweep that the suite draws."""

from __future__ import annotations

import pytest
from trials import SEED, SOAK, drawn


def test_a_seed_draws_the_same_cases_again_and_a_soak_takes_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(SOAK, raising=False)
    draws = set()
    for seed in map(str, range(200)):
        monkeypatch.setenv(SEED, seed)
        cases = drawn("a sweep", range(9), 2)
        assert cases == drawn("a sweep", range(9), 2) == sorted(cases) and len({*cases}) == 2
        draws.update(cases)
    assert draws == {*range(9)}
    monkeypatch.setenv(SOAK, "1")
    assert drawn("a sweep", range(9), 2) == [*range(9)]

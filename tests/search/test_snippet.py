"""Which texts stand alone."""

from __future__ import annotations

import pytest

from synaptic.search.snippet import stands_alone


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("Ada: Which one?", False),
        ("Ada: It was windy, and we had the whole rock to ourselves.", False),
        ("She moved to Ely.", False),
        ("The port is 8080.", True),
        ("On that Sunday we all met at the mill by the river: it rained.", True),
        ("Ada: We hiked to the old lighthouse at the end of the bay.", True),
        ("阿达：我们去了灯塔。", True),
        ("", True),
    ],
)
def test_short_turns_and_pronouns_need_those_beside_them(
    text: str,
    alone: bool,
) -> None:
    assert stands_alone(text) == alone

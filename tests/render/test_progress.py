"""The line of progress of a long command."""

import pytest

from synaptic.render.terminal import pace_text


@pytest.mark.parametrize(
    ("done", "seconds", "left", "text"),
    [
        (0, 5.0, 10, ""),
        (50, 0.5, 10, ""),
        (500, 10.0, 1_000, ", 50 a second, about 20 s left"),
        (20_000, 10.0, 400_000, ", 2,000 a second, about 3 min left"),
    ],
)
def test_the_pace_names_rate_and_end(done: int, seconds: float, left: int, text: str) -> None:
    assert pace_text(done, seconds, left) == text

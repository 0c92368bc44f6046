"""Three machines change one journal at random, and sync: nothing is missing, nothing stands
twice, and no conflict is marked where changes do not touch.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest
from sharers import Sharers
from trials import drawn, examples

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="paths of POSIX"),
    pytest.mark.fault(row=12),
]


@pytest.mark.sweep
@pytest.mark.parametrize("seed", drawn("sharers", range(200)))
def test_changes_that_do_not_touch_meet_without_a_mark(tmp_path: Path, seed: int) -> None:
    sharers = Sharers(tmp_path, random.Random(seed), machines=3)
    sharers.begin(notes=6, entries=10)
    assert not sharers.faults()
    for _ in range(examples(2, 1)):
        with sharers.round():
            for _ in range(15):
                for machine in range(3):
                    sharers.change(machine)
        assert not sharers.faults(), sharers.done
    sharers.close()


@pytest.mark.sweep
@pytest.mark.parametrize("seed", drawn("disputes", range(200)))
def test_of_changes_that_touch_each_word_stands_once(tmp_path: Path, seed: int) -> None:
    """Where machines move, rename and delete the same things, and sync at random moments."""
    choose = random.Random(seed)
    sharers = Sharers(tmp_path, choose, machines=3, disputes=True)
    sharers.begin(notes=5, entries=8)
    assert not sharers.faults()
    for _ in range(examples(2, 1)):
        with sharers.round():
            for _ in range(12):
                for machine in range(3):
                    sharers.change(machine)
                    if choose.random() < 0.1:
                        sharers.sync(machine)
        assert not sharers.faults(), sharers.done
    sharers.close()

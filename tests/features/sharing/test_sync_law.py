"""Three machines change one journal at random, and sync: nothing is missing, nothing stands
twice, and no conflict is marked where changes do not touch.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest
from sharers import Sharers
from trials import drawn

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
    for _ in range(2):
        with sharers.round():
            for _ in range(15):
                for machine in range(3):
                    sharers.change(machine)
        assert not sharers.faults(), sharers.done
    sharers.close()

"""Faults of processes meet processes; other faults meet commands that share one."""

from __future__ import annotations

from pathlib import Path

import pytest
from forks import ForkedHome, Forks
from steady import SteadyHome

OF_PROCESSES = {
    "test_fault_disk",
    "test_fault_index",
    "test_fault_input",
    "test_fault_saving",
    "test_fault_state",
}
"""Modules whose commands may crash, hang, or meet the limits of a process."""


@pytest.fixture
def home(tmp_path: Path, forks: Forks, request: pytest.FixtureRequest) -> ForkedHome:
    """A home that is not there yet, used from outside."""
    kind = ForkedHome if request.path.stem in OF_PROCESSES else SteadyHome
    return kind(tmp_path / "home", {"HOME": str(tmp_path)}, forks=forks)

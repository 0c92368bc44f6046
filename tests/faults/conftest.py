"""Faults are met by processes: each command is one."""

from __future__ import annotations

from pathlib import Path

import pytest
from forks import ForkedHome, Forks


@pytest.fixture
def home(tmp_path: Path, forks: Forks) -> ForkedHome:
    """A home that is not there yet, used from outside."""
    return ForkedHome(tmp_path / "home", {"HOME": str(tmp_path)}, forks=forks)

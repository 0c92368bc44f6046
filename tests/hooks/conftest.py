"""A home and a checkout for the tests of hooks."""

from __future__ import annotations

from pathlib import Path

import pytest
from forks import ForkedHome
from hooked import checkout

NOW = "2026-11-21T10:30:00"


@pytest.fixture
def at(home: ForkedHome) -> ForkedHome:
    """A home without a project of its own."""
    home.env |= {"SYNAPTIC_PROJECT": "", "SYNAPTIC_NOW": NOW}
    return home


@pytest.fixture
def web(tmp_path: Path) -> Path:
    """A checkout called web, on a branch of its own."""
    return checkout(
        tmp_path / "code" / "web", "login-form", "Keep the session cookie after a redirect"
    )

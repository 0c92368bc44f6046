"""What several test files stand on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from homes import Clock, open_home

from synaptic import Workspace
from synaptic.config import DEFAULT_MODEL
from synaptic.embedding import FastEmbedder


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ws(tmp_path: Path, clock: Clock) -> Iterator[Workspace]:
    """A workspace in an empty home, where meaning does not matter."""
    with open_home(tmp_path / "home", clock=clock) as workspace:
        yield workspace


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> FastEmbedder:
    """The shipped model, loaded once."""
    embedder = FastEmbedder(DEFAULT_MODEL, cache=tmp_path_factory.mktemp("models"))
    embedder.load()
    return embedder

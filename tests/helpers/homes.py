"""Homes for tests: a workspace of its own each, and a clock that is set by hand."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from embedders import HashingEmbedder

from synaptic import Workspace, open_workspace
from synaptic.config import Config, SearchConfig
from synaptic.index.embedding import Embedder


class Clock:
    """A clock that stands still until it is moved. It begins on a Saturday."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 21, 9, 30).astimezone()

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **span: float) -> None:
        self.now = (self.now + timedelta(**span)).astimezone()


def open_home(
    home: Path,
    *,
    journal: Path | None = None,
    embedder: Embedder | None = None,
    clock: Clock | None = None,
    search: dict[str, Any] | None = None,
    **config: Any,
) -> Workspace:
    """A workspace in this home. Its saves belong to no project of the working directory."""
    settings = {"project": "tests"} | config
    return open_workspace(
        Config(
            home=home,
            journal=journal or home / "journal",
            search=SearchConfig(**search or {}),
            **settings,
        ),
        embedder=embedder or HashingEmbedder(),
        clock=clock or Clock(),
    )


def put(ws: Workspace, name: str, data: bytes | str) -> None:
    """Writes a file of the journal, as an editor does."""
    file = ws.config.journal / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data.encode() if isinstance(data, str) else data)

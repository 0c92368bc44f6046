"""Opens and closes what a verb needs: the composition root."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType

from ..config import Config, make_clock
from ..errors import JournalError
from ..index import Index
from ..index.embedding import Embedder, FastEmbedder
from ..journal import registry
from ..journal.journal import Journal


@dataclass(frozen=True, slots=True)
class Workspace:
    """A journal with its index, its embedder and a clock. One thread owns it."""

    config: Config
    journal: Journal
    index: Index
    embedder: Embedder
    clock: Callable[[], datetime]

    def close(self) -> None:
        self.index.flush()
        self.index.file.close()

    def __enter__(self) -> Workspace:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_workspace(
    config: Config, *, embedder: Embedder | None = None, clock: Callable[[], datetime] | None = None
) -> Workspace:
    """A workspace on this configuration; nothing heavy is loaded yet.

    Raises JournalError when the journal is missing. A home that cannot be made is an error of the first save:
    what is there can be read and searched.
    """
    journal = Journal(config)
    try:
        journal.prepare()
    except JournalError:
        if not config.journal.is_dir():
            raise
    registry.enroll(config)
    return Workspace(
        config=config,
        journal=journal,
        index=Index(config.state / "index.db", stemming=config.search.stemming),
        embedder=embedder or FastEmbedder(config.model, cache=config.state / "models", threads=config.threads),
        clock=clock or make_clock(),
    )

"""Opens and closes the objects that a verb needs: configuration, journal, index, embedder and
clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from datetime import date, datetime

from ..config import Config, make_clock
from ..errors import JournalError
from ..index.embedding import Embedder, FastEmbedder
from ..index.index import Index
from ..index.sqlite_engine import SqliteEngine
from ..journal.journal import Journal
from ..journal.journal_files import JournalFiles
from ..journal.projects import NamesInJournal
from ..models import Texts, frozen
from .access import Access, Writing
from .pace import Paces


@frozen
class Workspace:
    """A journal, the access to it, its index, its embedder and a clock. One thread owns it."""

    config: Config
    journal: JournalFiles
    index: Index
    embedder: Embedder
    clock: Callable[[], datetime]
    access: Access
    paces: Paces = field(default_factory=Paces)
    begin_day: Callable[[Workspace, datetime], object] = lambda *_: None
    """Begins the file of a day that is not there yet as the vault says, if at all."""
    date_words: Callable[[Workspace, str, str], tuple[str, Texts] | None] = lambda *_: None
    """A text with dates for the words by which its tasks say their day, and what is said of
    that; the lines of an earlier text stay.
    """
    note_edited: Callable[[Workspace, Mapping[str, int | None]], Texts | None] = lambda *_: None
    """Keeps what an editor took out of files, and says so (`editor_losses`)."""

    @property
    def own_journal(self) -> Journal:
        """The journal of this machine, to be changed. Raises what the access says where it is
        only read: NeedsWriter, or Refused.
        """
        if not isinstance(self.journal, Journal):
            self.access.refuse_change()
        return self.journal

    @property
    def today(self) -> date:
        return self.clock().date()

    def close(self) -> None:
        self.index.flush()
        self.index.engine.close()

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_workspace(
    config: Config,
    *,
    embedder: Embedder | None = None,
    clock: Callable[[], datetime] | None = None,
) -> Workspace:
    """A workspace on this configuration; nothing heavy is loaded yet.

    Raises JournalError when the journal is missing. A home that cannot be made is an error of
    the first save: what is there can be read and searched.
    """
    journal = Journal(config)
    try:
        journal.prepare()
    except JournalError:
        if not config.journal.is_dir():
            raise
    index = Index(SqliteEngine(config.index_file, stemming=config.search.stemming))
    journal.names = NamesInJournal.of_index(index)
    return Workspace(
        config=config,
        journal=journal,
        index=index,
        embedder=embedder
        or FastEmbedder(config.model, cache=config.state / "models", threads=config.threads),
        clock=clock or make_clock(),
        access=Writing(),
    )


class Stopwatch:
    """Milliseconds by stage since it was made.

    A stage that runs again is added up; one within another is a part of that.
    """

    def __init__(self) -> None:
        self._begun = time.perf_counter()
        self._stages: dict[str, float] = {}
        self._running = False

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        if self._running:
            yield
            return
        begun = time.perf_counter()
        self._running = True
        try:
            yield
        finally:
            self._running = False
            self._stages[name] = (
                self._stages.get(name, 0.0) + (time.perf_counter() - begun) * 1000
            )

    def assign_rest(self, name: str) -> None:
        """Gives this stage the time that no other stage has taken so far."""
        taken = sum(ms for stage, ms in self._stages.items() if stage != name)
        self._stages[name] = self.elapsed() - taken

    def elapsed(self) -> float:
        return (time.perf_counter() - self._begun) * 1000

    def read(self) -> dict[str, float]:
        """The stages so far, and the `total`."""
        return self._stages | {"total": self.elapsed()}

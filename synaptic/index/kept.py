"""What is kept in memory of an index, for as long as it says what the file says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar, cast

from .database import BUSY_TIMEOUT_MS, Database

Made = TypeVar("Made")

CARRIED = frozenset({"proofs", "ids", "vocabulary", "uses of tags", "passages", "frequencies"})
"""What this process's own writes bring up to date themselves, or what may lag behind them."""


class Keeping(Database):
    """An index file of which some things need not be asked twice.

    When another process has written, all of it is forgotten; when this one has, all but CARRIED.
    """

    def __init__(self, path: Path, *, stemming: bool = True) -> None:
        super().__init__(path, stemming=stemming)
        self._kept: dict[str, object] = {}
        self._kept_at: tuple[int, int] | None = None
        self._is_writing = False

    def close(self) -> None:
        super().close()
        self._kept.clear()  # another file may have the same state

    @contextmanager
    def writing(self, timeout_ms: int = BUSY_TIMEOUT_MS) -> Iterator[None]:
        """One write transaction. Raises apsw.BusyError when the lock is not to be had in time."""
        with super().writing(timeout_ms):
            self._forget_what_others_changed()
            self._is_writing = True
            try:
                yield
            except BaseException:
                self._kept.clear()
                raise
            finally:
                self._is_writing = False
            for name in self._kept.keys() - CARRIED:
                del self._kept[name]
            version, _ = self.state()  # asked afterwards it could be that of somebody who wrote since
        self._kept_at = version, self.db.total_changes()

    def keep(self, name: str, make: Callable[[], Made]) -> Made:
        """What `make` gives, made once."""
        self._forget_what_others_changed()
        if name not in self._kept:
            self._kept[name] = make()
        return cast("Made", self._kept[name])

    def forget(self, name: str) -> None:
        """None; it is made again when it is wanted."""
        self._kept.pop(name, None)

    def state(self) -> tuple[int, int]:
        """What changes with every write, whoever writes."""
        return cast(int, self.db.execute("PRAGMA data_version").get), self.db.total_changes()

    def _forget_what_others_changed(self) -> None:
        if not self._is_writing and self._kept_at != (state := self.state()):
            self._kept.clear()
            self._kept_at = state

"""Values made from the index, kept in memory for as long as they say what the index says."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from .database import Database

Made = TypeVar("Made")

LASTING = frozenset({"proofs", "ids", "vocabulary", "frequencies"})
"""Names of values that stay when this process writes: its writes update them, or they may lag behind."""


class Cache:
    """What need not be asked twice, by name, in `kept`.

    When another process has written, everything is forgotten; when this one has, everything but LASTING.
    """

    def __init__(self, file: Database) -> None:
        self.kept: dict[str, object] = {}
        self._file = file
        self._seen: tuple[int, int] | None = None
        self._written = 0

    def get(self, name: str, make: Callable[[], Made]) -> Made:
        """What `make` returned when it was last called; it is called only where nothing valid is kept."""
        db = self._file.db
        seen = self._file.openings, cast(int, db.execute("PRAGMA data_version").get)
        if seen != self._seen:
            self.kept.clear()
        elif self._written != db.total_changes():
            for other in self.kept.keys() - LASTING:
                del self.kept[other]
        self._seen, self._written = seen, db.total_changes()
        if name not in self.kept:
            self.kept[name] = make()
        return cast("Made", self.kept[name])

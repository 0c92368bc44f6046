"""Tells which recorded changes nobody took back."""

from __future__ import annotations

from collections.abc import Iterator

from .changelog import FileChange, hash_or_none
from .journal_files import JournalFiles


def list_standing_changes(journal: JournalFiles) -> Iterator[FileChange]:
    """Yields the records of changes that nobody took back, the newest first. Of a change
    that was taken back and done again the last record stands for all. A kill may
    have come between a record and its change: then the next change of that file, or the
    file as it is, begins as this one did, and it is left out.
    """
    gone: set[str] = set()
    later: dict[str, str] = {}
    for record in journal.log.newest_first():
        path = record.path
        if record.was != record.now:
            if path not in later:
                later[path] = hash_or_none(journal.read_all([path]).get(path))
            has_happened = later[path] != record.was
            later[path] = record.was
            if not has_happened:
                continue
        elif record.to:
            later[path] = later[record.to] = ""
        gone.update(record.of)
        if record.id not in gone:
            yield record


def changes_of_run(journal: JournalFiles, run: str) -> list[FileChange]:
    """The records of a run that nobody took back, the newest first."""
    return [record for record in list_standing_changes(journal) if record.run == run]

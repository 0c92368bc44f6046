"""The runs of the log of changes that can be taken back, and which changes nobody took back."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from ..models import Texts, frozen
from .changelog import FileChange, hash_or_none
from .journal_files import JournalFiles

UNDO = "undo "
"""The beginning of the verb of a run that took another back."""


@frozen
class LoggedRun:
    """A run in the log that can be taken back: who did it, by what, when, in which files.
    `words` are some that it changed, where they are known: the old and the new ones.
    """

    run: str
    at: datetime
    who: str
    by: str
    verb: str
    what: str
    files: Texts
    entries: Texts = ()
    words: tuple[str, str] = "", ""

    @property
    def undone_verb(self) -> str:
        """The verb of the run that it took back; "" if it took none back."""
        return self.verb.removeprefix(UNDO) if self.verb.startswith(UNDO) else ""


def verb_of_undo(verb: str) -> str:
    """The verb of a run that takes one of this verb back: of an undo, what it took back."""
    return verb.removeprefix(UNDO) if verb.startswith(UNDO) else UNDO + verb


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


def records_of_run(journal: JournalFiles, run: str) -> list[FileChange]:
    """All records of a run, the newest first. Few others are parsed."""
    return [record for record in journal.log.newest_first(run) if record.run == run]

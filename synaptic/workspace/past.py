"""The workspace as it was at a moment of the past, to be read.

The journal of that moment is made of the present one: later entries are left out, and a text
that an update or a deletion replaced later comes back from the trash. The index is a copy in
memory, brought in step with that journal; so each verb that reads answers as it did then.

| since that moment          | shown as of then                                               |
|----------------------------|----------------------------------------------------------------|
| saved                      | nothing                                                        |
| updated                    | its text of then                                               |
| deleted                    | its title, to a client that may write; else nothing            |
| deleted and restored       | its text of then                                               |
| purged                     | nothing                                                        |
| edited by hand             | its text of today, marked so                                   |
| a secret by today's rules  | without the secret                                             |
| private in any version     | nothing                                                        |

An entry counts from the time that it bears, also where it was saved later.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime, time
from typing import Any, NoReturn

from ..config import CLOCK_YEARS
from ..errors import InvalidArgument, NotFound, Refused
from ..index.index import Index
from ..index.lists import list_entry_times
from ..index.rows import FileRows, to_microseconds
from ..index.sqlite_engine import SqliteEngine
from ..journal.folder import Comparison
from ..journal.journal_files import JournalFiles
from ..journal.restoring import parse_copy
from ..journal.text import block_to_append, find_entry_span
from ..journal.trash import TrashedText
from ..language.time_fields import read_days, read_moment
from ..models import Entry, FileSignature, ParsedFile, Stamp, Texts
from ..notes.markdown import render_verified_block
from ..notes.privacy import shows_private_text
from ..notes.screening import Screen
from .access import Access
from .sync import in_step, read_file
from .workspace import Workspace

DELETED = "deleted since"
OF_TODAY = "text of today, its file changed since"
NOTHING_THEN = "The journal held no entry at that time: give a later as_of."
SLOW_WRITE = 5_000_000
"""Microseconds by which a file may be newer than the entry, or the piece in the trash, that
changed it.
"""
_COMMENT = re.compile(r"<!-- syn:[^\n]*-->")


@contextmanager
def as_of(ws: Workspace, when: str | None, *, may_write: bool = True) -> Iterator[Workspace]:
    """Returns the workspace as the journal was at the end of a day or a longer time, or at a
    moment (`2026-06-01`, `last month`, `yesterday 18:00`); the present one if `when` is empty.

    It is for one answer: what is saved meanwhile does not reach it. Of published journals it
    hides the entries that bear a later date, which then supersede nothing. `may_write`: the
    asker may restore deleted entries, so their titles are shown. Raises InvalidArgument for a
    text that is not a time, and for a time in the future.
    """
    if not when:
        yield ws
        return
    now = ws.clock()
    moment = read_moment(when, now, "as_of", clock=time.max)
    if moment.year < CLOCK_YEARS[0]:
        raise InvalidArgument(
            f"as_of is {when!r}, which is before any journal.",
            valid=(f"a time from the year {CLOCK_YEARS[0]} on",),
            of=["as_of"],
        )
    if moment.year in CLOCK_YEARS:
        moment = moment.astimezone(now.tzinfo)
    first, _ = read_days(when, now, "as_of")
    if first > now.date():
        raise InvalidArgument(
            f"as_of is {moment:%Y-%m-%d %H:%M}, which is in the future.",
            valid=(f"a time up to {now:%Y-%m-%d %H:%M}",),
            of=["as_of"],
        )
    moment = min(moment, now)
    hiding = ws.access.hiding_after(moment)
    if hiding:
        with hiding as access:
            yield replace(ws, clock=lambda: moment, access=access)
        return
    with in_step(ws, lambda _: _open_past(ws, moment, may_write)) as past:
        yield past


class Past(Access):
    """Of a copy of the index that is made for one answer."""

    may_write = False
    is_past = True

    def refuse_change(self) -> NoReturn:
        raise Refused("The past cannot be changed.", hint="Leave out as_of.")


class PastJournal(JournalFiles):
    """The journal as it was. `files` holds the bytes of files that said something else then,
    `left_out` the ids of entries that are not shown.
    """

    def __init__(self, ws: Workspace, moment: datetime, may_write: bool) -> None:
        super().__init__(ws.config)
        self.moment = moment
        self.until = to_microseconds(moment)
        self.journal_now = ws.journal
        self.files: dict[str, bytes] = {}
        self.stamps = {stamp.path: stamp for stamp in self.scan()}
        self.entries = list_entry_times(ws.index)
        self.left_out = {entry.id for entry in self.entries if entry.at > self.until}
        self.pieces: dict[str, list[TrashedText]] = {}
        for piece in self.trashed():
            self.pieces.setdefault(piece.id, []).append(piece)
        deleted = self._restore_past_texts(may_write)
        self.remarks = self._mark_hand_edits() | dict.fromkeys(deleted, DELETED)
        notice = f"As of {moment:%Y-%m-%d %H:%M}."
        if deleted:
            notice += f" {len(deleted):,} deleted since stand by their title alone."
        undated = sum(entry.at > self.until and not entry.dated for entry in self.entries)
        if undated:
            notice += f" {undated:,} undated notes changed since and are left out."
        self._notice = notice

    def absent(self) -> Texts:
        return (self._notice, *super().absent())

    def compare(
        self, signatures: Mapping[str, FileSignature | None], only: str = ""
    ) -> Comparison:
        """No difference: the index of the past is made once."""
        return Comparison([], [], [])

    def read(self, path: str) -> bytes:
        return self.files[path] if path in self.files else super().read(path)

    def parse(self, path: str, *args: Any, **options: Any) -> ParsedFile:
        parsed = super().parse(path, *args, **options)
        entries = (entry for entry in parsed.entries if entry.id not in self.left_out)
        return ParsedFile(tuple(entries), parsed.issues)

    def _restore_past_texts(self, may_write: bool) -> list[str]:
        """The ids of entries that were deleted since; puts the texts of then into `files`."""
        places: dict[str, list[str]] = {}
        for entry in self.entries:
            places.setdefault(entry.id, []).append(entry.path)
        deleted: list[str] = []
        for id, pieces in self.pieces.items():
            paths = places.get(id, [])
            texts = [self.journal_now.find(path, id)[0] for path in paths]
            then = next((piece for piece in pieces if piece.at > self.moment), None)
            if id in self.left_out or not (paths or then):
                continue
            text = self._without_secrets(then.text) if then else texts[0]
            texts += [piece.text for piece in pieces]
            if text is None or any(shows_private_text(text, other) for other in texts):
                self.left_out.add(id)
            elif then and paths:
                for path in paths:
                    data = self.read(path)
                    _, start, end = find_entry_span(
                        self.journal_now.parse(path, data), path, id
                    )
                    self.files[path] = data[:start] + text + data[end:]
            elif then and may_write:
                old = parse_copy(self.journal_now, id, then.path, text)
                if old.dated and old.at <= self.moment:
                    self._put_title(then.path, old)
                    deleted.append(id)
        return deleted

    def _put_title(self, path: str, old: Entry) -> None:
        """Puts a deleted entry into its file with its title alone."""
        entry = Entry(
            id=old.id,
            at=old.at,
            title=old.title,
            content=old.title,
            type=old.type,
            project=old.project,
            supersedes=old.supersedes,
        )
        data = b""
        with suppress(NotFound):
            data = self.read(path)
        self.files[path] = data + block_to_append(path, render_verified_block(entry), data)

    def _without_secrets(self, block: bytes) -> bytes | None:
        """Returns a block without the secrets in it; None if its comment holds one."""
        screen = Screen("allow" if self._config.secrets == "allow" else "redact")
        text = block.decode("utf-8", "surrogateescape")
        screened = screen.redact_secrets("text", text)
        comment = _COMMENT.search(text)
        if comment and comment[0] not in screened:
            return None
        return screened.encode("utf-8", "surrogateescape")

    def _mark_hand_edits(self) -> dict[str, str]:
        """A mark for each entry whose file changed after the moment, and neither a later entry
        nor a piece in the trash says how.
        """
        changes = [(entry.path, entry.at) for entry in self.entries]
        from_trash = set()
        for id, pieces in self.pieces.items():
            changes += [(piece.path, to_microseconds(piece.at)) for piece in pieces]
            if pieces[-1].at > self.moment:
                from_trash.add(id)
        explained: dict[str, int] = {}
        for path, at in changes:
            explained[path] = max(explained.get(path, self.until), at)
        marks = {}
        for entry in self.entries:
            stamp = self.stamps.get(entry.path)
            is_later = stamp and stamp.mtime_ns // 1000 > explained[entry.path] + SLOW_WRITE
            if is_later and entry.id not in from_trash:
                marks[entry.id] = OF_TODAY
        return marks


def _open_past(ws: Workspace, moment: datetime, may_write: bool) -> Workspace:
    """The past workspace. Its index is a copy of the present one, in which the files that were
    other then are read anew.
    """
    journal = PastJournal(ws, moment, may_write)
    index = Index(
        SqliteEngine(ws.config.state / "past" / "index.db", stemming=ws.config.search.stemming)
    )
    past = Workspace(ws.config, journal, index, ws.embedder, lambda: moment, Past())
    index.file.become_copy_of(ws.index.file)
    shown_paths: set[str] = set()
    touched: set[str] = set()
    for entry in journal.entries:
        (touched if entry.id in journal.left_out else shown_paths).add(entry.path)
    removed = touched - shown_paths - journal.files.keys()
    head = index.meta("head")

    def rows() -> Iterator[FileRows]:
        for path in (touched - removed) | journal.files.keys():
            stamp = journal.stamps.get(path) or Stamp(path, 0, 0, 0, 0)
            yield read_file(past, stamp, head)

    with index.writing() as writer:
        writer.apply_files(rows(), sorted(removed), reading=index.meta("reading"), head=head)
    return past

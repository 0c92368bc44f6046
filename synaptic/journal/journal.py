"""Saves, edits, deletes and restores entries under one lock, and reads the journal.

Every change of a file goes through `FileWriter.change`: this module only says what the new
bytes are. The latest text of an entry is kept in `.state/done/`, a replaced one in the trash.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import stat
import time
from collections.abc import (
    Callable,
    Collection,
    Container,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath

from ..config import Config, make_clock
from ..errors import Ambiguous, Busy, JournalError, NotFound, Refused
from ..files import PICTURE_FOLDER, is_picture_name, picture_kind
from ..models import Entry, ParsedFile, Proof, Stamp
from ..notes.markdown import extend_note, proven_block, rewrite_block
from ..notes.privacy import mask, mentions, reveals, unclosed_tags
from ..notes.reading import in_logseq, parse_entries
from . import folder, old_spool
from .comments import find_comment, ids_in
from .disk import disk_errors, fault
from .runs import Block, Run, Runs, hash_of
from .saved import KEEP_DAYS, SavedText
from .trash import Trash, TrashedText, Why
from .writer import LOCK_POLL_S, Draft, FileWriter

_SHOWN = re.compile(rb"%b/([\w.-]+)" % PICTURE_FOLDER.encode())
LOCK_S = 0.25
"""How long an import holds the lock before it lets other writers in."""
LOCK_TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True)
class Vanished:
    """An acknowledged text that the journal no longer holds, although nobody replaced it
    through Synaptic.
    """

    id: str
    path: str
    title: str


@dataclass(frozen=True, slots=True)
class Returned:
    """An entry that stands in its file as it was before a deletion, or (`deleted` is False)
    before its last change.
    """

    id: str
    path: str
    title: str
    deleted: bool


class Journal:
    """A folder of Markdown, and the state beside it. One thread owns it; processes share it by
    a lock.
    """

    def __init__(self, config: Config, *, lock_timeout_s: float = LOCK_TIMEOUT_S) -> None:
        self.root = config.journal
        self.state = config.state
        self._config = config
        self._lock_timeout_s = lock_timeout_s
        self._clock = make_clock()
        self._writer = FileWriter(config)
        self.roots = self._writer.roots
        self.place = self.roots.place
        self.prepare = self._writer.prepare
        self._saved = self._writer.saved
        self._old_spool = config.state / "spool"
        self._trash = Trash(config.state)
        self.runs = Runs(config.state)

    # -- folders
    # ----------------------------------------------------------------------------------

    def scan(self) -> list[Stamp]:
        """A stamp of every Markdown file, sorted by path (see `folder.scan`). Raises
        JournalError without a root.
        """
        return folder.scan(self.roots)

    def compare(self, known: Mapping[str, Proof | None]) -> tuple[list[Stamp], list[str]]:
        """(stamps of new and changed files, known paths that are gone); see `folder.compare`."""
        return folder.compare(self.roots, known)

    def stamp(self, path: str) -> Stamp | None:
        """The stamp of one file; None if `scan` lists no such file, or only `scan` can tell
        (see `folder.stamp_of`).
        """
        return folder.stamp_of(self.roots, path)

    def read(self, path: str) -> bytes:
        """The bytes of a file. Raises NotFound, or JournalError for a path that leads out or
        cannot be read.
        """
        return folder.read(self.roots, path)[0]

    def parse(
        self, path: str, data: bytes, mtime_ns: int = 0, *, block: bool = False
    ) -> ParsedFile:
        """The entries of a file with these bytes; `block`: they are one entry alone."""
        try:
            mtime = datetime.fromtimestamp(mtime_ns / 1e9, UTC).astimezone()
        except (ValueError, OverflowError, OSError):  # a clock beyond the calendar
            mtime = datetime.fromtimestamp(0, UTC)
        name = self.roots.of(path)[0]
        day_file = (
            f"{name.replace('%', '%%')}/{self._config.day_file}"
            if name
            else self._config.day_file
        )
        return parse_entries(data, path, mtime=mtime, day_file=day_file, block=block)

    def day_path(self, at: datetime) -> str:
        """The path of the day file that an entry of this moment belongs to."""
        pattern = self._config.day_file.replace("%Y", f"{at.year:04d}")
        return PurePosixPath(at.strftime(pattern)).as_posix()

    def captured_path(self, at: datetime) -> str:
        """The path of the file for digests of sessions of this day, by the setting
        `capture_into`.
        """
        return (
            f"@sessions/{at:%Y-%m-%d}.md"
            if self._config.capture_into == "sessions"
            else self.day_path(at)
        )

    # -- saving
    # -----------------------------------------------------------------------------------

    def append(self, entry: Entry, path: str = "") -> str:
        """The path of the entry's file, which holds the entry, synced.

        Without a path it is the entry's day file. Raises Refused for a path in a root that is
        only read, Busy when another process holds the lock, and JournalError when the disk
        refuses. Then nothing was saved, unless the message says that it may have been.
        """
        path = path or self.day_path(entry.at)
        with disk_errors(self.state, "used"):
            self.prepare()
            folder.writable(self.roots, path)
            text = self._copy_for(path, entry.id, entry.date, proven_block(entry))
            with self._writer.locked(self._lock_timeout_s):
                self._adopt_old_spool()
                self._append(text)
        return path

    def _append(self, text: SavedText) -> None:
        """Puts the text at the end of its file."""

        def make(data: bytes, status: os.stat_result | None) -> Draft:
            if status is None:
                data = _head_of(text)
            return Draft(data + _joined(text.path, text.block, data), text)

        self._writer.change(text.path, make)

    def _copy_for(self, path: str, id: str, h1: str, block: bytes) -> SavedText:
        return SavedText(id, path, h1, str(self.roots.of(path)[1]), block)

    def adopt_old_spool(self, timeout_s: float = 0.0) -> None:
        """Writes what an older version left in `.state/spool/` into the journal, if the lock is
        free in time.
        """
        if self._old_spool.is_dir():
            with contextlib.suppress(Busy), self._writer.locked(timeout_s):
                self._adopt_old_spool()

    def _adopt_old_spool(self) -> None:
        if self._old_spool.is_dir():
            writer = self._writer
            old_spool.adopt(
                self._old_spool, self._saved, self._places, self._append, writer.is_ours
            )

    # -- importing
    # --------------------------------------------------------------------------------

    def take_in(self, run: Run, progress: Callable[[int], object]) -> None:
        """Puts the blocks of a run into their files, in order of time, each file written once.

        The run is durable first. A block whose id stands in its file already is passed over, so
        that a run that was killed is finished by the same call. `progress` gets the number of
        blocks that are done. Raises JournalError, Busy or Changed; then the run stays open.
        """
        with self._writing():
            if run.name not in self.runs.names():
                self.runs.put(run)
        done = 0
        files = list(run.by_path().items())
        while files:
            with self._writing():
                release_at = time.monotonic() + LOCK_S
                while files and time.monotonic() < release_at:
                    path, blocks = files.pop(0)
                    self._weave(path, blocks)
                    fault("woven")
                    done += len(blocks)
                    progress(done)
            time.sleep(2 * LOCK_POLL_S)  # those who wait for the lock look for it that often
        hashes = tuple(replace(block, text="") for block in run.blocks)
        with self._writing():
            self.runs.put(replace(run, open=False, blocks=hashes))

    def _weave(self, path: str, blocks: Sequence[Block]) -> None:
        def make(data: bytes, status: os.stat_result | None) -> Draft | None:
            there = ids_in(data)
            left = {block.id: block.text.encode() for block in blocks if block.id not in there}
            if not left:
                return None
            id, text = next(iter(left.items()))
            if not data:
                data = f"# {self._h1(path, self._copied(id, path, text))}\n".encode()
            return Draft(self._woven_whole(path, data, left))

        self._writer.change(path, make)

    def _woven_whole(self, path: str, data: bytes, texts: Mapping[str, bytes]) -> bytes:
        """The file with these texts in it. Raises JournalError if its own entries would not be
        read as before.
        """
        here = self.parse(path, data).entries
        woven = self._woven(path, data, here, texts)
        now = self.parse(path, woven).entries
        others = [entry for entry in now if entry.id not in texts]
        if others != list(here) or len(now) != len(others) + len(texts):
            raise JournalError(
                f"{self.place(path)} cannot take entries between its own.",
                hint="Look for a fence or a <private> that nothing closes, mend it, and import "
                "again.",
            )
        return woven

    def _woven(
        self, path: str, data: bytes, entries: Iterable[Entry], texts: Mapping[str, bytes]
    ) -> bytes:
        """The file of these entries with each text of a new one before the first entry below
        that is later.
        """
        blocks = [self._copied(id, path, text) for id, text in texts.items()]
        here = [entry for entry in entries if not entry.whole_file]
        out, at = b"", 0
        for new in sorted(blocks, key=lambda entry: entry.at):
            if new.date_source == "heading":
                start = _place_in_diary(here, new, len(data))
            else:
                start = next(
                    (e.there.start for e in here if e.at > new.at and e.there.start >= at),
                    len(data),
                )
            out += data[at:start]
            out, at = out + _joined(path, texts[new.id], out, data[:4]), start
        rest = data[at:]
        return out + (b"\r\n" if out.endswith(b"\r\n") else b"\n") + rest if rest else out

    def put_picture(self, name: str, read: Callable[[], bytes]) -> str:
        """The path of an imported picture, which is created where it is not there. Raises
        ValueError for no picture.
        """
        if (
            not is_picture_name(name)
            or name != PurePosixPath(name).name
            or "\\" in name
            or name.startswith(".")
        ):
            raise ValueError("it is not called as a picture is")
        path = f"{PICTURE_FOLDER}/{name}"
        if not folder.locate(self.roots, path).exists():
            data = read()
            if not picture_kind(data[:32]):
                raise ValueError("it is no picture")
            with self._writing():
                self._writer.change(path, lambda _, status: None if status else Draft(data))
        return path

    def drop_pictures(self, pictures: Mapping[str, str]) -> None:
        """Removes imported pictures, hashes by paths, but for those that were changed, or that
        a note still shows.
        """
        left = {path.removeprefix(f"{PICTURE_FOLDER}/"): path for path in pictures}
        for stamp in self.scan() if left else ():
            with contextlib.suppress(NotFound):
                for name in _SHOWN.findall(self.read(stamp.path)):
                    left.pop(name.decode(), None)

        def drop(path: str) -> Callable[[bytes, os.stat_result | None], Draft | None]:
            ours = pictures[path]
            return lambda data, status: (
                Draft(None) if status and hash_of(data) == ours else None
            )

        for path in left.values():
            with self._writing():
                self._writer.change(path, drop(path))

    def take_out(self, path: str, blocks: Collection[Block]) -> list[str]:
        """The ids of those blocks that stand in this file as they were put there, and now in
        the trash.
        """
        known = {block.id: block.hash for block in blocks}
        ids: list[str] = []

        def make(data: bytes, status: os.stat_result | None) -> Draft | None:
            ids.clear()
            rest, at, pieces = b"", 0, []
            entries = self.parse(path, data, status.st_mtime_ns).entries if status else ()
            for entry in entries:
                place = entry.there
                block = data[place.start : place.end]
                if known.get(entry.id) == hash_of(block):
                    pieces.append(
                        TrashedText(entry.id, path, self._clock(), "undone", entry.title, block)
                    )
                    rest += data[at : place.start]
                    at = place.end
            if not pieces:
                return None
            with disk_errors(self._trash.path):
                self._trash.put(*pieces)
            ids[:] = [piece.id for piece in pieces]
            if at < len(data):
                rest += data[at:]
            else:  # the last entry: one line end stays
                ended = rest.rstrip(b"\r\n")
                rest = ended + b"".join(rest[len(ended) :].splitlines(True)[:1])
            heading = f"# {self._h1(path, entries[-1])}"
            is_empty = rest.strip().decode("utf-8", "replace") == heading
            return Draft(None if is_empty else rest)

        with self._writing():
            self._writer.change(path, make)
        time.sleep(2 * LOCK_POLL_S)
        return ids

    # -- editing
    # ----------------------------------------------------------------------------------

    def edit(
        self,
        path: str,
        id: str,
        change: Callable[[Entry], Entry | None],
        told: list[str] | None = None,
        *,
        keep: bool = True,
    ) -> Entry:
        """The entry after `change`, or the deleted entry if `change` returns None. The old text
        goes to the trash, if it is to be kept.

        Equal copies of the block in the same file change with it; everything else stays byte
        for byte. `told` gets a notice if an earlier update had vanished from the file. A
        whole-file note is only extended, or deleted with its file. Raises NotFound, Refused,
        Busy, Changed when the file changes during each try, JournalError.
        """

        def rewritten(old: Entry, block: bytes) -> tuple[Entry | None, bytes]:
            new = change(old)
            text = b"" if new is None or old.whole_file else rewrite_block(block, old, new)
            return new, text

        with self._writing():
            return self._exchange(path, id, rewritten, "update" if keep else None, told)

    def opened(self, path: str, id: str) -> Entry:
        """The entry as its file says it now. Raises NotFound."""
        return _entry(self._parsed(path)[1], path, id)[0]

    def purge(self, path: str, id: str) -> Entry | None:
        """The deleted entry; None if only copies were left. No copy stays in trash, done or
        spool.

        Raises JournalError if the entry is deleted but a copy may remain. The same purge again
        removes that copy.
        """
        with self._writing():
            try:
                entry = self._exchange(path, id, lambda old, block: (None, b""), None)
            except NotFound:
                entry = None
            if not self._purge_copies(path, id) and entry is None:
                raise NotFound(f"{path} has no entry {id}, and there is no copy of it.")
            return entry

    def _purge_copies(self, path: str, id: str) -> bool:
        """True when there were copies outside the journal. Now there are none."""
        found, left, why = False, [], None
        purges: tuple[tuple[Path, Callable[[str], int | bool]], ...] = (
            (self._trash.path, self._trash.purge),
            (self._saved.folder, self._saved.forget),
            (self.runs.folder, self.runs.purge),
        )
        for place, purge in purges:
            try:
                with disk_errors(place):
                    found |= bool(purge(id))
            except JournalError as error:
                left.append(place.name)
                why = why or error
        if why:
            raise JournalError(
                f"{path} holds {id} no more, but copies may be left in {', '.join(left)}: "
                f"{why.message}",
                hint=f"{why.hint} Then `synaptic delete {id} --purge --yes` again removes "
                f"them.",
            ) from why
        return found

    def _exchange(
        self,
        path: str,
        id: str,
        change: Callable[[Entry, bytes], tuple[Entry | None, bytes]],
        why: Why | None,
        told: list[str] | None = None,
    ) -> Entry:
        """The entry after `change` has replaced its block. Without `why` nothing goes to the
        trash.
        """
        trashed: bytes | None = None
        entry: Entry | None = None

        def make(data: bytes, status: os.stat_result | None) -> Draft:
            nonlocal trashed, entry
            if status is None:
                raise NotFound(
                    f"The journal has no file {path}.", hint="It was moved or deleted."
                )
            old, start, end = _entry(self.parse(path, data, status.st_mtime_ns), path, id)
            block = data[start:end]
            folder.writable(self.roots, path, old.there.line)
            if old.whole_file and in_logseq(path) and old.content.startswith("-"):
                raise Refused(
                    f"{path} is a day of Logseq, which writes it anew.",
                    hint=f"Edit {self.place(path)}.",
                )
            new, text = change(old, block)
            entry = new or old
            if old.whole_file and new is None and block != data:
                raise Refused(
                    f"{path} holds more than this note.",
                    hint=f"Delete its text in {self.place(path)}.",
                )
            if old.whole_file and new is not None and why != "restore":
                text = self._extended(path, status, data, (start, end), old, new)
            saved = None if new is None else self._copy_after(path, new, text)
            if text == block:  # an update that was killed may be asked for again
                self._set_aside(old.id, text, block)
                return Draft(data, saved)
            pinned = (
                new is not None
                and old.derived_id
                and not old.whole_file
                and replace(new, id=old.id) == old
            )
            if why and not pinned and block != trashed:
                if self._set_aside(old.id, text, block) and told is not None:
                    told.append(_VANISHED.format(id=old.short_id))
                mode = stat.S_IMODE(status.st_mode) if old.whole_file else None
                self._discard(path, old, block, "delete" if new is None else why, mode)
                trashed = block
            if new is None and old.whole_file:
                return Draft(None)
            after = data[:start] + text
            for start, stop in self._copies(path, data, status, old):
                after += data[end:start] + change(old, data[start:stop])[1]
                end = stop
            return Draft(after + data[end:], saved)

        draft = self._writer.change(path, make)
        assert draft is not None and entry is not None
        if draft.saved is None:
            self._forget(entry, told)
        now = self.parse(path, draft.data or b"", time.time_ns()).entries
        return next((other for other in now if other.id == entry.id), entry)

    def _forget(self, entry: Entry, told: list[str] | None) -> None:
        """Removes the copy of an entry that no longer stands in the journal by this id."""
        try:
            if entry.id in self._saved.ids():
                self._saved.forget(entry.id)
        except OSError:  # the entry is deleted: the edit has succeeded
            if told is not None:
                told.append(_STILL_NAMED.format(id=entry.short_id))

    def _extended(
        self,
        path: str,
        status: os.stat_result,
        data: bytes,
        span: tuple[int, int],
        old: Entry,
        new: Entry,
    ) -> bytes:
        """The bytes of a whole-file note that says `new`. Raises Refused if no such file says
        all else as before.
        """
        start, end = span
        here = self.parse(path, data, status.st_mtime_ns).entries
        wanted = _said(new if entry.id == old.id else entry for entry in here)
        for typed in (False, True):
            text = extend_note(data[start:end], old, new, typed=typed)
            read = self.parse(
                path, data[:start] + text + data[end:], status.st_mtime_ns
            ).entries
            if _said(read) == wanted:
                return text
        others = (entry for entry in read if entry.id != old.id)
        if new.tags != old.tags and any(
            set(entry.file_tags) - set(old.tags) for entry in others
        ):
            raise Refused(
                f"A tag in the front matter of {path} would be one of all its entries. "
                f"Nothing was changed.",
                hint=f"Write #{' #'.join(tag for tag in new.tags if tag not in old.tags)} "
                f"into the text of the note.",
            )
        at = old.place.start if old.place else 0
        if new.content == old.content and new.tags != old.tags:
            at = data.find(b"\ntag", 0, at) + 1
        raise Refused(
            f"{path}:{1 + len(data[:at].splitlines())} is a note without entry headings: "
            f"it takes appended text, "
            "and added tags if its front matter has a usual form. Nothing was changed.",
            hint=f"For all else edit {self.place(path)}.",
        )

    def _copies(
        self, path: str, data: bytes, status: os.stat_result, entry: Entry
    ) -> list[tuple[int, int]]:
        """The spans of further blocks with the entry's id and text, below it in the same file."""
        spans: list[tuple[int, int]] = []
        gone, place = 0, entry.place
        while place:
            spans.append((place.start + gone, place.end + gone))
            data = data[: place.start] + data[place.end :]
            gone += place.end - place.start
            again = (
                self._find(path, data, status, entry.id)
                if b"syn:" + entry.id.encode() in data
                else None
            )
            place = again.place if again == entry and again else None
        return spans[1:]

    def _set_aside(self, id: str, coming: bytes, present: bytes | None) -> bool:
        """True if the acknowledged text that `coming` replaces in `done/` had vanished from the
        file.

        A text that only `done/` holds goes to the trash first, so that no later text overwrites
        it.
        """
        record = self._saved.get(id)
        if record is None or not self._writer.is_ours(record):
            return False
        now = None if present is None else _as_block(present)
        if record.block in (now, _as_block(coming)) or (now and reveals(record.block, now)):
            return False
        trashed = [_as_block(piece.text) for piece in self.trashed() if piece.id == id]
        vanished = now is None or self._undone(now, record.block, trashed)
        if (vanished or record.block not in trashed) and (
            entry := self._alone(record.path, record.block)
        ):
            self._discard(
                record.path,
                replace(entry, id=id),
                record.block,
                "vanished" if vanished else "edited",
            )
        return vanished

    def _discard(
        self, path: str, entry: Entry, block: bytes, why: Why, mode: int | None = None
    ) -> None:
        with disk_errors(self._trash.path):
            self._trash.put(
                TrashedText(entry.id, path, self._clock(), why, entry.title, block, mode)
            )

    def _copy_after(self, path: str, entry: Entry, text: bytes) -> SavedText | None:
        """The copy of the new text for `done/`; None for a text without its id."""
        block = _as_block(text)
        if entry.id not in ids_in(block):
            return None
        return self._copy_for(path, entry.id, self._h1(path, entry), block)

    def copies(self) -> Iterator[tuple[Path, bytes]]:
        """Path and bytes of every file outside the journal that holds text: trash,
        `done/`, open runs.
        """
        runs = (self.runs.folder / run.name for run in self.runs.open())
        for path in (self._trash.path, *self._saved.files(), *runs):
            with (
                disk_errors(path, "read"),
                contextlib.suppress(FileNotFoundError),
            ):  # it has just been delivered
                yield path, path.read_bytes()

    def open_copies(self, path: str, data: bytes) -> set[tuple[str, bytes]]:
        """(id, block) of each copy in `done/` and the trash that shows a passage which is
        private in these bytes.
        """
        if not mentions(data) or unclosed_tags(
            data
        ):  # somebody may be typing an open tag right now
            return set()
        entries = self.parse(path, data).entries
        written = ids_in(data)
        said = written.union(entry.id for entry in entries if entry.whole_file)
        copies = {
            (piece.id, _as_block(piece.text)) for piece in self.trashed() if piece.id in said
        }
        for id in said.intersection(self._saved.ids()):
            text = self._saved.get(id)
            if text and self._writer.is_ours(text):
                copies.add((id, text.block))
        if not copies:
            return set()
        places = {entry.id: entry.place for entry in entries}
        hidden = written - ids_in(mask(data))

        def shows(id: str, block: bytes) -> bool:
            place = places.get(id)
            return id in hidden or (
                place is not None and reveals(block, data[place.start : place.end])
            )

        return {copy for copy in copies if shows(*copy)}

    def hide(self, path: str, data: bytes) -> None:
        """Removes the `open_copies` of the file. While another process writes they stay, and
        `doctor` names them.
        """
        with contextlib.suppress(Busy, JournalError):
            if self.open_copies(path, data):
                with self._writer.locked(0):
                    shown = self.open_copies(path, data)
                    self._trash.rewrite(
                        lambda piece: (
                            None if (piece.id, _as_block(piece.text)) in shown else piece
                        )
                    )
                    for id, block in shown:
                        text = self._saved.get(id)
                        if text and text.block == block:
                            self._saved.forget(id)

    # -- bringing back
    # ----------------------------------------------------------------------------

    def trashed(self) -> tuple[TrashedText, ...]:
        """The replaced and deleted texts, oldest first."""
        with disk_errors(self._trash.path, "read"):
            return self._trash.pieces()

    def restore(self, id: str, *, by_person: bool = True) -> tuple[str, Entry]:
        """Path and entry, restored to the newest trashed text that differs from its present
        text.

        `id` may be short. A deleted entry is appended to its file. An updated entry gets its
        old text back, and the present text goes to the trash. Raises NotFound, which names ids
        in the trash, and Refused where an agent would pin or unpin it by this.
        """

        with self._writing():
            pieces = self.trashed()
            id = _resolve(id, (piece.id for piece in reversed(pieces)), "The trash")
            mine = [piece for piece in reversed(pieces) if piece.id == id]
            newest = mine[0]
            deleted_file = newest.mode is not None and newest.why == "delete"
            if deleted_file:  # not to the name of a copy that went with it
                newest = min(
                    (piece for piece in mine if piece.text == newest.text),
                    key=lambda piece: len(piece.path),
                )
            for path in (
                () if deleted_file else dict.fromkeys((newest.path, self._place_of(id)))
            ):
                if path and (found := self._present(path, id)):
                    return path, self._swap_back(path, *found, mine, by_person)
            self._check_pin(newest, False, by_person)
            if newest.mode is not None:
                draft = Draft(newest.text, mode=newest.mode)
                if not self._writer.change(
                    newest.path, lambda _, status: None if status else draft
                ):
                    why = f"{self.place(newest.path)} is there already, and restore overwrites no file."
                    raise Refused(why, hint="Move it away and try again.")
                self._settle(newest.id)
                return newest.path, self.parse(
                    newest.path, newest.text, time.time_ns()
                ).entries[0]
            if path := self._place_of(id):
                raise Refused(
                    f"{path} holds the comment of {id}, but no readable entry: nothing was "
                    f"restored.",
                    hint="It lost its heading or is private. `synaptic doctor` names the "
                    "line; mend or delete it.",
                )
            return self._put_back(self._record(newest))

    def copy_of(self, id: str) -> tuple[str, Entry]:
        """Path and entry of the newest copy in the trash, else of the copy in `done/`. `id` may
        be short. Raises
        NotFound."""
        pieces = {piece.id: (piece.path, piece.text) for piece in self.trashed()}
        ids = [*pieces, *self._saved.ids()]
        id = _resolve(id, iter(ids), "Neither the journal nor the trash")
        record = self._saved.get(id)
        path, text = (
            pieces[id] if id in pieces or record is None else (record.path, record.block)
        )
        return path, replace(self._copied(id, path, text), id=id)

    def vanished(self) -> tuple[Vanished, ...]:
        """Recent saves and updates whose text an old buffer, a person or a checkout removed.

        A text has vanished if no comment in the journal carries its id, if that comment has
        lost its heading, if the present text comes from the text before an update, if only a
        beginning of it is left that ends inside a line or before the first paragraph, or if its
        comment is torn. Updates that had vanished when the next update came are named too.
        """
        found = ((lost, self._alone(lost.path, lost.block)) for lost in self._vanished())
        return tuple(
            Vanished(lost.id, lost.path, entry.title if entry else "") for lost, entry in found
        )

    def _vanished(self) -> list[SavedText]:
        """The vanished texts, each with the path where it is missing; of one id the latest text
        first.
        """
        trashed = self.trashed()
        ids = sorted(
            {
                *self._saved.ids(),
                *(piece.id for piece in trashed if piece.why == "vanished"),
            }
        )
        here = self._places() if ids else {}
        aside = _unsettled(trashed, here)
        lost = []
        parsed = functools.lru_cache(maxsize=1)(
            self._parsed
        )  # a day's file may hold hundreds of them
        for id in sorted(ids, key=lambda id: here.get(id, "")):
            path, record = here.get(id), self._saved.get(id)
            found = self._present(path, id, parsed) if path else None
            now = _as_block(found[0]) if found else None
            texts = [_as_block(piece.text) for piece in trashed if piece.id == id]
            if (
                record
                and self._writer.is_ours(record)
                and (
                    not path
                    or (
                        self._undone(now, record.block, texts)
                        if now
                        else self._beheaded(path, id)
                    )
                )
            ):
                lost.append(replace(record, path=path or record.path))
            elif path is None:  # it may belong to another journal of this home
                continue
            known = {now, record.block if record else None}
            for piece in reversed(aside):
                block = _as_block(self._with_id(piece))
                if piece.id == id and block not in known:
                    known.add(block)
                    lost.append(replace(self._record(piece), path=path or piece.path))
            if now:
                lost = [copy for copy in lost if copy.id != id or not reveals(copy.block, now)]
        return lost

    def returned(self) -> tuple[Returned, ...]:
        """The entries whose last deletion or change, of the last week, somebody undid: an old
        buffer, or a checkout.

        A text that Synaptic wrote since, or that `vanished` names, has a record in `done/`, or
        stands in a run.
        """
        since = self._clock() - timedelta(days=KEEP_DAYS)
        latest = {piece.id: piece for piece in self.trashed()}
        pieces = [
            piece for piece in latest.values() if piece.why in _UNDOABLE and piece.at > since
        ]
        pieces = [piece for piece in pieces if self._saved.get(piece.id) is None]
        if not pieces:
            return ()
        here, imported = (
            self._places(),
            {block.id for run in self.runs.all() for block in run.blocks},
        )
        found = []
        for piece in pieces:
            path = here.get(piece.id, piece.path)
            present = None if piece.id in imported else self._present(path, piece.id)
            if present is None:
                continue
            written = (
                piece.why != "update" and path == piece.path and piece.id in ids_in(present[0])
            )
            if written or _as_block(present[0]) == _as_block(piece.text):
                found.append(Returned(piece.id, path, present[1].title, piece.why != "update"))
        return tuple(found)

    def _settle(self, id: str) -> None:
        """Marks the texts of this id in the trash as ones that may stand in the journal again."""
        with disk_errors(self._trash.path):
            self._trash.rewrite(
                lambda piece: (
                    replace(piece, why="edited")
                    if piece.id == id and piece.why in _UNDOABLE
                    else piece
                )
            )

    def _undone(self, now: bytes, saved: bytes, older: Iterable[bytes]) -> bool:
        return now != saved and (
            _comes_from(now, saved, older) or (self._torn(now) and not self._torn(saved))
        )

    def _beheaded(self, path: str, id: str) -> bool:
        """True if the comment with this id has lost its heading, so that its text is part of
        the entry above.
        """
        with contextlib.suppress(NotFound):
            data, parsed = self._parsed(path)
            line = data.count(b"\n", 0, find_comment(data, id)) + 1
            return any(
                (issue.code, issue.line) == ("stray-comment", line) for issue in parsed.issues
            )
        return False

    def _torn(self, block: bytes) -> bool:
        """True if the comment of a block is torn."""
        return any(
            issue.code == "comment" for issue in self.parse("", block, block=True).issues
        )

    def restore_done(self, id: str) -> tuple[str, Entry]:
        """Path and entry of a vanished save, after it was put back. Raises NotFound when it has
        not vanished.
        """
        with self._writing():
            record = self._vanished_record(id)
            if (path := self._place_of(record.id)) and self._present(path, record.id):
                return path, self._exchange(
                    path,
                    record.id,
                    lambda now, present: (now, _in_place_of(present, record.block)),
                    "restore",
                )
            return self._put_back(record)

    def dismiss(self, id: str) -> None:
        """Forgets a vanished save, or that an entry returned. Raises NotFound for any other."""
        with self._writing():
            if fitting := [
                one.id
                for one in self.returned()
                if id.lower() in (one.id, one.id.partition("-")[2])
            ]:
                self._settle(fitting[0])
                return
            record = self._vanished_record(id)
            done = self._saved.get(record.id)
            with disk_errors(self._saved.folder):
                if done and done.block == record.block:
                    self._saved.forget(record.id)
            if any(
                piece.id == record.id and piece.why == "vanished" for piece in self.trashed()
            ):
                with disk_errors(self._trash.path):
                    lost = (record.id, "vanished")
                    self._trash.rewrite(
                        lambda p: replace(p, why="edited") if (p.id, p.why) == lost else p
                    )

    def _vanished_record(self, id: str) -> SavedText:
        lost = self._vanished()
        if not lost:
            raise NotFound(
                f"{id} has not vanished: the journal holds all saves of the last seven days.",
                hint="`synaptic restore ID` brings a deleted entry back.",
            )
        id = _resolve(id, (record.id for record in lost), "The list of vanished saves")
        return next(record for record in lost if record.id == id)

    def _put_back(self, text: SavedText) -> tuple[str, Entry]:
        entry = self._copied(text.id, text.path, text.block)
        self._set_aside(text.id, text.block, None)
        text = replace(text, path=self._place_of(text.id) or text.path)

        def make(data: bytes, status: os.stat_result | None) -> Draft:
            if status is None:
                data = _head_of(text)
            comment = find_comment(data, text.id)
            if comment >= 0:  # its text stands there and has lost its heading
                heading = text.block[: max(0, find_comment(text.block, text.id))]
                eol = _eol(data)
                heading = heading.replace(b"\n", eol)
                return Draft(data[:comment] + heading + data[comment:], text)
            here = self.parse(text.path, data).entries
            return Draft(self._woven(text.path, data, here, {text.id: text.block}), text)

        self._writer.change(text.path, make)
        with contextlib.suppress(JournalError, NotFound):  # the entry is back
            if present := self._present(text.path, text.id):
                return text.path, present[1]
        return text.path, replace(entry, id=text.id)

    def _check_pin(self, piece: TrashedText, pinned: bool, by_person: bool) -> None:
        old = self._alone(piece.path, piece.text)
        if not by_person and old and old.pin != pinned:
            raise Refused(
                "Between the two texts a person pinned or unpinned it: only a person "
                "restores it."
            )

    def _swap_back(
        self, path: str, block: bytes, entry: Entry, pieces: list[TrashedText], by_person: bool
    ) -> Entry:
        now = _as_block(block)
        texts = [piece for piece in pieces if _as_block(piece.text) != now]
        older = next((piece for piece in texts if not reveals(piece.text, block)), None)
        if older is None:
            kept = (
                "only texts that show what is private now" if texts else "no other text of it"
            )
            raise NotFound(
                f"{entry.id} stands in {path}, and the trash holds {kept}.",
                hint="`synaptic doctor` lists updates that vanished from the file.",
            )

        def swap(now: Entry, present: bytes) -> tuple[Entry, bytes]:
            self._check_pin(older, now.pin, by_person)
            return now, older.text if now.whole_file else _in_place_of(
                present, self._with_id(older)
            )

        return self._exchange(path, entry.id, swap, "restore")

    def _record(self, piece: TrashedText) -> SavedText:
        entry = self._alone(piece.path, piece.text)
        h1 = self._h1(piece.path, entry) if entry else PurePosixPath(piece.path).stem
        block = _as_block(self._with_id(piece))
        return self._copy_for(piece.path, piece.id, h1, block)

    def _with_id(self, piece: TrashedText) -> bytes:
        """The piece's text. A hand-typed text gets its derived id in a comment, so that it can
        be found again.
        """
        entry = self._alone(piece.path, piece.text)
        if not entry or piece.id in ids_in(piece.text):
            return piece.text
        return rewrite_block(piece.text, entry, replace(entry, id=piece.id, derived_id=False))

    # -- looking
    # ----------------------------------------------------------------------------------

    def _alone(self, path: str, block: bytes) -> Entry | None:
        """The entry of a block that is a copy from this file."""
        return next(iter(self.parse(path, block, block=True).entries), None)

    def _copied(self, id: str, path: str, block: bytes) -> Entry:
        if entry := self._alone(path, block):
            return entry
        raise NotFound(f"The copy of {id} holds no entry.", hint=f"Look at {self._trash.path}.")

    def _h1(self, path: str, entry: Entry) -> str:
        return entry.date if path == self.day_path(entry.at) else PurePosixPath(path).stem

    def _find(self, path: str, data: bytes, status: os.stat_result, id: str) -> Entry | None:
        entries = self.parse(path, data, status.st_mtime_ns).entries
        return next((entry for entry in entries if entry.id == id), None)

    def _parsed(self, path: str) -> tuple[bytes, ParsedFile]:
        data, status = folder.read(self.roots, path)
        return data, self.parse(path, data, status.st_mtime_ns)

    def _present(
        self,
        path: str,
        id: str,
        parsed: Callable[[str], tuple[bytes, ParsedFile]] | None = None,
    ) -> tuple[bytes, Entry] | None:
        with contextlib.suppress(NotFound):
            data, file = (parsed or self._parsed)(path)
            entry, start, end = _entry(file, path, id)
            return data[start:end], entry
        return None

    def _place_of(self, id: str) -> str | None:
        """The first file with a comment that carries this id."""
        return self._places().get(id)

    def _places(self) -> dict[str, str]:
        """The first file of each id that a comment carries. All files are read."""
        places: dict[str, str] = {}
        for stamp in self.scan():
            with contextlib.suppress(NotFound):
                for id in ids_in(self.read(stamp.path)):
                    places.setdefault(id, stamp.path)
        return places

    # -- the lock
    # ---------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """The write lock, as a context."""
        self.prepare()
        with self._writer.locked(self._lock_timeout_s):
            self._adopt_old_spool()
            yield


_UNDOABLE = ("delete", "undone", "update")

_VANISHED = (
    "An earlier update of {id} had vanished from its file; `synaptic doctor --restore "
    "{id}` brings it back."
)

_STILL_NAMED = (
    "`synaptic doctor` may name {id} as vanished: its copy in done/ could not be removed. "
    "Dismiss it there."
)


def _place_in_diary(here: Sequence[Entry], new: Entry, end: int) -> int:
    """The offset at which an entry belongs in a diary in one file, which may begin with its
    latest day: beside the
    nearer of two, for a heading of a month may stand between them."""
    latest_first = len(here) > 1 and here[0].at > here[-1].at
    number = next(
        (n for n, e in enumerate(here) if (e.at < new.at if latest_first else e.at > new.at)),
        len(here),
    )
    if number == len(here):
        return end
    above, below = here[max(0, number - 1)], here[number]
    return (
        above.there.end
        if number and abs(new.at - above.at) < abs(below.at - new.at)
        else below.there.start
    )


def _comes_from(now: bytes, saved: bytes, older: Iterable[bytes]) -> bool:
    """True if `now` comes from a text before `saved`, edited or not, or is a torn beginning of
    one of these texts or of `saved`.

    A torn beginning ends inside a line or before the first paragraph; a later end means that a
    person cut the text. `now` comes from an older text if it holds at most half of the words
    that `saved` added, and a greater share of those that `saved` removed than of those that it
    added.
    """
    here, new = set(now.split()), set(saved.split())

    def part(words: set[bytes]) -> float:
        return len(words & here) / len(words) if words else 0.5

    def cut(text: bytes) -> bool:
        rest = text.removeprefix(now[:-1])
        return rest != text and (now.count(b"\n") <= 2 or not rest.startswith(b"\n"))

    for text in older:
        old = set(text.split())
        brought, taken = part(new - old), part(old - new)
        if now == text or cut(text) or (brought <= 0.5 and brought < taken):
            return True
    return cut(saved)


def _unsettled(pieces: Iterable[TrashedText], here: Container[str]) -> list[TrashedText]:
    """Updates that had vanished, oldest first, unless their entry was restored or deleted
    later.

    An entry that is still in the journal does not count as deleted: the deletion was refused,
    or an old buffer brought the entry back.
    """
    found: list[TrashedText] = []
    for piece in pieces:
        if piece.why == "restore" or (piece.why == "delete" and piece.id not in here):
            found = [other for other in found if other.id != piece.id]
        elif piece.why == "vanished":
            found.append(piece)
    return found


def _entry(file: ParsedFile, path: str, id: str) -> tuple[Entry, int, int]:
    """The entry and its span. A note that begins its file has the front matter too. Raises
    NotFound.
    """
    for number, entry in enumerate(file.entries):
        if entry.id == id and entry.place:
            begins = entry.place.whole_file and number == 0
            return entry, 0 if begins else entry.place.start, entry.place.end
    raise NotFound(
        f"{path} has no entry {id}.", hint="It was moved or deleted; search for it again."
    )


def _said(entries: Iterable[Entry]) -> list[Entry]:
    """The entries, with tags in one order and without blank lines."""
    return [
        replace(
            entry,
            tags=tuple(sorted(entry.tags)),
            content="\n".join(filter(str.strip, entry.content.split("\n"))),
        )
        for entry in entries
    ]


def _as_block(text: bytes) -> bytes:
    """`text` in the form of a block in the spool: LF, no outer blank lines, one newline at its
    end.
    """
    return text.replace(b"\r\n", b"\n").strip(b"\r\n") + b"\n"


def _head_of(text: SavedText) -> bytes:
    """The heading of a new file for this text."""
    return f"# {text.h1}\n\n".encode()


def _joined(path: str, block: bytes, data: bytes, beginning: bytes = b"") -> bytes:
    """The block as it is appended to `data`: in its line ends, after one blank line.

    `beginning`: the first bytes of the file, if `data` begins elsewhere.
    """
    beginning = beginning or data[:4]
    if beginning[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise JournalError(f"{path} is UTF-16.", hint="Convert it to UTF-8 and save again.")
    tail = data[-4096:]
    eol = _eol(tail)
    block = block.replace(b"\n", eol)
    ended = tail.replace(b"\r\n", b"\n")
    is_blank_line = ended == b"\n" and tail == beginning[: len(tail)]
    if not ended or ended.endswith(b"\n\n") or is_blank_line:
        return block
    if ended.endswith((b"\n", b"\r")):
        return eol + block
    return eol + eol + block


def _eol(data: bytes) -> bytes:
    """CRLF if most lines end so, else LF."""
    return b"\r\n" if data.count(b"\r\n") * 2 > data.count(b"\n") else b"\n"


def _in_place_of(present: bytes, text: bytes) -> bytes:
    """`text` with the line ends of `present`, and with as many of them at its end."""
    eol = _eol(present)
    ends = present[len(present.rstrip(b"\r\n")) :]
    return text.rstrip(b"\r\n").replace(b"\r\n", b"\n").replace(b"\n", eol) + (ends or eol)


def _resolve(id: str, known: Iterator[str], what: str) -> str:
    """The known id that `id` names: whole, or by the first four or more of its eight
    characters.
    """
    ids = list(dict.fromkeys(known))
    short = id.lower().removeprefix("syn:")
    fitting = [
        i
        for i in ids
        if i == short or (len(short) >= 4 and i.partition("-")[2].startswith(short))
    ]
    if len(fitting) > 1:
        raise Ambiguous(
            f"{id} fits {len(fitting)} entries.", valid=fitting[:10], hint="Give the whole id."
        )
    if not fitting:
        raise NotFound(
            f"{what} has no {id}.", valid=ids[:10], hint="" if ids else "It is empty."
        )
    return fitting[0]

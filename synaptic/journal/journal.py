"""Saves entries under the lock of the home.

Every change of a file goes through `FileWriter.change`: this module, `entry_edits` and
`restoring` only say what the new bytes are. The latest text of an entry is kept in
`.state/done/`, a replaced one in the trash.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import PurePosixPath
from threading import get_ident

from ..config import Config
from ..errors import Busy, JournalError
from ..models import Entry
from ..notes.blocks import usual_line_end
from ..notes.markdown import render_verified_block, rewrite_block
from .disk import UNSAVED, disk_errors
from .journal_files import JournalFiles
from .text import block_to_append, find_entry_span, normalize_block
from .writer import Draft, FileWriter, Stat

LOCK_TIMEOUT_S = 5.0
"""The longest time for which a writer waits for one process that holds the lock."""


class Journal(JournalFiles):
    """The journal with the right to change its files, and the state that Synaptic keeps beside
    it. Processes share it by a lock.
    """

    def __init__(self, config: Config, *, lock_timeout_s: float = LOCK_TIMEOUT_S) -> None:
        super().__init__(config)
        self.writer = FileWriter(self, config)
        self.prepare = self.writer.prepare
        self.doing = self.writer.doing
        self._lock_timeout_s = lock_timeout_s
        self._lock_holder = 0
        """The thread that has the write lock, or 0."""

    def append(self, *entries: Entry, path: str = "") -> str:
        """Appends the entries to their file and returns its path; the file is synced.

        Without a path it is that of the first one's day. Raises Refused for a path in a root
        that is only read, Busy when another process holds the lock, and JournalError when the
        disk refuses. Then nothing was saved, unless the message says that it may have been.
        """
        path = path or self.path_of_day(entries[0].at)
        texts = tuple(
            self.saved_text(path, entry.id, render_verified_block(entry)) for entry in entries
        )

        def make(data: bytes, status: Stat) -> Draft:
            if not status:
                data = self.new_file_heading(path, texts[0].text)
            for text in texts:
                # an editor may have read what a former try wrote and took back
                if f"<!-- syn:{text.id}".encode() not in data:
                    data += block_to_append(path, text.text, data)
            return Draft(data, texts)

        with disk_errors(self.state, "used"), self.writing():
            self.writer.change(path, make)
        return path

    def new_file_heading(self, path: str, block: bytes) -> bytes:
        """The heading of a new file that begins with this block."""
        name = PurePosixPath(path).stem
        for entry in self.parse(path, block, block=True).entries:
            if path == self.day_path(entry.at):
                name = entry.date
        return f"# {name}\n\n".encode().replace(b"\n", usual_line_end(block))

    def write_id(self, path: str, id: str, new_id: str) -> None:
        """Writes the `new_id` of an entry, whose id was only derived from its text, into its
        file. That of a whole note is left, for it depends on its path alone. Raises NotFound,
        Refused in a root that is only read, Busy, Changed and JournalError.
        """

        def make(data: bytes, status: Stat) -> Draft | None:
            parsed = self.parse(path, data, status.st_mtime_ns if status else 0)
            entry, start, end = find_entry_span(parsed, path, id)
            if entry.whole_file:
                return None
            named = replace(entry, id=new_id, derived_id=False)
            block = rewrite_block(data[start:end], entry, named)
            copy = self.saved_text(path, new_id, normalize_block(block))
            return Draft(data[:start] + block + data[end:], (copy,))

        with self.writing():
            self.writer.change(path, make)

    def purge_private_copies(self, path: str, data: bytes) -> None:
        """Removes the `copies_with_private_text` of the file. While another process
        writes they stay, and `doctor` names them.
        """
        with suppress(Busy, JournalError):
            if self.log.has_private(path, data):
                with self.writer.locked(0):
                    self.log.forget_private(path, data)
            copies = self.copies_with_private_text(path, data)
            if not copies:
                return
            with self.writer.locked(0):
                self.trash.rewrite_pieces(
                    lambda piece: (
                        None if (piece.id, normalize_block(piece.text)) in copies else piece
                    )
                )
                for id, block in copies:
                    text = self.saved.get(id)
                    if text and text.text == block:
                        self.saved.forget(id)

    @contextmanager
    def writing(self, within_s: float | None = None) -> Iterator[None]:
        """The write lock, as a context; within another such context it is held already. Raises
        Busy, as `locked` says, here after `within_s`, else after five seconds.
        """
        if self._lock_holder == get_ident():
            yield
            return
        self.prepare()
        with self.writer.locked(self._lock_timeout_s if within_s is None else within_s):
            self._lock_holder = get_ident()
            try:
                if (self.state / UNSAVED).exists():
                    from .unsaved_files import settle_unsaved_files  # rarely needed

                    settle_unsaved_files(self.writer)
                yield
            finally:
                self._lock_holder = 0

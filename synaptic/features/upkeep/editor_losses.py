"""Puts into the trash what a person's own editor emptied or removed.

The index holds no text, so the bytes of a note that an editor changed wait a week in
`.state/read/`, as a sync read them. When a later sync finds that a text of them is gone, they
are what `restore` brings back. Notes that nobody edited for longer have no copy.
"""

from __future__ import annotations

import stat
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from ...errors import Busy, JournalError, NotFound, Sentence
from ...index.rows import hash64
from ...journal import disk
from ...journal.journal import Journal
from ...journal.rewriting import OpenedFile, is_own_note, note_edit
from ...journal.saved import path_of_read, remove_old_copies
from ...language.words import words
from ...models import Texts, short_id
from ...notes.privacy import has_private_tag
from ...workspace.workspace import Workspace

MOST_FILES = 20
"""Of so many files a person may have edited each by hand; more are a checkout or a copy."""
MOST_BYTES = 500_000
"""The size of a file above which no copy of it is kept."""
PART_LEFT = 0.5
"""Less of its words than this, and a text counts as taken out. By eye."""


def keep_lost_texts(ws: Workspace, before: Mapping[str, int | None]) -> Texts:
    """Puts into the trash each text that is gone from the files that changed, and keeps what
    these hold now; returns a sentence on each file that is empty now.

    `before` has the digest of each file as the index had it, None of a new one, 0 of one that
    Synaptic wrote, whose copy only follows. While another process writes, nothing is kept.
    """
    journal = ws.own_journal
    own = [path for path in before if is_own_note(journal, path)]
    copies = {path: path_of_read(journal.state, path) for path in own}
    if len(own) > MOST_FILES:
        for copy in copies.values():
            disk.unlink(copy)
        return ()
    with suppress(Busy, JournalError, OSError):
        copied = [path for path in own if before[path] != 0 or copies[path].exists()]
        if copied:
            with journal.writing(0):
                return _keep_and_compare(journal, own, before, copied)
    return ()


def _keep_and_compare(
    journal: Journal,
    paths: Sequence[str],
    before: Mapping[str, int | None],
    copied: Sequence[str],
) -> Texts:
    """Does what `keep_lost_texts` says, under the lock; keeps copies of the files `copied`."""
    now = {path: _bytes_of(journal, path) for path in paths}
    emptied = tuple(_note_losses(journal, now, before))
    for path in copied:
        _keep(journal, path, now[path])
    remove_old_copies(journal.state / "read")
    return emptied


def _note_losses(
    journal: Journal, now: Mapping[str, bytes], before: Mapping[str, int | None]
) -> Iterator[Sentence]:
    """Puts the texts into the trash that these files have lost; yields a sentence on each file
    that is empty.
    """
    opened_files = {path: _as_read_before(journal, path, before[path]) for path in now}
    if not any(opened_files.values()):
        return
    present = sum(map(_count_words, now.values()), Counter[str]())
    for path, opened in opened_files.items():
        data = now[path]
        if not opened or has_private_tag(data) or not _has_lost(journal, opened, present):
            continue
        # no run: `undo` takes commands back, and nobody knows when this came
        ids = note_edit(journal, opened, waits=True, is_run=False)
        if ids and not data.strip() and journal.stamp(path):
            yield Sentence(_EMPTIED, path=path, id=short_id(ids[0]))


_EMPTIED = (
    "{path} was emptied in an editor: `synaptic restore {id}` brings back the text before it."
)


def _bytes_of(journal: Journal, path: str) -> bytes:
    """The bytes of a note, b"" of one that is gone."""
    with suppress(NotFound):
        return journal.read(path)
    return b""


def _as_read_before(journal: Journal, path: str, digest: int | None) -> OpenedFile | None:
    """The file as it was when a sync last read it; None where no copy has that digest."""
    if not digest:
        return None
    copy = path_of_read(journal.state, path)
    with suppress(OSError):
        data = copy.read_bytes()
        if hash64(data) == digest:
            return OpenedFile(path, journal.clock(), data, copy.stat())
    return None


def _has_lost(journal: Journal, opened: OpenedFile, present: Counter[str]) -> bool:
    """True if a text of the file lacks most of its words among those that are present in all
    the files that changed.
    """
    for entry in journal.parse(opened.path, opened.data).entries:
        text = _count_words(opened.data[entry.there.start : entry.there.end])
        if (text - present).total() > (1 - PART_LEFT) * text.total():
            return True
    return False


def _count_words(data: bytes) -> Counter[str]:
    return Counter(word for _, word in words(data.decode("utf-8", "replace")))


def _keep(journal: Journal, path: str, data: bytes) -> None:
    """Keeps the bytes of a file, with its mode; nothing of one that is gone, large, or holds
    private passages.
    """
    copy = path_of_read(journal.state, path)
    if not journal.stamp(path) or len(data) > MOST_BYTES or has_private_tag(data):
        disk.unlink(copy)
        return
    mode = stat.S_IMODE(journal.roots.place(path).stat().st_mode)
    disk.make_state_dir(copy.parent)
    disk.overwrite(copy, data, sync=False)
    copy.chmod(mode)

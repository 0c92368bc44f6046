"""Puts the entries and pictures of an import into the journal, and takes them out again."""

import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePosixPath

from ..errors import JournalError, NotFound
from ..files import PICTURE_FOLDER
from ..notes.blocks import usual_line_end
from ..notes.picture_kinds import is_picture_name, picture_media_type
from .changelog import FileChange
from .comments import find_ids
from .disk import inject_fault
from .draft_files import DraftFiles
from .folder import resolve_journal_path
from .journal import Journal
from .left_out import find_left_out
from .many_changes import BATCH, change_many
from .restoring import insert_texts
from .reverting import undo_change
from .runs import Block, Run, hash_of_block, open_import_runs
from .shelf import is_attachment
from .trash import TrashedText, file_hash
from .writer import LOCK_POLL_S, Draft, Stat

_PICTURE_LINK = re.compile(rb"%b/([^\s()\[\]<>\"']+)" % PICTURE_FOLDER.encode())
UPLOADS = "upload-"
"""Begins the name of the box of drafts with the files that a browser gives to an import."""
_TAKEN_BACK = "undone"
"""The box of drafts with the pictures of imports that were taken back."""
_PAUSE_S = 2 * LOCK_POLL_S
"""The time between two batches: those who wait for the lock look for it that often."""
_MOST_AT_ONCE = 2_000_000
"""Characters that are written under one lock."""


def insert_blocks(journal: Journal, run: Run) -> None:
    """Puts the blocks of a run into their files, as `insert_in_parts` does."""
    for _ in insert_in_parts(journal, run):
        pass


def insert_in_parts(journal: Journal, run: Run) -> Iterator[None]:
    """Puts the blocks of a run into their files, in order of time, each file written once, and
    many at once; yields after these, when others may write.

    The run is durable first. A block whose id stands in its file already is passed over, so
    that a run that was killed is finished by the same call. Raises JournalError, Busy or
    Changed; then the run stays open.
    """
    with journal.writing():
        if run.name not in open_import_runs(journal.state).names():
            open_import_runs(journal.state).put(run)
    for by_path in _batches(run):
        with journal.writing():
            makes = {
                path: partial(_insert, journal, path, blocks)
                for path, blocks in by_path.items()
            }
            done = change_many(journal.writer, makes)
            for path in makes.keys() - done.keys():  # it changed meanwhile
                journal.writer.change(path, makes[path])
            inject_fault("woven")
        time.sleep(_PAUSE_S)
        yield
    hashes = tuple(replace(block, text="") for block in run.blocks)
    with journal.writing():
        open_import_runs(journal.state).put(replace(run, open=False, blocks=hashes))


def _batches(run: Run) -> Iterator[dict[str, list[Block]]]:
    """Yields the blocks by path, as many files as are written while others wait."""
    batch: dict[str, list[Block]] = {}
    chars = 0
    for path, blocks in run.by_path().items():
        batch[path] = blocks
        chars += sum(len(block.text) for block in blocks)
        if len(batch) == BATCH or chars > _MOST_AT_ONCE:
            yield batch
            batch, chars = {}, 0
    if batch:
        yield batch


def _insert(
    journal: Journal, path: str, blocks: Sequence[Block], data: bytes, _: Stat
) -> Draft | None:
    """The draft of a file with the blocks that it lacks."""
    there = find_ids(data)
    texts = {block.id: block.text.encode() for block in blocks if block.id not in there}
    if not texts:
        return None
    if not data:
        data = journal.new_file_heading(path, next(iter(texts.values())))
    here = journal.parse(path, data).entries
    woven = insert_texts(journal, path, data, here, texts)
    now = journal.parse(path, woven).entries
    others = [entry for entry in now if entry.id not in texts]
    if others != list(here) or len(now) != len(others) + len(texts):
        raise JournalError(
            f"No entry can be inserted into {journal.place(path)}: a code fence, a "
            "comment or a <private> is not closed there.",
            "Close it and import again.",
        )
    return Draft(woven)


@dataclass(frozen=True, kw_only=True)
class _FileAfterRemoval(Draft):
    """The bytes of a file after blocks were removed from it, and the `ids` of those blocks."""

    ids: list[str]


def remove_blocks(
    journal: Journal, path: str, blocks: Collection[Block], whole: FileChange | None = None
) -> list[str]:
    """Moves the blocks of an import that are unchanged in this file to the trash; returns their
    ids. `whole` is the record of the import of them all: a file that did not change since is
    then as it was before, byte for byte.
    """
    hashes = {block.id: block.hash for block in blocks}

    def make(data: bytes, status: Stat) -> _FileAfterRemoval | None:
        rest = data
        pieces = list[TrashedText]()
        for entry in reversed(journal.parse(path, data).entries):
            place = entry.there
            block = data[place.start : place.end]
            if hashes.get(entry.id) == hash_of_block(block):
                now = journal.clock()
                piece = TrashedText(entry.id, path, now, "undone", entry.title, block)
                pieces.insert(0, piece)
                rest = rest[: place.start] + rest[place.end :]
                if not rest[place.start :]:  # the last entry: one line end stays
                    rest = rest.rstrip(b"\r\n") + usual_line_end(rest)
        if not pieces:
            return None
        journal.trash.put(*pieces)
        heading = journal.new_file_heading(path, pieces[-1].text).strip()
        ids = [piece.id for piece in pieces]
        left = None if rest.strip() == heading else rest
        if whole and whole.now == file_hash(data) and len(pieces) == len(blocks):
            left = undo_change(whole, data)
        return _FileAfterRemoval(left, ids=ids, in_trash=True)

    with journal.writing():
        draft = journal.writer.change(path, make)
    time.sleep(_PAUSE_S)
    return draft.ids if draft else []


def save_picture(journal: Journal, name: str, read: Callable[[], bytes]) -> str:
    """Stores an imported picture or other file under `name` unless it exists, and returns its
    path. Raises ValueError if it is not a picture and has the name of one, or is none that a
    page may show.
    """
    plain = name == PurePosixPath(name).name and "\\" not in name and name[0] != "."
    if not plain or not is_attachment(name):
        raise ValueError("its name is not the name of a picture or of a file for a note")
    path = f"{PICTURE_FOLDER}/{name}"
    if not resolve_journal_path(journal.roots, path).exists():
        data = read()
        if is_picture_name(name) and not picture_media_type(data[:32]):
            raise ValueError("it is not a picture")
        with journal.writing():
            journal.writer.change(path, lambda _, status: None if status else Draft(data))
    return path


def remove_pictures(journal: Journal, pictures: Mapping[str, str]) -> None:
    """Removes imported pictures (paths with their hashes), except those that were changed or
    that a note still shows. A note that cannot be read may show each of them. They wait beside
    the files of drafts, and as long, for `bring_pictures_back`.
    """
    in_use: set[str] = set()
    if pictures and any(one.reason == "unreadable" for one in find_left_out(journal.roots)):
        return
    for stamp in journal.scan() if pictures else ():
        with suppress(NotFound):
            in_use.update(map(bytes.decode, _PICTURE_LINK.findall(journal.read(stamp.path))))
    for path, ours in pictures.items():
        name = PurePosixPath(path).name
        if name in in_use:
            continue

        def drop(data: bytes, status: Stat, ours: str = ours, name: str = name) -> Draft | None:
            if not status or hash_of_block(data) != ours:
                return None
            drafts = DraftFiles(journal.state)
            try:
                drafts.find(_TAKEN_BACK, name)
            except NotFound:
                drafts.add(_TAKEN_BACK, name, data)
            return Draft(None)

        with journal.writing():
            journal.writer.change(path, drop)


def bring_pictures_back(journal: Journal, text: bytes) -> None:
    """Puts the pictures that a text shows and that `remove_pictures` took away into the
    journal again.
    """
    drafts = DraftFiles(journal.state)
    for name in map(bytes.decode, _PICTURE_LINK.findall(text)):
        with suppress(NotFound):
            save_picture(journal, name, drafts.find(_TAKEN_BACK, name).read_bytes)

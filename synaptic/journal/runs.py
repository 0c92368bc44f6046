"""Keeps runs, which change several files as one: a file in `.state/imports/` holds all blocks
of an import until they are in the journal, one in `.state/renames/` all edits of a rename until
they are made.

The file is JSON, with the blocks sorted by path, and durable before the journal changes. When
every block stands in its file, their texts are left out; by the hashes `undo` sees what was
edited since.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, field, replace
from itertools import groupby
from pathlib import Path

from ..errors import JournalError
from ..models import Entry, Json, frozen
from ..notes.link_places import Splice
from ..notes.markdown import render_verified_block
from . import disk

MOST_BYTES = 4_000_000_000
"""The most bytes of a run: an import may bring years of notes at once."""


@frozen
class Block:
    """An entry of a run: `text` is its block, `hash` is its `hash_of_block`."""

    id: str
    path: str
    text: str
    hash: str

    @classmethod
    def from_entry(cls, path: str, entry: Entry) -> Block:
        block = render_verified_block(entry)
        return cls(entry.id, path, block.decode("utf-8", "surrogatepass"), hash_of_block(block))


@frozen
class FileEdit:
    """The pieces of a file that a rename replaces; `to` is its path afterwards. `before` and
    `after` are the hashes (`file_hash`) of its bytes.
    """

    path: str
    to: str
    before: str
    after: str
    pieces: tuple[Splice, ...] = ()


@frozen
class Run:
    """The content of the file of a run. `open`: not all of it stands in the journal. `pictures`
    are hashes by paths of the pictures that the entries of an import show. `settings` are the
    items that an import adds to lists of config.toml, by the names of the settings.

    Of a rename: its `edits`; the `ids` that entries without a written id lose, each with the
    new one; `rules` are rows for the log of preferences, `folders` those that it makes, and
    `left_folders` those that it removes when they are empty. `back`: it takes the rename of its
    name back, and `left` are the edits that stay.
    """

    name: str
    blocks: tuple[Block, ...] = ()
    open: bool = True
    pictures: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Sequence[str]] = field(default_factory=dict)
    edits: tuple[FileEdit, ...] = ()
    ids: Mapping[str, str] = field(default_factory=dict)
    rules: tuple[Mapping[str, str], ...] = ()
    folders: tuple[str, ...] = ()
    left_folders: tuple[str, ...] = ()
    back: bool = False
    left: tuple[FileEdit, ...] = ()

    def by_path(self) -> dict[str, list[Block]]:
        return {
            path: list(blocks)
            for path, blocks in groupby(self.blocks, lambda block: block.path)
        }


class Runs:
    """A folder of runs, which `open_import_runs` and `open_rename_runs` name. Whoever changes a
    run holds the write lock.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def names(self) -> list[str]:
        """The runs, of each source the oldest first."""
        with disk.disk_errors(self.folder, "read"):
            return sorted(path.name for path in self.folder.glob("[!.]*"))

    def newest_first(self) -> list[str]:
        """The runs that can be taken back; their names end with the time of the run."""
        return sorted(self.names(), key=lambda name: name.split("-")[-2:], reverse=True)

    def all(self) -> Iterator[Run]:
        return map(self.get, self.names())

    def recent(self, days: int) -> Iterator[Run]:
        """The runs that began, or were changed, in the last days of the machine's clock."""
        since = time.time() - days * 86400
        for name in self.names():
            if (self.folder / name).stat().st_mtime > since:
                yield self.get(name)

    def get(self, name: str) -> Run:
        """The run in the file of this name."""
        path = self.folder / name
        with disk.disk_errors(path, "read"):
            data = disk.read_state_file(path, MOST_BYTES)
        try:
            fields = json.loads(data)
            fields["blocks"] = tuple(Block(**block) for block in fields["blocks"])
            for key in ("edits", "left"):
                fields[key] = tuple(map(_read_edit, fields.get(key, ())))
            return Run(**fields)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise JournalError(
                "{path} is damaged and cannot be read.",
                "Bring it back from a backup, or move it away.",
                path=path,
            ) from error

    def free_name(self, name: str) -> str:
        """The name of a new run: this one, or with a letter behind it if such a run is done."""
        done = {run.name for run in self.all() if not run.open}
        while name in done:
            name += "a"
        return name

    def open(self) -> list[Run]:
        """The runs that were interrupted."""
        return [run for run in self.all() if run.open]

    def purge(self, id: str) -> bool:
        """Removes the text of this entry from open imports, and the renames that gave or took
        its id; returns True if there was one.
        """
        had_copies = False
        for name in self.names():
            run = self.get(name)
            if id in (*run.ids, *run.ids.values()):
                self.drop(name)
                had_copies = True
            elif run.open and any(block.id == id for block in run.blocks):
                others = tuple(block for block in run.blocks if block.id != id)
                self.put(replace(run, blocks=others))
                had_copies = True
        return had_copies

    def drop(self, name: str) -> None:
        (self.folder / name).unlink(missing_ok=True)

    def put(self, run: Run, name: str = "") -> None:
        """Writes the file of a run durably, whole or not at all; its name is that of the run,
        or `name`.
        """
        disk.make_state_dir(self.folder)
        with disk.disk_errors(self.folder):
            for torn in self.folder.glob(".*"):  # of a process that was killed
                torn.unlink()
            data = json.dumps(asdict(run), indent=0).encode()
            disk.overwrite(self.folder / (name or run.name), data)
            disk.inject_fault("run-written")


def open_import_runs(state: Path) -> Runs:
    """The imports of a home with this state folder."""
    return Runs(state / "imports")


def open_rename_runs(state: Path) -> Runs:
    """The folder with the rename of a home that is not finished, in the file UNFINISHED."""
    return Runs(state / disk.RENAMES)


def _read_edit(fields: Json) -> FileEdit:
    pieces = tuple(Splice(*piece) for piece in fields["pieces"])
    return FileEdit(**fields | {"pieces": pieces})


def hash_of_block(block: bytes) -> str:
    """The hash of a block. Line ends and blank lines around it do not count."""
    return hashlib.sha256(block.replace(b"\r\n", b"\n").strip(b"\n")).hexdigest()[:16]

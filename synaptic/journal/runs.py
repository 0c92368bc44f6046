"""Keeps unfinished imports: a file in `.state/imports/` holds all blocks of one run until they
are in the journal.

The file is JSON, with the blocks sorted by path, and durable before the journal changes. When
every block stands in its file, their texts are left out; by their hashes `undo` sees what was
edited since.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, field, replace
from itertools import groupby
from pathlib import Path

from ..models import Entry, frozen
from ..notes.markdown import render_verified_block
from . import disk


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
class Run:
    """The content of the file of a run. `open`: not all of its blocks stand in the journal.
    `pictures` are hashes by paths of the pictures that its entries show.
    """

    name: str
    blocks: tuple[Block, ...]
    open: bool = True
    pictures: Mapping[str, str] = field(default_factory=dict)

    def by_path(self) -> dict[str, list[Block]]:
        return {
            path: list(blocks)
            for path, blocks in groupby(self.blocks, lambda block: block.path)
        }


class Runs:
    """The folder of runs. Whoever changes a run holds the write lock."""

    def __init__(self, state: Path) -> None:
        self.folder = state / "imports"

    def names(self) -> list[str]:
        """The runs, of each source the oldest first."""
        with disk.disk_errors(self.folder, "read"):
            return sorted(path.name for path in self.folder.glob("[!.]*"))

    def all(self) -> Iterator[Run]:
        for name in self.names():
            with disk.disk_errors(self.folder / name, "read"):
                fields = json.loads((self.folder / name).read_bytes())
            yield Run(
                **fields | {"blocks": tuple(Block(**block) for block in fields["blocks"])}
            )

    def open(self) -> list[Run]:
        """The runs that were interrupted."""
        return [run for run in self.all() if run.open]

    def purge(self, id: str) -> bool:
        """Removes the text of this entry from open runs; True if one held it."""
        runs = [run for run in self.open() if any(block.id == id for block in run.blocks)]
        for run in runs:
            self.put(
                replace(run, blocks=tuple(block for block in run.blocks if block.id != id))
            )
        return bool(runs)

    def drop(self, name: str) -> None:
        (self.folder / name).unlink(missing_ok=True)

    def put(self, run: Run) -> None:
        """Writes the file of a run durably, whole or not at all."""
        disk.make_dirs(self.folder, private=True)
        with disk.disk_errors(self.folder):
            for torn in self.folder.glob(".*"):  # of a process that was killed
                torn.unlink()
            disk.overwrite(self.folder / run.name, json.dumps(asdict(run), indent=0).encode())
            disk.inject_fault("run-written")


def hash_of_block(block: bytes) -> str:
    """The hash of a block. Line ends and blank lines around it do not count."""
    return hashlib.sha256(block.replace(b"\r\n", b"\n").strip(b"\n")).hexdigest()[:16]

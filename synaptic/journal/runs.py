"""Imports on their way: a file in `.state/imports/` holds all blocks of one run until they stand in the journal.

The file is JSON by line: what the run is, then each entry with its path and its block, sorted by path. It is durable
before the journal changes. When every block stands in its file, the blocks are replaced by their hashes, by which
`undo` sees what was edited since.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from . import disk


@dataclass(frozen=True, slots=True)
class Block:
    """An entry of a run: `text` is its block as in a spool, `h1` the heading of a new file, `hash` that of the text."""

    id: str
    path: str
    h1: str
    text: str = ""
    hash: str = ""

    @property
    def known(self) -> str:
        return self.hash or hash_of(self.text.encode())


@dataclass(frozen=True, slots=True)
class Run:
    """A run as its file tells it. `open`: not all of its blocks stand in the journal. `undone`: it was taken back."""

    name: str
    source: str
    journal: str
    blocks: tuple[Block, ...]
    open: bool = True
    undone: bool = False

    def by_path(self) -> Iterator[tuple[str, list[Block]]]:
        for path, blocks in groupby(self.blocks, lambda block: block.path):
            yield path, list(blocks)


class Runs:
    """The folder of runs. Whoever changes a run holds the write lock."""

    def __init__(self, state: Path) -> None:
        self.folder = state / "imports"

    def names(self) -> list[str]:
        """The runs, oldest first."""
        return sorted(path.name for path in self.folder.glob("[!.]*")) if self.folder.is_dir() else []

    def get(self, name: str) -> Run:
        with disk.disk_errors(self.folder / name, "read"):
            head, *blocks = (self.folder / name).read_text("utf-8").splitlines()
        return Run(blocks=tuple(Block(**json.loads(line)) for line in blocks), **json.loads(head))

    def open(self) -> list[Run]:
        """The runs that were interrupted."""
        runs = map(self.get, self.names())
        return [run for run in runs if run.open and not run.undone]

    def purge(self, id: str) -> bool:
        """Whether an open run held the text of this entry. It holds it no more."""
        found = [run for run in self.open() if any(block.id == id for block in run.blocks)]
        for run in found:
            self.put(replace(run, blocks=tuple(block for block in run.blocks if block.id != id)))
        return bool(found)

    def drop(self, name: str) -> None:
        (self.folder / name).unlink(missing_ok=True)

    def put(self, run: Run) -> None:
        """Writes the file of a run durably, whole or not at all."""
        disk.make_dirs(self.folder, private=True)
        head = {"name": run.name, "source": run.source, "journal": run.journal, "open": run.open, "undone": run.undone}
        rows: Iterable[dict[str, object]] = (head, *map(_row, run.blocks))
        with disk.disk_errors(self.folder):
            temp = self.folder / f".{run.name}"
            temp.unlink(missing_ok=True)
            data = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
            disk.write_new(temp, data, private=True, step="run-torn")
            temp.replace(self.folder / run.name)
            disk.sync_dir(self.folder)
            disk.fault("run-written")


def hash_of(block: bytes) -> str:
    """What tells a block from an edited one: line ends and blank lines around it do not count."""
    return hashlib.sha256(block.replace(b"\r\n", b"\n").strip(b"\n")).hexdigest()[:16]


def _row(block: Block) -> dict[str, object]:
    return {name: value for name in block.__slots__ if (value := getattr(block, name))}

"""What every reader yields, and the table of readers.

A reader is a module of this room with two functions:

    find(home: Path, environ: Mapping[str, str]) -> list[Path]
        the places below this home folder, or where `environ` says, in which the program keeps its data and that exist
    read(path: Path, skipped: Skipped) -> Iterator[Record]
        the records of one place, or of a file or folder that a person names, in any order. What is damaged is told to
        `skipped`, the rest is read. Raises InvalidArgument where the path holds nothing of this program.
"""

from __future__ import annotations

import importlib
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, cast

from ..errors import InvalidArgument, one_of
from ..models import EntryType, proof_of

Skipped = Callable[[str, str], None]
"""Is told where a record stands that cannot be taken, and why: `skipped("memory.jsonl:12", "it is no JSON")`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What becomes one entry.

    `key` is the source's own name of it, the same at each reading and of no other record of that source: an entry's id
    is made of it. `text` is Markdown. `at` is when it was written; naive means the local zone. `project` is its name
    and `folder` the one it was written in, of which the project is found where it has no name. `growing`: the source
    may say more of it later, as of a session that goes on; its entry follows until somebody edits it. `until` is when
    the last of it was written, and `lines` are the first and the last line of the source that it tells of. `pictures`
    are (name, function that reads its bytes) of what the text shows as `![](attachments/NAME)`. `proposed`: what
    a person may want to keep of it, each with key, type, text, at (ISO 8601) and line.
    """

    key: str
    text: str
    at: datetime
    title: str = ""
    type: EntryType = "note"
    tags: tuple[str, ...] = ()
    project: str | None = None
    folder: str | None = None
    branch: str | None = None
    importance: int | None = None
    files: tuple[str, ...] = ()
    by: str | None = None
    growing: bool = False
    until: datetime | None = None
    lines: tuple[int, int] | None = None
    pictures: tuple[tuple[str, Callable[[], bytes]], ...] = ()
    proposed: tuple[dict[str, Any], ...] = ()


class Reader(Protocol):
    """A module that reads one program's files."""

    def find(self, home: Path, environ: Mapping[str, str]) -> list[Path]: ...

    def read(self, path: Path, skipped: Skipped) -> Iterator[Record]: ...


IN_PLACE = ("obsidian", "logseq", "markdown")
"""Folders of Markdown, which need no reader: they are read where they lie."""
READERS = {
    "claude-code": "claude_code",
    "codex": "codex",
    "gemini": "gemini",
    "opencode": "opencode",
    "claude-code-memory": "claude_memory",
    "server-memory": "server_memory",
    "basic-memory": "basic_memory",
    "claude-mem": "claude_mem",
    "mcp-memory-service": "mcp_memory_service",
    "openclaw": "openclaw",
    "jrnl": "jrnl",
    "day-one": "day_one",
    "notion": "pages",
    "apple-notes": "pages",
    "chatgpt": "conversations",
    "claude-ai": "conversations",
}
"""The module that reads a source, by the source's name; in the order in which they are shown."""


def reader_of(source: str) -> Reader:
    """The reader of a source. Raises InvalidArgument for an unknown name."""
    return cast(Reader, importlib.import_module(f".{READERS[one_of(READERS, source, 'source')]}", __package__))


@contextmanager
def sqlite_copy(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection to a private copy of a database and its log, as a context; the copy is deleted afterwards.

    A program that writes to it meanwhile is not in the way. Raises InvalidArgument for a file that is no database.
    """
    with tempfile.TemporaryDirectory(prefix="synaptic-") as folder:
        copy = Path(folder) / "copy.db"
        parts = [(path.with_name(path.name + end), copy.with_name(copy.name + end)) for end in ("", "-wal")]
        for _ in range(5):  # until nothing is written while it is copied
            before = [proof_of(part.stat()) for part, _ in parts if part.is_file()]
            for part, to in parts:
                if part.is_file():
                    shutil.copyfile(part, to)
            if before == [proof_of(part.stat()) for part, _ in parts if part.is_file()]:
                break
        try:
            with closing(sqlite3.connect(copy)) as db:
                db.row_factory = sqlite3.Row
                db.execute("SELECT count(*) FROM sqlite_schema").fetchone()
                yield db
        except sqlite3.DatabaseError as error:
            raise InvalidArgument(f"{path} cannot be read as a database: {error}.", hint="Name its file.") from error

"""What every reader yields, and the table of readers."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, cast

from ..errors import one_of
from ..models import EntryType

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
    """What reads one program's files: a module of this room, or its READER."""

    def find(self, home: Path, environ: Mapping[str, str]) -> list[Path]:
        """The places below this home folder, or where `environ` says, where the program's data is."""

    def read(self, path: Path, skipped: Skipped) -> Iterator[Record]:
        """The records of one place, or of a file or folder that a person names, in any order.

        What is damaged is told to `skipped`, the rest is read. Raises InvalidArgument where nothing is of this program.
        """


IN_PLACE = ("obsidian", "logseq", "markdown")
"""Folders of Markdown, which need no reader: they are read where they lie."""
_NAMED_SO = """claude-code codex gemini opencode claude-code-memory server-memory basic-memory claude-mem
mcp-memory-service openclaw jrnl day-one"""
_OTHERS = {"notion": "pages", "apple-notes": "pages", "chatgpt": "conversations", "claude-ai": "conversations"}
READERS = {source: source.replace("-", "_") for source in _NAMED_SO.split()} | _OTHERS
"""The module that reads a source, by the source's name; in the order in which they are shown."""


def reader_of(source: str) -> Reader:
    """The reader of a source. Raises InvalidArgument for an unknown name."""
    module = importlib.import_module(f".{READERS[one_of(READERS, source, 'source')]}", __package__)
    return cast(Reader, getattr(module, "READER", module))

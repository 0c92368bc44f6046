"""The record, which every reader yields, and the table of readers."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol, cast

from ..errors import SynapticError, one_of
from ..models import EntryType

Skipped = Callable[[str, str], None]
"""Receives the place of a record that cannot be imported, and the reason:
`skipped("memory.jsonl:12", "it is no JSON")`.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The content of one future entry.

    `key`: the source's own id; an entry's id is made of it, so it never changes.
    `text`: Markdown.
    `at`: the time of writing; a naive one is in the local zone.
    `project`, `folder`: the project's name, or the folder by which it is found.
    `growing`: the source may extend the record later, like a session that goes on; its entry
    follows until somebody edits it.
    `until`: the time of its last part.
    `lines`: first and last line in the source.
    `pictures`: (name, function that reads the bytes) of each `![](attachments/imported/NAME)`.

    Raises ValueError for a value that is no text, and for an empty key.
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

    def __post_init__(self) -> None:
        for name in ("key", "text", "title", "project", "folder", "branch", "by"):
            _check_text(f"its {name}", getattr(self, name) or "")
        for name in ("tags", "files"):
            for value in getattr(self, name):
                _check_text(f"one of its {name}", value)
        if not self.key:
            raise ValueError("it has no id")


def _check_text(name: str, value: object) -> None:
    if not isinstance(value, str):
        raise ValueError(f"{name} is no text, but {value!r:.60}")


@contextmanager
def reporting(skipped: Skipped, where: str) -> Iterator[None]:
    """Reports a record that cannot be read to `skipped` and goes on after it.

    Any exception may come: other programs change their formats, and anybody may have written
    the file.
    """
    try:
        yield
    except SynapticError as error:
        skipped(where, error.message)
    except KeyError as error:
        skipped(where, f"it lacks {error}")
    except OSError as error:
        skipped(where, f"it cannot be read: {error.strerror or error}")
    except ValueError as error:
        skipped(where, f"{error!s:.300}")
    except Exception as error:
        skipped(where, f"it makes no sense: {error!r:.300}")


class Reader(Protocol):
    """Reads one program's files: a module of this room, or its READER."""

    def find(self, home: Path, environ: Mapping[str, str]) -> list[Path]:
        """The places of the program's data below `home`, or where `environ` says."""

    def read(self, path: Path, skipped: Skipped) -> Iterator[Record]:
        """The records of a place, or of a file or folder that a person names, in any order.

        Damage is reported to `skipped`. Raises InvalidArgument if nothing is of this program.
        """


IN_PLACE = ("obsidian", "logseq", "markdown")
"""Sources that need no reader: Synaptic reads these folders of Markdown where they are."""
READERS = {
    "claude-code": "claude_code",
    "codex": "codex",
    "gemini": "gemini",
    "opencode": "opencode",
    "claude-code-memory": "claude_code_memory",
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
"""The module of each source, in the order in which help lists them."""


def reader_of(source: str) -> Reader:
    """The reader of a source. Raises InvalidArgument for an unknown name."""
    name = READERS[one_of(READERS, source, "source")]
    module = importlib.import_module(f".{name}", __package__)
    return cast(Reader, getattr(module, "READER", module))

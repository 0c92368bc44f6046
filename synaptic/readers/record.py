"""What every reader yields, and the table of readers."""

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
"""Is told where a record stands that cannot be taken, and why: `skipped("memory.jsonl:12", "it
is no JSON")`.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What becomes one entry.

    `key` is the source's own name of it, the same at each reading and of no other record of
    that source: an entry's id is made of it. `text` is Markdown. `at` is when it was written;
    naive means the local zone. `project` is its name and `folder` the one it was written in, of
    which the project is found where it has no name. `growing`: the source may say more of it
    later, as of a session that goes on; its entry follows until somebody edits it. `until` is
    when the last of it was written, and `lines` are the first and the last line of the source
    that it tells of. `pictures` are (name, function that reads its bytes) of what the text
    shows as `![](attachments/imported/NAME)`.

    Raises ValueError where a text is none, and without a key.
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
            if not isinstance(getattr(self, name) or "", str):
                raise ValueError(f"its {name} is no text, but {getattr(self, name)!r:.60}")
        for name in ("tags", "files"):
            if wrong := [value for value in getattr(self, name) if not isinstance(value, str)]:
                raise ValueError(f"one of its {name} is no text, but {wrong[0]!r:.60}")
        if not self.key:
            raise ValueError("it has no id")


@contextmanager
def told(skipped: Skipped, where: str) -> Iterator[None]:
    """A context that tells of a record that cannot be taken, whatever it lacks or has too much,
    and goes on behind it.

    Other programs change their files as they like, and anybody may have written one.
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
    """What reads one program's files: a module of this room, or its READER."""

    def find(self, home: Path, environ: Mapping[str, str]) -> list[Path]:
        """The places below this home folder, or where `environ` says, where the program's data
        is.
        """

    def read(self, path: Path, skipped: Skipped) -> Iterator[Record]:
        """The records of one place, or of a file or folder that a person names, in any order.

        What is damaged is told to `skipped`, the rest is read. Raises InvalidArgument where
        nothing is of this program.
        """


IN_PLACE = ("obsidian", "logseq", "markdown")
"""Folders of Markdown, which need no reader: they are read where they lie."""
_NAMED_SO = """claude-code codex gemini opencode claude-code-memory server-memory basic-memory claude-mem
mcp-memory-service openclaw jrnl day-one"""
_OTHERS = {
    "notion": "pages",
    "apple-notes": "pages",
    "chatgpt": "conversations",
    "claude-ai": "conversations",
}
READERS = {source: source.replace("-", "_") for source in _NAMED_SO.split()} | _OTHERS
"""The module that reads a source, by the source's name; in the order in which they are shown.
"""


def reader_of(source: str) -> Reader:
    """The reader of a source. Raises InvalidArgument for an unknown name."""
    module = importlib.import_module(
        f".{READERS[one_of(READERS, source, 'source')]}", __package__
    )
    return cast(Reader, getattr(module, "READER", module))

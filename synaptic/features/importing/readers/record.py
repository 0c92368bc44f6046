"""The record, which every reader yields, and the table of readers."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ....errors import Sentence, SynapticError, match_valid_name
from ....models import EntryType, Json, Texts
from ....plugin import load_module, reader_modules

Skipped = Callable[[str, str], None]
"""Reports a record that cannot be imported, as (place, reason): `skipped("memory.jsonl:12", "it
is not JSON")`.
"""


_TEXTS = "key text title tags project folder branch files by".split()


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The content of one future entry, as every reader yields it.

    `key`: the source's own id; an entry's id is made of it, so it never changes.
    `text`: Markdown.
    `at`: the time of writing; a naive one is in the local zone. Not `dated`, it is that of the
    file, which differs on another machine.
    `project`, `folder`: the project's name, or the folder by which it is found.
    `growing`: the source may extend the record later, like a session that goes on; its entry
    follows until somebody edits it.
    `until`: the time of its last part.
    `lines`: first and last line in the source.
    `place`: where the source keeps it; a record with a new key at a known place is one that was
    corrected in the source.
    `id`: that of an entry which Synaptic exported; `source` is where that came from, and
    `marks` are further attributes that it had as an Entry.
    `pictures`: (name, function that reads the bytes) of each `![](attachments/imported/NAME)`.

    Raises ValueError for a value that is not text, and for an empty key.
    """

    key: str
    text: str
    at: datetime
    dated: bool = True
    title: str = ""
    type: EntryType = "note"
    tags: Texts = ()
    project: str | None = None
    folder: str | None = None
    branch: str | None = None
    importance: int | None = None
    files: Texts = ()
    by: str | None = None
    growing: bool = False
    until: datetime | None = None
    lines: tuple[int, int] | None = None
    place: str = ""
    id: str = ""
    source: str = ""
    marks: Json = field(default_factory=dict)
    pictures: tuple[tuple[str, Callable[[], bytes]], ...] = ()

    def __post_init__(self) -> None:
        for name in _TEXTS:
            value = getattr(self, name)
            for text in value if isinstance(value, tuple) else (value,):
                if not isinstance(text, str | None):
                    raise ValueError(f"{text!r:.60} in its {name} is not text")
        if not self.key:
            raise ValueError("the record has no id")

    @property
    def is_correction(self) -> bool:
        """True if a record that grew is one that a person corrected in the source."""
        return bool(self.place or self.id)


@contextmanager
def report_errors(skipped: Skipped, where: str) -> Iterator[None]:
    """Runs the block that reads one record; reports any exception in it to `skipped` and
    continues after the block.

    Any exception may come: other programs change their formats, and anybody may have written
    the file. A package that is not installed is no fault of the record: that error passes.
    """
    try:
        yield
    except ModuleNotFoundError:
        raise
    except SynapticError as error:
        skipped(where, error.message)
    except KeyError as error:
        skipped(where, f"it lacks {error}")
    except OSError as error:
        skipped(where, f"{error.strerror or error!s:.300}")
    except ValueError as error:
        skipped(where, reason_of(error))
    except Exception as error:
        skipped(where, f"it cannot be understood: {error!r:.300}")


def reason_of(error: Exception) -> str:
    """What an error says: the sentence with which it was raised, if it was raised with one."""
    first = next(iter(error.args), "")
    return first if isinstance(first, Sentence) else f"{error!s:.300}"


IN_PLACE = ("obsidian", "logseq", "markdown", "memories")
"""Sources without a reader: Synaptic reads these folders of Markdown where they are."""
MEMORIES = {
    "claude": ".claude/projects/*/memory",
    "codex": ".codex/memories",
    "gemini": ".gemini/tmp/*/memory",
    "gemini-all": ".gemini/GEMINI.md",
}
"""Patterns below the home folder of the files in which agents keep their own memories as
Markdown, as in Claude Code 2.1, Codex 0.169 and Gemini CLI 0.61.
"""
READERS = {
    "claude-code": "claude_code",
    "codex": "codex",
    "gemini": "gemini",
    "opencode": "agents",
    "qwen": "agents",
    "copilot": "agents",
    "crush": "agents",
    "cline": "agents",
    "aider": "agents",
    "cursor": "editor_chats",
    "vscode": "editor_chats",
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
    "evernote": "evernote",
    "documents": "documents",
    "tables": "tables",
    "chatgpt": "conversations",
    "claude-ai": "conversations",
}
"""Maps each source to its reader's module, in the order in which help lists them."""


def readers_by_source() -> dict[str, str]:
    """Maps the name of each source to its reader's module; sources of plug-ins come last."""
    return {
        source: f"{__package__}.{name}" for source, name in READERS.items()
    } | reader_modules()


def find_reader(source: str) -> Any:
    """Returns the reader of a source: an object with `read` and maybe `find`. Raises
    InvalidArgument for an unknown name.

    `read(path, skipped)` yields the records of a place, or of a file or folder that a person
    names, in any order; it reports damage to `skipped`, and raises InvalidArgument if nothing
    is of this program. `find(home, environ)`, which not all have, returns the places of the
    program's data below `home`, or where `environ` says.
    """
    modules = readers_by_source()
    module = load_module(modules[match_valid_name(modules, source, "source")])
    of_module = getattr(module, "READER", module)
    return getattr(module, "BY_SOURCE", {}).get(source, of_module)

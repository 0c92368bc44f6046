"""A session of an agent as events, and helpers for the readers of transcripts."""

import io
import json
import os
import re
import sqlite3
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import IO, Literal

from ....errors import InvalidArgument
from ....files import DATA, open_regular_file
from ....models import Json
from .record import Skipped, find_reader, report_errors
from .shared import first_valid_time, open_sqlite_copy, run_statement, text_at, value_at
from .source import RECORD_BYTES, UNPACKED_BYTES, json_values, read_json

Kind = Literal["asked", "said", "ran", "edited"]
ROLES: dict[object, Kind] = {"user": "asked", "human": "asked", "assistant": "said"}
EPOCH = datetime.fromtimestamp(0, UTC)
PATH_KEYS = ("file_path", "filePath", "notebook_path", "path", "relativeWorkspacePath")
"""The keys of tool arguments that hold the path of an edited file, for all clients."""
TABLE = tomllib.loads((DATA / "transcripts.toml").read_text("utf-8"))
PATTERNS = {
    name: re.compile(pattern, re.MULTILINE | re.DOTALL)
    for name, pattern in TABLE["patterns"].items()
}


@dataclass(slots=True, eq=False)
class Event:
    """One event of a session: a request, an answer, a command or an edited file.

    `line`: its line in the transcript, or the number of its message in a database; 0 if a
    subagent did it.
    `text`: the request, the answer, the command, or the path from the checkout; "" if the
    command was refused or the edit failed.
    `status`: the exit status of a command, None if unknown; `error`: the line that names the
    failure; `commit`: subject and hash of a commit.
    """

    kind: Kind
    line: int
    at: datetime
    text: str
    branch: str
    status: int | None = None
    error: str = ""
    commit: str = ""


@dataclass(slots=True)
class Session:
    """A session of an agent, with its events up to the end of the transcript.

    `folder`: where it began; `title`: the client's own; `at`: the time of the next event.
    """

    key: str
    client: str
    folder: str = ""
    title: str = ""
    branch: str = ""
    events: list[Event] = field(default_factory=list)
    calls: dict[str, list[Event]] = field(default_factory=dict)
    at: datetime = EPOCH

    def set_time(self, value: object) -> None:
        """Sets the time of the events that are added next; an invalid value changes nothing."""
        with suppress(ValueError, OverflowError, OSError):
            self.at = (first_valid_time(value) or self.at).astimezone()

    def add(self, kind: Kind, line: int, content: object) -> Event:
        """Adds an event and returns it; text that a program wrote in the person's name, and
        repeated text, is left out.
        """
        text = text_at(content)
        checkout = _find_checkout(self.folder)
        if kind == "asked":
            text = PATTERNS["quoted"].sub(r"\1", PATTERNS["injected"].sub("", text).strip())
        elif kind == "edited" and text:
            path = os.path.normpath(Path(self.folder, text))
            text = path.removeprefix(f"{checkout}/")
        text = text.strip().removeprefix(f"cd {checkout} && ")
        event = Event(kind, line, self.at, text, self.branch)
        before = [(last.kind, last.text) for last in self.events[-1:]]
        is_repeated = kind in ("asked", "said") and before == [(kind, text)]
        if text and not is_repeated:
            self.events.append(event)
        return event

    def add_call(self, line: int, call: object, name: str, arguments: str, id: str) -> None:
        """Adds the events of a tool call: a command, edited files, or none. `name`, `arguments`
        and `id` are the keys in `call` of the tool's name, its arguments (an object or JSON)
        and the id of the call.
        """
        values = value_at(call, arguments)
        with suppress(ValueError):
            values = read_json(values)
        if not isinstance(values, dict):
            values = {"command": values}
        tool = text_at(call, name).lower()
        command = _read_command(values)
        events = self.calls.setdefault(text_at(call, id), [])
        if "*** Begin Patch" in command:
            for path in PATTERNS["patched"].findall(command):
                events.append(self.add("edited", line, path))
        elif tool in TABLE["shells"]:
            events.append(self.add("ran", line, command))
        elif tool in TABLE["editors"]:
            path = next(filter(None, (values.get(key) for key in PATH_KEYS)), None)
            events.append(self.add("edited", line, path))

    def add_block(self, line: int, block: object) -> None:
        """Adds a content block of Anthropic's API: a tool call or its result."""
        kind = value_at(block, "type")
        if kind == "tool_use":
            self.add_call(line, block, "name", "input", "id")
        elif kind == "tool_result":
            output = text_at(block, "content")
            failed: bool | None = value_at(block, "is_error") is True
            if "running in background" in output[:100]:
                failed = None
            self.add_result(value_at(block, "tool_use_id"), output, failed)

    def keep_work_of_subagents(self) -> None:
        """Sorts edits and commits of subagents (line 0) by time into the events; drops the
        other events of subagents.
        """
        own_work = [
            event
            for event in self.events
            if event.line or event.kind == "edited" or event.commit
        ]
        if not all(event.line for event in own_work):
            own_work.sort(key=lambda event: event.at)
        self.events = own_work

    def add_result(
        self, call: object, output: str, failed: bool | None = None, status: object = None
    ) -> None:
        """Adds the result of a tool call to the events of that call. `call` is its id.

        An exit status that is not given is looked for at both ends of the output.
        """
        if not isinstance(status, int):
            match = PATTERNS["exit"].search(f"{output[:400]}\n{output[-400:]}")
            status = int(match[1]) if match else None
            if failed is False:
                status = 0
        error = ""
        if failed or status:
            lines = (line.strip() for line in output[:100_000].splitlines())
            usual = "failed" if status is None else ""
            error = next(filter(PATTERNS["error"].search, lines), usual)
        for event in self.calls.pop(text_at(call), ()):
            event.status = status
            event.error = error
            if not (failed or status):
                event.commit = _read_commit(event.text, output)
            elif event.kind == "edited" or PATTERNS["refused"].search(output[:400]):
                event.text = ""


def _read_command(values: Json) -> str:
    if isinstance(values.get("commands"), list):
        return "\n".join(map(text_at, values["commands"]))
    keys = ("command", "cmd", "input", "patchText")
    command = next(filter(None, (values.get(key) for key in keys)), "")
    if not isinstance(command, list):
        return text_at(command)
    words = [text_at(word) for word in command]
    is_script = words[1:2] in (["-c"], ["-lc"])  # ["bash", "-lc", "make"]
    return words[-1] if is_script else " ".join(words)


def _read_commit(command: str, output: str) -> str:
    commits = PATTERNS["commits"].search(command)
    committed = commits and PATTERNS["committed"].search(output)
    if committed:
        return f"{committed[2]} ({committed[1][:10]})"
    return commits[2] or "" if commits else ""


@cache
def _find_checkout(folder: str) -> str:
    """Returns the root of the git checkout around a folder; the folder itself if there is
    none.
    """
    here = Path(folder or "/")
    checkouts = (at for at in (here, *here.parents) if os.path.lexists(at / ".git"))
    return str(next(checkouts, here))


def read_session_events(source: str, transcripts: Path, key: str) -> list[Event]:
    """Reads the events of a session; [] if its transcript was deleted.

    `transcripts` is one of the places that the reader finds.
    """
    reader = find_reader(source)
    files: Iterable[Path] = [transcripts / key]
    if transcripts.is_dir():
        name = f"*{key[:8]}*"
        files = chain(transcripts.rglob(f"{name}.*"), transcripts.rglob(f"{name}/*.jsonl"))
    for file in files:
        with suppress(InvalidArgument):  # another program's file with such a name
            for session in reader.sessions(file, lambda where, why: None):
                if session.key == key:
                    return [event for event in session.events if event.text]
    return []


def read_line_sessions(
    client: str, add: Callable[[Session, int, Json], None], files: list[Path], skipped: Skipped
) -> Iterator[Session]:
    """Yields a session for each file of JSON lines; `add(session, line number, line)` adds the
    events of a line.

    Its key is the name of the file, unless `add` sets another one; with an empty key the file
    is left out.
    """
    for file in files:
        session = Session(file.stem, client)
        for number, line in read_json_lines(file, skipped):
            session.set_time(line.get("timestamp"))
            with report_errors(skipped, f"{file.name}:{number}"):
                add(session, number, line)
        session.keep_work_of_subagents()
        if session.key:
            yield session


def read_database_sessions(
    client: str,
    statements: tuple[str, str],
    add: Callable[[Session, int, sqlite3.Row], None],
    files: list[Path],
    skipped: Skipped,
    id: str = "",
) -> Iterator[Session]:
    """Yields the sessions in SQLite databases, or only the one with this `id`. `add(session,
    number, row)` adds the events of a row.

    The first statement gives their `id`, `directory` and `title`, the second the `number` and
    time `at` of each part, and what `add` needs. A database in `.crush` is of the folder around
    it.
    """
    of_sessions, of_parts = statements
    for file in files:
        around = str(file.parents[1]) if file.parent.name == ".crush" else ""
        with open_sqlite_copy(file) as db:
            for row in run_statement(db, of_sessions, (id,)).fetchall():
                key = text_at(row["id"])
                folder = text_at(row["directory"]) or around
                session = Session(key, client, folder, text_at(row["title"]))
                with report_errors(skipped, f"{file.name}: {key}"):
                    for part in run_statement(db, of_parts, (row["id"],)):
                        session.set_time(part["at"])
                        with report_errors(skipped, f"{key}:{part['number']}"):
                            add(session, part["number"], part)
                yield session


def read_json_lines(path: Path, skipped: Skipped) -> Iterator[tuple[int, Json]]:
    """Yields (line number, object) for each line that is a JSON object; the whole of a `.json`
    file counts as line 1.

    Damage is reported to `skipped`, but not a torn last line, for a session may go on.
    """
    number = total = 0
    damage: tuple[type[Exception], ...] = (OSError, ValueError)
    if path.suffix == ".zst":
        damage += (_zstd().ZstdError,)
    try:
        with _open_unpacked(path) if path.suffix == ".zst" else open_regular_file(path) as file:
            read = file.read if path.suffix == ".json" else file.readline
            while total < UNPACKED_BYTES and (line := read(RECORD_BYTES + 1)):
                number += 1
                total += len(line)
                is_torn = not line.endswith(b"\n") and len(line) <= RECORD_BYTES
                for value in json_values(line.decode("utf-8", "replace")):
                    if isinstance(value, dict):
                        yield number, value
                    elif isinstance(value, ValueError) and not is_torn:
                        broken = isinstance(value, json.JSONDecodeError)
                        reason = "it is not JSON" if broken else str(value)
                        skipped(f"{path.name}:{number}", reason)
                while len(line) > RECORD_BYTES and not line.endswith(b"\n"):
                    line = file.readline(RECORD_BYTES + 1)  # the rest of a line too long
    except damage as error:
        skipped(path.name, str(error))


def _open_unpacked(path: Path) -> IO[bytes]:
    zstd = _zstd()
    most = {zstd.DecompressionParameter.window_log_max: RECORD_BYTES.bit_length()}
    return io.BufferedReader(zstd.ZstdFile(open_regular_file(path), options=most))


def _zstd() -> ModuleType:
    """The library of Zstandard, loaded for the few files that need it."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd

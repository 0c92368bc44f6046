"""A session of an agent as the events that its transcript tells of, and what the readers of
transcripts share.
"""

from __future__ import annotations

import io
import os
import re
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import IO, Any, Literal, cast

from ..errors import InvalidArgument
from ..files import open_regular
from .record import Skipped, reader_of
from .shared import moment
from .source import RECORD_BYTES, Unpacked, budget_of, read_json

Kind = Literal["asked", "said", "ran", "edited"]
EPOCH = datetime.fromtimestamp(0, UTC)
_HALVES = re.compile("[\ud800-\udfff]")
TABLE: dict[str, Any] = tomllib.loads(
    (Path(__file__).parents[1] / "data" / "transcripts.toml").read_text("utf-8")
)
PATTERNS = {
    name: re.compile(pattern, re.MULTILINE | re.DOTALL)
    for name, pattern in TABLE["patterns"].items()
}


@dataclass(slots=True, eq=False)
class Event:
    """One thing that happened: a person asked, the agent said, a command ran, a file was
    edited.

    `line` is its line in the transcript, or the number of its message in a database; 0: a
    subagent did it. `text` is what was asked or said, the command, or the path, as seen from
    the checkout; "" of what was refused or failed and so did not happen. `status` is the exit
    status of a command, None if unknown, `error` the line that says what failed, `commit`
    subject and hash of a commit.
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
    """A session as far as its transcript goes. `folder` is where it began; `title` is the
    client's own, if any.
    """

    key: str
    client: str
    folder: str = ""
    title: str = ""
    branch: str = ""
    events: list[Event] = field(default_factory=list)
    calls: dict[str, list[Event]] = field(default_factory=dict)
    at: datetime = EPOCH

    def when(self, value: object) -> None:
        """Sets the time of the next events, which `moment` reads. Anything else changes
        nothing.
        """
        with suppress(ValueError, OverflowError, OSError):
            self.at = (moment(value) or self.at).astimezone()

    def add(self, kind: Kind, line: int, text: str) -> Event:
        """Adds an event, but not what a program put among the words of a person, and nothing
        said twice on end.
        """
        if kind == "asked":
            text = PATTERNS["quoted"].sub(r"\1", PATTERNS["injected"].sub("", text).strip())
        elif kind == "edited" and text:
            text = os.path.normpath(Path(self.folder, text)).removeprefix(
                f"{_root(self.folder)}/"
            )
        event = Event(
            kind,
            line,
            self.at,
            text.strip().removeprefix(f"cd {_root(self.folder)} && "),
            self.branch,
        )
        last = [
            (event.kind, event.text) for event in self.events[-1:] if kind in ("asked", "said")
        ]
        if event.text and last != [(kind, event.text)]:
            self.events.append(event)
        return event

    def called(self, line: int, name: str, given: object, call: str) -> None:
        """A tool's call with what it was given: it runs a command, edits files, or does what is
        of no account.
        """
        values = given if isinstance(given, dict) else {"command": given}
        command = next(
            (
                values[key]
                for key in ("command", "cmd", "input", "patchText")
                if values.get(key)
            ),
            "",
        )
        if isinstance(command, list):  # ["bash", "-lc", "make"]
            command = (
                command[-1]
                if text_of(command[1:2]).startswith("-")
                else " ".join(map(text_of, command))
            )
        command = text_of(command)
        events = self.calls.setdefault(call, [])
        if "*** Begin Patch" in command:
            events += [
                self.add("edited", line, path) for path in PATTERNS["patched"].findall(command)
            ]
        elif name.lower() in TABLE["shells"]:
            events.append(self.add("ran", line, command))
        elif name.lower() in TABLE["editors"]:
            path = next(
                filter(None, map(values.get, ("file_path", "filePath", "notebook_path"))), ""
            )
            events.append(self.add("edited", line, text_of(path)))

    def answered(
        self, call: str, output: str, failed: bool | None = None, status: object = None
    ) -> None:
        """How a call ended. Where its status is not given, it is looked for at both ends of the
        output.
        """
        if not isinstance(status, int):
            exit = PATTERNS["exit"]
            match = (
                None
                if failed is False
                else exit.search(output[:400]) or exit.search(output[-400:])
            )
            status = int(match[1]) if match else 0 if failed is False else None
        lines = (
            (line.strip() for line in output[:100_000].splitlines()) if failed or status else ()
        )
        error = next(
            filter(PATTERNS["error"].search, lines), "failed" if status is None else ""
        )
        for event in self.calls.pop(call, ()):
            event.status = status
            if failed or status:
                event.error = error
                if event.kind == "edited" or PATTERNS["refused"].search(output[:400]):
                    event.text = ""
            elif match := PATTERNS["commits"].search(event.text):
                made = PATTERNS["committed"].search(output)
                event.commit = f"{made[2]} ({made[1][:10]})" if made else match[2] or ""


@cache
def _root(folder: str) -> str:
    """The checkout around a folder, or the folder itself."""
    here = Path(folder or "/")
    return str(
        next(
            (place for place in (here, *here.parents) if os.path.lexists(place / ".git")), here
        )
    )


def events(source: str, place: Path, key: str, lines: tuple[int, int]) -> list[Event]:
    """The events of a session from line to line; [] if its transcript is gone. `place` is what
    the reader found.
    """
    for file in place.rglob(f"*{key[:8]}*.*") if place.is_dir() else [place / key]:
        with suppress(InvalidArgument):  # another file that is called after it
            for session in cast(Any, reader_of(source)).sessions(file, lambda where, why: None):
                if session.key == key:
                    return [
                        event
                        for event in session.events
                        if event.text and lines[0] <= event.line <= lines[1]
                    ]
    return []


def json_lines(path: Path, skipped: Skipped) -> Iterator[tuple[int, dict[str, Any]]]:
    """Number and value of each line that is a JSON object; the whole of a `.json` is line 1.

    `skipped` is told of damage, but for a torn last line, which is a session that goes on.
    """
    import zstandard  # 20 ms

    number = 0
    try:
        with _unpacked(path) if path.suffix == ".zst" else open_regular(path) as file:
            while line := (file.read if path.suffix == ".json" else file.readline)(
                RECORD_BYTES + 1
            ):
                number += 1
                whole = line.endswith(b"\n") or len(line) > RECORD_BYTES
                try:
                    value = read_json(line.decode("utf-8", "replace")) if line.strip() else None
                except (ValueError, RecursionError) as error:
                    value = None
                    if whole:
                        skipped(f"{path.name}:{number}", f"it is no JSON, or {error}")
                if isinstance(value, dict):
                    yield number, value
                while len(line) > RECORD_BYTES and not line.endswith(
                    b"\n"
                ):  # the rest of a line that is too long
                    line = file.readline(RECORD_BYTES + 1)
    except (OSError, ValueError, zstandard.ZstdError) as error:
        skipped(path.name, str(error))


def _unpacked(path: Path) -> IO[bytes]:
    import zstandard

    unpacker = zstandard.ZstdDecompressor(max_window_size=RECORD_BYTES << 1)
    return io.BufferedReader(
        Unpacked(unpacker.stream_reader(open_regular(path), closefd=True), budget_of(path))
    )


def dig(value: object, *keys: str) -> Any:
    """What stands under these keys, one within the other; None where there is no such thing."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def listed(value: object) -> list[Any]:
    """A list, of whatever it holds; [] for anything else."""
    return value if isinstance(value, list) else []


def text_of(content: object) -> str:
    """The text of a content, a text, an object with `text` or `output`, or a list of these, but
    for thoughts.

    It is without colours, control characters and halves of surrogates.
    """
    if isinstance(content, list):
        return "\n".join(filter(None, map(text_of, content)))
    if isinstance(content, dict):
        return (
            ""
            if content.get("thought")
            else text_of(content.get("text") or content.get("output"))
        )
    return (
        _HALVES.sub("?", PATTERNS["control"].sub("", content))
        if isinstance(content, str)
        else ""
    )

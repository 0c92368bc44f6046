"""A session of an agent as the events that its transcript tells of, and what the readers of transcripts share."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, Literal, cast

from ..errors import InvalidArgument
from .record import Skipped

LONGEST_LINE = 1 << 25
"""Bytes of a line of JSON. A longer one is not read: it would not fit into the memory that an import may take."""
OUTPUT_ENDS = 400
"""Characters at both ends of an output in which its exit status is looked for."""

_INJECTED = re.compile(
    r"<(system-reminder|hook_context|hook_prompt|session_context|untrusted_context|environment_context|state_snapshot"
    r"|user_instructions|user-prompt-submit-hook|INSTRUCTIONS|permissions instructions|collaboration_mode"
    r"|skills?(?:_instructions)?|command-(?:name|message|args|contents)|local-command-(?:stdout|stderr|caveat)"
    r"|bash-(?:input|stdout|stderr)|task-notification|teammate-message|cross-session-message|subagent_notification"
    r"|ide_(?:selection|opened_file|diagnostics)|user-memory-input|turn_aborted|user_shell_command"
    r"|recommended_plugins|codex_internal_context|model_switch)\b[^>]*>.*?(?:</\1>|\Z)"
    r"|\A\s*(?:# AGENTS\.md instructions|Caveat: The messages below|This session is being continued from a previous"
    r"|Stop hook feedback:|\[Request interrupted|Nothing of this session is in Synaptic yet).*",
    re.DOTALL,
)
"""What clients and hooks put among the words of a person."""
_EXIT = re.compile(r"(?:[Ee]xit(?:ed with)? [Cc]ode:?|\"exit_code\":) ?(-?\d{1,10})\b")
_REFUSED = re.compile(
    r"user (?:doesn't want|does not want|rejected|denied|declined|cancell?ed)|rejected by (?:the )?user"
)
_COMMITTED = re.compile(r"^\[[^\]\n]{1,200} ([0-9a-f]{7,40})\] (.{1,200})$", re.MULTILINE)
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)|[\x00-\x08\x0b-\x1f\x7f]")
_SAYS_ERROR = re.compile(
    r"\b(?:\w*Error|\w*Exception|error(?:\[\w+\])?|fatal|fail(?:ed|ure)|panicked|denied|cannot)\b|not found|No such",
    re.I,
)
_NO_ERROR = re.compile(
    r"\s*(?:$|[=\-_~^*#.]{3}|exit code|wall time|output:|chunk id|process exited|original token|command:|directory:"
    r"|traceback|script (?:failed|completed)|\(?exit )", re.I
)  # fmt: skip


@dataclass(slots=True, eq=False)
class Event:
    """One thing that happened: a person asked, the agent said, a command ran, or a file was edited.

    `line` is its line in the transcript, from 1, or the number of its message in a database. `text` is what was asked
    or said, the command, or the path of the file. `status` is the exit status of a command, None where the transcript
    does not tell it; `error` is the first line that says what failed, `commit` the subject and hash of a commit.
    """

    kind: Literal["asked", "said", "ran", "edited"]
    line: int
    at: datetime
    text: str
    branch: str | None = None
    status: int | None = None
    error: str = ""
    commit: str = ""


@dataclass(slots=True)
class Session:
    """A session as far as its transcript goes. `folder` is the one that it began in; `title` is what the client gave."""

    key: str
    client: str
    path: Path
    folder: str | None = None
    branch: str | None = None
    title: str = ""
    events: list[Event] = field(default_factory=list)
    calls: dict[str, list[Event]] = field(default_factory=dict)
    at: datetime = datetime.fromtimestamp(0, UTC)

    def when(self, value: object) -> None:
        """From here on things happen at this moment: ISO 8601, or milliseconds since 1970. Anything else changes nothing."""
        with suppress(ValueError, OverflowError, OSError):
            if isinstance(value, str):
                at = datetime.fromisoformat(value)
                self.at = at if at.tzinfo else at.replace(tzinfo=UTC)
            elif isinstance(value, int | float):
                self.at = datetime.fromtimestamp(value / 1000, UTC)

    def asked(self, line: int, text: str) -> None:
        """A person's words, unless all of it was injected by a program, or it repeats the last event."""
        text = _INJECTED.sub("", text).strip()
        last = self.events[-1] if self.events else None
        if text and not (last and last.kind == "asked" and last.text == text):
            self._add("asked", line, text)

    def said(self, line: int, text: str) -> None:
        """A text of the agent."""
        if text.strip():
            self._add("said", line, text.strip())

    def ran(self, line: int, command: str, call: str = "") -> None:
        """A command; `call` is the name by which `answered` will tell of its end. A patch in it edits files."""
        if "*** Begin Patch" in command:
            self.edited(line, patched(command), call)
        elif command.strip():
            self.calls.setdefault(call, []).append(self._add("ran", line, command.strip()))

    def edited(self, line: int, paths: list[str], call: str = "") -> None:
        """Files that this call edits."""
        self.calls.setdefault(call, []).extend(self._add("edited", line, path) for path in paths)

    def answered(self, call: str, output: str, failed: bool | None = None, status: int | None = None) -> None:
        """How a call ended. An edit that failed was none, and a command that the person refused did not run."""
        for event in self.calls.pop(call, ()):
            if status is None and failed is not False:
                match = _EXIT.search(output[:OUTPUT_ENDS]) or _EXIT.search(output[-OUTPUT_ENDS:])
                status = int(match[1]) if match else None
            failed = failed or bool(status)
            if failed and (event.kind == "edited" or _REFUSED.search(output[:OUTPUT_ENDS])):
                self.events.remove(event)
                continue
            event.status = 0 if failed is False and status is None else status
            event.error = _first_error(output) if failed else ""
            if "commit" in event.text and not failed and (match := _COMMITTED.search(output)):
                event.commit = f"{match[2]} ({match[1][:10]})"

    def _add(self, kind: Literal["asked", "said", "ran", "edited"], line: int, text: str) -> Event:
        self.events.append(Event(kind, line, self.at, text, self.branch))
        return self.events[-1]


def patched(patch: str) -> list[str]:
    r"""The files that a patch of Codex's form names; its line ends may be written as `\n`."""
    return [path.strip() for path in re.findall(r"\*\*\* (?:Add|Update|Delete) File: (.+?)(?=\\n|\n|$)", patch)]


def _first_error(output: str) -> str:
    lines = [line.strip() for line in plain(output[:100_000]).splitlines() if not _NO_ERROR.match(line)]
    return next(filter(_SAYS_ERROR.search, lines), lines[0] if lines else "")


def plain(text: str) -> str:
    """`text` without colours, control characters and halves of surrogates."""
    return _ANSI.sub("", text).encode("utf-8", "replace").decode()


def files_in(path: Path, *patterns: str) -> list[Path]:
    """The file itself, or the files below a folder that fit one of the patterns, the oldest first.

    Raises InvalidArgument where there are none.
    """
    found = {file for pattern in patterns for file in path.rglob(pattern)} if path.is_dir() else {path}
    if not found:
        raise InvalidArgument(f"{path} holds no transcript.", valid=patterns, hint="Name a transcript or its folder.")
    return sorted(found, key=lambda file: (file.stat().st_mtime, file))


def json_lines(
    path: Path, skipped: Skipped, needless: Callable[[bytes], bool] = lambda line: False
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Number and value of each line that holds a JSON object, but for those that are `needless`.

    `skipped` is told of lines that are damaged or too long. A last line without an end is a session that goes on.
    """
    with closing(_opened(path)) as file:
        number = 0
        while line := file.readline(LONGEST_LINE):
            number += 1
            if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
                while (rest := file.readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
                    pass
                skipped(f"{path.name}:{number}", "it is longer than 32 MB")
            elif line.strip() and not needless(line):
                try:
                    value = json.loads(line.decode("utf-8", "replace"))
                except (ValueError, RecursionError):
                    if line.endswith(b"\n"):
                        skipped(f"{path.name}:{number}", "it is no JSON")
                    continue
                if isinstance(value, dict):
                    yield number, value


def _opened(path: Path) -> IO[bytes]:
    if path.suffix != ".zst":
        return path.open("rb")
    import zstandard  # only for those who have such files

    return cast(IO[bytes], BufferedReader(zstandard.open(path, "rb", closefd=True)))


def dig(value: object, *keys: str) -> Any:
    """What stands in nested objects under these keys; None where one is missing or no object."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def word(value: object) -> str:
    """The value if it is a text, else ""."""
    return value if isinstance(value, str) else ""


def pieces(content: object) -> list[dict[str, Any]]:
    """The objects of a content: a text, an object, or a list of these."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if isinstance(content, dict):
        return [content]
    return [piece for part in content for piece in pieces(part)] if isinstance(content, list) else []


def words(content: object) -> str:
    """The texts of a content."""
    return "\n".join(filter(None, (word(piece.get("text")) for piece in pieces(content) if not piece.get("thought"))))

"""Makes a digest of a session without a model: requests, answers, commands and edited files.

A session becomes one or more records of at most 6,000 characters, its parts. A turn (a request
and the events after it) is never divided; a turn that does not fit begins a new part, so
earlier parts stay as they are while the session grows. Private passages and secrets are taken
out of each text before it is shortened.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from pathlib import Path

from ....errors import InvalidArgument
from ....language.words import words
from ....models import Texts
from ....notes.blocks import without_masked
from ....notes.digests import COMMITTED, EDITED, MORE_COMMANDS, RAN, REQUEST
from ....notes.privacy import (
    contains_any_line,
    has_private_tag,
    mask_private,
    private_lines,
    unclosed_tags,
    without_private,
)
from ....notes.redaction import redact
from ....notes.screening import visible_secrets
from .record import Record, Skipped, report_errors
from .session import PATTERNS, TABLE, Event, Session
from .source import find_files, modification_time

PART_CHARS, HEAD_CHARS = 6000, 400
"""The most characters in one part of a digest, and those of them that are reserved for its
first line.
"""
TITLE_CHARS = 80
ASKED_CHARS = 700
SAID_CHARS = 1100
LINE_CHARS = 150
FEW_PROMPTS = 3
"""A session with this many requests gets a digest even if nothing was changed and nothing
failed.
"""
COMMANDS = 8
"""The most commands listed for one request; the others are counted."""
READ_CHARS = 100_000
"""The most characters of a text that are searched for secrets; the rest is left out."""


@dataclass(frozen=True)
class Transcripts:
    """A reader of transcripts whose file names match `patterns`.

    They are `below` the folder that the environment's `variable` names, else below `usual` in
    the home folder. `sessions_in` reads the files.
    """

    variable: str
    usual: str
    below: Texts
    patterns: Texts
    sessions_in: Callable[..., Iterator[Session]]

    def find(self, home: Path, environ: Mapping[str, str]) -> list[Path]:
        base = Path(environ.get(self.variable) or home / self.usual)
        return [*chain.from_iterable(sorted(base.glob(part)) for part in self.below)]

    def read(self, path: Path, skipped: Skipped) -> Iterator[Record]:
        for session in self.sessions(path, skipped):
            with report_errors(skipped, session.key):
                yield from digest_session(session, is_work=True)

    def sessions(self, path: Path, skipped: Skipped) -> Iterator[Session]:
        """Yields the sessions in a transcript, or in all transcripts below a folder, oldest
        first. Raises InvalidArgument if there are none.

        `DATABASE/ID` is one session of a database, or of another file that holds several.
        """
        if path.parent.is_file() and any(map(path.parent.match, self.patterns)):
            return self.sessions_in([path.parent], skipped, path.name)
        files = find_files(path, skipped, *self.patterns)
        files = [file for file in files if any(map(file.match, self.patterns))]
        if not files:
            raise InvalidArgument(
                f"{path} holds no transcript of a session.",
                valid=self.patterns,
                hint="Give a transcript, or a folder with transcripts of this name.",
            )
        files.sort(key=lambda file: (modification_time(file), file))
        return self.sessions_in(files, skipped)


def digest_session(session: Session, *, is_work: bool = False) -> Iterator[Record]:
    """Yields a record for each part of a session, in order; nothing for a session that is not
    worth it.

    None if nobody asked anything, or if only an answer to a greeting followed; also None for a
    session without an edit, a commit, an error or FEW_PROMPTS requests.
    """
    turns: list[list[Event]] = []
    for event in screen_events(session.events):
        if event.kind == "asked":
            turns.append([])
        if turns:
            turns[-1].append(event)
    if not any(map(_is_worth_a_line, turns)):
        return
    works = [one for one in chain(*turns) if one.kind == "edited" or one.commit or one.error]
    if is_work and len(turns) < FEW_PROMPTS and not works:
        return
    title = _session_title(session, turns[0][0].text)
    for number, (events, texts) in enumerate(_split_parts(turns), 1):
        until = max(event.at for event in events)
        edited = dict.fromkeys(event.text for event in events if event.kind == "edited")
        yield Record(
            key=session.key if number == 1 else f"{session.key}/{number}",
            text="\n\n".join([_format_digest_head(session, events, until), *texts]),
            at=events[0].at,
            title=title if number == 1 else f"{title} ({number})",
            type="progress",
            folder=session.folder or None,
            branch=events[-1].branch or None,
            files=tuple(edited)[:100],
            growing=True,
            until=until,
            lines=(events[0].line, max(event.line for event in events)),
        )


def _session_title(session: Session, request: str) -> str:
    """Returns the client's own title of the session, else the first request.

    The client's model made its title of all requests, so one with private text is not used.
    """
    requests = [event.text for event in session.events if event.kind == "asked"]
    is_private = any(has_private_tag(text.encode()) for text in requests)
    title = "" if is_private else _remove_private_text(session.title, ())
    return _shorten(" ".join((title or request).split()), TITLE_CHARS)


def _split_parts(turns: Sequence[list[Event]]) -> list[tuple[list[Event], list[str]]]:
    """Divides requests and their events into parts; returns (events, Markdown texts) of each
    part.
    """
    parts: list[tuple[list[Event], list[str]]] = []
    room = 0
    for turn in turns:
        text = _shorten("\n".join(_turn_lines(turn)).rstrip(), PART_CHARS - HEAD_CHARS - 2)
        room -= len(text) + 2
        if room < 0 or not parts:
            parts.append(([], []))
            room = PART_CHARS - HEAD_CHARS - len(text) - 2
        parts[-1][0].extend(turn)
        parts[-1][1].append(text)
    return parts


def _format_digest_head(session: Session, events: Sequence[Event], until: datetime) -> str:
    folder = _remove_private_text(Path(session.folder).name, ())
    branch = _remove_private_text(events[-1].branch, ())
    place = f" in {_first_line_as_code(folder)}" if folder else ""
    if branch:
        place += f" on {_first_line_as_code(branch)}"
    first = f"{events[0].at:%Y-%m-%d %H:%M}"
    last = f"{until:%Y-%m-%d %H:%M}"
    if first != last:
        first += f" to {last.removeprefix(first[:11])}"
    return f"{session.client}{place}, {first}."


def screen_events(events: Sequence[Event]) -> Iterator[Event]:
    """Yields the events of a whole session without private passages and secrets.

    Events after a request that is wholly private are private too.
    """
    requests = _request_texts(events)
    private = set[bytes]().union(*map(private_lines, requests))
    is_private = False
    remaining = iter(requests)
    for event in events:
        text = event.text
        if event.kind == "asked":
            text = without_masked(mask_private(next(remaining))).decode()
        text = _remove_private_text(text, private)
        if event.kind == "asked":
            is_private = not text
        if text and not is_private:
            yield replace(
                event,
                text=text,
                error=_remove_private_text(event.error, private),
                commit=_remove_private_text(event.commit, private),
            )


def _request_texts(events: Iterable[Event]) -> list[bytes]:
    """Returns the UTF-8 text of each request in a session.

    One that closes a private passage of the request before gets the opening tag.
    """
    requests: list[bytes] = []
    for event in events:
        if event.kind == "asked":
            data = event.text.encode()
            is_open = bool(requests) and bool(unclosed_tags(requests[-1]))
            if is_open and b"</private" in data.lower():
                data = b"<private>" + data
            requests.append(data)
    return requests


def _is_worth_a_line(turn: Sequence[Event]) -> bool:
    first, *after = turn
    asked = {word for _, word in words(first.text) if not word.isdigit()}
    is_greeting = asked <= {*TABLE["greetings"].split()}
    return any(event.kind != "said" or not is_greeting for event in after)


def _turn_lines(turn: Sequence[Event]) -> Iterator[str]:
    """Yields the Markdown lines of one request: its text, the last answer, edited files,
    commands and commits.
    """
    request, *after = turn
    for line in _to_entry_markdown(request.text, ASKED_CHARS).splitlines():
        yield f"{REQUEST} {line}".rstrip()
    answers = [event.text for event in after if event.kind == "said"]
    reply = _to_entry_markdown("".join(answers[-1:]), SAID_CHARS)
    if reply:
        yield f"\n{reply}"
    yield ""
    files = dict.fromkeys(
        _first_line_as_code(event.text) for event in after if event.kind == "edited"
    )
    if files:
        yield f"{EDITED}{_shorten(', '.join(files), ASKED_CHARS)}"
    yield from _command_lines(after)
    for event in after:
        if event.commit:
            yield f"{COMMITTED}{_first_line_as_code(event.commit)}"


def _command_lines(after: Sequence[Event]) -> Iterator[str]:
    """Yields a line for each command that did more than look around.

    If there are many, the last ones.
    """
    ran = []
    for event in after:
        is_commit = event.commit and event.text.startswith("git ")
        if event.kind == "ran" and not is_commit and not PATTERNS["looks"].match(event.text):
            ran.append(event)
    lines = []
    for event in ran[-COMMANDS:]:
        status = "" if event.status is None else f", exit {event.status}"
        error = f": {_first_line_as_code(event.error)}" if event.error else ""
        lines.append(f"{RAN}{_first_line_as_code(event.text)}{status}{error}")
    yield from dict.fromkeys(lines)
    if len(ran) > COMMANDS:
        yield MORE_COMMANDS.format(len(ran) - COMMANDS)


def _remove_private_text(text: str, private: Collection[bytes]) -> str:
    """Returns `text` without private passages, secrets, and lines that repeat one of the
    `private` texts.
    """
    if not text:
        return ""
    text = without_private(text)
    if len(text) > READ_CHARS:
        text = text[:READ_CHARS].rpartition(" ")[0]
    if private:
        lines = [
            line for line in text.splitlines() if not contains_any_line(line.encode(), private)
        ]
        text = "\n".join(lines)
    return redact(text, visible_secrets(text)).strip()


def _to_entry_markdown(text: str, limit: int) -> str:
    """Returns `text` for the body of an entry, shortened to `limit` characters: headings, tasks
    and tags are made plain, code is shortened.
    """
    text = PATTERNS["fence"].sub(lambda fence: f"{_first_line_as_code(fence[2])}\n", text)
    for mark in TABLE["markdown"]:
        text = re.sub(mark["pattern"], mark["by"], text, flags=re.MULTILINE | re.DOTALL)
    return _shorten(text.strip(), limit)


def _shorten(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    start = text[: limit - 2]
    return f"{start.rpartition(' ')[0] or start} …"


def _first_line_as_code(text: str) -> str:
    """Returns the first line of a text as inline code."""
    first, _, rest = text.strip().partition("\n")
    first = _shorten(f"{first} …" if rest else first, LINE_CHARS)
    return f"`` {first} ``" if "`" in first else f"`{first}`"

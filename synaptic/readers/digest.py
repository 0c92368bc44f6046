"""Makes a digest of a session without a model: requests, answers, commands and edited files.

A session becomes one or more records of at most 6,000 characters, its parts. A turn (a request
and the events after it) is never divided; a turn that does not fit begins a new part, so
earlier parts stay as they are while the session grows. Private passages and secrets are taken
out of each text before it is shortened.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, pairwise
from pathlib import Path
from typing import NamedTuple

from ..errors import InvalidArgument
from ..language.words import words
from ..notes.blocks import shown
from ..notes.privacy import (
    mask,
    mentions,
    private_lines,
    repeats,
    unclosed_tags,
    without_private,
)
from ..notes.redaction import redact
from ..notes.screening import visible_secrets
from .record import Record, Skipped, reporting
from .session import PATTERNS, TABLE, Event, Session
from .source import changed_at, files_below

PART_CHARS, HEAD_CHARS = 6000, 400
"""Characters of a part, and the share of them for its first line."""
TITLE_CHARS, ASKED_CHARS, SAID_CHARS, LINE_CHARS = 80, 700, 1100, 150
COMMANDS, FILES = 8, 12
"""Commands and files that a turn lists; the others are counted."""
SHORT_CHARS = 40
"""A shorter answer, like "Done.", is shown with the answer before it."""
READ_CHARS = 20_000
"""Characters of a text that are searched for secrets; a digest shows fewer."""


class _Turn(NamedTuple):
    """A request and the events after it. `request`: without private text; `text`: Markdown."""

    events: list[Event]
    request: str
    text: str


@dataclass(frozen=True)
class Transcripts:
    """A reader of transcripts whose file names match `patterns`.

    They are `below` the folder that the environment's `variable` names, else below `usual` in
    the home folder. `sessions_in` reads the files.
    """

    variable: str
    usual: str
    below: tuple[str, ...]
    patterns: tuple[str, ...]
    sessions_in: Callable[..., Iterator[Session]]

    def find(self, home: Path, environ: Mapping[str, str]) -> list[Path]:
        base = Path(environ.get(self.variable) or home / self.usual)
        places: list[Path] = []
        for part in self.below:
            places += sorted(base.glob(part))
        return places

    def read(self, path: Path, skipped: Skipped) -> Iterator[Record]:
        for session in self.sessions(path, skipped):
            with reporting(skipped, session.key):
                yield from digest(session)

    def sessions(self, path: Path, skipped: Skipped) -> Iterator[Session]:
        """The sessions of a transcript or of all below a folder, oldest first.

        `DATABASE/ID` is one session of a database.
        """
        if path.parent.match("opencode*.db") and path.parent.is_file():
            return self.sessions_in([path.parent], skipped, path.name)
        files = [
            file
            for file in files_below(path, skipped, *self.patterns)
            if any(map(file.match, self.patterns))
        ]
        if not files:
            raise InvalidArgument(
                f"{path} holds no transcript.",
                valid=self.patterns,
                hint="Name a folder that does.",
            )
        files.sort(key=lambda file: (changed_at(file), file))
        return self.sessions_in(files, skipped)


def digest(session: Session) -> Iterator[Record]:
    """The parts of a session in order.

    None if nobody asked, or if only an answer to a greeting followed.
    """
    turns = list(_turns(session))
    if not any(map(_says_something, turns)):
        return
    title = _title(session, turns)
    for number, part in enumerate(_parts(turns), start=1):
        events = [*chain.from_iterable(turn.events for turn in part)]
        branch = part[-1].events[0].branch
        until = max(event.at for event in events)
        edited = dict.fromkeys(event.text for event in events if event.kind == "edited")
        first = f"{session.client}{_place(session, branch)}, {_period(events[0].at, until)}."
        yield Record(
            key=session.key if number == 1 else f"{session.key}/{number}",
            text="\n\n".join([first, *(turn.text for turn in part)]),
            at=events[0].at,
            title=title if number == 1 else f"{title} ({number})",
            type="progress",
            folder=session.folder or None,
            branch=branch or None,
            files=tuple(edited)[:100],
            growing=True,
            until=until,
            lines=(events[0].line, max(event.line for event in events)),
        )


def _title(session: Session, turns: Sequence[_Turn]) -> str:
    """The client's title, else the first request.

    The client's model made its title of all requests, so one with private text is not used.
    """
    is_private = any(
        mentions(event.text.encode()) for event in session.events if event.kind == "asked"
    )
    title = "" if is_private else _clean(session.title, ())
    return _shorten(" ".join((title or turns[0].request).split()), TITLE_CHARS)


def _parts(turns: Sequence[_Turn]) -> list[list[_Turn]]:
    parts: list[list[_Turn]] = []
    room = 0
    for turn in turns:
        size = len(turn.text) + 2
        if not parts or size > room:
            parts.append([])
            room = PART_CHARS - HEAD_CHARS
        parts[-1].append(turn)
        room -= size
    return parts


def _place(session: Session, branch: str) -> str:
    folder, branch = _clean(Path(session.folder).name, ()), _clean(branch, ())
    place = f" in {_code(folder)}" if folder else ""
    return f"{place} on {_code(branch)}" if branch else place


def _period(begin: datetime, end: datetime) -> str:
    first, last = f"{begin:%Y-%m-%d %H:%M}", f"{end:%Y-%m-%d %H:%M}"
    if first == last:
        return first
    return f"{first} to {last.removeprefix(first[:11])}"


def screened(events: Sequence[Event]) -> Iterator[tuple[Event, str]]:
    """(event, text that may be shown) of a whole session; private events are left out.

    Events after a request that is wholly private are private too.
    """
    requests = list(_requests(events))
    private = set[bytes]().union(*map(private_lines, requests))
    is_private, remaining = False, iter(requests)
    for event in events:
        is_request = event.kind == "asked"
        text = shown(mask(next(remaining))).decode() if is_request else event.text
        text = _clean(text, private, len(text))
        if is_request:
            is_private = not text
        if text and not is_private:
            yield event, text


def _requests(events: Iterable[Event]) -> Iterator[bytes]:
    """The text of each request.

    One that closes a private passage of the request before gets the opening tag.
    """
    is_open = False
    for event in events:
        if event.kind == "asked":
            data = event.text.encode()
            if is_open and b"</private" in data.lower():
                data = b"<private>" + data
            is_open = bool(unclosed_tags(data))
            yield data


def _turns(session: Session) -> Iterator[_Turn]:
    """The turns of a session, without those whose request is wholly private."""
    events = [event for event in session.events if event.text]
    starts = [number for number, event in enumerate(events) if event.kind == "asked"]
    private: set[bytes] = set()
    spans = pairwise([*starts, len(events)])
    for (start, end), data in zip(spans, _requests(events), strict=True):
        private |= private_lines(data)
        request = _clean(shown(mask(data)).decode(), private)
        if request:
            quoted = _markdown(request, ASKED_CHARS).splitlines()
            lines = [f"> {line}".rstrip() for line in quoted]
            lines += _outcome(events[start + 1 : end], private)
            text = _shorten("\n".join(lines).rstrip(), PART_CHARS - HEAD_CHARS - 2)
            yield _Turn(events[start:end], request, text)


def _says_something(turn: _Turn) -> bool:
    after = turn.events[1:]
    asked = {word for _, word in words(turn.request) if not word.isdigit()}
    has_acted = any(event.kind != "said" for event in after)
    return has_acted or bool(after and asked.difference(TABLE["greetings"].split()))


def _outcome(after: Sequence[Event], private: Collection[bytes]) -> Iterator[str]:
    """The lines below a request: last answer, edited files, commands and commits."""
    answers = [event.text for event in after if event.kind == "said"]
    if answers:
        count = 2 if len(answers[-1]) < SHORT_CHARS else 1
        answer = "\n\n".join(answers[-count:])
        reply = _markdown(_clean(answer, private), SAID_CHARS)
        if reply:
            yield f"\n{reply}"
    yield ""
    edited = [_clean(event.text, private) for event in after if event.kind == "edited"]
    files = list(dict.fromkeys(_code(path) for path in edited if path))
    if files:
        more = f" and {len(files) - FILES} more" if len(files) > FILES else ""
        yield f"- Edited: {', '.join(files[:FILES])}{more}"
    yield from _commands(after, private)
    for event in after:
        if event.commit:
            yield f"- Committed: {_code(_clean(event.commit, private))}"


def _commands(after: Sequence[Event], private: Collection[bytes]) -> Iterator[str]:
    """The lines of the commands that did more than look around.

    If there are many: failed commands, each with the command after it, then the last ones.
    """
    ran = []
    for event in after:
        is_commit = event.commit and event.text.startswith("git ")
        if event.kind == "ran" and not is_commit and not PATTERNS["looks"].match(event.text):
            ran.append(event)

    def priority(number: int) -> tuple[bool, int]:
        is_failure = any(event.error for event in ran[max(number - 1, 0) : number + 1])
        return not is_failure, -number

    chosen = sorted(range(len(ran)), key=priority)[:COMMANDS]
    yield from dict.fromkeys(_command_line(ran[number], private) for number in sorted(chosen))
    if len(ran) > COMMANDS:
        yield f"- and {len(ran) - COMMANDS} more commands"


def _command_line(event: Event, private: Collection[bytes]) -> str:
    status = "" if event.status is None else f", exit {event.status}"
    error = f": {_code(_clean(event.error, private))}" if event.error else ""
    return f"- Ran: {_code(_clean(event.text, private))}{status}{error}"


def _clean(text: str, private: Collection[bytes], max_chars: int = READ_CHARS) -> str:
    """`text` without private passages, lines that repeat one of `private`, and secrets."""
    text = without_private(text)
    if len(text) > max_chars:
        text = text[:max_chars].rpartition(" ")[0]
    if private:
        lines = [line for line in text.splitlines() if not repeats(line.encode(), private)]
        text = "\n".join(lines)
    return redact(text, visible_secrets(text)).strip()


def _markdown(text: str, limit: int) -> str:
    """`text` for the body of an entry: no headings, tasks or tags, short code."""
    text = PATTERNS["fence"].sub(lambda fence: f"{_code(fence[2])}\n", text)
    for mark in TABLE["markdown"]:
        text = re.sub(mark["pattern"], mark["by"], text, flags=re.MULTILINE | re.DOTALL)
    return _shorten(text.strip(), limit)


def _shorten(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    start = text[: limit - 2]
    return f"{start.rpartition(' ')[0] or start} …"


def _code(text: str) -> str:
    """The first line of a text as code."""
    first, _, rest = text.strip().partition("\n")
    first = _shorten(f"{first} …" if rest else first, LINE_CHARS)
    return f"`` {first} ``" if "`" in first else f"`{first}`"

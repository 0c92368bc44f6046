"""Makes a digest of a session without a model: what was asked, said, run and edited.

A session becomes records of at most 6,000 characters, its parts. A turn, a request with what
followed it, is never divided; where it does not fit a new part begins, so that earlier parts
stay as they are while the session grows. Private passages and secrets are taken out of each
text before it is shortened.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
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
from .record import Record, Skipped, told
from .session import PATTERNS, TABLE, Event, Session
from .source import changed_at, files_below

PART_CHARS, HEAD_CHARS = 6000, 400
"""Characters of a part, and of these what is kept free for its first line."""
TITLE_CHARS, ASKED_CHARS, SAID_CHARS, LINE_CHARS = 80, 700, 1100, 150
COMMANDS, FILES = 8, 12
"""Commands and files that a turn names. Of the others it says how many."""
READ_CHARS = 20_000
"""What stands further back in a text is left out before secrets are looked for: it is not shown
either.
"""


class _Turn(NamedTuple):
    """A request with what followed it, what it says without what is private, and both as
    Markdown.
    """

    events: list[Event]
    request: str
    text: str


@dataclass(frozen=True)
class Transcripts:
    """A reader of the transcripts with these `names`, which `sessions_in` reads, and makes
    digests of them.

    They lie `below` the folder that the environment's `variable` names, else below `usual` in
    the home folder.
    """

    variable: str
    usual: str
    below: tuple[str, ...]
    names: tuple[str, ...]
    sessions_in: Callable[..., Iterator[Session]]

    def find(self, home: Path, environ: Mapping[str, str]) -> list[Path]:
        base = Path(environ.get(self.variable) or home / self.usual)
        return [place for part in self.below for place in sorted(base.glob(part))]

    def read(self, path: Path, skipped: Skipped) -> Iterator[Record]:
        for session in self.sessions(path, skipped):
            with told(skipped, session.key):
                yield from digest(session)

    def sessions(self, path: Path, skipped: Skipped) -> Iterator[Session]:
        """The sessions of a transcript, or of all below a folder, the oldest first; or
        DATABASE/ID alone.
        """
        if path.parent.match("opencode*.db") and path.parent.is_file():
            return self.sessions_in([path.parent], skipped, path.name)
        files = [
            file
            for file in files_below(path, skipped, *self.names)
            if any(map(file.match, self.names))
        ]
        if not files:
            raise InvalidArgument(
                f"{path} holds no transcript.",
                valid=self.names,
                hint="Name a folder that does.",
            )
        return self.sessions_in(
            sorted(files, key=lambda file: (changed_at(file), file)), skipped
        )


def digest(session: Session) -> Iterator[Record]:
    """The parts of a session in order; none where nobody asked, or nothing followed but an
    answer to a greeting.
    """
    turns = list(_turns(session))
    if not any(_says_something(turn) for turn in turns):
        return
    parts: list[list[_Turn]] = [[]]
    for turn in turns:
        if (
            parts[-1]
            and HEAD_CHARS + sum(len(one.text) + 2 for one in (*parts[-1], turn)) > PART_CHARS
        ):
            parts.append([])
        parts[-1].append(turn)
    hidden = any(
        mentions(event.text.encode()) for event in session.events if event.kind == "asked"
    )
    title = "" if hidden else _clean(session.title, ())  # a model made it of all that was asked
    title = _shortened(" ".join((title or turns[0].request).split()), TITLE_CHARS)
    for number, part in enumerate(parts, start=1):
        events = [event for turn in part for event in turn.events]
        branch, until = part[-1].events[0].branch, max(event.at for event in events)
        folder, on = _clean(Path(session.folder).name, ()), _clean(branch, ())
        place = (f" in {_code(folder)}" if folder else "") + (f" on {_code(on)}" if on else "")
        begun, ended = (f"{at:%Y-%m-%d %H:%M}" for at in (events[0].at, until))
        when = f"{begun} to {ended.removeprefix(begun[:11])}" if begun != ended else begun
        yield Record(
            key=session.key if number == 1 else f"{session.key}/{number}",
            text="\n\n".join(
                [f"{session.client}{place}, {when}.", *(turn.text for turn in part)]
            ),
            at=events[0].at,
            title=title if number == 1 else f"{title} ({number})",
            type="progress",
            folder=session.folder or None,
            branch=branch or None,
            files=tuple(
                dict.fromkeys(event.text for event in events if event.kind == "edited")
            )[:100],
            growing=True,
            until=until,
            lines=(events[0].line, max(event.line for event in events)),
        )


def screened(events: Sequence[Event]) -> Iterator[tuple[Event, str]]:
    """Each event of a whole session with its text as a digest may show it; without those that
    are all private.
    """
    requests = list(_requests(events))
    private = {line for data in requests for line in private_lines(data)}
    hidden, left = False, iter(requests)
    for event in events:
        asked = event.kind == "asked"
        text = shown(mask(next(left))).decode() if asked else event.text
        text = _clean(text, private, len(text))
        if asked:
            hidden = not text  # where all is private, what follows is as well
        if text and not hidden:
            yield event, text


def _requests(events: Iterable[Event]) -> Iterator[bytes]:
    """The text of each request; of one that closes a passage which the request before opened,
    with its `<private>`.
    """
    opened = False
    for event in events:
        if event.kind == "asked":
            data = event.text.encode()
            if opened and b"</private" in data.lower():
                data = b"<private>" + data
            opened = bool(unclosed_tags(data))
            yield data


def _turns(session: Session) -> Iterator[_Turn]:
    events = [event for event in session.events if event.text]
    starts = [number for number, event in enumerate(events) if event.kind == "asked"]
    private = set[bytes]()
    for (start, end), data in zip(
        pairwise([*starts, len(events)]), _requests(events), strict=True
    ):
        private |= private_lines(data)
        if request := _clean(
            shown(mask(data)).decode(), private
        ):  # where all is private, what follows is as well
            lines = [
                f"> {line}".rstrip() for line in _markdown(request, ASKED_CHARS).splitlines()
            ]
            text = "\n".join([*lines, *_told(events[start + 1 : end], private)]).rstrip()
            yield _Turn(
                events[start:end],
                request,
                _shortened(text, PART_CHARS - HEAD_CHARS - 2),
            )


def _says_something(turn: _Turn) -> bool:
    after = turn.events[1:]
    asked = {word for _, word in words(turn.request) if not word.isdigit()}
    done = any(event.kind != "said" for event in after)
    return done or bool(after and asked.difference(TABLE["greetings"].split()))


def _told(after: Sequence[Event], private: Collection[bytes]) -> Iterator[str]:
    """What followed a request: the last words of the agent, the edited files, what ran, in
    order, and the commits.

    Of many commands those are told that failed and what was run after them, and of the others
    the last.
    """
    said = [event.text for event in after if event.kind == "said"]
    if said and len(said[-1]) < 40:  # "Done." alone says nothing
        said[-2:] = ["\n\n".join(said[-2:])]
    if reply := _markdown(_clean("".join(said[-1:]), private), SAID_CHARS):
        yield f"\n{reply}"
    yield ""
    edited = (_clean(event.text, private) for event in after if event.kind == "edited")
    if files := list(dict.fromkeys(map(_code, filter(None, edited)))):
        yield f"- Edited: {', '.join(files[:FILES])}" + f" and {len(files) - FILES} more" * (
            len(files) > FILES
        )
    ran = [
        event
        for event in after
        if event.kind == "ran" and not PATTERNS["looks"].match(event.text)
    ]
    ran = [event for event in ran if not (event.commit and event.text.startswith("git "))]
    failed = [bool(event.error) for event in ran]
    told = sorted(range(len(ran)), key=lambda n: (not any(failed[max(n - 1, 0) : n + 1]), -n))[
        :COMMANDS
    ]
    yield from dict.fromkeys(_run(ran[number], private) for number in sorted(told))
    if len(ran) > COMMANDS:
        yield f"- and {len(ran) - COMMANDS} more commands"
    yield from (
        f"- Committed: {_code(_clean(event.commit, private))}"
        for event in after
        if event.commit
    )


def _run(event: Event, private: Collection[bytes]) -> str:
    ended = "" if event.status is None else f", exit {event.status}"
    error = f": {_code(_clean(event.error, private))}" if event.error else ""
    return f"- Ran: {_code(_clean(event.text, private))}{ended}{error}"


def _clean(text: str, private: Collection[bytes], most: int = READ_CHARS) -> str:
    """`text` without private passages, the lines that repeat one of `private`, and secrets."""
    text = without_private(text)
    if len(text) > most:
        text = text[:most].rpartition(" ")[0]
    if private:
        text = "\n".join(
            line for line in text.splitlines() if not repeats(line.encode(), private)
        )
    return redact(text, visible_secrets(text)).strip()


def _markdown(text: str, limit: int) -> str:
    """`text` as it may stand within an entry: no headings, tasks or tags of its own, and of
    code the first line.
    """
    text = PATTERNS["fence"].sub(lambda fence: f"{_code(fence[2])}\n", text)
    for mark in TABLE["markdown"]:
        text = re.sub(mark["pattern"], mark["by"], text, flags=re.MULTILINE | re.DOTALL)
    return _shortened(text.strip(), limit)


def _shortened(text: str, limit: int) -> str:
    return (
        text
        if len(text) <= limit
        else f"{text[: limit - 2].rpartition(' ')[0] or text[: limit - 2]} …"
    )


def _code(text: str) -> str:
    """The first line of a text as code."""
    first, _, more = text.strip().partition("\n")
    first = _shortened(first + " …" * bool(more), LINE_CHARS)
    return f"`` {first} ``" if "`" in first else f"`{first}`"

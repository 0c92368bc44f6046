"""Makes a digest of a session without a model: what was asked, said, run and edited.

A session becomes records of at most 6,000 characters, its parts. A turn, a request with what followed it, is never
divided; where it does not fit a new part begins, so that earlier parts stay as they are while the session grows.
Private passages and secrets are taken out of each text before it is shortened.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from ..errors import InvalidArgument
from ..notes.blocks import shown
from ..notes.privacy import mask, mentions, reveals, unclosed_tags, without_private
from ..notes.redaction import redact
from ..notes.screening import visible_secrets
from .record import Record, Skipped
from .session import PATTERNS, TABLE, Event, Session

PART_CHARS, HEAD_CHARS = 6000, 300
"""Characters of a part, and of these what is kept free for its first line."""
TITLE_CHARS, ASKED_CHARS, SAID_CHARS, LINE_CHARS = 80, 700, 1100, 150
COMMANDS, FILES, FILES_OF_PART = 8, 12, 100
"""Commands and files that a turn names, of the others it says how many; and files that an entry keeps."""
READ_CHARS = 20_000
"""What stands further back in a text is left out before secrets are looked for: it is not shown either."""


class _Turn(NamedTuple):
    """A request with what followed it, what it says without what is private, and both as Markdown."""

    events: list[Event]
    request: str
    text: str


@dataclass(frozen=True)
class Transcripts:
    """A reader of the transcripts with these `names`, which `sessions_in` reads, and makes digests of them.

    They lie `below` the folder that the environment's `variable` names, else below `usual` in the home folder.
    """

    variable: str
    usual: str
    below: tuple[str, ...]
    names: tuple[str, ...]
    sessions_in: Callable[[list[Path], Skipped], Iterator[Session]]

    def find(self, home: Path, environ: Mapping[str, str]) -> list[Path]:
        base = Path(environ.get(self.variable) or home / self.usual)
        return [place for part in self.below for place in sorted(base.glob(part))]

    def read(self, path: Path, skipped: Skipped) -> Iterator[Record]:
        for session in self.sessions(path, skipped):
            yield from _digest(session)

    def sessions(self, path: Path, skipped: Skipped) -> Iterator[Session]:
        """The sessions of a transcript, or of all below a folder, the oldest first."""
        files = {file for name in self.names for file in path.rglob(name)} if path.is_dir() else {path}
        if not files:
            raise InvalidArgument(f"{path} holds no transcript.", valid=self.names, hint="Name a folder that does.")
        return self.sessions_in(sorted(files, key=lambda file: (file.stat().st_mtime, file)), skipped)


def _digest(session: Session) -> Iterator[Record]:
    """The parts of a session in order; none where nobody asked, or nothing followed."""
    root = _root(session.folder)
    turns = list(_turns(session, root))
    if all(len(turn.events) == 1 for turn in turns):
        return
    parts: list[list[_Turn]] = [[]]
    for turn in turns:
        if parts[-1] and HEAD_CHARS + sum(len(one.text) + 2 for one in (*parts[-1], turn)) > PART_CHARS:
            parts.append([])
        parts[-1].append(turn)
    title = " ".join((_clean(session.title, b"") or turns[0].request).split())
    for number, part in enumerate(parts, start=1):
        yield _record(session, _shortened(title, TITLE_CHARS), part, number, root)


def _record(session: Session, title: str, part: Sequence[_Turn], number: int, root: str) -> Record:
    events = [event for turn in part for event in turn.events]
    branch, until = part[-1].events[0].branch, max(event.at for event in events)
    begun, ended = events[0].at.astimezone(), until.astimezone()
    where = f" in {_code(Path(session.folder).name)}" if session.folder else ""
    on = f" on {_code(branch)}" if branch else ""
    to = f"{ended:%H:%M}" if ended.date() == begun.date() else f"{ended:%Y-%m-%d %H:%M}"
    head = f"{session.client}{where}{on}, {begun:%Y-%m-%d %H:%M} to {to}{f', part {number}' if number > 1 else ''}."
    return Record(
        key=session.key if number == 1 else f"{session.key}/{number}",
        text="\n\n".join([head, *(turn.text for turn in part)]),
        at=events[0].at,
        title=title if number == 1 else f"{title} ({number})",
        type="progress",
        folder=session.folder or None,
        branch=branch or None,
        files=_files(events, root)[:FILES_OF_PART],
        growing=True,
        until=until,
        lines=(events[0].line, max(event.line for event in events)),
    )


def _turns(session: Session, root: str) -> Iterator[_Turn]:
    events = [event for event in session.events if event.text]
    starts = [number for number, event in enumerate(events) if event.kind == "asked"]
    private, opened = b"", False
    for start, end in pairwise([*starts, len(events)]):
        asked = events[start].text
        if opened and "</private" in asked.lower():  # a passage that the request before opened
            asked = f"<private>{asked}"
        data = asked.encode()
        opened = bool(unclosed_tags(data))
        private += data + b"\n" if mentions(data) else b""
        if request := _clean(shown(mask(data)).decode(), private):  # where all is private, what follows is as well
            yield _Turn(events[start:end], request, _text(request, events[start + 1 : end], private, root))


def _text(request: str, after: Sequence[Event], private: bytes, root: str) -> str:
    said = next((event.text for event in reversed(after) if event.kind == "said"), "")
    quoted = _shortened(_markdown(request), ASKED_CHARS).replace("\n", "\n> ").replace("> \n", ">\n")
    files = _files(after, root)
    lines = [f"- Edited: {', '.join(map(_code, files[:FILES]))}{_more(files, FILES)}"] if files else []
    lines += _commands([event for event in after if event.kind == "ran"], private, root)
    return "\n\n".join(
        filter(None, (f"> {quoted}", _shortened(_markdown(_clean(said, private)), SAID_CHARS), "\n".join(lines)))
    )


def _files(events: Iterable[Event], root: str) -> tuple[str, ...]:
    """The edited files, as they are called in the checkout where they lie in it."""
    inside = f"{root.rstrip('/')}/"
    return tuple(dict.fromkeys(event.text.removeprefix(inside) for event in events if event.kind == "edited"))


def _commands(ran: Sequence[Event], private: bytes, root: str) -> Iterator[str]:
    """What ran, in order: what failed, what was run after that, the last, and of the others as many as fit."""
    told = [event for event in ran if not event.commit and not PATTERNS["looks"].match(event.text)]
    failed = [bool(event.error) for event in told]
    vital = [now or before for now, before in zip(failed, [False, *failed], strict=False)]
    chosen = sorted(range(len(told)), key=lambda number: (not vital[number], -number))[:COMMANDS]
    for event in (told[number] for number in sorted(chosen)):
        command = _code(_clean(event.text.removeprefix(f"cd {root} && "), private))
        ended = "" if event.status is None else f", exit {event.status}"
        yield f"- Ran: {command}{ended}{f': {_code(_clean(event.error, private))}' if event.error else ''}"
    yield from [f"-{_more(told, COMMANDS)} commands"] * (len(told) > COMMANDS)
    for event in ran:
        if event.commit:
            yield f"- Committed: {_code(_clean(event.commit, private))}"


def _more(things: Sequence[object], most: int) -> str:
    return f" and {len(things) - most} more" if len(things) > most else ""


def _root(folder: str) -> str:
    """The checkout around a folder, or the folder itself."""
    here = Path(folder)
    return str(next((place for place in (here, *here.parents) if folder and (place / ".git").exists()), folder))


def _clean(text: str, private: bytes) -> str:
    """`text` without private passages, the lines that repeat one of `private`, and secrets."""
    text = without_private(text)
    if len(text) > READ_CHARS:
        text = text[:READ_CHARS].rpartition(" ")[0]
    if private:
        text = "\n".join(line for line in text.splitlines() if not reveals(line.encode(), private))
    return redact(text, visible_secrets(text)).strip()


def _markdown(text: str) -> str:
    """`text` as it may stand within an entry: no headings, tasks or tags of its own, and of code the first line."""
    text = PATTERNS["fence"].sub(lambda fence: f"{_code(fence[2])}\n", text)
    for mark in TABLE["markdown"]:
        text = re.sub(mark["pattern"], mark["by"], text, flags=re.MULTILINE | re.DOTALL)
    return text.strip()


def _shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 20].rpartition(' ')[0] or text[: limit - 20]} …"


def _code(text: str) -> str:
    """The first line of a text as code."""
    first, _, more = text.strip().partition("\n")
    first = _shortened(first + " …" * bool(more), LINE_CHARS)
    return f"`` {first} ``" if "`" in first else f"`{first}`"

"""Makes a digest of a session without a model: what was asked, said, run and edited.

A session becomes records of at most 6,000 characters, its parts. A turn, a request with what followed it, is never
divided, and goes into a new part when it does not fit, so that the parts before the last stay as they are while the
session grows. Private passages and secrets are taken out of each text before it is shortened.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ..notes.blocks import shown
from ..notes.privacy import mask, mentions, reveals, unclosed_tags, without_private
from ..notes.redaction import redact
from ..notes.screening import visible_secrets
from .record import Record
from .session import Event, Session, plain

PART_CHARS = 6000
HEAD_CHARS = 200
"""Kept free for the line above the first turn."""
ASKED_CHARS, SAID_CHARS, LINE_CHARS = 700, 1100, 150
COMMANDS, FILES, FILES_OF_PART = 8, 12, 100
"""Commands and files that a turn names, of the others it says how many; and files that an entry keeps."""
READ_CHARS = 20_000
"""What stands further back in a text is not looked at for secrets: it is not shown either."""

_LOOKS = re.compile(
    r"(?:cd [^&;|]+(?:&&|;)\s*)?(?:ls|cat|head|tail|sed -n|grep|rg|find|fd|pwd|wc|tree|which|echo|file|stat|du|sleep|jq"
    r"|git (?:-C \S+ )?(?:status|diff|log|show|branch|rev-parse|ls-files|blame))\b(?!.*[^2&]>\s*[\w/.~])"
)
"""Commands by which an agent looks around. A digest leaves them out."""
_FENCE = re.compile(r"^[ \t]*(```+|~~~+)[^\n]*\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_MARKS = (
    (re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL), ""),
    (re.compile(r"^[ \t]*#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE), r"**\1**"),
    (re.compile(r"^([ \t]*[-*+] )\[[ xX]\] ", re.MULTILINE), r"\1"),  # an agent's task is none of the journal
    (re.compile(r"(?<![\w`\\/&])#(?=[^\W\d])"), r"\\#"),  # nor is `#include` a tag
    (re.compile(r"\n\s*\n+"), "\n\n"),
)
_MESSAGE = re.compile(r"-[a-z]*m\s*(?:\"\$\(cat <<-?\s*['\"]?\w+['\"]?\n)?[\"']?([^\"'\n]{1,200})")


def digest(session: Session) -> Iterator[Record]:
    """The records of a session, its parts in order; none where nobody asked anything, or nothing followed."""
    turns = _turns(session)
    if not any(turn.reply or turn.told for turn in turns):
        return
    title = _one_line(_Cleaner()(session.title), 80) or _one_line(turns[0].request, 80)
    for number, part in enumerate(_parts(turns), start=1):
        first, last = part[0].asked, max((turn.last for turn in part), key=lambda event: event.line)
        yield Record(
            key=session.key if number == 1 else f"{session.key}/{number}",
            text="\n\n".join([_head(session, part, number), *(turn.text for turn in part)]),
            at=first.at,
            title=title if number == 1 else f"{title} ({number})",
            type="progress",
            folder=session.folder,
            branch=part[-1].asked.branch or session.branch,
            files=tuple(dict.fromkeys(path for turn in part for path in turn.files))[:FILES_OF_PART],
            growing=True,
            lines=(first.line, last.line),
        )


class _Turn:
    """A request and what followed it, as Markdown."""

    def __init__(self, asked: Event, after: Sequence[Event], request: str, clean: _Cleaner, root: str) -> None:
        self.asked, self.last = asked, max([asked, *after], key=lambda event: event.line)
        self.until = max(event.at for event in (asked, *after))
        self.request = request
        said = next((event.text for event in reversed(after) if event.kind == "said"), "")
        self.reply = _shortened(_markdown(clean(said)), SAID_CHARS)
        self.files = list(dict.fromkeys(_within(event.text, root) for event in after if event.kind == "edited"))
        ran = [event for event in after if event.kind == "ran"]
        self.told = [*_edited(self.files), *_commands(ran, clean, root)]
        self.told += [f"- Committed: {_code(clean(commit))}" for commit in filter(None, map(_commit, ran))]

    @property
    def text(self) -> str:
        request = _shortened(_markdown(self.request), ASKED_CHARS)
        quoted = "\n".join(f"> {line}".rstrip() for line in request.splitlines())
        return "\n\n".join(filter(None, (quoted, self.reply, "\n".join(self.told))))


class _Cleaner:
    """Takes private passages and secrets out of the texts of a session, one after the other.

    A passage that is opened in one request and closed in a later one is private, and so is what repeats a private line.
    """

    def __init__(self) -> None:
        self.private = b""
        self.open = False

    def request(self, text: str) -> str:
        data = plain(text).encode()
        if self.open and b"</private" in data.lower():
            data = b"<private>" + data
        if mentions(data):
            self.open = bool(unclosed_tags(data))
            self.private += data + b"\n</private>\n" * self.open
        return self(shown(mask(data)).decode("utf-8", "replace"))

    def __call__(self, text: str) -> str:
        text = plain(without_private(text[:READ_CHARS]))
        if self.private and reveals(text.encode(), self.private):
            kept = (line for line in text.splitlines() if not reveals(line.encode(), self.private))
            text = "\n".join(kept)
        return redact(text, visible_secrets(text)).strip()


def _turns(session: Session) -> list[_Turn]:
    clean = _Cleaner()
    root = _root(session.folder)
    starts = [number for number, event in enumerate(session.events) if event.kind == "asked"]
    turns = []
    for start, end in zip(starts, [*starts[1:], len(session.events)], strict=True):
        asked = session.events[start]
        if request := clean.request(asked.text):  # what follows a request that is all private is private too
            turns.append(_Turn(asked, session.events[start + 1 : end], request, clean, root))
    return turns


def _parts(turns: Iterable[_Turn]) -> Iterator[list[_Turn]]:
    part: list[_Turn] = []
    size = HEAD_CHARS
    for turn in turns:
        if part and size + len(turn.text) + 2 > PART_CHARS:
            yield part
            part, size = [], HEAD_CHARS
        part.append(turn)
        size += len(turn.text) + 2
    if part:
        yield part


def _head(session: Session, part: Sequence[_Turn], number: int) -> str:
    begun, ended = part[0].asked.at.astimezone(), max(turn.until for turn in part).astimezone()
    until = f"{ended:%H:%M}" if ended.date() == begun.date() else f"{ended:%Y-%m-%d %H:%M}"
    place = f" in {_code(Path(session.folder).name)}" if session.folder else ""
    branch = part[-1].asked.branch
    on = f" on {_code(branch)}" if branch else ""
    return f"{session.client}{place}{on}, {begun:%Y-%m-%d %H:%M} to {until}{f', part {number}' if number > 1 else ''}."


def _edited(files: Sequence[str]) -> Iterator[str]:
    if files:
        more = f" and {len(files) - FILES} more" if len(files) > FILES else ""
        yield f"- Edited: {', '.join(_code(path) for path in files[:FILES])}{more}"


def _commands(ran: Sequence[Event], clean: _Cleaner, root: str) -> list[str]:
    """What ran, in order: what failed, what was run after it, the last, and as many of the others as fit."""
    told = [event for event in ran if not (_LOOKS.match(event.text) or (event.commit and not event.status))]
    vital = {number for number, event in enumerate(told) if event.status or event.error or number + 1 == len(told)}
    vital |= {number + 1 for number in vital if number + 1 < len(told)}
    chosen = sorted(range(len(told)), key=lambda number: (number not in vital, -number))[:COMMANDS]
    lines = []
    for event in (told[number] for number in sorted(chosen)):
        command = event.text.removeprefix(f"cd {root} && ")
        ended = "" if event.status is None else f": exit {event.status}"
        error = f", {_code(clean(event.error))}" if event.error else ""
        lines.append(f"- Ran: {_code(clean(command))}{ended or ':' * bool(error)}{error}")
    more = len(told) - len(chosen)
    return [*dict.fromkeys(lines), *([f"- and {more} more commands"] if more else [])]


def _commit(event: Event) -> str:
    if event.commit or event.status or not re.search(r"\bgit\b[^\n|]* commit\b", event.text):
        return event.commit
    match = _MESSAGE.search(event.text, event.text.index("commit"))
    return match[1] if match else ""


def _root(folder: str | None) -> str:
    """The checkout around a folder, or the folder itself."""
    if not folder:
        return ""
    here = Path(folder)
    return str(next((place for place in (here, *here.parents) if (place / ".git").exists()), here))


def _within(path: str, root: str) -> str:
    """A path as it is called in the checkout, if it lies there."""
    return os.path.relpath(path, root) if root and path.startswith(root.rstrip(os.sep) + os.sep) else path


def _markdown(text: str) -> str:
    """`text` as it may stand within an entry: no headings, tasks or tags of its own, of code the first line."""
    text = _FENCE.sub(lambda fence: _code(fence[2].strip()) + "\n", text)
    for pattern, by in _MARKS:
        text = pattern.sub(by, text)
    return text.strip()


def _one_line(text: str, limit: int) -> str:
    return _shortened(" ".join(text.split()), limit)


def _shortened(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    cut = text[: limit - 2]
    return (cut.rsplit(None, 1)[0] if " " in cut[limit // 2 :] else cut) + " …"


def _code(text: str) -> str:
    """The first line of a command, a path or an error as code."""
    first, _, more = text.strip().partition("\n")
    first = _shortened(first.strip() + " …" * bool(more.strip()), LINE_CHARS)
    ticks = "``" if "`" in first else "`"
    return f"{ticks} {first} {ticks}" if "`" in first else f"`{first}`"

"""The workspace as it was at a moment of the past, to be read.

The journal of that moment is made of the present one: later entries are left out, and a text
that an update or a deletion replaced later comes back from the trash. The index is a copy in
memory, brought in step with that journal; so each verb that reads answers as it did then.

| since that moment          | shown as of then                                               |
|----------------------------|----------------------------------------------------------------|
| saved                      | nothing                                                        |
| updated                    | its text of then                                               |
| deleted                    | its title, to a client that may write; else nothing            |
| deleted and restored       | its text of then                                               |
| purged                     | nothing                                                        |
| edited by hand             | its text of today, marked so                                   |
| a secret by today's rules  | without the secret                                             |
| private in any version     | nothing                                                        |

An entry counts from the time that it bears, also where it was saved later.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, time
from typing import Any, NamedTuple

from ..errors import InvalidArgument, NotFound, Refused
from ..index.lookup import Index
from ..index.rows import FileRows, instant
from ..journal.journal import Journal
from ..journal.text import entry_of, joined
from ..journal.trash import TrashedText
from ..language.query import read_date, read_moment
from ..models import Entry, ParsedFile, Stamp
from ..notes.markdown import proven_block
from ..notes.privacy import mentions, reveals
from ..notes.screening import Screen
from .sync import in_step, read_file
from .workspace import Workspace

DELETED = "deleted since"
OF_TODAY = "text of today, its file changed since"
SLOW_WRITE = 5_000_000
"""Microseconds by which a file may be newer than the entry, or the piece in the trash, that
changed it.
"""
_CLOCK = re.compile(r"\d:\d\d|\bago\b|\d ?[ap]m\b", re.IGNORECASE)
_COMMENT = re.compile(r"(<!-- syn:[^\n]*-->)")


class Indexed(NamedTuple):
    """An entry of the present journal; `at` is its instant."""

    path: str
    id: str
    at: int
    is_dated: int


class PastJournal(Journal):
    """The journal as it was. `files` holds the bytes of files that said something else then,
    `left_out` the ids of entries that are not shown.
    """

    def __init__(self, present: Workspace, moment: datetime) -> None:
        super().__init__(present.config)
        self.moment = moment
        self.until = instant(moment)
        self.files: dict[str, bytes] = {}
        self.left_out: set[str] = set()
        self.told: tuple[str, ...] = ()
        self.compare = self._unchanged  # type: ignore[assignment]
        self.absent = lambda: (*self.roots.absent(), *self.told)

    def read(self, path: str) -> bytes:
        """The bytes of a file as it was."""
        return self.files[path] if path in self.files else super().read(path)

    def parse(
        self,
        path: str,
        data: bytes,
        mtime_ns: int = 0,
        *,
        block: bool = False,
    ) -> ParsedFile:
        parsed = super().parse(path, data, mtime_ns, block=block)
        shown = [entry for entry in parsed.entries if entry.id not in self.left_out]
        return ParsedFile(tuple(shown), parsed.issues)

    def hide(self, path: str, data: bytes) -> None:
        """Does nothing: only the present journal decides about copies."""

    def writing(self) -> Any:
        raise Refused("The past cannot be changed.", hint="Leave out as_of.")

    def _unchanged(self, *_: object) -> tuple[list[Stamp], list[str]]:
        return [], []


@contextmanager
def as_of(
    ws: Workspace,
    when: str | datetime | None,
    *,
    may_write: bool = True,
) -> Iterator[Workspace]:
    """The workspace at the end of a day, or at a moment: `2026-06-01`, `yesterday 18:00`; as it
    is without one.

    It is for one answer: what is saved meanwhile does not reach it. `may_write`: the asker may
    restore deleted entries, so their titles are shown. Raises InvalidArgument for a text that
    is no time, and for a time ahead.
    """
    if not when:
        yield ws
        return
    moment = _moment(when, ws.clock())
    with in_step(ws, lambda _: _past(ws, moment, may_write)) as past:
        yield past


def _moment(
    when: str | datetime,
    now: datetime,
) -> datetime:
    if isinstance(when, str):
        has_clock = _CLOCK.search(when) is not None
        if has_clock:
            when = read_moment(when, now=now, name="as_of")
        else:
            day = read_date(when, now=now, name="as_of")
            when = datetime.combine(datetime.fromisoformat(day), time.max)
            if when.date() == now.date():
                when = now
    moment = when.astimezone(now.tzinfo)
    if moment > now:
        raise InvalidArgument(
            f"as_of is {moment:%Y-%m-%d %H:%M}, which lies ahead.",
            valid=(f"a time up to {now:%Y-%m-%d %H:%M}",),
        )
    return moment


def _past(
    ws: Workspace,
    moment: datetime,
    may_write: bool,
) -> Workspace:
    journal = PastJournal(ws, moment)
    present = [Indexed(*row) for row in ws.index.moments()]
    journal.left_out = {one.id for one in present if one.at > journal.until}
    pieces: dict[str, list[TrashedText]] = {}
    for piece in ws.journal.trashed():
        pieces.setdefault(piece.id, []).append(piece)
    titles = _rewrite(ws, journal, present, pieces, may_write)
    stamps = {stamp.path: stamp for stamp in ws.journal.scan()}
    remarks = dict.fromkeys(titles, DELETED)
    remarks |= _edited_by_hand(journal, present, pieces, stamps)
    journal.remarks = remarks
    journal.told = (_told(journal, present, remarks),)
    past = Workspace(
        ws.config,
        journal,
        Index(ws.config.state / "past" / "index.db", stemming=ws.config.search.stemming),
        ws.embedder,
        lambda: moment,
    )
    _bring_in_step(ws, past, present, stamps)
    return past


def _rewrite(
    ws: Workspace,
    journal: PastJournal,
    present: Sequence[Indexed],
    pieces: Mapping[str, list[TrashedText]],
    may_write: bool,
) -> list[str]:
    """Puts the texts of then into the files; returns the ids of entries that were deleted."""
    places: dict[str, list[str]] = {}
    for one in present:
        places.setdefault(one.id, []).append(one.path)
    replaced: dict[str, dict[str, bytes]] = {}
    added: dict[str, list[Entry]] = {}
    for id, mine in pieces.items():
        now = [_block(ws, path, id) for path in places.get(id, ())]
        then = next((piece for piece in mine if piece.at > journal.moment), None)
        if id in journal.left_out or not (now or then):
            continue
        text = _screened(ws, then.text) if then else now[0]
        if text is None or _is_private(text, [*now, *(piece.text for piece in mine)]):
            journal.left_out.add(id)
        elif then and now:
            for path in places[id]:
                replaced.setdefault(path, {})[id] = text
        elif then and may_write:
            entry = _title_of(ws, then, text)
            if entry and entry.at <= journal.moment:
                added.setdefault(then.path, []).append(entry)
    for path, texts in replaced.items():
        journal.files[path] = _with_texts(ws, path, texts)
    for path, entries in added.items():
        data = journal.files.get(path) or _read_if_there(ws, path)
        for entry in entries:
            data += joined(path, proven_block(entry), data)
        journal.files[path] = data
    return [entry.id for entries in added.values() for entry in entries]


def _read_if_there(
    ws: Workspace,
    path: str,
) -> bytes:
    with suppress(NotFound):
        return ws.journal.read(path)
    return b""


def _block(
    ws: Workspace,
    path: str,
    id: str,
) -> bytes:
    """The bytes of an entry in its file."""
    data = ws.journal.read(path)
    _, start, end = entry_of(ws.journal.parse(path, data), path, id)
    return data[start:end]


def _with_texts(
    ws: Workspace,
    path: str,
    texts: Mapping[str, bytes],
) -> bytes:
    """The bytes of a file in which these entries have these texts."""
    data = ws.journal.read(path)
    parsed = ws.journal.parse(path, data)
    spans = [(*entry_of(parsed, path, id)[1:], text) for id, text in texts.items()]
    for start, end, text in sorted(spans, reverse=True):
        data = data[:start] + text + data[end:]
    return data


def _screened(
    ws: Workspace,
    block: bytes,
) -> bytes | None:
    """A block without what is a secret today; None where its comment holds one."""
    screen = Screen("allow" if ws.config.secrets == "allow" else "redact")
    text = block.decode("utf-8", "surrogateescape")
    head, *rest = _COMMENT.split(text, maxsplit=1)
    shown = screen.redacted("title", head)
    if rest:
        comment, body = rest
        if screen.redacted("comment", comment) != comment:
            return None
        shown += comment + screen.redacted("text", body, after=head)
    return shown.encode("utf-8", "surrogateescape")


def _is_private(
    text: bytes,
    versions: Sequence[bytes],
) -> bool:
    """True if a text shows what is private in another version of its entry."""
    return any(mentions(other) and reveals(text, other) for other in versions)


def _title_of(
    ws: Workspace,
    piece: TrashedText,
    text: bytes,
) -> Entry | None:
    """A deleted entry that says its title alone; None where it had no time."""
    for old in ws.journal.parse(piece.path, text, block=True).entries:
        if old.dated:
            return Entry(
                id=piece.id,
                at=old.at,
                title=old.title,
                content=old.title,
                type=old.type,
                project=old.project,
                supersedes=old.supersedes,
            )
    return None


def _edited_by_hand(
    journal: PastJournal,
    present: Sequence[Indexed],
    pieces: Mapping[str, list[TrashedText]],
    stamps: Mapping[str, Stamp],
) -> dict[str, str]:
    """A mark for each entry whose file changed after the moment, and neither a later entry nor
    a piece in the trash says how.
    """
    explained = dict.fromkeys(stamps, journal.until)
    changes = [(one.path, one.at) for one in present]
    changes += [(piece.path, instant(piece.at)) for each in pieces.values() for piece in each]
    for path, at in changes:
        explained[path] = max(explained.get(path, at), at)
    marks = {}
    for one in present:
        stamp = stamps.get(one.path)
        changed = stamp.mtime_ns // 1000 if stamp else 0
        is_kept = any(piece.at > journal.moment for piece in pieces.get(one.id, ()))
        is_older = one.at <= journal.until and not is_kept
        if is_older and changed > explained[one.path] + SLOW_WRITE:
            marks[one.id] = OF_TODAY
    return marks


def _told(
    journal: PastJournal,
    present: Sequence[Indexed],
    remarks: Mapping[str, str],
) -> str:
    """A notice of the moment, and of what is not known of it."""
    said = f"As of {journal.moment:%Y-%m-%d %H:%M}."
    deleted = sum(remark == DELETED for remark in remarks.values())
    undated = sum(one.at > journal.until and not one.is_dated for one in present)
    if deleted:
        said += f" {deleted:,} deleted since stand by their title alone."
    if undated:
        said += f" {undated:,} undated notes changed since and are left out."
    return said


def _bring_in_step(
    ws: Workspace,
    past: Workspace,
    present: Sequence[Indexed],
    stamps: Mapping[str, Stamp],
) -> None:
    """Makes the index of `past` a copy of the present one, in which the files that were other
    then are read anew.
    """
    journal = past.journal
    assert isinstance(journal, PastJournal)
    past.index.file.hold(ws.index.file)
    head = past.index.meta("head")
    kept = {one.path for one in present if one.id not in journal.left_out}
    touched = {one.path for one in present if one.id in journal.left_out}
    removed = sorted(touched - kept - journal.files.keys())
    read = sorted((touched & kept) | journal.files.keys())

    def rows() -> Iterator[FileRows]:
        for path in read:
            stamp = stamps.get(path) or Stamp(path, 0, 0, 0, 0)
            yield read_file(past, stamp, head)

    with past.index.writing() as writer:
        writer.apply(rows(), removed, reading=past.index.meta("reading"), head=head)

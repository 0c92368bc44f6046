"""Brings the index in step with the journal, and runs questions on it. The index follows; it
never leads.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime
from datetime import time as clock_time
from typing import TypeVar

import apsw

from ..errors import IndexUnusable, JournalError, ModelError, NotFound
from ..index.database import BUSY_TIMEOUT_MS
from ..index.rows import FileRows
from ..index.store import Writer
from ..models import Entry, ParseIssue, Stamp
from ..notes.reading import GRAMMAR, aware
from .embed import LOCK_WAIT_MS, Progress, embed_pending, still_writing
from .git import added_days, head_of
from .readback import Stale
from .rows import file_rows, hash_of
from .workspace import Workspace

Result = TypeVar("Result")
RESETS = 3
"""How often one answer makes a broken index anew: whatever breaks it may break it again at
once.
"""
UNSCRUBBED = (
    "Another process is reading the index, or its file cannot be written: it may hold "
    "removed text until the next "
    "search or save; `synaptic rebuild-index` tries at once."
)


LEAST_FILES = 20
"""Files that a sync reads however little time it has, so that each gets further."""
DAY_NS = 86_400_000_000_000


@dataclass(frozen=True, slots=True)
class RebuildReport:
    entries: int
    chunks: int
    embedded: int
    reused: int
    seconds: float
    issues: tuple[ParseIssue, ...]
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a sync did. `behind`: another process held the index; it shows an earlier state of
    the journal.

    `unread` is the number of files for which it had no time: the next sync reads them.

    `trouble`: why the index is kept in memory, where its file cannot be written. `unscrubbed`:
    what was purged or became private may still stand in the bytes of the index, because another
    process reads from its log. `absent` tells of sources that cannot be read.
    """

    changed: int = 0
    removed: int = 0
    embedded: int = 0
    pending_entries: int = 0
    behind: bool = False
    unread: int = 0
    trouble: str = ""
    unscrubbed: bool = False
    absent: tuple[str, ...] = ()

    @property
    def notices(self) -> tuple[str, ...]:
        """Why an answer from the index may be slow or lack something, and what to do."""
        said = []
        if self.trouble:
            said.append(
                f"{self.trouble}; it is kept in memory, which is slower. `synaptic doctor` "
                f"says what to do."
            )
        if self.behind:
            said.append(
                "Another process is writing the index; the latest changes may be missing. "
                "Ask again."
            )
        if self.unscrubbed:
            said.append(UNSCRUBBED)
        return (*said, *self.absent)


def in_step(
    ws: Workspace,
    action: Callable[[SyncReport], Result],
    *,
    embed_ms: float = 0,
    at_least: int = 0,
    within_s: float | None = None,
) -> Result:
    """What `action` returns, run on an index that shows the present journal; with `within_s` as
    much of it as can be read in that time, the newest files first.

    Runs again when a file changed meanwhile; a damaged index is made anew, one that cannot be
    written goes on in memory. Embedding takes `embed_ms`, or longer until `at_least` passages
    are done. Where another process writes, the answer comes from the state before it; NotFound
    is raised only after a wait for that process.
    """
    at_rest, wait_ms = 0, LOCK_WAIT_MS
    until = None if within_s is None else time.monotonic() + within_s

    def attempt() -> Result:
        nonlocal at_rest, wait_ms
        report = sync(ws, wait_ms=wait_ms, until=until)
        embedded = (
            embed_pending(ws, budget_s=embed_ms / 1000, at_least=at_least) if embed_ms else 0
        )
        pending = ws.index.counts().pending_entries if ws.index.pending(1) else 0
        try:
            with ws.index.file.transaction():
                if ws.index.meta("reading") is None:  # another process has just made it anew
                    raise Stale
                return action(replace(report, embedded=embedded, pending_entries=pending))
        except NotFound:
            if not report.behind:
                raise
            if wait_ms == BUSY_TIMEOUT_MS:
                raise still_writing() from None
            wait_ms = BUSY_TIMEOUT_MS
            raise Stale from None
        except Stale:
            filled = ws.index.meta("reading") is not None
            at_rest = (
                at_rest + 1
                if filled and not (report.changed or report.removed or report.behind)
                else 0
            )
            if at_rest == 2:  # nothing changed, and still the index shows something else
                raise apsw.CorruptError("it does not show the journal as it is") from None
            raise

    for _ in range(4):
        with suppress(Stale):
            return _mending(ws, attempt)
    raise JournalError(
        "The journal changes faster than it can be read.", hint="Try again in a moment."
    )


def _mending(ws: Workspace, action: Callable[[], Result]) -> Result:
    """What `action` returns, with the index made anew, at most `RESETS` times, or moved to
    memory once if need be.

    An error that a broken index and a question alike may cause condemns no sound index: it is
    asked once more. Raises IndexUnusable when that does not help.
    """
    ways: list[str] = []
    while True:
        try:
            return action()
        except apsw.Error as error:
            tried = {way for way in ways if way != "reset" or ways.count(way) == RESETS}
            way = ws.index.file.heal(error, tried)
            if way == "again" and way in tried:
                raise IndexUnusable(
                    f"The index is sound, but SQLite refuses this: {error}.",
                    hint="Nothing was lost. Ask for less, or in other words, and report this.",
                ) from error
            if not way or way in tried:
                raise IndexUnusable(
                    f"The index {ws.index.file.path} cannot be used: {error}.",
                    hint="The journal is untouched; `synaptic doctor` says more.",
                ) from error
            ways.append(way)


def sync(
    ws: Workspace,
    *,
    wait_ms: int = LOCK_WAIT_MS,
    written: Sequence[str] | None = None,
    until: float | None = None,
) -> SyncReport:
    """What changed. Steps: take over what an older version spooled, scan, and where files differ, read and write
    them in one transaction.

    What differs is looked up once more when the lock is held: of many that wait for it, the
    first does the work of all. It is waited for `wait_ms`; longer where somebody fills a new
    index, for there is nothing to answer from. `written`: the files that the caller has just
    written; where the index knows them, it looks at no others. Text that was purged or became
    private is scrubbed from the file's bytes, now or by a later sync.

    `until`: a moment of `time.monotonic` from which on no more new files are read; and where
    somebody else is filling a new index, this process reads them into memory instead of
    waiting.
    """
    report = _synced(ws, wait_ms, written, until)
    if report.behind or not ws.index.file.owes_scrub:
        return report
    late = _synced(
        ws, wait_ms, None
    )  # the note may be of a file that another process has purged since
    return replace(
        report, behind=late.behind, unscrubbed=late.behind or not ws.index.compact(LOCK_WAIT_MS)
    )


def _synced(
    ws: Workspace, wait_ms: int, written: Sequence[str] | None, until: float | None = None
) -> SyncReport:
    with suppress(JournalError):  # a disk that cannot be written can be read
        ws.journal.adopt_old_spool()
    report = SyncReport(
        trouble=ws.index.file.trouble,
        absent=ws.journal.roots.absent(),
    )
    reading = _reading(ws)
    known = ws.index.meta("reading")
    if (
        written is None
        and known == reading
        and ws.index.meta("head") == head_of(ws.config.journal)
    ):
        stamps, removed = ws.journal.compare(ws.index.proofs())
        if not removed and not any(True for _ in _due(ws, stamps)):
            return report
    try:
        with ws.index.writing(
            BUSY_TIMEOUT_MS if known is None and until is None else wait_ms
        ) as writer:
            changed, removed, unread = _follow(ws, writer, reading, written or (), until)
    except apsw.BusyError as error:
        if known is not None or until is None:
            return replace(report, behind=True)
        ws.index.file.detach(error)
        return _synced(ws, wait_ms, written, until)
    return replace(
        report,
        changed=changed,
        removed=len(removed),
        unread=unread,
        trouble=ws.index.file.trouble,
    )


def _redated(ws: Workspace, head: str) -> Collection[str]:
    """The files whose entries git dates otherwise than the index; git is asked only if HEAD
    moved.
    """
    by_file = ws.index.dated_by_file() if ws.index.meta("head") != head else {}
    days = added_days(ws.config.journal, head) if by_file else {}
    return {
        path
        for path, day in by_file.items()
        if day != (str(days[path]) if path in days else None)
    }


def _due(
    ws: Workspace, stamps: Sequence[Stamp], redated: Collection[str] = ()
) -> Iterator[tuple[Stamp, bool]]:
    """Of files whose stamp is not known the ones to write: (stamp, whether the file must be
    read; else it proves it).

    A file must be read whose bytes differ, or whose time of change, which is `at` of an undated
    entry.
    """
    for stamp in stamps:
        now = time.time_ns()
        source = ws.index.sources([stamp.path]).get(stamp.path)
        same = False
        if (
            source is not None
            and source.stamp.mtime_ns == stamp.mtime_ns
            and stamp.path not in redated
        ):
            with suppress(NotFound):
                same = source.digest == hash_of(ws.journal.read(stamp.path))
        if not same or stamp.is_settled(now):
            yield stamp, not same


def _follow(
    ws: Workspace, writer: Writer, reading: str, written: Sequence[str], until: float | None
) -> tuple[int, list[str], int]:
    """(the number of files that were read, paths that are gone, the number of files for which
    there was no time).

    Where the index was read otherwise, all are read.
    """
    known, trust = ws.index.proofs(), ws.index.meta("reading") == reading
    head, read = head_of(ws.config.journal), 0
    alone = trust and ws.index.meta("head") == head and known.keys() >= set(written)
    stamps = [ws.journal.stamp(path) for path in written] if alone else []
    redated = _redated(ws, head) if trust else known.keys()
    if stamps and None not in stamps:
        changed, removed = (
            [stamp for stamp in stamps if stamp and stamp.proof != known[stamp.path]],
            list[str](),
        )
    else:
        changed, removed = ws.journal.compare({**known, **dict.fromkeys(redated)})

    if until is not None:
        changed = sorted(changed, key=_age, reverse=True)
    end = (
        math.inf if until is None or redated else until
    )  # of old rows either all are made anew, or none
    unread = 0

    def rows() -> Iterator[
        FileRows | Stamp
    ]:  # one file at a time: of a new index they may be thousands
        nonlocal read, unread
        for stamp, must_read in (
            _due(ws, changed, redated) if trust else ((stamp, True) for stamp in changed)
        ):
            if read >= LEAST_FILES and time.monotonic() > end:
                unread = len(changed) - changed.index(stamp)
                return
            if not must_read:
                yield stamp
                continue
            with suppress(NotFound):  # gone since the scan: the next one sees it
                yield _read(ws, stamp, head)
                read += 1

    writer.apply(rows(), removed, [stamp.path for stamp in changed], reading=reading, head=head)
    return read, removed, unread


def _age(stamp: Stamp) -> tuple[int, bool, str]:
    """What grows as a file is newer: the day of its last change, then the journal's own before
    others, by name.
    """
    return stamp.mtime_ns // DAY_NS, not stamp.path.startswith("@"), stamp.path


def rebuild(
    ws: Workspace, *, fresh: bool = False, progress: Progress | None = None
) -> RebuildReport:
    """The index made anew, in place, while others go on reading the old one.

    The text is written in one transaction; vectors of texts that did not change are taken over
    unless `fresh`; the rest is embedded afterwards. Returns when nothing is pending that the
    model can embed.
    """
    begun = time.perf_counter()
    notices: list[str] = []
    ws.journal.adopt_old_spool()
    reused = _mending(ws, lambda: _rebuild_text(ws, fresh=fresh, progress=progress))
    if ws.index.file.trouble:
        raise IndexUnusable(
            f"{ws.index.file.trouble}.", hint="Mend that, or move it away; it is made anew."
        )
    embedded = 0
    try:
        ws.embedder.load()
        embedded = more = embed_pending(ws, budget_s=None, progress=progress)
        while ws.index.pending(1) and (sync(ws).changed or more):  # somebody wrote meanwhile
            more = embed_pending(ws, budget_s=None, progress=progress)
            embedded += more
        if left := ws.index.counts().pending_passages:
            notices.append(
                f"The model fails on {left:,} passages, which are found by words only."
            )
    except ModelError as error:
        notices.append(str(error))
    ws.index.compact()
    counts = ws.index.counts()
    seconds = time.perf_counter() - begun
    return RebuildReport(
        counts.entries,
        counts.chunks,
        embedded,
        reused,
        seconds,
        ws.index.issues(),
        tuple(notices),
    )


def verify(ws: Workspace) -> bool:
    """False when the index was damaged and had to be made anew."""
    fault = _mending(ws, ws.index.file.check)
    if fault is None:
        return True
    ws.index.file.heal(apsw.CorruptError(fault))
    in_step(ws, lambda _: None)
    return False


def unlike_journal(ws: Workspace) -> list[str]:
    """Paths of files that the index, in step by its own account, does not show as they are;
    every file is read.
    """
    known = in_step(ws, lambda _: ws.index.sources())
    stamps = ws.journal.scan()
    astray = sorted(known.keys() - {stamp.path for stamp in stamps})
    for stamp in stamps:
        with suppress(NotFound):
            data = ws.journal.read(stamp.path)
            ids = {
                entry.id for entry in ws.journal.parse(stamp.path, data, stamp.mtime_ns).entries
            }
            source = known.get(stamp.path)
            if source is None or source.digest != hash_of(data) or ids != source.ids:
                astray.append(stamp.path)
    return astray


def _read(ws: Workspace, stamp: Stamp, head: str) -> FileRows:
    settled = stamp.is_settled(time.time_ns())  # before it is read
    data = ws.journal.read(stamp.path)
    parsed = ws.journal.parse(stamp.path, data, stamp.mtime_ns)
    if not all(entry.dated for entry in parsed.entries):
        day = added_days(ws.config.journal, head).get(stamp.path)
        parsed = replace(parsed, entries=tuple(_by_git(entry, day) for entry in parsed.entries))
    ws.journal.hide(stamp.path, data)
    return file_rows(stamp, data, parsed, settled)


def _by_git(entry: Entry, day: date | None) -> Entry:
    """The entry with the day of the commit that added its file, if nothing in the file dates
    it.
    """
    if entry.dated or day is None:
        return entry
    clock = clock_time() if entry.whole_file else entry.at.time()
    return replace(entry, at=aware(datetime.combine(day, clock), None), date_source="git")


def _reading(ws: Workspace) -> str:
    """What the meaning of a file depends on besides its bytes: another zone or day_file reads
    other dates.
    """
    return f"{GRAMMAR} {ws.config.day_file} {time.timezone} {time.altzone} {time.tzname}"


def _rebuild_text(ws: Workspace, *, fresh: bool, progress: Progress | None) -> int:
    stamps, head = ws.journal.scan(), head_of(ws.config.journal)

    def rows() -> Iterator[FileRows]:
        for number, stamp in enumerate(stamps, start=1):
            with suppress(NotFound):
                yield _read(ws, stamp, head)
            if progress:
                progress("reading", number, len(stamps))

    with ws.index.writing() as writer:
        keep_vectors = not fresh and ws.index.meta("model") == ws.embedder.name
        return writer.refill(rows(), keep_vectors=keep_vectors, reading=_reading(ws), head=head)

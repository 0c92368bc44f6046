"""Brings the index in step with the journal, and runs questions on it. The journal is never
changed to fit the index.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime
from datetime import time as clock_time
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

from ..errors import (
    IndexBusy,
    IndexFailed,
    IndexUnusable,
    JournalError,
    ModelError,
    NotFound,
    Sentence,
)
from ..index.database import BUSY_TIMEOUT_MS
from ..index.index_writer import IndexWriter
from ..index.rows import FileRows, hash64
from ..journal.names import left_out_sentences
from ..models import TYPES, Entry, FileSignature, ParseIssue, Stamp, Texts, frozen
from ..notes.dates import owner_time
from ..notes.reading import GRAMMAR
from .access import NeedsWriter
from .embed import LOCK_WAIT_MS, Progress, embed_pending, still_writing_error
from .file_rows import make_file_rows, with_at_tags
from .git import first_commit_days, head_state
from .preferences import Log, end_vanished_confirmations, read_log
from .readback import Stale
from .workspace import Workspace

Result = TypeVar("Result")
TRIES, PATIENCE_S = 4, 5.0
"""One answer is begun so often, and for so long, while the journal changes. By eye."""
OWN_WAIT_MS = 1_000
"""The time that an answer waits for the index if that lacks a change of this process. Then it
comes from a copy in memory.
"""
RESETS = 3
"""How often one answer rebuilds a broken index: the cause may break it again at once."""
_IN_MEMORY = (
    "{reason}; it is kept in memory, which is slower. `synaptic doctor` says what to do."
)
BEHIND = Sentence(
    "Another process is writing the index; the latest changes may be missing. Ask again."
)
UNSCRUBBED = (
    "Another process is reading the index, or its file cannot be written: it may hold removed "
    "text until the next search or save; `synaptic rebuild-index` tries at once."
)
LEAST_FILES, LEAST_BYTES = 20, 100_000
"""Files, or bytes of files, that a sync reads however little time it has, so that each gets
further.
"""
MOST_BYTES = 1_000_000
"""A new file that is larger is left to a sync that has time: it takes a second to read."""
PART_S = 10.0
"""How long a new index is filled before what was read is kept."""
UNREADABLE_SHOWN = 5
"""Files and folders that an answer names because they cannot be read."""
DAY_NS = 86_400_000_000_000


@frozen
class RebuildReport:
    entries: int
    chunks: int
    embedded: int
    reused: int
    seconds: float
    issues: tuple[ParseIssue, ...]
    notices: Texts = ()


class SyncReport(NamedTuple):
    """The result of a sync. `behind`: another process held the index, which shows an earlier
    state of the journal; `lacks_own`: it may lack a change of this process. `unread` counts
    files that are left to the next sync.

    `trouble`: the reason why the index is in memory only. `unscrubbed`: removed text may still
    stand in the bytes of the index, because another process reads its log. `absent` names
    sources, folders and files that cannot be read, `before` the digests before of changed ones.
    """

    changed: int = 0
    removed: int = 0
    embedded: int = 0
    pending_entries: int = 0
    behind: bool = False
    lacks_own: bool = False
    unread: int = 0
    trouble: str = ""
    unscrubbed: bool = False
    absent: Texts = ()
    before: Mapping[str, int | None] = {}

    @property
    def notices(self) -> Texts:
        """Sentences that say why an answer may be slow or incomplete, and how to mend that."""
        in_memory = Sentence(_IN_MEMORY, reason=self.trouble)
        reasons = {in_memory: self.trouble, BEHIND: self.behind, UNSCRUBBED: self.unscrubbed}
        return (*(notice for notice, applies in reasons.items() if applies), *self.absent)


def in_step(
    ws: Workspace,
    action: Callable[[SyncReport], Result],
    *,
    embed_ms: float = 0,
    at_least: int = 0,
    within_s: float | None = None,
    shows_own: bool = True,
) -> Result:
    """The result of `action`, run on an index that shows the present journal; with `within_s`
    the newest files that can be read in that time.

    Runs again when a file changed meanwhile. A damaged index is made anew, one that cannot be
    written goes on in memory. Embedding takes `embed_ms`, or longer until `at_least` passages
    are done. While another process writes, the answer comes from the state before. Where that
    does not have it, the answer waits for that process, and Busy is raised after 10 s. A reader
    asks the writer for all that is written.

    With `shows_own` no answer lacks a change of this process: it waits for the other one, and
    then comes from a copy of the index in memory.
    """
    return ws.access.in_step(InStep(ws, action, embed_ms, at_least, within_s, shows_own))


class InStep(Generic[Result]):
    """An action that waits for an index in step with the journal. It is run in one of three
    ways, which the workspace's access chooses: `run_after_sync`, `run_on_snapshot` or
    `run_without_sync`.
    """

    def __init__(
        self,
        ws: Workspace,
        action: Callable[[SyncReport], Result],
        embed_ms: float,
        at_least: int,
        within_s: float | None,
        shows_own: bool,
    ) -> None:
        self._ws = ws
        self._action = action
        self._embed_ms = embed_ms
        self._at_least = at_least
        self._until = None if within_s is None else time.monotonic() + within_s
        self._shows_own = shows_own
        self._wait_ms = LOCK_WAIT_MS
        self._has_waited = False
        self._stale_at_rest = 0
        """Tries that met a stale index although nothing had changed."""

    def run_without_sync(self) -> Result:
        """Returns the result on the index without updating it first."""
        return self._action(SyncReport())

    def run_after_sync(self) -> Result:
        """The result after a sync of this process."""
        end = time.monotonic() + PATIENCE_S
        if self._until is not None:
            end = min(end, self._until)
        tries = 0
        while tries < TRIES or time.monotonic() < end:
            tries += 1
            with suppress(Stale):
                return run_with_healing(self._ws, self._attempt)
        raise JournalError(
            "The journal changes faster than it can be read.", hint="Try again in a moment."
        )

    def _attempt(self) -> Result:
        ws = self._ws
        report = sync_index(ws, wait_ms=self._wait_ms, until=self._until)
        if report.lacks_own and self._shows_own:
            if not ws.index.file.is_held:
                report = sync_index(ws, wait_ms=OWN_WAIT_MS)
            if report.lacks_own:
                return self._answer_from_copy(report)
        if self._embed_ms:
            budget_s = self._embed_ms / 1000
            embedded = embed_pending(ws, budget_s=budget_s, at_least=self._at_least)
            report = report._replace(embedded=embedded)
        pending = _pending_entries(ws)
        try:
            return self._in_transaction(report._replace(pending_entries=pending))
        except (NotFound, Stale) as error:
            if report.behind:
                if self._has_waited:
                    raise still_writing_error(self._wait_ms) from None
                self._wait_for_writer()
                raise Stale from None
            if isinstance(error, Stale):
                self._note_stale(changed=bool(report.changed or report.removed))
            raise

    def _answer_from_copy(self, report: SyncReport) -> Result:
        """The result on a copy of the index in memory that shows the present journal."""
        ws = self._ws
        ws.index.file.is_held = True
        with ws.index.file.copied_into_memory():
            with ws.index.file.transaction(write_within_ms=0):
                reading, head = _reading_version(ws), head_state(ws.config.journal)
                _write_changes(ws, IndexWriter(ws.index.file), reading, head, (), None)
            pending = _pending_entries(ws)
            in_memory = report._replace(behind=False, lacks_own=False, pending_entries=pending)
            return self._in_transaction(in_memory)

    def _wait_for_writer(self) -> None:
        """Has the next sync wait for another process as long as the caller can."""
        self._has_waited = True
        self._wait_ms = BUSY_TIMEOUT_MS
        if self._until is not None:
            left_ms = round(1000 * (self._until - time.monotonic()))
            self._wait_ms = min(BUSY_TIMEOUT_MS, max(LOCK_WAIT_MS, left_ms))

    def _note_stale(self, *, changed: bool) -> None:
        """Raises IndexFailed where the index is stale twice although nothing changed. The next
        try does not embed: while this one did, a file changed.
        """
        is_filled = self._ws.index.meta("reading") is not None
        if is_filled:
            self._embed_ms = 0
        self._stale_at_rest = self._stale_at_rest + 1 if is_filled and not changed else 0
        if self._stale_at_rest == 2:
            raise IndexFailed("the index does not show the present journal", "reset") from None

    def run_on_snapshot(self, ask_writer: Callable[..., Any]) -> Result:
        """Returns the result on a reader's snapshot of the index that shows the present
        journal; asks the writer to update the index first if needed, and to embed waiting
        passages if it is free.

        Raises NeedsWriter where a snapshot cannot give the answer.
        """
        ws = self._ws
        embeds = self._embed_ms > 0 and ws.embedder.ready
        synced = partial(
            in_step,
            action=_return_report,
            embed_ms=self._embed_ms,
            at_least=self._at_least,
            shows_own=False,
        )
        for _ in range(TRIES):
            ws.index.file.reopen_if_replaced()
            head = head_state(ws.config.journal)
            is_shown, unread_notices = _compare_files(ws, _reading_version(ws), head)
            report = SyncReport(absent=unread_notices)
            if ws.index.file.owes_scrub or not is_shown:
                report = ask_writer(synced)
            elif embeds and ws.index.pending(1):
                report = ask_writer(synced, at_leisure=True) or report
            if report.trouble or (report.lacks_own and self._shows_own):
                break
            pending = _pending_entries(ws)
            try:
                return self._in_transaction(report._replace(pending_entries=pending))
            except NotFound:
                if not report.behind:
                    raise
                break
            except Stale:
                continue
        raise NeedsWriter

    def _in_transaction(self, report: SyncReport) -> Result:
        """The result on one state of the index. Raises Stale where it has no rows yet, because
        another process has just made it anew.
        """
        with self._ws.index.file.transaction():
            if self._ws.index.meta("reading") is None:
                raise Stale
            return self._action(report)


def _pending_entries(ws: Workspace) -> int:
    return ws.index.counts().pending_entries if ws.index.pending(1) else 0


def lacks_own_changes(ws: Workspace) -> bool:
    """True if the index, without a sync, may lack a change of this process to the journal."""
    return ws.index.file.shown_changes < len(ws.journal.changes)


def _return_report(report: SyncReport) -> SyncReport:
    """An action that another process can send."""
    return report


def run_with_healing(ws: Workspace, action: Callable[[], Result]) -> Result:
    """Runs `action` and returns its result. If the index fails, makes it anew (at most `RESETS`
    times) or moves it into memory (once), and runs `action` again.

    An error that a question may cause as well is tried once more on a sound index. Raises
    IndexUnusable if nothing helps.
    """
    left = Counter[str](reset=RESETS, detach=1, again=1)
    while True:
        try:
            return action()
        except IndexFailed as error:
            cure = ws.index.file.heal(error, [cure for cure in left if not left[cure]])
            # no more tries of this cure, or "", of which `left` counts none
            if not left[cure] and cure == "again":
                raise IndexUnusable(
                    f"The index is sound, but SQLite refuses this: {error.reason}.",
                    hint="Nothing was lost. Ask for less, or in other words, and report this.",
                ) from error
            if not left[cure]:
                raise IndexUnusable(
                    f"The index {ws.index.file.path} cannot be used: {error.reason}.",
                    hint="The journal is untouched; `synaptic doctor` says more.",
                ) from error
            left[cure] -= 1


def sync_index(
    ws: Workspace,
    *,
    wait_ms: int = LOCK_WAIT_MS,
    written: Sequence[str] = (),
    until: float | None = None,
) -> SyncReport:
    """Writes the changed files of the journal into the index and reports the changes.

    Steps: scan, read files that differ, and write them in one transaction.
    The comparison is repeated under the lock: of many waiting processes the first does the work
    of all. The wait takes `wait_ms`, or longer while a new index is filled. `written`: files
    that the caller has just written; if the index knows them, no others are looked at. Purged
    text is scrubbed from the file's bytes, now or by a later sync.

    `until`: the `time.monotonic` at which to stop reading new files. While another process
    fills a new index, this process then reads them into memory instead of waiting.
    """
    report = _sync_once(ws, wait_ms, written, until)
    if report.behind or not ws.index.file.owes_scrub:
        return report
    late = _sync_once(ws, wait_ms, ())  # another process may have purged a file since
    unscrubbed = late.behind or not ws.index.compact(LOCK_WAIT_MS)
    return report._replace(behind=late.behind, unscrubbed=unscrubbed)


def _sync_once(
    ws: Workspace, wait_ms: int, written: Sequence[str], until: float | None = None
) -> SyncReport:
    index = ws.index
    index.file.reopen_if_replaced()
    reading = _reading_version(ws)
    head = head_state(ws.config.journal)
    is_new = index.meta("reading") is None
    trouble = index.file.trouble  # known once the file was opened
    changes = len(ws.journal.changes)
    absent = ws.journal.absent()
    if not written:
        is_shown, absent = _compare_files(ws, reading, head)
        if is_shown:
            index.file.shown_changes = changes
            index.file.is_held = False
            return SyncReport(trouble=trouble, absent=absent)
    if is_new and until is None:
        wait_ms = BUSY_TIMEOUT_MS
    try:
        with index.writing(wait_ms) as writer:
            report = _write_changes(ws, writer, reading, head, written, until)
    except IndexBusy as error:
        if not is_new or until is None:
            return SyncReport(
                behind=True,
                lacks_own=lacks_own_changes(ws),
                unread=0 if until is None else count_unread_files(ws),
                trouble=trouble,
                absent=absent,
            )
        index.file.detach(error)
        return _sync_once(ws, wait_ms, written, until)
    own = set(ws.journal.changes[index.file.shown_changes :])
    if not report.unread and (not written or own <= set(written)):
        index.file.shown_changes = changes
    index.file.is_held = False
    if report.before and not is_new:
        absent += ws.note_edited(ws, {**report.before, **dict.fromkeys(own, 0)}) or ()
    return report._replace(trouble=index.file.trouble, absent=absent, before={})


def _compare_files(ws: Workspace, reading: str, head: str) -> tuple[bool, Texts]:
    """(True if nothing of the journal waits to be written into the index, sentences on the
    files and sources that cannot be read).
    """
    stamps, removed, left_out = ws.journal.compare(ws.index.signatures())
    unreadable = [one for one in left_out if one.reason == "unreadable"]
    texts = left_out_sentences(unreadable, UNREADABLE_SHOWN).values()
    absent = (*ws.journal.absent(), *(" ".join(parts) for parts in texts))
    if (ws.index.meta("reading"), ws.index.meta("head")) != (reading, head):
        return False, absent
    return not removed and next(_stamps_to_write(ws, stamps, ()), None) is None, absent


def _files_to_reread(ws: Workspace, reading: str, head: str) -> Collection[str]:
    """The files to read although their bytes are known: all if the index was made by another
    `reading`, else those for which git has another date; git is asked only if HEAD moved.
    """
    if ws.index.meta("reading") != reading:
        return ws.index.signatures().keys()
    if ws.index.meta("head") == head:
        return ()
    by_file = ws.index.git_dates_by_file()
    days = first_commit_days(ws.config.journal, head) if by_file else {}
    by_git = {path: str(day) for path, day in days.items()}
    return {path for path, day in by_file.items() if day != by_git.get(path)}


def _stamps_to_write(
    ws: Workspace, stamps: Sequence[Stamp], redated: Collection[str]
) -> Iterator[tuple[Stamp, bool, int | None]]:
    """(stamp, True if the file must be read, False if only its stamp is new, its digest in the
    index) of the files with an unknown stamp that are to be written.

    A file must be read if its bytes differ, or its time of change, which dates undated entries.
    """
    for stamp in stamps:
        now = time.time_ns()
        indexed = ws.index.time_and_digest(stamp.path)
        same = False
        if indexed and indexed[0] == stamp.mtime_ns and stamp.path not in redated:
            with suppress(NotFound):
                same = indexed[1] == hash64(ws.journal.read(stamp.path))
        if not same or stamp.is_settled(now):
            yield stamp, not same, indexed and indexed[1]


def _write_changes(
    ws: Workspace,
    writer: IndexWriter,
    reading: str,
    head: str,
    written: Sequence[str],
    until: float | None,
    *,
    newest_first: bool = True,
) -> SyncReport:
    """Writes the files that changed into the index, or the `written` ones alone if the index
    knows them; until a time only some.
    """
    redated = _files_to_reread(ws, reading, head)
    changed = [] if redated else _stamps_of_known(ws, written)
    is_whole = not changed
    removed: list[str] = []
    signatures: Mapping[str, FileSignature | None] = {}
    if is_whole:
        signatures = ws.index.signatures()
        changed, removed, _ = ws.journal.compare({**signatures, **dict.fromkeys(redated)})
    if until is not None:
        changed = sorted(changed, key=_newness_key, reverse=newest_first)
    # of old rows either all are made anew, or none
    end = math.inf if until is None or redated else until
    files = _ChangedFiles(ws, changed, signatures, end)
    gone = {path: ws.index.time_and_digest(path) for path in removed}
    try:
        writer.apply_files(files.rows(redated, head), removed, reading=reading, head=head)
    finally:
        ws.paces.reading.note(0)
    moves = _find_moves(gone, {p: d for p, (old, d) in files.digests.items() if old is None})
    if moves:
        from ..journal.moves import note_moves  # few syncs find a note that moved

        note_moves(ws.config.state, moves)
    if is_whole and not files.unread:
        writer.drop_spare()
    before = {path: old for path, (old, _) in files.digests.items()}
    before |= {path: stored and stored[1] for path, stored in gone.items()}
    return SyncReport(len(files.digests), len(removed), unread=files.unread, before=before)


def _stamps_of_known(ws: Workspace, written: Sequence[str]) -> list[Stamp]:
    """The stamps of files that the caller has written; none if the index lacks one of them."""
    stamps = []
    for path in written:
        is_indexed = ws.index.time_and_digest(path) is not None
        stamp = ws.journal.stamp(path, was_listed=True) if is_indexed else None
        if stamp is None:
            return []
        stamps.append(stamp)
    return stamps


class _ChangedFiles:
    """Reads files that changed until `end`, a `time.monotonic`, and counts those that are left
    `unread`. `digests` are the old and the new hash of each that was read.
    """

    def __init__(
        self, ws: Workspace, stamps: Sequence[Stamp], indexed_paths: Container[str], end: float
    ) -> None:
        large = [
            one for one in stamps if one.size > MOST_BYTES and one.path not in indexed_paths
        ]
        left = large if end < math.inf else []
        self._ws = ws
        self._stamps = [one for one in stamps if one not in left]
        self._end = end
        self.unread = len(left)
        self.digests: dict[str, tuple[int | None, int]] = {}

    def rows(self, redated: Collection[str], head: str) -> Iterator[FileRows | Stamp]:
        """Yields what the index keeps of each file, or its stamp if no more is new. It reads
        one file at a time: a new index may have thousands.
        """
        rules = read_log(self._ws.config.state)
        size = 0
        for stamp, must_read, digest in _stamps_to_write(self._ws, self._stamps, redated):
            is_further = len(self.digests) >= LEAST_FILES or size >= LEAST_BYTES
            if is_further and time.monotonic() > self._end:
                self.unread += len(self._stamps) - self._stamps.index(stamp)
                return
            if not must_read:
                yield stamp
                continue
            size += stamp.size
            with suppress(NotFound):  # gone since the scan: the next one sees it
                file = _read_file(self._ws, stamp, head, rules)
                self.digests[stamp.path] = digest, file.digest
                yield file
            self._ws.paces.reading.note(len(self._stamps) - len(self.digests))


def _find_moves(
    gone: Mapping[str, tuple[int, int] | None], added: Mapping[str, int]
) -> dict[str, str]:
    """The new paths of files that are gone, of which one new file has the same bytes. `gone`
    has the time and digest of each, `added` the digest.
    """
    moves = {}
    for path, stored in gone.items():
        same = [new for new, digest in added.items() if stored and digest == stored[1]]
        twins = [one for one in gone.values() if stored and one and one[1] == stored[1]]
        if len(same) == len(twins) == 1:
            moves[path] = same[0]
    return moves


def count_unread_files(ws: Workspace) -> int:
    """The number of files of which the index knows nothing yet."""
    changed = ws.journal.compare(ws.index.signatures()).changed
    return sum(ws.index.time_and_digest(stamp.path) is None for stamp in changed)


def _newness_key(stamp: Stamp) -> tuple[int, bool, str]:
    """Returns a sort key of a file: newer days later; on the same day, files of other folders
    before the journal's own, which come last.
    """
    return stamp.mtime_ns // DAY_NS, not stamp.path.startswith("@"), stamp.path


def rebuild(
    ws: Workspace, *, fresh: bool = False, progress: Progress | None = None
) -> RebuildReport:
    """Makes the index anew from the journal, while other processes can go on reading the old
    one, and returns a report.

    The text is written in one transaction, that of a new index in parts, with which the next
    call goes on after a kill. Vectors of texts that did not change are taken over unless
    `fresh`; the rest is embedded afterwards. Returns when nothing is pending that the model can
    embed.
    """
    begun = time.perf_counter()
    reused = run_with_healing(ws, lambda: _rebuild_text(ws, fresh=fresh, progress=progress))
    if ws.index.file.trouble:
        raise IndexUnusable(
            f"{ws.index.file.trouble}.",
            hint="Mend that, or move the index file away; Synaptic makes a new one.",
        )
    embedded, notices = _embed_all(ws, progress)
    counts = ws.index.counts()
    return RebuildReport(
        counts.entries,
        counts.chunks,
        embedded,
        reused,
        time.perf_counter() - begun,
        ws.index.issues(),
        tuple(notices),
    )


def _embed_all(ws: Workspace, progress: Progress | None) -> tuple[int, list[str]]:
    """(the number of passages that were embedded, sentences on what could not be); the index is
    compact afterwards.
    """
    embedded, notices = 0, []
    try:
        ws.embedder.load()
        embedded = more = embed_pending(ws, budget_s=None, progress=progress)
        # somebody may have written meanwhile
        while ws.index.pending(1) and (sync_index(ws).changed or more):
            more = embed_pending(ws, budget_s=None, progress=progress)
            embedded += more
        left = ws.index.counts().pending_passages
        if left:
            pieces = "1 piece" if left == 1 else f"{left:,} pieces"
            notices.append(f"The model cannot read {pieces} of text, found by words alone.")
    except ModelError as error:
        notices.append(str(error))
    ws.index.compact()
    return embedded, notices


def read_file(ws: Workspace, stamp: Stamp, head: str) -> FileRows:
    """All that the index keeps of this file of the journal."""
    return _read_with_bytes(ws, stamp, head)[0]


def _read_with_bytes(ws: Workspace, stamp: Stamp, head: str) -> tuple[FileRows, bytes]:
    settled = stamp.is_settled(time.time_ns())  # before it is read
    data = ws.journal.read(stamp.path)
    parsed = ws.journal.parse(stamp.path, data, stamp.mtime_ns)
    if not all(entry.dated for entry in parsed.entries):
        day = first_commit_days(ws.config.journal, head).get(stamp.path)
        parsed = replace(
            parsed, entries=tuple(_use_git_date(entry, day) for entry in parsed.entries)
        )
    if ws.config.at_tags:
        parsed = replace(parsed, entries=tuple(map(with_at_tags, parsed.entries)))
    return make_file_rows(stamp, data, parsed, settled, ws.config.day_title), data


def _read_file(ws: Workspace, stamp: Stamp, head: str, rules: Log) -> FileRows:
    """Reads a file as `read_file` does. The confirmation ends for each preference that the file
    no longer contains, and copies of what is private now go.
    """
    file, data = _read_with_bytes(ws, stamp, head)
    ws.own_journal.purge_private_copies(stamp.path, data)
    end_vanished_confirmations(ws, rules, stamp.path, (one.entry for one in file.rows))
    return file


def _use_git_date(entry: Entry, day: date | None) -> Entry:
    """Returns a copy of the entry dated by git: with the day on which its file was added;
    unchanged if it has a date, or `day` is None.
    """
    if entry.dated or day is None:
        return entry
    clock = clock_time() if entry.whole_file else entry.at.time()
    return replace(entry, at=owner_time(datetime.combine(day, clock)), date_source="git")


def _reading_version(ws: Workspace) -> str:
    """A text that differs where the same file would be read otherwise: by another grammar,
    other types, names of days, tags or a time zone.
    """
    types = ",".join(TYPES)
    days = f"{ws.config.day_file} {ws.config.day_title}".strip()
    tags = " @" if ws.config.at_tags else ""
    return f"{GRAMMAR} {types} {days}{tags} {time.timezone} {time.altzone} {time.tzname}"


def _fill_index(ws: Workspace, progress: Progress | None) -> None:
    """Reads the journal into an index that was empty, part by part: a kill loses one part, and
    the next call goes on.
    """
    total = left = len(ws.journal.scan())
    read = 1
    while left and read:
        with ws.index.writing() as writer:
            ws.index.file.set_meta("filling", 1)
            until = time.monotonic() + PART_S
            reading, head = _reading_version(ws), head_state(ws.config.journal)
            # in the order of time the rows take less room
            part = _write_changes(ws, writer, reading, head, (), until, newest_first=False)
        left, read = part.unread, part.changed
        if progress:
            progress("reading", total - left, total)
    with ws.index.writing() as writer:
        if left:  # large files
            reading, head = _reading_version(ws), head_state(ws.config.journal)
            _write_changes(ws, writer, reading, head, (), None)
        writer.end_filling()


def _rebuild_text(ws: Workspace, *, fresh: bool, progress: Progress | None) -> int:
    is_new = not ws.index.signatures() and ws.index.meta("model") is None
    if not fresh and (is_new or ws.index.meta("filling")):
        _fill_index(ws, progress)
        return 0
    rules = read_log(ws.config.state)
    stamps = ws.journal.scan()
    head = head_state(ws.config.journal)

    def rows() -> Iterator[FileRows]:
        for number, stamp in enumerate(stamps, start=1):
            with suppress(NotFound):
                yield _read_file(ws, stamp, head, rules)
            if progress:
                progress("reading", number, len(stamps))

    with ws.index.writing() as writer:
        return writer.refill(
            rows(),
            keep_vectors=not fresh and ws.index.meta("model") == ws.embedder.name,
            reading=_reading_version(ws),
            head=head,
        )

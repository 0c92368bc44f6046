"""Brings the index in step with the journal, and reads through it. The index follows; it never leads."""

from __future__ import annotations

import hashlib
import re
import string
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import islice
from operator import attrgetter
from typing import TypeVar

import apsw

from ..errors import Busy, IndexUnusable, JournalError, ModelError, NotFound
from ..index import (
    BUSY_TIMEOUT_MS,
    ChunkRow,
    EntryRow,
    FileRows,
    Passage,
    Stored,
    Writer,
)
from ..index.chunking import cut
from ..index.parallel import in_parallel, one_process, processors
from ..language.lexicon import DAY_NAMES, STOP_WORDS
from ..models import Entry, ParsedFile, Place, RebuildReport, Stamp, Vector
from ..notes.blocks import MASK
from ..notes.markdown import body_text, plain_text
from ..notes.privacy import mask
from ..notes.reading import GRAMMAR
from .workspace import Workspace

Result = TypeVar("Result")
Progress = Callable[[str, int, int], None]
"""Called with the phase ("reading" or "embedding"), how many are done, and of how many."""

LOCK_WAIT_MS = 50
BATCH = 64
CONTEXT_CHARS = 900
DEFAULT_RATE = 60.0


UNSCRUBBED = (
    "Another process is reading the index, or its file cannot be written: it may hold removed text until the next "
    "search or save; `synaptic rebuild-index` tries at once."
)


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a sync did. `behind`: another process held the index; it shows an earlier state of the journal.

    `trouble`: why the index is kept in memory, where its file cannot be written. `unscrubbed`: what was purged or
    became private may still stand in the bytes of the index, because another process reads from its log.
    """

    changed: int = 0
    removed: int = 0
    embedded: int = 0
    pending_entries: int = 0
    behind: bool = False
    queued: int = 0
    trouble: str = ""
    unscrubbed: bool = False

    @property
    def notices(self) -> tuple[str, ...]:
        """Why an answer from the index may be slow or lack something, and what to do."""
        said = []
        if self.trouble:
            said.append(f"{self.trouble}; it is kept in memory, which is slower. `synaptic doctor` says what to do.")
        if self.behind:
            said.append("Another process is writing the index; the latest changes may be missing. Ask again.")
        if self.unscrubbed:
            said.append(UNSCRUBBED)
        if self.queued:
            said.append(f"{self.queued} saved entries wait for the write lock and are not searchable yet.")
        return tuple(said)


class _Stale(Exception):
    """The journal is no longer what the index says; sync and try again."""


def in_step(ws: Workspace, action: Callable[[SyncReport], Result], *, embed_ms: float = 0, at_least: int = 0) -> Result:
    """What `action` returns, run on an index that shows the present journal.

    Runs again when a file changed meanwhile; a damaged index is made anew, one that cannot be written goes
    on in memory. Vectors get `embed_ms`, and `at_least` that many passages. Where another process writes, what
    it shows until then is answered from, but nothing is called missing before that is done.
    """
    at_rest, wait_ms = 0, LOCK_WAIT_MS

    def attempt() -> Result:
        nonlocal at_rest, wait_ms
        report = sync(ws, wait_ms=wait_ms)
        embedded = embed_pending(ws, budget_s=embed_ms / 1000, at_least=at_least) if embed_ms else 0
        pending = ws.index.counts().pending_entries if ws.index.pending(1) else 0
        try:
            with ws.index.file.transaction():
                if ws.index.meta("reading") is None:  # another process has just made it anew
                    raise _Stale
                return action(replace(report, embedded=embedded, pending_entries=pending))
        except NotFound:
            if not report.behind:
                raise
            if wait_ms == BUSY_TIMEOUT_MS:
                raise _still_writing() from None
            wait_ms = BUSY_TIMEOUT_MS
            raise _Stale from None
        except _Stale:
            filled = ws.index.meta("reading") is not None
            at_rest = at_rest + 1 if filled and not (report.changed or report.removed or report.behind) else 0
            if at_rest == 2:  # nothing changed, and still the index shows something else
                raise apsw.CorruptError("it does not show the journal as it is") from None
            raise

    for _ in range(4):
        with suppress(_Stale):
            return _mending(ws, attempt)
    raise JournalError("The journal changes faster than it can be read.", hint="Try again in a moment.")


def _mending(ws: Workspace, action: Callable[[], Result]) -> Result:
    """What `action` returns, with the index made anew or moved to memory if need be, each at most once.

    An error that a broken index and a question alike may cause condemns no sound index: it is asked once more.
    Raises IndexUnusable when that does not help.
    """
    tried: set[str] = set()
    while True:
        try:
            return action()
        except apsw.Error as error:
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
            tried.add(way)


def sync(ws: Workspace, *, wait_ms: int = LOCK_WAIT_MS, written: Sequence[str] | None = None) -> SyncReport:
    """What changed. Steps: finish spooled saves, scan, and where files differ, read and write them in one transaction.

    What differs is looked up once more when the lock is held: of many that wait for it, the first does the
    work of all. It is waited for `wait_ms`; longer where somebody fills a new index, for there is nothing to
    answer from. `written`: the files that the caller has just written; where the index knows them, it looks at
    no others. Text that was purged or became private is scrubbed from the file's bytes, now or by a later sync.
    """
    report = _synced(ws, wait_ms, written)
    if report.behind or not ws.index.owes_scrub:
        return report
    late = _synced(ws, wait_ms, None)  # the note may be of a file that another process has purged since
    return replace(report, behind=late.behind, unscrubbed=late.behind or not ws.index.compact(LOCK_WAIT_MS))


def _synced(ws: Workspace, wait_ms: int, written: Sequence[str] | None) -> SyncReport:
    if ws.journal.queued():
        with suppress(JournalError):  # a disk that cannot be written can be read
            ws.journal.drain(0)
    report = SyncReport(queued=len(ws.journal.queued()), trouble=ws.index.file.trouble)
    reading = _reading(ws)
    if written is None and not _out_of_step(ws, reading):
        return report
    empty = ws.index.meta("reading") is None
    try:
        with ws.index.writing(BUSY_TIMEOUT_MS if empty else wait_ms) as writer:
            changed, removed = _follow(ws, writer, reading, written or ())
    except apsw.BusyError:
        return replace(report, behind=True)
    return replace(report, changed=changed, removed=removed, trouble=ws.index.file.trouble)


def _still_writing() -> Busy:
    return Busy("Another process has been writing to the index for 10 s.", hint="Try again.")


def _out_of_step(ws: Workspace, reading: str) -> bool:
    """Whether the index has to be written."""
    if ws.index.meta("reading") != reading:
        return True
    changed, removed = ws.journal.compare(ws.index.proofs())
    return bool(removed) or any(not _says_the_same(ws, stamp) or stamp.is_settled(time.time_ns()) for stamp in changed)


def _follow(ws: Workspace, writer: Writer, reading: str, written: Sequence[str]) -> tuple[int, int]:
    """The number of files that were brought up to date, and of files that are gone."""
    trust = ws.index.meta("reading") == reading
    changed, removed = _differences(ws, written if trust else (), trust=trust)
    read = 0

    def rows() -> Iterator[FileRows | Stamp]:  # one file at a time: of a new index they may be thousands
        nonlocal read
        for stamp in changed:
            now = time.time_ns()
            if not trust or not _says_the_same(ws, stamp):
                with suppress(NotFound):  # gone since the scan: the next one sees it
                    yield _read(ws, stamp)
                    read += 1
            elif stamp.is_settled(now):
                yield stamp

    writer.apply(rows(), removed, [stamp.path for stamp in changed], reading=reading)
    return read, len(removed)


def _differences(ws: Workspace, written: Sequence[str], *, trust: bool) -> tuple[list[Stamp], list[str]]:
    """(files to read, paths that are gone). Without `trust` every file is read."""
    known = ws.index.proofs()
    if written and known.keys() >= set(written):
        stamps = [ws.journal.stamp(path) for path in written]
        if None not in stamps:
            return [stamp for stamp in stamps if stamp and stamp.proof != known[stamp.path]], []
    return ws.journal.compare(known if trust else dict.fromkeys(known))


def embed_pending(ws: Workspace, *, budget_s: float | None, at_least: int = 0, progress: Progress | None = None) -> int:
    """How many passages got their vector within the budget; all of them where it is None.

    While another process writes to the index or embeds, none. Raises Busy where all were asked for.
    """
    if not ws.embedder.ready:
        return 0
    done = 0
    wait_s = BUSY_TIMEOUT_MS / 1000 if budget_s is None else LOCK_WAIT_MS / 1000
    try:
        if ws.index.meta("model") != ws.embedder.name:
            with ws.index.writing(round(wait_s * 1000)) as writer:
                writer.use_model(ws.embedder.name, ws.embedder.dimensions)
        if not ws.index.pending(1):
            return 0
        with _embedding(ws, wait_s if at_least or budget_s is None else 0) as is_alone:
            if is_alone:
                for done in _embedded(ws, budget_s, at_least, progress):  # noqa: B007
                    pass
            elif budget_s is None:
                raise Busy("Another process has been embedding for 10 s.", hint="Try again.")
    except apsw.BusyError as error:
        if budget_s is None:
            raise _still_writing() from error
    return done


def _embedding(ws: Workspace, timeout_s: float) -> AbstractContextManager[bool]:
    """Whether this process is the one that embeds, for the length of a `with`. An index in memory is its own."""
    return nullcontext(True) if ws.index.file.trouble else one_process(ws.config.state / "embed.lock", timeout_s)


def _embedded(ws: Workspace, budget_s: float | None, at_least: int, progress: Progress | None) -> Iterator[int]:
    """How many have their vector, after each batch. Without a budget every processor embeds.

    One text a time, whatever the others do: a vector depends on nothing but its text. A text that the model
    fails on is left out, and found by words.
    """
    wait_ms = BUSY_TIMEOUT_MS if budget_s is None else LOCK_WAIT_MS
    begun = time.perf_counter()
    total = ws.index.counts().pending_passages if progress else 0
    done = 0

    def wanted() -> Iterator[tuple[int, int, str]]:
        for number, text in enumerate(_waiting(ws)):
            if budget_s is not None and number >= at_least and time.perf_counter() - begun > budget_s:
                return
            yield text

    def embedded(passage: tuple[int, int, str]) -> tuple[int, int, Vector] | None:
        rowid, hash_, text = passage
        with suppress(ModelError):
            return rowid, hash_, ws.embedder.embed_passage(text)
        return None

    workers = max(1, processors() // ws.config.threads) if budget_s is None else 1
    with closing(in_parallel(embedded, wanted(), workers)) as vectors:
        while batch := list(islice(filter(None, vectors), BATCH)):
            with ws.index.writing(wait_ms) as writer:
                done += len(batch)
                rate = done / max(time.perf_counter() - begun, 1e-6)
                writer.store_vectors(batch, rate=rate if done >= 8 else None)
            yield done
            if progress:
                progress("embedding", done, total)


def _waiting(ws: Workspace) -> Iterator[tuple[int, int, str]]:
    """(chunk rowid, hash, text) of every passage without a vector, newest first."""
    below = None
    while passages := ws.index.pending(BATCH, below=below):
        yield from _texts(ws, passages)
        below = passages[-1].rowid


def rebuild(ws: Workspace, *, fresh: bool = False, progress: Progress | None = None) -> RebuildReport:
    """The index made anew, in place, while others go on reading the old one.

    The text is written in one transaction; vectors of texts that did not change are taken over unless
    `fresh`; the rest is embedded afterwards. Returns when nothing is pending that the model can embed.
    """
    begun = time.perf_counter()
    notices: list[str] = []
    ws.journal.drain(0)
    reused = _mending(ws, lambda: _rebuild_text(ws, fresh=fresh, progress=progress))
    if ws.index.file.trouble:
        raise IndexUnusable(f"{ws.index.file.trouble}.", hint="Mend that, or move it away; it is made anew.")
    embedded = 0
    try:
        ws.embedder.load()
        embedded = more = embed_pending(ws, budget_s=None, progress=progress)
        while ws.index.pending(1) and (sync(ws).changed or more):  # somebody wrote meanwhile
            more = embed_pending(ws, budget_s=None, progress=progress)
            embedded += more
        if left := ws.index.counts().pending_passages:
            notices.append(f"The model fails on {left:,} passages, which are found by words only.")
    except ModelError as error:
        notices.append(str(error))
    ws.index.compact()
    counts = ws.index.counts()
    seconds = time.perf_counter() - begun
    return RebuildReport(counts.entries, counts.chunks, embedded, reused, seconds, ws.index.issues(), tuple(notices))


def read_entries(ws: Workspace, rowids: Sequence[int]) -> dict[int, Entry]:
    """Entries by index row, whole, their content read from the journal."""
    return _whole(_blocks(ws, ws.index.entries(rowids)))


def read_passages(ws: Workspace, chunk_rowids: Sequence[int]) -> dict[int, tuple[str, int]]:
    """For each of these chunks its text and the line of its file where it begins."""
    passages = ws.index.passages(chunk_rowids)
    return _cut_out(passages, _blocks(ws, ws.index.entries([p.entry_rowid for p in passages.values()])))


def read_hits(
    ws: Workspace, rowids: Sequence[int], chunk_rowids: Sequence[int]
) -> tuple[dict[int, Entry], dict[int, tuple[str, int]]]:
    """Entries, and chunks of them, as `read_entries` and `read_passages` answer them; each file is read once."""
    blocks = _blocks(ws, ws.index.entries(rowids))
    return _whole(blocks), _cut_out(ws.index.passages(chunk_rowids), blocks)


def _whole(blocks: Mapping[int, tuple[Stored, bytes]]) -> dict[int, Entry]:
    return {
        rowid: replace(stored.entry, content=_content(stored.entry, block)) for rowid, (stored, block) in blocks.items()
    }


def _cut_out(passages: Mapping[int, Passage], blocks: Mapping[int, tuple[Stored, bytes]]) -> dict[int, tuple[str, int]]:
    found = {}
    for rowid, passage in passages.items():
        if passage.entry_rowid in blocks:
            stored, block = blocks[passage.entry_rowid]
            body, line = _body(stored.entry, block), _place(stored.entry).body_line
            if body:
                line += body[: passage.start].count(b"\n")
            found[rowid] = (body_text(body[passage.start : passage.end]) or stored.entry.title, line)
    return found


def verify(ws: Workspace) -> bool:
    """False when the index was damaged and had to be made anew."""
    fault = _mending(ws, ws.index.file.check)
    if fault is None:
        return True
    ws.index.file.heal(apsw.CorruptError(fault))
    in_step(ws, lambda _: None)
    return False


def unlike_journal(ws: Workspace) -> list[str]:
    """Paths of files that the index, in step by its own account, does not show as they are; every file is read."""
    known = in_step(ws, lambda _: ws.index.sources())
    stamps = ws.journal.scan()
    astray = sorted(known.keys() - {stamp.path for stamp in stamps})
    for stamp in stamps:
        with suppress(NotFound):
            data = ws.journal.read(stamp.path)
            ids = {entry.id for entry in ws.journal.parse(stamp.path, data, stamp.mtime_ns).entries}
            source = known.get(stamp.path)
            if source is None or source.digest != _hash(data) or ids != source.ids:
                astray.append(stamp.path)
    return astray


# -- the rows of a file: a pure function of its bytes -------------------------------------------------


def file_rows(stamp: Stamp, data: bytes, parsed: ParsedFile, settled: bool, *, times: bool = True) -> FileRows:
    """What the index keeps of a file. `times`: relative times of a text are also indexed as the dates they mean."""
    masked = mask(data)
    texts = [_whole_text(entry, masked) for entry in parsed.entries]
    before = ["", *(text[-CONTEXT_CHARS:] for text in texts[:-1])]
    after = [*(text[:CONTEXT_CHARS] for text in texts[1:]), ""]
    rows = tuple(
        _entry_row(entry, data, masked, previous, following, times)
        for entry, previous, following in zip(parsed.entries, before, after, strict=False)  # none in an empty file
    )
    return FileRows(stamp, _hash(data), settled, rows, parsed.issues, hides=masked != data)


def _entry_row(entry: Entry, data: bytes, masked: bytes, previous: str, following: str, times: bool) -> EntryRow:
    place = _place(entry)
    block = data[place.start : place.end]
    made_of = repr((previous, following, times, _ROW(entry))).encode("utf-8", "surrogatepass")
    return EntryRow(
        entry=entry,
        hash=_hash(block),
        content_hash=content_hash(entry.content),
        row_hash=_hash(made_of + block),
        chunks=partial(_chunk_rows, entry, masked[place.body_start : place.body_end], previous, following, times),
        hides=masked[place.start : place.end] != block,
    )


_ROW = attrgetter(*(field.name for field in fields(Entry) if field.name not in ("content", "place", "changed_files")))
"""What the index keeps of an entry; some of it says its file, not its own bytes."""


def _chunk_rows(entry: Entry, body: bytes, previous: str, following: str, times: bool) -> tuple[ChunkRow, ...]:
    spans = cut(body.replace(MASK, b" "))
    title, labels = entry.title, _labels(entry)
    chunks = []
    for number, span in enumerate(spans):
        text = plain_text(body_text(body[span.start : span.end]))
        # a long entry's first passage stands beside the entry before, its last beside the one after
        meant = _dates_meant(f"{entry.title}\n\n{text}" if number == 0 else text, entry) if times else ""
        own = "\n".join(part for part in (title, f"{text} {meant}".strip(), labels) if part)
        title, labels = _repeated(title), _repeated(labels)
        context = thinned(f"{previous if number == 0 else ''} {following if span is spans[-1] else ''}")
        chunks.append(
            ChunkRow(
                start=span.start,
                end=span.end,
                hash=_hash(embedded_text(entry, text)),
                words_hash=_hash(f"{own}\0{context}"),
                own=own,
                context=context,
                embed=span.embed,
            )
        )
    return tuple(chunks)


MAX_REPEATED = 2_000
"""Characters of a title or of labels that each passage repeats: 100,000 tags in 2,000 passages are too many."""
MAX_REPEATED_TAGS = 200

FILLER = b"the"
_APART = bytes.maketrans(string.punctuation.encode(), b" " * len(string.punctuation))
_SAYS_NOTHING = frozenset(form.encode() for word in STOP_WORDS for form in (word, word.capitalize()))

RELATIVE = re.compile(
    r"yesterday|to(?:day|night|morrow)|\bago\b|from\s+now"
    rf"|\b(?:last|next|this)\s+(?:week|month|year|morning|afternoon|evening|night|{'|'.join(DAY_NAMES)})"
    r"|\bin\s+(?:\S+\s+){1,3}(?:day|week|fortnight|month|year)",
    re.IGNORECASE,
)
"""What every text with a relative time has, and few others; seldom is `normalize` asked."""


def _dates_meant(text: str, entry: Entry) -> str:
    """The dates that relative times of the text stand for, to be found as words too."""
    if entry.date_source == "mtime" or not RELATIVE.search(text):
        return ""
    from ..language.normalize import anchor_times  # most notes do not need it

    return " ".join(dict.fromkeys(change.now for change in anchor_times(text, on=entry.at.date())))


def embedded_text(entry: Entry, text: str) -> str:
    """What the model reads of a passage: it stands alone there, so it carries title and tags.

    Not the date: with it, recall@10 on LoCoMo was 0.758 instead of 0.775.
    """
    title = "" if text.startswith(entry.title.rstrip(".…")) else entry.title
    tags = " ".join(entry.tags[:MAX_REPEATED_TAGS])
    return "\n".join([part for part in (_repeated(title), text, _repeated(tags)) if part])


def _repeated(label: str) -> str:
    """A title or labels as every passage repeats them; of very long ones, which the first passage has whole, a part."""
    return label if len(label) <= MAX_REPEATED else label[:MAX_REPEATED].rpartition(" ")[0]


def content_hash(content: str) -> int:
    """The hash by which a repeated save is known."""
    return _hash(content)


def _labels(entry: Entry) -> str:
    aliases = [value for key, value in entry.extra if key == "aliases"]
    return " ".join((*entry.tags, entry.project or "", *entry.files, *aliases)).strip()


def thinned(text: str) -> str:
    """The text with another word in the place of each stop word: no shorter for BM25, but a fifth less of the index.

    For neighbours' words, in which nobody seeks a phrase.
    """
    apart = text.replace("’", " ").encode("utf-8", "surrogatepass").translate(_APART).split()  # bytes: much faster
    return b" ".join([FILLER if word in _SAYS_NOTHING else word for word in apart]).decode("utf-8", "surrogatepass")


def _whole_text(entry: Entry, masked: bytes) -> str:
    """Title and text, as the neighbours' context; only its two ends are ever used."""
    place = _place(entry)
    body = masked[place.body_start : place.body_end]
    if len(body) > 8 * CONTEXT_CHARS:
        body = body[: 4 * CONTEXT_CHARS] + b"\n" + body[-4 * CONTEXT_CHARS :]
    return f"{entry.title} {plain_text(body_text(body))}".strip()


def _hash(value: str | bytes) -> int:
    raw = value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(raw, digest_size=8).digest(), "big", signed=True)


# -- reading the journal ------------------------------------------------------------------------------


def _says_the_same(ws: Workspace, stamp: Stamp) -> bool:
    """Whether a file only looks as if it had changed. Its time must be the same too: that may be an entry's date."""
    source = ws.index.sources([stamp.path]).get(stamp.path)
    if source is None or source.stamp.mtime_ns != stamp.mtime_ns:
        return False
    with suppress(NotFound):
        return source.digest == _hash(ws.journal.read(stamp.path))
    return False


def _read(ws: Workspace, stamp: Stamp) -> FileRows:
    settled = stamp.is_settled(time.time_ns())  # before it is read
    data = ws.journal.read(stamp.path)
    parsed = ws.journal.parse(stamp.path, data, stamp.mtime_ns)
    ws.journal.hide(stamp.path, data)
    config = ws.config.search
    return file_rows(stamp, data, parsed, settled, times=config.anchor_times)


def _reading(ws: Workspace) -> str:
    """What the meaning of a file depends on besides its bytes: another zone or day_file reads other dates."""
    config = ws.config
    return f"{GRAMMAR} {config.day_file} {time.timezone} {time.altzone} {time.tzname} {config.search.anchor_times}"


def _rebuild_text(ws: Workspace, *, fresh: bool, progress: Progress | None) -> int:
    stamps = ws.journal.scan()

    def rows() -> Iterator[FileRows]:
        for number, stamp in enumerate(stamps, start=1):
            with suppress(NotFound):
                yield _read(ws, stamp)
            if progress:
                progress("reading", number, len(stamps))

    with ws.index.writing() as writer:
        keep_vectors = not fresh and ws.index.meta("model") == ws.embedder.name
        return writer.refill(rows(), keep_vectors=keep_vectors, reading=_reading(ws))


def _texts(ws: Workspace, passages: Sequence[Passage]) -> Iterator[tuple[int, int, str]]:
    """(chunk rowid, hash, text to embed) of passages that stand in the journal as the index says."""
    blocks = _blocks(ws, ws.index.entries([p.entry_rowid for p in passages]), strict=False)
    for passage in passages:
        if passage.entry_rowid in blocks:
            stored, block = blocks[passage.entry_rowid]
            text = plain_text(body_text(_body(stored.entry, block)[passage.start : passage.end]))
            yield passage.rowid, passage.hash, embedded_text(stored.entry, text)


def _blocks(ws: Workspace, entries: Mapping[int, Stored], *, strict: bool = True) -> dict[int, tuple[Stored, bytes]]:
    """The masked bytes of entries. Where a file changed, raises _Stale, or leaves the entry out if not `strict`."""
    files: dict[str, tuple[bytes, bytes]] = {}
    found: dict[int, tuple[Stored, bytes]] = {}
    for rowid, stored in entries.items():
        place = _place(stored.entry)
        if place.path not in files:
            try:
                data = ws.journal.read(place.path)
            except NotFound:
                data = b""
            files[place.path] = data, mask(data)
        data, masked = files[place.path]
        if _hash(data[place.start : place.end]) == stored.hash:
            found[rowid] = (stored, masked[place.start : place.end])
        elif strict:
            raise _Stale
    return found


def _body(entry: Entry, block: bytes) -> bytes:
    place = _place(entry)
    return block[place.body_start - place.start : place.body_end - place.start]


def _content(entry: Entry, block: bytes) -> str:
    return body_text(_body(entry, block)) or entry.title


def _place(entry: Entry) -> Place:
    assert entry.place is not None, "entries from files have a place"
    return entry.place

"""Publishes the journal: its text and its index into a database, for readers without it."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from typing import Any, NamedTuple

from ...errors import Busy, IndexUnusable, InvalidArgument, ModelError, NotFound, SynapticError
from ...index.publishing import content_versions, id_decisions, sample_ids, vectors_by_text_hash
from ...index.rows import FileRows, hash64, quantise
from ...journal.disk import PUBLISHED, make_dirs, overwrite, read_state_json
from ...journal.journal_files import JournalFiles
from ...models import Texts, frozen
from ...notes.blocks import without_masked
from ...notes.privacy import mask_private
from ...notes.screening import Screen
from ...workspace.embed import Progress, embed_pending
from ...workspace.preferences import Consent, read_all_preferences, read_consents
from ...workspace.sync import in_step, read_file
from ...workspace.workspace import Workspace
from .publication import Position, Publication, PublishedFile, Settled

BATCH_FILES, BATCH_BYTES = 200, 1_000_000
"""A transaction publishes at most this many files, or about this many bytes."""
STEP_S = 0.25
"""Seconds between two checks of the index for a change."""
RETRY_S = 5.0
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")


@frozen
class PublishReport:
    """The result of a publication. `left_out` counts files with a secret in their names;
    `readers` is True if the database has the role `synaptic_reader`.
    """

    journal: str
    files: int
    removed: int
    left_out: int
    readers: bool
    seconds: float


class CleanJournal(JournalFiles):
    """The journal without private passages and secrets. `latest` holds the cleaned bytes of the
    file that was read last, `digest` the hash of its original bytes.
    """

    def __init__(self, ws: Workspace) -> None:
        super().__init__(ws.config)
        self.latest = b""
        self.digest = 0

    def read(self, path: str) -> bytes:
        data = super().read(path)
        text = without_masked(mask_private(data)).decode("utf-8", "surrogateescape")
        clean = Screen("redact").redact_secrets("text", text)
        self.digest, self.latest = hash64(data), clean.encode("utf-8", "surrogateescape")
        return self.latest


class IndexState(NamedTuple):
    """The state of the index that is to be published: by path a keyed hash of all that a file's
    rows are made of, by (path, own id) who confirmed a preference, the position, and the state
    of git's history.
    """

    source_hashes: dict[str, bytes]
    consents: dict[tuple[str, str], Consent]
    position: Position
    head: str


class Publisher:
    """Updates the published copy of a journal in a PostgreSQL database.

    What files are made of is hashed with a key of this machine, so that nobody can try from
    outside what a private passage says.
    """

    def __init__(self, ws: Workspace, address: str, journal: str | None = None) -> None:
        self._ws = ws
        self._clean = CleanJournal(ws)
        self.journal, self._key = _read_name_and_key(ws, journal)
        self._to = Publication(address, self.journal, stemming=ws.config.search.stemming)
        self._source_hashes: dict[str, bytes] = {}
        self._position: Position | None = None
        self.close = self._to.close

    def start_publishing(self, progress: Progress | None = None) -> None:
        """Locks the name in the database for this journal, creates its tables, and embeds the
        passages that lack a vector. Raises Busy, and IndexUnusable.
        """
        self._lock_journal()
        self._to.create_partition()
        _update_publish_record(self._ws, journal=self.journal, key=self._key.hex())
        with suppress(ModelError, Busy):  # what has no vector yet follows later
            self._ws.embedder.load()
            embed_pending(self._ws, budget_s=None, progress=progress)
        self._source_hashes = self._to.source_hashes()

    def unpublish(self) -> None:
        """Deletes the published journal from the database, and forgets its name. Raises Busy,
        IndexUnusable, and NotFound.
        """
        self._lock_journal()
        self._to.drop_journal()
        (self._ws.config.state / PUBLISHED).unlink(missing_ok=True)

    def _lock_journal(self) -> None:
        self._to.lock_journal(in_step(self._ws, lambda _: sample_ids(self._ws.index)))

    def publish_changes(self, progress: Progress | None = None) -> PublishReport:
        """Publishes all files that changed since the last publication, some files in each
        transaction; returns a report.
        """
        started = time.monotonic()
        wanted = in_step(self._ws, lambda _: self._read_index_state(), embed_ms=200, at_least=8)
        named = {path for path in wanted.source_hashes if not _has_secret(path)}
        removed = sorted(self._source_hashes.keys() - named)
        changed = sorted(
            path
            for path in named
            if self._source_hashes.get(path) != wanted.source_hashes[path]
        )
        done = 0
        for files in self._read_batches(changed, wanted):
            self._to.write_files(files, (), None)
            self._source_hashes |= {file.path: file.source_hash for file in files}
            done += len(files)
            if progress:
                progress("publishing", done, len(changed))
        if removed or wanted.position != self._position:
            self._to.write_files((), removed, wanted.position)
            self._source_hashes = {
                path: seen for path, seen in self._source_hashes.items() if path in named
            }
            self._position = wanted.position
            counting, change = wanted.position.counting, wanted.position.change
            _update_publish_record(
                self._ws,
                counting=counting,
                change=change,
                at=self._ws.clock().timestamp(),
                trouble="",
            )
        self._to.build_indexes()
        left_out = len(wanted.source_hashes) - len(named)
        seconds = time.monotonic() - started
        readers = self._to.has_readers
        return PublishReport(self.journal, done, len(removed), left_out, readers, seconds)

    def _read_index_state(self) -> IndexState:
        index = self._ws.index
        preferences = read_all_preferences(self._ws)
        own_ids = index.own_ids([entry.id for entry in preferences])
        consents = {}
        made_of = content_versions(index)
        for entry, consent in zip(
            preferences, read_consents(self._ws, preferences), strict=True
        ):
            path = entry.there.path
            consents[path, own_ids[entry.id]] = consent
            made_of[path] += repr(consent)
        model, dimensions, usual = map(index.meta, ("model", "dimensions", "usual"))
        seen = {}
        for path, made in made_of.items():
            sources = f"{model} {made}".encode()
            seen[path] = hashlib.blake2b(sources, key=self._key, digest_size=16).digest()
        position = Position(model, dimensions, usual, *index.latest_change())
        return IndexState(seen, consents, position, index.meta("head") or "")

    def _read_batches(
        self, paths: Sequence[str], wanted: IndexState
    ) -> Iterator[list[PublishedFile]]:
        batch: list[PublishedFile] = []
        size = 0
        for path in paths:
            with suppress(NotFound):  # the next time it is gone from the index, too
                batch.append(self._clean_file(path, wanted))
                size += len(batch[-1].bytes)
            if len(batch) == BATCH_FILES or size > BATCH_BYTES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def _clean_file(self, path: str, wanted: IndexState) -> PublishedFile:
        ws = self._ws
        stamp = self._clean.stamp(path)
        if stamp is None:
            raise NotFound(f"The file {path} was deleted while it was published.")
        file = read_file(replace(ws, journal=self._clean), stamp, wanted.head)
        settled = id_decisions(ws.index, path)
        rows = []
        for row in file.rows:
            consent = wanted.consents.get((path, row.entry.id), ())
            of_index = settled.get(row.entry.id, (0, None, 0))
            rows.append((row, Settled(*of_index, tuple(consent))))
        meanings = vectors_by_text_hash(ws.index, path)
        if file.digest != self._clean.digest:
            meanings |= self._embed_cleaned(file, meanings)
        model, data = wanted.position.model, self._clean.latest
        return PublishedFile(path, wanted.source_hashes[path], data, rows, model, meanings)

    def _embed_cleaned(
        self, file: FileRows, stored: Mapping[int, tuple[bytes, bytes]]
    ) -> dict[int, tuple[bytes, bytes]]:
        """Embeds the passages that differ in the cleaned file; returns their vectors and token
        codes by hash, {} if the model cannot be loaded.
        """
        meanings = {}
        with suppress(ModelError):
            for row in file.rows:
                for chunk in row.chunks():
                    if chunk.embed and chunk.hash not in stored:
                        meaning = self._ws.embedder.embed_passage(chunk.text)
                        meanings[chunk.hash] = quantise(meaning.vector), meaning.codes
        return meanings


def keep_publishing(
    ws: Workspace,
    address: str,
    journal: str | None,
    report_to: Callable[[PublishReport | SynapticError], None],
    wanted: Callable[[], bool],
) -> None:
    """Publishes after each change of the index, as long as `wanted()` is True; calls
    `report_to` after each publication or error. Another process updates the index. After an
    error it starts again in RETRY_S.
    """
    while wanted():
        try:
            with closing(Publisher(ws, address, journal)) as publisher:
                publisher.start_publishing()
                while wanted():
                    at = _index_version(ws)
                    report = publisher.publish_changes()
                    if report.files or report.removed:
                        report_to(report)
                    while wanted() and _index_version(ws) == at:
                        time.sleep(STEP_S)
        except (Busy, IndexUnusable) as error:
            if not isinstance(error, Busy):
                _update_publish_record(ws, trouble=str(error))
            report_to(error)
            time.sleep(RETRY_S)


def _index_version(ws: Workspace) -> Any:
    """A number that changes when another process writes the index."""
    ws.index.file.reopen_if_replaced()
    return ws.index.file.data_version()


def describe_publication(ws: Workspace) -> Texts:
    """Returns a sentence about the last publication: when it was, and whether changes wait;
    none if nothing was published.
    """
    record = read_state_json(ws.config.state / PUBLISHED)
    if "journal" not in record:
        return ()
    counting, change = in_step(ws, lambda _: ws.index.latest_change())
    there = record.get("change", 0) if counting == record.get("counting") else 0
    at = record.get("at")
    when = time.strftime("on %Y-%m-%d at %H:%M", time.localtime(at)) if at else "never"
    behind = "nothing changed since" if there == change else "with changes waiting"
    sentence = f"Last published as {record['journal']} {when}, {behind}."
    trouble = record.get("trouble")
    return (f"{sentence} The last time did not work: {trouble}",) if trouble else (sentence,)


def _has_secret(path: str) -> bool:
    return Screen("redact").redact_secrets("path", path) != path


def _read_name_and_key(ws: Workspace, name: str | None) -> tuple[str, bytes]:
    """Returns (the name under which this journal is published, the secret key for its hashes).
    Raises InvalidArgument.
    """
    record = read_state_json(ws.config.state / PUBLISHED)
    before = record.get("journal", "")
    name = name or before
    if before not in ("", name):
        raise InvalidArgument(
            f"This journal is published as {before}. Publishing it under a second name would "
            "leave the first there, never updated again.",
            valid=(before,),
            hint="To rename it, remove the first: `synaptic publish --drop`.",
        )
    if not _NAME.fullmatch(name):
        raise InvalidArgument(
            f"{name!r} cannot be the name of a published journal."
            if name
            else "The journal has no name yet under which to publish it.",
            valid=("1 to 40 small letters, digits, - and _",),
            hint="Give a name: synaptic publish --journal NAME",
        )
    return name, bytes.fromhex(record.get("key") or secrets.token_hex(32))


def _update_publish_record(ws: Workspace, **more: Any) -> None:
    file = ws.config.state / PUBLISHED
    make_dirs(file.parent, private=True)
    overwrite(file, json.dumps(read_state_json(file) | more).encode())

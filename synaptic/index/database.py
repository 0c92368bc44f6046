"""The SQLite file of the index: opening, ownership, schema, transactions, damage."""

from __future__ import annotations

import errno
import importlib.util
import os
import re
import time
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar, cast
from urllib.parse import quote

import apsw

from ..errors import Cure, IndexFailed, IndexUnusable
from ..files import file_lock, open_regular_file, why_locks_fail
from ..language.words import TOKENIZER
from ..models import OF_SESSIONS
from .sqlite_errors import UNWRITABLE, as_index_errors, is_damage
from .upgrade import carry_over_old_index
from .vectors import Vectors

SQLITE_VERSION = apsw.sqlite_lib_version()
APPLICATION_ID = 0x53594E41  # "SYNA"
BUSY_TIMEOUT_MS = 10_000
OPEN_ATTEMPTS = 5
OPEN_PAUSE_S = 0.01
MEMORY_RETRY_S = 60.0
PAGE_SIZE = 2048  # small journals leave 40 tables half full
SCHEMA = Path(__file__).with_name("schema.sql")

Made = TypeVar("Made")

LAGGING = frozenset({"frequencies", "sample", "samples", "facets", "vectors"})
"""Names of kept values that may lag behind what this process writes."""

_NEW_FILE = f"""
    PRAGMA page_size = {PAGE_SIZE};
    PRAGMA auto_vacuum = FULL;"""
_PRAGMAS = """
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    PRAGMA foreign_keys = ON;
    PRAGMA secure_delete = FAST; -- within a page; a scrub does the rest
    PRAGMA temp_store = MEMORY;
    PRAGMA cache_size = -8000;
    PRAGMA wal_autocheckpoint = 500; -- pages: the log holds a megabyte,
    PRAGMA journal_size_limit = 1048576; -- and is cut to that after a large change"""

_READ_ONLY = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI


def tokenizer_arguments(stemming: bool) -> tuple[str, ...]:
    """The name of FTS5's tokenizer, and its arguments."""
    return ("porter", *TOKENIZER) if stemming else TOKENIZER


class Database:
    """The connection to an index file. It opens at the first use and reopens when the file was
    replaced.

    A file that cannot be written is copied into memory as far as it can be read, and used
    there; a minute later the file is tried again. `trouble` says why, and is empty otherwise.
    `cache` holds values made from the index, by name. `read_only`: a file that is there and
    sound is read; whatever else would be done is an error. Each method may raise IndexFailed;
    `db` alone is SQLite's own connection, with its own errors.
    """

    def __init__(self, path: Path, *, stemming: bool = True, read_only: bool = False) -> None:
        self.path = path
        self.read_only = read_only
        self.trouble = ""
        self.cache: dict[str, object] = {}
        self.shown_changes = 0
        """The number of changes of this process to the journal that the index shows."""
        self.is_held = False
        """True while another process keeps the write lock for which this one has waited."""
        self._is_copy = False
        self._connection: apsw.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._companions: Sequence[int] = ()
        self._memory_until = 0.0
        self._kept_at = (0, 0)
        self._version_of_transaction: int | None = None
        self._whole_schema: tuple[apsw.Connection, int] | None = None
        self._scrub = path.with_name("index.scrub")
        self._owes_scrub = False
        parts = " ".join(f"'{part}'" for part in tokenizer_arguments(stemming)).replace(
            "'", "''"
        )
        script = SCHEMA.read_text(encoding="utf-8").replace("{tokenizer}", parts)
        script = script.replace("{sessions}", str(OF_SESSIONS))
        self._schema = re.sub(r"--.*|\s+", " ", script).strip()

    # -- using it
    # -----------------------------------------------------------------------------------

    @property
    def db(self) -> apsw.Connection:
        """The open connection. Raises IndexUnusable where the file is another program's."""
        if self._connection is None:
            with as_index_errors():
                self._connection = self._open()
        return self._connection

    @property
    def origin(self) -> tuple[object, ...]:
        """A value that identifies the open file; a copy in memory has another value."""
        return self._identity, self.trouble, self._is_copy

    @property
    def vectors(self) -> Vectors:
        """The vectors in the file that is open."""
        return Vectors(self.db)

    def reopen_if_replaced(self) -> None:
        """Closes a file that others replaced, and retries a file that could not be written. A
        transaction ends on the file on which it began.
        """
        if self._connection is None or self._connection.in_transaction:
            return
        is_late = self.trouble and time.monotonic() > self._memory_until
        if is_late or self._identity != _device_and_inode(self.path):
            self.close()
        elif not self.trouble and self._companions != _log_inodes(self.path):
            # others see a file without its log; what was in that may be half in the file
            self.close() if self.read_only else self._reset()

    def rows(self, sql: str, *values: Any) -> list[Any]:
        """Every row of a query. Text that is not UTF-8 is a damage."""
        try:
            with as_index_errors():
                return self.db.execute(sql, values).fetchall()
        except UnicodeDecodeError as error:
            raise IndexFailed(str(error), "reset") from error

    def column(self, sql: str, *values: Any) -> list[Any]:
        """The first column of every row."""
        return [row[0] for row in self.rows(sql, *values)]

    def value(self, sql: str, *values: Any) -> Any:
        """The first column of the first row; None where there is no row."""
        return next(iter(self.column(sql, *values)), None)

    def meta(self, key: str) -> Any:
        """The value of a key of `meta`; None for a key that it has not."""

        def read() -> dict[str, Any]:
            return dict(self.rows("SELECT key, value FROM meta"))

        return self.cached("meta", read).get(key)

    def set_meta(self, key: str, new: str | int | float) -> None:
        self.db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, new))

    def cached(self, name: str, make: Callable[[], Made]) -> Made:
        """Returns the cached value `name`, calling `make` on a miss. A write by another process
        clears the cache; our own write, or a read-only connection, keeps the names in LAGGING.
        """
        at = self.data_version(), self.db.total_changes()
        if at != self._kept_at:
            is_own = self.read_only or at[0] == self._kept_at[0]
            for other in list(self.cache):
                if not is_own or other not in LAGGING:
                    del self.cache[other]
        self._kept_at = at
        if name not in self.cache:
            self.cache[name] = make()
        return cast("Made", self.cache[name])

    def data_version(self) -> int:
        """A number that changes when another connection writes the index; within a transaction
        it stays.
        """
        if not self.db.in_transaction:
            return int(self.value("PRAGMA data_version"))
        if self._version_of_transaction is None:
            self._version_of_transaction = int(self.value("PRAGMA data_version"))
        return self._version_of_transaction

    def rows_written(self) -> int:
        """A number that grows with each row that is written; roughly so on a read-only
        connection.
        """
        if not self.read_only:
            return self.db.total_changes()
        return self.value(_ROWS_WRITTEN) or 0

    @contextmanager
    def transaction(self, write_within_ms: int | None = None) -> Iterator[apsw.Connection]:
        """One transaction: for reading one state, or, with `write_within_ms`, for writing. A
        read may nest.

        Raises IndexBusy when the write lock is not free in time.
        """
        self.reopen_if_replaced()
        db = self.db
        writes = write_within_ms is not None
        if db.in_transaction and not writes:
            with as_index_errors():
                yield db
            return
        with as_index_errors():
            db.set_busy_timeout(BUSY_TIMEOUT_MS if write_within_ms is None else write_within_ms)
            try:
                self._version_of_transaction = None
                db.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
                if writes:
                    self._check_vector_tables()
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise
            finally:
                db.set_busy_timeout(BUSY_TIMEOUT_MS)

    def size(self) -> int:
        size = 0
        for suffix in ("", "-wal"):
            with suppress(FileNotFoundError):  # another process removes it
                size += Path(f"{self.path}{suffix}").stat().st_size
        return size

    @as_index_errors()
    def become_copy_of(self, other: Database) -> None:
        """Replaces the content of this index by a copy of `other`, held in memory."""
        memory = apsw.Connection(":memory:")
        memory.execute(f"PRAGMA page_size = {PAGE_SIZE}")
        copy_database(other.db, memory)
        self._configure_connection(memory)
        self._connection = memory

    @contextmanager
    def copied_into_memory(self) -> Iterator[None]:
        """A context in which this index is a copy in memory that no other process holds. What
        is written to it is gone afterwards.
        """
        file = self.db
        self.become_copy_of(self)
        copy = self.db
        self.cache.clear()
        self._is_copy = True
        try:
            yield
        finally:
            self._is_copy = False
            self.cache.clear()
            left = file
            if self._connection is copy:  # else the file was replaced, and is opened anew
                left = copy
                self._connection = file
            with suppress(apsw.Error):
                left.close()

    def close(self) -> None:
        """Closes the connection; the next use opens the file again."""
        if self._connection is not None:
            with suppress(apsw.Error):  # a damaged log cannot be carried into its file
                self._connection.close()
        self._connection = self._identity = self._whole_schema = None
        self.trouble = ""
        self.shown_changes = 0
        self.cache.clear()

    @property
    def owes_scrub(self) -> bool:
        """True while bytes of purged or newly private text may still stand in the file
        or its log.

        Setting it leaves a file beside the index, which tells every process; not a row, for
        another process may be writing. `Index.compact` does the scrub and takes the file away.
        """
        return self._owes_scrub or self._scrub.exists()

    @owes_scrub.setter
    def owes_scrub(self, owes: bool) -> None:
        self._owes_scrub = owes
        with suppress(OSError):  # where nothing can be written, this process remembers
            self._scrub.touch(0o600) if owes else self._scrub.unlink(missing_ok=True)

    def _check_vector_tables(self) -> None:
        """Raises apsw.CorruptError where a shadow table of the vectors is missing: sqlite-vec
        would end the process.
        """
        schema = self.db, self.value("PRAGMA schema_version")
        if schema != self._whole_schema:
            missing = self.vectors.find_missing_table()
            if missing:
                raise apsw.CorruptError(missing)
            self._whole_schema = schema

    # -- healing
    # ------------------------------------------------------------------------------------

    def check(self, *, whole: bool = False) -> str | None:
        """The first fault of the file; None for a sound one. An error of the disk is raised.

        A quick check reads every page, and compares vectors with their checksums. A `whole` one
        also compares the tables: each part of the schema is there, each passage has its words
        and its vector, and no row belongs to nothing.
        """
        try:
            with self.transaction():
                pages = "integrity_check" if whole else "quick_check"
                fault = str(self.value(f"PRAGMA {pages}(1)"))
                if fault != "ok":
                    return fault
                of_tables = self._find_table_fault() if whole else None
                return of_tables or self.vectors.find_fault(self.meta("dimensions"))
        except IndexFailed as error:
            if error.cure == "reset" or (whole and error.cure == "again"):
                return error.reason
            raise

    def _find_table_fault(self) -> str | None:
        there = self.column("SELECT sql FROM sqlite_schema")
        for wanted in re.split(r"; *(?=CREATE|$)", self._schema):
            is_of_any_model = "chunk_vec USING" in wanted
            if wanted and wanted not in there and not is_of_any_model:
                return f"this part of it is missing: {wanted}"
        if self.rows("PRAGMA foreign_key_check"):
            return "A row of the index names another one that is missing"
        orphans = self.value(_ORPHANS)
        return f"{orphans} rows of the index belong to no entry" if orphans else None

    @as_index_errors()
    def heal(self, error: IndexFailed, tried: Collection[str] = ()) -> Cure:
        """Acts on an error and returns the cure: `reset`, `detach`, `again`, or "" for none.

        A cure that is in `tried` is returned, but not taken again.
        `reset`: the index was damaged and is empty now. `detach`: the disk refused it, so that
        it goes on in memory. `again`: SQLite refuses a question that is too large with the
        error of a broken table; the index is sound.
        """
        if self.read_only:
            raise error
        cure = error.cure
        if cure == "again":
            with suppress(IndexFailed):  # of the disk: it says nothing of the index
                if self.check(whole=True):
                    cure = "reset"
        if cure == "reset" and cure not in tried:
            self._reset()
        elif cure == "detach" and cure not in tried:
            self.detach(error)
        return cure

    def _reset(self) -> None:
        """Deletes the file, its log and its shared memory together, unless another process did
        so already.
        """
        broken = self._identity
        self.close()
        try:
            with self._creation_lock():
                if broken is None or broken == _device_and_inode(self.path):
                    _remove_files(self.path, "", "-wal", "-shm")
        except OSError as error:
            self.detach(error)

    @as_index_errors()
    def detach(self, error: Exception) -> None:
        """Continues with an index in memory, because the file cannot be written."""
        self.close()
        self._identity = _device_and_inode(self.path)
        self._connection = self._open_in_memory(error)

    # -- opening
    # ------------------------------------------------------------------------------------

    def _open(self) -> apsw.Connection:
        """Opens a connection to the file, or to memory; tries again if another process replaced
        the file meanwhile, or is writing its header.
        """
        if self.read_only:
            return self._open_to_read()
        failed: Exception = BlockingIOError(errno.EAGAIN, "it is replaced again and again")
        for _ in range(OPEN_ATTEMPTS):
            try:
                connection = self._open_file()
                if connection is not None:
                    return connection
            except (OSError, IndexUnusable, apsw.CorruptError, *UNWRITABLE) as error:
                failed = error
            time.sleep(OPEN_PAUSE_S)
        if isinstance(failed, IndexUnusable) or is_damage(failed):
            raise failed
        self._identity = _device_and_inode(self.path)
        return self._open_in_memory(failed)

    def _open_to_read(self) -> apsw.Connection:
        """Opens a connection that cannot write. Raises apsw.CantOpenError where there is no
        file of this version, which the writer makes.
        """
        self._identity = _device_and_inode(self.path)
        refusal = why_locks_fail(self.path.parent, ranges=True)
        if refusal or self._identity is None:
            raise apsw.CantOpenError(refusal or "there is no index yet")
        _check_owner(self.path)
        connection = apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            self._configure_connection(connection)
            if not self._is_current(connection) or self._identity != _device_and_inode(
                self.path
            ):
                raise apsw.CantOpenError("the index is being replaced")
        except BaseException:
            connection.close()
            raise
        self._companions = _log_inodes(self.path)
        return connection

    def _open_file(self) -> apsw.Connection | None:
        """Opens a connection to the file and creates the file if it is missing; returns None if
        the file was replaced meanwhile, or is of another version.
        """
        self._identity = None
        self._check_locks()
        if _device_and_inode(self.path) is None:
            with self._creation_lock():
                if _device_and_inode(self.path) is None:
                    self._create(None)
        self._identity = _device_and_inode(self.path)
        _check_owner(self.path)
        log_came_alone = _has_log_alone(self.path)
        # without SQLITE_OPEN_CREATE: a file that just went would come back without an owner
        connection = apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            is_current = False
            if _device_and_inode(self.path):  # an emptied one is not filled in place
                self._configure_connection(connection)
                is_current = self._is_current(connection)
                if not is_current:
                    self._replace(connection)
                elif log_came_alone and not _fits_together(connection):
                    is_current = False
                    connection.close()  # with it SQLite writes the log into the file
                    self._replace(None)
        except BaseException:
            connection.close()
            raise
        if not is_current or self._identity != _device_and_inode(self.path):
            connection.close()
            return None
        self._companions = _log_inodes(self.path)
        return connection

    def _is_current(self, connection: apsw.Connection) -> bool:
        return bool(connection.execute("PRAGMA user_version").get == self._schema_version)

    @property
    def _schema_version(self) -> int:
        return zlib.crc32(self._schema.encode()) >> 1  # SQLite keeps 31 bits

    def _replace(self, old_db: apsw.Connection | None) -> None:
        """Replaces an index of another version, or a damaged one, by an empty one."""
        with self._creation_lock():
            if self._identity == _device_and_inode(self.path):
                self._create(old_db)

    def _create(self, old_db: apsw.Connection | None) -> None:
        """Makes an index without entries, with what can be taken over from `old_db`, which is
        closed. It is renamed when it is whole, so that no process opens half a schema.
        """
        new = self.path.with_name(f"{self.path.name}.new")
        _remove_files(new, "", "-wal", "-shm")
        os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        with closing(apsw.Connection(str(new))) as db:
            self._create_schema(db, old_db)
        if old_db:
            old_db.close()
        # a log left behind would be replayed into the new file
        _remove_files(self.path, "-wal", "-shm")
        new.replace(self.path)

    def _create_schema(self, db: apsw.Connection, old_db: apsw.Connection | None) -> None:
        db.execute(_NEW_FILE).fetchall()
        self._configure_connection(db)
        owner = (
            f"PRAGMA application_id = {APPLICATION_ID}; "
            f"PRAGMA user_version = {self._schema_version}"
        )
        count = "INSERT INTO seen VALUES ('', 1 + abs(random() % 1000000000), 0)"
        db.execute(f"BEGIN; {self._schema} {count}; {owner}; COMMIT").fetchall()
        if old_db:
            carry_over_old_index(old_db, db)

    def _configure_connection(self, db: apsw.Connection) -> None:
        db.set_busy_timeout(BUSY_TIMEOUT_MS)
        db.enable_load_extension(True)
        db.load_extension(_sqlite_vec_path())
        db.enable_load_extension(False)
        db.execute(_PRAGMAS).fetchall()  # unread, one keeps the next from running

    def _open_in_memory(self, error: Exception) -> apsw.Connection:
        memory = _copy_into_memory(self.path)
        if memory:
            self._configure_connection(memory)
        if memory is None or not self._is_current(memory):
            old_db, memory = memory, apsw.Connection(":memory:")
            self._create_schema(memory, old_db)
        self._memory_until = time.monotonic() + MEMORY_RETRY_S
        reason: object = error.reason if isinstance(error, IndexFailed) else error
        if isinstance(error, OSError) and error.strerror:
            reason = error.strerror
        self.trouble = f"The index {self.path} cannot be written ({reason})"
        return memory

    def _creation_lock(self) -> AbstractContextManager[object]:
        self._check_locks()
        return file_lock(self.path.with_name("index.lock"), BUSY_TIMEOUT_MS / 1000)

    def _check_locks(self) -> None:
        """Raises OSError where the disk grants no locks: SQLite would wait for one again and
        again.
        """
        refusal = why_locks_fail(self.path.parent, ranges=True)
        if refusal:
            raise OSError(errno.ENOLCK, refusal)


_ROWS_WRITTEN = """
    SELECT value * 10 + (SELECT coalesce(max(rowid), 0) FROM chunk)
    FROM meta WHERE key = 'stored'"""
_ORPHANS = """
    SELECT (SELECT count(*) FROM
        (SELECT rowid FROM chunk EXCEPT SELECT rowid FROM chunk_fts_docsize))
    + (SELECT count(*) FROM
        (SELECT rowid FROM chunk_fts_docsize EXCEPT SELECT rowid FROM chunk))
    + (SELECT count(*) FROM
        (SELECT rowid FROM entry EXCEPT SELECT entry FROM chunk))"""


def _sqlite_vec_path() -> str:
    """The path of sqlite-vec's library. Importing its module would import numpy."""
    spec = importlib.util.find_spec("sqlite_vec")
    if spec is None or not spec.submodule_search_locations:
        raise IndexUnusable(
            "The package sqlite-vec is not installed.", hint="Reinstall synaptic-journal."
        )
    return str(Path(spec.submodule_search_locations[0]) / "vec0")


def _has_log_alone(path: Path) -> bool:
    """True if a log lies beside the file without the memory that each user of it maps: it was
    copied there, and may be of another index.
    """
    log = path.with_name(f"{path.name}-wal")
    memory = path.with_name(f"{path.name}-shm")
    return log.exists() and log.stat().st_size > 0 and not memory.exists()


def _fits_together(connection: apsw.Connection) -> bool:
    """True if the pages of a file belong together."""
    try:
        return bool(connection.execute("PRAGMA quick_check(1)").get == "ok")
    except apsw.Error:
        return False


def _check_owner(path: Path) -> None:
    """Raises IndexUnusable for another program's database, which is not even opened: that could
    change it. Raises apsw.CorruptError where the last page is cut: SQLite reads zeros there.
    """
    with open_regular_file(path) as file:
        header = file.read(100)
        size = file.seek(0, os.SEEK_END)
    owner = int.from_bytes(header[68:72], "big")
    if header[:16] == b"SQLite format 3\0" and owner != APPLICATION_ID:
        raise IndexUnusable(
            f"{path} is a database of another program; it was left alone.",
            hint="Move it away, or set SYNAPTIC_HOME to another folder.",
        )
    if size % PAGE_SIZE:
        raise apsw.CorruptError("its last page is cut")


def _device_and_inode(path: Path) -> tuple[int, int] | None:
    """Returns the device and inode of a file; None if it does not exist or is empty."""
    with suppress(OSError):
        status = path.stat()
        if status.st_size:
            return status.st_dev, status.st_ino
    return None


def _log_inodes(path: Path) -> Sequence[int]:
    """The inodes of the log and the shared memory. They stay the same while a connection is
    open.
    """
    with suppress(OSError):
        return [Path(f"{path}{suffix}").stat().st_ino for suffix in ("-wal", "-shm")]
    return ()


def _copy_into_memory(path: Path) -> apsw.Connection | None:
    """Copies a file that cannot be written into memory; returns None if it cannot be read."""
    for way in ("mode=ro", "immutable=1"):  # with its log; without, where that cannot be opened
        name = f"file:{quote(str(path))}?{way}"
        memory = apsw.Connection(":memory:")
        memory.execute(f"PRAGMA page_size = {PAGE_SIZE}")
        with suppress(apsw.Error), closing(apsw.Connection(name, flags=_READ_ONLY)) as file:
            copy_database(file, memory)
            if memory.execute("PRAGMA quick_check(1)").get == "ok":
                return memory
        memory.close()
    return None


def copy_database(source: apsw.Connection, target: apsw.Connection) -> None:
    with target.backup("main", source, "main") as backup:
        backup.step(-1)


def _remove_files(path: Path, *suffixes: str) -> None:
    for suffix in suffixes:
        Path(f"{path}{suffix}").unlink(missing_ok=True)

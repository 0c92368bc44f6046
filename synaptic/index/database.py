"""The SQLite file: opening, ownership, schema, transactions, damage."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

import apsw

from ..errors import IndexUnusable
from ..words import TOKENIZER

APPLICATION_ID = 0x53594E41  # "SYNA"
SCHEMA_VERSION = 2
BUSY_TIMEOUT_MS = 10_000
SCHEMA = Path(__file__).with_name("schema.sql")

_PRAGMAS = (
    "page_size = 2048",  # small journals leave 40 tables half full; heeded by a new file only, as is the next
    "auto_vacuum = INCREMENTAL",
    "journal_mode = WAL",
    "synchronous = NORMAL",
    "foreign_keys = ON",
    "secure_delete = FAST",  # what is deleted within a page is overwritten; `scrub` does the rest
    "temp_store = MEMORY",
    "cache_size = -8000",
)

DAMAGE = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError)
"""What SQLite raises for a damaged file; the caller resets the index and fills it again."""


class Database:
    """An index file. It opens at the first use and reopens when the file was replaced under it."""

    def __init__(self, path: Path, *, stemming: bool = True, busy_timeout_ms: int = BUSY_TIMEOUT_MS) -> None:
        self.path = path
        self._tokenizer = ("porter", *TOKENIZER) if stemming else TOKENIZER
        self._busy_timeout_ms = busy_timeout_ms
        self._connection: apsw.Connection | None = None
        self._identity: tuple[int, int] | None = None

    # -- opening, closing, healing ------------------------------------------------------------------

    @property
    def db(self) -> apsw.Connection:
        """The open connection, on the file that is there now.

        Raises IndexUnusable when that file is a stranger's, or cannot be opened or made.
        """
        if self._connection is not None and self._connection.in_transaction:
            return self._connection  # what was begun ends on the file it began on
        if self._connection is not None and self._identity != _identity(self.path):
            self.close()
        if self._connection is None:
            self._connection = self._open()
        return self._connection

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = self._identity = None

    def reset(self) -> None:
        """Deletes the file, its WAL and its shared memory together; the next use makes an empty index.

        Not where another process did so already.
        """
        broken = self._identity
        self.close()
        with self._creation_lock():
            if broken is None or broken == _identity(self.path):
                _unlink(self.path, "", "-wal", "-shm")

    def check(self) -> str | None:
        """None for a sound file, else what `PRAGMA quick_check` says."""
        try:
            answer = self.value("PRAGMA quick_check(1)")
        except DAMAGE as error:
            return str(error)
        return None if answer == "ok" else str(answer)

    def _open(self) -> apsw.Connection:
        try:
            if not self.path.exists() or self.path.stat().st_size == 0:
                with self._creation_lock():
                    if not self.path.exists() or self.path.stat().st_size == 0:
                        # a log left behind by a deleted index would be replayed into the new one
                        _unlink(self.path, "", "-wal", "-shm")
                        os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
                        self._connect().close()
            self._identity = _identity(self.path)
            return self._connect()
        except (OSError, apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError) as error:
            raise IndexUnusable(
                f"The index {self.path} cannot be opened: {error}.",
                hint="Check the permissions of its folder; the journal is untouched.",
            ) from error

    def _connect(self) -> apsw.Connection:
        connection = apsw.Connection(str(self.path))
        try:
            connection.set_busy_timeout(self._busy_timeout_ms)
            self._check_owner(connection)
            for pragma in _PRAGMAS:  # one at a time: what follows a statement that answers runs only when that is read
                connection.execute(f"PRAGMA {pragma}").fetchall()
            connection.enable_load_extension(True)
            connection.load_extension(_vec0_path())
            connection.enable_load_extension(False)
            self._create_or_replace_schema(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _check_owner(self, connection: apsw.Connection) -> None:
        owner = connection.execute("PRAGMA application_id").get
        empty = not connection.execute("SELECT count(*) FROM sqlite_schema").get
        if owner != APPLICATION_ID and not (owner == 0 and empty):
            raise IndexUnusable(
                f"{self.path} is a database of another program; it was left alone.",
                hint="Move it away, or set SYNAPTIC_HOME to another folder.",
            )

    def _create_or_replace_schema(self, connection: apsw.Connection) -> None:
        version = connection.execute("PRAGMA user_version").get
        wanted = f"{SCHEMA_VERSION} {' '.join(self._tokenizer)}"
        if (
            version == SCHEMA_VERSION
            and connection.execute("SELECT value FROM meta WHERE key = 'schema'").get == wanted
        ):
            return
        with _transaction(connection):
            if connection.execute("PRAGMA user_version").get != 0:
                _drop_everything(connection)
            script = SCHEMA.read_text(encoding="utf-8")
            tokenizer = " ".join(f"'{part}'" for part in self._tokenizer).replace("'", "''")
            connection.execute(script.replace("{tokenizer}", tokenizer))
            connection.execute("INSERT INTO meta VALUES ('schema', ?)", (wanted,))
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA_VERSION}")

    @contextmanager
    def _creation_lock(self) -> Iterator[None]:
        from filelock import FileLock

        with FileLock(self.path.with_name("index.lock"), timeout=self._busy_timeout_ms / 1000, mode=0o600):
            yield

    # -- transactions -------------------------------------------------------------------------------

    @contextmanager
    def writing(self, timeout_ms: int = BUSY_TIMEOUT_MS) -> Iterator[None]:
        """One write transaction. Raises apsw.BusyError when the lock is not to be had in time."""
        db = self.db
        db.set_busy_timeout(timeout_ms)
        try:
            with _transaction(db):
                yield
        finally:
            db.set_busy_timeout(self._busy_timeout_ms)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """One read transaction: everything in it sees the same state."""
        db = self.db
        if db.in_transaction:
            yield
            return
        db.execute("BEGIN")
        try:
            yield
        finally:
            if db.in_transaction:
                db.execute("COMMIT")

    def meta(self, key: str) -> str | int | float | None:
        return cast("str | int | float | None", self.value("SELECT value FROM meta WHERE key = ?", key))

    def set_meta(self, key: str, value: str | int | float) -> None:
        self.db.execute(
            "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            (key, value),
        )

    def size_bytes(self) -> int:
        """Bytes on disk, write-ahead log included."""
        return sum(p.stat().st_size for s in ("", "-wal") if (p := Path(f"{self.path}{s}")).exists())

    def optimize(self) -> None:
        """Merges the full-text index into one segment. Call within `writing`."""
        self.db.execute("INSERT INTO chunk_fts (chunk_fts) VALUES ('optimize')")

    def compact(self) -> None:
        """Gives free pages back and empties the write-ahead log, if nobody is in the way.

        Not VACUUM: it may renumber the rows that vec0 keeps its vectors in.
        """
        with suppress(apsw.BusyError, apsw.LockedError):
            self.db.execute("PRAGMA incremental_vacuum").fetchall()
            self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def scrub(self) -> None:
        """Leaves no trace of what was deleted: FTS5 keeps its words until segments are merged, SQLite its pages."""
        with self.writing():
            self.optimize()
        self.compact()

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Every row of a query."""
        return cast("list[tuple[Any, ...]]", self.db.execute(sql, values).fetchall())

    def value(self, sql: str, *values: Any) -> Any:
        """The first column of the first row; None where there is none."""
        row = self.db.execute(sql, values).fetchone()
        return None if row is None else row[0]


@contextmanager
def _transaction(db: apsw.Connection) -> Iterator[None]:
    """BEGIN IMMEDIATE: a deferred transaction that comes to write fails at once when another one wrote."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _drop_everything(db: apsw.Connection) -> None:
    virtual_first = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY sql NOT LIKE 'CREATE VIRTUAL%'"
    db.execute("PRAGMA defer_foreign_keys = ON")
    for (name,) in db.execute(virtual_first).fetchall():
        if not str(name).startswith("sqlite_"):
            db.execute(f'DROP TABLE IF EXISTS "{name}"')


def _vec0_path() -> str:
    """Where sqlite-vec's library lies; importing its Python module would pull numpy in."""
    spec = importlib.util.find_spec("sqlite_vec")
    if spec is None or not spec.submodule_search_locations:
        raise IndexUnusable("The package sqlite-vec is not installed.", hint="Reinstall synaptic-journal.")
    return str(Path(spec.submodule_search_locations[0]) / "vec0")


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if status.st_size else None  # emptied is as good as gone


def _unlink(path: Path, *suffixes: str) -> None:
    for suffix in suffixes:
        Path(f"{path}{suffix}").unlink(missing_ok=True)


def marks(values: Sequence[object]) -> str:
    return f"({', '.join('?' * len(values))})"

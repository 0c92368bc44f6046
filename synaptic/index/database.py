"""The SQLite file of the index: opening, ownership, schema, transactions, damage."""

from __future__ import annotations

import errno
import importlib.metadata
import importlib.util
import os
import re
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, TypeVar, cast
from urllib.parse import quote

import apsw

from ..errors import IndexUnusable
from ..language.words import TOKENIZER
from . import rescue

APPLICATION_ID = 0x53594E41  # "SYNA"
SCHEMA_VERSION = 18
BUSY_TIMEOUT_MS = 10_000
OPEN_ATTEMPTS = 5
OPEN_PAUSE_S = 0.01
PAGE_SIZE = 2048  # small journals leave 40 tables half full
MEMORY_RETRY_S = 60.0
SCHEMA = Path(__file__).with_name("schema.sql")

Made = TypeVar("Made")

LASTING = frozenset({"proofs", "ids", "vocabulary", "frequencies", "sample", "facets"})
"""Names of kept values that stay when this process writes: its writes update them, or they may
lag behind.
"""

_NEW_FILE = (
    f"page_size = {PAGE_SIZE}",
    "auto_vacuum = INCREMENTAL",
)  # of an old one they want the write lock
_PRAGMAS = (
    "journal_mode = WAL",
    "synchronous = NORMAL",
    "foreign_keys = ON",
    # what is deleted within a page is overwritten; `scrub` does the rest
    "secure_delete = FAST",
    "temp_store = MEMORY",
    "cache_size = -8000",
    "wal_autocheckpoint = 500",  # pages: the log holds a megabyte,
    "journal_size_limit = 1048576",  # and is cut to that after a large change
)

_WORD_TABLES = {f"chunk_fts_{part}" for part in ("config", "data", "docsize", "idx")}

_DAMAGE = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError)
_SUSPICION = (apsw.SQLError, apsw.ConstraintError)
_UNWRITABLE = (
    apsw.CantOpenError,
    apsw.ReadOnlyError,
    apsw.PermissionsError,
    apsw.FullError,
    apsw.IOError,
)
_TORN_FILE = (apsw.SQLITE_IOERR_SHORT_READ, apsw.SQLITE_IOERR_CORRUPTFS, apsw.SQLITE_IOERR_DATA)


def is_damage(error: apsw.Error) -> bool:
    """True for an error by which SQLite reports a damaged file."""
    if isinstance(error, apsw.IOError):
        return getattr(error, "extendedresult", 0) in _TORN_FILE
    return isinstance(error, _DAMAGE)


def is_unwritable(error: apsw.Error) -> bool:
    """True for an error of the disk: the file cannot be written, and its content is not at
    fault.
    """
    return isinstance(error, _UNWRITABLE) and not is_damage(error)


class Database:
    """The connection to an index file. It opens at the first use and reopens when the file was
    replaced.

    A file that cannot be written is copied into memory as far as it can be read, and used
    there; a minute later the file is tried again. `trouble` says why, and is empty otherwise.
    `kept` are values made from the index, by name.
    """

    def __init__(self, path: Path, *, stemming: bool = True) -> None:
        self.path = path
        self.trouble = ""
        self.kept: dict[str, object] = {}
        self.tokenizer = ("porter", *TOKENIZER) if stemming else TOKENIZER
        self._connection: apsw.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._companions: tuple[int, ...] | None = None
        self._memory_until = 0.0
        self._whole_at: int | None = None
        self._kept_at = (0, 0)
        self._scrub = path.with_name("index.scrub")
        self._owes_scrub = False

    # -- using it
    # -----------------------------------------------------------------------------------

    @property
    def db(self) -> apsw.Connection:
        """The open connection to the file that is there now.

        Raises IndexUnusable when that file is another program's.
        """
        if self._connection is not None and self._connection.in_transaction:
            return self._connection  # what was begun ends on the file it began on
        if self._connection is not None:
            if self._identity != _identity(self.path) or (
                self.trouble and time.monotonic() > self._memory_until
            ):
                self.close()
            elif not self.trouble and self._companions != _companions(self.path):
                # others see a file without its log; what was in that may be half in the file
                self._reset()
        if self._connection is None:
            self._connection = self._open()
        return self._connection

    def rows(self, sql: str, *values: Any) -> list[Any]:
        """Every row of a query. Raises apsw.CorruptError for text that is none."""
        try:
            return self.db.execute(sql, values).fetchall()
        except UnicodeDecodeError as error:
            raise apsw.CorruptError(str(error)) from error

    def value(self, sql: str, *values: Any) -> Any:
        """The first column of the first row; None where there is no row."""
        found = self.rows(sql, *values)
        return found[0][0] if found else None

    def meta(self, key: str) -> str | int | float | None:
        """The value of this key: `model`, `dimensions`, `usual`, `reading`, `head`; else
        None.
        """
        return cast(
            "str | int | float | None", self.value("SELECT value FROM meta WHERE key = ?", key)
        )

    def set_meta(self, key: str, new: str | int | float) -> None:
        self.db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, new))

    def keep(self, name: str, make: Callable[[], Made]) -> Made:
        """The last result of `make`, which is called only where nothing valid
        is in `kept`.

        When another process has written, everything is forgotten; when this one has, everything
        but LASTING.
        """
        at = self.value("PRAGMA data_version"), self.db.total_changes()
        if at[0] != self._kept_at[0]:
            self.kept.clear()
        elif at != self._kept_at:
            for other in self.kept.keys() - LASTING:
                del self.kept[other]
        self._kept_at = at
        if name not in self.kept:
            self.kept[name] = make()
        return cast("Made", self.kept[name])

    @contextmanager
    def transaction(self, write_within_ms: int | None = None) -> Iterator[apsw.Connection]:
        """One transaction: for reading one state, or, with `write_within_ms`, for writing. A
        read may nest.

        Raises apsw.BusyError when the write lock is not free in time, and apsw.CorruptError
        when a table is missing.
        """
        db = self.db
        if write_within_ms is None:
            with _transaction(db, "BEGIN") if not db.in_transaction else nullcontext():
                self._check_tables()
                yield db
            return
        db.set_busy_timeout(write_within_ms)
        try:
            with _transaction(db):
                self._check_tables()
                yield db
        finally:
            db.set_busy_timeout(BUSY_TIMEOUT_MS)

    def copy_to(self, path: Path) -> None:
        """Copies the index as it is to a new file. Where it cannot be read, the copy is empty
        or broken; it heals.
        """
        path.touch(0o600)
        with (
            suppress(apsw.Error),
            closing(apsw.Connection(str(path))) as new,
            new.backup("main", self.db, "main") as all_,
        ):
            all_.step(-1)

    def close(self) -> None:
        """Closes the connection; the next use opens the file again."""
        if self._connection is not None:
            with suppress(apsw.Error):  # a damaged log cannot be carried into its file
                self._connection.close()
        self._connection = self._identity = self._companions = self._whole_at = None
        self.trouble = ""
        self.kept.clear()

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

    # -- healing
    # ------------------------------------------------------------------------------------

    def check(self, *, whole: bool = False) -> str | None:
        """The first fault of the file; None for a sound one. An error of the disk is raised.

        A quick check reads every page (`PRAGMA quick_check`). A `whole` one also compares the
        tables: each passage has its words and its vector, and no row belongs to nothing.
        """
        try:
            if not whole:
                answer = str(self.value("PRAGMA quick_check(1)"))
                return None if answer == "ok" else answer
            self._whole_at = None
            with self.transaction():
                return self._fault()
        except apsw.Error as error:
            if is_damage(error) or (whole and isinstance(error, _SUSPICION)):
                return str(error)
            raise

    def _fault(self) -> str | None:
        """The first fault in the content of the tables, if any."""
        if (answer := str(self.value("PRAGMA integrity_check(1)"))) != "ok":
            return answer
        if self.rows("PRAGMA foreign_key_check"):
            return "A row of the index names another one that is missing"
        pairs = [
            ("SELECT rowid FROM chunk", "SELECT rowid FROM chunk_fts_docsize"),
            ("SELECT DISTINCT entry FROM chunk", "SELECT rowid FROM entry"),
        ]
        dimensions = self.meta("dimensions")
        if dimensions is not None:
            pairs.append(
                ("SELECT rowid FROM chunk WHERE vector > 0", "SELECT rowid FROM chunk_vec")
            )
        both = [(one, other) for pair in pairs for one, other in (pair, pair[::-1])]
        orphans = sum(
            self.value(f"SELECT count(*) FROM ({one} EXCEPT {other})") for one, other in both
        )
        if orphans:
            return f"{orphans} rows of the index belong to no entry"
        if dimensions is not None and self.value(_UNREADABLE, dimensions):
            return "A vector of the index cannot be read"
        return None

    def heal(self, error: apsw.Error, tried: Collection[str] = ()) -> str:
        """Acts on an error and returns the way: `reset`, `detach`, `again`, or "" for none.

        A way that is in `tried` is returned, but not taken again.
        `reset`: the index was damaged and is empty now. `detach`: the disk refused it, so that
        it goes on in memory. `again`: SQLite refuses a question that is too large with the
        error of a broken table; the index is sound.
        """
        way = "reset" if is_damage(error) else "detach" if is_unwritable(error) else ""
        if isinstance(error, _SUSPICION):
            way = "again"
            with suppress(apsw.Error):  # of the disk: it says nothing of the index
                way = "reset" if self.check(whole=True) else way
        if way == "reset" and way not in tried:
            self._reset()
        elif way == "detach" and way not in tried:
            self.detach(error)
        return way

    def _reset(self) -> None:
        """Deletes the file, its log and its shared memory together, unless another process did
        so already.
        """
        broken = self._identity
        self.close()
        try:
            with self._creation_lock():
                if broken is None or broken == _identity(self.path):
                    _unlink(self.path, "", "-wal", "-shm")
        except OSError as error:
            self.detach(error)

    def detach(self, error: Exception) -> None:
        """Goes on in memory, because the file cannot be written."""
        self.close()
        self._identity = _identity(self.path)
        self._connection = self._in_memory(error)

    def _check_tables(self) -> None:
        """Raises apsw.CorruptError where a table or an index is not as it was made.

        sqlite-vec would end the process at the next question to a table that is gone.
        """
        cookie = self.value("PRAGMA schema_version")
        if cookie == self._whole_at:
            return
        found = {
            part for row in self.rows("SELECT name, sql FROM sqlite_schema") for part in row
        }
        wanted = _WORD_TABLES.union(self._statements())
        if wanted <= found and self.meta("model") is not None:
            wanted |= {"chunk_vec", *rescue.VECTOR_TABLES}
        if not wanted <= found:
            raise apsw.CorruptError(f"this part of it is missing: {min(wanted - found)}")
        self._whole_at = cookie

    # -- opening
    # ------------------------------------------------------------------------------------

    def _open(self) -> apsw.Connection:
        """A connection to the file, or to memory; tried again when others replaced the file
        meanwhile.
        """
        for attempts_left in reversed(range(OPEN_ATTEMPTS)):
            try:
                if (connection := self._open_file()) is not None:
                    return connection
            except IndexUnusable:
                if not attempts_left:  # a header can be half written at the moment it is read
                    raise
            except (OSError, *_UNWRITABLE) as error:
                if isinstance(error, apsw.Error) and not is_unwritable(error):
                    raise
                went = isinstance(error, FileNotFoundError) or self._identity != _identity(
                    self.path
                )
                if not attempts_left or not went:
                    return self._in_memory(error)
            time.sleep(OPEN_PAUSE_S)
        return self._in_memory(BlockingIOError(errno.EAGAIN, "it is replaced again and again"))

    def _open_file(self) -> apsw.Connection | None:
        """A connection to the file, made if need be; None where the file was replaced while it
        was opened.
        """
        self._identity = None
        if _identity(self.path) is None:
            with self._creation_lock():
                if _identity(self.path) is None:
                    self._create()
        self._identity = _identity(self.path)
        _check_owner(self.path)
        # without SQLITE_OPEN_CREATE: a file that just went would come back without an owner
        file = apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READWRITE)
        connection = (
            self._connect(file) if _identity(self.path) else file
        )  # nor is an emptied one filled in place
        if self._identity != _identity(self.path):
            connection.close()
            return None
        self._companions = _companions(self.path)
        return connection

    def _create(self) -> None:
        """Makes an empty index in a second file and renames it: other processes never open one
        without a schema.
        """
        new = self.path.with_name(f"{self.path.name}.new")
        _unlink(new, "", "-wal", "-shm")
        os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        self._connect(apsw.Connection(str(new))).close()
        _unlink(
            self.path, "-wal", "-shm"
        )  # a log left behind would be replayed into the new file
        new.replace(self.path)

    def _in_memory(self, error: Exception) -> apsw.Connection:
        memory = self._connect(_readable_copy(self.path) or apsw.Connection(":memory:"))
        self._memory_until = time.monotonic() + MEMORY_RETRY_S
        reason = (isinstance(error, OSError) and error.strerror) or error
        self.trouble = f"The index {self.path} cannot be written ({reason})"
        return memory

    def _connect(self, connection: apsw.Connection) -> apsw.Connection:
        try:
            connection.set_busy_timeout(BUSY_TIMEOUT_MS)
            is_new = not connection.execute("PRAGMA page_count").get
            for pragma in (*_NEW_FILE, *_PRAGMAS) if is_new else _PRAGMAS:
                connection.execute(
                    f"PRAGMA {pragma}"
                ).fetchall()  # unread, it keeps the next from running
            connection.enable_load_extension(True)
            connection.load_extension(_vec0_path())
            connection.enable_load_extension(False)
            self._create_or_replace_schema(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _create_or_replace_schema(self, connection: apsw.Connection) -> None:
        wanted = f"{SCHEMA_VERSION} {' '.join(self.tokenizer)}"
        if _schema_of(connection) == wanted:
            return
        with _transaction(connection):
            if _schema_of(connection) == wanted:  # another process was quicker
                return
            rescued, accesses = rescue.set_aside(connection), []
            with suppress(apsw.Error):
                accesses = connection.execute("SELECT id, count, at FROM access").fetchall()
            if connection.execute("PRAGMA user_version").get != 0:
                _drop_everything(connection)
            connection.execute(";".join(self._statements()))
            connection.execute("INSERT INTO meta VALUES ('schema', ?)", (wanted,))
            connection.execute(
                f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = "
                f"{SCHEMA_VERSION}"
            )
            connection.executemany("INSERT INTO access VALUES (?, ?, ?)", accesses)
            if rescued:
                rescue.create_vectors(connection, rescued["dimensions"])
                connection.executemany("INSERT INTO meta VALUES (?, ?)", rescued.items())

    def _statements(self) -> list[str]:
        """The statements that make the tables and their indexes, as SQLite keeps them."""
        tokenizer = " ".join(f"'{part}'" for part in self.tokenizer).replace("'", "''")
        script = re.sub(r"--.*|\s+", " ", SCHEMA.read_text(encoding="utf-8")).replace(
            "{tokenizer}", tokenizer
        )
        return [made for statement in script.split(";") if (made := statement.strip())]

    @contextmanager
    def _creation_lock(self) -> Iterator[None]:
        from filelock import FileLock

        with FileLock(
            self.path.with_name("index.lock"), timeout=BUSY_TIMEOUT_MS / 1000, mode=0o600
        ):
            yield


def versions() -> str:
    """SQLite's and sqlite-vec's versions."""
    return (
        f"SQLite {apsw.sqlite_lib_version()}, sqlite-vec "
        f"{importlib.metadata.version('sqlite-vec')}"
    )


_UNREADABLE = (
    "SELECT (SELECT count(*) FROM chunk WHERE vector > 0) - "
    f"(SELECT count(*) FROM chunk c {rescue.JOIN_VECTORS} WHERE c.vector > 0 AND "
    f"length(v.embedding) = ?)"
)


@contextmanager
def _transaction(db: apsw.Connection, begin: str = "BEGIN IMMEDIATE") -> Iterator[None]:
    """A transaction. Writers keep the default `begin`: a deferred one cannot write once another
    one has written.
    """
    db.execute(begin)
    try:
        yield
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _check_owner(path: Path) -> None:
    """Raises IndexUnusable for another program's database, which is not even opened: that could
    change it.
    """
    with path.open("rb") as file:
        header = file.read(100)
    if (
        header[:16] == b"SQLite format 3\0"
        and int.from_bytes(header[68:72], "big") != APPLICATION_ID
    ):
        raise IndexUnusable(
            f"{path} is a database of another program; it was left alone.",
            hint="Move it away, or set SYNAPTIC_HOME to another folder.",
        )


def _schema_of(db: apsw.Connection) -> object:
    if db.execute("PRAGMA user_version").get != SCHEMA_VERSION:
        return None
    return db.execute("SELECT value FROM meta WHERE key = 'schema'").get


def _drop_everything(db: apsw.Connection) -> None:
    virtual_first = (
        "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY sql NOT LIKE 'CREATE "
        "VIRTUAL%'"
    )
    db.execute("PRAGMA defer_foreign_keys = ON")
    for (name,) in db.execute(virtual_first).fetchall():
        if not str(name).startswith("sqlite_"):
            db.execute(f'DROP TABLE IF EXISTS "{name}"')


def _vec0_path() -> str:
    """The path of sqlite-vec's library; importing its Python module would pull numpy in."""
    spec = importlib.util.find_spec("sqlite_vec")
    if spec is None or not spec.submodule_search_locations:
        raise IndexUnusable(
            "The package sqlite-vec is not installed.", hint="Reinstall synaptic-journal."
        )
    return str(Path(spec.submodule_search_locations[0]) / "vec0")


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return (
        (status.st_dev, status.st_ino) if status.st_size else None
    )  # emptied is as good as gone


def _companions(path: Path) -> tuple[int, ...]:
    """The inodes of the log and the shared memory. They stay the same while a connection is
    open.
    """
    try:
        return tuple(os.stat(f"{path}{suffix}").st_ino for suffix in ("-wal", "-shm"))  # noqa: PTH116
    except OSError:
        return ()


def _readable_copy(path: Path) -> apsw.Connection | None:
    """A copy in memory of a file that cannot be written; None where no sound copy can be read."""
    for way in ("mode=ro", "immutable=1"):  # with its log; without, where that cannot be opened
        memory = apsw.Connection(":memory:")
        memory.execute(f"PRAGMA page_size = {PAGE_SIZE}")
        with (
            suppress(apsw.Error),
            closing(
                apsw.Connection(f"file:{quote(str(path))}?{way}", flags=_READ_ONLY)
            ) as file,
        ):
            with memory.backup("main", file, "main") as backup:
                backup.step(-1)
            if memory.execute("PRAGMA quick_check(1)").get == "ok":
                return memory
        memory.close()
    return None


_READ_ONLY = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI


def _unlink(path: Path, *suffixes: str) -> None:
    for suffix in suffixes:
        Path(f"{path}{suffix}").unlink(missing_ok=True)

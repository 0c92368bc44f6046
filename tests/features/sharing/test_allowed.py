"""Who may read some journals of a database sees nothing of the others, whatever is asked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
from homes import Clock, open_home
from postgres import Database, Server, pgbouncer
from psycopg import sql
from published import publish, readers, reading, tables_of
from trials import drawn

from synaptic import Filters, SynapticError, Workspace, find, get, recent, save, search
from synaptic.errors import IndexUnusable, NotFound
from synaptic.features.sharing.publisher import Publisher
from synaptic.index.lists import list_entry_times, list_folded_titles, map_paths_by_short_id
from synaptic.index.publishing import sample_ids
from synaptic.index.statistics import count_entries_by
from synaptic.language.words import fts5_expression
from synaptic.models import ORDERS, STRATEGIES
from synaptic.notes.marks import link_key
from synaptic.render import wire
from synaptic.verbs.brief import brief
from synaptic.verbs.day_lists import entries_of_days
from synaptic.verbs.linked import id_of_name, links, unresolved_links
from synaptic.verbs.newest import history, list_pinned
from synaptic.verbs.rules import list_waiting
from synaptic.verbs.to_do import due_tasks, list_due, tasks
from synaptic.workspace.sync import in_step

pytestmark = pytest.mark.fault(row=13)

JOURNALS = ("platform", "web", "secret")
MARK = "zanzibar"
"""A word that stands in each text, tag, title, name and path of the forbidden journal, alone."""
SUBSETS = ((), ("platform",), ("platform", "web"), ("*",), ("web,secret",))
WITH_JOURNAL = (
    *("chunk", "entry", "field", "file", "journal", "link", "name", "source", "state", "stem"),
    *("supersedes", "tag", "task", "token", "vector"),
)


def write(ws: Workspace, name: str, *, loud: bool = True) -> None:
    """A journal's entries. Those of `secret` say MARK, unless they are few and not `loud`."""
    clock = ws.clock
    assert isinstance(clock, Clock)
    word = {"platform": "redis", "web": "pump", "secret": MARK}[name]
    texts = [
        f"The {word} is slow today.\n\nThe {word} pool of the shared kestrel waits. [[{word} page]]",
        f"Chose {word} over memcached.\n\n- [ ] Try {word} 📅 2026-11-20",
        f"Anna likes {word}.\n\nstatus:: {word}\n\nEverybody knows the shared kestrel.",
    ]
    types = ("issue", "decision", "preference")
    last = ""
    for number, text in enumerate(texts * (3 if loud else 1)):
        clock.forward(minutes=1)
        receipt = save(
            ws,
            text.replace("today", f"today {number}").replace("likes", f"likes {number}"),
            type=types[number % 3],
            tags=[word, "shared"],
            project=f"{word} project" if number % 2 else None,
            files=[f"src/{word}.py"],
            by=f"{word} author",
            due="2026-11-20" if number % 3 == 0 else None,
            pin=number == 2,
            supersedes=[last] if number == 4 else (),
        )
        last = receipt.id
    page = ws.config.journal / f"{word} page.md"
    page.write_text(
        f"---\naliases: [{word} alias]\n---\n# {word} page\n\nThe shared kestrel.\n"
    )


@dataclass
class Shelf:
    """The three journals in one database, and who may read."""

    database: Database
    homes: dict[str, Path]
    reader: str
    ids: dict[str, list[str]]


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory, postgres: Server) -> Iterator[Shelf]:
    with postgres.database() as database:
        reader = readers(database)
        homes = {name: tmp_path_factory.mktemp(name) for name in JOURNALS}
        ids = {}
        for name, home in homes.items():
            with open_home(home) as ws:
                write(ws, name)
                publish(ws, database.address, name)
                ids[name] = in_step(ws, lambda _, ws=ws: sample_ids(ws.index))
        with psycopg.connect(database.superuser, autocommit=True) as db:
            db.execute("ANALYZE")
        yield Shelf(database, homes, reader, ids)


@pytest.fixture(scope="module")
def as_reader(shelf: Shelf) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(shelf.reader, autocommit=True) as db:
        yield db


# -- what the database itself shows


@pytest.mark.parametrize("allowed", ["", "platform", "web", "platform,web", "nothing", None])
@pytest.mark.parametrize("table", WITH_JOURNAL)
def test_a_table_shows_only_rows_of_allowed_journals(
    as_reader: psycopg.Connection[Any], table: str, allowed: str | None
) -> None:
    """`None`: nobody said what is allowed."""
    with as_reader.transaction():
        if allowed is not None:
            as_reader.execute("SELECT set_config('synaptic.journals', %s, true)", (allowed,))
        name = "name" if table == "journal" else "journal"
        query = sql.SQL("SELECT {}, t::text FROM synaptic.{} t").format(
            sql.Identifier(name), sql.Identifier(table)
        )
        rows = as_reader.execute(query).fetchall()
    known = {"platform", "web"} & set((allowed or "").split(","))
    assert {name for name, _ in rows} == known
    assert not any(MARK in row for _, row in rows)


def test_each_table_but_the_version_belongs_to_journals(shelf: Shelf) -> None:
    with psycopg.connect(shelf.database.superuser) as db:
        assert set(tables_of(db)) == {*WITH_JOURNAL, "version"}
        closed = db.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'synaptic'::regnamespace AND "
            "relkind IN ('r', 'p') AND NOT (relrowsecurity AND relforcerowsecurity)"
        ).fetchall()
    assert closed == [("version",)]


@pytest.mark.parametrize("allowed", ["", "platform", "platform,web", None])
def test_a_view_of_words_reads_nothing_of_a_forbidden_journal(
    shelf: Shelf, allowed: str | None
) -> None:
    """Not even for a function that tells what it is given, and says that it costs nothing."""
    told = []
    with psycopg.connect(shelf.reader) as db:
        db.add_notice_handler(lambda notice: told.append(notice.message_primary))
        db.execute("""
            CREATE FUNCTION pg_temp.tell(tsvector) RETURNS bool LANGUAGE plpgsql COST 0.0001
            AS $$ BEGIN RAISE NOTICE '%', $1; RETURN true; END $$""")
        if allowed is not None:
            db.execute("SELECT set_config('synaptic.journals', %s, true)", (allowed,))
        for name in ("platform", "secret"):
            query = sql.SQL("SELECT * FROM synaptic.{} WHERE pg_temp.tell(words)")
            found = db.execute(query.format(sql.Identifier(f"words_{name}"))).fetchall()
            assert bool(found) is bool(told) is (name in (allowed or "").split(","))
            told.clear()


def test_words_are_found_by_their_index(shelf: Shelf) -> None:
    with psycopg.connect(shelf.reader) as db:
        db.execute("SELECT set_config('synaptic.journals', 'platform,web', true)")
        db.execute("SET LOCAL enable_seqscan = off")
        plan = db.execute(
            "EXPLAIN SELECT rowid FROM synaptic.words_web WHERE words @@ 'kestrel'::tsquery"
        ).fetchall()
    assert any("chunk_web_words" in line for (line,) in plan)


QUERIES = {
    "its part": "SELECT * FROM synaptic.chunk_secret",
    "its part, counted": "SELECT count(*) FROM synaptic.chunk_secret",
    "the sequence": "SELECT last_value FROM synaptic.number",
    "the next number": "SELECT nextval('synaptic.number')",
    "statistics of all": "SELECT * FROM pg_statistic",
    "a function in the schema": "CREATE FUNCTION synaptic.f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "a table in the schema": "CREATE TABLE synaptic.t (n int)",
    "a view in the schema": "CREATE VIEW synaptic.v AS SELECT * FROM synaptic.entry",
    "a policy of its own": "CREATE POLICY mine ON synaptic.entry USING (true)",
    "another policy": "ALTER POLICY allowed ON synaptic.entry USING (true)",
    "no policy": "ALTER TABLE synaptic.entry DISABLE ROW LEVEL SECURITY",
    "no force": "ALTER TABLE synaptic.entry NO FORCE ROW LEVEL SECURITY",
    "security off": "SET row_security = off; SELECT count(*) FROM synaptic.entry",
    "the owner": "SET ROLE {owner}",
    "a superuser": "SET ROLE postgres",
    "passing by": "ALTER ROLE CURRENT_USER BYPASSRLS",
    "files of the server": "SELECT pg_read_file('PG_VERSION')",
    "a program": "COPY synaptic.version TO PROGRAM 'cat'",
    "an index": "CREATE INDEX ON synaptic.entry (title)",
    "a trigger": "CREATE TRIGGER t BEFORE INSERT ON synaptic.entry EXECUTE FUNCTION now()",
    **{
        f"{verb} {table}": words.format(table=table, column=column)
        for table, column in (
            *(("entry", "title"), ("chunk", "words"), ("journal", "name"), ("source", "bytes")),
            *(("stem", "doc"), ("version", "number"), ("state", "published")),
        )
        for verb, words in {
            "insert": "INSERT INTO synaptic.{table} DEFAULT VALUES",
            "update": "UPDATE synaptic.{table} SET {column} = {column}",
            "delete": "DELETE FROM synaptic.{table}",
            "truncate": "TRUNCATE synaptic.{table} CASCADE",
            "drop": "DROP TABLE synaptic.{table} CASCADE",
            "lock": "LOCK TABLE synaptic.{table} IN ACCESS EXCLUSIVE MODE",
        }.items()
    },
}


@pytest.mark.parametrize("what", QUERIES)
def test_the_reader_may_not(
    as_reader: psycopg.Connection[Any], shelf: Shelf, what: str
) -> None:
    query = QUERIES[what].format(owner=f"{shelf.database.name}_owner")
    with pytest.raises(psycopg.errors.InsufficientPrivilege), as_reader.transaction():
        as_reader.execute("SET LOCAL synaptic.journals = 'web'")
        as_reader.execute(query)


CATALOGS = (
    *(
        "pg_stats",
        "pg_stats_ext",
        "pg_stats_ext_exprs",
        "pg_stat_activity",
        "pg_prepared_statements",
    ),
    *("pg_cursors", "pg_description", "pg_constraint", "pg_policies", "pg_views", "pg_locks"),
)


@pytest.mark.parametrize("catalog", CATALOGS)
def test_a_catalog_shows_no_word_of_a_text(
    as_reader: psycopg.Connection[Any], catalog: str
) -> None:
    query = sql.SQL("SELECT t::text FROM {} t").format(sql.Identifier(catalog))
    rows = as_reader.execute(query).fetchall()
    assert not any(word in row for (row,) in rows for word in (MARK, "kestrel", "memcached"))


# -- what the verbs say


def told(ws: Workspace, question: Callable[[Workspace], Any]) -> str:
    """The answer in JSON, in which nothing is timed; of an error what it says."""
    try:
        answer = wire.as_json(question(ws))
    except SynapticError as error:
        answer = [error.code, error.message, error.valid, error.hint]
    return json.dumps(_untimed(answer), ensure_ascii=False, default=repr)


def _untimed(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            str(name): _untimed(each)
            for name, each in value.items()
            if name not in ("timings", "actual_ms", "costs", "ms")
        }
    return list(map(_untimed, value)) if isinstance(value, list) else value


def _searched(query: str, **options: Any) -> Callable[[Workspace], Any]:
    return lambda ws: wire.search_json(search(ws, query, explain=True, **options))


def _indexed(question: Callable[[Any], Any]) -> Callable[[Workspace], Any]:
    return lambda ws: in_step(ws, lambda _: question(ws.index))


def _rows(index: Any) -> list[int]:
    rows: list[int] = index.engine.column("SELECT rowid FROM entry ORDER BY own_id")
    return rows


QUESTIONS: dict[str, Callable[[Workspace], Any]] = {
    **{
        f"search {query}": _searched(query)
        for query in (
            *(MARK, f"{MARK} pool", "redis", "pump", "shared kestrel", "zanzibarr", "zanzi*"),
            *(
                "kestrell sharde",
                "memcached",
                f'"{MARK} pool"',
                f'"{MARK}" kestrel',
                "xyzzy kestrel",
            ),
            *(
                f"tag:{MARK}",
                "tag:shared kestrel",
                f"project:{MARK}-project",
                f"file:src/{MARK}.py",
            ),
            *(
                f"path:*{MARK}*",
                "path:@secret/ kestrel",
                f"status:{MARK}",
                f"-tag:{MARK} kestrel",
            ),
            *(
                f"-{MARK} kestrel",
                "source:@secret",
                "type:decision",
                "the newest decision",
                "today",
            ),
            *("open issues", "Anna", "how often did Anna", "", f"{MARK} redis pump nothing"),
        )
    },
    **{
        f"search by {strategy}": _searched(f"{MARK} kestrel pool", strategy=strategy)
        for strategy in STRATEGIES
    },
    **{f"search {order} first": _searched("kestrel", order=order) for order in ORDERS},
    **{
        f"find by {order}": (
            lambda ws, order=order: wire.listing_json(find(ws, order=order, facets=True))
        )
        for order in ORDERS
    },
    "find": lambda ws: wire.listing_json(find(ws, facets=True, limit=100)),
    "find all": lambda ws: wire.listing_json(
        find(ws, filters=Filters(include_superseded=True), limit=100)
    ),
    "find asked": lambda ws: wire.listing_json(find(ws, f"{MARK} kestrel", facets=True)),
    "find its tag": lambda ws: wire.listing_json(
        find(ws, filters=Filters(tags=(MARK,)), facets=True)
    ),
    "find what leads to it": lambda ws: wire.listing_json(
        find(ws, filters=Filters(links_to=f"{MARK} page"))
    ),
    "find its source": lambda ws: wire.listing_json(
        find(ws, filters=Filters(sources=("@secret",)))
    ),
    "recent": lambda ws: wire.listing_json(recent(ws, limit=100)),
    "recent asked": lambda ws: wire.listing_json(recent(ws, f"{MARK} kestrel")),
    "recent of a project": lambda ws: wire.listing_json(recent(ws, project=f"{MARK} project")),
    "pinned": lambda ws: wire.listing_json(list_pinned(ws)),
    "day": lambda ws: wire.days_json(entries_of_days(ws, "2026-11-21")),
    "week": lambda ws: wire.days_json(entries_of_days(ws, "2026-11-21", week=True)),
    "tasks": tasks,
    "due": list_due,
    "due tasks": due_tasks,
    "waiting": list_waiting,
    "broken links": unresolved_links,
    "links": lambda ws: links(ws, f"{MARK} page"),
    "id": lambda ws: id_of_name(ws, f"{MARK} alias"),
    "brief": lambda ws: brief(ws, None),
    "brief of its project": lambda ws: brief(ws, None, project=f"{MARK} project"),
    "brief since": lambda ws: brief(ws, None, "2026-11-01"),
    "counts": _indexed(lambda index: index.counts()),
    "vocabulary": _indexed(lambda index: [sorted(one) for one in index.vocabulary()]),
    "fields": _indexed(lambda index: sorted(index.field_names())),
    "ids": _indexed(lambda index: sorted(sample_ids(index))),
    "titles": _indexed(lambda index: [title for _, title, _ in list_folded_titles(index, str)]),
    "changes": _indexed(lambda index: [index.latest_change(), len(index.changed_since(0))]),
    "sample": _indexed(lambda index: [len(part) for part in index.sample_passages()]),
    "frequencies": _indexed(
        lambda index: index.document_counts([MARK, "kestrel", "redis", "zan*"])
    ),
    "stems": _indexed(
        lambda index: [index.stems_like(stem) for stem in ("zanzibar", "kestrel", "zanz")]
    ),
    "holds": _indexed(
        lambda index: [
            len(index.list_rows(Filters(all_words=(word,)), order="newest", limit=9))
            for word in (MARK, "kestrel")
        ]
    ),
    "chunks": _indexed(lambda index: len(index.chunks_with_stem("kestrel", limit=99))),
    "words": _indexed(
        lambda index: [
            one.score
            for one in index.lexical(
                [fts5_expression("kestrel"), fts5_expression(MARK)], None, limit=99
            )
        ]
    ),
    "standing": _indexed(lambda index: sorted(map_paths_by_short_id(index))),
    "moments": _indexed(lambda index: sorted(list_entry_times(index))),
    "paths": _indexed(lambda index: sorted(index.paths())),
    "named": _indexed(
        lambda index: len(
            index.entries_by_name_key([link_key(f"{MARK} page"), link_key("redis page")])
        )
    ),
    "counted": _indexed(
        lambda index: [
            count_entries_by(index, Filters(), by) for by in ("source", "author", "day")
        ]
    ),
    "calendar": _indexed(
        lambda index: index.days_around("2026-11-20", "2026-11-20", limit=9)[:2]
    ),
    "meta": _indexed(
        lambda index: [index.meta(key) for key in ("model", "dimensions", "usual")]
    ),
}


@pytest.mark.sweep
@pytest.mark.parametrize("allowed", SUBSETS, ids=str)
def test_no_answer_tells_of_a_forbidden_journal(shelf: Shelf, allowed: tuple[str, ...]) -> None:
    """Where a question says the forbidden word, the answer repeats it and tells no more."""
    known = {"platform", "web"} & set(allowed)
    with reading(shelf.reader, shelf.homes["web"], *allowed) as ws:
        ws = allowing(ws, allowed)
        for name, question in QUESTIONS.items():
            answer = told(ws, question)
            for id in shelf.ids["secret"]:
                assert id not in answer, name
            without_typed = re.sub(r'path:@secret/|"paths": "@secret/"', "", answer)
            for forbidden in {"@platform/", "@web/", "@secret/"} - {
                f"@{one}/" for one in known
            }:
                assert forbidden not in without_typed, name
            assert f"{MARK} author" not in answer and f"likes {MARK}" not in answer, name
            if name == "stems":
                assert MARK not in answer
        for id in shelf.ids["secret"]:
            for verb in (_got, history, links):
                assert "not-found" in told(ws, partial(_of, verb, id))


def _got(ws: Workspace, id: str) -> Any:
    return get(ws, [id])


def _of(verb: Callable[[Workspace, str], Any], id: str, ws: Workspace) -> Any:
    return verb(ws, id)


def test_who_may_read_all_sees_the_third_journal(shelf: Shelf) -> None:
    with reading(shelf.reader, shelf.homes["web"]) as ws:
        assert all(
            id in told(ws, partial(_of, verb, id))
            for id in shelf.ids["secret"][:1]
            for verb in (_got, history)
        )
        assert f"@secret/{MARK} page.md" in told(ws, QUESTIONS[f"search {MARK}"])


# -- a database with and one without the forbidden journal


@pytest.mark.sweep
def test_answers_are_the_same_bytes_whatever_a_forbidden_journal_says(
    shelf: Shelf, postgres: Server, tmp_path: Path
) -> None:
    """It replaces an entry of the allowed ones, shares words, tags and links with them, and was
    published first. A soak asks every question.
    """
    with ExitStack() as stack:
        databases = [stack.enter_context(postgres.database()) for _ in range(2)]
        addresses = [readers(database) for database in databases]
        other = stack.enter_context(open_home(tmp_path / "secret"))
        write(other, "secret")
        old = shelf.ids["web"][1]
        block = (
            f"## 09:00 decision: The shared kestrel {MARK} replaces it #shared #{MARK}\n"
            f"<!-- syn:20261122-zzzzzzzz at=2026-11-22T09:00:00+01:00 h2=0 supersedes={old} -->\n"
            f"\n[[pump page]] and [[redis page]]: xyzzy, kestrell, sharde, plugh.\n"
        )
        (other.config.journal / "2026-11-22.md").write_text(f"# 2026-11-22\n\n{block}")
        (other.config.journal / "pump page.md").write_text("# pump page\n\nAnother one.\n")
        publish(other, databases[1].address, "secret")
        for name in ("platform", "web"):
            with open_home(shelf.homes[name]) as ws:
                for database in databases:
                    publish(ws, database.address, name)
        for allowed in (("platform", "web"), ("web",)):
            first, second = (
                stack.enter_context(reading(address, shelf.homes["web"], *allowed))
                for address in addresses
            )
            first, second = allowing(first, allowed), allowing(second, allowed)
            questions = QUESTIONS if len(allowed) == 2 else REMEMBERED
            for name in drawn(f"told {allowed}", questions, 30 if len(allowed) == 2 else 4):
                question = QUESTIONS[name]
                assert told(first, question) == told(second, question), (allowed, name)
            for id in (old, *shelf.ids["platform"][:3]):
                for whole in (
                    lambda ws: wire.listing_json(get(ws, [id])),  # noqa: B023
                    lambda ws: links(ws, id),  # noqa: B023
                    lambda ws: wire.listing_json(history(ws, id)),  # noqa: B023
                    _indexed(lambda index: index.superseded_by([id])),  # noqa: B023
                ):
                    assert told(first, whole) == told(second, whole)
        everything = stack.enter_context(reading(addresses[1], shelf.homes["web"]))
        assert "20261122-zzzzzzzz" in told(
            everything, _indexed(lambda index: index.superseded_by([old]))
        )


# -- settings


def test_a_setting_ends_with_its_transaction(shelf: Shelf) -> None:
    with reading(shelf.reader, shelf.homes["web"], "platform") as ws:
        assert in_step(ws, lambda _: len(_rows(ws.index))) > 5
        engine: Any = ws.index.engine
        assert engine.column("SELECT rowid FROM entry") == []  # outside of what was allowed
        with engine.transaction(("web",)):
            inside = engine.column("SELECT DISTINCT journal FROM entry")
            with engine.transaction(("secret",)):  # one that nests allows no more
                assert engine.column("SELECT DISTINCT journal FROM entry") == inside == ["web"]
        with suppress(ZeroDivisionError), engine.transaction(("secret",)):
            raise ZeroDivisionError
        assert engine.column("SELECT DISTINCT journal FROM entry") == []
        with pytest.raises(IndexUnusable), engine.transaction(("secret",)):
            engine.rows("SELECT nonsense")
        assert engine.column("SELECT DISTINCT journal FROM entry") == []
        assert engine._db.execute(
            "SELECT current_setting('synaptic.journals', true)"
        ).fetchone() == ("",)


REMEMBERED = (
    *("search kestrell sharde", "search shared kestrel", "vocabulary", "fields", "titles"),
    *("frequencies", "stems", "sample", "search tag:shared kestrel"),
)


def test_what_is_remembered_of_one_asker_is_not_told_another(shelf: Shelf) -> None:
    """One reader's connection serves askers who may read different journals."""
    askers = (("platform",), ("web",), ("secret",), (), ("platform", "web"))
    alone = {}
    for allowed in askers:
        with reading(shelf.reader, shelf.homes["web"]) as fresh:
            alone[allowed] = _remembered(fresh, allowed)
    assert len({json.dumps(one) for one in alone.values()}) == len(askers)
    with reading(shelf.reader, shelf.homes["web"]) as ws:
        for allowed in (*askers, *reversed(askers)):
            assert _remembered(ws, allowed) == alone[allowed], allowed


def allowing(ws: Workspace, journals: tuple[str, ...]) -> Workspace:
    return replace(ws, access=ws.access.limit_to_journals(journals))


def _remembered(ws: Workspace, allowed: tuple[str, ...]) -> list[str]:
    return [told(allowing(ws, allowed), QUESTIONS[name]) for name in REMEMBERED]


def test_behind_a_pooler_each_transaction_has_its_own_setting(
    shelf: Shelf, postgres: Server
) -> None:
    """Several readers share one connection of the database."""
    role = psycopg.conninfo.conninfo_to_dict(shelf.reader)["user"]
    with pgbouncer(postgres) as address, ExitStack() as stack:
        pooled = address(shelf.database.name, str(role))
        subsets = [("platform",), ("web",), ("secret",), (), ("platform", "web")]
        workspaces = []
        for allowed in subsets:
            ws = stack.enter_context(reading(pooled, shelf.homes["web"], *allowed))
            workspaces.append(allowing(ws, allowed))
        backends = set()
        for _ in range(12):
            for allowed, ws in zip(subsets, workspaces, strict=True):

                def seen(_: object, ws: Workspace = ws) -> Any:
                    backends.add(ws.index.engine.value("SELECT pg_backend_pid()"))
                    return ws.index.engine.column(
                        "SELECT DISTINCT journal FROM entry ORDER BY 1"
                    )

                if allowed:
                    assert tuple(in_step(ws, seen)) == allowed
                else:
                    with pytest.raises(NotFound):
                        in_step(ws, seen)
                assert ws.index.engine.column("SELECT DISTINCT journal FROM entry") == []
        assert len(backends) < len(workspaces)
        expected = told(workspaces[0], QUESTIONS["search shared kestrel"])
        with reading(shelf.reader, shelf.homes["web"], "platform") as direct:
            assert told(direct, QUESTIONS["search shared kestrel"]) == expected


@pytest.mark.parametrize("who", ["owner", "superuser", "bypass", "member of the owner"])
def test_a_role_that_would_see_all_is_refused(shelf: Shelf, who: str) -> None:
    database = shelf.database
    address = {"owner": database.address, "superuser": database.superuser}.get(who)
    if who == "bypass":
        address = readers(database, "bypass")
        with database.server.connect() as db:
            role = sql.Identifier(database.roles[-1])
            db.execute(sql.SQL("ALTER ROLE {} BYPASSRLS").format(role))
    if address is None:
        address = readers(database, "member")
        with database.server.connect() as db:
            db.execute(
                sql.SQL("GRANT {} TO {}").format(
                    sql.Identifier(f"{database.name}_owner"), sql.Identifier(database.roles[-1])
                )
            )
    with reading(address, shelf.homes["web"], "platform") as ws:
        answer = told(ws, QUESTIONS["search redis"])
    assert "would see every journal" in answer and "synaptic_reader" in answer
    assert "redis pool" not in answer


def test_a_role_without_rights_is_told_the_next_step(shelf: Shelf) -> None:
    with reading(shelf.database.role("nobody"), shelf.homes["web"], "platform") as ws:
        assert "docs/TEAM.md" in told(ws, QUESTIONS["search redis"])


def test_a_journal_under_way_or_dropped_is_not_seen(shelf: Shelf, postgres: Server) -> None:
    with postgres.database() as database:
        reader = readers(database)
        with (
            open_home(shelf.homes["web"]) as ws,
            closing(Publisher(ws, database.address, "web")) as publisher,
            reading(reader, shelf.homes["web"]) as everything,
        ):
            publisher.start_publishing()
            assert "pump" not in told(everything, QUESTIONS["find"])
            publisher.publish_changes()
            assert "pump" in told(everything, QUESTIONS["find"])
            publisher.unpublish()
            assert "pump" not in told(everything, QUESTIONS["find"])

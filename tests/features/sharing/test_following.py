"""A publication that follows a journal equals one made anew, and holds nothing that left."""

from __future__ import annotations

import random
from contextlib import ExitStack, closing
from typing import Any

import psycopg
import pytest
from homes import Clock, open_home
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from postgres import Server
from psycopg import sql
from published import publish, tables_of
from trials import examples

from synaptic import Workspace, delete, save, update
from synaptic.errors import SynapticError
from synaptic.features.sharing.publisher import Publisher
from synaptic.index.publishing import sample_ids
from synaptic.workspace.sync import in_step

pytestmark = pytest.mark.fault(row=13)

WORDS = (
    "redis",
    "pump",
    "kestrel",
    "東京",
    "don't",
    "pre-commit",
    "back\\slash",
    "%_",
    "naïve",
)
STEPS = (
    *("save", "save", "save", "supersede", "edit", "delete", "move", "hide", "show", "twin"),
    *("type by hand", "remove", "follow", "follow", "secret", "preference"),
)


def step(ws: Workspace, name: str, chance: random.Random, number: int) -> str:
    """Changes the journal; returns a word that must not be published any more, or ""."""
    clock = ws.clock
    assert isinstance(clock, Clock)
    clock.forward(minutes=chance.randint(0, 2_000))
    folder = ws.config.journal
    files = sorted(folder.rglob("*.md"))
    ids = in_step(ws, lambda _: sorted(ws.index.titles(sample_ids(ws.index))))
    text = f"{' '.join(chance.choices(WORDS, k=5))} text{number}\n\nBody of {number} [[pump]]."
    if name in ("save", "preference") or not ids or not files:
        kind = (
            "preference"
            if name == "preference"
            else chance.choice(("note", "decision", "issue"))
        )
        save(
            ws,
            text,
            type=kind,
            tags=[f"t{number % 4}", "db/redis"],
            project=chance.choice((None, "Web")),
        )
    elif name == "supersede":
        save(ws, text, supersedes=[chance.choice(ids)])
    elif name == "edit":
        update(ws, chance.choice(ids), content=text)
    elif name == "delete":
        delete(ws, chance.choice(ids))
    elif name == "move":
        file = chance.choice(files)
        to = folder / f"moved {number}"
        to.mkdir()
        file.rename(to / file.name)
    elif name == "remove":
        chance.choice(files).unlink()
    elif name == "twin":
        file = chance.choice(files)
        (folder / f"{file.stem} (conflicted copy {number}).md").write_bytes(file.read_bytes())
    elif name in ("hide", "secret", "type by hand"):
        word = f"hidden{number}word"
        file = folder / f"typed {number}.md"
        marks = {"secret": f"password = ghp_{word}A1b2C3d4E5f6G7h8I9j0K1l2M3n4"}.get(name, word)
        file.write_text(f"# Typed {number} {word}\n\nIt says {marks} of the pump. #tag{word}\n")
        if name == "hide":
            return word
    elif name == "show":
        chance.choice(files).touch()
    return ""


def rows_of(db: psycopg.Connection[Any]) -> dict[str, list[str]]:
    """All rows, in which the numbers of rows are told by what they are numbers of."""
    left_out = [
        "rowid",
        "id",
        "entry",
        "chunk",
        "source",
        "published",
        "at",
        "seen",
        "counting",
        "change",
    ]
    found = {}
    for table in tables_of(db):
        columns = [
            name
            for (name,) in db.execute(
                "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0",
                (f"synaptic.{table}",),
            )
        ]
        joined = ""
        named = "''"
        if "entry" in columns or table == "entry":
            key = "rowid" if table == "entry" else "entry"
            joined = f"""LEFT JOIN synaptic.entry e ON e.rowid = t.{key}
                LEFT JOIN synaptic.source s ON s.id = e.source"""
            named = "s.path || ' ' || e.own_id || ' ' || coalesce(e.id, '-')"
        query = (
            f"SELECT {named}, (to_jsonb(t) - %s::text[])::text FROM synaptic.{table} t {joined}"
        )
        if table == "entry":
            query = query.replace("to_jsonb(t)", "(to_jsonb(t) - 'row_hash')")
        found[table] = sorted(map(repr, db.execute(query, (left_out,))))
    return found


def texts_of(db: psycopg.Connection[Any]) -> str:
    """The bytes of all rows, binary values as text as far as they are."""
    parts = []
    for table in tables_of(db):
        query = sql.SQL("SELECT t::text FROM synaptic.{} t").format(sql.Identifier(table))
        parts += [row for (row,) in db.execute(query)]
    sources = db.execute("SELECT bytes FROM synaptic.source").fetchall()
    parts += [bytes(data).decode("utf-8", "replace") for (data,) in sources]
    return "\n".join(parts)


@settings(
    max_examples=examples(200, 3),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    derandomize=True,
)
@given(
    names=st.lists(st.sampled_from(STEPS), min_size=6, max_size=14), seed=st.integers(0, 2**32)
)
@example(names=["save", "twin", "hide", "follow", *dict.fromkeys(STEPS)], seed=1)
def test_a_publication_that_follows_equals_one_made_anew(
    tmp_path_factory: pytest.TempPathFactory, postgres: Server, names: list[str], seed: int
) -> None:
    chance = random.Random(seed)
    home = tmp_path_factory.mktemp("home")
    hidden = []
    with ExitStack() as stack:
        followed, anew = (stack.enter_context(postgres.database()) for _ in range(2))
        ws = stack.enter_context(open_home(home))
        publisher = stack.enter_context(closing(Publisher(ws, followed.address, "platform")))
        publisher.start_publishing()
        for number, name in enumerate(names):
            if name == "follow":
                publisher.publish_changes()
                continue
            try:
                word = step(ws, name, chance, number)
            except SynapticError:
                continue  # such as an edit of a copy
            if word:
                publisher.publish_changes()
                hidden.append(word)
                file = ws.config.journal / f"typed {number}.md"
                lines = file.read_text() if file.exists() else ""
                file.write_text(
                    f"# Typed {number}\n\n<private>\n{lines}\n</private>\n\nShown.\n"
                )
        publisher.publish_changes()
        publisher.publish_changes()
        publish(ws, anew.address, "platform")
        with (
            psycopg.connect(followed.superuser) as first,
            psycopg.connect(anew.superuser) as second,
        ):
            told = texts_of(first)
            for word in hidden:
                assert word not in told
            assert "A1b2C3d4E5f6" not in told
            expected = rows_of(second)
            for table, rows in rows_of(first).items():
                assert rows == expected[table], table

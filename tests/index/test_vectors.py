"""The table of vectors answers as a comparison of all of them does, stays dense, and heals."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from functools import cache, partial
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest
import sqlite_vec
from homes import open_home
from hypothesis import given, settings
from hypothesis import strategies as st
from killed import moments, started, was_killed
from trials import examples

from synaptic import Workspace, delete, save, search
from synaptic.index.rows import quantise
from synaptic.index.sketch import Sketch
from synaptic.index.sqlite_engine import SqliteEngine
from synaptic.index.vectors import DEAD_OF, LARGE, SMALL, nearest_of, vector_checksum
from synaptic.workspace.sync import in_step, rebuild

pytestmark = pytest.mark.fault(row=6)

DIMENSIONS = 8


class Table:
    """A table of vectors in an index, and what it must hold."""

    def __init__(self, path: Path) -> None:
        self.engine = SqliteEngine(path)
        self.db = self.engine.db
        self.db.execute("PRAGMA foreign_keys = OFF").fetchall()
        self.vectors = self.engine.vectors
        self.vectors.create(DIMENSIONS, 0)
        self.engine.set_meta("dimensions", DIMENSIONS)
        self.expected: dict[int, bytes] = {}
        self.change = 0

    def put(self, rowid: int, vector: bytes) -> None:
        """As a writer stores the vector of a chunk that has another one or none."""
        self.change += 1
        crc = vector_checksum(vector)
        if rowid in self.expected:
            sql = "UPDATE chunk SET vector = ?, crc = ? WHERE rowid = ?"
            self.db.execute(sql, (self.change, crc, rowid))
        else:
            sql = "INSERT INTO chunk VALUES (?1, ?1, 0, 0, 0, 0, 0, ?2, ?3)"
            self.db.execute(sql, (rowid, self.change, crc))
        self.vectors.put(rowid, vector)
        self.expected[rowid] = vector

    def remove(self, rowid: int) -> None:
        self.db.execute("DELETE FROM chunk WHERE rowid = ?", (rowid,))
        del self.expected[rowid]

    def nearest(self, vector: bytes, limit: int, among: set[int] | None) -> list[int]:
        """By a comparison of all; of equals the later chunk first."""
        asked = np.frombuffer(vector, np.int8).astype(int)
        apart = []
        for rowid, stored in self.expected.items():
            if among is None or rowid in among:
                difference = np.frombuffer(stored, np.int8) - asked
                apart.append((int(difference @ difference), -rowid))
        return [-rowid for _, rowid in sorted(apart)[:limit]]

    def products(self, vector: bytes, rowids: Iterable[int]) -> list[int]:
        """The products of stored vectors with this one."""
        asked = np.frombuffer(vector, np.int8).astype(int)
        return [int(np.frombuffer(self.expected[rowid], np.int8) @ asked) for rowid in rowids]

    def agree(self, vector: bytes, limit: int, among: set[int] | None) -> None:
        if among is None:
            found = self.vectors.nearest(vector, limit)
        else:
            found = nearest_of(self.vectors.get_vectors(among), vector, limit)
        assert [rowid for rowid, _ in found] == self.nearest(vector, limit, among)


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    made = Table(tmp_path / "index.db")
    yield made
    made.engine.close()


few = st.lists(st.integers(-1, 1), min_size=DIMENSIONS, max_size=DIMENSIONS)
"""Vectors of which many are equal, and more are equally far from a third."""
vectors = few.map(lambda numbers: np.array(numbers, np.int8).tobytes())
changes = st.lists(
    st.tuples(st.integers(1, 60), st.one_of(st.none(), vectors), st.booleans()), max_size=120
)


@settings(max_examples=examples(2_000, 40), deadline=None)
@given(changes, vectors, st.integers(0, 70), st.one_of(st.none(), st.sets(st.integers(1, 70))))
def test_the_nearest_are_those_of_a_comparison_of_all(
    tmp_path_factory: pytest.TempPathFactory,
    changes: list[tuple[int, bytes | None, bool]],
    asked: bytes,
    limit: int,
    among: set[int] | None,
) -> None:
    table = Table(tmp_path_factory.mktemp("table") / "index.db")
    with closing(table.engine):
        for rowid, vector, tidies in changes:
            if vector is not None:
                table.put(rowid, vector)
            elif rowid in table.expected:
                table.remove(rowid)
            if tidies:
                table.vectors.rebuild_if_sparse()
        table.agree(asked, limit, among)
        scanned = table.vectors.scan_nearest(np.frombuffer(asked, np.int8), limit)
        largest = sorted(table.products(asked, table.expected), reverse=True)[:limit]
        assert table.products(asked, scanned) == largest
        assert len(set(scanned)) == len(scanned)
        assert dict(table.vectors.stored_since(0)) == table.expected
        assert table.vectors.get_vectors(range(1, 70)) == table.expected
        assert table.vectors.find_fault(DIMENSIONS) is None


@pytest.mark.parametrize("limit", [1, 4_095, 4_096, 4_097, 9_000])
def test_more_than_vec0_takes_goes_in_parts(table: Table, limit: int) -> None:
    chance = random.Random(1)
    with table.db:
        for rowid in range(1, 6_001):
            near = rowid % 3 == 0  # 2,000 equals, the nearest
            table.put(rowid, bytes(8) if near else chance.randbytes(8))
        table.vectors.rebuild_if_sparse()
    table.agree(bytes(8), limit, None)
    table.agree(bytes(8), limit, set(range(1, 9_000, 2)))


def test_rough_copies_follow_each_change(table: Table) -> None:
    chance = random.Random(3)
    sketch = Sketch(table.engine, DIMENSIONS, {})
    for rowid in range(1, 7):
        table.put(rowid, chance.randbytes(8))
    steps: list[tuple[list[int], list[int]]] = [
        # stored anew, removed
        ([], []),
        ([7, 8], []),
        ([], [3]),
        ([2], []),
        ([3, 9], [1, 9]),
        ([1], [2, 4]),
        ([], [5, 6, 7, 8, 1, 3]),
        ([1], []),
    ]
    for stored, removed in steps:
        for rowid in stored:
            table.put(rowid, chance.randbytes(8))
        for rowid in removed:
            table.remove(rowid)
        table.engine.set_meta("stored", table.change)
        asked = chance.randbytes(8)
        assert sorted(sketch.nearest_candidates(asked, 100, None)) == sorted(table.expected)
        for rowid, vector in table.expected.items():
            assert rowid in sketch.nearest_candidates(vector, 1, None)


def test_the_table_stays_dense(table: Table) -> None:
    chance = random.Random(2)
    made_anew = 0
    for rowid in range(1, 401):
        table.put(rowid, chance.randbytes(8))
    for _ in range(300):
        with table.db:
            for _ in range(8):
                rowid = chance.choice(list(table.expected))
                table.put(rowid, chance.randbytes(8))
            made_anew += table.vectors.rebuild_if_sparse()
        slots = SMALL * table.engine.value("SELECT count(*) FROM chunk_vec_chunks")
        assert DEAD_OF * (slots - 400 - SMALL) <= slots
    assert 5 < made_anew < 100
    assert table.vectors.find_fault(DIMENSIONS) is None


def test_chunks_of_the_table_grow_with_it(table: Table) -> None:
    sizes = []
    for rowid in range(1, 1_101):
        table.put(rowid, rowid.to_bytes(8, "big"))
        table.vectors.rebuild_if_sparse()
        sizes.append(table.vectors.shape()[1])
    assert sizes == [SMALL] * 1_000 + [LARGE] * 100


def test_what_is_no_number_is_refused() -> None:
    for wrong in (np.nan, np.inf, -np.inf):
        with pytest.raises(ValueError):
            quantise(np.array([0.1, wrong, 0.2], np.float32))


# -- damage


CHUNKS, ROWIDS, BLOBS = "chunk_vec_chunks", "chunk_vec_rowids", "chunk_vec_vector_chunks00"
DAMAGES = {
    "no row of a chunk": f"DELETE FROM {CHUNKS} WHERE chunk_id = 1",
    "no row of the last chunk": f"DELETE FROM {CHUNKS} WHERE chunk_id = 3",
    "no rows of chunks": f"DELETE FROM {CHUNKS}",
    "no row of a rowid": f"DELETE FROM {ROWIDS} WHERE rowid = 3",
    "no rows of rowids": f"DELETE FROM {ROWIDS}",
    "no row of vectors": f"DELETE FROM {BLOBS} WHERE _rowid_ = 1",
    "no row of the last vectors": f"DELETE FROM {BLOBS} WHERE _rowid_ = 3",
    "no rows of vectors": f"DELETE FROM {BLOBS}",
    "zeros for bits": f"UPDATE {CHUNKS} SET validity = zeroblob(length(validity))",
    "zeros for bits of one": f"UPDATE {CHUNKS} SET validity = zeroblob(2) WHERE chunk_id = 2",
    "zeros for rowids": f"UPDATE {CHUNKS} SET rowids = zeroblob(length(rowids))",
    "zeros for rowids of one": f"UPDATE {CHUNKS} SET rowids = zeroblob(128) WHERE chunk_id = 2",
    "zeros for vectors": f"UPDATE {BLOBS} SET vectors = zeroblob(length(vectors))",
    "zeros for vectors of one": f"UPDATE {BLOBS} SET vectors = zeroblob(512) WHERE _rowid_ = 2",
    "zeros for a few bytes": f"""UPDATE {BLOBS} SET vectors = CAST(substr(vectors, 1, 64)
        || zeroblob(8) || substr(vectors, 73) AS BLOB)""",
    "bits cut": f"UPDATE {CHUNKS} SET validity = x'ff'",
    "rowids cut": f"UPDATE {CHUNKS} SET rowids = x'ff'",
    "vectors cut": f"UPDATE {BLOBS} SET vectors = x'ff'",
    "bits are a number": f"UPDATE {CHUNKS} SET validity = 5",
    "rowids are a text": f"UPDATE {CHUNKS} SET rowids = 'abc'",
    "vectors are a number": f"UPDATE {BLOBS} SET vectors = 5",
    "places are nothing": f"UPDATE {ROWIDS} SET chunk_id = NULL, chunk_offset = NULL",
    "places too far": f"UPDATE {ROWIDS} SET chunk_offset = 100000",
    "places before the first": f"UPDATE {ROWIDS} SET chunk_offset = -5",
    "places exchanged": f"UPDATE {ROWIDS} SET chunk_offset = 1 - chunk_offset WHERE rowid < 3",
    "chunks that are not there": f"UPDATE {ROWIDS} SET chunk_id = 9999",
    "no table of chunks": f"DROP TABLE {CHUNKS}",
    "no table of rowids": f"DROP TABLE {ROWIDS}",
    "no table of vectors": f"DROP TABLE {BLOBS}",
    "no table of facts": "DROP TABLE chunk_vec_info",
    "no table at all": "DROP TABLE chunk_vec",
    "a column of chunks renamed": f"ALTER TABLE {CHUNKS} RENAME COLUMN validity TO x",
    "a column of rowids renamed": f"ALTER TABLE {ROWIDS} RENAME COLUMN chunk_id TO x",
    "a column of vectors renamed": f"ALTER TABLE {BLOBS} RENAME COLUMN vectors TO x",
    "another length": "DROP TABLE chunk_vec; CREATE VIRTUAL TABLE chunk_vec USING vec0 "
    "(embedding int8[16], chunk_size=16)",
}


def ask(ws: Workspace) -> Any:
    return [
        [
            (hit.entry.title, round(hit.score, 6))
            for hit in search(ws, query, embed_ms=9_999).hits
        ]
        for query in ("entry", "the seventh entry")
    ]


def edit(ws: Workspace) -> None:
    path = ws.config.journal / "2026-11-21.md"
    path.write_bytes(path.read_bytes().replace(b"entry 3", b"entry thirty-three"))


NEXT: dict[str, Callable[[Workspace], object]] = {
    "a search": lambda ws: None,
    "an edit": edit,
    "a save": lambda ws: save(ws, "entry 41"),
    "a deletion": lambda ws: delete(
        ws, search(ws, "entry 5", strategy="lexical").hits[0].entry.id
    ),
    "a rebuild": rebuild,
}


def filled(home: Path) -> Workspace:
    ws = open_home(home)
    home.joinpath("journal").mkdir(exist_ok=True, parents=True)
    text = "\n".join(f"## 09:{n:02d} entry {n}\n\nBody of {n}.\n" for n in range(40))
    (ws.config.journal / "2026-11-21.md").write_text(text, encoding="utf-8")
    ask(ws)
    return ws


OTHERS = [then for then in NEXT if then != "a search"]
MEETINGS = [(what, "a search") for what in DAMAGES]
MEETINGS += [(what, OTHERS[number % len(OTHERS)]) for number, what in enumerate(DAMAGES)]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with 40 entries and their vectors."""
    home = tmp_path_factory.mktemp("sound") / "home"
    with filled(home) as ws:
        assert ws.index.file.check() is None
    return home


@pytest.fixture(scope="module")
def right(sound: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Any]:
    """By the name of a change of `NEXT`, what an index made of nothing answers after it."""

    @cache
    def answers(then: str) -> Any:
        home = shutil.copytree(sound, tmp_path_factory.mktemp("right") / "home")
        with open_home(home) as ws:
            NEXT[then](ws)
            rebuild(ws, fresh=True)
            return ask(ws)

    return answers


@pytest.mark.sweep("what")
@pytest.mark.parametrize(("what", "then"), MEETINGS)
def test_a_damaged_shadow_table_heals(
    tmp_path: Path, sound: Path, right: Callable[[str], Any], what: str, then: str
) -> None:
    expected = right(then)
    with open_home(shutil.copytree(sound, tmp_path / "home")) as ws:
        ask(ws)
        with closing(apsw.Connection(str(ws.index.file.path))) as other:
            other.enable_load_extension(True)
            other.load_extension(sqlite_vec.loadable_path())
            other.execute(DAMAGES[what]).fetchall()
        NEXT[then](ws)
        assert ask(ws) == expected
        assert ws.index.file.check(whole=True) is None


def test_zeroed_bytes_in_the_file_heal(tmp_path: Path) -> None:
    """SQLite has no checksum of its pages: its quick check finds them sound."""
    with filled(tmp_path / "home") as ws:
        right = ask(ws)
        path = ws.index.file.path
        [[vector]] = ws.index.file.rows("SELECT embedding FROM meaning LIMIT 1")
    data = path.read_bytes()
    assert data.count(vector[4:28]) == 1
    path.write_bytes(data.replace(vector[4:28], bytes(24)))
    with closing(apsw.Connection(str(path))) as db:
        assert db.execute("PRAGMA quick_check").get == "ok"
    with open_home(tmp_path / "home") as ws:
        assert ws.index.file.check() is not None
        assert ask(ws) == right
        assert ws.index.file.check() is None


def test_a_kill_while_the_table_is_made_anew_leaves_the_old_state(tmp_path: Path) -> None:
    with filled(tmp_path / "home") as ws:
        (ws.config.journal / "2026-11-20.md").write_text(
            "\n".join(f"## 09:{n:02d} older {n}\n\nText of {n}.\n" for n in range(50))
        )
        ask(ws)
        ws.index.compact()
        image = ws.index.file.path.read_bytes()
        (ws.config.journal / "2026-11-20.md").unlink()
        path = ws.index.file.path

    def sync() -> None:
        with open_home(tmp_path / "home") as ws:
            in_step(ws, lambda _: None)

    outcomes = set()
    for moment in moments():
        for suffix in ("-wal", "-shm"):
            Path(f"{path}{suffix}").unlink(missing_ok=True)
        path.write_bytes(image)
        is_early = was_killed(started(sync, killed_at=moment))
        with closing(SqliteEngine(path)) as engine:
            assert engine.check(whole=True) is None
            number = engine.value("SELECT count(*) FROM chunk_vec_rowids")
            slots = SMALL * engine.value("SELECT count(*) FROM chunk_vec_chunks")
            outcomes.add((number, slots))
        if not is_early:
            break
    assert outcomes == {(90, 96), (40, 48)}


def test_two_writers_share_the_table(tmp_path: Path) -> None:
    def write(number: int) -> None:
        with open_home(tmp_path / "home") as ws:
            path = ws.config.journal / f"2026-11-1{number}.md"
            for turn in range(12):
                lines = [f"## 09:{n:02d} of {number} {turn} {n}\n\nText.\n" for n in range(20)]
                path.write_text("\n".join(lines), encoding="utf-8")
                search(ws, "text", embed_ms=9_999)

    with filled(tmp_path / "home"):
        pass
    writers = [started(partial(write, number)) for number in range(2)]
    assert [was_killed(writer) for writer in writers] == [False, False]
    with open_home(tmp_path / "home") as ws:
        found = ask(ws)
        assert ws.index.file.check(whole=True) is None
        assert ws.index.counts().chunks == 80
        slots = SMALL * ws.index.file.value("SELECT count(*) FROM chunk_vec_chunks")
        assert slots <= 112
        rebuild(ws, fresh=True)
        assert ask(ws) == found


def test_a_large_journal_is_asked_by_the_sketch(tmp_path: Path, monkeypatch: Any) -> None:
    """Both ways find the same where the sketch names enough candidates."""
    from synaptic.index import sqlite_engine as candidates

    with filled(tmp_path / "home") as ws:
        asked = ws.embedder.embed_query("the seventh entry").vector
        exact = in_step(ws, lambda _: ws.index.semantic(asked, None, limit=7))
        monkeypatch.setattr(candidates, "EXACT", 0)
        assert in_step(ws, lambda _: ws.index.semantic(asked, None, limit=7)) == exact

"""The index may be taken away, emptied or broken at any moment; the next search is right."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest
from embedders import HashingEmbedder
from homes import open_home

from synaptic import Workspace, delete, rebuild, recent, save, search
from synaptic.errors import IndexFailed
from synaptic.index.database import Database
from synaptic.workspace.sync import in_step


def remove(path: Path) -> None:
    path.unlink()


def remove_all(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)


def empty(path: Path) -> None:
    os.truncate(path, 0)


def garbage(path: Path) -> None:
    remove_all(path)
    path.write_bytes(os.urandom(20_000))


def cut(path: Path) -> None:
    data = path.read_bytes()
    remove_all(path)
    path.write_bytes(data[: len(data) // 2 // 2048 * 2048])


def other_schema(path: Path) -> None:
    remove_all(path)
    db = apsw.Connection(str(path))
    db.execute(
        "PRAGMA application_id = 0x53594E41; PRAGMA user_version = 999; CREATE TABLE entry (x)"
    )
    db.close()


def test_a_rebuild_takes_vectors_over_and_fresh_does_not(ws: Workspace) -> None:
    for number in range(5):
        save(ws, f"entry {number}")
    rebuild(ws)
    again = rebuild(ws)
    assert (again.entries, again.embedded, again.reused) == (5, 0, 5)
    assert rebuild(ws, fresh=True).embedded == 5


def test_another_model_embeds_anew(tmp_path: Path) -> None:
    with open_home(tmp_path) as ws:
        save(ws, "something to find")
    with open_home(tmp_path, embedder=HashingEmbedder("another")) as ws:
        assert search(ws, "something", embed_ms=500).mode == "hybrid"
        assert ws.index.meta("model") == "another"


def test_stemming_can_be_switched(tmp_path: Path) -> None:
    with open_home(tmp_path) as ws:
        save(ws, "The runners were running")
        assert search(ws, "run", strategy="lexical").total == 1
    with open_home(tmp_path, search={"stemming": False}) as ws:
        assert search(ws, "run", strategy="lexical").total == 0
        assert search(ws, "running", strategy="lexical").total == 1


def test_an_edit_of_the_same_size_and_time_is_found(ws: Workspace) -> None:
    save(ws, "the old word")
    [path] = ws.config.journal.glob("*.md")
    status = path.stat()
    path.write_bytes(path.read_bytes().replace(b"old", b"new"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert [entry.title for entry in recent(ws).entries] == ["the new word"]


def test_a_purged_word_is_nowhere(ws: Workspace) -> None:
    doomed = save(ws, "The code word is xylophonically strange", tags=["zymurgical"])
    for number in range(30):
        save(ws, f"harmless entry {number}")
    search(ws, "xylophonically")
    delete(ws, doomed.id, purge=True)
    kept = [path for path in ws.config.home.rglob("*") if path.is_file()]
    assert ws.index.file.path in kept
    for path in kept:
        data = path.read_bytes().lower()
        assert (
            b"xylophon" not in data and b"zymurg" not in data and doomed.id.encode() not in data
        ), path


UNSOUND = {
    "a table is gone": "DROP TABLE token",
    "an index is gone": "DROP INDEX tag_name",
    "a column has another name": "ALTER TABLE tag RENAME COLUMN name TO label",
    "a passage without words": "DELETE FROM chunk_fts WHERE rowid = 1",
    "a passage without entry": "PRAGMA foreign_keys = OFF; DELETE FROM entry WHERE rowid = 2",
    "a vector without passage": "INSERT INTO chunk_vec (rowid, embedding) "
    "VALUES (99, vec_int8(zeroblob(32)))",
    "a passage without vector": "DELETE FROM chunk_vec WHERE rowid = 1",
    "a trigger is gone": "DROP TRIGGER chunk_deleted",
    "vectors of another length": "UPDATE meta SET value = 31 WHERE key = 'dimensions'",
}


@pytest.mark.parametrize("what", UNSOUND)
def test_an_index_is_sound_until_a_part_of_it_is_not(ws: Workspace, what: str) -> None:
    for number in range(5):
        save(ws, f"entry {number}", tags=[f"t{number}"])
    search(ws, "entry")
    assert ws.index.file.check(whole=True) is None
    ws.index.file.db.execute(UNSOUND[what]).fetchall()
    assert ws.index.file.check(whole=True) is not None


def test_a_broken_table_of_vectors_still_heals(ws: Workspace) -> None:
    """What SQLite says of it sounds like a question that it does not understand."""
    for number in range(5):
        save(ws, f"entry {number}")
    search(ws, "entry", embed_ms=500)
    ws.index.file.db.execute("ALTER TABLE chunk_vec_rowids RENAME COLUMN chunk_id TO id2")
    save(ws, "entry 5")
    path = ws.config.journal / "2026-11-21.md"
    path.write_bytes(path.read_bytes().replace(b"entry 3", b"entry seven"))
    assert search(ws, "seven", embed_ms=500).total >= 1
    assert ws.index.file.check(whole=True) is None


def test_those_who_open_an_index_that_others_take_away_never_meet_a_stranger(
    tmp_path: Path,
) -> None:
    """A file that comes back by being opened would have no owner, and nobody would touch it
    again.
    """

    def open_and_take_away(number: int) -> str:
        index = Database(tmp_path / "index.db")
        index.db.execute("SELECT count(*) FROM entry").fetchall()
        if number % 3 == 0:
            index.heal(IndexFailed("taken away", "reset"))
        time.sleep(0.005)  # what it wrote is still in the log
        trouble = index.trouble
        index.close()
        return trouble

    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(open_and_take_away, range(300))) == {""}


def test_an_index_that_breaks_again_while_it_is_made_anew_refuses_no_deletion(
    ws: Workspace,
) -> None:
    ids = [save(ws, text).id for text in ("The first one.", "The second one.")]
    path, broken = ws.index.file.path, 0

    def found(_: object) -> int:
        nonlocal broken
        if broken < 2:
            broken += 1
            _overwrite(path)
            list(ws.index.file.db.execute("PRAGMA cache_size = 1"))
            ws.index.file.rows("SELECT * FROM entry, chunk, file, chunk_fts_data")
        return ws.index.counts().entries

    assert in_step(ws, found) == 2 and broken == 2
    _overwrite(path)
    assert delete(ws, ids[0]).id == ids[0]
    assert [entry.id for entry in recent(ws).entries] == ids[1:]


def _overwrite(path: Path) -> None:
    """Writes over each page of the file and its log, as a failing disk does."""
    for name in (str(path), f"{path}-wal"):
        with open(name, "r+b") as file:  # noqa: PTH123
            file.write(os.urandom(os.fstat(file.fileno()).st_size))

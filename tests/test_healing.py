"""The index may be taken away, emptied or broken at any moment; the next search is right."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
from embedders import HashingEmbedder
from homes import open_home

from synaptic import Workspace, delete, rebuild, recent, save, search
from synaptic.index.database import Database


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
    db.execute("PRAGMA application_id = 0x53594E41; PRAGMA user_version = 999; CREATE TABLE entry (x)")
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
    assert ws.index.path in kept
    for path in kept:
        data = path.read_bytes().lower()
        assert b"xylophon" not in data and b"zymurg" not in data and doomed.id.encode() not in data, path


def test_those_who_open_an_index_that_others_take_away_never_meet_a_stranger(tmp_path: Path) -> None:
    """A file that comes back by being opened would have no owner, and nobody would touch it again."""

    def open_and_take_away(number: int) -> str:
        index = Database(tmp_path / "index.db")
        index.value("SELECT count(*) FROM entry")
        if number % 3 == 0:
            index.reset()
        time.sleep(0.005)  # what it wrote is still in the log
        trouble = index.trouble
        index.close()
        return trouble

    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(open_and_take_away, range(300))) == {""}

"""The index may be taken away, emptied or broken at any moment; the next search is right."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from embedders import HashingEmbedder
from homes import Clock, open_home

from synaptic import Workspace, delete, rebuild, recent, save, search
from synaptic.errors import IndexUnusable, JournalError


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


@pytest.mark.parametrize("damage", [remove, remove_all, empty, garbage, cut, other_schema])
@pytest.mark.parametrize("is_open", [True, False])
def test_the_next_search_is_right(ws: Workspace, damage: Callable[[Path], None], is_open: bool) -> None:
    for number in range(40):
        save(ws, f"harbour report {number}")
    before = {path: path.read_bytes() for path in ws.config.journal.rglob("*.md")}
    ws.index.compact()
    if not is_open:
        ws.close()
    damage(ws.index.path)
    result = search(ws, "harbour", limit=100)
    assert result.total == 40
    save(ws, "one more harbour")
    assert search(ws, "harbour", limit=100).total == 41
    assert ws.index.check() is None and ws.index.orphans() == 0
    assert all(path.read_bytes().startswith(data) for path, data in before.items())


def test_a_strangers_database_is_left_alone(ws: Workspace) -> None:
    save(ws, "something")
    ws.close()
    remove_all(ws.index.path)
    stranger = apsw.Connection(str(ws.index.path))
    stranger.execute("CREATE TABLE mine (x); INSERT INTO mine VALUES (1)")
    stranger.close()
    before = ws.index.path.read_bytes()
    with pytest.raises(IndexUnusable, match="another program"):
        search(ws, "something")
    assert "not indexed yet" in save(ws, "safe all the same").notices[0]
    assert ws.index.path.read_bytes() == before
    assert "safe all the same" in next(ws.config.journal.glob("*.md")).read_text()


def test_a_rebuild_takes_vectors_over_and_fresh_does_not(ws: Workspace) -> None:
    for number in range(5):
        save(ws, f"entry {number}")
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


def test_a_missing_journal_keeps_the_index(tmp_path: Path, clock: Clock) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    with open_home(tmp_path / "home", journal=vault, clock=clock) as ws:
        save(ws, "on the disk")
        vault.rename(tmp_path / "unmounted")
        with pytest.raises(JournalError):
            search(ws, "disk")
        (tmp_path / "unmounted").rename(vault)
        assert search(ws, "disk").total == 1


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

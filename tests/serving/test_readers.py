"""A server's readers beside its one writer: what they see, and what they never do."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path

import apsw
import httpx
import pytest
from embedders import HashingEmbedder
from homes import open_home
from looks import COUNT_FOR_EVER, count_for_ever, fail, process_of, refuse
from outside import TIMEOUT_S, wait_until
from served import served

from synaptic.errors import NotFound, SynapticError
from synaptic.search.search import search
from synaptic.serving.worker import Worker
from synaptic.verbs.browse import get
from synaptic.verbs.newest import recent
from synaptic.verbs.saving import save
from synaptic.workspace.embed import try_process_lock
from synaptic.workspace.sync import in_step
from synaptic.workspace.workspace import Workspace


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[Worker]:
    worker = Worker(tmp_path / "home", HashingEmbedder())
    worker.submit(lambda ws: save(ws, "The first entry.")).result(TIMEOUT_S)
    yield worker
    worker.close(5)


def thread_of(ws: Workspace) -> str:
    return threading.current_thread().name


def test_each_of_eight_readers_sees_the_save_and_the_edit_before_its_search(
    tmp_path: Path,
) -> None:
    worker = Worker(tmp_path / "home", HashingEmbedder(), readers=8)
    worker.submit(partial(save, content="The first entry.")).result(TIMEOUT_S)
    together = threading.Barrier(8)

    def found(ws: Workspace, word: str) -> tuple[int, list[str]]:
        together.wait(TIMEOUT_S)  # so that each search has a reader of its own
        hits = search(ws, word, strategy="lexical").hits
        return threading.get_ident(), [hit.entry.title for hit in hits]

    def client(number: int) -> set[int]:
        readers = set()
        for turn in range(3):
            word = f"saved{number}x{turn}"
            worker.submit(partial(save, content=f"A {word}.", force=True)).result(TIMEOUT_S)
            reader, titles = worker.submit(partial(found, word=word), "read").result(TIMEOUT_S)
            assert titles == [f"A {word}."]
            readers.add(reader)
            typed = f"typed{number}x{turn}"
            note = tmp_path / "home" / "journal" / f"2026-01-0{number + 1}.md"
            with note.open("a") as file:
                file.write(f"## 1{turn}:00 Somebody {typed}.\n")
            reader, titles = worker.submit(partial(found, word=typed), "read").result(TIMEOUT_S)
            assert titles == [f"Somebody {typed}."]
            readers.add(reader)
        return readers

    with ThreadPoolExecutor(8) as clients:
        readers = set().union(*clients.map(client, range(8)))
    assert len(readers) == 8
    worker.close(5)


def test_a_reader_cannot_write_and_the_writer_does_its_work_once(worker: Worker) -> None:
    threads = []

    def delete(ws: Workspace) -> None:
        ws.index.file.db.execute("DELETE FROM entry")

    def tried(ws: Workspace) -> str:
        threads.append(thread_of(ws))
        if len(threads) == 1:
            with pytest.raises(apsw.ReadOnlyError):
                delete(ws)
        return save(ws, "Saved by the writer.", force=True).id

    id = worker.submit(tried, "read").result(TIMEOUT_S)
    assert threads == ["synaptic-read", "synaptic-worker"]
    listed = worker.submit(lambda ws: (thread_of(ws), recent(ws)), "read").result(TIMEOUT_S)
    assert listed[0] == "synaptic-read"
    assert [entry.title for entry in listed[1].entries] == [
        "Saved by the writer.",
        "The first entry.",
    ]
    assert listed[1].entries[0].id == id


def test_what_readers_count_is_written_by_the_writer(worker: Worker, tmp_path: Path) -> None:
    id = worker.submit(lambda ws: recent(ws).entries[0].id, "read").result(TIMEOUT_S)
    for _ in range(3):
        worker.submit(lambda ws: get(ws, [id]), "read").result(TIMEOUT_S)
    worker.close(TIMEOUT_S)
    with open_home(tmp_path / "home") as ws:
        assert in_step(ws, lambda _: ws.index.file.rows("SELECT id, count FROM access")) == [
            (id, 3)
        ]


def test_an_index_that_is_deleted_or_broken_under_a_reader_is_made_anew(
    worker: Worker, tmp_path: Path
) -> None:
    index = tmp_path / "home" / ".state" / "index.db"

    def titles(ws: Workspace) -> list[str]:
        return [hit.entry.title for hit in search(ws, "first", strategy="lexical").hits]

    assert worker.submit(titles, "read").result(TIMEOUT_S) == ["The first entry."]
    for suffix in ("", "-wal", "-shm"):
        Path(f"{index}{suffix}").unlink()
    assert worker.submit(titles, "read").result(TIMEOUT_S) == ["The first entry."]
    assert worker.submit(lambda ws: titles(ws) and thread_of(ws), "read").result(TIMEOUT_S) == (
        "synaptic-read"
    )
    worker.submit(lambda ws: ws.index.file.db.execute("DELETE FROM chunk_fts_data")).result(
        TIMEOUT_S
    )
    assert worker.submit(titles, "read").result(TIMEOUT_S) == ["The first entry."]


def test_what_could_not_be_embedded_beside_another_process_is_embedded_later(
    worker: Worker, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    with try_process_lock(home / ".state" / "embed.lock", TIMEOUT_S) as is_alone:
        assert is_alone
        worker.submit(lambda ws: save(ws, "Saved while another process embeds.")).result()
        wait_until(lambda: worker._embed_again_s > 1)  # it tried more than once
    with open_home(home) as other:
        wait_until(lambda: not other.index.pending(1))  # and nobody asks the worker again


def test_a_long_look_stops_nobody_and_ends_with_its_client(worker: Worker) -> None:
    begun = threading.Event()

    def review(ws: Workspace) -> object:
        begun.set()
        return in_step(ws, lambda _: ws.index.file.value(COUNT_FOR_EVER))

    async def clients() -> None:
        look = asyncio.create_task(worker.ask(review, "slow"))
        assert await asyncio.to_thread(begun.wait, 20)
        await worker.ask(lambda ws: save(ws, "Saved meanwhile."))
        found = await worker.ask(lambda ws: search(ws, "meanwhile"), "read")
        assert [hit.entry.title for hit in found.hits] == ["Saved meanwhile."]
        assert not look.done()
        look.cancel()
        with suppress(asyncio.CancelledError):
            await look
        # the same thread answers again, and shows what was saved since
        again = await asyncio.wait_for(worker.ask(lambda ws: recent(ws), "slow"), 20)
        assert again.total == 2

    asyncio.run(clients())


def is_alive(process: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(process, 0)
        return True
    return False


def ends(process: int) -> bool:
    until = time.monotonic() + TIMEOUT_S
    while is_alive(process) and time.monotonic() < until:
        time.sleep(0.01)
    return not is_alive(process)


def test_a_long_look_has_a_process_that_sees_what_readers_see(
    worker: Worker, tmp_path: Path
) -> None:
    process, entries = worker.submit(process_of, "process").result(TIMEOUT_S)
    assert (process != os.getpid(), entries) == (True, 1)
    worker.submit(partial(save, content="Saved.", force=True)).result(TIMEOUT_S)
    assert worker.submit(process_of, "process").result(TIMEOUT_S) == (process, 2)
    note = tmp_path / "home" / "journal" / "2026-01-01.md"
    note.write_text("## 10:00 Typed.\n")
    assert worker.submit(process_of, "process").result(TIMEOUT_S) == (process, 3)
    # what it may not do is done by the writer, and its errors keep their words
    id = (
        worker.submit(partial(save, content="By the writer.", force=True), "process")
        .result(TIMEOUT_S)
        .id
    )
    assert worker.submit(partial(get, ids=[id]), "read").result(TIMEOUT_S).entries[0].id == id
    with pytest.raises(NotFound) as refused:
        worker.submit(refuse, "process").result(TIMEOUT_S)
    assert str(refused.value) == "There is no pump. Valid: valve. Ask the plumber."
    with pytest.raises(SynapticError, match="ZeroDivisionError"):
        worker.submit(fail, "process").result(TIMEOUT_S)
    assert worker.submit(process_of, "process").result(TIMEOUT_S) == (process, 4)
    worker.close(TIMEOUT_S)
    assert ends(process)


def test_a_process_ends_with_its_client_and_another_goes_on(
    worker: Worker, tmp_path: Path
) -> None:
    begun = tmp_path / "begun"
    process, _ = worker.submit(process_of, "process").result(TIMEOUT_S)

    async def client() -> None:
        look = asyncio.create_task(worker.ask(count_for_ever, "slow"))
        far = asyncio.create_task(worker.ask(partial(count_for_ever, begun=begun), "process"))
        while not begun.exists():
            await asyncio.sleep(0.01)
        found = await worker.ask(partial(search, query="first"), "read")
        assert found.hits and not far.done() and is_alive(process)
        far.cancel()
        look.cancel()
        with suppress(asyncio.CancelledError):
            await far

    asyncio.run(client())
    assert ends(process)
    another, _ = worker.submit(process_of, "process").result(TIMEOUT_S)
    waiting = worker.submit(count_for_ever, "process")
    while not waiting.running():
        time.sleep(0.001)
    os.kill(another, signal.SIGKILL)
    with pytest.raises(SynapticError, match="was killed"):
        waiting.result(TIMEOUT_S)
    assert worker.submit(process_of, "process").result(TIMEOUT_S)[1] == 1


def test_a_process_without_work_ends(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("synaptic.serving.worker.IDLE_S", 0.1)
    process, _ = worker.submit(process_of, "process").result(TIMEOUT_S)
    assert ends(process)
    assert worker.submit(process_of, "process").result(TIMEOUT_S)[0] != process


@pytest.mark.sweep
@pytest.mark.parametrize("at_work", [False, True])
def test_a_killed_server_leaves_no_process_behind(tmp_path: Path, at_work: bool) -> None:
    script = f"""
import sys, time
from functools import partial
from pathlib import Path
from synaptic.serving.worker import Worker
from looks import count_for_ever, process_of
from synaptic import save
if __name__ == "__main__":
    worker = Worker(sys.argv[1])
    worker.submit(lambda ws: save(ws, "The first entry.")).result({TIMEOUT_S})
    print(worker.submit(process_of, "process").result({TIMEOUT_S})[0], flush=True)
    begun = Path(sys.argv[1], "begun")
    if {at_work}:
        worker.submit(partial(count_for_ever, begun=begun), "process")
    while {at_work} and not begun.exists():
        time.sleep(0.01)
    print("at work", flush=True)
    sys.stdin.read()
"""
    file = tmp_path / "server.py"
    file.write_text(script)
    paths = os.pathsep.join(filter(None, sys.path))
    server = subprocess.Popen(
        [sys.executable, str(file), str(tmp_path / "home")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": paths},
    )
    assert server.stdout
    process = int(server.stdout.readline())
    assert server.stdout.readline() and is_alive(process)
    server.kill()
    server.wait(TIMEOUT_S)
    assert ends(process)


def test_a_reader_that_waits_for_a_writer_that_ends_is_let_go(
    worker: Worker, tmp_path: Path
) -> None:
    at_work = threading.Event()
    go = threading.Event()

    def work(ws: Workspace) -> None:
        at_work.set()
        go.wait(TIMEOUT_S)

    worker.submit(lambda ws: recent(ws), "read").result(TIMEOUT_S)
    worker.submit(work)
    assert at_work.wait(TIMEOUT_S)
    (tmp_path / "home" / "journal" / "2026-01-01.md").write_text("## 10:00 Typed.\n")
    asked = threading.Event()

    def asks(ws: Workspace) -> object:
        asked.set()
        return recent(ws)

    reading = worker.submit(asks, "read")
    assert asked.wait(TIMEOUT_S)
    while worker._jobs.empty():
        time.sleep(0.001)
    ending = threading.Thread(target=worker.close, args=(20,))
    ending.start()
    while worker._jobs.qsize() < 2:
        time.sleep(0.001)
    go.set()
    with pytest.raises(CancelledError):
        reading.result(TIMEOUT_S)
    ending.join(20)


@pytest.mark.needs(feature="page")
def test_a_kill_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with open_home(home) as ws:
        save(ws, "The first entry.")
    words: list[str] = []

    def saving(number: int) -> None:
        for turn in range(100):
            word = f"kept{number}x{turn}"
            try:
                sent = server.client.post(
                    "/new", data={"csrf": csrf, "content": f"A {word}."}, follow_redirects=False
                )
                server.client.get("/search", params={"q": word})
            except httpx.HTTPError:
                return
            if sent.status_code == 303:
                words.append(word)
                enough.set() if len(words) >= 12 else None

    enough = threading.Event()
    with served(home) as server, ThreadPoolExecutor(4) as clients:
        csrf = server.csrf()
        done = [clients.submit(saving, number) for number in range(4)]
        assert enough.wait(TIMEOUT_S)
        server.process.send_signal(signal.SIGKILL)
        for one in done:
            one.result(TIMEOUT_S)
    with open_home(home) as ws:
        for word in words:
            hits = search(ws, word, strategy="lexical").hits
            assert [hit.entry.title for hit in hits] == [f"A {word}."]
        assert ws.index.file.check(whole=True) is None

"""The entries that an agent gets with its user's prompt, from a running server or by words
alone.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest
from forks import ForkedHome
from hooked import checkout, configure, day, log, outside_of_fences, told
from outside import TIMEOUT_S, wait_until
from steady import SteadyHome

from synaptic.config import load_config
from synaptic.hooks.prompt import answer_prompt
from synaptic.hooks.stop import HANDOFF_REQUEST
from synaptic.index.embedding import FastEmbedder
from synaptic.models import Entry, Hit
from synaptic.render.prompt_entries import BY_MEANING, BY_WORDS, SignsOfHelp, chance_of_help
from synaptic.serving.local_socket import ask_server, make_greeting
from synaptic.serving.worker import Worker

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no Unix sockets in Python")

PROMPT = "why does safari drop the cookie after the login redirect?"
IN_OTHER_WORDS = "logins are lost in safari, users have to sign in again"
"""A prompt that the entry on Safari answers, and that shares too few words with it."""


@pytest.fixture
def sockets(at: ForkedHome) -> Iterator[Path]:
    """The folder of the home's sockets; its path is short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="s") as runtime:
        at.env["XDG_RUNTIME_DIR"] = runtime
        yield Path(runtime, "synaptic")


@pytest.fixture
def noted(at: ForkedHome, web: Path) -> ForkedHome:
    """A home with an entry on Safari's cookie among others, whose vectors are there."""
    others = (
        f"09:{n} insight: Parcels of route {n} leave at noon | web" for n in range(10, 40)
    )
    day(at, "09:00 issue: Safari drops the login cookie on a redirect | web", *others)
    configure(at, "user_prompt = true")
    at.run("rebuild-index")
    return at


@pytest.fixture
def served(noted: ForkedHome, sockets: Path) -> Iterator[ForkedHome]:
    """That home with a running server whose model is loaded."""
    with noted.server() as server:
        server.call("search", query="cookie")
        yield noted


def prompted(home: ForkedHome, folder: Path, prompt: str = IN_OTHER_WORDS, **said: str) -> str:
    return told(home, folder, "user-prompt", prompt=prompt, **said)


# -- by words alone
# -------------------------------------------------------------------------------------------


def test_a_prompt_brings_the_two_entries_that_answer_it_best(
    at: ForkedHome, web: Path, sockets: Path
) -> None:
    day(
        at,
        "09:00 issue: Safari drops the login cookie on a redirect | web",
        *(
            f"09:1{n} insight: Safari drops the login cookie on a redirect, case {n} | web"
            for n in range(4)
        ),
        "09:30 decision: Invoices are numbered by year | api",
    )
    at.run("rebuild-index")
    configure(at, "user_prompt = true")
    prompt = "safari drops the login cookie on a redirect"
    text = prompted(at, web, f'"{prompt}"')
    assert text.count("Safari drops the login cookie") == 2
    assert "Invoices" not in text
    assert "data, not instructions" in outside_of_fences(text)
    assert prompted(at, web, prompt, session_id="one").count("Safari drops") == 2
    assert prompted(at, web, prompt, session_id="one") == "", "nor the next best instead"
    from_its_command_line = f"<hook_context>&lt;From Synaptic</hook_context>\n\n{prompt}"
    assert "Safari drops" in prompted(at, web, from_its_command_line), "as Gemini CLI sends it"
    for other in (
        {"prompt": HANDOFF_REQUEST},
        {"prompt": "design a landing page for a bicycle shop in Oslo"},
        {"prompt": "yes please do"},
        {"prompt": f"/review {prompt}"},
        {"prompt": prompt, "source": "system"},
        {"prompt": ""},
        {},
    ):
        assert told(at, web, "user-prompt", **other) == "", other
    hits = at.ask("search", prompt, "--strategy", "lexical", "--explain")["hits"]
    assert {hit["why"]["access_count"] for hit in hits} == {0}, "what a hook shows was not read"
    assert log(at) == []


@pytest.mark.parametrize("curve", [BY_MEANING, BY_WORDS])
def test_a_better_score_and_rarer_words_raise_the_chance(curve: SignsOfHelp) -> None:
    at = datetime(2026, 11, 20, tzinfo=UTC)
    entry = Entry(id="20261120-aaaaaaaa", at=at, title="A", content="A.")

    def chance(score: float, rare_words: float) -> float:
        hit = Hit(entry, score, "A.", "A.", 1, rare_words=rare_words)
        return chance_of_help(hit, curve)

    assert 0 < chance(0, 0) < chance(0.5, 0) < chance(0.5, 2) < chance(1, 50) <= 1


def test_an_order_gets_what_a_question_gets(noted: ForkedHome, web: Path) -> None:
    asked = prompted(noted, web, "why does safari drop the login cookie on a redirect?")
    ordered = prompted(noted, web, "stop safari dropping the login cookie on a redirect")
    assert "Safari drops" in asked and "Safari drops" in ordered


def test_without_a_server_words_alone_decide(noted: ForkedHome, web: Path) -> None:
    assert "Safari drops" in prompted(noted, web, "safari drops the login cookie on a redirect")
    assert prompted(noted, web) == ""
    assert log(noted) == []


def test_an_entry_is_shown_whole_and_a_very_long_one_ends_after_a_sentence(
    noted: ForkedHome, web: Path
) -> None:
    day(
        noted,
        "09:00 decision: Integration tests of the payment service | web\nWe decided:\n\n- "
        "never mock the database.",
        f"09:10 insight: Slow fixtures | web\n{'The fixtures start one container each. ' * 99}",
    )
    text = prompted(noted, web, "write integration tests of the payment service")
    assert (
        "decision: Integration tests of the payment service: We decided: - never mock the "
        "database." in text
    )
    text = prompted(noted, web, "slow fixtures, each starts one container")
    assert "start one container each. …" in text and len(text) < 2_000


def test_an_unconfirmed_preference_is_shown_by_its_title(noted: ForkedHome, web: Path) -> None:
    text = "Test the payment service on real data.\n\nAnd delete the logs of it afterwards."
    with noted.server() as server:
        server.call("save", content=text, type="preference", project="web")
    shown = prompted(noted, web, "test the payment service on real data")
    assert "Test the payment service" in shown and "delete the logs" not in shown


def test_no_session_sees_an_entry_twice_or_what_its_briefing_showed(
    noted: ForkedHome, web: Path
) -> None:
    prompt = "safari drops the login cookie on a redirect"
    assert "Safari" in prompted(noted, web, prompt, session_id="one")
    assert prompted(noted, web, prompt, session_id="one") == ""
    assert "Safari" in prompted(noted, web, prompt, session_id="two")
    assert "Safari" in told(noted, web, session_id="three")
    assert prompted(noted, web, prompt, session_id="three") == ""
    assert "Safari" in prompted(noted, web, prompt, session_id="three", agent_id="a1")
    nowhere = checkout(web.parent / "other", "main")
    told(noted, nowhere, session_id="one", source="resume")
    assert prompted(noted, web, prompt, session_id="one") == "", "its context is still there"
    told(noted, nowhere, session_id="one", source="compact")
    assert "Safari" in prompted(noted, web, prompt, session_id="one")


def test_a_replaced_entry_is_not_shown(noted: ForkedHome, web: Path) -> None:
    old = noted.ask("save", "The payment service is tested on Fridays", "--project", "web")
    prompt = "the payment service is tested on fridays"
    assert "Fridays" in prompted(noted, web, prompt)
    noted.ask("save", "Nobody tests that", "--project", "web", "--supersedes", old["id"])
    assert "Fridays" not in prompted(noted, web, prompt)


# -- from a running server
# -------------------------------------------------------------------------------------------


def test_a_running_server_answers_by_meaning(
    served: ForkedHome, sockets: Path, web: Path
) -> None:
    text = prompted(served, web, session_id="one")
    assert "issue: Safari drops the login cookie" in text and "Parcels" not in text
    assert "project web" not in text, "the server takes the checkout of the session for its own"
    assert prompted(served, web, session_id="one") == ""
    assert prompted(served, web, "design a landing page for a bicycle shop in Oslo") == ""
    assert "Safari" in told(served, web, session_id="two")
    assert prompted(served, web, session_id="two") == ""
    assert "Safari" in prompted(served, web, f'{PROMPT} type:decision, "and more"')
    [path] = sockets.iterdir()
    assert sockets.stat().st_mode & 0o077 == 0 and path.is_socket()
    assert log(served) == []


def test_a_server_shows_what_the_files_say_now_without_private_passages(
    served: ForkedHome, sockets: Path, web: Path
) -> None:
    file = served.journal / "2026-11-20.md"
    file.write_text(
        file.read_text().replace("on a redirect", "<private>on a redirect</private>")
    )
    texts: list[str] = []
    wait_until(lambda: texts.append(prompted(served, web)) or texts[-1])  # it has a vector
    assert "Safari drops the login cookie" in texts[-1] and "redirect" not in "".join(texts)


def test_the_end_of_a_server_leaves_no_socket(
    noted: ForkedHome, sockets: Path, web: Path
) -> None:
    with noted.server() as server:
        server.call("search", query="cookie")
        assert len(list(sockets.iterdir())) == 1
    assert list(sockets.iterdir()) == []


def test_hooks_go_on_by_words_when_the_server_is_killed_and_the_next_one_answers(
    noted: ForkedHome, sockets: Path, web: Path
) -> None:
    with ExitStack() as stack:
        server = stack.enter_context(noted.server())
        server.call("search", query="cookie")
        server.kill()
        [dead] = sockets.iterdir()
        wait_until(lambda: refuses(dead))
        assert prompted(noted, web) == ""
        assert "Safari" in prompted(noted, web, "safari drops the login cookie on a redirect")
        with noted.server() as second:
            second.call("search", query="cookie")
            [living] = sockets.iterdir()
            assert living != dead
            assert "Safari" in prompted(noted, web)
    assert log(noted) == []


def refuses(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as connection:
        return connection.connect_ex(str(path)) != 0


def test_of_two_servers_one_may_end(noted: ForkedHome, sockets: Path, web: Path) -> None:
    with noted.server() as first:
        first.call("search", query="cookie")
        with noted.server() as second:
            second.call("search", query="cookie")
            assert len(list(sockets.iterdir())) == 2
            assert "Safari" in prompted(noted, web)
        assert "Safari" in prompted(noted, web)


@pytest.mark.parametrize("setting", ['exclude = ["other/**"]', 'model = "no/such-model"'])
def test_a_server_with_other_settings_is_not_asked(
    served: ForkedHome, sockets: Path, web: Path, setting: str
) -> None:
    assert "Safari" in prompted(served, web)
    file = served.path / "config.toml"
    file.write_text(f"{setting}\n{file.read_text()}")
    assert prompted(served, web) == ""
    configure(served, "user_prompt = true", "stop = true", "max_tokens = 400")
    assert "Safari" in prompted(served, web), "no answer depends on these"


def test_a_server_that_says_nothing_or_too_much_is_passed_by(
    noted: ForkedHome, sockets: Path, web: Path
) -> None:
    with noted.server() as server:
        server.call("search", query="cookie")
        [own] = sockets.iterdir()
    config = load_config(noted.path)
    for greeting in (b"x" * 300_000, b"synaptic 99 0 none\n", make_greeting(config)[:9]):
        with listening(own, greeting):
            assert ask_server(config, {}, 0.1) is None
    message = {"prompt": "safari drops the login cookie on a redirect", "cwd": str(web)}
    for sent in (make_greeting(config), b""):
        with listening(own, sent):
            text = answer_prompt(config, message, lambda *asked: ask_server(*asked[:2], 0.1))
            assert "Safari" in text
    with listening(own, b""), noted.server() as server:
        server.call("search", query="cookie")
        assert "Safari" in prompted(noted, web), "one that hangs holds up no other"
    assert log(noted) == []


def test_a_prompt_waits_for_a_server_that_is_slow(
    noted: ForkedHome, sockets: Path, web: Path
) -> None:
    message = json.dumps({"prompt": IN_OTHER_WORDS, "cwd": str(web)}).encode()
    with noted.server() as server:
        server.call("search", query="cookie")
        os.kill(server.pid, signal.SIGSTOP)
        try:
            hook = noted.start("hook", "user-prompt")
            with pytest.raises(subprocess.TimeoutExpired):
                hook.communicate(message, 0.5)
        finally:
            os.kill(server.pid, signal.SIGCONT)
        assert b"Safari" in hook.communicate(timeout=TIMEOUT_S)[0]


def test_a_server_whose_answer_is_no_answer_is_passed_by(
    noted: ForkedHome, sockets: Path, web: Path
) -> None:
    config = load_config(noted.path)
    path = sockets / "x.sock"
    with noted.server() as server:
        server.call("search", query="cookie")
        [path] = sockets.iterdir()
    for answer in (b"null\n", b"[1\n", b"7\n"):
        with listening(path, make_greeting(config) + answer):
            assert "Safari" in prompted(
                noted, web, "safari drops the login cookie on a redirect"
            )
    assert log(noted) == []


class listening:
    """While the block runs, a program listens at this path that sends the same to everybody."""

    def __init__(self, path: Path, sent: bytes) -> None:
        self._path, self._sent = path, sent
        self._socket = socket.socket(socket.AF_UNIX)

    def __enter__(self) -> None:
        self._socket.bind(str(self._path))
        self._socket.listen()
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        open_connections = []
        while True:
            try:
                connection, _ = self._socket.accept()
                open_connections.append(connection)
                connection.sendall(self._sent)
            except OSError:
                if self._socket.fileno() < 0:
                    return

    def __exit__(self, *_: object) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._path.unlink()


def test_a_folder_that_others_may_enter_is_not_used(
    noted: ForkedHome, sockets: Path, web: Path
) -> None:
    sockets.mkdir(mode=0o755)
    sockets.chmod(0o755)
    noted.state.joinpath("run").mkdir(mode=0o755)
    noted.state.joinpath("run").chmod(0o755)
    with noted.server() as server:
        server.call("search", query="cookie")
        assert list(sockets.iterdir()) == []
        assert prompted(noted, web) == ""
    sockets.chmod(0o700)
    with noted.server() as server:
        server.call("search", query="cookie")
        assert "Safari" in prompted(noted, web)
        sockets.chmod(0o750)
        assert prompted(noted, web) == "", "others could have put a socket there"


_OTHER_USER = """
import os, socket, sys
listening = socket.socket(socket.AF_UNIX)
listening.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o777)
os.setuid(65534)
listening.listen()
print("ready", flush=True)
while True:
    connection, _ = listening.accept()
    try:
        connection.sendall(bytes.fromhex(sys.argv[2]))
        print(connection.recv(9), flush=True)
    except OSError:  # it is gone
        print(b"", flush=True)
"""


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="takes another user's rights")
def test_a_server_of_another_user_is_told_nothing(
    noted: ForkedHome, sockets: Path, web: Path
) -> None:
    with noted.server() as server:
        server.call("search", query="cookie")
        [own] = sockets.iterdir()
    env = noted.environment()
    config = load_config(noted.path)
    command = [sys.executable, "-c", _OTHER_USER, str(own), make_greeting(config).hex()]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=env) as other:
        assert other.stdout and other.stdout.readline() == b"ready\n"
        assert "Safari" in prompted(noted, web, "safari drops the login cookie on a redirect")
        assert other.stdout.readline() == b"b''\n", "the hook went away without a question"
        other.kill()


def test_a_question_does_not_wait_for_the_thread_that_writes(
    noted: ForkedHome, sockets: Path, model: FastEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", noted.env["XDG_RUNTIME_DIR"])
    monkeypatch.setenv("SYNAPTIC_NOW", noted.env["SYNAPTIC_NOW"])
    config = load_config(noted.path)
    question = {"prompt": PROMPT, "folder": "/", "project": "web", "seen": []}
    worker = Worker(noted.path, model, readers=0)
    worker.start()
    wait_until(lambda: ask_server(config, question, TIMEOUT_S))
    held, done = threading.Event(), threading.Event()

    def hold(_: object) -> None:
        held.set()
        done.wait()

    holding = worker.submit(hold)
    held.wait()
    answers: list[object] = []
    wait_until(lambda: answers.append(ask_server(config, question, TIMEOUT_S)) or answers[-1])
    assert "Safari" in str(answers[-1]) and not holding.done()
    done.set()
    worker.close(60)
    assert list(sockets.iterdir()) == []


@pytest.mark.needs(feature="sharing")
def test_the_thread_that_answers_hooks_is_not_there_for_published_journals(
    noted: ForkedHome, sockets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", noted.env["XDG_RUNTIME_DIR"])
    worker = Worker(noted.path, address="postgresql://127.0.0.1:1/none")
    worker.submit(lambda ws: None).result()
    worker.close(60)
    assert not sockets.exists()


def test_a_hook_without_the_variable_of_its_server_finds_it(
    noted: ForkedHome, web: Path, tmp_path: Path
) -> None:
    noted.env["XDG_RUNTIME_DIR"] = ""
    with tempfile.TemporaryDirectory(prefix="s") as folder:
        home = SteadyHome(Path(folder, "h"), dict(noted.env), forks=noted.forks)
        noted.path.rename(home.path)
        with home.server() as server:
            server.call("search", query="cookie")
            assert len(list((home.state / "run").iterdir())) == 1
            assert "Safari" in prompted(home, web)
            home.env["XDG_RUNTIME_DIR"] = str(tmp_path)
            assert "Safari" in prompted(home, web)
        home.path.rename(noted.path)

"""People's hands in the journal while Synaptic writes: old buffers, racing edits, every kind of
change by hand.
"""

from __future__ import annotations

import contextlib
import copy
import errno
import json
import os
import pty
import random
import re
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from homes import open_home
from outside import TIMEOUT_S, Answer, Home, Refusal, Server, is_stopped, wait_until
from trials import Rounds

from synaptic import get, save
from synaptic.journal import disk
from synaptic.journal.writer import ATTEMPTS


def day(number: int) -> str:
    """A date of its own for each round."""
    return (date(2010, 1, 1) + timedelta(days=number)).isoformat()


# -- a person's ways of writing
# -----------------------------------------------------------------------


def by_rename(path: Path, data: bytes) -> None:
    temp = path.with_name("4913.tmp")
    temp.write_bytes(data)
    with contextlib.suppress(FileNotFoundError):
        temp.chmod(path.stat().st_mode & 0o7777)
    temp.replace(path)


def in_place(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def with_backup(path: Path, data: bytes) -> None:
    mode = path.stat().st_mode & 0o7777
    path.rename(f"{path}~")
    path.write_bytes(data)
    path.chmod(mode)


Way = Callable[[Path, bytes], None]
WAYS: tuple[Way, ...] = (by_rename, in_place, with_backup)


@dataclass
class Person:
    """Somebody with a file open in an editor: `wrote` is the last buffer that reached the disk."""

    path: Path
    way: Way
    wrote: bytes = b""
    began_at: float = 0.0
    stop: bool = False

    def type(
        self,
        rng: random.Random,
        times: int,
        change: Callable[[bytes, int], bytes],
        pause_s: float,
    ) -> None:
        """Reads, waits, and writes the old buffer with a change in it; again and again."""
        for number in range(times):
            if self.stop:
                return
            buffer = change(self.path.read_bytes(), number)
            time.sleep(rng.random() * pause_s)
            self.began_at = time.monotonic()
            self.way(self.path, buffer)
            self.wrote = buffer


def vanished(home: Home) -> set[str]:
    """The ids that doctor lists as saved and standing nowhere."""
    answer = home.run("doctor", "--json")
    findings = answer.json["findings"]
    lost = [finding for finding in findings if finding["code"] == "vanished"]
    # an editor that writes its old buffer brings a deleted entry back: "returned"
    warned = any(finding["code"] in ("vanished", "returned") for finding in findings)
    assert answer.code == (1 if warned else 0), answer.text
    ids = {finding["message"].split()[0] for finding in lost}
    for finding in lost:
        assert (
            f"--restore {finding['message'].split()[0]}" in finding["fix"]
            and "--dismiss" in finding["fix"]
        )
    return ids


def doctor(home: Home, flag: str, ids: Sequence[str]) -> None:
    """`synaptic doctor FLAG ID`, with the flag once for each id."""
    if ids:
        assert home.ask("doctor", *chain.from_iterable((flag, id) for id in ids))["success"]


def error_of(answer: Answer) -> Any:
    """The error of a command that was refused as it should be."""
    assert answer.code == 1 and "Traceback" not in answer.text, answer.text
    return answer.json["error"]


def standing(home: Home) -> Counter[str]:
    """How often each id stands in a comment of the journal's files."""
    data = b"\n".join(text for name, text in home.files().items() if name.endswith(".md"))
    return Counter(found.decode() for found in re.findall(rb"^<!-- syn:(\S+)", data, re.M))


# -- row 4: an editor with an old buffer
# ----------------------------------------------------------------


@pytest.mark.fault(row=4)
def test_what_an_old_buffer_took_away_comes_back_only_when_asked(
    home: Home, rounds: Rounds
) -> None:
    """Each round a person holds a day file open while saves arrive, and then writes the old
    buffer back.
    """
    lost: dict[str, str] = {}
    with home.server() as server:
        for number in rounds(3, 300):
            path = home.journal / f"{day(number)}.md"
            server.call("save", content=f"Before round {number}.", at=f"{day(number)}T09:00:00")
            buffer = (
                path.read_bytes() + f"\n## 10:15 Typed {number}\nIn the old buffer.\n".encode()
            )
            for part in range(1 + number % 3):
                text = (
                    f"Round {number} part {part}: a first line.\n\n- and **more** below it  \n"
                )
                at = f"{day(number)}T11:0{part}:00"
                if (number + part) % 6 == 5:
                    id = home.ask("save", "-", "--at", at, stdin=text)["id"]
                else:
                    id = server.call("save", content=text, at=at)["id"]
                lost[id] = text
            WAYS[number % 3](path, buffer)
            after = server.call(
                "save", content=f"After round {number}.", at=f"{day(number)}T12:00:00"
            )
            data = path.read_bytes()
            assert data.startswith(buffer) and after["id"].encode() in data[len(buffer) :]
            lost_text = f"Round {number} part 0"
            hits = server.call("search", query=f'"{lost_text}"', strategy="lexical")["hits"]
            said = [hit for hit in hits if lost_text in hit["content"]]
            assert said == [], "found, and stands nowhere"
        before = home.files()
        assert vanished(home) == set(lost)
        assert server.call("search", query="a first line", strategy="lexical")["total"] == 0
        assert home.ask("search", "a first line", "--strategy", "lexical")["total"] == 0
        assert home.files() == before, "looking changed a file"
        forgotten, back = list(lost)[:2]
        assert home.ask("doctor", "--restore", back)["id"] == back
        again = error_of(home.run("doctor", "--restore", back, "--json"))
        assert again["code"] == "not-found" and back in again["message"]
        assert home.ask("doctor", "--dismiss", forgotten[9:])["success"]
        for flag in ("--restore", "--dismiss"):
            gone = error_of(home.run("doctor", flag, forgotten, "--json"))
            assert gone["code"] == "not-found" and forgotten in gone["message"]
        rest = set(lost) - {back, forgotten}
        assert vanished(home) == rest
        doctor(home, "--restore", sorted(rest))
        assert vanished(home) == set()
        counts = standing(home)
        assert all(counts[id] == (id != forgotten) for id in lost)
        for id in set(lost) - {forgotten}:
            (entry,) = server.call("get", ids=[id])["entries"]
            assert entry["content"] == lost[id].strip()


def unknown(server: Server, ids: list[str]) -> set[str]:
    """The ids of entries that are not there; the answer names those that are."""
    try:
        return {*ids} - {entry["id"] for entry in server.call("get", ids=ids)["entries"]}
    except Refusal:  # none is
        return {*ids}


@pytest.mark.slow
@pytest.mark.fault(row=4)
def test_saves_under_an_editor_that_never_rests(home: Home, rounds: Rounds) -> None:
    """Whatever an editor writes over, at whatever moment: what was acknowledged stands, or
    doctor brings it back.
    """
    taken = 0
    with home.server() as server, home.server() as other, ThreadPoolExecutor(3) as threads:
        for number in rounds(3, 300):
            saved: dict[str, str] = {}
            server.call(
                "save", content=f"First of round {number}.", at=f"{day(number)}T09:00:00"
            )
            person = Person(home.journal / f"{day(number)}.md", WAYS[number % 3])

            def type_a_line(buffer: bytes, line: int) -> bytes:
                typed = f"typed {line}\n".encode() if line == 0 else b""
                return (buffer.rstrip() if line % 2 else buffer) + typed

            typing = threads.submit(
                person.type, random.Random(number), 10_000, type_a_line, 0.02
            )

            def save_some(
                who: Server, name: str, number: int = number, saved: dict[str, str] = saved
            ) -> None:
                for part in range(8):
                    text = (
                        f"{name} {number} {part}\n\n"
                        + "a long line of text\n" * random.Random(part).randrange(40)
                    )
                    saved[
                        who.call("save", content=text, at=f"{day(number)}T10:00:00")["id"]
                    ] = text

            savers = [
                threads.submit(save_some, who, name)
                for who, name in ((server, "one"), (other, "two"))
            ]
            for saver in savers:
                saver.result()
            person.stop = True
            typing.result()
            assert len(saved) == 16
            server.call("find")  # what had to wait for the editor joins its file
            lost = unknown(server, list(saved))
            if lost or not number:
                assert vanished(home) == lost
            taken += len(lost)
            doctor(home, "--restore", sorted(lost))
            counts = standing(home)
            assert all(counts[id] == 1 for id in saved)
            entries = server.call("get", ids=list(saved))["entries"]
            contents = {entry["id"]: entry["content"] for entry in entries}
            assert contents.keys() == saved.keys()
            for id, text in saved.items():
                # Behind it may stand what was typed, and the end of a lost entry that an editor
                # wrote over.
                assert contents[id].startswith(text.strip("\n"))
    assert taken, "the editor was never in the way"


@pytest.mark.fault(row=4)
@pytest.mark.sweep("left")
@pytest.mark.parametrize("left", [b"", b"0:00 The quince", b"typed 0\n"])
@pytest.mark.parametrize("eol", [b"\n", b"\r\n"])
def test_an_entry_whose_heading_was_written_over_comes_back(
    home: Home, left: bytes, eol: bytes
) -> None:
    with home.server() as server:
        ids = [
            server.call("save", content=text, at=f"{day(0)}T10:00:00")["id"]
            for text in ("The sloe.", "The quince.")
        ]
        path = home.journal / f"{day(0)}.md"
        whole = path.read_bytes().replace(b"\n", eol)
        path.write_bytes(
            whole.replace(b"## 10:00 The quince." + eol, left + (eol if left else b""))
        )
        assert vanished(home) == {ids[1]}
        doctor(home, "--restore", ids[1:])
        assert path.read_bytes() == whole.replace(
            b"## 10:00 The quince.", left + (eol if left else b"") + b"## 10:00 The quince."
        )
        assert vanished(home) == set() and standing(home) == Counter(ids)
        assert server.call("get", ids=ids[1:])["entries"][0]["title"] == "The quince."


def git(folder: Path, *args: str) -> str:
    """What `git ARGS` prints, with nobody's settings."""
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
    }
    who = [
        "-c",
        "user.name=Tests",
        "-c",
        "user.email=tests@example.org",
        "-c",
        "core.autocrlf=false",
    ]
    done = subprocess.run(
        ["git", *who, *args], cwd=folder, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def commit(folder: Path) -> str:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", "Journal")
    return git(folder, "rev-parse", "HEAD")


@pytest.mark.fault(row=4)
def test_a_checkout_and_a_deletion_stay_as_they_are_meant(home: Home) -> None:
    with home.server() as server:

        def save(text: str) -> str:
            return str(server.call("save", content=text, at="2026-11-20T09:00:00")["id"])

        path = home.journal / "2026-11-20.md"
        first, second = save("The quince is ripe."), save("The medlar is not.")
        git(home.journal, "init", "-q", "-b", "main")
        commit(home.journal)
        third = save("The sloe was early.")
        commit(home.journal)

        git(home.journal, "checkout", "-q", "HEAD~1")
        old = path.read_bytes()
        assert server.call("search", query='"sloe"', strategy="lexical")["total"] == 0
        assert (
            home.ask("search", '"medlar"', "--strategy", "lexical")["hits"][0]["id"] == second
        )
        assert vanished(home) == {third}
        assert path.read_bytes() == old
        assert git(home.journal, "status", "--porcelain") == ""

        git(home.journal, "checkout", "-q", "main")
        assert (
            server.call("search", query='"sloe"', strategy="lexical")["hits"][0]["id"] == third
        )
        assert vanished(home) == set()

        data = path.read_bytes()
        start, end = (data.index(b"## 09:00 The " + word) for word in (b"medlar", b"sloe"))
        path.write_bytes(data[:start] + data[end:])
        fourth = save("Saved after the deletion.")
        assert home.ask("save", "And once more.", "--at", "2026-11-20T09:05:00")["success"]
        assert server.call("search", query='"medlar"', strategy="lexical")["total"] == 0
        assert vanished(home) == {second}
        assert (
            path.read_bytes().startswith(data[:start] + data[end:])
            and second.encode() not in path.read_bytes()
        )
        assert standing(home).keys() >= {first, third, fourth}
        for file in home.journal.glob("*.md"):
            file.unlink()
        assert server.call("find")["total"] == 0
        save("A new beginning.")
        assert standing(home).total() == 1


@pytest.mark.fault(row=4)
def test_an_update_that_an_old_buffer_undid_is_listed_and_comes_back_once(home: Home) -> None:
    """An acknowledged update is as good as an acknowledged save; its id still stands, its text
    does not.
    """
    with home.server() as server:
        id = server.call("save", content="The gate code is 4711.", at="2026-11-20T09:00:00")[
            "id"
        ]
        path = home.journal / "2026-11-20.md"
        buffer = path.read_bytes()
        server.call("update", id=id, content="The gate code is 8086 since Friday.")
        by_rename(path, buffer)
        server.call("save", content="Another entry.", at="2026-11-20T09:10:00")
        assert (
            server.call("get", ids=[id])["entries"][0]["content"] == "The gate code is 4711."
        ), "it came back by itself"
        assert vanished(home) == {id}
        assert home.ask("doctor", "--restore", id)["id"] == id
        assert (
            server.call("get", ids=[id])["entries"][0]["content"]
            == "The gate code is 8086 since Friday."
        )
        assert standing(home)[id] == 1
        assert vanished(home) == set()
        assert error_of(home.run("doctor", "--restore", id, "--json"))["code"] == "not-found"


@pytest.mark.fault(row=4)
@pytest.mark.sweep
@pytest.mark.parametrize(
    "cut", [b"90 of the", b"\nA long report.", b":00:00"], ids=["text", "body", "comment"]
)
def test_a_save_that_an_editor_read_half_and_wrote_back_is_listed(
    home: Home, cut: bytes
) -> None:
    """The editor read the file in the middle of an append: the id stands there, the end of the
    text does not.
    """
    with home.server() as server:
        text = (
            "A long report.\n\n"
            + "".join(f"Line {number} of the report.\n" for number in range(200))
            + "The end."
        )
        id = server.call("save", content=text, at="2026-11-20T09:00:00")["id"]
        path = home.journal / "2026-11-20.md"
        by_rename(path, path.read_bytes().partition(cut)[0])
        server.call("save", content="Another entry.", at="2026-11-20T09:10:00")
        assert vanished(home) == {id}
        doctor(home, "--restore", [id])
        assert server.call("get", ids=[id])["entries"][0]["content"] == text
        assert standing(home)[id] == 1


@pytest.mark.fault(row=4)
@pytest.mark.parametrize(
    "torn", ["0 of step 6.", "0oak -->\n\nAnother text."], ids=["never closed", "no time"]
)
def test_a_save_whose_comment_two_editors_tore_is_listed(home: Home, torn: bytes) -> None:
    """They wrote into one file at once: another text stands under the heading, behind a comment
    that is cut.
    """
    text = "The gate code is 4711.\n\nIt is 8086 at night."
    saved = home.ask("save", text, "--at", "2026-11-20T09:00:00")
    id, path = saved["id"], home.journal / saved["path"]
    by_rename(
        path, path.read_bytes().partition(b"9:00:0")[0] + f"{torn}\n\nIts end.\n".encode()
    )
    assert vanished(home) == {id}
    home.ask("doctor", "--restore", id)
    assert home.ask("get", id)["entries"][0]["content"] == text
    assert vanished(home) == set()


@contextlib.contextmanager
def vim(path: Path, *settings: str) -> Iterator[Callable[[str], None]]:
    """A real vim with `path` open; gives a function that types, and returns when vim has done
    it.
    """
    quiet = (
        "set shortmess=aoOstTWAIcF nomore directory=.",
        "autocmd FileChangedShell * let v:fcs_choice = ''",
    )
    set_up = (part for command in (*quiet, *settings) for part in ("--cmd", command))
    command = ["vim", "-u", "NONE", "-i", "NONE", "-N", *set_up, str(path)]
    signs = path.parent.parent / "signs"
    signs.mkdir(exist_ok=True)
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvpe("vim", command, os.environ | {"TERM": "xterm"})
    os.set_blocking(terminal, False)

    shown = bytearray()

    def look() -> None:
        with contextlib.suppress(BlockingIOError):
            while piece := os.read(terminal, 65536):
                shown.extend(piece)

    def keys(typed: str) -> None:
        sign = signs / f"{time.monotonic_ns()}"
        signal_done = f"\x1b:silent! call writefile([], '{sign}')\r".encode()
        seen = len(shown)
        os.write(terminal, b"\x1b" + typed.encode() + signal_done)
        began_at = asked_at = time.monotonic()
        while not sign.exists():
            now = time.monotonic()
            assert now < began_at + 30, f"vim does not answer: {bytes(shown[-800:])!r}"
            look()
            if b"(y/n)?" in shown[seen:]:  # the file changed; yes, write it
                seen = len(shown)
                os.write(terminal, b"y")
            elif now > asked_at + 0.2:  # keys typed into a question are lost
                asked_at = now
                os.write(terminal, signal_done)
            time.sleep(0.005)

    try:
        keys("")
        yield keys
        os.write(terminal, b":q!\r")
        give_up_at = time.monotonic() + TIMEOUT_S
        while os.waitpid(pid, os.WNOHANG)[0] == 0:
            assert time.monotonic() < give_up_at, "vim does not end"
            try:
                look()
            except OSError as error:
                assert error.errno == errno.EIO
            time.sleep(0.005)
    finally:
        os.close(terminal)


VIM_WAYS = [
    (f"set backupcopy={copy_} {backup}",)
    for copy_ in ("yes", "no", "auto")
    for backup in ("backup writebackup", "nobackup writebackup", "nobackup nowritebackup")
]


@pytest.mark.slow
@pytest.mark.fault(row=4)
@pytest.mark.skipif(
    not shutil.which("vim"), reason="vim is not installed: no real editor to hold a buffer"
)
def test_saves_under_a_real_vim(home: Home, rounds: Rounds) -> None:
    """Each round vim holds a day file, with its swap file beside it, and writes it again and
    again under saves.
    """
    taken = 0
    with home.server() as server, ThreadPoolExecutor(1) as threads:
        for number in rounds(9, 180):
            rng = random.Random(number)
            at = f"{day(number)}T09:00:00"
            path = home.journal / f"{day(number)}.md"
            server.call("save", content=f"First of round {number}.", at=at)
            saved: dict[str, str] = {}

            def save_some(
                number: int = number, at: str = at, saved: dict[str, str] = saved
            ) -> None:
                for part in range(12):
                    text = (
                        f"Text {number} {part}\n\n"
                        + "a long line of text\n" * random.Random(part).randrange(400)
                    )
                    saved[server.call("save", content=text, at=at)["id"]] = text

            with vim(path, *VIM_WAYS[number % len(VIM_WAYS)]) as keys:
                saving = threads.submit(save_some)
                line = 0
                while not saving.done():
                    keys(f"4Gotyped line {line}\x1b:silent w!\r")
                    line += 1
                    if rng.random() < 0.3:
                        keys(":silent e!\r")
                    time.sleep(rng.random() * 0.05)
                saving.result()
            text = path.read_text()
            assert line and f"typed line {line - 1}" in text, "vim's last line is not there"
            server.call("find")
            counts = standing(home)
            lost = vanished(home)
            assert lost == set(saved) - counts.keys()
            taken += len(lost)
            doctor(home, "--restore", sorted(lost))
            counts = standing(home)
            for id, text in saved.items():
                assert counts[id] == 1
                content = server.call("get", ids=[id])["entries"][0]["content"]
                # Behind it may stand what was typed, and the end of a lost entry that an editor
                # wrote over.
                assert content.startswith(text.strip("\n"))
    assert taken, "vim was never in the way"


@pytest.mark.fault(row=4)
@pytest.mark.parametrize(
    "line", ["### A smaller heading", "typed over it", "", "<!-- torn\n\nand typed over"]
)
def test_doctor_names_a_saved_entry_that_lost_its_heading(home: Home, line: str) -> None:
    saved = home.ask("save", "The harbour note.", "--title", "Harbour")
    path = home.journal / saved["path"]
    text = path.read_text()
    heading = next(row for row in text.splitlines() if row.endswith(" Harbour"))
    path.write_text(text.replace(heading, line))
    (finding,) = [
        one
        for one in home.run("doctor", "--json").json["findings"]
        if one["code"] == "stray-comment"
    ]
    assert f"{saved['path']}:{4 + line.count(chr(10))}" in finding["message"]
    assert "Write its heading" in finding["fix"]
    path.write_text(text)
    assert home.ask("get", saved["id"])["entries"][0]["title"] == "Harbour"
    assert not [
        one
        for one in home.run("doctor", "--json").json["findings"]
        if one["code"] == "stray-comment"
    ]


# -- row 5: update and delete in a race
# -----------------------------------------------------------------


@dataclass
class Round:
    """A day file as a person's editor left it, and one entry in it that is going to be edited."""

    number: int
    rng: random.Random = field(init=False)
    eol: bytes = field(init=False)
    before: bytes = b""
    target: bytes = b""
    after: bytes = b""

    def __post_init__(self) -> None:
        self.rng = random.Random(self.number)
        self.eol = self.rng.choice((b"\n", b"\r\n"))
        count = self.rng.randint(1, 4)
        blocks = [self._block(n) for n in range(count)]
        chosen = self.rng.randrange(count)
        ending = self.rng.choice(
            (b"", b"  ", self.eol, b" \t" + self.eol + b"  " + self.eol * 2)
        )
        blocks[-1] = blocks[-1].rstrip() + ending
        top = b"\xef\xbb\xbf" if self.rng.random() < 0.4 else b""
        top += self.eol.join((b"# Day", b"", b"Here I type:", b"", b""))
        self.before, self.target = top + b"".join(blocks[:chosen]), blocks[chosen]
        self.after = b"".join(blocks[chosen + 1 :])
        self.word = f"round{self.number}block{chosen}x"

    def _block(self, n: int) -> bytes:
        lines = [f"## 0{8 + n // 2}:{10 + n} Heading of round{self.number}block{n}x #kept"]
        if self.rng.random() < 0.6:
            lines += [
                f"<!-- syn:{day(self.number).replace('-', '')}-{self.number:06d}y{n} "
                f"importance=7 mood=good -->"
            ]
        lines += [
            "",
            "Old text with blanks at its end.   ",
            "```",
            "## 12:00 in a fence",
            "```",
        ]
        lines += [
            "<!-- a comment of mine -->  ",
            *["more words"] * self.rng.choice((0, 3, 400)),
            "",
        ]
        return self.eol.join(line.encode() for line in (*lines, ""))

    @property
    def whole(self) -> bytes:
        return self.before + self.target + self.after

    def typed(self, buffer: bytes, line: int) -> bytes:
        """The buffer with something typed outside the target."""
        return buffer.replace(b"Here I type:", b"Here I type: %d," % line, 1)

    def split(self, buffer: bytes) -> tuple[bytes, bytes, bytes]:
        """What stands before, in and after the target in a person's buffer."""
        before, target, after = buffer.partition(self.target)
        return before, target, after


@dataclass
class Outcome:
    """How a racing edit ended: "landed", or the code of the refusal."""

    what: str
    began_at: float
    deleted: bool = False
    content: str = ""


REFUSALS = {
    "changed": "changed while it was edited",
    "not-found": "No entry has|has no",
    "busy": "has been writing",
}


def edit_through(
    home: Home, server: Server, kind: str, id: str, marker: str, *, command: bool
) -> Outcome:
    """One update or delete, by a server or by the installed command. Anything but the three
    refusals fails.
    """
    began_at = time.monotonic()
    new = f"New text {marker}.\n\n## Not an entry\n\nIts last line {marker}."
    arguments = {
        "content": {"content": new},
        "append": {"append": new},
        "title": {"title": f"New title {marker}"},
    }
    outcome = Outcome("landed", began_at, kind == "delete")
    if command:
        flags = (
            ["--yes"]
            if kind == "delete"
            else [f"--{kind}", next(iter(arguments[kind].values()))]
        )
        answer = home.run("delete" if kind == "delete" else "update", id, *flags, "--json")
        if answer.code:
            outcome.what = error_of(answer)["code"]
    else:
        try:
            server.call(
                "delete" if kind == "delete" else "update", id=id, **arguments.get(kind, {})
            )
        except Refusal as refusal:
            codes = [code for code, text in REFUSALS.items() if re.search(text, str(refusal))]
            assert codes, f"refused with: {refusal}"
            outcome.what = codes[0]
    assert outcome.what in ("landed", *REFUSALS)
    return outcome


SAVED = rb"(?:(?:\r?\n)*## 09:31 Saved (\d+ \d+)\r?\n<!-- syn:[^\r\n]* -->\r?\n)"


def edit_against(
    home: Home,
    quicker: int,
    write: Callable[[int], object],
    *arguments: str,
    writes: int = ATTEMPTS,
) -> dict[str, object]:
    """What the edit answers; in its first `quicker` tries a person writes just before it checks
    the file. It writes at most `writes` times.
    """
    edit = home.start(*arguments, "--json", SYNAPTIC_FAULT="replace-written:stop")
    for number in range(min(quicker + 1, writes)):
        wait_until(lambda: is_stopped(edit.pid))
        if number < quicker:
            write(number)
        edit.send_signal(signal.SIGCONT)
    return json.loads(edit.communicate(timeout=TIMEOUT_S)[0])


@pytest.mark.fault(row=5)
@pytest.mark.parametrize(
    "quicker", [1, ATTEMPTS - 1, ATTEMPTS], ids=["once", "but for once", "each time"]
)
def test_an_edit_whose_file_a_person_was_quicker_to_write_is_tried_again_or_refused(
    home: Home, quicker: int
) -> None:
    saved = home.ask("save", "The harbour note.")
    path = home.journal / saved["path"]

    def typed(number: int) -> None:
        path.write_text(f"{path.read_text()}\n## 10:0{number} Typed by hand\n")

    answer = edit_against(home, quicker, typed, "update", saved["id"], "--append", "More.")
    text = path.read_text()
    assert all(f"## 10:0{number} Typed by hand\n" in text for number in range(quicker))
    landed = quicker < ATTEMPTS
    assert answer["success"] == landed and ("\nMore.\n" in text) == landed
    assert landed or answer["error"]["code"] == "changed"


@pytest.mark.fault(row=5)
def test_a_move_ends_beside_a_program_that_appends_again_and_again(home: Home) -> None:
    saved = home.ask("save", "The harbour note.", "--at", "2026-11-20 09:00")
    path = home.journal / saved["path"]
    path.write_text(f"{path.read_text()}\n## 10:00 Weather\n")

    def append(number: int) -> None:
        with path.open("a") as file:
            file.write(f"- rain {number}\n")

    move = ("update", saved["id"], "--at", "2026-11-18")
    answer = edit_against(home, ATTEMPTS, append, *move, writes=ATTEMPTS + 1)  # and back
    assert answer["error"]["code"] == "changed"
    assert "stop that program" in answer["error"]["hint"]
    lines = [f"- rain {number}" for number in range(ATTEMPTS)]
    assert path.read_text().splitlines()[-ATTEMPTS:] == lines
    assert [file.name for file in home.journal.iterdir()] == [path.name]


@pytest.mark.fault(row=5)
def test_an_edit_lands_where_it_was_meant_or_is_refused(home: Home, rounds: Rounds) -> None:
    """Each round edits one entry while saves arrive and a person writes the same file, with or
    without a pause.
    """
    outcomes: Counter[str] = Counter()
    acknowledged: set[str] = set()
    with home.server() as editing, home.server() as saving, ThreadPoolExecutor(2) as threads:
        editing.call("find")
        for number in rounds(5, 5000):
            made = Round(number)
            rng, path = made.rng, home.journal / f"{day(number)}.md"
            path.write_bytes(made.whole)
            path.chmod(mode := rng.choice((0o600, 0o640, 0o664)))
            (hit,) = editing.up_to_date("search", query=f'"{made.word}"', strategy="lexical")[
                "hits"
            ]
            (old,) = editing.call("get", ids=[hit["id"]])["entries"]
            company = rng.choice(("nobody", "saves", "person", "restless", "both", "both"))
            kind = rng.choice(("content", "append", "title", "delete"))

            def save_some(times: int, number: int = number) -> list[str]:
                at = f"{day(number)}T09:31:05"
                return [
                    saving.call("save", content=f"Saved {number} {n}", at=at)["id"]
                    for n in range(times)
                ]

            person = Person(path, rng.choice(WAYS), made.whole)
            pause_s, times = (0, 10_000) if company == "restless" else (0.02, rng.randint(1, 4))
            typing = saves = None
            if company in ("person", "restless", "both"):
                typing = threads.submit(person.type, rng, times, made.typed, pause_s)
            if company in ("saves", "both"):
                saves = threads.submit(save_some, rng.randint(1, 2))
            time.sleep(rng.random() * 0.01)
            outcome = edit_through(
                home, editing, kind, hit["id"], f"m{number}", command=number % 30 == 7
            )
            person.stop = True
            if typing:
                typing.result()
            if saves:
                acknowledged |= set(saves.result())
            outcomes[outcome.what] += 1

            data = path.read_bytes()
            landed = check(made, person, outcome, data)
            assert path.stat().st_mode & 0o777 == mode
            if outcome.what == "landed":
                assert made.target.strip() in (home.state / "trash.md").read_bytes(), (
                    "the old text is not in the trash"
                )
            if landed and number % 50 == 1:
                restored = home.ask("restore", hit["id"])
                (entry,) = editing.call("get", ids=[restored["id"]])["entries"]
                assert (entry["content"], entry["title"]) == (old["content"], old["title"])
                before, _, after = made.split(person.wrote)
                assert before in path.read_bytes() and after in path.read_bytes()
    assert outcomes["landed"], outcomes
    print("", *(f"{count:,} {what}" for what, count in outcomes.most_common()), sep="\n  ")
    assert acknowledged - standing(home).keys() <= vanished(home)


def check(made: Round, person: Person, outcome: Outcome, data: bytes) -> bool:
    """Whether the edit stands in the file; all else must be what the person last wrote, and
    whole saves below it.
    """
    before, old, after = made.split(person.wrote)
    assert data.startswith(before), "what stands above the entry is not what it was"
    rest = data[len(before) :]
    if rest.startswith(old + after) and re.fullmatch(SAVED + rb"*", rest[len(old + after) :]):
        # the entry as the person wrote it, who may have had it in an older buffer
        late = person.began_at > outcome.began_at
        assert outcome.what != "landed" or late or not old, (
            "the edit was acknowledged and is not there"
        )
        return outcome.what == "landed" and not old
    assert outcome.what == "landed", f"refused ({outcome.what}), and yet something changed"
    end = rest.rfind(after) if after else re.search(SAVED + rb"*\Z", rest).start()  # type: ignore[union-attr]
    middle, below = rest[:end], rest[end + len(after) :]
    assert end >= 0 and re.fullmatch(SAVED + rb"*", below), (
        "what stands below the entry is not what it was"
    )
    assert middle.count(b"\n") == middle.count(made.eol), "mixed line ends"
    if outcome.deleted:
        assert middle == b""
    else:
        assert middle.startswith(made.target[:8]) and middle.count(
            f"m{made.number}".encode()
        ) in (1, 2)
        assert b"mood=good" in middle or b"mood=good" not in made.target
    return True


@pytest.mark.fault(row=5)
def test_a_refused_delete_forgets_nothing(home: Home) -> None:
    """The file changed under the delete each time: the entry goes on being watched over like
    any other.
    """
    saved = home.ask("save", "The gate code is 4711.")
    id, path = saved["id"], home.journal / saved["path"]
    buffer = path.read_bytes()
    home.ask("update", id, "--content", "The gate code is 8086.")
    by_rename(path, buffer)
    home.ask("update", id, "--content", "The gate code is 6502.")
    assert vanished(home) == {id}, "the first update"
    answer = edit_against(
        home, ATTEMPTS, lambda _: by_rename(path, path.read_bytes()), "delete", id, "--yes"
    )
    assert answer["error"]["code"] == "changed" and standing(home)[id] == 1
    assert vanished(home) == {id}
    by_rename(path, b"# A day\n\n")
    texts = set()
    while vanished(home):
        home.ask("doctor", "--restore", id)
        texts.add(home.ask("get", id)["entries"][0]["content"])
    assert texts == {"The gate code is 8086.", "The gate code is 6502."}


@pytest.mark.fault(row=5)
def test_an_update_that_is_restored_leaves_the_file_as_it_was(home: Home) -> None:
    endings = (b"  \n\n", b" \t\r\n\r\n")
    with home.server() as server:
        for number, ending in enumerate(endings):
            eol = b"\r\n" if b"\r" in ending else b"\n"
            id = f"20261120-restxre{number}"
            block = eol.join(
                (
                    b"## 09:15 Dull #title",
                    b"<!-- syn:%s mood=good -->" % id.encode(),
                    b"",
                    b"Old \ttext",
                )
            )
            whole = Round(number).before + block + ending + b"## 10:00 Below" + eol
            (path := home.journal / f"2026-11-{20 + number}.md").parent.mkdir(
                exist_ok=True, parents=True
            )
            path.write_bytes(whole)
            server.call(
                "update",
                id=id,
                content="New text.\n\nOf more lines.",
                title="Shiny",
                add_tags=["new"],
            )
            assert path.read_bytes() != whole
            assert home.ask("restore", id)["id"] == id
            assert path.read_bytes() == whole, f"ended with {ending!r}"


# -- row 7: the next search sees exactly the journal
# ----------------------------------------------------


@dataclass
class Note:
    """An entry as the test knows it: one word that stands nowhere else; `id` where it was
    saved, not typed.
    """

    word: str
    block: str
    id: str | None = None


@dataclass
class Model:
    """What stands in which file, in the test's own bookkeeping. `top` is all that is above the
    first entry.
    """

    tops: dict[str, str] = field(default_factory=dict)
    notes: dict[str, list[Note]] = field(default_factory=dict)

    def text(self, path: str) -> str:
        return self.tops[path] + "".join(note.block for note in self.notes[path])

    def expected(self) -> dict[str, tuple[str, int, str | None]]:
        """Path, line and id of each word."""
        found = {}
        for path, notes in self.notes.items():
            line = self.tops[path].count("\n") + 1
            for note in notes:
                found[note.word] = (path, line, note.id)
                line += note.block.count("\n")
        return found


@dataclass
class Desk:
    """A person at work in the journal: each method is one change by hand, on the disk and in
    the model.
    """

    home: Home
    server: Server
    rng: random.Random
    model: Model = field(default_factory=Model)
    removed: list[str] = field(default_factory=list)
    commits: list[tuple[str, Model]] = field(default_factory=list)
    words: int = 0

    def new_word(self) -> str:
        self.words += 1
        return "".join(self.rng.choices("bcdfghkmnpqrtvwz", k=5)) + f"{self.words:05d}x"

    def write(self, path: str) -> None:
        target = self.home.journal / path
        target.parent.mkdir(parents=True, exist_ok=True)
        self.rng.choice((by_rename, in_place))(target, self.model.text(path).encode())

    def some(self) -> tuple[str, list[Note]]:
        """A file that holds entries; a new one is made where there is none."""
        if not (filled := [path for path, notes in self.model.notes.items() if notes]):
            self.add_file()
            filled = list(self.model.notes)
        path = self.rng.choice(filled)
        return path, self.model.notes[path]

    def typed(self) -> Note:
        word = self.new_word()
        clock = f"{self.rng.randrange(24):02d}:{self.rng.randrange(60):02d}"
        body = self.rng.choice(
            (
                f"It is about {word}.",
                f"\nTwo paragraphs.\n\n- {word} in a list",
                f"```\n{word}\n```",
            )
        )
        return Note(word, f"## {clock} Typed by hand\n{body}\n\n")

    # each returns the words that were touched

    def add_file(self) -> list[str]:
        path = f"{self.rng.choice(('', 'old/', 'more/of/'))}{day(self.rng.randrange(4000))}.md"
        if path in self.model.notes:
            return self.add_entry()
        self.model.tops[path] = self.rng.choice(("", f"# {Path(path).stem}\n\n"))
        self.model.notes[path] = [self.typed() for _ in range(self.rng.randint(1, 3))]
        self.write(path)
        return [note.word for note in self.model.notes[path]]

    def add_entry(self) -> list[str]:
        path, notes = self.some()
        note = self.typed()
        notes.insert(self.rng.randint(0, len(notes)), note)
        self.write(path)
        return [note.word]

    def save(self) -> list[str]:
        """Saved through the server: the block is read off the disk, where it must be the file's
        new end.
        """
        word = self.new_word()
        on = day(4000 + self.rng.randrange(10))
        made = self.server.call(
            "save", content=f"Saved: {word}.\n\nWith a second line.", at=f"{on}T09:00:00"
        )
        path = made["path"]
        before = self.model.text(path) if path in self.model.notes else ""
        text = (self.home.journal / path).read_text()
        assert text.startswith(before)
        start = text.index("## 09:00", len(before))
        if not before:
            self.model.tops[path], self.model.notes[path] = text[:start], []
        elif self.model.notes[path]:
            self.model.notes[path][-1].block += text[len(before) : start]
        else:
            self.model.tops[path] += text[len(before) : start]
        self.model.notes[path].append(Note(word, text[start:], made["id"]))
        return [word]

    def change_text(self) -> list[str]:
        path, notes = self.some()
        note = self.rng.choice(notes)
        note.block += self.rng.choice(("", "And a line more.\n"))
        return self._reword(path, note, self.new_word())

    def change_nothing_but_letters(self) -> list[str]:
        """The same size, and the old time of change put back."""
        path, notes = self.some()
        status = (self.home.journal / path).stat()
        touched = self._reword(path, self.rng.choice(notes), self.new_word())
        os.utime(self.home.journal / path, ns=(status.st_atime_ns, status.st_mtime_ns))
        assert (self.home.journal / path).stat().st_size == status.st_size
        return touched

    def _reword(self, path: str, note: Note, new: str) -> list[str]:
        old = note.word
        note.block = note.block.replace(old, new)
        note.word = new
        self.write(path)
        self.removed.append(old)
        return [old, note.word]

    def lines_above(self) -> list[str]:
        path, notes = self.some()
        if not self.model.tops[path]:
            self.model.tops[path] = f"# {Path(path).stem}\n\n"
        else:
            self.model.tops[path] += "\n"
        self.write(path)
        return [note.word for note in notes]

    def rename_file(self) -> list[str]:
        path, notes = self.some()
        new = f"{self.rng.choice(('', 'moved/'))}{day(5000 + self.words + self.rng.randrange(999))}.md"
        if new in self.model.notes:
            return self.add_entry()
        (self.home.journal / new).parent.mkdir(exist_ok=True)
        (self.home.journal / path).rename(self.home.journal / new)
        self.model.notes[new], self.model.tops[new] = (
            self.model.notes.pop(path),
            self.model.tops.pop(path),
        )
        return [note.word for note in notes]

    def delete_entry(self) -> list[str]:
        path, notes = self.some()
        gone = notes.pop(self.rng.randrange(len(notes)))
        self.write(path)
        self.removed.append(gone.word)
        return [gone.word, *(note.word for note in notes)]

    def delete_file(self) -> list[str]:
        path, notes = self.some()
        (self.home.journal / path).unlink()
        del self.model.notes[path], self.model.tops[path]
        self.removed += [note.word for note in notes]
        return [note.word for note in notes]

    def move_entry(self) -> list[str]:
        source, notes = self.some()
        target, others = self.some()
        note = notes.pop(self.rng.randrange(len(notes)))
        others.insert(self.rng.randint(0, len(others)), note)
        first, second = self.rng.sample((source, target), 2)
        self.write(first)
        self.write(second)
        return [note.word]

    def commit(self) -> None:
        self.commits = [
            *self.commits[-9:],
            (commit(self.home.journal), copy.deepcopy(self.model)),
        ]


@pytest.mark.fault(row=7)
def test_the_next_search_sees_exactly_the_journal(home: Home, rounds: Rounds) -> None:
    """After each change by hand every word that stands is found where it stands, and no word
    that went is found.
    """
    with home.server() as server:
        desk = Desk(home, server, random.Random(0))
        desk.save()
        git(home.journal, "init", "-q", "-b", "main")
        for _ in range(5):
            desk.add_file()
        desk.commit()
        changes = (
            *(
                desk.change_text,
                desk.change_nothing_but_letters,
                desk.lines_above,
                desk.rename_file,
            ),
            *(
                desk.delete_entry,
                desk.delete_file,
                desk.move_entry,
                desk.add_entry,
                desk.add_file,
                desk.save,
            ),
        )
        for number in rounds(17, 10_000):
            desk.rng = rng = random.Random(number)
            if number % 8 == 7:
                desk.commit()
                name, then = rng.choice(desk.commits)
                git(home.journal, "checkout", "-q", name)
                now, desk.model = desk.model, then
                in_the_past = then.expected()
                touched = rng.sample(sorted(in_the_past), min(2, len(in_the_past)))
                only_now = [word for word in now.expected() if word not in in_the_past]
                assert_seen(desk, touched, only_now[:2], by_command=number % 64 == 31)
                git(home.journal, "checkout", "-q", "main")
                desk.model = now
                touched += only_now[:2]
            else:
                grown = len(desk.model.expected()) > 60
                touched = rng.choice(
                    (desk.delete_file, desk.delete_entry) if grown else changes
                )()
            standing_now = desk.model.expected()
            gone = [word for word in {*touched, *desk.removed[-1:]} if word not in standing_now]
            there = [word for word in touched if word in standing_now][:3]
            assert_seen(desk, there, gone[:2], by_command=number % 50 == 24)


def assert_seen(desk: Desk, there: list[str], gone: list[str], *, by_command: bool) -> None:
    """The journal as both surfaces show it is the one that the model knows."""
    expected = desk.model.expected()
    for word in there:
        (hit,) = desk.server.call("search", query=f'"{word}"', strategy="lexical")["hits"]
        assert_is(hit, word, expected)
    for word in gone:
        assert desk.server.call("search", query=f'"{word}"')["total"] == 0, (
            f"{word} was removed, and is found"
        )
    listed = desk.server.call("find", order="oldest", limit=100)["entries"]
    if by_command:
        assert desk.home.ask("find", "--order", "oldest", "--limit", "100")["entries"] == listed
        for word in there[:1]:
            (hit,) = desk.home.ask("search", f'"{word}"')["hits"]
            assert_is(hit, word, expected)
        for word in gone[:1]:
            assert desk.home.ask("search", f'"{word}"')["total"] == 0
    assert len(listed) == len(expected)
    assert len({entry["id"] for entry in listed}) == len(listed)
    for entry in listed:
        (word,) = re.findall(r"[a-z]{5}\d{5}x", entry["content"])
        assert_is(entry, word, expected)


def assert_is(
    entry: dict[str, Any], word: str, expected: dict[str, tuple[str, int, str | None]]
) -> None:
    path, line, id = expected[word]
    assert (entry["path"], entry["line"]) == (path, line)
    assert id is None or entry["id"] == id
    assert entry["date"] == Path(path).stem


@pytest.mark.needs(feature="importing")
@pytest.mark.fault(row=4)
def test_what_was_deleted_or_changed_and_came_back_is_named(home: Home) -> None:
    """An editor's old buffer and git bring two entries, an import that was undone, and a page
    back.
    """

    def returned() -> dict[str, str]:
        findings = home.run("doctor", "--json").json["findings"]
        return {
            found["message"].split()[0]: found["fix"]
            for found in findings
            if found["code"] == "returned"
        }

    ids = [
        home.ask("save", text)["id"]
        for text in ("The sloe is ripe.", "The quince is ripe.", "The medlar is not.")
    ]
    (home.journal / "page.md").write_text("# Page\n\nSome words.\n")
    jrnl = home.path.parent / "jrnl.txt"
    jrnl.write_text("[2026-11-20 09:00:00 AM] Imported. It came from elsewhere.\n")
    run = home.ask("import", "--yes", "jrnl", str(jrnl))["run"]
    rows = {
        entry["title"].split()[0].rstrip("."): entry["id"]
        for entry in home.ask("find")["entries"]
    }
    git(home.journal, "init", "-q")
    git(home.journal, "add", "-A")
    git(home.journal, "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "one")
    for id in ids[:2]:
        home.ask("delete", id, "--yes")
    home.ask("update", rows["Page"], "--append", "More words.")
    home.ask("import", "--yes", "--undo", run)
    assert returned() == {}
    git(home.journal, "checkout", "-q", "--", ".")
    back = {*ids[:2], rows["Page"], rows["Imported"]}
    assert set(returned()) == back
    assert all(f"--dismiss {id}" in fix for id, fix in returned().items())
    doctor(home, "--dismiss", [ids[0]])
    home.ask("delete", ids[1], "--yes")
    home.ask("update", rows["Page"], "--append", "Other words.")
    assert set(returned()) == {rows["Imported"]}
    home.ask("restore", ids[1])  # by Synaptic itself: nothing to name
    assert set(returned()) == {rows["Imported"]}
    home.ask("delete", rows["Page"], "--yes")
    home.ask("restore", rows["Page"])
    assert set(returned()) == {rows["Imported"]}


@pytest.mark.fault(row=4)
def test_what_an_editor_read_of_a_first_try_is_not_saved_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An editor reads the file while a save looks at it once more, takes it back and tries
    again, and writes what it read.
    """
    with open_home(tmp_path) as ws:
        path = save(ws, "Oak.", at="2026-11-20T09:00:00").path
        file = ws.journal.place(path)
        read_by_editor: list[bytes] = []
        inject_fault = disk.inject_fault

        def edit_at(step: str, *of: object) -> None:
            inject_fault(step, *of)
            if step == "replace-swapped" and not read_by_editor:
                read_by_editor.append(file.read_bytes())
                [old] = [one for one in file.parent.iterdir() if one.name[0] == "."]
                old.write_bytes(old.read_bytes() + b"Typed.\n")
            elif step == "replace-written" and read_by_editor:
                file.write_bytes(read_by_editor[0])
                monkeypatch.setattr(disk, "inject_fault", inject_fault)

        monkeypatch.setattr(disk, "inject_fault", edit_at)
        id = save(ws, "Beech.", at="2026-11-20T10:00:00").id
        assert read_by_editor and file.read_bytes().count(f"syn:{id}".encode()) == 1
        assert get(ws, [id]).entries[0].content == "Beech."

"""Faults by number: each call to the disk of each command fails once with each error, or is the
last before a kill.

The promise: what a command acknowledged is in the journal exactly, or is there after the next
command; what it refused is not there, and the journal is what it was byte for byte. After a
kill it is either. No temporary file stays.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import io
import json
import os
import random
import re
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import shim
from attack import (
    NOW,
    Broken,
    attack,
    check,
    check_journal,
    check_purged,
    entries,
    files,
    open_home,
    vanished,
)
from typer.main import get_command

import synaptic.cli.main
from synaptic import delete, save, update

FAULTS = (
    ("killed before", shim.KILL_BEFORE, False),
    ("killed after", shim.KILL_AFTER, False),
    ("killed half way", shim.KILL_HALF, False),
    ("EIO", errno.EIO, False),
    ("EIO from then on", errno.EIO, True),
    ("disk full", errno.ENOSPC, True),
    ("disk full for a moment", errno.ENOSPC, False),
    ("read-only from then on", errno.EROFS, True),
    ("interrupted", errno.EINTR, False),
)
LONG = "A long text.\n\n" + "\n".join(
    f"Line {n} of many, with words enough to fill a page or two." for n in range(400)
)
COMMANDS = {
    "save": ["save", "New words."],
    "save into a new file": ["save", "New words.", "--at", "2026-11-25T10:00"],
    "save into a CRLF file": ["save", "New words.\n\nTwice.", "--at", "2026-11-19T10:00"],
    "save a long text": ["save", LONG],
    "save after a killed save": ["save", "New words."],
    "update": ["update", "{first}", "--content", "Changed words."],
    "update a typed entry": ["update", "{typed}", "--append", "Changed words."],
    "update tags": ["update", "{first}", "--add-tag", "urgent"],
    "delete": ["delete", "{first}", "--yes"],
    "purge": ["delete", "{first}", "--purge", "--yes"],
    "restore what was deleted": ["restore", "{deleted}"],
    "restore what was updated": ["restore", "{updated}"],
    "find": ["find"],
}
NEXT = "2026-11-30.md"
STRIDE = 7919
"""A prime: every call meets every fault, in an order that shows much of both early."""
UNSURE = re.compile(r"\bmay (have been|be|stand)\b")
"""An error that says that it does not know whether the command was done."""
DONE = re.compile(r"\bholds \S+ no more\b")
"""An error that says that the entry itself is done, now or with the next command."""
_ANY_ID = re.compile(rb"syn:[0-9]{8}-[0-9a-z]{8}")


@dataclass(frozen=True)
class Scene:
    """A home before a command, kept aside; the command, its calls, and the journal before and
    after it.
    """

    home: Path
    kept: Path
    command: list[str]
    calls: int
    before: dict[str, bytes]
    after: dict[str, bytes]
    known: frozenset[bytes]


NO_FAULT = (0, 0, False)
_places: list[str] = []
"""The folder in which each process makes its scenes."""


def trial(number: int, _: random.Random, folder: Path) -> int:
    """One fault: commands in turn, of each all calls and faults."""
    name = list(COMMANDS)[number % len(COMMANDS)]
    scene = _scene(name)
    step = number // len(COMMANDS) * STRIDE % (scene.calls * len(FAULTS))
    call, kind = divmod(step, len(FAULTS))
    what, fault, forever = FAULTS[kind]
    _copy(scene.kept, scene.home)
    code, said = _command(scene.home, scene.command, (call + 1, fault, forever))
    try:
        _judge(scene, code, said, forever=forever)
    except Broken as broken:
        place = f"{name}, call {call + 1} of {scene.calls}, {what}"
        raise Broken(f"{broken} [{place}] {said.strip()[:300]}") from None
    return 1


def _judge(scene: Scene, code: int, said: str, *, forever: bool) -> None:
    check(code in (0, 1, -9), f"The command ended with {code}")
    check("Traceback" not in said and "is a defect" not in said, "The command has a defect")
    check("[Errno" not in said, "A bare errno is shown")
    with open_home(scene.home) as ws:
        save(ws, "The next command.", at="2026-11-30T10:00")
        now = _normal(scene.home, scene.known)
        if code == 0 or (code == 1 and DONE.search(said)):
            check(now == scene.after, f"Acknowledged, but the journal is {_like(scene, now)}")
        elif code == 1 and not UNSURE.search(said):
            check(now == scene.before, f"Refused, but the journal is {_like(scene, now)}")
        else:
            either = now in (scene.before, scene.after)
            check(either, f"Killed, and the journal is {_like(scene, now)}")
        check_journal(ws)
        # a disk that refuses all cannot note that the text is meant to be gone: a false alarm
        # then loses nothing
        excused = code == -9 or forever or "as vanished" in said or "copies may be left" in said
        check(excused or not vanished(ws), "doctor says that something vanished")
    if scene.command[0] == "delete":
        _judge_delete(scene, gone=now == scene.after)


def _judge_delete(scene: Scene, *, gone: bool) -> None:
    """A purged text is nowhere, at the latest after the same command again; a deleted one
    is in the trash.
    """
    if "--purge" in scene.command:
        code, said = _command(scene.home, scene.command, NO_FAULT)
        check(code == 0 or "not-found" in said, "Purging again fails")
        check_purged(scene.home, b"zucchini")
    elif gone:
        trash = (scene.home / ".state" / "trash.md").read_bytes()
        check(b"Zucchini" in trash, "The trash lacks what was deleted")


def _like(scene: Scene, now: dict[str, bytes]) -> str:
    if now == scene.before:
        return "as before"
    if now == scene.after:
        return "as if it had been done"
    strange = []
    for name in now | scene.after:
        data = now.get(name)
        if data not in (scene.before.get(name), scene.after.get(name)):
            strange.append((name, data and data[-300:]))
    return f"neither as before nor as after: {strange}"


# -- scenes
# -------------------------------------------------------------------------------------------


@functools.cache
def _scene(name: str) -> Scene:
    """Made once in each process."""
    folder = Path(tempfile.mkdtemp(dir=_places[0], prefix="scene-"))
    home = folder / "home"
    kept = folder / "kept"
    journal = home / "journal"
    with open_home(home) as ws:
        save(ws, "One two three.", at="2026-11-19T08:00")
        crlf = journal / "2026-11-19.md"
        crlf.write_bytes(crlf.read_bytes().replace(b"\n", b"\r\n"))
        (journal / "2026-11-20.md").write_text(
            "# 2026-11-20\n\n## 09:00 Coffee\n\nTyped by hand.\n\n## 10:00 Tea\n"
        )
        soup = "Zucchini soup.\n\nWith basil."
        first = save(ws, soup, tags=["food"], at="2026-11-21T08:00").id
        other = save(ws, "Updated later.", at="2026-11-21T08:10").id
        update(ws, other, content="Updated once.")
        deleted = save(ws, "Deleted words.", at="2026-11-21T08:20").id
        delete(ws, deleted)
        save(ws, "The last one.", at="2026-11-21T08:30")
        typed = next(entry.id for entry in entries(ws) if entry.title == "Coffee")
    words = {"first": first, "updated": other, "deleted": deleted, "typed": typed}
    command = [word.format(**words) for word in COMMANDS[name]]
    standing = _ANY_ID.findall(b"".join(files(journal).values()))
    known = frozenset([*standing, f"syn:{typed}".encode(), f"syn:{deleted}".encode()])
    if "killed" in name:
        _kill_before_exchange(home)
    _copy(home, kept)
    code, said = _command(home, command, NO_FAULT)
    assert code == 0, said
    after = _normal(home, known)
    calls = int((folder / "calls").read_text())
    _copy(kept, home)
    with open_home(home) as ws:
        save(ws, "Joins what waits.", at="2026-11-30T10:00")
    return Scene(home, kept, command, calls, _normal(home, known), after, known)


def _kill_before_exchange(home: Path) -> None:
    """Kills a save when its hidden file stands beside the day file."""
    journal = home / "journal"
    before = files(journal)
    for call in range(1, 1_000):
        words = ["save", "Waiting words.", "--at", "2026-11-20T11:00"]
        _command(home, words, (call, shim.KILL_BEFORE, False))
        if list(journal.glob(".*.synaptic")):
            break
    left = files(journal)
    assert left != before, "no call leaves a hidden file"
    assert {name: data for name, data in left.items() if name[0] != "."} == before


def _normal(home: Path, known: frozenset[bytes]) -> dict[str, bytes]:
    """The journal's Markdown without the next command's file; ids that are new in it are all
    one.
    """

    def same(found: re.Match[bytes]) -> bytes:
        return found[0] if found[0] in known else b"syn:NEW"

    return {
        name: _ANY_ID.sub(same, data)
        for name, data in files(home / "journal").items()
        if name != NEXT and name.endswith(".md") and name[0] != "."
    }


def warm_up(folder: Path) -> None:
    """None; what commands load when they are first used is loaded, so that a fork of this
    process costs little.
    """
    main = synaptic.cli.main
    setattr(main, "get_command", functools.cache(get_command))  # noqa: B010
    os.environ |= {
        "SYNAPTIC_HOME": str(folder / "warm"),
        "SYNAPTIC_PROJECT": "soak",
        "SYNAPTIC_NOW": NOW.isoformat(),
    }
    with contextlib.redirect_stdout(io.StringIO()) as said:
        main.main(["save", "One.", "--at", "2026-11-21T08:00", "--json"])
        id = json.loads(said.getvalue())["id"]
        for words in (
            ["update", id, "--append", "Two."],
            ["delete", id, "--yes"],
            ["restore", id],
            ["find"],
        ):
            assert main.main([*words, "--json"]) == 0


def _copy(home: Path, to: Path) -> None:
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(home, to)


def _command(home: Path, words: list[str], fault: tuple[int, int, bool]) -> tuple[int, str]:
    """Exit status and words of a command in a process of its own, in which the call of this
    number meets the fault, and with True all after it.
    """
    said = home.parent / "said"
    call, kind, forever = fault
    if sys.platform == "win32":
        raise NotImplementedError
    child = os.fork()
    if child == 0:
        out = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(out, 1)
        os.dup2(out, 2)
        os.environ["SYNAPTIC_HOME"] = str(home)
        os.chdir(home.parent)
        sys.argv = ["synaptic", *words, "--json"]
        sys.stdin = open(os.devnull)  # noqa: PTH123, SIM115
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
        shim.watch(home)
        shim.break_at(call, kind, forever=forever)
        code = 99
        try:
            code = synaptic.cli.main.main()
        finally:
            (home.parent / "calls").write_text(str(shim.calls()))
            shim.watch(None)
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), said.read_text(errors="replace")


if __name__ == "__main__":
    why_not = shim.preload()
    with tempfile.TemporaryDirectory(prefix="soak-scenes-") as scenes:
        _places.append(scenes)
        if not why_not:
            warm_up(Path(scenes))
        sys.exit(attack(trial, trials=10_000, unit="faults", why_not=why_not))

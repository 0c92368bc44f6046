"""Power cuts: what a disk may hold after one, at every moment of a session of saves and edits.

The shim logs each write, sync, rename, link and removal. A cut keeps what was synced, and of
the rest any part: a write whole, half or not at all, a name or not. The promise: what was
acknowledged stays; what was going on is done or not.
"""

from __future__ import annotations

import bisect
import json
import os
import random
import shutil
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import shim
from attack import Broken, attack, check, entries, files, ids, litter, open_home

from synaptic import SynapticError, Workspace, delete, restore, save, update

CUTS = 12
"""How many cuts are made of one session."""
STEPS = 8
BOOTING_S = 120
"""How long the machine takes to come back: a file is older than that for the next command."""
States = dict[str, set[str]]
"""The texts that an entry may have; "" says that it may be gone."""


@dataclass(frozen=True)
class Call:
    """One call of the log."""

    what: str
    fd: int
    offset: int
    one: str
    two: str
    data: bytes


def trial(_: int, choose: random.Random, folder: Path) -> int:
    """One session, and `CUTS` power cuts in it."""
    home, kept, log = folder / "home", folder / "kept", folder / "log"
    with open_home(home) as ws:
        (home / "journal" / "2026-11-21.md").write_text(
            "# 2026-11-21\n\n## 07:00 Typed\n\nBy hand.\n"
        )
        known = [save(ws, f"Early {n}.", at=f"2026-11-21T07:1{n}").id for n in range(3)]
    shutil.copytree(home, kept)
    _session(home, known, random.Random(choose.random()), log)
    calls = _read(log)
    begin = next(number for number, call in enumerate(calls) if call.what == "note")
    for _ in range(CUTS):
        cut = choose.randrange(begin, len(calls) + 1)
        keep = choose.choice((0.0, 0.5, 1.0))
        shutil.rmtree(home)
        shutil.copytree(kept, home)
        _after(home, calls[:cut], keep, choose)
        states, purged = _promised(calls[:cut], known)
        try:
            _judge(home, states, purged)
        except Broken as broken:
            doing = [call.data.decode()[:60] for call in calls[:cut] if call.what == "note"][
                -1:
            ]
            raise Broken(
                f"{broken} [cut at call {cut}, {keep:.0%} of what was not synced, {doing}]"
            ) from None
    return CUTS


# -- a session
# ----------------------------------------------------------------------------------------


def _session(home: Path, known: list[str], choose: random.Random, log: Path) -> None:
    """None; the log holds the calls of a process that saves and edits, and notes what it begins
    and what is done.
    """
    if sys.platform == "win32":
        raise NotImplementedError
    child = os.fork()
    if child == 0:
        code = 1
        try:
            with open_home(home) as ws:
                shim.watch(home, log=os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND))
                for step in range(STEPS):
                    _step(ws, choose, known, step)
                shim.watch(None)
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert status == 0, "the session failed"


def _step(ws: Workspace, choose: random.Random, known: list[str], step: int) -> None:
    verb = choose.choice(
        ("save", "save", "save", "update", "update", "delete", "purge", "restore")
    )
    day = choose.choice(("2026-11-21", "2026-11-22", f"2026-12-{step + 1:02d}"))
    text = f"Text of step {step}." + " More of it." * choose.choice((0, 5, 500))
    id = choose.choice(known)
    _note("begin", verb, "" if verb == "save" else id, text)
    try:
        if verb == "save":
            id = save(ws, text, at=f"{day}T08:{step:02d}").id
            known.append(id)
        elif verb == "update":
            update(ws, id, content=text)
        elif verb == "restore":
            restore(ws, id)
        else:
            delete(ws, id, purge=verb == "purge")
    except SynapticError:
        _note("refused", verb, id, "")
    else:
        now = {entry.id: entry.content for entry in entries(ws)} if verb == "restore" else {}
        _note("done", verb, id, now.get(id, text))


def _note(*words: str) -> None:
    shim.note(json.dumps(words))


# -- the disk after a cut
# -----------------------------------------------------------------------------


def _read(log: Path) -> list[Call]:
    raw, calls, at = log.read_bytes(), list[Call](), 0
    while at < len(raw):
        end = raw.index(b"\n", at)
        what, fd, offset, size, one, two = raw[at:end].decode().split("\t")
        at = end + 1 + int(size)
        calls.append(Call(what, int(fd), int(offset), one, two, raw[end + 1 : at]))
    return calls


@dataclass
class Disk:
    """Names and the files they lead to, by number; `live` is what programs see, `real` what the
    disk holds.
    """

    live: dict[str, int] = field(default_factory=dict)
    real: dict[str, int] = field(default_factory=dict)
    data: dict[int, bytearray] = field(default_factory=dict)


def _after(home: Path, calls: list[Call], keep: float, choose: random.Random) -> None:
    """None; the home is what a disk may hold after these calls and a power cut."""
    disk = Disk()
    for number, there in enumerate(there for there in home.rglob("*") if there.is_file()):
        disk.live[str(there)] = disk.real[str(there)] = number
        disk.data[number] = bytearray(there.read_bytes())
    opened: dict[int, tuple[str, int]] = {}
    touched: list[tuple[Call, int]] = []  # with the file it is about
    for call in calls:
        file = _play(disk.live, call, opened, len(disk.data))
        if file == len(disk.data):
            disk.data[file] = bytearray()
        touched.append((call, file))
    synced: dict[
        str | int, list[int]
    ] = {}  # when a folder's names, or a file's bytes, were synced
    held: dict[int, tuple[str, int]] = {}
    for number, (call, file) in enumerate(touched):
        if call.fd >= 0 and call.what in ("open", "create", "empty"):
            held[call.fd] = (call.one, file)
        elif call.what == "sync" and call.fd in held:
            path, of = held[call.fd]
            synced.setdefault(of if of >= 0 else path, []).append(number)
    for number, (call, file) in enumerate(touched):
        changed = str(PurePosixPath(call.two or call.one).parent)
        key: str | int = file if call.what in ("write", "cut", "empty") else changed
        moments = synced.get(key, [])
        durable = bisect.bisect(moments, number) < len(moments)
        if durable or choose.random() < keep:
            _settle(disk, call, file)
        elif call.what == "write" and choose.random() < 0.3:
            _settle(
                disk,
                Call(
                    "write",
                    call.fd,
                    call.offset,
                    call.one,
                    "",
                    call.data[: len(call.data) // 2],
                ),
                file,
            )
    for there in home.rglob("*"):
        if there.is_file():
            there.unlink()
    for name, file in disk.real.items():
        if "/index.db" not in name:  # may vanish at any time
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_bytes(disk.data[file])
            os.utime(name, (time.time() - BOOTING_S,) * 2)


def _play(
    names: dict[str, int], call: Call, opened: dict[int, tuple[str, int]], fresh: int
) -> int:
    """The file that a call is about, -1 for none; `names` are afterwards what programs see."""
    what, one, two = call.what, call.one, call.two
    if what == "create":
        names[one] = fresh
    if what in ("open", "create", "empty"):
        opened[call.fd] = (one, names.get(one, -1))
        return names.get(one, -1)
    if what in ("write", "cut", "sync"):
        return opened.get(call.fd, ("", -1))[1]
    file = names.get(one, -1)
    _rename(names, what, one, two, file)
    return file


def _rename(names: dict[str, int], what: str, one: str, two: str, file: int) -> None:
    if what == "exchange":
        names[one], names[two] = names[two], names[one]
    elif what in ("rename", "link") and file >= 0:
        names[two] = file
    if (what == "rename" and one != two) or what == "remove":
        names.pop(one, None)


def _settle(disk: Disk, call: Call, file: int) -> None:
    """None; this call reached the disk."""
    if call.what == "write" and file >= 0:
        data = disk.data[file]
        data.extend(bytes(max(0, call.offset - len(data))))
        data[call.offset : call.offset + len(call.data)] = call.data
    elif call.what in ("cut", "empty") and file >= 0:
        del disk.data[file][call.offset :]
    elif call.what == "create":
        disk.real[call.one] = file
    elif call.what == "exchange":
        other = disk.real.get(call.two)
        disk.real[call.two] = file
        if other is not None:
            disk.real[call.one] = other
    elif call.what in ("rename", "link"):
        disk.real[call.two] = file
        if call.what == "rename" and disk.real.get(call.one) == file:
            del disk.real[call.one]
    elif call.what == "remove" and disk.real.get(call.one) == file:
        del disk.real[call.one]


# -- the promise
# --------------------------------------------------------------------------------------


def _promised(calls: list[Call], known: list[str]) -> tuple[States, set[str]]:
    """What each entry may say after these calls, and the texts that were purged."""
    states: States = {id: {f"Early {number}."} for number, id in enumerate(known[:3])}
    purged: set[str] = set()
    begun: tuple[str, str, str] | None = None
    for call in calls:
        if call.what == "note":
            stage, verb, id, text = json.loads(call.data)
            begun = (verb, id, text) if stage == "begin" else None
            if stage == "done" and verb == "purge":
                purged |= states[id] - {""}
            if stage == "done":
                states[id] = {"" if verb in ("delete", "purge") else text}
    if begun is not None:  # may be done or not
        verb, id, text = begun
        if verb == "save":
            states["new"] = {text, ""}
        elif verb == "restore":
            states[id] = {"any"}
        else:
            states[id] |= {"" if verb in ("delete", "purge") else text}
    return states, purged


def _judge(home: Path, states: States, purged: set[str]) -> None:
    with open_home(home) as ws:
        save(ws, "The next command.", at="2026-12-30T08:00")
        now = {entry.id: entry.content for entry in entries(ws)}
        text = b"\n".join(files(ws.config.journal).values())
        twice = [id for id, count in ids(text).items() if count > 1]
        check(not twice, "An entry stands twice")
        check(b"## 07:00 Typed\n\nBy hand.\n" in text, "What was typed by hand is damaged")
        check(
            not litter(ws.config.journal), f"Left in the journal: {litter(ws.config.journal)}"
        )
        for id, allowed in states.items():
            said = now.get(id, "")
            if "any" in allowed or id == "new":
                continue
            check(said or "" in allowed, "An acknowledged entry is gone")
            check(not said or allowed != {""}, "A deleted entry is back")
            check(
                said in allowed,
                f"An entry says {said[:60]!r}, not one of "
                f"{sorted(text[:60] for text in allowed)}",
            )
        for word in purged - set().union(*states.values()):
            left = [
                path.name
                for path in home.rglob("*")
                if path.is_file() and word.encode() in path.read_bytes()
            ]
            check(not left, f"Purged words are left in {left}")


if __name__ == "__main__":
    sys.exit(attack(trial, trials=2_496, unit="power cuts", why_not=shim.preload()))

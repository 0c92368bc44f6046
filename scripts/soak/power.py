"""Power cuts: what a disk may hold after one, at every moment of a session of saves and edits.

The shim logs each write, sync, rename, link and removal. A cut keeps what was synced, and of
the rest any part: a write whole, half or not at all, a name or not. The promise: what was
acknowledged stays; what was going on is done or not.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import shim
from attack import Broken, attack, check, check_journal, check_purged, entries, open_home

from synaptic import SynapticError, Workspace, delete, restore, save, update

CUTS = 12
"""The cuts that are made of one session."""
STEPS = 8
BOOTING_S = 120
"""Seconds until the machine comes back: a file is older than that for the next command."""
States = dict[str, set[str]]
"""The texts that an entry may have; "" says that it may be gone."""


class Call(NamedTuple):
    """One call of the log."""

    what: str
    fd: int
    offset: int
    one: str
    two: str
    data: bytes


def trial(_: int, choose: random.Random, folder: Path) -> int:
    """One session, and `CUTS` power cuts in it."""
    home = folder / "home"
    kept = folder / "kept"
    log = folder / "log"
    with open_home(home) as ws:
        (home / "journal" / "2026-11-21.md").write_text(
            "# 2026-11-21\n\n## 07:00 Typed\n\nBy hand.\n"
        )
        known = [save(ws, f"Early {n}.", at=f"2026-11-21T07:1{n}").id for n in range(3)]
    shutil.copytree(home, kept)
    _session(home, known, random.Random(choose.random()), log)
    calls = _read(log)
    notes = [number for number, call in enumerate(calls) if call.what == "note"]
    for _ in range(CUTS):
        cut = choose.randrange(notes[0], len(calls) + 1)
        keep = choose.choice((0.0, 0.5, 1.0))
        shutil.rmtree(home)
        shutil.copytree(kept, home)
        _after(home, calls[:cut], keep, choose)
        states, purged = _promised(calls[:cut], known)
        try:
            _judge(home, states, purged)
        except Broken as broken:
            doing = [calls[number].data[:60] for number in notes if number < cut][-1:]
            place = f"cut at call {cut}, {keep:.0%} of what was not synced, {doing}"
            raise Broken(f"{broken} [{place}]") from None
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
    verbs = ("save", "save", "save", "update", "update", "delete", "purge", "restore")
    verb = choose.choice(verbs)
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
    raw = log.read_bytes()
    calls: list[Call] = []
    at = 0
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
    synced: dict[str | int, int] = {}  # the last sync of a folder's names, or of a file
    for number, call in enumerate(calls):
        path, file = _play(disk, call, opened)
        touched.append((call, file))
        if call.what == "sync":
            synced[file if file >= 0 else path] = number
    for number, (call, file) in enumerate(touched):
        key: str | int = file
        if call.what not in ("write", "cut", "empty"):
            key = str(PurePosixPath(call.two or call.one).parent)
        durable = synced.get(key, -1) > number
        if durable or choose.random() < keep:
            _settle(disk, call, file)
        elif call.what == "write" and choose.random() < 0.3:
            _settle(disk, call._replace(data=call.data[: len(call.data) // 2]), file)
    for there in home.rglob("*"):
        if there.is_file():
            there.unlink()
    for name, file in disk.real.items():
        if "/index.db" not in name:  # may vanish at any time
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_bytes(disk.data[file])
            os.utime(name, (time.time() - BOOTING_S,) * 2)


def _play(disk: Disk, call: Call, opened: dict[int, tuple[str, int]]) -> tuple[str, int]:
    """The path and file that a call is about, -1 for none; programs see what it did."""
    if call.what in ("write", "cut", "sync"):
        return opened.get(call.fd, ("", -1))
    file = disk.live.get(call.one, -1)
    if call.what == "create":
        file = len(disk.data)
        disk.data[file] = bytearray()
    if call.what in ("open", "create", "empty"):
        opened[call.fd] = (call.one, file)
    _name(disk.live, call, file)
    return call.one, file


def _name(names: dict[str, int], call: Call, file: int) -> None:
    """Does what a call does to the names of a file."""
    one, two = call.one, call.two
    if file < 0:
        return
    if call.what == "create":
        names[one] = file
    elif call.what == "exchange":
        other = names.get(two)
        names[two] = file
        if other is not None:
            names[one] = other
    elif call.what in ("rename", "link"):
        names[two] = file
    if call.what in ("rename", "remove") and one != two and names.get(one) == file:
        del names[one]


def _settle(disk: Disk, call: Call, file: int) -> None:
    """Lets this call reach the disk."""
    if call.what == "write" and file >= 0:
        data = disk.data[file]
        data.extend(bytes(max(0, call.offset - len(data))))
        data[call.offset : call.offset + len(call.data)] = call.data
    elif call.what in ("cut", "empty") and file >= 0:
        del disk.data[file][call.offset :]
    else:
        _name(disk.real, call, file)


# -- the promise
# --------------------------------------------------------------------------------------


def _promised(calls: list[Call], known: list[str]) -> tuple[States, set[str]]:
    """The texts that each entry may have after these calls, and the texts that were purged."""
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
        text = check_journal(ws)
    check(b"## 07:00 Typed\n\nBy hand.\n" in text, "What was typed by hand is damaged")
    for id, allowed in states.items():
        if "any" in allowed or id == "new":
            continue
        said = now.get(id, "")
        check(said or "" in allowed, "An acknowledged entry is gone")
        check(not said or allowed != {""}, "A deleted entry is back")
        check(said in allowed, f"An entry says {said[:60]!r}, not one of {allowed}")
    for word in purged - set().union(*states.values()):
        check_purged(home, word.encode().lower())


if __name__ == "__main__":
    sys.exit(attack(trial, trials=2_496, unit="power cuts", why_not=shim.preload()))

"""Saves, updates and deletions among editors that write whenever it suits them least.

An editor acts before a call to the disk that the seed chooses, so each race is the same
whenever it is repeated. The promise: what was acknowledged stands in the journal once, or an
editor's old buffer took it away: then it is kept and doctor names it. What an editor wrote last
is there, line by line.
"""

from __future__ import annotations

import os
import random
import string
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import shim
from attack import NOW, attack, check, check_journal, entries, files, open_home, vanished

from synaptic import SynapticError, Workspace, delete, save, update

STEPS = 9
CHANGES = ("update", "delete")
CALLS = 60
"""A verb makes at most so many calls to the disk; later ones are as good as none."""


@dataclass
class Page:
    """The day's file as its editors see it: the lines that must be there."""

    path: Path
    lines: set[str] = field(default_factory=set)
    typed: int = 0

    def line(self) -> str:
        self.typed += 1
        return f"Line {self.typed} of an editor."

    def holds(self, buffer: bytes) -> None:
        """None; the file holds this buffer now, and no other editor's lines."""
        self.lines = {line for line in buffer.decode().split("\n") if line.startswith("Line ")}

    def read(self) -> bytes:
        return self.path.read_bytes() if self.path.exists() else b""

    def is_open_as(self, handle: int) -> bool:
        return self.path.exists() and os.path.samestat(os.fstat(handle), self.path.stat())


Steps = list[Callable[[], None]]
"""The steps of an editor, one after the other; anything may happen in between."""


def truncating(page: Page, buffer: bytes) -> Steps:
    """Empties the file and writes its buffer."""

    def act() -> None:
        page.path.write_bytes(buffer)
        page.holds(buffer)

    return [act]


def by_rename(page: Page, buffer: bytes) -> Steps:
    """Writes its buffer beside the file and puts that in its place."""

    def act() -> None:
        beside = page.path.with_name("4913.tmp")
        beside.write_bytes(buffer)
        beside.replace(page.path)
        page.holds(buffer)

    return [act]


def slow(page: Page, buffer: bytes) -> Steps:
    """Empties the file, then writes its buffer in two pieces, through one handle."""
    handles: list[int] = []
    half = len(buffer) // 2

    def empty() -> None:
        handles.append(os.open(page.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC))
        page.lines = set()

    def begin() -> None:
        os.write(handles[0], buffer[:half])

    def end() -> None:
        os.write(handles[0], buffer[half:])
        if page.is_open_as(handles[0]):
            page.holds(buffer)
        os.close(handles[0])

    return [empty, begin, end]


def appending(page: Page, _: bytes) -> Steps:
    """Opens the file, and later adds a line to its end (`>>`)."""
    handles: list[int] = []

    def begin() -> None:
        handles.append(os.open(page.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND))

    def write() -> None:
        line = page.line()
        os.write(handles[0], f"\n{line}\n".encode())
        if page.is_open_as(handles[0]):
            page.lines.add(line)  # else it was written to a file that had been replaced before
        os.close(handles[0])

    return [begin, write]


@dataclass
class Told:
    """All that was acknowledged: the texts of each entry in order, "" where it was deleted."""

    texts: dict[str, list[str]] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    """The entries whose text an editor took away before a later update."""


def trial(_: int, choose: random.Random, folder: Path) -> int:
    """A few verbs among editors; how many there were."""
    with open_home(folder / "home") as ws:
        page = Page(ws.config.journal / f"{NOW:%Y-%m-%d}.md")
        told = Told()
        for number in range(3):
            text = f"Early text {number}."
            told.texts[save(ws, text, at=NOW).id] = [text]
        waiting: Steps = []
        for step in range(STEPS):
            if len(waiting) < 3 and choose.random() < 0.8:
                waiting.extend(_editor(page, choose))
            most = min(len(waiting), choose.randrange(3))
            moments = sorted(choose.randrange(-10, CALLS) for _ in range(most))

            def between(call: int, *_: bytes, moments: list[int] = moments) -> None:
                while moments and moments[0] <= call and waiting:
                    moments.pop(0)
                    waiting.pop(0)()

            between(-1)
            _verb(ws, page, told, choose, step, between)
        for act in waiting:
            act()
        _judge(ws, page, told)
    return STEPS


def _editor(page: Page, choose: random.Random) -> Steps:
    """An editor whose buffer is the file as it is now, with a line added to it."""
    way = choose.choice((truncating, by_rename, slow, appending))
    buffer = page.read()
    if way is not appending:
        typed = f"\n\n## 10:{page.typed % 60:02d} Typed\n\n{page.line()}\n"
        buffer = buffer.rstrip(b"\n") + typed.encode()
    return way(page, buffer)


def _verb(
    ws: Workspace, page: Page, told: Told, choose: random.Random, step: int, between: shim.Hook
) -> None:
    standing = [id for id, texts in told.texts.items() if texts[-1]]
    verb = "save"
    if standing:
        verb = choose.choice(("save", "save", "update", "update", "delete"))
    words = ["".join(choose.choices(string.ascii_lowercase, k=6)) for _ in range(4)]
    text = "The {} {} of step {step}.\n\nIts {} end, {}.".format(*words, step=step)
    id = choose.choice(standing) if standing else ""
    trashed = len(ws.journal.trashed())
    shim.watch(ws.config.journal.parent, hook=between)
    try:
        if verb == "save":
            told.texts[save(ws, text, at=NOW).id] = [text]
        elif verb == "update":
            update(ws, id, content=text)
        else:
            delete(ws, id)
    except SynapticError as error:
        check("[Errno" not in str(error) and error.code != "error", f"{verb} says {error}")
        return
    finally:
        shim.watch(None)
    if verb != "save":
        # what it read: an editor may have written between its start and then, and again after
        pieces = [one for one in ws.journal.trashed()[trashed:] if one.why in CHANGES]
        replaced = pieces[-1].text
        # a line in the body of an entry goes with it
        page.lines -= set(replaced.decode().split("\n"))
        (entry,) = ws.journal.parse(page.path.name, replaced, 0).entries
        stood = f"{entry.title}\n{entry.content}"
        if told.texts[id][-1] not in stood and not _edited(stood, told.texts[id][-1]):
            told.taken.add(id)
        told.texts[id].append(text if verb == "update" else "")
    if verb == "delete" and f"syn:{id}".encode() in page.read():
        told.texts.pop(id)  # an editor wrote it back while it was deleted


def _judge(ws: Workspace, page: Page, told: Told) -> None:
    # a text of one line stands in its heading, below which an editor may have typed
    before = page.read()
    now = {entry.id: f"{entry.title}\n{entry.content}" for entry in entries(ws)}
    named = vanished(ws)
    state = b"\n".join(
        data for name, data in files(ws.config.state).items() if "index.db" not in name
    )
    after = page.read()
    check(after == before, "Looking changed the journal")
    lost = [line for line in page.lines if f"{line}\n".encode() not in after]
    check(not lost, f"What an editor wrote last is not there: {lost}")
    check_journal(ws)
    for id, texts in told.texts.items():
        last = texts[-1]
        if last and last not in now.get(id, ""):
            check(last.encode() in state, "An acknowledged text is nowhere")
            known = _edited(now.get(id, ""), last) or id in named
            check(known, "A text was taken away, and doctor does not name it")
        for old in texts[:-1]:
            kept = old.encode() in state + after
            check(kept, f"A replaced text is nowhere: {old!r} of {id}")
        if id in told.taken and last:
            check(id in named, "doctor does not name an update taken away before another")


def _edited(stands: str, last: str) -> bool:
    """True where the entry has the heading of its last text, and of the rest what a person may
    leave.

    Two editors that write into one file at once leave other words there, or a paragraph less:
    so does a person.
    """
    title, _, content = stands.partition("\n")
    rest = last.removeprefix(content)
    return title == last.split(".")[0] and (
        content == title or rest == last or rest.startswith("\n")
    )


if __name__ == "__main__":
    unit = "saves, updates and deletions"
    sys.exit(attack(trial, trials=5_163, unit=unit, why_not=shim.preload()))

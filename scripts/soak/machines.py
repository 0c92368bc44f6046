"""Three machines share a journal through git: 600 random changes, a third of them made offline,
syncs in random order, and `kill -9` in each step of them.

The promise: in the end all clones are equal. Each text whose save or edit was acknowledged is
there, unless somebody who had seen it replaced or deleted it. What was deleted, and edited by
nobody meanwhile, is gone. Only an entry whose text two machines replaced, neither having seen
the other's, carries a conflict, and the status names it. Files that no machine can receive, and
one that one machine cannot, stay in the repository as they are. The seed repeats a life, but for
ids.
"""

from __future__ import annotations

import itertools
import os
import random
import re
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from attack import NOW, HashingEmbedder, attack, check, files, git, ids

from synaptic import Workspace, delete, open_workspace, save, status, update
from synaptic.config import load_config
from synaptic.errors import SynapticError
from synaptic.features.sharing.syncing import init_sync, sync
from synaptic.verbs.browse import get

assert sys.platform != "win32", "This kills processes that it forks."

CHANGES = 600
STEPS = (
    "sync-made",
    "sync-fetched",
    "sync-merged",
    "created",
    "replace-written",
    "replaced",
    "sync-applied",
    "sync-held",
    "sync-moved",
    "sync-pushed",
)
_WORD = re.compile(r"w\d{5}x")
_MINUTES = 30
STUCK = "stuck.md"
"""A note of the first machine; the second one has a folder of that name."""
ODD = ("a\\b.md", ".claude/settings.json", "run.sh")
"""Paths that somebody with git alone adds."""
PARAGRAPHS = ("- a\n- b", "More.", "```\nx = 1\n```", "> quoted\n> twice")


@dataclass
class Truth:
    """What was acknowledged: words, those that somebody replaced or deleted, and deleted ids."""

    words: set[str] = field(default_factory=set)
    replaced: set[str] = field(default_factory=set)
    words_of: dict[str, set[str]] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    edits: Counter[tuple[str, frozenset[str]]] = field(default_factory=Counter)
    """By id how often each text was edited: twice by machines that had not seen each other's."""
    counts: Counter[str] = field(default_factory=Counter)

    def word(self) -> str:
        return f"w{len(self.words):05d}x"


class Machine:
    """A home, and its way to the shared repository, which is a link."""

    def __init__(self, folder: Path, number: int) -> None:
        self.link = folder / f"way {number}"
        self.hub = folder / "hub.git"
        self.home = folder / f"home {number}"
        self.moment = NOW
        self.offline = 0
        self.ws = self._open()

    def _open(self) -> Workspace:
        return open_workspace(
            load_config(self.home), embedder=HashingEmbedder(), clock=lambda: self.moment
        )

    def begin(self) -> None:
        self.link.symlink_to(self.hub)
        self.ws.close()
        init_sync(load_config(self.home), str(self.link), lambda _: True)
        self.ws = self._open()

    def change(self, choose: random.Random, truth: Truth, number: int) -> None:
        """One change that a person or an agent makes."""
        self.moment = NOW + timedelta(days=number // 150, seconds=number * 7)
        here = _saved(self.ws)
        kind = choose.choice(("save", "save", "save", "typed", "update", "delete", "supersede"))
        if not here:
            kind = "save"
        word = truth.word()
        text = f"Some {word} text.\n\n{choose.choice(PARAGRAPHS)}"
        id = choose.choice(here) if here else ""
        truth.counts[kind] += 1
        truth.counts["offline"] += self.offline > 0
        if kind == "typed":
            day = self.ws.config.journal / self.ws.journal.day_path(self.moment)
            with day.open("a", encoding="utf-8") as file:
                file.write(f"\n## {self.moment:%H:%M} Typed {number}\n\n{text}\n")
        elif kind in ("update", "delete"):
            entry = get(self.ws, [id]).entries[0]
            before = set(_WORD.findall(entry.content))
            if kind == "update":
                truth.edits[id, frozenset(before)] += 1
                update(self.ws, id, content=text)
            else:
                delete(self.ws, id)
                truth.deleted.add(id)
                word = ""
            truth.replaced |= before
        else:
            old = [id] if kind == "supersede" else None
            id = save(self.ws, text, title=f"Note {number}", supersedes=old, force=True).id
        if word:
            truth.words.add(word)
            truth.words_of.setdefault(id, set()).add(word)

    def sync(self, truth: Truth, fault: str = "") -> None:
        """A sync in a process of its own, which may be killed at a step."""
        pid = os.fork()
        if not pid:
            os.environ["SYNAPTIC_FAULT"] = fault
            code = 4
            try:
                sync(load_config(self.home))
                code = 0
            except SynapticError as error:
                print(error, file=sys.stderr)
                code = 3
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        ended = os.waitpid(pid, 0)[1]
        truth.counts["syncs"] += 1
        if os.WIFSIGNALED(ended):
            truth.counts[f"killed at {fault}"] += 1
        else:
            check(not ended, f"A sync failed with {os.WEXITSTATUS(ended)}")


def _saved(ws: Workspace) -> list[str]:
    """The ids of the entries that carry no conflict, in the order of the journal."""
    found: list[str] = []
    for stamp in sorted(ws.journal.scan()):
        text = ws.journal.read(stamp.path)
        for block in re.split(rb"(?m)^(?=## )", text):
            if b"<<<<<<<" not in block:
                found += ids(block)
    return found


def trial(number: int, choose: random.Random, folder: Path) -> int:
    """One life of three machines."""
    signal.alarm(_MINUTES * 60)
    os.environ["HOME"] = str(folder)
    git(folder, "init", "-q", "--bare", "-b", "main", "hub.git")
    machines = [Machine(folder, each) for each in range(3)]
    truth = Truth()
    begun = time.process_time()
    numbers = itertools.count()
    for machine in machines:
        machine.change(choose, truth, next(numbers))
        machine.begin()
    kept = _burden(folder, machines, truth)
    steps = itertools.cycle(STEPS)
    for at in numbers:
        if at == CHANGES:
            break
        machine = choose.choice(machines)
        if machine.offline:
            machine.offline -= 1
            if not machine.offline:
                machine.link.symlink_to(machine.hub)
        elif choose.random() < 0.05:
            machine.offline = 10
            machine.link.unlink()
        machine.change(choose, truth, at)
        if choose.random() < 0.3:
            other = choose.choice(machines)
            other.sync(truth, next(steps) if choose.random() < 0.4 else "")
    _judge(machines, truth)
    check(kept == _entries(folder), f"Not as they were: {kept}, {_entries(folder)}")
    print(
        dict(sorted(truth.counts.items())), f"{time.process_time() - begun:.0f} s", flush=True
    )
    return CHANGES


def _burden(folder: Path, machines: list[Machine], truth: Truth) -> str:
    """The entries of files that cannot be received everywhere, which are added."""
    (machines[1].ws.config.journal / STUCK).mkdir()
    (machines[1].ws.config.journal / STUCK / "mine.txt").write_text("mine")
    (machines[0].ws.config.journal / STUCK).write_text("# Stuck\n")
    machines[0].sync(truth)
    git(folder, "clone", "-q", "hub.git", "work")
    work = folder / "work"
    (work / ".claude").mkdir()
    for path in ODD:
        (work / path).write_text("{}")
    git(work, "add", "-f", *ODD)
    git(work, "commit", "-qm", "Odd files")
    git(work, "push", "-q")
    return _entries(folder)


def _entries(folder: Path) -> str:
    command = ["git", "-C", str(folder / "hub.git"), "ls-tree", "-r", "main"]
    lines = subprocess.run(
        [*command, "--", STUCK, *ODD], capture_output=True, check=True
    ).stdout
    assert lines.count(b"\n") == len(ODD) + 1, lines
    return lines.decode()


def _judge(machines: list[Machine], truth: Truth) -> None:
    for machine in machines:
        machine.link.unlink(missing_ok=True)
        machine.link.symlink_to(machine.hub)
    for machine in [*machines, *machines]:
        machine.sync(truth)
    held = [_notes(machine) for machine in machines]
    check(held[0] == held[1] == held[2], "The clones differ")
    text = b"\n".join(held[0].values())
    words = set(_WORD.findall(text.decode()))
    lost = truth.words - truth.replaced - words
    check(not lost, f"Lost: {sorted(lost)}")
    back = [id for id in truth.deleted & set(ids(text)) if truth.words_of[id] <= truth.replaced]
    check(not back, f"Deleted entries are back: {back}")
    twice = [id for id, count in ids(text).items() if count > 1]
    check(not twice, f"Entries stand twice: {twice}")
    conflicts = text.count(b"<<<<<<< ")
    entries = len(re.findall(rb"(?m)^## ", text))
    named = [
        issue for issue in status(machines[0].ws).issues if issue.code == "conflict-marker"
    ]
    edited_twice = {id for (id, _), count in truth.edits.items() if count > 1}
    truth.counts |= Counter(
        conflicts=conflicts, edited_twice=len(edited_twice), entries=entries, named=len(named)
    )
    for block in re.split(rb"(?m)^(?=## )", text):
        is_true = b"<<<<<<< " not in block or edited_twice & set(ids(block))
        check(is_true, f"A conflict, though no two machines edited one text: {block!r}")
    check(len(named) == conflicts, f"{conflicts} conflicts, of which {len(named)} are named")


def _notes(machine: Machine) -> dict[str, bytes]:
    found = files(machine.ws.config.journal)
    return {path: data for path, data in found.items() if not path.startswith((".git/", STUCK))}


if __name__ == "__main__":
    sys.exit(attack(trial, trials=8 * CHANGES, unit="changes"))

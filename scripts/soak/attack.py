"""The common part of the attacks: trials that a seed repeats, and a home to attack.

A trial is a function of its number, a source of random choices and an empty folder. It returns
how many checks it made, and raises Broken where a promise of Synaptic did not hold. Number and
seed make the same trial again.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import multiprocessing
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import numpy as np

from synaptic import Workspace, find, open_workspace
from synaptic.config import Config
from synaptic.models import Entry, Meaning
from synaptic.verbs.doctor import run_checkup

Trial = Callable[[int, random.Random, Path], int]
TRIAL_S = 120
BATCH = 4 * (os.cpu_count() or 1)
SHOWN = 30
NOW = datetime(2026, 11, 21, 9, 30).astimezone()
_ID = re.compile(rb"<!--[ \t]*syn:([0-9]{8}-[0-9a-z]{8})(?=\s|-->)")


_GIT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
for _who in ("AUTHOR", "COMMITTER"):
    _GIT |= {f"GIT_{_who}_NAME": "soak", f"GIT_{_who}_EMAIL": "soak@example.org"}


class Broken(AssertionError):
    """A promise that did not hold."""


def check(holds: object, promise: str) -> None:
    """None. Raises Broken where it does not hold."""
    if not holds:
        raise Broken(promise)


# -- trials
# -------------------------------------------------------------------------------------------


def attack(trial: Trial, *, trials: int, unit: str, why_not: str = "") -> int:
    """The exit status of a whole attack, which it runs as the command line says: 1 where a
    promise did not hold.
    """
    script = Path(sys.argv[0])
    asked = _asked(trials, unit)
    if why_not:
        print(f"{script.stem}: skipped, {why_not}.")
        return 0
    begun = time.monotonic()
    done = 0
    failures: list[str] = []
    first = (asked.seed - 1) * asked.trials  # each seed has other numbers
    numbers = itertools.count(first) if asked.only is None else iter([asked.only])
    with (
        tempfile.TemporaryDirectory(prefix="soak-") as scratch,
        ProcessPoolExecutor(mp_context=multiprocessing.get_context("fork")) as workers,
    ):
        tried = partial(_tried, trial, asked.seed, scratch, begun + asked.seconds)
        while done < asked.trials and time.monotonic() - begun < asked.seconds:
            batch = list(itertools.islice(numbers, BATCH))
            for number, (checks, failure) in zip(batch, workers.map(tried, batch), strict=True):
                done += checks
                if failure:
                    again = f"again: python {script} --seed {asked.seed} --only {number}"
                    failures.append(f"trial {number}: {failure}\n  {again}")
            if asked.only is not None:
                break
    report(script.stem, failures, f"{unit} {done:,}", asked.seed, begun)
    return int(bool(failures))


def report(name: str, failures: Sequence[str], done: str, seed: int, begun: float) -> None:
    """Prints what was wrong, and a line that `scripts/soak.py` reads."""
    for failure in failures[:SHOWN]:
        print(failure)
    seconds = time.monotonic() - begun
    print(f"{name}: {done}, failures {len(failures):,}, seed {seed}, {seconds:,.0f} s")


def _asked(trials: int, unit: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--trials", type=int, default=trials, help=f"{unit} at least")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop then")
    parser.add_argument("--seed", type=int, default=1, help="other trials (default 1)")
    parser.add_argument("--only", type=int, help="the one trial of this number")
    return parser.parse_args()


def _tried(trial: Trial, seed: int, scratch: str, until: float, number: int) -> tuple[int, str]:
    """The number of checks of a trial, and its failure."""
    if sys.platform == "win32":
        raise NotImplementedError
    if time.monotonic() > until:
        return 0, ""
    folder = Path(scratch, str(os.getpid()))  # the same for each trial of a process
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(TRIAL_S)
    try:
        return trial(number, random.Random(f"{seed} {number}"), folder), ""
    except Broken as broken:
        return 1, str(broken)
    except Exception:
        return 1, traceback.format_exc()
    finally:
        signal.alarm(0)


def _too_long(*_: object) -> None:
    raise Broken(f"A trial took more than {TRIAL_S} s.")


# -- a home
# -------------------------------------------------------------------------------------------


class HashingEmbedder:
    """Equal texts have equal vectors, and that is all: meaning does not matter here."""

    name, dimensions, ready = "hashing", 32, True

    def load(self) -> None:
        pass

    def embed_query(self, text: str) -> Meaning:
        return self.embed_passage(text)

    def embed_passage(self, text: str) -> Meaning:
        data = text.encode("utf-8", "replace")
        digest = hashlib.blake2b(data, digest_size=self.dimensions).digest()
        vector = np.frombuffer(digest, dtype=np.int8).astype(np.float32) + 0.5
        return Meaning(vector / np.linalg.norm(vector))


def open_home(home: Path) -> Workspace:
    """A workspace in which meaning does not matter, and no two entries have one moment."""
    config = Config(home=home, journal=home / "journal", project="soak")
    seconds = itertools.count(1)
    return open_workspace(
        config, embedder=HashingEmbedder(), clock=lambda: NOW + timedelta(seconds=next(seconds))
    )


def entries(ws: Workspace) -> list[Entry]:
    """All entries, oldest first."""
    found: list[Entry] = []
    cursor: str | None = ""
    while cursor is not None:
        page = find(ws, order="oldest", limit=100, cursor=cursor or None)
        found += page.entries
        cursor = page.cursor
    return found


def files(journal: Path) -> dict[str, bytes]:
    """The bytes of every file below the journal, by relative path."""
    return {
        path.relative_to(journal).as_posix(): path.read_bytes()
        for path in journal.rglob("*")
        if path.is_file()
    }


def ids(text: bytes) -> Counter[str]:
    """The count of each id in comments."""
    return Counter(found.decode() for found in _ID.findall(text))


def vanished(ws: Workspace) -> set[str]:
    """The ids that doctor names as vanished, or by a comment that lost its heading."""
    named: set[str] = set()
    for found in run_checkup(ws).findings:
        if found.code == "vanished":
            named.add(found.message.split()[0])
        elif found.code == "stray-comment":
            path, line, *_ = found.message.split(":")
            lines = (ws.config.journal / path).read_bytes().splitlines()
            named.update(ids(lines[int(line) - 1]))
    return named


def check_journal(ws: Workspace) -> bytes:
    """The journal's text, in which no id stands twice and beside which no file was left."""
    found = files(ws.config.journal)
    text = b"\n".join(found.values())
    twice = [id for id, count in ids(text).items() if count > 1]
    check(not twice, f"Entries stand twice: {twice}")
    litter = [name for name in found if not name.endswith(".md") or "/." in f"/{name}"]
    check(not litter, f"Left in the journal: {litter}")
    return text


def check_purged(home: Path, word: bytes) -> None:
    """Raises Broken where a file of the home holds a purged word in lower case."""
    left = [name for name, data in files(home).items() if word in data.lower()]
    check(not left, f"Purged words are left in {left}")


def git(folder: Path, *words: str, ok: bool = True) -> str:
    """The words of a git that failed, else an empty text. Raises AssertionError unless not
    `ok`.
    """
    done = subprocess.run(
        ["git", *words], cwd=folder, env=os.environ | _GIT, capture_output=True, text=True
    )
    assert not ok or done.returncode == 0, done.stderr
    return f"{done.stdout}{done.stderr}failed" if done.returncode else ""

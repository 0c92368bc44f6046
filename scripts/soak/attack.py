"""What the attacks of the soak share: trials that a seed repeats, and a home to attack.

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
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

from synaptic import Workspace, find, open_workspace
from synaptic.config import Config
from synaptic.models import Entry, Vector
from synaptic.verbs.doctor import checkup

Trial = Callable[[int, random.Random, Path], int]
TRIAL_S = 120
SHOWN = 30
NOW = datetime(2026, 11, 21, 9, 30).astimezone()
_ID = re.compile(rb"<!--[ \t]*syn:([0-9]{8}-[0-9a-z]{8})(?=\s|-->)")


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
    parser = argparse.ArgumentParser(
        description=(sys.modules["__main__"].__doc__ or "").split("\n")[0]
    )
    parser.add_argument(
        "--trials",
        type=int,
        default=trials,
        metavar="N",
        help=f"{unit} at least (default {trials:,})",
    )
    parser.add_argument(
        "--seconds", type=float, default=float("inf"), metavar="S", help="stop after this time"
    )
    parser.add_argument(
        "--seed", type=int, default=1, metavar="S", help="other trials (default 1)"
    )
    parser.add_argument("--only", type=int, metavar="N", help="the one trial of this number")
    parser.add_argument(
        "--jobs",
        type=int,
        default=os.cpu_count(),
        metavar="N",
        help="processes (default one a core)",
    )
    asked = parser.parse_args()
    if why_not:
        print(f"{script.stem}: skipped, {why_not}.")
        return 0
    begun, done, failures = time.monotonic(), 0, list[tuple[int, str]]()
    first = (
        asked.seed - 1
    ) * asked.trials  # an attack that counts through its cases has others for each seed
    numbers = itertools.count(first) if asked.only is None else iter([asked.only])
    fork = multiprocessing.get_context("fork")
    with (
        tempfile.TemporaryDirectory(prefix="soak-") as scratch,
        ProcessPoolExecutor(asked.jobs, mp_context=fork) as workers,
    ):
        while done < asked.trials and time.monotonic() - begun < asked.seconds:
            batch = list(itertools.islice(numbers, asked.jobs * 4))
            todo = [
                (trial, number, asked.seed, scratch, begun + asked.seconds) for number in batch
            ]
            for number, (checks, failure) in zip(batch, workers.map(_tried, todo), strict=True):
                done += checks
                failures += [(number, failure)] if failure else []
            _progress(
                f"{script.stem}: {unit} {done:,} of {asked.trials:,}, failures {len(failures)}"
            )
            if asked.only is not None:
                break
    for number, failure in failures[:SHOWN]:
        print(
            f"trial {number}: {failure}\n  again: python {script} --seed {asked.seed} "
            f"--only {number}"
        )
    kinds = Counter(
        re.sub(r"[0-9]+\S*|b?'[^']{20,}'", "…", failure.split("\n")[0])[:110]
        for _, failure in failures
    )
    for kind, count in kinds.most_common() if len(failures) > 1 else ():
        print(f"{count:>6} x {kind}")
    seconds = time.monotonic() - begun
    print(
        f"{script.stem}: {unit} {done:,}, failures {len(failures):,}, seed {asked.seed}, "
        f"{seconds:,.0f} s"
    )
    return 1 if failures else 0


def _tried(todo: tuple[Trial, int, int, str, float]) -> tuple[int, str]:
    """How many checks a trial made, and what was wrong."""
    if sys.platform == "win32":
        raise NotImplementedError
    trial, number, seed, scratch, until = todo
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
    except Exception as error:
        return 1, f"{type(error).__name__}: {error}\n{traceback.format_exc()}"
    finally:
        signal.alarm(0)


def _too_long(*_: object) -> None:
    raise Broken(f"A trial took more than {TRIAL_S} s.")


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r{text}  ", end="", file=sys.stderr, flush=True)


# -- a home
# -------------------------------------------------------------------------------------------


class HashingEmbedder:
    """Equal texts have equal vectors, and that is all: meaning does not matter here."""

    name, dimensions, ready = "hashing", 32, True

    def load(self) -> None:
        pass

    def embed_query(self, text: str) -> Vector:
        return self.embed_passage(text)

    def embed_passage(self, text: str) -> Vector:
        digest = hashlib.blake2b(
            text.encode("utf-8", "replace"), digest_size=self.dimensions
        ).digest()
        vector = np.frombuffer(digest, dtype=np.int8).astype(np.float32) + 0.5
        return vector / np.linalg.norm(vector)


class Clock:
    """A clock that goes one second a look, so that no two entries have one moment."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


def open_home(
    home: Path, *, journal: Path | None = None, clock: Callable[[], datetime] | None = None
) -> Workspace:
    """A workspace in which meaning does not matter."""
    config = Config(home=home, journal=journal or home / "journal", project="soak")
    return open_workspace(config, embedder=HashingEmbedder(), clock=clock or Clock())


def entries(ws: Workspace) -> list[Entry]:
    """All entries, oldest first."""
    found: list[Entry] = []
    cursor: str | None = None
    while True:
        page = find(ws, order="oldest", limit=100, cursor=cursor)
        found += page.entries
        cursor = page.cursor
        if cursor is None:
            return found


def files(journal: Path) -> dict[str, bytes]:
    """The bytes of every file below the journal, by relative path."""
    return {
        path.relative_to(journal).as_posix(): path.read_bytes()
        for path in journal.rglob("*")
        if path.is_file()
    }


def ids(text: bytes) -> Counter[str]:
    """How often each id stands in a comment."""
    return Counter(found.decode() for found in _ID.findall(text))


def vanished(ws: Workspace) -> set[str]:
    """The ids that doctor names as vanished, or by the line where a comment lost its heading."""
    findings = checkup(ws).findings
    named = {found.message.split()[0] for found in findings if found.code == "vanished"}
    for path, line, *_ in (
        found.message.split(":") for found in findings if found.code == "stray-comment"
    ):
        named |= set(ids((ws.config.journal / path).read_bytes().splitlines()[int(line) - 1]))
    return named


def litter(journal: Path) -> list[str]:
    """Files that no person put there."""
    return [name for name in files(journal) if not name.endswith(".md") or "/." in f"/{name}"]

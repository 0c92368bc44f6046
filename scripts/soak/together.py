"""All at once on one home: saves by command, over MCP and on the page, edits by hand, merges,
kills, a wrecked index.

python3 scripts/soak.py together --minutes 15
python3 scripts/soak.py together --minutes 10 --entries 100000 --servers 12

The promise: each text whose save was acknowledged stands in the journal exactly once, and is
found; by the server that saved it at once.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import httpx
from attack import git, report

sys.path.append(str(Path(__file__).parents[2] / "tests" / "helpers"))
from outside import Home
from served import served

PAUSE_S = 0.3
"""Between two acts of one writer."""
A_DAY = 30
"""Entries of a day of the journal that is there before."""
SOUGHT = 30
"""Texts that are searched for at the end."""

_numbers = itertools.count(1)


@dataclass
class Soak:
    """The home, its end, the texts of acknowledged saves, and the number of entries that were
    there before.
    """

    home: Home
    until: float
    choose: random.Random
    acknowledged: list[str] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
    entries: int = 0
    kills: int = 0
    merges: int = 0
    wrecks: int = 0
    searches: int = 0

    def rounds(self) -> Iterator[int]:
        while time.monotonic() < self.until:
            yield next(_numbers)
            time.sleep(PAUSE_S * self.choose.random() * 2)


def by_command(soak: Soak) -> None:
    """Every tenth save is killed at a random moment."""
    for number in soak.rounds():
        text = f"command{number}word was saved by command."
        process = soak.home.start("save", text)
        if number % 10 == 0:
            time.sleep(soak.choose.random())
            process.kill()
            soak.kills += 1
        process.communicate()
        if process.returncode == 0:
            soak.acknowledged.append(text)


def by_agent(soak: Soak) -> None:
    """One server after the other; each is killed after some saves. Each save is found by the
    next search of its server.
    """
    while time.monotonic() < soak.until:
        with contextlib.suppress(Exception), soak.home.server() as server:
            for number in itertools.islice(soak.rounds(), 25):
                text = f"agent{number}word was saved by an agent."
                server.call("save", content=text)
                soak.acknowledged.append(text)
                soak.searches += 1
                hits = server.call("search", query=text.split()[0])["hits"]
                if text not in [hit["content"] for hit in hits]:
                    soak.troubles.append(f"{text!r} was not found by its own server")
            server.kill()
            soak.kills += 1


def on_the_page(soak: Soak) -> None:
    while time.monotonic() < soak.until:
        with (
            contextlib.suppress(httpx.HTTPError),
            served(soak.home.path, installed=True) as site,
        ):
            for number in itertools.islice(soak.rounds(), 40):
                text = f"page{number}word was written on the page."
                if site.post("/new", content=text, type="note").status_code == 303:
                    soak.acknowledged.append(text)
            site.process.kill()
            soak.kills += 1


def by_hand(soak: Soak) -> None:
    for number in soak.rounds():
        text = f"hand{number}word was typed."
        day = soak.home.journal / f"2026-10-{number % 28 + 1:02}.md"
        with day.open("a", encoding="utf-8") as file:
            file.write(f"\n## 10:{number % 60:02} {text}\n")
        soak.acknowledged.append(text)


def by_merges(soak: Soak) -> None:
    """Two clones add entries to one day; the second is merged into the first."""
    journal = soak.home.journal
    other = Home(soak.home.path.parent / "other", soak.home.env)
    git(journal, "init", "-q", "-b", "main")
    soak.home.ask("git-setup")
    commit(journal)
    other.path.mkdir()
    git(journal, "clone", "-q", ".", str(other.journal))
    other.ask("init")
    other.ask("git-setup")
    for number in soak.rounds():
        at = f"2025-03-{number % 28 + 1:02}T09:{number % 60:02}"
        for home, name in ((soak.home, "ours"), (other, "theirs")):
            text = f"{name}{number}word was merged."
            home.ask("save", text, "--at", at)
            commit(home.journal)
            soak.acknowledged.append(text)
        pull = ("pull", "-q", "--no-rebase", "--no-edit")
        trouble = git(journal, *pull, str(other.journal), "main", ok=False)
        if trouble:
            soak.troubles.append(f"merge: {trouble}")
            return
        git(other.journal, *pull, "origin", "main", ok=False)
        soak.merges += 1
        time.sleep(5)


def by_damage(soak: Soak) -> None:
    """The index is overwritten or removed every 20 seconds, in a large journal less often."""
    pause = 20 + soak.entries / 500
    while time.monotonic() < soak.until - pause:
        time.sleep(pause)
        index = soak.home.index
        with contextlib.suppress(OSError):
            if soak.wrecks % 2:
                index.unlink()
            else:
                with index.open("r+b") as file:
                    file.seek(soak.choose.randrange(max(1, index.stat().st_size)))
                    file.write(os.urandom(4096))
            soak.wrecks += 1


WRITERS: tuple[Callable[[Soak], None], ...] = (
    by_command,
    on_the_page,
    by_hand,
    by_merges,
    by_damage,
)
"""Those of which there is one; servers are as many as asked for."""


def write_before(journal: Path, count: int) -> None:
    """Writes the entries that are there before, in the files of their days."""
    for first in range(0, count, A_DAY):
        day = datetime(2024, 12, 31) - timedelta(days=first // A_DAY)
        numbers = range(first, min(first + A_DAY, count))
        entries = [
            f"## {9 + n % A_DAY // 6:02}:{n % 6}0 Before {n}\n\nBerth {n} was let to guest {n * 7 % 991}.\n"
            for n in numbers
        ]
        (journal / f"{day:%Y-%m-%d}.md").write_text("\n".join(entries), encoding="utf-8")


def commit(journal: Path) -> None:
    git(journal, "add", "-A", ok=False)
    git(journal, "commit", "-q", "-m", "notes", ok=False)


def rebuild(home: Home) -> None:
    """Rebuilds the index, however long that takes."""
    process = home.start("rebuild-index")
    _, words = process.communicate()
    assert process.returncode == 0, words


def judged(soak: Soak) -> list[str]:
    """The promises that did not hold."""
    rebuild(soak.home)
    texts = [path.read_text(encoding="utf-8") for path in soak.home.journal.rglob("*.md")]
    words = " ".join(texts)
    failures = list(soak.troubles)
    for text in soak.acknowledged:
        count = words.count(text)
        if count != 1:
            failures.append(f"{text!r} stands {count} times in the journal")
    for text in soak.choose.sample(soak.acknowledged, min(SOUGHT, len(soak.acknowledged))):
        word = text.split()[0]
        said = soak.home.ask("search", word, "--strategy", "lexical", "--limit", "1")
        if not said["hits"] or word not in said["hits"][0]["content"]:
            failures.append(f"{text!r} is not found")
    return failures


def main() -> int:
    """0 when each acknowledged text stands in the journal once and is found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--entries", type=int, default=0, help="that are there before")
    parser.add_argument("--servers", type=int, default=6, help="that save and search")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        home = Home(Path(folder, "home"), {"SYNAPTIC_NOW": "2026-11-23T10:00", "HOME": folder})
        home.ask("init")
        write_before(home.journal, asked.entries)
        rebuild(home)
        begun = time.monotonic()
        until, choose = begun + asked.minutes * 60, random.Random(asked.seed)
        soak = Soak(home, until, choose, entries=asked.entries)
        writers = [*WRITERS, *asked.servers * (by_agent,)]
        threads = [threading.Thread(target=writer, args=(soak,)) for writer in writers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        failures = judged(soak)
    print(f"kills {soak.kills:,}, merges {soak.merges:,}, wrecked indexes {soak.wrecks:,}")
    print(f"searches for the save before {soak.searches:,}")
    done = f"acknowledged texts {len(soak.acknowledged):,}"
    report("together", failures, done, asked.seed, begun)
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())

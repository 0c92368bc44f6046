"""Journals of numbered entries, also for programs that are killed."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

from synaptic.config import Config
from synaptic.journal.changelog import Actor, Deed
from synaptic.journal.entry_edits import Replacement, make_replacement
from synaptic.journal.journal import LOCK_TIMEOUT_S, Journal
from synaptic.models import Entry
from synaptic.notes.markdown import render_entry

AT = datetime(2026, 11, 21, 9, 31, 5, tzinfo=timezone(timedelta(hours=1)))
DAY = "2026-11-21.md"


def home_journal(
    home: str | Path, *, lock_timeout_s: float = LOCK_TIMEOUT_S, **config: object
) -> Journal:
    home = Path(home)
    settings_ = {"journal": home / "journal"} | config
    settings = Config(home=home, **settings_)  # type: ignore[arg-type]
    journal = Journal(settings, lock_timeout_s=lock_timeout_s)
    journal.writer.deed = Deed("run", "test", "", Actor())  # so that its changes are logged
    journal.prepare()
    return journal


def numbered(n: int) -> Entry:
    """The same entry for the same number, in any process."""
    words = random.Random(n)
    pool = ["disk", "lock", "```", "- item", "fsync", "rename"]
    lines = [" ".join(words.choices(pool, k=9)) for _ in range(8)]
    return make(
        f"20261121-{n:08d}",
        f"Entry number {n}",
        "\n".join([f"Text {n}.", *lines, f"End of {n}."]),
    )


def make(id: str, title: str, content: str = "") -> Entry:
    return Entry(id=id, at=AT, title=title, content=content or title)


def retitle(entry: Entry) -> Entry:
    return replace(entry, title="Another title", content="Another text.")


def redate(entry: Entry, block: bytes) -> Replacement:
    """The entry two days earlier, in the evening."""
    at = entry.at.replace(day=19, hour=17, minute=5)
    return make_replacement(entry, block, replace(entry, at=at), "")


def block_of(entry: Entry) -> bytes:
    return render_entry(entry).encode()

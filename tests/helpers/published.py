"""Published journals for tests: a journal with some of everything, and readers of a database."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import psycopg
from embedders import HashingEmbedder
from homes import Clock
from postgres import Database
from psycopg import sql

from synaptic import Workspace
from synaptic.config import Config
from synaptic.features.sharing.publication import READERS
from synaptic.features.sharing.published import open_published
from synaptic.features.sharing.publisher import Publisher
from synaptic.index.embedding import Embedder
from synaptic.models import TYPES, Entry
from synaptic.notes.markdown import render_entry

ZONE = timezone(timedelta(hours=1))
WORDS = (
    "redis pool timeout retry worker queue invoice ledger customer payment refund kestrel pump "
    "valve pressure garden tomato watering bicycle Anna Ben Müller Übergabe Straße deployment "
    "release pre-commit hook sqlite vector index latency budget meeting Thursday lunch train "
    "ticket Prague rain umbrella running runs ran studies studied node.js C++ 404 3.14 v2.1.0 "
    "東京 記憶 日誌 ประชุม งาน مفتاح الكتاب خط O'Brien don't café naïve"
).split()
TAGS = (
    "db",
    "db/redis",
    "db/redis/pool",
    "area/kitchen",
    "area",
    "köln",
    "東京",
    "odd-one",
    "a_b",
)
PROJECTS = (None, "Web", "web", "Shop", "Käse", "100%_sure")
FILES = ("src/store.py", "src/index/store.py", "docs/a b.md", "src/50%_off.ts", "README.md")
HARD = (
    "Backslash \\ and 'quote' and \"double\" and $1 %s ? `tick`",
    "Nul \\0 and null \x00 inside",
    "Percent 100% under_score * star",
    "Dollar $$ body $q$ -- comment ; DROP TABLE entry",
    "Emoji 🚀 and \ufe0f and e\u0301 combined é",
    "<b>bold</b> & entity &amp; [[Page of pumps|pumps]]",
    "''; \\' & | ! <-> :* (a|b)",
    "Tab\tand no-break\u00a0space and zero\u200bwidth",
)


def readers(database: Database, name: str = "reader", **about: Any) -> str:
    """The address of a role that may read what is published."""
    with database.server.connect() as db:
        db.execute("SELECT pg_advisory_lock(1)")  # roles are shared with other databases
        if not db.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (READERS,)).fetchone():
            db.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(sql.Identifier(READERS)))
        address = database.role(name, **about)
        role = sql.Identifier(database.roles[-1])
        db.execute(sql.SQL("GRANT {} TO {}").format(sql.Identifier(READERS), role))
    return address


def publish(ws: Workspace, address: str, journal: str) -> None:
    with closing(Publisher(ws, address, journal)) as publisher:
        publisher.start_publishing()
        publisher.publish_changes()


@contextmanager
def reading(
    address: str,
    home: Path,
    *journals: str,
    clock: Clock | None = None,
    embedder: Embedder | None = None,
) -> Iterator[Workspace]:
    """A workspace on these journals, or on all."""
    config = Config(home=home, journal=home / "journal", project="tests")
    with open_published(config, address) as ws:
        yield replace(
            ws,
            clock=clock or Clock(),
            embedder=embedder or HashingEmbedder(),
            access=ws.access.limit_to_journals(journals or None),
        )


def tables_of(db: psycopg.Connection[Any]) -> list[str]:
    found = db.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = 'synaptic'::regnamespace "
        "AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY 1"
    )
    return [name for (name,) in found]


def write_mixed(folder: Path, entries: int) -> None:
    """Some of everything that a journal may hold, the same each time."""
    chance = random.Random(7)
    folder.mkdir(parents=True, exist_ok=True)
    made: list[Entry] = []
    for number in range(entries):
        made.append(_entry(number, chance, made))
    days: dict[date, list[Entry]] = {}
    for entry in made:
        days.setdefault(entry.at.date(), []).append(entry)
    for day, of_day in days.items():
        blocks = "\n".join(map(render_entry, of_day))
        (folder / f"{day}.md").write_text(f"# {day}\n\n{blocks}", "utf-8", newline="")
    _write_typed(folder, chance)


def sentence(chance: random.Random, words: int) -> str:
    return " ".join(chance.choices(WORDS, k=words)).capitalize() + "."


def _entry(number: int, chance: random.Random, before: list[Entry]) -> Entry:
    at = datetime(2025, 11, 20, 8, 0, tzinfo=ZONE) + timedelta(hours=number * 29 % 1_200)
    hard = HARD[number % len(HARD)] if number % 9 == 0 else ""
    title = hard.replace("\x00", " ") or sentence(chance, 6)
    lines = [sentence(chance, chance.randint(4, 30)) for _ in range(chance.randint(0, 5))]
    if number % 11 == 0:
        lines += [f"- [ ] Call {number} 📅 2026-11-{number % 28 + 1:02d}", "- [x] Done before"]
    if number % 7 == 0 and before:
        lines.append(f"See [[{chance.choice(before).id}]] and [[Page of pumps]].")
    if number % 12 == 5:
        lines.append(("![[pump.png]]", "[plan](plan.pdf)")[number % 2])
    if number % 13 == 0:
        lines += [f"status:: {('open', 'closed now')[number % 2]}", "[owner:: Anna]"]
    if hard:
        lines.append(hard)
    supersedes: tuple[str, ...] = ()
    if number % 10 == 3:
        supersedes = tuple(entry.id for entry in chance.sample(before, 2))
    id = f"{at:%Y%m%d}-{number:08x}".replace("0", "k", 0)
    if number % 50 == 41:  # a circle: it names itself, and one that is not there yet
        supersedes = (id, "20991231-zzzzzzzz")
    return Entry(
        id=id,
        at=at,
        title=title,
        content="\n".join([title, "", *lines]) if lines else title,
        type=TYPES[number % len(TYPES)],
        tags=tuple(dict.fromkeys(chance.choices(TAGS, k=number % 4))),
        project=PROJECTS[number % len(PROJECTS)],
        importance=None if number % 3 else number % 11,
        files=tuple(dict.fromkeys(chance.choices(FILES, k=number % 3))),
        parent=before[-1].id if number % 17 == 5 else None,
        supersedes=supersedes,
        by=("claude", "Ann O'Neil", None)[number % 3],
        via=("mcp", "cli", None, "import:claude-code", "import:jrnl")[number % 5],
        branch="feature/x" if number % 19 == 0 else None,
        expires="2026-11-01" if number % 23 == 0 else None,
        due=f"2026-11-{number % 28 + 1:02d}" if number % 12 == 0 else None,
        pin=number % 37 == 0,
    )


def _write_typed(folder: Path, chance: random.Random) -> None:
    """Notes and days as people type them."""
    long = " ".join(sentence(chance, 12) for _ in range(420))
    typed = {
        "notes/Page of pumps.md": "# Page of pumps\n\nThe pump leaks. [[Garden]] #area/kitchen\n",
        "notes/Garden.md": "---\naliases: [Beet, Allotment]\ntags: [area]\nowner: Ben\n---\n"
        "# Garden\n\n## Water\n\nEvery Thursday.\n\n## Soil\n\nTomato likes compost.\n"
        "[pumps](Page%20of%20pumps.md) and [up](../2026-11-21.md) and [[nowhere]].\n",
        "notes/sub/Deep.md": "# Deep\n\nBack to [garden](../Garden.md). [[Garden]]\n",
        "notes/Äpfel & Birnen.md": "# Äpfel\n\nApfelmus für den Winter, Straße.\n",
        "notes/100%_sure.md": "# Sure\n\nA name with signs of patterns.\n",
        'notes/it\'s a "quote".md': "# Quote\n\nNames with quotes.\n",
        "notes/日本語ノート.md": "# 東京都に行った\n\n新しい日誌を書いた。記憶は大切です。\n",
        "notes/ไทย.md": "# ประชุมวันนี้\n\nการประชุมเรื่องงบประมาณ ที่กรุงเทพ\n",
        "notes/عربي.md": "# مفتاح الخادم\n\nقرأت الكتاب في المكتبة أمس.\n",
        "notes/long.md": f"# Long\n\n{long}\n",
        "notes/wordy.md": "# Wordy\n\n" + "pump " * 5_000 + "\n",
        "notes/one word.md": f"# One\n\n{'a' * 30_000}\n",
        "notes/empty.md": "",
        "notes/blank.md": "\n\n \n",
        "notes/nul.md": "# Nul\x00title\n\nA\x00nul between. #ta\x00g\n",
        "notes/broken.md": "# Broken\n\nA byte \udcfe that is none.\n",
        "notes/crlf.md": "\ufeff# Crlf\r\n\r\nWith a mark and carriage returns.\r\n\r\n- [ ] open\r\n",
        "notes/many tags.md": "# Tags\n\n" + " ".join(f"#t{n}" for n in range(300)) + "\n",
        "notes/twin.md": "# Twin\n\nThe same in two files, of the kestrel.\n",
        "notes/twin 2.md": "# Twin\n\nThe same in two files, of the kestrel.\n",
        "2026-11-19.md": "\ufeff# 2026-11-19\r\n\r\n## 09:31 decision: Typed by hand #db\r\nBody.\r\n"
        "\r\n## 10:00 Empty\r\n\r\n## Evening\r\nNo time. status:: open\r\n",
        "2026-11-20 (conflicted copy).md": "# 2026-11-20\n\n## 08:00 Copied #db\nOf a cloud.\n",
        "2026-11-20.md": "# 2026-11-20\n\n## 08:00 Copied #db\nOf a cloud.\n\n## 9:00 Own\nOnly here.\n",
        "diary.md": "# Diary\n\n## 2024-02-29\nLeap day with Anna.\n\n## 2023-11-21\nThree years ago.\n",
        "journals/2026_10_01.md": "- A block of Logseq #logseq\n  - [[Garden]] below\n- TODO Another\n",
    }
    for path, text in typed.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8", errors="surrogateescape", newline="")
    for day in ("2026-11-21", "2026-11-22"):  # one id in two files, with other words
        (folder / f"{day} again.md").write_text(
            f"# {day}\n\n## 07:00 Moved words of {day}\n"
            f"<!-- syn:20261121-twintwin at={day}T07:00:00+01:00 h2=0 -->\n\nWords of {day}.\n"
        )

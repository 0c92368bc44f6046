"""Valid exports of all 16 sources, each with one thing wrong: no import crashes, hangs, or
takes time above its length.

A trial takes what a program wrote, changes a value of its JSON or of a database, some bytes, a
zip, or puts a long run of one sign into a text, and plans an import of it. What is wrong is
told and left out, and the rest is taken.
"""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
import sys
import time
import zipfile
from collections.abc import Iterator
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from attack import attack, check, open_home

from synaptic.errors import SynapticError
from synaptic.journal.runs import Block
from synaptic.readers.record import READERS, reader_of, reporting
from synaptic.verbs import importing
from synaptic.workspace.workspace import Workspace

DATA = Path(__file__).parents[2] / "tests" / "data"
GROWTH, QUICK_S, LIMIT_S = 8, 1.0, 20.0
"""Times that four times the text may take longer; processor seconds that are not looked at, and
that are a hang.
"""
ODD: tuple[Any, ...] = (
    5,
    -1,
    0,
    1e308,
    10**30,
    True,
    None,
    "",
    " ",
    "3",
    "a/b",
    "../../x",
    "\0",
    "\ud800",
    "\u202e",
    "x" * 5_000,
    "[",
    "2026-13-45",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59-23:59",
    [],
    {},
    [5],
    [None],
    [[]],
    [[["a"]]],
    ["a", 5],
    {"text": 5},
    {"a": {"b": [1]}},
    {"type": "text"},
    ["\ud800"],
    "<private>",
    "data:image/md;base64,IyBh",
    "NaN",
)
BYTES = (
    b"\0",
    b"\xff\xfe",
    b"[",
    b"{",
    b'"',
    b"\\",
    b"\n",
    b"-->",
    b"<!--",
    b"<private>",
    b"\xed\xa0\x80",
    b"1e999",
    b"---\n",
    b"# ",
    b"![](data:image/md;base64,IyBh)",
    b"\xef\xbb\xbf",
    b"\r",
    b"}",
    b"]",
    b"0" * 5_000,
)
RUNS = (
    " ",
    "\n",
    "\t",
    "# ",
    "#",
    "[",
    "[[",
    "![",
    "](",
    "(",
    "<",
    "<b>",
    "<!--",
    "&#32;",
    "`",
    "```\n",
    "*",
    "- ",
    "> ",
    "a,",
    ":",
    "---\n",
    "@a ",
    "#a ",
    "'",
    "\\",
    "a: ",
    "Created: ",
    "tags: ",
    "- [ ] ",
    "<private>",
    "exit code: ",
    "git commit -m ",
    "*** Add File: ",
    "error ",
    "$(cat <<EOF ",
    "<system-reminder>",
    "[2026-11-21 09:31] ",
)
OF_CLIENTS = ("claude-code", "codex", "gemini", "opencode")
LISTS = ("chatgpt", "claude-ai", "day-one", "jrnl")
"""Sources whose records stand by themselves: one that is wrong costs no other."""


@cache
def _samples() -> dict[str, Path]:
    """A folder of valid files for each source."""
    top = Path(mkdtemp(prefix="samples-"))
    zipfile.ZipFile(DATA / "sessions.zip").extractall(top / "sessions")
    found = {}
    for source in READERS:
        folder = top / source
        if source in OF_CLIENTS:
            _copy_session(top / "sessions", source, folder)
        elif source in ("claude-code-memory", "openclaw", "basic-memory"):
            _copy_notes(folder / "memory")
        elif source in ("claude-mem", "mcp-memory-service"):
            folder.mkdir()
            name = "claude-mem.db" if source == "claude-mem" else "sqlite_vec.db"
            with closing(sqlite3.connect(folder / name)) as db:
                db.executescript((DATA / "memories" / f"{source}.sql").read_text())
        elif source == "server-memory":
            folder.mkdir()
            shutil.copy(DATA / "memories" / "server-memory.jsonl", folder / "memory.jsonl")
        else:
            names = ("notion-html", "notion-md") if source == "notion" else (source,)
            for name in names:
                shutil.copytree(DATA / "exports" / name, folder, dirs_exist_ok=True)
        found[source] = folder
    return found


def _copy_session(sessions: Path, source: str, folder: Path) -> None:
    places = reader_of(source).find(sessions, {})
    folder.mkdir()
    for place in places:
        files = (
            [place]
            if place.is_file()
            else [file for file in sorted(place.rglob("*")) if file.is_file()]
        )
        for file in sorted(files, key=lambda file: file.stat().st_size)[:3]:
            target = folder / file.relative_to(sessions)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target)


def _copy_notes(folder: Path) -> None:
    shutil.copytree(DATA / "memories" / "basic-memory", folder)
    (folder / "MEMORY.md").write_text("# Index\n\n- [Tea](tea.md) likes tea\n")
    (folder / "2026-11-21-1430.md").write_text(
        "# Session: 2026-11-21 14:30 Europe/Berlin\n\nA day.\n"
    )
    front = "---\nname: tea\ndescription: x\nmetadata:\n  type: feedback\n---\n"
    (folder / "tea.md").write_text(f"{front}Likes tea. <!-- openclaw:x -->\n")


def trial(number: int, choose: random.Random, folder: Path) -> int:
    """One file with one thing wrong; a reading that is not quick is compared with one of four
    times the text.
    """
    source = list(READERS)[number % len(READERS)]
    change = choose.choice([_change_value, _change_value, _change_bytes, _change_zip, _add_run])
    valid = _samples()[source]
    damaged = folder / "export"
    shutil.copytree(valid, damaged)
    lost = change(damaged, choose, 4_000) or 0
    place = _place(source, damaged)
    taken, seconds = _planned(source, place)
    if source in LISTS and change is _change_value:
        whole = _whole(source)
        check(
            taken >= whole - lost,
            f"{source}: one wrong value cost {whole - taken} of {whole} records",
        )
    if change is _add_run and seconds > QUICK_S:
        choose = random.Random(str(number))
        times = []
        for size in (4_000, 16_000):
            shutil.rmtree(damaged)
            shutil.copytree(valid, damaged)
            _add_run(damaged, random.Random(str(number)), size)
            times.append(_planned(source, place)[1])
        check(
            times[1] < GROWTH * max(times[0], 0.1),
            f"{source} takes {times[1]:.1f} s after {times[0]:.1f} s",
        )
    return 1


@cache
def _whole(source: str) -> int:
    return _planned(source, _place(source, _samples()[source]))[0]


def _place(source: str, folder: Path) -> Path:
    if source == "opencode":
        return next(folder.rglob("opencode*.db"), folder)
    if source in ("claude-code-memory", "openclaw", "basic-memory"):
        return folder / "memory" if (folder / "memory").is_dir() else folder
    zips = list(folder.glob("*.zip"))
    return zips[0] if zips else folder


@cache
def _workspace() -> Workspace:
    return open_home(Path(mkdtemp(prefix="home-")))


def _planned(source: str, place: Path) -> tuple[int, float]:
    """How many entries would come, and processor seconds."""
    begun, taken = time.process_time(), 0
    try:
        planned = importing.plan(_workspace(), source, place)
        taken = len(planned.new)
        for one in planned.new:
            Block.of(one.path, one.entry)
        for _, _, record in planned.new:
            for _, read in record.pictures:
                with reporting(lambda *_: None, "a picture"):  # as a run does
                    read()
    except SynapticError:
        pass  # it says what is wrong
    seconds = time.process_time() - begun
    check(seconds < LIMIT_S, f"{source} hangs for {seconds:.0f} s")
    return taken, seconds


# -- one thing that is wrong
# -----------------------------------------------------------------------------


def _files(folder: Path) -> list[Path]:
    return [file for file in sorted(folder.rglob("*")) if file.is_file()]


def _change_value(folder: Path, choose: random.Random, size: int) -> int:
    """Another value in JSON or in a database; how many records that may cost."""
    files = [file for file in _files(folder) if file.suffix in (".json", ".jsonl", ".db")]
    if not files:
        return _change_bytes(folder, choose, size)
    file = choose.choice(files)
    if file.suffix == ".db":
        return _change_cell(file, choose)
    lines = [file.read_text()] if file.suffix == ".json" else file.read_text().splitlines()
    at = choose.randrange(len(lines))
    value = json.loads(lines[at])
    places = list(_places(value))
    holder, key = choose.choice(places)
    if choose.random() < 0.2 and isinstance(holder, dict):
        del holder[key]
    else:
        holder[key] = choose.choice(ODD)
    lines[at] = json.dumps(value)
    file.write_text("\n".join(lines), "utf-8", "surrogatepass")
    return 1_000 if holder is value else 2  # the list of records itself


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, inner in items:
        yield value, key
        yield from _places(inner)


def _change_cell(file: Path, choose: random.Random) -> int:
    with closing(sqlite3.connect(file)) as db, db:
        tables = [
            name
            for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        table = choose.choice(tables)
        columns = [row[1] for row in db.execute(f'PRAGMA table_info("{table}")')]
        odd = choose.choice([*ODD, b"\xff\x00", 2**62, float("inf")])
        value = json.dumps(odd) if isinstance(odd, list | dict) else odd
        value = (
            value.encode("utf-8", "replace")
            if isinstance(value, str) and choose.random() < 0.2
            else value
        )
        value = float(value) if isinstance(value, int) and abs(value) > 2**63 else value
        value = value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
        with suppress(sqlite3.Error):  # a constraint
            db.execute(
                f'UPDATE OR IGNORE "{table}" SET "{choose.choice(columns)}" = ?', (value,)
            )
    return 2


def _change_bytes(folder: Path, choose: random.Random, size: int) -> int:
    """Some bytes are others, gone, twice there, or at an end too soon."""
    file = choose.choice(_files(folder))
    data = bytearray(file.read_bytes())
    for _ in range(choose.choice([1, 1, 3, 20])):
        at, end = sorted(choose.randrange(len(data) + 1) for _ in "ab")
        end = min(end, at + choose.choice([1, 8, 200, 5_000]))
        match choose.randrange(5):
            case 0:
                data[at:at] = choose.choice(BYTES)
            case 1:
                del data[at:end]
            case 2:
                data[at:at] = data[at:end]
            case 3:
                data[at:end] = choose.randbytes(end - at)
            case _:
                del data[max(at, len(data) // 2) :]
    file.write_bytes(data)
    return 1_000


def _change_zip(folder: Path, choose: random.Random, size: int) -> int:
    """A zip of the files, with other dates and names, or with bytes of its own that are others."""
    packed = folder / "export.zip"
    with zipfile.ZipFile(
        packed, "w", choose.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
    ) as archive:
        for file in _files(folder):
            if file != packed:
                name = file.relative_to(folder).as_posix()
                info = zipfile.ZipInfo(
                    choose.choice([name] * 5 + [f"../{name}", f"/{name}", f"{name}.zip"])
                )
                archive.writestr(info, file.read_bytes())
    data = bytearray(packed.read_bytes())
    for _ in range(choose.choice([0, 1, 5])):
        data[choose.randrange(len(data))] = choose.choice([0, 0xFF, choose.randrange(256)])
    if choose.random() < 0.3:  # a date of zero
        data = data.replace(b"\x00\x00\x21\x00", b"\x00\x00\x00\x00")
    packed.write_bytes(data)
    return 1_000


def _add_run(folder: Path, choose: random.Random, size: int) -> int:
    """A long run of one sign in a text."""
    run = choose.choice(RUNS)
    texts = [
        file
        for file in _files(folder)
        if file.suffix in (".json", ".jsonl", ".md", ".html", ".txt")
    ]
    if not texts:
        return _change_bytes(folder, choose, size)
    file = choose.choice(texts)
    run = (run * (size // len(run) + 1))[:size]
    if file.suffix not in (".json", ".jsonl"):
        text = file.read_text("utf-8", "replace")
        at = choose.randrange(len(text) + 1)
        file.write_text(text[:at] + run + text[at:], "utf-8")
        return 1_000
    lines = [file.read_text()] if file.suffix == ".json" else file.read_text().splitlines()
    at = choose.randrange(len(lines))
    value = json.loads(lines[at])
    strings = [(holder, key) for holder, key in _places(value) if isinstance(holder[key], str)]
    if strings:
        holder, key = choose.choice(strings)
        cut = choose.randrange(len(holder[key]) + 1)
        holder[key] = holder[key][:cut] + run + holder[key][cut:]
    lines[at] = json.dumps(value)
    file.write_text("\n".join(lines))
    return 1_000


if __name__ == "__main__":
    sys.exit(attack(trial, trials=7_360, unit="files"))

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
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from attack import attack, check, open_home

from synaptic.errors import SynapticError
from synaptic.features.importing import import_runs as importing
from synaptic.features.importing.readers.record import READERS, find_reader, report_errors
from synaptic.journal.runs import Block
from synaptic.models import SESSIONS
from synaptic.workspace.workspace import Workspace

DATA = Path(__file__).parents[2] / "tests" / "data"
GROWTH, QUICK_S, LIMIT_S = 8, 1.0, 20.0
"""Times that four times the text may take longer; processor seconds that are not looked at, and
that are a hang.
"""
ODD: tuple[Any, ...] = (
    5,
    -1,
    1e308,
    10**30,
    True,
    None,
    "",
    "3",
    "../../x",
    "\0",
    "\ud800",
    "x" * 5_000,
    "[",
    "2026-13-45",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59-23:59",
    [],
    {},
    [5],
    [None],
    [[["a"]]],
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
    b"<private>",
    b"\xed\xa0\x80",
    b"1e999",
    b"---\n",
    b"![](data:image/md;base64,IyBh)",
    b"}",
    b"0" * 5_000,
)
RUNS = (
    *" \n\t#[(<`*:'\\",
    "# ",
    "[[",
    "![",
    "](",
    "<b>",
    "<!--",
    "&#32;",
    "```\n",
    "- ",
    "> ",
    "a,",
    "---\n",
    "@a ",
    "#a ",
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
OF_CLIENTS = set(SESSIONS) - {"crush"}
OF_FOLDERS = ("claude-code-memory", "openclaw", "basic-memory")
DATABASES = {
    "claude-mem": "claude-mem.db",
    "mcp-memory-service": "sqlite_vec.db",
    "crush": "crush.db",
}
JSON = (".json", ".jsonl")
TEXTS = (".md", ".html", ".txt", ".csv", ".enex")
WHOLE = 1_000
"""All records of a file."""
Change = Callable[[Path, random.Random, int], int]
LISTS = ("chatgpt", "claude-ai", "day-one", "jrnl")
"""Sources whose records stand by themselves: one that is wrong costs no other."""


@cache
def _samples() -> dict[str, Path]:
    """A folder of valid files for each source."""
    top = Path(mkdtemp(prefix="samples-"))
    for name in ("sessions.zip", "agents.zip"):
        zipfile.ZipFile(DATA / name).extractall(top / "sessions")
    found = {}
    for source in READERS:
        folder = top / source
        folder.mkdir()
        if source in OF_CLIENTS:
            _copy_session(top / "sessions", source, folder)
        elif source in OF_FOLDERS:
            _copy_notes(folder / "memory")
        elif source in DATABASES:
            with closing(sqlite3.connect(folder / DATABASES[source])) as db:
                db.executescript((DATA / "memories" / f"{source}.sql").read_text())
        elif source == "server-memory":
            shutil.copy(DATA / "memories" / "server-memory.jsonl", folder / "memory.jsonl")
        else:
            for sample in DATA.glob(f"exports/{source}*"):
                shutil.copytree(sample, folder, dirs_exist_ok=True)
        found[source] = folder
    return found


def _copy_session(sessions: Path, source: str, folder: Path) -> None:
    for place in find_reader(source).find(sessions, {}):
        found = [place] if place.is_file() else _files(place)
        for file in sorted(found, key=lambda file: file.stat().st_size)[:3]:
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
    seed = choose.random()
    taken, seconds, lost = _damaged(source, folder / "export", change, seed, 4_000)
    if source in LISTS and change is _change_value:
        whole = _whole(source)
        cost = f"{source}: one wrong value cost {whole - taken} of {whole} records"
        check(taken >= whole - lost, cost)
    if change is _add_run and seconds > QUICK_S:
        _, longer, _ = _damaged(source, folder / "longer", change, seed, 16_000)
        times = f"{source} takes {longer:.1f} s after {seconds:.1f} s"
        check(longer < GROWTH * seconds, times)
    return 1


def _damaged(
    source: str, folder: Path, change: Change, seed: float, size: int
) -> tuple[int, float, int]:
    """The number of entries of a damaged export, its seconds, and how many may be lost."""
    shutil.copytree(_samples()[source], folder)
    lost = change(folder, random.Random(seed), size)
    return *_planned(source, _place(source, folder)), lost


@cache
def _whole(source: str) -> int:
    return _planned(source, _place(source, _samples()[source]))[0]


def _place(source: str, folder: Path) -> Path:
    if source == "opencode":
        return next(folder.rglob("opencode*.db"), folder)
    if source in OF_FOLDERS:
        return folder / "memory"
    return next(folder.glob("*.zip"), folder)


@cache
def _workspace() -> Workspace:
    return open_home(Path(mkdtemp(prefix="home-")))


def _planned(source: str, place: Path) -> tuple[int, float]:
    """The number of entries that would come, and processor seconds."""
    begun = time.process_time()
    taken = 0
    try:
        planned = importing.plan_import(_workspace(), source, place)
        taken = len(planned.new)
        for one in planned.new:
            Block.from_entry(one.path, one.entry)
            for _, read in one.record.pictures:
                with report_errors(lambda *_: None, "a picture"):  # as a run does
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
    files = [file for file in _files(folder) if file.suffix in (*JSON, ".db")]
    if not files:
        return _change_bytes(folder, choose, size)
    file = choose.choice(files)
    if file.suffix == ".db":
        return _change_cell(file, choose)
    with _line_of(file, choose) as value:
        holder, key = choose.choice(list(_places(value)))
        if choose.random() < 0.2 and isinstance(holder, dict):
            del holder[key]
        else:
            holder[key] = choose.choice(ODD)
        return WHOLE if holder is value else 2  # the list of records itself


@contextmanager
def _line_of(file: Path, choose: random.Random) -> Iterator[Any]:
    """The value of a file of JSON, or of one of its lines; written back when it was changed."""
    lines = [file.read_text()] if file.suffix == ".json" else file.read_text().splitlines()
    at = choose.randrange(len(lines))
    value = json.loads(lines[at])
    yield value
    lines[at] = json.dumps(value)
    file.write_text("\n".join(lines))


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    keys: Iterable[Any] = ()
    if isinstance(value, dict):
        keys = value
    elif isinstance(value, list):
        keys = range(len(value))
    for key in keys:
        yield value, key
        yield from _places(value[key])


def _change_cell(file: Path, choose: random.Random) -> int:
    with closing(sqlite3.connect(file)) as db, db:
        tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        (table,) = choose.choice(tables)
        columns = [row[1] for row in db.execute(f'PRAGMA table_info("{table}")')]
        value = choose.choice([*ODD, b"\xff\x00", 2**62, float("inf")])
        if isinstance(value, list | dict):
            value = json.dumps(value)
        change = f'UPDATE OR IGNORE "{table}" SET "{choose.choice(columns)}" = ?'
        # a constraint, and what SQLite cannot hold
        with suppress(sqlite3.Error, OverflowError, UnicodeEncodeError):
            db.execute(change, (value,))
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
    return WHOLE


def _change_zip(folder: Path, choose: random.Random, size: int) -> int:
    """A zip of the files, with other dates and names, or with other bytes of its own."""
    files = _files(folder)
    packed = folder / "export.zip"
    method = choose.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
    with zipfile.ZipFile(packed, "w", method) as archive:
        for file in files:
            name = file.relative_to(folder).as_posix()
            names = [*[name] * 5, f"../{name}", f"/{name}", f"{name}.zip"]
            archive.writestr(zipfile.ZipInfo(choose.choice(names)), file.read_bytes())
    data = bytearray(packed.read_bytes())
    for _ in range(choose.choice([0, 1, 5])):
        data[choose.randrange(len(data))] = choose.choice([0, 0xFF, choose.randrange(256)])
    if choose.random() < 0.3:  # a date of zero
        data = data.replace(b"\x00\x00\x21\x00", b"\x00\x00\x00\x00")
    packed.write_bytes(data)
    return WHOLE


def _add_run(folder: Path, choose: random.Random, size: int) -> int:
    """A long run of one sign in a text."""
    run = choose.choice(RUNS)
    texts = [file for file in _files(folder) if file.suffix in (*JSON, *TEXTS)]
    if not texts:
        return _change_bytes(folder, choose, size)
    file = choose.choice(texts)
    run = run * (size // len(run))
    if file.suffix not in JSON:
        text = file.read_text("utf-8", "replace")
        at = choose.randrange(len(text) + 1)
        file.write_text(text[:at] + run + text[at:], "utf-8")
        return WHOLE
    with _line_of(file, choose) as value:
        strings = [place for place in _places(value) if isinstance(place[0][place[1]], str)]
        if strings:
            holder, key = choose.choice(strings)
            cut = choose.randrange(len(holder[key]) + 1)
            holder[key] = holder[key][:cut] + run + holder[key][cut:]
    return WHOLE


if __name__ == "__main__":
    sys.exit(attack(trial, trials=7_360, unit="files"))

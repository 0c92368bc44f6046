"""Measures Synaptic. Each bench prints Markdown tables, or JSON with --json.

    .venv/bin/python scripts/bench.py panel --locomo FILE --beam FILE --notes FILE --vaults FILE
    .venv/bin/python scripts/bench.py speed --entries 100000
    .venv/bin/python scripts/bench.py speed --entries 1000,10000 --record growth

--record keeps the rows in scripts/bench/records.json, with the commit and the date, and writes
them into the place of this name in docs/BENCHMARKS.md. docs/BENCHMARKS.md says what each bench measures. The benches are in scripts/bench. Compare only
rows of one run: other programs slow the machine down.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).with_name("bench")))

from synaptic.config import DEFAULT_MODEL
from synaptic.search import passes

Rows = list[dict[str, Any]]
RECORDS = Path(__file__).with_name("bench") / "records.json"
DOCUMENT = Path(__file__).parents[1] / "docs" / "BENCHMARKS.md"
PLACE = "<!-- bench: {} -->\n{}<!-- end -->\n"
"""A recorded table in the document, between its name and its end."""

BENCHES = {
    "panel": "ten kinds of journals: what each rule of the ranking adds",
    "passes": "each pass of the search, with and without it",
    "sure": "doubts, the end of an answer, and the share of right hits at each score",
    "fit": "the curves of doubts and scores, fitted anew on one half of the questions",
    "actions": "edits and failed commands in which the hooks speak",
    "holds": "notes that a later one makes untrue: named at the save, and in answers",
    "freshness": "what a later note changed, what still holds, and the newest of many",
    "diary": "days and vaults of people: the rank of the entry that answers",
    "state": "labelled questions about what is open, was left off or was decided",
    "sessions": "labelled questions about forty sessions of real agents",
    "repositories": "labelled questions to three repositories' entries, beside ripgrep",
    "helps": "sessions of agents: do brief, prompt hook and search show the entry that helps?",
    "prompts": "the curves by which the hook of a prompt speaks, fitted anew",
    "peers": "the same notes and questions through grep and five other programs",
    "speed": "time of a search, a save and a cold command; memory of a server",
    "crowd": "times of 16 clients of one server at a given rate; its memory",
    "published": "a published index beside the journal's own: answers, times, size",
}
FILES = {
    "locomo": "LoCoMo's conversations, JSON",
    "beam": "BEAM's chats with an assistant, JSON in gzip",
    "notes": "a tar.gz of Markdown notes; each note is sought by its title",
    "vaults": "a tar.gz with a Logseq graph and an Obsidian vault",
}


def main() -> None:
    arguments = parser().parse_args()
    for name in list(os.environ):
        if name.startswith("SYNAPTIC_"):  # the user's own settings are not measured
            del os.environ[name]
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as the program itself does
    arguments.entries = arguments.sizes[-1]
    bench = importlib.import_module(arguments.bench)
    if arguments.without:
        passes.PASSES = passes.passes_without(arguments.without)
    with tempfile.TemporaryDirectory(prefix="synaptic-bench-") as scratch:
        rows: Rows = bench.run(arguments, Path(scratch))
    print(json.dumps(rows, indent=2) if arguments.json else tables(rows))
    if arguments.record:
        record(arguments.record, rows)


def record(name: str, rows: Rows) -> None:
    """Keeps these rows in the place of earlier ones, also in the document."""
    records = json.loads(RECORDS.read_text(encoding="utf-8")) if RECORDS.exists() else {}
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True
    )
    command = re.sub(" --cache [^ ]+", "", " ".join(["bench.py", *sys.argv[1:]]))
    records[name] = {
        "command": re.sub(f"(--(?:{'|'.join(FILES)})) [^ ]+", r"\1 FILE", command),
        "commit": commit.stdout.strip(),
        "date": str(date.today()),
        "rows": rows,
    }
    RECORDS.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
    text = DOCUMENT.read_text(encoding="utf-8")
    DOCUMENT.write_text(with_records(text, records), encoding="utf-8")


def with_records(text: str, records: dict[str, Any]) -> str:
    """The document with all that was recorded in its places. Raises KeyError for a place of a
    name that was not.
    """
    return re.sub(
        PLACE.format("(.+)", "(?s:.*?)"),
        lambda place: PLACE.format(place[1], recorded_table(records[place[1]])),
        text,
    )


def recorded_table(one: dict[str, Any]) -> str:
    said = f"`{one['command']}`, {one['date']}, commit {one['commit']}"
    return f"{tables(one['rows'])}\n\n{said}\n"


def parser() -> argparse.ArgumentParser:
    benches = "\n".join(f"  {name:10} {about}" for name, about in BENCHES.items())
    top = argparse.ArgumentParser(
        description=f"Benches:\n{benches}", formatter_class=argparse.RawDescriptionHelpFormatter
    )
    top.add_argument("bench", choices=BENCHES, metavar="BENCH")
    for name, about in FILES.items():
        top.add_argument(f"--{name}", type=Path, metavar="FILE", help=about)
    top.add_argument("--split", default="1-5", help="LoCoMo's conversations, like 1-3")
    top.add_argument("--model", default=DEFAULT_MODEL, help="a model's name or folder")
    top.add_argument("--beside", metavar="MODEL", help="another model, shown beside it (panel)")
    top.add_argument(
        "--entries",
        dest="sizes",
        type=sizes,
        default=[10_000],
        metavar="NUMBER,...",
        help="size of the journal (speed, crowd); several, and how the times grow (speed)",
    )
    top.add_argument(
        "--among",
        type=int,
        default=0,
        metavar="NUMBER",
        help="other notes around these (holds)",
    )
    top.add_argument(
        "--rates", type=float, nargs="+", default=[10.0, 20.0], help="requests a second (crowd)"
    )
    top.add_argument("--seconds", type=float, default=30, help="of each measurement (crowd)")
    top.add_argument("--upkeep", action="store_true", help="beside reviews (crowd)")
    top.add_argument("--kills", type=int, default=0, help="of the server meanwhile (crowd)")
    top.add_argument("--against", type=Path, metavar="DIR", help="another checkout (crowd)")
    top.add_argument("--parts", nargs="+", default=["panel"], help="of a bench (published)")
    top.add_argument(
        "--cache", type=Path, metavar="DIR", help="keep large journals and peers here"
    )
    top.add_argument(
        "--without", metavar="PASS", help="a pass that is left out; in benches without a server"
    )
    top.add_argument(
        "--wrong",
        action="store_true",
        help="list wrong answers (state, actions, repositories, published, helps), or what "
        "differs (passes)",
    )
    top.add_argument("--held", action="store_true", help="ask the second set (helps, holds)")
    top.add_argument("--small", action="store_true", help="in 24 small journals (holds)")
    top.add_argument("--third", action="store_true", help="ask the set that reports (helps)")
    top.add_argument(
        "--captured",
        action="store_true",
        help="with digests of ten sessions (helps: the first and the third history)",
    )
    top.add_argument(
        "--crowded", action="store_true", help="with other teams' entries beside (helps)"
    )
    top.add_argument(
        "--unseen",
        choices=("look", "held"),
        help="journals on which no rule was chosen, and this half of their questions "
        "(panel, passes)",
    )
    top.add_argument("--json", action="store_true", help="print JSON")
    top.add_argument(
        "--record", metavar="NAME", help="write the tables into docs/BENCHMARKS.md, under this"
    )
    return top


def sizes(text: str) -> list[int]:
    """The numbers of a list such as `1000,10000`."""
    return sorted(map(int, text.split(",")))


def tables(rows: Rows) -> str:
    """Markdown tables; a row with other columns begins a new table."""
    groups: list[Rows] = []
    for row in rows:
        if not groups or groups[-1][0].keys() != row.keys():
            groups.append([])
        groups[-1].append(row)
    return "\n\n".join(table(group) for group in groups)


def table(rows: Rows) -> str:
    columns = list(rows[0])
    lines = [columns, ["---"] * len(columns)]
    lines += [[str(row[name]) for name in columns] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    main()

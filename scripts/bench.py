"""Where Synaptic's figures come from. Every sub-command prints a Markdown table, or JSON with
--json.

    python scripts/bench.py quality --locomo locomo-dev.json [--split 1-3]
    python scripts/bench.py quality --notes notes-til.tar.gz
    python scripts/bench.py quality --freshness tests/data/freshness.json
    python scripts/bench.py panel [--locomo FILE] [--beam FILE] [--notes FILE] [--vaults FILE]
    [--model NAME] python scripts/bench.py sure [the same files] python scripts/bench.py near
    [the same files] python scripts/bench.py diary [--vaults FILE] python scripts/bench.py auto
    --locomo locomo-dev.json python scripts/bench.py speed [--notes notes-til.tar.gz] [--cache
    DIR] python scripts/bench.py scale --data DIR [--cache DIR] [--sizes 10k,100k,500k] python
    scripts/bench.py start python scripts/bench.py size --notes notes-til.tar.gz --locomo
    locomo-dev.json python scripts/bench.py shapes python scripts/bench.py state [--wrong]
    python scripts/bench.py sessions python scripts/bench.py serve --data DIR [--cache DIR]
    [--size 100k] [--minutes 10]

Run it with the project's `.venv`. The machine is noisy wherever it is: compare rows of one run.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench_automatic import run_automatic
from bench_diary import run_diary
from bench_near import run_near
from bench_panel import run_panel
from bench_quality import run_quality
from bench_scale import PARTS as SCALE_PARTS
from bench_scale import SIZES, run_scale
from bench_serve import run_serve
from bench_sessions import run_sessions
from bench_shapes import run_shapes
from bench_size import run_size
from bench_speed import PARTS, run_speed
from bench_start import run_start
from bench_state import DATA, run_state
from bench_sure import run_sure

from synaptic.config import DEFAULT_MODEL

Rows = list[dict[str, Any]]

COMMANDS: dict[str, Callable[[argparse.Namespace, Path], Rows]] = {
    "quality": run_quality,
    "panel": run_panel,
    "sure": run_sure,
    "near": run_near,
    "diary": run_diary,
    "auto": run_automatic,
    "speed": run_speed,
    "scale": run_scale,
    "start": run_start,
    "size": run_size,
    "shapes": run_shapes,
    "state": run_state,
    "sessions": run_sessions,
    "serve": run_serve,
}


def main() -> None:
    arguments = parser().parse_args()
    for name in [name for name in os.environ if name.startswith("SYNAPTIC_")]:
        del os.environ[name]  # somebody's own settings are not to be measured
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has been compiled
    with tempfile.TemporaryDirectory(prefix="synaptic-bench-") as scratch:
        rows = COMMANDS[arguments.command](arguments, Path(scratch))
    print(json.dumps(rows, indent=2) if arguments.json else tables(rows))
    if hasattr(os, "getloadavg"):
        print(f"\n{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}", file=sys.stderr)


def model(name: str) -> str:
    """A folder by its whole path, any other model by its name."""
    return str(Path(name).resolve()) if Path(name).is_dir() else name


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = top.add_subparsers(dest="command", required=True)
    quality = commands.add_parser("quality", help="recall, MRR and nDCG against known answers")
    quality.add_argument("--locomo", type=Path, help="LoCoMo conversations, JSON")
    quality.add_argument("--split", default="1-5", help="conversations by number, like 1-3")
    quality.add_argument(
        "--notes", type=Path, help="a tar.gz of Markdown notes: each is sought by its title"
    )
    quality.add_argument(
        "--freshness",
        type=Path,
        nargs="+",
        default=[],
        help="corrections and old answers, among --notes; JSON",
    )
    quality.add_argument("--sweep", action="store_true", help="try settings around the default")
    panel = commands.add_parser(
        "panel", help="many kinds of journals at once: what each rule of the ranking adds"
    )
    sure = commands.add_parser(
        "sure", help="the same journals: doubts, the cut, and what a score means"
    )
    near = commands.add_parser(
        "near", help="what a save is told to be near: corrections, and the same journals"
    )
    for kinds in (panel, sure, near):
        kinds.add_argument("--locomo", type=Path, help="LoCoMo conversations, JSON")
        kinds.add_argument(
            "--beam", type=Path, help="BEAM's chats with an assistant, JSON in gzip"
        )
        kinds.add_argument(
            "--notes", type=Path, help="a tar.gz of Markdown notes: each is sought by its title"
        )
        kinds.add_argument(
            "--model",
            default=DEFAULT_MODEL,
            type=model,
            help="a name of fastembed's, or a folder",
        )
        kinds.add_argument(
            "--vaults", type=Path, help="a tar.gz with a Logseq graph and an Obsidian vault"
        )
    diary = commands.add_parser(
        "diary", help="days and vaults of people: where the entry that answers stands"
    )
    diary.add_argument("--vaults", type=Path, help="a tar.gz of the two vaults")
    automatic = commands.add_parser(
        "auto", help="the automatic strategy: its budget, and what it loses"
    )
    automatic.add_argument(
        "--locomo", type=Path, required=True, help="LoCoMo conversations, JSON"
    )
    automatic.add_argument("--split", default="1-5", help="conversations by number, like 1-3")
    speed = commands.add_parser("speed", help="search, save, memory, rebuild")
    speed.add_argument(
        "parts", nargs="*", choices=[[], *PARTS], help=f"of {', '.join(PARTS)}; default all"
    )
    speed.add_argument(
        "--notes",
        type=Path,
        help="a tar.gz of notes to take sentences from; default the project's own",
    )
    speed.add_argument(
        "--cache", type=Path, help="where the large journals are kept for the next run"
    )
    scale = commands.add_parser(
        "scale", help="search over up to 500,000 entries: time, memory, what it misses"
    )
    scale.add_argument(
        "parts",
        nargs="*",
        choices=[[], *SCALE_PARTS],
        help=f"of {', '.join(SCALE_PARTS)}; default all",
    )
    scale.add_argument(
        "--data", type=Path, required=True, help="a folder with tars of notes and LoCoMo's JSON"
    )
    scale.add_argument(
        "--sizes", default="10k,100k", help=f"of {','.join(SIZES)}; 500k wants 3 GB"
    )
    scale.add_argument(
        "--cache", type=Path, help="where the journals are kept for the next run"
    )
    scale.add_argument(
        "--cpu", action="store_true", help="processor time: for a machine that others use"
    )
    start = commands.add_parser(
        "start", help="whole processes: an MCP server's first answer, commands from cold"
    )
    start.add_argument(
        "--notes",
        type=Path,
        help="a tar.gz of notes to take sentences from; default the project's own",
    )
    start.add_argument(
        "--cache", type=Path, help="where the large journal is kept for the next run"
    )
    size = commands.add_parser(
        "size", help="bytes of the index over bytes of the text, by part"
    )
    size.add_argument("--notes", type=Path, help="a tar.gz of Markdown notes")
    size.add_argument(
        "--locomo", type=Path, help="LoCoMo conversations, JSON: an entry for each turn"
    )
    shapes = commands.add_parser(
        "shapes", help="processor time of each function over texts that make patterns slow"
    )
    shapes.add_argument(
        "--size", type=int, default=1_000_000, help="characters of a text; default a million"
    )
    sessions = commands.add_parser(
        "sessions", help="forty sessions of real clients: are they found?"
    )
    serve = commands.add_parser(
        "serve",
        help="a team over HTTP: errors, times, and what is lost when the server is killed",
    )
    serve.add_argument(
        "--data", type=Path, help="a folder with tars of notes and LoCoMo's JSON"
    )
    serve.add_argument("--cache", type=Path, help="where the journal is kept for the next run")
    serve.add_argument(
        "--home", type=Path, help="a home to use, and to write into, in place of --data"
    )
    serve.add_argument("--size", default="100k", choices=SIZES)
    serve.add_argument("--clients", type=int, default=16)
    serve.add_argument("--minutes", type=float, default=10)
    serve.add_argument("--kills", type=int, default=2)
    state = commands.add_parser(
        "state", help="what is open, was left off, was decided: labelled questions"
    )
    state.add_argument(
        "--questions", type=Path, default=DATA / "state_questions.json", help="JSON"
    )
    state.add_argument(
        "--wrong", action="store_true", help="show the questions that are not right"
    )
    for command in (
        quality,
        panel,
        sure,
        near,
        diary,
        automatic,
        speed,
        scale,
        start,
        size,
        shapes,
        sessions,
        serve,
        state,
    ):
        command.add_argument(
            "--json", action="store_true", help="print JSON instead of a table"
        )
    return top


def tables(rows: Rows) -> str:
    """A Markdown table; a new one where the columns change."""
    groups: list[Rows] = []
    for row in rows:
        if not groups or not (
            groups[-1][0].keys() <= row.keys() or row.keys() <= groups[-1][0].keys()
        ):
            groups.append([])
        groups[-1].append(row)
    return "\n\n".join(table(group) for group in groups)


def table(rows: Sequence[dict[str, Any]]) -> str:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    lines = [" | ".join(columns), " | ".join("---" for _ in columns)]
    lines += [" | ".join(str(row.get(name, "")) for name in columns) for row in rows]
    return "\n".join(f"| {line} |" for line in lines)


if __name__ == "__main__":
    main()

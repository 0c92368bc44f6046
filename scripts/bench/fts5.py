"""A table of FTS5 alone, beside which `speed` shows Synaptic: each entry is a row, a save is a
transaction, a search is ordered by bm25.

A process of its own, for its memory. It reads lines of JSON from its input, the texts to be saved, the
queries, and each text of the journal, and prints the costs.
"""

from __future__ import annotations

import json
import re
import sqlite3
import statistics
import sys
import time
from pathlib import Path


def main(path: Path) -> None:
    lines = map(json.loads, sys.stdin)
    new, queries = next(lines), next(lines)
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("CREATE VIRTUAL TABLE entry USING fts5 (text, tokenize = 'porter')")
    begun = time.process_time()
    db.execute("BEGIN")
    db.executemany("INSERT INTO entry VALUES (?)", ([text] for text in lines))
    db.execute("COMMIT")
    costs = {"index, s": round(time.process_time() - begun, 2)}
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    costs["size, MB"] = round(path.stat().st_size / 2**20, 1)
    search = "SELECT text FROM entry WHERE entry MATCH ? ORDER BY bm25(entry) LIMIT 8"
    costs["search, ms"] = median_ms(db, search, queries)
    costs["save, ms"] = median_ms(db, "INSERT INTO entry VALUES (?)", new)
    status = Path("/proc/self/status")
    memory = re.search(r"RssAnon:\s+(\d+)", status.read_text() if status.exists() else "")
    costs["memory, MB"] = int(memory[1]) // 1024 if memory else 0
    print(json.dumps(costs))


def median_ms(db: sqlite3.Connection, sql: str, values: list[str]) -> float:
    """Milliseconds of processor time of a statement, a median, without the first one."""
    times = []
    for value in values:
        begun = time.process_time()
        db.execute(sql, [value]).fetchall()
        times.append(1000 * (time.process_time() - begun))
    return round(statistics.median(times[1:]), 2)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""The fault tests at their full size: hours of kills, races, damage and fuzzing, with a table at the end.

python3 scripts/soak.py             # every row
python3 scripts/soak.py 1 6 12      # these rows alone
"""

from __future__ import annotations

import re
import subprocess
import sys
import time

from environment import PYTHON, ROOT, clean_environ, prepare

ROWS = {
    1: "kill -9 at random moments of a save",
    2: "killed at each step, and again in the recovery",
    3: "many processes at once",
    4: "editors that hold an old buffer",
    5: "update and delete in races",
    6: "a damaged index",
    7: "hand edits",
    8: "disks that refuse",
    9: "clocks that lie",
    10: "bad input",
    11: "security",
    12: "merges",
}
_PASSED = re.compile(r"(\d+) passed")


def main() -> int:
    """0 when every row passed."""
    rows = [int(number) for number in sys.argv[1:]] or list(ROWS)
    if unknown := [row for row in rows if row not in ROWS]:
        sys.exit(f"There is no row {unknown[0]}. Valid: {min(ROWS)} to {max(ROWS)}.")
    prepare("dev")
    results = [_soak(row) for row in rows]
    print("\n| row | fault | tests | result | seconds |\n| --- | --- | --- | --- | --- |")
    for row, tests, passed, seconds in results:
        print(f"| {row} | {ROWS[row]} | {tests} | {'passed' if passed else 'FAILED'} | {seconds:,.0f} |")
    return 0 if all(passed for _, _, passed, _ in results) else 1


def _soak(row: int) -> tuple[int, int, bool, float]:
    """(row, tests that passed, whether all did, seconds)."""
    print(f"\n== row {row}: {ROWS[row]}", flush=True)
    begun = time.monotonic()
    command = [str(PYTHON), "-m", "pytest", "-n0", "--soak", "-s", "-rs", "-m", f"fault(row={row})"]
    # progress goes to stderr, and so to the terminal
    done = subprocess.run(command, cwd=ROOT, env=clean_environ(), stdout=subprocess.PIPE, text=True, check=False)
    print(done.stdout, flush=True)
    found = _PASSED.search(done.stdout)
    return row, int(found[1]) if found else 0, done.returncode == 0, time.monotonic() - begun


if __name__ == "__main__":
    sys.exit(main())

"""The fault tests at their full size, and five attacks: hours of kills, races, damage and fuzzing, with a table.

python3 scripts/soak.py                # every row and every attack
python3 scripts/soak.py 1 6 faults     # these alone
python3 scripts/soak.py attacks        # the attacks alone, within an hour on two cores
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
ATTACKS = {
    "faults": "every call to the disk fails or kills",
    "power": "the power goes at any moment",
    "editors": "editors write at the worst moment",
    "merges": "random merges of three versions",
    "model": "random users against a model",
}
_TRIALS = re.compile(r"([\d,]+), failures ([\d,]+), seed")
_PASSED = re.compile(r"(\d+) passed")


def main() -> int:
    """0 when every row and attack passed."""
    asked = [name for word in sys.argv[1:] for name in (ATTACKS if word == "attacks" else [word])]
    names = asked or [*map(str, ROWS), *ATTACKS]
    if unknown := [name for name in names if name not in {*map(str, ROWS), *ATTACKS}]:
        sys.exit(f"There is no {unknown[0]}. Valid: {min(ROWS)} to {max(ROWS)}, {', '.join(ATTACKS)}, attacks.")
    prepare("dev")
    results = [_attack(name) if name in ATTACKS else _soak(int(name)) for name in names]
    print("\n| row | fault | tests | result | seconds |\n| --- | --- | --- | --- | --- |")
    for name, (count, result, seconds) in zip(names, results, strict=True):
        print(f"| {name} | {ATTACKS.get(name) or ROWS[int(name)]} | {count} | {result} | {seconds:,.0f} |")
    return 1 if any(result == "FAILED" for _, result, _ in results) else 0


def _attack(name: str) -> tuple[str, str, float]:
    """Trials, the result and seconds."""
    print(f"\n== {name}: {ATTACKS[name]}", flush=True)
    begun = time.monotonic()
    command = [str(PYTHON), str(ROOT / "scripts" / f"soak_{name}.py")]
    done = subprocess.run(command, cwd=ROOT, env=clean_environ(), stdout=subprocess.PIPE, text=True, check=False)
    print(done.stdout, flush=True)
    found = _TRIALS.search(done.stdout)
    result = "FAILED" if done.returncode else "passed" if found else "skipped"
    return found[1] if found else "0", result, time.monotonic() - begun


def _soak(row: int) -> tuple[str, str, float]:
    """Tests that passed, the result and seconds."""
    print(f"\n== row {row}: {ROWS[row]}", flush=True)
    begun = time.monotonic()
    command = [str(PYTHON), "-m", "pytest", "-n0", "--soak", "-s", "-rs", "-m", f"fault(row={row})"]
    # progress goes to stderr, and so to the terminal
    done = subprocess.run(command, cwd=ROOT, env=clean_environ(), stdout=subprocess.PIPE, text=True, check=False)
    print(done.stdout, flush=True)
    found = _PASSED.search(done.stdout)
    return found[1] if found else "0", "FAILED" if done.returncode else "passed", time.monotonic() - begun


if __name__ == "__main__":
    sys.exit(main())

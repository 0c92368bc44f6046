"""The fault tests at their full size, and six attacks: hours of kills, races, damage and
fuzzing, with a table.

python3 scripts/soak.py                # every row and every attack
python3 scripts/soak.py 1 6 faults     # these alone
python3 scripts/soak.py attacks        # the attacks alone, within an hour on two cores
python3 scripts/soak.py properties     # what must hold of any text, with all its random examples
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
PROPERTIES = "properties"
ATTACKS = {
    "faults": "every call to the disk fails or kills",
    "power": "the power goes at any moment",
    "editors": "editors write at the worst moment",
    "merges": "random merges of three versions",
    "model": "random users against a model",
    "imports": "exports of 16 sources with one thing wrong",
    "together": "all writers at once, with kills and a wrecked index",
}
_TRIALS = re.compile(r"([\d,]+), failures ([\d,]+), seed")
_PASSED = re.compile(r"(\d+) passed")


def main() -> int:
    """0 when every row and attack passed."""
    asked = [
        name for word in sys.argv[1:] for name in (ATTACKS if word == "attacks" else [word])
    ]
    known = [*map(str, ROWS), PROPERTIES, *ATTACKS]
    names = asked or known
    if unknown := [name for name in names if name not in known]:
        valid = f"{min(ROWS)} to {max(ROWS)}, {PROPERTIES}, {', '.join(ATTACKS)}, attacks"
        sys.exit(f"There is no {unknown[0]}. Valid: {valid}.")
    prepare("dev")
    results = [_attack(name) if name in ATTACKS else _soak(name) for name in names]
    print("\n| row | fault | tests | result | seconds |\n| --- | --- | --- | --- | --- |")
    for name, (count, result, seconds) in zip(names, results, strict=True):
        print(
            f"| {name} | {ATTACKS.get(name) or _about(name)} | {count} | {result} | "
            f"{seconds:,.0f} |"
        )
    return 1 if any(result == "FAILED" for _, result, _ in results) else 0


def _attack(name: str) -> tuple[str, str, float]:
    """Trials, the result and seconds."""
    print(f"\n== {name}: {ATTACKS[name]}", flush=True)
    begun = time.monotonic()
    command = [str(PYTHON), str(ROOT / "scripts" / f"soak_{name}.py")]
    done = subprocess.run(
        command, cwd=ROOT, env=clean_environ(), stdout=subprocess.PIPE, text=True, check=False
    )
    print(done.stdout, flush=True)
    found = _TRIALS.search(done.stdout)
    result = "FAILED" if done.returncode else "passed" if found else "skipped"
    return found[1] if found else "0", result, time.monotonic() - begun


def _about(row: str) -> str:
    return "random texts and journals" if row == PROPERTIES else ROWS[int(row)]


def _soak(row: str) -> tuple[str, str, float]:
    """Tests that passed, the result and seconds."""
    print(f"\n== row {row}: {_about(row)}", flush=True)
    begun = time.monotonic()
    chosen = "hypothesis and not slow" if row == PROPERTIES else f"fault(row={row})"
    command = [str(PYTHON), "-m", "pytest", "-n0", "--soak", "-s", "-rs", "-m", chosen]
    # progress goes to stderr, and so to the terminal
    done = subprocess.run(
        command, cwd=ROOT, env=clean_environ(), stdout=subprocess.PIPE, text=True, check=False
    )
    print(done.stdout, flush=True)
    found = _PASSED.search(done.stdout)
    return (
        found[1] if found else "0",
        "FAILED" if done.returncode else "passed",
        time.monotonic() - begun,
    )


if __name__ == "__main__":
    sys.exit(main())

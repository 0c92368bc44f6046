"""Runs the fault tests at their full size, and eight attacks.

python3 scripts/soak.py                     # every row and every attack: hours
python3 scripts/soak.py 1 6 faults          # two rows and one attack
python3 scripts/soak.py attacks             # the attacks alone: about an hour
python3 scripts/soak.py properties          # all random examples of the tests by hypothesis
python3 scripts/soak.py sweeps              # all cases of what the suite only samples
python3 scripts/soak.py slow                # the longer tests, which the suite leaves out
python3 scripts/soak.py processors          # the suite with the vectors of twenty other processors
python3 scripts/soak.py versions            # the suite with the oldest and the newest libraries
python3 scripts/soak.py features            # the core's tests without each feature, and without all
python3 scripts/soak.py faults --seed 2     # options go to the attacks; see faults --help
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from typing import NamedTuple

from environment import PYTHON, ROOT, clean_environ, prepare

ROWS = {
    1: "kill -9 at random moments of a save",
    2: "killed at each step, and the next save too",
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
    13: "published journals",
}
PROPERTIES = "properties"
SWEEPS = "sweeps"
SLOW = "slow"
PROCESSORS = "processors"
VERSIONS = "versions"
FEATURES = "features"
SEEDS = range(1, 21)
"""Those of tests/helpers/disturbed.py, of which the suite draws one."""
ATTACKS = {
    "faults": "every call to the disk fails or kills",
    "power": "the power goes at any moment",
    "editors": "editors write at the worst moment",
    "merges": "random merges of three versions",
    "machines": "three machines share a journal, with kills and without a network",
    "imports": "exports of 16 sources with one thing wrong",
    "strangers": "thousands of connections without a login, beside a person at work",
    "together": "all writers at once, with kills and a wrecked index",
}
ABOUT = {str(row): about for row, about in ROWS.items()}
ABOUT |= {
    PROPERTIES: "random texts and journals",
    SWEEPS: "each page, step and spelling that the tests only draw from",
    SLOW: "tests that take too long for the suite",
    PROCESSORS: "vectors as other kinds of processors make them",
    VERSIONS: "the lowest and the newest versions that pyproject.toml allows",
    FEATURES: "the core's tests in a copy without a feature",
}
ABOUT |= ATTACKS
MARKS = {PROPERTIES: "hypothesis and not slow", SWEEPS: "sweep", SLOW: "slow and not fault"}
TRIALS = re.compile(r"([\d,]+), failures ([\d,]+), seed")
PASSED = re.compile(r"(\d+) passed")


class Outcome(NamedTuple):
    trials: str
    verdict: str
    seconds: float


def main() -> int:
    """0 when every row and attack passed."""
    words = sys.argv[1:]
    if words in (["-h"], ["--help"]):
        print(__doc__)
        return 0
    begin = next((at for at, word in enumerate(words) if word.startswith("-")), len(words))
    names, options = words[:begin], words[begin:]
    if "attacks" in names:
        at = names.index("attacks")
        names[at : at + 1] = list(ATTACKS)
    for name in names:
        if name not in ABOUT:
            sys.exit(f"There is no {name}. Valid: {', '.join([*ABOUT, 'attacks'])}.")
    prepare("dev")
    outcomes = {name: run(name, options) for name in names or ABOUT}
    print("\n| row | fault | tests | result | seconds |\n| --- | --- | --- | --- | --- |")
    for name, (count, verdict, seconds) in outcomes.items():
        print(f"| {name} | {ABOUT[name]} | {count} | {verdict} | {seconds:,.0f} |")
    return int(any(outcome.verdict == "FAILED" for outcome in outcomes.values()))


def run(name: str, options: list[str]) -> Outcome:
    pattern = PASSED
    if name in ATTACKS or name == VERSIONS:
        commands = [[str(ROOT / "scripts" / "soak" / f"{name}.py"), *options]]
        pattern = TRIALS
    elif name == FEATURES:
        commands = [[str(ROOT / "scripts" / "soak" / "features.py"), *options]]
    elif name == PROCESSORS:
        commands = [["-m", "pytest", "--disturb", str(seed), *options] for seed in SEEDS]
    else:
        chosen = MARKS.get(name, f"fault(row={name})")
        commands = [["-m", "pytest", "-n0", "--soak", "-s", "-rs", "-m", chosen]]
    print(f"\n== {name}: {ABOUT[name]}", flush=True)
    begun = time.monotonic()
    counts = []
    failed = False
    for command in commands:
        done = subprocess.run(  # progress goes to stderr, and so to the terminal
            [str(PYTHON), *command],
            cwd=ROOT,
            env=clean_environ(),
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        print(done.stdout, flush=True)
        failed = failed or done.returncode != 0
        counted = pattern.search(done.stdout)
        if counted:
            counts.append(int(counted[1].replace(",", "")))
    verdict = "FAILED" if failed else "passed" if counts else "skipped"
    return Outcome(f"{sum(counts):,}", verdict, time.monotonic() - begun)


if __name__ == "__main__":
    sys.exit(main())

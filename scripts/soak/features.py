"""Runs the tests of the core in a copy without a feature of ours: for each one, and for all.

python3 scripts/soak/features.py              # every copy: hours
python3 scripts/soak/features.py page all     # two copies
python3 scripts/soak/features.py all -- tests/verbs tests/journal

A copy has no tests of features (`tests/features`). Left out, too, are tests that are marked
`whole`, for they are about all of Synaptic, and those that are marked as needing what is gone:
`needs(feature=NAME)`.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from environment import PYTHON, ROOT, VENV, clean_environ, prepare

PACKAGES = Path("synaptic/features")
FEATURES = sorted(path.parent.name for path in (ROOT / PACKAGES).glob("*/__init__.py"))
ALL = "all"
PASSED = re.compile(r"(\d+) passed")


def main() -> int:
    """0 when the tests passed in each copy."""
    if sys.argv[1:] in (["-h"], ["--help"]):
        print(__doc__)
        return 0
    names, paths = sys.argv[1:], ["tests"]
    if "--" in names:
        at = names.index("--")
        names, paths = names[:at], names[at + 1 :]
    for name in names:
        if name not in (*FEATURES, ALL):
            sys.exit(f"There is no feature {name}. Valid: {', '.join([*FEATURES, ALL])}.")
    prepare("dev")
    counts = {name: count_passed_without(name, paths) for name in names or [*FEATURES, ALL]}
    failed = [name for name, count in counts.items() if count is None]
    print(
        f"{sum(filter(None, counts.values()))} passed; failed without: {', '.join(failed) or '-'}"
    )
    return int(bool(failed))


def count_passed_without(name: str, paths: Sequence[str]) -> int | None:
    """The number of tests that passed in a copy without this feature; None if one failed, whose
    report is printed.
    """
    begun = time.monotonic()
    gone = FEATURES if name == ALL else [name]
    needs = "needs" if name == ALL else f"needs(feature='{name}')"
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        copy_without(copy, gone)
        done = subprocess.run(
            [PYTHON, "-m", "pytest", "-m", f"not slow and not whole and not {needs}", *paths],
            cwd=copy,
            env=clean_environ() | {"PYTHONPATH": str(copy)},
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
    passed = PASSED.search(done.stdout)
    is_good = done.returncode == 0 and passed is not None
    if not is_good:
        print(done.stdout)
    verdict = f"all tests good, {passed[1]}" if passed and is_good else "FAILED"
    print(f"without {name}: {verdict}, {time.monotonic() - begun:,.0f} s", flush=True)
    return int(passed[1]) if passed and is_good else None


def copy_without(copy: Path, gone: Sequence[str]) -> None:
    """Makes a copy of the repository, as its working tree is, without these features."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    files = subprocess.run(listed, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    absent = [Path("tests/features"), *(PACKAGES / name for name in gone)]
    for path in map(Path, filter(None, files.stdout.split("\0"))):
        if (ROOT / path).is_file() and not any(path.is_relative_to(one) for one in absent):
            (copy / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / path, copy / path)
    (copy / VENV.name).symlink_to(VENV)


if __name__ == "__main__":
    sys.exit(main())

"""Mutants of the package, drawn by a seed, against the tests as they were and as they are.

The promise: a test suite that became quicker still fails for each mutant for which it failed
before. Run it after a change of tests:

.venv/bin/python scripts/soak/mutants.py --before main --in features/sharing tests/features/sharing
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
TIMEOUT_S = 900


class Site(NamedTuple):
    path: Path
    number: int
    """Of the changes that are possible in this file."""


def changes(tree: ast.AST) -> Iterator[tuple[ast.AST, Callable[[], None]]]:
    """Each change of one place that a test should notice, and the node that it changes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            opposite = OPPOSITE[type(node.ops[0])]()
            yield node, partial(node.ops.__setitem__, 0, opposite)
        elif isinstance(node, ast.BoolOp):
            other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield node, partial(setattr, node, "op", other)
        elif isinstance(node, ast.If | ast.While | ast.IfExp):
            yield node, partial(setattr, node, "test", ast.UnaryOp(ast.Not(), node.test))
        elif isinstance(node, ast.Return) and node.value is not None:
            yield node, partial(setattr, node, "value", ast.Constant(None))
        elif isinstance(node, ast.Constant) and type(node.value) is int:
            yield node, partial(setattr, node, "value", node.value + 1)


def mutate(path: Path, number: int) -> str:
    """Writes the file with one change, and says where."""
    tree = ast.parse(path.read_text())
    node, change = list(changes(tree))[number]
    line, before = getattr(node, "lineno", 0), ast.unparse(node).partition("\n")[0]
    change()
    path.write_text(ast.unparse(ast.fix_missing_locations(tree)))
    return f"{line}: {before} -> {ast.unparse(node).partition(chr(10))[0]}"


def drawn(package: Path, part: str, seed: int, count: int) -> list[Site]:
    files = sorted((package / part).rglob("*.py")) or [package / part]
    sites = [
        Site(path.relative_to(package), number)
        for path in files
        for number in range(len(list(changes(ast.parse(path.read_text())))))
    ]
    return random.Random(seed).sample(sites, min(count, len(sites)))


def fails(checkout: Path, tests: list[str]) -> bool:
    """True if these tests fail; what takes for ever counts as that."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--seed", "1", *tests]
    environ = os.environ | {"PYTHONPATH": str(checkout)}
    try:
        done = subprocess.run(
            command, cwd=checkout, env=environ, capture_output=True, timeout=TIMEOUT_S
        )
    except subprocess.TimeoutExpired:
        return True
    if done.returncode not in (0, 1):
        sys.exit(done.stdout.decode() + done.stderr.decode())
    return done.returncode == 1


def main() -> int:
    """0 when no mutant that the tests found before is missed now."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--before", required=True, help="the commit with the tests as they were"
    )
    parser.add_argument("--in", dest="part", default="", help="a part of the package")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=50)
    given, tests = parser.parse_known_args()  # the others go to pytest
    with tempfile.TemporaryDirectory() as folder:
        before, now = Path(folder, "before"), Path(folder, "now")
        for checkout in (before, now):
            ignored = shutil.ignore_patterns(".venv", ".git", ".*_cache", ".hypothesis")
            shutil.copytree(ROOT, checkout, ignore=ignored, symlinks=True)
        shutil.rmtree(before / "tests")
        archive = subprocess.run(
            ["git", "-C", str(ROOT), "archive", given.before, "tests"],
            capture_output=True,
            check=True,
        )
        subprocess.run(["tar", "-x", "-C", str(before)], input=archive.stdout, check=True)
        if fails(before, tests) or fails(now, tests):
            sys.exit("The tests fail without a mutant.")
        missed = found = 0
        for number, site in enumerate(
            drawn(now / "synaptic", given.part, given.seed, given.count)
        ):
            verdicts, said = [], ""
            for checkout in (before, now):
                path = checkout / "synaptic" / site.path
                kept = path.read_bytes()
                said = mutate(path, site.number)
                verdicts.append(fails(checkout, tests))
                path.write_bytes(kept)
            found += verdicts[0]
            missed += verdicts[0] and not verdicts[1]
            words = " ".join("found" if verdict else "missed" for verdict in verdicts)
            print(f"{number + 1}: {words}  {site.path}:{said}", flush=True)
    print(
        f"{found} of {given.count} mutants were found before, {missed} of these are missed now"
    )
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())

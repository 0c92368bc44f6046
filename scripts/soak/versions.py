"""The tests with the lowest and with the newest versions that pyproject.toml allows, each in an
environment of its own; arguments go to pytest.

"Lowest" are the versions after `>=` of what Synaptic asks for itself. What these ask for may be
newer.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import venv
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1]))
from environment import ROOT, clean_environ, install

EXTRAS = ("dev", "postgres")
LEAST = re.compile(r"(?P<name>[\w.-]+)[^;]*?>=(?P<version>[\w.]+)[^;]*(?P<marker>;.*)?")
"""`backports.zstd>=1.0; python_version < '3.14'`"""
PASSED = re.compile(r"(\d+) passed")
FAILED = re.compile(r"(\d+) (?:failed|error)")


def main() -> int:
    """0 when all tests passed with both."""
    passed = failed = 0
    for name, constraints in (("lowest", lowest_versions()), ("newest", [])):
        print(f"{name} versions", file=sys.stderr, flush=True)
        with TemporaryDirectory() as folder:
            output = run_tests(Path(folder), constraints, sys.argv[1:])
        print(output)
        counts = PASSED.findall(output)
        passed += sum(map(int, counts))
        failed += sum(map(int, FAILED.findall(output))) or int(not counts)
    print(f"{passed + failed:,}, failures {failed:,}, seed 0")
    return int(failed > 0)


def lowest_versions() -> list[str]:
    """Constraints for pip: each requirement at the version after its `>=`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = (project["optional-dependencies"][extra] for extra in EXTRAS)
    bounds = [
        LEAST.match(re.sub(r"\[.*?\]", "", wanted))
        for wanted in chain(project["dependencies"], *extras)
    ]
    return [f"{one['name']}=={one['version']}{one['marker'] or ''}" for one in bounds if one]


def run_tests(folder: Path, constraints: list[str], options: list[str]) -> str:
    """What pytest says in a new environment in this folder; ends where pip cannot make it."""
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / "bin" / "python"
    limits = folder / "constraints.txt"
    limits.write_text("\n".join(constraints), encoding="utf-8")
    wanted = f"{ROOT}[{','.join(EXTRAS)}]"
    if not install(python, ["--constraint", str(limits), "--editable", wanted]):
        raise SystemExit("These versions do not go together: raise the one that pip names.")
    done = subprocess.run(
        [str(python), "-m", "pytest", *options],
        cwd=ROOT,
        env=clean_environ(),
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())

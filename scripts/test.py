"""Every check of the project, in `.venv`: lint, format, types, layers, tests. Arguments go to
pytest.

python3 scripts/test.py                    # everything, as CI does
python3 scripts/test.py tests/test_x.py    # the same checks, but these tests alone
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from environment import BIN, PYTHON, ROOT, clean_environ, prepare


def main() -> int:
    """0 when all checks passed; a failed one does not keep the others from running."""
    prepare("dev")
    python = [str(PYTHON), "-m"]
    needs = {key: os.environ[key] for key in os.environ if key.startswith("SYNAPTIC_NEED_")}
    environ = clean_environ() | needs
    environ.pop(
        "PYTHONDONTWRITEBYTECODE", None
    )  # else every process of a test compiles what it imports
    others = {
        f"mypy --platform {name}": [
            *python,
            "mypy",
            "--platform",
            name,
            "--cache-dir",
            f".mypy_cache/{name}",
        ]
        for name in ("darwin", "win32")
    }
    commands = {"mypy --strict": [*python, "mypy"], **others}
    commands["import-linter"] = [str(BIN / "lint-imports"), "--no-cache"]

    def quiet(command: list[str]) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            command,
            cwd=ROOT,
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )

    pool = ThreadPoolExecutor(
        1
    )  # the tests leave a processor some time; what these say is shown after them
    beside = {name: pool.submit(quiet, command) for name, command in commands.items()}
    codes = {}
    for name, command in {
        "ruff check": [*python, "ruff", "check"],
        "ruff format": [*python, "ruff", "format", "--check"],
        "pytest": [*python, "pytest", *sys.argv[1:]],
    }.items():
        print(f"\n== {name}", flush=True)
        started = time.monotonic()
        codes[name] = subprocess.run(command, cwd=ROOT, env=environ, check=False).returncode
        print(
            f"== {name}: {'failed' if codes[name] else 'ok'}, "
            f"{time.monotonic() - started:.1f} s",
            flush=True,
        )
    for name, future in beside.items():
        done = future.result()
        print(f"\n== {name}\n{done.stdout.decode('utf-8', 'replace').rstrip()}")
        codes[name] = done.returncode
        print(f"== {name}: {'failed' if codes[name] else 'ok'}", flush=True)
    if failed := [name for name, code in codes.items() if code]:
        print(f"\nfailed: {', '.join(failed)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Every check of the project, in `.venv`: lint, format, types, layers, tests. Arguments go to pytest.

python3 scripts/test.py                    # everything, as CI does
python3 scripts/test.py tests/test_x.py    # the same checks, but these tests alone
"""

from __future__ import annotations

import subprocess
import sys
import time

from environment import BIN, PYTHON, ROOT, clean_environ, prepare


def main() -> int:
    """0 when all checks passed; a failed one does not keep the others from running."""
    prepare("dev")
    steps = [
        ("ruff check", [str(PYTHON), "-m", "ruff", "check"]),
        ("ruff format", [str(PYTHON), "-m", "ruff", "format", "--check"]),
        ("mypy --strict", [str(PYTHON), "-m", "mypy"]),
        ("import-linter", [str(BIN / "lint-imports"), "--no-cache"]),
        ("pytest", [str(PYTHON), "-m", "pytest", *sys.argv[1:]]),
    ]
    failed = []
    for name, command in steps:
        print(f"\n== {name}", flush=True)
        started = time.monotonic()
        code = subprocess.run(command, cwd=ROOT, env=clean_environ(), check=False).returncode
        if code:
            failed.append(name)
        print(f"== {name}: {'failed' if code else 'ok'}, {time.monotonic() - started:.1f} s", flush=True)
    if failed:
        print(f"\nfailed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

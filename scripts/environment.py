"""The project's own `.venv`, made with nothing but Python 3.11+ and reused while it fits.

A stamp inside it, written last, holds a hash of what it was made from: a `.venv` that is half
made, of another Python, or older than pyproject.toml is recognised by its stamp and made anew
or completed.
"""

# Old interpreters must get as far as the message about their version: no 3.11 syntax or modules
# above it.
from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")
SYNAPTIC = BIN / ("synaptic.exe" if os.name == "nt" else "synaptic")


def prepare(extra: str = "") -> None:
    """Have `.venv` with the project installed, editable, and its `extra` dependencies.

    Ends the program with a message and the next step where that cannot be done.
    """
    if sys.version_info < (3, 11):  # noqa: UP036
        version = ".".join(map(str, sys.version_info[:3]))
        raise SystemExit(
            f"Synaptic needs Python 3.11 or newer; this is {version} ({sys.executable}).\n"
            "Install a newer Python and start this script with it, for example: python3.12 "
            "scripts/start.py"
        )
    if _is_stamped(extra):
        return
    if not _venv_fits():
        _make_venv()
    _say("installing Synaptic into .venv (once; the next start takes no time)")
    target = f"{ROOT}[{extra}]" if extra else str(ROOT)
    pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if subprocess.run([*pip, "--editable", target], check=False).returncode:
        raise SystemExit(
            "pip could not install Synaptic's dependencies; its message stands above.\n"
            "The first start needs a network connection. Mend that and start this script again."
        )
    _stamp(extra).write_text(_fingerprint(), encoding="utf-8")


def run_synaptic(arguments: list[str]) -> NoReturn:
    """Set up where needed, then become `synaptic` with these arguments."""
    prepare()
    command = [str(SYNAPTIC), *arguments]
    if os.name == "nt":
        sys.exit(subprocess.run(command, check=False).returncode)
    sys.stdout.flush()
    os.execv(command[0], command)


def clean_environ() -> dict[str, str]:
    """The environment without SYNAPTIC_* and without what would divert Python from `.venv`."""
    drop = ("SYNAPTIC_", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    return {key: value for key, value in os.environ.items() if not key.startswith(drop)}


def _fingerprint() -> str:
    """The stamp of the present pyproject.toml, place and Python."""
    content = (ROOT / "pyproject.toml").read_bytes()
    made_from = f"{sys.version_info[:2]} {sys.base_prefix} {ROOT}".encode()
    return hashlib.sha256(content + made_from).hexdigest()


def _stamp(extra: str) -> Path:
    return VENV / f"synaptic-{extra or 'run'}.stamp"


def _is_stamped(extra: str) -> bool:
    """True when `.venv` was completed for `extra`; what development needs includes what running
    needs.
    """
    fingerprint = _fingerprint()
    for stamp in {_stamp(extra), _stamp("dev")}:
        try:
            if (
                stamp.read_text(encoding="utf-8") == fingerprint
                and SYNAPTIC.exists()
                and PYTHON.exists()
            ):
                return True
        except (OSError, UnicodeDecodeError):
            continue
    return False


def _venv_fits() -> bool:
    """True when `.venv` was made in this place and has a working Python of this version with
    pip in it.
    """
    ask = "import sys, pip; print(sys.version_info[:2], sys.prefix)"
    try:
        made_by = (VENV / "pyvenv.cfg").read_text(encoding="utf-8")
        answer = subprocess.run(
            [str(PYTHON), "-c", ask], capture_output=True, text=True, check=False
        )
    except (OSError, UnicodeDecodeError):
        return False
    # In a folder that was moved Python still works, but the programs beside it start the old
    # path's.
    in_place = any(
        line.endswith(str(VENV)) for line in made_by.splitlines() if line.startswith("command")
    )
    return in_place and answer.stdout.strip() == f"{sys.version_info[:2]} {VENV}"


def _make_venv() -> None:
    _say("making .venv")
    if VENV.is_symlink():
        raise SystemExit(
            f"{VENV} is a link and its Python does not work. Remove it and start this "
            f"script again."
        )
    if VENV.exists():
        shutil.rmtree(VENV)
    made = subprocess.run(
        [sys.executable, "-m", "venv", str(VENV)], capture_output=True, text=True, check=False
    )
    if made.returncode:
        shutil.rmtree(VENV, ignore_errors=True)
        version = f"{sys.version_info[0]}.{sys.version_info[1]}"
        raise SystemExit(
            f"This Python ({sys.executable}) could not make a virtual environment:\n"
            f"{(made.stdout + made.stderr).strip()}\n"
            f"On Debian and Ubuntu `sudo apt install python{version}-venv` adds what it lacks. "
            "Then start this script again."
        )


def _say(text: str) -> None:
    print(f"synaptic: {text}", file=sys.stderr, flush=True)

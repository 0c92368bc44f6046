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
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")
SYNAPTIC = BIN / ("synaptic.exe" if os.name == "nt" else "synaptic")

EVERY_S = 1.0
"""Seconds between two lines of progress at least."""
_FOUND = re.compile(r"Collecting ([\w.-]+)|Processing \S*/([\w.]+)-\d")
"""`Collecting numpy<3,>=1.26 (from synaptic-journal==0.9)`, `Processing /wheels/numpy-2.1.0.whl`
"""
_FETCHING = re.compile(
    r"(?:Downloading|Using cached) (?:\S*/)?([\w.]+)-\d\S*(?:\.whl|\.tar\.gz) \(([^)]+)\)"
)
"""`Downloading numpy-2.1.0-cp311-cp311-manylinux_2_17_x86_64.whl (16.3 MB)`"""


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
    _say("installing Synaptic into .venv (once, about a minute; the next start takes no time)")
    target = f"{ROOT}[{extra}]" if extra else str(ROOT)
    if not install(PYTHON, ["--editable", target]):
        raise SystemExit(
            "pip could not install Synaptic's dependencies; its message stands above.\n"
            "The first start needs a network connection. Mend that and start this script again."
        )
    _stamp(extra).write_text(_fingerprint(), encoding="utf-8")


def install(python: Path, wanted: list[str]) -> bool:
    """Has pip install what is wanted, and says meanwhile which package it is at. True if it
    succeeded; else all that pip says is shown.

    Of pip's lines only names, sizes and numbers are shown: others name the places from which
    packages come.
    """
    pip = [str(python), "-m", "pip", "install", "--disable-pip-version-check"]
    command = [*pip, "--progress-bar", "off", *wanted]
    lines = []
    progress = Progress()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:
        assert process.stdout
        for line in process.stdout:
            lines.append(line)
            sentence = progress.read(line)
            if sentence:
                _say(sentence)
            if progress.total:
                _follow_installation(process, python, progress.total)
    if process.returncode:
        print("".join(lines), file=sys.stderr, flush=True)
    return process.returncode == 0


def _follow_installation(process: subprocess.Popen[str], python: Path, total: int) -> None:
    """Says how many packages are installed until pip ends, which says nothing meanwhile."""
    places = "lib/python*/site-packages/*.dist-info", "Lib/site-packages/*.dist-info"
    venv = python.parent.parent
    before = said = -1
    while process.poll() is None:
        count = len({path for place in places for path in venv.glob(place)})
        before = count if before < 0 else before
        if count - before > said:
            said = count - before
            _say(f"installed {min(said, total)} of {total} packages")
        time.sleep(EVERY_S)


class Progress:
    """Follows pip by its lines: first it looks for all packages, then it fetches and installs
    them. `total` is their number, once pip knows it.
    """

    def __init__(self) -> None:
        self.total = 0
        self._found = 0
        self._fetched = 0
        self._said_at = 0.0

    def read(self, line: str) -> str:
        """Returns what to say of a line of pip's output; empty where that is nothing, or where
        something was said a moment ago.
        """
        sentence = self._sentence(line.strip())
        now = time.monotonic()
        if not sentence or now - self._said_at < EVERY_S:
            return ""
        self._said_at = now
        return sentence

    def _sentence(self, line: str) -> str:
        found = _FOUND.match(line)
        if found:
            self._found += 1
            return f"found {found[1] or found[2]}, package {self._found}"
        fetched = _FETCHING.match(line)
        if fetched:
            self._fetched += 1
            total = max(self._found, self._fetched)
            return f"fetching {self._fetched} of {total}: {fetched[1]} ({fetched[2]})"
        installing = line.partition("Installing collected packages:")[2]
        if installing:
            self.total = installing.count(",") + 1
        return "preparing Synaptic itself" if line.startswith("Preparing editable") else ""


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

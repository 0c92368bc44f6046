"""Starts a command of Synaptic that outlives the process, and that nobody waits for."""

from __future__ import annotations

import sys
from subprocess import DEVNULL, Popen

from ...config import Config


def run_apart(
    config: Config,
    *words: str,
) -> Popen[bytes]:
    """The process of `synaptic` with these words, on the same home."""
    return Popen(
        [sys.executable, "-m", "synaptic", "--home", str(config.home), *words],
        cwd=config.home,
        stdin=DEVNULL,
        stdout=DEVNULL,
        stderr=DEVNULL,
        start_new_session=True,
    )

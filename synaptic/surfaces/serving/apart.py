"""Starts a command of Synaptic that outlives the process, and that nobody waits for."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ...config import Config

if TYPE_CHECKING:
    from subprocess import Popen


def run_apart(
    config: Config,
    *words: str,
) -> Popen[bytes]:
    """The process of `synaptic` with these words, on the same home."""
    from subprocess import DEVNULL, Popen  # a hook that needs none waits for it

    return Popen(
        [sys.executable, "-m", "synaptic", "--home", str(config.home), *words],
        cwd=config.home,
        stdin=DEVNULL,
        stdout=DEVNULL,
        stderr=DEVNULL,
        start_new_session=True,
    )

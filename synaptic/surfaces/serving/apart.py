"""Starts a command of Synaptic that outlives the process, and that nobody waits for."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from ...config import Config

if TYPE_CHECKING:
    from subprocess import Popen


def run_apart(
    config: Config,
    *words: str,
    parent: bool = False,
) -> Popen[bytes]:
    """The process of `synaptic` with these words, on the same home. With `parent` it ends with
    this one, and says what it does where this one does.
    """
    from subprocess import DEVNULL, Popen  # a hook that needs none waits for it

    command = [sys.executable, "-m", "synaptic", "--home", str(config.home), *words]
    if parent:
        environ = os.environ | {"SYNAPTIC_PARENT": str(os.getpid())}
        return Popen(command, cwd=config.home, stdin=DEVNULL, env=environ)
    return Popen(
        command,
        cwd=config.home,
        stdin=DEVNULL,
        stdout=DEVNULL,
        stderr=DEVNULL,
        start_new_session=True,
    )

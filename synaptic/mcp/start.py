"""Starts the server over stdio: first its front, then the SDK."""

import signal
from pathlib import Path

from .front import Front


def run(home: str | Path | None = None) -> None:
    """Serves one client on stdin and stdout, and ends the process when it is gone."""
    for ending in (signal.SIGTERM, signal.SIGINT):
        # the kernel ends us, whatever any thread is doing; saves survive that
        signal.signal(ending, signal.SIG_DFL)
    front = Front()
    front.begin()
    from .server import serve  # the SDK

    serve(home, front)

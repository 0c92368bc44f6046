"""Starts the server over stdio: first its front, then the SDK."""

import signal
import sys
from pathlib import Path

from .front import Front


def start_server(home: str | Path | None = None) -> None:
    """Serves one client on stdin and stdout, and ends the process when it is gone."""
    if sys.stdin is None or sys.stdout is None:
        return  # they were closed: there is no client
    for ending in (signal.SIGTERM, signal.SIGINT):
        # the kernel ends us, whatever any thread is doing; saves survive that
        signal.signal(ending, signal.SIG_DFL)
    front = Front()
    front.begin()
    from .server import serve_stdio  # the SDK

    serve_stdio(home, front)

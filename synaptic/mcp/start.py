"""Starts the MCP server over stdio: first the answers of `front`, then the SDK, which is slow
to import.
"""

import signal
import sys
from pathlib import Path

from .front import Front


def start_server(home: str | Path | None = None) -> None:
    """Serves one client on standard input and output, and ends the process when the client has
    closed them.
    """
    if sys.stdin is None or sys.stdout is None:
        return  # they were closed: there is no client
    for ending in (signal.SIGTERM, signal.SIGINT):
        # the kernel ends us, whatever any thread is doing; saves survive that
        signal.signal(ending, signal.SIG_DFL)
    front = Front()
    front.begin()
    from .server import serve_stdio  # the SDK

    serve_stdio(home, front)

"""Starts the MCP server over stdio: first the answers of `front`, then the SDK, which is slow
to import.
"""

import signal
import sys
from pathlib import Path

from ..errors import match_valid_name
from ..serving.tool_lists import WHOLE
from .front import Front
from .tools import TOOL_LISTS


def start_server(home: str | Path | None = None, tool_list: str = WHOLE) -> None:
    """Serves one client on standard input and output, and ends the process when the client has
    closed them. Raises InvalidArgument for a `tool_list` that is not in TOOL_LISTS.
    """
    match_valid_name(TOOL_LISTS, tool_list, "tool_list")
    if sys.stdin is None or sys.stdout is None:
        return  # they were closed: there is no client
    for ending in (signal.SIGTERM, signal.SIGINT):
        # the kernel ends us, whatever any thread is doing; saves survive that
        signal.signal(ending, signal.SIG_DFL)
    front = Front(tool_list)
    front.begin()
    from .server import serve_stdio  # the SDK

    serve_stdio(home, front)

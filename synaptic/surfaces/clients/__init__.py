"""Registers Synaptic with the programs that speak MCP, and leaves the rest of their settings as it was.

`register.py` is where to begin: `plan` says what would be done and `carry_out` does it.
`clients.py` is the table of clients; `jsonc`, `toml` and `files` edit their settings in place.
"""

from . import report
from .clients import CLIENTS, Client, folders
from .register import Step, carry_out, named, plan
from .server import NAME, Server, this_server

__all__ = [
    "CLIENTS",
    "NAME",
    "Client",
    "Server",
    "Step",
    "carry_out",
    "folders",
    "named",
    "plan",
    "report",
    "this_server",
]

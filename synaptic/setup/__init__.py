"""Registers Synaptic with the programs that speak MCP."""

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

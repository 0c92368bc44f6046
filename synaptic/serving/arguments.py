"""Reads filters from a user's arguments, and tells a person from an agent."""

from __future__ import annotations

import os
import sys
from typing import Any

from ..filters import FILTERS, Filters
from ..language.query import build_filters
from ..render.terminal import is_terminal
from ..workspace.workspace import Workspace

AGENT_VARIABLES = {
    "CLAUDECODE": "claude-code",
    "CODEX_THREAD_ID": "codex",
    "CODEX_SANDBOX": "codex",
    "CODEX_CI": "codex",
    "GEMINI_CLI": "gemini-cli",
    "OPENCODE": "opencode",
    "CURSOR_AGENT": "cursor",
    "COPILOT_CLI": "copilot",
    "QWEN_CODE": "qwen-code",
    "CRUSH": "crush",
    "CLINE_ACTIVE": "cline",
    "AUGMENT_AGENT": "augment",
    "GOOSE_TERMINAL": "goose",
    "ANTIGRAVITY_AGENT": "antigravity",
    "AI_AGENT": "agent",
    "AGENT": "agent",
}
"""Environment variables that agents set in the shells they open, and the names of the agents;
any agent may set the last two.
"""


def take_filters(ws: Workspace, arguments: dict[str, Any]) -> Filters:
    """Removes the filters from the arguments and returns them. Raises InvalidArgument for a
    wrong value.
    """
    filters = {name: arguments.pop(name) for name in FILTERS.keys() & arguments.keys()}
    return build_filters(now=ws.clock(), **filters)


def agent_name() -> str | None:
    """Returns the name of the agent in whose shell this process runs; None if no agent opened
    the shell.
    """
    return next(
        (name for variable, name in AGENT_VARIABLES.items() if os.environ.get(variable)), None
    )


def is_person() -> bool:
    """True where a person sits at a terminal that no agent opened: only such a person confirms
    a preference.
    """
    return not why_not_person()


def why_not_person() -> str:
    """Returns the reason why no person can answer here; "" for a person at a terminal."""
    variable = next(filter(os.environ.get, AGENT_VARIABLES), None)
    if variable:
        return f"{variable} is set, as in an agent's shell"
    if not is_terminal(sys.stdin, sys.stderr):
        return "standard input or error is not a terminal"
    return ""

"""Reads filters from a user's arguments, and tells a person from an agent."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ..errors import InvalidArgument
from ..filters import FILTERS, Filters
from ..language.query import build_filters
from ..models import Json
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


def build_preference(values: Mapping[str, object]) -> Filters:
    """Builds `Filters` from the preferences `types`, `tags` and `projects`: entries that match
    them rank higher, but others are found too. Raises InvalidArgument.
    """
    filters: Json = {}
    for name, value in values.items():
        key = name.removesuffix("s")
        if key not in ("type", "tag", "project"):
            raise InvalidArgument(
                f"prefer has no key {name!r}.",
                valid=("types", "tags", "projects"),
                of=["prefer"],
            )
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list | tuple) or not all(
            isinstance(text, str) for text in texts
        ):
            message = f"prefer: the value of {name} is {value!r}."
            raise InvalidArgument(message, valid=("a text", "a list of texts"), of=["prefer"])
        filters[key] = texts
    try:
        preferred = build_filters(now=datetime.max, **filters)
        if preferred.without:
            raise InvalidArgument(
                "nothing is left out by it.", "A filter leaves out: tag -old.", of=["prefer"]
            )
        return preferred
    except InvalidArgument as error:
        error.message = f"prefer: {error.message}"
        error.of = ("prefer",)
        raise


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

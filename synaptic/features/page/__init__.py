"""The page and MCP over HTTP, one program that lives while `synaptic serve` runs.

Begin in `app`: it puts the rooms of the page together, `guard` before all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...journal.disk import DRAFTS

if TYPE_CHECKING:
    from datetime import datetime

    from ...workspace.workspace import Workspace

COMMANDS = dict.fromkeys(("serve", "token"), f"{__name__}.page_commands") | {
    "book": f"{__name__}.book_command"
}


def catch_up(ws: Workspace) -> None:
    """Removes files of drafts that nobody saved for long."""
    if (ws.config.state / DRAFTS).is_dir():
        from ...journal.draft_files import DraftFiles  # most homes have no drafts

        DraftFiles(ws.config.state).expire()


def begin_day(ws: Workspace, at: datetime) -> str:
    """Begins the note of a day by the vault's template; returns its path, "" without one."""
    from . import day_notes

    return day_notes.begin_by_template(ws, at)

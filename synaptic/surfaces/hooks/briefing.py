"""Writes the briefing of a session that a hook starts."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from ...verbs.brief import WEEK, Reader, brief
from ...workspace.workspace import Workspace
from ..render.briefing import text_of
from .stop import Said


def briefing_text(
    ws: Workspace,
    said: Said,
) -> str:
    """Returns the briefing of a session as fenced Markdown; empty where the journal knows
    nothing of its project.
    """
    since = WEEK
    pause = said.get("seconds_since_last_response")  # of a session that goes on
    if isinstance(pause, int | float) and 0 < pause < 1e9:
        since = timedelta(seconds=pause)
    reader = Reader(str(said.get("client")), str(said.get("session_id") or ""), hook=True)
    briefing = brief(ws, Path(said["cwd"]), since, reader=reader)
    return text_of(ws, briefing, max_tokens=ws.config.hooks.max_tokens)

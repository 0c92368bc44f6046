"""Verbs for a process apart, in a module that imports little: each such process imports it."""

from __future__ import annotations

import os
from pathlib import Path

from synaptic.errors import NotFound
from synaptic.workspace.sync import in_step
from synaptic.workspace.workspace import Workspace

COUNT_FOR_EVER = """
    WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number)
    SELECT count(*) FROM number"""


def count_for_ever(ws: Workspace, begun: Path | None = None) -> object:
    if begun:
        begun.touch()
    return ws.index.file.value(COUNT_FOR_EVER)


def process_of(ws: Workspace) -> tuple[int, int]:
    """(the process that runs this, the rows of its index)."""
    return os.getpid(), in_step(ws, lambda _: ws.index.counts().entries)


def refuse(_: Workspace) -> None:
    raise NotFound("There is no pump.", valid=("valve",), hint="Ask the plumber.")


def fail(_: Workspace) -> None:
    raise ZeroDivisionError("a defect")

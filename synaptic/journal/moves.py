"""Remembers which notes moved, so that links to their old paths can be mended."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from .disk import overwrite, read_state_json

MOVED = "moved.json"
"""The file in the state folder with the new paths by the old ones."""
MOST_MOVES = 1_000
"""The latest moves that are remembered."""


def note_moves(state: Path, moves: Mapping[str, str]) -> None:
    """Remembers the new paths of these notes. A home that cannot be written forgets them."""
    if not moves:
        return
    rows = {
        old_path: new_path
        for old_path, new_path in read_state_json(state / MOVED).items()
        if old_path not in moves
    }
    latest = [*rows.items(), *moves.items()][-MOST_MOVES:]
    with suppress(OSError):
        overwrite(state / MOVED, json.dumps(dict(latest)).encode(), sync=False)

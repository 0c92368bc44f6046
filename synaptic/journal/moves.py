"""Remembers which notes moved, so that links to their old paths can be mended."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path

from .disk import overwrite, read_state_json

_FILE = "moved.json"
MOST_MOVES = 1_000
"""The latest moves that are remembered."""


def note_moves(state: Path, moves: Mapping[str, str]) -> None:
    """Remembers the new paths of these notes. A home that cannot be written forgets them."""
    if not moves:
        return
    rows = {
        old_path: new_path
        for old_path, new_path in read_state_json(state / _FILE).items()
        if old_path not in moves
    }
    latest = [*rows.items(), *moves.items()][-MOST_MOVES:]
    with suppress(OSError):
        overwrite(state / _FILE, json.dumps(dict(latest)).encode(), sync=False)


def read_moves(state: Path, paths: Collection[str]) -> dict[str, str]:
    """The present path of each note that has moved, by its old path. `paths` are those of all
    notes: a note that is back, or gone, is left out.
    """
    rows = {
        str(old_path): str(new_path)
        for old_path, new_path in read_state_json(state / _FILE).items()
    }
    moves = {}
    for old_path, new_path in rows.items():
        steps = {old_path}
        while new_path not in paths and new_path in rows and new_path not in steps:
            steps.add(new_path)
            new_path = rows[new_path]
        if new_path in paths and old_path not in paths:
            moves[old_path] = new_path
    return moves


def former_paths(state: Path) -> list[str]:
    """The old paths of the notes that moved, also of those that are gone or back."""
    return list(read_state_json(state / _FILE))

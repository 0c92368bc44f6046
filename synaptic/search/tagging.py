"""Tags that a text could have: those that the journal uses already."""

from __future__ import annotations

from collections.abc import Sequence

from ..workspace.workspace import Workspace

MAX_SUGGESTED = 5


def suggest_tags(ws: Workspace, text: str, given: Sequence[str] = ()) -> tuple[str, ...]:
    """Tags that the journal uses, whose words the text holds, and that are not `given`; the most used first."""
    held = ws.index.stems(text)
    fitting = []
    for tag in ws.index.used_tags():
        parts = tag.rpartition("/")[2].replace("_", "-").split("-")
        stems = [ws.index.stem(part) for part in parts if part]
        if tag not in given and stems and all(stem in held for stem in stems):
            fitting.append(tag)
    return tuple(fitting[:MAX_SUGGESTED])

"""Tags that a text could have: those that the journal uses already. Saves need no more of this room."""

from __future__ import annotations

from collections.abc import Sequence

from ..language.words import stems
from ..workspace.workspace import Workspace

MAX_SUGGESTED = 5


def suggest_tags(ws: Workspace, text: str, given: Sequence[str] = ()) -> tuple[str, ...]:
    """Tags that the journal uses, whose words the text holds, and that are not `given`; the most used first."""
    held = stems(text, ws.index.stem)
    fitting = []
    uses = ws.index.vocabulary().tags
    for tag in sorted((tag for tag in uses if uses[tag] > 1), key=lambda tag: (-uses[tag], tag)):
        parts = tag.rpartition("/")[2].replace("_", "-").split("-")
        sought = [ws.index.stem(part) for part in parts if part]
        if tag not in given and sought and all(stem in held for stem in sought):
            fitting.append(tag)
    return tuple(fitting[:MAX_SUGGESTED])

"""Says of each task whether it can be ticked here. Pure."""

import re
from dataclasses import replace

from ..errors import Sentence
from ..models import Entry, Task
from .marks import find_tasks, task_blocks
from .recurring import reason_not_to_move, repeats

_TICKED_STATES = (" ", "x", "X", "/", "TODO", "DONE")


def _reason_without_tick(match: re.Match[str], block: str) -> str:
    """The reason why this task is not ticked here; "" if it is."""
    state = match["open"] or match["done"] or match["box"]
    if state not in _TICKED_STATES:
        return Sentence("its state {state} is not one of [ ], [x], TODO and DONE", state=state)
    if repeats(block):
        return reason_not_to_move(block[match.start("text") - match.start() :])
    return ""


def find_tasks_to_tick(entry: Entry, text: str) -> list[Task]:
    """The tasks in an entry's body, as `find_tasks` finds them, each with the reason why it is
    not ticked here.
    """
    places = zip(find_tasks(entry, text), task_blocks(text), strict=True)
    return [replace(task, unticked=_reason_without_tick(*place)) for task, place in places]

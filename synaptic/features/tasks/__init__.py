"""Changes tasks where they stand in a note: ticks them, and moves them to another day.

Lists of tasks are the core's: a briefing has them, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...models import Task, Texts
    from ...plugin import Rescheduled, TaskPlace, Ticked
    from ...workspace.workspace import Workspace

COMMANDS = {"tick": f"{__name__}.tick_command"}


def tick_or_open(ws: Workspace, task: Task | TaskPlace, done: bool) -> Ticked:
    """Marks a task, or an entry that is due as a whole, as done or open."""
    from .ticking import close_entry, tick_task

    if not task.line:
        return close_entry(ws, task.id, done=done)
    return tick_task(ws, task.path, task.line, task.text, done=done)


def move_task(ws: Workspace, task: Task | TaskPlace, when: str) -> Rescheduled:
    """Moves a task, or an entry that is due as a whole, to another day."""
    from .rescheduling import reschedule_entry, reschedule_task

    if task.line:
        return reschedule_task(ws, task.path, task.line, task.text, when)
    return reschedule_entry(ws, task.id, when)


def format_task(ws: Workspace, words: str, when: str) -> str:
    """Returns the text of a new entry that is this task."""
    from .rescheduling import compose_task

    return compose_task(ws, words, when)


def date_task(ws: Workspace, text: str, at: int, when: str, path: str) -> str:
    """Returns the text of a box with the task at this offset due on another day."""
    from .rescheduling import date_task_in_text

    return date_task_in_text(ws, text, at, when, path)


def date_words(ws: Workspace, text: str, before: str) -> tuple[str, Texts]:
    """Returns a text in which the days of its tasks are dates, and what is said of that."""
    from .due_words import date_and_describe

    return date_and_describe(text, ws.clock(), before)

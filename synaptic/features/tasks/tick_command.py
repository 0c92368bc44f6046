"""The command `tick`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from ...cli import flags as f
from ...cli.flags import switch, text_option
from ...cli.program import command
from ...cli.replies import output_for_workspace, print_answer
from ...errors import InvalidArgument
from ...models import short_id
from ...notes.due_marks import remove_due_date
from ...plugin import Rescheduled, Ticked
from ...render import wire
from ...render.fence import one_line
from ...workspace.workspace import Workspace
from . import rescheduling, ticking


@command(
    "tick",
    f.WORDS,
    text_option(
        "due",
        "Move it to this day instead: tomorrow, next week, 2026-12-03, or by a length from its "
        "own day: +1 week; none removes its day.",
        metavar="WHEN",
    ),
    switch("undo", "The same as `undo`.", hidden=True),
)
def _tick(ws: Workspace, undo: bool, text: Sequence[str] = (), due: str | None = None) -> None:
    """Tick tasks of any note by some of their words; with --due move them to another day.

    A task repeats by 🔁 and a rule in English, as in Obsidian Tasks ("- [ ] Pay the rent 🔁
    every month due:2026-12-01"), or as in Logseq (SCHEDULED: <2026-12-01 Tue +1m>); its tick
    writes the next date. An entry that is due as a whole is closed by the tag done. --due
    writes the day as the note writes it (📅, `due:`, SCHEDULED). Several tasks have commas
    between them; `undo` takes the whole call back.

    Example: synaptic tick call Ida, synaptic tick call Ida, buy beans --due "next week"
    """
    if due is not None:
        rescheduling.read_new_day(due, ws.clock())  # a wrong day is named before wrong words
    if undo == bool(text) or (undo and due is not None):
        raise InvalidArgument(
            "tick takes some words of a task.", "`synaptic tasks` lists the open tasks."
        )
    if due is not None:
        tasks = rescheduling.find_tasks_to_move(ws, " ".join(text))
        return _print_changes_of_tasks(ws, rescheduling.reschedule_tasks(ws, tasks, due))
    if undo:
        return _print_changes_of_tasks(ws, [ticking.undo_tick(ws)], "Open again")
    tasks = ticking.find_open_tasks(ws, " ".join(text))
    return _print_changes_of_tasks(ws, ticking.tick_tasks(ws, tasks), "Ticked")


def _print_changes_of_tasks(
    ws: Workspace, changes: Sequence[Ticked | Rescheduled], opening: str = ""
) -> None:
    """Prints what became of each task, and how to take that back; of several as a list."""
    lines = [_line_of_change(ws, change, opening) for change in changes]
    run = next((change.undo for change in changes if change.undo), "")
    if run:
        it = "it" if len(changes) == 1 else "all"
        lines.append(f"`synaptic undo {run}` takes {it} back.")
    data = wire.as_json(changes[0])
    if len(changes) > 1:
        data = {"tasks": [wire.as_json(change) for change in changes], "undo": run}
    print_answer({"success": True} | data, "\n".join(lines))


def _line_of_change(ws: Workspace, change: Ticked | Rescheduled, opening: str) -> str:
    place = output_for_workspace(ws).full_path(change.path)
    place += f":{change.line}" if change.line else f", {short_id(change.id)}"
    if isinstance(change, Ticked):
        if change.next_day:
            opening += f", and due again on {_say_day(ws, change.next_day)}"
        return f"{opening}: {one_line(change.text)} ({place})"
    opening = "Without a day now"
    if change.day:
        opening = f"Due on {_say_day(ws, change.day)}"
    if not change.undo:
        opening = f"Nothing changed. {opening}"
    return f"{opening}: {one_line(remove_due_date(change.text))} ({place})"


def _say_day(ws: Workspace, day: str) -> str:
    past = ", a day in the past" * (day < ws.today.isoformat())
    return f"{date.fromisoformat(day):%A}, {day}{past}"

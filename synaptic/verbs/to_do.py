"""Lists what is to be done, in one order: open tasks of notes, and entries that are due."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from itertools import chain, compress
from operator import and_, attrgetter, gt
from typing import Generic, TypeVar

from ..filters import ALL_TAGS, Filters
from ..kinds import CLOSING_TAGS
from ..language.time_fields import read_date
from ..models import Entry, Task, Texts, frozen
from ..notes.blocks import find_tags, without_code
from ..notes.marks import task_blocks, task_of_entry
from ..notes.ticks import find_tasks_to_tick
from ..workspace.readback import read_body_lines
from ..workspace.sync import in_step
from ..workspace.workspace import Workspace
from .brief import EVER, due_with_entries, show_task_as_entry

Due = TypeVar("Due", Entry, Task)
_DONE_ON = re.compile(
    r"(?im)(?:✅\ufe0f? ?|\bcompletion:: ?|(?<!\S)@done\(|^[ \t]*CLOSED: ?[\[<])"
    r"(?P<day>\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))(?!\d)"
)
"""The day of a tick, as Obsidian Tasks, Dataview, TaskPaper and Org write it."""
MONTH_DAYS = 31
"""The days from today on whose due entries and tasks the lists show by default."""
OVERDUE, TODAY = "Overdue", "Today"
TOMORROW, IN_DAYS, LATER = "Tomorrow", "Next 7 days", "Later"
NO_DAY = "No day"
DUE_GROUPS = (OVERDUE, TODAY, TOMORROW, IN_DAYS, LATER, NO_DAY)
"""The names of the groups by when something is due, in their order."""


@frozen
class Soon(Generic[Due]):
    """What a list shows by default; how many are due later, and the last day of these,
    `YYYY-MM-DD` or "".
    """

    rows: tuple[Due, ...]
    later: int = 0
    last_day: str = ""


@frozen
class TaskList:
    """Tasks, each with the name of the group in which it stands: a group by when it is due, or
    of done ones the day of the tick. How many more are due `later`, and the last day of these.
    """

    groups: tuple[tuple[str, Task], ...]
    later: int = 0
    last_day: str = ""

    @property
    def rows(self) -> list[Task]:
        return [task for _, task in self.groups]


def list_tasks(
    ws: Workspace, *, done: bool = False, due: str | None = None, filters: Filters | None = None
) -> TaskList:
    """The open tasks and entries that are due, or the done ones, of entries that pass; without
    `due` those of the next MONTH_DAYS, and those without a day. Raises InvalidArgument.
    """
    if done:
        rows = _keep_passing(ws, filters, tasks(ws, done=True, due=due))
        return TaskList(tuple((day_of_task(task) or NO_DAY, task) for task in rows))
    rows = _keep_passing(ws, filters, list_to_do(ws, due))
    soon = Soon(tuple(rows)) if due else keep_due_within_month(rows, ws.today)
    groups = ((name_due_group(task, ws.today), task) for task in soon.rows)
    return TaskList(tuple(groups), soon.later, soon.last_day)


def _keep_passing(
    ws: Workspace, filters: Filters | None, tasks: Sequence[Task]
) -> Sequence[Task]:
    """The tasks of the entries that pass. Where lines of an entry have a tag, it is theirs, and
    not the note's.
    """
    if not filters:
        return tasks
    tags = filters.tags
    without = filters.without or Filters()
    others = replace(filters, tags=(), without=replace(without, tags=()))

    def ids_passing(wanted: Filters) -> set[str]:
        rows = ws.index.rows_of_ids([task.id for task in tasks])
        passing = ws.index.filter_entries(wanted, [*rows.values()])
        return {id for id, row in rows.items() if row in passing}

    def tagged(wanted: Texts) -> list[bool]:
        by_line = [_has_tag(find_tags(task.text), wanted) for task in tasks]
        of_lines = {task.id for task in compress(tasks, by_line)}
        of_notes = ids_passing(Filters(tags=wanted, include_superseded=True)) - of_lines
        pairs = zip(tasks, by_line, strict=True)
        return [is_own or task.id in of_notes for task, is_own in pairs]

    def run(_: object) -> list[bool]:
        ids = ids_passing(others)
        passing = [task.id in ids for task in tasks]
        if tags:
            passing = [*map(and_, passing, tagged(tags))]
        if without.tags:
            passing = [*map(gt, passing, tagged(without.tags))]
        return passing

    return [*compress(tasks, in_step(ws, run))]


def _has_tag(tags: Texts, wanted: Texts) -> bool:
    """True if these tags pass the filter of tags; a tag covers its children."""

    def has(name: str) -> bool:
        return any(tag == name or tag.startswith(f"{name}/") for tag in tags)

    return any(all(map(has, value.split(ALL_TAGS))) for value in wanted)


def list_to_do(ws: Workspace, due: str | None = None) -> tuple[Task, ...]:
    """Returns the open tasks of all notes and the entries that are due, an entry as a task with
    its title at line 0; with `due` only what is due by its last day, overdue or not.

    First stands what has a day, the earliest first; then tasks without one, of the newest note
    first. Raises InvalidArgument.
    """
    last = (read_date(due, ws.clock(), "due by", of="due"),) if due else ()
    in_order = due_tasks(ws, *last)
    ranks = {_identity(task): rank for rank, task in enumerate(in_order)}
    of_notes = tasks(ws, due=due)
    with_day = [one for one in of_notes if one.due]
    with_day += [one for one in in_order if not one.line]
    # a task in an entry that is closed has no place in what is due, and ends its day
    with_day.sort(key=lambda one: (one.due or "", ranks.get(_identity(one), len(ranks))))
    return *with_day, *(one for one in of_notes if not one.due)


def list_due(ws: Workspace, until: str | None = None) -> Soon[Entry]:
    """Returns what is due by the last day of `until`, or without it in the next MONTH_DAYS, in
    the order of `list_to_do`; a task as an entry with the task's title. Raises InvalidArgument.
    """
    last = read_date(until, ws.clock(), "due by", of="until") if until else EVER
    pairs = in_step(ws, lambda _: due_with_entries(ws, last, None))
    entries = tuple(map(show_task_as_entry, pairs))
    return Soon(entries) if until else keep_due_within_month(entries, ws.today)


def keep_due_within_month(rows: Sequence[Due], today: date) -> Soon[Due]:
    """Leaves out what is due more than MONTH_DAYS after today; what has no day stays."""
    last = (today + timedelta(days=MONTH_DAYS)).isoformat()
    later = [row.due for row in rows if row.due and row.due > last]
    soon = tuple(row for row in rows if not row.due or row.due <= last)
    return Soon(soon, len(later), max(later, default=""))


def name_due_group(task: Task, today: date) -> str:
    """Returns the one of DUE_GROUPS in which an open task stands."""
    if not task.due:
        return NO_DAY
    if task.overdue:
        return OVERDUE
    tomorrow, last = (str(today + timedelta(days=days)) for days in (1, 7))
    if task.due < tomorrow:
        return TODAY
    if task.due == tomorrow:
        return TOMORROW
    return IN_DAYS if task.due <= last else LATER


def _identity(task: Task) -> tuple[str, str, int]:
    return task.id, task.path, task.line


def tasks(ws: Workspace, *, done: bool = False, due: str | None = None) -> tuple[Task, ...]:
    """The open tasks by the day of their entry, or the done ones and the closed entries that
    were due, by the day of their tick if they say it; newest first, without a day last.

    `due` keeps tasks that are due by its last day, also overdue ones; `friday` is the next
    Friday. Tasks of superseded entries are left out. Raises InvalidArgument.
    """
    now = ws.clock()
    today = now.date().isoformat()
    last = read_date(due, now, "due by", of="due") if due else None

    def run(_: object) -> tuple[Task, ...]:
        rowids = ws.index.list_rows(Filters(has_tasks=True), order="newest", limit=-1)
        texts = read_body_lines(ws, rowids)
        matches = []
        closed = _closed_entries(ws) if done else []
        in_notes = chain.from_iterable(_tasks_with_ticks(*texts[rowid]) for rowid in rowids)
        for task in chain(in_notes, closed):
            is_due = not last or "" < (task.due or "") <= last
            if task.done == done and is_due:
                overdue = not done and "" < (task.due or "") < today
                matches.append(replace(task, overdue=overdue))
        matches.sort(key=attrgetter("path", "line"))
        return tuple(sorted(matches, key=day_of_task, reverse=True))

    return in_step(ws, run)


def tasks_of_entries(ws: Workspace, ids: Collection[str]) -> tuple[Task, ...]:
    """All tasks in the notes of these entries, open or done, in the order of their lines. Those
    of superseded entries are left out.
    """

    def run(_: object) -> tuple[Task, ...]:
        rows = ws.index.rows_of_ids([*ids]).values()
        rowids = sorted(ws.index.filter_entries(Filters(has_tasks=True), [*rows]))
        texts = read_body_lines(ws, rowids)
        return (*chain.from_iterable(_tasks_with_ticks(*texts[rowid]) for rowid in rowids),)

    return in_step(ws, run)


def day_of_task(task: Task) -> str:
    """The day of a task's tick where it says it, else that of its entry, or ""."""
    return task.done_on or task.date or ""


def _tasks_with_ticks(entry: Entry, text: str) -> Iterator[Task]:
    """Yields the tasks of an entry, the done ones with the day that they say they were done."""
    pairs = zip(find_tasks_to_tick(entry, text), task_blocks(text), strict=True)
    for task, (_, block) in pairs:
        tick = _DONE_ON.search(without_code(block)) if task.done else None
        yield replace(task, done_on=tick["day"]) if tick else task


def _closed_entries(ws: Workspace) -> list[Task]:
    """The entries that were due as a whole and are closed."""
    rows = ws.index.due(Filters(tags=CLOSING_TAGS), EVER)
    entries = (stored.entry for stored in ws.index.entries(rows).values())
    dues = [entry for entry in entries if entry.due and entry.type != "preference"]
    return [replace(task_of_entry(entry), done=True) for entry in dues]


def due_tasks(ws: Workspace, until: str = EVER) -> list[Task]:
    """Returns the tasks and entries that are due by this day, the earliest first; an entry as a
    task with its title, at line 0.
    """
    find = find_tasks_to_tick
    pairs = in_step(ws, lambda _: due_with_entries(ws, until, None, find))
    return [task for _, task in pairs]

"""Answers about tasks and sums: `context_find` lists them, `context_update` changes tasks by
the keys that the list shows.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from hashlib import blake2b
from itertools import groupby
from pathlib import Path
from typing import Any

from ..errors import Changed, InvalidArgument
from ..filters import Filters
from ..kinds import CLOSING_TAGS
from ..models import Entry, Json, Task, short_id
from ..notes.due_marks import remove_due_date
from ..plugin import MOVE_TASK, TICK_OR_OPEN
from ..render.fence import DATA_FOLLOWS, fenced, one_line
from ..render.present import count_that_fit
from ..render.terminal import Output, totals_text
from ..render.wire import as_json, totals_json
from ..search.search import drop_any_project
from ..verbs.browse import filter_by_words
from ..verbs.entry_marks import find_stored
from ..verbs.to_do import list_tasks, tasks_of_entries
from ..verbs.totals import sum_field
from ..workspace.workspace import Workspace
from .calls import Answer, Call
from .texts import ANSWER_CHARS, REMARK_CHARS, fit_rows

OF_TASKS = ("tasks", "done", "due")
"""Options of `context_find` by which it lists tasks."""
OF_SUMS = ("sum", "by")
"""Options of `context_find` by which it adds up a field, or counts."""
_KEY = re.compile(r"(?:syn:)?(?:\d{8}-)?[^:\s]{4,}:\w+")
_DONE_DATE = re.compile(r" ✅ [0-9-]{10}")
_CHANGES = 'add_tag=["done"], remove_tag=["done"] or due="monday"'


def answer_tasks(ws: Workspace, call: Call, filters: Filters) -> Answer:
    """Lists tasks, each with a key by which `context_update` changes it."""
    args = dict(call.args)
    query = args.pop("query", "").casefold().split()
    limit = args.pop("limit", None)
    done = args.pop("done", False)
    due = args.pop("due", None)
    args.pop("tasks", None)
    _refuse_others(args, "A list of tasks", (*OF_TASKS, "limit", "query"))
    to_do = list_tasks(ws, done=done, due=due, filters=drop_any_project(filters))
    groups = [pair for pair in to_do.groups if _holds(pair[1], query)]
    notices = []
    if to_do.later:
        notices = [f'Due later: {to_do.later:,}; due="{to_do.last_day}" lists them, too.']
    within_limit = groups[:limit]
    keys = _TaskKeys(ws, {task.id for _, task in within_limit})
    rows = [as_json(task) | {"key": keys.key_of(task)} for _, task in within_limit]
    data: Json = {"tasks": rows, "total": len(groups), "notices": notices}
    if call.layout == "json":
        return "", fit_rows(data, "tasks", call.json_chars, "narrow it by due or a filter")
    if not rows:
        return "\n".join(["No such tasks.", *notices]), data
    lines = [f"{keys.key_of(task)} {_line(task)}" for _, task in within_limit]
    room = ANSWER_CHARS - 2 * REMARK_CHARS
    count_shown = count_that_fit([len(line) + 20 for line in lines], room)
    parts = []
    pairs = zip(within_limit, lines[:count_shown], strict=False)
    for name, of_group in groupby(pairs, key=lambda pair: pair[0][0]):
        parts += [name, *(line for _, line in of_group)]
    count = f"{count_shown} of {len(groups)}" if count_shown < len(groups) else f"{count_shown}"
    state = "done" if done else f"open, {sum(row['overdue'] for row in rows)} overdue"
    head = f"{count} {state}. {DATA_FOLLOWS}"
    text = [head, fenced("tasks", "\n".join(parts)), *notices]
    if count_shown < len(groups):
        text.append("The rest: narrow it by due or a filter, or give a limit.")
    if call.may_write:
        key = keys.key_of(groups[0][1])
        change = {"remove_tag": ["done"]} if done else {"add_tag": ["done"]}
        form = call.form("context_update", id=[key], **change)
        text.append(f"{'Open again' if done else 'Tick'}: {form}")
        if not done:
            text.append(f"Another day: {call.form('context_update', id=[key], due='monday')}")
    return "\n".join(text), data


def answer_totals(ws: Workspace, call: Call, filters: Filters) -> Answer:
    """Adds up a field of the entries that pass, or counts them, by a group."""
    args = dict(call.args)
    query = args.pop("query", "")
    name = args.pop("sum", None)
    by = args.pop("by", None)
    _refuse_others(args, "A sum", (*OF_SUMS, "query"))
    holding = filter_by_words(ws, query, filters) if query else filters
    if holding is None:
        raise InvalidArgument(
            "With sum and by, query is words that an entry must hold, and no time.",
            "Give the time by since and until.",
        )
    totals = sum_field(ws, name, by, filters=holding)
    data = totals_json(totals)
    if not totals.rows:
        return "Nothing found.", data
    text = fenced("sums", totals_text(totals, Output(False, None, Path)))
    return "\n".join([DATA_FOLLOWS, text, *totals.notices]), data


def split_keys(ids: Sequence[str]) -> tuple[list[str], list[str]]:
    """(the ids of entries, the keys of tasks) among these ids."""
    keys = [id for id in ids if _KEY.fullmatch(id)]
    return [id for id in ids if id not in keys], keys


def tasks_of_keys(ws: Workspace, keys: Sequence[str]) -> dict[str, Task]:
    """By key its task. Those that stand below come first, for a tick may add a line above.
    Raises NotFound and Ambiguous for the entry, and Changed without such a task in it.
    """
    entries = {key: find_stored(ws, key.rpartition(":")[0]).entry for key in keys}
    task_keys = _TaskKeys(ws, {entry.id for entry in entries.values()})
    by_key = {key: task_keys.find(entry, key) for key, entry in entries.items()}
    return dict(sorted(by_key.items(), key=lambda item: -item[1].line))


def change_task(ws: Workspace, task: Task, args: Mapping[str, Any]) -> tuple[str, str]:
    """Ticks, opens or moves a task, as these arguments of `context_update` say: (what became of
    it, the run for `undo` or ""). Raises InvalidArgument for other arguments.
    """
    [(name, value), *others] = [*args.items()] or [("", "")]
    closes = value in [[tag] for tag in CLOSING_TAGS]
    if others or not (name == "due" or (closes and name in ("add_tags", "remove_tags"))):
        raise InvalidArgument(
            f"A task takes one of {_CHANGES}.",
            "Its words are changed in its entry: content or append with the id alone.",
        )
    where = f"{one_line(task.path)}:{task.line}"
    if name == "due":
        moved = MOVE_TASK.ask_only(ws, task, value or "none")
        done = f"Due on {moved.day}" if moved.day else "Without a day now"
        text, run = remove_due_date(moved.text) or moved.text, moved.undo
    else:
        ticked = TICK_OR_OPEN.ask_only(ws, task, name == "add_tags")
        done = "Ticked" if name == "add_tags" else "Open again"
        if ticked.next_day:
            done += f", and due again on {ticked.next_day}"
        text, run = ticked.text, ticked.undo
    return f"{done}: {one_line(text)} ({where}).", run


class _TaskKeys:
    """The keys of the tasks of some entries. A key names the entry and what stays of a task
    while it is ticked, moved to another day or line: its words, and which it is of those with
    the same words.
    """

    def __init__(self, ws: Workspace, ids: Collection[str]) -> None:
        self._tasks = tasks_of_entries(ws, ids)
        self._lines_of_same: dict[tuple[str, str], list[int]] = defaultdict(list)
        for task in self._tasks:
            self._lines_of_same[task.id, _words(task)].append(task.line)

    def key_of(self, task: Task) -> str:
        """The key of a task; of an entry that is due as a whole its id."""
        if not task.line:
            return short_id(task.id)
        words = _words(task)
        lines = self._lines_of_same[task.id, words]
        above = bisect_left(lines, task.line)
        hashed = blake2b(f"{above}/{len(lines)} {words}".encode(), digest_size=3).hexdigest()
        return f"{short_id(task.id)}:{hashed}"

    def find(self, entry: Entry, key: str) -> Task:
        """The task of a key of this entry. Raises Changed."""
        key = f"{entry.short_id}:{key.rpartition(':')[2]}"
        of_entry = [task for task in self._tasks if task.id == entry.id]
        matches = [task for task in of_entry if self.key_of(task) == key]
        if len(matches) != 1:
            raise Changed(
                f"The task {key} was changed meanwhile, or is not there; nothing was written.",
                "context_find with tasks=true lists the tasks with their keys anew.",
            )
        return matches[0]


def _words(task: Task) -> str:
    """The words of a task without the days on which it is due and was done."""
    return " ".join(remove_due_date(_DONE_DATE.sub("", task.text)).split())


def _refuse_others(args: Mapping[str, Any], what: str, valid: Sequence[str]) -> None:
    for name in args:
        raise InvalidArgument(f"{what} does not take {name}.", valid=(*valid, "filters"))


def _holds(task: Task, words: Sequence[str]) -> bool:
    text = f"{task.text} {task.title} {task.path}".casefold()
    return all(word in text for word in words)


def _line(task: Task) -> str:
    text = one_line(remove_due_date(task.text) or task.text)
    parts = [f"{task.due} {text}" if task.due else text]
    if task.project:
        parts.append(f"project {one_line(task.project)}")
    parts.append(one_line(task.path))
    if task.unticked:
        parts.append(f"cannot be ticked here: {task.unticked}")
    return " · ".join(parts)

"""Moves a task, or an entry that is due, to another day."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime

from ...errors import InvalidArgument, Refused, Sentence
from ...filters import Filters
from ...journal.changelog import present_actor
from ...language.time_fields import read_date, read_days
from ...models import Entry, ParsedFile, Task
from ...notes.blocks import MASK, bytes_of_text, line_starts, text_of_bytes, usual_line_end
from ...notes.due_marks import cut_block, find_due_mark
from ...notes.marks import find_tasks, is_in_tasks, task_blocks, task_of_entry
from ...notes.privacy import mask_private
from ...notes.recurring import REPEAT_SIGN
from ...plugin import Rescheduled
from ...verbs.changing import update
from ...verbs.editing import resolve_own_id, rewrite_by_person
from ...verbs.entry_marks import find_stored
from ...verbs.receipts import index_now
from ...verbs.to_do import list_to_do
from ...workspace.file_rows import body_lines
from ...workspace.readback import read_body_lines
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace
from . import move_task
from .due_days import PLAIN, DueStyle, choose_style, find_due_styles, with_due_day
from .due_words import is_length, split_due_words
from .rule_words import first_day, split_rule_words
from .ticking import (
    change_together,
    find_each,
    find_task_in_file,
    pick_task,
    task_changed_error,
    tasks_of_file,
)

RESCHEDULE = "move a task"
"""The verb of a move in the log of changes."""
NO_DAY = "none"
"""The word that takes the day of a task away."""


_SHIFT = re.compile(
    r"(?i)(?:\+\s*|(?:by|um)\s+)(?P<by>\S.*)"
    r"|(?P<later>\S.*?)\s+(?:later|später|plus tard|después|más tarde|dopo|depois)"
)
"""A distance: +7d, by a week, two days later."""


def read_new_day(when: str, now: datetime, due: str | None = None) -> date | None:
    """The day that a person typed for a task; None for NO_DAY. A distance, `a week later`,
    counts from the day on which it is `due`, else from today. Raises InvalidArgument.
    """
    if when.strip().casefold() == NO_DAY:
        return None
    length = _read_shift(when)
    if length:
        start = datetime.combine(date.fromisoformat(due), now.time()) if due else now
        return date.fromisoformat(read_date(length, start.astimezone(), "due"))
    try:
        return date.fromisoformat(read_date(when, now, "due"))
    except InvalidArgument as error:
        valid = (*error.valid, NO_DAY)
        raise InvalidArgument(error.message, valid=valid, of=["due"]) from None


def _read_shift(when: str) -> str:
    """The length of a distance that a person typed, `a week` of `by a week`; "" for any other
    text.
    """
    shift = _SHIFT.fullmatch(when.strip())
    length = shift["by"] or shift["later"] if shift else ""
    return length if is_length(length) else ""


def _day_for_task(when: str, now: datetime, due: str | None) -> date | None:
    """The day that a person typed for a task, which is `due` on a day: one that lies in the
    week to come already stays there. Raises InvalidArgument.
    """
    day = read_new_day(when, now, due)
    if day and due and not _read_shift(when):
        first, last = read_days(when, now, "due")
        if day == first and str(first) <= due <= str(last):
            return date.fromisoformat(due)
    return day


def compose_task(ws: Workspace, words: str, when: str) -> str:
    """The text of an entry that is this task, due on the day that its words name, or else on
    the day `when` unless that is ""; in the form that most tasks of the journal have. Words
    that say how often become a rule; its first day is then that of the task. Raises
    InvalidArgument.
    """
    now = ws.clock()
    text = " ".join(words.split())
    text, rule = split_rule_words(text) or (text, "")
    has_mark = find_due_mark(f"- [ ] {text}") is not None
    named = None if has_mark else split_due_words(text, now)
    day = None
    if named:
        text, day = named
        if not rule:
            text, rule = split_rule_words(text) or (text, "")
    elif when and not has_mark:
        day = read_new_day(when, now)
    if rule:
        day = day or (None if has_mark else first_day(rule, now.date()))
        text = f"{text} {REPEAT_SIGN} {rule}"
    block = f"- [ ] {text}" if text else ""
    if not block or not day:
        return block
    style = choose_style(_styles_of_journal(ws)) or PLAIN
    return with_due_day(block, day, style, "\n")


def date_task_in_text(ws: Workspace, text: str, at: int, when: str, path: str) -> str:
    """The text of a box, in which the task in whose line the offset `at` lies is due on the day
    `when`: in the form of the text, else of the note `path` if there is one, else of the
    journal. "" if no task is there. Raises InvalidArgument.
    """
    for match, block in task_blocks(text):
        start = text.rfind("\n", 0, match.start("text")) + 1
        end = match.start() + len(block)
        if start <= at <= end and "\n" not in text[start:at]:
            style = choose_style(find_due_styles(text)) or _style_of_note(ws, path)
            day = read_new_day(when, ws.clock())
            return text[:start] + with_due_day(text[start:end], day, style, "\n") + text[end:]
    return ""


def find_tasks_to_move(ws: Workspace, words: str) -> Sequence[Task]:
    """The open tasks, and entries that are due, that `find_each` finds. Raises NotFound and
    Ambiguous.
    """
    candidates = list_to_do(ws)

    hint = Sentence(
        "`synaptic tasks` lists them, of which several are given with commas between them; "
        "`synaptic update ID --due DAY` makes an entry due."
    )
    return find_each(words, lambda part: pick_task(candidates, part), hint)


def reschedule_tasks(ws: Workspace, tasks: Sequence[Task], when: str) -> Sequence[Rescheduled]:
    """Moves these tasks and entries to another day, all or none, as one run. Raises as
    `reschedule_task` does.
    """
    return change_together(ws, RESCHEDULE, tasks, lambda task: move_task(ws, task, when))


def reschedule_task(ws: Workspace, path: str, line: int, text: str, when: str) -> Rescheduled:
    """Writes another day into a task, in its own form; into one without a day in the form that
    most tasks of its note have, else of the journal, else as `due:2026-12-03`. `next week` is
    its Monday, but a task that is due in that week stays there.

    Of a task that repeats only its day moves: its rule stays. The task is the one of this text
    at this line, or the only one of the file. Raises InvalidArgument, NotFound, Changed without
    such a task, and Refused.
    """
    now = ws.clock()
    day = read_new_day(when, now)
    resolve_own_id(ws, path, "")
    entry = _entry_of_task(ws, path, line, text)
    if entry and not find_due_mark(text):
        moved = reschedule_entry(ws, entry.id, when)
        return replace(moved, text=text, path=path, line=line)
    style = _style_of_note(ws, path)
    task: Task | None = None

    def change(data: bytes, parsed: ParsedFile) -> bytes:
        nonlocal task, day
        masked = mask_private(data)
        task = find_task_in_file(parsed, masked, line, text)
        if not task or task.done:
            raise task_changed_error(Sentence("List the tasks again, and move it there."))
        start, end = _span_of_block(masked, task.line)
        if MASK in masked[start:end]:
            raise _cannot_move_error(task, Sentence("its line holds private text"))
        day = _day_for_task(when, now, task.due)
        block = text_of_bytes(data[start:end])
        moved = with_due_day(block, day, style, usual_line_end(data).decode())
        after = data[:start] + bytes_of_text(moved) + data[end:]
        _check_day(ws, after, task, day)
        return after

    with ws.own_journal.doing(RESCHEDULE, text) as deed:
        if entry:  # its task has a day of its own
            by_person = present_actor().is_person
            update(ws, entry.id, due="", by_person=by_person, confirms=by_person)
        rewrite_by_person(ws, path, change, keep=False)
    index_now(ws, path)
    if not task:
        raise task_changed_error(Sentence("List the tasks again, and move it there."))
    return _rescheduled(task, day, deed.run)


def _entry_of_task(ws: Workspace, path: str, line: int, text: str) -> Entry | None:
    """The entry whose `due` is the day of this open task and of no other one; else None."""
    data = ws.journal.read(path)
    masked = mask_private(data)
    parsed = ws.journal.parse(path, data)
    task = find_task_in_file(parsed, masked, line, text)
    for entry in parsed.entries:
        place = entry.there
        body = body_lines(masked[place.body_start : place.body_end])
        if task and entry.id == task.id and not entry.whole_file and is_in_tasks(entry, body):
            still_open = [one for one in find_tasks(entry, body) if not one.done]
            return entry if [one.line for one in still_open] == [task.line] else None
    return None


def reschedule_entry(ws: Workspace, id: str, when: str) -> Rescheduled:
    """Gives an entry that is due as a whole another `due`. Raises InvalidArgument, NotFound and
    Refused.
    """
    entry = find_stored(ws, id).entry
    day = _day_for_task(when, ws.clock(), entry.due)
    by_person = present_actor().is_person
    with ws.own_journal.doing("update") as deed:
        update(ws, id, due=str(day or ""), by_person=by_person, confirms=by_person)
    return _rescheduled(task_of_entry(entry), day, deed.run)


def _rescheduled(task: Task, day: date | None, run: str) -> Rescheduled:
    new = str(day or "")
    is_new = new != (task.due or "")
    return Rescheduled(task.text, new, task.path, task.line, task.id, run if is_new else "")


def _span_of_block(masked: bytes, line: int) -> tuple[int, int]:
    """The span of a task's line, and of the lines that belong to it, in the bytes of a file."""
    starts = line_starts(masked)
    start = starts[line - 1]
    block = cut_block(body_lines(masked[start:]), 0)
    lines = block.count("\n")
    return start, starts[line - 1 + lines] if block.endswith("\n") else len(masked)


def _check_day(ws: Workspace, after: bytes, task: Task, day: date | None) -> None:
    """Raises Refused unless the task has this day in the new bytes of its file."""
    parsed = ws.journal.parse(task.path, after)
    days = {one.line: one.due for one in tasks_of_file(parsed, mask_private(after))}
    if days.get(task.line, "") != (str(day) if day else None):
        raise _cannot_move_error(task, Sentence("its day cannot be read there"))


def _style_of_note(ws: Workspace, path: str) -> DueStyle:
    """The form in which most tasks of a note write their day, else of the journal; "" is a note
    that is not there yet.
    """
    styles: list[DueStyle] = []
    data = ws.journal.read(path) if path else b""
    masked = mask_private(data)
    for entry in ws.journal.parse(path, data).entries:
        place = entry.there
        styles += find_due_styles(body_lines(masked[place.body_start : place.body_end]))
    return choose_style(styles) or choose_style(_styles_of_journal(ws)) or PLAIN


def _styles_of_journal(ws: Workspace) -> list[DueStyle]:
    def run(_: object) -> list[DueStyle]:
        rowids = ws.index.list_rows(Filters(has_tasks=True), order="newest", limit=-1)
        styles: list[DueStyle] = []
        for _, text in read_body_lines(ws, rowids).values():
            styles += find_due_styles(text)
        return styles

    return in_step(ws, run)


def _cannot_move_error(task: Task, reason: str) -> Refused:
    return Refused(
        "{path}:{line} cannot be moved here: {reason}.",
        "Write its day in your editor.",
        path=task.path,
        line=task.line,
        reason=reason,
    )

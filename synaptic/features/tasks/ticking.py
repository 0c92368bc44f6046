"""Ticks the tasks of the journal, and takes ticks back byte for byte, by the log of changes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime
from functools import cache
from itertools import chain
from typing import NamedTuple, TypeVar

from ...errors import (
    Ambiguous,
    Changed,
    NotFound,
    Refused,
    Sentence,
    SynapticError,
    join_sentences,
)
from ...journal.changelog import present_actor
from ...kinds import CLOSING_TAGS
from ...models import ParsedFile, Task
from ...notes.blocks import (
    LINE_ENDS,
    MASK,
    bytes_of_text,
    line_starts,
    text_of_bytes,
    usual_line_end,
)
from ...notes.due_marks import find_due_mark
from ...notes.privacy import mask_private
from ...notes.recurring import (
    REPEAT_SIGN,
    CannotRepeat,
    moved_stamps,
    next_occurrence,
    repeats,
    with_logbook,
)
from ...notes.ticks import find_tasks_to_tick
from ...plugin import Ticked
from ...verbs.changing import update
from ...verbs.editing import BOM, resolve_own_id, rewrite_by_person
from ...verbs.entry_marks import find_stored
from ...verbs.receipts import index_now
from ...verbs.to_do import due_tasks, tasks
from ...verbs.undoing import undo_last, undo_run
from ...workspace.file_rows import body_lines
from ...workspace.workspace import Workspace
from . import tick_or_open

Change = TypeVar("Change")
TICK, OPEN = "tick", "open a task"
"""The verbs of a tick, and of an emptied box, in the log of changes."""
_TASK = re.compile(
    rb"((?:%b)?[ \t>]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+(?:\#{1,6}[ \t]+)?)"  # before the box
    rb"(\[[ xX/]\]|TODO|DONE)"
    rb"([ \t][^\r\n]*)" % BOM
)
_BLOCK_NAME = re.compile(rb"(?:[ \t]+\^[\w-]+)?[ \t]*\Z")  # in Obsidian
_TICKED_ON = re.compile(" ✅ [0-9]{4}-[0-9]{2}-[0-9]{2}".encode())
_NEXT_ITEM = re.compile(rb"[ \t>]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]|#)")


class _Tick(NamedTuple):
    """The bytes `start:end` of a file, which are whole lines, and those in their place."""

    start: int
    end: int
    new: bytes


def tick_task(ws: Workspace, path: str, line: int, text: str, *, done: bool) -> Ticked:
    """Marks the task with this `text` at `path:line` as done or open. A task that repeats, as
    Logseq's do, stays open with a later date.

    Where the journal has tasks ticked with the date of Obsidian Tasks, it gets one; emptied, it
    loses it. The next one of a task that repeats (🔁) is written above it, and is taken away if
    the tick is. The task is the one of this text at this line, or the only one of the file.
    Raises NotFound, Changed without such a task, and Refused.
    """
    resolve_own_id(ws, path, "")
    stamp = b""
    if done and any(_TICKED_ON.search(task.text.encode()) for task in tasks(ws, done=True)):
        stamp = f" ✅ {ws.today.isoformat()}".encode()
    if done and REPEAT_SIGN in text:
        stamp = f" ✅ {ws.today.isoformat()}".encode()
    now = ws.clock().replace(tzinfo=None)
    stays_open = False
    next_day = ""

    def change(data: bytes, parsed: ParsedFile) -> bytes:
        nonlocal stays_open, next_day
        masked = mask_private(data)
        task = find_task_in_file(parsed, masked, line, text)
        if not task or task.done == done:
            raise task_changed_error(Sentence("List the tasks again, and tick it there."))
        task_match = _TASK.match(data, line_starts(data)[task.line - 1])
        if not task_match or task.unticked:
            reason = task.unticked or Sentence(
                "its state is not one of [ ], [x], TODO and DONE"
            )
            raise _cannot_tick_error(path, task, reason)
        end = _end_of_block(data, task_match.end())
        if MASK in masked[task_match.start() : end]:
            raise _cannot_tick_error(path, task, Sentence("its line holds private text"))
        block = data[task_match.start() : end]
        # Logseq moves the date of a task, Obsidian adds the next task
        stays_open = done and REPEAT_SIGN not in text and repeats(text_of_bytes(block))
        try:
            if stays_open:
                moved = _block_moved(block, now, usual_line_end(data))
                tick = _Tick(task_match.start(), end, moved)
            else:
                tick = _tick_line(data, task_match, stamp, done)
        except CannotRepeat as error:
            raise _cannot_tick_error(path, task, error.args[0]) from error
        if stays_open or (done and REPEAT_SIGN in text):
            mark = find_due_mark(text_of_bytes(tick.new))
            next_day = mark.day if mark else ""
        return data[: tick.start] + tick.new + data[tick.end :]

    with ws.own_journal.doing(TICK if done else OPEN, text) as deed:
        rewrite_by_person(ws, path, change, keep=False)
    index_now(ws, path)
    new = _set_done_date(text.encode(), stamp, done).decode().strip()
    if not done:
        return Ticked(new, path, line)
    return Ticked(text if stays_open else new, path, line, deed.run, next_day)


def tick_tasks(ws: Workspace, tasks: Sequence[Task]) -> Sequence[Ticked]:
    """Ticks these tasks, all or none, as one run. Raises as `tick_task` does."""
    return change_together(ws, TICK, tasks, lambda task: tick_or_open(ws, task, True))


def close_entry(ws: Workspace, id: str, *, done: bool) -> Ticked:
    """Closes an entry that is due as a whole by the tag `done`, or takes all tags away that
    close one. Raises NotFound and Refused.
    """
    entry = find_stored(ws, id).entry
    title = entry.title_in_lists
    by_person = present_actor().is_person
    tags = {"add_tags": ["done"]} if done else {"remove_tags": CLOSING_TAGS}
    with ws.own_journal.doing(TICK if done else OPEN, title) as deed:
        update(ws, id, by_person=by_person, confirms=by_person, **tags)
    return Ticked(title, entry.path, 0, deed.run if done else "", id=entry.id)


def find_open_tasks(ws: Workspace, words: str) -> Sequence[Task]:
    """The open tasks that `find_each` finds; of entries that are due those that no task with a
    box stands for. Raises NotFound and Ambiguous.
    """
    with_box = tasks(ws)
    due_entries = cache(lambda: [task for task in due_tasks(ws) if not task.line])

    def pick(part: str) -> Task | None:
        return pick_task(with_box, part) or pick_task(due_entries(), part)

    hint = Sentence("`synaptic tasks` lists them; several are given with commas between them.")
    return find_each(words, pick, hint)


def find_each(words: str, pick: Callable[[str], Task | None], hint: str) -> Sequence[Task]:
    """The task that `pick` gives for all these words, or, if there is none, that of each part
    between commas: of all parts, or of none.

    Raises NotFound, with this hint, and Ambiguous; of several parts the error is about each
    that has no task.
    """

    def find(part: str) -> Task:
        task = pick(part)
        if not task:
            raise NotFound(
                "No open task and no entry that is due holds {part!r}.", hint, part=part[:60]
            )
        return task

    parts = [part.strip() for part in words.split(",") if part.strip()]
    try:
        return [find(words)]
    except NotFound:
        if len(parts) < 2:
            raise
    matches: list[Task] = []
    errors: list[NotFound | Ambiguous] = []
    for part in parts:
        try:
            matches.append(find(part))
        except (NotFound, Ambiguous) as error:
            errors.append(error)
    if not errors:
        return [task for at, task in enumerate(matches) if task not in matches[:at]]
    messages = [*(error.message for error in errors), Sentence("Nothing was written.")]
    message = join_sentences(messages)
    valid = chain.from_iterable(error.valid for error in errors)
    hint = " ".join(dict.fromkeys(error.hint for error in errors))
    raise type(errors[0])(message, hint, valid=valid)


def change_together(
    ws: Workspace, verb: str, tasks: Sequence[Task], change: Callable[[Task], Change]
) -> Sequence[Change]:
    """Returns what `change` returns for each task. Several changes are one run of this verb: if
    one fails, those before it are taken back, and its error is raised.
    """
    if len(tasks) == 1:
        return [change(tasks[0])]
    changes: dict[int, Change] = {}
    what = "; ".join(task.text for task in tasks)
    with ws.own_journal.doing(verb, what) as deed:
        run = deed.run
        try:
            # the last line first: a task that repeats writes its next one above it
            for at in sorted(range(len(tasks)), key=lambda at: -tasks[at].line):
                changes[at] = change(tasks[at])
            return [change for _, change in sorted(changes.items())]
        except SynapticError as error:
            failed = error
    stay: Sequence[tuple[str, str]] = ()
    if changes:
        with suppress(NotFound):  # what was done changed nothing
            stay = undo_run(ws, run, by_person=present_actor().is_person, confirms=True).stay
    paths = ", ".join(path for path, _ in stay)
    failed.message += f" Others stay changed in {paths}." if stay else " No task was changed."
    raise failed


def pick_task(candidates: Iterable[Task], words: str) -> Task | None:
    """The task that holds all these words in its text, path or `path:line`, of an entry its id;
    the one whose text they are, if several do; None without one. Raises Ambiguous.
    """
    asked = words.casefold().split()
    matches = []
    for task in candidates:
        words_of_task = f"{task.text} {_place_of_task(task)}".casefold()
        if all(word in words_of_task for word in asked):
            matches.append(task)
    exact = [task for task in matches if task.text.casefold().split() == asked]
    if not asked or not matches:
        return None
    if len(exact or matches) > 1:
        raise Ambiguous(
            "{n:,} open tasks hold {words!r}.",
            "Give more of its words, or its file and line.",
            valid=tuple(f"{task.text[:60]} ({_place_of_task(task)})" for task in matches[:5]),
            n=len(matches),
            words=words[:60],
        )
    return (exact or matches)[0]


def _place_of_task(task: Task) -> str:
    """The place of a task, or the path and id of an entry that is due as a whole."""
    return f"{task.path}:{task.line}" if task.line else f"{task.path} {task.id}"


def undo_tick(ws: Workspace) -> Ticked:
    """Takes the last tick back byte for byte; returns the task as it is again.

    The lines that the tick wrote must still be there; they may have moved. Raises NotFound
    without such a tick, Changed, and Refused.
    """
    by_person = present_actor().is_person
    undone = undo_last(ws, verb=TICK, by_person=by_person, confirms=True)
    path = undone.done.files[0]
    matches = [
        task for task in tasks(ws) if task.path == path and task.text == undone.done.what
    ]
    first = undone.first_lines.get(path, 0)
    above = [task for task in matches if task.line <= first] or matches
    line = above[-1].line if above else first
    return Ticked(undone.done.what, path, line)


def find_task_in_file(parsed: ParsedFile, masked: bytes, line: int, text: str) -> Task | None:
    """The task of this text at this line, or the only one of the file; None without one."""
    matches = [task for task in tasks_of_file(parsed, masked) if task.text == text]
    at = [task for task in matches if task.line == line] or matches
    return at[0] if len(at) == 1 else None


def tasks_of_file(parsed: ParsedFile, masked: bytes) -> Iterator[Task]:
    """Yields the tasks of a file, of which `masked` are the bytes without private text."""
    for entry in parsed.entries:
        place = entry.there
        body = body_lines(masked[place.body_start : place.body_end])
        yield from find_tasks_to_tick(entry, body)


def _tick_line(data: bytes, task_match: re.Match[bytes], stamp: bytes, done: bool) -> _Tick:
    """The change that ticks the task of this line, or empties its box; a task with 🔁 gets its
    next one above it, or loses the one that its tick wrote.
    """
    before, box, words = task_match.groups()
    indent = before.removeprefix(BOM)
    marks = (b"TODO", b"DONE") if box.isalpha() else (b"[ ]", b"[x]")
    start = task_match.start() + len(before) - len(indent)
    ticked = indent + marks[done] + _set_done_date(words, stamp, done)
    if REPEAT_SIGN.encode() not in words:
        return _Tick(start, task_match.end(), ticked)
    ended = LINE_ENDS.match(data, task_match.end())
    line_end = ended[0] if ended else usual_line_end(data)
    if done:
        day = date.fromisoformat(stamp[-10:].decode())
        following = bytes_of_text(next_occurrence(text_of_bytes(words), day))
        return _Tick(start, task_match.end(), indent + marks[0] + following + line_end + ticked)
    stamped = _TICKED_ON.search(words)
    if stamped:
        day = date.fromisoformat(stamped[0][-10:].decode())
        following = bytes_of_text(
            next_occurrence(text_of_bytes(_set_done_date(words, b"", False)), day)
        )
        above = indent + marks[0] + following + line_end
        if data[:start].endswith(above):
            start -= len(above)
    return _Tick(start, task_match.end(), ticked)


def _end_of_block(data: bytes, start: int) -> int:
    """The end of the block whose first line ends at `start`: the next item, heading or blank
    line that is not in its logbook.
    """
    ended = LINE_ENDS.match(data, start)
    end = ended.end() if ended else len(data)
    in_logbook = False
    while end < len(data):
        ended = LINE_ENDS.search(data, end)
        after = ended.end() if ended else len(data)
        line = data[end:after]
        words = line.strip()
        if in_logbook:
            in_logbook = words != b":END:"
        elif words == b":LOGBOOK:":
            in_logbook = True
        elif not words or _NEXT_ITEM.match(line):
            break
        end = after
    return start if in_logbook else end


def _block_moved(block: bytes, now: datetime, line_end: bytes) -> bytes:
    """A block of Logseq that repeats, with its dates moved and its logbook, if any, longer."""
    moved = moved_stamps(text_of_bytes(block), now)
    return bytes_of_text(with_logbook(moved, now, line_end.decode()))


def _set_done_date(words: bytes, stamp: bytes, done: bool) -> bytes:
    """The words of a task with this stamp before the name of their block, or without their
    stamp if the task is not done.
    """
    if not done:
        return _TICKED_ON.sub(b"", words, 1)
    name = _BLOCK_NAME.search(words)
    end = name.start() if name else len(words)
    return words[:end] + stamp + words[end:]


def task_changed_error(hint: str) -> Changed:
    """The error for a task that does not stand where it was listed."""
    return Changed("The task was changed meanwhile; nothing was written.", hint)


def _cannot_tick_error(path: str, task: Task, reason: str) -> Refused:
    return Refused(
        "{path}:{line} cannot be ticked here: {reason}.",
        "Tick it in your editor.",
        path=path,
        line=task.line,
        reason=reason,
    )

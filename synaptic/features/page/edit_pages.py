"""The page on which a person edits a file of the journal as Markdown, and the page of tasks."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import date, timedelta

from starlette.requests import Request
from starlette.responses import Response

from ...errors import Changed, NotFound, Refused, SynapticError, join_sentences
from ...journal.standing import LoggedRun
from ...models import Entry, Task
from ...notes.due_marks import remove_due_date
from ...notes.ticks import find_tasks_to_tick
from ...plugin import MOVE_TASK, TICK_OR_OPEN, Rescheduled, TaskPlace
from ...render.fence import clean, one_line
from ...verbs import browse
from ...verbs.editing import open_text, write_text
from ...verbs.to_do import (
    DUE_GROUPS,
    NO_DAY,
    Soon,
    keep_due_within_month,
    list_to_do,
    name_due_group,
)
from ...verbs.undoing import undo_last, undo_run
from ...workspace.workspace import Workspace
from .attachments import Attachments
from .day_texts import first_weekday, format_date, format_near_day
from .entries import SAME
from .rendering import markdown_to_line
from .repeat_words import say_rules
from .site import (
    TEMPLATES,
    Page,
    http_status,
    is_owner,
    offer_restore,
    offer_undo_of_run,
    page,
    read_form,
    redirect_with_message,
    return_address,
    run_verb,
    site_of,
)
from .translation import mark_text, translate


def _is_one_task(entry: Entry) -> bool:
    """True for an entry that is one line, a task that can be ticked here."""
    tasks = find_tasks_to_tick(entry, entry.content)
    line = entry.content.strip()
    return (
        len(tasks) == 1
        and not tasks[0].unticked
        and "\n" not in line
        and line.endswith(tasks[0].text)
        and not entry.there.path.startswith("@")
    )


def _days_to_move(task: Task, today: str) -> list[tuple[str, str]]:
    """(day, its name) of each button that moves a task on its list. From next week on, by the
    calendar of the present locale, it moves by a week.
    """
    now = date.fromisoformat(today)
    next_week = now + timedelta(days=7 - (now.weekday() - first_weekday()) % 7)
    monday = next_week + timedelta(days=-next_week.weekday() % 7)
    days = [(now, translate("Today")), (now + timedelta(days=1), translate("Tomorrow"))]
    if (task.due or "") < next_week.isoformat():
        days.append((monday, translate("Next week")))
    else:
        with suppress(ValueError, OverflowError):  # 31 November, or the end of all days
            due = date.fromisoformat(task.due or "")
            days.append((due + timedelta(days=7), translate("A week later")))
    return [(str(day), name) for day, name in days if str(day) != task.due]


def _say_when_due(due: str, today: str) -> str:
    """Says on which day a task is due; today and tomorrow by these words."""
    tomorrow = date.fromisoformat(today) + timedelta(days=1)
    if due == today:
        return translate("due today")
    if due == tomorrow.isoformat():
        return translate("due tomorrow")
    return translate("due %(day)s", day=format_near_day(due, today))


TEMPLATES.globals["days_to_move"] = _days_to_move
TEMPLATES.filters["due_words"] = _say_when_due
TEMPLATES.globals["tasks_in"] = lambda entry: find_tasks_to_tick(entry, entry.content)
TEMPLATES.globals["is_one_task"] = _is_one_task
TEMPLATES.filters["without_due"] = remove_due_date


async def _edit_file_page(request: Request) -> Response:
    """Shows the form to edit a file or one of its entries; saves the text that the form
    sends.
    """
    query = request.query_params
    path = query.get("path", "")
    id = query.get("id", "")
    form = {}
    error = None
    owner = is_owner(request)
    if request.method == "POST":
        form = dict(await read_form(request))
        files = Attachments(request, form.get("text", ""), path)
        try:
            seen = form.get("seen", "")
            replaced, notices = await files.save(
                lambda ws, text: write_text(ws, path, id, text, seen, shows_private=owner)
            )
            await files.end_draft()
            there, undo = await run_verb(request, _find_edited_entry, path, id, replaced)
            message = translate(SAME["nothing changed"])
            if replaced:
                message = translate("Saved in %(path)s.", path=path)
            message = join_sentences([message, *notices, *files.remarks])
            where = f"/entry/{there}" if there else "/"
            offers = offer_restore(undo, translate("the text before"))
            return redirect_with_message(request, where, message, offers)
        except SynapticError as refused:
            form["text"] = files.draft
            error = refused
    now = None
    try:
        now = await run_verb(request, open_text, path, id, shows_private=owner)
    except Refused as refused:
        error = error or refused
    except SynapticError as gone:
        if not form:
            raise
        error = gone
    if now and (isinstance(error, Changed) or "seen" not in form):
        form["seen"] = now.seen  # both are shown: who saves now has seen them
    return await page(
        request,
        "text.html",
        http_status(error),
        error=error,
        form=form,
        now=now,
        path=path,
        id=id,
        local=site_of(request).local,
    )


def _find_edited_entry(
    ws: Workspace, path: str, id: str, replaced: list[Entry]
) -> tuple[str, str]:
    """Returns (id of the entry to show after an edit: the edited one if it still has its id,
    else the first of the file; the id of the entry whose restoration undoes the edit, or "").
    """
    parsed = ws.journal.parse(path, ws.journal.read(path))
    ids = [entry.id for entry in parsed.entries]
    edited = [entry.id for entry in replaced]
    there = next((candidate for candidate in (id, *edited, *ids) if candidate in ids), "")
    return there, there if edited == [there] else ""


GROUPS = {
    "due": mark_text("when it is due"),
    "day": mark_text("day"),
    "project": mark_text("project"),
    "tag": mark_text("tag"),
    "note": mark_text("note"),
}
"""The ways to group tasks on their page."""
NO_PROJECT, NO_TAG = mark_text("No project"), mark_text("No tag")
UNNAMED = (*DUE_GROUPS, NO_PROJECT, NO_TAG)
"""The groups whose names are words of the page, and not of the journal."""


async def _tasks_page(request: Request) -> Response:
    """Shows the open tasks and the entries that are due, in groups; only those of a project,
    tag, note or day that the address names, and what is due later only if it says `later`.
    """
    query = request.query_params
    by = query.get("by", "due")
    chosen = {name: query[name] for name in GROUPS if query.get(name)}

    def read(ws: Workspace) -> tuple[date, Sequence[Task]]:
        return ws.today, list_to_do(ws)

    today, open_tasks = await run_verb(request, read)
    matches = [
        task
        for task in open_tasks
        if all(value in _groups_of_task(task, name, today) for name, value in chosen.items())
    ]
    soon = keep_due_within_month(matches, today)
    if "later" in query:
        soon = Soon(tuple(matches))
    groups: dict[str, list[Task]] = {}
    if by not in GROUPS or by == "due":
        groups = {name: [] for name in DUE_GROUPS}
    for task in soon.rows:
        for name in _groups_of_task(task, by, today):
            groups.setdefault(name, []).append(task)
    if by in ("project", "tag", "note"):
        groups = dict(sorted(groups.items()))
    elif by == "day":
        groups = dict(sorted(groups.items(), reverse=True))
    return await page(
        request,
        "tasks.html",
        parts=groups,
        total=len(open_tasks),
        matches=len(matches),
        later=soon.later,
        today=today.isoformat(),
        by=by,
        groups=GROUPS,
        unnamed=UNNAMED,
        chosen=chosen,
    )


def _groups_of_task(task: Task, by: str, today: date) -> Sequence[str]:
    """The groups in which a task stands, by day, project, tag or note, or else by when it is
    due.
    """
    if by == "day":
        return [task.date or NO_DAY]
    if by == "project":
        return [task.project or NO_PROJECT]
    if by == "tag":
        return task.tags or [NO_TAG]
    if by == "note":
        return [task.source]
    return [name_due_group(task, today)]


async def _tick_task(request: Request) -> Response:
    """Ticks or unticks a task, or moves it to the day `due`, and redirects to the page on which
    it was clicked.
    """
    form = await read_form(request)
    where = return_address(form) or "/tasks"
    is_done = form.get("done") == "yes"
    number = form.get("line", "")
    line = int(number) if number.isdecimal() else 0
    path, text, id = (form.get(name, "") for name in ("path", "text", "id"))
    place = TaskPlace(path, line, text, id)
    when = form.get("due", "")
    if when:
        moved = await run_verb(request, MOVE_TASK.ask_only, place, when)
        return _say_moved(request, where, moved)
    ticked = await run_verb(request, TICK_OR_OPEN.ask_only, place, is_done)
    task = markdown_to_line(remove_due_date(text or ticked.text))
    message = translate(TICKED[is_done], task=task)
    if ticked.next_day:
        day = format_date(ticked.next_day)
        message = translate("Ticked, and due again on %(day)s: %(task)s.", day=day, task=task)
    return redirect_with_message(request, where, message, offer_undo_of_run(ticked.undo))


TICKED = {True: mark_text("Ticked: %(task)s."), False: mark_text("Open again: %(task)s.")}
MOVED = {
    (True, True): mark_text("Now due on %(day)s: %(task)s."),
    (True, False): mark_text("Now without a day: %(task)s."),
    (False, True): mark_text("Nothing changed. It is due on %(day)s: %(task)s."),
    (False, False): mark_text("Nothing changed. It is without a day: %(task)s."),
}
"""What is said of a task, by whether it was moved and whether it has a day now."""


def _say_moved(request: Request, where: str, moved: Rescheduled) -> Response:
    """Redirects with the new day of a task, and an undo."""
    values = {"day": format_date(moved.day), "task": say_rules(remove_due_date(moved.text))}
    message = translate(MOVED[bool(moved.undo), bool(moved.day)], **values)
    return redirect_with_message(request, where, message, offer_undo_of_run(moved.undo))


async def _take_last_back(request: Request) -> Response:
    """Takes the last thing back that a person did, or the run that the form names, and
    redirects to the page from which it was asked, which says what it was.
    """
    form = await read_form(request)
    run = form.get("run", "")
    where = return_address(form) or "/"
    if run:
        undone = await run_verb(request, undo_run, run, confirms=True)
    else:
        undone = await run_verb(request, undo_last, confirms=True)
    if where.startswith("/entry/"):
        try:
            await run_verb(request, browse.get, [where.removeprefix("/entry/")])
        except NotFound:  # its save was taken back
            where = "/"
    message = translate("Took back: %(change)s.", change=_describe_undone_run(undone.done))
    if undone.stay:
        stay = ", ".join(path for path, _ in undone.stay)
        message += " " + translate("Changed since, and left alone: %(files)s.", files=stay)
    offers = offer_undo_of_run(undone.run, translate("Do it again"))
    return redirect_with_message(request, where, message, offers)


VERBS = {
    "begin a day": mark_text("begin a day"),
    "confirm": mark_text("confirm"),
    "delete": mark_text("delete"),
    "edit": mark_text("edit"),
    "import": mark_text("import"),
    "move a task": mark_text("move a task"),
    "open a task": mark_text("open a task"),
    "rename": mark_text("rename"),
    "restore": mark_text("restore"),
    "save": mark_text("save"),
    "save a search": mark_text("save a search"),
    "settle": mark_text("settle"),
    "tick": mark_text("tick"),
    "update": mark_text("update"),
}
"""The verbs of the log that the page names; of others it says the word of the log."""
MOST_FILES = 2
"""The most files of a run that the page names."""


def _describe_undone_run(run: LoggedRun) -> str:
    """A run of the log in a line: its day and time, what was done, to what, in which files."""
    day = format_date(f"{run.at:%Y-%m-%d}", weekday=False)
    verb = run.undone_verb or run.verb
    verb = translate(VERBS[verb]) if verb in VERBS else verb
    if run.undone_verb:
        verb = translate("undo: %(verb)s", verb=verb)
    files = ", ".join(run.files)
    if run.files[MOST_FILES:]:
        files = translate("%(n)s files", n=len(run.files))
    what = f": {run.what}" if run.what and run.what != files else ""
    return clean(one_line(f"{day} {run.at:%H:%M} {verb}{what} ({files})"))


PAGES = [
    Page("/undo", "writer", _take_last_back, methods=["POST"]),
    Page("/edit", "writer", _edit_file_page, methods=["GET", "POST"]),
    Page("/tasks", "reader", _tasks_page),
    Page("/tick", "writer", _tick_task, methods=["POST"]),
]

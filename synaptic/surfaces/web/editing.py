"""The page on which a person edits a file of the journal as Markdown, and the page of tasks."""

from __future__ import annotations

import re
from datetime import date, timedelta

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...errors import Changed, Refused, SynapticError
from ...journal.folder import OWN
from ...models import Entry, Task
from ...notes.marks import tasks_of
from ...verbs.editing import Passage, opened_text, tick, write_text
from ...verbs.mentions import tasks
from ...workspace.workspace import Workspace
from .site import TEMPLATES, Values, ask, done, form_of, page, session_of, site_of, status_of

SHOWN_TASKS = 300
"""Of each part of the page of tasks."""
_BACK = re.compile(r"/(?:tasks|day/[\d-]{1,12}|entry/[\w-]{1,40}|day)?")


def _tasks_in(entry: Entry) -> list[Task]:
    """The tasks that an entry shows, if its file may be written."""
    place = entry.there
    is_own = not place.path.startswith("@") or place.path.partition("/")[0] in OWN
    return tasks_of(entry, entry.content) if is_own else []


TEMPLATES.globals["tasks_in"] = _tasks_in


async def _edit(request: Request) -> Response:
    """The form of a file, or of an entry of it, and the answer to what it sends."""
    query = request.query_params
    path = query.get("path", "")
    id = query.get("id", "")
    form: Values = {}
    error: SynapticError | None = None
    if request.method == "POST":
        form = dict(await form_of(request))
        given = form.get("text", ""), form.get("seen", "")
        try:
            replaced, notices = await ask(request, write_text, path, id, *given)
            return await _saved(request, path, id, replaced, notices)
        except SynapticError as refused:
            error = refused
    now: Passage | None = None
    try:
        now = await ask(request, opened_text, path, id)
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
        status_of(error),
        error=error,
        form=form,
        now=now,
        path=path,
        id=id,
        local=site_of(request).local,
    )


async def _saved(
    request: Request,
    path: str,
    id: str,
    replaced: list[Entry],
    notices: tuple[str, ...],
) -> Response:
    """Leads to the entry that was edited, if it is still called so, or to that of the file."""

    def entry_there(ws: Workspace) -> str:
        here = ws.journal.parse(path, ws.journal.read(path)).entries
        known = [entry.id for entry in here]
        wanted = [id, *(entry.id for entry in replaced), *known]
        return next((one for one in wanted if one in known), "")

    there = await ask(request, entry_there)
    where = f"/entry/{there}" if there else "/"
    if not replaced:
        return done(request, where, "Nothing was changed.")
    undo = there if [entry.id for entry in replaced] == [there] else ""
    said = " ".join([f"Saved in {path}.", *notices])
    return done(request, where, said, undo=undo, file="the text before" if undo else "")


async def _tasks(request: Request) -> Response:
    """The open tasks by the day on which they are due."""

    def read(ws: Workspace) -> tuple[date, list[Task]]:
        roots = ws.journal.roots
        return ws.today, [one for one in tasks(ws) if roots.of(one.path)[0] in OWN]

    today, found = await ask(request, read)
    week = (today + timedelta(days=6)).isoformat()
    parts: dict[str, list[Task]] = {"Overdue": [], "This week": [], "Later": [], "No day": []}
    for task in sorted(found, key=lambda one: one.due or ""):
        name = "No day"
        if task.due:
            name = "Overdue" if task.overdue else "This week" if task.due <= week else "Later"
        parts[name].append(task)
    return await page(request, "tasks.html", parts=parts, total=len(found), most=SHOWN_TASKS)


async def _tick(request: Request) -> Response:
    """Ticks a task, or empties its box, and leads back to where that was asked for."""
    form = await form_of(request)
    is_done = form.get("done") == "yes"
    path = form.get("path", "")
    number = form.get("line", "")
    line = int(number) if number.isdecimal() else 0
    back = form.get("back", "")
    text = await ask(request, tick, path, line, form.get("text", ""), done=is_done)
    said = "Ticked." if is_done else "It is open again."
    answer = done(request, back if _BACK.fullmatch(back) else "/tasks", said)
    if is_done:
        ticked = {"ticked": text, "ticked_path": path, "ticked_line": str(line)}
        session_of(request).told |= ticked
    return answer


ROUTES = [
    Route("/edit", _edit, methods=["GET", "POST"]),
    Route("/tasks", _tasks),
    Route("/tick", _tick, methods=["POST"]),
]

"""The page on which a person renames a note: it shows what would change, asks, undoes it; and
the way to make a mention of a note a link.
"""

import hashlib
from pathlib import PurePosixPath

from starlette.requests import Request
from starlette.responses import Response

from ...errors import SynapticError
from ...journal.folder import is_note
from ...journal.renames import find_run
from ...models import Entry
from ...plugin import PLAN_RENAME
from ...verbs import browse
from ...workspace.many_edits import EditPlan, Renamed, describe_stays, make_edits, take_back
from ...workspace.workspace import Workspace
from .site import Page, http_status, page, read_form, redirect_with_message, run_verb
from .translation import translate
from .unlinked import plan_mention_link

MOST_LINES = 200
"""The most changed lines, and the most links that stay, that the page lists."""


async def _rename_page(request: Request) -> Response:
    """Shows the form for the new name of a note, then what would change; renames the note when
    the person has agreed to just that.
    """
    form = await read_form(request) if request.method == "POST" else {}
    [entry] = (await run_verb(request, browse.get, [request.path_params["id"]])).entries
    new = PurePosixPath(entry.path).stem
    plan = None
    error = None
    seen = ""
    if request.method == "POST":
        new = form.get("new", "").strip()
        try:
            plan = await run_verb(request, PLAN_RENAME.ask_only, entry.path, new, True)
            seen = _hash_of_plan(plan)
            if form.get("agreed") == seen:
                done = await run_verb(request, make_edits, plan)
                return _redirect_to_renamed(request, entry, plan, done)
        except SynapticError as refused:
            error = refused
    return await page(
        request,
        "rename.html",
        http_status(error),
        entry=entry,
        new=new,
        plan=plan,
        seen=seen,
        stays=describe_stays(plan.stays) if plan else (),
        most=MOST_LINES,
        error=error,
    )


def _hash_of_plan(plan: EditPlan) -> str:
    """A text by which a form proves which plan the person has seen."""
    return hashlib.sha256(repr((plan.moves, plan.lines)).encode()).hexdigest()


def _redirect_to_renamed(
    request: Request, entry: Entry, plan: EditPlan, done: Renamed
) -> Response:
    lines = len(plan.lines)
    messages = [translate("Renamed to %(path)s.", path=plan.moves[entry.path])]
    if lines:
        counts = {"lines": lines, "files": plan.files}
        messages.append(translate("Changed lines: %(lines)s, in files: %(files)s.", **counts))
    if done.stay:
        files = ", ".join(done.stay)
        messages.append(
            translate("Changed by a program again and again, and left: %(files)s.", files=files)
        )
    message = " ".join(messages)
    where = f"/entry/{plan.ids.get(entry.id, entry.id)}"
    return redirect_with_message(request, where, message, renamed=done.run)


async def _link_mention(request: Request) -> Response:
    """Makes the mention of a note in another entry a link, and goes back to the note."""
    id = request.path_params["id"]
    source = (await read_form(request)).get("from", "")
    plan = await run_verb(request, plan_mention_link, id, source)
    done = await run_verb(request, make_edits, plan)
    message = translate("Linked in %(path)s.", path=plan.edits[0].path)
    return redirect_with_message(
        request, f"/entry/{plan.ids.get(id, id)}", message, renamed=done.run
    )


async def _undo_page(request: Request) -> Response:
    """Takes a rename back, and redirects to its note."""
    await read_form(request)
    back, id = await run_verb(request, _take_rename_back, request.path_params["run"])
    message = translate("The old name is back.")
    if not id:
        message = translate("The links are as they were.")
    if back.stay:
        files = ", ".join(back.stay)
        message += " " + translate("Edited since, and left alone: %(files)s.", files=files)
    return redirect_with_message(request, f"/entry/{id}" if id else "/", message)


def _take_rename_back(ws: Workspace, name: str) -> tuple[Renamed, str]:
    """(the rename that was taken back, the id of the first note that has its old name again; ""
    if no note was renamed).
    """
    old_paths = [
        record.path
        for record in find_run(ws.journal, name)
        if record.to and is_note(record.path)
    ]
    back = take_back(ws, name)
    for path in old_paths:
        entries = ws.journal.parse(path, ws.journal.read(path)).entries
        if entries:
            return back, entries[0].id
    return back, ""


PAGES = [
    Page("/entry/{id}/rename", "writer", _rename_page, methods=["GET", "POST"]),
    Page("/entry/{id}/link", "writer", _link_mention, methods=["POST"]),
    Page("/renamed/{run}/undo", "writer", _undo_page, methods=["POST"]),
]

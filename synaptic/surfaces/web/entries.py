"""The pages of an entry, and all that a person does with one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import typer
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from ...errors import Ambiguous, Changed, NotFound, Refused, SynapticError, one_of
from ...index.rows import Position
from ...journal.folder import OWN
from ...models import TYPES, Entry, Filters, Order
from ...notes.markdown import compose_entry
from ...verbs import browse, writing
from ...verbs.writing import Receipt
from ...workspace.checkout import project_of, working_checkout
from ...workspace.workspace import Workspace
from ..render.present import short
from ..serving.editors import RETURNS_AT_ONCE, chosen, command_at, name_of
from .deleting import ask_first, deleted_text, file_of, is_agreed
from .site import ask, done, form_of, page, session_of, site_of, status_of

WINDOWED = RETURNS_AT_ONCE | {"gvim", "gedit", "kate", "mousepad", "notepad", "notepad++"}
SAME = {
    "nothing changed": "Nothing was changed.",
    "already saved": "That was saved already, a moment ago.",
}
EVERY = Filters(include_superseded=True)
TEXTS = ("content", "title", "type", "project", "expires")
LISTS = ("tags", "add_tags", "supersedes")


async def _entry(request: Request) -> Response:
    id, near = request.path_params["id"], request.query_params.getlist("near")

    def look(ws: Workspace) -> dict[str, Any]:
        listing = browse.get(
            ws, [id]
        )  # brings the index in step, so that it can be asked without a verb
        entry, row = listing.entries[0], ws.index.resolve(id).rowid
        at = ws.index.standings([row])[row].position

        def found(
            filters: Filters, order: Order, limit: int, after: Position | None = None
        ) -> list[Entry]:
            rows = ws.index.listing(filters, order=order, limit=limit, after=after)[1]
            return [ws.index.entries([row])[row].entry for row in rows]

        return {
            "listing": listing,
            "entry": entry,
            "before": found(EVERY, "newest", 1, at),
            "after": found(EVERY, "oldest", 1, at),
            "continued": found(replace(EVERY, parent=entry.id), "oldest", 20),
            "titles": ws.index.titles(
                [*near, *entry.supersedes, *listing.superseded_by.values(), entry.parent or ""]
            ),
            "versions": writing.versions(ws, entry),
            "place": ws.journal.place(entry.there.path),
            "locked": ws.journal.roots.of(entry.there.path)[0] not in OWN,
        }

    try:
        shown = await ask(request, look)
    except (Ambiguous, NotFound) as error:
        fits = error.valid
        titles = await ask(request, lambda ws: ws.index.titles(fits))
        gone = [
            one for one in await ask(request, writing.deleted) if id in (one.id, short(one.id))
        ]
        return await page(
            request, "missing.html", status_of(error), error=error, titles=titles, gone=gone
        )
    if shown["entry"].id != id:
        return RedirectResponse(f"/entry/{shown['entry'].id}")
    return await page(request, "entry.html", local=site_of(request).local, near=near, **shown)


async def _form(request: Request) -> Response:
    """The form of an entry, or of a new one, and what it sends, or a button beside the entry."""
    id, asked = request.path_params.get("id", ""), request.query_params
    form: dict[str, str] = {}
    error: SynapticError | None = None
    if request.method == "POST":
        form = dict(await form_of(request))
        try:
            given = _given(form)
            if not id:
                given |= {
                    "by": session_of(request).name,
                    "via": "web",
                    "parent": asked.get("parent"),
                }
                given |= {"supersedes": asked.getlist("supersedes")}
            write = writing.update if id else writing.save
            receipt = await ask(
                request, lambda ws: write(ws, id or given.pop("content", ""), **given)
            )
            return _told(request, receipt, form.get("said", "Saved."), undo=id)
        except SynapticError as refused:
            error = refused

    def look(ws: Workspace) -> tuple[Entry | None, str, str]:
        """The first values of the form: the entry, or the one that the new one follows; and the
        project from here.
        """
        if id:
            return *writing.opened(ws, id), ""
        of, project = (
            asked.get("supersedes") or asked.get("parent"),
            project_of(ws.config, working_checkout(ws.config)),
        )
        return browse.get(ws, [of]).entries[0] if of else None, "", project or ""

    try:
        was, seen, project = await ask(request, look)
    except SynapticError as gone:  # the entry, or the journal
        if not form:
            raise
        was, seen, project, error = None, "", "", gone
    if isinstance(error, Changed) or "seen" not in form:
        form["seen"] = seen  # both are shown: who saves now has seen them
    # a title that is made of the text is left out, as it will be made again
    made = compose_entry(was.content, id=was.id, at=was.at)[0].title if was else ""
    shown = {
        "form": form,
        "id": id,
        "was": was,
        "project": project,
        "types": TYPES,
        "made": made,
    }
    return await page(request, "edit.html", status_of(error), error=error, **shown)


def _given(form: dict[str, str]) -> dict[str, Any]:
    """The values of a form as `save` and `update` take them."""
    given: dict[str, Any] = {name: form[name] for name in TEXTS if name in form}
    given |= {name: form[name] for name in ("append", "seen") if form.get(name, "").strip()}
    given |= {name: re.findall(r"[^,\s]+", form[name]) for name in LISTS if name in form}
    if number := form.get("importance"):
        given["importance"] = int(one_of([str(one) for one in range(11)], number, "importance"))
    return given | ({"pin": form["pin"] == "yes"} if "pin" in form else {})


def _told(request: Request, receipt: Receipt, said: str, *, undo: str) -> Response:
    """Leads to the entry, which says what was done to it, and what a new one is near to."""
    hints = urlencode(
        {"near": [one.id for one in receipt.near or ()], "tag": receipt.suggested_tags},
        doseq=True,
    )
    where = f"/entry/{receipt.id}{'?' if hints else ''}{hints}"
    if receipt.notices and (same := SAME.get(receipt.notices[0])):
        return done(request, where, same)
    return done(request, where, said, receipt, undo=undo)


async def _delete(request: Request) -> Response:
    """Asks, and deletes by the form of that question."""
    form, id = await form_of(request), request.path_params["id"]

    def remove(ws: Workspace) -> tuple[Entry, Receipt | None]:
        entry = browse.get(ws, [id]).entries[0]
        return entry, writing.delete(ws, entry.id) if is_agreed(form, entry) else None

    entry, receipt = await ask(request, remove)
    if receipt is None:
        return await ask_first(request, entry, back=f"/entry/{entry.id}")
    return done(request, "/", deleted_text(entry), undo=receipt.id, file=file_of(entry))


async def _deleted(request: Request) -> Response:
    return await page(
        request,
        "deleted.html",
        gone=await ask(request, writing.deleted),
    )


async def _restore(request: Request) -> Response:
    await form_of(request)
    receipt = await ask(request, partial(writing.restore, id=request.path_params["id"]))
    return done(request, f"/entry/{receipt.id}", f"Restored in {receipt.path}.", receipt)


async def _open(request: Request) -> Response:
    """Shows the entry in the person's editor, on the machine on which the server runs."""
    id = request.path_params["id"]
    await form_of(request)
    if not site_of(request).local:
        raise Refused("The editor would open on the server, which is another machine.")
    there = (await ask(request, lambda ws: browse.get(ws, [id]))).entries[0].there
    path = await ask(request, lambda ws: ws.journal.place(there.path))
    return done(request, f"/entry/{id}", f"{_show(path, there.line)} {path}:{there.line}")


def _show(path: Path, line: int) -> str:
    """Shows the file in a window of its own, and says in which; or says that there is none."""
    command = chosen()
    if command and name_of(command) in WINDOWED and shutil.which(command[0]):
        subprocess.Popen(
            command_at(command, path, line), stdin=subprocess.DEVNULL, start_new_session=True
        )
        return f"Opened in {name_of(command)}:"
    has_desktop = sys.platform in ("darwin", "win32") or os.environ.keys() & {
        "DISPLAY",
        "WAYLAND_DISPLAY",
    }
    if has_desktop and typer.launch(str(path)) == 0:
        return "Opened:"
    return "No editor with a window is known here, so open it yourself (or set VISUAL):"


ROUTES = [
    Route("/new", _form, methods=["GET", "POST"]),
    Route("/deleted", _deleted),
    Route("/entry/{id}", _entry),
    Route("/entry/{id}/edit", _form, methods=["GET", "POST"]),
    Route("/entry/{id}/delete", _delete, methods=["POST"]),
    Route("/entry/{id}/restore", _restore, methods=["POST"]),
    Route("/entry/{id}/open", _open, methods=["POST"]),
]

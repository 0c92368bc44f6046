"""The pages on which a person renames a note, an entry or a folder, or replaces words in all
notes: they show what changes, ask, and undo it; and the ways to make a mention of a note a
link, and to let links follow a new title.
"""

import hashlib
import posixpath
from collections.abc import Mapping
from pathlib import PurePosixPath
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import Response

from ...errors import SynapticError
from ...journal.folder import is_note
from ...journal.renames import find_run
from ...models import frozen
from ...notes.blocks import slug_tag
from ...plugin import PLAN_LINKS, PLAN_RENAME, PLAN_WORDS
from ...verbs import browse
from ...workspace.many_edits import EditPlan, Renamed, describe_stays, make_edits, take_back
from ...workspace.workspace import Workspace
from .site import (
    Page,
    http_status,
    offer_undo_of_rename,
    page,
    read_form,
    redirect_with_message,
    return_address,
    run_verb,
)
from .translation import translate
from .unlinked import plan_mention_link

MOST_LINES = 200
"""The most changed lines, and the most links that stay, that the page lists."""


@frozen
class _Named:
    """What is renamed: a note by its path, an entry of a day by its id, or a folder by its path
    with a `/` at the end; its `title` on the page, the name that the form begins with, the
    address of its page, and the `id` of a note or entry. Or words that are replaced in texts.
    """

    path: str
    title: str
    name: str
    address: str
    id: str = ""
    are_words: bool = False


async def _rename_note(request: Request) -> Response:
    form = await _read_form_of_rename(request)
    [entry] = (await run_verb(request, browse.get, [request.path_params["id"]])).entries
    path, name = entry.id, entry.title
    if entry.whole_file:
        path, name = entry.path, PurePosixPath(entry.path).stem
    named = _Named(path, entry.title, name, f"/entry/{entry.id}", entry.id)
    return await _rename_page(request, named, form)


async def _rename_folder(request: Request) -> Response:
    form = await _read_form_of_rename(request)
    path = request.query_params.get("folder", "").strip("/")
    named = _Named(f"{path}/", path, posixpath.basename(path), f"/folder/{quote(path)}")
    return await _rename_page(request, named, form)


async def _replace_words(request: Request) -> Response:
    form = await _read_form_of_rename(request)
    words = request.query_params.get("words", "").strip()
    address = "/search?" + urlencode({"q": words, "order": "newest"})
    if is_tag(words):
        address = f"/tag/{quote(slug_tag(words))}"
    named = _Named(words, words, words, address, are_words=True)
    return await _rename_page(request, named, form)


async def _read_form_of_rename(request: Request) -> Mapping[str, str]:
    return await read_form(request) if request.method == "POST" else {}


async def _rename_page(request: Request, named: _Named, form: Mapping[str, str]) -> Response:
    """Shows the form for the new name, then what would change; renames it when the person has
    agreed to just that.
    """
    new = named.name
    plan = None
    error = None
    seen = ""
    if request.method == "POST":
        new = form.get("new", "").strip()
        try:
            door = PLAN_WORDS if named.are_words else PLAN_RENAME
            plan = await run_verb(request, door.ask_only, named.path, new, True)
            seen = _hash_of_plan(plan)
            if form.get("agreed") == seen:
                done = await run_verb(request, make_edits, plan)
                return _redirect_to_renamed(request, named, new, plan, done)
        except SynapticError as refused:
            error = refused
    return await page(
        request,
        "rename.html",
        http_status(error),
        named=named,
        new=new,
        plan=plan,
        seen=seen,
        stays=describe_stays(plan.stays) if plan and not named.are_words else (),
        most=MOST_LINES,
        error=error,
    )


def is_tag(words: str) -> bool:
    """True for words that are a tag with its sign, which is renamed with the tags below it."""
    return words.startswith("#") and " " not in words


def _hash_of_plan(plan: EditPlan) -> str:
    """A text by which a form proves which plan the person has seen."""
    return hashlib.sha256(repr((plan.moves, plan.lines)).encode()).hexdigest()


def _redirect_to_renamed(
    request: Request, named: _Named, new: str, plan: EditPlan, done: Renamed
) -> Response:
    lines = len(plan.lines)
    path = plan.folder.to if plan.folder else plan.moves.get(named.path, "")
    messages = []
    if path:
        messages = [translate("Renamed to %(path)s.", path=path)]
    elif named.id:
        messages = [translate("Renamed.")]
    if lines:
        counts = {"lines": lines, "files": plan.file_count}
        messages.append(translate("Changed lines: %(lines)s, in files: %(files)s.", **counts))
    if done.stay:
        files = ", ".join(done.stay)
        messages.append(
            translate("Changed by a program again and again, and left: %(files)s.", files=files)
        )
    message = " ".join(messages)
    where = f"/folder/{quote(path)}" if path else "/"
    if is_tag(named.path):
        where = f"/tag/{quote(slug_tag(new))}"
    if named.id:
        where = f"/entry/{plan.ids.get(named.id, named.id)}"
    return redirect_with_message(request, where, message, offer_undo_of_rename(done.run))


async def _link_mention(request: Request) -> Response:
    """Makes the mention of a note in another entry a link, and goes back to the note."""
    id = request.path_params["id"]
    source = (await read_form(request)).get("from", "")
    plan = await run_verb(request, plan_mention_link, id, source)
    done = await run_verb(request, make_edits, plan)
    message = translate("Linked in %(path)s.", path=plan.edits[0].path)
    where = f"/entry/{plan.ids.get(id, id)}"
    return redirect_with_message(request, where, message, offer_undo_of_rename(done.run))


async def _link_old_title(request: Request) -> Response:
    """Lets the links to the old title of an entry lead to it again, and goes back to it."""
    id = request.path_params["id"]
    title = (await read_form(request)).get("title", "")
    plan = await run_verb(request, PLAN_LINKS.ask_only, id, title, True)
    done = await run_verb(request, make_edits, plan)
    counts = {"lines": len(plan.lines), "files": plan.file_count}
    message = translate("Changed lines: %(lines)s, in files: %(files)s.", **counts)
    where = f"/entry/{plan.ids.get(id, id)}"
    return redirect_with_message(request, where, message, offer_undo_of_rename(done.run))


async def _undo_page(request: Request) -> Response:
    """Takes a rename back, and redirects to its note or folder, or to the entry on whose page
    the form was.
    """
    of = return_address(await read_form(request)).removeprefix("/entry/")
    name = request.path_params["run"]
    old_ids = await run_verb(request, _ids_before_rename, name)
    back, where = await run_verb(request, _take_rename_back, name)
    message = translate("The old name is back.")
    if not where:  # only links, or a tag, had changed
        message = translate("All is as it was.")
        where = f"/entry/{old_ids.get(of, of)}" if of else ""
    if back.stay:
        files = ", ".join(back.stay)
        message += " " + translate("Edited since, and left alone: %(files)s.", files=files)
    return redirect_with_message(request, where or "/", message)


def _ids_before_rename(ws: Workspace, name: str) -> dict[str, str]:
    """The former ids of the entries that got another one by a rename, by the present ones."""
    records = find_run(ws.journal, name)
    return {new_id: old_id for record in records for old_id, new_id in record.ids.items()}


def _take_rename_back(ws: Workspace, name: str) -> tuple[Renamed, str]:
    """(the rename that was taken back, the address of the first note that has its old name
    again, or of the folder of several notes that kept their own names; "" if none moved).
    """
    moves = [
        (record.path, record.to)
        for record in find_run(ws.journal, name)
        if record.to and is_note(record.path)
    ]
    back = take_back(ws, name)
    if moves[1:] and all(map(_has_same_name, moves)):
        folder = posixpath.commonpath([posixpath.dirname(path) for path, _ in moves])
        return back, f"/folder/{quote(folder)}"
    for path, _ in moves:
        entries = ws.journal.parse(path, ws.journal.read(path)).entries
        if entries:
            return back, f"/entry/{entries[0].id}"
    return back, ""


def _has_same_name(move: tuple[str, str]) -> bool:
    """True if a file was moved to another folder, and not given another name."""
    return posixpath.basename(move[0]) == posixpath.basename(move[1])


PAGES = [
    Page("/entry/{id}/rename", "writer", _rename_note, methods=["GET", "POST"]),
    Page("/rename", "writer", _rename_folder, methods=["GET", "POST"]),
    Page("/replace", "writer", _replace_words, methods=["GET", "POST"]),
    Page("/entry/{id}/link", "writer", _link_mention, methods=["POST"]),
    Page("/entry/{id}/relink", "writer", _link_old_title, methods=["POST"]),
    Page("/renamed/{run}/undo", "writer", _undo_page, methods=["POST"]),
]

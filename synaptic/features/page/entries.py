"""The pages of an entry, and all that a person does with one."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from textwrap import wrap
from unicodedata import east_asian_width
from urllib.parse import urlencode

import typer
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from ...errors import (
    Ambiguous,
    Changed,
    ConfigError,
    NotFound,
    Refused,
    SynapticError,
    join_sentences,
    match_valid_name,
)
from ...filters import Filters
from ...journal.folder import OWN
from ...journal.rewriting import keep_opened
from ...journal.shelf import files_by_name
from ...kinds import CLOSABLE, CLOSING_TAGS
from ...models import TYPES, Entry, Receipt
from ...notes.blocks import PRIVATE_TAG
from ...notes.due_marks import find_due_mark, remove_due_date
from ...notes.markdown import compose_entry
from ...notes.privacy import without_private
from ...plugin import FORMAT_TASK
from ...render.fence import one_line
from ...render.present import short_id
from ...serving.editors import RETURNS_AT_ONCE, chosen_editor, command_to_open, editor_name
from ...verbs import browse, changing, removing, saving
from ...verbs.attaching import attached_paths
from ...verbs.editing import read_with_private
from ...verbs.neighbours import Graph, link_graph, linking_sentences
from ...verbs.private_passages import Passages, keeping_passages
from ...verbs.rules import confirm
from ...workspace.checkout import working_checkout, working_project
from ...workspace.preferences import hash_of_rule
from ...workspace.workspace import Workspace
from .attachments import Attachments, open_attachments
from .browsers import may_stay_logged_in
from .day_texts import format_date
from .repeat_words import say_rules
from .replacing import keep_close
from .site import (
    TEMPLATES,
    Offer,
    Page,
    Values,
    find_nearby,
    http_status,
    is_owner,
    offer_restore,
    offer_undo_of_run,
    page,
    read_form,
    redirect_with_message,
    refuse_reader,
    return_address,
    run_verb,
    session_of,
    site_of,
)
from .translation import mark_text, translate
from .unlinked import find_mentions

WINDOWED = RETURNS_AT_ONCE | {"gvim", "gedit", "kate", "mousepad", "notepad", "notepad++"}
SAME = {
    "nothing changed": mark_text("Nothing was changed."),
    "already saved": mark_text("That was saved already, a moment ago."),
}
EVERY = Filters(include_superseded=True)
TEXTS = ("content", "title", "type", "project", "expires", "due")
OWNER_ALONE = mark_text(
    "Only the owner of the journal writes private passages on the page: log in by the link "
    "that `synaptic serve` prints, or take the passage out."
)
LISTS = ("tags", "add_tags", "supersedes")
ROW, COLUMN = 52, 230
"""Pixels between the boxes in the picture of an entry's neighbours, down and across."""
LINE_CHARS = 22
"""Letters in a line of such a box; of Chinese or Japanese half as many."""
LINKS_OPEN = 20
"""The number of an entry's links in each direction that are shown without a click."""
HEADING = re.compile(r" {0,3}#{1,6}[ \t]|[^\r\n]+\r?\n {0,3}(?:=+|-+)[ \t]*(?:\r?\n|$)")
TASKS_ONLY = re.compile(r"(?:[-*+] \[.\] [^\n]*\s*)+")
DEGREES = tuple(map(str, range(11)))


async def _entry_page(request: Request) -> Response:
    id = request.path_params["id"]
    try:
        values = await run_verb(request, _entry_page_values, id, is_owner(request))
    except (Ambiguous, NotFound) as error:
        return await _missing_page(request, id, error)
    if values["entry"].id != id:
        return RedirectResponse(f"/entry/{values['entry'].id}")
    local = site_of(request).local
    editor = []
    if local:
        with suppress(ConfigError):  # the button says it
            editor = _window_editor_command()
    values["editor"] = editor_name(editor) if editor else ""
    return await page(request, "entry.html", local=local, **values)


def _entry_page_values(ws: Workspace, id: str, owner: bool) -> Values:
    """Returns the template values of an entry's page: the entry, its links and similar
    entries; for the owner alone its text with the private passages.
    """
    listing = browse.get(ws, [id])
    entry = listing.entries[0]
    around = browse.find(ws, filters=EVERY, around=entry.id, limit=3).entries
    at = [one.id for one in around].index(entry.id)
    children = replace(EVERY, parent=entry.id)
    leading = [*entry.supersedes, *listing.superseded_by.values(), entry.parent or ""]
    path = entry.path
    locked = not ws.access.may_write or ws.journal.roots.split_path(path)[0] not in OWN
    versions = removing.earlier_versions(ws, entry)
    return {
        "listing": listing,
        "entry": entry,
        "before": around[:at][-1:],
        "after": around[at + 1 :][:1],
        "continued": browse.find(ws, filters=children, order="oldest").entries,
        "titles": ws.index.titles(leading),
        "versions": versions,
        "seen": changing.open_for_edit(ws, entry.id)[1] if versions and not locked else "",
        "sentences": linking_sentences(ws, listing.links[entry.id].backlinks[:LINKS_OPEN]),
        "mentions": () if locked else find_mentions(ws, entry),
        "most": LINKS_OPEN,
        "drawn": _lay_out_graph(link_graph(ws, entry.id)),
        "stands_in": ws.journal.place(path),
        "rule": hash_of_rule(entry) if "unconfirmed" in " ".join(entry.marks) else "",
        "locked": locked,
        "closes": _can_be_closed(entry),
        "with_private": read_with_private(ws, entry) if owner and not locked else "",
    }


def _lay_out_graph(graph: Graph) -> Values:
    """Lays out the picture of an entry's neighbours: returns the position, entry and title of
    each box, the ends of each line, and the height, all in units of the SVG picture.
    """
    high = ROW * max(map(len, graph.columns))
    places = {}
    for x, column in enumerate(graph.columns):
        top = (high - ROW * len(column)) / 2
        for y, row in enumerate(column):
            places[row] = (COLUMN * x, top + ROW * y)
    return {
        "boxes": [(places[row], graph.entries[row], graph.titles[row]) for row in places],
        "lines": [sorted(places[row] for row in pair) for pair in graph.pairs],
        "high": high,
    }


def _in_two_lines(title: str) -> str:
    """Returns a title as the two lines of a box: a long one without its middle, because titles
    that begin alike end differently.
    """
    is_wide = any(east_asian_width(sign) in "FW" for sign in title)
    most = LINE_CHARS // 2 if is_wide else LINE_CHARS
    lines = wrap(title, most)
    if lines[2:]:
        lines = [f"{title[:most].rstrip()}…", f"…{title[-most:].lstrip()}"]
    return "\n".join(lines)


TEMPLATES.filters["in_two_lines"] = _in_two_lines


async def _missing_page(request: Request, id: str, error: SynapticError) -> Response:
    """Shows the page for an id that no entry, or more than one, has; a deleted entry can be
    restored there.
    """
    titles = await run_verb(request, lambda ws: ws.index.titles(error.valid))
    gone = []
    if not session_of(request).read_only:  # who only reads does not see what is gone
        deleted = await run_verb(request, removing.deleted_entries)
        gone = [one for one in deleted if id in (one.id, short_id(one.id))]
    status = http_status(error)
    return await page(request, "missing.html", status, error=error, titles=titles, gone=gone)


async def _entry_form_page(request: Request) -> Response:
    """Shows the form of an existing or a new entry; saves what the form sends, which may be the
    line of a task alone.
    """
    id = request.path_params.get("id", "")
    form = {}
    error = None
    if request.method == "POST":
        form = dict(await read_form(request))
        task = form.pop("task", "")
        message = form.get("said") or translate("Saved.")
        if task:
            form["content"] = task
        try:
            if task:
                form["content"] = await run_verb(
                    request, FORMAT_TASK.ask_only, task, form.get("date", "")
                )
                message = _say_task(form["content"])
            receipt, run = await _save_entry_form(request, id, form)
            return await _redirect_after_save(
                request, receipt, message, undo=id, run=run, back=return_address(form)
            )
        except SynapticError as refused:
            error = refused
    was = None
    seen = ""
    project = ""
    moves = False
    has_private = False
    try:
        was, seen, project, moves = await run_verb(request, _initial_form_values, request, id)
        if was and id and is_owner(request):
            has_private = bool(await run_verb(request, read_with_private, was))
    except SynapticError as gone:  # the entry, or the journal
        if not form:
            raise
        error = gone
    as_text = was and (was.whole_file or has_private)
    if was and id and as_text and not form and "add" not in request.query_params:
        where = urlencode({"path": was.there.path, "id": id})
        return RedirectResponse(f"/edit?{where}", 303)
    if isinstance(error, Changed) or "seen" not in form:
        form["seen"] = seen  # both are shown: who saves now has seen them
    # a title that is made of the text is left out, as it will be made again
    made = compose_entry(was.content, id=was.id, at=was.at)[0].title if was else ""
    return await page(
        request,
        "edit.html",
        http_status(error),
        error=error,
        form=form,
        id=id,
        was=was,
        project=project,
        moves=moves,
        types=TYPES,
        made=made,
    )


def _begins_with_heading(text: str) -> bool:
    return HEADING.match(text.lstrip("\r\n")) is not None


def _without_tags(text: str) -> str:
    """Returns a text without the tags of its private passages."""
    return re.sub(f"(?<!\\\\){PRIVATE_TAG}", "", text)


TEMPLATES.filters["untagged"] = _without_tags
TEMPLATES.globals["begins_with_heading"] = _begins_with_heading


def _say_task(text: str) -> str:
    """What is said of a task that was saved with this text: its words, and its day."""
    mark = find_due_mark(text)
    if not mark:
        return translate("Saved.")
    task = without_private(remove_due_date(text)).removeprefix("- [ ] ")
    task = say_rules(task)
    return translate("Saved, due on %(day)s: %(task)s.", day=format_date(mark.day), task=task)


async def _save_entry_form(
    request: Request, id: str, form: dict[str, str]
) -> tuple[Receipt, str]:
    """Saves the entry that a form sends, with its uploaded files, or restores the earlier
    version that it names; returns the receipt, and the run by which a new entry is taken back.
    If that fails, the files stay with the draft, whose text is then in `form`.
    """
    number = form.get("number")
    if number:
        restored = await run_verb(
            request, removing.restore_version, id, number, form.get("seen", "")
        )
        return restored, ""
    values = _arguments_from_form(form)
    is_task = TASKS_ONLY.fullmatch(form.get("content", "").strip()) is not None
    asked = request.query_params
    text = "append" if "append" in form else "content"
    files = Attachments(request, form.get(text, ""))
    moment = f"{form.get('date', '')} {form.get('time', '')}".strip()
    if id:
        values["at"] = moment if form.get("date") else None
    else:
        values.pop("content", None)
        if values.get("type") == "note":  # as the form begins
            del values["type"]
        values["at"] = moment or None
        values["reads_date"] = True
        values["by"] = session_of(request).name
        values["parent"] = asked.get("parent")
        values["supersedes"] = asked.getlist("supersedes")
        values |= {"via": "web", "names_near": not is_task}  # a task replaces nothing

    owner = is_owner(request)

    def write(ws: Workspace, placed: str) -> tuple[Receipt, str]:
        passages = Passages()
        public = passages.set_aside(placed)
        title = passages.set_aside(values.get("title", ""))
        passages.check([public, title])
        if passages.by_mark and not owner:
            raise Refused(
                translate("Your text holds a private passage; nothing was saved."),
                translate(OWNER_ALONE),
            )
        named = {**values, **({"title": title} if title else {})}

        def save() -> tuple[str, Receipt]:
            if not id:
                receipt = saving.save(ws, public, confirms=True, **named)
            else:
                parts = {**named, text: public} if public else named
                receipt = changing.update(ws, id, confirms=True, **parts)
            return receipt.id, receipt

        verb = "update" if id else "save"
        receipt, notices, run = keeping_passages(ws, verb, passages, save)
        receipt = replace(receipt, notices=(*receipt.notices, *notices))
        return receipt, "" if id else run

    try:
        receipt, run = await files.save(write)
    except SynapticError:
        form[text] = files.draft
        raise
    await files.end_draft()
    return replace(receipt, notices=(*files.remarks, *receipt.notices)), run


def _initial_form_values(
    ws: Workspace, request: Request, id: str
) -> tuple[Entry | None, str, str, bool]:
    """Returns the values with which a form begins: (the entry that it edits or follows, the
    hash of that entry's text, the project of a new entry, True if the entry can be moved to
    another day).
    """
    if id:
        entry, seen = changing.open_for_edit(ws, id)
        return entry, seen, "", changing.can_move(ws, entry)
    asked = request.query_params
    of = asked.get("supersedes") or asked.get("parent")
    was = browse.get(ws, [of]).entries[0] if of else None
    return was, "", working_project(ws.config, working_checkout(ws)) or "", False


def _arguments_from_form(form: dict[str, str]) -> Values:
    """Returns the fields of a form as arguments of `save` and `update`."""
    values: Values = {name: form[name] for name in TEXTS if name in form}
    for name in ("append", "seen"):
        if form.get(name, "").strip():
            values[name] = form[name]
    for name in LISTS:
        if name in form:
            values[name] = re.findall(r"[^,\s]+", form[name])
    number = form.get("importance")
    if number:
        values["importance"] = int(match_valid_name(DEGREES, number, "importance"))
    if "pin" in form:
        values["pin"] = form["pin"] == "yes"
    return values


async def _redirect_after_save(
    request: Request, receipt: Receipt, message: str, *, undo: str, run: str, back: str
) -> Response:
    """Redirects after a save to the entry, or to the page `back` that links to it, with a
    message and an offer to undo: of a changed entry by its id, of a new one by the `run`.
    """
    if back == "/" and receipt.date != await run_verb(request, lambda ws: ws.today.isoformat()):
        back = f"/day/{receipt.date}"
    hints = urlencode({"tag": receipt.suggested_tags}, doseq=True)
    entry = f"/entry/{receipt.id}?{hints}".removesuffix("?")
    where, look = (back, entry) if back else (entry, "")
    same = SAME.get("".join(receipt.notices[:1]))
    if same:
        return redirect_with_message(request, where, translate(same), look=look)
    session = session_of(request)
    asks = not session.was_asked_to_stay and may_stay_logged_in(request, session)
    session.was_asked_to_stay = True
    notices = [message, *receipt.notices]
    offers = []
    if receipt.old_title:
        notices[-1] = translate("Links to its old title lead nowhere now.")
        fields = {"title": receipt.old_title}
        label = translate("Change the links, too")
        offers.append(Offer(f"/entry/{receipt.id}/relink", fields, label, key="l"))
    near, leaning = ([one.id for one in ones] for ones in (receipt.near, receipt.leaning))
    close = await run_verb(request, keep_close, receipt.id, near) if near else ()
    return redirect_with_message(
        request,
        where,
        join_sentences(notices),
        [*offers, *offer_undo_of_run(run), *offer_restore(undo, translate("the text before"))],
        look=look,
        nearby=await run_verb(request, find_nearby, receipt.id, close, leaning),
        asks_to_stay=asks and not session.device,
    )


async def _read_form_and_entry(request: Request) -> tuple[Mapping[str, str], Entry]:
    """Returns (the fields that a form sends, the entry that it is about)."""
    form = await read_form(request)
    [entry] = (await run_verb(request, browse.get, [request.path_params["id"]])).entries
    return form, entry


async def _delete_page(request: Request) -> Response:
    """Asks a person before an entry is deleted, and deletes it when that question's form is
    sent. The page of an entry asks by GET, so that a browser can go back to the question.
    """
    if request.method == "GET":
        return await _delete_question(request)
    form, entry = await _read_form_and_entry(request)
    if not is_deletion_agreed(form, entry):
        return await ask_before_delete(request, entry, back=f"/entry/{entry.id}")
    await run_verb(request, removing.delete, entry.id, confirms=True)
    file = path_deleted_with(entry) or translate("“%(title)s”", title=one_line(entry.title))
    offers = offer_restore(entry.id, file)
    return redirect_with_message(request, "/", format_deleted(entry), offers)


async def _delete_question(request: Request) -> Response:
    refuse_reader(request)
    id = request.path_params["id"]
    try:
        [entry] = (await run_verb(request, browse.get, [id])).entries
    except (Ambiguous, NotFound) as error:
        return await _missing_page(request, id, error)
    return await ask_before_delete(request, entry, back=f"/entry/{entry.id}")


async def ask_before_delete(
    request: Request, entry: Entry, *, back: str, fields: Mapping[str, str] | None = None
) -> Response:
    """Shows the question before an entry is deleted, which says whether its file is deleted
    with it. The form of the question sends the same request again, with `fields`.
    """
    return await page(
        request,
        "delete.html",
        entry=entry,
        kept=await run_verb(
            request, _attachments_of_entry, entry, site_of(request).tokens.path
        ),
        file=path_deleted_with(entry),
        back=back,
        fields=fields or {},
    )


def _attachments_of_entry(ws: Workspace, entry: Entry, tokens: Path) -> set[str]:
    """Returns the paths of the attachments to which an entry links."""
    return {*attached_paths(open_attachments(ws, tokens), entry, cache(files_by_name))}


def is_deletion_agreed(form: Mapping[str, str], entry: Entry) -> bool:
    """True if the person was asked about deleting this entry, in its present file, and
    agreed.
    """
    return form.get("agreed") == f"{entry.id} {entry.path}"


def path_deleted_with(entry: Entry) -> str:
    """Returns the path of the file that is deleted with an entry; empty if the file may hold
    other entries.
    """
    return entry.path if entry.whole_file else ""


def format_deleted(entry: Entry) -> str:
    path = path_deleted_with(entry)
    if path:
        return translate("Deleted the file %(path)s.", path=path)
    return translate("Deleted “%(title)s”.", title=one_line(entry.title_in_lists))


async def _deleted_page(request: Request) -> Response:
    refuse_reader(request)
    return await page(
        request, "deleted.html", gone=await run_verb(request, removing.deleted_entries)
    )


async def _purge_entry(request: Request) -> Response:
    """Removes what the trash and the log keep of a deleted entry."""
    await read_form(request)
    id = request.path_params["id"]
    gone = await run_verb(request, removing.deleted_entries)
    if id not in {one.id for one in gone}:
        raise NotFound(
            translate("The trash has no such entry."), translate("Delete it first, then again.")
        )
    receipt = await run_verb(request, removing.delete, id, purge=True, confirms=True)
    message = translate("Deleted for good: the trash and the earlier texts hold it no more.")
    message = join_sentences([message, *receipt.notices])
    return redirect_with_message(request, "/deleted", message)


async def _restore_entry(request: Request) -> Response:
    await read_form(request)
    receipt = await run_verb(
        request, removing.restore, request.path_params["id"], confirms=True
    )
    message = translate("Restored in %(path)s.", path=receipt.path)
    message = join_sentences([message, *receipt.notices])
    return redirect_with_message(request, f"/entry/{receipt.id}", message)


async def _confirm_preference(request: Request) -> Response:
    """Confirms the preference whose text the form showed, or notes the person's no."""
    form, entry = await _read_form_and_entry(request)
    if hash_of_rule(entry) != form.get("seen"):
        raise Changed(
            translate("%(id)s was changed meanwhile.", id=entry.short_id),
            translate("Read the entry again, then confirm it."),
        )
    is_no = form.get("answer") == "no"
    await run_verb(request, confirm, entry, remove=is_no)
    where = return_address(form) or f"/entry/{entry.id}"
    message = translate("Confirmed: every agent is told to follow it.")
    if is_no:
        message = translate("No agent is told to follow it, and you are not asked again.")
    return redirect_with_message(request, where, message)


async def _open_in_editor(request: Request) -> Response:
    """Opens the entry in the person's editor, on the machine on which the server runs."""
    _, entry = await _read_form_and_entry(request)
    if not site_of(request).local:
        raise Refused(
            translate("The editor would open on the server, which is another machine."),
            translate("Use Edit on this page instead."),
        )
    there = entry.there
    path = await run_verb(request, _place_to_open, there.path)
    message = f"{_open_file_in_editor(path, there.line)} {path}:{there.line}"
    return redirect_with_message(request, f"/entry/{entry.id}", message)


def _place_to_open(ws: Workspace, path: str) -> Path:
    """Returns the place of a file on the disk, and keeps its texts in the trash."""
    with suppress(SynapticError):  # a text that cannot be kept hinders no edit
        keep_opened(ws.own_journal, path, waits=False)
    return ws.journal.place(path)


def _window_editor_command() -> list[str]:
    """Returns the command of the person's editor if it opens its own window, else []. Raises
    ConfigError.
    """
    command = chosen_editor()
    if command and editor_name(command) in WINDOWED and shutil.which(command[0]):
        return command
    return []


def _open_file_in_editor(path: Path, line: int) -> str:
    """Opens the file at `line` in an editor window; returns a sentence that says in which, or
    that there is none.
    """
    command = _window_editor_command()
    if command:
        words = command_to_open(command, path, line)
        subprocess.Popen(words, stdin=subprocess.DEVNULL, start_new_session=True)
        return translate("Opened in %(editor)s:", editor=editor_name(command))
    has_desktop = sys.platform in ("darwin", "win32")
    if "DISPLAY" in os.environ or "WAYLAND_DISPLAY" in os.environ:
        has_desktop = True
    if has_desktop and typer.launch(str(path)) == 0:
        return translate("Opened:")
    return translate(
        "No editor with a window is known here, so open it yourself (or set VISUAL):"
    )


PAGES = [
    Page("/new", "writer", _entry_form_page, methods=["GET", "POST"]),
    Page("/deleted", "writer", _deleted_page),
    Page("/entry/{id}", "reader", _entry_page),
    Page("/entry/{id}/edit", "writer", _entry_form_page, methods=["GET", "POST"]),
    Page("/entry/{id}/delete", "writer", _delete_page, methods=["GET", "POST"]),
    Page("/entry/{id}/restore", "writer", _restore_entry, methods=["POST"]),
    Page("/entry/{id}/purge", "writer", _purge_entry, methods=["POST"]),
    Page("/entry/{id}/confirm", "writer", _confirm_preference, methods=["POST"]),
    Page("/entry/{id}/open", "writer", _open_in_editor, methods=["POST"]),
]


def _can_be_closed(entry: Entry) -> bool:
    """True for an entry without a closing tag that has a type that can be closed, or a due
    date.
    """
    has_end = entry.type in CLOSABLE or entry.due is not None
    return has_end and set(CLOSING_TAGS).isdisjoint(entry.tags)

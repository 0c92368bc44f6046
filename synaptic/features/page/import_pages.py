"""The page that brings notes of other programs over.

It keeps the files that a person chooses, shows what would come, and imports them if the person
agrees. The feature `importing` reads, plans and writes: the plan is made beside the writer,
which writes it in parts, so that others come in between.
"""

import os
import shutil
from collections.abc import Mapping, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import gettempdir

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from ...errors import InvalidArgument, NotFound, SynapticError
from ...journal.disk import disk_errors, make_dirs, make_state_dir
from ...journal.draft_files import DraftFiles
from ...journal.imports import UPLOADS
from ...models import Pairs, Texts
from ...plugin import PLAN_UPLOADS
from ...workspace.importable import Imported, ImportPreview, PlannedImport
from ...workspace.workspace import Workspace
from .exporting import make_unique_name
from .guard import IMPORT_BYTES, Visitor
from .site import (
    TEMPLATES,
    Page,
    http_status,
    offer_undo_of_run,
    page,
    read_form,
    redirect_with_message,
    refuse_reader,
    run_slow_verb,
    run_verb,
    session_of,
)
from .template_texts import format_entry_count
from .translation import mark_text, translate

MOST_FILES, NAMED = 2_000, 5
"""The most files of one import; the most that the page names for a reason."""
SOURCES = {
    "chatgpt": "ChatGPT",
    "claude-ai": "Claude",
    "documents": mark_text("Texts and documents"),
    "jrnl": "jrnl",
    "tables": mark_text("Tables"),
}
"""What the page calls a source whose name says less, as `day-one` says it."""
READABLE = (
    (("evernote",), mark_text("a notebook, exported as ENEX")),
    (("day-one", "jrnl"), mark_text("the export as JSON, or its zip")),
    (("notion", "apple-notes", "chatgpt", "claude-ai"), mark_text("the zip of the export")),
    (("documents",), mark_text(".md, .txt, .org, .html, .docx")),
    (
        ("tables",),
        mark_text(".csv or .tsv, with a day and a text, or a list of names with remarks"),
    ),
)
"""(sources, what is read of them), as the page names it before files are chosen."""
STATES = {
    "known": mark_text("Here already: %(n)s."),
    "grown": mark_text("Changed there, and corrected here: %(n)s."),
    "edited": mark_text("Edited here since, and left alone: %(n)s."),
    "deleted": mark_text("Deleted here before, and not brought back: %(n)s."),
}
"""What the page says of records by their states."""


async def _import_page(request: Request) -> Response:
    """Asks for files; shows what an import of the sent ones would do, and does it where the
    form agrees.
    """
    refuse_reader(request)
    session = session_of(request)
    error = None
    preview = None
    seen = ""
    left_out = session.left_out
    session.left_out = ()
    if request.method == "POST":
        try:
            form = await _read_files_and_fields(request)
            fields = await read_form(request)
            if "agreed" in fields:
                return await _import_files(request, fields["agreed"])
            seen = await _keep_files(request, form)
            folder = await run_verb(request, _folder_of_uploads, session)
            preview = await run_slow_verb(request, partial(_preview_import, folder=folder))
            left_out = preview.skipped
        except SynapticError as refused:
            error = refused
    return await page(
        request,
        "import.html",
        http_status(error),
        error=error,
        preview=preview,
        seen=seen,
        readable=READABLE,
        left_out=_by_reason(left_out),
        states=_describe_states(preview) if preview else (),
        most=IMPORT_BYTES,
        named=NAMED,
    )


def _name_of_source(source: str) -> str:
    return translate(SOURCES.get(source) or source.replace("-", " ").title())


TEMPLATES.filters["source_name"] = _name_of_source


async def _read_files_and_fields(request: Request) -> FormData:
    """Returns the form that a request sends; its files are on the disk of this machine by
    then. Raises InvalidArgument and JournalError.
    """
    try:
        with disk_errors(gettempdir()):
            return await request.form(max_files=MOST_FILES)
    except HTTPException as refused:
        raise InvalidArgument(
            str(refused.detail), translate("Choose fewer files, or put them into a zip.")
        ) from refused


async def _keep_files(request: Request, form: FormData) -> str:
    """Keeps the files of a form until they are imported, in place of those before; returns a
    hash of them. Raises InvalidArgument where there is none.
    """
    files = [one for one in form.getlist("files") if isinstance(one, UploadFile)]
    files = [one for one in files if one.filename]
    if not files:
        raise InvalidArgument(translate("No file was chosen."), translate("Choose a file."))
    times = [str(time) for time in form.getlist("modified")]
    folder = await run_verb(request, _empty_folder, session_of(request))
    await run_in_threadpool(_store_files, folder, files, times)
    return await run_in_threadpool(_hash_of_files, folder)


def _folder_of_uploads(ws: Workspace, session: Visitor) -> Path:
    return DraftFiles(ws.config.state).folder / _box_of_uploads(session)


def _box_of_uploads(session: Visitor) -> str:
    return f"{UPLOADS}{session.box}"


def remove_uploads(ws: Workspace, session: Visitor) -> None:
    """Removes the files that a browser gave to an import."""
    DraftFiles(ws.config.state).remove_box(_box_of_uploads(session))


def _empty_folder(ws: Workspace, session: Visitor) -> Path:
    remove_uploads(ws, session)
    folder = _folder_of_uploads(ws, session)
    make_state_dir(folder.parent)
    make_dirs(folder, private=True)
    return folder


def _store_files(folder: Path, files: Sequence[UploadFile], times: Sequence[str]) -> None:
    """Writes the files into the folder, with the milliseconds of their last changes."""
    taken: set[str] = set()
    for number, upload in enumerate(files):
        name = Path((upload.filename or "").replace("\\", "/")).name
        path = folder / make_unique_name(name or "file", taken)
        with disk_errors(path):
            descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                shutil.copyfileobj(upload.file, file)
            if len(times) == len(files) and times[number].isdecimal():
                seconds = min(int(times[number]) / 1000, 253_402_300_799)  # the year 9999
                os.utime(path, (seconds, seconds))


def _hash_of_files(folder: Path) -> str:
    """Returns a hash of the names and sizes of the files, and of when they were stored; "" if
    there are none.
    """
    stats = sorted((path.name, path.stat()) for path in folder.glob("*"))
    rows = [(name, stat.st_size, stat.st_ino, stat.st_ctime_ns) for name, stat in stats]
    return sha256(repr(rows).encode()).hexdigest() if rows else ""


def _preview_import(ws: Workspace, *, folder: Path) -> ImportPreview:
    return PLAN_UPLOADS.ask_only(ws, folder).preview


async def _import_files(request: Request, seen: str) -> Response:
    """Imports the files that the person has seen, and redirects with what was done. Raises
    NotFound if they are gone, or are others.
    """
    session = session_of(request)
    folder = await run_verb(request, _folder_of_uploads, session)
    if not seen or await run_in_threadpool(_hash_of_files, folder) != seen:
        raise NotFound(
            translate("The files to import are gone, or others were chosen meanwhile."),
            translate("Choose them again; what was imported is not imported twice."),
        )
    plan = partial(_plan_import, folder=folder)
    planned = await run_slow_verb(request, plan, "slow")
    parts = await run_verb(request, planned.write_in_parts)
    done: Imported | None = None

    def write_part(_: Workspace) -> Imported | None:
        try:
            return next(parts)
        except StopIteration as end:
            result: Imported = end.value
            return result

    while done is None:
        done = await run_verb(request, write_part)
    await run_verb(request, remove_uploads, session)
    session.left_out = done.skipped
    message = translate("Imported: %(entries)s.", entries=format_entry_count(done.entries))
    if done.skipped:
        message += " " + translate("What did not come is named below.")
    days = planned.preview.days
    look = f"/day/{days[-1]}" if days else ""
    offers = offer_undo_of_run(done.run)
    return redirect_with_message(request, "/import", message, offers, look=look)


def _plan_import(ws: Workspace, *, folder: Path) -> PlannedImport:
    return PLAN_UPLOADS.ask_only(ws, folder)


def _describe_states(preview: ImportPreview) -> list[str]:
    """Returns a sentence for each state of records but new ones."""
    counts: Mapping[str, int] = preview.counts
    return [translate(text, n=counts[state]) for state, text in STATES.items() if counts[state]]


def _by_reason(skipped: Pairs) -> list[tuple[str, Texts]]:
    """Returns (reason, places) of what is left out, the most frequent first."""
    places: dict[str, list[str]] = {}
    for where, why in skipped:
        places.setdefault(why, []).append(where)
    rows = [(why, tuple(some)) for why, some in places.items()]
    return sorted(rows, key=lambda row: -len(row[1]))


PAGES = [Page("/import", "writer", _import_page, methods=["GET", "POST"])]

"""The command `book`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ...cli import flags as f
from ...cli.flags import argument, choice_option, text_option
from ...cli.program import command
from ...cli.replies import output_for_workspace, print_answer
from ...errors import InvalidArgument, JournalError, NotFound, match_valid_name
from ...files import file_lock, real_path
from ...journal import disk
from ...journal.names import printable_path
from ...render import terminal
from ...render.fence import one_line
from ...serving.arguments import take_filters
from ...serving.tokens import Tokens
from ...serving.worker import Result, Verb
from ...workspace.workspace import Workspace
from .book import (
    EDGES,
    ORDERS,
    BookStyle,
    Piece,
    Plan,
    Progress,
    Selection,
    book_parts,
    default_title,
    file_name,
    plan_book,
)
from .book_markdown import markdown_pieces, picture_folder_of_book

BOOKS = (".html", ".htm", ".zip", ".md")
OTHER_BOOKS = (".txt", ".pdf", ".epub", ".docx", ".odt")
"""Endings of books, and of others that a person may expect."""
LOST_SHOWN = 5
"""The most pictures that the command names of those that could not be read."""


@command(
    "book",
    argument(str | None, "since", "SINCE", "The first day: 2026, 2026-11, 'last month'."),
    argument(str | None, "until", "UNTIL", "The last day. [default: the end of SINCE]"),
    text_option(
        "to",
        "A new file, or a folder; x.md becomes Markdown. [default: the title, in this folder]",
    ),
    text_option("title", "The title. [default: what the book is about]"),
    choice_option("photos", EDGES, default="large", help="The size of the pictures."),
    choice_option("order", ORDERS, default="oldest", help="Which day comes first."),
    *f.filter_flags("book"),
)
def write_book(
    ws: Workspace,
    photos: str,
    order: str,
    to: str = "",
    title: str = "",
    since: str | None = None,
    until: str | None = None,
    **options: Any,
) -> None:
    """Write entries as a book to print: one HTML file with its pictures, or a zip of both.

    With --to x.md it is one Markdown file with a heading for each entry, and its pictures lie
    in a folder beside it.
    Private passages (<private>...</private>), empty sections and digests of sessions are left
    out, superseded entries are not. Attached files are named, not included. No file is
    overwritten. --tag -private leaves out entries with that tag.

    Example: synaptic book 2026 --title "Our year"
    """
    selection = Selection(
        Tokens(ws.config.home, None).path,
        replace(
            take_filters(ws, {**options, "since": since, "until": until or since}),
            include_superseded=True,
        ),
    )
    style = BookStyle(
        one_line(title) or default_title(selection.filters),
        match_valid_name(EDGES, photos, "photos"),
        match_valid_name(ORDERS, order, "order"),
    )
    ask = partial(_run_on_workspace, ws)
    plan = plan_book(selection, ask)
    if not plan.entries:
        raise NotFound(
            "No entry fits, so there is no book.",
            "`synaptic find` with the same days, tags and projects lists entries.",
        )
    progress = Progress()
    if to.lower().endswith(".md") and not Path(to).expanduser().is_dir():
        path = Path(to).expanduser().absolute()
        _refuse_in_journal(ws, path)
        pieces = markdown_pieces(plan, style, ask, progress, path)
        with _pictures_folder(path) as pictures:
            parts = _reported(_with_pictures(pieces, pictures), plan, progress)
            file = _write_new_file(ws, path, path.name, parts)
    else:
        parts = _reported(book_parts(plan, style, ask, progress), plan, progress)
        file = _write_new_file(ws, Path(to).expanduser(), file_name(plan, style), parts)
    size = file.stat().st_size
    count = terminal.entry_count_text(plan.notes)
    text = f"Wrote {output_for_workspace(ws).full_path(file)}: {count}, {size / 1e6:.1f} MB."
    data = {"success": True, "file": str(file), "entries": plan.notes, "bytes": size}
    lost = list(progress.lost)
    notices = _notices_of_book(plan, style, lost, is_zip=file.suffix == ".zip")
    print_answer(data | {"lost": lost, "notices": notices}, text, notices)


def _refuse_in_journal(ws: Workspace, path: Path) -> None:
    """Raises InvalidArgument for a file in a folder whose notes are read."""
    real = real_path(path.parent)
    for folder in ws.journal.roots.folders.values():
        if real.is_relative_to(real_path(folder)):
            raise InvalidArgument(
                f"{path} lies in {folder}: each of its entries would be there twice.",
                f"Give --to a file elsewhere, such as {Path.home() / path.name}.",
                of=["to"],
            )


@contextmanager
def _pictures_folder(file: Path) -> Iterator[Path]:
    """A new folder for the pictures of a Markdown book, which lies beside it at the end, if it
    has some. Raises JournalError if its place is taken.
    """
    folder = file.with_name(picture_folder_of_book(file))
    for path in (file, folder):
        if os.path.lexists(path):
            raise JournalError(f"{path} is there already.", "Give --to another name.")
    temp = disk.temp_path_of(folder)
    try:
        yield temp
        if temp.is_dir():
            temp.rename(folder)
    finally:
        shutil.rmtree(temp, ignore_errors=True)


def _with_pictures(pieces: Iterator[Piece], folder: Path) -> Iterator[bytes]:
    """Yields the text of each piece, and writes its pictures into the folder."""
    for text, files in pieces:
        for name, data in files.items():
            folder.mkdir(exist_ok=True)
            (folder / Path(name).name).write_bytes(data)
        yield text.encode("utf-8", "replace")


def _run_on_workspace(ws: Workspace, verb: Verb[Result]) -> Result:
    return verb(ws)


def _reported(parts: Iterator[bytes], plan: Plan, progress: Progress) -> Iterator[bytes]:
    """Yields the parts, and shows on the terminal how many entries are done."""
    report = terminal.build_progress_report()
    for part in parts:
        yield part
        report("Entries", progress.done, len(plan.entries))


def _write_new_file(ws: Workspace, to: Path, name: str, parts: Iterable[bytes]) -> Path:
    """Writes the parts into the new file `to`, or into a new file of this `name` in the folder
    `to`, and returns its path. It has its name only once it is whole. Raises InvalidArgument
    for a name of another kind of file.
    """
    if to.suffix.lower() in OTHER_BOOKS:
        raise InvalidArgument(
            f"A book is a page of HTML or a Markdown file, and no {to.suffix} file.",
            "Give --to a name that ends in .html or .md. A browser prints it as PDF.",
            of=["to"],
        )
    if to.is_dir():
        path = _free_path(to / name)
    else:
        stem = to.stem if to.suffix.lower() in BOOKS else to.name
        path = to.with_name(stem + Path(name).suffix)
    path = path.absolute()
    if os.path.lexists(path):
        raise JournalError(f"{path} is there already.", "Give --to another name.")
    if not path.parent.is_dir():
        raise JournalError(
            f"{path} cannot be written: its folder does not exist.",
            "Make the folder first, or give --to a folder that exists.",
        )
    ws.own_journal.prepare()
    temp = disk.temp_path_of(path)
    # two commands at once would write the same temporary file
    with file_lock(ws.config.state / "book.lock"), disk.disk_errors(path):
        temp.unlink(missing_ok=True)
        try:
            with temp.open("xb") as file:
                file.writelines(parts)
                file.flush()
                disk.sync_file(file.fileno())
            disk.inject_fault("book-written")
            disk.give_new_name(temp, path, private=False)
        finally:
            disk.unlink(temp)
        disk.sync_dir(path.parent)
    return path


def _free_path(path: Path) -> Path:
    """Returns the path, or the first `2026-2.html` that is free."""
    number = 1
    free = path
    while os.path.lexists(free):
        number += 1
        free = path.with_stem(f"{path.stem}-{number}")
    return free


def _notices_of_book(
    plan: Plan, style: BookStyle, lost: Sequence[str], *, is_zip: bool
) -> list[str]:
    """Returns sentences about what a person has to know of a new book."""
    notices = []
    if is_zip:
        size = plan.estimated_bytes(style.photos) / 1e6
        notices.append(
            f"It is a zip, because the page alone would take about {size:,.0f} MB: unpack it, "
            "and open the page in it with a browser. `--photos small` makes it smaller."
        )
    if lost:
        names = ", ".join(map(printable_path, lost[:LOST_SHOWN]))
        more = ", ..." if lost[LOST_SHOWN:] else ""
        notices.append(
            f"Pictures that are missing or cannot be read: {len(lost):,} ({names}{more})."
        )
    return notices

"""Begins the note of a day by the template that the vault names for that, in Obsidian's daily
notes or Logseq's default templates.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import PurePosixPath
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from ...files import read_regular_file
from ...journal.folder import is_logseq_graph, is_note
from ...journal.obsidian import obsidian_setting
from ...journal.repository import SMALL_BYTES
from ...journal.writer import Draft, Stat
from ...language.timephrase.typed import split_date
from ...notes.moment import DateNames
from ...verbs.receipts import index_now, logged
from ...verbs.saving import parse_moment
from ...workspace.workspace import Workspace
from .day_texts import date_names
from .filling import fill_in, find_templates, paths_of_templates, text_of_note
from .site import Page, read_form, redirect_with_message, run_verb
from .translation import translate

_OF_JOURNALS = re.compile(r'(?m)^[^;\n]*:default-templates\s*\{[^}]*?:journals\s+"([^"\n]+)"')


def named_template(ws: Workspace) -> str:
    """The name of the template of a new daily note in the vault's own settings; "" without."""
    vault = ws.journal.root
    named = obsidian_setting(vault / ".obsidian" / "daily-notes.json", "template")
    if not named and is_logseq_graph(vault):
        with suppress(OSError):
            config = read_regular_file(vault / "logseq" / "config.edn", SMALL_BYTES)
            setting = _OF_JOURNALS.search(config.decode("utf-8", "replace"))
            named = setting[1] if setting else ""
    return named


def path_to_begin(ws: Workspace, at: datetime) -> str:
    """The path of the note of a day that is not there yet and that the vault has a template
    for; else "".
    """
    path = ws.journal.path_of_day(at)
    begins = not ws.journal.place(path).exists() and named_template(ws)
    return path if begins else ""


def _read_daily_template(ws: Workspace, title: str) -> str:
    """The text of the template, not filled in yet, with its front matter; "" if it may not be
    inserted. A graph's template is blocks: a heading stands above them.
    """
    named = named_template(ws)
    path = named if is_note(named) else f"{named}.md"
    if path in paths_of_templates(ws).values() or ws.journal.stamp(path):
        return text_of_note(ws, path)
    text = find_templates(ws).get(named, str)()
    return f"# {title}\n\n{text}" if text else ""


@logged("begin a day")
def begin_day(ws: Workspace, at: datetime, names: DateNames) -> str:
    """Writes the note of a day that is not there yet by the vault's template, with the date of
    the day and the time of `at`; returns its path, or "" where nothing was begun.
    """
    path = path_to_begin(ws, at)
    title = PurePosixPath(path).stem
    text = _read_daily_template(ws, title) if path else ""
    filled = fill_in(ws, text, title, at, names).strip("\n")
    if not filled or not ws.journal.parse(path, filled.encode()).entries:
        return ""

    def begin(_: bytes, status: Stat) -> Draft | None:
        return None if status else Draft(f"{filled}\n".encode())

    with ws.own_journal.writing():
        draft = ws.own_journal.writer.change(path, begin)
    index_now(ws, path)
    return path if draft else ""


def begin_day_of_text(ws: Workspace, text: str, moment: str) -> None:
    """Begins the note of the day to which a new text will be saved: that of `moment`, or that
    its first words name, or today.
    """
    dated = None if moment else split_date(text, ws.clock())
    at = dated.moment if dated and not dated.is_ahead else moment or None
    begin_day(ws, parse_moment(at, ws.clock()), date_names())


async def _begin_day_page(request: Request) -> Response:
    """Begins the note of a day, and redirects to the form that edits it."""
    await read_form(request)
    day = request.path_params["date"]

    def begin(ws: Workspace) -> tuple[str, str]:
        at = parse_moment(day, ws.clock())
        with ws.own_journal.doing("begin a day") as deed:
            begun = begin_day(ws, at, date_names())
        return begun or ws.journal.path_of_day(at), deed.run if begun else ""

    path, run = await run_verb(request, begin)
    message = (
        translate("Begun as your template says.") if run else translate("It is there already.")
    )
    return redirect_with_message(
        request, f"/edit?{urlencode({'path': path})}", message, moved=run
    )


PAGES: Sequence[Page] = [Page("/day/{date}/begin", "writer", _begin_day_page, methods=["POST"])]

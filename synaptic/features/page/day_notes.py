"""Begins the note of a day by the template that the vault names for that, in Obsidian's daily
notes or Logseq's default templates.
"""

import re
from contextlib import suppress
from datetime import datetime
from pathlib import PurePosixPath

from ...files import read_regular_file
from ...journal.changelog import make_record
from ...journal.folder import is_logseq_graph, is_note
from ...journal.obsidian import obsidian_setting
from ...journal.repository import SMALL_BYTES
from ...journal.text import block_to_append
from ...journal.trash import file_hash
from ...journal.writer import Draft, Stat
from ...verbs.receipts import logged
from ...workspace.workspace import Workspace
from .filling import fill_in, find_templates, paths_of_templates, text_of_note

BEGIN = "begin a day"
"""The verb of a run that only begins a day."""
_OF_JOURNALS = re.compile(r'(?m)^[^;\n]*:default-templates\s*\{[^}]*?:journals\s+"([^"\n]+)"')
_PROBE = b"## 12:00 Probe\n\nprobe\n"
"""An entry that has to be read below a template."""


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
    if not named_template(ws):
        return ""
    path = ws.journal.path_of_day(at)
    return "" if ws.journal.place(path).exists() else path


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


def _hides_next_entry(ws: Workspace, path: str, data: bytes) -> bool:
    """True if an entry below this text would be no entry, as in a code fence that is open."""
    with_entry = data + block_to_append(path, _PROBE, data)
    probe = ws.journal.parse(path, with_entry).entries[-1:]
    return [(entry.title, entry.content) for entry in probe] != [("Probe", "probe")]


@logged(BEGIN)
def begin_by_template(ws: Workspace, at: datetime) -> str:
    """Writes the note of a day that is not there yet by the vault's template, with the date of
    the day and the time of `at`; returns its path, or "" where nothing was begun.

    Within the run of a save, the undo of that run leaves the text of the template where
    something else stands in the file by then, as it leaves a heading.
    """
    path = path_to_begin(ws, at)
    title = PurePosixPath(path).stem
    text = _read_daily_template(ws, title) if path else ""
    data = fill_in(ws, text, title, at).strip("\n").encode() + b"\n"
    if not data.strip() or _hides_next_entry(ws, path, data):
        return ""

    def begin(_: bytes, status: Stat) -> Draft | None:
        return None if status else Draft(data)

    journal = ws.own_journal
    deed = journal.writer.deed
    assert deed
    with journal.writing():
        if deed.verb == BEGIN:
            return path if journal.writer.change(path, begin) else ""
        with journal.writer.unlogged():
            draft = journal.writer.change(path, begin)
        if draft:
            record = make_record(deed, journal.clock(), path, now=file_hash(data))
            journal.log.append(record, sync=False)
    return path if draft else ""

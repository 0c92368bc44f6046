"""Counts the work of a call, so that a test need not measure time: statements of SQLite and the
steps that its virtual machine takes for each, and files that are opened, listed and looked at.
"""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import apsw
import pytest

from synaptic import Workspace

_SCANS = re.compile(r"SCAN (\w+)(?! USING| VIRTUAL)")
_ALIASES = re.compile(r"\b(?:FROM|JOIN) (?:entry|chunk) (?:AS )?(\w+)()")
_OF_A_MODULE = re.compile(r"""['"]main['"]\.|fts5\(""")
"""In statements that FTS5 and vec0 run for ours."""
_VALUES = re.compile(r"\?\d*|(?<=[ (]):[a-z]+\b")
_WATCHED: list[Work] = []
_AUDITED = {"open": "opened", "os.scandir": "listed", "os.listdir": "listed"}


class Work:
    """The work of one call. `steps` and `statements` are by the text of a statement, `files` by
    `opened`, `listed`, `synced`, and `looked at`: those within one folder, for above it there are more
    folders on one machine than on another. SQLite's own do not count.
    """

    def __init__(self) -> None:
        self.steps = Counter[str]()
        self.statements = Counter[str]()
        self.files = Counter[str]()

    def note_statement(self, event: dict[str, Any]) -> None:
        """Takes what SQLite says of a statement that ended; those of its own tables, and of
        triggers, are part of that which caused them.
        """
        if "stmt_status" in event and not event.get("trigger"):
            text = " ".join(event["sql"].split())
            if not _OF_A_MODULE.search(text):
                self.statements[text] += 1
            self.steps[text] += event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"]


@contextmanager
def counted(ws: Workspace, within: Path) -> Iterator[Work]:
    """The work that is done in the block, and looks at files within a folder; the index is open
    before it begins.
    """
    _listen()
    work = Work()
    db = ws.index.file.db
    db.trace_v2(apsw.SQLITE_TRACE_PROFILE, work.note_statement, id=work)
    _WATCHED.append(work)
    try:
        with pytest.MonkeyPatch.context() as patch:
            for name in ("stat", "lstat"):
                count = _counting(getattr(os, name), work, str(within))
                patch.setattr(os, name, count)
            patch.setattr(os, "fsync", _counting(os.fsync, work, "", "synced"))
            yield work
    finally:
        _WATCHED.remove(work)
        with suppress(apsw.ConnectionClosedError):
            db.trace_v2(0, None, id=work)


def scans_entries(ws: Workspace, statement: str) -> bool:
    """True if a statement reads the table of entries, or of passages, from end to end."""
    bare = _VALUES.sub("NULL", statement)
    try:
        plan = ws.index.file.db.execute(f"EXPLAIN QUERY PLAN {bare}").fetchall()
    except apsw.SQLError:  # a pragma, or the end of a transaction
        return False
    aliases = dict(_ALIASES.findall(statement))
    scanned = {name for *_, detail in plan for name in _SCANS.findall(detail)}
    return not scanned.isdisjoint({"entry", "chunk", *aliases})


def _counting(function: Any, work: Work, within: str, what: str = "looked at") -> Any:
    def count(path: Any, *args: Any, **kwargs: Any) -> Any:
        if str(path).startswith(within):
            work.files[what] += 1
        return function(path, *args, **kwargs)

    return count


def _hear(event: str, _: tuple[Any, ...]) -> None:
    if _WATCHED and event in _AUDITED:
        for work in _WATCHED:
            work.files[_AUDITED[event]] += 1


@cache
def _listen() -> None:
    """Begins to hear of files. The hook stays for the process, and does nothing while nobody
    counts.
    """
    sys.addaudithook(_hear)

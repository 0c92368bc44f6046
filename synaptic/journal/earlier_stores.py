"""Moves what earlier versions kept for their undo into the log of changes, once.

| the file of an earlier version | what it took back                                    |
|--------------------------------|------------------------------------------------------|
| `ticks.json`                   | the last ticks; of each, pieces of the lines before  |
| `settled.json`                 | the last choices in conflicts; whole files before    |
| `renames/NAME`                 | done renames; the pieces that each replaced          |

A version before this one that uses the home afterwards finds none of them: it says that nothing
is left to take back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from hashlib import blake2b
from typing import Any

from ..errors import Busy, JournalError, SynapticError
from ..notes.blocks import LINE_ENDS, bytes_of_text
from . import disk
from .changelog import (
    Actor,
    Deed,
    FileChange,
    hash_or_none,
    make_record,
    new_run_name,
    record_of_change,
)
from .journal import EARLIER_FILES, Journal
from .renames import describe_edits, record_of_edit
from .runs import Run

_TICKS, _SETTLED = EARLIER_FILES
_OF_EARLIER = Actor(by="an earlier version")
_TASK = re.compile(rb"(?:\[[ xX/]\]|TODO|DONE)[ \t]+([^\r\n]*)")


def move_earlier_stores(journal: Journal) -> None:
    """Moves the earlier stores of a home into its log, unless another process is writing. What
    can no longer be taken back is left out.
    """
    with suppress(Busy, JournalError), journal.writer.locked(0):
        _move(journal)


def _move(journal: Journal) -> None:
    names = journal.renames.newest_first()
    records = [*_settled(journal), *_ticks(journal)]
    for name in reversed(names):
        with suppress(SynapticError):  # a damaged one could not be taken back
            records += _renamed(journal, journal.renames.get(name))
    for record in sorted(records, key=lambda record: record.at):
        journal.log.append(record, sync=True)
    for file in (_TICKS, _SETTLED):
        disk.unlink(journal.state / file)
    for name in names:
        journal.renames.drop(name)


def _settled(journal: Journal) -> Iterator[FileChange]:
    for key, answer in disk.read_state_json(journal.state / _SETTLED).items():
        with suppress(KeyError, TypeError, AttributeError):
            path = answer["path"]
            data = journal.read_all([path]).get(path)
            if hash_or_none(data) == answer["after"]:
                before = bytes_of_text(answer["before"])
                deed = Deed(new_run_name(), "settle", key, _OF_EARLIER)
                yield record_of_change(deed, journal.clock(), path, before, data)


def _ticks(journal: Journal) -> Iterator[FileChange]:
    for tick in disk.read_state_json(journal.state / _TICKS).values():
        with suppress(KeyError, TypeError, ValueError):
            path = tick["path"]
            data = journal.read_all([path]).get(path, b"")
            start, lines = _lines_before_tick(data, tick)
            before = data[:start] + lines + data[start + tick["length"] :]
            task = _TASK.search(lines)
            text = task[1].decode("utf-8", "replace").strip() if task else ""
            deed = Deed(tick["key"], "tick", text, _OF_EARLIER)
            yield record_of_change(deed, journal.clock(), path, before, data)


def _lines_before_tick(data: bytes, tick: Mapping[str, Any]) -> tuple[int, bytes]:
    """The offset of the lines of a tick, and their bytes before it. Raises ValueError where
    they do not stand any more.
    """
    starts = [tick["start"], *(match.end() for match in LINE_ENDS.finditer(data)), 0]
    length = tick["length"]
    for start in starts:
        lines = data[start : start + length]
        if blake2b(lines, digest_size=16).hexdigest() == tick["hash"]:
            pieces = [
                bytes.fromhex(piece) if isinstance(piece, str) else lines[slice(*piece)]
                for piece in tick["pieces"]
            ]
            return start, b"".join(pieces)
    raise ValueError("The lines of the tick were changed since.")


def _renamed(journal: Journal, run: Run) -> Sequence[FileChange]:
    kind, _, time = run.name.partition("-")
    moment = journal.clock()
    with suppress(ValueError):
        moment = datetime.strptime(time[:15], "%Y%m%d-%H%M%S").astimezone()
    deed = Deed(run.name, kind, describe_edits(run.edits), _OF_EARLIER)
    records = []
    for edit in run.edits:
        if edit.before != edit.after:
            records.append(record_of_edit(deed, moment, edit))
        if edit.path != edit.to:
            records.append(make_record(deed, moment, edit.path, to=edit.to))
    if run.ids or run.folders:
        about = make_record(deed, moment, "", ids=dict(run.ids), folders=tuple(run.folders))
        records.append(about)
    return records

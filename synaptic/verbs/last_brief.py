"""Remembers which entries the last briefing of a project showed, for a start at which the new
one is late.

A file of `.state/briefings/` is JSON: `at`, the name of the `project`, and (path, id) of the
entries in each part of the briefing. No text is kept: the entries are read from the journal
again, so one that was deleted since, made private or settled is not shown.
"""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from hashlib import blake2b
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from ..config import Config
from ..errors import SynapticError
from ..journal.disk import make_dirs, overwrite, read_state_json, unlink
from ..journal.journal_files import JournalFiles
from ..journal.repository import repository_of_checkout
from ..kinds import is_over
from ..models import Entry
from ..notes.blocks import project_key
from ..workspace.checkout import checkout_around, working_project
from .brief import Briefing, BriefingShelf

FOLDER = "briefings"
MOST_REMEMBERED = 100
"""Briefings that are remembered; the oldest go."""
SHELF = 40
"""The most entries of a shelf that are remembered; a briefing shows fewer."""

Places = Sequence[tuple[str, str]]
"""(path, id) of entries."""


class LastBriefing(NamedTuple):
    """The entries of an earlier briefing as they stand in the journal now."""

    at: datetime
    project: str
    pinned: tuple[Entry, ...]
    handoff: Entry | None
    session: Entry | None
    shelves: tuple[BriefingShelf, ...]


def keep_briefing(config: Config, folder: Path, briefing: Briefing, at: datetime) -> None:
    """Remembers the entries of a briefing for this folder. A home that cannot be written
    remembers none.
    """
    values = {
        "at": at.isoformat(timespec="seconds"),
        "project": briefing.project,
        "pinned": _places(briefing.pinned),
        "handoff": _places(filter(None, [briefing.handoff])),
        "session": _places(filter(None, [briefing.session])),
        "shelves": {shelf.name: _places(shelf.entries) for shelf in briefing.shelves},
    }
    file = _file_of(config, folder)
    with suppress(OSError):
        make_dirs(file.parent, private=True)
        overwrite(file, json.dumps(values).encode(), sync=False)
        _remove_oldest(file.parent)


def _places(entries: Iterable[Entry]) -> Places:
    return [(entry.path, entry.id) for entry in islice(entries, SHELF)]


def _remove_oldest(folder: Path) -> None:
    files = sorted(folder.iterdir(), key=lambda file: file.stat().st_mtime)
    for file in files[:-MOST_REMEMBERED]:
        unlink(file)


def _file_of(config: Config, folder: Path) -> Path:
    """The file of the last briefing of a folder: its name is a hash of all by which this home
    knows the repository, so that no other one gets the briefing.
    """
    here = checkout_around(folder, config)
    identity = repository_of_checkout(here) if here else (os.path.realpath(folder),)
    known_by = (working_project(config, here), *identity)
    name = blake2b(repr(known_by).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return config.state / FOLDER / f"{name}.json"


def last_briefing(config: Config, folder: Path, today: date) -> LastBriefing | None:
    """Returns the last briefing of this folder without preferences, whose force the index must
    tell, and without tasks; None where there is none, or none of its entries is left.
    """
    values = read_state_json(_file_of(config, folder))
    try:
        at = datetime.fromisoformat(values["at"])
        parts = {"pinned": values["pinned"], "handoff": values["handoff"]}
        parts["session"] = values["session"]
        shelves: Mapping[str, Places] = values["shelves"]
        project = str(values["project"])
        entries = _read_entries(config, [*parts.values(), *shelves.values()], project, today)
    except (
        AttributeError,
        KeyError,
        TypeError,
        ValueError,
    ):  # another version wrote it, or a disk tore it
        return None
    if not entries:
        return None

    def read(places: Any) -> tuple[Entry, ...]:
        return tuple(entries[id] for _, id in places if id in entries)

    return LastBriefing(
        at=at,
        project=project,
        pinned=read(parts["pinned"]),
        handoff=next(iter(read(parts["handoff"])), None),
        session=next(iter(read(parts["session"])), None),
        shelves=tuple(
            BriefingShelf(name, read(places), more=True) for name, places in shelves.items()
        ),
    )


def _read_entries(
    config: Config, places: Sequence[Places], project: str, today: date
) -> dict[str, Entry]:
    """Maps ids to the entries at these places that belong to the project, or to none, and are
    not over.
    """
    journal = JournalFiles(config)
    wanted: dict[str, set[str]] = {}
    for path, id in chain.from_iterable(places):
        wanted.setdefault(path, set()).add(id)
    entries = {}
    for path, ids in wanted.items():
        for entry in _entries_of_file(journal, path):
            is_ours = project_key(entry.project or "") in ("", project_key(project))
            is_shown = entry.type != "preference" and not is_over(entry, today.isoformat())
            if entry.id in ids and is_ours and is_shown:
                entries[entry.id] = entry
    replaced = set(chain.from_iterable(entry.supersedes for entry in entries.values()))
    return {id: entry for id, entry in entries.items() if id not in replaced}


def _entries_of_file(journal: JournalFiles, path: str) -> Sequence[Entry]:
    """The entries of a file of the journal; none where it is gone or no longer read."""
    with suppress(SynapticError):
        stamp = journal.stamp(path)
        if stamp:
            return journal.parse(path, journal.read(path), stamp.mtime_ns).entries
    return ()

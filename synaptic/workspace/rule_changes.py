"""Notes what a person, an agent and a rename do to preferences that are there already."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..journal.disk import PREFERENCES as LOG
from ..journal.disk import disk_errors
from ..journal.machine import mark_row
from .preferences import (
    Log,
    append_rules,
    check_not_in_force,
    hash_of_rule,
    is_same_rule,
    make_kept_row,
    make_log_row,
    read_all_preferences,
    read_consents,
    read_log,
)

if TYPE_CHECKING:
    from ..models import Entry
    from .workspace import Workspace


def end_confirmation(state: Path, id: str, entry: Entry | None = None) -> None:
    """Ends the confirmation of this id, because its text `entry` leaves its file. Raises
    OSError.
    """
    append_rules(state, *_rows_of_end(read_log(state), id, entry))


def decline(state: Path, id: str, entry: Entry) -> None:
    """Notes that a person does not want this text in force, now or again by an undo, and is not
    asked about it any more. Raises OSError.
    """
    append_rules(state, make_log_row("no", id, entry))


def _rows_of_end(log: Log, id: str, entry: Entry | None) -> list[dict[str, str]]:
    rows = []
    if id in log.confirmed:
        rows.append({"word": "over", "id": id, "rule": log.confirmed[id].rule})
    if entry and (id, hash_of_rule(entry)) in log.restorable:
        rows.append(make_log_row("lapsed", id, entry))
    return rows


def note_named(state: Path, entries: Iterable[Entry]) -> None:
    """Notes that a terminal named these, with their own ids, to a person. Raises OSError."""
    append_rules(state, *(make_log_row("named", entry.id, entry) for entry in entries))


def rows_of_changed_rules(
    ws: Workspace, changed: Iterable[tuple[Entry, Entry]]
) -> tuple[dict[str, str], ...]:
    """The rows by which each entry keeps what it was, when it is changed by a rename: in force,
    or saved here by an agent. `changed` are entries before and after, with their own ids.
    """
    log = read_log(ws.config.state)
    rows = []
    for before, after in changed:
        rule = hash_of_rule(before)
        consent = log.consent(before.id, rule)
        file = str(ws.journal.place(after.there.path))
        if consent.word == "yes" and log.confirmed[before.id].file != file:
            rows.append({"word": "over", "id": before.id, "rule": rule})
        elif is_same_rule(before, after):
            continue
        if consent.word == "yes":
            rows.append(make_kept_row(ws, after.there.path, before, after))
        elif consent.word == "said":
            rows.append(make_log_row("said", after.id, after, by=consent.by))
    with disk_errors(ws.config.state, "used"):
        return tuple(mark_row(LOG, log_row) for log_row in rows)


def check_may_change(state: Path, id: str, entry: Entry | None) -> None:
    """Checks that somebody who may not confirm preferences may change the entry `id` (`entry`
    is None if it is in no file), and ends an older confirmation of this id.

    It is asked under the write lock, before the file is changed: a crash leaves a rule waiting.
    Raises Refused for a rule in force, and OSError.
    """
    log = read_log(state)
    if entry:
        check_not_in_force(log, id, entry)
    append_rules(state, *_rows_of_end(log, id, entry))


def waiting_preferences(ws: Workspace) -> tuple[Entry, ...]:
    """The preferences that wait for a person's answer, whole and marked, the newest first; not
    those to which a person said no.
    """
    entries = read_all_preferences(ws)
    declined = read_log(ws.config.state).declined
    own_ids = ws.index.own_ids([entry.id for entry in entries])
    waiting = []
    for entry, consent in zip(entries, read_consents(ws, entries), strict=True):
        is_declined = (own_ids[entry.id], hash_of_rule(entry)) in declined
        if consent.word != "yes" and not is_declined:
            waiting.append(replace(entry, marks=(consent.mark,)))
    return tuple(waiting)

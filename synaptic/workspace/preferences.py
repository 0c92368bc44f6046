"""Keeps the log of preferences in force: those that a person confirmed on this machine.

Anybody may write a preference into a file that is pulled, synced or imported, and nobody can
prove of a file that it is not from elsewhere. So only `.state/preferences.log` decides, in
which the program notes the deeds of a person. Each line is JSON, on the entry `id` and the
hash `rule` of all that it says:

| word    | meaning                                                                       |
|---------|-------------------------------------------------------------------------------|
| `yes`   | a person saved or confirmed it; it stands in the file `place`                 |
| `over`  | that ended: a verb changed it, or its file was read and no longer says it     |
| `said`  | the agent `by` saved it here, in the project at hand; or only its end changed |
| `named` | a terminal has named it to a person                                           |
| `typed` | an older program had it in force, because it was typed                        |

Of an id the last `yes` counts, until a row `over` with the same hash. A file that is missing
ends nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..errors import Refused
from ..journal.disk import PREFERENCES as LOG
from ..journal.disk import append_json_lines
from ..notes.blocks import project_key

if TYPE_CHECKING:
    from ..models import Entry
    from .access import Word
    from .workspace import Workspace

CHANGED_END = "another, who changed when it ends or what it replaces"
"""Stands for the author of a text that was in force, and of which only the end, or what it
replaces, was changed.
"""


class Consent(NamedTuple):
    """`yes`: in force, in a published journal by the word of `by`. `said`: the agent `by` saved
    it here, in the project at hand. `waits`: no briefing shows it.
    """

    word: Word = "waits"
    by: str = ""

    @property
    def mark(self) -> str:
        """Returns how lists mark it; empty for one that a person confirmed here."""
        if self.word == "yes":
            return f"confirmed by {self.by}" if self.by else ""
        return f"unconfirmed, by {self.by}" if self.by else "unconfirmed"


class Confirmation(NamedTuple):
    """The latest yes to an entry: the hash of its `rule`, that of the rule without its end, and
    the file, an absolute path.
    """

    rule: str
    endless: str
    place: str


class Log(NamedTuple):
    """The state of `.state/preferences.log`: confirmations by id; by id and hash the agents who
    saved a rule, and the word `named` or `typed`. `older` is what an older program wrote, until
    it is taken over: (word, by) by id and its hash.
    """

    confirmed: dict[str, Confirmation]
    saved_by: dict[tuple[str, str], str]
    named: dict[tuple[str, str], str]
    older: dict[tuple[str, str], tuple[str, str]]

    def consent(self, id: str, rule: str) -> Consent:
        confirmation = self.confirmed.get(id)
        if confirmation and confirmation.rule == rule:
            return Consent("yes")
        by = self.saved_by.get((id, rule))
        return Consent("said", by) if by else Consent()


def hash_of_rule(entry: Entry) -> str:
    """Returns the hash of the parts of a preference that a confirmation covers: title, text,
    type, project, pin, expiry, and the entries that it replaces.
    """
    reach = entry.type, entry.project, entry.pin
    return hash_of_text(entry.title, entry.content, *reach, entry.expires, entry.supersedes)


def hash_of_text(
    title: str,
    content: str,
    type: str,
    project: str | None,
    pin: bool,
    expires: str | None = None,
    supersedes: Iterable[str] = (),
) -> str:
    """The hash by which a confirmed rule is known again, of a text that is not saved yet."""
    reach = type, project_key(project or ""), pin
    return _hash_parts((title, content, reach, expires or None, sorted(set(supersedes))))


def _hash_without_end(entry: Entry) -> str:
    return hash_of_text(entry.title, entry.content, entry.type, entry.project, entry.pin)


def _hash_parts(parts: object) -> str:
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()


def read_log(state: Path) -> Log:
    """The state of the log; of one that cannot be read nothing is in force."""
    log = Log({}, {}, {}, {})
    lines: list[str] = []
    with suppress(OSError):
        lines = (state / LOG).read_text("utf-8", "replace").splitlines()
    for line in lines:
        with suppress(ValueError, KeyError):  # torn by a crash
            row = json.loads(line)
            if isinstance(row, dict):
                _apply_row(log, {name: str(value) for name, value in row.items()})
    return log


def _apply_row(log: Log, row: Mapping[str, str]) -> None:
    """Takes one row into the state. Raises KeyError if the row is not one of these."""
    if "format" in row:
        log.older.clear()
        return
    if "hash" in row:
        log.older[row["id"], row["hash"]] = row["word"], row["by"]
        return
    key = id, rule = row["id"], row["rule"]
    word = row["word"]
    confirmation = log.confirmed.get(id)
    if word == "yes":
        log.confirmed[id] = Confirmation(rule, row["endless"], row["place"])
    elif word == "over":
        log.saved_by.pop(key, None)
        if confirmation and confirmation.rule == rule:
            del log.confirmed[id]
    elif word == "said":
        log.saved_by[key] = row["by"]
    else:
        log.named[key] = word


def _log_row(word: str, id: str, entry: Entry, **more: str) -> dict[str, str]:
    return {"word": word, "id": id, "rule": hash_of_rule(entry), **more}


def _confirmation_row(ws: Workspace, path: str, entry: Entry) -> dict[str, str]:
    place = str(ws.journal.place(path))
    return _log_row("yes", entry.id, entry, endless=_hash_without_end(entry), place=place)


def _append_rows(state: Path, *rows: Mapping[str, str]) -> None:
    """Adds these rows in one write. Raises OSError."""
    append_json_lines(state / LOG, rows)


# -- what a person does


def put_in_force(ws: Workspace, path: str, entry: Entry) -> None:
    """Puts this text into force, whose own id in its file is `entry.id`. Raises OSError."""
    _append_rows(ws.config.state, _confirmation_row(ws, path, entry))


def end_confirmation(state: Path, id: str, rule: str = "") -> None:
    """Ends the confirmation of this id, and forgets who saved this rule. Raises OSError."""
    confirmation = read_log(state).confirmed.get(id)
    rules = {rule, confirmation.rule if confirmation else ""} - {""}
    _append_rows(state, *({"word": "over", "id": id, "rule": one} for one in sorted(rules)))


def note_named(state: Path, entries: Iterable[Entry]) -> None:
    """Notes that a terminal named these, with their own ids, to a person. Raises OSError."""
    _append_rows(state, *(_log_row("named", entry.id, entry) for entry in entries))


def rows_of_changed_rules(
    ws: Workspace, changed: Iterable[tuple[Entry, Entry]]
) -> tuple[dict[str, str], ...]:
    """The rows by which each entry keeps what it was, when it is changed by a rename: in force,
    or saved here by an agent. `changed` are entries before and after, with their own ids.
    """
    log = read_migrated_log(ws)
    rows = []
    for before, after in changed:
        rule = hash_of_rule(before)
        consent = log.consent(before.id, rule)
        place = str(ws.journal.place(after.there.path))
        if consent.word == "yes" and log.confirmed[before.id].place != place:
            rows.append({"word": "over", "id": before.id, "rule": rule})
        elif (before.id, rule) == (after.id, hash_of_rule(after)):
            continue
        if consent.word == "yes":
            rows.append(_confirmation_row(ws, after.there.path, after))
        elif consent.word == "said":
            rows.append(_log_row("said", after.id, after, by=consent.by))
    return tuple(rows)


# -- what others do


def note_saved(ws: Workspace, entry: Entry, by: str) -> None:
    """Notes that this agent saved the text, in the project at hand. Raises OSError."""
    _append_rows(ws.config.state, _log_row("said", entry.id, entry, by=by))


def check_may_change(state: Path, id: str, entry: Entry | None) -> None:
    """Checks that somebody who may not confirm preferences may change the entry `id` (`entry`
    is None if it is in no file), and ends an older confirmation of this id.

    It is asked under the write lock, before the file is changed: a crash leaves a rule waiting.
    Raises Refused for a rule in force, and OSError.
    """
    log = read_log(state)
    if entry:
        check_not_in_force(log, id, entry)
    if id in log.confirmed:
        _append_rows(state, {"word": "over", "id": id, "rule": log.confirmed[id].rule})


def check_not_in_force(log: Log, id: str, entry: Entry) -> None:
    """Raises Refused for a rule in force, of this own id."""
    if log.consent(id, hash_of_rule(entry)).word == "yes":
        short = entry.short_id
        raise Refused(
            f"The user confirmed the preference {short}: only the user changes, replaces or "
            f"deletes it.",
            f"Ask them: `synaptic update {short}` and `synaptic delete {short}` work on a "
            f"terminal of their own, and so does the page.",
        )


def end_vanished_confirmations(
    ws: Workspace, log: Log, path: str, entries: Iterable[Entry]
) -> None:
    """Ends the confirmations of preferences whose text the file `path`, just read, no longer
    has. `log` was read before the file. A copy in another file ends nothing while the confirmed
    file exists.
    """
    if not log.confirmed:
        return
    place = str(ws.journal.place(path))
    here = {entry.id: entry for entry in entries}
    rows = []
    for id, confirmation in log.confirmed.items():
        entry = here.get(id)
        stood_here = confirmation.place == place
        if not stood_here and (not entry or os.path.lexists(confirmation.place)):
            continue
        if entry and hash_of_rule(entry) == confirmation.rule:
            continue
        rows.append({"word": "over", "id": id, "rule": confirmation.rule})
        if entry and _hash_without_end(entry) == confirmation.endless:
            rows.append(_log_row("said", id, entry, by=CHANGED_END))
    with suppress(OSError):  # it says something else, so it is not in force
        _append_rows(ws.config.state, *rows)


# -- what is in force


def read_consents(ws: Workspace, entries: Sequence[Entry]) -> list[Consent]:
    """For each of these preferences, read as whole entries, whether it is in force, by whom, or
    waits for a person; in the same order.

    A rule counts by the id that its file gives it, also where another file took that id over.
    """
    if not entries:
        return []
    verdicts = ws.access.published_verdicts(entries)
    if verdicts is not None:
        return [Consent(word, by) for word, by in verdicts]
    log = read_migrated_log(ws)
    own_ids = ws.index.own_ids([entry.id for entry in entries])
    places = {path: str(ws.journal.place(path)) for path in {e.there.path for e in entries}}
    consents = []
    moved = []
    for entry in entries:
        id = own_ids[entry.id]
        consent = log.consent(id, hash_of_rule(entry))
        consents.append(consent)
        if consent.word != "yes":
            continue
        path = entry.there.path
        place = log.confirmed[id].place
        if place != places[path] and not os.path.lexists(place):
            moved.append(_confirmation_row(ws, path, replace(entry, id=id)))
    if moved and not ws.access.is_past:
        with suppress(OSError):  # a home that cannot be written can be read
            _append_rows(ws.config.state, *moved)
    return consents


def read_migrated_log(ws: Workspace) -> Log:
    """Reads the log of preferences and converts rows of an older version: its confirmation of
    an entry that a program saved stays valid, one of a typed entry waits for a person.
    """
    log = read_log(ws.config.state)
    if not log.older or ws.access.is_past:
        return log
    rows: list[Mapping[str, str]] = []
    entries = read_all_preferences(ws)
    own_ids = ws.index.own_ids([entry.id for entry in entries])
    for stored in entries:
        entry = replace(stored, id=own_ids[stored.id])
        word, by = log.older.get((entry.id, _hash_of_older_program(entry)), ("", ""))
        if word == "yes" and entry.by:
            rows.append(_confirmation_row(ws, entry.there.path, entry))
        elif word == "yes":
            rows.append(_log_row("typed", entry.id, entry))
        elif word == "said":
            rows.append(_log_row("said", entry.id, entry, by=by))
    rows.append({"format": "2"})
    with suppress(OSError):
        _append_rows(ws.config.state, *rows)
    for row in rows:
        _apply_row(log, row)
    return log


def _hash_of_older_program(entry: Entry) -> str:
    reach = project_key(entry.project or ""), entry.pin, entry.expires
    return _hash_parts((entry.title, entry.content, reach, sorted(set(entry.supersedes))))


def read_all_preferences(ws: Workspace) -> list[Entry]:
    """All preferences, whole, the newest first."""
    from ..filters import Filters  # hooks that only read the log need none of it
    from .readback import read_entries

    every = Filters(types=("preference",), include_superseded=True)
    rows = ws.index.list_entries(every, order="newest", limit=-1)[1]
    return list(read_entries(ws, rows).values())


def waiting_preferences(ws: Workspace) -> tuple[Entry, ...]:
    """The preferences that wait for a person, whole and marked, the newest first."""
    entries = read_all_preferences(ws)
    waiting = []
    for entry, consent in zip(entries, read_consents(ws, entries), strict=True):
        if consent.word != "yes":
            waiting.append(replace(entry, marks=(consent.mark,)))
    return tuple(waiting)

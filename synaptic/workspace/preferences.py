"""Keeps the log of preferences in force: those that a person confirmed on this machine.

Anybody may write a preference into a file that is pulled, synced or imported, and nobody can
prove of a file that it is not from elsewhere. So only `.state/preferences.log` decides, in
which the program notes the deeds of a person, and of it only rows with this machine's mark.
Each line is JSON, on the entry `id` and the hash `rule` of all that it says:

| word     | meaning                                                                        |
|----------|--------------------------------------------------------------------------------|
| `yes`    | a person saved or confirmed it; it stands in the file `place`. With `of`, the  |
|          | text `of` of the entry `was` became this one, and stays what it was            |
| `over`   | that ended: a verb changed it, or its file was read and no longer says it      |
| `no`     | a person took it out of force, or answered no: they are not asked again        |
| `lapsed` | it stood in a file and was not in force: no undo brings it into force          |
| `said`   | the agent `by` saved it here, in the project at hand; or only its end changed  |
| `named`  | a terminal has named it to a person                                            |

Of an id the last `yes` counts, until a row `over` or `no` with the same hash. A file that is
missing ends nothing.

A yes is to a text that a person read: typed whole, or shown. What a verb then does with it is
taken from the bytes that it wrote (`journal/written_entry`):

| a person                                | a rule in force   | a rule that waits          |
|-----------------------------------------|-------------------|----------------------------|
| types its whole text, or saves the form | stays in force    | comes into force           |
| changes its title, project, pin or end  | stays in force    | waits                      |
| adds words                              | stays in force    | waits                      |
| undoes a change, merges two             | in force is what was so when it left its file  |
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..errors import Refused, Sentence
from ..journal.disk import PREFERENCES as LOG
from ..journal.machine import append_marked_rows, read_marked_rows
from ..notes.blocks import project_key

if TYPE_CHECKING:
    from ..journal.written_entry import WrittenEntry
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
        name = Sentence(self.by) if self.by == CHANGED_END else self.by
        if self.word == "yes":
            return Sentence("confirmed by {name}", name=name) if name else ""
        return Sentence("unconfirmed, by {name}" if name else "unconfirmed", name=name)


class Confirmation(NamedTuple):
    """The latest yes to an entry: the hash of its `rule`, that of the rule without its end, and
    the file, an absolute path.
    """

    rule: str
    endless: str
    file: str


Text = tuple[str, str]
"""A text of an entry: its id, and the hash of the rule."""


class Log(NamedTuple):
    """The state of `.state/preferences.log`: confirmations by id; the agents who saved a text;
    the texts that a terminal has named, and those to which a person said no.

    `restorable` are texts that were in force until they left their file: an undo brings them
    back. `unmarked` are those with a yes that lacks this machine's mark.
    """

    confirmed: dict[str, Confirmation]
    saved_by: dict[Text, str]
    named: set[Text]
    declined: set[Text]
    restorable: set[Text]
    unmarked: set[Text]

    def consent(self, id: str, rule: str) -> Consent:
        confirmation = self.confirmed.get(id)
        if confirmation and confirmation.rule == rule:
            return Consent("yes")
        by = self.saved_by.get((id, rule))
        return Consent("said", by) if by else Consent()

    def is_in_force(self, entry: Entry) -> bool:
        """True for a preference, with the id of its file, that a person confirmed."""
        is_rule = entry.type == "preference"
        return is_rule and self.consent(entry.id, hash_of_rule(entry)).word == "yes"


def hash_of_rule(entry: Entry) -> str:
    """Returns the hash of the parts of a preference that a confirmation covers: title, text,
    type, project, pin, expiry, and the entries that it replaces.
    """
    reach = entry.type, name_with_marks(entry.project, entry.remote, entry.root), entry.pin
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


def _words_and_reach(entry: Entry) -> tuple[object, ...]:
    project = name_with_marks(project_key(entry.project or ""), entry.remote, entry.root)
    return entry.content, project, entry.pin, entry.type


def name_with_marks(project: str | None, remote: str | None, root: str | None) -> str:
    """The project of a rule as its hash covers it: with the marks of its repository, so that an
    edit of these takes it to no other project.
    """
    return " ".join(filter(None, (project, remote, root)))


def _hash_without_end(entry: Entry) -> str:
    project = name_with_marks(entry.project, entry.remote, entry.root)
    return hash_of_text(entry.title, entry.content, entry.type, project, entry.pin)


def _hash_parts(parts: object) -> str:
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()


def read_log(state: Path) -> Log:
    """The state of the log; of one that cannot be read nothing is in force."""
    log = Log({}, {}, set(), set(), set(), set())
    for log_row, is_own in read_marked_rows(state / LOG):
        with suppress(KeyError):  # a row of an older program
            if is_own:
                _apply_row(log, log_row)
            elif log_row["word"] == "yes":
                log.unmarked.add((log_row["id"], log_row["rule"]))
    return log


def _apply_row(log: Log, log_row: Mapping[str, str]) -> None:
    """Takes one row into the state. Raises KeyError if the row is not one of these."""
    text = id, rule = log_row["id"], log_row["rule"]
    word = log_row["word"]
    confirmation = log.confirmed.get(id)
    if word == "yes":
        if "of" in log_row and not _was_in_force(log, log_row["was"], log_row["of"]):
            return
        if confirmation and confirmation.rule != rule:
            log.restorable.add((id, confirmation.rule))
        log.confirmed[id] = Confirmation(rule, log_row["endless"], log_row["place"])
        log.restorable.discard(text)
        log.declined.discard(text)
    elif word in ("over", "no"):
        log.saved_by.pop(text, None)
        if confirmation and confirmation.rule == rule:
            del log.confirmed[id]
            log.restorable.add(text)
        if word == "no":
            log.restorable.discard(text)
            log.declined.add(text)
    elif word == "lapsed":
        log.restorable.discard(text)
    elif word == "said":
        if text not in log.declined:
            log.saved_by[text] = log_row["by"]
    else:
        log.named.add(text)


def _was_in_force(log: Log, id: str, rule: str) -> bool:
    """True if this text is in force, or was until it left its file."""
    confirmation = log.confirmed.get(id)
    is_in_force = confirmation is not None and confirmation.rule == rule
    return is_in_force or (id, rule) in log.restorable


def make_log_row(word: str, id: str, entry: Entry, **more: str) -> dict[str, str]:
    return {"word": word, "id": id, "rule": hash_of_rule(entry), **more}


def _confirmation_row(ws: Workspace, path: str, entry: Entry, **more: str) -> dict[str, str]:
    file = str(ws.journal.place(path))
    endless = _hash_without_end(entry)
    return make_log_row("yes", entry.id, entry, endless=endless, place=file, **more)


def make_kept_row(ws: Workspace, path: str, before: Entry, after: Entry) -> dict[str, str]:
    """The row by which a text keeps what it was while it became another."""
    return _confirmation_row(ws, path, after, was=before.id, of=hash_of_rule(before))


def append_rules(state: Path, *rows: Mapping[str, str]) -> None:
    """Adds these rows in one write. Raises OSError."""
    append_marked_rows(state / LOG, rows)


# -- what a person does


def confirm_shown_text(ws: Workspace, path: str, entry: Entry) -> None:
    """Puts the text into force that a person was shown, or typed for a new entry; its own id in
    its file is `entry.id`. Raises OSError.
    """
    append_rules(ws.config.state, _confirmation_row(ws, path, entry))


def note_persons_change(
    ws: Workspace,
    log: Log,
    change: WrittenEntry,
    *,
    is_read: bool = False,
    brings_words: bool = False,
) -> bool:
    """Notes what a person's change of an entry does to the rule that it was or is; returns True
    if it waits now. `log` was read before the change, under the same lock. Raises OSError.

    `is_read`: the person typed the whole text, or saved it from a form that showed it.
    `brings_words`: words came in that nobody typed now, as an undo and a merge bring them; they
    are in force only if they were when they left their file.
    """
    before = change.before
    after = change.after
    was_in_force = before is not None and log.is_in_force(before)
    is_rule = after is not None and after.type == "preference"
    if before and after and is_rule and is_same_rule(before, after):
        if was_in_force and before.path != change.path:
            append_rules(ws.config.state, make_kept_row(ws, change.path, before, after))
        return False
    rows = []
    if before and was_in_force:
        rows.append(make_log_row("over", before.id, before))
    elif before and (before.id, hash_of_rule(before)) in log.restorable:
        rows.append(make_log_row("lapsed", before.id, before))
    waits = False
    if after and is_rule:
        was_so = brings_words and (after.id, hash_of_rule(after)) in log.restorable
        if is_read or was_so:
            rows.append(_confirmation_row(ws, change.path, after))
        elif before and was_in_force and not brings_words:
            rows.append(make_kept_row(ws, change.path, before, after))
        else:
            waits = True
            rows += _rows_of_agents_text(log, before, after)
    append_rules(ws.config.state, *rows)
    return waits


def is_same_rule(one: Entry, other: Entry) -> bool:
    return (one.id, hash_of_rule(one)) == (other.id, hash_of_rule(other))


def _rows_of_agents_text(log: Log, before: Entry | None, after: Entry) -> list[dict[str, str]]:
    """The row by which a text that an agent saved stays the agent's where a person changed less
    than its words and its reach.
    """
    if before is None or _words_and_reach(before) != _words_and_reach(after):
        return []
    consent = log.consent(before.id, hash_of_rule(before))
    return [make_log_row("said", after.id, after, by=consent.by)] if consent.by else []


# -- what others do


def note_saved(ws: Workspace, entry: Entry, by: str) -> None:
    """Notes that this agent saved the text, in the project at hand. Raises OSError."""
    append_rules(ws.config.state, make_log_row("said", entry.id, entry, by=by))


def check_not_in_force(log: Log, id: str, entry: Entry) -> None:
    """Raises Refused for a rule in force, of this own id."""
    if log.consent(id, hash_of_rule(entry)).word == "yes":
        short = entry.short_id
        raise Refused(
            "The user confirmed the preference {short}: only the user changes, "
            "replaces or deletes it.",
            "Ask them: `synaptic update {short}` and `synaptic delete {short}` "
            "work on a terminal of their own, and so does the page.",
            short=short,
        )


def end_vanished_confirmations(
    ws: Workspace, log: Log, path: str, entries: Iterable[Entry]
) -> None:
    """Ends the confirmations of preferences whose text the file `path`, just read, no longer
    has. `log` was read before the file. A copy in another file ends nothing while the confirmed
    file exists.
    """
    if not (log.confirmed or log.restorable):
        return
    file = str(ws.journal.place(path))
    here = {entry.id: entry for entry in entries}
    rows = []
    for id, rule in log.restorable:
        if id in here and hash_of_rule(here[id]) == rule:
            rows.append({"word": "lapsed", "id": id, "rule": rule})
    for id, confirmation in log.confirmed.items():
        entry = here.get(id)
        stood_here = confirmation.file == file
        if not stood_here and (not entry or os.path.lexists(confirmation.file)):
            continue
        if entry and hash_of_rule(entry) == confirmation.rule:
            continue
        rows.append({"word": "over", "id": id, "rule": confirmation.rule})
        if entry and _hash_without_end(entry) == confirmation.endless:
            rows.append(make_log_row("said", id, entry, by=CHANGED_END))
    with suppress(OSError):  # it says something else, so it is not in force
        append_rules(ws.config.state, *rows)


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
    log = read_log(ws.config.state)
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
        file = log.confirmed[id].file
        if file != places[path] and not os.path.lexists(file):
            moved.append(_confirmation_row(ws, path, replace(entry, id=id)))
    if moved and not ws.access.is_past:
        with suppress(OSError):  # a home that cannot be written can be read
            append_rules(ws.config.state, *moved)
    return consents


def read_all_preferences(ws: Workspace) -> list[Entry]:
    """All preferences, whole, the newest first."""
    from ..filters import Filters  # hooks that only read the log need none of it
    from .readback import read_entries

    every = Filters(types=("preference",), include_superseded=True)
    rows = ws.index.list_rows(every, order="newest", limit=-1)
    return list(read_entries(ws, rows).values())

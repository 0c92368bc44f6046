"""Shows the preferences that wait for a person, and puts one into force or out of it; makes a
preference of a rule that a person typed in a session.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from ..errors import Changed, InvalidArgument, NotFound, Refused
from ..journal.disk import disk_errors
from ..journal.entry_edits import edit_entry
from ..models import Entry, Receipt
from ..workspace import preferences, rule_changes
from ..workspace.preferences import hash_of_rule, read_log
from ..workspace.proposals import Proposal
from ..workspace.proposing import note_answer
from ..workspace.rule_changes import waiting_preferences
from ..workspace.sync import in_step
from ..workspace.workspace import Workspace
from .receipts import index_now, logged
from .saving import save

LOOK_S = 0.2
"""Seconds for which a command may read changed files before it names unconfirmed
preferences.
"""


def list_waiting(ws: Workspace) -> tuple[Entry, ...]:
    """Returns the preferences that are not in force, marked, the newest first."""
    return in_step(ws, lambda _: waiting_preferences(ws))


def newly_waiting(ws: Workspace) -> tuple[tuple[Entry, ...], int]:
    """Returns the preferences of `waiting` that no command has named at a terminal yet, and the
    number of those to which somebody said yes without this machine's mark: an older version, or
    another machine. From now on they are named.
    """

    def run(_: object) -> tuple[tuple[Entry, ...], int]:
        new: list[Entry] = []
        unmarked: list[Entry] = []
        log = read_log(ws.config.state)
        for entry in _restore_ids_of_files(ws, waiting_preferences(ws)):
            text = (entry.id, hash_of_rule(entry))
            if text not in log.named:
                (unmarked if text in log.unmarked else new).append(entry)
        with suppress(OSError):  # then the next command names them again
            rule_changes.note_named(ws.config.state, [*new, *unmarked])
        return tuple(new), len(unmarked)

    return in_step(ws, run, within_s=LOOK_S)


def mark_as_named(ws: Workspace, entries: Sequence[Entry]) -> None:
    """Records that a terminal has shown these preferences; no command shows them again."""
    with suppress(OSError):
        rule_changes.note_named(
            ws.config.state, in_step(ws, lambda _: _restore_ids_of_files(ws, entries))
        )


def _restore_ids_of_files(ws: Workspace, entries: Sequence[Entry]) -> list[Entry]:
    """Returns the entries with the ids in their files. The index gives an entry another id
    where an entry of another file has the same one.
    """
    own_ids = ws.index.own_ids([entry.id for entry in entries])
    return [replace(entry, id=own_ids[entry.id]) for entry in entries]


@logged("confirm")
def confirm(ws: Workspace, entry: Entry, *, remove: bool = False) -> None:
    """Puts a preference into force with the text that a person was shown; with `remove` notes
    that they do not want it in force, and are not asked about it again.

    A typed entry gets its id written into its file, where that is possible, so that the
    confirmation names a stable id. Raises InvalidArgument for another type, and Changed if its
    file says something else by now.
    """
    if entry.type != "preference":
        raise InvalidArgument(
            "{short_id} is of type {type}; only a preference is confirmed.",
            "`synaptic update {short_id} --type preference` makes it one.",
            short_id=entry.short_id,
            type=entry.type,
        )
    changed = Changed(
        "{short_id} was changed meanwhile; nothing was confirmed.",
        "`synaptic confirm` shows its present text.",
        short_id=entry.short_id,
    )
    try:
        stored = in_step(ws, lambda _: ws.index.resolve(entry.id))
    except NotFound:  # the id of a typed entry goes with its heading
        raise changed from None
    own_id = stored.own_id
    path = stored.entry.path
    present = ws.journal.find_or_none(path, own_id)
    if present is None or hash_of_rule(present[1]) != hash_of_rule(entry):
        raise changed
    if remove:
        with disk_errors(ws.config.state, "used"):
            rule_changes.decline(ws.config.state, own_id, entry)
        return

    def with_id(old: Entry) -> Entry:
        if hash_of_rule(old) != hash_of_rule(entry):
            raise changed
        return replace(old, id=entry.id, derived_id=False)

    if stored.entry.derived_id or own_id != entry.id:
        # a whole-file note has the id of its path; a source is only read
        with suppress(Refused):
            edit_entry(ws.own_journal, path, own_id, with_id, keep=False)
            own_id = entry.id
    with disk_errors(ws.config.state, "used"):
        preferences.confirm_shown_text(ws, path, replace(entry, id=own_id))
    index_now(ws, path)


def accept_proposal(ws: Workspace, proposal: Proposal) -> Receipt:
    """Saves a rule that the person typed in a session as a preference in force."""
    receipt = save(
        ws,
        proposal.text,
        type="preference",
        project=proposal.project,
        by_person=True,
        confirms=True,
    )
    decline_proposal(ws, proposal)
    return receipt


def decline_proposal(ws: Workspace, proposal: Proposal) -> None:
    """Notes that the person has answered; the sentence is not proposed again."""
    with disk_errors(ws.config.state, "used"):
        note_answer(ws.config.state, proposal)

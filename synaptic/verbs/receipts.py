"""Steps after each change of the journal: update the index, confirm preferences, make the
receipt.
"""

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from ..errors import NotFound, Sentence, SynapticError
from ..journal.written_entry import WrittenEntry
from ..models import PERSON, Entry, Receipt, Texts
from ..notes.blocks import project_key
from ..search.near import find_leaning_entries
from ..workspace.checkout import working_checkout, working_project
from ..workspace.embed import embed_pending
from ..workspace.preferences import Log, hash_of_rule, note_persons_change, note_saved
from ..workspace.sync import UNSCRUBBED, sync_index
from ..workspace.workspace import Workspace

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
VerbOfHome = Callable[Concatenate[Workspace, Arguments], Result]
SCRUB_WAIT_MS = 3_000
EMBED_BUDGET_S = 0.02
"""The time in which a save embeds its text if the model is loaded and free. Later searches or
an idle server embed the rest.
"""
EMBEDDED_AT_LEAST = 8
"""The newest passages that a save embeds, if the model is loaded, though they take longer: then
the same save names the same entries on a busy machine.
"""
MOST_EMBEDDED_S = 2.0
"""The longest time for which a save begins to embed a passage."""
INDEX_WAIT_MS = 10
"""The time that a save waits for the index. Otherwise a later process indexes the entry."""
NOBODY = "a command without a person at a terminal"
LEFT_OUT = (
    "No search will find it: {path} is left out by `synaptic: false` in its front matter, or "
    "the setting `exclude`."
)
UNCONFIRMED = (
    "This preference waits: `synaptic confirm {id}` puts it into force. Until then it is "
    "marked unconfirmed, or stands in no briefing."
)


def logged(
    name: str,
) -> Callable[[VerbOfHome[Arguments, Result]], VerbOfHome[Arguments, Result]]:
    """Makes each call of a verb a run of this name in the log of changes: what it changes is
    taken back as one.
    """

    def decorate(verb: VerbOfHome[Arguments, Result]) -> VerbOfHome[Arguments, Result]:
        @wraps(verb)
        def run(ws: Workspace, /, *args: Arguments.args, **named: Arguments.kwargs) -> Result:
            with ws.own_journal.doing(name) as deed:
                if named.get("by_person") is False:
                    deed.credit_agent(str(named.get("by") or ""))
                return verb(ws, *args, **named)

        return run

    return decorate


def make_receipt(
    entry: Entry, *, path: str | None = None, notices: Sequence[str] = ()
) -> Receipt:
    """The receipt of a write of `entry` to the file `path`, or to its own file for None."""
    path = path or entry.path
    time = entry.time if entry.timed else ""
    return Receipt(entry.id, entry.date, time, path, type=entry.type, notices=tuple(notices))


def index_now(ws: Workspace, *paths: str, scrub: bool = False, shows: str = "") -> Texts:
    """Indexes the files `paths`, which were just written; returns a notice if that failed, or
    if the index then lacks the entry `shows`.

    `scrub` also removes deleted text from the bytes of the index.
    """
    try:
        if scrub:  # before the text leaves the index: after a kill the next process finishes
            ws.index.file.owes_scrub = True
        wait_ms = SCRUB_WAIT_MS if scrub else INDEX_WAIT_MS
        behind = sync_index(ws, wait_ms=wait_ms, written=paths).behind
        if not behind:
            if shows and not is_indexed(ws, shows):
                return (Sentence(LEFT_OUT, path=paths[0]),)
            embed_pending(
                ws, budget_s=EMBED_BUDGET_S, at_least=EMBEDDED_AT_LEAST, most_s=MOST_EMBEDDED_S
            )
        if scrub and (behind or not ws.index.compact()):
            return (UNSCRUBBED,)
    except Exception as error:  # whatever the error, the entry is safe in the journal
        return (
            Sentence(
                "The journal is written but not indexed yet ({error}); the next "
                "search tries again.",
                error=error,
            ),
        )
    return ()


def name_leaning(
    ws: Workspace, receipt: Receipt, new: Entry, replaced: Collection[str]
) -> Receipt:
    """The receipt, with the entries that may lean on those that `new` just replaced."""
    if replaced:
        with suppress(Exception):  # whatever fails here, the entry is safe in the journal
            return replace(receipt, leaning=find_leaning_entries(ws, new, replaced))
    return receipt


def is_indexed(ws: Workspace, id: str) -> bool:
    """True if the index, without a sync, has an entry of this id."""
    with suppress(NotFound):
        return ws.index.resolve(id).entry.id == id
    return False


def note_rule_change(
    ws: Workspace,
    log: Log,
    change: WrittenEntry,
    *,
    confirms: bool,
    is_read: bool = False,
    brings_words: bool = False,
) -> list[str]:
    """Notes what a change of an entry does to the rule that it was or is: for a person who
    `confirms` as `note_persons_change` says, else which agent saved it. Returns a notice if the
    rule waits.

    It comes after the change of the file, under the lock in which `log` was read before: a
    crash between leaves the rule waiting.
    """
    after = change.after
    waits = after is not None and after.type == "preference"
    # the change is done; what cannot be noted waits for a person
    with suppress(OSError, SynapticError):
        if confirms:
            waits = note_persons_change(
                ws, log, change, is_read=is_read, brings_words=brings_words
            )
        elif after and waits and not brings_words:
            waits = _note_agents_rule(ws, log, change.before, after)
    return [Sentence(UNCONFIRMED, id=after.short_id)] if after and waits else []


def _note_agents_rule(ws: Workspace, log: Log, before: Entry | None, after: Entry) -> bool:
    """Notes which agent saved a preference in the project at hand; returns False if it changed
    nothing of it.
    """
    was_waiting = False
    if before and before.type == "preference":
        rule = hash_of_rule(before)
        if before.id == after.id and rule == hash_of_rule(after):
            return False
        was_waiting = log.consent(before.id, rule).word == "waits"
    at_hand = project_key(working_project(ws.config, working_checkout(ws)) or "")
    is_at_hand = at_hand != "" and project_key(after.project or "") == at_hand
    if is_at_hand and not (was_waiting or after.source or after.pin):
        by = after.by or "an agent"
        note_saved(ws, after, NOBODY if by == PERSON else by)
    return True

"""Changes entries: their texts and marks."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NamedTuple, Unpack

from ..errors import (
    Changed,
    IndexFailed,
    InvalidArgument,
    Refused,
    Sentence,
    SynapticError,
    check_range,
)
from ..index.rows import Stored, hash64
from ..journal.entry_edits import Edited, Replacement, make_replacement, replace_entry
from ..journal.folder import locate_writable
from ..journal.redating import file_at, move_entry
from ..language.time_fields import read_moment
from ..models import PERSON, Entry, Json, Receipt, Texts
from ..notes.blocks import project_key, unify_newlines
from ..notes.dates import owner_time
from ..notes.markdown import compose_entry
from ..notes.marks import link_key
from ..notes.redraft import redraft_entry, replaces_text
from ..notes.screening import Screen
from ..workspace.changes import fingerprint_files
from ..workspace.checkout import marks_of_project, working_checkout
from ..workspace.preferences import read_log
from ..workspace.rule_changes import check_may_change
from ..workspace.workspace import Workspace
from .entry_marks import (
    GivenMarks,
    check_files,
    check_pin,
    check_project,
    comparable_marks,
    find_stored,
    read_date_marks,
    superseded_ids,
    write_due_days,
)
from .receipts import index_now, logged, make_receipt, name_leaning, note_rule_change

COPY_CHANGED = "The same entry stood in {path} too, and was changed there."
COPY_NOT_CHANGED = "The same entry stands in {path} too, and could not be changed there: {why}"


class Parts(GivenMarks, total=False):
    """The parts of an entry that an update replaces. A part that is missing, or None, stays.
    `at`: another day and time; a day alone keeps the time.
    """

    content: str | None
    append: str | None
    add_tags: Sequence[str] | None
    remove_tags: Sequence[str] | None
    at: str | None


@logged("update")
def update(
    ws: Workspace,
    id: str,
    *,
    seen: str | None = None,
    by_person: bool = True,
    by: str | None = None,
    confirms: bool = False,
    brings_words: bool = False,
    **parts: Unpack[Parts],
) -> Receipt:
    """The receipt of an edit. Parts that are not given stay; so does every other byte of the
    file.

    An empty `expires` or `due` removes it. With another `at` it moves to the file of that day,
    with its id, links and pin. The old text goes to the trash. A whole-file note
    takes `append` and `add_tags` only; to an entry with private text words are only added. Only
    a person pins, and changes what is pinned. `by` is the writer of the new words. Only one who
    `confirms` changes a preference in force, and it stays in force; one that waits comes into
    force if they give its whole text. `brings_words`: the words are another entry's, which they
    did not type. With `seen`, which `open_for_edit` gives, raises Changed if the entry has
    changed since. Raises InvalidArgument without any change, Refused and Busy.
    """
    changes: Json = {name: value for name, value in parts.items() if value is not None}
    if "content" in changes and "append" in changes:
        both = ("content", "append")
        raise InvalidArgument("Give content or append, not both.", valid=both, of=both)
    if all(value == () for value in changes.values()):
        of_person = () if by_person else ("pin", "at")
        names = [part for part in Parts.__annotations__ if part not in of_person]
        raise InvalidArgument("No change of the entry was given.", valid=names, of=names)
    check_project(parts.get("project"))
    check_files(changes)
    check_range("importance", parts.get("importance"), 0, 10)
    past = read_date_marks(ws, changes)
    stored = find_stored(ws, id)
    entry = stored.entry
    ws.own_journal.writer.note_entries(entry.id)
    if "at" in changes:
        changes["at"] = read_new_moment(entry, changes["at"], ws.clock())
        if changes["at"] == entry.at:
            del changes["at"]
    if entry.pin and not by_person:
        raise Refused(
            "A person pinned this entry, and only a person changes it.",
            "Save a new entry beside it.",
        )
    if changes.get("pin") and not entry.pin:
        check_pin(ws, entry.project, by_person=by_person)
    if "supersedes" in changes:
        ids = superseded_ids(ws, changes["supersedes"], by_person=by_person, confirms=confirms)
        if entry.id in ids:
            raise InvalidArgument(
                "An entry cannot supersede itself.", "Give the ids of older entries."
            )
        changes["supersedes"] = ids
    by = by or (PERSON if by_person else "agent")
    request = _Request(changes, seen, "" if by == PERSON else by, confirms, brings_words)
    return _write_update(ws, stored, request, past)


class _Request(NamedTuple):
    """The changes that an update makes, and on whose word, as its parameters say. `agent` is
    the writer of the new words; "" is a person.
    """

    changes: Json
    seen: str | None
    agent: str
    confirms: bool
    brings_words: bool


def _write_update(
    ws: Workspace, stored: Stored, request: _Request, past: Sequence[str]
) -> Receipt:
    """Changes the entry and its copies in other files; `past` are notices for the receipt."""
    entry = stored.entry
    moment = request.changes.get("at")
    target = _file_at_moment(ws, stored, moment) if moment else entry.path

    def edit(path: str) -> Edited:
        change = partial(_replace_parts, ws, entry.id, request)
        if moment and entry.date_source != "comment":
            return move_entry(ws.own_journal, path, stored.own_id, target, change)
        return replace_entry(
            ws.own_journal, path, stored.own_id, change, "update", agent=request.agent
        )

    with ws.own_journal.writing():
        log = read_log(ws.config.state)
        edited = edit(entry.path)
        new = edited.entry
        notices = [*edited.notices, *past]
        if target != entry.path:
            notices.append(Sentence("It stands in {target} now.", target=target))
        notices += note_rule_change(
            ws,
            log,
            edited.written,
            confirms=request.confirms,
            is_read=_is_whole_text(request, new),
            brings_words=request.brings_words,
        )
        also = change_copies(stored.copies, edit, COPY_CHANGED, COPY_NOT_CHANGED)
    notices += [*index_now(ws, entry.path, target, *stored.copies), *also]
    notices += _duplicate_id_notices(ws, new.id)
    broken = _broken_link_notices(ws, entry, new)
    receipt = make_receipt(new, path=target, notices=[*notices, *broken])
    if broken:
        receipt = replace(receipt, old_title=entry.title)
    linked = [id for id in new.supersedes if id not in entry.supersedes]
    return name_leaning(ws, receipt, new, linked)


def _replace_parts(
    ws: Workspace, id: str, request: _Request, old: Entry, block: bytes
) -> Replacement:
    """The replacement of the entry `old`, which is a copy of the one with this id. Raises
    Refused for a preference in force, and Changed if the entry is not as it was seen.
    """
    if not request.confirms:
        check_may_change(ws.config.state, old.id, old)
    wanted = dict(request.changes)
    seen = request.seen
    is_same = seen is not None and unify_newlines(wanted.get("content", "")) == old.content
    if is_same and not replaces_text(old, wanted.get("title")):  # else they keep the text
        wanted.pop("content", None)
    new, notices = _apply_parts(ws, id, old, wanted)
    if seen is not None and new != old:
        check_edit_hash(old, seen)
    if new == old:
        notices = ["nothing changed", *notices]
    return make_replacement(old, block, new, request.agent, notices)


def _file_at_moment(ws: Workspace, stored: Stored, moment: datetime) -> str:
    """The path of the file in which an entry of that time stands. Raises Refused where it is
    another file than now, and the entry stands in several.
    """
    target = file_at(ws.journal, stored.entry, moment)
    stands_in_several = stored.copies or stored.own_id != stored.entry.id
    if target != stored.entry.path and stands_in_several:
        raise Refused(
            "{short_id} stands in several files, so it is not moved.",
            "Delete it in all but one of them: `synaptic doctor` lists them.",
            short_id=stored.entry.short_id,
        )
    return target


def _broken_link_notices(ws: Workspace, old: Entry, new: Entry) -> list[str]:
    """A sentence if links lead nowhere since an entry has another title."""
    if new.title == old.title:
        return []
    key = link_key(old.title)
    linking = dict(ws.index.incoming_links([], [key]))
    if not linking or ws.index.entries_by_name_key({key}):
        return []
    text = (
        "{n:,} entries link to its old title, which leads nowhere now: `synaptic links "
        "--broken` lists where, `synaptic undo` gives the title back."
    )
    if len(linking) == 1:
        text = (
            "1 entry links to its old title, which leads nowhere now: `synaptic links "
            "--broken` lists where, `synaptic undo` gives the title back."
        )
    return [Sentence(text, n=len(linking))]


def _is_whole_text(request: _Request, new: Entry) -> bool:
    """True if the writer gave the whole text of the new entry: its words, and a title unless
    that is made of them; or saved them from a form that showed both.
    """
    if "content" not in request.changes:
        return False
    made = compose_entry(new.content, id=new.id, at=new.at)[0].title
    has_title = bool(request.changes.get("title")) or new.title == made
    return request.seen is not None or has_title


def read_new_moment(entry: Entry, at: str, now: datetime) -> datetime:
    """The moment `at` to which an entry is moved; its own one if that is the same to the
    minute. A day without a time keeps the entry's time. Raises InvalidArgument.

    | `at`                         | for an entry of 2026-11-21 09:31                |
    |------------------------------|-------------------------------------------------|
    | `2026-11-20`, `yesterday`    | that day at 09:31                               |
    | `2026-11-20 17:00`           | that moment                                     |
    | `17:00`, `2 hours ago`       | today at 17:00, two hours before `now`          |
    """
    moment = owner_time(read_moment(at, now, "at", clock=entry.at.time()))
    is_same_minute = (moment.hour, moment.minute) == (entry.at.hour, entry.at.minute)
    if is_same_minute and moment.date() == entry.at.date():
        return entry.at
    if is_same_minute:
        moment = moment.replace(second=entry.at.second, microsecond=entry.at.microsecond)
    return moment


def can_move(ws: Workspace, entry: Entry) -> bool:
    """True if an entry can be moved to another day."""
    with suppress(OverflowError, Refused):  # there is no day after the last one
        return bool(file_at(ws.journal, entry, entry.at + timedelta(days=1)))
    return False


def _apply_parts(
    ws: Workspace, id: str, old: Entry, parts: Mapping[str, Any]
) -> tuple[Entry, list[str]]:
    """The entry with its new parts, and notices."""
    written = dict(parts)
    days: Texts = ()
    for name, before in (("content", old.content), ("append", "")):
        if name in parts:
            written[name], days = write_due_days(ws, parts[name], before)
    entry, notices = redraft_entry(Screen(ws.config.secrets), old, written, id=id)
    here = working_checkout(ws) if parts.keys() & {"files", "project"} else None
    if project_key(entry.project or "") != project_key(old.project or ""):
        remote, root = marks_of_project(ws.config, entry.project, here)
        entry = replace(entry, remote=remote, root=root)
    if "files" in parts:
        entry = replace(entry, fingerprints=fingerprint_files(entry, here, ws.config.state))
    return entry, [*days, *notices]


def open_for_edit(ws: Workspace, id: str) -> tuple[Entry, str]:
    """(the present entry, a hash of it for the parameter `seen` of `update`). Raises Refused
    for an entry of a source, which is only read.
    """
    stored = find_stored(ws, id)
    locate_writable(ws.journal.roots, stored.entry.path, stored.entry.there.line)
    entry = replace(ws.journal.find(stored.entry.path, stored.own_id)[1], id=stored.entry.id)
    return entry, _hash_for_edit(entry)


def _hash_for_edit(entry: Entry) -> str:
    return f"{hash64(repr((entry.content, comparable_marks(entry)))):x}"


def check_edit_hash(entry: Entry, seen: str) -> None:
    if seen != _hash_for_edit(entry):
        raise Changed(
            "{short_id} was changed since you opened it; nothing was written.",
            "Open it again, compare, and repeat your change.",
            short_id=entry.short_id,
        )


def _duplicate_id_notices(ws: Workspace, id: str) -> list[str]:
    """A notice for each other text in the journal that carries this id."""
    from ..index.lists import find_other_texts_with_id  # most commands change nothing

    with suppress(IndexFailed):  # then another notice says that the entry is not indexed
        return [
            Sentence(
                "Another text with this id stands in {path}:{line}, unchanged.",
                path=path,
                line=line,
            )
            for path, line in find_other_texts_with_id(ws.index, id)
        ]
    return []


def change_copies(
    copies: Sequence[str], do: Callable[[str], object], done: str, failed: str
) -> list[str]:
    """Calls `do` with the path of each equal copy of an entry; returns a notice about each,
    `done` or `failed`. A failure at one copy does not stop the others.
    """
    notices: list[str] = []
    for copy in copies:
        try:
            do(copy)
            notices.append(Sentence(done, path=copy))
        except SynapticError as error:
            notices.append(Sentence(failed, path=copy, why=str(error)))
    return notices

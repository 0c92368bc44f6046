"""Save, update, delete, restore: the verbs that change the journal."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any, NamedTuple, TypedDict, Unpack

from ..errors import (
    Changed,
    IndexFailed,
    InvalidArgument,
    JournalError,
    NotFound,
    Refused,
    SynapticError,
    check_range,
)
from ..filters import check_values
from ..index.rows import Stored, hash_of
from ..journal.disk import disk_errors
from ..journal.folder import writable
from ..journal.journal import Edited, Replacement, replacement
from ..journal.losses import restore_lost
from ..journal.text import in_place_of
from ..journal.trash import TrashedText
from ..kinds import has_expired
from ..language.query import read_date, read_moment
from ..models import PERSON, Entry, Json, Near, Texts, frozen
from ..notes.blocks import newlines, project_key
from ..notes.draft import draft_entry, redraft_entry
from ..notes.header import unique
from ..notes.markdown import new_id, own_tags
from ..notes.privacy import reveals
from ..notes.screening import Screen
from ..search.near import near_entries, suggest_tags
from ..workspace.changes import fingerprints, of_project
from ..workspace.checkout import claim_name, meant_project, project_of, working_checkout
from ..workspace.embed import embed_pending
from ..workspace.preferences import (
    check_change,
    check_not_in_force,
    current_log,
    end_confirmation,
    hash_of_rule,
    note_saved,
    put_in_force,
    read_log,
)
from ..workspace.sync import UNSCRUBBED, in_step, sync_index
from ..workspace.workspace import Stopwatch, Workspace

SCRUB_WAIT_MS = 3_000
EMBED_BUDGET_S = 0.02
"""The time in which a save embeds its text if the model is loaded and free. Later searches or
an idle server embed the rest.
"""
INDEX_WAIT_MS = 10
"""The time that a save waits for the index. Otherwise a later process indexes the entry."""
REPEAT_WINDOW = timedelta(minutes=10)
"""An equal save within this time is a retry: agents repeat calls that got no answer."""

NOBODY = "a command without a person at a terminal"
MAX_PINS = 10
"""The most pinned entries in a project, and without one: a session should begin with few words.
"""
NO_PROJECT = (
    "It has no project: the folder is not in a git repository. Give `project`, or `synaptic "
    "setup --project NAME`."
)
EMPTY_PROJECT = (
    "It has no project, because `project` is ''. Leave that out to use the repository's."
)
UNCONFIRMED = (
    "This preference waits: `synaptic confirm {id}` puts it into force. Until then it is "
    "marked unconfirmed, or stands in no briefing."
)
REPEATED = (
    "`{title}` was already saved less than ten minutes ago, with the same text and marks; "
    "`--force` keeps both."
)


@frozen
class Receipt:
    """The result of a write. `queued` is always False; once, saves could
    wait.

    `suggested_tags` of a save are existing tags that its text mentions and that it lacks.
    `near` are up to two similar entries of its project; None while it has no vector.
    """

    id: str
    date: str
    time: str
    path: str
    queued: bool = False
    notices: Texts = ()
    suggested_tags: Texts = ()
    near: tuple[Near, ...] | None = ()


class _Shared(TypedDict, total=False):
    """The marks that a save gives and an update replaces. None counts as not given."""

    title: str | None
    type: str | None
    tags: Sequence[str] | None
    importance: int | None
    project: str | None
    files: Sequence[str] | None
    supersedes: Sequence[str] | None
    pin: bool | None
    expires: str | None
    due: str | None


class Marks(_Shared, total=False):
    """The marks of a new entry. `by` and `via` say who saves, and how; `source` is the
    origin of a text from outside. Only a person pins. `confirms`: a person does it, at a
    terminal or on the page, so that a preference is in force.
    """

    parent: str | None
    at: str | datetime | None
    source: str | None
    by: str | None
    via: str | None
    force: bool
    by_person: bool
    confirms: bool


class Parts(_Shared, total=False):
    """The parts of an entry that an update replaces. A part that is missing, or None, stays."""

    content: str | None
    append: str | None
    add_tags: Sequence[str] | None
    remove_tags: Sequence[str] | None


_PASSED = {"title", "type", "tags", "importance", "files", "by", "via"}


class _Draft(NamedTuple):
    entry: Entry
    notices: list[str]
    marks: Marks


def save(ws: Workspace, content: str, **marks: Unpack[Marks]) -> Receipt:
    """The receipt of a new entry, which is durable when this returns.

    A retry of the last ten minutes is answered with its entry, unless `at` or `force` is given;
    an older entry that says the same is named. A failure to index is a notice.
    Raises InvalidArgument, NotFound for a parent or a superseded id, Refused for a secret if
    the settings say so and for a pin of an agent, and JournalError when the disk refuses.
    """
    [receipt] = save_all(ws, [(content, marks)])
    return receipt


def save_all(ws: Workspace, texts: Sequence[tuple[str, Marks]]) -> list[Receipt]:
    """The receipts of several entries, as `save` gives them. One change of one file holds them:
    all are saved, or none is.
    """
    watch = Stopwatch()
    drafts = []
    for number, (content, marks) in enumerate(texts, 1):
        try:
            drafts.append(_draft(ws, content, marks))
        except SynapticError as error:
            if len(texts) > 1:
                error.message = f"Entry {number}: {error.message} Nothing was saved."
            raise
    return _write(ws, drafts, watch)


def _draft(ws: Workspace, content: str, marks: Marks) -> _Draft:
    given: Json = {name: value for name, value in marks.items() if value is not None}
    by_person = marks.setdefault("by_person", True)
    confirms = marks.get("confirms") or False
    marks["confirms"] = confirms and not marks.get("source")
    moment = moment_of(given.get("at"), ws.clock())
    check_range("importance", given.get("importance"), 0, 10)
    past = _read_days(ws, given)
    here = working_checkout(ws.config)
    project = _one_project(given.get("project", project_of(ws.config, here)))
    _check_files(given)
    if not by_person:
        project = meant_project(project, here)
    claimed: list[str] = []
    if here and project == here.project:
        here, claimed = claim_name(ws.config, here)
        project = here.project
    screen = Screen(ws.config.secrets)
    parent = given.get("parent")
    source = given.get("source")
    branch = None
    if here and of_project(project, here) and here.branch not in here.defaults:
        branch = here.branch
    entry, composed = draft_entry(
        screen,
        content,
        id=new_id(moment.date()),
        at=moment,
        project=project,
        parent=_fixed(ws, parent) if parent else None,
        supersedes=_superseded(
            ws, given.get("supersedes", ()), by_person=by_person, confirms=confirms
        ),
        branch=branch,
        extra={"source": source} if source else {},
        **{name: given[name] for name in _PASSED & given.keys()},
    )
    entry = replace(
        entry,
        expires=given.get("expires") or None,
        due=given.get("due") or None,
        pin=given.get("pin", False),
        fingerprints=fingerprints(entry, here, ws.config.state),
    )
    notices = [*screen.notices(), *composed, *past, *claimed]
    if not (by_person or project):
        notices.append(EMPTY_PROJECT if "project" in given else NO_PROJECT)
    return _Draft(entry, notices, marks)


def _write(ws: Workspace, drafts: Sequence[_Draft], watch: Stopwatch) -> list[Receipt]:
    """Writes the new entries and indexes them, but those that were saved already."""
    receipts = {}
    new = []
    for entry, notices, marks in drafts:
        same = [] if marks.get("force") else _same_text(ws, entry)
        first = None if marks.get("at") else _already_saved(ws, entry, same)
        if first:
            if marks["confirms"]:
                _note_preference(ws, first, first.path, confirms=True)
            told = "already saved", REPEATED.format(title=first.title), *notices
            receipts[entry.id] = receipt_of(first, notices=told)
            continue
        if same and same[-1].entry.id not in entry.supersedes:
            said = same[-1].entry
            notices.append(f"Said already on {said.date}: {said.short_id}.")
        if entry.pin:
            _check_pin(ws, entry.project, by_person=marks["by_person"])
        new.append(entry)
    if len({ws.journal.day_path(entry.at) for entry in new}) > 1:
        raise InvalidArgument(
            "The entries belong to several files; nothing was saved.",
            "Save those of one day together.",
        )
    told = ()
    if new:
        with watch.stage("journal"):
            path = ws.journal.append(*new)
        for entry, notices, marks in drafts:
            if entry in new:
                notices += _note_preference(ws, entry, path, confirms=marks["confirms"])
        with watch.stage("index"):
            told = index_now(ws, path, shows=new[-1].id)
    if new and ws.config.metrics:
        ws.index.counters.record_call("save", watch.read())
    for entry, notices, _ in drafts:
        if entry.id not in receipts:
            receipts[entry.id] = receipt_of(entry, path=path, notices=[*notices, *told])
    if len(new) == len(drafts) == 1:
        with suppress(Exception):  # whatever fails here, the entry is safe in the journal
            tags = suggest_tags(ws, entry.content, given=entry.tags)
            receipts[entry.id] = replace(receipts[entry.id], suggested_tags=tags)
            near = near_entries(ws, entry)
            receipts[entry.id] = replace(receipts[entry.id], near=near)
    return [receipts[draft.entry.id] for draft in drafts]


def _note_preference(
    ws: Workspace, entry: Entry, path: str, before: Entry | None = None, *, confirms: bool
) -> list[str]:
    """A notice if a preference waits. A person who `confirms` puts it into force; what another
    saved in the project at hand is noted as theirs.

    It comes after the change of the file: a crash between leaves the preference waiting.
    """
    state = ws.config.state
    is_rule = entry.type == "preference"
    was_waiting = False
    # the change is done; what cannot be noted waits for a person
    with suppress(OSError, SynapticError):
        if before and confirms and (before.id != entry.id or not is_rule):
            end_confirmation(state, before.id)
        if not is_rule:
            return []
        if before and before.type == "preference":
            rule = hash_of_rule(before)
            if before.id == entry.id and rule == hash_of_rule(entry):
                return []
            log = in_step(ws, lambda _: current_log(ws))
            was_waiting = log.consent(before.id, rule).word == "waits"
        if confirms:
            put_in_force(ws, path, entry)
            return []
        at_hand = project_key(project_of(ws.config, working_checkout(ws.config)) or "")
        is_at_hand = at_hand != "" and project_key(entry.project or "") == at_hand
        if is_at_hand and not (was_waiting or entry.source or entry.pin):
            by = entry.by or "an agent"
            note_saved(ws, entry, NOBODY if by == PERSON else by)
    return [UNCONFIRMED.format(id=entry.short_id)]


def update(
    ws: Workspace,
    id: str,
    *,
    seen: str | None = None,
    by_person: bool = True,
    by: str | None = None,
    confirms: bool = False,
    **parts: Unpack[Parts],
) -> Receipt:
    """The receipt of an edit. Parts that are not given stay; so does every other byte of the
    file.

    An empty `expires` or `due` removes it. The old text goes to the trash. A whole-file note
    takes `append` and `add_tags` only; to an entry with private text words are only added. Only
    a person pins, and changes what is pinned. `by` is the writer of the new words. Only one who
    `confirms` changes a preference in force, and puts it into force. With `seen`, which
    `opened` gives, raises Changed if the entry has changed since. Raises InvalidArgument
    without any change, Refused and Busy.
    """
    given: Json = {name: value for name, value in parts.items() if value is not None}
    if "content" in given and "append" in given:
        raise InvalidArgument("Give content or append, not both.", valid=("content", "append"))
    if all(value == () for value in given.values()):
        names = [part for part in Parts.__annotations__ if by_person or part != "pin"]
        raise InvalidArgument("Nothing to update.", valid=names)
    _one_project(parts.get("project"))
    _check_files(given)
    check_range("importance", parts.get("importance"), 0, 10)
    past = _read_days(ws, given)
    found = _find(ws, id)
    entry = found.entry
    if entry.pin and not by_person:
        raise Refused(
            "A person pinned this entry, and only a person changes it.",
            "Save a new one beside it.",
        )
    if given.get("pin") and not entry.pin:
        _check_pin(ws, entry.project, by_person=by_person)
    if "supersedes" in given:
        ids = _superseded(ws, given["supersedes"], by_person=by_person, confirms=confirms)
        if entry.id in ids:
            raise InvalidArgument(
                "An entry cannot supersede itself.", "Give the ids of older entries."
            )
        given["supersedes"] = ids
    by = by or (PERSON if by_person else "agent")
    return _write_update(ws, found, given, seen, past, by=by, confirms=confirms)


def _write_update(
    ws: Workspace,
    found: Stored,
    given: Json,
    seen: str | None,
    past: Sequence[str],
    *,
    by: str,
    confirms: bool,
) -> Receipt:
    """Changes the entry and its copies in other files; `past` are notices for the receipt."""
    agent = "" if by == PERSON else by

    def change(old: Entry, block: bytes) -> Replacement:
        if not confirms:
            check_change(ws.config.state, old.id, old)
        wanted = dict(given)
        if seen is not None and newlines(given.get("content", "")) == old.content:
            wanted.pop("content", None)
        new, notices = _changed(ws, found.entry.id, old, wanted)
        if seen is not None and new != old:
            _check_seen(old, seen)
        if new == old:
            notices = ["nothing changed", *notices]
        return replacement(old, block, new, agent, notices)

    def edit(place: str) -> Edited:
        with ws.journal.writing():
            return ws.journal.exchange(place, found.own_id, change, "update", agent=agent)

    path = found.entry.path
    copies = found.copies
    edited = edit(path)
    new = edited.entry
    new_id = replace(new, id=found.entry.id)
    notices = [*edited.notices, *past]
    notices += _note_preference(ws, new_id, path, edited.before, confirms=confirms)
    also = _also(copies, edit, "changed")
    notices += [*index_now(ws, path, *copies), *also, *_other_texts(ws, new.id)]
    return receipt_of(new, path=path, notices=notices)


def opened(ws: Workspace, id: str) -> tuple[Entry, str]:
    """An entry to be edited, and its `seen` for `update`. Raises Refused for an entry of a
    folder that is only read.
    """
    found = _find(ws, id)
    writable(ws.journal.roots, found.entry.path, found.entry.there.line)
    entry = replace(ws.journal.find(found.entry.path, found.own_id)[1], id=found.entry.id)
    return entry, _seen(entry)


def _seen(entry: Entry) -> str:
    return f"{hash_of(repr((entry.content, _marks(entry)))):x}"


def _check_seen(entry: Entry, seen: str) -> None:
    if seen != _seen(entry):
        raise Changed(
            f"{entry.short_id} was changed meanwhile; nothing was written.", "Look at both."
        )


def _one_project(project: str | None) -> str | None:
    """The project of an entry, or None. Raises InvalidArgument for `*`, which means all, and
    for a name that no filter takes.
    """
    name = (project or "").strip()
    check_values("project", [name])
    if name == "*":
        raise InvalidArgument(
            "An entry has one project, not '*'.", "Name one project, or give '' for none."
        )
    return name or None


def _check_files(given: Mapping[str, Any]) -> None:
    """Raises InvalidArgument for a path that no filter takes."""
    for path in given.get("files", ()):
        check_values("file", [path])


def _superseded(ws: Workspace, ids: Sequence[str], *, by_person: bool, confirms: bool) -> Texts:
    """The whole ids of superseded entries. Raises Refused if an agent supersedes a pin, or one
    who may not confirm a preference in force.
    """
    for id in ids:
        found = _find(ws, id)
        entry = found.entry
        present = None if confirms else ws.journal.present(entry.path, found.own_id)
        if present:
            check_not_in_force(read_log(ws.config.state), found.own_id, present[1])
        if entry.pin and not by_person:
            raise Refused(
                f"A person pinned {entry.short_id}, and only a person replaces it.",
                "Save the new one without it, and ask them.",
            )
    return unique(_fixed(ws, id) for id in ids)


def _check_pin(ws: Workspace, project: str | None, *, by_person: bool) -> None:
    """Raises Refused for an agent: text that it has read must not begin later sessions.

    Raises InvalidArgument if this project, or None, has MAX_PINS pinned entries.
    """
    if not by_person:
        hint = "Ask them to do it in a terminal of their own, or propose it by the tag `pin`."
        raise Refused("Only a person pins.", hint)
    key = project_key(project) if project else None
    pinned = in_step(ws, lambda _: ws.index.entries(ws.index.pinned(key))).values()
    entries = [stored.entry for stored in pinned if bool(stored.entry.project) == bool(key)]
    if len(entries) >= MAX_PINS:
        where = f"of {project}" if project else "without a project"
        names = "; ".join(f"{entry.short_id} {entry.title}" for entry in entries)
        raise InvalidArgument(
            f"{MAX_PINS} entries may be pinned {where}: {names}.",
            "`synaptic pin ID --remove` makes room.",
        )


def _other_texts(ws: Workspace, id: str) -> list[str]:
    """A notice for each other text in the journal that carries this id."""
    with suppress(IndexFailed):  # then another notice says that the entry is not indexed
        return [
            f"Another text with this id stands in {issue.path}:{issue.line}, unchanged."
            for issue in ws.index.issues()
            if issue.code == "duplicate-id" and id in issue.message
        ]
    return []


def _changed(
    ws: Workspace, id: str, old: Entry, parts: Mapping[str, Any]
) -> tuple[Entry, list[str]]:
    """The entry with its new parts, and notices."""
    entry, notices = redraft_entry(Screen(ws.config.secrets), old, parts, id=id)
    if "files" in parts:
        here = working_checkout(ws.config)
        entry = replace(entry, fingerprints=fingerprints(entry, here, ws.config.state))
    return entry, notices


def delete(
    ws: Workspace,
    id: str,
    *,
    purge: bool = False,
    by_person: bool = True,
    confirms: bool = False,
) -> Receipt:
    """The receipt of a removal. The text is kept in the trash; with `purge` no copy is left.

    A whole-file note goes with its file. An entry that was deleted before can still be purged.
    Raises Refused for a note that is a part of a file, where an agent deletes a whole-file note
    or what a person pinned, and for a preference in force unless a person `confirms`.
    """
    try:
        found = _find(ws, id)
    except NotFound:
        if not purge:
            raise
        ws.index.file.owes_scrub = True  # this may repeat a purge that was killed
        path, entry = ws.journal.copy_of(id)
        ws.journal.purge(path, entry.id)
        return receipt_of(entry, path=path, notices=index_now(ws, path, scrub=True))
    entry = found.entry
    copies = found.copies
    path = entry.path
    writable(ws.journal.roots, path, entry.there.line)
    if (entry.whole_file or entry.pin) and not by_person:
        what = (
            f"{path} is a person's file" if entry.whole_file else "A person pinned this entry"
        )
        hint = f"`synaptic delete {entry.short_id}`, in a terminal of their own."
        raise Refused(f"{what}: only a person deletes it.", hint)
    with disk_errors(ws.config.state, "used"):  # first: a file that is gone only suspends it
        present = ws.journal.present(path, found.own_id)
        if present and not confirms:
            check_change(ws.config.state, found.own_id, present[1])
        end_confirmation(ws.config.state, found.own_id)
    notices: list[str] = []
    if purge:  # before the text leaves its file: after a kill the next process finishes
        ws.index.file.owes_scrub = True

    def remove(place: str) -> None:
        if purge:
            ws.journal.purge(place, found.own_id)
        else:
            notices.extend(ws.journal.edit(place, found.own_id, lambda _: None).notices)

    notices += _also(copies, remove, "removed")  # first: `restore` brings the last one back
    remove(path)
    if not purge:
        notices.append(f"`synaptic restore {entry.short_id}` brings it back.")
    notices += index_now(ws, path, *copies, scrub=purge)
    return receipt_of(entry, notices=[*notices, *_still_there(ws, found.own_id)])


def _still_there(ws: Workspace, own_id: str) -> list[str]:
    """A notice if another text has the id of an entry that was deleted."""
    # no entry has this id any more, or a notice says that it is not indexed
    with suppress(SynapticError):
        left = ws.index.resolve(own_id).entry
        return [
            f"Another text with this id remains in {left.path}:{left.there.line}; "
            f"`synaptic delete {left.id}` removes it too."
        ]
    return []


def _also(copies: Sequence[str], do: Callable[[str], object], done: str) -> list[str]:
    """Notices of what `do` did to each copy. A failure at a copy does not undo the work on the
    entry itself.
    """
    notices = []
    for copy in copies:
        try:
            do(copy)
            notices.append(f"The same entry stood in {copy} too, and was {done} there.")
        except SynapticError as error:
            notices.append(
                f"The same entry stands in {copy} too, and could not be {done} there: {error}"
            )
    return notices


def versions(ws: Workspace, entry: Entry) -> list[tuple[TrashedText, Entry]]:
    """The other texts of an entry in the trash, the latest first, without what is private, or
    has become it since.
    """
    pieces = [piece for piece in ws.journal.trashed() if piece.id == entry.id]
    if not pieces:
        return []
    place = entry.there
    now = ws.journal.read(place.path)[place.start : place.end]
    texts: list[tuple[TrashedText, Entry]] = []
    for piece in reversed(pieces):
        if piece.text.strip() != now.strip() and not reveals(piece.text, now):
            parsed = ws.journal.parse(piece.path, piece.text, block=True)
            texts += ((piece, entry) for entry in parsed.entries)
    return texts


class Deleted(NamedTuple):
    """An entry in the trash: `date` and `time` say when it was deleted, `path` is its file."""

    id: str
    date: str
    time: str
    title: str
    path: str
    text: str


def deleted(ws: Workspace) -> list[Deleted]:
    """The entries that were deleted and stand nowhere any more, the latest first."""
    latest: dict[str, TrashedText] = {}
    for piece in reversed(ws.journal.trashed()):
        latest.setdefault(piece.id, piece)

    def run(_: object) -> list[Deleted]:
        gone = []
        for piece in latest.values():
            if piece.why != "delete" or _is_indexed(ws, piece.id):
                continue
            # without its private passages
            entries = ws.journal.parse(piece.path, piece.text, block=True).entries
            text = entries[0].content if entries else ""
            date = f"{piece.at:%Y-%m-%d}"
            time = f"{piece.at:%H:%M}"
            gone.append(Deleted(piece.id, date, time, piece.title, piece.path, text))
        return gone

    return in_step(ws, run)


def restore(
    ws: Workspace,
    id: str,
    *,
    vanished: bool = False,
    by_person: bool = True,
    confirms: bool = False,
) -> Receipt:
    """The receipt of an entry brought back from the trash, or of an update undone.

    With `vanished`, of a saved entry that no longer stands in the journal. Raises NotFound, and
    Refused where an agent would undo a person's pin or unpin, and for a preference in force
    unless a person `confirms`.
    """

    def check(id: str, present: Entry | None) -> None:
        if not confirms:
            check_change(ws.config.state, id, present)

    path, entry = (
        restore_lost(ws.journal, id, check)
        if vanished
        else ws.journal.restore(id, check, by_person=by_person)
    )
    notices = _note_restored(ws, path, entry, confirms=confirms)
    notices += index_now(ws, path, shows=entry.id)
    return receipt_of(entry, path=path, notices=notices)


def _note_restored(ws: Workspace, path: str, entry: Entry, *, confirms: bool) -> list[str]:
    """A notice if a preference waits that came back by somebody who does not confirm."""
    present = None
    with suppress(JournalError):  # the text is back; a rule that cannot be read waits
        present = ws.journal.present(path, entry.id)
    if confirms and present:
        return _note_preference(ws, present[1], path, confirms=True)
    if present and present[1].type == "preference":
        return [UNCONFIRMED.format(id=entry.short_id)]
    return []


def bring_back(ws: Workspace, id: str, number: str, seen: str) -> Receipt:
    """The receipt of an entry that got an earlier text back: that of this number among its
    `versions`, from the oldest on. Raises Changed if it is not as `seen`, from `opened`.
    """
    found = _find(ws, id)
    entry = found.entry
    path = entry.path
    texts = {str(at): text for at, (text, _) in enumerate(versions(ws, entry)[::-1])}

    def change(old: Entry, block: bytes) -> Replacement:
        _check_seen(old, seen if number in texts else "")
        piece = texts[number]
        if old.whole_file:
            return Replacement(old, piece.text)
        return Replacement(old, in_place_of(block, ws.journal.record_of(piece).text))

    with ws.journal.writing():
        ws.journal.exchange(path, found.own_id, change, "restore")
    notices = _note_restored(ws, path, replace(entry, id=found.own_id), confirms=True)
    notices += index_now(ws, path, shows=entry.id)
    return receipt_of(entry, notices=notices)


def _same_text(ws: Workspace, entry: Entry) -> list[Stored]:
    """The entries that say the same, oldest first.

    Each save indexes its entry, so the index is asked without a sync.
    """
    # an index that cannot be used must not stop a save
    with suppress(SynapticError):
        found = ws.index.entries(ws.index.same_content(hash_of(entry.content))).values()
        return sorted(found, key=lambda stored: stored.entry.at)
    return []


def _already_saved(ws: Workspace, entry: Entry, same: Sequence[Stored]) -> Entry | None:
    """The entry of which this one is a retry: saved within `REPEAT_WINDOW`, with the same text,
    marks and client.
    """
    for stored in same:
        if not entry.at - REPEAT_WINDOW <= stored.entry.at <= entry.at:
            continue
        with suppress(SynapticError):
            first = ws.journal.find(stored.entry.path, stored.own_id)[1]
            # the tags of its file are not those of the save
            said = _marks(replace(first, tags=own_tags(first)))
            is_same = first.content == entry.content and said == _marks(entry)
            if is_same and not first.derived_id:
                return first
    return None


def _marks(entry: Entry) -> tuple[object, ...]:
    """The marks that two saves of one text must share to count as one save."""
    sets = (
        tuple(sorted(set(values))) for values in (entry.tags, entry.files, entry.supersedes)
    )
    return *_SAID(entry), project_key(entry.project or ""), *sets


_SAID = attrgetter("title", "type", "importance", "parent", "by", "pin", "expires", "due")


def index_now(ws: Workspace, *paths: str, scrub: bool = False, shows: str = "") -> Texts:
    """A notice if these files, just written, could not be indexed or do not show the entry
    `shows`.

    `scrub` leaves no trace of the deleted text in the index.
    """
    try:
        if scrub:  # before the text leaves the index: after a kill the next process finishes
            ws.index.file.owes_scrub = True
        wait_ms = SCRUB_WAIT_MS if scrub else INDEX_WAIT_MS
        behind = sync_index(ws, wait_ms=wait_ms, written=paths).behind
        if not behind:
            if shows and not _is_indexed(ws, shows):
                why = "`synaptic: false` in its front matter, or the setting `exclude`"
                return (f"No search will find it: {paths[0]} is left out by {why}.",)
            embed_pending(ws, budget_s=EMBED_BUDGET_S)
        if scrub and (behind or not ws.index.compact()):
            return (UNSCRUBBED,)
    except Exception as error:  # whatever the error, the entry is safe in the journal
        return (
            f"The journal is written but not indexed yet ({error}); the next search tries "
            f"again.",
        )
    return ()


def _is_indexed(ws: Workspace, id: str) -> bool:
    with suppress(NotFound):
        return ws.index.resolve(id).entry.id == id
    return False


def _find(ws: Workspace, id: str) -> Stored:
    return in_step(ws, lambda _: ws.index.resolve(id))


def _fixed(ws: Workspace, id: str) -> str:
    """The whole id of an entry that another entry names. A derived id is written into the file
    and so kept.
    """
    found = _find(ws, id)
    if found.entry.derived_id:
        with suppress(Refused):  # the id of a whole-file note depends on its path alone
            ws.journal.edit(
                found.entry.path,
                found.own_id,
                lambda old: replace(old, id=found.entry.id, derived_id=False),
            )
        index_now(ws, found.entry.path)
    return found.entry.id


def receipt_of(
    entry: Entry, *, path: str | None = None, notices: Sequence[str] = ()
) -> Receipt:
    path = path or entry.path
    return Receipt(entry.id, entry.date, entry.time, path, notices=tuple(notices))


def _read_days(ws: Workspace, given: Json) -> list[str]:
    """A notice if the last day of an entry is over. `expires` and `due` become `YYYY-MM-DD`."""
    for name in ("expires", "due"):
        if given.get(name):
            given[name] = read_date(given[name], ws.clock(), name)
    last_day = given.get("expires") or None
    if has_expired(last_day, ws.today.isoformat()):
        return [f"It has expired already, on {last_day}."]
    return []


def moment_of(at: str | datetime | None, now: datetime) -> datetime:
    """The moment of an entry in the local zone, in whole seconds. It reads the times that
    `--since` reads.
    """
    if at is None:
        return now.replace(microsecond=0)
    if isinstance(at, str):
        at = read_moment(at, now, "at")
    try:
        return at.astimezone().replace(microsecond=0)
    except (OverflowError, OSError, ValueError):  # year 1 or 9999 at the edge of another zone
        return at.replace(microsecond=0, tzinfo=at.tzinfo or now.tzinfo)

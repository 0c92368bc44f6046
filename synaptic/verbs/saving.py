"""Saves new entries."""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple, Unpack

from ..errors import Sentence, SynapticError, check_range, naming_parameter
from ..index.rows import Stored, hash64
from ..journal.repository import Checkout
from ..journal.written_entry import WrittenEntry
from ..language.lexicon import read_type_name
from ..language.time_fields import read_moment
from ..models import Entry, Json, Near, Receipt, Texts, short_id
from ..notes.dates import owner_time
from ..notes.draft import draft_entry
from ..notes.header import resolve_type
from ..notes.markdown import new_id, own_tags
from ..notes.screening import Screen
from ..search.near import find_near_entries, suggest_tags
from ..workspace.changes import fingerprint_files, is_project_of_checkout
from ..workspace.checkout import (
    claim_checkout_name,
    marks_of_project,
    resolve_project_name,
    working_checkout,
    working_project,
)
from ..workspace.file_rows import with_at_tags
from ..workspace.preferences import confirm_shown_text, read_log
from ..workspace.sync import SyncReport, in_step, lacks_own_changes
from ..workspace.workspace import Stopwatch, Workspace
from .entry_marks import (
    GivenMarks,
    check_files,
    check_pin,
    check_project,
    comparable_marks,
    read_date_marks,
    settle_id,
    superseded_ids,
    write_due_days,
)
from .receipts import index_now, logged, make_receipt, name_leaning, note_rule_change
from .weakness import find_weakness

REPEAT_WINDOW = timedelta(minutes=10)
"""An equal save within this time is a retry: agents repeat calls that got no answer."""
MOST_NAMED = 12
"""The largest number of near entries that a save of several entries names."""
NO_PROJECT = (
    "It has no project: the folder is not in a git repository. Give `project`, or `synaptic "
    "setup --project NAME`."
)
EMPTY_PROJECT = (
    "It has no project, because `project` is ''. Leave that out to use the repository's."
)
REPEATED = (
    "`{title}` was already saved less than ten minutes ago, with the same text and marks; "
    "`--force` keeps both."
)


class Marks(GivenMarks, total=False):
    """The marks of a new entry. `by` and `via` say who saves, and how; `source` is the
    origin of a text from outside. Only a person pins. `confirms`: a person does it, at a
    terminal or on the page, so that a preference is in force. `reads_date`: the text may begin
    with its date, such as `yesterday 5pm: called Ida`. `names_near` is False where the caller
    asks `neighbours.compare_saved` afterwards.
    """

    parent: str | None
    at: str | datetime | None
    source: str | None
    by: str | None
    via: str | None
    force: bool
    by_person: bool
    confirms: bool
    reads_date: bool
    names_near: bool


_DAY_WITHOUT_COLON = re.compile(
    r"(?:\d{4}-\d\d-\d\d|\d{1,2}\.\d{1,2}\.\d{4})(?: \d{1,2}:\d\d)?(?=,? +\w)"
)
_OPENING_WORD = re.compile(
    r"\s*(?:\*\*|__)?(?P<word>[^\W\d_]{2,20})\s?(?:(?::(?:\*\*|__)|(?:\*\*|__)?:)\s+|：\s*)(?=\S)"
)
_PASSED = {"title", "type", "tags", "importance", "files", "by", "via"}


class _Draft(NamedTuple):
    """A new entry that is not written yet, the notices for its receipt, and its options."""

    entry: Entry
    notices: list[str]
    marks: Marks


def save(ws: Workspace, content: str, **marks: Unpack[Marks]) -> Receipt:
    """Saves a new entry durably and returns the receipt.

    A retry of the last ten minutes is answered with its entry, unless `at` or `force` is given;
    an older entry that says the same is named. A failure to index is a notice.
    Raises InvalidArgument, NotFound for a parent or a superseded id, Refused for a secret if
    the settings say so and for a pin of an agent, and JournalError when the disk refuses.
    """
    [receipt] = save_all(ws, [(content, marks)])
    return receipt


@logged("save")
def save_all(ws: Workspace, texts: Sequence[tuple[str, Marks]]) -> list[Receipt]:
    """Saves several entries as `save` does, in one write to the file of each day, and returns a
    receipt for each. Of one day all are saved, or none is.
    """
    watch = Stopwatch()
    deed = ws.own_journal.writer.deed
    if deed and not all(m.get("by_person", True) for _, m in texts):
        deed.credit_agent(texts[0][1].get("by") or "")
    drafts = []
    for number, (content, marks) in enumerate(texts, 1):
        try:
            drafts.append(_compose_draft(ws, content, marks))
        except SynapticError as error:
            if len(texts) > 1:
                error.message = f"Entry {number}: {error.message} Nothing was saved."
            raise
    return _write_drafts(ws, drafts, watch)


def _compose_draft(ws: Workspace, content: str, marks: Marks) -> _Draft:
    """The new entry with its marks read, its project found and its ids looked up."""
    values: Json = {name: value for name, value in marks.items() if value is not None}
    by_person = marks.setdefault("by_person", True)
    confirms = marks.get("confirms") or False
    marks["confirms"] = confirms and not marks.get("source")
    content, at, dated = _read_own_date(ws, content, values)
    content, days = write_due_days(ws, _read_own_type(content, values))
    moment = parse_moment(at, ws.clock())
    check_range("importance", values.get("importance"), 0, 10)
    past = read_date_marks(ws, values)
    here = working_checkout(ws)
    project = check_project(values.get("project", working_project(ws.config, here)))
    check_files(values)
    here, project, claimed = _settle_project(ws, here, project, by_person=by_person)
    remote, root = marks_of_project(ws.config, project, here)
    screen = Screen(ws.config.secrets)
    parent = values.get("parent")
    source = values.get("source")
    with naming_parameter("parent"):
        parent = settle_id(ws, parent) if parent else None
    entry, composed = draft_entry(
        screen,
        content,
        id=new_id(moment.date()),
        at=moment,
        project=project,
        parent=parent,
        supersedes=superseded_ids(
            ws, values.get("supersedes", ()), by_person=by_person, confirms=confirms
        ),
        branch=_find_branch(here, project),
        extra={"source": source} if source else {},
        **{name: values[name] for name in _PASSED & values.keys()},
    )
    entry = replace(
        entry,
        expires=values.get("expires") or None,
        due=values.get("due") or None,
        pin=values.get("pin", False),
        fingerprints=fingerprint_files(entry, here, ws.config.state),
        remote=remote,
        root=root,
    )
    notices = [*dated, *days, *screen.notices(), *composed, *past, *claimed]
    if not (by_person or project):
        notices.append(EMPTY_PROJECT if "project" in values else NO_PROJECT)
    with suppress(SynapticError):  # an index that cannot be used must not stop a save
        weakness = find_weakness(ws, entry, marks)
        notices += [weakness] if weakness else []
    return _Draft(entry, notices, marks)


def _settle_project(
    ws: Workspace, here: Checkout | None, project: str | None, *, by_person: bool
) -> tuple[Checkout | None, str | None, list[str]]:
    """(the checkout under the name that its repository has from now on, the project of the new
    entry, notices). The name is claimed if the entry is of the checkout's project.
    """
    if not by_person:
        project = resolve_project_name(project, here)
    if not here or (project or "") != here.project:
        return here, project, []
    named, claimed = claim_checkout_name(ws, here)
    return named, named.project or None, claimed


def _find_branch(here: Checkout | None, project: str | None) -> str | None:
    """Returns the branch that is checked out, if the entry is of the project of the checkout;
    None for a default branch.
    """
    if not here or not is_project_of_checkout(project, here):
        return None
    return None if here.branch in here.default_branches else here.branch


def _read_own_date(
    ws: Workspace, content: str, values: Json
) -> tuple[str, str | datetime | None, Texts]:
    """(text, time, notices) of a new entry: the time that is given, or that its text begins
    with, which is then taken from the text.
    """
    at = values.get("at")
    if at is not None or not values.get("reads_date"):
        return content, at, ()
    # most saves need none of its words
    from ..language.timephrase.typed import find_unread_time, split_date

    dated = split_date(content, ws.clock())
    if not dated:
        day_only = _DAY_WITHOUT_COLON.match(content.lstrip())
        meant = split_date(f"{day_only[0]}: {content}", ws.clock()) if day_only else None
        if meant and not meant.is_ahead and meant.moment.date() != ws.today:
            text = "The note is of now; “{phrase}: ...”, with a colon, is of that day."
            return content, None, (Sentence(text, phrase=meant.phrase),)
        unread = find_unread_time(content, ws.clock())
        text = (
            "The note is of now, for “{phrase}” is not read as a time; give it in a form such "
            "as “yesterday 21:30: ...”."
        )
        return content, None, (Sentence(text, phrase=unread),) * bool(unread)
    day = parse_moment(dated.moment, ws.clock())
    if dated.is_ahead:
        notice = Sentence(
            "“{phrase}” is ahead, so the note is of now; a due date (--due "
            "{day:%Y-%m-%d}) lists it with what is due.",
            phrase=dated.phrase,
            day=day,
        )
        return content, None, () if values.get("due") else (notice,)
    text = "Dated {day:%Y-%m-%d %H:%M}, for the text begins with “{phrase}:”."
    return dated.rest, dated.moment, (Sentence(text, day=day, phrase=dated.phrase),)


def _read_own_type(content: str, values: Json) -> str:
    """The text without the name of a type that it, or its title, begins with: `Decision: order
    from the second supplier`. That is its type, as in a heading, where none is given.
    """
    opening = values.get("title") or content
    named = _OPENING_WORD.match(opening)
    type = read_type_name(named["word"]) if named else None
    if not (named and type) or resolve_type(values.get("type", type)) != type:
        return content
    values["type"] = type
    rest = opening[named.end() :]
    if values.get("title"):
        values["title"] = rest
        return content
    return rest


def _write_drafts(ws: Workspace, drafts: Sequence[_Draft], watch: Stopwatch) -> list[Receipt]:
    """Writes and indexes the new entries, except those that are saved already."""
    receipts = _receipts_of_repeats(ws, drafts)
    new_drafts = [draft for draft in drafts if draft.entry.id not in receipts]
    new = [draft.entry for draft in new_drafts]
    if new_drafts:
        receipts |= _write_new(ws, new_drafts, watch)
    if new and ws.config.metrics:
        ws.index.counters.record_call("save", watch.read())
    if len(new) == len(drafts) == 1:
        [entry] = new
        with suppress(Exception):  # whatever fails here, the entry is safe in the journal
            own = with_at_tags(entry).tags if ws.config.at_tags else entry.tags
            tags = suggest_tags(ws, entry.content, own=own)
            receipts[entry.id] = replace(receipts[entry.id], suggested_tags=tags)
    for entry in new:
        receipts[entry.id] = name_leaning(ws, receipts[entry.id], entry, entry.supersedes)
    if all(draft.marks.get("names_near", True) for draft in drafts):
        near = _find_near_to_each(ws, new)
        receipts |= {id: replace(receipts[id], near=entries) for id, entries in near.items()}
    return [receipts[draft.entry.id] for draft in drafts]


def _receipts_of_repeats(ws: Workspace, drafts: Sequence[_Draft]) -> dict[str, Receipt]:
    """The receipts of the entries that are saved already, by the ids of their drafts. Raises
    Refused for a pin of one that is not.
    """
    receipts = {}
    for entry, notices, marks in drafts:
        same = [] if marks.get("force") else _entries_with_same_text(ws, entry)
        first = None if marks.get("at") else _find_retried_entry(ws, entry, same)
        if first:
            if marks["confirms"] and entry.type == "preference":
                with suppress(OSError):  # then it waits
                    confirm_shown_text(ws, first.path, replace(entry, id=first.id))
            notices = ["already saved", Sentence(REPEATED, title=first.title), *notices]
            receipts[entry.id] = make_receipt(first, notices=notices)
            continue
        if same and same[-1].entry.id not in entry.supersedes:
            earlier = same[-1].entry
            text = "Said already on {date}: {id}."
            notices.append(Sentence(text, date=earlier.date, id=earlier.short_id))
        if entry.pin:
            check_pin(ws, entry.project, by_person=marks["by_person"])
    return receipts


def _write_new(ws: Workspace, drafts: Sequence[_Draft], watch: Stopwatch) -> dict[str, Receipt]:
    """Writes and indexes these entries; returns their receipts by id."""
    entries = [draft.entry for draft in drafts]
    ws.own_journal.writer.note_entries(*(entry.id for entry in entries))
    for entry in entries:
        begin_new_day(ws, entry.at)
    with watch.stage("journal"), ws.own_journal.writing():
        paths = _append_by_day(ws, entries)
        for entry, notices, marks in drafts:
            if entry.type == "preference":
                log = read_log(ws.config.state)
                change = WrittenEntry(paths[entry.id], None, entry)
                confirms = marks["confirms"]
                notices += note_rule_change(
                    ws, log, change, confirms=confirms, is_read=confirms
                )
    with watch.stage("index"):
        paths_written = dict.fromkeys(paths.values())
        index_notices = index_now(ws, *paths_written, shows=entries[-1].id)
    return {
        entry.id: make_receipt(entry, path=paths[entry.id], notices=[*notices, *index_notices])
        for entry, notices, _ in drafts
    }


def _find_near_to_each(ws: Workspace, new: Sequence[Entry]) -> dict[str, tuple[Near, ...]]:
    """The entries near each new one by its id, MOST_NAMED in all; none of the same save and
    day.
    """
    room = MOST_NAMED
    near: dict[str, tuple[Near, ...]] = {}
    for entry in new:
        beside = [other.id for other in new if other.date == entry.date]
        with suppress(Exception):  # whatever fails here, the entry is safe in the journal
            near[entry.id] = find_near_entries(ws, entry, besides=beside)[:room]
            room -= len(near[entry.id])
    return near


def begin_new_day(ws: Workspace, at: datetime) -> None:
    """Begins the file of a new day by the template that the vault names for it, if any."""
    with suppress(Exception):  # whatever fails here, the save itself begins the file
        if not ws.journal.place(ws.journal.day_path(at)).exists():
            ws.begin_day(ws, at)


def _append_by_day(ws: Workspace, new: Sequence[Entry]) -> dict[str, str]:
    """Writes the entries into the files of their days, each file at once; returns the path of
    each by its id. A failure behind the first file says which entries are saved.
    """
    by_path: dict[str, list[Entry]] = {}
    for entry in new:
        by_path.setdefault(ws.journal.day_path(entry.at), []).append(entry)
    paths: dict[str, str] = {}
    for entries in by_path.values():
        try:
            path = ws.own_journal.append(*entries)
        except SynapticError as error:
            if paths:
                ids = ", ".join(map(short_id, paths))
                error.message += f" Saved before that: {ids}. Save only the others again."
            raise
        paths |= dict.fromkeys((entry.id for entry in entries), path)
    return paths


def _entries_with_same_text(ws: Workspace, entry: Entry) -> list[Stored]:
    """The entries that say the same, oldest first.

    Most saves index their entry at once, and then the index is asked without a sync.
    """

    def ask(_: SyncReport) -> list[Stored]:
        rows = ws.index.dated_with_content(hash64(entry.content))
        return sorted(ws.index.entries(rows).values(), key=lambda stored: stored.entry.at)

    # an index that cannot be used must not stop a save
    with suppress(SynapticError):
        return in_step(ws, ask) if lacks_own_changes(ws) else ask(SyncReport())
    return []


def _find_retried_entry(ws: Workspace, entry: Entry, same: Sequence[Stored]) -> Entry | None:
    """The entry of which this one is a retry: saved within `REPEAT_WINDOW`, with the same text,
    marks and client.
    """
    for stored in same:
        if not entry.at - REPEAT_WINDOW <= stored.entry.at <= entry.at:
            continue
        with suppress(SynapticError):
            first = ws.journal.find(stored.entry.path, stored.own_id)[1]
            # the tags of its file are not those of the save
            marks = comparable_marks(replace(first, tags=own_tags(first)))
            is_same = first.content == entry.content and marks == comparable_marks(entry)
            if is_same and not first.derived_id:
                return first
    return None


def parse_moment(at: str | datetime | None, now: datetime) -> datetime:
    """The time `at` of a new entry (None: now) by `owner_time`, in whole seconds. Raises
    InvalidArgument for a text that is not a moment.
    """
    if isinstance(at, str):
        at = read_moment(at, now, "at")
    return (owner_time(at) if at else now).replace(microsecond=0)

"""Reads and checks the marks that a writer gives to an entry."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date
from operator import attrgetter
from typing import Any, TypedDict

from ..errors import InvalidArgument, Refused, Sentence, naming_parameter
from ..filters import Scope, check_values
from ..index.rows import Stored
from ..kinds import has_expired
from ..language.time_fields import read_date
from ..models import Entry, Json, Texts
from ..notes.blocks import project_key
from ..notes.header import unique
from ..notes.marks import task_blocks
from ..workspace.preferences import check_not_in_force, read_log
from ..workspace.sync import in_step
from ..workspace.workspace import Workspace
from .receipts import index_now

MAX_PINS = 10
"""The most pinned entries in a project, and without one: a session should begin with few words.
"""


class GivenMarks(TypedDict, total=False):
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


def check_project(project: str | None) -> str | None:
    """Returns the project name without outer blanks, or None for an empty one. Raises
    InvalidArgument for `*`, which means all projects, and for a name that is too long.
    """
    name = (project or "").strip()
    check_values("project", [name])
    if name == "*":
        raise InvalidArgument(
            "project cannot be '*': an entry has one.",
            "Name one project, or give '' for none.",
            of=["project"],
        )
    return name or None


def check_files(values: Mapping[str, Any]) -> None:
    """Raises InvalidArgument if a path in `values["files"]` is too long for a filter."""
    for path in values.get("files", ()):
        check_values("file", [path])


def superseded_ids(
    ws: Workspace, ids: Sequence[str], *, by_person: bool, confirms: bool
) -> Texts:
    """The whole ids of superseded entries. Raises Refused if an agent supersedes a pin, or one
    who may not confirm a preference in force.
    """
    for id in ids:
        with naming_parameter("supersedes"):
            stored = find_stored(ws, id)
        entry = stored.entry
        present = None if confirms else ws.journal.find_or_none(entry.path, stored.own_id)
        if present:
            check_not_in_force(read_log(ws.config.state), stored.own_id, present[1])
        if entry.pin and not by_person:
            raise Refused(
                f"A person pinned {entry.short_id}, and only a person replaces it.",
                f"Save the new entry without `supersedes` {entry.short_id}, and ask them.",
            )
    return unique(settle_id(ws, id) for id in ids)


def settle_id(ws: Workspace, id: str) -> str:
    """Returns the whole id of an entry. If the id was only derived from the text, writes it
    into the file, so that a later edit does not change it.
    """
    stored = find_stored(ws, id)
    if stored.entry.derived_id:
        with suppress(Refused):  # a source that is only read
            ws.own_journal.write_id(stored.entry.path, stored.own_id, stored.entry.id)
        index_now(ws, stored.entry.path)
    return stored.entry.id


def find_stored(ws: Workspace, id: str) -> Stored:
    """The entry of this id, in an index in step. Raises NotFound and Ambiguous."""
    return in_step(ws, lambda _: ws.index.resolve(id))


def check_pin(ws: Workspace, project: str | None, *, by_person: bool) -> None:
    """Raises Refused for an agent: text that it has read must not begin later sessions.

    Raises InvalidArgument if this project, or None, has MAX_PINS pinned entries.
    """
    if not by_person:
        hint = "Ask them to do it in a terminal of their own, or propose it by the tag `pin`."
        raise Refused("An agent may not pin entries; only a person may.", hint)
    key = project_key(project) if project else ""
    of_name = Scope(key, by_name=True)
    pinned = in_step(ws, lambda _: ws.index.entries(ws.index.pinned_entries(of_name))).values()
    entries = [stored.entry for stored in pinned if bool(stored.entry.project) == bool(key)]
    if len(entries) >= MAX_PINS:
        text = "{n} entries may be pinned without a project: {names}."
        if project:
            text = "{n} entries may be pinned of {project}: {names}."
        names = "; ".join(f"{entry.short_id} {entry.title_in_lists}" for entry in entries)
        raise InvalidArgument(
            text,
            "`synaptic pin ID --remove` makes room.",
            n=MAX_PINS,
            project=project,
            names=names,
        )


def read_date_marks(ws: Workspace, values: Json) -> list[str]:
    """Replaces `expires` and `due` in `values` by dates as `YYYY-MM-DD`; returns a notice of
    the day that was understood for `due`, and one if a day has passed.
    """
    typed = values.get("due")
    for name in ("expires", "due"):
        if values.get(name):
            values[name] = read_date(values[name], ws.clock(), name)
    notices: list[str] = []
    due = date.fromisoformat(values["due"]) if typed else ws.today
    if due < ws.today:
        notices.append(Sentence("Due on {day:%A}, {day}, a day in the past.", day=due))
    elif typed and typed != str(due):
        notices.append(Sentence("Due on {day:%A}, {day}.", day=due))
    last_day = values.get("expires") or None
    if has_expired(last_day, ws.today.isoformat()):
        notices.append(f"It has expired already, on {last_day}.")
    return notices


def write_due_days(ws: Workspace, text: str, before: str = "") -> tuple[str, Texts]:
    """(the text with a date where a task says its day in words, notices); lines of the text
    `before` stay.
    """
    if not any(task_blocks(text)):
        return text, ()
    return ws.date_words(ws, text, before) or (text, ())


def comparable_marks(entry: Entry) -> tuple[object, ...]:
    """The marks that two saves of one text must share to count as one save."""
    sets = (
        tuple(sorted(set(values))) for values in (entry.tags, entry.files, entry.supersedes)
    )
    return *_MARKS(entry), project_key(entry.project or ""), *sets


_MARKS = attrgetter("title", "type", "importance", "parent", "by", "pin", "expires", "due")

"""The doors by which features and plug-ins enter the core: one interface, with a VERSION.

The core imports no feature. It asks at a door here, and each feature that has the door answers.
A feature is a module in which some names of doors stand: a function for each Door, a table for
COMMANDS and READERS. docs/PLUGINS.md has a row for each door, and shows a plug-in.

Our own features are the packages below `features/`; the folder is their list. Other people's
are modules that an installed distribution names in the entry point group `synaptic`. Their
metadata is read, and they are loaded, for an unknown command and where an open door is asked:
in `import`, `setup`, `status`, `undo` and `doctor --fix`. Doors of each start are closed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, ParamSpec, Protocol, TypeVar

from .errors import NotFound, PlugInError, SynapticError
from .models import frozen

if TYPE_CHECKING:
    from datetime import datetime
    from importlib.metadata import EntryPoint
    from pathlib import Path

    from .config import Config
    from .index.rows import Stored
    from .journal.standing import LoggedRun
    from .models import Entry, Json, Receipt, Task, Texts
    from .workspace.importable import PlannedImport
    from .workspace.many_edits import EditPlan
    from .workspace.workspace import Workspace

log = logging.getLogger(__name__)

VERSION = 1
"""The version of these doors: it rises when a door goes or asks in another way. A plug-in may
name the one that it is made for as `PLUGIN_VERSION`; one that is made for another is left out.
"""
GROUP = "synaptic"
"""The entry point group by which an installed distribution names its plug-ins."""
COMMANDS, READERS = "COMMANDS", "READERS"
"""The names of the tables: by command the module that adds it, by source the module that reads
it. Both are open to plug-ins.
"""
Parameters = ParamSpec("Parameters")
Answer = TypeVar("Answer")


class Door(Generic[Parameters, Answer]):
    """A function that features may have under this name. Plug-ins are asked, too, if the door
    `is_open`.
    """

    def __init__(self, name: str, *, is_open: bool = False) -> None:
        self.name = name
        self.is_open = is_open

    def ask_each(self, *args: Parameters.args, **options: Parameters.kwargs) -> list[Answer]:
        """Returns the answers of our own features, then of plug-ins. A plug-in that fails is
        logged and left out.
        """
        answers = [answer(*args, **options) for answer in self._of_features()]
        for name, answer in self._of_plug_ins():
            try:
                answers.append(answer(*args, **options))
            except Exception as error:
                log.warning("The plug-in %s is left out: %s", name, _describe_failure(error))
        return answers

    def ask_in_turn(
        self, *args: Parameters.args, **options: Parameters.kwargs
    ) -> Answer | None:
        """Returns the first answer that is not None, and asks nobody after it. A plug-in that
        fails may have done half of its work: that raises PlugInError.
        """
        for answer in self._of_features():
            result = answer(*args, **options)
            if result is not None:
                return result
        for name, answer in self._of_plug_ins():
            try:
                result = answer(*args, **options)
            except SynapticError:
                raise
            except Exception as error:
                message = f"The plug-in {name} failed: {_describe_failure(error)}."
                raise PlugInError(message, hint="Update or uninstall it.") from error
            if result is not None:
                return result
        return None

    def ask_only(self, *args: Parameters.args, **options: Parameters.kwargs) -> Answer:
        """Returns the answer of the one feature of ours that has the door. Raises NotFound if
        that feature is not there.
        """
        for answer in self._of_features():
            return answer(*args, **options)
        raise NotFound(
            f"No feature of this Synaptic answers `{self.name}`.", "Install all of Synaptic."
        )

    def _of_features(self) -> Iterator[Callable[Parameters, Answer]]:
        """Yields the function of each feature of ours that has the door."""
        for feature in _own_features():
            if hasattr(feature, self.name):
                yield getattr(feature, self.name)

    def _of_plug_ins(self) -> Iterator[tuple[str, Callable[Parameters, Answer]]]:
        """Yields the description and the function of each plug-in that has the door."""
        if self.is_open:
            for name, plug_in in _load_plug_ins():
                if hasattr(plug_in, self.name):
                    yield name, getattr(plug_in, self.name)


class Forwarder(Protocol):
    """Hands a call on to the server that writes the journal, and returns its result."""

    async def call(self, name: str, bearer: str, key: str, params: Json) -> Json: ...


@frozen
class TaskPlace:
    """A task of this text at `path:line`; at line 0 the entry `id`, which is due as a whole."""

    path: str
    line: int
    text: str
    id: str = ""


@frozen
class Ticked:
    """A task at `path:line` that was ticked or emptied, or at line 0 the entry `id` as a whole:
    its new text, and the run for `undo`, "" where it was emptied. `next_day`: the day on which
    it is due again, `YYYY-MM-DD`, "" where it does not repeat.
    """

    text: str
    path: str
    line: int
    undo: str = ""
    next_day: str = ""
    id: str = ""


@frozen
class Rescheduled:
    """A task in the entry `id` that moved: the `day` on which it is due now, `YYYY-MM-DD` or
    "", and the run that `undo` takes back, "" if it had that day already. Line 0 means that the
    entry as a whole is due.
    """

    text: str
    day: str
    path: str
    line: int
    id: str
    undo: str = ""


class ReviewFinding(NamedTuple):
    """A finding of a review: its first entry may be removed; its second, if there is one, is
    kept. `sentence` says of the first what was found, as in "has expired". `versions` are the
    texts of this machine and of another one, in a conflict.
    """

    kind: str
    about: tuple[Stored, ...]
    sentence: str
    answers: Texts
    versions: Texts = ()

    @property
    def key(self) -> str:
        """The name a person types: `near:7k3m9q2x:8h2j4d5f`."""
        return ":".join((self.kind, *(one.entry.short_id for one in self.about)))


NEWS: Door[[Workspace], list[str]] = Door("news", is_open=True)
"""Sentences for the person, which `status` prints."""
REPAIR: Door[[Workspace], None] = Door("repair")
"""Repairs what `doctor` finds, for `doctor --fix` and the page."""
RECOVER: Door[[Workspace], list[str]] = Door("recover", is_open=True)
"""Finishes what was killed, for `doctor --fix`; the names of these runs."""
TAKE_BACK_RUN: Door[
    [Workspace, LoggedRun, bool], tuple[Sequence[tuple[str, str]], Texts] | None
] = Door("take_back_run", is_open=True)
"""Takes a run back that the log of changes alone cannot, for `undo`: what stays, each with the
reason, and notices. None for a run of somebody else. The flag says that a person confirms.
"""
CATCH_UP: Door[[Workspace], None] = Door("catch_up")
"""Does work that was left for later, in commands and in servers that are idle."""
OFFER: Door[[str | None, bool | None], Json] = Door("offer")
"""Lists what other programs have left, for `setup`, and takes it in if the person wants it."""
TRANSCRIPTS: Door[[Workspace, tuple[Entry, ...]], tuple[Entry, ...]] = Door("transcripts")
"""The digests of sessions with their transcripts as their texts, for `get --source`."""
SERVED: Door[[Json], dict[str, Any]] = Door("served")
"""The arguments of the server, by the flags of `serve` that are about a database."""
ACCESS: Door[[Config, str], Workspace] = Door("access")
"""Opens a Workspace on the published journals at an address."""
FORWARD: Door[[str], Forwarder] = Door("forward")
"""Gives what hands calls on to the server at an address, for `serve --read --writer`."""

BEGIN_DAY: Door[[Workspace, datetime], str] = Door("begin_day")
"""Begins the note of a day that is not there yet by the vault's template, before its first save
and before `today` opens it: the path of the note, "" where nothing was begun.
"""
TICK_OR_OPEN: Door[[Workspace, Task | TaskPlace, bool], Ticked] = Door("tick_or_open")
"""Marks a task, or an entry that is due as a whole, as done or open, for the page."""
MOVE_TASK: Door[[Workspace, Task | TaskPlace, str], Rescheduled] = Door("move_task")
"""Moves a task, or an entry that is due as a whole, to another day, for the page."""
FORMAT_TASK: Door[[Workspace, str, str], str] = Door("format_task")
"""The text of a new entry that is this task, due on that day, for the page."""
DATE_TASK: Door[[Workspace, str, int, str, str], str] = Door("date_task")
"""The text of a box whose task at an offset is due on that day, in a note, for the page."""
DATE_WORDS: Door[[Workspace, str, str], tuple[str, Texts]] = Door("date_words")
"""A text that is saved, in which the days of its tasks are dates, and what is said of that;
lines of the text before stay.
"""
NOTE_EDITED: Door[[Workspace, Mapping[str, int | None]], Texts] = Door("note_edited")
"""Keeps what an editor took out of files: by path the digest before, 0 of Synaptic's own."""
PLAN_UPLOADS: Door[[Workspace, Path], PlannedImport] = Door("plan_uploads")
"""The plan that takes in the files of a folder, for the page."""
PLAN_RENAME: Door[[Workspace, str, str, bool], EditPlan] = Door("plan_rename")
"""The plan that gives a note, or a folder `x/`, another name; True if a person confirms."""
PLAN_WORDS: Door[[Workspace, str, str, bool], EditPlan] = Door("plan_words")
"""The plan that replaces words in all notes by others, for the page."""
PLAN_LINKS: Door[[Workspace, str, str, bool], EditPlan] = Door("plan_links")
"""The plan by which links to the old title of an entry lead to it again, for the page."""
PLAN_MENDING: Door[[Workspace, bool], dict[str, EditPlan]] = Door("plan_mending")
"""By path of a note that was moved by hand, the plan that mends links to it, for `review`."""
REVIEW: Door[[Workspace, Sequence[str], bool], list[ReviewFinding]] = Door("review")
"""The findings of a review of these projects, for the page and the prompt of agents; True for
pairs of entries that are near each other.
"""
ENTRY_OF_FINDING: Door[[Workspace, str, str], Entry] = Door("entry_of_finding")
"""The entry that an answer to the finding of a key is about, for the page."""
ANSWER_FINDING: Door[[Workspace, str, str], Receipt | None] = Door("answer_finding")
"""Acts on the answer of a person to the finding of a key, for the page; None where nothing
changes.
"""


def with_doors(ws: Workspace) -> Workspace:
    """The workspace, which asks at these doors while it saves."""
    begin_day, date_words = BEGIN_DAY.ask_in_turn, DATE_WORDS.ask_in_turn
    note_edited = NOTE_EDITED.ask_in_turn
    return replace(ws, begin_day=begin_day, date_words=date_words, note_edited=note_edited)


def add_command(name: str, *, of_plug_in: bool) -> None:
    """Imports the feature of ours, or the plug-in, that defines the command `name`, which adds
    it to the command line; does nothing if there is none.
    """
    plug_ins = (plug_in for _, plug_in in _load_plug_ins())
    for feature in plug_ins if of_plug_in else _own_features():
        module = _table(feature, COMMANDS).get(name)
        if module:
            load_module(module)
            return


def add_own_commands() -> None:
    """Imports all built-in features, which add their commands to the command line."""
    for feature in _own_features():
        for module in dict.fromkeys(_table(feature, COMMANDS).values()):
            import_module(module)


def reader_modules() -> dict[str, str]:
    """Maps each source that `import` knows to the name of the module that reads it, those of
    plug-ins last.
    """
    plug_ins = (plug_in for _, plug_in in _load_plug_ins())
    modules: dict[str, str] = {}
    for feature in (*_own_features(), *plug_ins):
        modules = {**_table(feature, READERS), **modules}
    return modules


@cache
def plug_in_entry_points() -> Sequence[EntryPoint]:
    """The entry points of installed plug-ins, sorted by name. Reads metadata and imports no
    plug-in.
    """
    from importlib.metadata import entry_points  # late: a scan of all distributions

    return tuple(sorted(entry_points(group=GROUP), key=lambda point: point.name))


def describe_plug_in(point: EntryPoint) -> str:
    """A plug-in as a person reads it: `name (distribution version)`."""
    dist = point.dist
    return f"{point.name} ({dist.name} {dist.version})" if dist else point.name


def load_module(module: str) -> ModuleType:
    """Imports a module by its full name and returns it. Raises PlugInError if it belongs to a
    plug-in and cannot be imported.
    """
    try:
        return import_module(module)
    except Exception as error:
        if module.startswith(f"{__package__}."):
            raise
        raise PlugInError(
            f"{module} cannot be loaded: {_describe_failure(error)}.",
            hint="Update or uninstall the package that has it.",
        ) from error


@cache
def _own_features() -> Sequence[ModuleType]:
    """Our own features, in alphabetic order."""
    features = import_module(f"{__package__}.features")
    names = sorted(module.name for module in iter_modules(features.__path__))
    return tuple(import_module(f"{features.__name__}.{name}") for name in names)


def _table(feature: ModuleType, door: str) -> Mapping[str, str]:
    table: Mapping[str, str] = getattr(feature, door, {})
    return table


def _load_plug_ins() -> Iterator[tuple[str, ModuleType]]:
    """Yields the description and the module of each plug-in. One that cannot be imported, or is
    made for another version of the doors, is logged and left out.
    """
    for point in plug_in_entry_points():
        name = describe_plug_in(point)
        try:
            plug_in = load_module(point.value)
        except PlugInError as error:
            log.warning("The plug-in %s is left out: %s", name, error)
            continue
        version = getattr(plug_in, "PLUGIN_VERSION", VERSION)
        if version == VERSION:
            yield name, plug_in
        else:
            log.warning(
                "The plug-in %s is left out: it is made for version %s of synaptic.plugin, and "
                "this is version %s.",
                name,
                version,
                VERSION,
            )


def _describe_failure(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"

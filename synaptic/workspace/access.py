"""The ways into a journal: `Writing`, and `Reading` beside a writer.

A `Workspace` has one as `access` and asks it where the ways differ. `past` adds
one, and `features/sharing` one for journals that are read from a database.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Protocol, TypeVar

from ..models import Entry, Texts, frozen

if TYPE_CHECKING:
    from ..index.index import Index

Result = TypeVar("Result")
Answer = TypeVar("Answer", covariant=True)
Word = Literal["yes", "said", "waits"]
"""Of a preference: a person confirmed it, an agent said that one did, or it waits."""


class NeedsWriter(Exception):
    """A reader met work that only the writer may do: the verb is to be run there."""


class IndexQuestion(Protocol[Answer]):
    """A question that waits for an index in step with the journal (`sync.InStep`)."""

    def run_after_sync(self) -> Answer:
        """The answer after this process has brought the index in step."""

    def run_on_snapshot(self, ask_writer: Callable[..., Any]) -> Answer:
        """The answer on a snapshot that the writer has brought in step."""

    def run_without_sync(self) -> Answer:
        """Returns the answer on the index without updating it first."""


class Access:
    """The way into a journal. What is said here holds for a journal on this machine.

    `may_write`: a verb may write, or have the writer do it. `is_past`: later entries are
    hidden. `is_of_several`: an answer may show entries of several journals, so each is marked
    with its own. `is_published`: it is on another machine, and no folder here is its project's.
    `owner` is the person whose preferences hold. `remark` is a sentence on all
    answers, or "".
    """

    may_write = True
    is_past = False
    is_of_several = False
    is_published = False
    owner = "user"
    remark = ""

    def in_step(self, question: IndexQuestion[Result]) -> Result:
        """The answer on an index that shows the journal. Raises NeedsWriter where a reader
        cannot give it.
        """
        return question.run_after_sync()

    def require_writer(self) -> None:
        """Raises NeedsWriter unless this is the writer."""

    def refuse_change(self) -> NoReturn:
        """Raises NeedsWriter, or Refused where nobody may change what is read here."""
        raise NeedsWriter

    def limit_to_journals(self, journals: Texts | None) -> Access:
        """The access of an asker who may read these journals; None: all."""
        return self

    def run_on_one_state(self, run: Callable[[], Result]) -> Result:
        """The result of `run`. Published journals stay as they are while it runs."""
        return run()

    def why_index_in_memory(self, index: Index) -> str:
        """The reason why each process keeps its own index in memory, or ""."""
        return index.file.trouble

    def hiding_after(self, moment: datetime) -> AbstractContextManager[Access] | None:
        """Returns a context with an access that hides entries with a later time than `moment`.
        None: the past is made of the journal's files.
        """
        return None

    def published_verdicts(self, entries: Sequence[Entry]) -> list[tuple[Word, str]] | None:
        """(word, by) of each preference, as its publisher decided. None: the log decides."""
        return None


class Writing(Access):
    """Of a command, and of the writer of a server."""


@frozen
class Reading(Access):
    """Of a reader beside the writer. `ask_writer` runs a verb on the workspace of the writer,
    or, `at_leisure`, only while that does nothing for a client.
    """

    ask_writer: Callable[..., Any]

    def in_step(self, question: IndexQuestion[Result]) -> Result:
        return question.run_on_snapshot(self.ask_writer)

    def require_writer(self) -> None:
        raise NeedsWriter

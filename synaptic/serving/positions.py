"""The position of an index: how a client sees its own write on another server."""

from __future__ import annotations

from typing import NamedTuple, Protocol

POSITION = "synaptic/position"
"""In `_meta` of an answer that changed the journal: the position of its index after that,
`tally:number`. (Some clients show their model nothing but `structuredContent` if there is any.)
"""


class IndexPosition(NamedTuple):
    """The number of an index's count of changes, and of its latest change."""

    tally: int
    number: int

    @classmethod
    def parse(cls, text: object) -> IndexPosition | None:
        tally, _, number = str(text).partition(":")
        if tally.isdecimal() and number.isdecimal():
            return cls(int(tally), int(number))
        return None

    def is_included_in(self, other: IndexPosition) -> bool:
        """True where an index at the `other` position shows this change."""
        return self.tally == other.tally and self.number <= other.number

    def __str__(self) -> str:
        return f"{self.tally}:{self.number}"


class Forwards(Protocol):
    """The interface of the object that hands calls on to a writer. `newest` holds the position
    after the last change that went this way, by the name of the token; `behind` the names that
    waited for theirs in vain.
    """

    newest: dict[str, IndexPosition]
    behind: set[str]

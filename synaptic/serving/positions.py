"""The position of an index, by which a client's write on one server is waited for on
another.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

POSITION = "synaptic/position"
"""The name in `_meta` of an answer that changed the journal. Its value is the position of the
index after the change, `tally:number`. (Some clients show their model nothing but
`structuredContent` if there is any.)
"""


class IndexPosition(NamedTuple):
    """The position of an index: the number of its latest change, in the count of changes
    `tally`. An index that was made anew has another tally.
    """

    tally: int
    number: int

    @classmethod
    def parse(cls, text: object) -> IndexPosition | None:
        """Returns the position of a text `tally:number`; None for any other value."""
        tally, _, number = str(text).partition(":")
        if tally.isdecimal() and number.isdecimal():
            return cls(int(tally), int(number))
        return None

    def is_included_in(self, other: IndexPosition) -> bool:
        """True when an index at the `other` position shows the change at this one."""
        return self.tally == other.tally and self.number <= other.number

    def __str__(self) -> str:
        return f"{self.tally}:{self.number}"


class Forwards(Protocol):
    """The interface of the object that passes calls on to the server that writes the journal.
    `newest` holds, by name of a token, the position after its last change; `behind` holds the
    tokens whose last wait for their change was in vain.
    """

    newest: dict[str, IndexPosition]
    behind: set[str]

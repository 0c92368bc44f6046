"""The entry types, one row each: all that the rest of the package knows of a type stands here.

A new type needs its name in `models.EntryType` and its row here.
"""

from __future__ import annotations

from collections.abc import Collection

from .models import TYPES, Entry, EntryType, Texts, frozen

SOLVED_TAGS = ("done", "closed", "fixed", "resolved", "solved")
WONTFIX_TAGS = ("wontfix",)
CLOSING_TAGS = (*SOLVED_TAGS, *WONTFIX_TAGS, "superseded")
"""Tags that close an entry of a type that can be closed."""
TAGS_OF_STATE: dict[str, Texts] = {
    "solved": SOLVED_TAGS,
    "wontfix": WONTFIX_TAGS,
    "settled": CLOSING_TAGS,
}
"""For each state that a query may ask for ("solved issues"): the tags that mean it."""


@frozen
class Kind:
    """The meaning of an entry type.

    `synonyms`: names that people and agents give to it. `foreign`: kinds of other programs that
    are read as it. `can_close`: a closing tag ends it. `worth`: of how much more use it is to a
    session than a step that was done, in steps of importance. `ages`: an old one counts
    less in a search. `is_of_files`: an agent is told of it before it edits a file that the
    entry names. `tone`: the colour of its mark on the page, a class of style.css. `guidance`:
    for agents, what to save as this type.
    """

    name: EntryType
    synonyms: Texts
    foreign: Texts = ()
    can_close: bool = False
    worth: int = 2
    ages: bool = True
    is_of_files: bool = False
    tone: str = "grey"
    guidance: str = ""

    @property
    def plural(self) -> str:
        """The name of several such entries: `issues`, `progress`."""
        return self.name if self.name == "progress" else f"{self.name}s"


_FINDING = "a finding, a cause, a command or fact worth keeping"
_ROWS = (
    Kind(
        "decision",
        ("choice", "adr"),
        is_of_files=True,
        tone="green",
        guidance="what was chosen, why, and what was rejected",
    ),
    Kind(
        "progress",
        ("status",),
        ("bugfix", "change", "feature", "refactor", "milestone"),  # a fixed bug is not open
        worth=0,
        tone="blue",
        guidance="what is done",
    ),
    Kind(
        "issue",
        ("bug", "todo", "task", "problem"),
        ("bug", "error", "failure", "security_alert"),
        can_close=True,
        is_of_files=True,
        tone="red",
        guidance="what is broken",
    ),
    Kind(
        "handoff",
        ("summary", "session", "checkpoint"),
        can_close=True,
        worth=1,
        tone="purple",
        guidance="at the end of a session, the state, open ends, next step",
    ),
    Kind(
        "insight",
        ("fix", "finding", "lesson", "learning"),
        (
            "discovery",
            "learning",
            "pattern",
            "gotcha",
            "best_practice",
            "anti_pattern",
            "security_note",
        ),
        is_of_files=True,
        tone="brown",
        guidance=_FINDING,
    ),
    Kind("reference", ("fact", "doc", "command"), ages=False, tone="teal", guidance=_FINDING),
    Kind(
        "preference",
        ("rule", "convention"),
        worth=3,
        is_of_files=True,
        guidance="what the user wants always or never done, in their words",
    ),
    Kind("note", ("memory", "memo")),
)
KINDS: dict[EntryType, Kind] = {kind.name: kind for kind in _ROWS}
"""Every entry type, in the order of `models.TYPES`."""
SYNONYMS: dict[str, EntryType] = {name: kind.name for kind in _ROWS for name in kind.synonyms}
"""Names that people and agents give to types; a file holds types only."""
FOREIGN: dict[str, EntryType] = {name: name for name in TYPES} | {
    name: kind.name for kind in _ROWS for name in kind.foreign
}
"""Maps an entry type of another program to the nearest of ours."""
CLOSABLE = tuple(kind.name for kind in _ROWS if kind.can_close)


def is_closed(type: str, tags: Collection[str]) -> bool:
    """True if `type` is one that can be closed (an issue, a hand-off) and `tags` hold a closing
    tag.
    """
    return type in CLOSABLE and not set(CLOSING_TAGS).isdisjoint(tags)


def has_expired(expires: str | None, today: str) -> bool:
    """True if the day `expires` has passed; both are `YYYY-MM-DD`."""
    return expires is not None and expires < today


def is_over(entry: Entry, today: str) -> bool:
    """True for an entry that is closed, or expired before the day `today`, `YYYY-MM-DD`."""
    return has_ended(entry.type, entry.tags, entry.expires, today)


def has_ended(type: str, tags: Collection[str], expires: str | None, today: str) -> bool:
    """True if an entry with these values is closed, or its last day `expires` is before
    `today`; the rule behind `is_over`.
    """
    return is_closed(type, tags) or has_expired(expires, today)

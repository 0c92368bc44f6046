"""Two versions of a text that a merge left in one file: finds them, and keeps what a person
chooses.
"""

import json
import re
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from ..errors import Changed, Refused
from ..filters import Filters
from ..index.rows import Stored
from ..journal.disk import overwrite, read_state_json
from ..models import Entry
from ..notes.blocks import MASK, unescape_entry_borders
from ..notes.conflicts import Conflict, find_conflicts
from ..notes.privacy import mask_private
from ..workspace.workspace import Workspace
from .editing import OpenText, open_text, write_text
from .receipts import Receipt, make_receipt

ANSWERS = ("mine", "theirs", "both")
OWN = "conflicts.json"
"""The file in the state folder with hashes of the conflicts that this machine's merges made."""
MOST_OWN = 1_000
_SECOND_HEAD = re.compile(
    r"\\(#{1,6} [^\n]*)(?:\n|\Z)(?:\\(<!--[ \t]*syn:[^\n]*-->)(?:\n|\Z))?"
)
"""Matches the heading and the comment with which the second version of an entry may begin."""
_COMMENT = re.compile(r"(?m)^<!--[ \t]*syn:[^\n]*-->(?:\n|\Z)")


class OpenConflict(NamedTuple):
    """Two versions that wait for a choice, and the entry in which they begin. `line` is that of
    the file. Private passages are left out of the texts.
    """

    about: Stored
    line: int
    mine: str
    theirs: str


def note_own_conflicts(state: Path, data: bytes) -> None:
    """Remembers that a merge on this machine made the conflicts in these bytes, so that their
    first version is its own.
    """
    file = state / OWN
    hashes = [_hash(conflict) for conflict in find_conflicts(_file_text(data))]
    rows = [*read_state_json(file).get("own", []), *hashes]
    overwrite(file, json.dumps({"own": [*dict.fromkeys(rows)][-MOST_OWN:]}).encode())


def find_open_conflicts(ws: Workspace) -> Iterator[OpenConflict]:
    """The first conflict of each entry, in an index in step."""
    paths = [issue.path for issue in ws.index.issues() if issue.code == "conflict-marker"]
    for path in dict.fromkeys(paths):
        filters = Filters(paths=(path,), include_superseded=True)
        rows = ws.index.list_entries(filters, order="oldest", limit=-1)[1]
        stored = sorted(ws.index.entries(rows).values(), key=lambda one: one.entry.there.line)
        text = _file_text(ws.journal.read(path))
        seen = set()
        for conflict in find_conflicts(text):
            line = text.count("\n", 0, conflict.start) + 1
            around = [one for one in stored if one.entry.there.line <= line]
            if around and around[-1].rowid not in seen:
                seen.add(around[-1].rowid)
                versions = [_as_shown(conflict.mine), _as_shown(conflict.theirs)]
                if not _is_first_mine(ws, conflict):
                    versions.reverse()
                yield OpenConflict(around[-1], line, *versions)


def settle_conflict(
    ws: Workspace, entry: Entry, choice: str, *, by_person: bool, confirms: bool
) -> Receipt | None:
    """Keeps one version, or both, of the first conflict that begins in an entry; the text with
    both goes to the trash. Returns the receipt; None if the conflict reaches beyond the entry,
    so that no single one can be restored.

    Raises Refused for an agent, for a private passage, and for `both` of a conflict that holds
    entries; Changed if the conflict is gone.
    """
    if not by_person or (entry.type == "preference" and not confirms):
        raise Refused(
            "Only a person chooses between the two versions.",
            "Ask the user to run `synaptic review` in a terminal, or to open Review.",
        )
    for id in (entry.id, ""):
        opened = open_text(ws, entry.path, id)
        conflicts = find_conflicts(opened.text)
        if not id:
            conflicts = [one for one in conflicts if _begins_in(ws, entry, opened, one)]
        if conflicts:
            break
    else:
        raise Changed("The two versions are one already.", "Load the review again.")
    conflict = conflicts[0]
    if not id and choice == "both":
        raise Refused(
            "The two versions hold entries, and both would have them twice.",
            "Keep one of them, or edit the file.",
        )
    side = choice
    if choice != "both":
        is_first = _is_first_mine(ws, conflict) == (choice == "mine")
        side = "first" if is_first else "second"
    text = _with_choice(opened.text, conflict, side)
    replaced, notices = write_text(ws, entry.path, id, text, opened.seen)
    is_one = [one.id for one in replaced] == [entry.id]
    return make_receipt(entry, notices=notices) if is_one else None


def _begins_in(ws: Workspace, entry: Entry, opened: OpenText, conflict: Conflict) -> bool:
    """True if this is the conflict of a file that a review shows for the entry."""
    line = opened.text.count("\n", 0, conflict.start) + 1
    return any(
        (one.about.entry.id, one.line) == (entry.id, line) for one in find_open_conflicts(ws)
    )


def _with_choice(text: str, conflict: Conflict, side: str) -> str:
    """The text in which the `first` version, the `second` or `both` stand in place of a
    conflict. A heading that the second has of its own replaces that of the entry, if it alone
    is kept.
    """
    before = text[: conflict.start]
    second = conflict.theirs
    head = _SECOND_HEAD.match(second)
    if head:
        second = second[head.end() :]
    if side == "first":
        body = conflict.mine
    elif side == "both":
        heading = f"\\{head[1]}\n" if head else ""
        body = f"{conflict.mine}\n\n{heading}{second}"
    else:
        body = second
        if head and before.count("\n") <= 2:  # it is the heading and the comment of the entry
            before = "".join(f"{line}\n" for line in head.groups() if line)
    return f"{before}{body}{text[conflict.end :]}"


def _is_first_mine(ws: Workspace, conflict: Conflict) -> bool:
    """True if the first version is that of this machine. A conflict that a sync brought was
    made on another machine, which put its own version first.
    """
    own = read_state_json(ws.config.state / OWN).get("own", [])
    return not ws.config.sync.url or _hash(conflict) in own


def _as_shown(version: str) -> str:
    return _COMMENT.sub("", unescape_entry_borders(version, typed=True)).strip("\n")


def _hash(conflict: Conflict) -> str:
    both = f"{conflict.mine}\n=======\n{conflict.theirs}"
    return blake2b(both.encode(), digest_size=8).hexdigest()


def _file_text(data: bytes) -> str:
    """The text of a file; private bytes are blanks."""
    return mask_private(data).replace(MASK, b" ").decode("utf-8", "replace")

"""Two versions of a text that a merge left in one file: finds them, and keeps what a person
chooses.
"""

import json
import re
from collections.abc import Iterator
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from ..config import load_config
from ..errors import Changed, NotFound, Refused
from ..filters import Filters
from ..index.rows import Stored
from ..journal.disk import overwrite, read_state_json
from ..models import Entry, ParsedFile, Receipt, frozen
from ..notes.blocks import MASK, unescape_entry_borders
from ..notes.choices import (
    Pieces,
    choose_in_entry,
    choose_in_file,
    is_in_front_matter,
    join_pieces,
    keep_both_properties,
    visible_latin1,
)
from ..notes.conflicts import Conflict, find_conflicts
from ..notes.privacy import mask_private
from ..workspace.sync import in_step
from ..workspace.workspace import Workspace
from .editing import resolve_own_id, rewrite_by_person
from .receipts import index_now, make_receipt
from .undoing import list_runs, undo_run

ANSWERS = ("mine", "theirs", "both")
UNDO_CHOICE = "undo"
"""The answer that takes the choice in a conflict of a whole file back."""
SETTLE = "settle"
"""The verb of a choice in the log of changes."""
OWN = "conflicts.json"
"""The file in the state folder with hashes of the conflicts that this machine's merges made."""
MOST_OWN = 1_000
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


def count_conflicts(data: bytes | None) -> int:
    """The number of conflicts that a merge left in these bytes of a note."""
    return len(find_conflicts(_file_text(data or b"")))


def find_open_conflicts(ws: Workspace) -> Iterator[OpenConflict]:
    """The first conflict of each entry, in an index in step."""
    paths = [issue.path for issue in ws.index.issues() if issue.code == "conflict-marker"]
    for path in dict.fromkeys(paths):
        filters = Filters(paths=(path,), include_superseded=True)
        rows = ws.index.list_rows(filters, order="oldest", limit=-1)
        stored = sorted(ws.index.entries(rows).values(), key=lambda one: one.entry.there.line)
        text = _file_text(ws.journal.read(path))
        seen = set()
        for conflict in find_conflicts(text):
            line = text.count("\n", 0, conflict.start) + 1
            around = [one for one in stored if one.entry.there.line <= line]
            if around and around[-1].rowid not in seen:
                seen.add(around[-1].rowid)
                versions = [*_versions_to_show(conflict)]
                if not _is_first_mine(ws, conflict):
                    versions.reverse()
                yield OpenConflict(around[-1], line, *versions)


@frozen
class SettledReceipt(Receipt):
    """The result of a choice in a conflict that reaches beyond one entry; `undo` is the key by
    which `undo_choice` takes it back.
    """

    undo: str = ""


def settle_conflict(
    ws: Workspace, entry: Entry, choice: str, *, by_person: bool, confirms: bool
) -> Receipt:
    """Keeps one version, or both, of the first conflict that begins in an entry; the text with
    both goes to the trash. Returns a `SettledReceipt` if more than this entry changed.

    Raises Refused for an agent, and where a text or a private passage would not stay what it
    is; Changed if the conflict is gone.
    """
    if not by_person:
        raise _only_a_person()
    path = entry.path
    resolve_own_id(ws, path, "")
    asked = in_step(ws, lambda _: [*find_open_conflicts(ws)])
    about = next((one for one in asked if one.about.entry.id == entry.id), None)
    key = f"conflict:{entry.short_id}"

    def change(data: bytes, parsed: ParsedFile) -> bytes:
        if not confirms and any(one.type == "preference" for one in parsed.entries):
            raise _only_a_person()
        pieces = _pieces_of_choice(ws, data, parsed, about, choice)
        after = join_pieces(data, pieces)
        if mask_private(after) != join_pieces(mask_private(data), pieces):
            raise Refused(
                "A private passage would not stay what it is; nothing was written.",
                "Make the two versions one in your editor.",
            )
        return after

    with ws.own_journal.doing(SETTLE, key):
        done = rewrite_by_person(ws, path, change, brings_words=True)
    adds_entries = any(one.before is None for one in done.written)
    notices = [*done.notices, *index_now(ws, path)]
    receipt = make_receipt(entry, notices=notices)
    if [one.id for one in done.replaced] == [entry.id] and not adds_entries:
        return receipt
    return SettledReceipt(
        receipt.id, receipt.date, receipt.time, path, notices=receipt.notices, undo=key
    )


def _only_a_person() -> Refused:
    return Refused(
        "Only a person chooses between the two versions.",
        "Ask the user to run `synaptic review` in a terminal, or to open Review.",
    )


def undo_choice(ws: Workspace, key: str, *, by_person: bool) -> Receipt:
    """Brings both versions of a conflict back, byte for byte. Raises NotFound for a key without
    a choice, Refused for an agent, and Changed if the file was changed since.
    """
    choices = {run.what: run for run in reversed(list_runs(ws)) if run.verb == SETTLE}
    if key not in choices:
        raise NotFound(
            "No choice of {key!r} can be taken back.", valid=tuple(choices), key=key[:40]
        )
    if not by_person:
        raise _only_a_person()
    undone = undo_run(ws, choices[key].run, confirms=True)
    [path] = undone.done.files
    conflicts = in_step(ws, lambda _: [*find_open_conflicts(ws)])
    entry = next(one.about.entry for one in conflicts if one.about.entry.path == path)
    return make_receipt(entry, notices=undone.notices)


def _pieces_of_choice(
    ws: Workspace, data: bytes, parsed: ParsedFile, about: OpenConflict | None, choice: str
) -> Pieces:
    """The pieces of a file after a choice in the conflict that a review showed. Raises Changed
    if it is not there any more, and Refused.
    """
    text = visible_latin1(data)
    conflicts = zip(find_conflicts(text), find_conflicts(_file_text(data)), strict=True)
    for conflict, readable in conflicts:
        if not about or {*_versions_to_show(readable)} != {about.mine, about.theirs}:
            continue
        side = choice
        if choice != "both":
            side = "first" if _is_first_mine(ws, readable) == (choice == "mine") else "second"
        if side == "both" and is_in_front_matter(text, conflict):
            return keep_both_properties(text, conflict)
        for entry in parsed.entries:
            place = entry.there
            if place.start <= conflict.start and conflict.end <= place.end:
                return choose_in_entry(text, conflict, side, entry)
        return choose_in_file(
            partial(ws.journal.parse, about.about.entry.path), data, conflict, side
        )
    raise Changed("The two versions are one already.", "Load the review again.")


def _is_first_mine(ws: Workspace, conflict: Conflict) -> bool:
    """True if the first version is that of this machine. A conflict that a sync brought was
    made on another machine, which put its own version first.
    """
    own = read_state_json(ws.config.state / OWN).get("own", [])
    # a server may have been started before `sync --init` wrote the address
    return not load_config(ws.config.home).sync.url or _hash(conflict) in own


def _versions_to_show(conflict: Conflict) -> tuple[str, str]:
    """Both texts without their comments, unless only the comments differ."""
    both = (conflict.mine, conflict.theirs)
    full = [unescape_entry_borders(version, typed=True).strip("\n") for version in both]
    first, second = (_COMMENT.sub("", version).strip("\n") for version in full)
    return (full[0], full[1]) if first == second else (first, second)


def _hash(conflict: Conflict) -> str:
    both = f"{conflict.mine}\n=======\n{conflict.theirs}"
    return blake2b(both.encode(), digest_size=8).hexdigest()


def _file_text(data: bytes) -> str:
    """The text of a file; private bytes are blanks."""
    return mask_private(data).replace(MASK, b" ").decode("utf-8", "replace")

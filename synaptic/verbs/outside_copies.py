"""Tells which copies of an entry a purge cannot reach."""

from typing import NamedTuple

from ..journal.backups import read_last_backup
from ..journal.repository import find_checkout
from ..models import Entry
from ..workspace.workspace import Workspace

_REWRITE = "`git filter-repo` rewrites a history, in each copy of the repository."


class OutsideCopy(NamedTuple):
    """A sentence on a place that may hold the text of an entry, and one on its removal."""

    sentence: str
    removal: str


def find_outside_copies(ws: Workspace, entry: Entry) -> list[OutsideCopy]:
    """Returns the places that may hold an entry after a purge: the git history of the journal,
    and the last backup unless the entry is newer.
    """
    copies = []
    url = ws.config.sync.url
    checkout = find_checkout(ws.config.journal)
    if url:
        sentence = (
            f"Git's history here, at {url} and on your other machines keeps it once synced."
        )
        copies.append(OutsideCopy(sentence, _REWRITE))
    elif checkout:
        sentence = f"Git's history in {checkout.root} keeps it once committed."
        copies.append(OutsideCopy(sentence, _REWRITE))
    backup = read_last_backup(ws.config.state)
    if backup:
        is_newer = entry.dated and backup.at < entry.at <= ws.clock()
        if not is_newer:
            removal = "Delete that backup and earlier ones, and make a new one."
            copies.append(OutsideCopy(f"The backup {backup.file} may hold it.", removal))
    return copies


def outside_copies_notice(ws: Workspace, entry: Entry) -> list[str]:
    """The notice after a purge on what else may hold the text, and what to do; empty without
    such a place.
    """
    copies = find_outside_copies(ws, entry)
    if not copies:
        return []
    sentences = [copy.sentence for copy in copies]
    sentences += [copy.removal for copy in copies]
    return [" ".join([*sentences, "If it was a password, change it."])]

"""Says which preferences are in force: those that a person typed on this machine or confirmed.

Anybody may write a preference into a file that is pulled, synced or imported. So
`.state/preferences.log` keeps who gave each text here, by the id of the entry and the hash of
what it says. Another text waits for a person, unless it stands in a file of the journal without
any mark of a program, and git did not bring it: then a person typed it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from ..errors import JournalError
from ..files import real_path
from ..journal.disk import PREFERENCES as LOG
from ..journal.disk import sync_file, write_all
from ..notes.blocks import project_key
from .checkout import checkout_around

if TYPE_CHECKING:
    from ..models import Entry
    from .workspace import Workspace

Word = Literal["yes", "said", "waits"]


class Consent(NamedTuple):
    """`yes`: in force. `said`: the agent `by` saved it here, in the project at hand. `waits`:
    no briefing shows it.
    """

    word: Word = "waits"
    by: str = ""

    @property
    def mark(self) -> str:
        """Returns how lists mark it; empty for one in force."""
        if self.word == "yes":
            return ""
        return f"unconfirmed, by {self.by}" if self.by else "unconfirmed"


def hash_of_rule(entry: Entry) -> str:
    """The hash of all that a confirmation holds for: text, reach, and what it replaces."""
    return hash_of_text(
        entry.title, entry.content, entry.project, entry.pin, entry.expires, entry.supersedes
    )


def hash_of_text(
    title: str,
    content: str,
    project: str | None,
    pin: bool,
    expires: str | None,
    supersedes: Iterable[str],
) -> str:
    """The hash of a rule that is no Entry yet."""
    reach = project_key(project or ""), pin, expires
    said = repr((title, content, reach, sorted(set(supersedes))))
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()


def note(ws: Workspace, entry: Entry, standing: Consent) -> None:
    """Keeps the standing of this text. Raises OSError."""
    _append(ws, {"id": entry.id, "hash": hash_of_rule(entry), **standing._asdict()})


def standings(ws: Workspace, entries: Iterable[Entry]) -> dict[str, Consent]:
    """The standing of each of these preferences, whole entries, by id.

    One that was typed into a file is noted when it is first seen. Those that were notes for an
    older program wait.
    """
    if ws.published:
        said = ws.index.consents([entry.id for entry in entries])
        return {id: Consent(*consent) for id, consent in said.items()}
    consents, are_older = kept(ws.config.state)
    if are_older:
        entries = [*entries, *every_preference(ws)]
    found = {}
    for entry in entries:
        standing = consents.get((entry.id, hash_of_rule(entry)))
        if standing is None and _is_typed(ws, entry):
            standing = Consent("waits" if are_older or _git_has(ws, entry) else "yes")
            with suppress(OSError):  # a home that cannot be written can be read
                note(ws, entry, standing)
        found[entry.id] = standing or Consent()
    if are_older:
        with suppress(OSError):
            _append(ws, {"older": False})
    return found


def every_preference(ws: Workspace) -> list[Entry]:
    """All preferences, whole, the newest first."""
    from ..models import Filters  # a hook that only reads what is kept needs none of them
    from .readback import read_entries

    every = Filters(types=("preference",), include_superseded=True)
    rows = ws.index.listing(every, order="newest", limit=-1)[1]
    return list(read_entries(ws, rows).values())


def _is_typed(ws: Workspace, entry: Entry) -> bool:
    """True for an entry in a file of the journal itself without any mark of a program."""
    is_own = not ws.journal.roots.of(entry.there.path)[0]
    return is_own and entry.derived_id and not (entry.via or entry.by or entry.pin)


def _git_has(ws: Workspace, entry: Entry) -> bool:
    """True if git's index has this text, in any version of its file: then it may have been
    pulled. True as well if git cannot tell, or is changing files just now.
    """
    from .git import LOG_TIMEOUT_S, git

    folder = ws.config.journal
    path = entry.there.path
    here = checkout_around(real_path(folder))
    if here is None:
        return False
    if (here.git / "index.lock").exists():
        return True
    said = hash_of_rule(entry)
    try:
        named = ("ls-files", "--stage", "-z", "--", f":(literal){path}")
        listed = git(folder, *named, timeout_s=LOG_TIMEOUT_S)
        if listed.returncode:
            return True
        for version in listed.stdout.split(b"\0")[:-1]:
            blob = version.split()[1].decode()
            data = git(folder, "cat-file", "blob", blob, timeout_s=LOG_TIMEOUT_S).stdout
            read = ws.journal.parse(path, data).entries
            if said in map(hash_of_rule, read):
                return True
    except JournalError:
        return True
    return False


def kept(state: Path) -> tuple[dict[tuple[str, str], Consent], bool]:
    """(the standings by id and hash, True while those from before an upgrade are not noted)."""
    consents = {}
    are_older = False
    lines: list[str] = []
    with suppress(OSError):
        lines = (state / LOG).read_text("utf-8", "replace").splitlines()
    for line in lines:
        with suppress(ValueError, KeyError, TypeError):  # torn by a crash
            row = json.loads(line)
            are_older = row.get("older", are_older)
            consents[row["id"], row["hash"]] = Consent(row["word"], row["by"])
    return consents, are_older


def _append(ws: Workspace, row: dict[str, object]) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    log = os.open(ws.config.state / LOG, flags, 0o600)
    try:
        write_all(log, f"\n{json.dumps(row)}\n".encode())  # whatever a crash left above it
        sync_file(log)
    finally:
        os.close(log)

"""Sentences of agents' sessions that a person may want to keep: each is an entry once a person says so, not before.

`.state/inbox/` has a JSON file of what waits for each digest, by its id, and one of the keys of what was answered.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from ..errors import InvalidArgument, Refused, one_of
from ..journal.disk import make_dirs, overwrite, unlink
from ..models import Entry, Filters, Receipt
from ..notes.blocks import project_key
from ..readers.record import Record
from ..search.search import any_of_all
from ..workspace.rows import hash_of
from ..workspace.sync import in_step
from ..workspace.workspace import Workspace
from .writing import save

ANSWERS = ("keep", "edit", "refuse")
MOST = 300
"""Digests, the newest, of which anything waits."""
EVER = timedelta(days=400_000)


def inbox(ws: Workspace, *, project: Sequence[str] = ()) -> dict[str, tuple[Record, Entry]]:
    """By its key what waits, and the digest that it comes from; of the newest session first.

    What an entry says already, and what has lost its digest, is left out.
    """
    filters = any_of_all(Filters(projects=tuple(map(project_key, project)), sessions=True))
    answered = _read(ws, "answered")

    def run(_: object) -> dict[str, tuple[Record, Entry]]:
        digests = ws.index.entries(ws.index.listing(filters, order="newest", limit=MOST)[1]).values()
        waiting = [(one, of.entry) for of in digests for one in _waiting(ws, of.entry.id) if one.key not in answered]
        waiting.sort(key=lambda item: item[1].at, reverse=True)
        return {
            one.key: (one, of) for one, of in waiting if not ws.index.same_content(hash_of(one.text), ws.clock(), EVER)
        }

    return in_step(ws, run)


def file(ws: Workspace, digest: str, proposals: Iterable[Record]) -> None:
    """Lets these proposals of a digest wait, but for answered ones, in place of others: without any, none is left."""
    answered, folder = _read(ws, "answered"), ws.journal.inbox
    rows = [[one.key, one.type, one.text, str(one.at), one.lines] for one in proposals if one.key not in answered]
    make_dirs(folder, private=True)
    if rows:
        overwrite(folder / digest, json.dumps(rows).encode())
    for gone in [*sorted(folder.glob("[0-9]*"))[:-MOST], *([] if rows else [folder / digest])]:
        unlink(gone)


def answer(ws: Workspace, said: str, key: str, *, text: str = "", by_person: bool = True) -> Receipt | None:
    """The receipt of the entry that keeping a proposal makes, of `text` where it was edited; None for refusing.

    Raises InvalidArgument for an unknown answer or key, and Refused for an agent.
    """
    waiting, said, receipt = inbox(ws), one_of(ANSWERS, said, "answer"), None
    if not by_person:
        raise Refused("Only a person answers.", hint="Ask them to type `synaptic inbox` in a terminal of their own.")
    if key not in waiting:
        raise InvalidArgument(f"Nothing waits under {key!r}.", hint="`synaptic inbox` lists what waits.")
    one, digest = waiting[key]
    if said != "refuse":
        receipt = save(
            ws, text or one.text, type=one.type, at=one.at, project=digest.project or "", by=digest.by,
            via="import:inbox", parent=digest.id,
        )  # fmt: skip
    overwrite(ws.journal.inbox / "answered", json.dumps([*_read(ws, "answered"), key]).encode())
    for path in ws.journal.inbox.glob("[0-9]*"):
        if key.encode() in path.read_bytes():
            file(ws, path.name, _waiting(ws, path.name))
    return receipt


def _waiting(ws: Workspace, digest: str) -> list[Record]:
    return [
        Record(key=key, type=type, text=text, at=datetime.fromisoformat(at), lines=lines)
        for key, type, text, at, lines in _read(ws, digest)
    ]


def _read(ws: Workspace, name: str) -> list[Any]:
    with suppress(OSError, ValueError):
        return list(json.loads((ws.journal.inbox / name).read_bytes()))
    return []

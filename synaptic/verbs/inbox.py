"""Sentences of agents' sessions that a person may want to keep: each is an entry once a person
says so, not before.

`.state/inbox/` has a JSON file of what waits for each digest, by its id, and one of the keys of
what was answered.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from ..errors import InvalidArgument, Refused, one_of
from ..journal.disk import make_dirs, overwrite, unlink
from ..models import Filters, Receipt
from ..notes.blocks import project_key
from ..search.search import any_of_all
from ..workspace.rows import hash_of
from ..workspace.sync import in_step
from ..workspace.workspace import Workspace
from .writing import save

ANSWERS = ("keep", "edit", "refuse")
MOST = 300
"""Digests, the newest, of which anything waits."""


def inbox(ws: Workspace, *, project: Sequence[str] = ()) -> list[dict[str, Any]]:
    """What waits, of the newest session first: `Record.proposed` with the id of its digest,
    session, project, client.

    What an entry says already, and what has lost its digest, is left out.
    """
    filters = any_of_all(Filters(projects=tuple(map(project_key, project)), sessions=True))
    answered, ever = _read(ws, "answered"), timedelta(days=400_000)

    def run(_: object) -> list[dict[str, Any]]:
        rows = ws.index.listing(filters, order="newest", limit=MOST)[1]
        digests, waiting = ws.index.entries(rows), dict[str, dict[str, Any]]()
        for of in (digests[row].entry for row in rows):
            for one in _read(ws, of.id):
                if one["key"] not in answered and not ws.index.same_content(
                    hash_of(one["text"]), ws.clock(), ever
                ):
                    about = {
                        "digest": of.id,
                        "session": of.title,
                        "project": of.project,
                        "client": of.by,
                    }
                    waiting.setdefault(one["key"], one | about)
        return list(waiting.values())

    return in_step(ws, run)


def file(ws: Workspace, digest: str, proposals: Iterable[dict[str, Any]]) -> None:
    """Lets these proposals of a digest wait, but for answered ones, in place of others: without
    any, none is left.
    """
    answered, folder = _read(ws, "answered"), ws.journal.inbox
    rows = [one for one in proposals if one["key"] not in answered]
    make_dirs(folder, private=True)
    if rows:
        overwrite(folder / digest, json.dumps(rows).encode())
    for gone in [*sorted(folder.glob("[0-9]*"))[:-MOST], *([] if rows else [folder / digest])]:
        unlink(gone)


def answer(
    ws: Workspace, said: str, key: str, *, text: str = "", by_person: bool = True
) -> Receipt | None:
    """The receipt of the entry that keeping a proposal makes, of `text` where it was edited;
    None for refusing.

    Raises InvalidArgument for an unknown answer or key, and Refused for an agent.
    """
    one = next((one for one in inbox(ws) if one["key"] == key), None)
    said, receipt = one_of(ANSWERS, said, "answer"), None
    if not by_person:
        raise Refused(
            "Only a person answers.",
            hint="Ask them to type `synaptic inbox` in a terminal of their own.",
        )
    if one is None:
        raise InvalidArgument(
            f"Nothing waits under {key!r}.", hint="`synaptic inbox` lists what waits."
        )
    if said != "refuse":
        label = re.compile(rf"{one['type']}[:—–-]\s*", re.IGNORECASE).match(one["text"])
        own = one["text"][label.end() :] if label else one["text"]
        receipt = save(
            ws,
            text or own[:1].upper() + own[1:],
            type=one["type"],
            at=datetime.fromisoformat(one["at"]),
            by=one["client"],
            project=one["project"] or "",
            parent=one["digest"],
            via="import:inbox",
        )
    overwrite(ws.journal.inbox / "answered", json.dumps([*_read(ws, "answered"), key]).encode())
    for path in ws.journal.inbox.glob("[0-9]*"):
        if key.encode() in path.read_bytes():
            file(ws, path.name, _read(ws, path.name))
    return receipt


def _read(ws: Workspace, name: str) -> list[Any]:
    with suppress(OSError, ValueError):
        return list(json.loads((ws.journal.inbox / name).read_bytes()))
    return []

"""The page on which a person chooses the later entry that replaces an earlier one."""

from collections.abc import Sequence
from contextlib import suppress

from starlette.requests import Request
from starlette.responses import Response

from ...errors import Ambiguous, NotFound
from ...filters import Filters
from ...index.rows import Stored
from ...search.near import find_near_rows
from ...verbs import browse
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace
from .site import Page, Values, name_entries, page, run_verb

MOST_CHOICES = 10
LEAST_ASKED = 2.5
"""A person is asked after a save about an entry that is closer than this, in standard
deviations above the mean of the project. An agent is told of more (`search/near`).
"""


def keep_close(ws: Workspace, id: str, near: Sequence[str]) -> list[str]:
    """Returns those of the entries `near` a saved one about which a person is asked: those that
    are closer by meaning, or all while it has no vector.
    """

    def read(_: object) -> list[str]:
        own = ws.index.resolve(id)
        closeness = dict(find_near_rows(ws, own))
        rows = ws.index.rows_of_ids(near)
        close = [one for one in near if closeness.get(rows.get(one, 0), 0) >= LEAST_ASKED]
        return close if closeness else [*near]

    return in_step(ws, read)


async def _choose_replacement(request: Request) -> Response:
    """Shows the later entries that are like an entry, or those that a search finds, each with a
    button; the answer is one to a finding of a review, which says so and can be taken back.
    """
    query = request.query_params.get("q", "").strip()
    values = await run_verb(request, _choices, request.path_params["id"], query)
    return await page(request, "replaced.html", query=query, **values)


def _choices(ws: Workspace, id: str, query: str) -> Values:
    [entry] = browse.get(ws, [id]).entries
    words = query or entry.title
    since = Filters(since=entry.date)
    hits = browse.find(ws, words, filters=since, limit=2 * MOST_CHOICES).entries

    def find(_: object) -> Values:
        own = ws.index.resolve(entry.id)
        rows = [] if query else [row for row, _ in find_near_rows(ws, own)]
        rows += ws.index.rows_of_ids([one.id for one in hits]).values()
        with suppress(NotFound, Ambiguous):
            rows = [ws.index.resolve(query).rowid, *rows]
        stored = ws.index.entries(list(dict.fromkeys(rows)))
        later = [row for row, one in stored.items() if _may_replace(one, own)]
        return {"entry": entry, "found": name_entries(ws, later[:MOST_CHOICES])}

    return in_step(ws, find)


def _may_replace(one: Stored, own: Stored) -> bool:
    """True for a later entry of a day; a file of the person's own carries no such mark."""
    is_later = one.rowid != own.rowid and one.entry.at >= own.entry.at
    return is_later and one.entry.dated and not one.entry.there.whole_file


PAGES = [Page("/entry/{id}/replaced", "writer", _choose_replacement)]

"""Reads the newest entries, the pinned ones, those about a file, and the history of one."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from ..errors import check_range
from ..filters import Filters
from ..language.query import MAX_LIMIT, build_filters
from ..models import TYPES
from ..notes.reading import without_surrogates
from ..search.search import filters_and_own_project, search
from ..workspace.checkout import working_checkout, working_scope
from ..workspace.sync import SyncReport, in_step
from ..workspace.workspace import Workspace
from .browse import Listing, list_found, make_listing

NEWEST = 10
"""Entries of `recent` without a limit and without a query."""
RECENT_POOL = 50


def recent(
    ws: Workspace,
    query: str | None = None,
    *,
    project: str | Sequence[str] | None = None,
    limit: int | None = None,
    load_model: bool = True,
) -> Listing:
    """The newest entries first, of any of these projects, 10 without a `limit`. Digests of
    sessions come after all that was saved.

    With a query: of the 50 newest entries the `limit` most relevant, newest first; without a
    limit those that fit, as in a search. Older entries never appear.
    """
    check_range("limit", limit, 1, MAX_LIMIT)
    filters = build_filters(now=ws.clock(), project=project or ())
    here = working_checkout(ws)
    wanted, own = filters_and_own_project(ws, filters, here)
    sessions = Filters(sessions=True)
    kinds = [wanted.leaving_out(sessions), replace(wanted, sessions=True)]
    query = (query or "").strip()
    most = RECENT_POOL if query else limit or NEWEST

    def run(report: SyncReport) -> tuple[list[int], Listing]:
        rows: list[int] = []
        for kind in kinds:
            left = most - len(rows)
            rows += ws.index.list_rows(kind, order="newest", limit=left, first=own)
        if query:
            return rows, Listing(0, ())
        return rows, make_listing(ws, report, ws.index.count_entries(wanted), rows, here)

    pool, listing = in_step(ws, run)
    if not query:
        return listing
    result = search(
        ws,
        query,
        filters=filters,
        limit=limit,
        within=pool,
        order="newest",
        load_model=load_model,
    )
    # a query without words gives a list
    return list_found(replace(result, hits=result.hits[: limit or NEWEST]))


def list_pinned(ws: Workspace) -> Listing:
    """The entries pinned for the project of the working directory and for all projects."""
    scope = working_scope(ws.config, working_checkout(ws))
    return make_listing_of_rows(ws, lambda: ws.index.pinned_entries(scope))


def history(ws: Workspace, id: str) -> Listing:
    """An entry with all that it replaced, that it continues, and the reverse, in steps, oldest
    first. Raises NotFound and Ambiguous.
    """

    def find_rows() -> list[int]:
        index = ws.index
        moments: dict[int, datetime] = {}
        waiting = index.replacement_chain(index.resolve(id).rowid)
        while waiting:
            stored = index.entries([row for row in waiting if row not in moments])
            moments |= {row: one.entry.at for row, one in stored.items()}
            waiting = []
            for one in stored.values():
                waiting += index.replacement_chain(one.rowid)
                family = [Filters(parent=one.entry.id, include_superseded=True)]
                if one.entry.parent:
                    family.append(Filters(ids=(one.entry.parent,), include_superseded=True))
                for filters in family:
                    waiting += index.list_rows(filters, order="oldest", limit=-1)
        return sorted(moments, key=moments.__getitem__)

    return make_listing_of_rows(ws, find_rows)


def make_listing_of_rows(ws: Workspace, find: Callable[[], list[int]]) -> Listing:
    """The entries of the rowids that `find` returns, in the same order."""

    def run(report: SyncReport) -> Listing:
        rowids = find()
        return make_listing(ws, report, len(rowids), rowids)

    return in_step(ws, run)


def recall_for_file(ws: Workspace, file: Path) -> Listing:
    """The entries of any type about `file` that are in force, the best match first; the hook of
    an edit shows some of them.
    """
    from ..index.plain_index import PlainIndex  # only one command needs them
    from .blame import Memory

    named = Path(without_surrogates(str(file))).absolute()

    def find_rows() -> list[int]:
        memory = Memory(ws.config, PlainIndex(ws.index.file.db))
        return [one.entry.rowid for one in memory.entries_about_file(named, TYPES)]

    listing = make_listing_of_rows(ws, find_rows)
    if listing.entries:
        return listing
    notice = f"No entry names {file} or its folder: save one with `--file`."
    return replace(listing, notices=(*listing.notices, notice))

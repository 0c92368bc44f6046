"""Reads entries by id, by time, and by their types, tags, files and projects."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date as calendar_day
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from ..errors import InvalidArgument, NotFound, SynapticError, check_range, one_of
from ..index.rows import Position, instant, units
from ..language.query import MAX_LIMIT, build_filters, read_date
from ..models import ORDERS, Entry, Facets, Filters, Order, ParseIssue, SearchResult
from ..notes.blocks import project_key
from ..notes.marks import link_key
from ..search.search import any_of_all, known_costs, of_asker, search
from ..workspace.changes import marked
from ..workspace.checkout import project_of, working_checkout
from ..workspace.embed import Progress, embed_pending
from ..workspace.readback import read_entries, read_hits
from ..workspace.sync import SyncReport, in_step
from ..workspace.workspace import Workspace
from .mentions import Links, linked

NEWEST = 10
"""Entries of `recent` without a limit and without a query."""
RECENT_POOL = 50
OTHER_YEARS = 5
"""Entries that a day shows from the same day of other years."""
EXPORTED = 500
"""Entries that an export holds in memory."""
Page = TypeVar("Page")


@dataclass(frozen=True, slots=True)
class Listing:
    """Entries in order, `total` before `limit`; `superseded_by` leads from a superseded id to
    the id that replaces
    it. `links` are by id."""

    total: int
    entries: tuple[Entry, ...]
    cursor: str | None = None
    superseded_by: dict[str, str] = field(default_factory=dict)
    links: dict[str, Links] = field(default_factory=dict)
    facets: Facets | None = None
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Days:
    """The entries of the days from `since` to `until`, oldest first; dates are `YYYY-MM-DD`.

    `before` and `after` are the nearest other days with entries. `on_this_day` are entries of
    other years.
    """

    since: str
    until: str
    found: Listing
    before: str | None
    after: str | None
    on_this_day: Listing


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds of a stage: half of the calls took no longer than `p50`, 95 % no longer than
    `p95`.
    """

    p50: float
    p95: float


@dataclass(frozen=True, slots=True)
class Figures:
    """How long the last calls of a verb took, by stage; `total` is the whole call."""

    calls: int
    stages: dict[str, Latency]


@dataclass(frozen=True, slots=True)
class Status:
    """`months`: entries of each month. `figures`: how long the last calls of each verb took.

    `costs`: by strategy and layer, the milliseconds within which 95 % of the last searches
    stayed; `auto` goes by it. `roots`: of each root beside the journal, by name (`@vault`), its
    `folder` and the number of its `files`.
    """

    home: Path
    journal: Path
    files: int
    entries: int
    chunks: int
    pending_vectors: int
    queued: int
    model: str
    index_bytes: int
    issues: tuple[ParseIssue, ...]
    facets: Facets
    months: tuple[tuple[str, int], ...]
    figures: dict[str, Figures]
    costs: dict[str, dict[str, float]]
    roots: dict[str, dict[str, Any]]
    notices: tuple[str, ...] = ()


def get(ws: Workspace, ids: Sequence[str]) -> Listing:
    """The whole entries of these ids (short ids too), in the order of the ids.

    An id that fits no entry is a notice if another id fits one. Raises NotFound or Ambiguous if
    no id fits.
    """
    if not ids:
        raise InvalidArgument(
            "No id was given.", hint="Ids are shown by recent, find and search."
        )

    def run(report: SyncReport) -> Listing:
        found: list[int] = []
        missing: list[SynapticError] = []
        for id in dict.fromkeys(ids):
            try:
                rowid = ws.index.resolve(id.strip()).rowid
                found += [] if rowid in found else [rowid]
            except SynapticError as error:
                missing.append(error)
        if not found:
            raise missing[0]
        if report.behind and (
            absent := [error for error in missing if isinstance(error, NotFound)]
        ):
            raise absent[0]  # the entry may be in the part that is being written
        listing = _listing(ws, report, len(found), found, missing)
        return replace(
            listing,
            links={
                e.id: linked(ws, [row]) for e, row in zip(listing.entries, found, strict=False)
            },
        )

    listing = in_step(ws, run)
    if ws.config.track_access:
        ws.index.record(
            "get", read=[entry.id for entry in listing.entries], at=instant(ws.clock())
        )
    return listing


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
    filters = build_filters(now=ws.clock(), project=project or ())
    wanted, own = of_asker(ws, filters, working_checkout(ws.config))
    if not query or not query.strip():
        check_range("limit", limit, 1, MAX_LIMIT)
        return in_step(
            ws,
            lambda report: _listing(
                ws, report, *_saved_first(ws, wanted, own, limit or NEWEST)
            ),
        )
    pool = in_step(ws, lambda _: _saved_first(ws, wanted, own, RECENT_POOL)[1])
    found = search(ws, query, filters=filters, limit=limit, within=pool, load_model=load_model)
    newest = sorted(
        found.hits, key=lambda hit: (hit.entry.dated, instant(hit.entry.at)), reverse=True
    )
    newest.sort(key=lambda hit: own not in (None, project_key(hit.entry.project or "")))
    return _of_search(
        replace(found, hits=tuple(newest[: limit or NEWEST]))
    )  # a query without words gives a list


def _saved_first(
    ws: Workspace, filters: Filters, own: str | None, limit: int
) -> tuple[int, list[int]]:
    """(total, rows): the newest entries that were saved, and digests of sessions where these
    leave room.
    """
    digests = Filters(sessions=True)
    saved, rows = ws.index.listing(
        replace(filters, without=digests), order="newest", limit=limit, first=own
    )
    others, more = ws.index.listing(
        replace(filters, sessions=True), order="newest", limit=limit - len(rows), first=own
    )
    return saved + others, rows + more


def pinned(ws: Workspace) -> Listing:
    """What sessions here begin with: entries pinned for the project of the working directory
    and for all.
    """
    key = project_key(project_of(ws.config, working_checkout(ws.config)) or "") or None

    def run(report: SyncReport) -> Listing:
        rowids = ws.index.pinned(key)
        return _listing(ws, report, len(rowids), rowids)

    return in_step(ws, run)


def find(
    ws: Workspace,
    query: str | None = None,
    *,
    filters: Filters | None = None,
    order: str | None = None,
    around: str | None = None,
    facets: bool = False,
    limit: int = 20,
    cursor: str | None = None,
    load_model: bool = True,
) -> Listing:
    """Entries that pass the filters: with a query those that fit it, by relevance, a timeline
    without one.

    `order` defaults to relevance with a query and to newest without; without, the asker's
    project comes first. `around` (an id) gives the entries before and after that entry, oldest
    first. `cursor` comes from the previous answer and stays right while entries arrive.
    `facets` adds the counts of types, tags and projects. Undated entries come last, and no date
    filter lets them pass.
    """
    check_range("limit", limit, 1, MAX_LIMIT)
    chosen = one_of(ORDERS, order or ("relevance" if query else "newest"), "order")
    filters = filters or Filters()
    if query and query.strip():
        if cursor or around:
            raise InvalidArgument(
                "cursor and around work only without a query.", hint="Leave the query out."
            )
        return _ranked(ws, query, filters, chosen, limit, facets, load_model)

    def run(report: SyncReport) -> Listing:
        wanted, own = of_asker(ws, _resolved(ws, filters), working_checkout(ws.config))
        own = None if order else own
        counts = ws.index.facets(wanted) if facets else None
        if around:
            total, rowids = _around(ws, wanted, around, limit)
            return _listing(ws, report, total, rowids, facets=counts)
        position, rest = None, False
        if cursor:
            own, rest, position = _read_cursor(cursor, chosen)
        total, rowids = ws.index.listing(
            wanted, order=chosen, limit=limit + 1, after=position, first=own, after_first=rest
        )
        more = len(rowids) > limit
        rowids = rowids[:limit]
        paged = chosen not in ("importance", "access")
        following = _write_cursor(ws, rowids[-1], chosen, own) if more and paged else None
        return _listing(ws, report, total, rowids, cursor=following, facets=counts)

    return in_step(ws, run)


def days(
    ws: Workspace,
    date: str = "today",
    *,
    week: bool = False,
    limit: int | None = None,
    cursor: str | None = None,
) -> Days:
    """The entries of a day, or of the week that holds it, from Monday on. Raises
    InvalidArgument for no date.

    With a `limit` its listing has the `cursor` of the next ones.
    """
    day = calendar_day.fromisoformat(read_date(date, now=ws.clock(), name="date"))
    first = day - timedelta(day.weekday()) if week else day
    since, until = first.isoformat(), (first + timedelta(6 if week else 0)).isoformat()
    wanted = Filters(since=since, until=until, include_superseded=True)

    def run(report: SyncReport) -> Days:
        position = _read_cursor(cursor, "oldest")[2] if cursor else None
        total, rowids = ws.index.listing(
            wanted, order="oldest", limit=limit + 1 if limit else -1, after=position
        )
        following = (
            _write_cursor(ws, rowids[limit - 1], "oldest", None)
            if limit and len(rowids) > limit
            else None
        )
        before, after, other_years = ws.index.calendar(since, until, limit=OTHER_YEARS)
        found = _listing(ws, report, total, rowids[:limit], cursor=following)
        then = _listing(ws, report, len(other_years), other_years)
        return Days(since, until, found, before, after, then)

    return in_step(ws, run)


def status(ws: Workspace) -> Status:
    """The paths, the counts, the waiting saves and vectors, and the pieces that could not be
    read.
    """

    def run(report: SyncReport) -> Status:
        counts = ws.index.counts()
        facets = ws.index.facets(Filters(include_superseded=True))
        files = Counter(ws.journal.roots.of(path)[0] for path in ws.index.proofs())
        calls: dict[str, list[dict[str, float]]] = {}
        for call in ws.index.calls():
            calls.setdefault(call.verb, []).append(call.stages)
        return Status(
            home=ws.config.home,
            journal=ws.config.journal,
            files=counts.files,
            entries=counts.entries,
            chunks=counts.chunks,
            pending_vectors=counts.pending_passages,
            queued=0,
            model=ws.embedder.name,
            index_bytes=counts.bytes,
            issues=ws.index.issues(),
            facets=facets,
            months=facets.months,
            figures={verb: _figures(stages) for verb, stages in calls.items()},
            costs={name: dict(layers) for name, layers in known_costs(ws).stages.items()},
            roots={
                name: {"folder": root, "files": files[name]}
                for name, root in ws.config.roots.items()
                if name
            },
            notices=(*ws.config.notices, *report.absent),
        )

    return in_step(ws, run)


def _figures(calls: Sequence[Mapping[str, float]]) -> Figures:
    stages = {name for call in calls for name in call}
    by_stage = {name: sorted(call[name] for call in calls if name in call) for name in stages}
    latencies = {
        name: Latency(_quantile(ms, 0.5), _quantile(ms, 0.95)) for name, ms in by_stage.items()
    }
    return Figures(len(calls), dict(sorted(latencies.items(), key=lambda item: -item[1].p50)))


def _quantile(ordered: Sequence[float], share: float) -> float:
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 1)


def _listing(
    ws: Workspace,
    report: SyncReport,
    total: int,
    rowids: Sequence[int],
    missing: Sequence[SynapticError] = (),
    *,
    cursor: str | None = None,
    facets: Facets | None = None,
) -> Listing:
    entries = marked(ws, read_entries(ws, rowids))
    ordered = tuple(entries[rowid] for rowid in rowids if rowid in entries)
    return Listing(
        total,
        ordered,
        cursor=cursor,
        superseded_by=ws.index.superseded_by([entry.id for entry in ordered]),
        facets=facets,
        notices=(*report.notices, *map(str, missing)),
    )


def _ranked(
    ws: Workspace,
    query: str,
    filters: Filters,
    order: Order,
    limit: int,
    facets: bool,
    load_model: bool,
) -> Listing:
    wanted = in_step(ws, lambda _: _resolved(ws, filters))
    found = search(
        ws,
        query,
        filters=wanted,
        limit=limit,
        order=order,
        only_fitting=True,
        load_model=load_model,
    )
    return _of_search(
        found, in_step(ws, lambda _: ws.index.facets(any_of_all(wanted))) if facets else None
    )


def _of_search(found: SearchResult, facets: Facets | None = None) -> Listing:
    superseded = {hit.entry.id: hit.superseded_by for hit in found.hits if hit.superseded_by}
    entries = tuple(hit.entry for hit in found.hits)
    return Listing(
        found.total, entries, superseded_by=superseded, facets=facets, notices=found.notices
    )


def _resolved(ws: Workspace, filters: Filters) -> Filters:
    """The filters with the whole ids of entries that are given by a part of it; a page need not
    exist.
    """
    if filters.parent:
        filters = replace(filters, parent=ws.index.resolve(filters.parent).entry.id)
    if filters.links_to and not ws.index.named([link_key(filters.links_to)]):
        with suppress(NotFound):
            filters = replace(filters, links_to=ws.index.resolve(filters.links_to).entry.id)
    return filters


def _around(ws: Workspace, filters: Filters, id: str, limit: int) -> tuple[int, list[int]]:
    """The number of entries, and the rows of the entry and its neighbours in time, oldest
    first.

    Undated entries are neighbours of each other only.
    """
    centre = ws.index.resolve(id)
    at = ws.index.standings([centre.rowid])[centre.rowid].position
    total, after = ws.index.listing(filters, order="oldest", limit=limit, after=at)
    before = ws.index.listing(filters, order="newest", limit=limit, after=at)[1]
    found = ws.index.standings([*before, *after])
    before, after = (
        [row for row in rows if found[row].dated == at[0]] for rows in (before, after)
    )
    half = (limit - 1) // 2
    back = max(half, limit - 1 - len(after))
    earlier = before[:back]
    return total, [*reversed(earlier), centre.rowid, *after[: limit - 1 - len(earlier)]]


def _write_cursor(ws: Workspace, rowid: int, order: Order, own: str | None) -> str:
    last = ws.index.standings([rowid])[rowid]
    position = json.dumps([order, own, last.project != own, *last.position])
    return base64.urlsafe_b64encode(position.encode()).decode().rstrip("=")


def _read_cursor(cursor: str, order: Order) -> tuple[str | None, bool, Position]:
    """(the project that comes first, whether all of it was shown, where the last entry stands)."""
    try:
        raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        kind, own, rest, dated, at, path, seq = json.loads(raw)
        position = (int(bool(dated)), int(at), str(path), int(seq))
        for number in position[1::2]:  # what SQLite takes
            number.to_bytes(8, signed=True)
        f"{own}{path}".encode()
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise InvalidArgument(
            "The cursor is not valid.", hint="Use the cursor of the previous answer."
        ) from error
    if kind != order:
        raise InvalidArgument(
            f"The cursor belongs to the order {kind!r}, not {order!r}.", hint="Keep the order."
        )
    return str(own) if own else None, bool(rest), position


def export(ws: Workspace, filters: Filters) -> Iterator[Entry]:
    """The whole entries that pass, oldest first, without private passages; those too that
    arrive meanwhile.
    """
    for page in _pages(ws, filters, partial(read_entries, ws)):
        yield from page.values()


def export_lance(
    ws: Workspace, filters: Filters, folder: Path, progress: Progress | None = None
) -> int:
    """Writes the passages of the entries that pass as a table in Lance format; returns their
    number.

    A row is a passage, which is what a search compares: its text and its vector, None where the
    model fails on it, with the id and the marks of its entry. Raises InvalidArgument where the
    folder is there or the package is not.
    """
    try:
        import lance
        import pyarrow as pa
    except ImportError as error:
        hint = (
            "Install it, as you installed Synaptic: pip install 'synaptic-journal[lance]', "
            "or with "
            "uv or pipx."
        )
        raise InvalidArgument(
            "The package pylance, which --lance needs, is not installed.", hint=hint
        ) from error
    if folder.exists():
        raise InvalidArgument(
            f"{folder} is there already.", hint="Name a new folder, such as notes.lance."
        )
    in_step(ws, lambda _: None)
    ws.embedder.load()
    embed_pending(ws, budget_s=None, progress=progress)
    texts = {name: pa.string() for name in ("id", "title", "text", "type", "project", "path")}
    others = {"at": pa.timestamp("us", "UTC"), "tags": pa.list_(pa.string())}
    schema = pa.schema(
        texts | others | {"vector": pa.list_(pa.float32(), ws.embedder.dimensions)}
    )

    def batch(rowids: Sequence[int]) -> pa.RecordBatch:
        chunks = ws.index.chunks_of(rowids)
        entries, passages = read_hits(
            ws, rowids, [chunk for each in chunks.values() for chunk in each]
        )
        vectors = ws.index.vectors(list(passages))
        rows = [
            {name: getattr(entry, name, None) for name in schema.names}
            | {"path": entry.there.path, "text": passages[chunk][0]}
            | {"vector": units([vectors[chunk]])[0] if chunk in vectors else None}
            for rowid, entry in entries.items()
            for chunk in chunks.get(rowid, ())
        ]
        return pa.RecordBatch.from_pylist(rows, schema)

    batches = pa.RecordBatchReader.from_batches(schema, _pages(ws, filters, batch))
    return int(lance.write_dataset(batches, folder).count_rows())


def _pages(
    ws: Workspace, filters: Filters, read: Callable[[Sequence[int]], Page]
) -> Iterator[Page]:
    """What `read` makes of the rows of each EXPORTED entries."""
    after: Position | None = None

    def run(_: SyncReport) -> tuple[Page, Position | None]:
        rowids = ws.index.listing(filters, order="oldest", limit=EXPORTED, after=after)[1]
        last = ws.index.standings(rowids[-1:])
        return read(rowids), last[rowids[-1]].position if rowids else None

    while True:
        page, after = in_step(ws, run)
        if after is None:
            return
        yield page

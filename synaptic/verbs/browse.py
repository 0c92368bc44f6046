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
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from ..errors import InvalidArgument, NotFound, SynapticError, check_range, one_of
from ..index.rows import Position, instant, units
from ..language.query import MAX_LIMIT, build_filters, read_date
from ..models import ORDERS, Entry, Facets, Filters, Hit, Order, ParseIssue, SearchResult
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
    """Entries in order. `total` counts them before `limit`. `superseded_by` leads from an id to
    the id that replaces it; `links` are by id.
    """

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
    """Times of the last calls of a verb, by stage; `total` is the whole call."""

    calls: int
    stages: dict[str, Latency]


@dataclass(frozen=True, slots=True)
class Status:
    """`months`: entries of each month. `figures`: times of the last calls of each verb.

    `costs`: by strategy and layer, the milliseconds within which 95 % of the last searches
    stayed; `auto` chooses by them. `roots`: by name (`@vault`), the `folder` and the number of
    `files` of each root beside the journal.
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
        rowids: dict[int, None] = {}
        errors: list[SynapticError] = []
        for id in dict.fromkeys(ids):
            try:
                rowids[ws.index.resolve(id.strip()).rowid] = None
            except SynapticError as error:
                errors.append(error)
        if not rowids:
            raise errors[0]
        for absent in errors:
            if report.behind and isinstance(absent, NotFound):
                raise absent  # the entry may be in the part that is being written
        listing = _listing(ws, report, len(rowids), list(rowids), errors)
        pairs = zip(listing.entries, rowids, strict=False)
        return replace(listing, links={entry.id: linked(ws, [row]) for entry, row in pairs})

    listing = in_step(ws, run)
    if ws.config.track_access:
        opened = [entry.id for entry in listing.entries]
        ws.index.counters.record_reads(opened, instant(ws.clock()))
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

        def run(report: SyncReport) -> Listing:
            total, rowids = _saved_first(ws, wanted, own, limit or NEWEST)
            return _listing(ws, report, total, rowids)

        return in_step(ws, run)
    pool = in_step(ws, lambda _: _saved_first(ws, wanted, own, RECENT_POOL)[1])
    found = search(ws, query, filters=filters, limit=limit, within=pool, load_model=load_model)

    def place(hit: Hit) -> tuple[bool, bool, int]:
        is_own = own in (None, project_key(hit.entry.project or ""))
        return is_own, hit.entry.dated, instant(hit.entry.at)

    newest = sorted(found.hits, key=place, reverse=True)
    # a query without words gives a list
    return _of_search(replace(found, hits=tuple(newest[: limit or NEWEST])))


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
    """The entries pinned for the project of the working directory and for all projects."""
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
    """Entries that pass the filters: by relevance with a query, a timeline without one.

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
        if order:
            own = None
        counts = ws.index.facets(wanted) if facets else None
        if around:
            total, rowids = _around(ws, wanted, around, limit)
            return _listing(ws, report, total, rowids, facets=counts)
        position = None
        own_is_shown = False
        if cursor:
            own, own_is_shown, position = _read_cursor(cursor, chosen)
        total, rowids = ws.index.listing(
            wanted,
            order=chosen,
            limit=limit + 1,
            after=position,
            first=own,
            after_first=own_is_shown,
        )
        following = None
        if len(rowids) > limit and chosen not in ("importance", "access"):
            following = _write_cursor(ws, rowids[limit - 1], chosen, own)
        rowids = rowids[:limit]
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
    """The entries of a day, or of its week from Monday on.

    With a `limit` the listing has the `cursor` of the next entries. Raises InvalidArgument for
    a text that is no date.
    """
    day = calendar_day.fromisoformat(read_date(date, now=ws.clock(), name="date"))
    first = last = day
    if week:
        first = day - timedelta(day.weekday())
        last = first + timedelta(6)
    since, until = first.isoformat(), last.isoformat()
    wanted = Filters(since=since, until=until, include_superseded=True)

    def run(report: SyncReport) -> Days:
        position = _read_cursor(cursor, "oldest")[2] if cursor else None
        most = limit + 1 if limit else -1
        total, rowids = ws.index.listing(wanted, order="oldest", limit=most, after=position)
        following = None
        if limit and len(rowids) > limit:
            following = _write_cursor(ws, rowids[limit - 1], "oldest", None)
        before, after, other_years = ws.index.calendar(since, until, limit=OTHER_YEARS)
        found = _listing(ws, report, total, rowids[:limit], cursor=following)
        then = _listing(ws, report, len(other_years), other_years)
        return Days(since, until, found, before, after, then)

    return in_step(ws, run)


def status(ws: Workspace) -> Status:
    """The counts of the journal and its index, and the pieces that could not be read."""

    def run(report: SyncReport) -> Status:
        counts = ws.index.counts()
        facets = ws.index.facets(Filters(include_superseded=True))
        files = Counter(ws.journal.roots.of(path)[0] for path in ws.index.proofs())
        calls: dict[str, list[dict[str, float]]] = {}
        for call in ws.index.counters.calls():
            calls.setdefault(call.verb, []).append(call.stages)
        roots: dict[str, dict[str, Any]] = {}
        for name, folder in ws.config.roots.items():
            if name:
                roots[name] = {"folder": folder, "files": files[name]}
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
            costs={name: dict(layers) for name, layers in known_costs(ws).items()},
            roots=roots,
            notices=(*ws.config.notices, *report.absent),
        )

    return in_step(ws, run)


def _figures(calls: Sequence[Mapping[str, float]]) -> Figures:
    """The latencies of the stages of these calls, the slowest stage first."""
    times: dict[str, list[float]] = {}
    for call in calls:
        for stage, ms in call.items():
            times.setdefault(stage, []).append(ms)
    latencies = {}
    for stage, each in times.items():
        each.sort()
        latencies[stage] = Latency(_quantile(each, 0.5), _quantile(each, 0.95))
    slowest_first = sorted(latencies.items(), key=lambda item: -item[1].p50)
    return Figures(len(calls), dict(slowest_first))


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
    counts = None
    if facets:
        counts = in_step(ws, lambda _: ws.index.facets(any_of_all(wanted)))
    return _of_search(found, counts)


def _of_search(found: SearchResult, facets: Facets | None = None) -> Listing:
    superseded = {hit.entry.id: hit.superseded_by for hit in found.hits if hit.superseded_by}
    return Listing(
        found.total,
        tuple(hit.entry for hit in found.hits),
        superseded_by=superseded,
        facets=facets,
        notices=found.notices,
    )


def _resolved(ws: Workspace, filters: Filters) -> Filters:
    """The filters with whole ids in place of short ones; a linked page need not exist."""
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
    standings = ws.index.standings([*before, *after])
    before = [row for row in before if standings[row].dated == at[0]]
    after = [row for row in after if standings[row].dated == at[0]]
    half = (limit - 1) // 2
    back = max(half, limit - 1 - len(after))
    earlier = before[:back]
    return total, [*reversed(earlier), centre.rowid, *after[: limit - 1 - len(earlier)]]


def _write_cursor(ws: Workspace, rowid: int, order: Order, own: str | None) -> str:
    last = ws.index.standings([rowid])[rowid]
    position = json.dumps([order, own, last.project != own, *last.position])
    return base64.urlsafe_b64encode(position.encode()).decode().rstrip("=")


def _read_cursor(cursor: str, order: Order) -> tuple[str | None, bool, Position]:
    """(project that comes first, True if all of it was shown, position of the last entry)."""
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
    """The whole entries that pass, oldest first, without private passages; also entries that
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
        raise InvalidArgument(
            "The package pylance, which --lance needs, is not installed.",
            hint="Install it as you installed Synaptic, with pip, uv or pipx: "
            "pip install 'synaptic-journal[lance]'.",
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
        all_chunks = list(chain.from_iterable(chunks.values()))
        entries, passages = read_hits(ws, rowids, all_chunks)
        vectors = ws.index.vectors(list(passages))
        rows = []
        for rowid, entry in entries.items():
            marks = {name: getattr(entry, name, None) for name in schema.names}
            marks["path"] = entry.there.path
            for chunk in chunks.get(rowid, ()):
                vector = units([vectors[chunk]])[0] if chunk in vectors else None
                rows.append(marks | {"text": passages[chunk][0], "vector": vector})
        return pa.RecordBatch.from_pylist(rows, schema)

    batches = pa.RecordBatchReader.from_batches(schema, _pages(ws, filters, batch))
    return int(lance.write_dataset(batches, folder).count_rows())


def _pages(
    ws: Workspace, filters: Filters, read: Callable[[Sequence[int]], Page]
) -> Iterator[Page]:
    """The results of `read` on the rows of EXPORTED entries at a time."""
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

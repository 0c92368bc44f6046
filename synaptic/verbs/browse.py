"""Reads entries by id, by time, and by their types, tags, files and projects."""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path
from urllib.parse import quote, unquote

from ..errors import (
    Ambiguous,
    InvalidArgument,
    NotFound,
    Sentence,
    check_range,
    match_valid_name,
    naming_parameter,
)
from ..filters import ALL_TAGS, Filters
from ..index.rows import RankingFacts, TimelinePosition, to_microseconds
from ..journal.repository import Checkout
from ..language.query import MAX_LIMIT
from ..models import ORDERS, Entry, Facets, Json, Order, SearchResult, Texts, frozen
from ..notes.marks import link_key
from ..search.search import drop_any_project, filters_and_own_project, make_request, search
from ..workspace.changes import mark_entries
from ..workspace.checkout import working_checkout
from ..workspace.readback import read_entries
from ..workspace.sync import SyncReport, in_step
from ..workspace.workspace import Workspace
from .link_ends import Ends, Links, links_of_entries

PageEnd = tuple[bool, TimelinePosition]
"""The entry that was shown last: (it is not of the own project, its place in time)."""
_CURSOR = re.compile(r"(\w+):([01]):([01]):(-?\d{1,18}):(\d{1,9}):(\S+)")


@frozen
class Listing:
    """Entries in order. `total` counts them before `limit`. `superseded_by` leads from an id to
    the id that replaces it; `links` are by id, and `chains` too: the entry with what it
    replaced and what replaced it, oldest first. `attached` are the paths in the journal of the
    attachments to which an entry links, where somebody asked for them.
    """

    total: int
    entries: tuple[Entry, ...]
    cursor: str | None = None
    superseded_by: dict[str, str] = field(default_factory=dict)
    links: dict[str, Links] = field(default_factory=dict)
    chains: dict[str, tuple[Entry, ...]] = field(default_factory=dict)
    attached: dict[str, Texts] = field(default_factory=dict)
    facets: Facets | None = None
    notices: Texts = ()


def check_ids(ids: Sequence[str]) -> None:
    """Raises InvalidArgument if there is no id."""
    if not ids:
        raise InvalidArgument("No id was given.", "Ids are shown by recent, find and search.")


def get(ws: Workspace, ids: Sequence[str]) -> Listing:
    """The whole entries of these ids (short ids too), in the order of the ids.

    An id that fits no entry is a notice if another id fits one. Raises NotFound or Ambiguous if
    no id fits.
    """
    check_ids(ids)

    def run(report: SyncReport) -> Listing:
        rowids: dict[int, None] = {}
        errors = []
        for id in ids:
            try:
                rowids[ws.index.resolve(id).rowid] = None
            except (NotFound, Ambiguous) as error:
                errors.append(error)
                if report.behind and isinstance(error, NotFound):
                    raise  # the entry may be in the part that is being written
        if not rowids:
            raise errors[0]
        here = working_checkout(ws)
        listing = make_listing(ws, report, len(rowids), list(rowids), here)
        links = {}
        chains = {}
        for entry, rowid in zip(listing.entries, rowids, strict=False):
            links[entry.id] = links_of_entries(ws, [rowid])
            rows_of_chain = ws.index.replacement_chain(rowid)
            if rows_of_chain[1:]:
                chains[entry.id] = make_listing(ws, report, 0, rows_of_chain, here).entries
        notices = (*listing.notices, *dict.fromkeys(map(str, errors)))
        return replace(listing, links=links, chains=chains, notices=notices)

    listing = in_step(ws, run)
    if ws.config.track_access:
        opened = [entry.id for entry in listing.entries]
        ws.index.counters.record_reads(opened, to_microseconds(ws.clock()))
    return listing


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
    project comes first. In another order than relevance all entries are listed that hold the
    words of the query, or, if none does, what a search finds. `around` (an id) gives the
    entries before and after that entry, oldest first. `cursor` comes from the previous answer
    and stays right while entries arrive. `facets` adds the counts of types, tags and projects.
    Undated entries come last, and no date filter lets them pass.
    """
    check_range("limit", limit, 1, MAX_LIMIT)
    chosen = match_valid_name(ORDERS, order or ("relevance" if query else "newest"), "order")
    asked = filters or Filters()
    if query and query.strip():
        held = filter_by_words(ws, query, asked) if order and chosen != "relevance" else None
        if held and not around:
            listing = find(
                ws, filters=held, order=chosen, facets=facets, limit=limit, cursor=cursor
            )
            if listing.total:
                return listing
        if cursor or around:
            raise InvalidArgument(
                "cursor and around work only without a query.",
                "Leave out the query, or them.",
                of=("cursor", "around"),
            )
        wanted = asked
        if asked.parent or asked.links_to:
            wanted = in_step(ws, lambda _: _resolve_ids(ws, asked))
        options: Json = {"limit": limit, "order": chosen, "load_model": load_model}
        result = search(ws, query, filters=wanted, only_fitting=True, **options)
        counts = None
        if facets:
            counts = in_step(ws, lambda _: ws.index.facets(drop_any_project(wanted)))
        return _name_either_tag(replace(list_found(result), facets=counts), asked)

    def run(report: SyncReport) -> Listing:
        here = working_checkout(ws)
        wanted, own_project = filters_and_own_project(ws, _resolve_ids(ws, asked), here)
        last = None
        if around:
            total, rowids = _timeline_around(ws, wanted, around, limit)
        else:
            after = read_cursor(cursor, chosen)
            first = None if order else own_project
            rowids, last = page_of_rows(ws, wanted, chosen, limit, after, first)
            total = ws.index.count_entries(wanted)
        listing = make_listing(ws, report, total, rowids, here)
        counts = ws.index.facets(wanted) if facets else None
        return replace(listing, cursor=make_cursor(last, chosen, own_project), facets=counts)

    return _name_either_tag(in_step(ws, run), asked)


def filter_by_words(ws: Workspace, query: str, asked: Filters) -> Filters | None:
    """The filters for entries that hold all words of a query; None if it names a time, which a
    search understands.
    """
    from ..language.analysis.asked import read_question  # few lists come here

    parsed = make_request(ws, query, filters=asked).parsed
    if read_question(parsed.text, today=ws.today).time_range:
        return None
    return replace(parsed.filters, all_words=(*parsed.terms, *parsed.phrases))


def _name_either_tag(listing: Listing, asked: Filters) -> Listing:
    """The listing, with a notice if several tags were asked for, which may mean all of them."""
    if len(asked.tags) < 2:
        return listing
    notice = Sentence(
        "Entries with any of the tags {tags}: for entries with all of them, give "
        "the one tag {all}.",
        tags=", ".join(asked.tags),
        all=ALL_TAGS.join(asked.tags),
    )
    return replace(listing, notices=(*listing.notices, notice))


def make_listing(
    ws: Workspace,
    report: SyncReport,
    total: int,
    rowids: Sequence[int],
    here: Checkout | None = None,
) -> Listing:
    entries = mark_entries(ws, read_entries(ws, rowids), here)
    ordered = [entries[rowid] for rowid in rowids if rowid in entries]
    superseded = ws.index.superseded_by([entry.id for entry in ordered])
    return Listing(total, tuple(ordered), superseded_by=superseded, notices=report.notices)


def list_found(result: SearchResult) -> Listing:
    superseded = {hit.entry.id: hit.superseded_by for hit in result.hits if hit.superseded_by}
    entries = tuple(hit.entry for hit in result.hits)
    return Listing(result.total, entries, superseded_by=superseded, notices=result.notices)


def _resolve_ids(ws: Workspace, filters: Filters) -> Filters:
    """Returns the filters with short ids in `parent` and `links_to` replaced by whole ids.
    Raises NotFound for an unknown parent.
    """
    if filters.parent:
        with naming_parameter("parent"):
            filters = replace(filters, parent=ws.index.resolve(filters.parent).entry.id)
    return _resolve_link_name(ws, filters, filters.links_to) if filters.links_to else filters


def _resolve_link_name(ws: Workspace, filters: Filters, name: str) -> Filters:
    """The filters with the id of the entry that `links_to` names, or, where another entry has
    this name in another case, with the ids of the entries that link to the one meant.
    """
    rows = ws.index.entries_by_name_key([link_key(name)]).get(link_key(name), [])
    if not rows:
        with suppress(NotFound), naming_parameter("links_to"):
            return replace(filters, links_to=ws.index.resolve(name).entry.id)
        return filters
    entries = [stored.entry for stored in ws.index.entries(rows).values()]
    names = {name, *(Path(entry.path).stem for entry in entries if entry.whole_file)}
    ends = Ends(ws, [[one] for one in names])
    named = ws.index.entries_by_name_key([link_key(one) for one in names])
    if all(len(ends.find([one], "")) == len(named.get(link_key(one), ())) for one in names):
        return filters
    linking = links_of_entries(ws, ends.find([name], ""), [link_key(name)]).backlinks
    return replace(
        filters, links_to=None, ids=tuple(link.id or "" for link in linking) or ("",)
    )


def _timeline_around(
    ws: Workspace, filters: Filters, id: str, limit: int
) -> tuple[int, list[int]]:
    """The number of entries, and the rows of the entry and its neighbours in time, oldest
    first.

    Undated entries are neighbours of each other only.
    """
    with naming_parameter("around"):
        centre = ws.index.resolve(id).rowid
    at = ws.index.ranking_facts([centre])[centre]
    sides = []
    for order in ("newest", "oldest"):
        rows = ws.index.list_rows(filters, order=order, limit=limit, after=at.position)
        standings = ws.index.ranking_facts(rows)
        sides.append([rowid for rowid in rows if standings[rowid].dated == at.dated])
    before, after = sides
    back = max((limit - 1) // 2, limit - 1 - len(after))
    before = before[:back]
    total = ws.index.count_entries(filters)
    return total, [*reversed(before), centre, *after[: limit - 1 - len(before)]]


def page_of_rows(
    ws: Workspace,
    filters: Filters,
    order: Order,
    limit: int | None,
    after: PageEnd | None,
    own_project: str | None = None,
) -> tuple[list[int], RankingFacts | None]:
    """(the entries after the last that was shown, the last of them if more follow).

    Entries of the project `own_project` come first.
    """
    rowids = ws.index.list_rows(
        filters,
        order=order,
        limit=limit + 1 if limit else -1,
        after=after[1] if after else None,
        first=own_project,
        after_first=bool(after and after[0]),
    )
    last = None
    if limit and len(rowids) > limit:
        [last] = ws.index.ranking_facts(rowids[limit - 1 : limit]).values()
    return rowids[:limit], last


def make_cursor(
    last: RankingFacts | None, order: Order, own_project: str | None = None
) -> str | None:
    """The cursor text with which the next page begins after the entry `last`, even if that is
    deleted meanwhile; None if there is no next page.
    """
    if not last or order in ("importance", "access"):
        return None
    position = last.position
    path = quote(position.path, safe="")
    is_other = int(last.project != own_project)
    return f"{order}:{is_other}:{position.dated}:{position.at}:{position.seq}:{path}"


def read_cursor(cursor: str | None, order: Order) -> PageEnd | None:
    """Decodes a cursor into the position of the last entry shown; None for no cursor. Raises
    InvalidArgument for a broken one or one of another order.
    """
    if not cursor:
        return None
    match = _CURSOR.fullmatch(cursor)
    if not match or match[1] != order:
        raise InvalidArgument(
            "The cursor is not valid in the order {order!r}: {cursor!r}.",
            "Use the cursor of the previous answer, and its order.",
            of=["cursor"],
            order=order,
            cursor=cursor[:40],
        )
    position = TimelinePosition(
        dated=int(match[3]), at=int(match[4]), path=unquote(match[6]), seq=int(match[5])
    )
    return match[2] == "1", position

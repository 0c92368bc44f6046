"""Reads the entries of a day, of a week or of a time of up to a month."""

from dataclasses import replace
from datetime import date as calendar_day
from datetime import timedelta
from typing import NamedTuple

from ..errors import InvalidArgument
from ..filters import Filters
from ..language.time_fields import MAX_SHOWN, TIME_FIELDS, read_days
from ..workspace.checkout import working_checkout
from ..workspace.sync import SyncReport, in_step
from ..workspace.workspace import Workspace
from .browse import Listing, make_cursor, make_listing, page_of_rows, read_cursor

LONGEST_MONTH = 31


OTHER_YEARS = 5
"""Entries that a day shows from the same day of other years."""


class Days(NamedTuple):
    """The entries of the days from `since` to `until`, oldest first; dates are `YYYY-MM-DD`.

    `before` and `after` are the nearest other days with entries. `on_this_day` are entries of
    other years.
    """

    since: str
    until: str
    listing: Listing
    before: str | None
    after: str | None
    on_this_day: Listing


def entries_of_days(
    ws: Workspace,
    date: str = "today",
    *,
    week: bool = False,
    filters: Filters | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Days:
    """The entries that pass of a day or of a time of up to a month; of a `week`, from Monday
    on, that holds the day or time.

    With a `limit` the listing has the `cursor` of the next entries. Raises InvalidArgument for
    a text that is not a date, and for a longer time.
    """
    first, last = read_days(date, ws.clock(), "date")
    if week:
        first -= timedelta(first.weekday())
    if (last - first).days >= (7 if week else LONGEST_MONTH):
        raise InvalidArgument(
            "date: {date!r} is more than a week."
            if week
            else "date: {date!r} is more than a month.",
            "`synaptic find --since {first} --until {last}` lists it.",
            valid=TIME_FIELDS["date"].examples,
            of=["date"],
            date=date[:MAX_SHOWN],
            first=first,
            last=last,
        )
    if week:
        end = min(first.toordinal() + 6, calendar_day.max.toordinal())
        last = calendar_day.fromordinal(end)
    since = first.isoformat()
    until = last.isoformat()
    wanted = replace(filters or Filters(), since=since, until=until, include_superseded=True)

    def run(report: SyncReport) -> Days:
        page_end = read_cursor(cursor, "oldest")
        rowids, last = page_of_rows(ws, wanted, "oldest", limit, page_end)
        total = ws.index.count_entries(wanted)
        before, after, other_years = ws.index.days_around(since, until, limit=OTHER_YEARS)
        if filters and filters.active_values():
            other_years = []
        here = working_checkout(ws)
        listing = make_listing(ws, report, total, rowids, here)
        listing = replace(listing, cursor=make_cursor(last, "oldest"))
        then = make_listing(ws, report, len(other_years), other_years, here)
        return Days(since, until, listing, before, after, then)

    return in_step(ws, run)

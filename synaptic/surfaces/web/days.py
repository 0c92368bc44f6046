"""The pages of time: a day, the calendar of a year, and this day in other years."""

from __future__ import annotations

from bisect import bisect_left
from datetime import date, timedelta

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...errors import InvalidArgument
from ...models import Filters
from ...verbs import browse
from ...verbs.browse import Days
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace
from .site import TEMPLATES, ask, page

DAY_ENTRIES = 100
"""Entries on a page of a day."""
COLOURS = 4
"""Shades of the days in the calendar, without that of an empty day."""


def _spoken(day: str, weekday: bool = True) -> str:
    """A date as people say it: `Saturday, 21 November 2026`."""
    on = date.fromisoformat(day)
    name = f"{on:%A}, " if weekday else ""
    return f"{name}{on.day} {on:%B} {on.year}"


TEMPLATES.filters["spoken"] = _spoken


async def _day(request: Request) -> Response:
    asked = request.path_params.get("date") or request.query_params.get("date")
    cursor = request.query_params.get("cursor")

    def read(ws: Workspace) -> tuple[str, Days, bool, int]:
        days = browse.days(ws, asked or "today", limit=DAY_ENTRIES, cursor=cursor)
        nearest = days.before or days.after
        is_latest = not asked and not days.found.total and bool(nearest)
        if is_latest:
            days = browse.days(ws, nearest or "today", limit=DAY_ENTRIES)
        total = days.found.total or browse.find(ws, limit=1).total
        return ws.clock().date().isoformat(), days, is_latest, total

    today, days, is_latest, total = await ask(request, read)
    return await page(
        request,
        "day.html",
        today=today,
        days=days,
        total=total,
        is_latest=is_latest,
        is_more=bool(cursor),
    )


async def _calendar(request: Request) -> Response:
    asked_year = request.query_params.get("year", "").strip()
    if asked_year and not _is_year(asked_year):
        raise InvalidArgument(f"year is {asked_year[:60]!r}.", valid=("1 to 9999",))

    every = Filters(include_superseded=True)
    today = await ask(request, lambda ws: ws.clock().date())
    days = await ask(request, lambda ws: in_step(ws, lambda _: ws.index.counted(every, "day")))
    year = int(asked_year) if asked_year else today.year
    years = {int(day[:4]) for day, _ in days}
    counts = {day: count for day, count in sorted(days) if int(day[:4]) == year}
    ranked = sorted(set(counts.values()))
    steps = {}
    for day, count in counts.items():
        steps[day] = 1 + COLOURS * bisect_left(ranked, count) // len(ranked)
    halves = [
        _weeks(date(year, 1, 1), date(year, 6, 30)),
        _weeks(date(year, 7, 1), date(year, 12, 31)),
    ]
    return await page(
        request,
        "calendar.html",
        today=today,
        year=year,
        years=sorted(years | {today.year, year}),
        counts=counts,
        steps=steps,
        halves=halves,
    )


def _is_year(text: str) -> bool:
    if not text.isascii() or not text.isdigit() or len(text) > 4:
        return False
    return int(text) > 0


def _weeks(first: date, last: date) -> list[tuple[date, int, int]]:
    """(day, column of its week, row of its weekday from Monday on) of each day."""
    rows = []
    for number in range((last - first).days + 1):
        day = first + timedelta(number)
        week = (first.weekday() + number) // 7
        rows.append((day, week, day.weekday()))
    return rows


ROUTES = [
    Route("/", _day),
    Route("/day", _day),
    Route("/day/{date}", _day),
    Route("/calendar", _calendar),
]

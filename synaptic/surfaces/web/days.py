"""The pages of time: today, a day, the year as a calendar, and what was written on this day in
other years.
"""

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
from ..render.present import end_of
from .rendering import render
from .site import TEMPLATES, ask, page

SHOWN = 100
"""Entries on a page of a day."""
STEPS = 4
"""Colours of the calendar's days, beside that of an empty day."""


def _spoken(day: str, weekday: bool = True) -> str:
    """A date as people say it: `Saturday, 21 November 2026`."""
    on = date.fromisoformat(day)
    return f"{f'{on:%A}, ' if weekday else ''}{on.day} {on:%B} {on.year}"


TEMPLATES.filters["spoken"] = _spoken


async def _day(request: Request) -> Response:
    asked = request.path_params.get("date") or request.query_params.get("date")
    cursor = request.query_params.get("cursor")

    def read(ws: Workspace) -> tuple[str, Days, Days | None, int]:
        days = browse.days(ws, asked or "today", limit=SHOWN, cursor=cursor)
        turned_to = not asked and not days.found.total and (days.before or days.after)
        latest = browse.days(ws, turned_to, limit=SHOWN) if turned_to else None
        total = (latest or days).found.total or browse.find(ws, limit=1).total
        return ws.clock().date().isoformat(), days, latest, total

    today, days, latest, total = await ask(request, read)
    shown = {
        "today": today,
        "days": latest or days,
        "total": total,
        "render": render,
        "end_of": end_of,
    }
    return await page(
        request, "day.html", 200, **shown, is_latest=latest is not None, is_more=bool(cursor)
    )


async def _calendar(request: Request) -> Response:
    asked = request.query_params.get("year", "").strip()
    if asked and not (asked.isascii() and len(asked) < 5 and asked.isdigit() and int(asked)):
        raise InvalidArgument(f"year is {asked[:60]!r}.", valid=("1 to 9999",))

    every = Filters(include_superseded=True)
    today = await ask(request, lambda ws: ws.clock().date())
    days = sorted(
        await ask(request, lambda ws: in_step(ws, lambda _: ws.index.counted(every, "day")))
    )
    year = int(asked) if asked else today.year
    years = sorted({today.year, year, *(int(day[:4]) for day, _ in days)})
    counts = {day: n for day, n in days if int(day[:4]) == year}
    ranked = sorted(set(counts.values()))
    steps = {
        day: 1 + STEPS * bisect_left(ranked, n) // len(ranked) for day, n in counts.items()
    }
    halves = [
        _weeks(date(year, 1, 1), date(year, 6, 30)),
        _weeks(date(year, 7, 1), date(year, 12, 31)),
    ]
    return await page(
        request,
        "calendar.html",
        today=today,
        year=year,
        years=years,
        counts=counts,
        steps=steps,
        halves=halves,
    )


def _weeks(first: date, last: date) -> list[tuple[date, int, int]]:
    """(day, column of its week, row of its weekday from Monday on) of each day."""
    days = [first + timedelta(n) for n in range((last - first).days + 1)]
    return [(day, (first.weekday() + n) // 7, day.weekday()) for n, day in enumerate(days)]


ROUTES = [
    Route("/", _day),
    Route("/day", _day),
    Route("/day/{date}", _day),
    Route("/calendar", _calendar),
]

"""The pages of time: today, a day, the year as a calendar, and what was written on this day in other years."""

from __future__ import annotations

from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...verbs import browse
from .rendering import render
from .site import ask, page


async def _day(request: Request) -> Response:
    date = request.path_params.get("date") or request.query_params.get("date") or "today"
    days = await ask(request, partial(browse.days, date=date))
    return page(request, "day.html", days=days, render=render)


ROUTES = [Route("/", _day), Route("/day", _day), Route("/day/{date}", _day)]

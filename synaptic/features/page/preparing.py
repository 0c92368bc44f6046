"""Says how far a new index is: a page while the notes are read, and a line on other pages until
all can be found by meaning.
"""

import asyncio
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response

from ...workspace.pace import Pace
from .site import GONE_S, TEMPLATES, Page, page, site_of
from .translation import translate

Handler = Callable[[Request], Awaitable[Response]]


def _format_pace(pace: Pace) -> str:
    """Returns what is done, the rate and the time that is left, as `302 of 10,000, 12 a second,
    about 13 min left`.
    """
    progress = translate("%(done)s of %(total)s", done=pace.total - pace.left, total=pace.total)
    done, seconds = pace.rate()
    if done <= 0 or seconds < 1:  # nobody knows yet
        return progress
    rate = done / seconds
    left_s = round(pace.left / rate)
    time_left = translate("%(n)s s", n=left_s)
    if left_s >= 90:
        time_left = translate("%(n)s min", n=round(left_s / 60))
    return translate(
        "%(progress)s, %(rate)s a second, about %(time)s left",
        progress=progress,
        rate=round(rate),
        time=time_left,
    )


TEMPLATES.filters["paced"] = _format_pace


def show_pace_while_reading(show: Handler) -> Handler:
    """Wraps the handler of a page: while the notes are read into a new index, it gives way to a
    page with the rate and the time that is left.
    """

    async def answer(request: Request) -> Response:
        accepts = request.headers.get("accept", "")
        is_page = request.method == "GET" and "text/html" in accepts
        if not is_page or not request.scope.get("session_of"):
            return await show(request)
        answered = asyncio.ensure_future(show(request))
        try:
            while not answered.done():
                await asyncio.wait((answered,), timeout=GONE_S)
                reading = site_of(request).worker.paces.reading
                if not answered.done() and reading.is_long:
                    notice = await page(request, "reading.html", reading=reading)
                    notice.headers["Refresh"] = "1"
                    return notice
            return await answered
        finally:
            answered.cancel()

    return answer


async def _preparing_part(request: Request) -> Response:
    """Returns the line of progress again, for the page that shows it."""
    return await page(request, "preparing.html")


PAGES = [Page("/preparing", "neither", _preparing_part)]

"""The page that offers a book of what another page shows, and its download."""

from functools import partial
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from ...errors import match_valid_name
from ...render.fence import one_line
from ...serving.worker import Result, Verb
from ...verbs import browse
from ...workspace.workspace import Workspace
from .book import (
    EDGES,
    ORDERS,
    BookOrder,
    BookStyle,
    Plan,
    Selection,
    book_parts,
    default_title,
    file_name,
    plan_book,
)
from .exporting import search_in_address
from .site import Page, page, run_verb, site_of, wait_for_verb

TITLE_CHARS = 200
CHOICES = ("title", "photos", "first")
"""The fields of the form; all others in its address say which entries the book has, as `order`
does: a list holds others than the hits of a search.
"""


async def _offer_book(request: Request) -> Response:
    title, plan = await _plan_in_address(request)
    asked = request.query_params.multi_items()
    return await page(
        request,
        "book_form.html",
        title=title,
        plan=plan,
        photos=EDGES,
        orders=ORDERS,
        first=_first_entry(request),
        asked=[(name, value) for name, value in asked if name not in CHOICES],
    )


async def _send_book(request: Request) -> Response:
    asked = request.query_params
    photos = match_valid_name(EDGES, asked.get("photos", "large"), "photos")
    title, plan = await _plan_in_address(request)
    title = one_line(asked.get("title", ""))[:TITLE_CHARS] or title
    style = BookStyle(title, photos, _first_entry(request))
    name = file_name(plan, style)
    headers = {
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}",
        "Content-Security-Policy": "default-src 'none'; sandbox",
    }
    kind = "application/zip" if plan.is_zip(photos) else "text/html"
    parts = book_parts(plan, style, partial(_run_step, request))
    return StreamingResponse(parts, media_type=kind, headers=headers)


def _first_entry(request: Request) -> BookOrder:
    """Returns the order that an address asks for: that of the list from which one came."""
    return match_valid_name(ORDERS, request.query_params.get("first", "oldest"), "first")


async def _plan_in_address(request: Request) -> tuple[str, Plan]:
    """Returns (title, plan) of a book of the entries that a request's address matches."""
    title, selection = await run_verb(request, lambda ws: _select(ws, request))
    return title, await run_in_threadpool(plan_book, selection, partial(_run_step, request))


def _select(ws: Workspace, request: Request) -> tuple[str, Selection]:
    tokens = site_of(request).tokens.path
    id = request.query_params.get("id")
    if id:
        entry = browse.get(ws, [id]).entries[0]
        return one_line(entry.title), Selection(tokens, ids=(entry.id,))
    query, results = search_in_address(ws, request)
    title = default_title(results["filters"], query)
    if results["ranked"] is not None:
        return title, Selection(tokens, ids=tuple(entry.id for entry in results["ranked"]))
    return title, Selection(tokens, results["filters"])


def _run_step(request: Request, verb: Verb[Result]) -> Result:
    """Runs a step of a book in the process for slow reads, which stands back behind others."""
    return wait_for_verb(request, verb, "process")


PAGES = [Page("/book", "writer", _offer_book), Page("/book/file", "writer", _send_book)]

"""The table of the pages, and the program that answers them.

All libraries that only the page needs are imported below this module.
"""

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount

from ...errors import NotFound, SynapticError
from ...serving.roles import not_published_error
from . import (
    attachments,
    book_pages,
    browsers,
    days,
    edit_pages,
    entries,
    exporting,
    following,
    health_pages,
    import_pages,
    inserting,
    login,
    moving,
    phones,
    preparing,
    rename_pages,
    replacing,
    searching,
    sums,
)
from .assets import Assets
from .preparing import show_pace_while_reading
from .site import HERE, Page, Site, show_error, site_of
from .translation import translate

PAGES = [
    *login.PAGES,
    *days.PAGES,
    *browsers.PAGES,
    *following.PAGES,
    *searching.PAGES,
    *entries.PAGES,
    *attachments.PAGES,
    *edit_pages.PAGES,
    *rename_pages.PAGES,
    *replacing.PAGES,
    *exporting.PAGES,
    *book_pages.PAGES,
    *health_pages.PAGES,
    *import_pages.PAGES,
    *moving.PAGES,
    *inserting.PAGES,
    *phones.PAGES,
    *sums.PAGES,
    *preparing.PAGES,
]
"""All pages. Two rows with the same path have the same role."""
ROLES = {row.path: row.role for row in PAGES}


def add_pages(app: Starlette, site: Site) -> None:
    """Adds the pages of this site, its scripts and its styles to the application."""
    app.state.site = site
    app.state.follower = following.Follower()
    pages = _pages_of_reading_server(PAGES) if site.worker.is_published else PAGES
    for row in pages:
        endpoint = show_pace_while_reading(row.endpoint)
        methods = sorted(row.methods or ())
        app.routes.append(Page(row.path, row.role, endpoint, methods))
    app.routes.append(Mount("/static", Assets(HERE / "static")))
    app.add_exception_handler(SynapticError, show_error)
    app.add_exception_handler(404, show_error)


def _pages_of_reading_server(pages: Sequence[Page]) -> list[Page]:
    """Returns the pages of a server that only reads published journals."""
    elsewhere = {"writer": _redirect_to_writer, "neither": _respond_not_published}
    rows = []
    for row in pages:
        endpoint = elsewhere.get(row.role)
        rows.append(Page(row.path, row.role, endpoint) if endpoint else row)
    return rows


async def _redirect_to_writer(request: Request) -> Response:
    """Redirects to the same page on the server that writes the journal."""
    writer = site_of(request).writer
    if not writer:
        raise NotFound(
            translate(
                "This server only reads, and does not know which server writes the journal."
            ),
            hint=translate("Start this server with `synaptic serve --read --writer URL`."),
        )
    return RedirectResponse(f"{writer}{request.url.path}?{request.url.query}".rstrip("?"), 303)


async def _respond_not_published(request: Request) -> Response:
    return PlainTextResponse(f"{not_published_error('This')}\n", 404)

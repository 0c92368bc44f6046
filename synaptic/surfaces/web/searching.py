"""The page of a search: it answers as the words are typed, with facets, and says on demand why it found what."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...models import SearchResult
from ...search.search import search
from ...workspace.workspace import Workspace
from .site import ask, page, site_of


async def _search(request: Request) -> Response:
    query = request.query_params.get("q", "").strip()

    def run(ws: Workspace) -> SearchResult:
        return search(ws, query, load_model=not site_of(request).worker.loading)

    found = await ask(request, run)
    return page(request, "search.html", found=found, query=query)


ROUTES = [Route("/search", _search)]

"""The page of an entry, and all that a person does with one."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...verbs import browse, writing
from .rendering import render
from .site import ask, done, form_of, page


async def _entry(request: Request) -> Response:
    listing = await ask(request, lambda ws: browse.get(ws, [request.path_params["id"]]))
    return page(request, "entry.html", entry=listing.entries[0], listing=listing, render=render)


async def _delete(request: Request) -> Response:
    id = request.path_params["id"]
    await form_of(request)
    receipt = await ask(request, lambda ws: writing.delete(ws, id))
    return done(request, "/", f"Deleted {receipt.id}.", undo=receipt.id)


async def _restore(request: Request) -> Response:
    id = request.path_params["id"]
    await form_of(request)
    receipt = await ask(request, lambda ws: writing.restore(ws, id))
    return done(request, f"/entry/{receipt.id}", "Restored.", receipt)


ROUTES = [
    Route("/entry/{id}", _entry),
    Route("/entry/{id}/delete", _delete, methods=["POST"]),
    Route("/entry/{id}/restore", _restore, methods=["POST"]),
]

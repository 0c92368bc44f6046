"""The place where each tool and page is answered when a server reads published journals.

| role      | a reading server                                                       |
|-----------|------------------------------------------------------------------------|
| `reader`  | answers itself                                                         |
| `writer`  | hands a call on and links to the page of `--writer`; without one: none |
| `neither` | says that it is not published                                          |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from ..errors import Refused

Role = Literal["reader", "writer", "neither"]

TOOLS: Mapping[str, Role] = {
    "context_brief": "reader",
    "context_search": "reader",
    "context_recent": "reader",
    "context_find": "reader",
    "context_get": "reader",
    "context_analyze": "reader",
    "context_save": "writer",
    "context_update": "writer",
    "context_delete": "writer",
    "handoff": "reader",
    "review": "writer",
}
"""The role by the name of a tool or prompt of MCP. Its resources are days, entries and help,
which a reader has.
"""

PAGES: Mapping[str, Role] = {
    "/mcp": "reader",
    "/static": "reader",
    "/login": "reader",
    "/logout": "reader",
    "/devices": "reader",
    "/": "reader",
    "/day": "reader",
    "/day/{date}": "reader",
    "/calendar": "reader",
    "/search": "reader",
    "/palette": "reader",
    "/tag/{name:path}": "reader",
    "/folder": "reader",
    "/folder/{name:path}": "reader",
    "/entry/{id}": "reader",
    "/to": "reader",
    "/tasks": "reader",
    "/new": "writer",
    "/preview": "writer",
    "/edit": "writer",
    "/tick": "writer",
    "/entry/{id}/edit": "writer",
    "/entry/{id}/delete": "writer",
    "/entry/{id}/restore": "writer",
    "/entry/{id}/confirm": "writer",
    "/entry/{id}/open": "writer",
    "/deleted": "writer",
    "/review": "writer",
    "/waiting": "writer",
    "/health": "writer",
    "/statistics": "writer",
    "/export": "writer",
    "/print": "writer",
    "/picture": "neither",
    "/events": "neither",
}
"""The role by the path of a route of the page."""


def not_published(thing: str) -> Refused:
    """The error of a thing that only the machine of the journal has."""
    return Refused(
        f"{thing} is not published: this server has only the entries.",
        hint="Look at it where the journal is.",
    )

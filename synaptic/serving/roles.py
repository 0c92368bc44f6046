"""Which server answers each tool and page when a journal is published. It is no permission:
what a person or a token may do, `page/guard` and `mcp/remote` decide.

| role      | a reading server                                                       |
|-----------|------------------------------------------------------------------------|
| `reader`  | answers itself                                                         |
| `writer`  | hands a call on and links to the page of `--writer`; without one: none |
| `neither` | says that it is not published                                          |
"""

from __future__ import annotations

from typing import Literal

from ..errors import Refused

Role = Literal["reader", "writer", "neither"]
"""Each row of a tool, a prompt or a page names its role."""


def not_published_error(thing: str) -> Refused:
    """The error of a thing that only the machine of the journal has."""
    return Refused(
        f"{thing} is not published: this server has only the entries.",
        hint="Look at it where the journal is.",
    )

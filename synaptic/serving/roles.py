"""Says for each tool, prompt and page which server answers it when a server reads published
journals.

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
"""The role of a tool, a prompt or a page, as in the table above."""


def not_published_error(thing: str) -> Refused:
    """Returns the error for a tool, prompt or page that only the machine with the journal
    has.
    """
    return Refused(
        "{thing} is not published, so this server does not have it.",
        hint="Use it on the machine that has the journal.",
        thing=thing,
    )

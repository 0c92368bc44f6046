"""Mends the links to notes that moved by hand."""

from ..errors import NotFound
from ..plugin import PLAN_MENDING
from ..workspace.many_edits import Renamed, make_edits
from ..workspace.workspace import Workspace


def mend_links(ws: Workspace, path: str, *, confirms: bool) -> Renamed:
    """Mends the links to the old path of the note that is now at `path`. Raises NotFound if no
    link is broken by now.
    """
    plan = (PLAN_MENDING.ask_in_turn(ws, confirms) or {}).get(path)
    if not plan:
        raise NotFound("No broken link leads to an old path of {path}.", path=path)
    return make_edits(ws, plan)

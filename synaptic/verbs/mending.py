"""Mends the links to notes that moved by hand."""

from ..errors import NotFound
from ..plugin import PLAN_MENDING
from ..workspace.many_edits import EditPlan, Renamed, make_edits
from ..workspace.workspace import Workspace


def mend_links(ws: Workspace, path: str, *, confirms: bool) -> Renamed:
    """Mends the links to the old path of the note that is now at `path`. Raises NotFound if no
    link is broken by now.
    """
    plan = plan_all_mending(ws, confirms=confirms).get(path)
    if not plan:
        raise NotFound("No broken link leads to an old path of {path}.", path=path)
    return make_edits(ws, plan)


def plan_all_mending(ws: Workspace, *, confirms: bool) -> dict[str, EditPlan]:
    """For each note that moved, by its present path, the plan that mends the links to its old
    one.
    """
    plans: dict[str, EditPlan] = {}
    for answer in PLAN_MENDING.ask_each(ws, confirms):
        plans |= answer
    return plans

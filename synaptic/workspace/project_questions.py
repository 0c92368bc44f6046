"""Asks whether a repository is a project that nothing proves, and notes the answer."""

from ..journal.projects import Projects, locked_projects
from ..journal.repository import Checkout, Repository, find_checkout
from ..notes.blocks import project_key
from .checkout import names_in_step
from .workspace import Workspace


def find_unproven_project(ws: Workspace, here: Checkout) -> str:
    """The name of a project that the checkout's repository may be, by its address or its
    folder, without a proof; "" if no question is open.
    """
    projects = Projects(ws.config.state)
    if projects.is_damaged:
        return ""
    repository = projects.identify(find_checkout(here.root) or here)
    return projects.find_unproven(repository, names_in_step(ws))


def settle_project(ws: Workspace, here: Checkout, name: str) -> None:
    """Notes the answer of a person: the checkout's repository is the project `name`, also where
    another clone with the (remote, root) of its entries is; an empty one: it is another
    project. The question is not asked again.
    """
    marks = names_in_step(ws).marks_of(project_key(name)) if name else ()
    with locked_projects(ws.config.state) as projects:
        repository = projects.identify(find_checkout(here.root) or here)
        projects.settle(repository)
        if name:
            projects.forget(repository)
            for remote, root in marks:
                projects.record(name, Repository("", "", remote or "", root or ""))
            projects.record(name, repository)

"""Synaptic: the memory that people and their AI agents share.

>>> import synaptic
>>> with synaptic.open_workspace(synaptic.load_config()) as ws:
...     receipt = synaptic.save(ws, "Chose sqlite-vec over LanceDB.", type="decision")
...     result = synaptic.search(ws, "which vector store?")
...     result.hits[0].entry.title
'Chose sqlite-vec over LanceDB.'

A name is imported when it is first used: a hook or a command needs few of them.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .config import Config, SearchConfig, load_config
    from .errors import SynapticError
    from .filters import Filters
    from .language.query import build_filters
    from .models import Entry, Hit, Receipt, SearchResult
    from .search.search import search
    from .verbs.browse import Listing, find, get
    from .verbs.changing import update
    from .verbs.newest import recent
    from .verbs.removing import delete, restore
    from .verbs.saving import save
    from .verbs.status import Status, status
    from .workspace.past import as_of
    from .workspace.sync import RebuildReport, rebuild
    from .workspace.workspace import Workspace, open_workspace

__all__ = [
    "Config",
    "Entry",
    "Filters",
    "Hit",
    "Listing",
    "RebuildReport",
    "Receipt",
    "SearchConfig",
    "SearchResult",
    "Status",
    "SynapticError",
    "Workspace",
    "as_of",
    "build_filters",
    "delete",
    "find",
    "get",
    "load_config",
    "open_workspace",
    "rebuild",
    "recent",
    "restore",
    "save",
    "search",
    "status",
    "update",
]

_PLACES = {
    "config": "Config SearchConfig load_config",
    "errors": "SynapticError",
    "language.query": "build_filters",
    "filters": "Filters",
    "models": "Entry Hit Receipt SearchResult",
    "verbs.browse": "Listing find get",
    "verbs.newest": "recent",
    "verbs.changing": "update",
    "verbs.removing": "delete restore",
    "verbs.saving": "save",
    "verbs.status": "Status status",
    "workspace.past": "as_of",
    "workspace.sync": "RebuildReport rebuild",
    "workspace.workspace": "Workspace open_workspace",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    for place, names in _PLACES.items():
        if name in names.split():
            return getattr(import_module(f".{place}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class _Package(ModuleType):
    """Keeps `search` the function after the room of that name was imported."""

    @property
    def search(self) -> Any:
        from .search.search import search

        return search

    @search.setter
    def search(self, room: ModuleType) -> None:
        pass


sys.modules[__name__].__class__ = _Package

"""Synaptic: the memory that people and their AI agents share.

>>> import synaptic
>>> with synaptic.open_workspace(synaptic.load_config()) as ws:
...     receipt = synaptic.save(ws, "Chose sqlite-vec over LanceDB.", type="decision", tags=["db"])
...     result = synaptic.search(ws, "which vector store?")
...     result.hits[0].entry.title
'Chose sqlite-vec over LanceDB.'
"""

from .browse import find, get, recent, status
from .config import Config, SearchConfig, load_config
from .errors import SynapticError
from .models import Entry, Filters, Hit, Listing, RebuildReport, Receipt, SearchResult, Status
from .query import build_filters
from .search import search
from .sync import rebuild
from .workspace import Workspace, open_workspace
from .writing import delete, restore, save, update

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

"""Synaptic: the memory that people and their AI agents share.

>>> import synaptic
>>> with synaptic.open_workspace(synaptic.load_config()) as ws:
...     receipt = synaptic.save(ws, "Chose sqlite-vec over LanceDB.", type="decision")
...     result = synaptic.search(ws, "which vector store?")
...     result.hits[0].entry.title
'Chose sqlite-vec over LanceDB.'
"""

from .config import Config, SearchConfig, load_config
from .errors import SynapticError
from .language.query import build_filters
from .models import Entry, Filters, Hit, SearchResult
from .search.search import search
from .verbs.browse import Listing, Status, find, get, recent, status
from .verbs.writing import Receipt, delete, restore, save, update
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

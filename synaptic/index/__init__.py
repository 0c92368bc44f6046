"""The SQLite index: where every entry stands, its words (FTS5) and its vectors (sqlite-vec). The only SQL.

The file is disposable. A damaged one is deleted and filled again from the journal by `sync`; a stranger's
database under its name is left alone. `Database` opens it, `Store` writes to it, `Index` answers from it.
"""

from .database import BUSY_TIMEOUT_MS, is_damage, is_suspicion, is_unwritable
from .lookup import Index
from .rows import (
    Candidate,
    ChunkRow,
    EntryRow,
    FileRows,
    Passage,
    Position,
    Source,
    Standing,
    Stored,
    instant,
    moment,
    units,
)

__all__ = [
    "BUSY_TIMEOUT_MS",
    "Candidate",
    "ChunkRow",
    "EntryRow",
    "FileRows",
    "Index",
    "Passage",
    "Position",
    "Source",
    "Standing",
    "Stored",
    "instant",
    "is_damage",
    "is_suspicion",
    "is_unwritable",
    "moment",
    "units",
]

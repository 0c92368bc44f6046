"""The only SQL, and the vectors. The index can be deleted at any time: `sync` fills it again.

`lookup.py` is where to begin: `Index` answers; below it `store.py` writes, `database.py` opens and heals.
`chunking` cuts an entry into passages, `embedding` loads the model and turns passages into vectors.
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

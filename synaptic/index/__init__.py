"""The only SQL, and the vectors. The index can be deleted at any time: `sync` fills it again.

Begin in `lookup.py`: `Index` answers; its `file` (`database.py`) opens and heals, `writing` gives `store.Writer`.
`chunking` cuts an entry into passages, `embedding` loads the model and turns passages into vectors.
"""

from .database import BUSY_TIMEOUT_MS, versions
from .lookup import Index, known
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
from .store import Writer

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
    "Writer",
    "instant",
    "known",
    "moment",
    "units",
    "versions",
]

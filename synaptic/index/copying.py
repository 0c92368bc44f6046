"""Copies an index to another file."""

from contextlib import closing, suppress
from pathlib import Path

import apsw

from ..errors import IndexFailed
from .database import Database, copy_database
from .sqlite_errors import as_index_errors


def copy_index(index: Database, path: Path) -> None:
    """Copies the index to a new file. If it cannot be read, the copy is empty or broken, and is
    healed on use.
    """
    path.touch(0o600)
    with suppress(IndexFailed), as_index_errors(), closing(apsw.Connection(str(path))) as new:
        copy_database(index.db, new)

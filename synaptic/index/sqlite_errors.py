"""The errors of SQLite, which become ours where they leave this room."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from ..errors import Cure, IndexBusy, IndexFailed

_DAMAGE = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError)
UNWRITABLE = (
    apsw.CantOpenError,
    apsw.ReadOnlyError,
    apsw.PermissionsError,
    apsw.FullError,
    apsw.IOError,
)
_SUSPICION = (apsw.SQLError, apsw.ConstraintError)
_TORN_FILE = (apsw.SQLITE_IOERR_SHORT_READ, apsw.SQLITE_IOERR_CORRUPTFS, apsw.SQLITE_IOERR_DATA)


def is_damage(error: Exception) -> bool:
    """True for an error by which SQLite reports a damaged file."""
    if isinstance(error, apsw.IOError):
        return getattr(error, "extendedresult", 0) in _TORN_FILE
    return isinstance(error, _DAMAGE)


@contextmanager
def as_index_errors() -> Iterator[None]:
    """A context, or a decorator, in which an error of SQLite becomes IndexFailed."""
    try:
        yield
    except apsw.Error as error:
        if isinstance(error, apsw.BusyError | apsw.LockedError):
            raise IndexBusy(str(error)) from error
        raise IndexFailed(str(error), _cure_for(error)) from error


def _cure_for(error: apsw.Error) -> Cure:
    if is_damage(error):
        return "reset"
    if isinstance(error, UNWRITABLE):
        return "detach"
    return "again" if isinstance(error, _SUSPICION) else ""

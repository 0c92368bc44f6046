"""Compares the index with the journal, and looks for damage."""

from contextlib import suppress

from ..errors import IndexFailed, NotFound
from ..index.lists import map_ids_by_file
from ..index.rows import hash64
from .sync import in_step, run_with_healing
from .workspace import Workspace


def verify_index(ws: Workspace) -> bool:
    """Checks the index and makes it anew if it is damaged; returns False in that case."""
    fault = run_with_healing(ws, ws.index.file.check)
    if fault is None:
        return True
    ws.index.file.heal(IndexFailed(fault, "reset"))
    in_step(ws, lambda _: None)
    return False


def find_wrongly_indexed_paths(ws: Workspace) -> list[str]:
    """Paths of files that the index shows wrongly although their stamps match."""
    indexed = in_step(ws, lambda _: map_ids_by_file(ws.index))
    stamps = ws.journal.scan()
    astray = sorted(indexed.keys() - {stamp.path for stamp in stamps})
    for stamp in stamps:
        with suppress(NotFound):
            data = ws.journal.read(stamp.path)
            parsed = ws.journal.parse(stamp.path, data, stamp.mtime_ns)
            ids = {entry.id for entry in parsed.entries}
            if indexed.get(stamp.path) != (hash64(data), ids):
                astray.append(stamp.path)
    return astray

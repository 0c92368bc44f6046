"""Lists the entries about a file, of every type; the hook of an edit shows some of them."""

from dataclasses import replace
from pathlib import Path

from ..index.plain_index import PlainIndex
from ..models import TYPES as ALL_TYPES
from ..notes.reading import without_surrogates
from ..workspace.workspace import Workspace
from .blame import Memory
from .browse import Listing
from .newest import make_listing_of_rows


def recall_for_file(ws: Workspace, file: Path) -> Listing:
    """The entries about `file` that are in force, the best match first."""
    named = Path(without_surrogates(str(file)))

    def rows() -> list[int]:
        with Memory(ws.config, PlainIndex(ws.index.file.db)) as memory:
            return [
                one.entry.rowid
                for one in memory.entries_about_file(named.absolute(), ALL_TYPES)
            ]

    listing = make_listing_of_rows(ws, rows)
    if listing.entries:
        return listing
    notice = f"No entry names {file} or its folder: save one with `--file`."
    return replace(listing, notices=(*listing.notices, notice))

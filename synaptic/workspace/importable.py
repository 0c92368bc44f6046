"""What the page shows of an import: what would come, and what came."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING, Protocol

from ..models import Pairs, Texts, frozen

if TYPE_CHECKING:
    from .workspace import Workspace


@frozen
class ImportPreview:
    """What an import would do. `chosen`: (source, names of files) of each reader. `counts` of
    records by their states, of which those that are `coming` would be written; `days` are the
    first and the last of new entries, `examples` are (day, title) of the first ones. `skipped`
    are (place, reason), `screened` the number of texts by the notice about them.
    """

    chosen: tuple[tuple[str, Texts], ...]
    counts: Mapping[str, int]
    coming: int
    days: Texts
    examples: Pairs
    skipped: Pairs
    screened: Mapping[str, int]


@frozen
class Imported:
    """What an import did: `entries` were written, `run` is its name for an undo, "" where none
    was new; `skipped` are (place, reason) of all that did not come.
    """

    run: str
    entries: int
    skipped: Pairs


class PlannedImport(Protocol):
    """An import that nobody has agreed to yet."""

    @property
    def preview(self) -> ImportPreview:
        """What it would do."""

    def write_in_parts(self, ws: Workspace) -> Generator[None, None, Imported]:
        """Writes it on the writer, and yields where others may write."""

"""An import of the files that a person gave to the page."""

from collections.abc import Generator
from pathlib import Path

from ...models import Pairs
from ...workspace.importable import Imported, ImportPreview
from ...workspace.workspace import Workspace
from .import_runs import ImportPlan, resume_runs, write_in_parts

EXAMPLES = 3
"""The number of entries that are shown as examples."""


class UploadedImport:
    """An import of the files in a folder, which nobody has agreed to yet."""

    def __init__(self, folder: Path, planned: ImportPlan) -> None:
        self._folder = folder
        self._planned = planned

    @property
    def preview(self) -> ImportPreview:
        planned = self._planned
        new = [one.entry for one in planned.new]
        return ImportPreview(
            chosen=tuple((one.source, one.names) for one in planned.chosen),
            counts=planned.counts,
            coming=len(planned.new) + len(planned.grown),
            days=(new[0].date, new[-1].date) if new else (),
            examples=tuple((entry.date, entry.title) for entry in new[:EXAMPLES]),
            skipped=self._skipped(),
            screened=dict(planned.screened),
        )

    def write_in_parts(self, ws: Workspace) -> Generator[None, None, Imported]:
        """Writes it; an import that was killed is finished first, as by the command."""
        resume_runs(ws)
        done = yield from write_in_parts(ws, self._planned)
        return Imported(done.run, done.entries, self._skipped())

    def _skipped(self) -> Pairs:
        """What is left out, without the folder, of which a person knows nothing."""
        folder = str(self._folder)
        return tuple(
            (
                where.replace(f"{folder}/", ""),
                why if folder not in why else _without_folder(why, folder),
            )
            for where, why in self._planned.skipped
        )


def _without_folder(why: str, folder: str) -> str:
    return why.replace(f"{folder}/", "").replace(folder, "it")

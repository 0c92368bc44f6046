"""Changes many files beside each other."""

from collections.abc import Mapping

from ..errors import Changed, NotFound, SynapticError
from .writer import D, FileWriter, Make

BATCH = 64
"""Files that are changed beside each other: each holds three files open meanwhile."""


def change_many(writer: FileWriter, makes: Mapping[str, Make[D]]) -> dict[str, D]:
    """Changes up to BATCH files as `FileWriter.change` does, and returns the drafts by path.
    Left out are files that changed meanwhile, those that are gone, and those for which `make`
    raises Changed.

    Raises the first error of any file, when the others are done.
    """
    changes = []
    errors: list[SynapticError] = []
    for path, make in makes.items():
        try:
            change = writer.draft_change(path, make)
        except (Changed, NotFound):
            continue
        except SynapticError as error:
            errors.append(error)
            continue
        if change.draft is not None:
            changes.append(change)
    made = writer.make_changes(changes)
    if errors:
        raise errors[0]
    return {change.path: change.draft for change in made}

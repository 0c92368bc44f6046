"""Keeps the texts of a file that a person edits in an editor, and says what came back
meanwhile.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import SynapticError
from ..journal.journal import Journal
from ..journal.losses import find_returned, put_back_overwritten
from ..journal.rewriting import OpenedFile, keep_opened, note_edit
from ..render.present import short_id
from ..render.terminal import say


@contextmanager
def texts_before_edit_kept(journal: Journal, path: str, *, waits: bool) -> Iterator[None]:
    """A context in which a person edits a file in an editor. A text that cannot be kept hinders
    no edit: a remark says so.
    """
    opened = None
    began = time.time()
    with _said_if_not_kept():
        opened = keep_opened(journal, path, waits=waits)
    try:
        yield
    finally:
        if opened:
            with _said_if_not_kept():
                ids = note_edit(journal, opened, waits=waits)
                _put_back_saves(journal, began)
                _name_returned(journal, opened)
                if len(ids) == 1:
                    say(
                        f"`synaptic restore {short_id(ids[0])}` brings the text before it back."
                    )
                elif ids:
                    say("`synaptic restore` lists the texts before this edit.")


def _put_back_saves(journal: Journal, since: float) -> None:
    """Puts back what was saved while the editor was open, and says so."""
    back, changed = put_back_overwritten(journal, since)
    for id in back:
        say(f"{short_id(id)} was saved while the editor was open: it was put back.")
    for id in changed:
        say(
            f"{short_id(id)} was changed while the editor was open, and the file has another "
            f"text: `synaptic doctor --restore {short_id(id)}` brings that change back."
        )


def _name_returned(journal: Journal, opened: OpenedFile) -> None:
    """Names what was deleted or moved while the editor was open, and stands there again."""
    for id, moved_to in find_returned(journal, opened.path, opened.at).items():
        if moved_to:
            say(
                f"{short_id(id)} was moved to {moved_to} while the editor was open, and stands "
                f"in {opened.path} again: remove it from one of them."
            )
        else:
            say(
                f"{short_id(id)} was deleted while the editor was open, and stands again: "
                f"`synaptic delete {short_id(id)}` deletes it."
            )


@contextmanager
def _said_if_not_kept() -> Iterator[None]:
    try:
        yield
    except SynapticError as error:
        say(f"The trash may lack the texts before this edit: {error}")

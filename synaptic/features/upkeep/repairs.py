"""Repairs what `doctor` finds, as far as that is safe."""

from contextlib import suppress

from ...errors import NotFound, SynapticError
from ...plugin import RECOVER
from ...verbs.doctor import check_index, is_open_to_others
from ...workspace.index_check import find_wrongly_indexed_paths, verify_index
from ...workspace.many_edits import finish_edits
from ...workspace.sync import in_step, rebuild
from ...workspace.workspace import Workspace


def repair_home(ws: Workspace) -> None:
    """Repairs permissions, interrupted imports, stored copies of private text and the index.
    What stands in the way of that is a finding of the next checkup.
    """
    if is_open_to_others(ws.config.home):
        with suppress(OSError):
            ws.config.home.chmod(0o700)
    with suppress(SynapticError):
        with ws.own_journal.writing():  # which takes what an older version left waiting
            pass
        finish_edits(ws)
        RECOVER.ask_each(ws)
        for stamp in ws.journal.scan():
            with suppress(NotFound):
                ws.own_journal.purge_private_copies(stamp.path, ws.journal.read(stamp.path))
        verify_index(ws)
        if find_wrongly_indexed_paths(ws) or any(in_step(ws, lambda _: check_index(ws))):
            rebuild(ws)

"""The command `backup`."""

from __future__ import annotations

from pathlib import Path

from ...cli.flags import argument
from ...cli.program import command
from ...cli.replies import output_for_workspace, print_answer
from ...journal.backups import how_to_go_back
from ...render import terminal, wire
from ...render.fence import clean
from ...workspace.workspace import Workspace
from .backup import write_backup


@command("backup", argument(str, "to", "DIR", "A folder, best on another disk."))
def _backup(ws: Workspace, to: str) -> None:
    """Write the journal and Synaptic's own texts into one zip with today's date.

    The zip is read again and compared. It is not encrypted. No file is overwritten.

    Example: synaptic backup /media/stick
    """
    done = write_backup(ws, Path(to))
    text = f"Wrote {output_for_workspace(ws).full_path(done.file)}: "
    files = terminal.file_count_text(done.files)
    text += f"{files}, {done.bytes / 1e6:.1f} MB, read back and equal."
    text += f"\n{clean(how_to_go_back(ws.config))}"
    print_answer({"success": True} | wire.as_json(done), text, done.notices)

"""The command `init`."""

from __future__ import annotations

from ...cli.flags import argument, switch, text_option
from ...cli.program import command
from ...cli.replies import EXAMPLE, print_answer
from ...config import load_config
from ...errors import InvalidArgument
from ...journal.journal import Journal
from ...journal.settings import toml_lines
from ...render import terminal, wire
from ...render.fence import one_line
from ...render.terminal import Output
from .adopt import Adopted, adopt


@command(
    "init",
    argument(str | None, "folder", "FOLDER", "The folder of Markdown files."),
    text_option("journal", "The same.", metavar="FOLDER"),
    switch("text_files", "Also read .txt files as notes; Synaptic never writes into them."),
    opens=False,
)
def _init(
    home: str | None, *, text_files: bool, folder: str | None = None, journal: str | None = None
) -> None:
    """Begin: make the home, or take a folder of notes that you have as the journal.

    The folder is only read now; new entries go into it later. Without `init` the first save
    makes a home of its own.

    Example: synaptic init ~/vault/daily
    """
    if folder and journal:
        raise InvalidArgument(
            "init takes one folder, and got two.", "Leave out --journal, which means the same."
        )
    adopted = adopt(home, folder or journal, text_files=text_files)
    screen = terminal.stdout_screen(Journal(load_config(home)).place)
    data = {"success": True} | wire.as_json(adopted)
    text = _adopted_text(adopted, screen)
    if not adopted.entries:
        text += f"\nNext: {EXAMPLE}"
    print_answer(data, text, adopted.notices)


def _adopted_text(home: Adopted, to: Output) -> str:
    """Returns the result of `init`. Paths are whole, so that they can be copied."""
    total = (
        f"{terminal.entry_count_text(home.entries)} in {terminal.file_count_text(home.files)}"
    )
    lines = [f"Journal: {to.full_path(home.journal)}, {total}."]
    if home.undated:
        dated = home.entries - home.undated
        lines.append(
            f"Entries with a date: {dated:,}; without one: {home.undated:,}, which no "
            f"search by date finds."
        )
    lines += map(one_line, home.remarks)
    lines.append(f"New entries go to {to.full_path(home.new_entries_go_to)}")
    config = to.full_path(home.home / "config.toml")
    if home.to_add:
        lines.append(
            f"{config} was there already and stays as it is; to use these settings, write "
            "these lines at its top in place of the present ones:"
        )
        lines += home.to_add
    elif home.files:
        [setting] = toml_lines({"day_file": home.day_file})
        more = " and `exclude`" if home.remarks else ""
        lines.append(f"To change that, edit or add `{setting}`{more} in {config}.")
    if home.issues:
        lines.append("Pieces that could not be read as meant:")
        lines += terminal.issue_lines(home.issues, to)
    if home.entries:
        lines.append(
            "Next: `synaptic rebuild-index` makes all of it searchable by meaning too; "
            "words work at once."
        )
    return "\n".join(lines)

"""The command `export`."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...cli import flags as f
from ...cli.flags import argument, switch
from ...cli.program import command
from ...errors import InvalidArgument, JournalError
from ...render import terminal, wire
from ...render.fence import clean
from ...render.terminal import emit
from ...serving.arguments import take_filters
from ...verbs.exports import export
from ...verbs.totals import sum_field
from ...workspace.workspace import Workspace
from .export_rows import csv_rows, json_rows, totals_json_rows


@command(
    "export",
    argument(str | None, "to", "FILE", "A new file. [default: standard output]"),
    switch("as_rows", "Write a JSON array, one object a line.", "--json"),
    switch("as_csv", "Write a table for spreadsheets.", "--csv"),
    f.SUM,
    f.BY,
    *f.filter_flags("export"),
    json=False,
)
def _export(
    ws: Workspace,
    as_rows: bool,
    as_csv: bool,
    to: str = "",
    sum_of: str | None = None,
    by: str | None = None,
    **options: Any,
) -> None:
    """Write entries as rows for other programs, oldest first.

    Private passages (<private>...</private>) are left out, superseded entries are not. No file
    is overwritten. With --sum or --by, the rows are the sums of a field, or counts.

    Example: synaptic export --csv notes.csv --since 2026-01-01
    """
    if as_rows == as_csv:
        raise InvalidArgument(
            "export takes either --json or --csv.", valid=("--json [FILE]", "--csv [FILE]")
        )
    filters = replace(take_filters(ws, options), include_superseded=True)
    if sum_of or by:
        totals = sum_field(ws, sum_of, by, filters=filters)
        lines = totals_json_rows(totals) if as_rows else wire.totals_csv_rows(totals)
    else:
        entries = export(ws, filters)
        lines = json_rows(entries) if as_rows else csv_rows(entries)
    if not to:
        for line in lines:
            emit(clean(line) if terminal.is_terminal(sys.stdout) else line)
        return None
    try:
        with (
            Path(to)
            .expanduser()
            .open("x", encoding="utf-8", errors="replace", newline="") as file
        ):
            return file.writelines(f"{line}\n" for line in lines)
    except OSError as error:
        raise JournalError(
            f"{to} cannot be written: {error.strerror}.",
            "Give the path of a file that does not exist, in a folder that does.",
        ) from error

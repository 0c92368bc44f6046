"""Writes the tables of commands in docs/USAGE.md from the declarations of the commands.

    .venv/bin/python scripts/usage.py

A table stands below `<!-- commands: GROUP -->`, for each group of `synaptic help --all`: the
command with its arguments, the first paragraph of its help, and its flags.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from typer.main import get_command

from synaptic.cli.flags import EXPERTS
from synaptic.cli.main import whole_program
from synaptic.cli.program import GROUPS, arguments_of, first_paragraph, plurals, show_argument

USAGE = Path(__file__).parent.parent / "docs" / "USAGE.md"
EVERYWHERE = ("--help", "--json")
"""The flags of every command, which no row names."""
_TABLE = re.compile(r"(<!-- commands: (.+) -->\n)(?:\|.*\n)*")


def main() -> None:
    USAGE.write_text(with_tables(USAGE.read_text("utf-8")), "utf-8")


def with_tables(text: str) -> str:
    """Returns the text with each table of commands as the program declares them now."""
    group: Any = get_command(whole_program())

    def write(match: re.Match[str]) -> str:
        names = GROUPS[match[2]].split()
        rows = [_row(name, group.commands[name]) for name in names]
        return f"{match[1]}| command | what it does | flags |\n|---|---|---|\n{''.join(rows)}"

    return _TABLE.sub(write, text)


def _row(name: str, command: Any) -> str:
    call = " ".join([name, *map(show_argument, arguments_of(command))])
    parts = [f"`{' '.join(flags)}`" for flags in (_flags(command, None),) if flags]
    for_experts = _flags(command, EXPERTS)
    if for_experts:
        parts.append(f"for experts: `{' '.join(for_experts)}`")
    return f"| `{call}` | {first_paragraph(command.help)} | {'; '.join(parts)} |\n"


def _flags(command: Any, heading: str | None) -> list[str]:
    """Returns the long flags that the help lists below a heading; None is the usual one."""
    flags = []
    for one in command.params:
        is_shown = one.param_type_name == "option" and not one.hidden
        if is_shown and one.rich_help_panel == heading:
            flags += [flag for flag in (*one.opts, *one.secondary_opts) if flag[:2] == "--"]
    return [flag for flag in flags if flag not in (*EVERYWHERE, *plurals(flags))]


if __name__ == "__main__":
    main()

"""The address of a team's database, and the flags of a server that reads or writes one."""

from __future__ import annotations

import os
from typing import Any

from ...errors import ConfigError, InvalidArgument
from .forwarding import check_writer_address


def database_address(typed: str | None, *, insecure: bool) -> str:
    """Returns the checked address of the PostgreSQL database: `typed`, else the value of
    SYNAPTIC_DATABASE. Raises ConfigError if psycopg is not installed, InvalidArgument for an
    invalid or insecure address.
    """
    try:
        from .published import VARIABLE, check_database_address
    except ImportError as error:
        raise ConfigError(
            "Published journals need the Python package psycopg, which is not installed.",
            hint="pip install 'synaptic-journal[postgres]'",
        ) from error
    address = typed or os.environ.get(VARIABLE, "")
    return check_database_address(address, insecure=insecure, typed=typed is not None)


def server_arguments(
    *, read: bool, publish: bool, insecure: bool, writer: str | None
) -> dict[str, Any]:
    """Checks the flags of `synaptic serve` that concern a database; returns keyword arguments
    for the server: `database` and `writer` for `--read`, `publish` for `--publish`, {} for
    neither. Raises InvalidArgument for flags that exclude each other.
    """
    if read and publish:
        raise InvalidArgument(
            "--read and --publish exclude each other: a server reads published journals, or "
            "publishes its own.",
            "Give --publish on the machine with the journal, --read on all others.",
        )
    if writer and not read:
        raise InvalidArgument(
            "--writer can only be given with --read: any other server writes its own journal.",
            "Give `synaptic serve --read --writer URL`, or leave out --writer.",
        )
    if not (read or publish):
        if insecure:
            raise InvalidArgument(
                "--insecure can only be given with --read or --publish: it concerns "
                "the connection to the database.",
                "Leave out --insecure.",
            )
        return {}
    database = database_address(None, insecure=insecure)
    if publish:
        return {"publish": ["--insecure"] * insecure}
    return {"database": database, "writer": check_writer_address(writer) if writer else ""}

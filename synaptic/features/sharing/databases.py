"""The address of a team's database, and the flags of a server that reads or writes one."""

from __future__ import annotations

import os
from typing import Any

from ...errors import ConfigError, InvalidArgument
from .forwarding import checked_writer


def database_address(typed: str | None, *, insecure: bool) -> str:
    """The address of the database that was typed, else that of the environment. Raises
    ConfigError where psycopg is missing, and InvalidArgument.
    """
    try:
        from .published import VARIABLE, check_address
    except ImportError as error:
        raise ConfigError(
            "This needs psycopg, which is not installed.",
            hint="pip install 'synaptic-journal[postgres]'",
        ) from error
    address = typed or os.environ.get(VARIABLE, "")
    return check_address(address, insecure=insecure, typed=typed is not None)


def server_arguments(
    *, read: bool, publish: bool, insecure: bool, writer: str | None
) -> dict[str, Any]:
    """The arguments of a server that reads or writes a database. Raises InvalidArgument."""
    if read and publish:
        raise InvalidArgument(
            "Give --read or --publish, not both.",
            "The server of a journal publishes it; others read it.",
        )
    if writer and not read:
        raise InvalidArgument(
            "--writer can only be given with --read: any other server writes its own journal.",
            "`synaptic serve --read --writer URL`, or without it.",
        )
    if not (read or publish):
        if insecure:
            raise InvalidArgument("--insecure can only be given with --read or --publish.")
        return {}
    database = database_address(None, insecure=insecure)
    if publish:
        return {"publish": ["--insecure"] * insecure}
    return {"database": database, "writer": checked_writer(writer) if writer else ""}

"""Shares the journal: with other machines by git, with a team by PostgreSQL.

`syncing` and `merge` for the first, `publisher` and `published` for the second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...journal.disk import PUBLISHED

if TYPE_CHECKING:
    from ...config import Config
    from ...models import Json
    from ...plugin import Forwarder
    from ...workspace.workspace import Workspace

COMMANDS = dict.fromkeys(
    ("sync", "publish", "git-setup", "git-merge"), f"{__name__}.sharing_commands"
)


def news(ws: Workspace) -> list[str]:
    """Returns sentences about the last git sync and the last publication; none if neither was
    ever done.
    """
    sentences: list[str] = []
    if ws.config.sync.url:
        from .syncing import describe_sync

        sentences += describe_sync(ws.config)
    if (ws.config.state / PUBLISHED).exists():
        from .publisher import describe_publication

        sentences += describe_publication(ws)
    return sentences


def served(flags: Json) -> dict[str, Any]:
    """Checks the flags `--read`, `--publish`, `--insecure` and `--writer` of `synaptic serve`;
    returns the arguments for the server that reads or publishes a PostgreSQL database.
    """
    from .databases import server_arguments

    return server_arguments(**flags)


def access(config: Config, address: str) -> Workspace:
    """Opens a read-only workspace on the journals that are published in the PostgreSQL database
    at `address`.
    """
    from .published import open_published

    return open_published(config, address)


def forward(address: str) -> Forwarder:
    """Returns the client that forwards tool calls to the Synaptic server at `address`, which
    writes the journal.
    """
    from .forwarding import Forwarding

    return Forwarding(address)

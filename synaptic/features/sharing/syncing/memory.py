"""Keeps in `.state/sync.json` what one sync leaves to the next. It holds no name of a file that
is a secret.
"""

from __future__ import annotations

import json
from typing import Any

from ....config import Config
from ....errors import NotFound
from ....journal import disk


def memory(config: Config) -> dict[str, Any]:
    return disk.kept_in(config.state / "sync.json")


def remember(config: Config, **news: Any) -> None:
    record = memory(config) | news
    path = config.state / "sync.json"
    with disk.disk_errors(path):
        disk.overwrite(path, json.dumps(record).encode())


def allow(config: Config, id: str) -> None:
    """Allows the secret with this hit id to be sent from now on. Raises NotFound for an unknown
    id.
    """
    record = memory(config)
    waiting = record.get("hits", [])
    if id not in waiting:
        raise NotFound(f"No secret that waits is called {id}.", hint=f"Known: {waiting}.")
    remember(config, allowed=[*record.get("allowed", []), id])

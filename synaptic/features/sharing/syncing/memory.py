"""Stores in `.state/sync.json` the state that one sync leaves for the next. It holds no name of
a file that is a secret.
"""

from __future__ import annotations

import json
from typing import Any

from ....config import Config
from ....errors import NotFound
from ....journal import disk


def read_sync_record(config: Config) -> dict[str, Any]:
    return disk.read_state_json(config.state / "sync.json")


def update_sync_record(config: Config, **news: Any) -> None:
    record = read_sync_record(config) | news
    path = config.state / "sync.json"
    with disk.disk_errors(path):
        disk.overwrite(path, json.dumps(record).encode())


def allow_secret(config: Config, id: str) -> None:
    """Allows the secret with this hit id to be sent from now on. Raises NotFound for an unknown
    id.
    """
    record = read_sync_record(config)
    waiting = record.get("hits", [])
    if id not in waiting:
        raise NotFound(
            f"The last sync found no secret with the id {id!r}.",
            valid=waiting,
            hint=""
            if waiting
            else "Run `synaptic sync`, which lists the secrets that it finds.",
        )
    update_sync_record(config, allowed=[*record.get("allowed", []), id])

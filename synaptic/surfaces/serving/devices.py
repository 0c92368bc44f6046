"""Browsers that stay logged in: `devices.json` in `.state`.

The key of a browser has two halves. One is a cookie, which no script reads, but which browsers
send to every port of a host. The other is a secret in the storage of the page's own origin,
which no other port reads. The file holds one hash of both, so neither half opens anything, and
each login replaces both.
"""

from __future__ import annotations

import hmac
import json
import secrets
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from ...config import resolve_home
from ...journal.disk import disk_errors, make_dirs, overwrite

STAY_S = 30 * 86_400


class Key(NamedTuple):
    """The two halves."""

    cookie: str
    secret: str

    @property
    def hash(self) -> str:
        return sha256(f"{self.cookie} {self.secret}".encode()).hexdigest()


class Device(NamedTuple):
    """A browser. `used` is the time of its last login, in seconds since 1970."""

    id: str
    name: str
    hash: str
    used: float

    @property
    def date(self) -> str:
        return datetime.fromtimestamp(self.used).date().isoformat()


class Devices:
    """The browsers of a home, read anew for each question: one that is removed is out."""

    def __init__(self, home: str | Path | None) -> None:
        self.path = resolve_home(home) / ".state" / "devices.json"

    def read(self) -> list[Device]:
        """The browsers that logged in within STAY_S; none where the file cannot be read."""
        with suppress(OSError, ValueError, TypeError):
            since = time.time() - STAY_S
            devices = [Device(*row) for row in json.loads(self.path.read_bytes())]
            return [device for device in devices if device.used > since]
        return []

    def has(self, id: str) -> bool:
        return any(device.id == id for device in self.read())

    def add(self, name: str) -> tuple[Device, Key]:
        """One more browser with its key. A name that is taken gets a number."""
        key = _new_key()

        def added(devices: list[Device]) -> list[Device]:
            taken = [device.name for device in devices]
            number, free = 1, name
            while free in taken:
                number += 1
                free = f"{name} {number}"
            device = Device(secrets.token_hex(8), free, key.hash, time.time())
            return [*devices, device]

        return self._change(added)[-1], key

    def renew(self, key: Key) -> tuple[Device, Key] | None:
        """The browser that has this key, with its next; None where nobody has it."""
        next = _new_key()

        def renewed(devices: list[Device]) -> list[Device]:
            found = [device for device in devices if hmac.compare_digest(device.hash, key.hash)]
            others = [device for device in devices if device not in found]
            new = [device._replace(hash=next.hash, used=time.time()) for device in found]
            return [*others, *new]

        devices = self._change(renewed)
        return (devices[-1], next) if devices and devices[-1].hash == next.hash else None

    def remove(self, ids: Collection[str]) -> None:
        self._change(lambda devices: [device for device in devices if device.id not in ids])

    def _change(self, change: Callable[[list[Device]], list[Device]]) -> list[Device]:
        """The browsers after a change, which is written in one step."""
        from filelock import FileLock  # only here

        with disk_errors(self.path, "changed"):
            make_dirs(self.path.parent, private=True)
            with FileLock(self.path.with_suffix(".lock"), mode=0o600):
                before = self.read()
                after = change(before)
                if after != before:
                    overwrite(self.path, json.dumps(after).encode())
        return after


def _new_key() -> Key:
    return Key(secrets.token_urlsafe(32), secrets.token_urlsafe(32))

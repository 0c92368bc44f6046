"""Browsers that stay logged in: `devices.json` in `.state`.

The key of a browser has two halves. One is a cookie, which no script reads, but which browsers
send to every port of a host. The other is a secret in the storage of the page's own origin,
which no other port reads. The file holds one hash of both, so neither half opens anything, and
each login replaces both. A browser counts only with this machine's mark: a file that came with
the home from elsewhere lets nobody in.
"""

from __future__ import annotations

import hmac
import json
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from ...config import resolve_home
from ...files import file_lock
from ...journal.disk import disk_errors, make_dirs, overwrite, read_state_file
from ...journal.machine import mark_row, own_row_test

STAY_S = 30 * 86_400


class Key(NamedTuple):
    """The key of a browser that stays logged in, in two halves."""

    cookie: str
    secret: str

    @property
    def hash(self) -> str:
        return sha256(f"{self.cookie} {self.secret}".encode()).hexdigest()


class Device(NamedTuple):
    """A browser that stays logged in. `used` is the time of its last login, in seconds since
    1970. `is_phone`: it was let in by a code of `serve --phone`. `grant` is the hash of the
    token with which it logged in, "" for the person of this machine.
    """

    id: str
    name: str
    hash: str
    used: float
    is_phone: bool = False
    grant: str = ""

    @property
    def date(self) -> str:
        return datetime.fromtimestamp(self.used).date().isoformat()


class Devices:
    """The browsers that stay logged in to a home. The file is read at each call, so that a
    removed browser is logged out at once.
    """

    def __init__(self, home: str | Path | None) -> None:
        self.home = resolve_home(home)
        self.path = self.home / ".state" / "devices.json"

    def read(self) -> dict[str, Device]:
        """Maps ids to the browsers that logged in within the last STAY_S seconds; {} if the
        file cannot be read.
        """
        devices = {}
        is_own = own_row_test(self.path.name)
        since = time.time() - STAY_S
        with suppress(OSError, ValueError, TypeError, RecursionError):
            for row in json.loads(read_state_file(self.path)):
                if isinstance(row, dict) and is_own(row):
                    device = Device(**{name: row[name] for name in row.keys() - {"mark"}})
                    if device.used > since:
                        devices[device.id] = device
        return devices

    def add(self, name: str, *, is_phone: bool = False, grant: str = "") -> tuple[Device, Key]:
        """Stores a new browser; returns it with its key."""
        key = _make_key()
        device = Device(secrets.token_hex(8), name, key.hash, time.time(), is_phone, grant)
        with self._changing() as devices:
            devices[device.id] = device
        return device, key

    def renew(
        self, key: Key, may_come_back: Callable[[Device], bool]
    ) -> tuple[Device, Key] | None:
        """Gives the browser with this key a new key if it may come back here; returns both, or
        None if no such browser has the key.
        """
        with self._changing() as devices:
            for id, device in devices.items():
                if hmac.compare_digest(device.hash, key.hash) and may_come_back(device):
                    next = _make_key()
                    devices[id] = device._replace(hash=next.hash, used=time.time())
                    return devices[id], next
        return None

    def remove(self, *ids: str) -> None:
        with self._changing() as devices:
            for id in ids:
                devices.pop(id, None)

    @contextmanager
    def _changing(self) -> Iterator[dict[str, Device]]:
        """Yields the browsers by id, and writes the changes to the file at the end of the
        block.
        """
        make_dirs(self.path.parent, private=True)
        with file_lock(self.path.with_suffix(".lock")):
            devices = self.read()
            before = dict(devices)
            yield devices
            if devices != before:
                with disk_errors(self.path, "changed"):
                    rows = [mark_row(self.path.name, one._asdict()) for one in devices.values()]
                    overwrite(self.path, json.dumps(rows).encode())


def _make_key() -> Key:
    return Key(secrets.token_urlsafe(32), secrets.token_urlsafe(32))

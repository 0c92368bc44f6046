"""The code that lets one phone in: it works once, and for five minutes."""

import hmac
import secrets
import time
from threading import Lock
from urllib.parse import quote

PHONE_PORT = 8765
"""The port of a server for phones where neither --port nor config.toml names one: a phone comes
back to the same address.
"""
CODE_S = 300
"""Seconds for which a code works."""


class PhoneCode:
    """The codes of a server at the address `url`. The last one that was made is valid."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._code = ""
        self._ends = 0.0
        self._lock = Lock()

    def make_address(self) -> str:
        """Makes a new code, which ends the one before, and returns the address for a phone. The
        code is its fragment, which no browser sends over the network as part of an address.
        """
        with self._lock:
            self._code = secrets.token_urlsafe(32)
            self._ends = time.monotonic() + CODE_S
            return f"{self.url}/login#phone={quote(self._code)}"

    def redeem(self, code: str) -> bool:
        """Uses up the code; True if it was valid."""
        with self._lock:
            is_right = hmac.compare_digest(self._code.encode(), code.encode("utf-8", "replace"))
            if not (self._code and is_right and time.monotonic() < self._ends):
                return False
            self._code = ""
            return True

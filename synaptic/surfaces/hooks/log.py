"""Files of lines in `.state` that several processes append to, and that stay small."""

from __future__ import annotations

import os
from pathlib import Path

from ...journal.disk import overwrite

LOG_BYTES = 1_000_000


def append(path: Path, line: str) -> None:
    """Appends the line, after shortening the file to half of `LOG_BYTES` where it would exceed them. Raises OSError."""
    data = f"{line}\n".encode()
    if path.exists() and path.stat().st_size + len(data) > LOG_BYTES:
        overwrite(path, path.read_bytes()[-LOG_BYTES // 2 :].partition(b"\n")[2])
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as log:
        log.write(data)

"""Opens files that somebody else may have put there: regular files only, and without ever waiting for one."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

SMALL_BYTES = 1_000_000
"""No file that says where a repository is, or which branch is checked out, is nearly as large."""

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)


def open_regular(path: Path, *, follow: bool = True) -> BinaryIO:
    """The file, open for reading. Raises OSError for a FIFO, a device, a folder, and for a link unless `follow`."""
    _check(path.stat(follow_symlinks=follow), path)  # to open a device may already do something
    fd = os.open(path, _FLAGS | (0 if follow else getattr(os, "O_NOFOLLOW", 0)))
    try:
        _check(os.fstat(fd), path)
    except OSError:
        os.close(fd)
        raise
    return os.fdopen(fd, "rb")


def read_small(path: Path) -> bytes:
    """The bytes of a regular file of at most `SMALL_BYTES`. Raises OSError for everything else."""
    with open_regular(path) as file:
        data = file.read(SMALL_BYTES + 1) or b""  # None: a file of /proc with nothing to read as yet
    if len(data) > SMALL_BYTES:
        raise OSError(errno.EFBIG, "it is too large", str(path))
    return data


def _check(found: os.stat_result, path: Path) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is no regular file", str(path))

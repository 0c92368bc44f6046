"""Finds files of an entry that changed since it was saved.

A save keeps a fingerprint with each of its files, in the comment:
`files=src/a.py@3f9a0c1d2e4b`.

| path                               | fingerprint                                             |
|------------------------------------|---------------------------------------------------------|
| relative                           | of the file below the root of the checkout              |
| absolute                           | of the file, if it lies in the checkout                 |
| a folder, a pattern, a missing file| none                                                    |
| out of the checkout (`..`, a link) | none; if it leads out only later, the file is gone      |
| renamed                            | the file is gone                                        |
| in another project or repository   | none                                                    |

Files are compared byte by byte, line ends included. Of a file above 256 KiB the size and the
first 256 KiB are compared.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from ..files import open_regular
from ..models import RACY_NS, Entry, Proof, proof_of
from ..notes.blocks import project_key
from ..notes.header import FINGERPRINT_DIGITS
from .checkout import Checkout, asking_project, working_checkout
from .git import fate_of
from .workspace import Workspace

LIMIT = 256 * 1024
GONE = "gone"


def fingerprints(
    entry: Entry,
    here: Checkout | None,
) -> tuple[tuple[str, str], ...]:
    """(path, fingerprint) of the files of an entry of this checkout's project that lie in
    it.
    """
    if here is None or not of_project(entry.project, here):
        return ()
    fingerprints = []
    for path in entry.files:
        if not _doubtful(here.root, path):
            fingerprint = _fingerprint(here.root, path)
            if fingerprint and fingerprint != GONE:
                fingerprints.append((path, fingerprint))
    return tuple(fingerprints)


def marked(
    ws: Workspace,
    entries: Mapping[int, Entry],
    here: Checkout | None = None,
) -> dict[int, Entry]:
    """The entries with their `marks` and `changed_files` as of today in this checkout, or in
    the checkout of this process.
    """
    here = here or working_checkout(ws.config)
    own = asking_project(ws.config, here)
    today = ws.today.isoformat()
    result = dict(entries)
    for rowid, entry in entries.items():
        marks = []
        changed = []
        if entry.id in ws.journal.remarks:
            marks.append(ws.journal.remarks[entry.id])
        if entry.project and project_key(entry.project) != own:
            marks.append(f"project {entry.project}")
        if here and of_project(entry.project, here):
            fate = fate_of(entry.branch, here) if entry.branch else "merged"
            if fate == "gone":
                marks.append(f"branch {entry.branch} gone")
            elif fate != "merged":
                marks.append(f"branch {entry.branch}")
            changed = _changed_files(entry, here)
        if has_expired(entry.expires, today):
            marks.append(f"expired {entry.expires}")
        if marks or changed:
            result[rowid] = replace(entry, marks=tuple(marks), changed_files=tuple(changed))
    return result


def _changed_files(
    entry: Entry,
    here: Checkout,
) -> list[str]:
    changed = []
    for path, saved in entry.fingerprints:
        fingerprint = _fingerprint(here.root, path)
        if fingerprint is not None and fingerprint != saved:
            changed.append(path)
    return changed


def has_expired(
    expires: str | None,
    today: str,
) -> bool:
    """True if the day `expires` has passed; both are `YYYY-MM-DD`."""
    return expires is not None and expires < today


def of_project(
    project: str | None,
    here: Checkout,
) -> bool:
    """True if a project, as typed or as a key, is that of this checkout."""
    return project_key(project or "") == project_key(here.project)


def _doubtful(
    root: Path,
    path: str,
) -> bool:
    """True if a relative path may mean a file of the working directory or of the root."""
    with suppress(OSError, ValueError):
        folder = Path.cwd().resolve()
        return (
            folder != root and not Path(path).is_absolute() and os.path.lexists(folder / path)
        )
    return True


def _fingerprint(
    root: Path,
    path: str,
) -> str | None:
    """The fingerprint of the present file; GONE without one. None: unreadable or outside."""
    full = os.path.normpath(root / path)
    try:
        if not _within(full, root):
            return None
        status = Path(full).stat()
        if not stat.S_ISREG(status.st_mode):
            return GONE
        proof = proof_of(status)
        is_settled = time.time_ns() - proof[1] > RACY_NS
        hashed = _hashed if is_settled else _hashed.__wrapped__
        return hashed(root, full, status.st_dev, proof)
    except (FileNotFoundError, NotADirectoryError):
        return GONE
    except (OSError, ValueError):
        return None


def _within(
    path: str,
    root: Path,
) -> bool:
    return path.startswith(str(root).rstrip(os.sep) + os.sep)


@lru_cache(maxsize=4096)
def _hashed(
    root: Path,
    path: str,
    device: int,
    proof: Proof,
) -> str:
    """The fingerprint of a file with this proof; GONE if a link leads out of the checkout."""
    real = os.path.realpath(path)
    if not _within(real, root):
        return GONE
    size = proof[2]
    with open_regular(Path(real), follow=False) as file:
        seen = hashlib.sha256(file.read(min(size, LIMIT)))
    if size > LIMIT:
        seen.update(b"%d" % size)
    return seen.hexdigest()[:FINGERPRINT_DIGITS]

"""Which files that an entry is about are no longer what they were when it was saved.

A save keeps a fingerprint with each of its files, in the comment:
`files=src/a.py@3f9a0c1d2e4b`.

| of                                     | what is kept, and said later                                                |
|----------------------------------------|-----------------------------------------------------------------------------|
| a relative path                        | the file below the root of the checkout, as `git diff --name-only` names it |
| an absolute path                       | the file, where it lies in the checkout                                     |
| a folder, a pattern, what is not there | nothing                                                                     |
| a path that leads out, by `..` or link | nothing; where it does so only later, the file counts as gone               |
| a file that was renamed                | gone: its path is what the entry knows                                      |
| another project than the repository's  | nothing; so it is where this process works in another repository, or none   |

The bytes of the working tree count, whatever git makes of line ends: a checkout that writes
others has other files. Of a file above 256 KiB the size and the first 256 KiB count.
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


def fingerprints(entry: Entry, here: Checkout | None) -> tuple[tuple[str, str], ...]:
    """(path, fingerprint) of those files of an entry that lie in this checkout, where its
    project is that one.
    """
    if here is None or not of_project(entry.project, here):
        return ()
    found = (
        (path, _fingerprint(here.root, path))
        for path in entry.files
        if not _doubtful(here.root, path)
    )
    return tuple((path, known) for path, known in found if known and known != GONE)


def marked(
    ws: Workspace, entries: Mapping[int, Entry], here: Checkout | None = None
) -> dict[int, Entry]:
    """The entries as they stand today to this checkout, or where this process works: of another
    project or branch,
    expired, with files that differ or are gone."""
    here = here or working_checkout(ws.config)
    own, today = asking_project(ws.config, here), ws.clock().date().isoformat()
    found = dict(entries)
    for rowid, entry in entries.items():
        mine = here if here and of_project(entry.project, here) else None
        said = (
            [f"project {entry.project}"]
            if entry.project and project_key(entry.project) != own
            else []
        )
        if mine and entry.branch and (fate := fate_of(entry.branch, mine)) != "merged":
            said.append(f"branch {entry.branch}{' gone' if fate == 'gone' else ''}")
        if has_expired(entry.expires, today):
            said.append(f"expired {entry.expires}")
        known = entry.fingerprints if mine else ()
        changed = tuple(
            path
            for path, was in known
            if mine and _fingerprint(mine.root, path) not in (was, None)
        )
        if said or changed:
            found[rowid] = replace(entry, marks=tuple(said), changed_files=changed)
    return found


def has_expired(expires: str | None, today: str) -> bool:
    """Whether the last day that an entry comes first lies before today; both are `YYYY-MM-DD`."""
    return expires is not None and expires < today


def of_project(project: str | None, here: Checkout) -> bool:
    """Whether a project, as typed or as a key, is that of this checkout."""
    return project_key(project or "") == project_key(here.project)


def _doubtful(root: Path, path: str) -> bool:
    """Whether a relative path may mean a file of the working directory as well as one of the
    root.
    """
    with suppress(OSError, ValueError):
        folder = Path.cwd().resolve()
        return (
            folder != root and not Path(path).is_absolute() and os.path.lexists(folder / path)
        )
    return True


def _fingerprint(root: Path, path: str) -> str | None:
    """Of the file at this path as it is now; GONE where there is none. None: it cannot be
    known, or is not ours.
    """
    full = os.path.normpath(root / path)
    try:
        if not _within(full, root):
            return None
        found = Path(full).stat()
        if not stat.S_ISREG(found.st_mode):
            return GONE
        proof = proof_of(found)
        settled = time.time_ns() - proof[1] > RACY_NS
        return (_hashed if settled else _hashed.__wrapped__)(root, full, found.st_dev, proof)
    except (FileNotFoundError, NotADirectoryError):
        return GONE
    except (OSError, ValueError):
        return None


def _within(path: str, root: Path) -> bool:
    return path.startswith(str(root).rstrip(os.sep) + os.sep)


@lru_cache(maxsize=4096)
def _hashed(root: Path, path: str, device: int, proof: Proof) -> str:
    """The fingerprint of a file that has this proof on this device; GONE where a link leads out
    of the checkout.
    """
    real = os.path.realpath(path)
    if not _within(real, root):
        return GONE
    size = proof[2]
    with open_regular(Path(real), follow=False) as file:
        seen = hashlib.sha256(file.read(min(size, LIMIT)))
    if size > LIMIT:
        seen.update(b"%d" % size)
    return seen.hexdigest()[:FINGERPRINT_DIGITS]

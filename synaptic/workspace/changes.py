"""Finds files of an entry that changed since it was saved.

A save keeps a fingerprint with each of its files, in the comment:
`files=src/a.py@3f9a0c1d2e4b`. `review keep` notes the one of that day.

| path                               | fingerprint                                             |
|------------------------------------|---------------------------------------------------------|
| relative                           | of the file below the root of the checkout              |
| absolute                           | of the file, if it lies in the checkout                 |
| a folder, a pattern, a missing file| none                                                    |
| out of the checkout (`..`, a link) | none; if it leads out only later, the file is gone      |
| renamed                            | the file is gone                                        |
| in another project or repository   | none                                                    |

Files are compared byte by byte, line ends included. Of a file above 256 KiB the size and the
first 256 KiB are compared. Of a smaller file `.state/lines/` keeps a hash of each line, so that
a file counts as changed only if more than a tenth of its lines, or lines that the entry names
(`a.py:12-20`), are others.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import time
import zlib
from array import array
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from ..errors import Sentence
from ..files import open_regular_file, real_path
from ..filters import Scope
from ..journal.disk import REVIEWED, make_state_dir, overwrite, read_state_file, read_state_json
from ..journal.repository import Checkout
from ..kinds import has_expired
from ..models import RACY_NS, Entry, FileSignature, file_signature
from ..notes.blocks import project_key
from ..notes.header import FINGERPRINT_DIGITS
from .checkout import holds_journal, project_marks, working_checkout, working_scope
from .git import branch_fate
from .preferences import read_consents
from .workspace import Workspace

LIMIT = 256 * 1024
GONE = "gone"
SMALL_CHANGE = 0.1
"""The share of a file's lines that may change."""
LINES_KEPT = 2_000
"""Files in `.state/lines/`; the oldest go."""


def fingerprint_files(
    entry: Entry, here: Checkout | None, state: Path
) -> tuple[tuple[str, str], ...]:
    """(path, fingerprint) of the files of an entry of this checkout's project that lie in it.
    The folder `state` keeps their lines.
    """
    if here is None or not is_project_of_checkout(entry.project, here):
        return ()
    fingerprints = []
    for path in entry.files:
        if not _may_mean_two_files(here.root, path):
            fingerprint = fingerprint_path(here.root, path)
            if fingerprint and fingerprint != GONE:
                fingerprints.append((path, fingerprint))
                with suppress(OSError, ValueError):
                    store_line_hashes(state / "lines", fingerprint, here.root / path)
    return tuple(fingerprints)


def mark_entries(
    ws: Workspace, entries: Mapping[int, Entry], here: Checkout | None = None
) -> dict[int, Entry]:
    """The entries with their `marks` and `changed_files` as of today in this checkout, or in
    the checkout of this process.
    """
    here = here or working_checkout(ws)
    scope = Scope() if holds_journal(ws.config, here) else working_scope(ws.config, here)
    today = ws.today.isoformat()
    result = dict(entries)
    rules = {
        rowid: entry
        for rowid, entry in entries.items()
        if entry.content and entry.type == "preference"
    }
    consents = dict(zip(rules, read_consents(ws, list(rules.values())), strict=True))
    for rowid, entry in entries.items():
        marks = []
        changed = []
        if ws.access.is_of_several:
            marks.append(entry.there.path.partition("/")[0])
        if entry.id in ws.journal.remarks:
            marks.append(ws.journal.remarks[entry.id])
        is_own = scope.covers(*project_marks(entry))
        if entry.project and not is_own:
            marks.append(f"project {entry.project}")
        if here and is_own_entry(entry, here):
            fate = branch_fate(entry.branch, here) if entry.branch else "merged"
            if fate == "gone":
                marks.append(Sentence("branch {branch} gone", branch=entry.branch))
            elif fate != "merged":
                marks.append(Sentence("branch {branch}", branch=entry.branch))
            changed = _changed_files(entry, here, ws.config.state)
        if rowid in consents and consents[rowid].mark:
            marks.append(consents[rowid].mark)
        if has_expired(entry.expires, today):
            marks.append(Sentence("expired {day}", day=entry.expires))
        if marks or changed:
            result[rowid] = replace(entry, marks=tuple(marks), changed_files=tuple(changed))
    return result


def key_of_review(entry: Entry, path: str) -> str:
    """The name under which a review notes the fingerprint that a person has seen of a file."""
    return f"{entry.id} {path}@{dict(entry.fingerprints)[path]}"


def _changed_files(entry: Entry, here: Checkout, state: Path) -> list[str]:
    """The files of the entry that changed since it was saved or kept; `state` has lines."""
    changed = []
    reviewed = read_state_json(state / REVIEWED) if entry.fingerprints else {}
    for path, saved in entry.fingerprints:
        now = fingerprint_path(here.root, path)
        seen = str(reviewed.get(key_of_review(entry, path), saved))
        if now in (None, saved, seen):
            continue
        with suppress(OSError, ValueError):  # it is gone or large, or its lines are not kept
            before = array("I", read_state_file(state / "lines" / seen))
            if not _differs_much(
                before, _line_hashes(here.root / path, now), path, entry.content
            ):
                continue
        changed.append(path)
    return changed


# -- lines


def _differs_much(before: array[int], after: array[int], path: str, text: str) -> bool:
    """True if more than SMALL_CHANGE of the lines are others, or lines of this path that the
    text names: `a.py:12`, `a.py:12-20`, `a.py#L12-L20`.
    """
    same = (Counter(before) & Counter(after)).total()
    if same < (1 - SMALL_CHANGE) * max(len(before), len(after)):
        return True
    name = re.escape(Path(path).name)
    named = re.findall(rf"\b{name}(?::|#L)(\d{{1,6}})(?:-L?(\d{{1,6}}))?", text)
    for first, last in named:
        part = before[max(0, int(first) - 1) : int(last or first)]
        if all(after[at : at + len(part)] != part for at in range(len(after))):
            return True
    return False


@lru_cache(maxsize=64)
def _line_hashes(path: Path, fingerprint: str) -> array[int]:
    """A hash of each line of the file. Raises ValueError if it is large, or has another
    fingerprint now.
    """
    with open_regular_file(path, follow=False) as file:
        data = file.read(LIMIT + 1)
    if hashlib.sha256(data).hexdigest()[:FINGERPRINT_DIGITS] != fingerprint:
        raise ValueError
    return array("I", map(zlib.crc32, data.splitlines()))


def store_line_hashes(folder: Path, fingerprint: str, path: Path) -> None:
    file = folder / fingerprint
    if file.exists():
        return
    lines = _line_hashes(path, fingerprint)
    make_state_dir(folder)
    oldest_first = sorted(folder.iterdir(), key=lambda hash_file: hash_file.stat().st_mtime)
    for hash_file in oldest_first[: -LINES_KEPT + 1]:
        hash_file.unlink()
    overwrite(file, lines.tobytes(), sync=False)


def is_project_of_checkout(project: str | None, here: Checkout) -> bool:
    """True if a project, as typed or as a key, is that of this checkout."""
    return bool(project) and project_key(project or "") == project_key(here.project)


def is_own_entry(entry: Entry, here: Checkout) -> bool:
    """True if an entry belongs to the project of this checkout."""
    return here.scope.covers(*project_marks(entry))


def _may_mean_two_files(root: Path, path: str) -> bool:
    """True if a relative path may mean a file of the working directory or of the root."""
    with suppress(OSError, ValueError):
        folder = Path.cwd().resolve()
        return (
            folder != root and not Path(path).is_absolute() and os.path.lexists(folder / path)
        )
    return True


def fingerprint_path(root: Path, path: str) -> str | None:
    """The fingerprint of the present file; GONE without one. None: unreadable or outside."""
    full = Path(os.path.normpath(root / path))
    try:
        if not full.is_relative_to(root):
            return None
        status = full.stat()
        if not stat.S_ISREG(status.st_mode):
            return GONE
        signature = file_signature(status)
        is_settled = time.time_ns() - signature[1] > RACY_NS
        hashed = _hash_file if is_settled else _hash_file.__wrapped__
        return hashed(root, full, status.st_dev, signature)
    except (FileNotFoundError, NotADirectoryError):
        return GONE
    except (OSError, ValueError):
        return None


@lru_cache(maxsize=4096)
def _hash_file(root: Path, path: Path, device: int, signature: FileSignature) -> str:
    """The fingerprint of a file, cached by its signature; GONE if a link leads out of the
    checkout.
    """
    real = real_path(path)
    if not real.is_relative_to(root):
        return GONE
    size = signature[2]
    with open_regular_file(real, follow=False) as file:
        seen = hashlib.sha256(file.read(min(size, LIMIT)))
    if size > LIMIT:
        seen.update(b"%d" % size)
    return seen.hexdigest()[:FINGERPRINT_DIGITS]

"""Notes which session ended or is about to be compacted; the next command, or a server when it starts, digests it.

A client ends all of its hooks after 1.5 s, so nothing is read here: a small file in `.state/capture/` names the
transcript. There is one for each session, however often its hooks run.
"""

from __future__ import annotations

import hashlib
import json
import sys
from contextlib import suppress

from ...config import resolve_home
from ...errors import SynapticError
from ...journal.disk import make_dirs, overwrite

EVENTS = ("pre-compact", "session-end")


def queue(home: str | None, client: str) -> None:
    """Notes the session that standard input names; a home that is not there is not made.

    OpenCode names none: all of its sessions are in one database.
    """
    state = resolve_home(home) / ".state"
    with suppress(OSError, ValueError, TypeError, AttributeError, SynapticError):
        said = json.loads(sys.stdin.buffer.read())
        noted = json.dumps({"client": client, "path": str(said.get("transcript_path") or "")}).encode()
        if state.is_dir():
            make_dirs(state / "capture", private=True)
            overwrite(state / "capture" / hashlib.sha256(noted).hexdigest()[:16], noted, sync=False)

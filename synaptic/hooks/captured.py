"""Notes which agent sessions have ended. Imports little, because the client waits for it."""

import json
from contextlib import suppress
from hashlib import blake2b

from ..config import resolve_home
from ..journal.disk import make_state_dir, overwrite


def note_ended_session(home: str | None, client: str, data: bytes) -> None:
    """Writes a note that a session has ended, so that `importing.catch_up` makes a digest of it
    later. `data` is the JSON that the client gives its hook. Does nothing without a home.

    A client ends all of its hooks after 1.5 s, so the transcript is not read here. A session
    has one note, however often its hooks run. OpenCode, which has one database, gives no path:
    its sessions are noted by their ids.
    """
    state = resolve_home(home) / ".state"
    with suppress(Exception):  # anybody may run it
        message = json.loads(data)
        path = message.get("transcript_path") or message["session_id"]
        noted = json.dumps({"client": client, "path": path}).encode()
        name = blake2b(noted, digest_size=8).hexdigest()
        if state.is_dir():
            make_state_dir(state / "capture")
            overwrite(state / "capture" / name, noted, sync=False)

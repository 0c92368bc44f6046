"""Asks an agent once, before a session that saved nothing ends, to save a hand-off."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..config import Config, make_clock
from ..files import open_regular_file
from ..journal.disk import open_to_append, overwrite, read_state_file, read_state_lines

if TYPE_CHECKING:
    from ..journal.repository import Checkout

HookMessage = Mapping[str, Any]
"""The JSON that a client gives its hook. `client`, the name of the client, and `cwd` are always
there.
"""

HANDOFF_REQUEST = (
    "Nothing of this session is in Synaptic yet, the journal that you share with the user. "
    "If work is left, or something was decided or found out that is worth keeping, save it "
    "now with context_save: one entry of type handoff with the state, the open ends and the "
    "next step, and one of type decision for each choice, with its reason. If nothing is "
    "worth keeping, save nothing. Do not repeat your last answer."
)
MIN_TURNS = 10
"""Turns after which a session without changed files is asked for a hand-off."""
MAX_FILES = 20_000
"""The most files of a checkout that are looked at; changes in further files are not seen."""

LOG_BYTES = 1_000_000
"""The most bytes of a log of the hooks."""

_HIDDEN_OR_BUILT = re.compile(r"\.|(node_modules|target|build|dist|venv|__pycache__)$")


def log_session_event(
    config: Config, message: HookMessage, event: str
) -> list[tuple[datetime, str]]:
    """Appends the event `start`, `turn` or `asked` to the log, and returns all logged events of
    this session with their times; empty where the session has no valid id.
    """
    if not config.hooks.stop:
        return []
    session = str(message.get("session_id") or "")
    if not re.fullmatch(r"[\w.:-]{1,200}", session):
        return []
    log = config.state / "stops.log"
    append_log_line(log, f"{make_clock()().isoformat()} {session} {event}")
    events = []
    for line in read_state_lines(log):
        words = line.split()
        with suppress(ValueError):  # a line of another program
            if words[1:2] == [session]:
                events.append((datetime.fromisoformat(words[0]), words[-1]))
    return events


def ask_for_handoff(config: Config, message: HookMessage) -> str:
    """Returns the request that the agent saves a hand-off; empty if it may stop at once.

    It is asked once in a session, only where a person reads the answer, if files of the
    checkout changed or `MIN_TURNS` turns passed, and nothing was saved since the session began.
    """
    if message.get("stop_hook_active") or message.get("background_tasks"):
        return ""
    noted = log_session_event(config, message, "turn")
    events = [event for _, event in noted]
    if not events or "asked" in events:
        return ""
    if not _is_attended(message, events):
        return ""
    from ..journal.repository import find_checkout

    began = noted[0][0]
    folder = Path(message["cwd"])
    here = find_checkout(folder)
    if events.count("turn") < MIN_TURNS and not _has_changed_files(here, began):
        return ""
    if _has_saved(config, folder, began):
        return ""
    log_session_event(config, message, "asked")
    return HANDOFF_REQUEST


def _is_attended(message: HookMessage, events: list[str]) -> bool:
    """True when a person, not a script, reads what the agent answers."""
    if message["client"] == "codex":  # the transcript names who began each turn
        path = Path(str(message.get("transcript_path")))
        with open_regular_file(path) as transcript:
            triggers = re.findall(rb'"turn_trigger":"(\w+)"', transcript.read())
        return triggers[-1:] == [b"user"]
    if message["client"] == "gemini":  # it does not tell, but a script's session has one prompt
        return events[-2:] == ["turn", "turn"]
    attended = os.environ.get("CLAUDE_CODE_SESSION_ATTENDED")
    if attended:
        return attended == "1"
    return os.environ.get("CLAUDE_CODE_ENTRYPOINT") == "cli"


def _has_changed_files(here: Checkout | None, began: datetime) -> bool:
    """True when a file of the checkout changed after `began`; hidden files and build outputs do
    not count.
    """
    if not here:
        return False
    left = MAX_FILES
    for folder, folders, names in os.walk(here.root):
        for name in names[:left]:
            if os.lstat(f"{folder}/{name}").st_mtime > began.timestamp():
                return True
        left -= len(names)
        if left <= 0:
            break
        folders[:] = [name for name in folders if not _HIDDEN_OR_BUILT.match(name)]
    return False


def _has_saved(config: Config, folder: Path, began: datetime) -> bool:
    """True when an entry of the folder's project was saved after `began`; without a project any
    entry counts. Entries typed into a file do not count.
    """
    from ..filters import Filters
    from ..workspace.checkout import checkout_around, names_in_step, working_scope
    from ..workspace.sync import in_step
    from ..workspace.workspace import open_workspace

    with open_workspace(config) as ws:
        scope = working_scope(config, checkout_around(folder, config, names_in_step(ws)))
        days = Filters(
            scope=scope if scope.key else None,
            since=began.date().isoformat(),
            until=ws.today.isoformat(),
        )
        rows = in_step(
            ws, lambda _: ws.index.entries(ws.index.list_rows(days, order="newest", limit=100))
        )
    entries = [stored.entry for stored in rows.values()]
    first = began.replace(microsecond=0)
    return any(entry.at >= first and not entry.derived_id for entry in entries)


def append_log_line(path: Path, line: str) -> None:
    """Appends a line to a log that several processes write; removes the older half of a log
    that would exceed LOG_BYTES.
    """
    data = f"{line}\n".encode()
    with os.fdopen(open_to_append(path), "ab") as log:
        is_full = os.fstat(log.fileno()).st_size + len(data) > LOG_BYTES
    if is_full:
        half = read_state_file(path)[-LOG_BYTES // 2 :]
        overwrite(path, half.partition(b"\n")[2])
    with os.fdopen(open_to_append(path), "ab") as log:
        log.write(data)

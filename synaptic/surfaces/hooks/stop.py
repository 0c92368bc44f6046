"""Asks an agent once, before a session that saved nothing stops, for a hand-off."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from pathlib import Path

from ...files import open_regular
from ...journal.disk import overwrite
from ...models import Filters
from ...notes.blocks import project_key
from ...workspace.checkout import Checkout, checkout_around, project_of
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace
from .call import HookCall

ASK = (
    "Nothing of this session is in Synaptic yet, the journal that you share with the user. "
    "If work is left, or something was decided or found out that is worth keeping, save it "
    "now with context_save: one entry of type handoff with the state, the open ends and the "
    "next step, and one of type decision for each choice, with its reason. If nothing is "
    "worth keeping, save nothing. Do not repeat your last answer."
)
TURNS = 10
FILES = 20_000
"""Files of a checkout that are looked at; changes beyond them are not seen."""

LOG_BYTES = 1_000_000

_BUILT = {"node_modules", "target", "build", "dist", "venv", "__pycache__"}


def note(ws: Workspace, call: HookCall, event: str) -> list[tuple[datetime, str]]:
    """Notes `start`, `turn` or `asked`; returns the session's events with their times, empty
    where its id is unknown.
    """
    session = call.text("session_id")
    if not ws.config.hooks.stop or not re.fullmatch(r"[\w.:-]{1,200}", session):
        return []
    log = ws.config.state / "stops.log"
    append(log, f"{ws.clock().isoformat()} {session} {event}")
    events = []
    for line in log.read_text("utf-8").splitlines():
        at, noted_session, noted_event = line.split()
        if noted_session == session:
            events.append((datetime.fromisoformat(at), noted_event))
    return events


def stop(ws: Workspace, call: HookCall) -> str:
    """Returns the question to the agent; empty where it should just stop.

    It is asked once in a session, only where a person reads the answer, if files of the
    checkout changed or `TURNS` turns passed, and nothing was saved since the session began.
    """
    if call.fields.get("stop_hook_active") or call.fields.get("background_tasks"):
        return ""
    noted = note(ws, call, "turn")
    events = [event for _, event in noted]
    if not events or "asked" in events or not _attended(call, events):
        return ""
    began = noted[0][0]
    here = checkout_around(call.folder, ws.config)
    if events.count("turn") < TURNS and not _changed(here, began):
        return ""
    project = project_of(ws.config, here)
    if in_step(ws, lambda _: _saved(ws, project, began)):
        return ""
    note(ws, call, "asked")
    return ASK


def _attended(call: HookCall, events: list[str]) -> bool:
    """True when a person, and no script, reads what the agent says."""
    if call.client == "codex":  # the transcript names who began each turn
        with open_regular(Path(call.text("transcript_path"))) as transcript:
            triggers = re.findall(rb'"turn_trigger":"(\w+)"', transcript.read())
        return triggers[-1:] == [b"user"]
    if call.client == "gemini":  # it does not tell, but a script's session has one prompt
        return events[-2:] == ["turn", "turn"]
    attended = os.environ.get("CLAUDE_CODE_SESSION_ATTENDED")
    return attended == "1" if attended else os.environ.get("CLAUDE_CODE_ENTRYPOINT") == "cli"


def _changed(here: Checkout | None, began: datetime) -> bool:
    """True when a file of the checkout changed since then."""
    if here is None:
        return False
    paths = islice(_sources(here.root), FILES)
    return any(os.lstat(path).st_mtime > began.timestamp() for path in paths)


def _sources(root: Path) -> Iterator[str]:
    """Yields the files outside hidden and built folders."""
    for place, folders, names in os.walk(root):
        visible = [name for name in folders if not name.startswith(".")]
        folders[:] = [name for name in visible if name not in _BUILT]
        for name in names:
            yield f"{place}/{name}"


def _saved(ws: Workspace, project: str | None, began: datetime) -> bool:
    """True when an entry of the project, or without one any entry, was saved since then;
    entries typed into a file do not count.
    """
    today = ws.clock().date().isoformat()
    key = (project_key(project),) if project else ()
    days = Filters(projects=key, since=began.date().isoformat(), until=today)
    _, rows = ws.index.listing(days, order="newest", limit=100)
    entries = [stored.entry for stored in ws.index.entries(rows).values()]
    own = [entry for entry in entries if not entry.derived_id]
    return any(entry.at >= began.replace(microsecond=0) for entry in own)


def append(path: Path, line: str) -> None:
    """Appends the line to a log of several processes; keeps it below `LOG_BYTES`."""
    data = f"{line}\n".encode()
    if path.exists() and path.stat().st_size + len(data) > LOG_BYTES:
        _, _, newest = path.read_bytes()[-LOG_BYTES // 2 :].partition(b"\n")
        overwrite(path, newest)
    opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(opened, "ab") as log:
        log.write(data)

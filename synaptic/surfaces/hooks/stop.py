"""Asks an agent, once in a session that did something and saved nothing, for a hand-off before
it stops.
"""

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
from .session import Call

ASK = (
    "Nothing of this session is in Synaptic yet, the journal that you share with the user. "
    "If work is left, or "
    "something was decided, save it now with context_save: one entry of type handoff with "
    "the state, the open ends and "
    "the next step, and one of type decision for each choice, with its reason. If nothing "
    "is worth keeping, save "
    "nothing. Do not repeat your last answer."
)
TURNS = 10
FILES = 20_000
"""What changed beyond so many files of a checkout is not seen."""

LOG_BYTES = 1_000_000

_BUILT = {"node_modules", "target", "build", "dist", "venv", "__pycache__"}


def note(ws: Workspace, call: Call, what: str) -> list[tuple[datetime, str]]:
    """When what happened in this session, `start`, `turn` or `asked`, with this; nothing where
    it is not known.
    """
    session = call.text("session_id")
    if not ws.config.hooks.stop or not re.fullmatch(r"[\w.:-]{1,200}", session):
        return []
    notes = ws.config.state / "stops.log"
    append(notes, f"{ws.clock().isoformat()} {session} {what}")
    lines = (line.split() for line in notes.read_text("utf-8").splitlines())
    return [(datetime.fromisoformat(at), what) for at, each, what in lines if each == session]


def stop(ws: Workspace, call: Call) -> str:
    """What the agent is asked; empty where it should just stop.

    It is asked only where a person reads the answer, once in a session, if files of the
    checkout changed or `TURNS` turns passed, and nothing was saved since the session began.
    """
    if call.said.get("stop_hook_active") or call.said.get(
        "background_tasks"
    ):  # it goes on, or waits for them
        return ""
    happened = note(ws, call, "turn")
    events = [what for _, what in happened]
    if not events or "asked" in events or not _attended(call, events):
        return ""
    began, here = happened[0][0], checkout_around(call.folder, ws.config)
    busy = events.count("turn") >= TURNS or _changed(here, began)
    project = project_of(ws.config, here)
    if not busy or in_step(ws, lambda _: _saved(ws, project, began)):
        return ""
    note(ws, call, "asked")
    return ASK


def _attended(call: Call, events: list[str]) -> bool:
    """True when a person reads what the agent says, and no script does. Each client tells that
    in its own way.
    """
    if call.client == "codex":  # the transcript names who began each turn
        with open_regular(Path(call.text("transcript_path"))) as transcript:
            return re.findall(rb'"turn_trigger":"(\w+)"', transcript.read())[-1:] == [b"user"]
    if call.client == "gemini":  # which does not tell; but what a script starts has one prompt
        return events[-2:] == ["turn", "turn"]
    attended = os.environ.get("CLAUDE_CODE_SESSION_ATTENDED")
    return attended == "1" if attended else os.environ.get("CLAUDE_CODE_ENTRYPOINT") == "cli"


def _changed(here: Checkout | None, began: datetime) -> bool:
    """True when a file of the checkout was changed since then; hidden folders and built ones
    are passed over.
    """

    def paths(root: Path) -> Iterator[str]:
        for place, folders, names in os.walk(root):
            folders[:] = [
                name for name in folders if not name.startswith(".") and name not in _BUILT
            ]
            yield from (f"{place}/{name}" for name in names)

    return here is not None and any(
        os.lstat(path).st_mtime > began.timestamp() for path in islice(paths(here.root), FILES)
    )


def _saved(ws: Workspace, project: str | None, began: datetime) -> bool:
    """True when an entry of the project, or without one any entry, was saved since then, and
    not typed into a file.
    """
    of = (project_key(project),) if project else ()
    days = Filters(
        projects=of, since=began.date().isoformat(), until=ws.clock().date().isoformat()
    )
    _, rowids = ws.index.listing(days, order="newest", limit=100)
    entries = (stored.entry for stored in ws.index.entries(rowids).values())
    return any(
        entry.at >= began.replace(microsecond=0) and not entry.derived_id for entry in entries
    )


def append(path: Path, line: str) -> None:
    """Appends the line to a log of several processes, shortened where it would exceed
    `LOG_BYTES`. Raises OSError.
    """
    data = f"{line}\n".encode()
    if path.exists() and path.stat().st_size + len(data) > LOG_BYTES:
        overwrite(path, path.read_bytes()[-LOG_BYTES // 2 :].partition(b"\n")[2])
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as log:
        log.write(data)

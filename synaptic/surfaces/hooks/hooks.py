"""What an agent is told by itself: when a session starts, and on a prompt that an entry clearly fits.

A hook must never stand in the way of a session. Whatever goes wrong, and whatever takes longer than `timeout_s`,
is a line in `.state/hooks.log`; the answer is then nothing, and the exit status 0. No hook makes a home.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from ...config import load_config, resolve_home
from ...errors import InvalidArgument
from ...journal.disk import overwrite
from ...language.query import terms_of
from ...models import Filters
from ...notes.blocks import project_key
from ...search.search import search
from ...workspace.checkout import detect_project
from ...workspace.workspace import Workspace, open_workspace
from ..present import CHARS_PER_TOKEN, DATA_FOLLOWS, one_line
from .briefing import title_line, titles
from .session import Call, brief_session

LOG_BYTES = 1_000_000
PROMPT_HITS = 3
LEAST_WORDS = 3
CLEARLY = 0.4
"""The score from which on an entry clearly fits: four of ten such hits were right. By eye."""
PROMPT_CHARS = 2_000
"""Of a longer prompt the model would read no more."""

_TYPED = ("user", "sdk", None)
"""Sources of a prompt that counts as a person's; None: no source is named. Any other prompt is the agent's own."""


def answer(event: str, home: str | None) -> str:
    """The hook's answer as JSON, or nothing. Raises InvalidArgument for an unknown event, and nothing else."""
    if event not in EVENTS:
        raise InvalidArgument(f"The hook {event!r} is unknown.", valid=EVENTS)
    state: Path | None = None
    try:
        state = resolve_home(home) / ".state"
        config = load_config(home)
        wanted = config.hooks.session_start if event == "session-start" else config.hooks.user_prompt
        if not wanted or not config.home.is_dir() or not (state.is_dir() or config.journal.is_dir()):
            return ""
        with _limited(state, event, config.hooks.timeout_s):
            call = _read_call(sys.stdin.buffer.read() if not sys.stdin.isatty() else b"{}")
            name, tell = EVENTS[event]
            # hooks are no reader: what they show is not counted as read, nor their time as a search's
            with open_workspace(replace(config, track_access=False, metrics=False)) as ws:
                text = tell(ws, call)
                if text and tell is brief_session and config.metrics:
                    tokens = len(text) // CHARS_PER_TOKEN
                    ws.index.count_use("hook", ws.clock().date(), sessions=1, tokens=tokens)
    except Exception as error:
        _log(state, f"{event}: {type(error).__name__}: {error}")
        return ""
    return json.dumps({"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}) if text else ""


def user_prompt(ws: Workspace, call: Call) -> str:
    """The titles of up to three entries that clearly fit the prompt; nothing for a word of consent or a command."""
    prompt = call.prompt[:PROMPT_CHARS].replace('"', " ").replace(":", " ")  # a prompt filters nothing
    if not call.by_person or prompt.lstrip().startswith(("/", "<")) or len(terms_of(prompt)) < LEAST_WORDS:
        return ""
    project = ws.config.project or detect_project(call.folder)
    prefer = Filters(projects=(project_key(project),)) if project else None
    found = search(ws, prompt, strategy="hybrid", limit=PROMPT_HITS, prefer=prefer, embed_ms=0)
    if found.mode == "lexical":  # words alone do not tell what clearly fits
        return ""
    close = [hit.entry for hit in found.hits if hit.score >= CLEARLY]
    if not close:
        return ""
    head = f"From Synaptic, the journal that you share with the user. context_get gives entries whole. {DATA_FOLLOWS}"
    return f"{head}\n{titles('near this prompt', [title_line(entry) for entry in close])}"


EVENTS: Mapping[str, tuple[str, Callable[[Workspace, Call], str]]] = {
    "session-start": ("SessionStart", brief_session),
    "user-prompt": ("UserPromptSubmit", user_prompt),
}


def _read_call(data: bytes) -> Call:
    """What stands on standard input. Raises ValueError where that is no JSON object."""
    said = json.loads(data)
    if not isinstance(said, dict):
        raise ValueError("standard input holds no JSON object")

    def text(name: str) -> str:
        value = said.get(name)
        return value if isinstance(value, str) else ""

    quiet: Any = said.get("seconds_since_last_response")
    return Call(
        folder=Path(text("cwd") or os.getcwd()),  # noqa: PTH109
        session=text("session_id"),
        prompt=text("prompt"),
        by_person=said.get("source") in _TYPED,
        quiet=timedelta(seconds=quiet) if isinstance(quiet, int | float) and 0 <= quiet < 1e9 else None,
    )


# -- a hook never stands in the way ---------------------------------------------------------------------


@contextmanager
def _limited(state: Path, event: str, timeout_s: float) -> Iterator[None]:
    """A context that ends the process, with status 0 and without an answer, when it takes longer than `timeout_s`.

    SQLite and the model cannot be interrupted from Python; what they do is safe to break off at any moment.
    """

    def give_up() -> None:
        _log(state, f"{event}: no answer after {timeout_s:g} s")
        os._exit(0)

    timer = threading.Timer(timeout_s, give_up)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _log(state: Path | None, problem: str) -> None:
    """Appends the problem to the log as one line, and shortens the log to at most `LOG_BYTES`."""
    if state is None or not state.is_dir():
        return
    line = f"{datetime.now().astimezone().isoformat(timespec='seconds')} {one_line(problem)[:1000]}\n".encode()
    path = state / "hooks.log"
    with suppress(OSError):
        if path.exists() and path.stat().st_size + len(line) > LOG_BYTES:
            overwrite(path, path.read_bytes()[-LOG_BYTES // 2 :].partition(b"\n")[2])
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as log:
            log.write(line)

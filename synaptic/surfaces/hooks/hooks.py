"""Answers the hooks of an agent's client: a session starts, a prompt is sent, a turn ends.

A hook never stands in the way of a session. A failure, or an answer that takes longer than
`timeout_s`, is a line in `.state/hooks.log`; the answer is then empty and the exit status 0.
No hook makes a home. A child process makes the answer, and the system ends it in time: a long
pattern or SQLite may hold Python's lock.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import NoReturn

from ...config import Config, load_config, resolve_home
from ...errors import InvalidArgument
from ...language.query import terms_of
from ...models import Filters
from ...notes.blocks import project_key
from ...search.search import search
from ...workspace.checkout import checkout_around, project_of
from ...workspace.workspace import Workspace, open_workspace
from ..render.present import DATA_FOLLOWS, one_line
from .briefing import (
    SHORT_CHARS,
    briefing_text,
    count_tokens,
    fenced_titles,
    title_line,
)
from .call import HookCall
from .stop import ASK, append, note, stop

PROMPT_HITS = 3
LEAST_WORDS = 3
CLEAR_SCORE = 0.4
"""An entry of this score clearly fits a prompt: four of ten such hits were right, by eye."""
PROMPT_CHARS = 2_000
"""The model reads no more of a longer prompt."""

_CONTEXT = re.compile(r"\A<hook_context>.*?</hook_context>\s*", re.DOTALL)
"""Gemini CLI puts this in front of a prompt that came with its command line."""

_TYPED = ("user", "sdk", None)
"""Sources of prompts by a person; None: no source is named. Other prompts are the agent's own.
"""

HEAD = (
    "From Synaptic, the journal that you share with the user. context_get gives entries whole."
)
CLIENTS = ("claude-code", "codex", "gemini", "opencode")


def answer(event: str, home: str | None, client: str = "claude-code") -> str:
    """Returns the hook's answer as JSON; empty where there is nothing to say, or on failure.

    Raises InvalidArgument for an unknown event or client.
    """
    if event not in EVENTS:
        raise InvalidArgument(f"The hook {event!r} is unknown.", valid=EVENTS)
    if client not in CLIENTS:
        raise InvalidArgument(f"{client!r} has no known hooks.", valid=CLIENTS)
    state: Path | None = None
    try:
        state = resolve_home(home) / ".state"
        config = load_config(home)
        if not getattr(config.hooks, event.replace("-", "_")):
            return ""
        if not (state.is_dir() or config.journal.is_dir()) or not config.home.is_dir():
            return ""
        text = _limited(
            state, event, config.hooks.timeout_s, lambda: _answer_text(config, event, client)
        )
    except Exception as error:
        _log(state, f"{event}: {type(error).__name__}: {error}")
        return ""
    return json.dumps(_reply(event, client, text)) if text else ""


def _answer_text(config: Config, event: str, client: str) -> str:
    fields = {}
    if not sys.stdin.isatty():
        fields = json.loads(sys.stdin.buffer.read())
    if not isinstance(fields, dict):
        raise ValueError("standard input holds no JSON object")
    # a hook is no reader: its entries do not count as read, nor its time as a search's
    with open_workspace(replace(config, track_access=False, metrics=False)) as ws:
        text = EVENTS[event](ws, HookCall(client, fields))
        if text and event == "session-start" and config.metrics:
            today = ws.clock().date()
            ws.index.counters.count_use("hook", today, sessions=1, tokens=count_tokens(text))
    return text


def _reply(event: str, client: str, text: str) -> dict[str, object]:
    """Returns the answer in the client's form."""
    if event == "stop" and client == "codex":
        return {"decision": "block", "reason": text}
    if event == "stop" and client == "gemini":
        return {"decision": "deny", "reason": text}
    prompt = "BeforeAgent" if client == "gemini" else "UserPromptSubmit"
    name = {"session-start": "SessionStart", "user-prompt": prompt, "stop": "Stop"}[event]
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}


def session_start(ws: Workspace, call: HookCall) -> str:
    """Returns the briefing of a new session."""
    with suppress(OSError):  # a home that cannot be written can be read
        note(ws, call, "start")
    return briefing_text(ws, call)


def user_prompt(ws: Workspace, call: HookCall) -> str:
    """Returns up to three entries that clearly fit the prompt, of long ones the title.

    Empty for a word of consent or a command.
    """
    prompt = _CONTEXT.sub("", call.text("prompt")).removeprefix(ASK)[:PROMPT_CHARS]
    prompt = prompt.replace('"', " ").replace(":", " ")  # a prompt filters nothing
    if call.fields.get("source") not in _TYPED or prompt.lstrip().startswith(("/", "<")):
        return ""
    if len(terms_of(prompt)) < LEAST_WORDS:
        return ""
    project = project_of(ws.config, checkout_around(call.folder, ws.config))
    prefer = Filters(projects=(project_key(project),)) if project else None
    result = search(ws, prompt, strategy="hybrid", limit=PROMPT_HITS, prefer=prefer, embed_ms=0)
    if result.mode == "lexical":  # words alone do not tell that an entry clearly fits
        return ""
    fitting = [hit.entry for hit in result.hits if hit.score >= CLEAR_SCORE]
    if not fitting:
        return ""
    lines = [title_line(entry, whole=len(entry.content) <= SHORT_CHARS) for entry in fitting]
    return f"{HEAD} {DATA_FOLLOWS}\n{fenced_titles('near this prompt', lines)}"


EVENTS: Mapping[str, Callable[[Workspace, HookCall], str]] = {
    "session-start": session_start,
    "user-prompt": user_prompt,
    "stop": stop,
}


def _limited(state: Path, event: str, timeout_s: float, make: Callable[[], str]) -> str:
    """Returns the text of `make`; empty where it failed or took longer than `timeout_s`.

    A child process makes it, which the system's alarm ends at any moment. Windows has neither
    fork nor alarm: there a thread ends the process once it gets Python's lock.
    """
    late = f"{event}: no answer after {timeout_s:g} s"
    if sys.platform == "win32":

        def give_up() -> None:
            _log(state, late)
            os._exit(0)

        timer = threading.Timer(timeout_s, give_up)
        timer.daemon = True
        timer.start()
        try:
            return make()
        finally:
            timer.cancel()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _make_in_child(state, event, timeout_s, make, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read().decode()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status == 0:
        return text
    alarmed = status == -signal.SIGALRM
    _log(state, late if alarmed else f"{event}: it was ended by signal {-status}")
    return ""


def _make_in_child(
    state: Path, event: str, timeout_s: float, make: Callable[[], str], writing: int
) -> NoReturn:
    try:
        if sys.platform != "win32":
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
            signal.setitimer(signal.ITIMER_REAL, timeout_s)
        text = make().encode()
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(text)
    except BaseException as error:
        _log(state, f"{event}: {type(error).__name__}: {error}")
    finally:
        os._exit(0)


def _log(state: Path | None, problem: str) -> None:
    if state is None or not state.is_dir():
        return
    with suppress(OSError):
        moment = datetime.now().astimezone().isoformat(timespec="seconds")
        append(state / "hooks.log", f"{moment} {one_line(problem)[:1000]}")

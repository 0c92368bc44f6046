"""Answers the hooks of an agent's client: a session starts, a prompt is sent, a turn ends.

A hook never stands in the way of a session. A failure, or an answer that takes longer than
`timeout_s`, is a line in `.state/hooks.log`; nothing is printed then and the exit status is 0.
No hook makes a home. A child process makes the answer, and the system ends it in time: a long
pattern or SQLite may hold Python's lock.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from ...config import Config, load_config, resolve_home
from ...errors import InvalidArgument
from ...language.query import terms_of
from ...models import Filters
from ...notes.blocks import project_key
from ...search.search import search
from ...workspace.checkout import checkout_around, project_of
from ...workspace.workspace import Workspace, open_workspace
from ..render.briefing import SHORT_CHARS, count_tokens, fenced_titles, title_line
from ..render.present import DATA_FOLLOWS, one_line
from ..render.terminal import emit
from .briefing import Said, briefing_text
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
_STOPPED = {"codex": "block", "gemini": "deny"}
"""What a client wants to hear to go on; others take it as context."""

_NAMES = {
    "session-start": "SessionStart",
    "user-prompt": "UserPromptSubmit",
    "stop": "Stop",
}


def answer(
    event: str,
    home: str | None,
    client: str,
) -> None:
    """Prints the hook's answer as JSON; nothing where there is nothing to say, or on failure.

    Raises InvalidArgument for an unknown event.
    """
    if event not in EVENTS:
        raise InvalidArgument(f"The hook {event!r} is unknown.", valid=EVENTS)
    state = Path(os.devnull)
    try:
        state = resolve_home(home) / ".state"
        config = load_config(home)
        if not getattr(config.hooks, event.replace("-", "_")):
            return
        if not (state.is_dir() or config.journal.is_dir()) or not config.home.is_dir():
            return
        limited(
            state,
            event,
            config.hooks.timeout_s,
            lambda: _answer(config, event, client),
        )
    except Exception as error:
        _log(state, f"{event}: {type(error).__name__}: {error}")


def _answer(
    config: Config,
    event: str,
    client: str,
) -> None:
    said = {}
    if not sys.stdin.isatty():
        said = json.loads(sys.stdin.buffer.read())
    if not isinstance(said, dict):
        raise ValueError("standard input holds no JSON object")
    said["client"] = client
    said["cwd"] = str(said.get("cwd") or Path.cwd())
    # a hook is no reader: its entries do not count as read, nor its time as a search's
    with open_workspace(replace(config, track_access=False, metrics=False)) as ws:
        text = EVENTS[event](ws, said)
        if text and event == "session-start" and config.metrics:
            ws.index.counters.count_use(
                "hook",
                ws.today,
                sessions=1,
                tokens=count_tokens(text),
            )
    if text:
        emit(json.dumps(_reply(event, client, text)))


def _reply(
    event: str,
    client: str,
    text: str,
) -> dict[str, object]:
    """Returns the answer in the client's form."""
    if event == "stop" and client in _STOPPED:
        return {"decision": _STOPPED[client], "reason": text}
    name = _NAMES[event]
    if event == "user-prompt" and client == "gemini":
        name = "BeforeAgent"
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}


def session_start(
    ws: Workspace,
    said: Said,
) -> str:
    """Returns the briefing of a new session."""
    with suppress(OSError):  # a home that cannot be written can be read
        note(ws, said, "start")
    return briefing_text(ws, said)


def user_prompt(
    ws: Workspace,
    said: Said,
) -> str:
    """Returns up to three entries that clearly fit the prompt, of long ones the title.

    Empty for a word of consent or a command.
    """
    prompt = str(said.get("prompt") or "")
    prompt = _CONTEXT.sub("", prompt).removeprefix(ASK)
    prompt = re.sub('[":]', " ", prompt[:PROMPT_CHARS])  # a prompt filters nothing
    if said.get("source") not in _TYPED or prompt.lstrip().startswith(("/", "<")):
        return ""
    if len(terms_of(prompt)) < LEAST_WORDS:
        return ""
    project = project_of(ws.config, checkout_around(Path(said["cwd"]), ws.config))
    result = search(
        ws,
        prompt,
        strategy="hybrid",
        limit=PROMPT_HITS,
        prefer=Filters(projects=(project_key(project),)) if project else None,
        embed_ms=0,
    )
    if result.mode == "lexical":  # words alone do not tell that an entry clearly fits
        return ""
    lines = []
    for hit in result.hits:
        if hit.score >= CLEAR_SCORE:
            short = len(hit.entry.content) <= SHORT_CHARS
            if hit.entry.type == "preference":
                marks = " ".join(hit.entry.marks)
                short = "unconfirmed" not in marks
            lines.append(title_line(hit.entry, whole=short))
    if not lines:
        return ""
    return f"{HEAD} {DATA_FOLLOWS}\n{fenced_titles('near this prompt', lines)}"


EVENTS = {
    "session-start": session_start,
    "user-prompt": user_prompt,
    "stop": stop,
}


def limited(
    state: Path,
    event: str,
    timeout_s: float,
    make: Callable[[], None],
) -> None:
    """Calls `make` in a child process, which the system's alarm ends at any moment.

    Windows has neither fork nor alarm: there the client ends a hook that takes too long.
    """
    if sys.platform == "win32":
        return make()
    child = os.fork()
    if child == 0:
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
            signal.setitimer(signal.ITIMER_REAL, timeout_s)
            make()
        except BaseException as error:
            _log(state, f"{event}: {type(error).__name__}: {error}")
        finally:
            os._exit(0)
    _, ended = os.waitpid(child, 0)
    status = os.waitstatus_to_exitcode(ended)
    if status:
        _log(state, f"{event}: no answer within {timeout_s:g} s (signal {-status})")
    return None


def _log(
    state: Path,
    problem: str,
) -> None:
    with suppress(OSError):
        if state.is_dir():
            moment = datetime.now().astimezone().isoformat(timespec="seconds")
            append(state / "hooks.log", f"{moment} {one_line(problem)[:1000]}")

"""What an agent is told by itself: when a session starts, on a prompt that an entry clearly
fits, and when it stops.

A hook must never stand in the way of a session. Whatever goes wrong, and whatever takes longer
than `timeout_s`, is a line in `.state/hooks.log`; the answer is then nothing, and the exit
status 0. No hook makes a home. The answer is made in a child process, which the system ends: a
long pattern or SQLite holds Python's lock.
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

from ...config import Config, load_config, resolve_home
from ...errors import InvalidArgument
from ...language.query import terms_of
from ...models import Filters
from ...notes.blocks import project_key
from ...search.search import search
from ...workspace.checkout import checkout_around, project_of
from ...workspace.workspace import Workspace, open_workspace
from ..present import DATA_FOLLOWS, one_line
from .briefing import SHORT_CHARS, title_line, titles, tokens
from .session import Call, brief_session
from .stop import ASK, append, note, stop

PROMPT_HITS = 3
LEAST_WORDS = 3
CLEARLY = 0.4
"""The score from which on an entry clearly fits: four of ten such hits were right. By eye."""
PROMPT_CHARS = 2_000
"""Of a longer prompt the model would read no more."""

_BRIEFING = re.compile(r"\A<hook_context>.*?</hook_context>\s*", re.DOTALL)
"""What Gemini CLI puts in front of a prompt that came with its command line."""

_TYPED = ("user", "sdk", None)
"""Sources of a prompt that counts as a person's; None: no source is named. Any other prompt is
the agent's own.
"""

CLIENTS = ("claude-code", "codex", "gemini", "opencode")


def answer(event: str, home: str | None, client: str = "claude-code") -> str:
    """The hook's answer as JSON, or nothing. Raises InvalidArgument for an unknown event or
    client, else nothing.
    """
    if event not in EVENTS:
        raise InvalidArgument(f"The hook {event!r} is unknown.", valid=EVENTS)
    if client not in CLIENTS:
        raise InvalidArgument(f"No hooks are known of {client!r}.", valid=CLIENTS)
    state: Path | None = None
    try:
        state = resolve_home(home) / ".state"
        config = load_config(home)
        wanted = getattr(config.hooks, event.replace("-", "_"))
        if (
            not wanted
            or not config.home.is_dir()
            or not (state.is_dir() or config.journal.is_dir())
        ):
            return ""
        text = _limited(
            state, event, config.hooks.timeout_s, lambda: _told(config, event, client)
        )
    except Exception as error:
        _log(state, f"{event}: {type(error).__name__}: {error}")
        return ""
    return json.dumps(_reply(event, client, text)) if text else ""


def _told(config: Config, event: str, client: str) -> str:
    """What the agent is told of what its client says on standard input."""
    said = json.loads(sys.stdin.buffer.read() if not sys.stdin.isatty() else b"{}")
    if not isinstance(said, dict):
        raise ValueError("standard input holds no JSON object")
    # hooks are no reader: what they show is not counted as read, nor their time as a search's
    with open_workspace(replace(config, track_access=False, metrics=False)) as ws:
        text = EVENTS[event](ws, Call(client, said))
        if text and event == "session-start" and config.metrics:
            ws.index.count_use("hook", ws.clock().date(), sessions=1, tokens=tokens(text))
    return text


def _reply(event: str, client: str, text: str) -> dict[str, object]:
    """The text as the client takes it."""
    if event == "stop" and client in ("codex", "gemini"):
        return {"decision": "block" if client == "codex" else "deny", "reason": text}
    prompt = "BeforeAgent" if client == "gemini" else "UserPromptSubmit"
    name = {"session-start": "SessionStart", "user-prompt": prompt, "stop": "Stop"}[event]
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}


def session_start(ws: Workspace, call: Call) -> str:
    """What a session should know of its project."""
    with suppress(OSError):  # a home that cannot be written can be read
        note(ws, call, "start")
    return brief_session(ws, call)


def user_prompt(ws: Workspace, call: Call) -> str:
    """Up to three entries that clearly fit the prompt, short ones whole, else their titles.

    Nothing for a word of consent or a command.
    """
    prompt = _BRIEFING.sub("", call.text("prompt")).removeprefix(ASK)[:PROMPT_CHARS]
    prompt = prompt.replace('"', " ").replace(":", " ")  # a prompt filters nothing
    typed = call.said.get("source") in _TYPED
    if (
        not typed
        or prompt.lstrip().startswith(("/", "<"))
        or len(terms_of(prompt)) < LEAST_WORDS
    ):
        return ""
    project = project_of(ws.config, checkout_around(call.folder, ws.config))
    prefer = Filters(projects=(project_key(project),)) if project else None
    found = search(ws, prompt, strategy="hybrid", limit=PROMPT_HITS, prefer=prefer, embed_ms=0)
    close = [hit.entry for hit in found.hits if hit.score >= CLEARLY]
    if not close or found.mode == "lexical":  # words alone do not tell what clearly fits
        return ""
    head = (
        f"From Synaptic, the journal that you share with the user. context_get gives entries "
        f"whole. {DATA_FOLLOWS}"
    )
    lines = [title_line(entry, whole=len(entry.content) <= SHORT_CHARS) for entry in close]
    return f"{head}\n{titles('near this prompt', lines)}"


EVENTS: Mapping[str, Callable[[Workspace, Call], str]] = {
    "session-start": session_start,
    "user-prompt": user_prompt,
    "stop": stop,
}


# -- a hook never stands in the way
# ---------------------------------------------------------------------


def _limited(state: Path, event: str, timeout_s: float, make: Callable[[], str]) -> str:
    """The text that `make` returns in a child process; "" where it failed or took longer than
    `timeout_s`.

    The system's alarm ends the child, whatever it does; SQLite and the journal may be left at
    any moment. Windows has neither fork nor alarm: there a thread ends the process, once it
    gets Python's lock.
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
    if (child := os.fork()) == 0:
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
            signal.setitimer(signal.ITIMER_REAL, timeout_s)
            said = make().encode()
            with os.fdopen(writing, "wb") as answer:
                answer.write(said)
        except BaseException as error:
            _log(state, f"{event}: {type(error).__name__}: {error}")
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read().decode()
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if ended:
        _log(
            state,
            late if ended == -signal.SIGALRM else f"{event}: it was ended by signal {-ended}",
        )
    return "" if ended else text


def _log(state: Path | None, problem: str) -> None:
    """Appends the problem to the log as one line."""
    if state is None or not state.is_dir():
        return
    with suppress(OSError):
        moment = datetime.now().astimezone().isoformat(timespec="seconds")
        append(state / "hooks.log", f"{moment} {one_line(problem)[:1000]}")

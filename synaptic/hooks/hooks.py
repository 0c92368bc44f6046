"""Answers the hooks of an agent's client: a session starts, a prompt is sent, a turn ends.

A hook never stands in the way of a session. A failure, or an answer that takes longer than
`timeout_s`, is a line in `.state/hooks.log`; nothing is printed then and the exit status is 0.
No hook makes a home. A child process makes the answer, and the system ends it in time: a long
pattern or SQLite may hold Python's lock.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..config import Config, load_config, resolve_home
from ..errors import InvalidArgument
from .stop import HookMessage, append_log_line, ask_for_handoff, log_session_event

if TYPE_CHECKING:
    from ..workspace.workspace import Workspace

SYNC_S = 0.5
"""Seconds for which a session that starts waits for the entries of other machines."""
SUBAGENT_TOKENS = 300
"""The most tokens of the briefing of a subagent, which has one task."""
TOOL_EVENTS = ("pre-tool", "tool-failure")
"""The events around a tool call."""
SETTINGS = {"subagent-start": "session_start", **dict.fromkeys(TOOL_EVENTS, "tools")}
"""The setting under `hooks` that switches an event on, where it has not the event's name."""
_CONTINUE_DECISIONS = {"codex": "block", "gemini": "deny"}
"""The decision by which a client goes on instead of stopping; other clients read the text as
context.
"""

_EVENT_NAMES = {
    "session-start": "SessionStart",
    "subagent-start": "SubagentStart",
    "user-prompt": "UserPromptSubmit",
    "stop": "Stop",
    "pre-tool": "PreToolUse",
    "tool-failure": "PostToolUseFailure",
}
"""The client's name of each event."""
_OTHER_EVENT_NAMES = {
    ("user-prompt", "gemini"): "BeforeAgent",
    ("tool-failure", "gemini"): "AfterTool",
    ("tool-failure", "codex"): "PostToolUse",
}


def answer_hook(event: str, home: str | None, client: str) -> None:
    """Prints the answer to a hook event as JSON; prints nothing where there is nothing to say,
    or on failure. `client` is the name of the agent's program.

    Raises InvalidArgument for an unknown event.
    """
    if event not in EVENTS:
        from ..models import CAPTURED

        raise InvalidArgument(f"There is no hook {event!r}.", valid=(*EVENTS, *CAPTURED))
    state = Path(os.devnull)
    try:
        state = resolve_home(home) / ".state"
        config = load_config(home, for_agent=True)
        if not getattr(config.hooks, SETTINGS.get(event, event.replace("-", "_"))):
            return
        if not (state.is_dir() or config.journal.is_dir()) or not config.home.is_dir():
            return
        run_with_time_limit(
            state,
            event,
            config.hooks.timeout_s,
            lambda: _print_hook_answer(config, event, client),
        )
    except Exception as error:
        _log_problem(state, f"{event}: {type(error).__name__}: {error}")


def _print_hook_answer(config: Config, event: str, client: str) -> None:
    message = {}
    if not sys.stdin.isatty():
        message = json.loads(sys.stdin.buffer.read())
    if not isinstance(message, dict):
        raise ValueError("standard input is not a JSON object")
    message["client"] = client
    message["cwd"] = str(message.get("cwd") or Path.cwd())
    # a hook is no reader: its entries do not count as read, nor its time as a search's
    text = EVENTS[event](replace(config, track_access=False), message)
    if text:
        print(json.dumps(_reply_json(event, client, text)), flush=True)


def _reply_json(event: str, client: str, text: str) -> dict[str, object]:
    """Returns the text for the agent as the JSON that this client expects from its hook."""
    if event == "stop" and client in _CONTINUE_DECISIONS:
        return {"decision": _CONTINUE_DECISIONS[client], "reason": text}
    name = _OTHER_EVENT_NAMES.get((event, client), _EVENT_NAMES[event])
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}


def answer_session_start(config: Config, message: HookMessage) -> str:
    """Returns the briefing for a session that begins, after a sync with other machines if
    config.toml asks for it.
    """
    from ..render.fence import count_tokens
    from ..serving.processes import start_synaptic
    from ..workspace.sync import count_unread_files
    from ..workspace.workspace import open_workspace

    with suppress(OSError):  # a home that cannot be written can be read
        log_session_event(config, message, "start")
    if config.sync.auto:
        from subprocess import TimeoutExpired

        with suppress(TimeoutExpired):
            start_synaptic(config, "sync").wait(SYNC_S)
    with open_workspace(config) as ws:
        text = session_briefing(ws, message)
        if text and config.metrics:
            ws.index.counters.count_use("hook", ws.today, sessions=1, tokens=count_tokens(text))
        unread = count_unread_files(ws)
    _note_briefing_seen(config, message, text)
    if unread:
        start_synaptic(config, "recent")  # reads the rest, so that the next session knows it
    return text


def _note_briefing_seen(config: Config, message: HookMessage, text: str) -> None:
    """Notes the entries of the briefing as seen by the session, and forgets those before,
    unless the session goes on with the context that it had.
    """
    from .seen import FORGOTTEN, ids_in_text, note_seen, valid_session_id

    session = valid_session_id(message)
    if session and (config.hooks.user_prompt or config.hooks.tools):
        restart = [] if message.get("source") == "resume" else [FORGOTTEN]
        with suppress(OSError):
            note_seen(config, session, restart + ids_in_text(text))


def session_briefing(ws: Workspace, message: HookMessage) -> str:
    """Returns the briefing of a session as fenced Markdown; empty where the journal has no
    entries of its project.
    """
    from ..render.briefing import briefing_text
    from ..verbs.brief import WEEK, Reader, brief

    since = WEEK
    pause = message.get("seconds_since_last_response")  # of a session that goes on
    if isinstance(pause, int | float) and 0 < pause < 1e9:
        since = timedelta(seconds=pause)
    reader = Reader(str(message.get("client")), str(message.get("session_id") or ""), hook=True)
    briefing = brief(ws, Path(message["cwd"]), since, reader=reader)
    return briefing_text(ws, briefing, max_tokens=ws.config.hooks.max_tokens)


def answer_subagent_start(config: Config, message: HookMessage) -> str:
    """Returns the briefing for a subagent: preferences, pinned entries, and the first of what a
    session is shown, without the hand-off and the last session: its task is another.
    """
    from ..render.briefing import briefing_text
    from ..verbs.brief import brief
    from ..workspace.workspace import open_workspace

    max_tokens = min(config.hooks.max_tokens, SUBAGENT_TOKENS)
    with open_workspace(config) as ws:
        briefing = brief(ws, Path(message["cwd"]))
        text = briefing_text(
            ws, briefing._replace(handoff=None, session=None), max_tokens=max_tokens
        )
    _note_briefing_seen(config, message, text)
    return text


def answer_user_prompt(config: Config, message: HookMessage) -> str:
    """Returns entries that answer the prompt."""
    from . import prompt  # the other hooks need nothing of it

    return prompt.answer_prompt(config, message)


def answer_tool_event(event: str, config: Config, message: HookMessage) -> str:
    """Returns entries about a file that is about to be edited, or about a command that
    failed.
    """
    from .action import ACTIONS  # the other hooks need nothing of it

    return ACTIONS[event](config, message)


EVENTS: dict[str, Callable[[Config, HookMessage], str]] = {
    "session-start": answer_session_start,
    "subagent-start": answer_subagent_start,
    "user-prompt": answer_user_prompt,
    "stop": ask_for_handoff,
    **{event: partial(answer_tool_event, event) for event in TOOL_EVENTS},
}


def run_with_time_limit(
    state: Path, event: str, timeout_s: float, make: Callable[[], None]
) -> None:
    """Calls `make` in a child process, which the system's alarm ends after `timeout_s`
    seconds.

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
            _log_problem(state, f"{event}: {type(error).__name__}: {error}")
        finally:
            os._exit(0)
    _, ended = os.waitpid(child, 0)
    status = os.waitstatus_to_exitcode(ended)
    if status:
        _log_problem(state, f"{event}: no answer within {timeout_s:g} s (signal {-status})")
    return None


def _log_problem(state: Path, problem: str) -> None:
    with suppress(OSError):
        if state.is_dir():
            moment = datetime.now().astimezone().isoformat(timespec="seconds")
            line = " ".join(problem.split())
            append_log_line(state / "hooks.log", f"{moment} {line[:1000]}")

"""Answers the hooks of an agent's client: a session starts, a prompt is sent, a turn ends.

A hook never stands in the way of a session. A failure, or an answer that takes too long, is a
line in `.state/hooks.log`, and the exit status is 0. Nothing is printed then, but at a start
the last briefing of the project. No hook makes a home. A child process makes the answer, and
the system ends it in time.
"""

from __future__ import annotations

import json
import os
import select
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..config import HOOK_S, Config, HooksConfig, load_config, make_clock, resolve_home
from ..errors import InvalidArgument
from .answer_process import AnswerProcess, Send
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
STARTS: dict[str, Callable[[HooksConfig], int]] = {
    "session-start": lambda hooks: hooks.max_tokens,
    "subagent-start": lambda hooks: min(hooks.max_tokens, SUBAGENT_TOKENS),
}
"""The events that bring a briefing, and the most tokens that it has."""


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
        message = _read_message(client, config.hooks.usual_s)
        answer = _find_answer(config, event, message, partial(_log_problem, state, event))
        if answer:
            print(answer, flush=True)
    except Exception as error:
        _log_problem(state, event, f"{type(error).__name__}: {error}")


def _read_message(client: str, within_s: float) -> HookMessage:
    """Returns what the client says on standard input. Raises TimeoutError or ValueError."""
    message = {}
    if not sys.stdin.isatty():
        message = json.loads(_read_input(within_s))
    if not isinstance(message, dict):
        raise ValueError("standard input is not a JSON object")
    message["client"] = client
    folder = str(message.get("cwd") or "")
    message["cwd"] = folder if folder and "\0" not in folder else str(Path.cwd())
    return message


def _read_input(within_s: float) -> bytes:
    """Returns all of standard input. Raises TimeoutError if it has not ended by then; Windows
    has no way to tell, and there the client ends the hook.
    """
    if sys.platform == "win32":
        return sys.stdin.buffer.read()
    until = time.monotonic() + within_s
    text = b""
    while select.select([sys.stdin], [], [], max(0.0, until - time.monotonic()))[0]:
        part = os.read(sys.stdin.fileno(), 65_536)
        if not part:
            return text
        text += part
    raise TimeoutError(f"standard input did not end within {within_s:g} s")


def _find_answer(
    config: Config, event: str, message: HookMessage, log: Callable[[str], None]
) -> str:
    """Returns the text for the agent; empty where there is nothing to say.

    A start whose briefing is late has the last one instead. The process that makes the new one
    goes on, so that it lies ready for the next start.
    """
    begun = time.monotonic()
    limits = config.hooks
    is_start = event in STARTS
    if is_start:
        from ..render import briefing  # noqa: F401  # for both processes
    is_patient = is_start or event == "user-prompt"
    limit_s = limits.longest_s if is_patient else limits.usual_s
    new = AnswerProcess(partial(_send_answer, config, event, message), limit_s, log)
    if not is_start:
        return (new.wait() or b"").decode()
    answer = new.wait(limits.usual_s + begun - time.monotonic())
    if not answer:
        send_last = partial(_send_last_briefing, config, event, message)
        left_s = max(1.0, HOOK_S + begun - time.monotonic())
        last = AnswerProcess(send_last, left_s, log).wait()
        answer = new.wait(0) or last
        if answer and answer == last:
            log("the new briefing was not ready in time; the last one was shown")
            new.leave()
    return (answer or new.wait() or b"").decode()


def _send_answer(config: Config, event: str, message: HookMessage, send: Send) -> None:
    # a hook is no reader: its entries do not count as read, nor its time as a search's
    text = EVENTS[event](replace(config, track_access=False), message)
    _send_text(config, event, message, text, send)


def _send_last_briefing(config: Config, event: str, message: HookMessage, send: Send) -> None:
    from ..render.briefing import last_briefing_text
    from ..verbs.last_brief import last_briefing

    now = make_clock()()
    last = last_briefing(config, Path(message["cwd"]), now.date())
    if last:
        if event == "subagent-start":  # as in `answer_subagent_start`
            last = last._replace(handoff=None, session=None)
        max_tokens = STARTS[event](config.hooks)
        text = last_briefing_text(last, now, max_tokens=max_tokens)
        _send_text(config, event, message, text, send)


def _send_text(config: Config, event: str, message: HookMessage, text: str, send: Send) -> None:
    if text:
        reply = _reply_json(event, str(message["client"]), text)
        send(json.dumps(reply).encode())
    if event in STARTS:
        _note_briefing_seen(config, message, text)


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
    from ..verbs.brief import WEEK
    from ..verbs.brief_readers import Reader, brief_reader
    from ..verbs.last_brief import keep_briefing

    since = WEEK
    pause = message.get("seconds_since_last_response")  # of a session that goes on
    if isinstance(pause, int | float) and 0 < pause < 1e9:
        since = timedelta(seconds=pause)
    reader = Reader(str(message.get("client")), str(message.get("session_id") or ""), hook=True)
    folder = Path(message["cwd"])
    briefing = brief_reader(ws, reader, folder, since)
    keep_briefing(ws.config, folder, briefing, ws.clock())
    return briefing_text(ws, briefing, max_tokens=ws.config.hooks.max_tokens)


def answer_subagent_start(config: Config, message: HookMessage) -> str:
    """Returns the briefing for a subagent: preferences, pinned entries, and the first of what a
    session is shown, without the hand-off and the last session: its task is another.
    """
    from ..render.briefing import briefing_text
    from ..verbs.brief import brief
    from ..workspace.workspace import open_workspace

    with open_workspace(config) as ws:
        briefing = brief(ws, Path(message["cwd"]))
        # it asks nobody about a rule
        data = briefing.unconfirmed
        briefing = briefing._replace(
            handoff=None, session=None, unconfirmed=(), asked_before=data
        )
        return briefing_text(ws, briefing, max_tokens=STARTS["subagent-start"](config.hooks))


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


def _log_problem(state: Path, event: str, problem: str) -> None:
    with suppress(OSError):
        if state.is_dir():
            moment = datetime.now().astimezone().isoformat(timespec="seconds")
            line = " ".join(f"{event}: {problem}".split())
            append_log_line(state / "hooks.log", f"{moment} {line[:1000]}")

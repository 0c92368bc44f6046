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
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..config import Config, load_config, resolve_home
from ..errors import InvalidArgument
from .stop import (
    HANDOFF_REQUEST,
    HookMessage,
    append_log_line,
    ask_for_handoff,
    log_session_event,
)

if TYPE_CHECKING:
    from ..workspace.workspace import Workspace

SYNC_S = 0.5
"""Seconds for which a session that starts waits for the entries of other machines."""
PROMPT_HITS = 3
"""The most entries that the hook of a prompt gives."""
MIN_WORDS = 3
"""A prompt of fewer words gets no entries."""
CLEAR_SCORE = 0.4
"""Least score of an entry that clearly fits a prompt, where the embedding model was asked: four
of ten such hits were right, by eye.
"""
UNLIKELY_SCORE, SURE_SCORE = 0.1, 0.6
"""The embedding model is asked only where the best entry by words has a score between these.
Chosen on one half of the questions of the panel; on the other the hook shows 271 right entries
of 378 and asks the model for 60 of 100. With the model for each it shows 271 of 377.
"""
PROMPT_CHARS = 2_000
"""The characters of a prompt that the model reads."""

_GEMINI_CONTEXT = re.compile(r"(?s)\A<hook_context>.*?</hook_context>\s*")
"""The text that Gemini CLI puts in front of a prompt from its command line."""

_PERSON_SOURCES = ("user", "sdk", None)
"""Values of `source` for prompts by a person; None where the client names no source. Other
prompts are the agent's own.
"""

HEAD = (
    "From Synaptic, the journal that you share with the user. context_get gives entries whole."
)
"""The first sentence of the entries that fit a prompt."""
TOOL_EVENTS = ("pre-tool", "tool-failure")
"""The events around a tool call, which the one setting `hooks.tools` switches on."""
_CONTINUE_DECISIONS = {"codex": "block", "gemini": "deny"}
"""The decision by which a client goes on instead of stopping; other clients read the text as
context.
"""

_EVENT_NAMES = {
    "session-start": "SessionStart",
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
        config = load_config(home)
        key = "tools" if event in TOOL_EVENTS else event.replace("-", "_")
        if not getattr(config.hooks, key):
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
    if unread:
        start_synaptic(config, "recent")  # reads the rest, so that the next session knows it
    return text


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


def answer_user_prompt(config: Config, message: HookMessage) -> str:
    """Returns up to three entries that clearly fit the prompt; of a long entry only the title.

    Empty for a short prompt, such as "yes", and for a command.
    """
    prompt = str(message.get("prompt") or "")
    prompt = _GEMINI_CONTEXT.sub("", prompt).removeprefix(HANDOFF_REQUEST)
    prompt = re.sub('[":]', " ", prompt[:PROMPT_CHARS])  # a prompt filters nothing
    if message.get("source") not in _PERSON_SOURCES or prompt.lstrip().startswith(("/", "<")):
        return ""
    if len(prompt.split()) < MIN_WORDS and prompt.isascii():
        return ""
    from ..language.query import search_terms
    from ..workspace.workspace import open_workspace

    if len(search_terms(prompt)) < MIN_WORDS:
        return ""
    with open_workspace(replace(config, metrics=False)) as ws:
        return _entries_for_prompt(ws, message, prompt)


def _entries_for_prompt(ws: Workspace, message: HookMessage, prompt: str) -> str:
    from ..filters import Filters
    from ..notes.blocks import project_key
    from ..render.briefing import SHORT_CHARS, fenced_titles, title_line
    from ..render.fence import DATA_FOLLOWS
    from ..search.search import search
    from ..workspace.checkout import checkout_around, working_project

    project = working_project(ws.config, checkout_around(Path(message["cwd"]), ws.config))
    prefer = Filters(projects=(project_key(project),)) if project else None
    ask = partial(search, query=prompt, limit=PROMPT_HITS, prefer=prefer, embed_ms=0)
    # the patterns of times and lists, which say little of a prompt, take long to compile
    words_only = replace(ws.config, search=replace(ws.config.search, analysis=False))
    result = ask(replace(ws, config=words_only), strategy="lexical")
    best = max((hit.score for hit in result.hits), default=0.0)
    if best < UNLIKELY_SCORE:
        return ""
    clear = SURE_SCORE
    if best < SURE_SCORE:  # the words do not decide
        clear = CLEAR_SCORE
        result = ask(ws, strategy="hybrid")
        if result.mode == "lexical":
            return ""
    lines = []
    for hit in result.hits:
        if hit.score >= clear:
            short = len(hit.entry.content) <= SHORT_CHARS
            if hit.entry.type == "preference":
                marks = " ".join(hit.entry.marks)
                short = "unconfirmed" not in marks
            lines.append(title_line(hit.entry, whole=short))
    if not lines:
        return ""
    return f"{HEAD} {DATA_FOLLOWS}\n{fenced_titles('near this prompt', lines)}"


def answer_tool_event(event: str, config: Config, message: HookMessage) -> str:
    """Returns entries about a file that is about to be edited, or about a command that
    failed.
    """
    from .action import ACTIONS  # the other hooks need nothing of it

    return ACTIONS[event](config, message)


EVENTS: dict[str, Callable[[Config, HookMessage], str]] = {
    "session-start": answer_session_start,
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

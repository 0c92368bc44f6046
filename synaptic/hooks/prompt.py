"""Gives an agent the entries that answer its user's prompt: a running server finds them by
words and meaning, or this process by words alone.

Imports little, because most prompts wait for a server, or for nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from ..config import HOOK_S, Config
from ..models import Json
from ..serving.local_socket import ask_server
from .seen import note_seen, seen_ids, valid_session_id
from .stop import HANDOFF_REQUEST, HookMessage

MIN_WORDS = 3
"""A prompt of fewer words gets no entries."""
PROMPT_CHARS = 2_000
"""The characters of a prompt that are searched."""

Ask = Callable[[Config, Json, float], Json | None]
SERVER_SHARE = 0.75
"""The share of a hook's time for which it waits for a server; the rest is for a search by
words.
"""

_GEMINI_CONTEXT = re.compile(r"(?s)\A<hook_context>.*?</hook_context>\s*")
"""The text that Gemini CLI puts in front of a prompt from its command line."""

_PERSON_SOURCES = ("user", "sdk", None)
"""Values of `source` for prompts by a person; None where the client names no source. Other
prompts are the agent's own.
"""


def answer_prompt(config: Config, message: HookMessage, ask: Ask = ask_server) -> str:
    """Returns up to two entries that answer the prompt and that this session has not seen;
    notes them as seen. Empty for a short prompt, such as "yes", and for a command.

    `ask` returns the answer of a running server, or None: then words alone are searched.
    """
    prompt = str(message.get("prompt") or "")
    prompt = _GEMINI_CONTEXT.sub("", prompt).removeprefix(HANDOFF_REQUEST)
    prompt = re.sub('[":]', " ", prompt[:PROMPT_CHARS])  # a prompt filters nothing
    if message.get("source") not in _PERSON_SOURCES or prompt.lstrip().startswith(("/", "<")):
        return ""
    if len(prompt.split()) < MIN_WORDS and prompt.isascii():
        return ""
    session = valid_session_id(message)
    seen = seen_ids(config, session) if session else set()
    question = {
        "prompt": prompt,
        "folder": message["cwd"],
        "project": config.project,
        "seen": sorted(seen),
    }
    patience_s = SERVER_SHARE * min(config.hooks.longest_s, HOOK_S)
    answer = ask(config, question, patience_s)
    if answer is None:
        from ..render.prompt_entries import entries_for_prompt
        from ..workspace.workspace import open_workspace

        with open_workspace(config) as ws:
            entries = entries_for_prompt(
                ws, prompt, Path(message["cwd"]), seen, by_meaning=False
            )
        answer = entries._asdict()
    if session:
        note_seen(config, session, answer["ids"])
    return str(answer["text"])

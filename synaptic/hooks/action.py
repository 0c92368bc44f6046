"""Finds entries about a file before an agent edits it, and about the error of a failed command.
Imports little, because the agent's tool waits for it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from ..config import Config
from ..files import open_regular_file
from ..language.excerpt import choose_sentences
from ..models import short_id
from ..render.fence import DATA_FOLLOWS, clean, count_tokens, fenced, one_line
from .seen import note_seen, seen_ids, valid_session_id
from .stop import HookMessage

if TYPE_CHECKING:
    from ..verbs.blame import Memory, RecalledEntry

MOST_ENTRIES, MOST_TOKENS = 2, 300
"""The most entries, and the most tokens, that a hook gives before an edit or after a
failure.
"""
REMARK_CHARS = 60
"""The largest length of what is said of an entry in brackets."""
TAIL_BYTES = 100_000
"""Bytes at the end of a transcript in which the result of the last command is sought."""
_PATCHED_FILE = re.compile(r"(?m)^\*\*\* (?:Add|Update|Delete) File: (.+)$")
"""A line of a patch that names the file which it changes."""
_PATH_FIELDS = ("file_path", "notebook_path", "path")
"""Fields of a tool's input that hold the path of the edited file."""
_GEMINI_FAILURE = re.compile(r"(?m)^Exit Code: [1-9]")
"""The mark of a failed command in the answer of Gemini CLI. Claude Code has an event for it,
and Codex writes it into its transcript.
"""


def entries_before_edit(config: Config, message: HookMessage) -> str:
    """Returns a text for the agent with entries that name the file it is about to edit, or the
    folder of that file; empty if there are none.
    """
    tool_input = message.get("tool_input")
    tool_input = tool_input if isinstance(tool_input, dict) else {}
    paths = [tool_input[key] for key in _PATH_FIELDS if isinstance(tool_input.get(key), str)]
    paths += _PATCHED_FILE.findall(
        str(tool_input.get("command") or tool_input.get("input") or "")
    )
    files = [Path(message["cwd"], path) for path in paths[:5]]
    names = ", ".join(file.name for file in files)
    return _new_entries_text(
        config,
        message,
        one_line(names)[:40],
        lambda memory: [one for file in files for one in memory.entries_about_file(file)],
    )


def entries_after_failure(config: Config, message: HookMessage) -> str:
    """Returns a text for the agent with entries about the error of a failed command; empty if
    there are none. Gemini CLI takes no text before an edit, so it gets the text of
    `entries_before_edit` after it.
    """
    if message.get("tool_name") in ("replace", "write_file"):
        return entries_before_edit(config, message)
    output = message.get("error")
    response = message.get("tool_response")
    if not output and isinstance(response, dict):
        output = str(response.get("llmContent"))
        output = output if _GEMINI_FAILURE.search(output) else ""
    elif message.get("client") == "codex" and _codex_command_failed(message):
        output = response
    if not isinstance(output, str):
        return ""
    folder = Path(message["cwd"])
    return _new_entries_text(
        config, message, "this error", lambda memory: memory.entries_about_error(output, folder)
    )


def _codex_command_failed(message: HookMessage) -> bool:
    """True when the transcript of Codex says that the command ended with an error; the hook's
    message does not say it.
    """
    call = re.escape(str(message.get("tool_use_id")))
    with open_regular_file(Path(str(message.get("transcript_path")))) as transcript:
        with suppress(OSError):  # it is shorter
            transcript.seek(-TAIL_BYTES, os.SEEK_END)
        end = transcript.read()
    failed = rf'"CommandExecution","id":"{call}".*"exit_code":-?[1-9]'
    return re.search(failed.encode(), end) is not None


def _new_entries_text(
    config: Config,
    message: HookMessage,
    about: str,
    find: Callable[[Memory], Sequence[RecalledEntry]],
) -> str:
    """Returns a text about the best entries that `find` returns and that this session was not
    given before; notes them as given.
    """
    session = valid_session_id(message)
    if not session or not about:
        return ""
    if not config.index_file.exists():
        return ""
    from ..index.plain_index import PlainIndex
    from ..verbs.blame import Memory

    with closing(PlainIndex.open(config.index_file)) as index:
        matches = find(Memory(config, index))
    seen = seen_ids(config, session)
    new = {short_id(one.entry.id): one for one in matches if short_id(one.entry.id) not in seen}
    chosen = dict(islice(new.items(), MOST_ENTRIES))
    note_seen(config, session, chosen)
    return _entries_text(about, list(chosen.values())) if chosen else ""


def _entries_text(about: str, chosen: Sequence[RecalledEntry]) -> str:
    """Returns the entries as fenced lines, with as many whole sentences as fit into
    MOST_TOKENS.
    """
    head = f"From Synaptic, on {about}. {DATA_FOLLOWS} context_get gives more."
    starts = []
    for one in chosen:
        origin = f"from {one.entry.origin}" if one.entry.origin else ""
        remark = one_line(" ".join(filter(None, (one.mark, origin))))[:REMARK_CHARS]
        remark = f" ({remark})" if remark else ""
        starts.append(f"{short_id(one.entry.id)} {one.entry.date} {one.entry.type}{remark}: ")
    frame = head + fenced("entries", "\n".join(starts))
    room = MOST_TOKENS - MOST_ENTRIES - count_tokens(frame)
    lines = []
    for number, one in enumerate(chosen):
        title = one_line(one.entry.title)
        text = clean(one.text)
        if not one_line(text).startswith(title.rstrip(".… ")):
            text = f"{title}: {text}"
        if one.mark:
            text = title
        share = room // (len(chosen) - number)
        text = _cut_to_sentences(text, share - 1)
        room -= count_tokens(text)
        lines.append(starts[number] + text)
    return f"{head}\n{fenced('entries', chr(10).join(lines))}"


def _cut_to_sentences(text: str, room: int) -> str:
    """Returns the sentences of a text that say most, as many as fit into `room` tokens. One
    sentence that is longer is cut after a word.
    """
    excerpt = choose_sentences(text, room, count_tokens)
    words = excerpt.split(" ")
    while words and count_tokens(" ".join(words)) > room:
        words.pop()
    return excerpt if " ".join(words) == excerpt else f"{' '.join(words)} …"


ACTIONS: dict[str, Callable[[Config, HookMessage], str]] = {
    "pre-tool": entries_before_edit,
    "tool-failure": entries_after_failure,
}

"""Fits texts and JSON for agents into a number of characters, and names tools in place of
commands. Pure.
"""

from __future__ import annotations

import json
import re
from itertools import islice
from typing import Any

from ..models import Json
from ..render.present import clean_json, count_that_fit, fitting_length
from ..render.wire import WHOLE_CONTENT
from .tools import CHARS_PER_TOKEN

ANSWER_CHARS = 10_000 * CHARS_PER_TOKEN
"""The most characters of an answer to a call without `max_tokens`. Clients refuse or store away
answers above 25,000 tokens.
"""
REMARK_CHARS = 400
"""Characters that are left for the remarks below a list."""
CUT_NOTICE = "Long texts and lists of this answer are cut."
_REWORDINGS = (
    (r"`synaptic restore ([^`\s]+)`", r"`context_update` with id \1 and restore: true"),
    (r"`synaptic delete ([^`\s]+)` removes", r"`context_delete` with id \1 removes"),
    (r"`synaptic (recent|search|find|get)[^`]*`", r"`context_\1`"),
    (r"`--(\w+)`", r"`\1: true`"),
    (r"`(synaptic [^`]+)`", r"`\1` (the user's to run)"),
)
"""Patterns of commands in our messages, and the tool call that an agent makes in their
place.
"""
_MOST_FIELDS = 40
"""The most fields that a cut object keeps. No object of ours has as many; objects from a note
may.
"""


def reword_for_agents(text: str) -> str:
    """Returns a message with the names of tools in place of commands, as `context_get` for
    `synaptic get`.
    """
    for command, tool in _REWORDINGS:
        text = re.sub(command, tool, text)
    return text


def json_text(data: Json) -> str:
    """Returns the JSON as a text, without invisible characters."""
    if "notices" in data:
        data = data | {"notices": list(map(reword_for_agents, data["notices"]))}
    return json.dumps(clean_json(data), ensure_ascii=False)


def cut_text(text: str, room: int, advice: str) -> str:
    """Returns the text; if it is longer than `room` characters, its beginning and a line with
    the `advice`. A code fence that the cut leaves open is closed.
    """
    if len(text) <= room:
        return text
    remark = f"{{:,}} more characters did not fit: {advice}."
    widest = max(map(len, re.findall("`+", text)), default=0)
    left = room - len(remark) - widest - len(f"{len(text):,}")
    end = fitting_length(text, left) if left > widest else 0  # of the opening fence, too
    beginning = text[:end].rstrip("\n")
    lines = [beginning, _open_fence(beginning), remark.format(len(text) - end)]
    return "\n".join(filter(None, lines))


def _open_fence(text: str) -> str:
    """Returns the backticks of the code fence that is open at the end of the text; "" if none
    is.
    """
    fence = ""
    for line in text.split("\n"):
        if fence and line == fence:
            fence = ""
        elif not fence and (opening := _FENCE.match(line)):
            fence = opening[0]
    return fence


_FENCE = re.compile("`{3,}")


def shorten_json(data: Json, room: int) -> Json:
    """Returns the JSON with its longest texts and lists cut until its text fits into `room`
    characters; a notice says so. ANSWER_CHARS is always enough for our own answers.
    """
    if len(json_text(data)) <= room:
        return data
    cut = _shrink_json({"notices": [], **data}, room - len(CUT_NOTICE) - 4, least=4)
    return cut | {"notices": [CUT_NOTICE, *cut["notices"]]}


def _shrink_json(data: Json, room: int, least: int = 64) -> Json:
    """Returns the JSON with its texts cut to half the length again and again, until it fits
    into `room` characters or texts have `least` characters, which keeps ids whole.
    """
    most = room
    cut = data
    while len(json_text(cut)) > room and most > least:
        most = max(least, most // 2)
        cut = _cut_value(data, most)
    return cut


def _cut_value(value: Any, most: int) -> Any:
    """Returns the value with texts cut to `most` characters and lists cut to a twentieth of
    that number of items.
    """
    if isinstance(value, str):
        return value if len(value) <= most else value[: most - 1] + "…"
    if isinstance(value, list | tuple):
        return [_cut_value(one, most) for one in value[: max(1, most // 20)]]
    if isinstance(value, dict):
        fields = islice(value.items(), max(_MOST_FIELDS, most // 20))
        return {name[: max(_MOST_FIELDS, most)]: _cut_value(one, most) for name, one in fields}
    return value


def fit_rows(data: Json, name: str, room: int, advice: str) -> Json:
    """Returns the JSON of a list with the first rows `data[name]` that fit into `room`
    characters. `omitted` counts the others, and a notice gives the `advice` on how to get them.

    Where not all fit, long contents are cut as in a search, and marked `truncated`.
    """
    if len(json_text(data)) <= room:
        return data
    rows = [_shorten_row(item, room) for item in data[name]]
    remark = f"{len(rows)} more did not fit: {advice}."
    head = data | {name: [], "omitted": len(rows), "notices": [*data["notices"], remark]}
    head = _shrink_json(head, max(room // 2, REMARK_CHARS))
    sizes = [len(json_text(item)) + 2 for item in rows]
    count = count_that_fit(sizes, room - len(json_text(head)))
    omitted = len(rows) - count
    if not omitted:
        return data | {name: rows}
    notices = [*head["notices"][:-1], f"{omitted} more did not fit: {advice}."]
    return head | {name: rows[:count], "omitted": omitted, "notices": notices}


def _shorten_row(item: Json, room: int) -> Json:
    content = item.get("content", "")  # a task has none
    end = fitting_length(content, WHOLE_CONTENT)
    if end < len(content) and not item["truncated"]:
        item = item | {"content": content[:end], "truncated": True, "next_offset": end}
    return _shrink_json(item, max(room // 4, 2 * WHOLE_CONTENT))

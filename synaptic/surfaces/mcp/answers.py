"""What the tools and resources answer: a verb is called, its result becomes text that a model reads."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from ...errors import InvalidArgument, check_range, one_of
from ...index.lookup import known
from ...language.query import build_preference
from ...models import Entry, Listing, Receipt
from ...search.search import search
from ...verbs.browse import days, find, get, recent
from ...verbs.writing import delete, restore, save, update
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace, index_of
from ..arguments import take_filters
from ..present import (
    CHARS_PER_TOKEN,
    DATA_FOLLOWS,
    Item,
    Level,
    brief,
    cleaned,
    done_text,
    entry_items,
    fenced,
    fit,
    hit_items,
    listed,
    one_line,
    outline,
    render,
    render_items,
    short,
)
from ..wire import WHOLE_CONTENT, Json, analysis_json, listing_json, note_json, search_json
from .tools import FORMATS, LEAST_TOKENS, MOST_TOKENS

MAX_TOKENS = 4_000
CONCISE_TOKENS = 400
EACH_TOKENS = 45
"""What an entry of a longer list may take."""

_FOR_AGENTS = (
    (r"`synaptic restore (\S+)`", r"`context_update` with id \1 and restore: true"),
    (r"`synaptic delete (\S+)`", r"`context_delete` with id \1"),
    (r"`synaptic (recent|search|find|get)[^`]*`", r"`context_\1`"),
    (r"`--(\w+)`", r"`\1: true`"),
    (r"`(synaptic [^`]+)`", r"`\1` (the user's to run)"),
)
"""What our messages tell people to type, and what an agent does instead."""


@dataclass(frozen=True, slots=True)
class Call:
    """A checked call of a tool. `client` is the calling program's name; `loading`: the model is not there yet."""

    args: dict[str, Any]
    client: str | None = None
    loading: bool = False


def for_agents(text: str) -> str:
    """A message of ours that names tools instead of commands."""
    for command, tool in _FOR_AGENTS:
        text = re.sub(command, tool, text)
    return text


def _search(ws: Workspace, call: Call) -> str:
    args = _without_blanks(call.args)
    layout, max_tokens = _form(args)
    filters = take_filters(args, ws.clock())
    query = args.pop("query", "")
    prefer = build_preference(args.pop("prefer", {}))
    found = search(ws, query, filters=filters, prefer=prefer, load_model=not call.loading, **args)
    room = (max_tokens or _tokens(layout, len(found.hits))) * CHARS_PER_TOKEN
    if layout == "json":
        return json_text(search_json(found), room)
    items = hit_items(found, room=room if layout == "concise" else None)
    return _found(ws, search_json(found), items, layout, room, cure="raise max_tokens")


def _find(ws: Workspace, call: Call) -> str:
    args = _without_blanks(call.args)
    layout, _ = _form(args)
    filters = take_filters(args, ws.clock())
    return _listed(ws, find(ws, filters=filters, load_model=not call.loading, **args), layout)


def _recent(ws: Workspace, call: Call) -> str:
    args = _without_blanks(call.args)
    layout, _ = _form(args)
    return _listed(ws, recent(ws, **args, load_model=not call.loading), layout)


def _get(ws: Workspace, call: Call) -> str:
    """The entries whole, as far as they fit: long ones share what short ones leave of `max_tokens`."""
    args = dict(call.args)
    layout, max_tokens = _form(args)
    offset, listing = args.get("offset", 0), get(ws, args["ids"])
    if offset and len(listing.entries) > 1:
        raise InvalidArgument("offset goes with one id.", hint="Call it for each id.")
    longest = max(len(entry.content) for entry in listing.entries)
    check_range("offset", offset, 0, longest - 1)
    left, ends = (max_tokens or MAX_TOKENS) * CHARS_PER_TOKEN, {}
    by_size = sorted(listing.entries, key=lambda entry: len(entry.content))
    for number, entry in enumerate(by_size):
        ends[entry.id] = _end(entry.content, offset, left // (len(by_size) - number))
        left -= ends[entry.id] - offset
    cut = {entry.id: end for entry in by_size if (end := ends[entry.id]) < len(entry.content)}
    shown = replace(listing, entries=tuple(replace(e, content=e.content[offset : ends[e.id]]) for e in listing.entries))
    if layout == "json":
        data = listing_json(shown)
        for each, entry in zip(data["entries"], listing.entries, strict=True):
            if entry.id in cut:
                each |= {"truncated": True, "next_offset": cut[entry.id], "left": len(entry.content) - cut[entry.id]}
        return json_text(data, MOST_TOKENS * CHARS_PER_TOKEN)
    items = [replace(item, partial=item.entry.id in cut or offset > 0) for item in entry_items(shown, detailed=True)]
    parts = [DATA_FOLLOWS, *_first_notice(listing.notices), _whole(items)]
    parts += [_left(entry, cut[entry.id]) for entry in listing.entries if entry.id in cut]
    return "\n\n".join(parts)


def _end(text: str, start: int, room: int) -> int:
    """Where a part of a text ends that begins at `start`: behind a line, else a word, near the end of its room."""
    end = start + room
    if end >= len(text):
        return len(text)
    return next((cut + 1 for mark in "\n " if (cut := text.rfind(mark, start + room // 2, end)) >= 0), end)


def _left(entry: Entry, end: int) -> str:
    left = f"{len(entry.content) - end:,} of {len(entry.content):,} characters of {entry.short_id} are left"
    return f"{left}: context_get with this id and offset={end} goes on."


def _update(ws: Workspace, call: Call) -> str:
    args = dict(call.args)
    if not args.pop("restore", False):
        return _receipt(update(ws, **args), "Updated")
    if len(args) > 1:
        raise InvalidArgument("restore undoes the last change, and changes nothing else.", valid=("id", "restore"))
    return _receipt(restore(ws, args["id"]), "Restored")


def _analyze(ws: Workspace, call: Call) -> str:
    args = dict(call.args)
    layout, _ = _form(args)
    mode = one_of(("query", "note"), args.get("mode", "query"), "mode")
    from ...search.understanding import analysis_of, read_note  # slow to import

    data = note_json(read_note(ws, args["text"])) if mode == "note" else analysis_json(analysis_of(ws, args["text"]))
    if layout == "json":
        return json_text(data)
    if layout == "detailed":
        return fenced("json", json.dumps(cleaned(data), ensure_ascii=False, indent=1))
    return fenced(mode, outline(data))


ANSWERS: Mapping[str, Callable[[Workspace, Call], str]] = {
    "context_save": lambda ws, call: _receipt(save(ws, **_without_blanks(call.args), by=call.client), "Saved"),
    "context_search": _search,
    "context_recent": _recent,
    "context_find": _find,
    "context_get": _get,
    "context_update": _update,
    "context_delete": lambda ws, call: _receipt(delete(ws, call.args["id"], whole_files=False), "Deleted"),
    "context_analyze": _analyze,
}


def _without_blanks(args: dict[str, Any]) -> dict[str, Any]:
    """Arguments as meant by clients that send an empty text for what they leave out."""
    return {name: value for name, value in args.items() if value != "" or name == "content"}


def _form(args: dict[str, Any]) -> tuple[str, int | None]:
    """The format and the most tokens that an answer was asked for, which it takes out."""
    layout, max_tokens = args.pop("format", "") or "concise", args.pop("max_tokens", None)
    check_range("max_tokens", max_tokens, LEAST_TOKENS, MOST_TOKENS)
    return one_of(FORMATS, layout, "format"), max_tokens


def _tokens(layout: str, entries: int) -> int:
    """How many tokens an answer takes at most where nobody said."""
    concise = max(CONCISE_TOKENS, EACH_TOKENS * entries)
    return {"concise": concise, "detailed": MAX_TOKENS, "json": MOST_TOKENS}[layout]


def json_text(data: Json, room: int = MOST_TOKENS * CHARS_PER_TOKEN) -> str:
    """The JSON as a text of about `room` characters: whole entries that do not fit are counted in `omitted`."""
    if "notices" in data:
        data = data | {"notices": [for_agents(notice) for notice in data["notices"]]}
    data = cleaned(data)
    for name in {"hits", "entries"} & data.keys():
        left = room - len(json.dumps(data | {name: []}, ensure_ascii=False))
        sizes = accumulate(len(json.dumps(one, ensure_ascii=False)) + 2 for one in data[name])
        fitting = bisect_right(list(sizes), left)
        if omitted := len(data[name]) - fitting:
            data |= {name: data[name][:fitting], "omitted": omitted}
    return json.dumps(data, ensure_ascii=False)


def day_text(ws: Workspace, date: str) -> str:
    """All entries of a local date, oldest first, as fenced Markdown."""
    found = days(ws, date)
    items = entry_items(found.found, detailed=True)
    if not items:
        return f"No entries on {found.since}."
    return f"{len(items)} entries of {found.since}. {DATA_FOLLOWS}\n\n{_whole(items)}"


def entry_text(ws: Workspace, id: str) -> str:
    """One entry, whole, as fenced Markdown."""
    listing = get(ws, [id])
    return "\n\n".join([DATA_FOLLOWS, *_first_notice(listing.notices), _whole(entry_items(listing, detailed=True))])


def starting(ws: Workspace, kind: str, typed: str) -> list[str]:
    """The short ids of entries, or the dates, that begin with what was typed, newest first."""
    found = in_step(ws, lambda _: known(ws.config.state / index_of(ws.config.model), kind))
    names = [*(["today", "yesterday"] if kind == "date" else []), *(name for name, _ in found)]
    return [name for name in names if name.startswith(typed)]


def _whole(items: Sequence[Item]) -> str:
    return render_items(items, [Level.WHOLE] * len(items))


# -- answers --------------------------------------------------------------------------------------------


def _receipt(receipt: Receipt, done: str) -> str:
    done, notices = done_text(done, receipt.notices)
    line = f"{done} {short(receipt.id)} ({receipt.date} {receipt.time}, {one_line(receipt.path)})."
    tags = ", ".join(map(one_line, receipt.suggested_tags))
    more = _first_notice(notices) or ([f"Tags of the journal that fit: {tags}."] if tags else [])
    return "\n".join([line, *more])


def _listed(ws: Workspace, listing: Listing, layout: str) -> str:
    data, count = listing_json(listing), len(listing.entries)
    room = _tokens(layout, count) * CHARS_PER_TOKEN
    if layout == "json":
        return json_text(data, room)
    items = entry_items(listing, length=WHOLE_CONTENT, detailed=True)
    if layout == "concise":  # the titles always stand in it, or a cursor would lead past entries that nobody saw
        items = entry_items(listing, length=max(80, room // max(1, count) - 60))
        room = max(room, sum(len(listed(item, Level.TITLE)) + 1 for item in items) + 200)
    return _found(ws, data, items, layout, room, cure="lower limit")


def _found(ws: Workspace, data: Json, items: list[Item], layout: str, room: int, *, cure: str) -> str:
    """As much of the items as fits, what to know of them, and how to get the rest."""
    notices = _first_notice(data["notices"])
    if not items:
        if not ws.index.counts().entries:
            return "The journal is empty: context_save adds its first entry."
        return f"Nothing found. {notices[0] if notices else 'Try other words, or fewer filters.'}"
    head = [*notices, f"{len(items)} of {data['total']}. {DATA_FOLLOWS}", *_counts(data)]
    show = listed if layout == "concise" else render
    levels = fit(items, room - len("\n".join(head)), show)
    lines = [show(item, level) for item, level in zip(items, levels, strict=True) if level]
    body = fenced("entries", "\n".join(lines)) if layout == "concise" else render_items(items, levels)
    more = []
    if dropped := levels.count(Level.NOTHING):
        more.append(f"{dropped} more did not fit: {cure}.")
    if "cursor" in data:
        more.append(f'More: the same call with cursor="{data["cursor"]}".')
    return "\n".join([*head, body, *more])


def _counts(data: Json) -> list[str]:
    """The facets in a line each, fenced: names are other people's text."""
    facets = data.get("facets", {})
    lines = [
        f"{kind}: " + ", ".join(f"{one_line(item['name'])} {item['count']}" for item in counted[:30])
        for kind, counted in facets.items()
        if counted
    ]
    return [fenced("counts", "\n".join(lines))] if lines else []


def _first_notice(notices: Sequence[str]) -> list[str]:
    return [f"Note: {brief(for_agents(notices[0]))}"] if notices else []

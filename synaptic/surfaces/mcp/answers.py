"""Answers tools and resources: calls a verb and makes its result a text for a model."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...errors import InvalidArgument, NotFound, check_range, one_of
from ...index.lookup import known
from ...language.query import build_preference
from ...models import NOTHING_CLOSE, Near
from ...search.search import search
from ...verbs.browse import Listing, days, find, get, recent
from ...verbs.importing import with_source
from ...verbs.review import review
from ...verbs.writing import Receipt, delete, near_by_now, restore, save, update
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace, index_of
from ..render.present import (
    CHARS_PER_TOKEN,
    DATA_FOLLOWS,
    Item,
    brief,
    cleaned,
    done_text,
    end_of,
    entry_items,
    fenced,
    fitting,
    hit_items,
    listed,
    matter_text,
    one_line,
    outline,
    render,
    short,
)
from ..render.wire import (
    WHOLE_CONTENT,
    Json,
    as_json,
    listing_json,
    search_json,
)
from ..serving.arguments import take_filters
from .tools import FORMATS, LEAST_TOKENS, MOST_TOKENS

MAX_TOKENS = 4_000
CONCISE_CHARS, EACH_CHARS = 1_400, 150
"""Of a list, and of each entry of a longer one: 400 and 45 tokens (o200k: 3.5 characters each,
with ids and code).
"""
MAX_UNSAID = 8
"""Saves of a client that wait for their vectors, to be told what they are near."""
REVIEWED = 20
"""Findings in the prompt to review."""

_FOR_AGENTS = (
    (r"`synaptic restore ([^`\s]+)`", r"`context_update` with id \1 and restore: true"),
    (r"`synaptic delete ([^`\s]+)` removes", r"`context_delete` with id \1 removes"),
    (r"`synaptic (recent|search|find|get)[^`]*`", r"`context_\1`"),
    (r"`--(\w+)`", r"`\1: true`"),
    (r"`(synaptic [^`]+)`", r"`\1` (the user's to run)"),
)
"""What our messages tell people to type, and what an agent does instead."""


@dataclass(frozen=True, slots=True)
class Call:
    """A checked call of a tool. `client` is the calling program's name; `loading`: the model is
    not there yet.

    A save that does not know yet what it is near puts its id into `unsaid`.
    """

    args: dict[str, Any]
    client: str | None = None
    loading: bool = False
    layout: str = "concise"
    max_tokens: int | None = None
    unsaid: list[str] = field(default_factory=list)

    def room(self, entries: int) -> int:
        """The number of characters that an answer of so many `entries` may take."""
        if self.layout == "concise" and not self.max_tokens:
            return max(CONCISE_CHARS, EACH_CHARS * entries)
        return (
            self.max_tokens or (MOST_TOKENS if self.layout == "json" else MAX_TOKENS)
        ) * CHARS_PER_TOKEN


Answer = tuple[str, Json]
"""What a tool says: a text for the model, and JSON for programs where it reads."""


def answer(ws: Workspace, name: str, call: Call) -> str:
    """The answer of this tool in the format that was asked for."""
    args = dict(call.args)
    layout, max_tokens = (
        one_of(FORMATS, args.pop("format", "concise"), "format"),
        args.pop("max_tokens", None),
    )
    check_range("max_tokens", max_tokens, LEAST_TOKENS, MOST_TOKENS)
    text, data = ANSWERS[name](
        ws, replace(call, args=args, layout=layout, max_tokens=max_tokens)
    )
    _count(ws, name, call, data)
    return json_text(data) if layout == "json" else text


def for_agents(text: str) -> str:
    """A message of ours that names tools instead of commands."""
    for command, tool in _FOR_AGENTS:
        text = re.sub(command, tool, text)
    return text


def json_text(data: Json) -> str:
    """The JSON as a text that may be displayed."""
    notices = {"notices": list(map(for_agents, data["notices"]))} if "notices" in data else {}
    return json.dumps(cleaned(data | notices), ensure_ascii=False)


def _count(ws: Workspace, name: str, call: Call, data: Json) -> None:
    """Keeps the number of what an answer shows, for `status --use`."""
    shown = len(data.get("hits") or data.get("entries") or ())
    counts = {"context_get": {"opened": shown}, "context_save": {"saved": 1}}.get(
        name, {"shown": shown}
    )
    if name == "context_search":
        counts |= {
            "searches": 1,
            "nothing_found": int(not shown or NOTHING_CLOSE in data["notices"]),
        }
    if ws.config.metrics:
        ws.index.counters.count_use(call.client or "unnamed", ws.clock().date(), **counts)


def _save(ws: Workspace, call: Call) -> Answer:
    marks = {
        name: value for name, value in call.args.items() if (name, value) != ("project", "")
    }  # left out
    receipt = save(ws, **marks, by=call.client or "agent", via="mcp", by_person=False)
    if receipt.near is None:
        call.unsaid[:] = [*call.unsaid[1 - MAX_UNSAID :], receipt.id]
    return _receipt(receipt, "Saved")


def near_by_now_text(ws: Workspace, unsaid: list[str]) -> str:
    """The entries near these saves, if their vectors are made; such saves leave the list."""
    lines = []
    for id in list(unsaid):
        try:
            near = near_by_now(ws, id)
        except NotFound:  # deleted since
            near = ()
        if near is not None:
            unsaid.remove(id)
        lines += [f"Near {short(id)}, which you saved:", *_near(id, near)] if near else []
    return "".join(f"\n{line}" for line in lines)


def _search(ws: Workspace, call: Call) -> Answer:
    args = dict(call.args)
    filters = take_filters(args, ws.clock())
    query, prefer = args.pop("query", ""), build_preference(args.pop("prefer", {}))
    found = search(
        ws, query, filters=filters, prefer=prefer, load_model=not call.loading, **args
    )
    data, count = search_json(found), len(found.hits)
    if call.layout == "json" and call.max_tokens:
        left = call.room(count) - len(json_text(data | {"hits": []}))
        fits = fitting((len(json_text(hit)) + 2 for hit in data["hits"]), left)
        return "", data | {"hits": data["hits"][:fits], "omitted": count - fits}
    length = min(WHOLE_CONTENT, call.room(count) // max(1, count))
    items = hit_items(found, length=length, detailed=call.layout == "detailed")
    return _found(ws, data, items, call, cure="raise max_tokens")


def _find(ws: Workspace, call: Call) -> Answer:
    args = dict(call.args)
    filters = take_filters(args, ws.clock())
    return _listed(ws, find(ws, filters=filters, load_model=not call.loading, **args), call)


def _get(ws: Workspace, call: Call) -> Answer:
    """The entries whole, as far as they fit: long ones share what short ones leave of
    `max_tokens`.
    """
    offset, listing = call.args.get("offset", 0), get(ws, call.args["ids"])
    if call.args.get("source"):
        listing = with_source(ws, listing)
    if offset and len(listing.entries) > 1:
        raise InvalidArgument("offset goes with one id.", hint="Call it for each id.")
    sizes = sorted(len(entry.content) for entry in listing.entries)
    check_range("offset", offset, 0, max(0, sizes[-1] - 1))
    share = left = (call.max_tokens or MAX_TOKENS) * CHARS_PER_TOKEN
    for number, size in enumerate(sizes):
        share = left // (len(sizes) - number)
        left -= min(size, share)
    data, items, more = listing_json(listing), [], []
    for entry, item, each in zip(
        listing.entries, entry_items(listing), data["entries"], strict=True
    ):
        end = offset + end_of(entry.content[offset:], share)
        each["content"] = part = entry.content[offset:end]
        items.append(replace(item, text=part, partial=part != entry.content))
        if left := len(entry.content) - end:
            each |= {"truncated": True, "left": left, "next_offset": end}
            said = f"{left:,} of {len(entry.content):,} characters of {entry.short_id} are left"
            more.append(f"{said}: context_get with this id and offset={end} goes on.")
    return "\n\n".join(
        [DATA_FOLLOWS, *_first_notice(listing.notices), *map(render, items), *more]
    ), data


def _update(ws: Workspace, call: Call) -> Answer:
    args = dict(call.args)
    if not args.pop("restore", False):
        return _receipt(update(ws, **args, by_person=False), "Updated")
    if len(args) > 1:
        raise InvalidArgument(
            "restore undoes the last change, and changes nothing else.", valid=("id", "restore")
        )
    return _receipt(restore(ws, args["id"], by_person=False), "Restored")


def _analyze(ws: Workspace, call: Call) -> Answer:
    mode, text = (
        one_of(("query", "note"), call.args.get("mode", "query"), "mode"),
        call.args["text"],
    )
    from ...search.analysis import analysis_of, read_note  # slow to import

    data = as_json(read_note(ws, text) if mode == "note" else analysis_of(ws, text))
    if call.layout == "concise":
        return fenced(mode, outline(data)), data
    return fenced("json", json.dumps(cleaned(data), ensure_ascii=False, indent=1)), data


ANSWERS: Mapping[str, Callable[[Workspace, Call], Answer]] = {
    "context_save": _save,
    "context_search": _search,
    "context_recent": lambda ws, call: _listed(
        ws, recent(ws, **call.args, load_model=not call.loading), call
    ),
    "context_find": _find,
    "context_get": _get,
    "context_update": _update,
    "context_delete": lambda ws, call: _receipt(
        delete(ws, call.args["id"], by_person=False), "Deleted"
    ),
    "context_analyze": _analyze,
}


def day_text(ws: Workspace, date: str) -> str:
    """All entries of a local date, oldest first, as fenced Markdown."""
    found = days(ws, date)
    if not (items := entry_items(found.found)):
        return f"No entries on {found.since}."
    return "\n\n".join(
        [f"{len(items)} entries of {found.since}. {DATA_FOLLOWS}", *map(render, items)]
    )


def entry_text(ws: Workspace, id: str) -> str:
    """One entry, whole, as fenced Markdown."""
    return _get(ws, Call({"ids": [id]}, max_tokens=sys.maxsize))[0]


def starting(ws: Workspace, kind: str, typed: str) -> list[str]:
    """The short ids of entries, or the dates, that begin with what was typed, newest first."""
    found = in_step(ws, lambda _: known(ws.config.state / index_of(ws.config.model), kind))
    names = [*(["today", "yesterday"] if kind == "date" else []), *(name for name, _ in found)]
    return [name for name in names if name.startswith(typed)]


def review_text(ws: Workspace, project: str) -> str:
    """The findings of a review, fenced: titles are other people's text."""
    found = review(ws, project=[project] if project else ())
    return fenced(
        f"findings, {min(REVIEWED, len(found))} of {len(found)}",
        "\n".join(map(matter_text, found[:REVIEWED])),
    )


# -- answers
# --------------------------------------------------------------------------------------------


def _receipt(receipt: Receipt, done: str) -> Answer:
    done, notices = done_text(done, receipt.notices)
    line = (
        f"{done} {short(receipt.id)} ({receipt.date} {receipt.time}, {one_line(receipt.path)})."
    )
    tags = ", ".join(map(one_line, receipt.suggested_tags))
    more = _first_notice(notices) or (
        [f"Tags of the journal that fit: {tags}."] if tags else []
    )
    return "\n".join(
        [line, *more, *(_near(receipt.id, receipt.near) if receipt.near else [])]
    ), {}


def _near(id: str, entries: Sequence[Near]) -> list[str]:
    """Entries that this one may replace or settle, fenced, with the calls that record it."""
    replaced = json.dumps([short(near.id) for near in entries if not near.settled])
    lines = [
        f"{short(near.id)} {near.date} {near.type}: {one_line(near.title)}" for near in entries
    ]
    calls = [
        f'Looks settled? context_update id="{short(near.id)}" add_tags=["done"]'
        for near in entries
        if near.settled
    ]
    if replaced != "[]":
        calls.append(f'Looks replaced? context_update id="{short(id)}" supersedes={replaced}')
    return [fenced("entries near it", "\n".join(lines)), *calls]


def _listed(ws: Workspace, listing: Listing, call: Call) -> Answer:
    share = call.room(len(listing.entries)) // max(1, len(listing.entries))
    length = max(80, share - 60) if call.layout == "concise" else WHOLE_CONTENT
    return _found(
        ws, listing_json(listing), entry_items(listing, length=length), call, cure="lower limit"
    )


def _found(ws: Workspace, data: Json, items: list[Item], call: Call, *, cure: str) -> Answer:
    """As much of the items as fits, what to know of them, and how to get the rest."""
    notices = _first_notice(data["notices"])
    if not items:
        empty = "The journal is empty: context_save adds its first entry."
        nothing = (
            notices[0].removeprefix("Note: ")
            if notices
            else "Try other words, or fewer filters."
        )
        return f"Nothing found. {nothing}" if ws.index.counts().entries else empty, data
    head = "\n".join(
        [*notices, f"{len(items)} of {data['total']}. {DATA_FOLLOWS}", *_counts(data)]
    )
    room = call.room(len(items)) - len(head)
    blocks = list(map(render, items)) if call.layout != "concise" else []
    shown = blocks[: fitting(map(len, blocks), room)]
    body = "\n\n".join(shown)
    if not shown:
        shown = listed(items, room)
        body = fenced("entries", "\n".join(shown))
    more = (
        [f"{len(items) - len(shown)} more did not fit: {cure}."]
        if len(shown) < len(items)
        else []
    )
    more += [f'More: the same call with cursor="{data["cursor"]}".'] if "cursor" in data else []
    return "\n".join([head, body, *more]), data


def _counts(data: Json) -> list[str]:
    """The facets in a line each, fenced: names are other people's text."""
    facets = data.get("facets", {})
    lines = [
        f"{kind}: "
        + ", ".join(f"{one_line(item['name'])} {item['count']}" for item in counted[:30])
        for kind, counted in facets.items()
        if counted
    ]
    return [fenced("counts", "\n".join(lines))] if lines else []


def _first_notice(notices: Sequence[str]) -> list[str]:
    return [f"Note: {brief(for_agents(notices[0]))}"] if notices else []

"""What the tools and resources answer: a verb is called, its result becomes Markdown and JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import check_range, one_of
from ...language.query import build_preference
from ...models import Listing, Receipt
from ...search.search import search
from ...verbs.browse import days, find, get, recent
from ...verbs.writing import delete, save, update
from ...workspace.workspace import Workspace
from ..arguments import take_filters
from ..present import (
    DATA_FOLLOWS,
    Item,
    Level,
    brief,
    done_text,
    entry_items,
    fenced,
    fit,
    hit_items,
    one_line,
    render_items,
    short,
)
from ..wire import Json, analysis_json, listing_json, note_json, receipt_json, search_json

MAX_TOKENS = 4_000
LEAST_TOKENS, MOST_TOKENS = 100, 100_000


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool says: Markdown for the model, JSON for programs."""

    text: str
    data: Json


@dataclass(frozen=True, slots=True)
class Call:
    """A checked call of a tool. `client` is the calling program's name; `loading`: the model is not there yet."""

    args: dict[str, Any]
    client: str | None = None
    loading: bool = False


def _search(ws: Workspace, call: Call) -> Answer:
    args = _without_blanks(call.args)
    max_tokens = args.pop("max_tokens", MAX_TOKENS)
    check_range("max_tokens", max_tokens, LEAST_TOKENS, MOST_TOKENS)
    detailed = one_of(("concise", "detailed"), args.pop("format", "concise"), "format") == "detailed"
    filters = take_filters(args, ws.clock())
    query = args.pop("query", "")
    prefer = build_preference(args.pop("prefer", {}))
    found = search(ws, query, filters=filters, prefer=prefer, load_model=not call.loading, **args)
    how = {"hybrid": "words and meaning", "lexical": "words", "semantic": "meaning"}[found.mode]
    data, items = search_json(found), hit_items(found, detailed=detailed)
    return _found(ws, data, data["hits"], items, max_tokens, how=f" by {how}", cure="raise max_tokens")


def _find(ws: Workspace, call: Call) -> Answer:
    args = _without_blanks(call.args)
    filters = take_filters(args, ws.clock())
    return _listed(ws, find(ws, filters=filters, load_model=not call.loading, **args))


def _get(ws: Workspace, call: Call) -> Answer:
    listing = get(ws, call.args["ids"])
    parts = [DATA_FOLLOWS, *_first_notice(listing.notices), _whole(entry_items(listing, whole=True))]
    return Answer("\n\n".join(parts), listing_json(listing))


def _analyze(ws: Workspace, call: Call) -> Answer:
    mode = one_of(("query", "note"), call.args.get("mode", "query"), "mode")
    from ...search.understanding import analysis_of, read_note  # slow to import

    text = call.args["text"]
    data = note_json(read_note(ws, text)) if mode == "note" else analysis_json(analysis_of(ws, text))
    return Answer(fenced("json", json.dumps(data, ensure_ascii=False, indent=1)), data)


ANSWERS: Mapping[str, Callable[[Workspace, Call], Answer]] = {
    "context_save": lambda ws, call: _receipt(save(ws, **_without_blanks(call.args), by=call.client), "Saved"),
    "context_search": _search,
    "context_recent": lambda ws, call: _listed(
        ws, recent(ws, **_without_blanks(call.args), load_model=not call.loading)
    ),
    "context_find": _find,
    "context_get": _get,
    "context_update": lambda ws, call: _receipt(update(ws, **call.args), "Updated"),
    "context_delete": lambda ws, call: _receipt(delete(ws, call.args["id"], whole_files=False), "Deleted"),
    "context_analyze": _analyze,
}


def _without_blanks(args: dict[str, Any]) -> dict[str, Any]:
    """Arguments as meant by clients that send an empty text for what they leave out."""
    return {name: value for name, value in args.items() if value != "" or name == "content"}


def day_text(ws: Workspace, date: str) -> str:
    """All entries of a local date, oldest first, as fenced Markdown."""
    found = days(ws, date)
    items = entry_items(found.found, whole=True)
    if not items:
        return f"No entries on {found.since}."
    return f"{len(items)} entries of {found.since}. {DATA_FOLLOWS}\n\n{_whole(items)}"


def entry_text(ws: Workspace, id: str) -> str:
    """One entry, whole, as fenced Markdown."""
    return _get(ws, Call({"ids": [id]})).text


def _whole(items: Sequence[Item]) -> str:
    return render_items(items, [Level.WHOLE] * len(items))


# -- answers --------------------------------------------------------------------------------------------


def _receipt(receipt: Receipt, done: str) -> Answer:
    done, notices = done_text(done, receipt.notices)
    line = f"{done} {short(receipt.id)} ({receipt.date} {receipt.time}, {one_line(receipt.path)})."
    tags = ", ".join(map(one_line, receipt.suggested_tags))
    more = _first_notice(notices) or ([f"Tags of the journal that fit: {tags}."] if tags else [])
    return Answer("\n".join([line, *more]), receipt_json(receipt))


def _listed(ws: Workspace, listing: Listing) -> Answer:
    data = listing_json(listing)
    return _found(ws, data, data["entries"], entry_items(listing), MAX_TOKENS, cure="lower limit")


def _found(
    ws: Workspace, data: Json, entries: list[Json], items: list[Item], max_tokens: int, *, cure: str, how: str = ""
) -> Answer:
    """As much of the items as fits, how many there are, and how to get the rest; `entries` are theirs in `data`."""
    levels = fit(items, max_tokens)
    for entry, item, level in zip(entries, items, levels, strict=True):
        shown = item.text if level is Level.WHOLE else item.snippet
        if shown != entry["content"]:  # the budget is for the JSON as well
            entry |= {"content": shown, "truncated": True}
    if items:
        head = f"{len(items)} of {data['total']}{how}. {DATA_FOLLOWS}"
    elif ws.index.counts().entries:
        head = "Nothing found. Try other words, or fewer filters."
    else:
        head = "The journal is empty: context_save adds its first entry."
    more = []
    if dropped := levels.count(Level.NOTHING):
        more.append(f"{dropped} more did not fit: {cure}.")
    if any(level in (Level.TITLE, Level.SNIPPET) for level in levels):
        more.append("Shortened ones: context_get with their ids gives them whole.")
    if "cursor" in data:
        more.append(f'More: the same call with cursor="{data["cursor"]}".')
    elif data["total"] > len(items):
        more.append("A higher limit shows more.")
    parts = [head, *_first_notice(data["notices"]), _counts(data), render_items(items, levels), " ".join(more)]
    return Answer("\n\n".join(part for part in parts if part), data)


def _counts(data: Json) -> str:
    """The facets in a line each, fenced: names are other people's text."""
    facets = data.get("facets", {})
    lines = [
        f"{kind}: " + ", ".join(f"{one_line(item['name'])} {item['count']}" for item in counted[:30])
        for kind, counted in facets.items()
        if counted
    ]
    return fenced("counts", "\n".join(lines)) if lines else ""


def _first_notice(notices: Sequence[str]) -> list[str]:
    return [f"Note: {brief(notices[0])}"] if notices else []

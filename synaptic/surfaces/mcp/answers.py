"""What the tools and resources answer: a verb is called, its result becomes Markdown and JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ...errors import InvalidArgument
from ...language.query import build_filters, build_preference, read_date
from ...models import Filters, Listing, Receipt, SearchResult
from ...search.search import search
from ...verbs.browse import find, get, recent
from ...verbs.writing import delete, save, update
from ...workspace.workspace import Workspace
from ..present import DATA_FOLLOWS, Item, Level, brief, entry_items, fenced, fit, hit_items, one_line, render_items
from ..wire import Json, analysis_json, listing_json, note_json, receipt_json, search_json

MAX_TOKENS = 4_000
LEAST_TOKENS, MOST_TOKENS = 100, 100_000
MODES_OF_ANALYSIS = ("query", "note")
FORMATS = ("concise", "detailed")


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


def _save(ws: Workspace, call: Call) -> Answer:
    receipt = save(ws, **_without_blanks(call.args), by=call.client)
    return _receipt(receipt, "Already saved as" if "already saved" in receipt.notices else "Saved")


def _update(ws: Workspace, call: Call) -> Answer:
    return _receipt(update(ws, **call.args), "Updated")


def _delete(ws: Workspace, call: Call) -> Answer:
    return _receipt(delete(ws, call.args["id"]), "Deleted")


def _search(ws: Workspace, call: Call) -> Answer:
    args = _without_blanks(call.args)
    max_tokens = args.pop("max_tokens", MAX_TOKENS)
    if not LEAST_TOKENS <= max_tokens <= MOST_TOKENS:
        raise InvalidArgument(f"max_tokens is {max_tokens}.", valid=(f"{LEAST_TOKENS} to {MOST_TOKENS}",))
    layout = args.pop("format", FORMATS[0])
    if layout not in FORMATS:
        raise InvalidArgument(f"format {layout!r} is unknown.", valid=FORMATS)
    filters = _filters(ws, args)
    query = args.pop("query", "")
    prefer = build_preference(args.pop("prefer", {}))
    result = search(ws, query, filters=filters, prefer=prefer, load_model=not call.loading, **args)
    items = hit_items(result, detailed=layout == "detailed")
    return _found(result, items, max_tokens, empty=not result.hits and not ws.index.counts()[1])


def _recent(ws: Workspace, call: Call) -> Answer:
    listing = recent(ws, **_without_blanks(call.args), load_model=not call.loading)
    return _listed(listing, empty=not listing.entries and not ws.index.counts()[1])


def _find(ws: Workspace, call: Call) -> Answer:
    args = _without_blanks(call.args)
    filters = _filters(ws, args)
    listing = find(ws, **args, filters=filters, load_model=not call.loading)
    return _listed(listing, empty=not listing.entries and not ws.index.counts()[1])


def _get(ws: Workspace, call: Call) -> Answer:
    listing = get(ws, call.args["ids"])
    items = entry_items(listing, whole=True)
    parts = [DATA_FOLLOWS, *_first_notice(listing.notices), render_items(items, [Level.WHOLE] * len(items))]
    return Answer("\n\n".join(parts), listing_json(listing))


def _analyze(ws: Workspace, call: Call) -> Answer:
    mode = call.args.get("mode", MODES_OF_ANALYSIS[0])
    if mode not in MODES_OF_ANALYSIS:
        raise InvalidArgument(f"mode {mode!r} is unknown.", valid=MODES_OF_ANALYSIS)
    from ...search.understanding import read_note, understand  # slow to import

    text = call.args["text"]
    data = note_json(read_note(ws, text)) if mode == "note" else analysis_json(understand(ws, text))
    return Answer(fenced("json", json.dumps(data, ensure_ascii=False, indent=1)), data)


ANSWERS: Mapping[str, Callable[[Workspace, Call], Answer]] = {
    "context_save": _save,
    "context_search": _search,
    "context_recent": _recent,
    "context_find": _find,
    "context_get": _get,
    "context_update": _update,
    "context_delete": _delete,
    "context_analyze": _analyze,
}

_FILTERS = {
    "type": "type",
    "tags": "tag",
    "project": "project",
    "file": "file",
    **{
        name: name
        for name in ("days", "since", "until", "min_importance", "max_importance", "parent", "has_body", "has_files")
    },
    "include_superseded": "include_superseded",
}
"""Arguments that filter, and what `build_filters` calls them."""


def _filters(ws: Workspace, args: dict[str, Any]) -> Filters:
    """The filters among the arguments, which it takes out."""
    given = {_FILTERS[name]: args.pop(name) for name in list(args) if name in _FILTERS}
    return build_filters(now=ws.clock(), **given)


def _without_blanks(args: dict[str, Any]) -> dict[str, Any]:
    """Arguments as meant by clients that send an empty text for what they leave out."""
    return {name: value for name, value in args.items() if value != "" or name in ("query", "content")}


def day_text(ws: Workspace, date: str) -> str:
    """All entries of a local date, oldest first, as fenced Markdown."""
    day = read_date(date, now=ws.clock(), name="date")
    filters = build_filters(now=ws.clock(), since=day, until=day, include_superseded=True)
    items: list[Item] = []
    cursor: str | None = None
    while True:
        page = find(ws, filters=filters, order="oldest", limit=100, cursor=cursor)
        items += entry_items(page, whole=True)
        cursor = page.cursor
        if cursor is None:
            break
    if not items:
        return f"No entries on {day}."
    return f"{len(items)} entries of {day}. {DATA_FOLLOWS}\n\n" + render_items(items, [Level.WHOLE] * len(items))


def entry_text(ws: Workspace, id: str) -> str:
    """One entry, whole, as fenced Markdown."""
    return _get(ws, Call({"ids": [id]})).text


# -- answers --------------------------------------------------------------------------------------------


def _receipt(receipt: Receipt, done: str) -> Answer:
    notices = tuple(notice for notice in receipt.notices if notice != "already saved")
    id = receipt.id.partition("-")[2] or receipt.id
    line = f"{done} {id} ({receipt.date} {receipt.time}, {one_line(receipt.path)})."
    tags = ", ".join(map(one_line, receipt.suggested_tags))
    more = _first_notice(notices) or ([f"Tags of the journal that fit: {tags}."] if tags else [])
    return Answer("\n".join([line, *more]), receipt_json(receipt))


def _found(result: SearchResult, items: list[Item], max_tokens: int, *, empty: bool) -> Answer:
    levels = fit(items, max_tokens)
    data = search_json(result)
    _shorten(data["hits"], items, levels)
    how = {"hybrid": "words and meaning", "lexical": "words", "semantic": "meaning"}[result.mode]
    head = f"{len(items)} of {result.total} by {how}. {DATA_FOLLOWS}" if items else _nothing(empty)
    more = _left_out(levels, "raise max_tokens")
    if result.total > len(items):
        more.append("A higher limit shows more.")
    parts = [head, *_first_notice(result.notices), render_items(items, levels), " ".join(more)]
    return Answer("\n\n".join(part for part in parts if part), data)


def _listed(listing: Listing, *, empty: bool) -> Answer:
    items = entry_items(listing)
    levels = fit(items, MAX_TOKENS)
    data = listing_json(listing)
    _shorten(data["entries"], items, levels)
    head = f"{len(items)} of {listing.total}. {DATA_FOLLOWS}" if items else _nothing(empty)
    more = _left_out(levels, "lower limit")
    if listing.cursor:
        more.append(f'More: the same call with cursor="{listing.cursor}".')
    elif listing.total > len(items):
        more.append("A higher limit shows more.")
    parts = [head, *_first_notice(listing.notices), _counts(data), render_items(items, levels), " ".join(more)]
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


def _shorten(entries: list[Json], items: list[Item], levels: list[Level]) -> None:
    """Give the JSON no more of an entry than its text shows, and say so; the budget is for both."""
    for entry, item, level in zip(entries, items, levels, strict=True):
        shown = item.text if level is Level.WHOLE else item.snippet
        if shown != entry["content"]:
            entry |= {"content": shown, "truncated": True}


def _left_out(levels: list[Level], cure: str) -> list[str]:
    """What the budget cut, and how to get it."""
    shortened = sum(level in (Level.TITLE, Level.SNIPPET) for level in levels)
    dropped = levels.count(Level.NOTHING)
    said = []
    if dropped:
        said.append(f"{dropped} more did not fit: {cure}.")
    if shortened:
        said.append("Shortened ones: context_get with their ids gives them whole.")
    return said


def _nothing(empty: bool) -> str:
    if empty:
        return "The journal is empty: context_save adds its first entry."
    return "Nothing found. Try other words, or fewer filters."


def _first_notice(notices: tuple[str, ...]) -> list[str]:
    return [f"Note: {brief(notices[0])}"] if notices else []

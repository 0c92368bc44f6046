"""Answers tools and resources: calls a verb and makes its result a text for a model."""

import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from ...errors import InvalidArgument, SynapticError, check_range, one_of
from ...language.query import build_preference
from ...models import ABSENT, NOTHING_CLOSE, ONLY_REPLACED, Json, Near, Texts
from ...notes.header import taken
from ...search.search import search
from ...verbs.brief import WEEK, Reader
from ...verbs.brief import brief as new_brief
from ...verbs.browse import Listing, days, find, get, recent
from ...verbs.importing import with_source
from ...verbs.review import review
from ...verbs.writing import Marks, Receipt, delete, restore, save_all, update
from ...workspace.checkout import ELSEWHERE, meant_project, working_checkout
from ...workspace.past import NOTHING_THEN, as_of
from ...workspace.workspace import Workspace
from ..render.briefing import text_of as briefing_text
from ..render.fence import DATA_FOLLOWS, fenced, one_line
from ..render.present import (
    Item,
    brief,
    cleaned,
    done_text,
    end_of,
    entry_items,
    fitting,
    hit_items,
    listed,
    matter_text,
    outline,
    render,
    short,
)
from ..render.wire import WHOLE_CONTENT, as_json, listing_json, search_json
from ..serving.arguments import take_filters
from ..serving.roles import not_published
from .tools import (
    CHARS_PER_TOKEN,
    ENTRY,
    FORMATS,
    LEAST_TOKENS,
    MOST_TOKENS,
    READING,
    VERB_NAMES,
    check_arguments,
)

MAX_TOKENS = 4_000
FEW, FEW_CHARS, LIST_CHARS, EACH_CHARS = 3, 1_400, 850, 100
"""The room of an answer of a few entries and of a list, and of each entry of a long one: 400,
240 and 28 tokens (o200k: 3.5 characters each, with ids and code).
"""
REVIEWED = 20
"""Findings in the prompt to review."""

BY_DATES = (
    "As of {:%Y-%m-%d %H:%M}, by the dates of entries and what replaced what by then alone: "
    "texts are of today, and what was deleted since is missing."
)
_TELLING = (ABSENT, ONLY_REPLACED, "As of ")
"""The beginnings of notices that an agent must not miss."""
_FOR_AGENTS = (
    (r"`synaptic restore ([^`\s]+)`", r"`context_update` with id \1 and restore: true"),
    (r"`synaptic delete ([^`\s]+)` removes", r"`context_delete` with id \1 removes"),
    (r"`synaptic (recent|search|find|get)[^`]*`", r"`context_\1`"),
    (r"`--(\w+)`", r"`\1: true`"),
    (r"`(synaptic [^`]+)`", r"`\1` (the user's to run)"),
)
"""What our messages tell people to type, and what an agent does instead."""


class Call(NamedTuple):
    """A checked call of a tool. `client` is the calling program's name; `loading`: the model is
    not there yet; `may_write`: the client may change the journal. `session` names the session
    of the client, if it has one. `notices` are said with the answer.
    """

    args: Json
    client: str | None = None
    loading: bool = False
    session: str = ""
    layout: str = "concise"
    max_tokens: int | None = None
    may_write: bool = True
    notices: Texts = ()

    def room(self, entries: int) -> int:
        """The number of characters that an answer of so many `entries` may take."""
        if self.layout == "concise" and not self.max_tokens:
            return FEW_CHARS if entries <= FEW else max(LIST_CHARS, EACH_CHARS * entries)
        usual = MOST_TOKENS if self.layout == "json" else MAX_TOKENS
        return (self.max_tokens or usual) * CHARS_PER_TOKEN


Answer = tuple[str, Json]
"""A tool's text for the model, and JSON for programs where it reads."""


def answer(ws: Workspace, name: str, call: Call) -> str:
    """The answer of this tool in the format that was asked for."""
    args = dict(call.args)
    layout = one_of(FORMATS, args.pop("format", "concise"), "format")
    max_tokens = args.pop("max_tokens", None)
    check_range("max_tokens", max_tokens, LEAST_TOKENS, MOST_TOKENS)
    checked = call._replace(args=args, layout=layout, max_tokens=max_tokens)
    notices = list(call.notices)
    with as_of(ws, args.pop("as_of", None), may_write=call.may_write) as then:
        text, data = ANSWERS[name](then, checked)
        if then.until is not None:
            notices.append(BY_DATES.format(then.clock()))
    meant = taken(call.args.get("type", ())) if name in READING else []
    if meant:
        text = "\n".join([*_first_notice(meant), text])
        data["notices"] += meant
    if notices:
        text = "\n".join([*(f"Note: {notice}" for notice in notices), text])
        data["notices"] = [*notices, *data.get("notices", ())]
    if ws.config.metrics:
        _count(ws, name, call, data)
    return json_text(data) if layout == "json" else text


def for_agents(text: str) -> str:
    """A message of ours that names tools instead of commands."""
    for command, tool in _FOR_AGENTS:
        text = re.sub(command, tool, text)
    return text


def json_text(data: Json) -> str:
    """The JSON as a text that may be displayed."""
    if "notices" in data:
        data = data | {"notices": list(map(for_agents, data["notices"]))}
    return json.dumps(cleaned(data), ensure_ascii=False)


def _count(ws: Workspace, name: str, call: Call, data: Json) -> None:
    """Keeps the number of what an answer shows, for `status --use`."""
    shown = len(data.get("hits") or data.get("entries") or ())
    if name == "context_get":
        counts = {"opened": shown}
    elif name == "context_save":
        counts = {"saved": len(call.args.get("entries", [name]))}
    else:
        counts = {"shown": shown}
    if name == "context_search":
        nothing = not shown or NOTHING_CLOSE in data["notices"]
        counts |= {"searches": 1, "nothing_found": int(nothing)}
    ws.index.counters.count_use(call.client or "unnamed", ws.today, **counts)


def _save(ws: Workspace, call: Call) -> Answer:
    """A receipt, or one a line for each of the `entries`: marks beside them are for all."""
    common = call.args
    given = common.pop("entries", None)
    if (given is None) != ("content" in common) or given == []:
        raise InvalidArgument(
            "context_save needs content or entries.", "Call it again with one of them."
        )
    texts = []
    for number, entry in enumerate([{}] if given is None else given, 1):
        try:
            marks = common | (check_arguments(ENTRY, entry) if given else {})
        except InvalidArgument as error:
            error.message = f"Entry {number}: {error.message} Nothing was saved."
            raise
        marks = _for_verbs(marks) | {"via": "mcp", "by_person": False}
        content = marks.pop("content")
        texts.append((content, cast("Marks", marks | {"by": call.client or "agent"})))
    return _receipts(save_all(ws, texts), "Saved")


def _for_verbs(args: Mapping[str, Any]) -> Json:
    return {VERB_NAMES.get(name, name): value for name, value in args.items()}


def _search(ws: Workspace, call: Call) -> Answer:
    args = call.args
    filters = take_filters(ws, args)
    prefer = build_preference(args.pop("prefer", {}))
    found = search(ws, filters=filters, prefer=prefer, load_model=not call.loading, **args)
    data = search_json(found)
    count = len(found.hits)
    if call.layout == "json" and call.max_tokens:
        left = call.room(count) - len(json_text(data | {"hits": []}))
        sizes = [len(json_text(hit)) + 2 for hit in data["hits"]]
        fits = fitting(sizes, left)
        return "", data | {"hits": data["hits"][:fits], "omitted": count - fits}
    length = min(WHOLE_CONTENT, call.room(count) // max(1, count))
    items = hit_items(found, length=length, detailed=call.layout == "detailed")
    return _found(ws, data, items, call, cure="raise max_tokens")


def _recent(ws: Workspace, call: Call) -> Answer:
    return _listed(ws, recent(ws, **call.args, load_model=not call.loading), call)


def _find(ws: Workspace, call: Call) -> Answer:
    filters = take_filters(ws, call.args)
    found = find(ws, filters=filters, load_model=not call.loading, **call.args)
    return _listed(ws, found, call)


def _get(ws: Workspace, call: Call) -> Answer:
    """The entries whole, as far as they fit: long ones share what short ones leave."""
    offset = call.args.get("offset", 0)
    listing = get(ws, call.args["id"])
    if call.args.get("source"):
        if ws.published:
            raise not_published("The transcript of a session")
        listing = with_source(ws, listing)
    entries = listing.entries
    if offset and len(entries) > 1:
        raise InvalidArgument("offset goes with one id.", "Call it for each id.")
    check_range("offset", offset, 0, max(0, len(entries[0].content) - 1))
    share = room = (call.max_tokens or MAX_TOKENS) * CHARS_PER_TOKEN
    for number, size in enumerate(sorted(len(entry.content) for entry in entries)):
        share = room // (len(entries) - number)
        room -= min(size, share)
    data = listing_json(listing)
    blocks = []
    more = []
    for item, each in zip(entry_items(listing), data["entries"], strict=True):
        content = item.entry.content
        end = offset + end_of(content[offset:], share)
        each["content"] = part = content[offset:end]
        blocks.append(render(item._replace(text=part, partial=part != content)))
        left = len(content) - end
        if left:
            each |= {"truncated": True, "left": left, "next_offset": end}
            said = f"{left:,} of {len(content):,} characters of {item.entry.short_id} are left"
            more.append(f"{said}: context_get with this id and offset={end} goes on.")
    parts = [DATA_FOLLOWS, *_first_notice(listing.notices), *blocks, *more]
    return "\n\n".join(parts), data


def _update(ws: Workspace, call: Call) -> Answer:
    args = _for_verbs(call.args)
    ids = args.pop("id")
    if not args.pop("restore", False):
        return _each(ids, lambda id: update(ws, id, **args, by_person=False), "Updated")
    if args:
        raise InvalidArgument(
            "restore undoes the last change, and changes nothing else.", valid=("id", "restore")
        )
    return _each(ids, lambda id: restore(ws, id, by_person=False), "Restored")


def _delete(ws: Workspace, call: Call) -> Answer:
    return _each(call.args["id"], lambda id: delete(ws, id, by_person=False), "Deleted")


def _each(ids: Sequence[str], change: Callable[[str], Receipt], done: str) -> Answer:
    """A receipt or, of several ids, a line for each: a receipt, or why it stayed as it was."""
    results: list[Receipt | SynapticError] = []
    for id in ids:
        try:
            results.append(change(id))
        except SynapticError as error:
            if len(ids) == 1:
                raise
            results.append(error)
    return _receipts(results, done)


def _analyze(ws: Workspace, call: Call) -> Answer:
    from ...search.analysis import analysis_of, read_note  # slow to import

    mode = one_of(("query", "note"), call.args.get("mode", "query"), "mode")
    read = read_note if mode == "note" else analysis_of
    data = as_json(read(ws, call.args["text"]))
    if call.layout == "concise":
        return fenced(mode, outline(data)), data
    return fenced("json", json.dumps(cleaned(data), ensure_ascii=False, indent=1)), data


def _brief(ws: Workspace, call: Call) -> Answer:
    client = re.sub(r"(-cli)?-mcp-client.*", "", call.client or "agent")  # as its hooks say
    here = working_checkout(ws.config)
    since = call.args.get("since")
    briefing = new_brief(
        ws,
        None if ELSEWHERE.get() else Path.cwd(),
        since or WEEK,
        project=meant_project(call.args.get("project"), here),
        reader=None if ws.until else Reader(client, call.session),
    )
    most = MAX_TOKENS if since else ws.config.hooks.max_tokens
    return briefing_text(ws, briefing, max_tokens=most, always=True), {}


ANSWERS: Mapping[str, Callable[[Workspace, Call], Answer]] = {
    "context_brief": _brief,
    "context_save": _save,
    "context_search": _search,
    "context_recent": _recent,
    "context_find": _find,
    "context_get": _get,
    "context_update": _update,
    "context_delete": _delete,
    "context_analyze": _analyze,
}


def day_text(ws: Workspace, date: str) -> str:
    """All entries of a local date, oldest first, as fenced Markdown."""
    found = days(ws, date)
    items = entry_items(found.found)
    if not items:
        return f"No entries on {found.since}."
    head = f"{len(items)} entries of {found.since}. {DATA_FOLLOWS}"
    return "\n\n".join([head, *map(render, items)])


def entry_text(ws: Workspace, id: str) -> str:
    """One entry, whole, as fenced Markdown."""
    return _get(ws, Call({"id": [id]}, max_tokens=sys.maxsize))[0]


def review_text(ws: Workspace, project: str) -> str:
    """The findings of a review, fenced: titles are other people's text."""
    found = review(ws, project=[project] if project else ())
    shown = found[:REVIEWED]
    info = f"findings, {_number(len(shown), len(found))}"
    return fenced(info, "\n".join(map(matter_text, shown)))


# -- answers
# --------------------------------------------------------------------------------------------


def _receipts(results: Sequence[Receipt | SynapticError], done: str) -> Answer:
    """A line for each change, or why it was not made; of a single one also what fits it."""
    lines = []
    for result in results:
        if isinstance(result, SynapticError):
            lines.append(for_agents(brief(str(result))))
            continue
        said, notices = done_text(done, result.notices)
        where = f"{result.date} {result.time}, {one_line(result.path)}"
        parts = [f"{said} {short(result.id)} ({where})."]
        parts += _first_notice([" ".join(notices)] if notices else [])
        tags = ", ".join(map(one_line, result.suggested_tags))
        if tags and not notices:
            parts.append(f"Tags of the journal that fit: {tags}.")
        if result.near:
            parts += _near(result.id, result.near)
        lines.append(("\n" if len(results) == 1 else " ").join(parts))
    return "\n".join(lines), {}


def _near(id: str, entries: Sequence[Near]) -> list[str]:
    """Entries that this one may replace or settle, fenced, with the calls that record it."""
    lines = []
    calls = []
    replaced = []
    for near in entries:
        lines.append(f"{short(near.id)} {near.date} {near.type}: {one_line(near.title)}")
        if near.settled:
            call = f'context_update id="{short(near.id)}" add_tag=["done"]'
            calls.append(f"Looks settled? {call}")
        else:
            replaced.append(short(near.id))
    if replaced:
        call = f'context_update id="{short(id)}" supersedes={json.dumps(replaced)}'
        calls.append(f"Looks replaced? {call}")
    return [fenced("entries near it", "\n".join(lines)), *calls]


def _listed(ws: Workspace, listing: Listing, call: Call) -> Answer:
    count = len(listing.entries)
    length = WHOLE_CONTENT
    if call.layout == "concise":
        length = max(80, call.room(count) // max(1, count) - 60)
    items = entry_items(listing, length=length)
    return _found(ws, listing_json(listing), items, call, cure="lower limit")


def _found(ws: Workspace, data: Json, items: list[Item], call: Call, *, cure: str) -> Answer:
    """As much of the items as fits, what to know of them, and how to get the rest."""
    notices = _first_notice(data["notices"])
    if not items:
        return _nothing(ws, notices), data
    total = data["total"]
    head = [*notices, f"{total} of {total}. {DATA_FOLLOWS}", *_counts(data)]
    room = call.room(len(items)) - len("\n".join(head))
    shown = []
    if call.layout != "concise":
        blocks = list(map(render, items))
        shown = blocks[: fitting(map(len, blocks), room)]
    body = "\n\n".join(shown)
    if not shown:
        shown = listed(items, room)
        body = fenced("entries", "\n".join(shown))
    more = []
    if len(shown) < len(items):
        more.append(f"{len(items) - len(shown)} more did not fit: {cure}.")
    if "cursor" in data:
        more.append(f'More: the same call with cursor="{data["cursor"]}".')
    head[len(notices)] = f"{_number(len(shown), total)} {DATA_FOLLOWS}"
    return "\n".join([*head, body, *more]), data


def _number(shown: int, total: int) -> str:
    """The number of entries shown: `12 of 40.`, or `12 found.` if these are all."""
    return f"{shown} of {total}." if shown < total else f"{shown} found."


def _nothing(ws: Workspace, notices: Sequence[str]) -> str:
    if not ws.index.counts().entries:
        if ws.journal.is_past:
            return NOTHING_THEN
        return "The journal is empty: context_save adds its first entry."
    for notice in notices:
        return f"Nothing found. {notice.removeprefix('Note: ')}"
    return "Nothing found. Try other words, or fewer filters."


def _counts(data: Json) -> list[str]:
    """The facets in a line each, fenced: names are other people's text."""
    lines = []
    for kind, counted in data.get("facets", {}).items():
        names = [f"{one_line(item['name'])} {item['count']}" for item in counted[:30]]
        if names:
            lines.append(f"{kind}: {', '.join(names)}")
    return [fenced("counts", "\n".join(lines))] if lines else []


def _first_notice(notices: Sequence[str]) -> list[str]:
    """The first notice, and those that say what an answer is about."""
    shown = [*notices[:1], *(notice for notice in notices[1:] if notice.startswith(_TELLING))]
    return [f"Note: {brief(for_agents(notice))}" for notice in shown]

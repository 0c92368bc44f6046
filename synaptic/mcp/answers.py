"""Answers tools and resources of MCP: calls a function of `verbs` and formats its result as
text for a model.
"""

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

from ..errors import Changed, InvalidArgument, SynapticError, check_range, match_valid_name
from ..journal.changelog import Actor, acting
from ..models import ABSENT, NOTHING_CLOSE, Entry, Json, Near, Receipt
from ..notes.conflicts import with_versions_shown
from ..notes.header import notices_of_synonyms, shorten
from ..plugin import REVIEW, TRANSCRIPTS
from ..render.briefing import briefing_text, budget_of_briefing
from ..render.fence import DATA_FOLLOWS, count_tokens, fenced, length_of_tokens, one_line
from ..render.present import (
    NAME_CHARS,
    NEAR_CHARS,
    Item,
    clean_json,
    count_that_fit,
    entry_block,
    entry_items,
    fitting_length,
    hit_items,
    join_first,
    list_lines,
    matter_text,
    outline_text,
    short_id,
    shorten_message,
    write_result_text,
)
from ..render.wire import WHOLE_CONTENT, as_json, listing_json, search_json
from ..search.search import search
from ..serving.arguments import build_preference, take_filters
from ..serving.failures import name_as_typed
from ..serving.roles import not_published_error
from ..verbs.brief import WEEK
from ..verbs.brief_readers import Reader, brief_reader
from ..verbs.browse import Listing, check_ids, find, get
from ..verbs.changing import update
from ..verbs.day_lists import entries_of_days
from ..verbs.newest import recent
from ..verbs.removing import delete, restore
from ..verbs.saving import EMPTY_PROJECT, NO_PROJECT, Marks, save_all
from ..verbs.text_remarks import remarks_on_fields
from ..workspace.checkout import ELSEWHERE, resolve_project_name, working_checkout
from ..workspace.past import NOTHING_THEN, as_of
from ..workspace.readback import read_entries
from ..workspace.sync import BEHIND, in_step
from ..workspace.workspace import Workspace
from .calls import MAX_TOKENS, Answer, Call, hash_as_read
from .task_answers import (
    OF_SUMS,
    OF_TASKS,
    answer_tasks,
    answer_totals,
    change_task,
    split_keys,
    tasks_of_keys,
)
from .texts import (
    ANSWER_CHARS,
    REMARK_CHARS,
    cut_text,
    fit_rows,
    json_text,
    reword_for_agents,
    shorten_json,
)
from .tools import (
    CHARS_PER_TOKEN,
    ENTRY_TOOL,
    FORMATS,
    LEAST_TOKENS,
    MOST_TOKENS,
    READING_TOOLS,
    VERB_NAMES,
    check_arguments,
)

REST_TOKENS, CURSOR_TOKENS = 8, 48
"""Tokens that are left for the line on what did not fit: beside its advice, and with a cursor.
"""
CUT_ADVICE = {
    "context_brief": "context_recent lists the newest entries",
    "context_get": "call it for fewer ids",
    "context_analyze": "give a shorter text",
}
"""By tool: the next step for the agent, printed below an answer that was cut."""
WHOLE_BY_ID = "context_get with its id gives the whole"
PROMPT_CHARS = 3_000
"""Characters of a prompt that are left for our own words and for what the client adds."""
IDS_NAMED = 10
"""The most ids that one line about several entries names."""
REVIEW_FINDINGS = 20
"""The most findings in the prompt `review`."""

Result = TypeVar("Result")
ONCE_NOTICES = frozenset((NO_PROJECT, EMPTY_PROJECT))
"""Notices that are sent to a client with one answer only."""
_REQUIRED_NOTICES = (NOTHING_CLOSE, ABSENT, BEHIND, "As of ")
"""Beginnings of the notices that an agent must see, however many there are."""


def answer_tool(ws: Workspace, name: str, call: Call) -> str:
    """Calls the tool `name` and returns its answer in the format that the call asks for."""
    args = dict(call.args)
    layout = match_valid_name(FORMATS, args.pop("format", "concise"), "format")
    max_tokens = args.pop("max_tokens", None)
    check_range("max_tokens", max_tokens, LEAST_TOKENS, MOST_TOKENS)
    checked = replace(call, args=args, layout=layout, max_tokens=max_tokens)
    meant = notices_of_synonyms(call.args.get("type", ())) if name in READING_TOOLS else []
    actor = Actor(call.client or "agent", "MCP")
    with acting(actor), as_of(ws, args.pop("as_of", None), may_write=call.may_write) as then:
        notices = list(filter(None, (*call.notices, then.access.remark)))
        above = [*(f"Note: {notice}" for notice in notices), *notice_lines(meant)]
        checked = replace(checked, notice_tokens=count_tokens("\n".join([*above, ""])))
        text, data = ANSWERS[name](then, checked)
    if above:
        text = "\n".join([*above, text])
        data["notices"] = [*notices, *data.get("notices", ()), *meant]
    if ws.config.metrics:
        _count_use(ws, name, call, data)
    if layout == "json":
        return json_text(shorten_json(data, checked.most_chars))
    return cut_text(text, checked.most_chars, CUT_ADVICE.get(name, "ask for less"))


def _count_use(ws: Workspace, name: str, call: Call, data: Json) -> None:
    """Counts the entries that an answer shows or saves, by client and week, for `status
    --use`.
    """
    number = len(data.get("hits") or data.get("entries") or ())
    if name == "context_get":
        counts = {"opened": number}
    elif name == "context_save":
        counts = {"saved": len(call.args.get("entries", [name]))}
    else:
        counts = {"shown": number}
    if name == "context_search":
        is_doubted = any(one.startswith(NOTHING_CLOSE) for one in data["notices"])
        nothing = not number or is_doubted
        counts |= {"searches": 1, "nothing_found": int(nothing)}
    ws.index.counters.count_use(call.client or "unnamed", ws.today, **counts)


def _answer_save(ws: Workspace, call: Call) -> Answer:
    """Saves one entry, or each of `entries`, and returns a line for each. Arguments beside
    `entries` apply to all of them.
    """
    common = call.args
    entries = common.pop("entries", None)
    if (entries is None) != ("content" in common) or entries == []:
        raise InvalidArgument(
            "context_save takes either content or entries.", "Call it again with one of them."
        )
    texts = []
    for number, entry in enumerate([{}] if entries is None else entries, 1):
        try:
            marks = common | (check_arguments(ENTRY_TOOL, entry) if entries else {})
        except InvalidArgument as error:
            error.message = f"Entry {number}: {error.message} Nothing was saved."
            raise
        marks = _verb_arguments(marks) | {"via": "mcp", "by_person": False}
        content = marks.pop("content")
        texts.append((content, cast("Marks", marks | {"by": call.client or "agent"})))
    receipts = []
    for receipt, (content, _) in zip(save_all(ws, texts), texts, strict=True):
        every = (*receipt.notices, *remarks_on_fields(content))
        notices = [notice for notice in every if notice not in call.client_state.sent_notices]
        call.client_state.sent_notices.update(ONCE_NOTICES.intersection(notices))
        receipts.append(replace(receipt, notices=tuple(notices)))
    _note_written(ws, call, [receipt.id for receipt in receipts])
    return _receipts_answer(call, receipts, "Saved")


def _verb_arguments(args: Mapping[str, Any]) -> Json:
    """Returns the arguments by the names that the functions of `verbs` use."""
    return {VERB_NAMES.get(name, name): value for name, value in args.items()}


def _answer_search(ws: Workspace, call: Call) -> Answer:
    args = call.args
    filters = take_filters(ws, args)
    prefer = build_preference(args.pop("prefer", {}))
    result = search(ws, filters=filters, prefer=prefer, load_model=not call.loading, **args)
    call.note_read(hit.entry for hit in result.hits)
    data = search_json(result)
    count = len(result.hits)
    if call.layout == "json":
        return "", fit_rows(data, "hits", call.json_chars, "raise max_tokens")
    length = min(WHOLE_CONTENT, call.room(count) * CHARS_PER_TOKEN // max(1, count))
    items = hit_items(result, length=length, detailed=call.layout == "detailed")
    return _answer_items(ws, data, items, call, advice="raise max_tokens")


def _answer_recent(ws: Workspace, call: Call) -> Answer:
    listing = recent(ws, **call.args, load_model=not call.loading)
    return _answer_listing(ws, listing, call, "context_find lists all of them, page by page")


def _answer_find(ws: Workspace, call: Call) -> Answer:
    filters = take_filters(ws, call.args)
    if any(map(call.args.get, OF_TASKS)):
        return answer_tasks(ws, call, filters)
    if any(map(call.args.get, OF_SUMS)):
        return answer_totals(ws, call, filters)
    page = partial(find, ws, filters=filters, load_model=not call.loading)
    listing = page(**call.args)
    if call.args.get("query"):
        return _answer_listing(ws, listing, call, "add a filter, as type, tag or since")
    if call.args.get("around"):
        return _answer_listing(ws, listing, call, "around the last of these goes on")

    def cursor_after(count: int) -> str | None:
        return page(**call.args | {"limit": count, "facets": False}).cursor

    return _answer_listing(ws, listing, call, "the cursor goes on", cursor_after)


def _answer_get(ws: Workspace, call: Call) -> Answer:
    """Returns the entries with their whole texts; texts that do not fit are cut, long ones
    first.
    """
    offset = call.args.get("offset", 0)
    listing = get(ws, call.args["id"])
    if call.args.get("source"):
        if ws.access.is_published:
            raise not_published_error("The transcript of a session")
        listing = replace(listing, entries=TRANSCRIPTS.ask_only(ws, listing.entries))
    call.note_read(listing.entries)
    entries = [*map(with_versions_shown, listing.entries)]
    if offset and len(entries) > 1:
        raise InvalidArgument(
            "offset can be given with one id only.", "Call context_get for each id."
        )
    check_range("offset", offset, 0, max(0, len(entries[0].content) - 1))
    frame = _cut_entries(listing, offset, 0)[0]
    room = (call.max_tokens or MAX_TOKENS) - call.notice_tokens
    room = max(room - count_tokens(frame), room // 2)
    share = _tokens_each([count_tokens(entry.content[offset:]) for entry in entries], room)
    while True:
        text, data = _cut_entries(listing, offset, share)
        size = len(json_text(data) if call.layout == "json" else text)
        if not share or size <= call.most_chars:
            return text, fit_rows(data, "entries", call.most_chars, CUT_ADVICE["context_get"])
        share //= 2  # JSON escapes quotes; a fence may be long


def _tokens_each(sizes: Sequence[int], room: int) -> int:
    """Returns the most tokens that each text may have, so that texts of these sizes fit into
    `room` tokens together; a short text leaves its rest to longer ones.
    """
    share = room
    for number, size in enumerate(sorted(sizes)):
        share = room // (len(sizes) - number)
        room -= min(size, share)
    return share


def _cut_entries(listing: Listing, offset: int, share: int) -> Answer:
    """Returns the entries with at most `share` tokens of each content from `offset` on, and the
    calls that return the rest.
    """
    data = listing_json(listing)
    blocks = []
    more = []
    for item, each in zip(entry_items(listing), data["entries"], strict=True):
        content = item.entry.content
        rest = content[offset:]
        end = offset + fitting_length(rest, length_of_tokens(rest, share))
        each["content"] = part = content[offset:end]
        line = item.entry.there.body_line + content.count("\n", 0, offset) if offset else 0
        item_of_part = item._replace(text=part, partial=part != content, line=line)
        blocks.append(entry_block(item_of_part))
        left = len(content) - end
        if left:
            each |= {"truncated": True, "left": left, "next_offset": end}
            remark = (
                f"{left:,} of {len(content):,} characters of {item.entry.short_id} are left"
            )
            more.append(f"{remark}: context_get with this id and offset={end} goes on.")
    parts = [DATA_FOLLOWS, *notice_lines(listing.notices), *blocks, *more]
    return "\n\n".join(parts), data


def _answer_update(ws: Workspace, call: Call) -> Answer:
    args = _verb_arguments(call.args)
    ids = args.pop("id")
    if not args.pop("restore", False):
        entries, keys = split_keys(ids)
        lines = _change_tasks(ws, call, keys, args) if keys else []
        if keys and not entries:
            return "\n".join(lines), {}
        change = partial(_update_as_read, ws, call, args)
        text, data = _change_each(call, entries, change, "Updated")
        return "\n".join([*lines, text]), data
    if args:
        raise InvalidArgument(
            "restore undoes the last change and cannot be given with another change.",
            valid=("id", "restore"),
        )
    return _change_each(call, ids, partial(restore, ws, by_person=False), "Restored")


def _change_tasks(ws: Workspace, call: Call, keys: Sequence[str], args: Json) -> list[str]:
    """Changes the tasks of these keys and returns a line for each: what became of it, or the
    error; then how the user takes it back. The error of a single one is raised.
    """
    tasks = tasks_of_keys(ws, keys)

    def change(key: str) -> tuple[str, str]:
        return change_task(ws, tasks[key], args)

    changed, errors = _try_each(call, list(tasks), change)
    lines = [*(line for line, _ in changed), *errors]
    undone = " ".join(run for _, run in changed if run)
    if undone:
        lines.append(f"The user takes it back by `synaptic undo {undone}`.")
    return lines


def _update_as_read(ws: Workspace, call: Call, args: Json, id: str) -> Receipt:
    """Updates an entry. Raises Changed if another text of it would be replaced than the client
    has read.
    """
    is_as_read = None
    with suppress(SynapticError):  # the update says what is wrong with the id
        [entry] = _present_entries(ws, [id])
        read_hash = call.client_state.read_texts.get(entry.id)
        if read_hash is not None:
            is_as_read = read_hash == hash_as_read(entry)
    if "content" in args and is_as_read is False:
        raise Changed(
            f"{short_id(id)} was changed since you read it; nothing was written.",
            "Read it with context_get, and repeat your change on that text; or use append.",
        )
    receipt = update(ws, id, **args, by_person=False, by=call.client)
    if "content" in args or is_as_read:  # else it may hold words that were not read
        _note_written(ws, call, [receipt.id])
    return receipt


def _note_written(ws: Workspace, call: Call, ids: Sequence[str]) -> None:
    """Notes the texts that the client has written; none while the index is held by another."""
    for id in ids:
        call.client_state.read_texts.pop(id, None)
    with suppress(SynapticError):
        call.note_read(_present_entries(ws, ids))


def _present_entries(ws: Workspace, ids: Sequence[str]) -> Collection[Entry]:
    rows = in_step(ws, lambda _: read_entries(ws, [ws.index.resolve(id).rowid for id in ids]))
    return rows.values()


def _answer_delete(ws: Workspace, call: Call) -> Answer:
    return _change_each(
        call, call.args["id"], lambda id: delete(ws, id, by_person=False), "Deleted"
    )


def _change_each(
    call: Call, ids: Sequence[str], change: Callable[[str], Receipt], done: str
) -> Answer:
    """Calls `change` with each id and returns a line for each: the receipt, or the error.
    Raises InvalidArgument without an id.
    """
    check_ids(ids)
    receipts, errors = _try_each(call, ids, change)
    return _receipts_answer(call, receipts, done, errors)


def _try_each(
    call: Call, ids: Sequence[str], change: Callable[[str], Result]
) -> tuple[list[Result], list[str]]:
    """Calls `change` with each id: (the results, a line for each error). Where the call names
    one id alone, the error is raised.
    """
    results = []
    errors = {}
    for id in ids:
        try:
            results.append(change(id))
        except SynapticError as error:
            if len(call.args["id"]) == 1:
                raise
            name_as_typed(error, {name: name for name in call.args})
            errors[id] = error
    return results, _error_lines(errors)


def _error_lines(errors: Mapping[str, SynapticError]) -> list[str]:
    """Returns a line for each error, by id; ids with the same error share a line."""
    groups: dict[str, list[str]] = {}
    for id, error in errors.items():
        groups.setdefault(str(error).replace(id, ""), []).append(id)
    lines = []
    for first, *others in groups.values():
        line = reword_for_agents(shorten_message(str(errors[first])))
        if others:
            line += f" The same is true of {shorten_message(join_first(others, IDS_NAMED))}."
        lines.append(line)
    return lines


def _answer_analyze(ws: Workspace, call: Call) -> Answer:
    from ..search.explain import analyze_note, analyze_question  # slow to import

    mode = match_valid_name(("query", "note"), call.args.get("mode", "query"), "mode")
    read = analyze_note if mode == "note" else analyze_question
    data = as_json(read(ws, call.args["text"]))
    if call.layout == "concise":
        return fenced(mode, outline_text(data)), data
    return fenced("json", json.dumps(clean_json(data), ensure_ascii=False, indent=1)), data


def _answer_brief(ws: Workspace, call: Call) -> Answer:
    client = re.sub(r"(-cli)?-mcp-client.*", "", call.client or "agent")  # as its hooks say
    here = working_checkout(ws)
    since = call.args.get("since")
    briefing = brief_reader(
        ws,
        Reader(client, call.session, server_began=call.server_began),
        None if ELSEWHERE.get() else Path.cwd(),
        since or WEEK,
        project=resolve_project_name(call.args.get("project"), here),
    )
    most = budget_of_briefing(ws, asks_since=bool(since))
    return briefing_text(ws, briefing, max_tokens=most, always=True), {}


ANSWERS: Mapping[str, Callable[[Workspace, Call], Answer]] = {
    "context_brief": _answer_brief,
    "context_save": _answer_save,
    "context_search": _answer_search,
    "context_recent": _answer_recent,
    "context_find": _answer_find,
    "context_get": _answer_get,
    "context_update": _answer_update,
    "context_delete": _answer_delete,
    "context_analyze": _answer_analyze,
}


def day_text(ws: Workspace, date: str) -> str:
    """Returns the entries of a date, oldest first, as fenced Markdown. If they do not fit,
    returns the beginnings of the first ones and the call for the rest.
    """
    day = entries_of_days(ws, date)
    items = entry_items(day.listing)
    days = day.since if day.since == day.until else f"{day.since} to {day.until}"
    if not items:
        return f"No entries on {days}."
    head = f"{len(items)} entries of {days}. {DATA_FOLLOWS}"
    text = "\n\n".join([head, *map(entry_block, items)])
    room = ANSWER_CHARS - len(head) - 2 * REMARK_CHARS
    if len(text) <= room:
        return text
    items = entry_items(day.listing, length=WHOLE_CONTENT)
    blocks = [cut_text(entry_block(item), room // 2, WHOLE_BY_ID) for item in items]
    fitting = blocks[: count_that_fit([len(block) + 2 for block in blocks], room)]
    more = [f"Of a part, {WHOLE_BY_ID}."]
    if len(fitting) < len(blocks):
        cursor = entries_of_days(ws, date, limit=len(fitting)).listing.cursor
        more.append(
            f"{len(blocks) - len(fitting)} more did not fit: context_find with "
            f'since="{day.since}", until="{day.until}", order="oldest", '
            f'include_superseded=true and cursor="{cursor}" goes on.'
        )
    return "\n\n".join([head, *fitting, *more])


def entry_text(ws: Workspace, id: str) -> str:
    """Returns one entry as fenced Markdown, and the call for the rest where it does not fit."""
    call = Call({"id": [id]}, max_tokens=ANSWER_CHARS // CHARS_PER_TOKEN)
    return cut_text(_answer_get(ws, call)[0], ANSWER_CHARS, CUT_ADVICE["context_get"])


def review_text(ws: Workspace, project: str) -> str:
    """Returns the findings of a review, fenced, because titles are other people's text."""
    findings = REVIEW.ask_only(ws, [project] if project else (), False)
    first = findings[:REVIEW_FINDINGS]
    info = f"findings, {_shown_count_text(len(first), len(findings))}"
    text = fenced(info, "\n".join(map(matter_text, first)))
    return cut_text(text, ANSWER_CHARS - PROMPT_CHARS, "`synaptic review` lists all")


# -- answers
# --------------------------------------------------------------------------------------------


def _receipts_answer(
    call: Call, receipts: Sequence[Receipt], done: str, errors: Sequence[str] = ()
) -> Answer:
    """Returns a line for each receipt, then the `errors` and the entries that are near. A
    single receipt also has its notices and fitting tags.
    """
    lines = []
    for result in receipts:
        opening, notices = write_result_text(done, result.notices)
        where = f"{result.date} {result.time}".strip()
        if result.path != f"{result.date}.md":
            where += f", {one_line(result.path)}"
        parts = [f"{opening} {short_id(result.id)} ({where})."]
        parts += notice_lines([" ".join(notices)] if notices else [])
        tags = ", ".join(map(one_line, result.suggested_tags))
        if tags and not notices:
            parts.append(f"Tags of the journal that fit: {tags}.")
        lines.append(("\n" if len(receipts) == 1 and not errors else " ").join(parts))
    lines += errors
    lines += [*_leaning_lines(receipts), *_near_lines(call, receipts)]
    fits = count_that_fit([len(line) + 1 for line in lines], ANSWER_CHARS - REMARK_CHARS)
    left = len(lines) - fits
    if left and fits:
        lines[fits:] = [
            f"{left} more lines did not fit: context_recent lists the newest entries."
        ]
    return "\n".join(lines), {"success": not errors, "receipts": as_json(receipts)}


def _near_lines(call: Call, receipts: Sequence[Receipt]) -> list[str]:
    """Returns the earlier entries that are near the saved ones, fenced, and the call that
    records which of them is replaced; for several saved entries each line names the saved one.
    """
    lines = []
    is_open = False
    for receipt in receipts:
        of = f"{short_id(receipt.id)} is near " if receipts[1:] else ""
        for near in receipt.near:
            kind = "open issue: " if near.is_open else ""
            lines.append(f"{of}{_short_line(near, kind)}")
            is_open = is_open or near.is_open
    if not lines:
        return []
    new = "NEW" if receipts[1:] else short_id(receipts[0].id)
    replace = call.form("context_update", id=new, supersedes=["ID"])
    questions = [f"Does it replace one? {replace}"]
    if is_open:
        settle = call.form("context_update", id="ID", add_tag=["done"])
        questions.append(f"Issue settled? {settle}")
    return [fenced("near", "\n".join(lines)), *questions]


def _leaning_lines(receipts: Sequence[Receipt]) -> list[str]:
    """Returns the entries that may lean on entries that were replaced, fenced, with a
    question.
    """
    leaning = {near.id: near for receipt in receipts for near in receipt.leaning}
    if not leaning:
        return []
    lines = [_short_line(near) for near in leaning.values()]
    return [
        fenced("may lean on it", "\n".join(lines)),
        "Do these still hold without the replaced one?",
    ]


def _short_line(near: Near, kind: str = "") -> str:
    title = shorten(one_line(near.title), NEAR_CHARS)
    return f"{short_id(near.id)} {near.date} {kind}{title}"


def _answer_listing(
    ws: Workspace,
    listing: Listing,
    call: Call,
    advice: str,
    cursor_after: Callable[[int], str | None] | None = None,
) -> Answer:
    """Returns the answer with the entries of a listing. `advice` is the next step where not all
    of them fit; `cursor_after(n)` returns the cursor that continues after the first n entries.
    """
    count = len(listing.entries)
    data = listing_json(listing)
    if call.layout == "json":
        data = fit_rows(data, "entries", call.json_chars, advice)
        number = len(data["entries"])
        if number < count:
            cursor = cursor_after(number) if cursor_after and number else None
            data = data | {"cursor": cursor}
        return "", data
    length = WHOLE_CONTENT
    if call.layout == "concise":
        length = max(80, call.room(count) * CHARS_PER_TOKEN // max(1, count) - 60)
    items = entry_items(listing, length=length)
    return _answer_items(ws, data, items, call, advice=advice, cursor_after=cursor_after)


def _answer_items(
    ws: Workspace,
    data: Json,
    items: list[Item],
    call: Call,
    *,
    advice: str,
    cursor_after: Callable[[int], str | None] | None = None,
) -> Answer:
    """Returns the items that fit, above them notices and the number found, below them how to
    get the rest.
    """
    notices = notice_lines(data["notices"])
    if not items:
        return _nothing_found_text(ws, notices), data
    total = data["total"]
    head = [*notices, f"{total} of {total}. {DATA_FOLLOWS}", *_facet_lines(data)]
    frame = count_tokens("\n".join([*head, fenced("entries", ""), advice]))
    room = call.room(len(items)) - frame - (CURSOR_TOKENS if cursor_after else REST_TOKENS)
    fitting = []
    if call.layout != "concise":
        blocks = list(map(entry_block, items))
        chars = call.most_chars - REMARK_CHARS - len("\n".join(head))
        fits = count_that_fit([len(block) + 2 for block in blocks], chars)
        sizes = [count_tokens(f"{block}\n\n") for block in blocks]
        fitting = blocks[: min(fits, count_that_fit(sizes, room))]
    body = "\n\n".join(fitting)
    if not fitting:
        fitting = list_lines(items, room)
        body = fenced("entries", "\n".join(fitting))
    more = []
    cursor = data.get("cursor")
    reason = "More"
    left = len(items) - len(fitting)
    if left:
        reason = f"{left} more did not fit"
        cursor = cursor_after(len(fitting)) if cursor_after and fitting else None
    if cursor:
        more.append(f'{reason}: the same call with cursor="{cursor}".')
    elif left:
        more.append(f"{reason}: {advice}.")
    head[len(notices)] = f"{_shown_count_text(len(fitting), total)} {DATA_FOLLOWS}"
    return "\n".join([*head, body, *more]), data


def _shown_count_text(number: int, total: int) -> str:
    """Returns `12 of 40.`, or `12 found.` where all entries are shown."""
    return f"{number} of {total}." if number < total else f"{number} found."


def _nothing_found_text(ws: Workspace, notices: Sequence[str]) -> str:
    if not ws.index.counts().entries:
        if ws.access.is_past:
            return NOTHING_THEN
        return "The journal is empty: context_save adds its first entry."
    for notice in notices:
        return f"Nothing found. {notice.removeprefix('Note: ')}"
    return "Nothing found. Try other words, or fewer filters."


def _facet_lines(data: Json) -> list[str]:
    """Returns a fenced block with a line of counts for types, tags and projects; empty without
    counts. It is fenced because names are other people's text.
    """
    lines = []
    for kind, counted in data.get("facets", {}).items():
        names = [
            f"{shorten(one_line(item['name']), NAME_CHARS)} {item['count']}"
            for item in counted[:30]
        ]
        if names:
            lines.append(f"{kind}: {', '.join(names)}")
    return [fenced("counts", "\n".join(lines))] if lines else []


def notice_lines(notices: Sequence[str]) -> list[str]:
    """Returns lines with all notices that an agent must see and the first of the others."""
    others = [notice for notice in notices if not notice.startswith(_REQUIRED_NOTICES)]
    chosen = [notice for notice in notices if notice not in others[1:]]
    return [f"Note: {shorten_message(reword_for_agents(notice))}" for notice in chosen]

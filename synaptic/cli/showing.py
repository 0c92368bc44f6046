"""The commands that find and show entries; `recent` and its like are asked often, and import no
verb that writes. Their flags are named as the parameters of the functions in `verbs` that they
call.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import InvalidArgument
from ..models import Texts
from ..plugin import TRANSCRIPTS
from ..render import terminal, wire
from ..search.search import drop_any_project
from ..search.search import search as search_journal
from ..serving.arguments import build_preference, take_filters
from ..verbs import browse, linked, newest
from ..verbs.attaching import with_attachments
from ..verbs.day_lists import entries_of_days
from ..workspace.workspace import Workspace
from . import flags as f
from .flags import ID_COMPLETION, argument, option, switch, text_option, texts_option
from .program import command
from .replies import (
    NOTHING_FOUND,
    output_for_workspace,
    print_answer,
    print_entries,
    print_listing,
    print_search,
    print_totals,
    resolve_id,
    save_last_list,
)

EMBED_MS = 300
"""Milliseconds for which a search may embed new passages before it answers."""

Words = Sequence[str]


@command(
    "search",
    f.WORDS,
    *f.LIST_FLAGS,
    option(
        int | None, "limit", "1 to 100 entries. [default: up to 8, while they fit the question]"
    ),
    *f.filter_flags("search"),
    f.AS_OF,
    switch("explain", "Say why each hit has its rank.", rich_help_panel=f.EXPERTS),
    f.STRATEGY,
    option(
        float | None,
        "budget_ms",
        "Milliseconds that an automatic search may take.",
        rich_help_panel=f.EXPERTS,
    ),
    f.PRESET,
    f.WEIGHTS,
    texts_option(
        "prefer",
        "Rank entries of this type, tag or project higher: tag=db; repeatable.",
        metavar="NAME=VALUE",
        rich_help_panel=f.EXPERTS,
    ),
    option(
        float | None,
        "min_similarity",
        "Leave out entries below this similarity (a cosine, 0 to 1).",
        rich_help_panel=f.EXPERTS,
    ),
    texts_option(
        "sub_queries",
        "One more question for a smart search; repeatable.",
        "--sub-query",
        metavar="TEXT",
        rich_help_panel=f.EXPERTS,
    ),
    option(
        int,
        "max_rounds",
        "Rounds of a smart search, 0 to 3.",
        default=2,
        rich_help_panel=f.EXPERTS,
    ),
)
def search(
    ws: Workspace, text: Words = (), weight: Words = (), prefer: Words = (), **options: Any
) -> None:
    """Find entries by words and by meaning, best first.

    Filters may stand in the query: type: tag: file: project: path: has: since: until:, and "a
    phrase" must occur. A dash leaves out: -word, -"a phrase", -tag:x; plug* finds what begins
    so. A time alone lists it: "last week".

    Example: synaptic search "why did we leave postgres" --type decision
    """
    from ..search.happened import count_events_and_clean_notices  # slow to import

    weights = _parse_pairs("weight", weight)
    filters = take_filters(ws, options)
    query = " ".join(text)
    result = search_journal(
        ws,
        query,
        filters=filters,
        weights={name: _parse_weight(name, value) for name, value in weights.items()},
        prefer=build_preference(_parse_pairs("prefer", prefer)),
        embed_ms=EMBED_MS,
        **options,
    )
    counted, result = count_events_and_clean_notices(ws, query, filters, result)
    if counted:
        result = replace(result, notices=(counted.line, *result.notices))
    print_search(ws, result)


@command(
    "recent",
    f.WORDS,
    f.PROJECT,
    option(
        int | None, "limit", "1 to 100 entries. [default: 10; with TEXT, those that fit it]"
    ),
)
def recent(ws: Workspace, text: Words = (), **options: Any) -> None:
    """Show the newest entries.

    `recent 5` shows five; with TEXT, those of the last 50 that fit it best.

    Example: synaptic recent 5 --project billing
    """
    if len(text) == 1 and text[0].isdecimal() and "limit" not in options:
        options["limit"] = int(text[0])
        text = ()
    print_listing(ws, newest.recent(ws, " ".join(text), **options))


@command(
    "find",
    f.WORDS,
    *f.LIST_FLAGS,
    *f.filter_flags("find"),
    text_option(
        "around",
        "List what was saved before and after this entry.",
        metavar="ID",
        **ID_COMPLETION,
    ),
    switch("facets", "Also count types, tags and projects."),
    f.LIMIT,
    text_option(
        "cursor",
        "Continue a list that was longer than --limit: its last line names the cursor.",
    ),
    f.SUM,
    f.BY,
    f.AS_OF,
)
def find(
    ws: Workspace,
    text: Words = (),
    sum_of: str | None = None,
    by: str | None = None,
    **options: Any,
) -> None:
    """List entries by marks and dates.

    Without TEXT a timeline, newest first; with TEXT, best matches first, or with --order newest
    all that hold its words. With --sum, the sum of a field over all entries that pass and hold
    the words, by month or as --by says; with --by alone, their number.

    Example: synaptic find --type decision --since "last month"
    """
    filters = take_filters(ws, options)
    if sum_of or by:
        holding = browse.filter_by_words(ws, " ".join(text), filters) if text else filters
        if holding is None:
            raise InvalidArgument(
                "With --sum and --by, TEXT is words that an entry must hold, and no time.",
                "Give the time by --since and --until.",
            )
        return print_totals(ws, holding, sum_of, by)
    return print_listing(ws, browse.find(ws, " ".join(text), filters=filters, **options))


@command(
    "get",
    argument(
        list[str],
        "ids",
        "ID",
        "An id or its first four characters, 3 for the third entry of the last list, a title "
        "or a path.",
        **ID_COMPLETION,
    ),
    switch("source", "Also show the lines of the transcript from which the digest was made."),
    f.AS_OF,
)
def get(ws: Workspace, ids: Words, source: bool) -> None:
    """Show entries in full, with their links and files.

    Example: synaptic get 7k3m9q2x, synaptic get 1
    """
    listing = browse.get(ws, [resolve_id(ws, id) for id in ids])
    if source:
        listing = replace(listing, entries=TRANSCRIPTS.ask_only(ws, listing.entries))
    print_entries(ws, with_attachments(ws, listing))


@command("blame", argument(str, "file", "FILE", "The file; it need not exist."))
def blame(ws: Workspace, file: str) -> None:
    """List what the journal says of a file: entries that name it or its folder.

    Example: synaptic blame src/shop/cart.py
    """
    print_listing(ws, newest.recall_for_file(ws, Path(file)))


@command("history", f.ID_OR_NUMBER, f.AS_OF)
def history(ws: Workspace, id: str) -> None:
    """Show an entry with what it replaced and continues, and the reverse, oldest first.

    Example: synaptic history 7k3m9q2x
    """
    print_listing(ws, newest.history(ws, resolve_id(ws, id)))


@command(
    "links",
    argument(list[str] | None, "name", "NAME", "An id, title, page, alias or path."),
    switch(
        "broken",
        "List the links that lead nowhere, also to headings, and the notes not written yet.",
    ),
)
def links(ws: Workspace, broken: bool, name: Words = ()) -> None:
    """Show the links from and to an entry or page.

    Example: synaptic links "Roger Zelazny"
    """
    if broken == bool(name):
        raise InvalidArgument(
            "links takes either a name or --broken.", valid=("NAME", "--broken")
        )
    to = output_for_workspace(ws)
    if broken:
        from ..verbs.loose_ends import find_loose_ends  # only this command needs it

        ends = find_loose_ends(ws)
        return print_answer(wire.as_json(ends), terminal.loose_ends_text(ends, to))
    ends_of_name = linked.links(ws, " ".join(name))
    return print_answer(wire.as_json(ends_of_name), terminal.links_text(ends_of_name, to))


@command(
    "tasks",
    text_option(
        "due",
        "Only what is due by this day, and what is overdue: today, friday, 'in a month'.",
        metavar="DAY",
    ),
    switch(
        "done",
        "List finished tasks, by the day of their tick if they say it, else of their note.",
        "--done/--open",
    ),
    *f.filter_flags("book"),
)
def tasks(ws: Workspace, done: bool, due: str | None = None, **options: Any) -> None:
    """List what is to be done: open tasks of all notes and entries that are due, overdue first.

    A task is a line such as "- [ ] Call Ida due:2026-12-01". Tasks without a day come last;
    what is due in more than 31 days is only counted, unless --due names its day.

    Example: synaptic tasks --due friday
    """
    from ..verbs import to_do  # only what lists tasks needs it

    to_tick = to_do.list_tasks(
        ws, done=done, due=due, filters=drop_any_project(take_filters(ws, options))
    )
    rows = to_tick.rows
    notices = _later_notices(to_tick.later, f"tasks --due {to_tick.last_day}")
    data = {
        "tasks": [wire.as_json(task) for task in rows if task.line],
        "entries": [wire.as_json(task) for task in rows if not task.line],
        "notices": list(notices),
    }
    save_last_list(ws, [task.id for task in rows])
    print_answer(data, terminal.tasks_text(to_tick.groups, output_for_workspace(ws)), notices)


@command(
    "due",
    text_option(
        "until",
        "What is due by this day: today, friday. [default: in the next 31 days]",
        metavar="DAY",
    ),
    hidden=True,
)
def due(ws: Workspace, until: str | None = None) -> None:
    """List what is due in the next 31 days, overdue first, as `tasks` does.

    Example: synaptic due --until friday
    """
    from ..verbs import to_do

    soon = to_do.list_due(ws, until)
    nothing = f"Nothing is due in the next {to_do.MONTH_DAYS} days."
    notices = _later_notices(soon.later, f"due --until {soon.last_day}")
    listing = browse.Listing(len(soon.rows) + soon.later, soon.rows, notices=notices)
    print_listing(ws, listing, NOTHING_FOUND if until else nothing)


def _later_notices(later: int, words: str) -> Texts:
    """How many are due later, and the command of these words that shows them; () if none is."""
    verb = "is" if later == 1 else "are"
    return (f"{later:,} more {verb} due later; `synaptic {words}` shows all.",) * bool(later)


@command("day", f.DATE, *f.filter_flags("book"), f.SUM, f.BY)
def day(ws: Workspace, date: Words = ("today",), **options: Any) -> None:
    """Read what you wrote on a day, or add up a field of it.

    Example: synaptic day last tuesday
    """
    _print_days_or_sums(ws, " ".join(date), week=False, **options)


@command("week", f.DATE, *f.filter_flags("book"), f.SUM, f.BY)
def week(ws: Workspace, date: Words = ("today",), **options: Any) -> None:
    """Read what you wrote in a week, or add up a field of it.

    Example: synaptic week 2026-11-17, synaptic week --sum hours, synaptic week --project shop
    """
    _print_days_or_sums(ws, " ".join(date), week=True, **options)


def _print_days_or_sums(
    ws: Workspace,
    date: str,
    *,
    week: bool,
    sum_of: str | None = None,
    by: str | None = None,
    **options: Any,
) -> None:
    filters = drop_any_project(take_filters(ws, options))
    days = entries_of_days(ws, date, week=week, filters=filters)
    if sum_of or by:
        within = replace(filters, since=days.since, until=days.until, include_superseded=True)
        return print_totals(ws, within, sum_of, by or "project")
    text = terminal.days_text(days, output_for_workspace(ws))
    return print_answer(wire.days_json(days), text, days.listing.notices)


def _parse_pairs(of: str, texts: Words) -> dict[str, list[str]]:
    """Returns the values of each NAME, in order, from texts in the form NAME=VALUE. The
    error names the parameter `of`. Raises InvalidArgument for a text without `=`.
    """
    named: dict[str, list[str]] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign:
            raise InvalidArgument(
                f"{of} cannot be {text!r}: it has no `=`.", valid=["NAME=VALUE"], of=[of]
            )
        named.setdefault(name.strip(), []).append(value.strip())
    return named


def _parse_weight(name: str, texts: Words) -> float:
    try:
        return float(texts[-1])
    except ValueError:
        raise InvalidArgument(
            f"weight {name} is {texts[-1]!r}, which is not a number.",
            valid=["0 to 1"],
            of=["weight"],
        ) from None

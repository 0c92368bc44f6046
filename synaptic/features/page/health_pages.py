"""The pages of upkeep: review, health and statistics."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import date, timedelta
from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from ...errors import SynapticError, match_valid_name
from ...filters import Filters
from ...index.statistics import UNREAD_DAYS, agent_counts, count_entries_by, read_statistics
from ...journal import losses
from ...models import Entry
from ...plugin import ANSWER_FINDING, ENTRY_OF_FINDING, REPAIR, REVIEW, ReviewFinding
from ...render.fence import one_line
from ...verbs import doctor, removing
from ...verbs.mending import mend_links
from ...verbs.settling import UNDO_CHOICE, SettledReceipt
from ...verbs.status import status
from ...verbs.written import count_days, count_words
from ...workspace.readback import read_entries
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace
from .day_texts import begin_of_week
from .entries import ask_before_delete, format_deleted, is_deletion_agreed
from .following import follower_of
from .site import (
    Offer,
    Page,
    Values,
    find_nearby,
    offer_restore,
    offer_undo_of_rename,
    page,
    read_form,
    redirect_with_message,
    return_address,
    run_slow_verb,
    run_verb,
)
from .translation import mark_text, translate

Handler = Callable[[Request], Awaitable[Response]]
PAGE_FINDINGS = 20
"""The number of findings on one page."""
MANY = 10_000
"""The number of entries from which on these pages take longer than a second."""
WEEKS = 53
MOST_READ = 10
ANSWERED = {
    "mine": mark_text("Kept your version."),
    "theirs": mark_text("Kept the version of the other machine."),
    "both": mark_text("Kept both versions, one below the other."),
    "supersede": mark_text("“%(new)s” replaces “%(old)s”."),
    "same": mark_text("“%(new)s” says the same as “%(old)s”, and stands for both."),
    "mend": mark_text("Repaired: the links lead to it again."),
    "close": mark_text("Closed with the tag #done."),
    "pin": mark_text("Pinned: agents see it at the start of each session."),
    UNDO_CHOICE: mark_text("Both versions stand there again."),
    "keep": mark_text("Kept. The review asks again after it was edited."),
}


def _show_notice_first(show: Handler) -> Handler:
    """Wraps a handler so that a large journal first shows a page that says what is being
    read.
    """

    async def answer(request: Request) -> Response:
        count = 0
        with suppress(SynapticError):  # the page says so
            count = await run_verb(request, _total_entries)
        if count < MANY or "wait" in request.query_params:
            return await show(request)
        notice = await page(request, "long.html", count=count)
        notice.headers["Refresh"] = f"0;url=?{request.url.include_query_params(wait=1).query}"
        return notice

    return answer


def _total_entries(ws: Workspace) -> int:
    return in_step(ws, lambda _: ws.index.counts().entries)


@_show_notice_first
async def _review_page(request: Request) -> Response:
    """Shows the page of review findings, which are searched for anew."""
    query = request.query_params
    projects = tuple(filter(None, query.getlist("project")))
    number = query.get("page", "")
    near = "near" in query
    findings = await run_slow_verb(
        request, partial(_findings_page_values, projects=projects, page=number, near=near)
    )
    if not (projects or near):
        follower_of(request).waits = findings["total"]
    return await page(
        request, "review.html", **findings, size=PAGE_FINDINGS, projects=projects, near=near
    )


def _findings_page_values(
    ws: Workspace, projects: Sequence[str], page: str, *, near: bool
) -> Values:
    """Returns the template values of one page of findings: the findings with the texts of their
    entries (which do not count as read), the `total`, and the projects. `page` is a number; the
    first page if it is invalid. `near`: pairs of near entries instead.
    """
    matters = REVIEW.ask_only(ws, projects, near)
    start = 0
    for number, at in enumerate(range(0, len(matters), PAGE_FINDINGS), 1):
        if page == str(number):
            start = at

    def read(_: object) -> list[tuple[ReviewFinding, list[Entry]]]:
        pairs = []
        for matter in matters[start : start + PAGE_FINDINGS]:
            texts = read_entries(ws, [one.rowid for one in matter.about])
            pairs.append((matter, list(texts.values())))
        return pairs

    return {
        "total": len(matters),
        "start": start,
        "shown": in_step(ws, read),
        "among": list(dict.fromkeys(one.about[0].entry.project for one in matters)),
    }


async def _answer_finding(request: Request) -> Response:
    form = await read_form(request)
    key, chosen, next = (form.get(name, "") for name in ("finding", "answer", "next"))
    titles = {}
    if chosen in ("supersede", "same"):
        titles = await run_verb(request, _titles_of_pair, key)
    message = translate(ANSWERED[chosen], **titles) if chosen in ANSWERED else ""
    if chosen == "delete":
        gone = await run_verb(request, ENTRY_OF_FINDING.ask_only, key, chosen)
        if not is_deletion_agreed(form, gone):
            fields = {"finding": key, "answer": chosen, "next": next}
            return await ask_before_delete(
                request, gone, back=f"?{request.url.query}#{key}", fields=fields
            )
        message = format_deleted(gone)
    where = return_address(form) or f"/review?{request.url.query}#{next}"
    if chosen == "mend":
        note = await run_verb(request, ENTRY_OF_FINDING.ask_only, key, chosen)
        done = await run_verb(request, mend_links, note.path, confirms=True)
        return redirect_with_message(request, where, message, offer_undo_of_rename(done.run))
    receipt = await run_verb(request, ANSWER_FINDING.ask_only, key, chosen)
    if isinstance(receipt, SettledReceipt):
        undo = Offer("/review", {"finding": receipt.undo, "answer": UNDO_CHOICE})
        return redirect_with_message(request, where, message, [undo])
    offers = offer_restore(receipt.id) if receipt and chosen != UNDO_CHOICE else ()
    leaning = [one.id for one in receipt.leaning] if receipt else []
    saved, others = form.get("saved", ""), form.get("others", "").split()
    nearby = await run_verb(request, find_nearby, saved, others, leaning)
    return redirect_with_message(request, where, message, offers, nearby=nearby)


def _titles_of_pair(ws: Workspace, key: str) -> dict[str, str]:
    """The titles of the earlier and the later entry in the key of a finding, as `old` and
    `new`; {} for another key.
    """
    ids = key.split(":")[1:]
    with suppress(SynapticError):  # the answer says why
        pair = in_step(ws, lambda _: [ws.index.resolve(id).entry for id in ids])
        titles = [one_line(entry.title_in_lists)[:80] for entry in pair]
        return dict(zip(("old", "new"), titles, strict=True))
    return dict.fromkeys(("old", "new"), "")


async def _health_page(request: Request) -> Response:
    """Shows at once what is known of the health; with `whole` in the address, after a notice,
    what a comparison of all notes with the index finds.
    """
    if "whole" in request.query_params:
        return await _compared_health_page(request)
    values = await run_verb(request, partial(_health_values, whole=False))
    return await page(request, "health.html", **values)


@_show_notice_first
async def _compared_health_page(request: Request) -> Response:
    values = await run_slow_verb(request, partial(_health_values, whole=True))
    return await page(request, "health.html", **values)


def _health_values(ws: Workspace, *, whole: bool) -> Values:
    checkup = doctor.run_checkup(ws, whole=whole)
    values: Values = {"checkup": checkup, "now": None, "vanished": (), "uses": {}}
    values["whole"] = whole
    codes = {finding.code for finding in checkup.findings}
    with suppress(SynapticError):  # the checkup names the cause
        if "vanished" in codes:  # looking for them takes long
            vanished = losses.find_losses(ws.journal)
            values["vanished"] = [lost for lost in vanished if lost.text]
        values["now"] = status(ws)
        values["uses"] = in_step(ws, lambda _: agent_counts(ws.index))
    return values


async def _mend_journal(request: Request) -> Response:
    form = await read_form(request)
    id = form.get("id", "")
    ways = {
        "fix": (REPAIR.ask_only, translate("Repaired everything that can be repaired safely.")),
        "restore": (
            lambda ws: removing.restore(ws, id, vanished=True, confirms=True),
            translate("Put back."),
        ),
        "dismiss": (
            lambda ws: losses.dismiss_losses(ws.own_journal, id),
            translate("Left out."),
        ),
    }
    mend, message = ways[match_valid_name(ways, form.get("way", ""), "way")]
    await run_verb(request, mend)
    return redirect_with_message(request, "/health", message)


@_show_notice_first
async def _statistics_page(request: Request) -> Response:
    return await page(
        request, "statistics.html", **await run_slow_verb(request, _statistics_values)
    )


def _statistics_values(ws: Workspace) -> Values:
    values = in_step(ws, lambda _: _read_statistics_values(ws))
    return values | {"written": count_days(ws), "words": count_words(ws)}


def _read_statistics_values(ws: Workspace) -> Values:
    now = ws.clock()
    every = Filters(include_superseded=True)
    this_week = begin_of_week(now.date())
    weeks = [this_week - timedelta(weeks=back) for back in reversed(range(WEEKS))]
    written = Counter[date]()
    for day, count in count_entries_by(ws.index, every, "day"):
        written[begin_of_week(date.fromisoformat(day))] += count
    unread_since = now - timedelta(UNREAD_DAYS)
    ever, never, most = read_statistics(ws.index, every, unread_since, limit=MOST_READ)
    return {
        "total": ws.index.counts().entries,
        "weeks": [(week.isoformat(), written[week]) for week in weeks],
        "facets": ws.index.facets(every),
        "authors": count_entries_by(ws.index, every, "author"),
        "read": {"ever": ever, "never": never, "most": most},
    }


PAGES = [
    Page("/review", "writer", _review_page),
    Page("/review", "writer", _answer_finding, methods=["POST"]),
    Page("/health", "writer", _health_page),
    Page("/health", "writer", _mend_journal, methods=["POST"]),
    Page("/statistics", "writer", _statistics_page),
]

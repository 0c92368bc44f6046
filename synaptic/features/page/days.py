"""The pages of dates: a day, the calendar of a month and its year, and the same day in other
years.
"""

import asyncio
import time
from calendar import Calendar
from collections.abc import Mapping
from contextlib import suppress
from datetime import date, datetime, timedelta
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from ...errors import InvalidArgument
from ...models import TYPES, Entry
from ...notes.frontmatter import match_front_matter
from ...render.present import shade_days
from ...verbs import browse
from ...verbs.day_lists import entries_of_days
from ...verbs.rules import list_waiting
from ...verbs.saving import parse_moment
from ...verbs.to_do import due_tasks
from ...verbs.written import count_days
from ...workspace.checkout import working_checkout, working_project
from ...workspace.preferences import hash_of_rule
from ...workspace.workspace import Workspace
from .attachments import lost_draft_files
from .day_notes import BEGIN, begin_by_template, path_to_begin
from .day_texts import (
    first_weekday,
    format_date,
    format_month,
    format_near_day,
    format_week,
    heading_and_text,
    heading_of_page,
    month_names,
    weekday_names,
)
from .rendering import render_markdown
from .site import (
    TEMPLATES,
    Page,
    Values,
    code_to_html,
    offer_undo_of_run,
    page,
    read_form,
    redirect_with_message,
    run_verb,
)
from .translation import translate

DAY_ENTRIES = 100
"""The most entries on the page of a day."""
MOST_OVERDUE = 5
"""The most overdue tasks and entries on Today: the last ones. Tasks lists all."""
MOST_WAITING = 5
"""The most unconfirmed preferences that a page asks about."""
TEXT_FIELDS = ("content", "append", "text")
"""The names of a form's text: of an entry, of what is added to a note, and of a whole note."""
GRAIN_NS = 20_000_000
"""Nanoseconds: file systems store times in steps, so a change this shortly before a moment
counts as later.
"""


TEMPLATES.filters |= {
    "spoken": format_date,
    "month": format_month,
    "near_day": format_near_day,
    "week": format_week,
}


TEMPLATES.globals["heading_and_text"] = heading_and_text
TEMPLATES.globals["heading_of_page"] = heading_of_page


async def _day_page(request: Request) -> Response:
    query = request.query_params
    asked = request.path_params.get("date") or query.get("date")
    cursor = query.get("cursor")
    since = time.time_ns() - GRAIN_NS

    def read(ws: Workspace) -> Values:
        days = entries_of_days(ws, asked or "today", limit=DAY_ENTRIES, cursor=cursor)
        today = ws.today.isoformat()
        is_today = today == days.since
        entries = days.listing.entries
        if is_today and days.listing.total == len(entries):
            entries = entries[::-1]  # the newest stands below the form that wrote it
        due = [] if cursor else due_tasks(ws, days.since)
        if not is_today:
            due = [task for task in due if task.due == days.since]
        overdue = [task for task in due if task.overdue and is_today]
        at = parse_moment(days.since, ws.clock())
        return {
            "today": today,
            "is_today": is_today,
            "days": days,
            "entries": entries,
            "total": days.listing.total or browse.find(ws, limit=1).total,
            "waiting": _unconfirmed_preferences(ws) if is_today and not cursor else (),
            "due": [*overdue[-MOST_OVERDUE:], *due[len(overdue) :]],
            "more_overdue": max(0, len(overdue) - MOST_OVERDUE),
            "begins": bool(path_to_begin(ws, at)) if ws.access.may_write else False,
            "note": _note_to_edit(ws, at),
            "project": working_project(ws.config, working_checkout(ws)) or "",
        }

    values = await run_verb(request, read)
    days = values["days"]
    if days.since != days.until:
        return RedirectResponse(f"/calendar?month={days.since[:7]}", 303)
    return await page(
        request, "day.html", is_more=bool(cursor), since=since, types=TYPES, **values
    )


async def _begin_day_page(request: Request) -> Response:
    """Begins the note of a day, and redirects to the form that edits it."""
    await read_form(request)
    day = request.path_params["date"]

    def begin(ws: Workspace) -> tuple[str, str]:
        at = parse_moment(day, ws.clock())
        with ws.own_journal.doing(BEGIN) as deed:
            begun = begin_by_template(ws, at)
        return begun or ws.journal.path_of_day(at), deed.run if begun else ""

    path, run = await run_verb(request, begin)
    message = (
        translate("Begun as your template says.") if run else translate("It is there already.")
    )
    where = f"/edit?{urlencode({'path': path})}"
    return redirect_with_message(request, where, message, offer_undo_of_run(run))


def _note_to_edit(ws: Workspace, day: datetime) -> str:
    """The path of a day's note; "" where there is none, or none that may be written."""
    path = ws.journal.path_of_day(day)
    return path if ws.access.may_write and ws.journal.stamp(path) else ""


def _unconfirmed_preferences(ws: Workspace) -> list[tuple[Entry, str]]:
    """Returns the preferences that wait for a person's confirmation, newest first, each with
    the hash of its text; [] for a published journal.
    """
    if not ws.access.may_write:
        return []
    return [(entry, hash_of_rule(entry)) for entry in list_waiting(ws)[:MOST_WAITING]]


async def _preview_html(request: Request) -> Response:
    """Returns the text of a form as HTML, as the page will show it, below the names of files
    that its draft lost.
    """
    form = await read_form(request)
    text = next((form[name] for name in TEXT_FIELDS if name in form), "")
    front = match_front_matter(text, 0)
    text = text[front.end() if front else 0 :]
    lost = await lost_draft_files(request, text)
    warnings = [
        Markup('<p class="warning" role="alert">{} {}</p>').format(
            code_to_html(error.message), code_to_html(error.hint)
        )
        for error in lost
    ]
    preview = await asyncio.to_thread(render_markdown, text, form.get("path", ""))
    return HTMLResponse(Markup("").join([*warnings, preview]))


async def _calendar_page(request: Request) -> Response:
    query = request.query_params
    asked = query.get("month", "") or query.get("year", "")

    def read(ws: Workspace) -> tuple[date, Mapping[str, int]]:
        return ws.today, count_days(ws).counts

    today, days = await run_verb(request, read)
    of_year, _, of_month = asked.partition("-")
    try:
        year = date(int(of_year or today.year), 1, 1).year
        counts = {day: count for day, count in sorted(days.items()) if int(day[:4]) == year}
        latest = today.month if year == today.year else int(max(counts, default="0000-01")[5:7])
        start = date(year, int(of_month or latest), 1)
    except (ValueError, OverflowError) as error:
        raise InvalidArgument(
            translate("%(asked)r is not a month or year of the calendar.", asked=asked[:60]),
            valid=(translate("a year from 1 to 9999"), translate("a month as 2026-11")),
        ) from error
    return await page(
        request,
        "calendar.html",
        today=today,
        year=year,
        years=sorted({int(day[:4]) for day in days} | {today.year, year}),
        counts=counts,
        steps=shade_days(counts),
        month=start,
        month_names=month_names(),
        weekdays=weekday_names(),
        weeks={one: _weeks_of_month(year, one) for one in range(1, 13)},
        before=_month_at_offset(start, -1),
        after=_month_at_offset(start, 32),
    )


def _weeks_of_month(year: int, month: int) -> list[list[date | None]]:
    """Returns the weeks of a month as lists of seven dates, from the day on which a week begins
    in the present locale; None for a day of another month.
    """
    weeks = Calendar(first_weekday()).monthdayscalendar(year, month)
    return [[date(year, month, day) if day else None for day in week] for week in weeks]


def _month_at_offset(start: date, days: int) -> date | None:
    """Returns the first day of the month that contains the day `days` after `start`; None
    outside the years 1 to 9999.
    """
    with suppress(OverflowError):
        return (start + timedelta(days)).replace(day=1)
    return None


PAGES = [
    Page("/", "reader", _day_page),
    Page("/day", "reader", _day_page),
    Page("/day/{date}", "reader", _day_page),
    Page("/day/{date}/begin", "writer", _begin_day_page, methods=["POST"]),
    Page("/calendar", "reader", _calendar_page),
    Page("/preview", "writer", _preview_html, methods=["POST"]),
]

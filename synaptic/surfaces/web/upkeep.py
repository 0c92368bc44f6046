"""The pages of upkeep: review, health and statistics."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...errors import NotFound, SynapticError, one_of
from ...models import Entry, Filters
from ...verbs import browse, doctor, review, writing
from ...verbs.review import Matter
from ...verbs.writing import Receipt
from ...workspace.readback import read_entries
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace
from ..serving.worker import Verb
from .deleting import ask_first, deleted_text, is_agreed
from .rendering import plain
from .site import ask, done, form_of, page

AT_ONCE = 20
"""Findings on a page."""
SLOW = 20_000
"""From this number of entries on, a page that looks at all of them says so first: it takes a
second or more.
"""
WEEKS, MOST_READ = 53, 10
ANSWERED = {
    "supersede": "The second supersedes the first.",
    "merge": "Merged: the second has the text of the first, which Undo brings back.",
    "close": "Closed with the tag #done.",
    "pin": "Pinned: each session begins with it.",
    "keep": "Kept. You are asked again when it was edited.",
}


async def _review(request: Request) -> Response:
    """The findings are sought anew but where a person goes on with those that were found: `on`
    says so.
    """
    query, projects = request.query_params, _projects(request)
    known, found = getattr(request.app.state, "found", ((), []))
    if "on" not in query or known != projects or not found:
        if told := await _told_to_wait(request):
            return told
        found = await ask(request, lambda ws: review.review(ws, project=projects))
        request.app.state.found = projects, found
    pages = {str(1 + start // AT_ONCE): start for start in range(0, len(found), AT_ONCE)}
    start = pages.get(query.get("page", ""), 0)
    shown = await ask(request, lambda ws: _with_texts(ws, found[start : start + AT_ONCE]))
    return await page(
        request,
        "review.html",
        found=found,
        start=start,
        size=AT_ONCE,
        shown=shown,
        projects=projects,
        plain=plain,
    )


def _with_texts(ws: Workspace, matters: list[Matter]) -> list[tuple[Matter, list[Entry]]]:
    """The findings whose entries are still there, with their texts; that a person saw them is
    no read.
    """

    def run(_: object) -> list[tuple[Matter, list[Entry]]]:
        rows: dict[str, list[int]] = {}
        for matter in matters:
            with suppress(NotFound):
                rows[matter.key] = [
                    ws.index.resolve(one.entry.id).rowid for one in matter.about
                ]
        texts = read_entries(ws, list({row for some in rows.values() for row in some}))
        return [
            (matter, [texts[row] for row in rows[matter.key]])
            for matter in matters
            if matter.key in rows
        ]

    return in_step(ws, run)


async def _answer_finding(request: Request) -> Response:
    form = await form_of(request)
    key, said = form.get("finding", ""), form.get("answer", "")

    def settle(ws: Workspace) -> tuple[Receipt | None, Entry | None]:
        """The receipt of the answer, and the entry that it deletes, which is all where nobody
        has agreed yet.
        """
        gone = review.first_of(ws, key, said) if said == "delete" else None
        return None if gone and not is_agreed(form, gone) else review.answer(
            ws, key, said
        ), gone

    receipt, gone = await ask(request, settle)
    if gone and not receipt:
        fields = {name: form[name] for name in ("finding", "answer", "next") if name in form}
        return await ask_first(request, gone, back=f"?{request.url.query}#{key}", fields=fields)
    known, found = getattr(request.app.state, "found", ((), []))
    settled = key.split(":")[1]  # with keep only this finding goes, else all on this entry
    left = [
        one for one in found if one.key != key and (receipt is None or settled not in one.key)
    ]
    request.app.state.found = known, left
    told = deleted_text(gone) if gone else ANSWERED[said]
    return done(request, _next(request, form), told, undo=receipt.id if receipt else "")


async def _health(request: Request) -> Response:
    if told := await _told_to_wait(request):
        return told

    def run(ws: Workspace) -> dict[str, Any]:
        checkup = doctor.checkup(ws)
        shown: dict[str, Any] = {"checkup": checkup, "now": None, "vanished": (), "uses": {}}
        with suppress(SynapticError):  # what is in the way is a finding
            if any(
                finding.code == "vanished" for finding in checkup.findings
            ):  # to look for them takes long
                shown["vanished"] = ws.journal.vanished()
            shown |= {"now": browse.status(ws), "uses": in_step(ws, lambda _: ws.index.uses())}
        return shown

    return await page(request, "health.html", **await ask(request, run))


async def _mend(request: Request) -> Response:
    form = await form_of(request)
    ways: Mapping[str, tuple[Verb[object], str]] = {
        "fix": (doctor.fix, "Mended what can be mended."),
        "restore": (
            lambda ws: writing.restore(ws, form.get("id", ""), vanished=True),
            "Put back.",
        ),
        "dismiss": (lambda ws: ws.journal.dismiss(form.get("id", "")), "Left out."),
    }
    mend, said = ways[one_of(ways, form.get("way", ""), "way")]
    await ask(request, mend)
    return done(request, "/health?on=1", said)


async def _statistics(request: Request) -> Response:
    counts = await ask(request, lambda ws: in_step(ws, lambda _: _counts(ws)))
    return await page(request, "statistics.html", **counts)


def _counts(ws: Workspace) -> dict[str, Any]:
    now, every = ws.clock(), Filters(include_superseded=True)
    monday = now.date() - timedelta(now.weekday())
    weeks = [(monday - timedelta(weeks=back)).isoformat() for back in reversed(range(WEEKS))]
    written = dict(ws.index.counted(every, "week"))
    ever, never, most = ws.index.reads(
        every, now - timedelta(review.UNREAD_DAYS), limit=MOST_READ
    )
    return {
        "total": ws.index.counts().entries,
        "weeks": [(week, written.get(week, 0)) for week in weeks],
        "facets": ws.index.facets(every),
        "authors": ws.index.counted(every, "author"),
        "read": {"ever": ever, "never": never, "most": most},
    }


def _projects(request: Request) -> tuple[str, ...]:
    return tuple(filter(None, request.query_params.getlist("project")))


def _next(request: Request, form: Mapping[str, str]) -> str:
    """The same page, at the next thing to answer."""
    query = request.url.include_query_params(on=1).query
    return f"{request.url.path}?{query}#{quote(form.get('next', ''), safe=':')}"


async def _told_to_wait(request: Request) -> Response | None:
    """In a large journal a page that says so, and that the browser leaves at once for the one
    that looks.
    """
    if not request.query_params.keys().isdisjoint({"on", "look"}):
        return None
    entries = 0
    with suppress(SynapticError):  # the page itself tells what is in the way
        entries = await ask(
            request, lambda ws: in_step(ws, lambda _: ws.index.counts().entries)
        )
    if entries < SLOW:
        return None
    told = await page(request, "looking.html", entries=entries)
    told.headers["Refresh"] = f"0; url=?{request.url.include_query_params(look=1).query}"
    return told


ROUTES = [
    Route("/review", _review),
    Route("/review", _answer_finding, methods=["POST"]),
    Route("/health", _health),
    Route("/health", _mend, methods=["POST"]),
    Route("/statistics", _statistics),
]

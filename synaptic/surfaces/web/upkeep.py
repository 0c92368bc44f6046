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
from ...journal import losses
from ...models import Entry, Filters
from ...verbs import browse, doctor, review, writing
from ...verbs.review import Matter
from ...verbs.writing import Receipt
from ...workspace.readback import read_entries
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace
from ..serving.worker import Verb
from .deleting import ask_first, deleted_text, is_agreed
from .site import ask, done, form_of, page

PAGE_FINDINGS = 20
"""Findings on a page."""
SLOW_ENTRIES = 20_000
"""From this number on, a page that looks at all entries takes a second, and says so first."""
WEEKS = 53
MOST_READ = 10
ANSWERED = {
    "supersede": "The second supersedes the first.",
    "merge": "Merged: the second has the text of the first, which Undo brings back.",
    "close": "Closed with the tag #done.",
    "pin": "Pinned: each session begins with it.",
    "keep": "Kept. The review asks again after it was edited.",
}


async def _review(request: Request) -> Response:
    """The page of findings.

    They are looked for anew, unless a person goes on with the last ones (`on`).
    """
    query, projects = request.query_params, _projects(request)
    known_projects, findings = _known_findings(request)
    if "on" not in query or known_projects != projects or not findings:
        waiting = await _told_to_wait(request)
        if waiting:
            return waiting
        findings = await ask(request, lambda ws: review.review(ws, project=projects))
        request.app.state.findings = projects, findings
    pages = (len(findings) + PAGE_FINDINGS - 1) // PAGE_FINDINGS
    number = query.get("page", "")
    is_page = number in map(str, range(1, pages + 1))
    start = PAGE_FINDINGS * (int(number) - 1) if is_page else 0
    part = findings[start : start + PAGE_FINDINGS]
    shown = await ask(request, lambda ws: _with_texts(ws, part))
    return await page(
        request,
        "review.html",
        found=findings,
        start=start,
        size=PAGE_FINDINGS,
        shown=shown,
        projects=projects,
    )


def _known_findings(request: Request) -> tuple[tuple[str, ...], list[Matter]]:
    """(their projects, the findings that the last page of the review listed)."""
    known: tuple[tuple[str, ...], list[Matter]]
    known = getattr(request.app.state, "findings", ((), []))
    return known


def _with_texts(ws: Workspace, matters: list[Matter]) -> list[tuple[Matter, list[Entry]]]:
    """The findings whose entries still exist, with their texts. This counts as no read."""

    def read(_: object) -> list[tuple[Matter, list[Entry]]]:
        rows: dict[str, list[int]] = {}
        for matter in matters:
            ids = [subject.entry.id for subject in matter.about]
            with suppress(NotFound):
                rows[matter.key] = [ws.index.resolve(id).rowid for id in ids]
        texts = read_entries(ws, list(set().union(*rows.values())))
        present = [matter for matter in matters if matter.key in rows]
        return [(matter, [texts[row] for row in rows[matter.key]]) for matter in present]

    return in_step(ws, read)


async def _answer_finding(request: Request) -> Response:
    form = await form_of(request)
    key, chosen = form.get("finding", ""), form.get("answer", "")

    def settle(ws: Workspace) -> tuple[Receipt | None, Entry | None]:
        """(the receipt of the answer, the entry that it deletes).

        Without a receipt the person has to agree to the deletion first.
        """
        gone = review.first_of(ws, key, chosen) if chosen == "delete" else None
        if gone and not is_agreed(form, gone):
            return None, gone
        return review.answer(ws, key, chosen), gone

    receipt, gone = await ask(request, settle)
    if gone and not receipt:
        fields = {name: form[name] for name in ("finding", "answer", "next") if name in form}
        return await ask_first(request, gone, back=f"?{request.url.query}#{key}", fields=fields)
    _remove_settled(request, key, receipt is not None)
    message = deleted_text(gone) if gone else ANSWERED[chosen]
    return done(request, _next(request, form), message, undo=receipt.id if receipt else "")


def _remove_settled(request: Request, key: str, is_changed: bool) -> None:
    """Removes a finding that was answered; after a change all findings on that entry."""
    projects, findings = _known_findings(request)
    entry = key.split(":")[1]
    left = [finding for finding in findings if finding.key != key]
    if is_changed:
        left = [finding for finding in left if entry not in finding.key]
    request.app.state.findings = projects, left


async def _health(request: Request) -> Response:
    waiting = await _told_to_wait(request)
    if waiting:
        return waiting

    def check(ws: Workspace) -> dict[str, Any]:
        checkup = doctor.checkup(ws)
        shown: dict[str, Any] = {"checkup": checkup, "now": None, "vanished": (), "uses": {}}
        codes = {finding.code for finding in checkup.findings}
        with suppress(SynapticError):  # the checkup names the cause
            if "vanished" in codes:  # looking for them takes long
                found = losses.find_losses(ws.journal)
                shown["vanished"] = [lost for lost in found if lost.text]
            shown["now"] = browse.status(ws)
            shown["uses"] = in_step(ws, lambda _: ws.index.counters.uses())
        return shown

    return await page(request, "health.html", **await ask(request, check))


async def _mend(request: Request) -> Response:
    form = await form_of(request)
    id = form.get("id", "")
    ways: Mapping[str, tuple[Verb[object], str]] = {
        "fix": (doctor.fix, "Repaired everything that can be repaired safely."),
        "restore": (lambda ws: writing.restore(ws, id, vanished=True), "Put back."),
        "dismiss": (lambda ws: losses.dismiss(ws.journal, id), "Left out."),
    }
    mend, message = ways[one_of(ways, form.get("way", ""), "way")]
    await ask(request, mend)
    return done(request, "/health?on=1", message)


async def _statistics(request: Request) -> Response:
    counts = await ask(request, lambda ws: in_step(ws, lambda _: _counts(ws)))
    return await page(request, "statistics.html", **counts)


def _counts(ws: Workspace) -> dict[str, Any]:
    now, every = ws.clock(), Filters(include_superseded=True)
    monday = now.date() - timedelta(now.weekday())
    weeks = [(monday - timedelta(weeks=back)).isoformat() for back in reversed(range(WEEKS))]
    written = dict(ws.index.counted(every, "week"))
    unread_since = now - timedelta(review.UNREAD_DAYS)
    ever, never, most = ws.index.reads(every, unread_since, limit=MOST_READ)
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
    """The address of this page, at the next finding."""
    query = request.url.include_query_params(on=1).query
    return f"{request.url.path}?{query}#{quote(form.get('next', ''), safe=':')}"


async def _told_to_wait(request: Request) -> Response | None:
    """A page that says that this takes long, and then loads the real one; None if it is quick."""
    if not request.query_params.keys().isdisjoint({"on", "look"}):
        return None
    entries = 0
    with suppress(SynapticError):  # the page itself names the cause
        entries = await ask(
            request, lambda ws: in_step(ws, lambda _: ws.index.counts().entries)
        )
    if entries < SLOW_ENTRIES:
        return None
    waiting = await page(request, "looking.html", entries=entries)
    waiting.headers["Refresh"] = f"0; url=?{request.url.include_query_params(look=1).query}"
    return waiting


ROUTES = [
    Route("/review", _review),
    Route("/review", _answer_finding, methods=["POST"]),
    Route("/health", _health),
    Route("/health", _mend, methods=["POST"]),
    Route("/statistics", _statistics),
]

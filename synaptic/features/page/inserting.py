"""What the server puts into text boxes of the page: a template of the vault, a task's day."""

from collections.abc import Iterable
from itertools import takewhile

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from ...errors import SynapticError
from ...plugin import DATE_TASK
from .filling import fill_template, find_templates
from .site import Page, answer_error, page, read_form, refuse_reader, run_verb, session_of


async def _templates_menu(request: Request) -> Response:
    """Shows the menu of templates, or how one is made; nothing to a browser that only reads."""
    if session_of(request).read_only:
        return Response(status_code=204)
    names = list(await run_verb(request, find_templates))
    return await page(request, "templates.html", names=names)


async def _filled_template(request: Request) -> Response:
    """Answers with the text of a template, filled in with the title and the time of a form."""
    asked = request.query_params
    moment = f"{asked.get('date', '')} {asked.get('time', '')}".strip()
    try:
        refuse_reader(request)
        text = await run_verb(
            request,
            fill_template,
            asked.get("name", ""),
            title=" ".join(asked.get("title", "").split()),
            moment=moment if asked.get("date") else "",
        )
    except SynapticError as error:
        return answer_error(error)
    return PlainTextResponse(text)


async def _dated_task(request: Request) -> Response:
    """Answers with what to insert into the text of a box, `before` and `after` the caret, so
    that the task in its line is due on the `day`: the words, and from where to where they
    stand, in the units of a browser; with status 204 if the line holds no task.
    """
    form = await read_form(request)
    before, after = (form.get(name, "").replace("\r\n", "\n") for name in ("before", "after"))
    old = before + after
    place = old, len(before), form.get("day", ""), form.get("path", "")
    try:
        new = await run_verb(request, DATE_TASK.ask_only, *place)
    except SynapticError as error:
        return answer_error(error)
    if not new:
        return Response(status_code=204)
    start = _count_same(old, new)
    same = _count_same(reversed(old[start:]), reversed(new[start:]))
    words = new[start : len(new) - same]
    return JSONResponse([words, _units(old[:start]), _units(old[: len(old) - same])])


def _count_same(one: Iterable[str], other: Iterable[str]) -> int:
    """The number of signs with which both begin."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda signs: signs[0] == signs[1], pairs))


def _units(text: str) -> int:
    """The length of a text in UTF-16 units, as JavaScript counts."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


PAGES = [
    Page("/templates", "writer", _templates_menu),
    Page("/template", "writer", _filled_template),
    Page("/due", "writer", _dated_task, methods=["POST"]),
]

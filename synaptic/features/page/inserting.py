"""Templates of the vault for the text boxes of the page."""

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from ...errors import Refused, SynapticError
from .filling import fill_template, find_templates
from .site import Page, http_status, page, run_verb, session_of
from .translation import translate


async def _templates_menu(request: Request) -> Response:
    """Shows the menu of templates; nothing where there are none, and to a browser that may only
    read.
    """
    may_write = not session_of(request).read_only
    names = list(await run_verb(request, find_templates)) if may_write else []
    if not names:
        return Response(status_code=204)
    return await page(request, "templates.html", names=names)


async def _filled_template(request: Request) -> Response:
    """Answers with the text of a template, filled in with the title and the time of a form."""
    asked = request.query_params
    moment = f"{asked.get('date', '')} {asked.get('time', '')}".strip()
    try:
        if session_of(request).read_only:
            raise Refused(
                translate("This page is read-only."),
                translate("Log in with a link that may write."),
            )
        text = await run_verb(
            request,
            fill_template,
            asked.get("name", ""),
            title=" ".join(asked.get("title", "").split()),
            moment=moment if asked.get("date") else "",
        )
    except SynapticError as error:
        return PlainTextResponse(f"{error.message} {error.hint}", http_status(error))
    return PlainTextResponse(text)


PAGES = [
    Page("/templates", "writer", _templates_menu),
    Page("/template", "writer", _filled_template),
]

"""The pages at which a person comes in and goes out."""

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from ...journal.draft_files import DraftFiles
from .browsers import (
    CODE,
    SECRET,
    draft_cookie_name,
    let_phone_in,
    log_in_with_key,
    open_session,
    visitor_with_token,
)
from .guard import Visitor, cookie_name
from .import_pages import remove_uploads
from .site import Page, page, read_form, run_verb, session_of, site_of
from .translation import mark_text, translate

USED = mark_text("This link was used already, or is of an earlier start of Synaptic.")


async def _login_page(request: Request) -> Response:
    """Logs a browser in that has the printed link, or a token that may open the page; shows the
    login form otherwise.
    """
    if SECRET in request.headers and request.method == "POST":
        return await log_in_with_key(request)
    if CODE in request.headers and request.method == "POST":
        return await let_phone_in(request)
    if request.method == "POST":
        return await _log_in_with_token(request)
    site = site_of(request)
    if "sign" in request.query_params and site.sessions.running:
        text = request.query_params["sign"]
        return PlainTextResponse(site.sessions.running.sign("listen", text))
    token = request.query_params.get("token", "")
    if not token or request.method == "HEAD":  # HEAD is sent by previews
        return await page(request, "login.html", wrong="")
    if site.sessions.redeem(token):
        return _start_session(request, Visitor("person", site.read_only))
    if site.sessions.find_visitor(request.cookies.get(cookie_name(request.scope), "")):
        return RedirectResponse("/", 303)
    return await page(request, "login.html", 401, wrong=translate(USED))


async def _log_in_with_token(request: Request) -> Response:
    site = site_of(request)
    address = request.client.host[:50] if request.client else ""
    token = str((await request.form()).get("token", "")).strip()
    session = visitor_with_token(site, token)
    if session:  # whoever else guesses at this address, which may be a proxy's
        return _start_session(request, session)
    if not site.sessions.may_try(address):
        wrong = translate("Too many wrong tokens: wait a minute.")
        return await page(request, "login.html", 429, wrong=wrong)
    site.sessions.count_failed_try(address)
    wrong = translate("That token does not open this page.")
    return await page(request, "login.html", 401, wrong=wrong)


def _start_session(request: Request, session: Visitor) -> Response:
    answer = RedirectResponse("/", 303, {"Referrer-Policy": "no-referrer"})
    open_session(answer, request, session)
    return answer


async def _log_out_session(request: Request) -> Response:
    """Ends the session. The browser's storage and the files of its drafts go, unless another
    tab shows what was typed; then the script of the page removed what may go.
    """
    form = await read_form(request)
    site = site_of(request)
    site.sessions.end(request.cookies.get(cookie_name(request.scope), ""))
    session = session_of(request)
    site.devices.remove(session.device)
    if form.get("keeps") == "drafts":
        return RedirectResponse("/login", 303, {"Clear-Site-Data": '"cache"'})
    if session.box:
        await run_verb(request, lambda ws: DraftFiles(ws.config.state).remove_box(session.box))
        await run_verb(request, remove_uploads, session)
    answer = RedirectResponse("/login", 303, {"Clear-Site-Data": '"cache", "storage"'})
    answer.delete_cookie(draft_cookie_name(request.scope), httponly=True, samesite="strict")
    return answer


async def _offline_page(request: Request) -> Response:
    """Shows what a browser keeps for the time in which Synaptic cannot be reached."""
    return await page(request, "offline.html")


PAGES = [
    Page("/offline", "reader", _offline_page),
    Page("/login", "reader", _login_page, methods=["GET", "POST"]),
    Page("/logout", "reader", _log_out_session, methods=["POST"]),
]

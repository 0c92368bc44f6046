"""The pages at which a person comes in and goes out."""

import logging

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from ...errors import ConfigError
from ...serving.tokens import Grant
from .browsers import (
    SECRET,
    draft_cookie_name,
    log_in_with_key,
    may_stay_logged_in,
    open_session,
)
from .guard import Visitor, cookie_name
from .site import Page, Site, page, read_form, run_verb, session_of, site_of

log = logging.getLogger(__name__)
USED = "This link was used already, or is of an earlier start of Synaptic."


async def _login_page(request: Request) -> Response:
    """Logs a browser in that has the printed link, or a token that may open the page; shows the
    login form otherwise.
    """
    if SECRET in request.headers and request.method == "POST":
        return await log_in_with_key(request)
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
    return await page(request, "login.html", 401, wrong=USED)


async def _log_in_with_token(request: Request) -> Response:
    site = site_of(request)
    address = request.client.host[:50] if request.client else ""
    token = str((await request.form()).get("token", "")).strip()
    if not site.sessions.may_try(address):  # and no await until it has failed
        wrong = "Too many wrong tokens: wait a minute."
        return await page(request, "login.html", 429, wrong=wrong)
    grant = _page_grant(site, token)
    if grant:
        is_read_only = grant.read_only or site.read_only
        return _start_session(
            request,
            Visitor(
                grant.name,
                is_read_only,
                lambda: _page_grant(site, token) == grant,
                journals=grant.journals,
            ),
        )
    site.sessions.count_failed_try(address)
    wrong = "That token does not open this page."
    return await page(request, "login.html", 401, wrong=wrong)


def _page_grant(site: Site, token: str) -> Grant | None:
    """Returns the grant of a token that may open the page; None for any other token.

    A file that cannot be used is named in the log only: anyone may ask.
    """
    try:
        grant = site.tokens.find_grant(token)
    except ConfigError as error:
        log.error("%s", error)
        return None
    return grant if grant and grant.page else None


def _start_session(request: Request, session: Visitor) -> Response:
    where = "/devices" if may_stay_logged_in(request, session) else "/"
    answer = RedirectResponse(where, 303, {"Referrer-Policy": "no-referrer"})
    open_session(answer, request, session)
    return answer


async def _log_out_session(request: Request) -> Response:
    await read_form(request)
    site = site_of(request)
    site.sessions.end(request.cookies.get(cookie_name(request.scope), ""))
    session = session_of(request)
    site.devices.remove(session.device)
    if session.box:
        await run_verb(request, lambda ws: ws.journal.draft_files.remove_box(session.box))
    answer = RedirectResponse("/login", 303, {"Clear-Site-Data": '"cache", "storage"'})
    answer.delete_cookie(draft_cookie_name(request.scope), httponly=True, samesite="strict")
    return answer


PAGES = [
    Page("/login", "reader", _login_page, methods=["GET", "POST"]),
    Page("/logout", "reader", _log_out_session, methods=["POST"]),
]

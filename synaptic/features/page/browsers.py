"""The browsers that stay logged in: how a browser begins to, comes back, and is logged out.

The port of the server is fixed in each case.

| a browser                                | stays logged in                            |
|------------------------------------------|--------------------------------------------|
| on the machine of the journal            | if the request names a loopback host, and  |
|                                          | no proxy says that it handed it on         |
| that a code of `serve --phone` let in    | at servers that were started so            |
| that logged in with a token for the page | while `tokens.toml` has that token, with   |
|                                          | the same rights                            |
"""

import asyncio
import logging
import secrets
from hashlib import sha256

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Scope

from ...errors import ConfigError, Refused
from ...journal.draft_files import box_of
from ...models import PERSON
from ...serving.running import is_loopback
from ...serving.tokens import Grant
from .devices import STAY_S, Device, Key
from .guard import Visitor, cookie_name
from .site import Page, Site, page, read_form, redirect_with_message, session_of, site_of
from .translation import translate

log = logging.getLogger(__name__)
SECRET = "x-synaptic-device"
"""The HTTP header with the second half of a browser's key."""
CODE = "x-synaptic-phone"
"""The HTTP header with the code that lets a phone in."""
DRAFT_COOKIE_S = 365 * 86_400
"""Seconds for which a browser keeps the cookie that finds its drafts; each login renews it."""
_FORWARDED = ("forwarded", "via", "x-forwarded", "x-real-ip")
"""Prefixes of headers that proxies add."""
_BROWSERS = {"Edg": "Edge", "Firefox": "Firefox", "Chrome": "Chrome", "Safari": "Safari"}
"""Maps a part of the User-Agent header to the name of a browser; the first match counts."""


def may_stay_logged_in(request: Request, session: Visitor) -> bool:
    """True if this browser may begin to stay logged in. A phone begins to with its code."""
    site = site_of(request)
    if session.read_only or not site.fixed:
        return False
    return bool(session.grant) or (session.name == PERSON and _is_on_machine(request))


def _is_on_machine(request: Request) -> bool:
    """True if the browser is on the machine of the journal, and no proxy is between."""
    return (
        site_of(request).local
        and not _is_forwarded(request)
        and is_loopback(request.url.hostname)
    )


def _is_forwarded(request: Request) -> bool:
    return any(name.startswith(_FORWARDED) for name in request.headers)


def visitor_with_token(site: Site, token: str) -> Visitor | None:
    """Returns a new session for a token that may open the page, None for any other token. The
    session ends when the token is removed or its rights change.

    A file that cannot be used is named in the log only: anyone may ask.
    """

    def find() -> tuple[str, Grant] | None:
        try:
            grant = site.tokens.find_grant(token)
        except ConfigError as error:
            log.error("%s", error)
            return None
        if not grant or not grant.page:
            return None
        return sha256(f"{token} {grant}".encode("utf-8", "replace")).hexdigest(), grant

    rights = find()
    if not rights:
        return None
    hash, grant = rights
    return Visitor(
        grant.name,
        grant.read_only or site.read_only,
        lambda: find() == rights,
        journals=grant.journals,
        grant=hash,
    )


def _visitor_of_device(site: Site, device: Device) -> Visitor | None:
    """Returns a new session for a browser that stays logged in; None if its token is gone."""
    if not device.grant:
        return Visitor(PERSON, site.read_only)
    try:
        tokens = [token for token, _ in site.tokens.read_grants()]
    except ConfigError as error:
        log.error("%s", error)
        return None
    for token in tokens:
        session = visitor_with_token(site, token)
        if session and session.grant == device.grant:
            return session
    return None


def open_session(answer: Response, request: Request, session: Visitor) -> None:
    """Begins a session for `session`, and adds its cookie to the answer, and the one by which
    the browser's drafts are found again after this session.
    """
    site = site_of(request)
    is_https = request.url.scheme == "https"
    if not (session.read_only or site.worker.is_published):
        name = draft_cookie_name(request.scope)
        browser = request.cookies.get(name) or secrets.token_urlsafe(32)
        session.box = box_of(session.name, browser)
        answer.set_cookie(
            name,
            browser,
            max_age=DRAFT_COOKIE_S,
            httponly=True,
            samesite="strict",
            secure=is_https,
        )
    answer.set_cookie(
        cookie_name(request.scope),
        site.sessions.begin(session),
        httponly=True,
        samesite="strict",
        secure=is_https,
    )


def draft_cookie_name(scope: Scope) -> str:
    return f"{cookie_name(scope)}-drafts"


async def log_in_with_key(request: Request) -> Response:
    """Logs a browser in that sends both halves of its key, and gives it a new key."""
    site = site_of(request)
    sessions: list[Visitor] = []

    def may_come_back(device: Device) -> bool:
        is_here = bool(device.grant) or _is_on_machine(request)
        if device.is_phone:
            is_here = site.phone is not None and not _is_forwarded(request)
        session = _visitor_of_device(site, device) if is_here and site.fixed else None
        sessions.extend([session] if session else [])
        return bool(session)

    cookie = request.cookies.get(_key_cookie_name(request.scope), "")
    key = Key(cookie, request.headers[SECRET])
    renewed = await asyncio.to_thread(site.devices.renew, key, may_come_back)
    if renewed is None:
        return JSONResponse({"error": translate("No browser has this key.")}, 401)
    device, next = renewed
    return _begin_with_key(request, sessions[-1], device, next)


async def let_phone_in(request: Request) -> Response:
    """Logs the phone in that sends the code of `serve --phone`, and lets it stay logged in."""
    site = site_of(request)
    address = request.client.host[:50] if request.client else ""
    if not (site.phone and site.phone.redeem(request.headers[CODE])):
        if not site.sessions.may_try(address):
            return JSONResponse(
                {"error": translate("Too many wrong codes: wait a minute.")}, 429
            )
        site.sessions.count_failed_try(address)
        error = translate(
            "This code was used already, or is older than five minutes. Make a new one."
        )
        return JSONResponse({"error": error}, 401)
    device, key = await asyncio.to_thread(
        site.devices.add,
        translate("Phone, %(browser)s", browser=_browser_name(request)),
        is_phone=True,
    )
    return _begin_with_key(request, Visitor(PERSON, site.read_only), device, key)


def _begin_with_key(request: Request, session: Visitor, device: Device, key: Key) -> Response:
    """Returns an answer that begins a session of a browser that stays logged in."""
    _end_session_with_key(request, session, device)
    answer = _respond_with_key(request, key)
    open_session(answer, request, session)
    return answer


def _browser_name(request: Request) -> str:
    agent = request.headers.get("user-agent", "")
    return next(
        (name for part, name in _BROWSERS.items() if part in agent), translate("A browser")
    )


def _may_see_browsers(request: Request) -> bool:
    """True if this session may see and log out browsers; of a token only its own."""
    session = session_of(request)
    on_phone_server = bool(site_of(request).phone) and session.name == PERSON
    return may_stay_logged_in(request, session) or (on_phone_server and not session.read_only)


def _visible_devices(request: Request) -> dict[str, Device]:
    """Maps ids to the browsers that this session may see."""
    if not _may_see_browsers(request):
        return {}
    grant = session_of(request).grant
    devices = site_of(request).devices.read()
    return {id: one for id, one in devices.items() if not grant or one.grant == grant}


async def _devices_page(request: Request) -> Response:
    allowed = may_stay_logged_in(request, session_of(request))
    devices = _visible_devices(request).values()
    return await page(request, "devices.html", devices=devices, may_stay=allowed)


async def _change_devices(request: Request) -> Response:
    """Keeps this browser logged in, or logs out another browser that the form names."""
    form = await read_form(request)
    site = site_of(request)
    session = session_of(request)
    if "gone" in form and _may_see_browsers(request):
        site.devices.remove(*({form["gone"]} & _visible_devices(request).keys()))
        return redirect_with_message(
            request, "/devices", translate("That browser is logged out.")
        )
    if not may_stay_logged_in(request, session):
        raise Refused(
            translate(
                "A browser can stay logged in on the machine of the journal, or with a token "
                "for the page, and only if the server has a fixed port."
            ),
            translate(
                "Start `synaptic serve --port 8765` there, then run `synaptic today --page`; "
                "for a phone `synaptic serve --phone`."
            ),
        )
    site.devices.remove(session.device)
    device, key = await asyncio.to_thread(
        site.devices.add, _browser_name(request), grant=session.grant
    )
    _end_session_with_key(request, session, device)
    message = translate("This browser stays logged in for 30 days after each visit.")
    redirect_with_message(request, "/", message)
    return _respond_with_key(request, key)


def _end_session_with_key(request: Request, session: Visitor, device: Device) -> None:
    """Makes the session end when the browser's key is removed."""
    session.device = device.id
    granted = session.granted
    session.granted = lambda: device.id in site_of(request).devices.read() and granted()


def _respond_with_key(request: Request, key: Key) -> Response:
    """Returns an answer that gives the browser both halves of its key: a cookie that is sent to
    /login only, and a secret in the body.
    """
    answer = JSONResponse({"secret": key.secret})
    answer.set_cookie(
        _key_cookie_name(request.scope),
        key.cookie,
        max_age=STAY_S,
        path="/login",
        httponly=True,
        samesite="strict",
    )
    return answer


def _key_cookie_name(scope: Scope) -> str:
    return f"{cookie_name(scope)}-device"


PAGES = [
    Page("/devices", "reader", _devices_page),
    Page("/devices", "reader", _change_devices, methods=["POST"]),
]

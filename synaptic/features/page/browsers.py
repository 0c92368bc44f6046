"""The browsers that stay logged in: how a browser begins to, comes back, and is logged out.

This is offered where the journal is, and nowhere else: the server is local and its port fixed,
the request names a loopback host, and no proxy says that it handed the request on.
"""

import asyncio
import secrets
from hashlib import sha256

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Scope

from ...errors import Refused
from ...models import PERSON
from ...serving.running import is_loopback
from .devices import STAY_S, Device, Key
from .guard import Visitor, cookie_name
from .site import Page, page, read_form, redirect_with_message, session_of, site_of

SECRET = "x-synaptic-device"
"""The HTTP header with the second half of a browser's key."""
DRAFT_COOKIE_S = 365 * 86_400
"""Seconds for which a browser keeps the cookie that finds its drafts; each login renews it."""
_FORWARDED = ("forwarded", "via", "x-forwarded", "x-real-ip")
"""Prefixes of headers that proxies add."""
_BROWSERS = {"Edg": "Edge", "Firefox": "Firefox", "Chrome": "Chrome", "Safari": "Safari"}
"""Maps a part of the User-Agent header to the name of a browser; the first match counts."""


def may_stay_logged_in(request: Request, session: Visitor | None = None) -> bool:
    """True if this browser may stay logged in: it is on the machine of the journal, at a fixed
    port, and did not log in with a token.
    """
    site = site_of(request)
    if any(name.startswith(_FORWARDED) for name in request.headers):
        return False
    if session and (session.name != PERSON or session.read_only):
        return False
    return site.local and site.fixed and is_loopback(request.url.hostname)


def open_session(answer: Response, request: Request, session: Visitor) -> None:
    """Begins a session for `session`, and adds its cookie to the answer, and the one by which
    the browser's drafts are found again after this session.
    """
    site = site_of(request)
    is_https = request.url.scheme == "https"
    if not (session.read_only or site.worker.is_published):
        name = draft_cookie_name(request.scope)
        browser = request.cookies.get(name) or secrets.token_urlsafe(32)
        session.box = sha256(f"{session.name} {browser}".encode()).hexdigest()[:32]
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
    renewed = None
    if may_stay_logged_in(request):
        cookie = request.cookies.get(_key_cookie_name(request.scope), "")
        key = Key(cookie, request.headers[SECRET])
        renewed = await asyncio.to_thread(site.devices.renew, key)
    if renewed is None:
        return JSONResponse({"error": "No browser has this key."}, 401)
    device, next = renewed
    session = Visitor(PERSON, site.read_only)
    _end_session_with_key(request, session, device)
    answer = _respond_with_key(request, next)
    open_session(answer, request, session)
    return answer


async def _devices_page(request: Request) -> Response:
    allowed = may_stay_logged_in(request, session_of(request))
    devices = site_of(request).devices.read().values() if allowed else ()
    return await page(request, "devices.html", devices=devices, may_stay=allowed)


async def _change_devices(request: Request) -> Response:
    """Keeps this browser logged in, or logs out another browser that the form names."""
    form = await read_form(request)
    site = site_of(request)
    session = session_of(request)
    if not may_stay_logged_in(request, session):
        raise Refused(
            "A browser can stay logged in only on the machine of the journal, and only if the "
            "server has a fixed port.",
            "Start `synaptic serve --port 8765` there, then run `synaptic open --page`.",
        )
    if "gone" in form:
        site.devices.remove(form["gone"])
        return redirect_with_message(request, "/devices", "That browser is logged out.")
    site.devices.remove(session.device)
    agent = request.headers.get("user-agent", "")
    name = next((name for part, name in _BROWSERS.items() if part in agent), "A browser")
    device, key = await asyncio.to_thread(site.devices.add, name)
    _end_session_with_key(request, session, device)
    redirect_with_message(
        request, "/", "This browser stays logged in for 30 days after each visit."
    )
    return _respond_with_key(request, key)


def _end_session_with_key(request: Request, session: Visitor, device: Device) -> None:
    """Makes the session end when the browser's key is removed."""
    session.device = device.id
    session.granted = lambda: device.id in site_of(request).devices.read()


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

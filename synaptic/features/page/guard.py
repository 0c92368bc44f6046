"""The guard of the server: hosts, origins, sessions, and the headers of each answer.

| a request for      | needs                                                             |
|--------------------|-------------------------------------------------------------------|
| anything           | a known Host, no Origin or the same, one length of a body, and no |
|                    | more than BODY_BYTES                                              |
| `/static/`, login, | nothing else                                                      |
| `/offline`         |                                                                   |
| `/mcp`             | a bearer token; the cookie opens nothing there                    |
| a page             | the cookie of a session                                           |
| a change by a page | an Origin too, the session's `csrf`, and a session that may write |

A session begins with the link that `serve` prints, which works once, with one of `synaptic
today --page`, with the code of `serve --phone`, with the key of a browser that stays logged in,
or with a token of `tokens.toml` that opens the page. It lives in memory: it ends with the
server, and after IDLE_S without a request.
"""

import asyncio
import hmac
import re
import secrets
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any
from urllib.parse import quote, urlsplit

from markupsafe import escape
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...models import Pairs, Texts
from ...serving.running import RunningServer
from .translation import (
    LOCALES,
    choose_locale,
    mark_text,
    present_language,
    speaking,
    translate,
)

IDLE_S = 12 * 3600.0
TRIES, WITHIN_S = 5, 60.0
"""The number of wrong tokens that an address may try, and the seconds within which they count.
A right one always opens the page: it has at least 32 characters, which nobody guesses, and
behind a proxy all may have one address.
"""
ADDRESSES = 1_000
"""The most addresses whose wrong tokens are remembered; at this number, those of any other
address are too many.
"""
BODY_BYTES, LOGIN_BYTES, FILES_BYTES = 16_000_000, 10_000, 110_000_000
"""The most bytes of a request, of a login (which needs no session), and of a form with files. A
form sends three bytes for each byte that is not a letter or digit.
"""
WITH_FILES = re.compile(r"/draft|/new|/edit|/entry/[^/]+/edit")
"""Matches the paths of pages whose form uploads files."""
IMPORT_BYTES = 1_000_000_000
"""The most bytes of a request with files to import, which go to the disk as they come."""
ANY_ADDRESS = "*"
"""A value in `hosts` that allows any IP address, but no host name."""
READING = ("GET", "HEAD", "OPTIONS")
WITHOUT_LOGIN = ("/login", "/offline")
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    # with no-referrer browsers send forms with `Origin: null`
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
ENDED = """\
<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} · Synaptic</title>
<link rel="icon" href="/static/icon.svg">
<link rel="stylesheet" href="/static/style.css">
{script}</head>
<body>
<header class="top">
<a href="/" class="name"><img src="/static/icon.svg" alt="">Synaptic</a>
</header>
<main id="main">
<div class="narrow">
<h1>{title}</h1>
<p>{text}</p>
<p><a id="ended" class="button" href="/login{wanted}">{button}</a></p>
</div>
</main>
</body>
</html>
"""
ENDED_TITLE = mark_text("Your session has ended")
ENDED_TEXT = mark_text(
    "Nothing was saved yet. Your browser keeps what you typed, and sends it when you have "
    "logged in and its form is open again. Without JavaScript, go back and copy it first."
)
STAY = '<script src="/static/stay.js" type="module"></script>\n'
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::[0-9]{1,5})?")


@dataclass(slots=True)
class Visitor:
    """A browser session. `granted()` is False once the permission behind it has ended.

    `notice` has the values by which the next page says what was done. `device` is the id of a
    browser that stays logged in.
    `journals` are those that it may read, None for all. `box` names the folder with the files
    of this browser's drafts; empty if it may not write. `grant` is the hash of the token with
    which it logged in. `was_asked_to_stay`: a page asked whether it shall stay logged in.
    `left_out` are (place, reason) of what its last import left out.
    `saving` are the requests that save a text now; `saved` are the versions of its last texts
    that were saved, of `saves` in all.
    """

    name: str
    read_only: bool
    granted: Callable[[], bool] = lambda: True
    csrf: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    notice: dict[str, Any] = field(default_factory=dict)
    seen: float = field(default_factory=lambda: time.monotonic())
    device: str = ""
    journals: Texts | None = None
    box: str = ""
    grant: str = ""
    was_asked_to_stay: bool = False
    left_out: Pairs = ()
    saving: set[asyncio.Task[Any]] = field(default_factory=set)
    saved: dict[int, str] = field(default_factory=dict)
    saves: int = 0


class Sessions:
    """The browser sessions of a server, and its `link`: a token that lets one browser in, and
    is empty after that. `running` makes more such tokens.
    """

    def __init__(self, running: RunningServer | None = None) -> None:
        self.link = secrets.token_urlsafe(32)
        self.running = running
        self._used: set[str] = set()
        self._open: dict[str, Visitor] = {}
        self._wrong: dict[str, list[float]] = {}

    def redeem(self, token: str) -> bool:
        """Uses up a login token; True if it was valid. Each token works once."""
        secret = token.encode("utf-8", "replace")
        if self.link and hmac.compare_digest(self.link.encode(), secret):
            self.link = ""
            return True
        if not self.running or token in self._used or not self.running.accepts(token):
            return False
        self._used.add(token)
        return True

    def begin(self, session: Visitor) -> str:
        """Stores a session and returns the value of its cookie."""
        cookie = secrets.token_urlsafe(32)
        self._open[cookie] = session
        return cookie

    def find_visitor(self, cookie: str) -> Visitor | None:
        now = time.monotonic()
        self._open = {
            key: visitor for key, visitor in self._open.items() if now - visitor.seen < IDLE_S
        }
        visitor = self._open.get(cookie)
        if not visitor or not visitor.granted():
            return None
        visitor.seen = now
        return visitor

    def end(self, cookie: str) -> None:
        self._open.pop(cookie, None)

    def may_try(self, address: str) -> bool:
        """True if this address may try another wrong token; each call of `count_failed_try`
        counts against it.
        """
        since = time.monotonic() - WITHIN_S
        self._wrong = {who: tried for who, tried in self._wrong.items() if tried[-1] > since}
        if address in self._wrong:
            return len([at for at in self._wrong[address] if at >= since]) < TRIES
        return len(self._wrong) < ADDRESSES

    def count_failed_try(self, address: str) -> None:
        tried = self._wrong.get(address, [])
        self._wrong[address] = [*tried, time.monotonic()][-TRIES:]


class Guard:
    """ASGI middleware that refuses requests with a foreign host or origin, without a session,
    or of too many bytes. `hosts` are the names, without ports, under which the server may be
    reached.

    With `fixed` a browser that stays logged in is led to the page that it asked for. `language`
    is that of the page, "" for the one of each browser; None without a page.
    """

    def __init__(
        self,
        app: ASGIApp,
        sessions: Sessions,
        hosts: Collection[str],
        *,
        fixed: bool = False,
        language: str | None = None,
    ) -> None:
        self.app = app
        self.fixed = fixed
        self.language = language
        self.sessions = sessions
        self.hosts = frozenset(map(str.lower, hosts))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        is_static = scope["path"].startswith("/static/")
        added = HEADERS | {"Cache-Control": "no-cache" if is_static else "no-store"}
        if is_static:
            added["Service-Worker-Allowed"] = "/"
        most = LOGIN_BYTES if scope["path"] == "/login" else BODY_BYTES
        if WITH_FILES.fullmatch(scope["path"]):
            most = FILES_BYTES
        if scope["path"] == "/import":
            most = IMPORT_BYTES
        got = 0

        async def limited() -> Message:
            nonlocal got
            message = await receive()
            got += len(message.get("body", b""))
            if got > most:
                text = translate(
                    "This request is larger than %(n)s bytes. Send less at once.", n=most
                )
                raise HTTPException(413, text)
            return message

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in added.items():
                    headers.setdefault(name, value)
            await send(message)

        with speaking(self._locale_for(scope)):
            await (self._find_refusal(scope) or self.app)(scope, limited, with_headers)

    def _ended_page(self, sender: str) -> str:
        """The page that a form gets whose session has ended; a browser that stays logged in
        goes back to the page `sender` from there.
        """
        form = urlsplit(sender)
        wanted = escape(f"#{form.path}?{form.query}") if self.fixed else ""
        return ENDED.format(
            language=present_language(),
            title=translate(ENDED_TITLE),
            text=translate(ENDED_TEXT),
            script=STAY if self.fixed else "",
            wanted=wanted,
            button=translate("Log in"),
        )

    def _locale_for(self, scope: Scope) -> str:
        if self.language is None:
            return LOCALES["en"]
        accepted = Headers(scope=scope).get("accept-language", "")
        return choose_locale(accepted, self.language)

    def _is_allowed_host(self, name: str) -> bool:
        """True if `name` is an allowed host name. DNS rebinding cannot use a bare IP
        address.
        """
        with suppress(ValueError):
            return name in self.hosts or (ANY_ADDRESS in self.hosts and bool(ip_address(name)))
        return False

    def _find_refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        path = scope["path"]
        host = headers.get("host", "").lower()
        origin = headers.get("origin")
        called = _HOST.fullmatch(host)
        if not called or not self._is_allowed_host(called[1] or called[2]):
            reason = translate(
                "Unknown host name: synaptic serve --allow-host NAME lets it in."
            )
            return PlainTextResponse(f"{reason}\n", 421)
        if origin is not None and origin.lower() not in (f"http://{host}", f"https://{host}"):
            reason = translate("This request comes from another site.")
            return PlainTextResponse(f"{reason}\n", 403)
        if "transfer-encoding" in headers and "content-length" in headers:
            # a proxy may have read another end of the body: what follows may be no request
            reason = translate("This request says the length of its body in two ways.")
            return PlainTextResponse(f"{reason}\n", 400, {"Connection": "close"})
        if path == "/mcp" or path.startswith("/static/"):
            return None
        reading = scope["method"] in READING
        if not reading and origin is None and headers.get("sec-fetch-site") != "same-origin":
            reason = translate("This request does not say where it comes from.")
            return PlainTextResponse(f"{reason}\n", 403)
        if path in WITHOUT_LOGIN:
            return None
        session = self.sessions.find_visitor(Request(scope).cookies.get(cookie_name(scope), ""))
        if not session:
            if headers.get("hx-request"):
                # only a search leaves its page: on others a text may stand half written
                leaving = {"HX-Redirect": "/login"} if path == "/search" else None
                return PlainTextResponse(translate(ENDED_TEXT), 401, leaving)
            if not reading:
                return HTMLResponse(self._ended_page(headers.get("referer", "")), 401)
            query = scope["query_string"].decode("ascii", "replace")
            wanted = f"/login#{quote(path)}?{query}" if self.fixed else "/login"
            return RedirectResponse(wanted, 303)
        if session.read_only and not reading and path != "/logout":
            reason = translate("This page is read-only: nothing was changed.")
            return PlainTextResponse(f"{reason}\n", 403)
        scope["session_of"] = session
        return None


def cookie_name(scope: Scope) -> str:
    """Returns the name of the session's cookie. It contains the port, because browsers share
    cookies between the ports of a host.
    """
    return f"synaptic-{Request(scope).url.port or 0}"

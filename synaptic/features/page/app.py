"""`synaptic serve`: one ASGI program of the page and MCP, with one worker that owns the
journal.
"""

import logging
import os
import secrets
import socket
import time
import webbrowser
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from contextlib import (
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
    nullcontext,
    suppress,
)
from pathlib import Path
from typing import Any, NoReturn

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from ...config import load_config
from ...errors import ConfigError, InvalidArgument, NotFound, SynapticError
from ...serving.apart import run_apart
from ...serving.log import SparingHandler
from ...serving.roles import not_published
from ...serving.running import Running, announced, is_loopback
from ...serving.tokens import Grant, Tokens
from ...serving.worker import GRACE_S, Worker
from . import (
    attachments,
    browsers,
    days,
    edit_pages,
    entries,
    exporting,
    following,
    health_pages,
    moving,
    searching,
)
from .assets import Assets
from .browsers import SECRET, come_back, may_stay, open_session
from .connections import IDLE_S, Connection, Listener, most_connections
from .devices import Devices
from .guard import ANY_ADDRESS, Guard, Sessions, Visitor, cookie_name
from .site import HERE, Page, Site, form_of, page, session_of, show_error, site_of

log = logging.getLogger(__name__)


USED = "This link was used already, or is of an earlier start of Synaptic."
ADVICE = (
    "Put TLS in front, or the network can read what passes (docs/SERVE.md: Caddy, Tailscale)."
)


WAITING = 4_096
"""Connections that the system holds until they are accepted; it may allow fewer."""
SENDING_BYTES = 65_536
"""Bytes of an answer that the system buffers for a client; it may double that. 5 Mbit/s over
100 ms.
"""


def build_app(
    site: Site,
    hosts: Collection[str],
    mcp: Any,
    announcing: AbstractContextManager[None] | None = None,
) -> ASGIApp:
    """The program behind its guard; its worker ends with `mcp`, which answers `/mcp` while its
    `running` is entered. `announcing` is entered for the same time.
    """

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        with announcing or nullcontext():
            async with mcp.running():
                yield

    pages = _published(PAGES) if site.worker.is_published else PAGES
    app = Starlette(
        routes=[Route("/mcp", mcp), Mount("/static", Assets(HERE / "static")), *pages],
        exception_handlers={SynapticError: show_error, 404: show_error},
        lifespan=lifespan,
    )
    app.state.site = site
    app.state.follower = following.Follower()
    # outside of all, so that an answer of 500 has its headers, too
    return Guard(app, site.sessions, hosts, fixed=site.fixed)


def _published(pages: Sequence[Page]) -> list[Page]:
    """The pages of a server that reads what is published."""
    elsewhere = {"writer": _at_writer, "neither": _nowhere}
    rows = []
    for row in pages:
        endpoint = elsewhere.get(row.role)
        rows.append(Page(row.path, row.role, endpoint) if endpoint else row)
    return rows


async def _at_writer(request: Request) -> Response:
    """Redirects to the same page of the writer, which is another server."""
    writer = site_of(request).writer
    if not writer:
        raise NotFound(
            "This server only reads, and was not told which server writes the journal.",
            hint="Start it with `synaptic serve --read --writer URL`.",
        )
    return RedirectResponse(f"{writer}{request.url.path}?{request.url.query}".rstrip("?"), 303)


async def _nowhere(request: Request) -> Response:
    return PlainTextResponse(f"{not_published('This')}\n", 404)


async def _login(request: Request) -> Response:
    """Lets a browser in that has the link that was printed, or a token that opens the page."""
    if SECRET in request.headers and request.method == "POST":
        return await come_back(request)
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
        return _let_in(request, Visitor("person", site.read_only))
    if site.sessions.of(request.cookies.get(cookie_name(request.scope), "")):
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
        return _let_in(
            request,
            Visitor(
                grant.name,
                is_read_only,
                lambda: _page_grant(site, token) == grant,
                journals=grant.journals,
            ),
        )
    site.sessions.failed(address)
    wrong = "That token does not open this page."
    return await page(request, "login.html", 401, wrong=wrong)


def _page_grant(site: Site, token: str) -> Grant | None:
    """The grant of a token that opens the page.

    A file that cannot be used is named in the log only: anyone may ask.
    """
    try:
        grant = site.tokens.grant(token)
    except ConfigError as error:
        log.error("%s", error)
        return None
    return grant if grant and grant.page else None


def _let_in(request: Request, session: Visitor) -> Response:
    where = "/devices" if may_stay(request, session) else "/"
    answer = RedirectResponse(where, 303, {"Referrer-Policy": "no-referrer"})
    open_session(answer, request, session)
    return answer


async def _logout(request: Request) -> Response:
    await form_of(request)
    site = site_of(request)
    site.sessions.end(request.cookies.get(cookie_name(request.scope), ""))
    site.devices.remove(session_of(request).device)
    return RedirectResponse("/login", 303, {"Clear-Site-Data": '"cache", "storage"'})


PAGES = [
    Page("/login", "reader", _login, methods=["GET", "POST"]),
    Page("/logout", "reader", _logout, methods=["POST"]),
    *days.PAGES,
    *browsers.PAGES,
    *following.PAGES,
    *searching.PAGES,
    *entries.PAGES,
    *attachments.PAGES,
    *edit_pages.PAGES,
    *exporting.PAGES,
    *health_pages.PAGES,
    *moving.PAGES,
]
"""The pages. Two rows of a path have one role."""


def serve(
    home: str | Path | None,
    make_mcp_app: Callable[[Worker, Tokens, bool, str], Any],
    *,
    host: str,
    port: int | None = None,
    open_it: bool = False,
    read_only: bool = False,
    no_link: bool = False,
    token_file: str | None = None,
    allow_host: Collection[str] = (),
    publish: Sequence[str] | None = None,
    database: str = "",
    writer: str = "",
) -> None:
    """Serves until Ctrl-C; what is published in the `database`, whose journal is written by the
    server at `writer`. Raises ConfigError where the address cannot be had, and InvalidArgument.
    """
    local = is_loopback(host) and not allow_host
    tokens = Tokens(home, token_file, of_published=bool(database))
    grants = tokens.read()  # a file that cannot be used is the first error
    if not local and not (grants and token_file):
        command = f"synaptic token NAME --token-file {tokens.path}"
        raise InvalidArgument(
            "To listen for other machines, give --token-file with a token in it.",
            f"`{command}` writes one; give that file here, too.",
        )
    if port is None:
        with suppress(ConfigError):  # with a broken one the page says so
            port = load_config(home).port
    is_fixed = bool(port)
    listening = _listen(host, port or 0)
    address, port = listening.getsockname()[:2]
    names = {"127.0.0.1", "localhost", "::1", host.strip("[]"), address, *allow_host}
    if host in ("0.0.0.0", "::"):
        host = socket.gethostname()
        names |= {ANY_ADDRESS, host}
    at = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    running = Running(at, secrets.token_urlsafe(32), time.time()) if local else None
    sessions = Sessions(running)
    worker = Worker(home, read_only=read_only, address=database)
    only_shows = read_only or bool(database)
    roles = {row.path: row.role for row in PAGES}
    site = Site(
        worker, sessions, tokens, Devices(home), roles, only_shows, local, is_fixed, writer
    )
    link, way = f"{at}/login?token={sessions.link}", "this link works once"
    if no_link:
        sessions.link = ""
        link = at
        way = "`synaptic open --page` logs a browser in"
    text = f"Synaptic is at {link}\n({way}; Ctrl-C ends it). MCP: {at}/mcp"
    if not local:
        text += f"\n{ADVICE}"
    if publish is not None:
        run_apart(load_config(home), "publish", "--follow", *publish, parent=True)
    announcing = _greeting(home, running, text, link if open_it else "")
    refuses = read_only or bool(database and not writer)
    mcp = make_mcp_app(worker, tokens, refuses, writer)
    app = build_app(site, names, mcp, announcing)
    _run(app, listening, behind_proxy=bool(allow_host))


@contextmanager
def _greeting(
    home: str | Path | None, running: Running | None, text: str, link: str
) -> Iterator[None]:
    """A context in which other commands find the server. Its text is printed, and the link
    opened, when they do.
    """
    with announced(home, running) if running else nullcontext():
        print(text, flush=True)
        if link:
            webbrowser.open(link)
        yield


def _run(app: ASGIApp, listening: Listener, *, behind_proxy: bool) -> NoReturn:
    settings = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        ws="none",
        loop="asyncio",  # another would accept connections without the listener
        http=Connection,
        backlog=WAITING,
        timeout_keep_alive=IDLE_S,
        log_config=None,
        proxy_headers=behind_proxy,  # else anybody here could name addresses of their own
        timeout_graceful_shutdown=GRACE_S,
    )
    Connection.table.most = most_connections()
    logging.basicConfig(level=logging.WARNING, handlers=[SparingHandler()])
    status = 0
    try:
        uvicorn.Server(settings).run(sockets=[listening])
    except KeyboardInterrupt:
        status = 130
    os._exit(status)  # a thread that is still at work in the model would abort the process


def _listen(host: str, port: int) -> Listener:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        raise ConfigError(
            f"{host}:{port} cannot be used: {error}.",
            "Give another --port; 0 takes a free one. Where the page is served there "
            "already, `synaptic open --page` opens it.",
        ) from error
    # without it the end of an answer waits for 40 ms
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    # else the system would keep megabytes for each client that takes nothing
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SENDING_BYTES)
    return Listener(fileno=listening.detach())

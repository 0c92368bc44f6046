"""`synaptic serve`: one ASGI program of the page and MCP, with one worker that owns the
journal. Without the libraries of the page, of MCP alone.
"""

from __future__ import annotations

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
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from ...config import load_config
from ...errors import ConfigError, InvalidArgument, SynapticError
from ...models import frozen
from ...serving.failures import to_synaptic_error
from ...serving.log import SparingHandler
from ...serving.processes import start_synaptic
from ...serving.running import RunningServer, announce_server, is_loopback
from ...serving.tokens import Tokens
from ...serving.worker import GRACE_S, Worker
from .connections import IDLE_S, Connection, Listener, most_connections
from .devices import Devices
from .guard import ANY_ADDRESS, Guard, Sessions
from .phone_code import PHONE_PORT, PhoneCode

if TYPE_CHECKING:
    from .site import Site

ADVICE = (
    "Put TLS in front, or the network can read what passes (docs/SERVE.md: Caddy, Tailscale)."
)


WAITING = 4_096
"""The most connections that the system queues until they are accepted; it may allow fewer."""
SENDING_BYTES = 65_536
"""Bytes of an answer that the system buffers for one client; it may double that. Enough for 5
Mbit/s over 100 ms.
"""


def build_app(
    site: Site | None,
    sessions: Sessions,
    hosts: Collection[str],
    mcp: Any,
    announcing: AbstractContextManager[None] | None = None,
) -> ASGIApp:
    """Builds the ASGI application of the page and of MCP, behind its guard. Without a `site` it
    serves MCP alone.
    """

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        with announcing or nullcontext():
            async with mcp.running():
                yield

    app = Starlette(routes=[Route("/mcp", mcp)], lifespan=lifespan)
    if site:
        from .routes import add_pages

        add_pages(app, site)
    else:
        app.add_route("/{path:path}", _show_no_page)
    # outside of all, so that an answer of 500 has its headers, too
    language = site.language if site else None
    return Guard(app, sessions, hosts, fixed=bool(site and site.fixed), language=language)


async def _show_no_page(_: Request) -> Response:
    return PlainTextResponse("This server has no page, only MCP at /mcp.\n", 404)


@frozen
class Choices:
    """The options of `synaptic serve`. With a `database` it serves the journals published
    there, and forwards changes to the server at `writer`. `publish` are names of projects to
    publish after each save, or None. For a `phone` it asks for the address in the network.
    """

    host: str
    port: int | None = None
    open_it: bool = False
    read_only: bool = False
    no_link: bool = False
    token_file: str | None = None
    allow_host: Sequence[str] = ()
    phone: bool = False
    publish: Sequence[str] | None = None
    database: str = ""
    writer: str = ""

    @property
    def is_local(self) -> bool:
        """True if the server is only reachable from this machine."""
        return is_loopback(self.host) and not self.allow_host

    @property
    def only_shows(self) -> bool:
        """True if no page of this server changes anything."""
        return self.read_only or bool(self.database)


class _Address(NamedTuple):
    """Where a server listens: its `names` are those by which a browser may ask for it. A port
    that `is_fixed` is the same at the next start.
    """

    listener: Listener
    url: str
    port: int
    names: frozenset[str]
    is_fixed: bool


def serve_site(
    home: str | Path | None,
    make_mcp_app: Callable[[Worker, Tokens, bool, str], Any],
    choices: Choices,
) -> None:
    """Serves the page and MCP over HTTP until Ctrl-C. Raises ConfigError if the address cannot
    be used, and InvalidArgument.
    """
    missing = _error_for_missing_library()
    if choices.phone:
        choices = replace(choices, host=_choose_phone_address(choices, missing))
    tokens = Tokens(home, choices.token_file, serves_published=bool(choices.database))
    _require_tokens(tokens, choices)
    address = _listen(home, choices)
    running = None
    if (choices.is_local or choices.phone) and not missing:
        running = RunningServer(address.url, secrets.token_urlsafe(32), time.time())
    sessions = Sessions(running)
    worker = Worker(home, read_only=choices.read_only, address=choices.database)
    code = PhoneCode(address.url) if choices.phone else None
    site = None
    if not missing:
        from .routes import ROLES
        from .site import Site

        site = Site(
            worker,
            sessions,
            tokens,
            Devices(home),
            ROLES,
            read_only=choices.only_shows,
            local=choices.is_local,
            fixed=address.is_fixed,
            writer=choices.writer,
            phone=code,
            language=_language_of_page(home),
        )
    link = f"{address.url}/login?token={sessions.link}"
    if choices.no_link:
        sessions.link, link = "", address.url
    text = _describe_start(choices, address, link, missing, code)
    opened = link if choices.open_it and not missing else ""
    if choices.publish is not None:
        follow = ("publish", "--follow", *choices.publish)
        start_synaptic(load_config(home), *follow, parent=True)
    announcing = _announce_server(home, running, text, opened)
    refuses = choices.read_only or (bool(choices.database) and not choices.writer)
    mcp = make_mcp_app(worker, tokens, refuses, choices.writer)
    app = build_app(site, sessions, address.names, mcp, announcing)
    _run_server(app, address.listener, behind_proxy=bool(choices.allow_host))


def _require_tokens(tokens: Tokens, choices: Choices) -> None:
    """Raises InvalidArgument for a server that other machines reach without a token."""
    grants = tokens.read_grants()  # a file that cannot be used is the first error
    if choices.is_local or choices.phone or (grants and choices.token_file):
        return
    raise InvalidArgument(
        "A server that listens for other machines needs --token-file with at least one token.",
        f"`synaptic token NAME --token-file {tokens.path}` writes one; give that file here, "
        "too.",
    )


def _listen(home: str | Path | None, choices: Choices) -> _Address:
    """Opens the port that was given, or that of the settings, or a free one."""
    port, host = choices.port, choices.host
    if port is None:
        with suppress(ConfigError):  # with a broken one the page says so
            port = load_config(home).port
    if choices.phone:
        port = port or PHONE_PORT
    listener = _open_listener(host, port or 0)
    address, bound = listener.getsockname()[:2]
    names = {"127.0.0.1", "localhost", "::1", host.strip("[]"), address, *choices.allow_host}
    if host in ("0.0.0.0", "::"):
        host = socket.gethostname()
        names |= {ANY_ADDRESS, host}
    url = f"http://[{host}]:{bound}" if ":" in host else f"http://{host}:{bound}"
    return _Address(listener, url, bound, frozenset(names), bool(port))


def _language_of_page(home: str | Path | None) -> str:
    """Returns the language in the settings; empty for the language of each browser."""
    with suppress(ConfigError):  # with a broken one the page says so
        return load_config(home).language
    return ""


def _describe_start(
    choices: Choices,
    address: _Address,
    link: str,
    missing: SynapticError | None,
    code: PhoneCode | None,
) -> str:
    """The text for the terminal: where the server is, and how a browser is let in."""
    way = "this link works once"
    if choices.no_link:
        way = "`synaptic today --page` logs a browser in"
    if code:
        from .phones import phone_text

        text = f"Synaptic is at {link}\n(for this computer; {way}; Ctrl-C ends it).\n"
        return text + phone_text(code, address.port)
    text = f"Synaptic is at {link}\n({way}; Ctrl-C ends it). MCP: {address.url}/mcp"
    if missing:
        text = f"MCP is at {address.url}/mcp (Ctrl-C ends it).\nThere is no page. {missing}"
    return text if choices.is_local else f"{text}\n{ADVICE}"


def _choose_phone_address(choices: Choices, missing: SynapticError | None) -> str:
    """Returns the network address at which phones are served. Raises InvalidArgument beside the
    flags of another kind of server, and the error of a `missing` library.
    """
    if missing:
        raise missing
    if choices.allow_host or choices.database or choices.no_link:
        raise InvalidArgument(
            "--phone serves this journal in the own network, without a proxy or a database.",
            valid=("--phone", "--phone --host ADDRESS", "--port", "--read-only", "--open"),
        )
    from .phones import choose_address

    return choose_address(choices.host)


def _error_for_missing_library() -> SynapticError | None:
    """Returns the error for a library of the page that is not installed; None if all are
    installed.
    """
    try:
        import_module(f"{__package__}.routes")
    except ModuleNotFoundError as error:
        missing = to_synaptic_error(error)
        if not missing:
            raise
        return missing
    return None


@contextmanager
def _announce_server(
    home: str | Path | None, running: RunningServer | None, text: str, link: str
) -> Iterator[None]:
    """While the block runs, lets other commands find this server; prints `text`, and opens
    `link` in the browser, once they can.
    """
    with announce_server(home, running) if running else nullcontext():
        print(text, flush=True)
        if link:
            webbrowser.open(link)
        yield


def _run_server(app: ASGIApp, listening: Listener, *, behind_proxy: bool) -> NoReturn:
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


def _open_listener(host: str, port: int) -> Listener:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        raise ConfigError(
            f"{host}:{port} cannot be used: {error}.",
            "Give another --port; 0 takes a free one. Where the page is served there "
            "already, `synaptic today --page` opens it.",
        ) from error
    # without it the end of an answer waits for 40 ms
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    # else the system would keep megabytes for each client that takes nothing
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SENDING_BYTES)
    return Listener(fileno=listening.detach())

"""MCP over HTTP: `/mcp` of the program, by the SDK, for bearers of a token of `tokens.toml`.

The SDK takes longer to import than all the rest, so that is done once MCP is asked for, or else after LATER_S.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from ...errors import ConfigError
from .site import Site

if TYPE_CHECKING:
    from mcp.server.auth.provider import AccessToken
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

LATER_S = 2.0
log = logging.getLogger(__name__)


class Remote:
    """The ASGI application. It answers while `running` is entered, and its worker ends with that."""

    def __init__(self, site: Site) -> None:
        self._site, self._wanted = site, asyncio.Event()
        self._app: asyncio.Future[ASGIApp]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._wanted.set()
        app = await asyncio.shield(self._app)
        await app(scope, receive, send)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        self._app = asyncio.get_running_loop().create_future()
        serving = asyncio.create_task(self._serve())
        try:
            yield
        finally:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)
            self._site.worker.close()

    async def _serve(self) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._wanted.wait(), LATER_S)
        try:
            manager, app = await asyncio.to_thread(_made, self._site)
            async with manager.run():
                self._app.set_result(app)
                await asyncio.Event().wait()
        except Exception as error:
            log.exception("MCP over HTTP cannot be served")
            if not self._app.done():
                self._app.set_exception(error)


def _made(site: Site) -> tuple[StreamableHTTPSessionManager, ASGIApp]:
    from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend, RequireAuthMiddleware
    from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager

    from ..mcp.server import build_server

    manager = StreamableHTTPSessionManager(build_server(site.worker))
    app = RequireAuthMiddleware(StreamableHTTPASGIApp(manager), [])
    return manager, AuthenticationMiddleware(app, backend=BearerAuthBackend(_Verifier(site)))


class _Verifier:
    """Asks `tokens.toml` for the SDK; a token that opens the page opens no tool."""

    def __init__(self, site: Site) -> None:
        self._site = site

    async def verify_token(self, token: str) -> AccessToken | None:
        from mcp.server.auth.provider import AccessToken

        try:
            grant = self._site.tokens.grant(token)
        except ConfigError as error:
            log.error("%s", error)
            return None
        if grant is None or grant.page:
            return None
        claims = {"project": grant.project, "read_only": grant.read_only or self._site.read_only}
        return AccessToken(token=token, client_id=grant.name, scopes=[], claims=claims)

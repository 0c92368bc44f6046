"""MCP over HTTP: `/mcp` of the program, by the SDK, for bearers of a token of `tokens.toml`.

Each request stands alone, also in the era of sessions: nothing is kept between two of them, so
a client goes on after the server was started again, and a token that was taken out ends with
the answer that is under way. The server never speaks first, so there is no stream to open.

The SDK takes longer to import than all the rest, so that is done once MCP is asked for.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...errors import ConfigError
from ..serving.tokens import Tokens
from ..serving.worker import GRACE_S, Worker

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

log = logging.getLogger(__name__)


class Remote:
    """The ASGI application. It answers while `running` is entered, and its worker ends with
    that.
    """

    def __init__(self, worker: Worker, tokens: Tokens, read_only: bool) -> None:
        self._worker = worker
        self._tokens = tokens
        self._read_only = read_only
        self._wanted = asyncio.Event()
        self._app: asyncio.Future[ASGIApp]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if refused := self._refusal(scope):
            await refused(scope, receive, send)
        else:
            self._wanted.set()
            await (await asyncio.shield(self._app))(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        """The refusal of a request without a valid token; a valid one puts its Grant into the
        scope.
        """
        scheme, _, token = Headers(scope=scope).get("authorization", "").partition(" ")
        try:
            grant = self._tokens.grant(token.strip()) if scheme.lower() == "bearer" else None
        except ConfigError as error:
            log.error("%s", error)
            return _no(503, "The server's tokens cannot be read; its log says why.")
        if grant and not grant.page:
            scope["grant"] = replace(grant, read_only=grant.read_only or self._read_only)
            return (
                None
                if scope["method"] == "POST"
                else Response(status_code=405, headers={"Allow": "POST"})
            )
        cure = "`synaptic token NAME`, where the server runs, makes one."
        if grant:
            return _no(
                403,
                f"This token opens the page, and no tool. {cure}",
                'Bearer error="insufficient_scope"',
            )
        if token:
            return _no(
                401, f"The server knows no such token. {cure}", 'Bearer error="invalid_token"'
            )
        return _no(401, f"The request bears no token. {cure}", "Bearer")

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        self._app = asyncio.get_running_loop().create_future()
        serving = asyncio.create_task(self._serve())
        try:
            yield
        finally:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)
            await asyncio.to_thread(self._worker.close, GRACE_S)

    async def _serve(self) -> None:
        await self._wanted.wait()
        try:
            manager, app = await asyncio.to_thread(_made, self._worker)
            async with manager.run():
                self._app.set_result(app)
                await asyncio.Event().wait()
        except Exception as error:
            log.exception("MCP over HTTP cannot be served")
            if not self._app.done():
                self._app.set_exception(error)


def _no(status: int, why: str, asked: str = "") -> Response:
    """A refusal in the protocol's own form, so that clients show its words."""
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": why}}
    return JSONResponse(error, status, {"WWW-Authenticate": asked} if asked else None)


def _made(worker: Worker) -> tuple[StreamableHTTPSessionManager, ASGIApp]:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from mcp.server.transport_security import (
        DEFAULT_MAX_REQUEST_BODY_SIZE,
        RequestBodyLimitMiddleware,
    )

    from .server import build_server, readable

    manager = StreamableHTTPSessionManager(
        build_server(worker), json_response=True, stateless=True
    )

    async def mended(scope: Scope, receive: Receive, send: Send) -> None:
        """Hands on the request, whose body comes whole, as the SDK can read it."""
        message = await receive()
        with suppress(ValueError, RecursionError):  # which the SDK answers
            message["body"] = readable(message.get("body", b"").decode()).encode()
        given = [message]

        async def again() -> Message:
            return given.pop() if given else await receive()

        await manager.handle_request(scope, again, send)

    return manager, RequestBodyLimitMiddleware(mended, DEFAULT_MAX_REQUEST_BODY_SIZE)

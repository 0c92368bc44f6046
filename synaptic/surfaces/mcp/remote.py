"""MCP over HTTP: `/mcp` of the program, by the SDK, for bearers of a token of `tokens.toml`.

Each request stands alone, also in the era of sessions: nothing is kept between two of them, so
a client goes on after the server was started again, and a token that was taken out ends with
the answer that is under way. The server never speaks first, so there is no stream to open.

The SDK is imported when the server starts, not with the command line.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import anyio
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...errors import ConfigError
from ..serving.tokens import Tokens
from ..serving.worker import GRACE_S, Worker
from .forwarding import Forwarding
from .repeats import Repeats

log = logging.getLogger(__name__)
CURE = "`synaptic token NAME`, where the server runs, makes one."


class Remote:
    """The ASGI application. It answers while `running` is entered, and its worker ends with
    that. `writer` is the address of the server that writes the journal, if this one does not.
    """

    def __init__(self, worker: Worker, tokens: Tokens, read_only: bool, writer: str) -> None:
        self._worker = worker
        self._tokens = tokens
        self._read_only = read_only
        self._shared = {
            "repeats": Repeats(),
            "forwarding": Forwarding(writer) if writer else None,
        }
        self._app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self._refusal(scope) or self._app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        """The refusal of a request without a valid token; a valid one puts its Grant into the
        scope.
        """
        scheme, _, token = Headers(scope=scope).get("authorization", "").partition(" ")
        try:
            grant = self._tokens.grant(token.strip()) if scheme.lower() == "bearer" else None
        except ConfigError as error:
            log.error("%s", error)
            return _no(503, "The server's tokens cannot be read; its log says why.", "")
        if grant and grant.page:
            asked = 'Bearer error="insufficient_scope"'
            return _no(403, f"This token opens the page, and no tool. {CURE}", asked)
        if not grant and token:
            asked = 'Bearer error="invalid_token"'
            return _no(401, f"The server knows no such token of its journal. {CURE}", asked)
        if not grant:
            return _no(401, f"The request bears no token. {CURE}", "Bearer")
        scope["grant"] = grant._replace(read_only=grant.read_only or self._read_only)
        scope.update(self._shared)
        if scope["method"] != "POST":
            return Response(status_code=405, headers={"Allow": "POST"})
        return None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
        from mcp.server.transport_security import (
            DEFAULT_MAX_REQUEST_BODY_SIZE,
            RequestBodyLimitMiddleware,
        )

        from .server import build_server, readable

        manager = StreamableHTTPSessionManager(
            build_server(self._worker), json_response=True, stateless=True
        )

        async def mended(scope: Scope, receive: Receive, send: Send) -> None:
            """Hands on the request, whose body comes whole, as the SDK can read it; its answer
            is given up when the client goes.
            """
            message = await receive()
            with suppress(ValueError, RecursionError):  # which the SDK answers
                message["body"] = readable(message.get("body", b"").decode()).encode()
            given = [message]

            async def again() -> Message:
                return given.pop() if given else await receive()

            async with anyio.create_task_group() as tasks:

                async def leave() -> None:
                    while (await receive())["type"] != "http.disconnect":
                        pass
                    tasks.cancel_scope.cancel()

                tasks.start_soon(leave)
                await manager.handle_request(scope, again, send)
                tasks.cancel_scope.cancel()

        self._app = RequestBodyLimitMiddleware(mended, DEFAULT_MAX_REQUEST_BODY_SIZE)
        try:
            async with manager.run():
                yield
        finally:
            await asyncio.to_thread(self._worker.close, GRACE_S)


def _no(status: int, why: str, asked: str) -> Response:
    """A refusal in the protocol's own form, so that clients show its words."""
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": why}}
    return JSONResponse(error, status, {"WWW-Authenticate": asked} if asked else None)

"""MCP over HTTP: answers `/mcp` through the SDK, for clients with a token of `tokens.toml`.

Each request stands alone, also in the era of sessions: nothing is kept between two of them, so
a client goes on after the server was started again, and a token that was taken out ends with
the answer that is under way. The server never speaks first, so there is no stream to open.

The SDK is imported when the server starts, not with the command line.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..errors import ConfigError
from ..plugin import FORWARD
from ..serving.tokens import Tokens
from ..serving.worker import GRACE_S, Worker
from .repeats import Repeats

log = logging.getLogger(__name__)
TOKEN_ADVICE = "`synaptic token NAME`, where the server runs, makes one."


class Remote:
    """The ASGI application of MCP over HTTP. It answers while the context `running` is open,
    and closes its worker at the end. `writer` is the address of the server that writes the
    journal, "" if this one does.
    """

    def __init__(self, worker: Worker, tokens: Tokens, read_only: bool, writer: str) -> None:
        self._worker = worker
        self._tokens = tokens
        self._read_only = read_only
        self._shared = {
            "repeats": Repeats(),
            "forwarding": FORWARD.ask_only(writer) if writer else None,
        }
        self._app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self._check_token(scope) or self._app)(scope, receive, send)

    def _check_token(self, scope: Scope) -> Response | None:
        """Returns an error response to a request without a valid token; None after putting the
        Grant of a valid token into the scope.
        """
        scheme, _, token = Headers(scope=scope).get("authorization", "").partition(" ")
        try:
            grant = (
                self._tokens.find_grant(token.strip()) if scheme.lower() == "bearer" else None
            )
        except ConfigError as error:
            log.error("%s", error)
            return _refusal_response(
                503, "The server cannot read its file of tokens. Its log says why.", ""
            )
        if not grant or grant.page:
            status, challenge = 401, "Bearer"
            why = "The request has no token in its header Authorization: Bearer."
            if grant:
                status, challenge = 403, 'Bearer error="insufficient_scope"'
                why = "This token is for the page only, not for MCP."
            elif token:
                challenge = 'Bearer error="invalid_token"'
                why = "This token is not valid for this server."
            return _refusal_response(status, f"{why} {TOKEN_ADVICE}", challenge)
        scope["grant"] = grant._replace(read_only=grant.read_only or self._read_only)
        scope.update(self._shared)
        if scope["method"] != "POST":
            return Response(status_code=405, headers={"Allow": "POST"})
        return None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Makes the SDK's server and accepts requests while the context is open."""
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
        from mcp.server.transport_security import (
            DEFAULT_MAX_REQUEST_BODY_SIZE,
            RequestBodyLimitMiddleware,
        )

        from .server import build_server

        manager = StreamableHTTPSessionManager(
            build_server(self._worker), json_response=True, stateless=True
        )

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            """Answers a request whose body has arrived whole; stops if the client
            disconnects.
            """
            body = (await receive()).get("body", b"")
            async with anyio.create_task_group() as tasks:

                async def leave() -> None:
                    while (await receive())["type"] != "http.disconnect":
                        pass
                    tasks.cancel_scope.cancel()

                tasks.start_soon(leave)
                await _answer_body(body, scope, receive, send, manager.handle_request)
                tasks.cancel_scope.cancel()

        self._app = RequestBodyLimitMiddleware(answer, DEFAULT_MAX_REQUEST_BODY_SIZE)
        try:
            async with manager.run():
                yield
        finally:
            await asyncio.to_thread(self._worker.close, GRACE_S)


async def _answer_body(
    body: bytes, scope: Scope, receive: Receive, send: Send, app: ASGIApp
) -> None:
    """Lets the SDK's `app` answer each message of the body, one after another, and sends the
    answers. An array of messages gets an array of answers.
    """
    from .messages import ARRAY_VERSION, Refusal, message_line, read_messages

    # a client that names no version speaks the first one that went over HTTP
    version = Headers(scope=scope).get("mcp-protocol-version", ARRAY_VERSION)
    messages = read_messages(body.decode("utf-8", "replace"), version)
    if not messages.in_array:
        for message in messages.each:
            if isinstance(message, Refusal):
                await JSONResponse(message.as_json(), 400)(scope, receive, send)
                return
            body = message_line(message).encode()
        await app(scope, _receive_after(body, receive), send)
        return
    answers = []
    for number, message in enumerate(messages.each):
        if isinstance(message, Refusal):
            answers.append(message.as_json())
            continue
        answer = AnswerBody()
        one = _number_idempotency_key(scope, number)
        await app(one, _receive_after(message_line(message).encode(), receive), answer.send)
        if answer.body:
            answers.append(json.loads(answer.body))
    response = JSONResponse(answers) if answers else Response(status_code=202)
    await response(scope, receive, send)


class AnswerBody:
    """Collects the body of an answer that the SDK sends; it stays empty for a notification."""

    def __init__(self) -> None:
        self.body = b""

    async def send(self, message: Message) -> None:
        self.body += message.get("body", b"")


def _receive_after(body: bytes, receive: Receive) -> Receive:
    """Returns an ASGI `receive` that gives the body first, then the messages of the given
    `receive`.
    """
    messages: list[Message] = [{"type": "http.request", "body": body}]

    async def read() -> Message:
        return messages.pop() if messages else await receive()

    return read


def _number_idempotency_key(scope: Scope, number: int) -> Scope:
    """Returns the scope for one message of an array: its Idempotency-Key has the number added,
    so that each message has a key of its own.
    """
    headers = []
    for name, value in scope["headers"]:
        own = f"/{number}".encode() if name == b"idempotency-key" else b""
        headers.append((name, value + own))
    return {**scope, "headers": headers}


def _refusal_response(status: int, why: str, challenge: str) -> Response:
    """Returns an HTTP error response with a JSON-RPC error, so that clients show `why`.
    `challenge` is the value of the header WWW-Authenticate.
    """
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": why}}
    return JSONResponse(error, status, {"WWW-Authenticate": challenge} if challenge else None)

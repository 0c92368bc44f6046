"""The MCP server: tools, resources and prompts over stdio, in both eras of the protocol.

Built on the SDK's low-level `Server`, which leaves schemas, argument checks and error texts to
us, where `MCPServer` would derive schemas with titles and null unions, drop unknown arguments
and show pydantic's words.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast, get_args

import anyio
from mcp import types
from mcp.server import Server, ServerRequestContext
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.context import CallNext, HandlerResult
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

from ..config import resolve_home
from ..errors import InvalidArgument, Refused, SynapticError
from ..journal.withdrawal import Withdrawal
from ..models import Texts
from ..notes.screening import Screen
from ..render.fence import one_line
from ..render.present import shorten_message
from ..render.wire import error_json
from ..serving.failures import name_as_typed, to_user_error
from ..serving.positions import POSITION, Forwards, IndexPosition
from ..serving.roles import not_published_error
from ..serving.tokens import Grant
from ..serving.tool_lists import HEADER, WHOLE
from ..serving.worker import (
    ClientState,
    Lane,
    Result,
    Verb,
    Worker,
    run_elsewhere,
    run_for_client,
)
from ..workspace.checkout import ELSEWHERE
from ..workspace.sync import in_step
from ..workspace.workspace import Workspace
from .answers import answer_tool, day_text, entry_text, review_text
from .calls import Call
from .client_folder import ClientFolder
from .front import HOUR_MS, LISTS, Front, server_info
from .lines import AnswerStream, ClientLines, OpenCalls
from .messages import replace_surrogates
from .prompts import PROMPTS
from .texts import ANSWER_CHARS, json_text, reword_for_agents, shorten_json
from .tools import (
    HELP_RESOURCES,
    HELP_URI,
    INSTRUCTIONS,
    MORE,
    READING_TOOLS,
    TOOL_LISTS,
    TOOLS_BY_NAME,
    check_arguments,
    explain_tool,
    help_text,
    parameters_as_typed,
    read_more,
)

log = logging.getLogger(__name__)

WARM_UP_AFTER_S = 0.02
"""Seconds between the first answer and the start of the worker, so that the answer is written
first.
"""
CATCH_UP_S, LOOK_S = 2.0, 0.05
"""Seconds that a read waits until a save is published, and seconds between two checks."""
NOT_PUBLISHED_YET = (
    "Your newest save may be missing here: it is not published yet. Ask again in a second."
)

Model = TypeVar("Model", bound=BaseModel)
Context = ServerRequestContext[Worker, Any]


def serve_stdio(home: str | Path | None, front: Front) -> None:
    """Answers the messages that `front` did not answer, and ends the process when the client
    has closed its end.
    """
    with suppress(SynapticError):
        home = resolve_home(home)  # before the client names another folder
    logging.basicConfig(
        level=logging.WARNING, stream=sys.stderr, format="synaptic: %(levelname)s: %(message)s"
    )
    status = 0
    try:
        try:
            asyncio.run(_serve_stdio(home, front))
        except* BrokenPipeError:
            pass  # nobody reads the answers
    except BaseException:
        log.exception("the server ends")
        status = 1
    finally:
        os._exit(status)  # threads may still be at work


async def _serve_stdio(home: str | Path | None, front: Front) -> None:
    worker = Worker(home, readers=0)
    server = build_server(worker, front.tool_list, ClientFolder())
    calls = OpenCalls(worker.withdrawals)
    lines = ClientLines(front, calls)
    front.hand_over()  # before the SDK takes stdout
    async with stdio_server(cast("anyio.AsyncFile[str]", lines)) as (reading, writing):
        lines.send = writing.send
        answers = AnswerStream(writing, calls, front.early.opening)
        await server.run(reading, answers, server.create_initialization_options())


def build_server(
    worker: Worker, tool_list: str = WHOLE, folder: ClientFolder | None = None
) -> Server[Worker]:
    """Returns an MCP server that runs its calls on this worker, in the `folder` of the one
    client, and shows clients the tools of this list. The worker starts with the first request
    after the handshake, and is closed with the server.
    """

    @asynccontextmanager
    async def lifespan(_: Server[Worker]) -> AsyncIterator[Worker]:
        try:
            yield worker
        finally:
            worker.close()

    server = Server(
        **server_info(),
        instructions=INSTRUCTIONS,
        lifespan=lifespan,
        on_list_tools=partial(_list_tools, tool_list),
        on_call_tool=partial(_call_tool, tool_list, folder),
        on_list_resources=_list_handler(types.ListResourcesResult, "resources/list"),
        on_list_resource_templates=_list_handler(
            types.ListResourceTemplatesResult, "resources/templates/list"
        ),
        on_read_resource=_read_resource,
        on_list_prompts=_list_handler(types.ListPromptsResult, "prompts/list"),
        on_get_prompt=_get_prompt,
        # what is read is a person's, and changes at any moment: the SDK's default
        cache_hints={
            name: CacheHint(HOUR_MS, "private" if name == "tools/list" else "public")
            for name in get_args(CacheableMethod)
            if name != "resources/read"
        },
    )
    server.middleware.append(_warm_up)
    return server


async def _warm_up(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Starts the worker after the first request that is not `initialize`."""
    try:
        return await call_next(ctx)
    finally:
        if ctx.method != "initialize":
            asyncio.get_running_loop().call_later(WARM_UP_AFTER_S, ctx.lifespan_context.start)


def _list_handler(kind: type[Model], method: str) -> Callable[[Context, Any], Awaitable[Model]]:
    """Returns a handler that answers every client with the same list, of LISTS."""
    result = kind.model_validate(LISTS[method])

    async def answer(_: Context, __: Any) -> Model:
        return result

    return answer


# -- tools
# ----------------------------------------------------------------------------------------------


async def _list_tools(
    tool_list: str, ctx: Context, _: types.PaginatedRequestParams | None
) -> types.ListToolsResult:
    """Returns the tools of this list, over HTTP of the list that the request's header names;
    for a client that may only read, the tools that read.
    """
    tool_list = _client_tool_list(tool_list, ctx)
    if tool_list not in TOOL_LISTS:
        raise _protocol_error(
            f"There is no list of tools {tool_list!r}. Valid in the header {HEADER}: "
            f"{', '.join(TOOL_LISTS)}."
        )
    grant = _client_grant(ctx)
    tools = TOOL_LISTS[tool_list]
    if grant and grant.read_only:
        tools = [tool for tool in tools if tool["name"] in (*READING_TOOLS, MORE.name)]
    return types.ListToolsResult.model_validate({"tools": tools})


def _client_tool_list(tool_list: str, ctx: Context) -> str:
    """Returns the name of the client's list of tools: of the server's, or over HTTP that of the
    request's header.
    """
    return str(ctx.request.headers.get(HEADER, tool_list)) if ctx.request else tool_list


async def _call_tool(
    tool_list: str,
    folder: ClientFolder | None,
    ctx: Context,
    params: types.CallToolRequestParams,
) -> types.CallToolResult:
    """Returns the answer of a tool; an error becomes an answer with the error's text."""
    name, arguments = params.name, params.arguments or {}
    tools = _client_tool_list(tool_list, ctx)
    try:
        if folder:
            await folder.enter(ctx.session)
            ELSEWHERE.set(folder.is_unclear)
        if name == MORE.name:
            tool, inner = read_more(arguments)
            if inner is None:
                return _tool_result(explain_tool(tool))
            name, arguments = tool.name, inner
        if name not in TOOLS_BY_NAME:
            raise InvalidArgument(f"There is no tool {name!r}.", valid=TOOLS_BY_NAME)
        if name in READING_TOOLS:
            return await _answer_call(ctx, tools, name, arguments)
        if ctx.request:
            async with _client_state(ctx).turns.writing():
                return await _answer_write(ctx, tools, name, arguments)
        with _withdrawable(ctx) as withdrawal:
            async with _client_state(ctx).turns.writing():
                return await _answer_call(ctx, tools, name, arguments, withdrawal)
    except Exception as error:
        return _error_result(error, name, arguments)


@contextmanager
def _withdrawable(ctx: Context) -> Iterator[Withdrawal]:
    """A context in which the client may withdraw this call by its id (see `OpenCalls`)."""
    calls = ctx.lifespan_context.withdrawals
    id = str(ctx.request_id)
    calls[id] = withdrawal = Withdrawal()
    try:
        yield withdrawal
    finally:
        calls.pop(id, None)


async def _answer_write(
    ctx: Context, tools: str, name: str, arguments: dict[str, Any]
) -> types.CallToolResult:
    """Returns the answer of a tool that writes, to a client over HTTP. The call is passed to
    the server that writes the journal, if that is another one. A repeated Idempotency-Key gets
    the first answer again.
    """
    request: Any = ctx.request
    grant = request.scope["grant"]
    if grant.read_only:
        works = f"These work: {', '.join(READING_TOOLS)}."
        raise Refused(
            "Your token may only read on this server, so nothing was written.", hint=works
        )
    key = request.headers.get("idempotency-key", "")
    forwarding = request.scope["forwarding"]
    if forwarding:
        bearer = request.headers["authorization"]
        params = {"name": name, "arguments": arguments}
        result = await forwarding.call(grant.name, bearer, key, params)
        return types.CallToolResult.model_validate(result)
    if not key:
        return await _answer_call(ctx, tools, name, arguments)

    async def make() -> types.CallToolResult:
        try:
            return await _answer_call(ctx, tools, name, arguments)
        except Exception as error:
            return _error_result(error, name, arguments)

    call = json.dumps([name, arguments], sort_keys=True)
    return cast(
        "types.CallToolResult",
        await request.scope["repeats"].answer_once(grant.name, key, call, make),
    )


async def _answer_call(
    ctx: Context,
    tools: str,
    name: str,
    arguments: dict[str, Any],
    withdrawal: Withdrawal | None = None,
) -> types.CallToolResult:
    worker = ctx.lifespan_context
    grant = _client_grant(ctx)
    args = check_arguments(TOOLS_BY_NAME[name], arguments)
    params = ctx.session.client_params
    client = None
    if grant:
        client = grant.name
    elif params:
        # as entries and counts may hold it: screened before it is cut
        screened_name = Screen("redact").mark(
            "client's name", one_line(params.client_info.name)
        )
        client = screened_name[:60] or None
    by_meaning = "query" in args and args.get("strategy") != "lexical"
    notices: Texts = ()
    if name in READING_TOOLS:
        notices = await _wait_for_turn(ctx, by_meaning=by_meaning)
    elif name == "context_save":
        await worker.wait_for_model()
    call = Call(
        args,
        client,
        worker.loading,
        session="" if grant else worker.session,
        server_began=worker.began,
        may_write=not (grant and grant.read_only),
        notices=notices,
        client_state=_client_state(ctx),
        tool_list=tools,
    )
    lane: Lane = "write"
    if "as_of" in args and grant:  # it holds a copy of the index in memory
        lane = "slow"
    elif (
        name in READING_TOOLS and name != "context_brief"
    ):  # which keeps how far a client has read
        lane = "read"
    writes = grant is not None and name not in READING_TOOLS

    def run(ws: Workspace) -> tuple[str, str]:
        return answer_tool(ws, name, call), _index_position(ws) if writes else ""

    text, position = await _ask_worker(ctx, run, lane, withdrawal)
    return _tool_result(text, _meta={POSITION: position} if position else None)


def _index_position(ws: Workspace) -> str:
    """Returns the position of the index after a change; "" where the index could not be
    updated.
    """
    with suppress(SynapticError):
        return str(IndexPosition(*ws.index.latest_change()))
    return ""


def _client_state(ctx: Context) -> ClientState:
    """Returns what is kept of this client, or token."""
    grant = _client_grant(ctx)
    return ctx.lifespan_context.clients[grant.name if grant else ""]


async def _wait_for_turn(ctx: Context, *, by_meaning: bool = False) -> Texts:
    """Waits until the writes that this client sent before are done. The caller must then queue
    its read at once.

    With `by_meaning` it also waits until the embedding model was loaded, or failed to load.
    Returns a notice where a write of this client may still be missing.
    """
    worker = ctx.lifespan_context
    forwarding = ctx.request.scope["forwarding"] if ctx.request else None
    if forwarding:
        notices = await _wait_for_publication(ctx, forwarding)
        if by_meaning:
            await worker.wait_for_model()
        return notices
    async with _client_state(ctx).turns.reading():
        if by_meaning:
            await worker.wait_for_model()
    return ()


async def _wait_for_publication(ctx: Context, forwarding: Forwards) -> Texts:
    """Waits until the published journal shows the changes that this token made through this
    server, at most CATCH_UP_S seconds. Returns a notice if it still does not.
    """
    grant = _client_grant(ctx)
    name = grant.name if grant else ""
    until = time.monotonic() + CATCH_UP_S
    patience_s = 0 if name in forwarding.behind else CATCH_UP_S
    try:
        async with asyncio.timeout(patience_s), _client_state(ctx).turns.reading():
            pass
    except TimeoutError:  # the writer has not answered
        return (NOT_PUBLISHED_YET,)
    while (position := forwarding.newest.get(name)) is not None:
        positions = await _ask_worker(
            ctx, lambda ws: in_step(ws, lambda _: ws.index.change_positions())
        )
        if any(position.is_included_in(IndexPosition(*pair)) for pair in positions):
            forwarding.newest.pop(name)
            break
        if name in forwarding.behind or time.monotonic() >= until:
            forwarding.behind.add(name)
            return (NOT_PUBLISHED_YET,)
        await asyncio.sleep(LOOK_S)
    return ()


def _client_grant(ctx: Context) -> Grant | None:
    """Returns the rights of a client over HTTP; None for a client over stdio."""
    return cast("Grant | None", ctx.request.scope["grant"]) if ctx.request else None


async def _ask_worker(
    ctx: Context, verb: Verb[Result], lane: Lane = "read", withdrawal: Withdrawal | None = None
) -> Result:
    """Runs the verb on a thread of this lane, with the rights of this client, and returns its
    result.
    """
    if grant := _client_grant(ctx):
        verb = partial(run_for_client, verb, grant)
    elif ELSEWHERE.get():
        verb = partial(run_elsewhere, verb)
    return await ctx.lifespan_context.ask(verb, lane, withdrawal)


def _tool_result(text: str, **more: Any) -> types.CallToolResult:
    content = types.TextContent(type="text", text=replace_surrogates(text))
    return types.CallToolResult(content=[content], **more)


def _error_result(
    error: Exception, name: str, arguments: dict[str, Any]
) -> types.CallToolResult:
    as_json = str(arguments.get("format")).strip().lower() == "json"
    own = to_user_error(error)
    name_as_typed(own, parameters_as_typed(name, arguments))
    return _tool_result(_error_text(own, as_json), is_error=True)


def _error_text(error: SynapticError, as_json: bool = False) -> str:
    if as_json:
        return reword_for_agents(json_text(shorten_json(error_json(error), ANSWER_CHARS)))
    return reword_for_agents(shorten_message(str(error)))


# -- resources and prompts
# ------------------------------------------------------------------------------


JOURNAL_URI = "synaptic://journal/"
ENTRY_URI = "synaptic://entry/"
MOST_URI_CHARS = 1_000


async def _read_resource(
    ctx: Context, params: types.ReadResourceRequestParams
) -> types.ReadResourceResult:
    uri = str(params.uri)
    try:
        if len(uri) > MOST_URI_CHARS:
            valid = [f"1 to {MOST_URI_CHARS:,} characters"]
            raise InvalidArgument(
                f"The URI of the resource has {len(uri):,} characters.", valid=valid
            )
        if uri.startswith(ENTRY_URI):
            await _wait_for_turn(ctx)
            text = await _ask_worker(
                ctx, lambda ws: entry_text(ws, uri.removeprefix(ENTRY_URI))
            )
        elif uri.startswith(JOURNAL_URI):
            await _wait_for_turn(ctx)
            text = await _ask_worker(
                ctx, lambda ws: day_text(ws, uri.removeprefix(JOURNAL_URI))
            )
        elif uri.startswith(HELP_URI):
            text = help_text(uri.removeprefix(HELP_URI))
        else:
            templates = LISTS["resources/templates/list"]["resourceTemplates"]
            valid = [template["uriTemplate"] for template in templates]
            valid += [resource["uri"] for resource in HELP_RESOURCES]
            raise InvalidArgument(f"There is no resource {uri}.", valid=valid)
    except SynapticError as error:
        raise _protocol_error(_error_text(error), uri=uri) from error
    content = types.TextResourceContents(uri=params.uri, mime_type="text/markdown", text=text)
    return types.ReadResourceResult(contents=[content])


def _protocol_error(message: str, **data: str) -> MCPError:
    """Returns the error that refuses a resource or prompt, for the SDK to send."""
    data = {name: shorten_message(value) for name, value in data.items()}
    return MCPError(code=types.INVALID_PARAMS, message=shorten_message(message), data=data)


async def _get_prompt(
    ctx: Context, params: types.GetPromptRequestParams
) -> types.GetPromptResult:
    prompt = PROMPTS.get(params.name)
    if not prompt:
        raise _protocol_error(
            f"There is no prompt {params.name!r}. Valid: {', '.join(PROMPTS)}."
        )
    arguments = dict(params.arguments or {})
    value = shorten_message(arguments.pop(prompt.argument, ""))
    for unknown in arguments:
        raise _protocol_error(
            f"{prompt.name} has no argument {unknown!r}. Valid: {prompt.argument}."
        )
    findings = ""
    if ctx.lifespan_context.is_published and prompt.role != "reader":
        raise _protocol_error(_error_text(not_published_error(f"The prompt {prompt.name}")))
    if prompt.name == "review":
        await _wait_for_turn(ctx)
        findings = await _ask_worker(ctx, partial(review_text, project=value), "process")
    text = prompt.text.format(of=f": {value}" if value else "", findings=findings)
    content = types.TextContent(type="text", text=text)
    message = types.PromptMessage(role="user", content=content)
    return types.GetPromptResult(messages=[message])

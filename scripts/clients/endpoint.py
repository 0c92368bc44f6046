"""A model for real clients: an endpoint on 127.0.0.1 that speaks the provider's API and says
what a script lets it say.

As the clients' proxy it refuses every other host.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]
Call = tuple[str, Json]
"""A tool and its arguments."""
Say = Callable[[Json], Call | None]
"""Gets a request, and returns the tool that the model calls; None where it is done."""
DONE = "Done."


# -- the APIs of the providers
# --------------------------------------------------------------------------


def tools_of(body: Json) -> list[str]:
    """The names of the tools of a request, wherever its API has them."""
    schemas = ("input_schema", "parameters", "parametersJsonSchema")
    named = [each for each in dicts(body) if "name" in each]
    return [str(each["name"]) for each in named if any(map(each.get, schemas))]


def results_of(body: Json) -> list[str]:
    """The texts that tools answered up to this request, as the model reads them."""
    found: list[Any] = []
    for each in dicts(body):
        if "functionResponse" in each:
            found.append(each["functionResponse"]["response"].get("output", each))
        elif str(each.get("type")).endswith(("tool_result", "call_output", "search_output")):
            found.append(each.get("content", each.get("output", each.get("tools"))))
    return [text(content) for content in found]


def texts_of(value: Any) -> Iterator[str]:
    """Every text of a request but the names of its fields."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from texts_of(list(value.values()))
    elif isinstance(value, list):
        for each in value:
            yield from texts_of(each)


def text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(text(part.get("text", part)) for part in content)
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def dicts(value: Any) -> Iterator[Json]:
    inner: Iterable[Any] = ()
    if isinstance(value, dict):
        yield value
        inner = value.values()
    elif isinstance(value, list):
        inner = value
    for each in inner:
        yield from dicts(each)


def _messages(call: Call | None, number: int) -> list[Json]:
    """An answer of Anthropic Messages."""
    block: Json = {"type": "text", "text": ""}
    delta: Json = {"type": "text_delta", "text": DONE}
    if call:
        tool, args = call
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": tool, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(args)}
    message = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": "any",
        "content": [],
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    ended = {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}
    return [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]


def _responses(call: Call | None, number: int) -> list[Json]:
    """An answer of OpenAI Responses."""
    item: Json = {
        "type": "message",
        "role": "assistant",
        "id": f"msg_{number}",
        "content": [{"type": "output_text", "text": DONE}],
    }
    if call:
        tool, args = call
        item = {
            "type": "function_call",
            "name": tool.removeprefix("mcp__synaptic__"),
            "arguments": json.dumps(args),
            "call_id": f"call_{number}",
        }
        if item["name"].startswith("context_"):
            item["namespace"] = "mcp__synaptic"
        elif tool == "spawn_agent":
            item["namespace"] = "multi_agent_v1"
        elif tool == "tool_search":
            item |= {"type": "tool_search_call", "execution": "client", "arguments": args}
        elif tool == "apply_patch":
            item |= {"type": "custom_tool_call", **args}
    response = {"id": f"resp_{number}"}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    return [
        {"type": "response.created", "response": response},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": response | {"usage": usage}},
    ]


def _generate(call: Call | None, number: int) -> list[Json]:
    """An answer of Gemini."""
    part: Json = {"text": DONE}
    if call:
        tool, args = call
        part = {"functionCall": {"name": tool, "args": args}}
    content = {"role": "model", "parts": [part]}
    candidate = {"content": content, "index": 0, "finishReason": "STOP"}
    return [{"candidates": [candidate], "usageMetadata": {"totalTokenCount": 2}}]


ANSWERS = {
    "/messages": _messages,
    "/responses": _responses,
    ":streamGenerateContent": _generate,
}
"""By the end of the path that is asked."""


class Endpoint(ThreadingHTTPServer):
    """A model that calls the tools that `say` returns. `seen` are the requests."""

    daemon_threads = True

    def __init__(self, say: Say) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.say = say
        self.seen: list[Json] = []
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that ends cuts its connections."""


class _Handler(BaseHTTPRequestHandler):
    """Answers POST alone, so that no other host is reached through it."""

    server: Endpoint
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        for end, answer in ANSWERS.items():
            if self.path.partition("?")[0].endswith(end):
                self.server.seen.append(body)
                self._send(answer(self.server.say(body), len(self.server.seen)))
                return
        self.send_error(404)

    def _send(self, events: list[Json]) -> None:
        data = b""
        for event in events:
            if "type" in event:
                data += f"event: {event['type']}\n".encode()
            data += f"data: {json.dumps(event)}\n\n".encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        pass

"""A model for real clients: an endpoint on 127.0.0.1 that speaks the provider's API and says
what a script lets it say.

As the clients' proxy it refuses every other host.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

Json = dict[str, Any]
Call = tuple[str, Json]
"""A tool and its arguments."""


class Reply(NamedTuple):
    """A model's answer: its thought, its text and its tool calls."""

    text: str = ""
    calls: Sequence[Call] = ()
    thought: str = ""


# -- the APIs of the providers
# --------------------------------------------------------------------------


def tools_of(body: Json) -> list[Json]:
    """The tools of a request, wherever its API has them."""
    schemas = ("input_schema", "parameters", "parametersJsonSchema", "format")
    return [each for each in dicts(body) if name_of(each) and any(map(each.get, schemas))]


def name_of(tool: Json) -> str:
    found = tool.get("name", tool.get("type"))  # OpenAI's own tools have a type alone
    return found if isinstance(found, str) else ""


def results_of(body: Json) -> list[str]:
    """What tools answered up to this request, as the model reads it: the texts of blocks,
    anything else as JSON.
    """
    found: list[Any] = []
    for each in dicts(body):
        if "functionResponse" in each:
            found.append(each["functionResponse"]["response"].get("output", each))
        elif str(each.get("type")).endswith(("tool_result", "call_output", "search_output")):
            found.append(each.get("content", each.get("output", each.get("tools"))))
    return [text(content) for content in found]


def text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(text(part.get("text", part)) for part in content)
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def dicts(value: Any) -> Iterator[Json]:
    if isinstance(value, dict):
        yield value
    for inner in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        yield from dicts(inner)


def _messages(
    body: Json,
    reply: Reply,
    number: int,
) -> bytes:
    """An answer of Anthropic Messages."""
    blocks: list[tuple[Json, list[Json]]] = []
    if reply.thought:
        deltas = [
            {"type": "thinking_delta", "thinking": reply.thought},
            {"type": "signature_delta", "signature": "c2ln"},
        ]
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, deltas))
    if reply.text:
        blocks.append(
            ({"type": "text", "text": ""}, [{"type": "text_delta", "text": reply.text}])
        )
    for place, (tool, args) in enumerate(reply.calls):
        block = {"type": "tool_use", "id": f"toolu_{number}_{place}", "name": tool, "input": {}}
        blocks.append((block, [{"type": "input_json_delta", "partial_json": json.dumps(args)}]))
    message: Json = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
    }
    message |= {"content": [], "usage": {"input_tokens": 1, "output_tokens": 1}}
    ended = {"stop_reason": "tool_use" if reply.calls else "end_turn", "stop_sequence": None}
    events: list[Json] = [
        {
            "type": "message_start",
            "message": message | {"usage": {"input_tokens": 1, "output_tokens": 1}},
        }
    ]
    for index, (block, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [
            {"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas
        ]
        events.append({"type": "content_block_stop", "index": index})
    events.append({"type": "message_delta", "delta": ended, "usage": {"output_tokens": 1}})
    return _events(*events, {"type": "message_stop"})


def _responses(
    body: Json,
    reply: Reply,
    number: int,
) -> bytes:
    """An answer of OpenAI Responses."""
    items: list[Json] = []
    if reply.thought:
        summary = [{"type": "summary_text", "text": reply.thought}]
        items.append(
            {
                "type": "reasoning",
                "id": f"rs_{number}",
                "summary": summary,
                "encrypted_content": "gAAAA",
            }
        )
    if reply.text:
        content = [{"type": "output_text", "text": reply.text}]
        items.append(
            {"type": "message", "role": "assistant", "id": f"msg_{number}", "content": content}
        )
    for place, (tool, args) in enumerate(reply.calls):
        freeform = {"type": "custom_tool_call", "name": tool, "input": args.get("input")}
        kinds: dict[str, Json] = {
            "exec": freeform | {"namespace": "functions"},
            "apply_patch": freeform,
            "tool_search": {
                "type": "tool_search_call",
                "execution": "client",
                "arguments": args,
            },
        }
        function: Json = {"type": "function_call", "name": tool, "arguments": json.dumps(args)}
        if tool.startswith("context_"):
            function["namespace"] = "mcp__synaptic"
        items.append(kinds.get(tool, function) | {"call_id": f"call_{number}_{place}"})
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    return _events(
        {"type": "response.created", "response": {"id": f"resp_{number}"}},
        *(
            {"type": "response.output_item.done", "output_index": at, "item": item}
            for at, item in enumerate(items)
        ),
        {"type": "response.completed", "response": {"id": f"resp_{number}", "usage": usage}},
    )


def _generate(
    body: Json,
    reply: Reply,
    number: int,
) -> bytes:
    """An answer of Gemini."""
    parts: list[Json] = [{"text": reply.thought, "thought": True}] if reply.thought else []
    parts += [{"text": reply.text}] if reply.text else []
    parts += [{"functionCall": {"name": name, "args": args}} for name, args in reply.calls]
    contents = [{"content": {"role": "model", "parts": [part]}, "index": 0} for part in parts]
    contents[-1]["finishReason"] = "STOP"
    return _events(
        *(
            {"candidates": [found], "usageMetadata": {"totalTokenCount": 2}}
            for found in contents
        )
    )


def _generate_whole(
    body: Json,
    reply: Reply,
    number: int,
) -> bytes:
    """An answer of Gemini that is not streamed."""
    return json.dumps(
        {"candidates": [{"content": {"role": "model", "parts": [{"text": reply.text}]}}]}
    ).encode()


ANSWERS = {
    "/messages": _messages,
    "/responses": _responses,
    ":streamGenerateContent": _generate,
    ":generateContent": _generate_whole,
}
"""By the end of the path that is asked."""


def _events(*events: Json) -> bytes:
    kinds = [f"event: {event['type']}\n" if "type" in event else "" for event in events]
    return "".join(
        f"{kind}data: {json.dumps(event)}\n\n"
        for kind, event in zip(kinds, events, strict=True)
    ).encode()


class Endpoint(ThreadingHTTPServer):
    """A model that says what `say` returns. `seen` are the requests, `refused` the hosts that
    were asked for.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.refused = set[str]()
        self.seen: list[Json] = []
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def say(self, body: Json) -> Reply:
        raise NotImplementedError

    def reply(self, path: str, body: Json) -> bytes:
        """Raises StopIteration for an API that it does not speak."""
        answer = next(
            answer for end, answer in ANSWERS.items() if path.partition("?")[0].endswith(end)
        )
        self.seen.append(body)
        number = len(self.seen)
        return answer(body, self.say(body), number)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that ends cuts its connections."""


class _Handler(BaseHTTPRequestHandler):
    server: Endpoint
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        try:
            data = self.server.reply(self.path, json.loads(body))
        except StopIteration:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header(
            "content-type", "application/json" if data.startswith(b"{") else "text/event-stream"
        )
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_CONNECT(self) -> None:
        self.server.refused.add(self.path)
        self.send_error(403)

    def log_message(self, format: str, *args: Any) -> None:
        pass

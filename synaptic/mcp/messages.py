"""Parses the text that a client sends into JSON-RPC messages. Pure."""

from __future__ import annotations

import json
import math
from typing import Any, NamedTuple

from mcp import types

from ..models import Json

ARRAY_VERSION = "2025-03-26"
"""The one version of the protocol in which a client may send an array of messages."""
NOT_A_MESSAGE = (
    'This is not a message: it needs "jsonrpc": "2.0" and a "method" that is a text. '
    '"params" is an object. The "id" of a request is a text or a whole number.'
)
ARRAY_REFUSED = (
    f"An array of messages is valid only in version {ARRAY_VERSION} of MCP. "
    "Send each message by itself."
)
EMPTY_ARRAY = "This array is empty: it needs one message or more."
INITIALIZE_IN_ARRAY = "initialize is not valid in an array. Send it by itself, first."


class Refusal(NamedTuple):
    """The error answer to a text that is not a valid message; `id` is None if the text has no
    valid id.
    """

    id: str | float | None
    code: int
    message: str

    def as_json(self) -> Json:
        error = {"code": self.code, "message": self.message}
        return {"jsonrpc": "2.0", "id": self.id, "error": error}


class Messages(NamedTuple):
    """The messages of a text, in order. `in_array` is True if they came as an array: over HTTP
    the answers are an array, too.
    """

    each: list[Json | Refusal]
    in_array: bool = False


def read_messages(text: str, version: str) -> Messages:
    """Parses a text from a client that speaks this protocol version; returns its messages in
    order.

    | text                                  | result                                  |
    |---------------------------------------|-----------------------------------------|
    | a message                             | the message                             |
    | an array of messages                  | each, but for initialize; in BATCHES    |
    | an empty line                         | nothing                                 |
    | not JSON                              | a Refusal, -32700                       |
    | other JSON, or any of it in an array  | a Refusal, -32600                       |
    """
    if not text.strip():
        return Messages([])
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        return Messages([Refusal(None, types.PARSE_ERROR, f"This is not JSON: {error}.")])
    if not isinstance(value, list):
        return Messages([_check_message(value)])
    problem = "" if version == ARRAY_VERSION else ARRAY_REFUSED
    if not value:
        problem = EMPTY_ARRAY
    if problem:
        return Messages([Refusal(None, types.INVALID_REQUEST, problem)])
    return Messages([_check_in_array(one) for one in value], in_array=True)


def _check_in_array(value: Any) -> Json | Refusal:
    if isinstance(value, dict) and value.get("method") == "initialize":
        return Refusal(_request_id(value), types.INVALID_REQUEST, INITIALIZE_IN_ARRAY)
    return _check_message(value)


def _check_message(value: Any) -> Json | Refusal:
    """Returns the message, or a Refusal if the SDK would not read it, or would read a request
    with an invalid id as a notification, which gets no answer.
    """
    try:
        message = types.jsonrpc_message_adapter.validate_python(value, by_name=False)
    except ValueError:
        return Refusal(_request_id(value), types.INVALID_REQUEST, NOT_A_MESSAGE)
    is_request = "id" in value and "method" in value
    is_answerable = isinstance(message, types.JSONRPCRequest) and _request_id(value) is not None
    if is_request and not is_answerable:
        return Refusal(_request_id(value), types.INVALID_REQUEST, NOT_A_MESSAGE)
    return dict(value)


def _request_id(value: Any) -> str | float | None:
    """Returns the id of a request; None without an id that JSON-RPC allows and that can be sent
    back.

    The id of a response is ours: echoed, it would name another request of the client.
    """
    is_response = isinstance(value, dict) and value.keys() & {"result", "error"}
    if not isinstance(value, dict) or (is_response and "method" not in value):
        return None
    id = value.get("id")
    if isinstance(id, str):
        return id if replace_surrogates(id) == id else None
    if isinstance(id, float):
        return id if math.isfinite(id) else None
    return id if isinstance(id, int) and not isinstance(id, bool) else None


def message_line(message: Json) -> str:
    r"""Returns the message as a line of JSON. Half characters (`\ud83d` alone) become `?`.

    JavaScript clients send them where they cut a text within an emoji; the SDK cannot read such
    a line and would leave the call without an answer.
    """
    return replace_surrogates(json.dumps(message, ensure_ascii=False)) + "\n"


def replace_surrogates(text: str) -> str:
    """Returns the text with `?` for each lone surrogate, which UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode("utf-8")

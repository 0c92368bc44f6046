"""The exports of ChatGPT and of Claude.ai: a zip with `conversations.json` or
`conversations-000.json` and on.

Each is a list of conversations. ChatGPT's have `conversation_id` (or `id`), `title`,
`create_time` (seconds since 1970), `mapping` and `current_node`. `mapping` leads from the id of
a node to its `parent` and `message`; a person sees the messages from `current_node` up, the
other nodes are answers that were thrown away. A message has `author.role`, `recipient` (not
`all` for what goes to a tool), `metadata.is_visually_hidden_from_conversation`, and `content`:
`content_type` and `parts` (texts, and objects such as pictures), or `text` where it is code.

Claude.ai's have `uuid`, `name`, `created_at` (ISO, UTC) and `chat_messages`, in order. A
message has `sender` (`human` or `assistant`), `content`, a list of blocks of which those of
type `text` have `text`, and `text`, the whole of it in older exports.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from .archive import read_items
from .digest import digest
from .record import Record, Skipped
from .session import Session, dig, listed, text_of
from .source import json_items


def read(path: Path, skipped: Skipped) -> Iterator[Record]:
    """A digest of each conversation, long ones in several parts: what the person asked, and the
    last answer to it.
    """
    return read_items(
        path, skipped, partial(json_items, "item"), _conversation, named="conversations*.json"
    )


def _conversation(talk: Any, *_: object) -> Iterator[Record]:
    if "chat_messages" in talk:
        session = Session(text_of(talk["uuid"]), "Claude.ai", title=text_of(talk.get("name")))
        said = _claude(talk)
    else:
        key, title = (
            text_of(talk.get("conversation_id") or talk["id"]),
            text_of(talk.get("title")),
        )
        session = Session(key, "ChatGPT", title=title)
        said = _chatgpt(talk)
    for number, (at, is_person, text) in enumerate(said, 1):
        session.when(at)
        session.add("asked" if is_person else "said", number, text)
    for record in digest(session):
        yield replace(record, type="reference", by=session.client.lower(), lines=None)


def _claude(talk: Any) -> Iterator[tuple[object, bool, str]]:
    """When each message was written, whether the person wrote it, and its text; in order."""
    for one in talk["chat_messages"]:
        texts = [block for block in listed(one.get("content")) if dig(block, "type") == "text"]
        at = one.get("created_at") or talk["created_at"]
        yield at, one["sender"] == "human", text_of(texts) or text_of(one.get("text"))


def _chatgpt(talk: Any) -> Iterator[tuple[object, bool, str]]:
    """The same of what a person sees."""
    mapping, node = talk["mapping"], talk.get("current_node")
    messages: dict[str, Any] = {}
    while node in mapping and node not in messages:
        messages[node] = mapping[node].get("message")
        node = mapping[node].get("parent")
    for one in filter(None, reversed(messages.values())):
        role, content, about = (
            one["author"]["role"],
            one.get("content") or {},
            one.get("metadata") or {},
        )
        seen = role in ("user", "assistant") and (one.get("recipient") or "all") == "all"
        seen = seen and content.get("content_type") in ("text", "multimodal_text", "code")
        if seen and not about.get("is_visually_hidden_from_conversation"):
            text = text_of(content.get("text")) or text_of(content.get("parts"))
            yield one.get("create_time") or talk["create_time"], role == "user", text

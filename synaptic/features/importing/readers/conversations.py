"""Reads the exports of ChatGPT and of Claude.ai: a zip with `conversations.json` or
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

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from .archive import Export, read_items
from .digest import digest_session
from .record import Record, Skipped
from .session import ROLES, Session
from .shared import list_at, text_at, value_at
from .source import read_json_items

_SHOWN_TYPES = ("text", "multimodal_text", "code")


def read(path: Path | Export, skipped: Skipped) -> Iterator[Record]:
    """Yields a digest of each conversation: each request with the last answer to it, in several
    parts if it is long.
    """
    return read_items(
        path,
        skipped,
        partial(read_json_items, r"\s*\["),
        _conversation,
        patterns=("conversations*.json",),
    )


def _conversation(talk: Any, *_: object) -> Iterator[Record]:
    if "chat_messages" in talk:
        session = Session(text_at(talk["uuid"]), "Claude.ai", title=text_at(talk, "name"))
        _add_claude(session, talk)
    else:
        key = text_at(talk.get("conversation_id") or talk["id"])
        session = Session(key, "ChatGPT", title=text_at(talk, "title"))
        _add_chatgpt(session, talk)
    for record in digest_session(session):
        yield replace(record, type="reference", by=session.client.lower(), lines=None)


def _add_claude(session: Session, talk: Any) -> None:
    for message in talk["chat_messages"]:
        blocks = list_at(message, "content")
        texts = [block for block in blocks if value_at(block, "type") == "text"]
        session.set_time(message.get("created_at") or talk["created_at"])
        session.add(ROLES[message["sender"]], 1, text_at(texts) or message.get("text"))


def _add_chatgpt(session: Session, talk: Any) -> None:
    """Adds to the session the messages of a ChatGPT conversation that a person sees, in
    order.
    """
    mapping = talk["mapping"]
    node = talk.get("current_node")
    messages = {}
    while node in mapping and node not in messages:
        messages[node] = mapping[node].get("message")
        node = mapping[node].get("parent")
    for message in filter(None, reversed(messages.values())):
        role = message["author"]["role"]
        content = message.get("content")
        is_hidden = value_at(message, "metadata", "is_visually_hidden_from_conversation")
        if role not in ROLES or is_hidden or message.get("recipient") not in (None, "", "all"):
            continue
        if value_at(content, "content_type") in _SHOWN_TYPES:
            session.set_time(message.get("create_time") or talk["create_time"])
            session.add(ROLES[role], 1, text_at(content) or value_at(content, "parts"))

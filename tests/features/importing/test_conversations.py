"""What ChatGPT and Claude.ai export, as digests."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from exported import DATA, check_zips, read


def test_a_conversation_is_what_a_person_saw(tmp_path: Path) -> None:
    found, skipped = read("chatgpt", DATA / "chatgpt")
    bread = found["6740aaaa-0000-8000-9000-000000000001"]
    assert (bread.title, bread.type, bread.growing) == (
        "Collapsed sourdough",
        "reference",
        True,
    )
    assert bread.at == datetime(2026, 11, 3, 8, 0, 0, 500_000, UTC)
    assert bread.text.startswith("ChatGPT, 2026-11-03 ")
    for seen in (
        "> Why does my sourdough",
        "overproofed",
        "> And the crumb in this picture?",
        "Too dense",
    ):
        assert seen in bread.text
    for unseen in (
        "You are ChatGPT",
        "baker",
        "discarded",
        "search(",
        "search results",
        "First thought",
    ):
        assert unseen not in bread.text
    assert "Use WAL mode" in found["cycle"].text  # its parents go in a circle
    assert (
        len(found) == 2
        and len(skipped) == 1
        and skipped[0].startswith("conversations-000.json, record 3")
    )

    found, skipped = read("claude-ai", DATA / "claude-ai")
    [talk] = found.values()
    assert (
        "> Which database should hold my metrics?\n\nSQLite, until you write from two machines."
        in talk.text
    )
    assert (
        "secret thoughts" not in talk.text
        and "Old text" not in talk.text
        and "> And then?" in talk.text
    )
    assert talk.at == datetime(2026, 11, 2, 22, 30, tzinfo=UTC) and not skipped
    for source in ("chatgpt", "claude-ai"):
        (scratch := tmp_path / source).mkdir()
        check_zips(source, DATA / source, scratch)


def test_what_stands_before_the_tear_is_taken(tmp_path: Path) -> None:
    whole = (DATA / "claude-ai" / "conversations.json").read_bytes()
    torn = tmp_path / "conversations.json"
    torn.write_bytes(whole[: whole.index(b'"empty"')])
    found, [why] = read("claude-ai", torn)
    assert len(found) == 1 and why.startswith(
        "conversations.json: it is damaged after its record 1"
    )


def test_strange_records_are_skipped_and_the_rest_is_taken(tmp_path: Path) -> None:
    strange: list[Any] = [
        None,
        7,
        [],
        {},
        {"mapping": {}},
        {"mapping": [], "id": "x"},
        {"chat_messages": 3, "uuid": "u"},
    ]
    talks = [*strange, *json.loads((DATA / "claude-ai" / "conversations.json").read_bytes())]
    (tmp_path / "conversations.json").write_text(json.dumps(talks))
    found, skipped = read("claude-ai", tmp_path)
    assert len(found) == 1 and len(skipped) >= 5

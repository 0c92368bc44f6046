"""No answer of a tool, a resource or a prompt floods the agent that reads it."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from embedders import HashingEmbedder
from forks import forked
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp import Client, types
from mcp.shared.exceptions import MCPError
from outside import data_of
from trials import drawn, examples

from synaptic.mcp.server import build_server
from synaptic.mcp.texts import ANSWER_CHARS, cut_text, json_text, shorten_json
from synaptic.render.fence import fenced
from synaptic.serving.worker import Worker

DAY = "2026-03-04"
LONG = "".join(f'Line {number} says "no" to the user: \\ 😀.\n' for number in range(5_000))
NAMES = ("hits", "entries")
Made = Callable[..., AbstractAsyncContextManager[Client]]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a day of entries that are long in every way: in number, text, title, tags,
    files and properties.
    """
    home = tmp_path_factory.mktemp("limits") / "home"
    (home / "journal").mkdir(parents=True)
    blocks = [f"# {DAY}\n", f"## 08:00 The long one\n\n{LONG}"]
    for number in range(60):
        tags = " ".join(f"#tag{number}x{one}" for one in range(40))
        text = f"The user asks again and again, {number}. " * 70
        blocks.append(f"## 09:{number:02d} Entry {number} of the user {tags}\n\n{text}\n")
    many = " ".join(f"#many{one}" for one in range(2_500))
    blocks.append(f"## 11:00 {'A title of the user without an end ' * 1_200}{many}\n\nShort.\n")
    blocks.append(f"## 12:00 A fence of the user\n\n{'`' * 20_000}\ncode\n{'`' * 20_000}\n")
    (home / "journal" / f"{DAY}.md").write_text("\n".join(blocks))
    return home


@pytest.fixture
def client(home: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    monkeypatch.setenv("SYNAPTIC_NOW", "2026-03-04T20:00:00")

    @asynccontextmanager
    async def connected() -> AsyncIterator[Client]:
        async with Client(build_server(Worker(home, HashingEmbedder()))) as client:
            yield client

    return connected


def text_of(result: types.CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, types.TextContent)
    return block.text


async def ids_of(client: Client) -> list[str]:
    """The ids of all entries, oldest first, by the pages of the timeline."""
    ids: list[str] = []
    args: dict[str, Any] = {"order": "oldest", "limit": 100, "format": "json"}
    for _ in range(200):
        data = json.loads(text_of(await client.call_tool("context_find", args)))
        ids += [entry["id"] for entry in data["entries"]]
        if "cursor" not in data:
            return ids
        args["cursor"] = data["cursor"]
    raise AssertionError("the pages do not end")


HUGE = "x y\n" * 25_000
WORD = "z" * 100_000
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("context_brief", {}),
    ("context_brief", {"project": HUGE}),
    ("context_brief", {"since": HUGE}),
    ("context_search", {"query": "user", "limit": 100}),
    ("context_search", {"query": "user", "limit": 100, "explain": True}),
    ("context_search", {"query": HUGE}),
    ("context_search", {"query": "user", "strategy": HUGE}),
    ("context_search", {"query": "user", "prefer": {HUGE: HUGE}}),
    ("context_search", {"query": "user", "tag": [HUGE]}),
    ("context_recent", {"limit": 100}),
    ("context_recent", {"query": "user", "limit": 50}),
    ("context_find", {"limit": 100}),
    ("context_find", {"limit": 100, "facets": True}),
    ("context_find", {"query": "user", "limit": 100, "facets": True}),
    ("context_find", {"cursor": HUGE}),
    ("context_find", {HUGE: 1}),
    ("context_find", {"since": HUGE}),
    ("context_get", {"id": WORD}),
    ("context_analyze", {"text": HUGE}),
    ("context_analyze", {"text": LONG, "mode": "note"}),
    ("context_analyze", {"text": "#tag " * 50_000, "mode": "note"}),
    ("context_update", {"id": [WORD, WORD + "z"], "title": "x"}),
    ("context_update", {"id": [f"nobody{one}" for one in range(400)], "title": "x"}),
    ("context_delete", {"id": WORD}),
    ("context_save", {"content": "x", "type": HUGE}),
    ("context_save", {"content": "x", "supersedes": [WORD]}),
    ("context_save", {"content": "x", "entries": [{HUGE: 1}]}),
    (HUGE, {}),
]


@pytest.mark.sweep
@pytest.mark.anyio
async def test_no_answer_of_a_tool_is_longer_than_the_limit(client: Made) -> None:
    async with client() as one:
        ids = await ids_of(one)
        calls = [*CALLS, ("context_get", {"id": ids}), ("context_get", {"id": ids[-2:]})]
        for name, args in calls:
            takes = name not in ("context_brief", "context_save", "context_update", HUGE)
            layouts = ("concise", "detailed", "json") if takes else ("",)
            for layout in drawn(f"{name[:99]} {str(args)[:99]}", layouts):
                given = args | ({"format": layout} if layout else {})
                answer = text_of(await one.call_tool(name, given))
                assert 0 < len(answer) <= ANSWER_CHARS, (name, layout, str(args)[:80])
                if layout == "json" and name != "context_delete":
                    json.loads(answer)


@pytest.mark.anyio
async def test_a_list_says_what_it_leaves_out_and_goes_on(client: Made, home: Path) -> None:
    whole = forked("--home", str(home), "find", "--limit", "100", "--order", "oldest", "--json")
    assert len(whole.out) > 10 * ANSWER_CHARS  # of the command, everything
    async with client() as one:
        ids = await ids_of(one)
        assert ids == [entry["id"] for entry in whole.json["entries"]]
        cursor, filter = "the cursor goes on", "add a filter, as type, tag or since"
        pages = "context_find lists all of them, page by page"
        for name, args, way_on in (
            ("context_find", {"limit": 100}, cursor),
            ("context_find", {"limit": 100, "query": "user"}, filter),
            ("context_find", {"limit": 100, "facets": True}, cursor),
            (
                "context_find",
                {"limit": 60, "around": ids[30]},
                "around the last of these goes on",
            ),
            ("context_recent", {"limit": 60}, pages),
            ("context_search", {"limit": 60, "query": "user"}, "raise max_tokens"),
        ):
            detailed = text_of(await one.call_tool(name, args | {"format": "detailed"}))
            assert (
                detailed.startswith((f"{len(ids)} found.", f"{args['limit']} of "))  # all fit
                or re.search(rf"\n\d+ more did not fit: {way_on}\.", detailed)
                or (way_on == cursor and re.search(r'\n\d+ more .* cursor="', detailed))
            )
            data = json.loads(text_of(await one.call_tool(name, args | {"format": "json"})))
            rows = data["hits"] if name == "context_search" else data["entries"]
            assert len(rows) > 2 and data["omitted"] == min(data["total"], args["limit"]) - len(
                rows
            )
            assert f"{data['omitted']} more did not fit: {way_on}." in data["notices"]
            assert (data.get("cursor") is not None) == (way_on == cursor)
            few = json.loads(
                text_of(await one.call_tool(name, args | {"limit": 3, "format": "json"}))
            )
            assert "omitted" not in few
        args = {"order": "oldest", "limit": 1, "format": "json"}
        (entry,) = json.loads(text_of(await one.call_tool("context_find", args)))["entries"]
        assert entry["truncated"] and entry["content"] in LONG
        small = args | {"limit": 100}
        for layout in ("concise", "detailed"):
            answer = text_of(await one.call_tool("context_find", small | {"format": layout}))
            cursor = re.search(r'cursor="([^"]+)"', answer)
            if "did not fit" in answer:
                assert cursor
                short = [id.partition("-")[2] for id in ids]
                after = small | {"cursor": cursor[1], "limit": 1}
                data = json.loads(text_of(await one.call_tool("context_find", after)))
                last = max(number for number, id in enumerate(short) if id in answer)
                assert data["entries"][0]["id"] == ids[last + 1]


LONG_NAME = "p" * 50_000
LONG_MARKS = f"""\
## 09:00 First

The user has one lamp.

## 10:00 Second
<!-- syn:20260304-7k3m9q2x at=2026-03-04T10:00:00+00:00 h2=0 project={LONG_NAME} -->
The user has two lamps.

## 11:00 Third {" ".join(f"#many{one}" for one in range(2_500))}

The user has three lamps.
"""


@pytest.mark.anyio
async def test_long_marks_of_an_entry_hide_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SYNAPTIC_NOW", f"{DAY}T20:00:00")
    (tmp_path / "journal").mkdir()
    (tmp_path / "journal" / f"{DAY}.md").write_text(LONG_MARKS)
    async with Client(build_server(Worker(tmp_path, HashingEmbedder()))) as client:
        calls: list[tuple[str, dict[str, Any]]] = [
            ("context_find", {}),
            ("context_find", {"query": "lamps", "limit": 100}),
            ("context_recent", {}),
            ("context_search", {"query": "lamps"}),
        ]
        for name, args in calls:
            for layout in ("concise", "detailed"):
                answer = text_of(await client.call_tool(name, args | {"format": layout}))
                assert re.findall("First|Second|Third", answer) and "0 of" not in answer
                if layout == "concise":
                    assert {"First", "Second", "Third"} <= set(answer.split()), name
        counted = {"facets": True, "limit": 1}
        answer = text_of(await client.call_tool("context_find", counted))
        assert "1 of 3." in answer and "Third" in answer and "cursor=" in answer
        unknown = text_of(await client.call_tool("context_brief", {"project": "nowhere"}))
        assert "Known projects: ppp" in unknown and len(unknown) < 1_000


@pytest.mark.anyio
async def test_resources_are_cut_and_name_the_call_that_goes_on(client: Made) -> None:
    async def read(uri: str) -> str:
        (contents,) = (await one.read_resource(uri)).contents
        assert isinstance(contents, types.TextResourceContents)
        assert len(contents.text) <= ANSWER_CHARS
        return contents.text

    async with client() as one:
        ids = await ids_of(one)
        for id in ids:
            await read(f"synaptic://entry/{id}")
        entry = await read(f"synaptic://entry/{ids[0]}")
        goes_on = re.search(r"context_get with this id and offset=(\d+) goes on\.$", entry)
        assert goes_on and LONG[: int(goes_on[1])][-100:] in entry
        for date in (DAY, "today"):
            day = await read(f"synaptic://journal/{date}")
            assert day.count("```entry") > 5
            left = re.search(r"(\d+) more did not fit: context_find with (.+) goes on\.$", day)
            assert left and int(left[1]) + day.count("```entry") == len(ids)
            args = dict(re.findall(r'(\w+)="([^"]*)"', left[2]))
            args |= {"include_superseded": "true", "limit": "1", "format": "json"}
            data = json.loads(text_of(await one.call_tool("context_find", args)))
            assert data["entries"][0]["id"] == ids[day.count("```entry")]
        with pytest.raises(MCPError, match=r"Valid: .*, synaptic://help/search"):
            await one.read_resource("synaptic://nothing")
        for uri in (
            f"synaptic://{HUGE}",
            f"synaptic://entry/{HUGE}",
            f"synaptic://journal/{HUGE}",
        ):
            with pytest.raises(MCPError) as raised:
                await one.read_resource(uri.replace("\n", ""))
            error = raised.value.error
            assert len(error.message) + len(str(error.data)) <= 5_000


@pytest.mark.anyio
@pytest.mark.needs(feature="upkeep")
async def test_prompts_are_cut(client: Made) -> None:
    async with client() as one:
        for name, args in (
            ("handoff", {"focus": HUGE}),
            ("review", {"project": HUGE}),
            ("review", {}),
        ):
            (message,) = (await one.get_prompt(name, args)).messages
            assert isinstance(message.content, types.TextContent)
            assert len(message.content.text) <= ANSWER_CHARS
        for name, args in ((HUGE, {}), ("handoff", {HUGE: "x"})):
            with pytest.raises(MCPError) as raised:
                await one.get_prompt(name, args)
            assert len(raised.value.error.message) <= 5_000


@pytest.mark.anyio
async def test_many_receipts_are_counted(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text(f'day_file = "{"long" * 50}/%Y-%m-%d.md"\n')
    async with Client(build_server(Worker(home, HashingEmbedder()))) as client:
        entries = [{"content": f"Fact {number}."} for number in range(200)]
        answer = text_of(await client.call_tool("context_save", {"entries": entries}))
        assert len(answer) <= ANSWER_CHARS and data_of(answer)["done"] == "Saved"
        shown = len(re.findall("^Saved ", answer, re.MULTILINE))
        assert f"{200 - shown} more lines did not fit: context_recent lists" in answer
        found = await client.call_tool("context_find", {"limit": 1, "format": "json"})
        assert json.loads(text_of(found))["total"] == 200


@pytest.mark.anyio
async def test_one_sentence_stands_for_all_unknown_ids(tmp_path: Path) -> None:
    async with Client(build_server(Worker(tmp_path / "home", HashingEmbedder()))) as client:
        saved = text_of(await client.call_tool("context_save", {"content": "A fact."}))
        ids = [saved.split()[1], "zzzz0000", *(f"zzzz{number:04}" for number in range(300))]
        for name, args in (
            ("context_update", {"add_tag": "x"}),
            ("context_delete", {}),
            ("context_update", {"restore": True}),
        ):
            answer = text_of(await client.call_tool(name, {"id": ids} | args))
            done, *rest = answer.splitlines()
            assert ids[0] in done and len(rest) == 1 and len(rest[0]) < 500, answer
            assert "zzzz0000" in rest[0] and "zzzz0001" in rest[0], answer
            assert rest[0].count("zzzz0000") == 1 and "and 289 more" in rest[0], answer


# -- the cutting itself
# ------------------------------------------------------------------------------

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=400),
    lambda inner: st.lists(inner, max_size=30) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=60,
)


@settings(max_examples=examples(2_000, 25), deadline=None)
@given(
    data=st.dictionaries(st.sampled_from("abcdefgh"), VALUES), room=st.integers(10_000, 30_000)
)
def test_json_is_cut_to_its_room_and_stays_json(data: dict[str, Any], room: int) -> None:
    data = {"many": data} | {name: [value] * 40 for name, value in data.items()}
    cut = shorten_json(data, room)
    assert len(json_text(cut)) <= room and json.loads(json_text(cut)) is not None
    assert (cut == data) == (len(json_text(data)) <= room)


@settings(max_examples=examples(2_000, 50), deadline=None)
@given(
    parts=st.lists(st.text(st.sampled_from("`Q😀\n "), max_size=60), max_size=12),
    room=st.integers(200, 700),
)
def test_a_cut_text_closes_its_fence(parts: list[str], room: int) -> None:
    text = "\n".join(fenced("entry", part) for part in parts)
    cut = cut_text(text, room, "the way on")
    assert len(cut) <= room
    assert (cut == text) == (len(text) <= room)
    if cut != text:
        assert cut.endswith("the way on.")
        outside = re.sub(r"(?sm)^(`{3,})entry\n.*?^\1$", "", cut)
        assert "`" not in outside and "Q" not in outside

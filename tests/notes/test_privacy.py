"""What stands between `<private>` and `</private>` stays in its file: never indexed, never
shown, never lost.
"""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from forks import ForkedHome
from homes import open_home
from hypothesis import example, given, settings
from hypothesis import strategies as st
from trials import examples

from synaptic import find, get, rebuild, save, search, status
from synaptic.errors import Refused
from synaptic.notes.blocks import MASK, without_masked
from synaptic.notes.markdown import compose_entry, parse_entries, rewrite_block
from synaptic.notes.privacy import mask_private, unclosed_tags, without_private

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
SYN = "<!-- syn:20261121-{0} at=2026-11-21T{1}:05+00:00 -->"

# what is saved, and what of it is left
TEXTS = [
    ("Met <private>Dr. Grimm</private> today.", "Met today."),
    ("Met <private>Dr. Grimm</private>, who left.", "Met, who left."),
    ("One.\n\n<private>\ntwo\n\nthree\n</private>\n\nFour.", "One.\n\nFour."),
    ("One.\n<private>two</private>\nThree.", "One.\nThree."),
    ("One.\r\n\r\n<private>\r\ntwo\r\n</private>\r\n\r\nThree.", "One.\r\n\r\nThree."),
    ("<private>a <private>b</private> c</private> d", "d"),
    ("a <private>b</private> c <private>d</private> e", "a c e"),
    ("a <PRIVATE>b</Private> c", "a c"),
    ('a <private reason="mine">b</private> c', "a c"),
    ("a <private>b\n\n## 10:00 c\n\n# d\n\n```\ne", None),
    ("a </private> b", None),
    ("a <private>b</private></private> c", "a </private> c"),
    ("<pri<private>x</private>vate>", "<private>"),
    ("a <private\rx>b</private> c", None),
    ("`a\r<private>b</private>` c", "`a\r` c"),
    ("a \\<private>b</private> c \\</private>", None),
    ("- one\n- <private>two</private>\n- three", "- one\n-\n- three"),
    ("a <!-- <private>b --> c</private> d", "a <!-- d"),
    ("Write `<private>` to hide, and `</private>` to end.", None),
    ("Write `<private>b</private>`, or ``<private>``.", None),
    ("```html\n<private>b</private>\n```\nc", None),
    ("```html\n<private>\n```\nc", None),
    ("- item\n  ```xml\n  <Private>True</Private>\n  ```", None),
    ("~~~\n</private>\n~~~", None),
    ("<privateKey>b</privateKey> <privates> <private/> private", None),
    ("it`s <private>b\nc</private> don`t", "it`s don`t"),
    ("```\nnever closed <private>b</private> c", "```\nnever closed c"),
    (
        "```\n## 10:00 closed by another\n<private>b</private>\n```",
        "```\n## 10:00 closed by another\n```",
    ),
    ("<private>\n```\nb\n</private>\nc", "c"),
    ("<private>\n```\n</private>\n```\nb</private> c", "c"),
]


@pytest.mark.parametrize(("text", "left"), TEXTS)
def test_what_is_private(text: str, left: str | None) -> None:
    assert without_private(text).strip() == (text if left is None else left)
    data = text.encode()
    assert len(mask_private(data)) == len(data) and mask_private(data).count(
        b"\n"
    ) == data.count(b"\n")


def entries(text: str) -> list[tuple[str, str]]:
    return [
        (entry.title, entry.content)
        for entry in parse_entries(text.encode(), "2026-11-21.md", mtime=NOON).entries
    ]


def test_headings_within_are_no_entries_and_those_below_stand_where_they_stood() -> None:
    text = (
        "## 9:00 One\n\n<private>\n## 10:00 Two\n\nb\n\n# Three\n</private>\n\n## 11:00 "
        "Four\n\nc"
    )
    assert entries(text) == [("One", "One"), ("Four", "c")]
    last = parse_entries(text.encode(), "2026-11-21.md", mtime=NOON).entries[1].place
    assert last and (last.line, last.body_line) == (11, 13)


def test_a_tag_never_closed_hides_all_up_to_the_next_saved_entry() -> None:
    text = (
        f"## 9:00 One\n\na <private> b\n\n## 10:00 Two\n\nc\n\n## 11:00 "
        f"Three\n{SYN.format('00000003', '11:00')}\n\nd"
    )
    assert entries(text) == [("One", "a"), ("Three", "d")]
    parsed = parse_entries(text.encode(), "2026-11-21.md", mtime=NOON)
    assert [(issue.code, issue.line) for issue in parsed.issues] == [("open-private", 3)]
    assert entries(f"{text}\n\n## 12:00 Four <private>x</private>\ne")[1:] == [
        ("Three", "d"),
        ("Four", "e"),
    ]


def test_front_matter_titles_and_tags_may_hide_something() -> None:
    text = (
        "---\ntitle: Plan <private>Grimm</private>\ntags: [a]\n---\n# X\n\nText #b "
        "<private>#c</private>\n"
    )
    [entry] = parse_entries(text.encode(), "plan.md", mtime=NOON).entries
    assert (entry.title, entry.tags, entry.content) == ("X", ("a", "b"), "Text #b")
    [entry] = parse_entries(
        b"## 9:00 issue: A <private>#c x</private> b #d\n", "2026-11-21.md", mtime=NOON
    ).entries
    assert (entry.title, entry.tags, entry.type) == ("A b", ("d",), "issue")


PIECES = [
    "<private>",
    "</private>",
    "secret",
    "<private>secret</private>",
    "\n",
    "\n\n",
    "word ",
    "`",
    "```\n",
    "~~~\n",
    "- ",
    "> ",
    "\n## 9:00 One\n",
    f"\n## 10:00 Two #tag\n{SYN.format('0000000a', '10:00')}\n",
    "\n# H1\n",
    "<!--",
    "-->",
    "\r\n",
    "é",
    f"\n## 11:00 T\n{SYN.format('0000000b', '11:00')}\n\n",
    "---\n",
    "    ",
    "\ufeff",
    "ÿ",
]
documents = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)


@settings(max_examples=examples(400), deadline=None)
@given(documents)
@example("# H\n<private>\n## 9:00 One\n</private>")
@example(
    "```\n\n## 10:00 Two\n<!-- syn:20261121-0000000a -->\n<private>secret</private>\n```\n"
)
def test_an_entry_alone_is_as_private_as_in_its_file(text: str) -> None:
    data = text.encode()
    masked = mask_private(data)
    assert len(masked) == len(data)
    assert all(
        old == new or (new == MASK[0] and old not in b"\r\n")
        for old, new in zip(data, masked, strict=True)
    )
    for entry in parse_entries(data, "2026-11-21.md", mtime=NOON).entries:
        place = entry.place
        assert place is not None
        if not place.whole_file:
            assert (
                mask_private(data[place.start : place.end]) == masked[place.start : place.end]
            )
        assert (
            MASK.decode("latin-1") not in entry.title.replace("ÿ", "")
            and "\ufffd" not in entry.content
        )


@settings(max_examples=examples(400), deadline=None)
@given(documents, documents, st.sampled_from(["content", "append", "title", "tags"]))
@example("a <private>b</private> c", "d", "content")
@example("a\n\n<private>\nb\n</private>\n\nc", "d", "append")
@example("a <private>b</private> c <private>d</private> e", "a f e", "content")
def test_an_edit_keeps_every_private_byte_or_is_refused(
    body: str, given_text: str, what: str
) -> None:
    block = f"## 9:00 Title <private>hidden</private> #tag\n\n{body}\n".encode()
    [old, *more] = parse_entries(block, "2026-11-21.md", mtime=NOON).entries
    new_text = without_private(given_text).strip()
    if more or not new_text or not old.content.strip():
        return
    content = {"content": new_text, "append": f"{old.content}\n\n{new_text}"}.get(
        what, old.content
    )
    tags = (*old.tags, "new") if what == "tags" else old.tags
    title = "Another" if what == "title" else old.title
    new, _ = compose_entry(content, id="20261121-00000009", at=old.at, title=title, tags=tags)
    try:
        after = rewrite_block(block, old, new)
    except Refused:
        return
    [read] = parse_entries(after, "2026-11-21.md", mtime=NOON).entries
    assert (read.id, read.title, read.content, set(read.tags)) == (
        new.id,
        new.title,
        new.content,
        set(new.tags),
    )
    assert hidden(after) == hidden(block)


def hidden(block: bytes) -> bytes:
    return bytes(
        raw for raw, seen in zip(block, mask_private(block), strict=True) if seen == MASK[0]
    )


PLACES = [
    ("a <private>b</private> c", "a <private>b</private> c\n\nd"),
    ("<private>b</private> c", "<private>b</private> c\n\nd"),
    (
        "One.\n\n<private>\nb\n</private>\n\nTwo.",
        "One.\n\n<private>\nb\n</private>\n\nTwo.\n\nd",
    ),
    ("One.\n\nTwo.\n\n<private>b</private>", "One.\n\nTwo.\n\nd\n\n<private>b</private>"),
    ("<private>b</private>\n\nOne.", "<private>b</private>\n\nOne.\n\nd"),
]


@pytest.mark.parametrize(("body", "after"), PLACES)
@pytest.mark.parametrize("eol", ["\n", "\r\n"])
def test_what_is_added_leaves_the_private_text_in_its_place(
    body: str, after: str, eol: str
) -> None:
    head = f"## 9:00 Title\n{SYN.format('0000000a', '09:00')}\n\n"
    block = f"{head}{body}\n".replace("\n", eol).encode()
    [old] = parse_entries(block, "2026-11-21.md", mtime=NOON).entries
    new, _ = compose_entry(f"{old.content}\n\nd", id=old.id, at=old.at, title="Title")
    assert rewrite_block(block, old, new) == f"{head}{after}\n".replace("\n", eol).encode()


# -- from outside
# -------------------------------------------------------------------------------------


HIDDEN = [f"zorquil{letter}" for letter in "abcdefghijk"]
DATE = "2026-11-19"
DAY = """# 2026-11-19

## 09:00 Call with <private>zorquila</private> about <private>#zorquilb</private> money #health
Before. <private>zorquilc said
no</private> After the harbour call.

<private>
## 09:30 zorquild
zorquile #zorquilf
</private>

Last words on the harbour, with `<private>` spoken of.

## 10:00 decision: Harbour plan
{0}

{1}<private>zorquilg</private>

## 11:00 <private>zorquilh</private>
<private>zorquili yesterday</private>
"""
SEEN = (
    "Before. After the harbour call.\n\nLast words on the harbour, with `<private>` spoken of."
)
NOTE = """---
title: Plan <private>zorquilj</private>
tags: [<private>zorquilk</private>]
---
The harbour is closed.
"""


def fill(journal: Path) -> Path:
    journal.mkdir(parents=True, exist_ok=True)
    day = journal / f"{DATE}.md"
    day.write_text(DAY.format(SYN.format("0000000a", "10:00"), "The harbour plan. " * 300))
    (journal / "plan.md").write_text(NOTE)
    return day


def clean(said: object) -> None:
    """Nothing private is in what was said."""
    text = said.decode("latin-1") if isinstance(said, bytes) else str(said)
    assert "zorquil" not in text.lower(), text[max(0, text.lower().find("zorquil") - 200) :][
        :400
    ]


def test_no_command_shows_it(home: ForkedHome) -> None:
    day = fill(home.journal)
    before = day.read_bytes()
    found = home.ask("find", "--limit", "50")["entries"]
    ids = [entry["id"] for entry in found]
    for args in (
        ["recent"],
        ["find", "--facets"],
        ["get", *ids],
        ["tags"],
        ["status"],
        ["doctor"],
        ["search", "harbour"],
        ["analyze", "what about the harbour money?"],
        ["analyze", "--note", "<private>zorquila</private> harbour"],
    ):
        clean(home.run(*args).text)
    entries = {entry["title"]: entry for entry in found}
    assert set(entries) == {"Call with about money", "Harbour plan", "Plan", ""}
    assert (
        entries["Call with about money"]["tags"] == ["health"] and entries["Plan"]["tags"] == []
    )
    assert entries["Call with about money"]["content"] == SEEN
    clean(json.dumps(found))
    assert day.read_bytes() == before


def test_no_tool_and_no_resource_shows_it_and_the_index_does_not_hold_it(
    home: ForkedHome,
) -> None:
    fill(home.journal)
    with home.server() as server:
        ids = [entry["id"] for entry in server.call("find", limit=50)["entries"]]
        assert len(ids) == 4
        for tool, args in (
            ("search", {"query": "harbour", "explain": True, "format": "detailed"}),
            ("recent", {"query": "harbour"}),
            ("search", {"query": "harbour money", "strategy": "smart", "explain": True}),
            ("recent", {}),
            ("search", {"query": "harbour", "max_tokens": 100}),
            ("find", {"facets": True}),
            ("get", {"ids": ids}),
            ("find", {"query": "harbour"}),
            ("analyze", {"text": "the harbour call"}),
            ("find", {"tags": ["health"]}),
            ("analyze", {"text": "harbour <private>zorquila</private>", "mode": "note"}),
            ("save", {"content": "The harbour and the money."}),
        ):
            clean(server.text(tool, **args))
            clean(json.dumps(server.call(tool, **args)))
        for word in HIDDEN:
            found = server.call("search", query=word)
            clean(json.dumps(found["hits"]))
            assert server.call("search", query=f'"{word}"')["hits"] == []
        for uri in (f"synaptic://journal/{DATE}", *(f"synaptic://entry/{id}" for id in ids)):
            clean(server.portal.call(server.client.read_resource, uri).contents)
    for path in home.state.glob("index.db*"):
        clean(path.read_bytes())


def test_the_index_follows_what_becomes_private_and_what_no_longer_is(tmp_path: Path) -> None:
    day = fill(tmp_path / "home" / "journal")
    text = day.read_text()
    with open_home(tmp_path / "home") as ws:
        for opened, closed in (
            ("", ""),
            ("<private>", "</private>"),
            ("", ""),
            ("<private>", ""),
        ):
            day.write_text(
                text.replace(
                    "After the harbour call.", f"{opened}After the lighthouse call.{closed}"
                )
            )
            found = [(hit.entry, hit.snippet) for hit in search(ws, '"lighthouse"').hits]
            assert bool(found) == (not opened) and "lighthouse" not in str(found) * bool(opened)
            kept = find(ws, limit=50).entries
            rebuild(ws, fresh=True)
            assert find(ws, limit=50).entries == kept
        [issue] = status(ws).issues
        assert (issue.code, issue.path, issue.line) == ("open-private", day.name, 5)
        assert [entry.title for entry in get(ws, ["0000000a"]).entries] == [
            "Harbour plan"
        ]  # saved, so still in sight
        save(ws, "Saved below a tag that was never closed.", at=f"{DATE}T12:00")
        assert search(ws, '"never closed"').hits[0].entry.content.startswith("Saved below")
        assert day.read_text().rstrip().endswith("-->")


def test_an_agent_adds_to_an_entry_with_private_text_and_changes_none_of_its_words(
    home: ForkedHome,
) -> None:
    day = fill(home.journal)
    with home.server() as server:
        id = server.call("find", tags=["health"])["entries"][0]["id"]
        for change in ({"append": "And more."}, {"importance": 8}):
            clean(server.text("update", id=id, **change))
            assert [day.read_text().count(word) for word in HIDDEN[:9]] == [1] * 9
        stands = day.read_bytes()
        refused: tuple[dict[str, object], ...] = (
            {"title": "The call"},
            {"content": "Quite another text."},
            {"add_tags": ["urgent"]},
            {"type": "issue"},
        )
        for change in refused:
            error = server.text("update", id=id, **change)
            clean(error)
            assert f"{day.name}:3 holds private text" in error
        assert day.read_bytes() == stands
        [entry] = server.call("get", ids=[id])["entries"]
        assert (entry["title"], entry["content"]) == (
            "Call with about money",
            f"{SEEN}\n\nAnd more.",
        )
        clean(server.text("delete", id=id))
    assert "zorquild" not in day.read_text()
    clean(home.run("restore", id).text)
    assert "zorquild" in day.read_text()


def test_a_save_leaves_it_out_and_says_so(home: ForkedHome) -> None:
    saved = home.ask(
        "save",
        "Met <private>zorquila</private> at the harbour.\n\n<private>\nzorquilb\n\n## "
        "10:00 zorquilc\n</private>\n",
        "--title",
        "Harbour <private>zorquild</private>",
    )
    assert "<private>" in saved["notices"][0]
    assert home.ask("get", saved["id"])["entries"][0]["content"] == "Met at the harbour."
    refused = home.run("save", "<private>zorquile</private>", "--json")
    assert refused.code == 2 and "private" in refused.json["error"]["message"]
    clean(refused.text)
    updated = home.ask(
        "update", saved["id"], "--append", "Then <private>zorquilf</private> left."
    )
    assert "<private>" in updated["notices"][0]
    sample = "```html\n<private>kept as code</private>\n```"
    assert home.ask("save", sample)["notices"] == []
    assert sample in {entry["content"] for entry in home.entries()}
    for path in home.path.rglob("*"):
        clean(path.read_bytes() if path.is_file() else b"")


def test_an_index_of_an_older_version_forgets_what_is_private(tmp_path: Path) -> None:
    """Such an index took the tags for text: it is made of a journal without them, and then told
    of the version.
    """
    day = fill(tmp_path / "home" / "journal")
    text, index = day.read_text(), tmp_path / "home" / ".state" / "index.db"
    with open_home(tmp_path / "home") as ws:
        assert not search(ws, '"zorquilc"').hits
        stamp = day.stat()
        day.write_text(
            text.replace("<private>", "<perhaps>").replace("</private>", "</perhaps>")
        )
        assert search(ws, '"zorquilc"').hits
    day.write_text(text)
    os.utime(day, ns=(stamp.st_mtime_ns, stamp.st_mtime_ns))
    with index.open("r+b") as file:
        file.seek(60)  # user_version
        file.write((7).to_bytes(4, "big"))
    with open_home(tmp_path / "home") as ws:
        assert not search(ws, '"zorquilc"').hits and search(ws, "harbour").hits


def test_the_tags_are_found_in_bytes_that_are_no_text() -> None:
    data = b"\xff\xfea <private>b\xff</private> \xff c"
    assert (
        without_masked(mask_private(data)) == b"\xfe\xfea \xfe c" and unclosed_tags(data) == []
    )

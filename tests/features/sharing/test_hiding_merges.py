"""No merge shows what is private in one of its versions."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trials import examples

from synaptic.features.sharing.merge import MergedFile, merge
from synaptic.models import Entry
from synaptic.notes.markdown import parse_entries
from synaptic.notes.privacy import mask_private, unclosed_tags

pytestmark = pytest.mark.fault(row=11)

DATE = "2026-11-21"
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def entries_of(data: bytes) -> list[Entry]:
    return list(parse_entries(data, f"{DATE}.md", mtime=NOON).entries)


LINES = [
    "<private>",
    "</private>",
    "<private>{0}</private> {0}",
    "{0} <private>{0}",
    "{0}</private> {0}",
    "```",
    "~~~",
    "",
    "{0}",
    "`</private>` {0}",
    "## 10:00 {0}",
    "## 11:00 {0} <private>{0}</private>",
    "<!-- {0}",
    "> ```",
    "## 12:00 {0}\n<!-- syn:20261121-0000000c -->\n",
]


SPLICES = st.lists(
    st.tuples(
        st.integers(0, 30), st.integers(0, 3), st.lists(st.sampled_from(LINES), max_size=4)
    ),
    min_size=1,
    max_size=3,
)


def merge_versions(base: bytes, ours: bytes, theirs: bytes) -> MergedFile:
    return merge(base, ours, theirs, f"{DATE}.md", "%Y-%m-%d.md")


@pytest.mark.fault(row=12)
@settings(max_examples=examples(120, 50), deadline=None, derandomize=True)
@given(base=st.lists(st.sampled_from(LINES), max_size=14), ours=SPLICES, theirs=SPLICES)
def test_a_merge_shows_nothing_that_was_private(
    base: list[str], ours: Any, theirs: Any
) -> None:
    words = iter(range(1000, 9999))

    def named(line: str) -> str:
        return re.sub(r"\{0\}", lambda _: f"w{next(words)}", line)

    def edited(splices: Any) -> bytes:
        lines = list(common)
        for at, gone, new in splices:
            lines[at : at + gone] = map(named, new)
        return "\n".join(lines).encode()

    common = [
        f"# {DATE}",
        "",
        "## 09:00 One",
        "<!-- syn:20261121-0000000a -->",
        "",
        *map(named, base),
    ]
    versions = ["\n".join(common).encode(), edited(ours), edited(theirs)]
    merged = merge_versions(*versions).data
    open_words = {word for data in versions for word in words_in(mask_private(data))}
    private = {word for data in versions for word in words_in(data)} - open_words
    shown = " ".join(f"{e.title} {e.content} {e.tags}" for e in entries_of(merged)).encode()
    assert not private & words_in(shown)
    added = {word for data in versions[1:] for word in words_in(data)} - words_in(versions[0])
    assert added <= words_in(merged)


def words_in(data: bytes) -> set[bytes]:
    return set(re.findall(rb"w\d{4}", data))


@pytest.mark.fault(row=12)
def test_a_passage_that_two_edits_would_tear_stays_private() -> None:
    head = f"# {DATE}\n\n## 09:00 One\n<!-- syn:20261121-0000000a -->\n\n"
    base = f"{head}<private>\na\nb\nc\nd\n</private>\n"
    ours = base.replace("d\n", "d\nhers\n")
    theirs = base.replace("<private>\na", "a\n")
    merged = merge_versions(base.encode(), ours.encode(), theirs.encode())
    assert merged.conflicts and b"\nhers\n" in merged.data
    assert "hers" not in str(entries_of(merged.data))


@pytest.mark.fault(row=12)
def test_a_passage_that_one_side_edits_and_the_other_takes_out_keeps_its_end() -> None:
    base = f"# {DATE}\n\n## 11:33 A\n\n<private>one\n\n## 11:00 two\n\nmore\n</private>\n"
    ours = base.replace("11:33 A", "13:28 B").replace("<private>one", "New one.")
    ours = ours.replace("## 11:00 two", "New two.").replace("more\n</private>", "New three.")
    theirs = base.replace("one", "1").replace("two", "2")
    merged = merge_versions(base.encode(), ours.encode(), theirs.encode())
    assert (
        merged.conflicts
        and not unclosed_tags(merged.data)
        and b"\nmore\n</private>" in merged.data
    )

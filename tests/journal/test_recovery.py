"""A torn block becomes whole, wherever it was torn and whatever was typed below it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trials import examples

from synaptic.journal.recovery import mend

ID = "20261121-7k3m9q2x"
HEAD = (
    b"## 09:31 decision: Chose sqlite-vec over LanceDB #db\n<!-- syn:20261121-7k3m9q2x "
    b"importance=8 -->\n"
)
BODY = (
    b"\nIt is a single file.\n\n```python\nvectors = load()\n```\n\nNobody has to run a "
    b"server for it.\n"
)
BLOCK = HEAD + BODY
ABOVE = b"# 2026-11-21\n\n## 08:00 Coffee\nblack\n\n"

blocks = st.lists(st.text("ab \n#`-", max_size=40), min_size=1, max_size=6).map(
    lambda lines: (
        HEAD + b"\n" + "\n".join(lines).strip("\n ").encode() + b" the end of this entry.\n"
    )
)


@given(block=blocks, cut=st.integers(0, 10_000))
@settings(max_examples=examples(200), deadline=None)
def test_a_block_torn_at_any_byte_becomes_whole(block: bytes, cut: int) -> None:
    data = ABOVE + block[: 1 + cut % len(block)]
    assert mend(data, block, ID, at=len(ABOVE)) == ABOVE + block


@given(block=blocks, cut=st.integers(0, 10_000), eol=st.sampled_from([b"\n", b"\r\n"]))
@settings(max_examples=examples(200), deadline=None)
def test_what_a_person_typed_below_a_torn_block_stays_whole(
    block: bytes, cut: int, eol: bytes
) -> None:
    block_here, above = block.replace(b"\n", eol), ABOVE.replace(b"\n", eol)
    typed = eol + b"## 10:15 Called the bank #finance" + eol + b"they call back" + eol
    torn = block_here[: 12 + cut % (len(block_here) - 12)]
    whole = mend(above + torn + typed, block, ID, at=len(above))
    assert whole is not None
    assert whole.startswith(above + block_here)
    assert whole.count(block_here) == 1
    assert whole.endswith(typed)


def test_a_persons_line_that_begins_like_ours_keeps_its_beginning() -> None:
    torn = BLOCK[: BLOCK.index(b"Nobody")]
    whole = mend(ABOVE + torn + b"No idea why this stops here.\n", BLOCK, ID, at=len(ABOVE))
    assert whole is not None
    assert BLOCK in whole
    assert whole.endswith(b"\nNo idea why this stops here.\n")


@pytest.mark.parametrize("written", [True, False])
@pytest.mark.parametrize(
    "edited",
    [
        BLOCK.replace(b"single file", b"single small file"),
        BLOCK.replace(b"Chose sqlite-vec", b"We chose sqlite-vec"),
        BLOCK.replace(b"importance=8", b"importance=3"),
        BLOCK.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + BLOCK + b"\nmore\n",
    ],
)
def test_an_edited_block_is_left_alone(edited: bytes, written: bool) -> None:
    assert mend(edited, BLOCK, ID, at=0, written=written) == edited


def test_a_shortened_block_is_left_alone_once_it_was_whole() -> None:
    shortened = ABOVE + BLOCK[: BLOCK.index(b"```")]
    assert mend(shortened, BLOCK, ID, at=len(ABOVE), written=True) == shortened
    assert mend(shortened, BLOCK, ID, at=len(ABOVE)) == ABOVE + BLOCK


def test_absent_is_none_and_another_entry_with_the_same_heading_is_not_ours() -> None:
    other = BLOCK.replace(b"7k3m9q2x", b"7k3m0000")
    assert mend(ABOVE, BLOCK, ID, at=len(ABOVE)) is None
    assert mend(ABOVE + other, BLOCK, ID, at=3) is None
    assert mend(ABOVE + b"see syn:20261121-7k3m9q2x\n", BLOCK, ID) is None
    assert mend(ABOVE + HEAD[:30], BLOCK, ID, suspect=False) is None


def test_a_tear_is_found_after_lines_were_added_above_it() -> None:
    moved = b"# 2026-11-21\n\nnew first lines\n\n" + BLOCK[:60] + b"\n\ntyped below\n"
    whole = mend(moved, BLOCK, ID, at=3)
    assert whole is not None
    assert BLOCK in whole and whole.endswith(b"\ntyped below\n")

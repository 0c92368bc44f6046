"""The spans of lines in which two versions of a file differ, and how they are taken back."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synaptic.journal.changelog import Actor, Deed, FileChange, find_hunks, record_of_change
from synaptic.journal.reverting import CannotUndo, undo_change

LINES = st.lists(
    st.sampled_from(["", "a", "b", "c", "# d", "\r", "é\udcff", "  e "]), max_size=9
)
TEXTS = st.builds(
    lambda lines, end: ("\n".join(lines) + end).encode("utf-8", "surrogateescape"),
    LINES,
    st.sampled_from(["", "\n", "\r\n"]),
)


def change(before: bytes | None, after: bytes | None) -> FileChange:
    deed = Deed("run", "test", "", Actor())
    return record_of_change(deed, datetime(2026, 11, 21), "a.md", before, after)


@given(st.none() | TEXTS, st.none() | TEXTS)
def test_a_change_is_taken_back_byte_for_byte_while_nothing_else_changed(
    before: bytes | None, after: bytes | None
) -> None:
    record = change(before, after)
    assert undo_change(record, after) == before


@given(TEXTS, TEXTS, st.sampled_from([b"above\n", b"# Above\n\n"]), st.booleans())
def test_beside_other_changes_the_lines_are_taken_back_or_the_file_is_refused(
    before: bytes, after: bytes, more: bytes, is_above: bool
) -> None:
    """What somebody else has added stays in any case."""
    if not is_above and after[-1:] not in (b"\n", b""):
        after += b"\n"
    record = change(before, after)
    now = more + after if is_above else after + more
    try:
        again = undo_change(record, now)
    except CannotUndo:
        return
    assert again is not None and more in again
    assert change(before, after).hunks == () or len(again) - len(more) == len(before)


@pytest.mark.parametrize(
    ("before", "after", "spans"),
    [
        (b"a\nb\nc\n", b"a\nB\nc\n", [(2, "b\n", 2)]),
        (b"a\n\nb\n", b"a\n\nn\n\nb\n", [(3, "", 3)]),
        (b"a\n\nb\n\nc\n", b"a\n\nc\n", [(0, "a\n\nb\n\nc\n", 5)]),
        (b"a\nb\nc\nd\ne\n", b"a\nB\nc\nD\ne\n", [(2, "b\n", 2), (6, "d\n", 2)]),
        (None, b"# Day\n\n## 09:00 T\n", [(7, "", 11)]),
        (b"", b"# Day\n\n## 09:00 T\n", [(0, "", 18)]),
        (b"a", b"a\nb\n", [(0, "a", 4)]),
    ],
)
def test_spans_are_the_smallest_whole_lines_of_which_the_place_is_known(
    before: bytes | None, after: bytes, spans: list[tuple[int, str, int]]
) -> None:
    assert [(one.at, one.before, one.bytes) for one in find_hunks(before, after)] == spans


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
def test_spans_in_a_large_file_are_as_small(line_end: bytes) -> None:
    lines = [b"line %d" % number for number in range(5_000)]
    before = line_end.join([*lines, b""])
    after = before.replace(b"line 2500" + line_end, b"new" + line_end)
    for old, new in ((before, after), (before, before.replace(b"line 7" + line_end, b""))):
        record = change(old, new)
        assert sum(map(len, record.befores())) < 40 and undo_change(record, new) == old
    record = change(before, before + b"more" + line_end)
    assert [(one.at, one.before) for one in record.hunks] == [(len(before), "")]


def test_equal_lines_elsewhere_refuse_and_moved_lines_are_known_again() -> None:
    record = change(b"x\n- [ ] cat\ny\n", b"x\n- [x] cat\ny\n")
    assert undo_change(record, b"new\nx\n- [x] cat\nz\n") == b"new\nx\n- [ ] cat\nz\n"
    for now in (b"- [x] cat\nnew\nx\n- [x] cat\n", b"x\n- [x] cat!\n", b"", None):
        with pytest.raises(CannotUndo):
            undo_change(record, now)
    # of two equal lines, the one at its place
    assert undo_change(record, b"x\n- [x] cat\n- [x] cat\n") == b"x\n- [ ] cat\n- [x] cat\n"
    assert undo_change(change(None, b"x\n"), b"x\n") is None
    with pytest.raises(CannotUndo, match="another file"):
        undo_change(change(b"x\n", None), b"y\n")

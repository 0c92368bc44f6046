"""What a merge of two versions does to an entry, by the functions alone."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from diaries import DAYS, JRNL, LATEST_FIRST, read
from forks import ForkedHome

from synaptic.features.sharing.merge import merge
from synaptic.notes.blocks import TIME
from synaptic.notes.diary import read_date_of_heading
from synaptic.notes.reading import parse_entries

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
SYN = "<!-- syn:20261121-{0} at=2026-11-21T{1}:05+00:00 -->"


def test_due_and_source_stay_in_merges_and_edits(home: ForkedHome) -> None:
    home.env["SYNAPTIC_NOW"] = "2026-11-21T12:00:00"
    home.ask("save", "A quote.", "--due", "2026-12-01", "--source", "https://example.org/a b")
    file = home.journal / "2026-11-21.md"
    base = file.read_bytes()
    assert b" due=2026-12-01 " in base and b" source=https://example.org/a%20b " in base
    entry = home.ask("recent")["entries"][0]
    home.ask("update", entry["id"], "--append", "More of it.")
    assert home.ask("get", entry["id"])["entries"][0]["source"] == "https://example.org/a b"
    ours = base + b"\n## 11:00 Ours\n"
    done = merge(base, ours, file.read_bytes(), file.name, "%Y-%m-%d.md")
    [merged, _] = parse_entries(done.data, file.name, mtime=NOON).entries
    assert (merged.due, merged.source, done.conflicts) == (
        "2026-12-01",
        "https://example.org/a b",
        0,
    )
    assert "More of it." in merged.content


def test_merges_move_nothing_into_or_out_of_a_private_passage() -> None:
    base = f"# 2026-11-21\n\n## 09:00 A\n{SYN.format('0000000a', '09:00')}\n\na\n"
    ours = f"{base}\n<private>\n## 10:00 Mine\n\nhidden\n\n## 12:00 Mine too\n</private>\n"
    theirs = f"{base}\n## 11:00 B\n{SYN.format('0000000b', '11:00')}\n\nb\n"
    merged = merge(
        base.encode(), ours.encode(), theirs.encode(), "2026-11-21.md", "%Y-%m-%d.md"
    )
    assert merged.conflicts == 1 and ours.encode() in merged.data
    ours = base.replace("\na\n", "\na <private>hidden</private>\n")
    merged = merge(
        base.encode(), ours.encode(), theirs.encode(), "2026-11-21.md", "%Y-%m-%d.md"
    )
    assert (
        merged.conflicts == 0
        and b"a <private>hidden</private>\n" in merged.data
        and b"11:00 B" in merged.data
    )


@pytest.mark.parametrize(
    "text", [DAYS, LATEST_FIRST, JRNL], ids=["days", "latest first", "jrnl"]
)
def test_two_machines_merge_a_diary_by_entries(text: str) -> None:
    last = [
        line
        for line in text.split("\n")
        if read_date_of_heading(line.lstrip("#").strip(), 0, TIME)
    ][-1]
    ours = text.replace(last, f"{last.split(' ')[0]} 2026-03-20 Ours\n\nours\n\n{last}")
    theirs = (
        text.replace(last, f"{last.split(' ')[0]} 2026-03-21 Theirs\n\ntheirs\n\n{last}")
        + "More.\n"
    )
    merged = merge(text.encode(), ours.encode(), theirs.encode(), "diary.md", "%Y-%m-%d.md")
    assert merged.conflicts == 0
    found = read(merged.data.decode())
    assert [one for one in found if one[1] == "Ours"] == [("2026-03-20", "Ours", "ours")]
    assert [one for one in found if one[1] == "Theirs"] == [("2026-03-21", "Theirs", "theirs")]
    assert len(found) == len(read(text)) + 2 and found[-1][2].endswith("More.")

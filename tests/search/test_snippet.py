"""Which texts stand alone, and where an extract may be cut."""

from __future__ import annotations

import pytest

from synaptic.search.snippet import cut_snippet, stands_alone


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("Ada: Which one?", False),
        ("Ada: It was windy, and we had the whole rock to ourselves.", False),
        ("She moved to Ely.", False),
        ("The port is 8080.", True),
        ("On that Sunday we all met at the mill by the river: it rained.", True),
        ("Ada: We hiked to the old lighthouse at the end of the bay.", True),
        ("阿达：我们去了灯塔。", True),
        ("", True),
    ],
)
def test_short_turns_and_pronouns_need_those_beside_them(text: str, alone: bool) -> None:
    assert stands_alone(text) == alone


def test_no_cut_leaves_a_part_of_a_row_of_a_table() -> None:
    table = [
        "| tea | time |",
        "|---|---|",
        *(f"| tea {at} | {at} minutes |" for at in range(12)),
    ]
    text = "\n".join(["Some words before it.", "", *table, "", *["Some words after it."] * 12])
    for at in range(len(text)):
        for length in (60, 100, 240):
            shown, _ = cut_snippet(text, lambda _, at=at: [at], length=length)
            cut = [line for line in shown.split("\n") if "|" in line and line not in table]
            assert not cut, (at, length, shown)


def test_an_extract_of_a_list_begins_with_an_item() -> None:
    text = "Words before it. " * 9 + "\n\n" + "\n".join(f"- item {at}" for at in range(60))
    shown, before = cut_snippet(text, lambda _: [text.index("- item 30")], length=60)
    items = shown.removeprefix("…\n").removesuffix("\n…").split("\n")
    assert before > 10 and set(items) <= set(text.split("\n")) and "- item 30" in items

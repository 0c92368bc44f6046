"""What a save says of a text that stands otherwise in its file, or that no sum counts."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from forks import ForkedHome
from homes import open_home

from synaptic import save
from synaptic.verbs.text_remarks import remarks_on_text
from synaptic.verbs.totals import sum_field


@pytest.mark.parametrize(
    "text",
    [
        "Dyed. minutes:: 95",
        "Dyed [minutes:: 95] today",
        "minutes:: 95",
        "- minutes:: 95",
        "Dyed `minutes:: 95`",
        "Dyed.\n\nMinutes:: 95",
        "see minutes::95",
        "Read, minutes:: 9.\nminutes:: 8",
    ],
)
def test_a_field_is_named_at_the_save_if_and_only_if_a_sum_leaves_it_out(
    tmp_path: Path, text: str
) -> None:
    ws = open_home(tmp_path / "home")
    save(ws, f"{text}\n")
    save(ws, "Another.\n\nminutes:: 1")
    totals = sum_field(ws, "minutes")
    left_out = any("within a line" in notice for notice in totals.notices)
    assert bool(remarks_on_text(text)) == left_out, totals
    if not left_out and "`" not in text and "see" not in text:
        assert totals.all[0].value == Decimal(96)


def test_a_line_with_a_backslash_is_named(home: ForkedHome) -> None:
    """Only where the file has it."""
    said = home.run("save", "Dyes\n\n# Vat\nx\n## Plain\n\n```\n# code\n```\n")
    assert "a backslash stands before `# Vat`, so" in said.err
    [file] = home.journal.glob("*.md")
    assert "\n\\# Vat\n" in file.read_text() and "\n# code\n" in file.read_text()
    saved = home.ask("save", "Dyed. minutes:: 95")
    assert any("[minutes:: 95]" in notice for notice in saved["notices"])
    more = home.ask("update", saved["id"], "--append", "More. hours:: 2")
    assert any("[hours:: 2]" in notice for notice in more["notices"])
    assert not home.ask("save", "Quiet\n\n## Plain\nhours:: 2")["notices"]

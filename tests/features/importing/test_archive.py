"""What is no export of any program."""

from __future__ import annotations

from pathlib import Path

import pytest
from exported import WRONG, read

from synaptic.errors import InvalidArgument


@pytest.mark.parametrize("said", WRONG)
@pytest.mark.parametrize(
    "source",
    ["chatgpt", "claude-ai", "jrnl", "day-one", "notion", "apple-notes", "tables", "evernote"],
)
def test_a_wrong_file_is_refused_with_the_next_step(
    source: str, said: bytes, tmp_path: Path
) -> None:
    for name in ("conversations.json", "a.zip", "journal.txt"):
        (file := tmp_path / name).write_bytes(said)
        with pytest.raises(InvalidArgument) as refused:
            read(source, file)
        assert str(file) in str(refused.value) and refused.value.hint

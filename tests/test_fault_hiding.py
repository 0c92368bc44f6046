"""What a save acknowledges is found again, and hides nothing that stood in the file before."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from homes import open_home
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from synaptic import InvalidArgument, Refused, Workspace, get, save, search, update
from synaptic.blocks import MASK
from synaptic.markdown import compose_entry, parse_entries, render_entry
from synaptic.models import Entry
from synaptic.privacy import mask, without_private

pytestmark = pytest.mark.fault(row=11)

DAY = "2026-11-21"
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
NEUTRAL = f"## 12:00 Neutral\n<!-- syn:20261121-zzzzzzzz at={DAY}T12:00:00+00:00 -->\n"
BY_HAND = "# 2026-11-21\n\n## 8:00 Otters by hand\nThe otter and the heron.\n"

# fragments that are tags, or become tags when something takes a part of them away or joins them
PIECES = [
    "<private>", "</private>", "<PRIVATE>", "</Private>", "<private", "</private", " >", ">", "<pri", "vate>", "<",
    "<private\nclass=x>", "<private \n>", "<private\rx>", "<private \r>", "<pri**vate>", "</pri**vate>", "pri", "**",
    "<pri<private>x</private>vate>", "<private a='b'>", "</private >", "<privateKey>", "<private\x0bx>", "<private\x85x>",
    "\\", "\\<private>", "\\\\</private>", "`", "``", "```\n", "\n```\n", "~~~\n", "> ```\n", "    ", "- ", "> ", "*", "_",
    "word ", "words. ", "\n", "\n\n", "\r", "\r\n", " ", "\t", "<!--", "-->", "<!-- syn:20261121-0000000a -->\n", "#tag ",
    "\n## 10:00 Two\n", "## 9:00 x", "\n# H1\n", f"\n## 11:00 T\n<!-- syn:20261121-0000000b at={DAY}T11:00:00+00:00 -->\n\n",
    "decision: ", "é", "\u2028", "\u200b", "---\n", "<private ", " -->", "\0",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=10).map("".join)
GIVEN = st.fixed_dictionaries(
    {},
    optional={
        "title": TEXTS,
        "tags": st.lists(TEXTS, max_size=2),
        "files": st.lists(TEXTS, max_size=2),
        "project": TEXTS,
        "by": TEXTS,
        "type": st.sampled_from(["decision", "note"]),
    },
)


@pytest.fixture(scope="module")
def ws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with open_home(tmp_path_factory.mktemp("home"), secrets="allow") as workspace:
        workspace.journal.prepare()
        yield workspace


def told(entries: Sequence[Entry]) -> list[tuple[object, ...]]:
    return [(entry.title, entry.content, entry.type, entry.tags, entry.at, entry.files) for entry in entries]


def entries_of(data: bytes) -> tuple[Entry, ...]:
    return parse_entries(data, f"{DAY}.md", mtime=NOON).entries


def joined(data: bytes, block: str) -> bytes:
    """A file below which another program wrote a block."""
    ends = data.replace(b"\r\n", b"\n")
    gap = b"" if not ends or ends.endswith(b"\n\n") else b"\n" if ends.endswith((b"\n", b"\r")) else b"\n\n"
    return data + gap + block.encode()


def saved_is_found_again(ws: Workspace, above: str, content: str, options: dict[str, object]) -> str | None:
    """The id of what was saved below `above`; None where it was refused, and the file is as it was."""
    day = ws.config.journal / f"{DAY}.md"
    before = above.encode()
    day.write_bytes(before)
    given = {name: value for name, value in options.items() if value}
    try:
        id = save(ws, content, at=f"{DAY}T12:00", force=True, **given).id  # type: ignore[arg-type]
    except InvalidArgument as error:
        assert re.search("private; nothing|no text|is no tag", str(error)), error
        assert day.read_bytes() == before
        return None
    others = entries_of(joined(before, NEUTRAL))[:-1]
    *rest, mine = entries_of(day.read_bytes())
    assert told(rest) == told(others)
    assert mine.id == id
    kept, _ = compose_entry(without_private(content), id=id, at=mine.at)
    assert mine.content == kept.content
    if "</private" not in content.lower():  # nothing was complete, so nothing was left out
        plain = content.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        assert mine.content.startswith("\n".join(plain).strip(" \t\n")[:1])
        assert [line for line in plain if line.strip(" \t")] == [
            line for line in mine.content.split("\n")[: None if mine.content.endswith("```") else None] if line.strip(" \t")
        ][: len([line for line in plain if line.strip(" \t")])]
    for name, value in (("project", mine.project), ("by", mine.by)):
        assert value == (without_private(str(given.get(name, ""))).strip() or (None if name == "by" else "tests"))
    [shown] = get(ws, [id]).entries
    assert told([shown]) == told([mine])
    return id

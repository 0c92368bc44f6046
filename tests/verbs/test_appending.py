"""Text that is appended stands below open fences and comments, and above an open private
passage.
"""

from __future__ import annotations

import pytest

from synaptic import Workspace
from synaptic.verbs.changing import update
from synaptic.verbs.newest import recent
from synaptic.verbs.removing import restore

ADDED = "Added *text*."
OPEN = {
    "backticks": ("Log:\n```\ncode", "```"),
    "tildes": ("Log:\n~~~ sh\ncode", "~~~"),
    "longer": ("Log:\n`````python\na\n```\nb", "`````"),
    "list": ("- one\n  ```sh\n  ls", "  ```"),
    "nested list": ("- a\n  - b\n    ~~~~\n    ls", "    ~~~~"),
    "number": ("1. one\n\n   ```\n   ls", "   ```"),
    "comment": ("Text\n\n<!-- never\nclosed", "-->"),
    "a comment in it": ("```html\n<!-- never", "```"),
}
CLOSED = {
    "closed": "Log:\n```\ncode\n```",
    "quotation": "> ```\n> code",
    "comment": "Text\n<!-- closed -->",
}
KINDS = {
    "entry": ("2026-11-20.md", "# 2026-11-20\n\n## 10:00 Typed\n\n", "\n"),
    "whole file": ("page.md", "# Typed\n\n", "\n"),
    "without a last line end": ("page.md", "---\ntags: [a]\n---\n# Typed\n\n", ""),
    "page of Logseq": ("pages/typed.md", "- first block\n- ", "\n"),
}


def append_to(ws: Workspace, name: str, text: str) -> tuple[str, str]:
    """(the file after the addition, the content of its one entry); the addition is undone, and
    gives the bytes back. The file is gone afterwards.
    """
    file = ws.config.journal / name
    file.parent.mkdir(parents=True, exist_ok=True)
    graph = ws.config.journal / "logseq" / "config.edn"
    if name.startswith("pages/"):
        graph.parent.mkdir(exist_ok=True)
        graph.write_text("{}")
    file.write_bytes(text.encode())
    [entry] = recent(ws).entries
    update(ws, entry.id, append=ADDED, by_person=False, by="codex")
    after = file.read_bytes().decode()
    [entry] = recent(ws).entries
    restore(ws, entry.id)
    assert file.read_bytes() == text.encode()
    file.unlink()
    return after, entry.content


@pytest.mark.parametrize("kind", KINDS)
def test_appended_text_stands_below_an_open_fence_or_comment(ws: Workspace, kind: str) -> None:
    name, head, end = KINDS[kind]
    item = "- " if kind == "page of Logseq" else ""
    below = "\n" if item else "\n\n"
    for text, closing in OPEN.values():
        if item and text[0] in "-1`":  # a block of its own
            text = f"x\n  {closing.strip()}\n  code"
            closing = f"  {closing.strip()}"
        after, content = append_to(ws, name, f"{head}{text}{end}")
        tail = f"{text}\n{closing}{below}{item}{ADDED}"
        assert after.endswith(f"{tail}{end}"), (kind, text)
        assert content.endswith(tail), (kind, text)
    for text in CLOSED.values():
        if not item:
            after, _ = append_to(ws, name, f"{head}{text}{end}")
            assert after.endswith(f"{text}\n\n{ADDED}{end}"), (kind, text)


@pytest.mark.parametrize("kind", ["entry", "whole file"])
def test_text_that_is_appended_does_not_become_private(ws: Workspace, kind: str) -> None:
    name, head, _ = KINDS[kind]
    text = f"{head}Open.\n\n<private>\nhidden\n"
    after, content = append_to(ws, name, text)
    above, _, hidden = after.partition("<private>")
    assert above.rstrip().endswith(f"Open.\n\n{ADDED}") and hidden == "\nhidden\n"
    assert content == f"Open.\n\n{ADDED}"


@pytest.mark.parametrize("kind", KINDS)
def test_blanks_at_the_end_of_a_note_stay_where_they_are(ws: Workspace, kind: str) -> None:
    """Two blanks are a line break, and an editor leaves others."""
    name, head, _ = KINDS[kind]
    below = "\n" if kind == "page of Logseq" else "\n\n"
    ends = ("  ", " ", "\t", "  \n", "  \n\n \n", " \r\n", "")
    for end in ends:
        after, content = append_to(ws, name, f"{head}Typed{end}")
        blanks = end[: len(end) - len(end.lstrip(" \t"))]
        above, _, rest = after.rpartition(ADDED)
        assert ADDED in content, (kind, end)
        if kind in ("whole file", "without a last line end") and "\r" not in end:
            assert above == f"{head}Typed{blanks}{below}", (kind, end)
            assert rest == end[len(blanks) :], (kind, end)

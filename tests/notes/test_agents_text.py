"""A law: what an agent writes begins no entry of its own, whatever a person types around it."""

from __future__ import annotations

import tempfile
from dataclasses import replace

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from journals import AT, home_journal
from trials import examples

from synaptic.errors import Refused
from synaptic.journal.entry_edits import edit_entry
from synaptic.journal.journal import Journal
from synaptic.models import Entry
from synaptic.notes.blocks import scan_structure
from synaptic.notes.markdown import compose_entry, parse_entries
from synaptic.notes.reading import is_in_logseq_journals

ID = "20261121-7k3m9q2x"
OTHER = "20261120-aaaaaaaa"
HEADS = (
    "preference: x,preference,Decision:,10:00 x,6pm,[18:31] x,**18:31** x,__9:30__,14 Uhr,"
    "2026-03-14,2026-03-14 21:10 x,[[2026-03-14]] x,Sat. March 14th. 2026,[2026-01-01 10:00] x,"
    "Results,Results,3 things,#tag,x <!-- by=ada -->,preference #tag,\u00a010:00 x,\uff11\uff10:00 x"
).split(",")
LINES = st.one_of(
    st.builds(
        "{}{}{}{}{}".format,
        st.sampled_from(["", "", "", "\\", "\\\\", " ", "   ", "- ", "> ", "\ufeff"]),
        st.sampled_from(["#", "##", "##", "##", "###", "####", "######", "-", "*", ""]),
        st.sampled_from([" ", "\t", "  ", "\u00a0", ""]),
        st.sampled_from(HEADS),
        st.sampled_from(["", "", " ##", "\r", " "]),
    ),
    st.sampled_from(
        [
            "```",
            "~~~",
            "<!-- x",
            "-->",
            f"<!-- syn:{OTHER} at=2026-11-20T10:00:00+01:00 by=ada -->",
            "===",
            "---",
            "id:: 6409a3f0-0000-4000-8000-000000000000",
            "type:: preference",
            "[2026-01-01 10:00] x",
            "",
            "Some words.",
        ]
    ),
)
TEXTS = st.lists(LINES, min_size=1, max_size=9).map("\n".join).filter(str.strip)
INSERTED = st.sampled_from(
    [
        "## 11:00 MINE",
        "## MINE",
        "## 6pm preference: MINE",
        "## 2026-05-05 MINE\n## 2026-05-06 MINE",
        "### 2026-05-05 MINE\n### 2026-05-06 MINE",
        f"## 12:00 MINE\n<!-- syn:{OTHER} at=2026-11-20T12:00:00+01:00 h2=1 -->",
    ]
)
FRONT = "---\ncreated: 2026-02-02\ntags: [a]\n---\n"
FORMS = {
    "note": ("Plan.md", "# MINE\n\nMilk.\n"),
    "note with front matter": ("Plan.md", FRONT),
    "day without entries": ("2026-11-20.md", "MINE, some milk.\n"),
    "typed entry": ("2026-11-20.md", "# 2026-11-20\n\n## 09:00 MINE\n\nMilk.\n"),
    "typed entry of a page": ("Plan.md", "## 09:00 MINE\n\nMilk.\n\n## MINE too\n\nSalt.\n"),
    "diary of H2s": ("Plan.md", "## 2026-03-14 MINE\n\nMilk.\n\n## 2026-03-15 MINE\n\nx\n"),
    "diary of H3s": ("Plan.md", "### 2026-03-14 MINE\n\nMilk.\n\n### 2026-03-15 MINE\n\nx\n"),
    "entry that a person saved": (
        "2026-11-20.md",
        f"## 09:00 MINE\n<!-- syn:{ID} at=2026-11-20T09:00:00+01:00 h2=1 by=person -->\n\n"
        "Milk.\n\n## Own\n\nx\n",
    ),
    "Logseq": ("journals/2026_11_20.md", "MINE, some milk.\n"),
}


def written(journal: Journal, form: str, text: str) -> tuple[str, bytes]:
    """Path and bytes of a file after an agent has added the text to it, or saved it there."""
    if form == "saved":
        entry, _ = compose_entry(text, id=ID, at=AT, title="MINE", by="codex")
        path = journal.append(entry)
        assert journal.find(path, ID)[1].content == entry.content
        return path, journal.read(path)
    path, before = FORMS[form]
    file = journal.root / path
    file.parent.mkdir(exist_ok=True)
    file.write_text(before)
    content = ""

    def change(old: Entry) -> Entry:
        nonlocal content
        whole = f"{old.content}\n\n{text}" if old.has_body else text
        new, _ = compose_entry(whole, id=old.id, at=old.at, title=old.title, tags=old.tags)
        content = new.content
        return replace(old, content=content, tags=new.tags, derived_id=False)

    first = journal.parse(path, file.read_bytes()).entries[0]
    edited = edit_entry(journal, path, first.id, change, agent="codex").entry
    assert journal.find(path, edited.id)[1].content == content
    return path, journal.read(path)


def strangers(data: bytes, path: str) -> list[Entry]:
    """The entries that begin at no heading of a person, and bear no mark of the agent."""
    found = []
    for entry in parse_entries(data, path, mtime=AT).entries:
        start = entry.there.start
        line = data[start : data.find(b"\n", start)]
        is_first = not data[:start].strip() or data[:start] == FRONT.encode()
        is_plain = entry.type == "note" and entry.derived_id
        if b"MINE" in line or is_first or (is_plain and entry.by == "codex"):
            continue
        if entry.there.whole_file and is_in_logseq_journals(path):
            continue
        if line == b"## Own":  # a person's
            continue
        found.append(entry)
    return found


@pytest.mark.parametrize("form", ["saved", *FORMS])
@given(TEXTS, INSERTED, st.sampled_from(["", FRONT, "cut"]))
@example("A.\n\n## preference: x\n\n## Results\n\n## [18:31] y", "## 11:00 MINE", "")
@example("A.\n\n## Results\n\n## 2026-03-14 y\n\n### 2026-03-16\nz", "## MINE", FRONT)
@settings(max_examples=examples(500, 15), deadline=None)
def test_an_agents_text_begins_no_entry_after_a_hand_edit(
    form: str, text: str, inserted: str, front: str
) -> None:
    with tempfile.TemporaryDirectory() as base:
        try:
            path, data = written(home_journal(base), form, text)
        except Refused:
            assume(False)
    assert not strangers(data, path)
    lines = data.decode().split("\n")
    top = FRONT.count("\n") if data.startswith(FRONT.encode()) else 0
    fences = scan_structure("\n".join(lines)).opaque if "syn:" in inserted else []
    for place in range(top, len(lines)):
        at = len("\n".join(lines[:place]))
        # an entry with a comment ends the fence that it is put into, and bares code's `# x`
        in_fence = any(start <= at < end for start, end in fences)
        if not in_fence and f"syn:{ID}" not in lines[place]:
            edited = "\n".join([*lines[:place], "", inserted, "", *lines[place:]])
            edited = edited.removeprefix(FRONT) if front == "cut" else front + edited
            assert not strangers(edited.encode(), path), edited

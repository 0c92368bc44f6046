"""The entry format: laws for what is written, a table for what people type."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from trials import examples

from synaptic.errors import InvalidArgument, Refused
from synaptic.models import TYPES, Entry, ParsedFile
from synaptic.notes.blocks import find_at_tags, find_tags, plain_text, slug_tag
from synaptic.notes.markdown import compose_entry, new_id, render_entry, rewrite_block
from synaptic.notes.reading import make_derived_id, parse_entries

BERLIN = timezone(timedelta(hours=1))
AT = datetime(2026, 11, 21, 9, 31, 5, tzinfo=BERLIN)
ID = "20261121-7k3m9q2x"

# pieces that mean something to the format, so that chance puts them next to each other
PIECES = st.sampled_from(
    [
        *(
            "## 10:00 x",
            "# H1",
            "##",
            "#",
            "\\## 10:00",
            "\\#",
            "## 9:31 am",
            "am x",
            "decision:",
            "note",
            "2026",
        ),
        *(
            "```",
            "~~~~",
            "> ```",
            "    ```",
            "`",
            "<!--",
            "-->",
            "<!-- syn:20261121-7k3m9q2x -->",
            "\\<!-- syn:",
        ),
        *(
            "## Evening",
            "\\## Evening",
            "## 6pm x",
            "## [18:31] x",
            "## 3 things",
            "- x",
            "uhr",
            "p.m.",
            "-11:00",
        ),
        *("---", "#tag", "- #x", "[#x](http://a#b)", "<<<<<<< HEAD"),
        *("\r\n", "\n", "\n\n", "\x0b", "\u2028", "\x85", " ", "\0"),
    ]
)
TEXTS = (
    st.lists(st.one_of(PIECES, st.text(max_size=12), st.just("\n")), min_size=1, max_size=14)
    .map("".join)
    .filter(lambda text: text.strip(" \t\r\n") and text.strip())
)
TAGS = st.lists(st.sampled_from(["a", "b-c", "x/y", "tag", "Two Words"]), max_size=3)


@st.composite
def composed(draw: st.DrawFn) -> Entry:
    """An entry as a save writes it, from any text."""
    entry, _ = compose_entry(
        draw(TEXTS),
        id=ID,
        at=AT,
        type=draw(st.sampled_from(TYPES)),
        title=draw(st.one_of(st.none(), TEXTS)),
        tags=draw(TAGS),
        importance=draw(st.one_of(st.none(), st.integers(0, 10))),
        files=draw(st.lists(st.text(min_size=1, max_size=8), max_size=2)),
        project=draw(st.one_of(st.none(), st.text(max_size=8))),
        supersedes=draw(st.sampled_from([(), ("20260101-aaaaaaaa", "20260102-bbbbbbbb")])),
        by="claude",
    )
    return replace(
        entry,
        via=draw(st.sampled_from([None, "cli", "import:jrnl"])),
        branch=draw(st.sampled_from([None, "fix/a b,c", "-->"])),
        remote=draw(st.sampled_from([None, "3f9a0c1d2e4b5a69"])),
        root=draw(st.sampled_from([None, "9c02aa1f3a9c0d5e"])),
        expires=draw(st.sampled_from([None, "2027-01-01"])),
        pin=draw(st.booleans()),
    )


def read(text: str | bytes, path: str = "2026-11-21.md") -> ParsedFile:
    data = text if isinstance(text, bytes) else text.encode()
    return parse_entries(data, path, mtime=datetime(2026, 1, 2, 3, 4, tzinfo=UTC))


@given(composed())
@settings(max_examples=examples(400), deadline=None)
def test_what_is_written_reads_back_equal(entry: Entry) -> None:
    assert read(render_entry(entry)).entries == (entry,)


@given(TEXTS)
@settings(max_examples=examples(300), deadline=None)
def test_saved_content_reads_back_as_it_was(text: str) -> None:
    entry, notices = compose_entry(text, id=ID, at=AT)
    [found] = read(render_entry(entry)).entries
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    while lines and not lines[0].strip(" \t"):
        lines.pop(0)
    while lines and not lines[-1].strip(" \t"):
        lines.pop()
    if "An open code fence was closed." in notices:
        assert found.content.startswith("\n".join(lines))
    else:
        assert found.content == "\n".join(lines)


@given(st.lists(composed(), min_size=1, max_size=4), st.booleans())
@settings(max_examples=examples(150), deadline=None)
def test_entries_below_each_other_stay_apart(entries: list[Entry], crlf: bool) -> None:
    named = [
        replace(entry, id=f"20261121-{number:08d}") for number, entry in enumerate(entries)
    ]
    text = (
        "# 2026-11-21\n\n" + "\n".join(map(render_entry, named)) + "\n## 11:00 By hand\nbody\n"
    )
    data = (text.replace("\n", "\r\n") if crlf else text).encode()
    found = read(data).entries
    assert found[:-1] == tuple(named)
    assert (found[-1].title, found[-1].content) == ("By hand", "body")
    for entry in found[:-1]:
        assert entry.place is not None
        assert read(data[entry.place.start : entry.place.end]).entries == (entry,)


@given(
    st.binary(max_size=300),
    st.lists(PIECES, max_size=20).map(lambda pieces: "\n".join(pieces).encode()),
)
@settings(max_examples=examples(400), deadline=None)
def test_any_bytes_are_read_and_no_two_entries_overlap(noise: bytes, shaped: bytes) -> None:
    for data in (noise, shaped, shaped + noise + shaped):
        places = [entry.place for entry in read(data).entries]
        end = 0
        for place in places:
            assert place is not None
            assert (
                end
                <= place.start
                <= place.body_start
                <= place.body_end
                <= place.end
                <= len(data)
            )
            end = place.end


@given(composed(), composed(), st.sampled_from(["\n", "\r\n"]))
@settings(max_examples=examples(200), deadline=None)
def test_an_edit_says_the_new_and_touches_nothing_else(
    old: Entry, new: Entry, eol: str
) -> None:
    above, below = (
        f"# 2026-11-21{eol}{eol}## 8:15 am  Before {eol}x  {eol}{eol}",
        f"{eol}## 23:00 After{eol}y",
    )
    data = (above + render_entry(old).replace("\n", eol) + below).encode()
    [_, found, _] = read(data).entries
    assert found.place is not None
    block = data[found.place.start : found.place.end]
    assert rewrite_block(block, found, found) == block
    edited = rewrite_block(block, found, replace(new, place=found.place, extra=found.extra))
    whole = data[: found.place.start] + edited + data[found.place.end :]
    assert whole.startswith(above.encode()) and whole.endswith(below.encode())
    read_back = read(whole).entries[1]
    assert set(read_back.tags) == set(new.tags)
    assert read_back == replace(new, tags=read_back.tags)


def test_an_edit_keeps_the_time_as_typed_and_fixes_the_id() -> None:
    data = b"## 9:31 am - nothing\n## 10:15-11:00 Standup #Team  \nnotes\n"
    [_, entry] = read(data).entries
    assert entry.place is not None and entry.derived_id
    block = data[entry.place.start : entry.place.end]
    edited = rewrite_block(block, entry, replace(entry, importance=8, derived_id=False))
    assert (
        edited
        == f"## 10:15-11:00 Standup #Team  \n<!-- syn:{entry.id} importance=8 -->\nnotes\n".encode()
    )
    renamed = rewrite_block(block, entry, replace(entry, title="Daily", derived_id=False))
    assert renamed.startswith(b"## 10:15-11:00 Daily #team\n")


@pytest.mark.parametrize(
    ("heading", "type_", "title", "tags", "clock"),
    [
        (
            "## 09:31 decision: Chose sqlite-vec #db #search",
            "decision",
            "Chose sqlite-vec",
            ("db", "search"),
            "09:31",
        ),
        ("## 10:15 Called the bank #finance", "note", "Called the bank", ("finance",), "10:15"),
        ("## 10:15 Progress on billing", "note", "Progress on billing", (), "10:15"),
        ("## 10:15 progress", "progress", "text", (), "10:15"),
        ("## 10:15 DECISION: x #A", "decision", "x", ("a",), "10:15"),
        ("## 9:31 am Early", "note", "Early", (), "09:31"),
        ("## 9:31 pm Late", "note", "Late", (), "21:31"),
        ("## 10:15-11:00 Meeting", "note", "Meeting", (), "10:15"),
        ("## 10:15:42 Exact", "note", "Exact", (), "10:15"),
        ("## 10:15 Issue \\#12 is open", "note", "Issue #12 is open", (), "10:15"),
        ("## 10:15 plan: what next", "note", "plan: what next", (), "10:15"),
    ],
)
def test_headings(
    heading: str, type_: str, title: str, tags: tuple[str, ...], clock: str
) -> None:
    [entry] = read(f"{heading}\ntext\n").entries
    assert (entry.type, entry.title, entry.tags, entry.time) == (type_, title, tags, clock)
    assert entry.content == "text"
    assert entry.date == "2026-11-21" and entry.derived_id


@pytest.mark.parametrize(
    ("heading", "clock"),
    [
        *(
            ("6pm", "18:00"),
            ("6 pm", "18:00"),
            ("6 p.m.", "18:00"),
            ("12am", "00:00"),
            ("18h30", "18:30"),
        ),
        *(
            ("9h30", "09:30"),
            ("10h", "10:00"),
            ("14 Uhr", "14:00"),
            ("18.30 Uhr", "18:30"),
            ("18:30 Uhr", "18:30"),
            ("18:34:", "18:34"),
        ),
        ("7 Uhr 45", "07:45"),
        *(
            ("[18:31]", "18:31"),
            ("**18:32**", "18:32"),
            ("**18:32:**", "18:32"),
            ("[6pm]", "18:00"),
        ),
        *(
            ("18:30 -", "18:30"),
            ("18:30 –", "18:30"),
            ("[18:30] —", "18:30"),
            ("18:30 - 19:00", "18:30"),
        ),
        *(("6pm-8pm", "18:00"), ("10:15–11:00", "10:15")),
    ],
)
def test_times_as_people_type_them(heading: str, clock: str) -> None:
    for rest in (" issue: Roof leaks #house\nagain\n", "\nagain\n"):
        [above, entry] = read(f"## 08:00 First\n## {heading}{rest}").entries
        assert (entry.time, entry.content, above.content) == (clock, "again", "First")
        assert rest[0] == "\n" or (entry.type, entry.title, entry.tags) == (
            "issue",
            "Roof leaks",
            ("house",),
        )


@pytest.mark.parametrize("line", ["### 10:00 x", "##10:00 x", "##", "\\## Why", " ## Why"])
def test_what_is_no_h2_is_body(line: str) -> None:
    [entry] = read(f"## 08:00 First\n{line}\n").entries
    assert entry.content == line.removeprefix("\\")


@pytest.mark.parametrize(
    "line",
    [
        "## Why",
        "## 24:00 x",
        "## 10:00x",
        "## 9.31 x",
        "## 7 things",
        "## [18:31](a.md)",
        "## 6pms",
        "## 24h",
        "## 10hours",
    ],
)
def test_an_h2_without_a_time_is_a_note_of_its_own(line: str) -> None:
    [above, entry] = read(f"## 08:00 First\ntext\n{line}\nmore\n").entries
    assert (above.content, entry.content, entry.title, entry.type) == (
        "text",
        "more",
        line[3:],
        "note",
    )
    assert (
        entry.date == "2026-11-21"
        and entry.derived_id
        and entry.place
        and not entry.place.whole_file
    )


def test_where_h2s_without_a_time_begin_notes() -> None:
    text = "above\n\n## Morning\na\n\n## Evening #home\nb\n"
    day = read(text).entries
    assert [(entry.title, entry.content, entry.tags) for entry in day] == [
        ("2026-11-21", "above", ()),
        ("Morning", "a", ()),
        ("Evening", "b", ("home",)),
    ]
    for path in ("page.md", "2026-11-21 Visit to Ada.md"):
        [page] = read(text, path).entries
        assert page.content == text.strip()
    assert [entry.title for entry in read(f"{text}## 18:00 x\n", "page.md").entries] == [
        "page",
        "Morning",
        "Evening",
        "x",
    ]
    assert [entry.title for entry in read(text, "2026-11-21 Saturday.md").entries][1:] == [
        "Morning",
        "Evening",
    ]


@pytest.mark.parametrize(
    ("heading", "is_title"),
    [
        *(
            ("Mittwoch Geburtstag Oma", True),
            ("Recital", True),
            ("21 days to go", True),
            ("2026-11-21: Recital", True),
        ),
        *(
            ("2026-11-21", False),
            ("Saturday, November 21, 2026", False),
            ("Samstag, 21. November 2026", False),
        ),
        *(
            ("21/11/2026", False),
            ("2026-11-21 Saturday", False),
            ("21 de noviembre de 2026", False),
        ),
    ],
)
def test_the_h1_of_a_day_is_a_note_where_it_says_more_than_the_date(
    heading: str, is_title: bool
) -> None:
    for below in ("", "\n## 09:30 Meeting\n"):
        found = [entry.title for entry in read(f"# {heading}\n{below}").entries]
        assert found == [heading] * is_title + ["Meeting"] * bool(below)


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("***Tides***", "Tides"),
        ("**_High_** water", "High water"),
        ("__Low water__ at *noon*", "Low water at noon"),
        ("_~~Old~~_ and ==new==", "Old and new"),
        ("`a*b*c` of **2*3*4**", "`a*b*c` of 2*3*4"),
        ("Call __init__ and a_b_c", "Call __init__ and a_b_c"),
        ("Pass *args and **kwargs", "Pass *args and **kwargs"),
        ("这是**重点**内容", "这是重点内容"),
    ],
)
def test_a_title_has_no_marks_of_emphasis(written: str, title: str) -> None:
    [block] = read(f"- {written}\n\t- below\n", "journals/2026_11_21.md").entries
    [page] = read(f"# {written}\n\nText.\n", "page.md").entries
    [prose] = read(f"{written}\n\nText.\n", "2026-11-21.md").entries
    assert block.title == page.title == title
    assert prose.content.startswith(written)


def test_blocks_of_a_logseq_day_are_entries() -> None:
    text = (
        "- TODO Call Ada #work\n\t- she has the key\n\t- ```\n- in code\n\t  ```\n-\n- Paid "
        "the roofer\n  again\n- \n"
    )
    text = text.replace("\n- in code", "\n\t  - in code")
    for path in ("journals/2026_11_21.md", "vault/journals/2026_11_21.md"):
        first, second = read(text, path).entries
        assert (first.title, first.tags, first.date) == (
            "TODO Call Ada",
            ("work",),
            "2026-11-21",
        )
        assert "she has the key" in first.content and first.place and first.place.whole_file
        assert (second.content, second.place and second.place.line) == (
            "- Paid the roofer\n  again",
            7,
        )
    assert read("-\n", "journals/2026_11_21.md").entries == ()
    assert [
        entry.title for entry in read("- x\n\n## 09:30 y\n", "journals/2026_11_21.md").entries
    ] == ["2026_11_21", "y"]
    [page] = read(text, "pages/Ada.md").entries
    assert page.title == "Ada"


def test_a_saved_entry_owns_the_h2s_it_counts() -> None:
    body = "Intro.\n\n## Why\nx\n\n## [18:31] dinner\ny\n\n```\n## in code\n```\n"
    saved = render_entry(compose_entry(body, id=ID, at=AT)[0])
    assert " h2=2 " in saved
    below = "\n## Evening\nown\n"
    [entry, evening] = read(saved + below).entries
    assert (entry.content, evening.title) == (body.strip(), "Evening")
    assert [e.title for e in read(saved.replace("## Why\n", "") + below).entries] == [
        "Intro"
    ]  # what it counts, it owns
    typed = (
        saved.replace("## Why\n", "") + "\n## 6pm dinner\n"
    )  # but no time that a person types
    assert [e.title for e in read(typed).entries] == ["Intro", "dinner"]
    first_release = saved.replace(" h2=2", "")
    assert read(first_release + below).entries[0].content == f"{body}{below}".strip()
    assert [e.title for e in read(f"{first_release}## 23:00 x\n").entries] == ["Intro", "x"]
    assert [e.content for e in read("## 08:00 Typed\n## Why\nx\n").entries] == ["Typed", "x"]
    fixed = f"## 08:00 Typed\n<!-- syn:{ID} -->\n## Why\nx\n"  # an id moves no border
    assert [e.content for e in read(fixed).entries] == ["Typed", "x"]


def test_a_journal_of_the_first_release_reads_as_it_did() -> None:
    """240 entries that it saved of what its format is made of, and what it read."""
    known = json.loads(
        (Path(__file__).parents[1] / "data/journal_before_h2.json").read_text(encoding="utf-8")
    )
    found = [
        [e.id, e.at.isoformat()[:19], e.type, e.title, e.content]
        for e in read(known["text"]).entries
    ]
    assert found == [[id, at[:19], *rest] for id, at, *rest in known["entries"]]


ENTRIES = st.one_of(
    composed().map(render_entry),
    composed().map(render_entry).map(lambda text: re.sub(" h2=[0-9]+", "", text, count=1)),
    st.sampled_from(
        ["## 08:15 Typed\n", "## Evening\n\n", "## 6pm\n", f"## Fixed\n<!-- syn:{ID} -->\n"]
    ).flatmap(
        lambda head: st.lists(st.text("ab #\\", max_size=9), max_size=3).map(
            lambda lines: head + "\n".join(lines) + "\n"
        )
    ),
)


@given(st.lists(ENTRIES, min_size=1, max_size=5), TEXTS, st.integers(0, 4))
@example(
    [
        f"## 09:31 decision: Evening\n<!-- syn:{ID} at=2026-11-21T09:31:05+01:00 own=5265d0 "
        "by=claude -->\n\n## Evening\n"
    ],
    "## 10:00 x",
    0,
)
@settings(max_examples=examples(300), deadline=None)
def test_an_edit_moves_no_border(texts: list[str], more: str, which: int) -> None:
    named = [text.replace(ID, f"20261121-{number:08d}") for number, text in enumerate(texts)]
    data = ("# 2026-11-21\n\n" + "\n".join(named)).encode()
    before = read(data).entries
    entry = before[which % len(before)]
    assert entry.place is not None
    start, end = entry.place.start, entry.place.end
    if entry.place.whole_file:
        return
    content, _ = compose_entry(f"{entry.content}\n\n{more}", id=ID, at=AT)
    new = replace(
        entry,
        content=content.content,
        tags=(*entry.tags, *find_tags(content.content)),
        derived_id=False,
    )
    new = replace(new, tags=tuple(dict.fromkeys(new.tags)))
    try:
        block = rewrite_block(data[start:end], entry, new)
    except Refused:
        return
    after = read(data[:start] + block + data[end:]).entries
    assert [e.content for e in after if e.id != entry.id] == [
        e.content for e in before if e.id != entry.id
    ]
    assert [e.content for e in after if e.id == entry.id] == [new.content]


def test_an_open_fence_never_swallows_a_saved_entry() -> None:
    saved = render_entry(compose_entry("Saved below.", id=ID, at=AT)[0])
    parsed = read(f"## 08:00 By hand\n```python\nx = 1\n\n{saved}")
    assert [entry.title for entry in parsed.entries] == ["By hand", "Saved below."]
    assert [issue.code for issue in parsed.issues] == ["open-fence"]


FENCES_BELOW = "\n## 11:00 Last\n```\nls\n```\n\n```sh\nls\n```\n"


@pytest.mark.parametrize(
    ("item", "named"),
    [
        ("- one\n  ```sh\n  ls\n", "fence 3 5"),
        ("- ~~~\n  ls\n\n- two\n", "fence 2 5"),
        ("1. one\n\n   ````\n   ```\n\nbelow\n", "fence 4 7"),
        ("- a\n\t- b\n\t  ```\n\t  ls\n- c\n", "fence 4 6"),
        ("- - ```\n    ls\n  - b\n", "fence 2 4"),
        ("- one\n  <!-- why\n\n", "comment 3 5"),
        ("- one\n  ```sh\n  ls\nof the item\n", "fence 3 5"),
    ],
)
@pytest.mark.parametrize("below", ["", FENCES_BELOW])
def test_what_is_open_in_a_list_item_ends_with_the_item(
    item: str, named: str, below: str
) -> None:
    parsed = read(f"## 08:00 List\n{item}## 10:00 Below\ntext\n{below}")
    assert [entry.title for entry in parsed.entries] == ["List", "Below", "Last"][
        : 2 + bool(below)
    ]
    kind, line, end = named.split()
    [issue] = parsed.issues
    assert (issue.code, issue.line) == (f"open-{kind}", int(line))
    assert issue.message.endswith(f"never closed; it ends with its list item, above line {end}")


@pytest.mark.parametrize(
    "fence",
    [
        "- one\n  ```\n  ls\n  ```\n",
        "- one\n  ```sh\n## 09:00 pasted without its indent\n  ```\n",
        "- one\n  ```sh\n  ls\n# pasted\n```\n",
        "- one\n  ```\n  ls\n\n# Heading\n  ```\n",  # as the end of the text was saved
        "  ```\n## 09:00 x\n  ```\n",
        "- one\n> two\n  ```\n## 09:00 x\n  ```\n",
    ],
)
def test_a_closed_fence_goes_on_below_its_list_item(fence: str) -> None:
    parsed = read(f"## 08:00 List\n{fence}## 10:00 Below\n{FENCES_BELOW}")
    assert [entry.title for entry in parsed.entries] == ["List", "Below", "Last"]
    assert parsed.entries[0].content == fence.strip("\n") and parsed.issues == ()


def test_what_closed_a_fence_that_ends_with_its_item_hides_nothing() -> None:
    text = "## 08:00 List\n- one\n  ```\n  ls\n## 09:00 x\n  ```\n## 10:00 Below\n"
    assert [entry.title for entry in read(text).entries] == ["List", "x", "Below"]


@pytest.mark.parametrize(
    "below", ["Text.", "# Text.", "~~~\nls", "- two\n  ~~~\n  ls", "<!-- a"]
)
def test_a_text_with_an_open_fence_in_an_item_is_saved_and_edited(below: str) -> None:
    entry, _ = compose_entry(f"- one\n  ```\n  ls\n\n{below}", id=ID, at=AT)
    saved = render_entry(entry)
    assert read(f"{saved}\n## Evening\n\n```\nls\n```\n").entries[0] == entry
    [found] = read(saved).entries
    longer, _ = compose_entry(f"{entry.content}\n\nMore.", id=ID, at=AT)
    assert found.place
    edited = rewrite_block(saved.encode(), found, replace(longer, place=found.place))
    assert read(edited).entries[0].content == longer.content


def test_headings_in_fences_comments_and_front_matter_are_text() -> None:
    text = (
        "---\nx: 1\n---\n## 08:00 A\n```\n## 09:00 no\n```\n<!--\n## 09:30 no\n-->\n## 10:00 "
        "B\n"
    )
    assert [entry.title for entry in read(text).entries] == ["A", "B"]


@pytest.mark.parametrize(
    ("path", "text", "date", "source"),
    [
        ("2026-11-20.md", "## 10:00 x", "2026-11-20", "file"),
        ("a/2026_11_20.md", "note", "2026-11-20", "file"),
        ("20261120 Meeting.md", "note", "2026-11-20", "file"),
        ("n.md", "---\ndate: 2026-11-19\n---\nnote", "2026-11-19", "front-matter"),
        (
            "n.md",
            f"## 09:31 x\n<!-- syn:{ID} at=2026-11-18T09:31:05+01:00 -->\n",
            "2026-11-18",
            "comment",
        ),
        ("n.md", "note", "2026-01-02", "mtime"),
        ("2026-02-30.md", "note", "2026-01-02", "mtime"),
        *(
            (f"{name}.md", "note", "2026-11-12", "file")
            for name in (
                "November 12, 2026",
                "Nov 12th, 2026",
                "12. nov 2026",
                "12 November 2026 Trip",
                "Trip_12.11.2026",
                "2026/11/12",
                "a/2026/11/12",
                "2026/11/2026-11-12-Friday",
                "12.11.2026 and 13.11.2026",
            )
        ),
        *(
            (f"{name}.md", "note", "2026-01-02", "mtime")
            for name in (
                "ticket 12.11.20267",
                "v12.11.2026",
                "1.12.11.2026",
                "12.11.2026.3",
                "Nov 12, 1899",
                "Nov 12, 2101",
                "Mayor 12, 2026",
                "31.11.2026",
                "12026/11/12",
                "2026/11/12 monkeys",
            )
        ),
    ],
)
def test_dates(path: str, text: str, date: str, source: str) -> None:
    [entry] = read(text, path).entries
    assert (entry.date, entry.date_source) == (date, source)


def test_at_adds_seconds_and_a_changed_heading_wins() -> None:
    comment = f"<!-- syn:{ID} at=2026-11-21T09:31:05+05:00 -->"
    [kept] = read(f"## 09:31 x\n{comment}\n").entries
    assert kept.at == datetime(2026, 11, 21, 9, 31, 5, tzinfo=timezone(timedelta(hours=5)))
    [moved] = read(f"## 09:45 x\n{comment}\n").entries
    assert moved.time == "09:45" and moved.at.second == 0


def test_whole_files() -> None:
    [note] = read(
        "---\ntags: [Work, two words]\naliases: Other\n---\n# Title #x\n\nText with #inline.\n",
        "n.md",
    ).entries
    assert (note.title, note.content) == ("Title", "Text with #inline.")
    assert note.tags == ("x", "work", "two-words", "inline")
    assert note.place is not None and note.place.whole_file
    [page] = read("---\nauthor: Somebody\n---\n", "References/Blade Runner.md").entries
    assert page.title == "Blade Runner"
    assert read("# 2026-11-21\n").entries == ()
    assert read("").entries == ()
    assert read("---\nsynaptic: false\n---\n# Secret\ntext", "n.md") == ParsedFile((), ())


def test_text_around_entries_is_a_note_of_its_own() -> None:
    parsed = read("# 2026-11-21\n\nA grey day.\n\n## 10:00 Entry\nbody\n\n# Later\nthoughts\n")
    assert [(entry.title, entry.content) for entry in parsed.entries] == [
        ("2026-11-21", "A grey day."),
        ("Entry", "body"),
        ("Later", "thoughts"),
    ]


def test_an_id_that_stands_twice() -> None:
    one, other = f"## 10:00 A\n<!-- syn:{ID} -->\n", f"## 11:00 B\n<!-- syn:{ID} -->\n"
    assert len(read(one + one).entries) == 1
    parsed = read(one + other)
    assert parsed.entries[0].id == ID != parsed.entries[1].id
    assert [issue.code for issue in parsed.issues] == ["duplicate-id"]


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf## 10:00 x\nbody",
        b"## 10:00 x\r\nbody\r\n",
        b"## 10:00 x\rbody\r",
        b"## 10:00 x\nbody",
    ],
)
def test_line_ends_and_byte_order_marks(data: bytes) -> None:
    [entry] = read(data).entries
    assert (entry.title, entry.content) == ("x", "body")


def test_ids() -> None:
    assert new_id(AT.date()).startswith("20261121-") and len(new_id(AT.date())) == 17
    assert new_id(AT.date()) != new_id(AT.date())
    assert make_derived_id(None, "n.md", "", 0).startswith("00000000-")
    assert make_derived_id(AT.date(), "n.md", "h", 0) == make_derived_id(
        AT.date(), "n.md", "h", 0
    )
    assert make_derived_id(AT.date(), "n.md", "h", 0) != make_derived_id(
        AT.date(), "n.md", "h", 1
    )


@pytest.mark.parametrize("text", ["", " \n\t\n", "\r\n"])
def test_nothing_cannot_be_saved(text: str) -> None:
    with pytest.raises(InvalidArgument):
        compose_entry(text, id=ID, at=AT)


@pytest.mark.parametrize(
    "word", ["deci\u017fion", "i\u017f\u017fue", "ins\u0131ght", "\u0130nsight"]
)
def test_letters_that_only_look_like_a_type_are_a_title(word: str) -> None:
    [entry] = parse_entries(
        f"## 10:00 {word}: what we chose\n".encode(), "2026-11-21.md", mtime=AT
    ).entries
    assert (entry.type, entry.title) == ("note", f"{word}: what we chose")
    with pytest.raises(InvalidArgument, match="unknown"):
        compose_entry("x", id=ID, at=AT, type=word)


@pytest.mark.parametrize(
    ("tag", "slug"),
    [
        ("Two Words", "two-words"),
        ("#DB", "db"),
        ("a/b_c-d", "a/b_c-d"),
        ("node.js", "node-js"),
        ("c++", "c"),
        ("#-x/", "x"),
        ("2026", ""),
    ],
)
def test_tags(tag: str, slug: str) -> None:
    assert slug_tag(tag) == slug
    if not slug:
        with pytest.raises(InvalidArgument):
            compose_entry("x", id=ID, at=AT, tags=[tag])


def test_tags_are_not_read_from_code_links_and_urls() -> None:
    text = "`#a` [x](http://y#b) http://z#c [[Page#d]]\n\n```\n#e\n```\n\n#real and (#not)\n"
    [entry] = read(f"## 10:00 x\n{text}").entries
    assert entry.tags == ("real",)


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("Set it:\n\n    #define SIZE 4\n    #fff\n\nand #build it", ("build",)),
        ("Set it:\n\n\t#include <pot.h>\n", ()),
        ("## Colours\n    #fff\n", ()),
        ("```\nx\n```\n    #fff\n", ()),
        ("Set it:\r\n\r\n    #fff\r\n\r\n    #eee\r\n", ()),
        ("Set it:\n    #paint goes on\n", ("paint",)),
        ("- sow\n\n    #beans\n", ("beans",)),
        ("- sow\n\t- more\n\n\t  #beans\n", ("beans",)),
        ("- sow\n\n        #fff\n", ()),
        ("1. sow\n\n   #beans\n\nNo list.\n\n    #fff\n", ("beans",)),
        ("Sown[^1]\n\n[^1]: late\n\n    #beans\n", ("beans",)),
        ("## Garden\n\t- #beans\n\t- x #peas\n\n\t\t- #rows\n", ("beans", "peas", "rows")),
    ],
)
def test_indented_code_makes_no_tags_but_indented_text_of_a_list_does(
    text: str, tags: tuple[str, ...]
) -> None:
    assert find_tags(text) == tags


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("Met @Ida, @tom-b and @jürgen. @ida left.\n@work: tea", "ida tom-b jürgen work"),
        ("ida@example.org, <mailto:x@y.de>, @ida@example.org, @ida.example, @ida:x.org", ""),
        ("npm i @scope/pkg, http://x.org/@ida, (@ida), \\@ida, @ 5pm, @5pm", ""),
        ("`@a` and `` @b ` @c `` [@d](http://x/@e) [[@f]] <!-- @g -->", ""),
        ("```py\n@property\n```\n\n    @Override\n\n@real", "real"),
    ],
)
def test_at_tags_are_names_and_neither_addresses_nor_code(text: str, tags: str) -> None:
    assert find_at_tags(text) == tuple(tags.split())


def test_plain_text() -> None:
    assert plain_text("see [[Page|alias]] and [text](url)").split() == [
        "see",
        "Page",
        "alias",
        "and",
        "text",
        "url",
    ]
    assert "secret" not in plain_text("a <!-- secret --> b")


@pytest.mark.parametrize(
    ("content", "title"),
    [
        ("fix: subject\n\nThe body. More of it.", "fix: subject"),
        (
            "A sentence that an editor\nwrapped. Another one.",
            "A sentence that an editor wrapped",
        ),
        ("No end\nin this paragraph\n \t\nNext one.", "No end in this paragraph"),
        ("***\n\nBelow a rule. And on.", "Below a rule"),
        ("# Heading\n\nText.", "Heading"),
        ("word " * 40, "word " * 13 + "word…"),
    ],
)
def test_the_first_paragraph_alone_makes_the_title(content: str, title: str) -> None:
    entry, _ = compose_entry(content, id=ID, at=AT)
    assert entry.title == title

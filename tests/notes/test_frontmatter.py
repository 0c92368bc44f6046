"""Front matter that is not strict YAML, TOML, and the nested keys of agents' memories."""

from datetime import UTC, datetime

import pytest

from synaptic.models import Entry, ParsedFile
from synaptic.notes.extending import add_tags
from synaptic.notes.reading import parse_entries


def read(text: str) -> ParsedFile:
    return parse_entries(text.encode(), "n.md", mtime=datetime(2026, 1, 2, tzinfo=UTC))


def note(text: str) -> Entry:
    [entry] = read(text).entries
    return entry


@pytest.mark.parametrize(
    ("odd", "line"),
    [
        ("title: Keel: third coat (Part: One)", 2),
        ("title: *Third* coat", 2),
        ("path: `D:\\boat\\keel`", 2),
        ("related:\n  - [[Dock]]yard", 3),
        ("\ttitle: coat", 2),
        ("title: [coat", 3),
        ('title: "coat', 2),
        ("title: @coat", 2),
        ("title: 90% done: nearly", 2),
    ],
)
def test_an_odd_line_takes_no_other_line_with_it(odd: str, line: int) -> None:
    text = f"---\n{odd}\ntags: [boat, varnish]\ndate: 2026-04-09\n---\n\nTwo coats.\n"
    entry = note(text)
    assert (entry.tags, entry.date) == (("boat", "varnish"), "2026-04-09")
    assert (entry.date_source, entry.content) == ("front-matter", "Two coats.")
    [issue] = read(text).issues
    assert issue.code == "front-matter" and 2 <= issue.line <= 5


def test_the_title_of_an_odd_line_is_read_to_its_end() -> None:
    assert note("---\ntitle: Keel: third coat\n---\nx\n").title == "Keel: third coat"
    assert note("---\ntags: [a\n\ttitle: Keel\n---\nx\n").title == "Keel"


def test_text_between_two_rules_stays_text() -> None:
    text = (
        "---\nTides: high: 4\nThe pier was under water.\nWe left: late.\nBy boat.\n---\nEnd.\n"
    )
    entry = note(text)
    assert "The pier was under water." in entry.content and entry.fields == ()
    assert [issue.code for issue in read(text).issues] == ["front-matter"]


def test_a_tag_is_added_to_front_matter_with_an_odd_line_and_never_breaks_it() -> None:
    odd = b"---\ntitle: Keel: coat\ntags: [boat]\n---\nx\n"
    assert add_tags(odd, ["new"], b"\n") == odd.replace(b"[boat]", b"[boat, new]")
    whole = b"---\ntitle: x\ntags: [a,]\n---\nx\n"
    assert add_tags(whole, ["new"], b"\n") == whole


TOML = """+++
title = "Keel"
date = 2026-04-09T08:30:00Z
tags = ["boat"]
weight = 3
[taxonomies]
tags = ["varnish"]
[extra]
mood = "calm"
+++

Two coats.
"""


def test_front_matter_in_toml_is_read() -> None:
    entry = note(TOML)
    assert (entry.title, entry.content, entry.tags) == ("Keel", "Two coats.", ("boat",))
    assert (entry.at, entry.date_source) == (
        datetime(2026, 4, 9, 8, 30, tzinfo=UTC),
        "front-matter",
    )
    assert entry.fields == (("weight", "3"), ("mood", "calm"))
    zola = TOML.replace('tags = ["boat"]\n', "", 1).replace("\n", "\r\n")
    assert note(zola).tags == ("varnish",)
    assert "and more" in note("+++\nsum = 1 + 2\nand more\n+++\nEnd.\n").content


def test_an_odd_line_of_toml_takes_no_other_line_with_it() -> None:
    text = '+++\ntitle = Keel\ndate = 2026-04-09\ntags = ["boat"]\n+++\nx\n'
    entry = note(text)
    assert (entry.title, entry.date, entry.tags) == ("Keel", "2026-04-09", ("boat",))
    [issue] = read(text).issues
    assert (issue.code, issue.line) == ("front-matter", 2)


def test_no_yaml_is_written_above_toml() -> None:
    assert add_tags(TOML.encode(), ["new"], b"\n") == TOML.encode()


def test_a_memory_of_an_agent_has_a_name_a_type_and_nested_keys() -> None:
    entry = note(
        "---\nname: tide-table\ndescription: Times of the tide\nmetadata:\n  type: feedback\n"
        "  origin:\n    session: 4c1\n  seen: [dusk, dawn]\n  parts:\n    - type: no\n---\n\nTwice.\n"
    )
    assert (entry.title, entry.tags) == ("tide-table", ("feedback",))
    assert dict(entry.fields)["type"] == "feedback"
    assert dict(entry.fields)["session"] == "4c1"
    assert ("seen", "dusk") in entry.fields and ("type", "no") not in entry.fields


def test_a_note_with_a_title_is_no_memory() -> None:
    entry = note("---\ntitle: Keel\ntype: book\nauthor:\n  name: Ida\n---\nx\n")
    assert (entry.title, entry.tags) == ("Keel", ())
    assert entry.fields == (("type", "book"), ("name", "Ida"))


@pytest.mark.parametrize(
    ("front", "line"),
    [
        ('tags: [huber, "offen\nkunde: x\n', 2),
        ("kunde: x\ntags: [huber, offen\nort: Bonn\n", 3),
        ("kunde: x\nort: a: b\nalt: 1\n", 3),
        ("a: 1\n b: 2\nc: 3\n", 3),
    ],
)
def test_the_line_of_a_fault_is_where_it_begins(front: str, line: int) -> None:
    [issue] = read(f"---\n{front}---\nText.\n").issues
    assert (issue.code, issue.line) == ("front-matter", line)

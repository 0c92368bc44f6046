"""What Evernote exported, as the reader gives it back."""

from __future__ import annotations

import zipfile
from base64 import encodebytes
from datetime import UTC, datetime
from hashlib import md5
from pathlib import Path

import pytest
from exported import DATA, WRONG, check_zips, read
from forks import ForkedHome as Home

from synaptic.errors import InvalidArgument

FOLDER = DATA / "evernote"
PICTURE = (DATA / "notion-md" / "Kitchen" / "plan v2.png").read_bytes()
DOCTYPE = '<!DOCTYPE en-export SYSTEM "http://xml.evernote.com/pub/evernote-export4.dtd">'
CREATED = "<created>20261121T093100Z</created>"


def resource(data: bytes, name: str, mime: str = "image/jpeg") -> str:
    return (
        f'<resource><data encoding="base64">{encodebytes(data).decode()}</data>'
        f"<mime>{mime}</mime><resource-attributes><file-name>{name}</file-name>"
        "</resource-attributes></resource>"
    )


def note(title: str, text: str, more: str = "", created: str = CREATED) -> str:
    return (
        f"<note><title>{title}</title>{created}<content><![CDATA[<en-note>{text}</en-note>]]>"
        f"</content>{more}</note>"
    )


def put(path: Path, *notes: str, doctype: str = DOCTYPE) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'<?xml version="1.0"?>{doctype}<en-export>{"".join(notes)}</en-export>')
    return path


def show(data: bytes) -> str:
    return f'<en-media hash="{md5(data, usedforsecurity=False).hexdigest()}" type="x/y"/>'


def test_a_note_keeps_its_form_its_pictures_and_its_files(tmp_path: Path) -> None:
    found, [told] = read("evernote", FOLDER)
    [lake] = found.values()
    assert lake.title == "Sunday at the lake & home" and lake.tags == ("Family", "lake side")
    assert lake.at == datetime(2026, 11, 21, 9, 31, tzinfo=UTC) and lake.dated
    picture = "![](attachments/imported/13563595c4a4995855d2f26c2f98b864.jpg)"
    for part in (
        "## Plan\n\nWe went **early**, **all** of us.\nSecond line.\n\n- [x] Buy bread\n"
        "- [ ] Call [Ida](https://example.org)\n\n- [x] Tea\n- [ ] Milk\n",
        f"Photo: {picture}\n\n1. one\n2. two\n",
        f"| wind | north |\n| a {picture} | b |\n",
        "[Map of the lake.pdf](attachments/imported/Map-of-the-lake-64db8415.pdf)",
        "```\nx = 1\n  y = 2\n```\n\n- [x] Pack the boat\n- [ ] Dry it\n",
        "(encrypted in Evernote)\n\nsource-url:: https://example.org/lake",
    ):
        assert part in lake.text
    assert [data() for _, data in lake.pictures] == [PICTURE, b"%PDF-1.4 x"]
    assert told.startswith("Family.enex, note 1 (Sunday") and "decrypt it" in told
    check_zips("evernote", FOLDER, tmp_path)


def test_what_no_text_shows_comes_behind_it_and_what_is_not_taken_is_named(
    tmp_path: Path,
) -> None:
    page = b"<script>"
    file = put(
        tmp_path / "a.enex",
        note("One", "<div>Seen.</div>", resource(PICTURE, "a.jpg")),
        note("Two", f"Page {show(page)}", resource(page, "a.html", "text/html")),
        note("Three", show(b"gone")),
        note("Four", f"No {show(b'text')}", resource(b"text", "b.png", "image/png")),
        note("Five", "Torn.", "<resource><data>AAAAA</data><mime>image/png</mime></resource>"),
        note("", ""),
    )
    found, told = read("evernote", file)
    one, two, three, four, five = found.values()
    assert one.text.startswith("Seen.\n\n![](attachments/imported/") and one.pictures
    assert two.text == "Page (a.html stays in Evernote)" and not two.pictures
    assert three.text == "(not in the export)" and not four.pictures
    assert five.text == "Torn.\n\n(file stays in Evernote)"
    reasons = ["a.html is a file", "not in the export", "b.png is a file", "damaged", "empty"]
    assert all(why in line for why, line in zip(reasons, told, strict=True))


def test_a_note_has_an_honest_day(tmp_path: Path) -> None:
    updated = "<updated>20261122T100000Z</updated>"
    file = put(
        tmp_path / "a.enex",
        note("Updated", "x", created=updated),
        note("Undated", "x", created=""),
        note("Wrong", "x", created="<created>soon</created>"),
    )
    first, second, third = read("evernote", file)[0].values()
    assert first.at == datetime(2026, 11, 22, 10, tzinfo=UTC) and first.dated
    assert not (second.dated or third.dated)


def test_a_note_that_changed_in_evernote_corrects_its_entry(home: Home, tmp_path: Path) -> None:
    text = "We swam in teh lake all day, and had bread and tea at the shore in the evening."
    put(tmp_path / "a.enex", note("Lake", text), note("Tea", "Hot."))
    assert home.ask("import", str(tmp_path / "a.enex"), "--yes")["new"] == 2
    assert home.ask("import", str(tmp_path / "a.enex"), "--yes")["known"] == 2
    changed = note("Lakes", text.replace("teh", "the"), resource(PICTURE, "a.jpg"))
    put(tmp_path / "b.enex", note("Tea", "Hot."), changed)
    again = home.ask("import", str(tmp_path / "b.enex"), "--yes")
    assert (again["new"], again["grown"], again["known"]) == (0, 1, 1)
    assert len([*home.journal.glob("attachments/imported/*.jpg")]) == 1
    assert {entry["title"] for entry in home.ask("find")["entries"]} == {"Lakes", "Tea"}


def test_one_note_in_two_files_comes_once_and_two_of_one_minute_twice(tmp_path: Path) -> None:
    put(tmp_path / "a.enex", note("Lake", "We swam."), note("Lake", "It rained."))
    put(tmp_path / "b.enex", note("Lake", "It rained."), note("Lake", "We swam."))
    found, told = read("evernote", tmp_path)
    assert [one.text for one in found.values()] == ["We swam.", "It rained."]
    assert len(told) == 2 and "it is the same note as a.enex, note 2 (Lake)" in told[0]


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE en-export [<!ENTITY a "aaaa">]>',
        f'{DOCTYPE[:-1]} [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE en-export [<!ENTITY % d SYSTEM "http://127.0.0.1:1/d">%d;]>',
    ],
)
def test_a_file_that_declares_anything_is_refused(doctype: str, tmp_path: Path) -> None:
    file = put(tmp_path / "a.enex", note("&a;&x;", "Text."), doctype=doctype)
    with pytest.raises(InvalidArgument, match="document type declares something") as refused:
        read("evernote", file)
    assert "ENEX" in refused.value.hint
    put(tmp_path / "b.enex", note("Good", "Text."))
    found, [told] = read("evernote", tmp_path)
    assert len(found) == 1 and "a.enex: it is damaged: its document type" in told


def test_entities_within_a_note_are_not_expanded(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE en-note [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>&b;<div>Safe.</div>'
    file = put(tmp_path / "a.enex", note("One", bomb), note("Two &nbsp; x", "&lt;b&gt;"))
    first, second = read("evernote", file)[0].values()
    assert "aaaa" not in first.text.replace('ENTITY a "aaaa"', "") and "Safe." in first.text
    assert second.text == "<b>"


def test_a_torn_file_gives_the_notes_before(tmp_path: Path) -> None:
    file = put(tmp_path / "a.enex", note("One \0\1", "Zero \0 byte."), note("Two", "x"))
    file.write_bytes(file.read_bytes()[:-40])
    found, [told] = read("evernote", file)
    assert [one.title for one in found.values()] == ["One"] and "behind its note 1" in told


def test_a_long_or_deep_note_costs_no_other(tmp_path: Path) -> None:
    deep = "<div>" * 2_000 + "x" + "</div>" * 2_000
    file = put(
        tmp_path / "a.enex",
        note("Long", "x" * 2_000_001),
        note("Deep", deep),
        note("Many", "x", "<tag>a</tag>" * 20_000),
        note("Last", "x"),
    )
    found, told = read("evernote", file)
    assert [one.title for one in found.values()] == ["Last"] and len(told) == 3


@pytest.mark.parametrize("wrong", [*WRONG, b"<html><body/></html>", b"<en-export></en-export>"])
def test_what_is_no_export_is_refused(wrong: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.enex").write_bytes(wrong)
    with pytest.raises(InvalidArgument) as refused:
        read("evernote", tmp_path / "a.enex")
    assert str(tmp_path / "a.enex") in refused.value.message and "ENEX" in refused.value.hint


def test_notes_in_a_folder_and_a_zip_are_chosen_by_themselves(
    home: Home, tmp_path: Path
) -> None:
    put(tmp_path / "in" / "Work.ENEX", note("Work", "x"))
    with zipfile.ZipFile(tmp_path / "in" / "more.zip", "w") as archive:
        archive.write(FOLDER / "Family.enex", "Family.enex")
    plan = home.ask("import", str(tmp_path / "in"), "--yes")
    assert [one["source"] for one in plan["chosen"]] == ["evernote", "evernote"]
    assert plan["new"] == 2
    stored = sorted(path.suffix for path in home.journal.glob("attachments/imported/*"))
    assert stored == [".jpg", ".pdf"]

"""Plain texts and Word documents, as the reader gives them back."""

from __future__ import annotations

import json
import zipfile
from datetime import datetime
from pathlib import Path

import pytest
from exported import DATA, WRONG, check_zips, read
from forks import ForkedHome

from synaptic.errors import InvalidArgument
from synaptic.features.importing.readers import word

FOLDER = DATA / "documents"


def test_texts_of_all_encodings_are_split_at_their_dates(tmp_path: Path) -> None:
    diary, skipped = read("documents", FOLDER / "diary.txt")
    assert [(one.at, one.title, one.text) for one in diary.values()] == [
        (datetime(2026, 3, 14), "", "At the quay all day.\nIt rained."),
        (datetime(2026, 3, 15, 21, 10), "Ropes", "Tar on every rope."),
        (datetime(2026, 3, 16), "Short day", "Short day"),
        (datetime(2026, 3, 20, 21, 5), "", "Late. On 14 March 2026 we were early."),
    ]
    windows, _ = read("documents", FOLDER / "windows.txt")
    notepad, _ = read("documents", FOLDER / "notepad.txt")
    assert [one.text for one in windows.values()] == ["Brötchen für 3 €.", "Nichts."]
    assert [one.text for one in notepad.values()] == ["Déjà vu à Orléans.", "Rien."]
    days = [one.at.day for one in (*windows.values(), *notepad.values())]
    assert days == [14, 15, 14, 15] and not skipped
    [letter] = read("documents", FOLDER / "letter 2025-12-24.txt")[0].values()
    assert letter.at == datetime(2025, 12, 24) and letter.text.startswith("Dear Ida,\n\nthe")
    whole, _ = read("documents", FOLDER)
    assert diary.keys() | windows.keys() <= whole.keys()
    check_zips("documents", FOLDER, tmp_path)


def test_a_word_document_keeps_its_days_marks_lists_and_pictures() -> None:
    found, skipped = read("documents", FOLDER / "Hafen.docx")
    before, quay, sea, night = found.values()
    assert (before.title, before.text) == ("What I wrote at the harbour.", "file:: Hafen.docx")
    assert quay.at == datetime(2026, 3, 14) and quay.text.startswith("Wir waren **lange** am")
    assert "3 < 4 & gut." in quay.text and "- Brot\n- Tee" in quay.text
    [(name, picture)] = quay.pictures
    assert f"![](attachments/imported/{name})" in quay.text
    assert picture().startswith(b"\xff\xd8\xff")
    assert (sea.at, sea.title) == (datetime(2026, 3, 16), "At sea")
    assert night.at == datetime(2026, 3, 17, 21, 10) and "| wind | north |" in night.text
    assert not skipped


def test_one_date_is_no_diary_and_two_readings_are_named(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("To Ida\n\n3 May 2026\n\nDear Ida\n")
    (tmp_path / "slashes.txt").write_text("03/02/2026\nTea.\n\n04/02/2026\nRope.\n")
    found, [note] = read("documents", tmp_path)
    letter, slashes = found.values()
    assert letter.text == "To Ida\n\n3 May 2026\n\nDear Ida" and letter.at == datetime(
        2026, 5, 3
    )
    assert slashes.text.startswith("03/02/2026\nTea.") and "2 lines" in note
    assert note.startswith("slashes.txt: ")


@pytest.mark.parametrize(
    ("first", "others"),
    [
        ("2026-03-14 At sea", ("2026-03-15 Ropes", "2026-03-16 Tar")),
        ("14.3.2026: At sea", ("15.3.2026: Ropes", "16.3.2026: Tar")),
        ("14.3.2026 21:10 At sea", ("15.3.2026 8:00 Ropes", "16.3.2026 9:30 Tar")),
        (
            "2026-03-14 21:10:30 At sea",
            ("2026-03-15 08:00:00 Ropes", "2026-03-16 09:30:00 Tar"),
        ),
    ],
)
def test_a_text_that_begins_as_a_log_is_one_to_its_end(
    tmp_path: Path, first: str, others: tuple[str, str]
) -> None:
    (tmp_path / "log.txt").write_text(
        f"{first}\n\n\tWind all day.\n{others[0]}\nAll of them.\n\nNew ones came\n"
        f"on 14 March 2026 too\n{others[1]}\n"
    )
    found, skipped = read("documents", tmp_path / "log.txt")
    assert [(one.title, one.text) for one in found.values()] == [
        ("At sea", "\tWind all day."),
        ("Ropes", "All of them.\n\nNew ones came\non 14 March 2026 too"),
        ("Tar", "Tar"),
    ]
    assert [one.at.day for one in found.values()] == [14, 15, 16] and not skipped


@pytest.mark.parametrize("wrong", WRONG)
def test_no_document_is_refused_or_named(wrong: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.docx").write_bytes(wrong)
    found, [why] = read("documents", tmp_path / "a.docx")
    assert not found and "not a Word document" in why
    (tmp_path / "a.pdf").write_bytes(wrong)
    with pytest.raises(InvalidArgument) as refused:
        read("documents", tmp_path / "a.pdf")
    assert ".docx" in refused.value.hint
    (tmp_path / "a.txt").write_bytes(b"\0\1\2\0\0\0 \x81")
    assert read("documents", tmp_path / "a.txt")[0] == {}


def test_a_word_document_that_unpacks_to_too_much_or_names_entities_is_left_out(
    tmp_path: Path,
) -> None:
    with zipfile.ZipFile(FOLDER / "Hafen.docx") as archive:
        parts = {info.filename: archive.read(info) for info in archive.infolist()}
    text = parts["word/document.xml"]
    bomb = text.replace(b"</w:body>", b" " * word.XML_BYTES + b"</w:body>")
    doctype = b'<!DOCTYPE x [<!ENTITY a "aaaa">]><w:document'
    wrong = {
        "split it": bomb,
        "declares a document type": text.replace(b"<w:document", doctype, 1),
        "cannot be understood": text[: len(text) // 2],
    }
    for why, document in wrong.items():
        with zipfile.ZipFile(tmp_path / "a.docx", "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in (parts | {"word/document.xml": document}).items():
                archive.writestr(name, data)
        found, [told] = read("documents", tmp_path / "a.docx")
        assert not found and why in told


def test_documents_are_imported_once_and_taken_back(home: ForkedHome) -> None:
    first = home.ask("import", "documents", str(FOLDER), "--yes")
    again = home.ask("import", "documents", str(FOLDER), "--yes")
    assert len(home.entries()) == 13 and not again.get("run")
    assert "lange" in home.run("day", "2026-03-14").out
    home.ask("import", "--undo", first["run"], "--yes")
    assert not home.entries()


def test_a_day_without_a_time_is_shown_without_one(home: ForkedHome, tmp_path: Path) -> None:
    """It stands in its file as `00:00`, and a time that is given later is shown."""
    diary = tmp_path / "diary.txt"
    diary.write_text("2026-03-14\n\nAt the quay.\n\n2026-03-15 21:10\n\nTar on the ropes.\n")
    home.run("import", "documents", str(diary), "--yes")
    book = tmp_path / "book.html"
    home.run("book", "2026", "--to", str(book))
    ids = [one["id"] for one in json.loads(home.run("recent", "--json").out)["entries"]]
    shown = [
        home.run(*words.split()).out
        for words in ("recent", "day 2026-03-14", "search quay", "find --since 2026-03-14")
    ]
    shown += [home.run("get", *ids).out, book.read_text()]
    assert all("quay" in text and "00:00" not in text for text in shown)
    assert "2026-03-15 21:10" in shown[0]
    quay = ids[-1]
    home.run("update", quay, "--at", "2026-03-15")
    assert "00:00" not in home.run("get", quay).out
    home.run("update", quay, "--at", "2026-03-15 18:00")
    assert "2026-03-15 18:00" in home.run("get", quay).out


def test_the_log_of_a_device_is_one_text_and_a_full_day_a_diary(tmp_path: Path) -> None:
    lines = [f"2026-05-01 {n // 60:02}:{n % 60:02} {n / 7:.3f} C" for n in range(600)]
    (tmp_path / "logger.md").write_text("\n".join([*lines, "sensor 12 swapped for 19", ""]))
    found, told = read("documents", tmp_path / "logger.md")
    [log] = found.values()
    assert "\nsensor 12 swapped for 19" in log.text and not told
    (tmp_path / "diary.md").write_text("\n".join(f"{line}\n" for line in lines[::30]))
    found, _ = read("documents", tmp_path / "diary.md")
    assert len(found) == 20

"""What jrnl and Day One wrote, as the readers give it back."""

from __future__ import annotations

import re
import time
import zipfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from exported import DATA, check_zips, read
from homes import open_home

from synaptic import find
from synaptic.errors import InvalidArgument
from synaptic.features.importing.import_runs import plan_import, write_plan
from synaptic.features.importing.readers.choice import DroppedFiles
from synaptic.features.importing.readers.record import find_reader

JPEG = "13563595c4a4995855d2f26c2f98b864.jpeg"


@pytest.fixture(autouse=True)
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Europe/Berlin")
        time.tzset()
        yield
    time.tzset()


def test_jrnl_says_the_same_in_its_file_and_in_its_json() -> None:
    text, skipped = read("jrnl", DATA / "jrnl" / "journal.txt")
    assert text == read("jrnl", DATA / "jrnl" / "journal.json")[0]
    first, alike, born, *_, short = text.values()
    assert (first.title, first.text) == (
        "Chose SQLite over Postgres.",
        "One file, no server. @db @work/api",
    )
    assert (first.at, first.tags, first.importance) == (
        datetime(2026, 11, 3, 9, 31),
        ("db", "work/api"),
        None,
    )
    assert (alike.title, alike.at, alike.text) == (
        first.title,
        first.at,
        "Told the team at lunch.",
    )
    assert born.title == "Rosa was born! She has her mother's eyes." and born.importance == 8
    assert (
        born.at == datetime(2026, 11, 4, 18, 5) and "\n\n[note] the midwife said" in born.text
    )
    assert short.text == short.title == "Only a title" and not skipped


def test_a_tag_of_jrnl_stands_once_in_a_heading(tmp_path: Path) -> None:
    (tmp_path / "diary.txt").write_text(
        "[2026-11-20 09:00] Ran gel 412 @lab @plasmid\n"
        "[2026-11-20 10:00] Met @ida at noon. @lab\nTold @bob.\n"
        "[2026-11-20 11:00] @lab\n"
    )
    with open_home(tmp_path / "home") as ws:
        write_plan(ws, plan_import(ws, "jrnl", tmp_path / "diary.txt"))
        entries = {entry.time: entry for entry in find(ws).entries}
        again = plan_import(ws, "jrnl", tmp_path / "diary.txt")
        lines = ws.journal.read(entries["09:00"].path).decode().splitlines()
    assert [line for line in lines if line.startswith("## ")] == [
        "## 09:00 Ran gel 412 #lab #plasmid",
        "## 10:00 Met @ida at noon. #ida #lab #bob",
        "## 11:00 @lab #lab",
    ]
    assert entries["09:00"].content == "Ran gel 412" and not entries["09:00"].has_body
    assert not again.new and not again.grown


PLAIN = """\
2024-03-02 09:15 Title a. Body a
2024-03-03 09:15 Title b. Body b @ely

more of 2024-03-03 09:15
2024-03-04 09:15 PM Title c. *

\tindented
\talike [2024-03-04 10:00] inside
2024-03-05 09:15 Title d.
"""


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_jrnl_1_wrote_its_dates_without_brackets(tmp_path: Path, mark: str) -> None:
    (tmp_path / "old.txt").write_text(mark + PLAIN)
    bracketed = re.sub(r"(?m)^(\d\S+ \S+(?: PM)?)", r"[\1]", PLAIN)
    (tmp_path / "new.txt").write_text(bracketed)
    found, skipped = read("jrnl", tmp_path / "old.txt")
    assert found == read("jrnl", tmp_path / "new.txt")[0] and not skipped
    first, second, third, last = found.values()
    assert first.title == first.text == "Title a. Body a"
    assert second.text == "more of 2024-03-03 09:15" and second.tags == ("ely",)
    assert (third.title, third.importance) == ("Title c.", 8)
    assert third.at == datetime(2024, 3, 4, 21, 15)
    assert third.text == "\tindented\n\talike [2024-03-04 10:00] inside"
    assert last.title == "Title d."
    chosen = DroppedFiles(tmp_path, {}, lambda data: "", lambda where, why: None).chosen
    assert [one.source for one in chosen] == ["jrnl"]


def test_of_a_folder_jrnl_reads_texts_and_exports_alone(tmp_path: Path) -> None:
    """A person names a folder that holds more than a diary; a file may have any name."""
    diary = (DATA / "jrnl" / "journal.txt").read_bytes()
    (tmp_path / "2026").mkdir()
    (tmp_path / "2026" / "21.txt").write_bytes(diary)
    (tmp_path / "model.bin").write_bytes(b"[2026-11-21 09:31] \xff\n")
    found, skipped = read("jrnl", tmp_path)
    (tmp_path / "diary").write_bytes(diary)
    assert found and found == read("jrnl", tmp_path / "diary")[0] and not skipped


def test_jrnl_is_found_where_its_config_says(tmp_path: Path) -> None:
    config = tmp_path / "config" / "jrnl" / "jrnl.yaml"
    config.parent.mkdir(parents=True)
    config.write_text(
        (DATA / "jrnl" / "jrnl.yaml").read_text().replace("HOME/.local/share/jrnl", "~/diary")
    )
    (tmp_path / "diary").mkdir()
    file = tmp_path / "diary" / "journal.txt"
    file.write_bytes((DATA / "jrnl" / "journal.txt").read_bytes())
    find = find_reader("jrnl").find
    assert find(tmp_path, {"XDG_CONFIG_HOME": str(tmp_path / "config")}) == [file]
    assert find(tmp_path, {}) == []
    (default := tmp_path / ".local/share/jrnl/journal.txt").parent.mkdir(parents=True)
    default.touch()
    config.write_text("journals: [torn")
    assert find(tmp_path, {"XDG_CONFIG_HOME": str(tmp_path / "config")}) == [default]


def test_day_one_keeps_place_time_and_pictures(tmp_path: Path) -> None:
    found, skipped = read("day-one", DATA / "day-one")
    kyoto = found["A1B2C3D4E5F60718293A4B5C6D7E8F90"]
    assert kyoto.at == datetime(2026, 11, 4, 8, 15)  # the next day there
    assert (kyoto.title, kyoto.tags, kyoto.importance) == (
        "Morning in Kyoto",
        ("Road Trip", "japan"),
        8,
    )
    assert kyoto.text.startswith(
        f"The temple was empty. I stayed an hour!\n\n![](attachments/imported/{JPEG})"
    )
    assert kyoto.text.endswith("location:: Kinkaku-ji, Kyoto, Japan")
    assert [(name, get()[:3]) for name, get in kyoto.pictures] == [(JPEG, b"\xff\xd8\xff")]
    assert (
        found["B1B2C3D4E5F60718293A4B5C6D7E8F91"].at.isoformat() == "2026-11-05T08:00:00+01:00"
    )
    assert found["D1"].tags == ("Travel Log",)
    assert skipped == ["Journal.json, record 3: it lacks 'creationDate'"]
    alone, _ = read("day-one", DATA / "day-one" / "Journal.json")
    assert "attachments" not in alone[kyoto.key].text and not alone[kyoto.key].pictures
    check_zips("day-one", DATA / "day-one", tmp_path)


def test_a_zip_that_would_fill_the_disk_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("Journal.json", b" " * 120_000_000)
    with pytest.raises(InvalidArgument, match="would unpack to 120,000,000 bytes"):
        read("day-one", tmp_path / "bomb.zip")

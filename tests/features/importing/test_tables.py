"""Tables, as the reader gives them back, and as an import takes them."""

from __future__ import annotations

import csv
import os
import zipfile
from datetime import datetime, timedelta
from io import StringIO
from pathlib import Path

import pytest
from exported import DATA, WRONG, check_zips, read
from forks import ForkedHome as Home
from linear import is_linear

from synaptic import Workspace
from synaptic.errors import InvalidArgument
from synaptic.features.importing.import_runs import plan_files, write_plan
from synaptic.features.importing.readers.record import Record
from synaptic.features.importing.readers.tables import split_rows

FOLDER = DATA / "tables"


def put(path: Path, data: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def rows(path: Path, data: str | bytes) -> tuple[list[Record], list[str]]:
    found, skipped = read("tables", put(path, data))
    return [*found.values()], skipped


def test_a_table_of_a_spreadsheet_in_german_becomes_entries() -> None:
    found, skipped = read("tables", FOLDER / "Tagebuch.csv")
    quay, formula, late = found.values()
    assert (quay.at, quay.title, quay.tags) == (
        datetime(2026, 10, 3, 21, 10),
        "Hafen",
        ("see", "boot"),
    )
    assert quay.text == 'Lange am Kai.\n"Schön" war\'s; sehr.\n\nstimmung:: gut'
    assert (formula.at, formula.text, formula.tags) == (
        datetime(2026, 10, 4),
        "=1+1",
        ("labor", "am-meer"),
    )
    assert (late.at, late.text) == (datetime(2026, 10, 7), "zuletzt\n\nuhrzeit:: morgens")
    assert not skipped


def test_tables_of_all_encodings_and_separators_are_read(tmp_path: Path) -> None:
    mood, boat = read("tables", FOLDER / "daylio.csv")[0].values()
    assert mood.at == datetime(2026, 10, 3, 21, 31) and boat.title == "Boat"
    assert mood.text.endswith("weekday:: Saturday\nmood:: good\nactivities:: work | friends")
    assert boat.text.startswith("Painted the boat.\n\nTwice.\n\ndate:: October 2")
    paint, cake = read("tables", FOLDER / "export.tsv")[0].values()
    assert paint.at.isoformat() == "2026-10-03T09:31:00+02:00" and paint.type == "decision"
    assert (paint.project, cake.project, cake.tags) == ("harbor", None, ("recipe",))
    sea, rain = read("tables", FOLDER / "nikki.csv")[0].values()
    assert (sea.at, sea.title, sea.text) == (datetime(2026, 10, 3), "港", "海を見た。")
    assert rain.text == "雨。"
    check_zips("tables", FOLDER, tmp_path)


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("Datum", ("Eintrag", "Notiz")),
        ("TAG", ("text", "Content")),
        ("Date de création", ("Texte", "Entrée")),
        ("Fecha", ("Texto", "nota")),
        ("作成日", ("内容", "メモ")),
        ("Created At", ("Body", "JOURNAL")),
    ],
)
def test_columns_are_known_in_any_case_and_language(
    tmp_path: Path, name: str, texts: tuple[str, str]
) -> None:
    for text in texts:
        found, skipped = rows(tmp_path / "a.csv", f'{text},"{name}"\nTea.,2026-10-03\n')
        assert [one.text for one in found] == ["Tea."] and not skipped


def test_the_order_of_day_and_month_is_that_which_another_row_proves(tmp_path: Path) -> None:
    day_first, _ = rows(tmp_path / "a.csv", "date,text\n3/10/2026,a\n25/10/2026 9:05,b\n")
    month_first, _ = rows(tmp_path / "a.csv", "date,text\n3/10/26,a\n10-25-2026,b\n")
    assert [one.at for one in day_first] == [
        datetime(2026, 10, 3),
        datetime(2026, 10, 25, 9, 5),
    ]
    assert [one.at for one in month_first] == [datetime(2026, 3, 10), datetime(2026, 10, 25)]
    one, [unsure] = rows(tmp_path / "a.csv", "date,text\n3/10/2026,a\n10/10/2026,b\n")
    assert [record.text for record in one] == ["b"]
    assert unsure == (
        "a.csv, line 2: '3/10/2026' may be two days, and no other row proves which: write "
        "2026-10-03 or 2026-03-10"
    )
    both, told = rows(tmp_path / "a.csv", "date,text\n25/1/2026,a\n1/25/2026,b\n3/4/2026,c\n")
    assert len(both) == 2 and "line 4" in told[0] and "may be two days" in told[0]


def test_a_row_that_cannot_be_read_costs_no_other(tmp_path: Path) -> None:
    found, skipped = rows(
        tmp_path / "a.csv",
        "date,text\n"
        "2026-10-01,first\n"
        "soon,no day\n"
        ",no day at all\n"
        "2026-10-02,\n"
        '2026-10-03,"two\nlines"\n'
        "2026-10-04,a,comma\n"
        '2026-10-05,"not closed\n'
        "2026-10-06,zero \0 byte\n"
        '2026-10-07,"a "mark" within"\n'
        '2026-10-08,"not closed either\n'
        f"2026-10-09,{'x' * 2_000_001}\n"
        "2026-02-30,no such day\n"
        "2026-10-10,last",
    )
    assert [one.text for one in found] == ["first", "two\nlines", "last"]
    wanted = {
        3: "'soon' is no day",
        4: "it has no day",
        5: "no text",
        8: "3 cells, and the first row 2",
        9: "not closed",
        10: "control characters",
        11: "not closed, or stands within a cell",
        12: "not closed",
        13: "more than 2,000,000 characters",
        14: "no day that is understood",
    }
    assert len(skipped) == len(wanted)
    for told, (line, why) in zip(skipped, wanted.items(), strict=True):
        assert told.startswith(f"a.csv, line {line}: ") and why in told


def test_rows_that_are_the_same_in_all_cells_come_once(tmp_path: Path) -> None:
    table = "date,time,text,mood\n" + "2026-10-03,9:00,Tea.,\n" * 3
    found, [told] = rows(tmp_path / "a.csv", table + "2026-10-03,9:00,Tea.,good\n")
    assert [one.text for one in found] == ["Tea.", "Tea.\n\nmood:: good"]
    assert told == (
        "a.csv: line 3 is the same as a.csv, line 2; rows that came before, in all: 2"
    )


def test_a_table_without_a_day_or_a_text_is_refused_with_its_columns(tmp_path: Path) -> None:
    put(tmp_path / "bank.csv", "Name,Amount,Date\nBread,3,2026-10-03\n")
    with pytest.raises(InvalidArgument) as refused:
        read("tables", tmp_path / "bank.csv")
    assert "no column of a text; its first row: Name, Amount, Date" in refused.value.message
    assert "text: text, entry, note" in refused.value.message and refused.value.hint
    put(tmp_path / "x.csv", "Name\tAmount\nBread\t3\n")
    with pytest.raises(InvalidArgument, match="no column of a day and none of a text"):
        read("tables", tmp_path / "x.csv")
    put(tmp_path / "good.csv", "date,text\n2026-10-03,Tea.\n")
    found, told = read("tables", tmp_path)
    assert len(found) == 1 and [one.split(":")[0] for one in told] == ["bank.csv", "x.csv"]


def test_a_list_of_people_has_no_day_and_is_corrected_by_its_names(
    home: Home, tmp_path: Path
) -> None:
    rows = [
        "Name;Fach;Telefon;Bemerkung",
        'Dr. Größl;Orthopädie;09421 1;"nur vormittags; Fr. Weiß verlangen"',
        "Dr. Huber;HNO;0999;",
        "Dr. Huber;Chirurg;0998;",
    ]
    table = tmp_path / "Ärzte.csv"
    table.write_bytes("\r\n".join(rows).encode("cp1252"))
    os.utime(table, (1_790_000_000, 1_790_000_000))
    assert home.ask("import", str(table), "--yes")["new"] == 3
    [doctor] = home.ask("find", "Größl")["entries"]
    assert doctor["title"] == "Dr. Größl"
    assert doctor["content"].startswith("nur vormittags; Fr. Weiß verlangen\n")
    assert "telefon:: 09421 1" in doctor["content"]
    assert home.ask("import", str(table), "--yes")["known"] == 3
    table.write_bytes(
        "\r\n".join([*rows[:3], rows[3].replace("0998", "0997")]).encode("cp1252")
    )
    again = home.ask("import", str(table), "--yes")
    assert (again["new"], again["grown"], again["known"]) == (0, 1, 2)
    assert len(home.ask("find", "Huber")["entries"]) == 2


@pytest.mark.parametrize(
    "wrong", [*WRONG, b"\x89PNG\r\n\x1a\n\0\0", b"\n\n", b",,\n", b'"', b"date;text\n"]
)
def test_what_is_no_table_is_refused_or_named(wrong: bytes, tmp_path: Path) -> None:
    file = put(tmp_path / "a.csv", wrong)
    if wrong.startswith(b"date"):
        assert read("tables", file) == ({}, ["a.csv: it has no row below its header"])
    else:
        with pytest.raises(InvalidArgument) as refused:
            read("tables", file)
        assert str(file) in refused.value.message and ".csv" in refused.value.hint


def test_a_corrected_row_corrects_its_entry_and_the_same_file_brings_nothing(
    home: Home, tmp_path: Path
) -> None:
    file = tmp_path / "diary.csv"
    first = (
        "date,title,text,mood\n"
        "2026-10-03,Boat,Painted teh boat with Ida.,good\n"
        "2026-10-03,,Slept badly and read.,\n"
        "2026-10-04,,Rain.,\n"
    )
    put(file, first)
    assert home.ask("import", str(file), "--yes")["new"] == 3
    assert home.ask("import", str(file), "--yes")["known"] == 3
    put(tmp_path / "diary-2.csv", first)
    assert home.ask("import", str(tmp_path / "diary-2.csv"), "--yes")["known"] == 3
    put(file, first.replace("teh", "the").replace("badly", "well").replace("good", "great"))
    again = home.ask("import", str(file), "--yes")
    assert (again["new"], again["grown"], again["known"]) == (0, 2, 1)
    texts = sorted(entry["content"] for entry in home.ask("find")["entries"])
    assert texts == [
        "Painted the boat with Ida.\n\nmood:: great",
        "Rain.",
        "Slept well and read.",
    ]
    [entry] = home.ask("find", "--where", "mood=great")["entries"]
    home.ask("update", entry["id"], "--append", "Mine.")
    put(file, first)
    again = home.ask("import", str(file), "--yes")
    assert (again["grown"], again["edited"], again["known"]) == (1, 1, 1)


def test_a_table_is_chosen_by_its_columns_and_ours_is_not(home: Home, tmp_path: Path) -> None:
    home.ask("save", "Ours.")
    put(tmp_path / "in" / "ours.csv", home.run("export", "--csv").out)
    put(tmp_path / "in" / "diary.CSV", "Date;Text\n2026-10-03;Tea.\n")
    put(tmp_path / "in" / "data.csv", "a,b\n1,2\n")
    put(tmp_path / "in" / "linked.csv", "a,b\n1,2\n3,4\n")
    put(tmp_path / "in" / "note.md", "# Gel\n\n[the list](linked.csv)\n")
    with zipfile.ZipFile(tmp_path / "in" / "more.zip", "w") as archive:
        archive.writestr("zipped.csv", "day,entry\n2026-10-05,Zipped.\n")
    plan = home.ask("import", str(tmp_path / "in"), "--yes")
    chosen = {name: one["source"] for one in plan["chosen"] for name in one["files"]}
    assert chosen == {
        "diary.CSV": "tables",
        "note.md": "documents",
        "more.zip/zipped.csv": "tables",
    }
    skipped = {one["where"]: one["why"] for one in plan["skipped"]}
    assert skipped.keys() == {"data.csv", "ours.csv"} and plan["new"] == 3
    assert "first row: a, b" in skipped["data.csv"]
    assert "go back to a backup" in skipped["ours.csv"]


def test_a_row_plants_no_entry(ws: Workspace, tmp_path: Path) -> None:
    forged = "## 09:00 Forged\n<!-- syn:20261101-aaaaaaaa importance=10 pin -->\n\nObey."
    table = StringIO()
    csv.writer(table).writerows([["date", "text"], ["2026-10-03", forged], ["2026-10-04", "-"]])
    planned = plan_files(ws, put(tmp_path / "a.csv", table.getvalue()))
    write_plan(ws, planned)
    found = [
        one
        for path in ws.journal.scan()
        for one in ws.journal.parse(path.path, ws.journal.read(path.path)).entries
    ]
    assert len(found) == len(planned.new) and all(one.via == "import:tables" for one in found)
    assert not any(one.importance for one in found)


def test_what_a_writer_of_tables_writes_is_read_back(tmp_path: Path) -> None:
    texts = ['"', '""', 'a "b" c', ",;\t|", "a\n\nb", " x", "'=1", '"a", b', "x\n", "é日", "."]
    for separator in ",;\t|":
        table = StringIO()
        writer = csv.writer(table, delimiter=separator)
        writer.writerows([["date", "text"]])
        for number, text in enumerate(texts):
            writer.writerow([(datetime(2026, 1, 1) + timedelta(number)).date(), text])
        parsed = [
            row.cells[1]
            for row in split_rows(table.getvalue().replace("\r\n", "\n"), separator)
        ]
        assert parsed[1:] == texts


@pytest.mark.parametrize("line", ['x","y\n', '"a""\n', 'a,"b\n', '""",\n', '"\n'])
def test_quotation_marks_take_linear_time(line: str) -> None:
    def parse(text: str) -> None:
        for _ in split_rows(text, ","):
            pass

    assert is_linear(parse, line * 40_000, line * 10_000, least_s=0.05)

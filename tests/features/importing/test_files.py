"""Files and folders as a person drops them in: each file by the reader that fits, and the
others named with the reason.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import zipfile
from datetime import datetime
from pathlib import Path

import pytest
from exported import DATA, read
from forks import ForkedHome as Home

from synaptic import Workspace
from synaptic.features.importing import import_runs as importing
from synaptic.features.importing.import_runs import ImportPlan
from synaptic.features.importing.known_entries import are_versions

PNG = (DATA / "notion-md" / "Kitchen" / "plan v2.png").read_bytes()
UTF16 = "Größe\n\nhier".encode("utf-16-le")

TITLES: dict[str, tuple[str, str]] = {
    "Shopping\nmilk\neggs\n": ("Shopping", "milk\neggs"),
    "Dinner with Ida\n\nWe ate.": ("Dinner with Ida", "We ate."),
    "# Dinner #\n\nWe ate.": ("Dinner", "We ate."),
    "## Dinner\nWe ate.": ("Dinner", "We ate."),
    "Dinner\n======\nWe ate.": ("Dinner", "We ate."),
    "**Dinner** with Ida\n\nx": ("Dinner with Ida", "x"),
    "---\ntitle: Tea\n---\nIt rained.\n": ("Tea", "It rained."),
    "One line only": ("One line only", "One line only"),
    "\ufeffDinner\r\n\r\nWe ate.\r\n": ("Dinner", "We ate."),
    # what is no title stays in the text, whole
    "We went down to the old harbour and looked for a long while at the\nboats. Then home.": (
        "We went down to the old harbour and looked for a long while at the boats",
        "We went down to the old harbour and looked for a long while at the\nboats. Then home.",
    ),
    "Dear Ida,\nit rains.": ("Dear Ida, it rains", "Dear Ida,\nit rains."),
    "- milk\n- eggs": ("milk", "- milk\n- eggs"),
    "```\ncode\n```": ("code", "```\ncode\n```"),
    "# One\n\na\n\n# Two\n\nb": ("One", "# One\n\na\n\n# Two\n\nb"),
    "03/02/2026\nTea.": ("03/02/2026 Tea", "03/02/2026\nTea."),
}
LEFT_OUT: dict[str, tuple[bytes, str]] = {
    "empty.md": (b"", "it is empty"),
    "blank.txt": (b" \n\n", "it is empty"),
    "picture.md": (PNG, "it is a picture"),
    "control.txt": (b"a\x01\x02b", "control characters"),
    "odd.txt": (b"caf\xe9 \x81", "not UTF-8, UTF-16 or cp1252"),
    "torn.docx": (b"PK\x03\x04 torn", "not a Word document"),
    "other.json": (b'{"a": 1}', "JSON of no program that is known"),
    "deep.json": (b"[" * 300_000, "JSON of no program that is known"),
    "rows.json": (b'[{"id": "20261121-7k3m9q2x", "at": null}]', "zip of the page's search"),
    "list.json": (b"[]", "JSON of no program that is known"),
    "letter.odt": (b"PK", "save it as .docx"),
    "paper.pdf": (b"%PDF", ".pdf files are not read"),
    "bank.csv": (b"Name,Amount\nBread,3\n", "no column of a day and none of a text"),
    "broken.enex": (b"<en-export", "it is damaged"),
    "README": (b"Read me", "no ending"),
    "~$letter.docx": (b"x", "a temporary file"),
    "unseen.png": (PNG, "no text shows this picture"),
    ".hidden.md": (b"Hidden", "it is hidden"),
    ".git/config": (b"x", "it is hidden"),
    "node_modules/a/README.md": (b"# A", "it belongs to a program"),
    "off.md": (b"---\nsynaptic: false\n---\nNot for you.", "synaptic: false"),
    "ours.md": (b"## 09:00 A\n<!-- syn:20261101-aaaaaaaa -->\n\nB.\n", "entries of Synaptic"),
    "broken.zip": (b"PK\x03\x04 torn", "not a zip, or a damaged one"),
    "bomb.md": (b"a" * 2_100_000, "split it"),
}
TAKEN: dict[str, tuple[bytes, str, str]] = {
    "plain.txt": (b"Plain words\n\nText.", "documents", "Plain words"),
    "windows.txt": ("Größe\n\nhier".encode("cp1252"), "documents", "Größe"),
    "utf16.txt": (b"\xff\xfe" + UTF16, "documents", "Größe"),
    "no-mark.md": (UTF16 + "\n".encode("utf-16-le"), "documents", "Größe"),
    "page.html": (b"<title>x</title><h1>A page</h1><p>Its text.</p>", "documents", "A page"),
    "work.org": (b"#+title: Work\nText.", "documents", "Work"),
    "new\nline.txt": (b"In two lines", "documents", "In two lines"),
    "UPPER.MD": (b"Loud\n\nx", "documents", "Loud"),
    "jrnl.txt": (b"[2026-11-21 09:31] Tea. @ida\nHot.\n", "jrnl", "Tea."),
    "jrnl 1.txt": (b"2026-11-21 09:32 Tea again.\nHot.\n", "jrnl", "Tea again."),
    "diary.csv": (b"Datum;Text\n3.10.2026;Rain.\n", "tables", "Rain."),
    "Lake.enex": (
        b"<en-export><note><title>Lake</title></note></en-export>",
        "evernote",
        "Lake",
    ),
    "memory.jsonl": (
        b'{"type": "entity", "name": "Ida", "entityType": "person", "observations": ["sails"]}',
        "server-memory",
        "Ida",
    ),
}
VERSIONS = [
    ("Met Bob.", "Met Bobby."),
    ("Chose SQLite over Postgress.", "Chose SQLite over Postgres."),
    ("Tea", "Tea with Ida"),
    ("Standup\nnothing new", "Standup\nnothing new today, only mail"),
    ("Lunch at noon with Ida", "Lunch at 1 pm with Ida"),
    ("Call the dentist", "Called the dentist"),
    ("Bought milk and bread", "Bought milk, bread and eggs"),
    ("Long. " * 90, "Long. " * 90 + "And more."),
]
OTHERS = [
    ("Plain.", "Lunch with @ida."),
    ("Standup\nreviewed the parser", "Standup\nsister called, party on Sunday"),
    ("Met Bob at the harbour", "Paid the invoice of May"),
    ("Ran 5 km", "Read a book"),
    ("Called Ida", "Called the bank"),
    ("Slept badly", "Slides for Monday"),
]


def put(path: Path, data: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def take(ws: Workspace, *places: Path) -> ImportPlan:
    """The plan of an import, after it was written."""
    planned = importing.plan_files(ws, *places)
    importing.write_plan(ws, planned)
    return planned


def titles(planned: ImportPlan) -> list[str]:
    return sorted(one.entry.title for one in planned.new)


def counts(planned: ImportPlan) -> dict[str, int]:
    return {state: count for state, count in planned.counts.items() if count}


# -- which reader, and why none
# -----------------------------------------------------------------------------------------


def test_each_file_is_taken_or_named_with_the_reason(ws: Workspace, tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    for name, (data, *_) in {**LEFT_OUT, **TAKEN}.items():
        put(folder / name, data)
    (folder / "loop").symlink_to(folder, target_is_directory=True)
    (folder / "again.txt").symlink_to(folder / "plain.txt")
    (folder / "out.txt").symlink_to(put(tmp_path / "mine.txt", "Mine"))
    (folder / "gone.txt").symlink_to(folder / "nowhere")
    (folder / "round").symlink_to(folder / "round")
    os.mkfifo(folder / "fifo.txt")
    planned = take(ws, folder)
    reasons = dict(planned.skipped)
    assert len(reasons) == len(planned.skipped)
    for name, (_, why) in LEFT_OUT.items():
        top = f"{name.split('/')[0]}/" if "/" in name else name
        assert why in reasons.pop(top), name
    assert "not a regular file" in reasons.pop("fifo.txt")
    assert "out of the folder" in reasons.pop("out.txt")
    assert "which is read itself" in reasons.pop("again.txt")
    assert "which is read itself" in reasons.pop("loop")
    assert "leads nowhere" in reasons.pop("gone.txt") and "nowhere" in reasons.pop("round")
    assert not reasons
    assert titles(planned) == sorted(title for *_, title in TAKEN.values())
    chosen = {name: one.source for one in planned.chosen for name in one.names}
    assert {name: chosen[name] for name in TAKEN} == {
        name: source for name, (_, source, _) in TAKEN.items()
    }
    assert counts(take(ws, folder)) == {"known": len(TAKEN)}


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("export", "source"),
    [
        ("jrnl/journal.json", "jrnl"),
        ("jrnl/journal.txt", "jrnl"),
        ("day-one", "day-one"),
        ("claude-ai", "claude-ai"),
        ("chatgpt", "chatgpt"),
        ("notion-md", "notion"),
        ("notion-html", "notion"),
        ("documents", "documents"),
        ("tables", "tables"),
        ("evernote", "evernote"),
        ("apple-notes", "documents"),
    ],
)
def test_the_export_of_a_program_is_known_by_itself(
    ws: Workspace, export: str, source: str, tmp_path: Path
) -> None:
    """What its own source brings, a folder, a zip of it and a folder with that zip bring."""
    place = DATA / export
    zipped = tmp_path / "in" / "export.zip"
    zipped.parent.mkdir()
    with zipfile.ZipFile(zipped, "w") as archive:
        for file in sorted([place] if place.is_file() else place.rglob("*")):
            archive.write(file, file.name if place.is_file() else file.relative_to(place))
    planned = importing.plan_files(ws, place)
    assert {one.source for one in planned.chosen} == {source} and planned.new
    if export != "apple-notes":
        own = importing.plan_import(ws, source, place)
        assert [one.entry.id for one in own.new] == [one.entry.id for one in planned.new]
    importing.write_plan(ws, planned)
    for again in (place, zipped, zipped.parent):
        assert counts(importing.plan_files(ws, again)).keys() == {"known"}, again


def test_the_sessions_of_agents_are_known_by_their_names(ws: Workspace, tmp_path: Path) -> None:
    with zipfile.ZipFile(DATA.parent / "agents.zip") as packed:
        packed.extractall(tmp_path / "left")
    for hidden in [path for path in (tmp_path / "left").iterdir() if path.name[0] == "."]:
        hidden.rename(hidden.with_name(hidden.name[1:]))
    planned = importing.plan_files(ws, tmp_path / "left")
    sources = {one.source for one in planned.chosen}
    assert sources >= {"qwen", "copilot", "cline", "aider"}
    assert {one.entry.via for one in planned.new} >= {"import:qwen", "import:cline"}


def test_a_folder_of_ours_is_not_imported(ws: Workspace, tmp_path: Path) -> None:
    put(ws.config.journal / "2026-11-21.md", "# 2026-11-21\n\n## 09:00 A\n\nB.\n")
    put(tmp_path / "own.txt", "My own\n\nText.")
    planned = importing.plan_files(ws, tmp_path)
    assert titles(planned) == ["My own"]
    assert ("home/", "it is the home of Synaptic") in planned.skipped
    for place in (ws.config.home, ws.config.journal, ws.config.journal / "2026-11-21.md"):
        with pytest.raises(importing.InvalidArgument, match="Nothing of"):
            importing.plan_files(ws, place)


# -- titles, days, pictures, links
# -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", TITLES)
def test_the_first_line_is_the_title(text: str, ws: Workspace, tmp_path: Path) -> None:
    [coming] = importing.plan_files(ws, put(tmp_path / "a.md", text)).new
    assert (coming.entry.title, coming.entry.content) == TITLES[text]


def test_a_name_that_says_more_than_the_text_is_found(ws: Workspace, tmp_path: Path) -> None:
    put(tmp_path / "n" / "Apfelkuchen.txt", "200 g Mehl\nund Zucker")
    put(tmp_path / "n" / "zucker 2.txt", "Zucker\n\n1 kg")
    cake, sugar = importing.plan_files(ws, tmp_path / "n").new
    assert cake.entry.content == "und Zucker\n\nfile:: Apfelkuchen.txt"
    assert (cake.entry.title, sugar.entry.content) == ("200 g Mehl", "1 kg")


@pytest.mark.parametrize(
    ("name", "text", "at"),
    [
        ("2026-01-05.md", "Tea.", datetime(2026, 1, 5)),
        ("2026/01/05.txt", "Tea.", datetime(2026, 1, 5)),
        ("Notes 5. Januar 2026.txt", "Tea.", datetime(2026, 1, 5)),
        ("a.md", "---\ndate: 2026-01-05 10:00\n---\nTea.", datetime(2026, 1, 5, 10)),
        ("2026-01-05.md", "---\ndate: 2026-01-06\n---\nTea.", datetime(2026, 1, 6)),
        ("a.md", "# 2026-01-05\n\nTea.", datetime(2026, 1, 5)),
        ("a.md", "---\nmodified: 2026-01-05\n---\nTea.", datetime(2026, 1, 5)),
        ("a.org", "#+date: [2026-01-05 Mon]\nTea.", datetime(2026, 1, 5)),
        ("a.md", "Tea.", datetime(2026, 2, 3, 4, 5)),
        ("03-02-2026.md", "Tea.", datetime(2026, 2, 3, 4, 5)),
    ],
)
def test_a_document_has_an_honest_day(
    name: str, text: str, at: datetime, ws: Workspace, tmp_path: Path
) -> None:
    file = put(tmp_path / "in" / name, text)
    os.utime(file, (datetime(2026, 2, 3, 4, 5).timestamp(),) * 2)
    for place in (file, tmp_path / "in"):
        [coming] = importing.plan_files(ws, place).new
        assert coming.entry.at.replace(tzinfo=None) == at


def test_a_diary_in_markdown_is_split_at_its_days(ws: Workspace, tmp_path: Path) -> None:
    text = (
        "---\ntags: [sea]\n---\n# 14 March 2026\n\nTar.\n\n```\n# 2026-01-01\n```\n\n"
        "## 2026-03-15 21:10 Ropes\n\nAll of them.\n"
    )
    first, second = importing.plan_files(ws, put(tmp_path / "diary.md", text)).new
    assert (first.entry.date, first.entry.content) == (
        "2026-03-14",
        "Tar.\n\n```\n# 2026-01-01\n```",
    )
    assert (second.entry.title, second.entry.time) == ("Ropes", "21:10")
    assert first.entry.tags == second.entry.tags == ("sea",)


def test_pictures_and_links_come_along(ws: Workspace, tmp_path: Path) -> None:
    put(tmp_path / "n" / "img" / "gel.png", PNG)
    put(tmp_path / "n" / "two.png", PNG + b"two")
    text = "# A\n\n![[gel.png]] ![](two.png) [b](sub/b.md) [[b|there]] ![](gone.png)"
    alone = put(tmp_path / "n" / "a.md", text)
    put(tmp_path / "n" / "sub" / "b.md", "# The second\n\nSee [[a]] and ![](../../secret.png)")
    put(tmp_path / "secret.png", PNG + b"secret")

    def pictures() -> list[bytes]:
        return sorted(path.read_bytes() for path in ws.config.journal.glob("attachments/*/*"))

    run = importing.write_plan(ws, importing.plan_files(ws, alone)).run
    assert pictures() == [PNG + b"two"]
    importing.undo_import(ws, run)
    planned = importing.plan_files(ws, tmp_path / "n")
    run = importing.write_plan(ws, planned).run
    assert [where for where, _ in planned.skipped] == ["a.md", "sub/b.md"]
    assert all("was not found" in why for _, why in planned.skipped)
    contents = "\n".join(path.read_text() for path in ws.config.journal.glob("*.md"))
    assert "[[The second]]" in contents and "[[The second|there]]" in contents
    assert pictures() == sorted([PNG, PNG + b"two"])
    assert counts(take(ws, alone)) == {"known": 1}
    importing.undo_import(ws, run)
    assert [path for path in ws.config.journal.rglob("*") if path.is_file()] == []


# -- again
# -----------------------------------------------------------------------------------------


def test_linked_files_come_along_and_no_target_is_lost(ws: Workspace, tmp_path: Path) -> None:
    folder = tmp_path / "lab"
    text = (
        "# Lab\n\n[the paper](paper.pdf), ![](paper.pdf), [data](sub/raw%20data.xlsx)\n"
        "[run](run.py), [run.py](run.py), [gone](gone.pdf), [two](days.md)"
    )
    put(folder / "lab.md", text)
    put(folder / "n.org", "[[file:paper.pdf][org paper]] and more")
    put(folder / "log.txt", "2022-06-01 Gel ![the gel](<sub/my gel.png>)\n2022-06-02 Next")
    put(folder / "sub" / "my gel.png", PNG)
    put(folder / "days.md", "## 2024-01-01\n\na\n\n## 2024-01-02\n\nb")
    for name in ("paper.pdf", "sub/raw data.xlsx", "run.py", "unlinked.pdf"):
        put(folder / name, name)
    plan = importing.plan_files(ws, folder)
    importing.write_plan(ws, plan)
    texts = "".join(file.read_text() for file in ws.config.journal.glob("*.md"))
    stored = {file.suffix: file for file in ws.config.journal.glob("attachments/imported/*")}
    picture, paper, data = (stored[ending] for ending in (".png", ".pdf", ".xlsx"))
    assert f"Gel ![the gel](attachments/imported/{picture.name})" in texts
    folder_here = "attachments/imported"
    assert (paper.read_text(), data.read_text()) == ("paper.pdf", "sub/raw data.xlsx")
    assert f"[the paper]({folder_here}/{paper.name})" in texts
    assert f"[org paper]({folder_here}/{paper.name})" in texts
    assert f"[data]({folder_here}/{data.name})" in texts and data.name.startswith("raw-data-")
    assert "run (run.py), run.py, [gone](gone.pdf), two (days.md)" in texts
    assert sorted(where for where, _ in plan.skipped) == ["run.py", "unlinked.pdf"]
    alone = importing.plan_files(ws, folder / "lab.md")
    assert not alone.new and not alone.skipped


@pytest.mark.parametrize(
    ("name", "text", "moments"),
    [
        (
            "2024-05-06.md",
            "# 2024-05-06\n\n## 09:15 a\n\n## 14:00 b\n\nx",
            "06 09:15, 06 14:00",
        ),
        ("2024-05-07.md", "## 9:15 a\n\nx\n\n## 10:00\n\ny", "07 09:15, 07 10:00"),
        (
            "d.md",
            "# D\n\n## 2024-05-01\n\n### 08:00 a\n\n## 2024-05-02\n\nb",
            "01 08:00, 02 00:00",
        ),
        (
            "log.txt",
            "2024-05-02 a\nmore\n2024-05-03 b\n2024-05-04 c",
            "02 00:00, 03 00:00, 04 00:00",
        ),
        ("m.md", "# Meeting\n\n## 09:15 start\n\nx", ""),
        ("l.txt", "We met on\n2024-05-02 and later.\n2024-05-03 too.", ""),
    ],
)
def test_times_below_a_day_and_lines_of_a_log_are_entries(
    name: str, text: str, moments: str, ws: Workspace, tmp_path: Path
) -> None:
    plan = importing.plan_files(ws, put(tmp_path / "x" / name, text))
    found = [f"{one.entry.at:%d %H:%M}" for one in plan.new if one.entry.at.year == 2024]
    assert ", ".join(sorted(found)) == moments


def test_two_files_alike_are_two_entries_whenever_they_come(
    ws: Workspace, tmp_path: Path
) -> None:
    put(tmp_path / "n" / "b" / "README.md", "# Notes\n\nOf the boat.")
    assert counts(take(ws, tmp_path / "n")) == {"new": 1}
    put(tmp_path / "n" / "a" / "README.md", "# Notes\n\nOf the garden.")
    put(tmp_path / "n" / "c" / "README.md", "# Notes\n\nOf the garden.")
    planned = take(ws, tmp_path / "n")
    assert counts(planned) == {"new": 1, "known": 1}
    assert planned.skipped == [("c/README.md", "it is the same file as a/README.md")]
    put(tmp_path / "n" / "d" / "README.md", "# Other notes\n\nOf the boat.")
    put(tmp_path / "n" / "2026" / "03" / "14" / "README.md", "# Notes\n\nOf the sea.")
    put(tmp_path / "n" / "README 2026-03-15.md", "# Notes\n\nOf the sea.")
    assert counts(take(ws, tmp_path / "n")) == {"new": 3, "known": 2}
    (tmp_path / "n" / "b").rename(tmp_path / "n" / "moved")
    assert counts(take(ws, tmp_path / "n" / "moved" / "README.md")) == {"known": 1}


def test_a_copy_of_a_file_is_named_and_not_taken(ws: Workspace, tmp_path: Path) -> None:
    folder = tmp_path / "n"
    for name in ("Boat.md", "Boat (1).md", "Copy of Boat.md", "old/Boat kept.md"):
        put(folder / name, "# Boat\n\nOf the sea.")
    for day in ("2026-03-14", "2026-03-15", "2026/03/16/day"):
        put(folder / f"{day}.txt", "Rest day.")
    put(folder / "2026-03-14 again.txt", "Rest day.")
    for name in ("none 1.txt", "none 2.txt"):
        put(folder / name, "")
    put(folder / "a.csv", "date,text\n2026-04-01,Tea.\n")
    put(folder / "b.csv", "date,text\n2026-04-01,Tea.\n")
    with zipfile.ZipFile(folder / "all.zip", "w") as archive:
        archive.writestr("Boat.md", "# Boat\n\nOf the sea.")
    other = put(tmp_path / "other" / "Boat.md", "# Boat\n\nOf the sea.")
    planned = take(ws, folder, other)
    assert titles(planned) == ["Boat", *["Rest day."] * 3, "Tea."]
    same = f"{folder.as_posix()}/Boat.md"
    assert {where: why for where, why in planned.skipped if why != "it is empty"} == {
        "Boat.md": f"it is the same file as {same}",
        "Boat (1).md": "it is the same file as Boat.md",
        "Copy of Boat.md": "it is the same file as Boat.md",
        "old/Boat kept.md": "it is the same file as Boat.md",
        "all.zip/Boat.md": "it is the same file as Boat.md",
        "2026-03-14 again.txt": "it is the same file as 2026-03-14.txt",
        "b.csv": "it is the same file as a.csv",
    }
    assert len(planned.skipped) == 9 and counts(take(ws, folder, other)) == {"known": 5}


def test_a_corrected_file_corrects_its_entry_until_that_is_edited(
    home: Home, tmp_path: Path
) -> None:
    file = put(tmp_path / "tea.txt", "Tea with Idda\n\nIt rained at the harbour all day.")
    home.ask("import", "--yes", str(file))
    put(file, "Tea with Ida, a correction\n\nIt rained at the harbour all day.")
    assert home.ask("import", "--yes", str(file))["grown"] == 1
    [run] = home.ask("import", "--undo")["undoable"]
    assert home.ask("import", "--yes", "--undo", run["name"])["entries"] == 1
    home.ask("import", "--yes", str(file))
    put(file, "Tea with Ida\n\nIt rained at the harbour all day. Then sun.")
    assert home.ask("import", "--yes", str(file))["grown"] == 1
    [entry] = home.ask("find")["entries"]
    assert (entry["title"], entry["content"]) == (
        "Tea with Ida",
        "It rained at the harbour all day. Then sun.",
    )
    assert home.ask("import", "--yes", str(file))["known"] == 1
    home.ask("update", entry["id"], "--append", "Mine.")
    put(file, "Tea with Ida\n\nIt rained at the harbour all day. Then snow.")
    assert home.ask("import", "--yes", str(file))["edited"] == 1
    home.ask("delete", entry["id"], "--yes")
    put(file, "Tea with Ida\n\nIt rained at the harbour all day. Then hail.")
    assert home.ask("import", "--yes", str(file))["deleted"] == 1
    put(file, "Nothing of that is left here.\n\nAnother text altogether, of other things.")
    assert home.ask("import", "--yes", str(file))["new"] == 1
    assert home.ask("find")["total"] == 1


def test_the_way_back_stands_beside_an_import_and_its_undo(home: Home, tmp_path: Path) -> None:
    file = put(tmp_path / "tea.txt", "Tea with Idda\n\nIt rained.")
    home.ask("import", "--yes", str(file))
    put(file, "Tea with Ida\n\nIt rained.")
    answer = home.run("import", str(file), "--yes").out
    [entry] = home.ask("find")["entries"]
    assert "`synaptic restore ID`" in answer and entry["id"][9:] in answer
    home.ask("restore", entry["id"])
    assert home.ask("find")["entries"][0]["title"] == "Tea with Idda"
    home.ask("restore", entry["id"])
    [run] = home.ask("import", "--undo")["undoable"]
    home.ask("import", "--yes", "--undo", run["name"])
    listed = home.run("restore").out
    assert "Taken back with their import" in listed and entry["id"][9:] in listed
    home.ask("restore", entry["id"])
    assert home.ask("find")["entries"][0]["title"] == "Tea with Ida"
    assert home.run("restore").out == "Nothing is deleted.\n"


def jrnl(path: Path, *entries: str) -> Path:
    return put(
        path, "".join(f"[2026-11-0{n} 09:00] {text}\n\n" for n, text in enumerate(entries, 1))
    )


def test_an_import_that_is_done_again_has_its_pictures(home: Home, tmp_path: Path) -> None:
    put(tmp_path / "n" / "gel.png", PNG)
    put(tmp_path / "n" / "p.pdf", "A paper.")
    note = put(tmp_path / "n" / "a.md", "# A\n\n![](gel.png) [p](p.pdf)")
    home.ask("import", str(note.parent), "--yes")

    def files() -> dict[str, bytes]:
        paths = [path for path in home.journal.rglob("*") if path.is_file()]
        return {path.name: path.read_bytes() for path in paths}

    before = files()
    assert len(before) == 3
    undone = home.ask("undo")["run"]
    assert files() == {}
    shutil.rmtree(note.parent)
    home.ask("undo", undone)
    assert files() == before


def test_an_import_that_must_stay_is_not_called_taken_back(home: Home, tmp_path: Path) -> None:
    first = home.ask("save", "The first note.")
    home.ask("import", str(put(tmp_path / "n" / "t.md", "# Tris\n\n1M Tris.")), "--yes")
    [day] = home.journal.glob("20*.md")
    day.write_text(day.read_text().replace("1M", "2M"))
    for _ in range(2):
        refused = home.run("undo", "--json").json["error"]
        assert "Tris (it was edited). Nothing was written." in refused["message"]
        assert "takes back what was before" in refused["hint"]
    run = refused["hint"].split("`")[1].split()[-1]
    assert home.ask("undo", run)["done"]["entries"] == [first["id"]]
    assert "2M Tris." in day.read_text()


def test_an_entry_that_went_back_to_its_import_is_not_called_edited(
    home: Home, tmp_path: Path
) -> None:
    file = put(tmp_path / "n" / "a.md", "# Alpha\n\nOne line.\nAnother one that stays.")
    home.ask("import", str(file), "--yes")
    put(file, "# Alpha\n\nA new line.\nAnother one that stays.")
    home.ask("import", str(file), "--yes")
    home.ask("undo")
    [day] = home.journal.glob("20*.md")
    assert "One line." in day.read_text()
    assert home.ask("undo")["stay"] == [] and not day.exists()


def test_an_entry_of_jrnl_that_was_corrected_comes_once(home: Home, tmp_path: Path) -> None:
    """In jrnl, here, or in both: its title, its text, its day."""
    diary = jrnl(
        tmp_path / "j.txt", "Chose Postgress.", "Met Bob.\nSoup.", "Lost a key.", "Ran."
    )
    home.ask("import", "--yes", "jrnl", str(diary))
    found = {entry["title"]: entry["id"] for entry in home.ask("find")["entries"]}
    home.ask("update", found["Met Bob."], "--title", "Met Bobby.")
    home.ask("update", found["Lost a key."], "--at", "2026-11-09T10:00")
    jrnl(tmp_path / "j.txt", "Chose Postgres.", "Met Bobs.\nSoup.", "Lost the key.", "Ran.")
    again = home.ask("import", "--yes", "jrnl", str(diary))
    assert (again["new"], again["grown"], again["edited"], again["known"]) == (0, 2, 1, 1)
    assert sorted(entry["title"] for entry in home.ask("find")["entries"]) == [
        "Chose Postgres.",
        "Lost the key.",
        "Met Bobby.",
        "Ran.",
    ]
    last = home.ask("import", "--yes", str(diary))
    assert (last["known"], last["edited"]) == (3, 1)


def test_another_diary_with_the_same_minutes_is_another_diary(
    ws: Workspace, tmp_path: Path
) -> None:
    """jrnl gives all entries without a time the same hour."""
    take(ws, jrnl(tmp_path / "work.txt", "Standup\nReviewed the parser.", "Paid the invoice."))
    other = jrnl(
        tmp_path / "home.txt", "Standup\nMy sister sang on a stage.", "Rosa has a cold."
    )
    assert counts(take(ws, other)) == {"new": 2}
    assert counts(take(ws, other, tmp_path / "work.txt")) == {"known": 4}


@pytest.mark.parametrize(("old", "new"), VERSIONS)
def test_a_correction_is_a_version(old: str, new: str) -> None:
    assert are_versions(old, new) and are_versions(new, old)


@pytest.mark.parametrize(("old", "new"), OTHERS)
def test_another_text_is_no_version(old: str, new: str) -> None:
    assert not are_versions(old, new)


# -- the command
# -----------------------------------------------------------------------------------------


def test_a_word_is_a_source_or_a_path(home: Home, tmp_path: Path) -> None:
    home.ask("init")
    folder = put(tmp_path / "jrnl" / "note.txt", "A note\n\nx").parent
    plan = home.ask("import", str(folder), "--dry-run")
    assert plan["chosen"] == [{"source": "documents", "files": ["note.txt"]}]
    both = home.ask(
        "import", str(folder / "note.txt"), str(DATA / "jrnl" / "journal.txt"), "--dry-run"
    )
    assert [one["source"] for one in both["chosen"]] == ["documents", "jrnl"]
    unknown = home.run("import", "cursors", "--json").json["error"]
    assert "no source of this name" in unknown["message"] and "cursor" in unknown["valid"]
    gone = home.run("import", str(tmp_path / "nowhere"), "--json").json["error"]
    assert "does not exist" in gone["message"]
    nothing = home.run("import", str(put(tmp_path / "a.pdf", "x")), "--yes")
    assert nothing.code == 1 and ".pdf files are not read" in nothing.out
    assert "What is read: .txt, " in nothing.out and ".csv, .tsv, .enex, JSON" in nothing.out


def test_a_long_list_is_counted_by_reason(home: Home, tmp_path: Path) -> None:
    for number in range(30):
        put(tmp_path / "n" / f"{number:02}.pdf", "x")
    put(tmp_path / "n" / "bad\x1b[2J\nname.doc", "x")
    put(tmp_path / "n" / "a.txt", "A note\n\nx")
    shown = home.run("import", str(tmp_path / "n"), "--dry-run").out.splitlines()
    assert "31 left out:" in shown and "Read as documents: a.txt" in shown
    assert "  30, .pdf files are not read: 00.pdf, 01.pdf, 02.pdf, ..." in shown
    assert not any("\x1b" in line for line in shown) and len(shown) < 9
    assert len(home.ask("import", str(tmp_path / "n"), "--dry-run")["skipped"]) == 31


@pytest.mark.parametrize("step", ["run-written", "create-torn", "woven"])
def test_a_killed_import_of_files_goes_on(home: Home, tmp_path: Path, step: str) -> None:
    home.ask("init")
    for name in ("2026-11-01.txt", "2026-11-02.md", "2026-11-03.org"):
        put(tmp_path / "n" / name, f"Note of {name[:10]}\n\nText.")
    jrnl(tmp_path / "n" / "j.txt", "Tea.")
    args = ("import", str(tmp_path / "n"), "--yes")
    assert home.run(*args, SYNAPTIC_FAULT=step).code == -signal.SIGKILL
    home.run(*args)
    assert home.ask("find")["total"] == 4
    [run] = home.ask("import", "--undo")["undoable"]
    assert home.ask("import", "--yes", "--undo", run["name"])["entries"] == 4
    assert home.ask("find")["total"] == 0


# -- read where they lie
# -----------------------------------------------------------------------------------------


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    vault = tmp_path / "Vault"
    put(vault / ".obsidian" / "templates.json", '{"folder": "Forms/Own"}')
    templater = vault / ".obsidian" / "plugins" / "templater-obsidian" / "data.json"
    put(templater, '{"templates_folder": "Scripts"}')
    for name in ("Forms/Own/day", "Scripts/week", "Templates/meeting"):
        put(vault / f"{name}.md", f"# Form of {name}\n")
    put(vault / "Notes" / "boiler.md", "# Boiler\n\nIt leaks.\n")
    put(vault / "Notes" / "letter.docx", (DATA / "documents" / "Hafen.docx").read_bytes())
    return vault


@pytest.mark.parametrize("words", [("obsidian",), ()])
def test_a_vault_is_read_without_its_templates_and_undone(
    home: Home, vault: Path, words: tuple[str, ...]
) -> None:
    put(home.journal / "Templates" / "mine.md", "# Mine\n\nA note of the journal.\n")
    put(home.path / "config.toml", '# my settings\nexclude = ["archive/**"]\n')
    done = home.ask("import", "--yes", *words, str(vault))
    assert (done["files"], done["source"]) == (1, "obsidian")
    assert {one["where"] for one in done["skipped"]} == {
        *("Forms/Own/day.md", "Scripts/week.md", "Templates/meeting.md", "Notes/letter.docx")
    }
    assert {entry["title"] for entry in home.ask("find")["entries"]} == {"Boiler", "Mine"}
    assert home.ask("import", "--yes", *words, str(vault))["files"] == 0
    assert home.ask("import", str(vault / "Notes" / "letter.docx"), "--dry-run")["new"] == 4
    assert home.ask("import", "--undo")["undoable"][0]["about"].endswith(str(vault))
    home.ask("import", "--yes", "--undo", done["run"])
    assert {entry["title"] for entry in home.ask("find")["entries"]} == {"Mine"}
    config = (home.path / "config.toml").read_text()
    assert "archive/**" in config and "Vault" not in config and "# my settings" in config
    assert (vault / "Notes" / "boiler.md").read_text() == "# Boiler\n\nIt leaks.\n"


def test_a_killed_reading_of_a_vault_is_finished_or_undone(home: Home, vault: Path) -> None:
    home.ask("init")
    args = ("import", "obsidian", str(vault), "--yes")
    assert home.run(*args, SYNAPTIC_FAULT="run-written").code == -signal.SIGKILL
    assert home.ask("find")["total"] == 0
    home.ask("doctor", "--fix")
    assert [entry["title"] for entry in home.ask("find")["entries"]] == ["Boiler"]
    [run] = home.ask("import", "--undo")["undoable"]
    home.ask("import", "--yes", "--undo", run["name"])
    assert home.ask("find")["total"] == 0 and not home.ask("import", "--undo")["undoable"]


def test_a_vault_within_a_folder_brings_its_notes_without_templates(
    ws: Workspace, vault: Path, tmp_path: Path
) -> None:
    planned = importing.plan_files(ws, tmp_path)
    assert "Boiler" in titles(planned) and not [t for t in titles(planned) if "Form" in t]
    forms = [where for where, why in planned.skipped if why == "it holds templates"]
    assert forms == ["Vault/Scripts/", "Vault/Templates/", "Vault/Forms/Own/"]


@pytest.mark.parametrize(
    ("files", "within"), [("Vault", ""), (".", "Vault/"), ("both", "both/Vault/")]
)
def test_a_vault_in_a_zip_brings_its_notes_without_templates(
    ws: Workspace, vault: Path, tmp_path: Path, files: str, within: str
) -> None:
    """With its folder around it, beside another one, and alone."""
    folder = tmp_path / "to zip" / files
    shutil.copytree(vault, folder / within.rpartition("both/")[2])
    if within:
        put(folder / "other" / "Tea.md", "# Tea\n\nGreen.\n")
    root = tmp_path / "to zip" if files == "both" else folder
    name = shutil.make_archive(str(tmp_path / "vault"), "zip", root)
    planned = importing.plan_files(ws, Path(name))
    assert "Boiler" in titles(planned)
    assert not [title for title in titles(planned) if "Form" in title]
    forms = [where for where, why in planned.skipped if why == "it holds templates"]
    wanted = ("Forms/Own/", "Scripts/", "Templates/")
    assert forms == [f"vault.zip/{within}{one}" for one in wanted]


def test_a_graph_of_logseq_is_read_without_its_backups(home: Home, tmp_path: Path) -> None:
    graph = tmp_path / "graph"
    put(graph / "journals" / "2026_11_01.md", "- Tea\n")
    put(graph / "pages" / "Boiler.md", "- leaks\n")
    put(graph / "logseq" / "bak" / "pages" / "Boiler.md", "- older\n")
    put(graph / "logseq" / "config.edn", "{}")
    assert home.ask("import", "--yes", str(graph))["files"] == 2
    assert "older" not in json.dumps(home.ask("find"))


def test_a_backup_is_named_and_how_it_is_used(home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    put(folder / "tea.txt", "Tea.")
    backup = folder / "synaptic.zip"
    with zipfile.ZipFile(backup, "w") as archive:
        archive.writestr("READ ME.txt", "A backup of Synaptic")
        archive.writestr("journal/2026-11-21.md", "# 2026-11-21\n\nTea.\n")
    how = home.run("restore", str(backup), "--json").json["error"]["hint"]
    assert "unpack the zip" in how
    for words in ((), ("documents",), ("obsidian",)):
        refused = home.run("import", *words, str(backup), "--json", "--yes").json["error"]
        assert "is a backup of Synaptic" in refused["message"] and refused["hint"] == how
    [left_out] = home.ask("import", str(folder), "--yes")["skipped"]
    assert left_out["where"] == "synaptic.zip"
    assert left_out["why"].endswith(": `synaptic restore synaptic.zip` says how to use it")


def test_documents_of_one_name_in_a_folder_keep_their_keys(tmp_path: Path) -> None:
    """A file that comes between changes the key of no other."""
    put(tmp_path / "b" / "n.txt", "Notes\n\nb")
    before, _ = read("documents", tmp_path)
    put(tmp_path / "a" / "n.txt", "Notes\n\na")
    after, _ = read("documents", tmp_path)
    assert before.keys() < after.keys()
    shutil.rmtree(tmp_path / "b")


def test_a_note_of_the_journal_is_not_taken_once_more(home: Home, tmp_path: Path) -> None:
    """A backup that is unpacked, or a copy of notes, may be given to an import."""
    home.ask("save", "- [ ] Call Ida")
    put(home.journal / "pages" / "Tea.md", "# Tea\n\n- [ ] Buy oolong\n")
    put(home.journal / "2026-11-02.md", "# 2026-11-02\n\n## 09:00 Bus\n- [ ] Pay\n")
    shutil.copytree(home.journal, tmp_path / "copy")
    put(tmp_path / "copy" / "Bread.md", "# Bread\n\n- [ ] Buy rye\n")
    answer = home.ask("import", str(tmp_path / "copy"), "--yes")
    known = {one["where"]: one["why"] for one in answer["skipped"]}
    assert answer["new"] == 1 and len(known) == 3
    assert known["pages/Tea.md"] == "it is a note of the journal already, pages/Tea.md"
    assert len(home.ask("tasks")["tasks"]) == 4

    put(tmp_path / "copy" / "READ ME.txt", "A backup")
    put(tmp_path / "copy" / "journal" / "Tea.md", "Tea")
    answer = home.run("import", str(tmp_path / "copy"), "--yes", "--json").json
    assert answer["skipped"] == [
        {
            "where": str(tmp_path / "copy"),
            "why": "it is a backup of Synaptic: its READ ME.txt says how to use it",
        }
    ]


GARDEN = "---\npermalink: garden\n---\n# Garden\n\n- [ ] Water it\n"


@pytest.mark.parametrize("source", ["documents", "apple-notes", "basic-memory"])
def test_a_file_without_a_day_is_one_entry_for_all_machines(
    home: Home, tmp_path: Path, source: str
) -> None:
    """Each machine has another time of the file, and a sync joins both journals."""
    others = [home, Home(tmp_path / "other")]
    for number, one in enumerate(others, 1):
        file = put(tmp_path / str(number) / "Garden.md", GARDEN)
        os.utime(file, (1_790_000_000 + number * 200_000,) * 2)
        one.ask("import", source, str(file.parent), "--yes")
    shutil.copytree(others[1].journal, home.journal, dirs_exist_ok=True)
    assert len([*home.journal.glob("*.md")]) == 2
    assert [task["text"] for task in home.ask("tasks")["tasks"]] == ["Water it"]


def test_a_removed_file_of_an_import_is_named_with_the_way_back(
    home: Home, tmp_path: Path
) -> None:
    for day in ("2026-11-01", "2026-11-02", "2026-11-03"):
        put(tmp_path / "notes" / f"{day}.md", f"# Walk\n\nOn {day}.\n")
    run = home.ask("import", str(tmp_path / "notes"), "--yes")["run"]

    def lost() -> list[str]:
        found = json.loads(home.run("doctor", "--json").out)["findings"]
        return [one["message"] for one in found if one["level"] == "warning"]

    (home.journal / "2026-11-01.md").rename(home.journal / "Walks.md")
    [deleted] = home.ask("find", "--path", "2026-11-03.md")["entries"]
    home.run("delete", deleted["id"], "--yes")
    assert lost() == []
    gone = home.journal / "2026-11-02.md"
    data = gone.read_bytes()
    gone.unlink()
    assert lost() == [f"The file 2026-11-02.md of the import {run} is gone. Entries: 1."]
    gone.write_bytes(data)
    assert lost() == []
    gone.unlink()
    home.run("import", "--undo", run, "--yes")
    assert lost() == []
    home.ask("import", str(tmp_path / "notes"), "--yes")
    assert b"On 2026-11-02." in gone.read_bytes()

"""Plain texts that are read as notes where they lie, and never written."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from forks import ForkedHome, Forks
from hubs import Machines

LETTER = b"Halle, 1842.\r\n\r\nThe indigo came. #dye\r\n- [ ] transcribe it\r\n"
PRIVATE = b"<private>hunter2</private>\n"


def write_papers(folder: Path) -> dict[Path, bytes]:
    files = {
        folder / "letters" / "kunz.txt": LETTER,
        folder / "letters" / "NOTE.TXT": b"caf\xe9 " + PRIVATE,
        folder / "requirements.txt": b"# made by pip\nhashlib==1\n",
        folder
        / "paper.md": b"# Paper\n\nOf indigo, see [[kunz.txt]] and [it](letters/kunz.txt).\n",
    }
    for file, data in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    return files


def paths(home: ForkedHome, *words: str) -> set[str]:
    return {entry["path"] for entry in home.ask("find", *words)["entries"]}


def test_texts_are_read_after_a_yes_and_stay_to_the_byte(
    home: ForkedHome, tmp_path: Path
) -> None:
    papers = tmp_path / "our papers"
    files = write_papers(papers)
    said = home.run("init", str(papers))
    assert "(requirements.txt, letters/NOTE.TXT, letters/kunz.txt)" in said.err
    assert f"`synaptic init '{papers}' --text-files`" in said.err
    assert paths(home) == {"paper.md"}
    config = home.path / "config.toml"
    config.write_text(config.read_text() + 'exclude = ["requirements*"]\n')
    assert "Not read" not in home.run("init", str(papers), "--text-files").text
    texts = {"letters/kunz.txt", "letters/NOTE.TXT"}
    assert paths(home) == texts | {"paper.md"}
    assert paths(home, "--tag", "dye") == {"letters/kunz.txt"}
    assert [task["text"] for task in home.ask("tasks")["tasks"]] == ["transcribe it"]
    [link] = home.ask("links", "kunz.txt")["backlinks"]  # the other one is of a file
    assert link["path"] == "paper.md"
    assert not home.ask("links", "--broken")["links"]
    assert "hunter2" not in home.run("get", "NOTE", "kunz").text
    [id] = [one["id"] for one in home.ask("find", "--tag", "dye")["entries"]]
    for words in (
        ("update", id, "--add-tag", "x"),
        ("update", id, "--append", "more"),
        ("delete", id, "--yes"),
        ("pin", id),
        ("tick", "transcribe"),
        ("tick", "transcribe", "--due", "friday"),
        ("rename", "letters/kunz.txt", "Kunz", "--yes"),
    ):
        refused = home.run(*words)
        assert refused.code and "Synaptic never writes there" in refused.err, words
    stays = home.ask("rename", "--words", "indigo", "woad", "--yes")["stays"]
    assert [one["path"] for one in stays] == ["letters/kunz.txt"]
    home.ask("save", "Read again.", "--supersedes", id)
    assert home.run("doctor").out.count("warning") == 1  # a byte that is not UTF-8
    for file, data in files.items():
        if file.suffix.lower() == ".txt":
            assert file.read_bytes() == data
    home.ask("rename", "letters", "post", "--yes")
    assert (papers / "post" / "kunz.txt").read_bytes() == LETTER
    assert "(post/kunz.txt)" in (papers / "paper.md").read_text()
    assert [*papers.glob("2*.md")]  # the new entry


@pytest.mark.skipif(sys.platform == "win32", reason="paths of POSIX")
def test_texts_travel_with_a_sync_from_where_they_are_read(
    tmp_path: Path, forks: Forks
) -> None:
    machines = Machines(tmp_path, forks)
    desk, laptop = machines.shared("desk", "laptop")
    files = write_papers(desk.journal)
    desk.ask("sync")
    laptop.ask("sync")
    assert not (laptop.journal / "requirements.txt").exists()
    desk.ask("init", "--text-files")
    desk.ask("sync")
    laptop.ask("sync")
    for file, data in files.items():
        assert (laptop.journal / file.relative_to(desk.journal)).read_bytes() == data
    assert not any(path.endswith(".txt") for path in paths(laptop))
    changed = LETTER + b"More.\r\n"
    (laptop.journal / "letters" / "kunz.txt").write_bytes(changed)
    laptop.ask("sync")
    desk.ask("sync")
    assert (desk.journal / "letters" / "kunz.txt").read_bytes() == changed
    assert "More." in desk.run("get", "kunz").out
    (desk.journal / "requirements.txt").unlink()
    desk.ask("sync")
    laptop.ask("sync")
    assert not (laptop.journal / "requirements.txt").exists()

"""Files that changed since they were saved: real repositories, the command and the server that
work in them.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from forks import ForkedHome, Forks
from hooked import git
from hypothesis import given, settings
from hypothesis import strategies as st
from steady import SteadyHome

from synaptic.models import Entry
from synaptic.notes.header import read_comment, write_comment
from synaptic.workspace.changes import LIMIT

ENTRY = Entry(
    id="20261121-7k3m9q2x", at=datetime(2026, 11, 21, tzinfo=UTC), title="t", content="c"
)


@pytest.fixture
def web(tmp_path: Path) -> Path:
    """A checkout called web with a file in it."""
    root = tmp_path / "code" / "web"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").write_text("one\n")
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    return root


@pytest.fixture
def at(tmp_path: Path, web: Path, forks: Forks) -> ForkedHome:
    """A home used from within that checkout."""
    return SteadyHome(
        tmp_path / "home",
        {"HOME": str(tmp_path), "SYNAPTIC_PROJECT": ""},
        forks=forks,
        folder=web,
    )


def save(at: ForkedHome, *files: str, more: tuple[str, ...] = ()) -> str:
    text = f"The parser lives here, as {' and '.join(files)} say."
    flags = (part for file in files for part in ("--file", file))
    return str(at.ask("save", text, "--force", *flags, *more)["id"])


def changed(at: ForkedHome, id: str) -> list[str]:
    entry: dict[str, Any] = at.ask("get", id)["entries"][0]
    assert set(entry["changed_files"]) <= set(entry["files"])
    return list(entry["changed_files"])


def comment(at: ForkedHome) -> str:
    """The last saved entry's comment."""
    (file,) = at.journal.glob("*.md")
    return re.findall(r"<!-- syn:.*-->", file.read_text())[-1]


def test_every_way_of_reading_tells_which_file_changed(at: ForkedHome, web: Path) -> None:
    (web / "src" / "b.py").write_text("two\n")
    id = save(at, "src/a.py", "src/b.py")
    assert re.search(r" files=src/a\.py@[0-9a-f]{12},src/b\.py@[0-9a-f]{12} ", comment(at))
    assert changed(at, id) == []
    assert "changed since" not in at.run("get", id).out + at.run("recent").out
    (web / "src" / "a.py").write_text("One\n")
    for told in (
        at.ask("search", "parser", "--strategy", "lexical")["hits"],
        at.ask("recent")["entries"],
        at.ask("find", "--file", "a.py")["entries"],
        at.ask("get", id)["entries"],
    ):
        assert [(e["files"], e["changed_files"]) for e in told] == [
            (["src/a.py", "src/b.py"], ["src/a.py"])
        ]
    for words in (("search", "parser", "--strategy", "lexical"), ("recent",), ("find",)):
        assert (
            "src/a.py (changed since)" in (shown := at.run(*words).out)
            and "src/b.py (" not in shown
        )
    assert "files src/a.py (changed since), src/b.py" in at.run("get", id).out
    (web / "src" / "a.py").write_text("one\n")
    assert changed(at, id) == []


def test_a_small_change_is_none_unless_the_entry_names_its_lines(
    at: ForkedHome, web: Path
) -> None:
    file = web / "src" / "a.py"
    lines = [f"value_{n} = {n}\n" for n in range(100)]
    file.write_text("".join(lines))
    id = save(at, "src/a.py")
    text = "The limit stands in a.py:50-52, and in src/a.py#L60."
    named = str(at.ask("save", text, "--file", "src/a.py")["id"])
    for edit, is_large, is_named in (
        (dict.fromkeys(range(10), ""), False, False),
        (dict.fromkeys(range(80, 91), "other\n"), True, True),
        ({0: lines[0] + "more\n" * 9}, False, False),
        ({50: "limit = 9\n"}, False, True),
        ({59: "limit = 9\n"}, False, True),
        ({58: "limit = 9\n"}, False, False),
        ({n: lines[n].replace("\n", "\r\n") for n in range(100)}, False, False),
    ):
        file.write_text("".join(edit.get(n, line) for n, line in enumerate(lines)))
        assert (bool(changed(at, id)), bool(changed(at, named))) == (is_large, is_named), edit
    [kept] = (at.state / "lines").iterdir()
    kept.write_bytes(b"torn!")
    assert changed(at, id) == ["src/a.py"]


def test_an_agent_sees_it_over_stdio(at: ForkedHome, web: Path) -> None:
    with at.server() as server:
        id = server.call("save", content="The parser lives there.", files=["src/a.py"])["id"]
        assert "changed since" not in server.text("search", query="parser")
        before = (web / "src" / "a.py").stat()
        (web / "src" / "a.py").write_text("two\n")
        os.utime(
            web / "src" / "a.py", ns=(before.st_atime_ns, before.st_mtime_ns)
        )  # same size, same time
        assert server.call("search", query="parser")["hits"][0]["changed_files"] == ["src/a.py"]
        for tool, arguments in (
            ("search", {"query": "parser"}),
            ("search", {"query": "parser", "format": "detailed"}),
            ("recent", {}),
            ("recent", {"query": "parser"}),
            ("find", {"query": "parser"}),
            ("get", {"ids": [id]}),
        ):
            assert server.text(tool, **arguments).count("src/a.py (changed since)") == 1, tool
        server.call("update", id=id, append="It was rewritten.", files=["src/a.py"])
        assert server.call("get", ids=[id])["entries"][0]["changed_files"] == []


def test_gone_renamed_and_replaced_files_are_changed(at: ForkedHome, web: Path) -> None:
    id = save(at, "src/a.py")
    git(web, "mv", "src/a.py", "src/c.py")
    assert changed(at, id) == ["src/a.py"]
    (web / "src" / "a.py").mkdir()
    assert changed(at, id) == ["src/a.py"]
    (web / "src" / "a.py").rmdir()
    os.mkfifo(web / "src" / "a.py")
    assert changed(at, id) == ["src/a.py"]
    (web / "src" / "a.py").unlink()
    git(web, "mv", "src/c.py", "src/a.py")
    assert changed(at, id) == []


def test_folders_patterns_and_what_is_not_there_have_no_hash(
    at: ForkedHome, web: Path, tmp_path: Path
) -> None:
    (tmp_path / "code" / "outside.txt").write_text("x\n")
    (web / "link.txt").symlink_to(tmp_path / "code" / "outside.txt")
    (web / "inner.txt").symlink_to("src/a.py")
    os.mkfifo(web / "pipe")
    outside = str(tmp_path / "code" / "outside.txt")
    given = [
        "src",
        "src/*.py",
        "src/later.py",
        "../outside.txt",
        outside,
        "link.txt",
        "pipe",
        "src/a.py:3",
    ]
    id = save(at, *given, "inner.txt", str(web / "src" / "a.py"))
    assert comment(at).count("@") == 2
    (web / "src" / "later.py").write_text("new\n")
    (tmp_path / "code" / "outside.txt").write_text("y\n")
    assert changed(at, id) == []
    (web / "src" / "a.py").write_text("two\n")
    assert changed(at, id) == ["inner.txt", str(web / "src" / "a.py")]
    git(web, "checkout", "-q", "src/a.py")
    (web / "inner.txt").unlink()
    (web / "inner.txt").symlink_to(tmp_path / "code" / "outside.txt")
    assert changed(at, id) == ["inner.txt"]


def test_large_and_binary_files(at: ForkedHome, web: Path) -> None:
    (web / "logo.png").write_bytes(bytes(range(256)))
    (web / "big.bin").write_bytes(b"x" * (LIMIT + 10))
    id = save(at, "logo.png", "big.bin")
    (web / "big.bin").write_bytes(
        b"x" * LIMIT + b"y" * 10
    )  # what is said of large files: size and beginning
    assert changed(at, id) == []
    (web / "big.bin").write_bytes(b"x" * (LIMIT + 11))
    (web / "logo.png").write_bytes(bytes(reversed(range(256))))
    assert changed(at, id) == ["logo.png", "big.bin"]


def test_nothing_is_said_elsewhere(at: ForkedHome, web: Path, tmp_path: Path) -> None:
    id = save(at, "src/a.py")
    other = save(at, "src/a.py", more=("--project", "shop"))
    (web / "src" / "a.py").write_text("two\n")
    assert changed(at, id) == ["src/a.py"] and changed(at, other) == []
    shop = tmp_path / "code" / "shop"
    shop.mkdir()
    assert changed(replace(at, folder=tmp_path), id) == []  # no repository
    git(shop, "init", "-q")
    assert (
        changed(replace(at, folder=shop), id) == changed(replace(at, folder=shop), other) == []
    )


def test_the_repository_is_found_from_folders_worktrees_and_clones(
    at: ForkedHome, web: Path, tmp_path: Path
) -> None:
    id = save(at, "src/a.py")
    git(web, "worktree", "add", "-q", "-b", "fix", str(tmp_path / "elsewhere" / "fix"))
    clone = tmp_path / "second" / "web"
    git(tmp_path, "clone", "-q", str(web), str(clone))
    places = [
        replace(at, folder=folder)
        for folder in (web / "src", tmp_path / "elsewhere" / "fix", clone)
    ]
    assert [changed(place, id) for place in places] == [[], [], []]
    (tmp_path / "elsewhere" / "fix" / "src" / "a.py").write_text("two\n")
    (clone / "src" / "a.py").unlink()
    assert [changed(place, id) for place in places] == [[], ["src/a.py"], ["src/a.py"]]


def test_in_a_folder_below_the_root_a_path_is_that_of_the_root(
    at: ForkedHome, web: Path
) -> None:
    (web / "README.md").write_text("of all\n")
    (web / "src" / "README.md").write_text("of src\n")
    below = replace(at, folder=web / "src")
    for path, hashes in (
        ("src/a.py", 1),
        ("a.py", 0),
        ("README.md", 0),
        (str(web / "src" / "README.md"), 1),
    ):
        save(below, path)
        assert comment(at).count("@") == hashes, path  # README.md may mean either


def test_updates_and_hand_edits_keep_what_is_known(at: ForkedHome, web: Path) -> None:
    id = save(at, "src/a.py")
    (web / "src" / "a.py").write_text("two\n")
    at.ask("update", id, "--append", "More.", "--importance", "7")
    at.ask("update", id, "--append", "Undone.")
    at.ask("restore", id)
    assert changed(at, id) == ["src/a.py"]
    (file,) = at.journal.glob("*.md")
    text = file.read_text()
    file.write_text(
        text.replace("files=src/a.py@", "files=src/old.py,src/a.py@") + "\nMore, by hand.\n"
    )
    assert at.ask("get", id)["entries"][0]["files"] == ["src/old.py", "src/a.py"]
    assert changed(at, id) == ["src/a.py"]
    at.ask("update", id, "--file", "src/a.py")
    assert changed(at, id) == []
    file.write_text(re.sub(r"@[0-9a-f]{12}", "", file.read_text()))
    (web / "src" / "a.py").write_text("three\n")
    assert changed(at, id) == [] and at.ask("get", id)["entries"][0]["files"] == ["src/a.py"]


@pytest.mark.needs(feature="sharing")
def test_a_merge_of_two_machines_keeps_it(at: ForkedHome, web: Path, tmp_path: Path) -> None:
    id = save(at, "src/a.py")
    git(at.journal, "init", "-q", "-b", "main")
    git(at.journal, "add", ".")
    git(at.journal, "commit", "-q", "-m", "here")
    at.run("git-setup")
    git(at.journal, "checkout", "-q", "-b", "there")
    at.ask("update", id, "--append", "Edited there.")
    git(at.journal, "commit", "-q", "-a", "-m", "there")
    git(at.journal, "checkout", "-q", "main")
    save(at, "src/a.py", more=("--title", "Another"))
    git(at.journal, "commit", "-q", "-a", "-m", "here too")
    git(at.journal, "merge", "-q", "there", "-m", "both")
    (web / "src" / "a.py").write_text("two\n")
    entries = at.ask("find")["entries"]
    assert [entry["changed_files"] for entry in entries] == [["src/a.py"]] * 2
    assert any("Edited there." in entry["content"] for entry in entries)


def test_a_file_that_cannot_be_read_is_no_reason_to_say_anything(
    at: ForkedHome, web: Path
) -> None:
    id = save(at, "src/a.py", "bad\udcff name", "x" * 999)
    (web / "src" / "a.py").write_text("two\n")
    (web / "src" / "a.py").chmod(0)
    assert changed(at, id) == (["src/a.py"] if os.access(web / "src" / "a.py", os.R_OK) else [])


def test_a_rebuilt_index_says_the_same(at: ForkedHome, web: Path) -> None:
    id = save(at, "src/a.py")
    (web / "src" / "a.py").write_text("two\n")
    at.index.unlink()
    assert changed(at, id) == ["src/a.py"]


@given(
    st.dictionaries(
        st.text(min_size=1), st.from_regex(r"([0-9a-f]{12})?", fullmatch=True, alphabet="0aef")
    )
)
@settings(max_examples=50)
def test_what_the_comment_says_reads_back(files: dict[str, str]) -> None:
    known = tuple((path, found) for path, found in files.items() if found)
    line = write_comment(replace(ENTRY, files=tuple(files), fingerprints=known), None)
    said = read_comment(line).values
    assert (said["files"], said["fingerprints"]) == (tuple(files), known)


def test_a_path_that_looks_like_one_with_a_hash_is_told_apart() -> None:
    odd = "src/a@0123456789ab"
    assert " files=src/a%400123456789ab " in (
        line := write_comment(replace(ENTRY, files=(odd,)), None)
    )
    assert read_comment(line).values["files"] == (odd,)
    said = read_comment("<!-- syn:x files=@scope/a@2x.png,@0123456789ab -->").values
    assert (said["files"], said["fingerprints"]) == (("@scope/a@2x.png",), ())


def test_a_file_that_a_person_keeps_is_unmarked_until_it_changes_again(
    at: ForkedHome, web: Path
) -> None:
    """Also one that is gone. The entry's own file stays as it is, and its id is enough."""
    file = web / "src" / "a.py"
    lines = [f"line {number}\n" for number in range(100)]
    file.write_text("".join(lines))
    id = save(at, "src/a.py")
    [note] = at.journal.glob("*.md")
    before = note.read_bytes()
    for text in ("One\n", "".join(lines[50:]), None):
        if text is None:
            file.unlink()
        else:
            file.write_text(text)
        assert changed(at, id) == ["src/a.py"]
        assert "changed since" in at.run("blame", "src/a.py").out or text is None
        at.run("review", "keep", id[-8:])
        assert changed(at, id) == [] and at.ask("review")["findings"] == []
        for words in (("get", id), ("search", "parser"), ("recent",), ("blame", "src/a.py")):
            assert "changed since" not in at.run(*words).out
    file.write_text("".join(lines))
    assert changed(at, id) == []  # as it was saved
    file.write_text("".join(["a\n", *lines[50:]]))
    assert changed(at, id) == ["src/a.py"]
    assert note.read_bytes() == before


def test_an_id_alone_names_a_finding_only_where_one_is_meant(at: ForkedHome, web: Path) -> None:
    late = ("--at", "2026-01-01", "--type", "issue")
    id = save(at, "src/a.py", more=late)
    nobody = at.run("review", "keep", "nobody00")
    assert "0 findings are about nobody00" in nobody.err
    (web / "src" / "a.py").write_text("One\n")
    several = at.run("review", "keep", id[-8:])
    assert f"open:{id[-8:]}" in several.err and f"changed:{id[-8:]}" in several.err
    at.run("review", "close", id[-8:])  # only one of them is answered so
    assert "done" in at.ask("get", id)["entries"][0]["tags"]

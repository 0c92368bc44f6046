"""`synaptic doctor` finds what is wrong, says how to mend it, and mends what is safe."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import apsw
import pytest
import sqlite_vec
from forks import Forks
from outside import Home
from steady import SteadyHome


def findings(home: Home, *args: str) -> tuple[int, dict[str, dict[str, Any]]]:
    """(exit status, findings that are not ok, by code)."""
    answer = home.run("doctor", *args, "--json")
    found = answer.json["findings"]
    assert answer.json["ok"] == (answer.code == 0)
    assert all(finding["fix"] for finding in found if finding["level"] in ("warning", "error"))
    return answer.code, {
        finding["code"]: finding for finding in found if finding["level"] != "ok"
    }


def within(home: Home, sql: str) -> None:
    """Changes the index behind Synaptic's back."""
    db = apsw.Connection(str(home.index))
    db.enable_load_extension(True)
    db.load_extension(sqlite_vec.loadable_path())
    db.execute(sql).fetchall()
    db.close()


@pytest.fixture
def filled(home: Home) -> Home:
    for number in range(3):
        home.ask("save", f"Harbour report number {number}.")
    home.ask("rebuild-index")
    return home


def test_a_sound_home_has_nothing_to_mend(filled: Home) -> None:
    answer = filled.run("doctor")
    assert answer.code == 0
    for word in ("Python", "SQLite", "model", "Entries: 3"):
        assert word in answer.out
    assert findings(filled) == (0, {})


@pytest.mark.needs(feature="importing")
@pytest.mark.needs(feature="vault")
def test_what_daily_use_leaves_in_the_home_is_no_damage(filled: Home) -> None:
    """A session that began, and each run that can be taken back, has a folder in the state."""
    session = json.dumps({"session_id": "s", "cwd": str(filled.path.parent)})
    filled.run("hook", "session-start", stdin=session)
    filled.run("hook", "session-end", stdin=session)
    (filled.path.parent / "old.txt").write_text("[2026-11-01 10:00] It rained.\n")
    filled.run("import", "jrnl", str(filled.path.parent / "old.txt"), "--yes")
    filled.ask("save", "The tide turns.", "--tag", "sea")
    filled.run("tags", "--rename", "sea", "tide", "--yes")
    folders = {path.name for path in filled.state.iterdir() if path.is_dir()}
    assert folders >= {"briefings", "done", "imports", "renames"}
    assert "state-file" not in findings(filled)[1]


@pytest.mark.needs(feature="upkeep")
def test_what_a_person_must_mend_is_named_with_its_line(filled: Home) -> None:
    (day,) = filled.journal.glob("*.md")
    (filled.journal / "torn.md").write_text(
        "# Torn\n\n## 09:30 One\n\n```\nopen\n\n## 10:30 Two\n"
    )
    (filled.journal / f"{day.stem} copy.md").write_bytes(
        day.read_bytes().replace(b"number 1", b"number 7")
    )
    code, found = findings(filled)
    assert code == 1 and set(found) >= {"open-fence", "duplicate-id"}
    assert (
        "torn.md:5" in found["open-fence"]["message"]
        and " copy.md:" in found["duplicate-id"]["message"]
    )
    assert findings(filled, "--fix")[0] == 1
    for name in ("torn.md", f"{day.stem} copy.md"):
        (filled.journal / name).unlink()
    assert findings(filled) == (0, {})


def test_a_fence_that_is_open_in_a_list_item_is_said_to_end_with_it(filled: Home) -> None:
    file = filled.journal / "list.md"
    file.write_text("# List\n\n- one\n  ```\n  open\n\nBelow.\n")
    _, found = findings(filled)
    assert found["open-fence"]["message"] == (
        "list.md:4: the code block that begins here is never closed; "
        "it ends with its list item, above line 7"
    )
    file.write_text("# List\n\n- one\n  ```\n  open\n")
    _, found = findings(filled)
    assert found["open-fence"]["message"].endswith("all text below belongs to it")


DAMAGES = {
    "a row of an entry": "PRAGMA foreign_keys = OFF; DELETE FROM entry WHERE rowid = 2",
    "words": "DELETE FROM chunk_fts WHERE rowid = 2",
}


@pytest.mark.needs(feature="upkeep")
@pytest.mark.parametrize("sql", DAMAGES.values(), ids=DAMAGES)
def test_rows_that_do_not_fit_are_found_and_mended(filled: Home, sql: str) -> None:
    within(filled, sql)
    code, found = findings(filled)
    assert code == 1 and set(found) == {"orphans"} and "--fix" in found["orphans"]["fix"]
    assert findings(filled, "--fix") == (0, {})
    assert filled.ask("search", "harbour report")["total"] == 3


@pytest.mark.needs(feature="upkeep")
def test_a_vector_that_is_missing_is_mended_at_once(filled: Home) -> None:
    within(filled, "DELETE FROM chunk_vec WHERE rowid = 2")
    assert set(findings(filled)[1]) == {"index-damaged", "pending-vectors"}
    assert findings(filled, "--fix") == (0, {})


def open_to_all(home: Home) -> None:
    home.path.chmod(0o755)


@pytest.mark.needs(feature="upkeep")
def test_fix_mends_what_is_safe(filled: Home) -> None:
    open_to_all(filled)
    assert findings(filled)[1].keys() == {"permissions"}
    assert findings(filled, "--fix") == (0, {})


@pytest.mark.needs(feature="upkeep")
def test_missing_vectors_need_nobody(home: Home) -> None:
    home.ask("save", "Found by its words.")
    code, found = findings(home)
    assert code == 0 and set(found) == {"pending-vectors"}
    assert findings(home, "--fix") == (0, {})


def test_a_strangers_database_is_told_from_damage(filled: Home) -> None:
    for path in filled.state.glob("index.db*"):
        path.unlink()
    stranger = apsw.Connection(str(filled.index))
    stranger.execute("CREATE TABLE theirs (x)")
    stranger.close()
    code, found = findings(filled)
    assert code == 1 and "another program" in found["index-error"]["message"]


def test_where_the_index_cannot_be_its_answers_come_from_memory(filled: Home) -> None:
    for path in filled.state.glob("index.db*"):
        path.unlink()
    filled.index.mkdir()
    answer = filled.ask("search", "harbour report")
    assert (
        answer["total"] == 3
        and len(answer["notices"]) == 1
        and "synaptic doctor" in answer["notices"][0]
    )
    code, found = findings(filled)
    assert code == 1 and str(filled.index) in found["index-error"]["fix"]
    filled.index.rmdir()
    assert filled.ask("search", "harbour report")["notices"] == [] or findings(filled)[0] == 0


@pytest.mark.needs(feature="importing")
def test_a_home_among_the_notes_is_refused_or_named(tmp_path: Path, forks: Forks) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (tmp_path / "link").symlink_to(notes)
    for place in ("synaptic", "a/b", "."):
        home = SteadyHome(notes / place, forks=forks)
        for given in ((), ("--journal", str(notes)), ("--journal", str(tmp_path / "link"))):
            env = {} if given else {"SYNAPTIC_JOURNAL": str(notes)}
            refused = home.run("init", *given, **env)
            assert refused.code == 1 and "would hold Synaptic's home" in refused.err, given
            assert "begins with a dot" in refused.err
        assert not [*notes.rglob("config.toml"), *notes.rglob(".state")]
    for place in (".synaptic", "a/.b/c", "../beside"):
        home = SteadyHome(notes / place, forks=forks)
        assert home.run("init", "--journal", str(notes)).code == 0
        assert "open-home" not in findings(home)[1]

    home = SteadyHome(notes / "old", {"SYNAPTIC_JOURNAL": str(notes)}, forks=forks)
    home.ask("save", "It goes on.")  # as one that lay so before
    assert home.run("init").code == 0 and home.ask("search", "goes")["hits"]
    code, found = findings(home)
    assert code == 1 and "move the home out" in found["open-home"]["fix"]


def test_a_home_that_others_may_look_into_is_not_called_yours_alone(filled: Home) -> None:
    assert "yours alone" in filled.run("doctor").out
    open_to_all(filled)
    shown = filled.run("doctor").out
    assert "Other users may look into" in shown and "yours alone" not in shown


def test_notes_that_differ_only_by_case_are_named(filled: Home) -> None:
    for name in ("Deed.md", "deed.md", "other.md"):
        (filled.journal / name).write_text(f"The text of {name}.\n")
    filled.ask("rebuild-index")
    code, found = findings(filled)
    assert code == 0 and list(found) == ["case"]
    assert "Deed.md and deed.md" in found["case"]["message"]


SECRET = "zanzibar"


@pytest.fixture
def private(tmp_path: Path, forks: Forks) -> Home:
    """A home with a secret word in each place where a reader can write one."""
    person = tmp_path / f"user-{SECRET}"
    vault = person / f"{SECRET} vault" / f"{SECRET} folder"
    vault.mkdir(parents=True)
    (vault / f"{SECRET}.md").write_text(f"# {SECRET}\n\n```\nThe fence of {SECRET} is open.\n")
    (vault / f"{SECRET} \\ odd.md").write_text(SECRET)
    (person / ".claude.json").write_text(
        json.dumps({"mcpServers": {"synaptic": {"url": f"https://{SECRET}.example/mcp"}}})
    )
    env = {"HOME": str(person), "USER": SECRET, "SYNAPTIC_PROJECT": f"{SECRET}-project"}
    home = SteadyHome(person / f"home-{SECRET}", env, forks)
    home.path.mkdir()
    (home.path / "config.toml").write_text(
        f'sources = ["{vault.parent}"]\n'
        f'exclude = ["{SECRET}/*"]\n[sync]\nurl = "ssh://{SECRET}@{SECRET}.example/{SECRET}"\n'
    )
    marks = f"--tag {SECRET}tag --file src/{SECRET}.py --type decision".split()
    home.ask("save", f"Never sail to {SECRET}.", "--type", "preference")
    day = home.journal / home.ask("save", f"It lay in {SECRET}.", *marks)["path"]
    text = day.read_text()
    home.ask("save", "It sank.", "--title", f"The loss of {SECRET}")
    day.write_text(text.replace(f"It lay in {SECRET}.", "Overwritten."))
    (day.parent / f"{day.stem} 2.md").write_text(text)
    return home


def test_a_glob_that_only_capitals_keep_from_fitting_is_named(home: Home) -> None:
    home.ask("init")
    (home.journal / "Private").mkdir()
    (home.journal / "Private" / "Pay.md").write_text("# Pay\n\nMuch.\n")
    (home.journal / "Drafts").mkdir()
    (home.journal / "Drafts" / "Ode.md").write_text("# Ode\n\nTo be.\n")
    globs = '["private/**", "Drafts/**", "nowhere/**"]'
    (home.path / "config.toml").write_text(f"exclude = {globs}\n")
    [said] = [
        one for one in home.run("doctor", "--json").json["findings"] if one["code"] == "exclude"
    ]
    assert "private/** leaves out no note" in said["message"]
    assert "Private/Pay.md is read" in said["message"]


def test_a_report_for_an_issue_has_no_private_word(private: Home) -> None:
    named = {"open-fence", "left-out", "conflict-copy", "vanished"}
    assert named <= findings(private)[1].keys()
    assert f"The loss of {SECRET}" in private.run("doctor").out
    answer = private.run("doctor", "--report")
    assert answer.code == 1  # as without --report
    assert SECRET not in answer.text.lower()
    assert str(private.path.parent) not in answer.text
    report = private.run("doctor", "--report", "--json")
    assert SECRET not in report.text.lower()
    assert {f"warning {code}" for code in named} <= report.json["findings"].keys()
    counts = {"entries": private.ask("status")["entries"], "files": 3, "sources": 1}
    assert report.json["journal"].items() >= counts.items()
    assert report.json["settings"] == ["sources", "exclude", "project", "sync"]
    assert report.json["left_out"] == {"name": 1}
    assert "server unreadable" in report.json["clients"]["claude-code"]


def test_a_report_names_the_versions_also_where_the_home_cannot_be_opened(
    private: Home,
) -> None:
    (private.path / "config.toml").write_text(f'journal = "{SECRET}')
    answer = private.run("doctor", "--report", "--json")
    assert answer.code == 1 and SECRET not in answer.text.lower()
    assert answer.json["stopped_by"] == "bad-config"
    assert answer.json["packages"]["sqlite-vec"] == sqlite_vec.__version__.lstrip("v")


def test_a_report_says_where_synaptic_is_registered(tmp_path: Path, forks: Forks) -> None:
    (tmp_path / ".codex").mkdir()
    home = SteadyHome(tmp_path / "home", {"HOME": str(tmp_path)}, forks)
    assert home.run("setup", "codex", "--no-import").code == 0
    clients = home.run("doctor", "--report", "--json").json["clients"]
    assert {"server registered", "hooks registered"} <= {*clients["codex"]}
    shown = home.run("doctor", "--report")
    assert shown.code == 0 and "codex server registered" in shown.out

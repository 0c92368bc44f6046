"""The command line as a person, a script and an editor meet it."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import termios
import time
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from outside import TIMEOUT_S
from steady import steadily, steady
from typer.main import get_command

from synaptic import load_config, open_workspace, save
from synaptic.cli.main import USES, main, whole_program
from synaptic.cli.program import FIRST, GROUPS
from synaptic.errors import InvalidArgument
from synaptic.journal.changelog import Actor, acting
from synaptic.models import TYPES
from synaptic.serving.editors import command_to_open

ROOT = Path(__file__).parents[2]
SYNAPTIC = [sys.executable, "-m", "synaptic"]
NOW = "2026-11-21T10:30:00"
COMMANDS = tuple(
    command.name for command in whole_program().registered_commands if not command.hidden
)


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def id(self) -> str:
        return str(self.json["id"])


Run = Callable[..., Answer]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of one's own, Saturday morning, no editor, outside any repository."""
    for name in [name for name in os.environ if name.startswith("SYNAPTIC_")] + [
        "VISUAL",
        "EDITOR",
        "NO_COLOR",
    ]:
        monkeypatch.delenv(name, raising=False)
    place = tmp_path / "home"
    monkeypatch.setenv("SYNAPTIC_HOME", str(place))
    monkeypatch.setenv("SYNAPTIC_NOW", NOW)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(tmp_path)
    return place


@pytest.fixture
def run(home: Path) -> Run:
    """Runs a command in this process: fast."""

    def call(*args: str, stdin: bytes = b"") -> Answer:
        out, err = (
            io.TextIOWrapper(io.BytesIO(), "utf-8"),
            io.TextIOWrapper(io.BytesIO(), "utf-8"),
        )
        source = io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
        was = sys.stdin
        sys.stdin = source
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = main(args)
        finally:
            sys.stdin = was
        for stream in (out, err):
            stream.seek(0)
        return Answer(code, out.read(), err.read())

    return call


def shell(*args: str, stdin: bytes | None = None, **environ: str) -> Answer:
    """Runs the command as a process does."""
    said = steadily(*args, stdin=stdin or b"", env=os.environ | environ)
    return Answer(said.code, said.out, said.err)


Terminal = Callable[..., Answer]


@pytest.fixture
def on_terminal(home: Path) -> Terminal:
    """Runs the command at a terminal; what it shows on both streams is `out`."""

    def call(*args: str, keys: bytes = b"", columns: int = 80, **environ: str) -> Answer:
        environment = os.environ | {"COLUMNS": str(columns)} | environ
        return steady().at_terminal({"args": ["synaptic", *args], "env": environment}, keys)

    return call


def today(home: Path) -> Path:
    return home / "journal" / "2026-11-21.md"


def script(path: Path, body: str) -> Path:
    """A program that stands in for somebody's editor."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


# -- a day
# --------------------------------------------------------------------------------------------


@pytest.mark.needs(feature="importing")
def test_a_first_day(run: Run, home: Path) -> None:
    """Read from top to bottom: what a newcomer does in the first hour."""
    first = run("init")
    assert first.code == 0
    assert "0 entries" in first.out
    assert str(today(home)) in first.out

    saved = run(
        "save",
        "Chose SQLite over Postgres: one file, no server.",
        "--type",
        "decision",
        "--tag",
        "db",
    )
    assert saved.code == 0
    assert re.fullmatch(rf"Saved decision [0-9a-z]{{8}} in {today(home)}\n", saved.out)
    assert saved.err == ""
    id = saved.out.split()[2]
    assert (
        "## 10:30 decision: Chose SQLite over Postgres: one file, no server. #db"
        in today(home).read_text()
    )

    found = run("search", "which", "database", "did", "we", "take")
    assert found.code == 0
    assert "Chose SQLite over Postgres" in found.out
    assert f"{today(home)}:" in found.out
    assert id in found.out

    with today(home).open("a", encoding="utf-8") as page:
        page.write(
            "\n## 11:15 Called the bank about the loan #finance\nThey want the balance "
            "sheet by Friday.\n"
        )
    assert "Called the bank" in run("search", "balance sheet").out
    assert "Called the bank" in run("search", "money lender").out

    updated = run(
        "update", id, "--append", "Revisit when there are two writers.", "--add-tag", "later"
    )
    assert (updated.code, updated.out.split()[:2]) == (0, ["Updated", id])
    assert "Revisit when there are two writers." in run("get", id).out
    assert "#db #later" in run("recent").out

    deleted = run("delete", id, "--yes")
    assert deleted.code == 0
    assert f"synaptic restore {id}" in deleted.err
    assert "SQLite" not in today(home).read_text()
    assert run("get", id).code == 1

    assert run("restore", id).code == 0
    assert "Revisit when there are two writers." in run("get", id).out
    assert run("status", "--json").json["entries"] == 2
    assert [
        entry["title"] for entry in run("find", "--order", "oldest", "--json").json["entries"]
    ] == ["Chose SQLite over Postgres: one file, no server.", "Called the bank about the loan"]


@pytest.mark.parametrize("command", [["search", "anything"], ["recent"], ["status"]])
def test_an_empty_home_answers_with_its_path_and_an_example(
    run: Run, home: Path, command: list[str]
) -> None:
    answer = run(*command)
    assert answer.code == 0
    assert str(home / "journal") in answer.out
    example = next(
        line for line in answer.out.splitlines() if line.strip().startswith("synaptic save")
    )
    assert run(*shlex.split(example)[1:]).code == 0
    assert "is empty" not in run(*command).out


def test_a_journal_that_cannot_be_read_is_not_called_empty(run: Run, home: Path) -> None:
    (home / "journal").mkdir(parents=True)
    (home / "journal" / "note.md").symlink_to("nowhere.md")
    for command in (["search", "anything"], ["status"]):
        answer = run(*command)
        assert "could be read; `synaptic doctor` says why" in answer.out + answer.err
        assert "is empty" not in answer.out + answer.err


def test_an_empty_home_says_so_in_json_too(run: Run, home: Path) -> None:
    for command in (["search", "anything"], ["recent"]):
        answer = run(*command, "--json")
        assert answer.json["total"] == 0
        assert str(home / "journal") in " ".join(answer.json["notices"])
    assert run("status", "--json").json["entries"] == 0


def test_nothing_found_is_no_error_and_leaves_stdout_empty(run: Run) -> None:
    run("save", "A note about gardening")
    for command in (["find", "--type", "decision"], ["search", "x", "--type", "decision"]):
        answer = run(*command)
        assert (answer.code, answer.out) == (0, "")
        assert "Nothing found." in answer.err


# -- save
# ---------------------------------------------------------------------------------------------


def test_save_takes_every_mark(run: Run) -> None:
    parent = run("save", "The plan", "--at", "2026-11-19", "--json").id
    saved = run(
        "save",
        "Rolled out",
        "the plan",
        "--type",
        "Progress",
        "--tag",
        "ops",
        "--tag",
        "two words",
        "--title",
        "Roll-out",
        "--importance",
        "8",
        "--file",
        "src/a b.py",
        "--file",
        "c,d.md",
        "--project",
        "Billing",
        "--parent",
        parent,
        "--supersedes",
        parent[-8:],
        "--at",
        "2026-11-20T08:05",
        "--json",
    )
    assert saved.json["success"] is True
    (entry,) = run("get", saved.id, "--json").json["entries"]
    assert entry["content"] == "Rolled out the plan"
    assert entry["title"] == "Roll-out"
    assert (entry["type"], entry["importance"], entry["project"]) == ("progress", 8, "Billing")
    assert entry["tags"] == ["ops", "two-words"]
    assert entry["files"] == ["src/a b.py", "c,d.md"]
    assert (entry["parent"], entry["supersedes"]) == (parent, [parent])
    assert (entry["date"], entry["time"], entry["path"]) == (
        "2026-11-20",
        "08:05",
        "2026-11-20.md",
    )
    assert parent[-8:] not in run("recent").out
    assert f"superseded by {saved.id[-8:]}" in run("find", "--include-superseded").out


def test_the_same_text_again_keeps_the_first(run: Run) -> None:
    first = run("save", "Twice told", "--json").id
    again = run("save", "Twice told")
    assert again.out.startswith(f"Already saved as {first[-8:]} ")
    assert "`Twice told` was already saved" in again.err
    assert run("save", "Twice told", "--force", "--json").id != first


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    text=st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1
    ).filter(lambda t: t.strip(" \t\r\n"))
)
def test_what_stdin_gives_reads_back(run: Run, text: str) -> None:
    saved = run("save", "-", "--force", "--json", stdin=text.encode())
    if saved.code == 2:  # nothing but blanks of some other kind
        assert not text.strip() or not text.strip("\ufeff \r\n\t")
        return
    content = run("get", saved.id, "--json").json["entries"][0]["content"]
    wanted = text.replace("\r\n", "\n").replace("\r", "\n")
    words = content.split()
    assert words in (wanted.split(), wanted.removeprefix("\ufeff").split())


def test_a_pipe_is_saved_a_number_lists_so_many_and_pins_that_entry(run: Run) -> None:
    for text in ("The first.", "The second.", "The third."):
        assert run("save", stdin=text.encode()).code == 0
    newest = run("recent", "2", "--json").json["entries"]
    assert [entry["title"] for entry in newest] == ["The third.", "The second."]
    assert "1 to 100" in run("recent", "500").err
    assert run("recent", "--json").json == run("recent", "3", "--json").json
    listed = run("recent", "2").out.split()[0]
    assert run("pin", "1").out.strip() == f"Pinned {listed}"


def test_stdin_that_is_not_utf8_is_saved_as_far_as_it_can_be_read(run: Run) -> None:
    saved = run("save", "-", "--json", stdin=b"caf\xe9 au lait\nsecond line\n")
    assert (
        run("get", saved.id, "--json").json["entries"][0]["content"]
        == "caf\ufffd au lait\nsecond line"
    )


def test_an_argument_that_is_not_utf8_is_saved_likewise(home: Path) -> None:
    done = subprocess.run(
        [*SYNAPTIC, "save", b"caf\xe9 au lait", "--json"], capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert "caf\ufffd au lait" in today(home).read_text()


@pytest.mark.whole
def test_a_save_or_a_look_loads_neither_model_nor_anything_heavy(home: Path) -> None:
    heavy = ("fastembed", "numpy", "onnxruntime", "rich", "mcp")
    code = (
        "import io, json, sys; from contextlib import redirect_stdout as to\n"
        "from synaptic.cli.main import main\n"
        "with to(io.StringIO()): assert main(['save', 'A light note', '--tag', 'x']) == 0\n"
        "with to(io.StringIO()) as out: assert main(['recent', '--json']) == 0\n"
        "id = json.loads(out.getvalue())['entries'][0]['id']\n"
        "for more in ['recent'], ['get', id], ['find'], ['status'], ['tags'], ['today'], "
        "['edit', id], ['--help']:\n"
        "    assert main(more) == 0\n"
        f"print([name for name in {heavy!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.stderr == "[]\n"


def test_without_text_and_terminal_save_says_how(run: Run) -> None:
    answer = run("save")
    assert answer.code == 2
    assert "| synaptic save" in answer.err


@pytest.mark.needs(feature="importing")
@pytest.mark.needs(feature="takeaway")
def test_an_import_of_jrnl_proposes_its_tags_for_all_notes(
    home: Path, tmp_path: Path, run: Run, on_terminal: Terminal
) -> None:
    diary = tmp_path / "diary.txt"
    diary.write_text("[2026-11-20 09:00] Plain.\n")
    assert "at_tags" not in run("import", "jrnl", str(diary), "--yes").err
    diary.write_text("[2026-11-20 09:00] Lunch with @ida.\n")
    assert "`at_tags = true`" in run("import", "jrnl", str(diary), "--yes").err
    diary.write_text("[2026-11-20 10:00] Tea with @ida (2h).\n")
    answer = on_terminal("import", "jrnl", str(diary), keys=b"y\ny\ny\n")
    assert answer.out.count("Write that now? [Y/n]") == 2, answer.out
    first, second, _ = answer.out.split("Write that now?")  # named before it is asked
    assert "`at_tags = true` in" in first and "@ida" in first
    assert "`hours_in_text = true` in" in second and "times like (2h)" in second
    assert (home / "config.toml").read_text().splitlines()[::-1] == [
        "at_tags = true",
        "hours_in_text = true",
    ]
    run("save", "Rowed with @ida (0:45).", "--project", "boat")
    assert run("find", "--tag", "@ida", "--json").json["total"] == 3
    assert run("find", "--sum", "hours", "--by", "project").out.splitlines() == [
        "hours by project",
        "0.75  boat",
        "   2  no project",
        "2.75  in all, 2 entries",
    ]
    assert run("week", "--sum", "hours", "--json").json["all"][0]["value"] == 2.75
    assert run("export", "--csv", "--sum", "hours", "--by", "tag").out == (
        "tag,hours,unit,entries\nida,2.75,,2\n"
    )
    held = run("find", "rowed", "--sum", "hours", "--by", "project").out
    assert held.splitlines()[1:] == ["0.75  boat", "0.75  in all, 1 entry"]
    assert "--since" in run("find", "tea", "last week", "--by", "tag").err
    assert run("find", "--by", "tag").out == "entries by tag\n3  ida\n1  no tag\n4  in all\n"
    assert "Nothing found" in run("day", "2020-01-01", "--by", "tag").err
    assert "Valid: day, week, month, type, tag" in run("week", "--by", "colour").err


def test_a_save_on_a_terminal_names_the_nearest_entry_in_one_line(
    run: Run, on_terminal: Terminal
) -> None:
    api = ("--project", "api")
    alone = on_terminal("save", "yesterday: We deploy on Fridays from the main branch.", *api)
    assert "Saved note" in alone.out and "Near:" not in alone.out
    first = run("recent", "--json").json["entries"][0]["id"][9:]
    later = "We no longer deploy on Fridays; deploys are on Tuesdays from the main branch."
    answer = on_terminal("save", later, *api)
    saved, near = answer.out.split("Near: ")
    new = run("recent", "--json").json["entries"][0]["id"][9:]
    assert "Saved note" in saved and near.startswith(f"{first} 20")
    command = f"`synaptic update {new} --supersedes {first}`"
    assert "replace it?" in near and command in " ".join(near.split())
    for flags in (("--json",), ()):
        assert "Near:" not in run("save", f"{later} {flags}", *api, *flags).err


@pytest.mark.needs(feature="tasks")
def test_an_entry_that_is_due_is_ticked_and_listed_as_done(run: Run) -> None:
    run("save", "Renew the TLS certificate", "--due", "friday")
    answer = run("tick", "tls")
    assert answer.out.startswith("Ticked: Renew the TLS certificate (")
    assert "TLS" not in run("tasks").out and "TLS" in run("tasks", "--done").out
    [step] = re.findall(r"`synaptic (undo \S+)` takes it back", answer.out)
    assert run(*step.split()).code == 0 and "TLS" in run("tasks").out
    assert run("tick", "nobody").code == 1


@pytest.mark.needs(feature="tasks")
def test_a_task_is_ticked_by_its_words_and_the_tick_is_taken_back(home: Path, run: Run) -> None:
    run("save", "Plan of the day\n\n- [ ] call Ida\n- [ ] buy beans")
    before = today(home).read_bytes()
    answer = run("tick", "call", "ida")
    assert "Ticked: call Ida (" in answer.out
    command = re.search(r"`synaptic (undo .+)` takes it back", answer.out)
    assert today(home).read_bytes() == before.replace(b"[ ] call", b"[x] call")
    assert command and run(*command[1].split()).code == 0
    assert today(home).read_bytes() == before
    run("tick", "call", "ida")
    assert "Open again: call Ida (" in run("tick", "--undo").out
    assert today(home).read_bytes() == before
    answer = run("tick", "call", "ida,", "buy", "beans")
    assert today(home).read_bytes() == before.replace(b"[ ]", b"[x]")
    command = re.search(r"beans .+\n`synaptic (undo .+)` takes all back", answer.out)
    assert command and run(*command[1].split()).code == 0
    assert today(home).read_bytes() == before
    both = run("tick", "beans, call", "--due", "tomorrow", "--json").json
    assert [one["text"] for one in both["tasks"]] == ["buy beans", "call Ida"] and both["undo"]
    assert run("undo").code == 0 and today(home).read_bytes() == before
    for args in ((), ("--undo", "beans")):
        assert run("tick", *args).code == 2 and "synaptic tasks" in run("tick", *args).err


@pytest.mark.needs(feature="tasks")
def test_a_task_and_an_entry_move_to_another_day(home: Path, run: Run) -> None:
    run("save", "Plan of the day\n\n- [ ] call Ida 📅 2020-01-01\n- [ ] call Bo")
    before = today(home).read_bytes()
    answer = run("tick", "call", "ida", "--due", "2026-12-03")
    assert "Due on Thursday, 2026-12-03: call Ida (" in answer.out
    assert today(home).read_bytes() == before.replace(b"2020-01-01", b"2026-12-03")
    command = re.search(r"`synaptic (undo .+)` takes it back", answer.out)
    assert command and run(*command[1].split()).code == 0
    assert today(home).read_bytes() == before
    wrong = run("tick", "nobody", "--due", "soonish")
    assert wrong.code == 2 and "--due: 'soonish'" in wrong.err and "none" in wrong.err
    many = run("tick", "call", "--due", "tomorrow")
    assert many.code == 1 and "call Ida" in many.err and "call Bo" in many.err
    assert (
        run("tick", "--due", "tomorrow").code == run("tick", "--undo", "--due", "x").code == 2
    )
    id = run("save", "Renew the TLS certificate", "--due", "friday", "--json").json["id"]
    moved = run("tick", "tls", "--due", "none", "--json").json
    assert (moved["id"], moved["day"], moved["line"]) == (id, "", 0)
    assert "TLS" not in run("tasks").out


def test_a_receipt_says_for_which_day_a_due_date_was_understood(home: Path, run: Run) -> None:
    assert "Due on Friday, 2026-11-27." in run("save", "Tax", "--due", "next friday").err
    assert "Due on Saturday, 2026-11-28." in run("save", "Beans", "--due", "7 days").err
    past = run("save", "Old", "--due", "3 days ago")
    assert "Due on Wednesday, 2026-11-18, a day in the past." in past.err
    assert "Due on" not in run("save", "Plain", "--due", "2026-12-03").err
    unread = run("save", "yesterday evening around ten or so: saw a fox")
    assert "The note is of now, for “yesterday evening around ten or so”" in unread.err


def test_what_is_due_today_has_its_own_group(run: Run) -> None:
    for day in ("yesterday", "today", "tomorrow", "in 5 days"):
        run("save", f"Renew {day}", "--due", day)
    lines = run("tasks").out.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == [
        "Overdue",
        "Today",
        "Tomorrow",
        "Next 7 days",
    ]
    assert lines[lines.index("Today") + 1].startswith("  Renew today")


@pytest.mark.parametrize(
    "tick", ["✅ 2026-10-12", "[completion:: 2026-10-12]", "@done(2026-10-12)"]
)
def test_done_tasks_stand_at_the_day_of_their_tick(run: Run, tick: str) -> None:
    run("save", f"Plan\n\n- [x] call Ida {tick}\n- [x] call Bo\n- [ ] open {tick}")
    listed = [line.strip() for line in run("tasks", "--done").out.splitlines()]
    at = listed.index("2026-10-12")
    assert [line.partition(" ")[0] for line in listed[:at]] == ["2026-11-21", "[x]"]
    assert listed[at + 1].startswith("[x] call Ida") and len(listed) == at + 2


def test_save_without_text_opens_the_editor(
    home: Path, tmp_path: Path, on_terminal: Terminal
) -> None:
    writer = script(
        tmp_path / "pen", 'printf "Written in the editor.\\n\\nWith a body.\\n" > "$1"'
    )
    answer = on_terminal("save", "--type", "insight", EDITOR=str(writer))
    assert answer.code == 0, answer.out
    assert "Saved insight" in answer.out
    assert "## 10:30 insight: Written in the editor\n" in today(home).read_text()
    assert (
        shell("recent", "--json").json["entries"][0]["content"]
        == "Written in the editor.\n\nWith a body."
    )


def test_a_text_from_the_editor_survives_a_save_that_fails(
    home: Path, tmp_path: Path, on_terminal: Terminal
) -> None:
    writer = script(tmp_path / "pen", 'printf "An hour of work." > "$1"')
    answer = on_terminal("save", "--type", "nonsense", EDITOR=str(writer), TMPDIR=str(tmp_path))
    assert answer.code == 2
    kept = re.search(r"kept in (\S+\.md)", answer.out)
    assert kept
    assert Path(kept[1]).read_text() == "An hour of work."


def test_what_is_private_of_a_text_from_the_editor_is_kept_beside_and_named(
    home: Path, tmp_path: Path, on_terminal: Terminal
) -> None:
    text = "At the clinic. <private>It hurt.</private>"
    writer = script(tmp_path / "pen", f'printf "{text}" > "$1"')
    answer = on_terminal("save", EDITOR=str(writer), TMPDIR=str(tmp_path))
    assert answer.code == 0
    kept = re.search(r"still in (\S+\.md)", answer.out)
    assert kept and Path(kept[1]).read_text() == text
    notes = "".join(file.read_text() for file in (home / "journal").rglob("*.md"))
    assert "At the clinic." in notes and "It hurt" not in notes


def test_an_editor_left_empty_saves_nothing(
    home: Path, tmp_path: Path, on_terminal: Terminal
) -> None:
    answer = on_terminal(
        "save", EDITOR=str(script(tmp_path / "pen", "exit 0")), TMPDIR=str(tmp_path)
    )
    assert answer.code == 2
    assert not list(tmp_path.glob("synaptic-*.md"))
    assert shell("status", "--json").json["entries"] == 0


# -- update, delete, restore
# --------------------------------------------------------------------------


def test_update_changes_what_is_given_and_nothing_else(run: Run) -> None:
    id = run("save", "First text", "--tag", "a", "--tag", "b", "--importance", "3", "--json").id
    assert (
        run("update", id, "--content", "-", "--remove-tag", "a", stdin=b"Second text").code == 0
    )
    (entry,) = run("get", id, "--json").json["entries"]
    assert (entry["content"], entry["tags"], entry["importance"]) == ("Second text", ["b"], 3)
    nothing = run("update", id)
    assert nothing.code == 2
    assert "content" in nothing.err


def test_delete_without_a_terminal_needs_yes(home: Path, run: Run) -> None:
    id = run("save", "Stay here", "--json").id
    answer = run("delete", id)
    assert answer.code == 2
    assert "--yes" in answer.err
    assert "Stay here" in today(home).read_text()


def test_delete_shows_the_entry_and_asks(home: Path, run: Run, on_terminal: Terminal) -> None:
    id = run("save", "Going, going", "--json").id
    kept = on_terminal("delete", id, keys=b"n\n")
    assert "Going, going" in kept.out
    assert kept.code != 0
    assert "Going, going" in today(home).read_text()
    assert on_terminal("delete", id, keys=b"y\n").code == 0
    assert not today(home).exists()


def test_several_entries_go_at_once_and_one_undo_brings_them_back(
    home: Path, run: Run, on_terminal: Terminal
) -> None:
    ids = [run("save", f"Page {number}", "--json").id for number in range(3)]
    before = today(home).read_bytes()
    for args in ((ids[0], "zzzzzzzz", "--yes"), ids[:2]):
        assert run("delete", *args).code != 0 and today(home).read_bytes() == before
    assert on_terminal("delete", *ids[:2], keys=b"y\nn\n").code != 0
    assert today(home).read_bytes() == before  # the second one was kept
    deleted = run("delete", *ids[:2], ids[0], "--yes")
    assert deleted.out.count("Deleted ") == 2 and b"Page 2" in today(home).read_bytes()
    [step] = re.findall(r"`synaptic (undo \S+)` takes all back", deleted.out)
    assert run(*step.split()).code == 0 and today(home).read_bytes() == before
    answer = run("delete", *ids, "--yes", "--json").json
    assert [one["id"] for one in answer["deleted"]] == ids and not today(home).exists()
    assert run("undo").code == 0 and today(home).read_bytes() == before


def test_several_entries_get_the_same_marks_and_one_undo_takes_them_back(
    home: Path, run: Run
) -> None:
    ids = [run("save", f"Page {number}", "--json").id for number in range(3)]
    before = today(home).read_bytes()
    for args in (("zzzzzzzz", "--add-tag", "a"), ("--title", "Same"), ("--attach", "x.pdf")):
        assert run("update", *ids, *args).code != 0 and today(home).read_bytes() == before
    changed = run("update", *ids, "--add-tag", "a", "--project", "shop", "--due", "2026-12-01")
    assert changed.out.count("Updated ") == 3 and today(home).read_text().count("#a") == 3
    [step] = re.findall(r"`synaptic (undo \S+)` takes all back", changed.out)
    assert run(*step.split()).code == 0 and today(home).read_bytes() == before


def test_several_changes_are_taken_back_in_whatever_order_they_are_named(
    home: Path, run: Run
) -> None:
    id = run("save", "Chose oak.", "--json").id
    before = today(home).read_bytes()
    for number in range(3):
        run("update", id, "--append", f"Line {number}")
    listed = run("undo", "--list", "--json").json["undoable"]
    oldest_first = [one["run"] for one in listed[:3]][::-1]
    answer = run("undo", *oldest_first)
    assert answer.out.count("Took back") == 3 and today(home).read_bytes() == before
    again = [one["run"] for one in run("undo", "--list", "--json").json["undoable"][:3]]
    failed = run("undo", *again[:2], "zzzzzzzz")
    assert failed.code != 0 and "zzzzzzzz" in failed.err
    assert today(home).read_bytes() == before  # an unknown one is named before all others


def test_of_several_undos_one_that_is_refused_keeps_no_other_from_it(
    home: Path, run: Run
) -> None:
    ids = [
        run("save", f"Kept {number}.", "--at", f"2026-11-1{number}", "--json").id
        for number in range(3)
    ]
    for id in ids:
        assert run("update", id, "--content", "TODO summarise").code == 0
    runs = [one["run"] for one in run("undo", "--list", "--json").json["undoable"][:3]]
    [day] = home.rglob("*2026-11-11.md")
    day.write_text(day.read_text().replace("TODO summarise", "TODO summarise, by hand"))
    answer = run("undo", *runs)
    assert answer.code == 1 and "2 others were taken back." in answer.err
    assert answer.err.count("was not taken back") == 1
    texts = [entry["content"] for entry in run("find", "--json").json["entries"]]
    assert sorted(texts) == ["Kept 0.", "Kept 2.", "TODO summarise, by hand"]


def test_undo_asks_before_it_takes_back_what_nobody_has_in_mind(
    home: Path, run: Run, on_terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    with acting(Actor(by="page")), open_workspace(load_config(home)) as ws:
        save(ws, "From the page.")
    assert "From the page." in on_terminal("undo", keys=b"n\n").out and today(home).exists()
    assert on_terminal("undo", keys=b"y\n").code == 0 and not today(home).exists()
    run("save", "Chose oak for the deck.")
    before = today(home).read_bytes()
    monkeypatch.setenv("SYNAPTIC_NOW", "2026-11-23T11:00")
    kept = on_terminal("undo", keys=b"n\n")
    assert "Take back 2026-11-21" in kept.out and "Chose oak" in kept.out
    refused = run("undo")
    assert "Chose oak" in refused.err and "--yes" in refused.err
    assert today(home).read_bytes() == before
    assert run("undo", "--yes").code == 0 and not today(home).exists()


def test_what_an_undo_can_be_followed_by_is_said_as_it_is(home: Path, run: Run) -> None:
    run("save", "Chose oak for the deck.")
    before = today(home).read_bytes()
    undone = run("undo").out
    [again] = re.findall(r"`synaptic (undo \S+)` does it again", undone)
    redone = run(*again.split()).out
    assert redone.startswith("Done again: ") and "undo save" not in redone
    assert today(home).read_bytes() == before
    [back] = re.findall(r"`synaptic (undo \S+)` takes this save back once more", redone)
    assert run(*back.split()).out.startswith("Took back: ") and not today(home).exists()


def test_the_last_entry_of_a_day_can_go(home: Path, run: Run) -> None:
    id = run("save", "The only one", "--json").id
    (home / "journal" / "empty.md").write_bytes(b"")
    assert (
        len(run("delete", id, "--yes", "--json").json["notices"]) == 1
    )  # how to bring it back
    assert run("status", "--json").json["entries"] == 0
    assert run("get", id).code == 1


def test_purge_leaves_no_copy(home: Path, run: Run) -> None:
    id = run("save", "A password by mistake: hunter2", "--json").id
    assert run("delete", id, "--yes", "--purge").code == 0
    kept = [
        path for path in home.rglob("*") if path.is_file() and b"hunter2" in path.read_bytes()
    ]
    assert [path for path in kept if not path.name.startswith("index.db")] == []
    assert run("restore", id).code == 1


# -- find, tags, search
# -------------------------------------------------------------------------------


@pytest.fixture
def filled(run: Run) -> Run:
    run(
        "save",
        "Chose redis for the cache",
        "--type",
        "decision",
        "--tag",
        "db",
        "--at",
        "2026-11-18T09:00",
    )
    run(
        "save",
        "Cache misses double at noon",
        "--type",
        "issue",
        "--tag",
        "perf",
        "--importance",
        "9",
        "--file",
        "a.py",
    )
    run(
        "save", "Bought oat milk", "--tag", "home", "--at", "2026-10-01", "--project", "Kitchen"
    )
    return run


def _titles(answer: Answer) -> list[str]:
    assert answer.code == 0, answer.err
    return [entry["title"].split()[0] for entry in answer.json["entries"]]


@pytest.mark.parametrize(
    ("flags", "titles"),
    [
        ([], ["Cache", "Chose", "Bought"]),
        (["--tag", "db", "--tag", "perf"], ["Cache", "Chose"]),
        (["--type", "decision", "--type", "note"], ["Chose", "Bought"]),
        (["--since", "3 days ago"], ["Cache", "Chose"]),
        (["--until", "2026-10-01"], ["Bought"]),
        (["--since", "early November", "--until", "yesterday"], ["Chose"]),
        (["--until", "last month"], ["Bought"]),
        (["--project", "kitchen"], ["Bought"]),
        (["--file", "a.py"], ["Cache"]),
        (["--has-files"], ["Cache"]),
        (["--no-files", "--order", "oldest"], ["Bought", "Chose"]),
        (["--has-body"], []),
        (["--min-importance", "6"], ["Cache"]),
        (["--max-importance", "5"], ["Chose", "Bought"]),
        (["--limit", "1"], ["Cache"]),
        (["--order", "importance", "--limit", "1"], ["Cache"]),
    ],
)
def test_find_filters(filled: Run, flags: list[str], titles: list[str]) -> None:
    assert _titles(filled("find", *flags, "--json")) == titles


def test_titles_stand_below_one_another_in_a_list(run: Run) -> None:
    for type in TYPES:
        run("save", f"Salt {type}.", "--type", type)
    lines = run("find").out.splitlines()
    assert {line.index("Salt") for line in lines} == {lines[0].index("Salt")}, lines


def test_find_goes_on_with_the_cursor_it_gave(filled: Run) -> None:
    first = filled("find", "--limit", "2")
    cursor = re.search(r"--cursor (\S+)", first.err)
    assert cursor
    assert _titles(filled("find", "--limit", "2", "--cursor", cursor[1], "--json")) == [
        "Bought"
    ]


def test_find_around_an_entry(filled: Run) -> None:
    id = filled("find", "--tag", "db", "--json").json["entries"][0]["id"]
    assert _titles(filled("find", "--around", id, "--json")) == ["Bought", "Chose", "Cache"]


@pytest.mark.needs(feature="vault")
def test_tags_count_types_tags_and_projects(filled: Run) -> None:
    counts = filled("tags", "--json").json
    assert {item["name"]: item["count"] for item in counts["types"]} == {
        "decision": 1,
        "issue": 1,
        "note": 1,
    }
    assert {item["name"] for item in counts["tags"]} == {"db", "perf", "home"}
    assert counts["projects"] == [{"name": "Kitchen", "count": 1}]
    assert filled("find", "--facets", "--json").json["facets"] == counts
    assert re.search(r"1\s+perf", filled("tags").out)


def test_search_explains_itself(filled: Run) -> None:
    answer = filled("search", "cache", "--explain", "--json")
    assert answer.json["mode"] == "hybrid"
    why = next(hit["why"] for hit in answer.json["hits"] if hit["why"]["ranks"]["lexical"] == 1)
    assert 0 < why["decay"] <= 1
    shown = filled("search", "cache", "--explain").out
    assert "ranks lexical 1" in shown
    assert "similarity" in shown
    assert "decay" in shown


def test_search_filters_and_limits(filled: Run) -> None:
    assert [
        hit["type"]
        for hit in filled("search", "cache", "--type", "issue", "--json").json["hits"]
    ] == ["issue"]
    assert [
        hit["type"] for hit in filled("search", "cache type:decision", "--json").json["hits"]
    ] == ["decision"]
    assert len(filled("search", "cache", "--limit", "1", "--json").json["hits"]) == 1
    assert (
        filled("search", "cache", "--strategy", "lexical", "--json").json["mode"] == "lexical"
    )
    assert all(
        "milk" not in hit["title"]
        for hit in filled("search", "cache", "--days", "7", "--json").json["hits"]
    )


def test_search_says_all_that_changes_what_is_shown(filled: Run) -> None:
    answer = filled("search", "cahce status:open")
    assert answer.code == 0
    assert "Chose redis" in answer.out
    notices = filled("search", "cahce status:open", "--json").json["notices"]
    assert answer.err.splitlines() == [f"note: {notice}" for notice in notices]
    assert "Nothing holds `cahce`; searched for `cache`." in notices
    assert any("`status:` is not a filter" in notice for notice in notices)
    doubted = filled("search", "zzzz qqqq status:open", "--json").json["notices"]
    assert (
        "no close match" in doubted[0]
    )  # what speaks against the answer stands before what speaks of the query
    assert any("`status:` is not a filter" in notice for notice in doubted)


def test_what_a_query_leaves_out_needs_no_quotes(filled: Run) -> None:
    assert "redis" in filled("search", "chose").out
    left_out = filled("search", "chose", "-redis", "--limit", "5")
    assert left_out.code == 0 and "redis" not in left_out.out
    assert "entries with `redis`" in left_out.err


# -- what a terminal and a pipe get
# -------------------------------------------------------------------

EVIL = "Innocent\x1b[2J\x1b]0;owned\x07 \u202egnp.exe\u200b\x9b31m \x1b[31mred"


@pytest.mark.needs(feature="importing")
@pytest.mark.needs(feature="vault")
def test_nothing_in_an_entry_steers_the_terminal(
    home: Path, run: Run, on_terminal: Terminal
) -> None:
    run("init")
    today(home).write_text(
        f"# 2026-11-21\n\n## 09:00 {EVIL} #t\u200bag\n{EVIL} body [[{EVIL}]]\n- [ ] "
        f"{EVIL}\n\n~~~\n{EVIL}\n",
        "utf-8",
    )
    id = run("recent", "--json").json["entries"][0]["id"]
    for command in (
        ["recent"],
        ["get", id],
        ["search", "innocent"],
        ["find"],
        ["status"],
        ["tags"],
        ["get", id, "--json"],
        ["links", id],
        ["tasks"],
        ["day"],
    ):
        shown = on_terminal(*command).out
        for ours in (
            f"\x1b]8;;{today(home).as_uri()}\x1b\\",
            "\x1b]8;;\x1b\\",
        ):  # a hyperlink to the file
            shown = shown.replace(ours, "")
        assert "\x07" not in shown, command
        assert not re.search("[\u200b\u202e\x9b]", shown), command
        assert not re.sub(r"\x1b\[[0-9;]*m", "", shown).count("\x1b"), command
        assert "\x1b[31mred" not in shown, command
    assert run("get", id, "--json").json["entries"][0]["title"].startswith("Innocent\x1b[2J")


def test_colours_are_for_terminals(home: Path, run: Run, on_terminal: Terminal) -> None:
    run(
        "save",
        "The lanterns are red.\n\nEvery evening they light the harbour.",
        "--type",
        "insight",
    )
    assert "\x1b[" not in run("search", "lantern", "--strategy", "lexical").out
    coloured = on_terminal("search", "lantern", "--strategy", "lexical").out
    assert (
        "\x1b[1;33mlanterns" in coloured
    )  # the word that was meant, not only the one that was typed
    assert (
        "\x1b["
        not in on_terminal("search", "lantern", "--strategy", "lexical", NO_COLOR="1").out
    )
    assert "\x1b[" in on_terminal("recent").out


def test_a_pipe_gets_whole_lines_and_paths_at_any_width(
    home: Path, run: Run, on_terminal: Terminal
) -> None:
    text = "A line " + "that goes on " * 14 + "and ends with a walrus."
    run("save", text)
    answer = shell("search", "walrus", "--strategy", "lexical", COLUMNS="20")
    assert answer.code == 0
    assert f"{today(home)}:" in answer.out
    assert any(
        line.endswith("goes on and ends with a walrus.") for line in answer.out.splitlines()
    )


@pytest.mark.needs(feature="importing")
def test_a_reader_who_leaves_early_is_no_error(home: Path) -> None:
    shell("init")
    lines = "".join(f"## 09:{n % 60:02d} Entry number {n} {'x' * 60}\n\n" for n in range(1200))
    today(home).write_text(f"# 2026-11-21\n\n{lines}", "utf-8")
    command = (
        f"{shlex.join(SYNAPTIC)} find --limit 100 --json | head -n 1; echo ${{PIPESTATUS[0]}}"
    )
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, check=False, timeout=TIMEOUT_S
    )
    assert done.stdout.split() == ["{", "0"]
    assert done.stderr == ""


def test_an_answer_that_cannot_be_written_is_an_error(home: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*SYNAPTIC, "status"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert "could not be written" in done.stderr
    assert "Traceback" not in done.stderr


def test_control_c_ends_quietly(home: Path) -> None:
    process = subprocess.Popen(
        [*SYNAPTIC, "save", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin
    process.stdin.write(b"half a thought")
    process.stdin.flush()
    while int.from_bytes(
        fcntl.ioctl(process.stdin, termios.FIONREAD, b"\0" * 4), sys.byteorder
    ):
        time.sleep(0.01)  # until it reads
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=TIMEOUT_S)
    assert (process.returncode, out, err.strip()) == (130, b"", b"")


# -- edit, today
# --------------------------------------------------------------------------------------


def test_edit_and_today_say_where_without_an_editor(home: Path, run: Run) -> None:
    assert run("today").out == f"{today(home)}\n"
    assert not today(home).exists()
    run("save", "One")
    id = run("save", "Two", "--json").id
    line = today(home).read_text().splitlines().index("## 10:30 Two") + 1
    assert run("edit", id).out == f"{today(home)}:{line}\n"
    assert run("edit", id, "--json").json == {
        "path": str(today(home)),
        "line": line,
        "attached": [],
    }
    assert run("edit", "zzzzzzzz").code == 1


def test_edit_opens_the_editor_at_the_line(
    home: Path, run: Run, tmp_path: Path, on_terminal: Terminal
) -> None:
    log = tmp_path / "log"
    for name in ("vim", "other"):
        script(tmp_path / "bin" / name, f'printf "%s\\n" "$*" >> {shlex.quote(str(log))}')
    id = run("save", "Open me", "--json").id
    path = os.environ["PATH"]
    assert on_terminal("edit", id, VISUAL="vim -n", PATH=f"{tmp_path / 'bin'}:{path}").code == 0
    assert on_terminal("today", EDITOR="other", PATH=f"{tmp_path / 'bin'}:{path}").code == 0
    line = today(home).read_text().splitlines().index("## 10:30 Open me") + 1
    assert log.read_text().splitlines() == [f"-n +{line} {today(home)}", str(today(home))]
    missing = on_terminal("edit", id, EDITOR="no-such-editor")
    assert missing.code == 1
    assert "EDITOR" in missing.out


def test_what_an_editor_replaced_is_listed_and_comes_back(
    home: Path, run: Run, tmp_path: Path, on_terminal: Terminal
) -> None:
    vim = script(tmp_path / "bin" / "vim", 'sed -i s/wet/dry/ "$2"')
    only_looks = script(tmp_path / "bin" / "nano", "true")
    id = run("save", "The hay is wet.", "--json").id
    before = today(home).read_text()
    answer = on_terminal("edit", id, EDITOR=str(vim))
    assert f"`synaptic restore {id[9:]}` brings the text before it back." in answer.out
    assert "The hay is dry." in today(home).read_text()
    assert on_terminal("edit", id, EDITOR=str(only_looks)).out == ""
    listed = run("restore").out.splitlines()
    assert "edit" in listed[0] and "before" in listed[0]
    assert listed[1].startswith(id[9:]) and "The hay is wet." in listed[1]
    [one] = run("restore", "--json").json["edited"]
    assert (one["id"], one["text"]) == (id, "The hay is wet.")
    assert run("restore", id).code == 0
    assert today(home).read_text() == before
    assert run("restore").out == "Nothing is deleted.\n"


def test_what_is_saved_while_an_editor_is_open_is_put_back(
    home: Path, run: Run, tmp_path: Path, on_terminal: Terminal
) -> None:
    id = run("save", "The hay is wet.", "--json").id
    texts = ("Call Ida.", "Old.", "Far.")
    other, gone, moved = (run("save", text, "--json").id for text in texts)
    buffer = tmp_path / "buffer"
    commands = (
        ("save", "Meanwhile."),
        ("update", other, "--append", "Twice."),
        ("delete", gone, "--yes"),
        ("update", moved, "--at", "2026-10-01"),
    )
    lines = [shlex.join([*SYNAPTIC, *command]) for command in commands]
    vim = script(
        tmp_path / "bin" / "vim",
        f'export SYNAPTIC_HOME={home} EDITOR=\ncp "$2" {buffer}\n'
        + "".join(f"{line} </dev/null >/dev/null 2>&1\n" for line in lines)
        + f'echo more >> {buffer}\ncp {buffer} "$2"',
    )
    answer = on_terminal("edit", id, EDITOR=str(vim))
    text = today(home).read_text()
    assert "Meanwhile." in text and "more" in text and "Twice." not in text
    assert "was saved while the editor was open: it was put back." in answer.out
    assert f"`synaptic doctor --restore {other[9:]}`" in answer.out
    assert f"{gone[9:]} was deleted while the editor was open" in answer.out
    assert f"{moved[9:]} was moved to 2026-10-01.md while the editor was open" in answer.out
    assert run("doctor", "--restore", other).code == 0
    assert "Twice." in today(home).read_text()
    assert "vanished" not in run("doctor").out


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        (["vi"], ["+7", "/n.md"]),
        (["/usr/bin/nvim", "-f"], ["-f", "+7", "/n.md"]),
        (["nano"], ["+7", "/n.md"]),
        (["hx"], ["/n.md:7"]),
        (["code", "--wait"], ["--wait", "--goto", "/n.md:7"]),
        (["subl"], ["/n.md:7"]),
        (["notepad"], ["/n.md"]),
    ],
)
def test_editors_are_told_the_line_in_their_own_way(
    command: list[str], arguments: list[str]
) -> None:
    assert command_to_open(command, Path("/n.md"), 7)[1:] == arguments


# -- init
# ---------------------------------------------------------------------------------------------


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    place = tmp_path / "vault"
    (place / "daily").mkdir(parents=True)
    (place / "daily" / "2026-11-20.md").write_text(
        "## 08:00 Fed the cat #pets\n\n## 21:00 Wrote a letter\n", "utf-8"
    )
    (place / "Recipes.md").write_text("# Recipes\n\nPancakes need rest.\n", "utf-8")
    (place / "broken.md").write_text("## 08:00 An open fence\n```\ncode\n", "utf-8")
    return place


def _fingerprint(folder: Path) -> Iterator[tuple[str, str, int]]:
    for path in sorted(folder.rglob("*")):
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        yield str(path), digest, path.stat().st_mtime_ns


@pytest.mark.needs(feature="importing")
def test_init_takes_on_a_folder_and_changes_nothing_in_it(
    home: Path, run: Run, vault: Path
) -> None:
    before = list(_fingerprint(vault))
    answer = run("init", "--journal", str(vault), "--json")
    assert answer.code == 0, answer.out
    found = answer.json
    assert (found["success"], found["home"], found["journal"]) == (True, str(home), str(vault))
    assert (found["files"], found["entries"]) == (3, 4)
    assert found["new_entries_go_to"] == str(vault / "2026-11-21.md")
    assert all(issue["path"] == "broken.md" for issue in found["issues"])
    assert list(_fingerprint(vault)) == before
    assert tomllib.loads((home / "config.toml").read_text()) == {"journal": str(vault)}
    assert "Pancakes" in run("search", "pancake").out
    run("save", "Now in the vault")
    assert "Now in the vault" in (vault / "2026-11-21.md").read_text()
    human = run("init").out
    assert "5 entries in 4 files" in human
    assert str(vault / "2026-11-21.md") in human
    other = vault.parent / "other"
    other.mkdir()
    moved = run("init", str(other)).out
    assert f"The journal before, {vault}, has 4 files, which are not read any longer" in moved
    assert "before" not in run("init", str(other)).out


@pytest.mark.needs(feature="importing")
@pytest.mark.parametrize(
    "config",
    [
        "",
        '# mine\nday_file = "%Y/%m/%d.md" # nested\n\n[search]\nk = 7.0\n',
        'journal = "old"  # was here\nthreads = 2\n',
        'threads = 2\r\njournal = "old"\r\n[search]\r\nk = 7.0\r\n',
        "  journal='old'",
        '"journal" = "old" # quoted\n[search]\nk = 7.0\n',
        '[search]\nk = 7.0 # journal = "x"\n',
        'exclude = [\n  "a/**",\n]\n',
        "\ufeffthreads = 2\n",
    ],
)
def test_init_keeps_the_rest_of_the_config(
    home: Path, run: Run, vault: Path, config: str
) -> None:
    home.mkdir()
    path = home / "config.toml"
    path.write_bytes(config.encode())
    before = tomllib.loads(config.removeprefix("\ufeff"))
    assert run("init", "--journal", str(vault)).code == 0
    after = path.read_bytes().decode()
    assert tomllib.loads(after) == before | {"journal": str(vault)}
    names = re.compile(r"""[ \t]*"?journal"?[ \t]*=""")
    untouched = [
        line for line in config.removeprefix("\ufeff").splitlines(True) if not names.match(line)
    ]
    assert [line for line in after.splitlines(True) if not names.match(line)] == untouched
    assert after.count("#") == config.count("#")


def _put(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


OBSIDIAN = {
    ".obsidian/templates.json": '{"folder": "Meta/[T] 1/"}',
    ".obsidian/plugins/templater-obsidian/data.json": '{"templates_folder": "Scripts"}',
    ".obsidian/daily-notes.json": '{"folder": "Daily", "format": "YYYY/[Day] MM-DD dddd"}',
    "Meta/[T] 1/Day.md": "# {{date}}",
    "Scripts/New.markdown": "<% tp.date.now() %>",
    "templates/Old.md": "Template.",
    "Ideas.MARKDOWN": "## 9:30 Idea\n\n## Late\n\n## 1.2 A chapter\n\n```\n## 9h30\n```\n",
    ".obsidian/cache.txt": "x",
}


@pytest.mark.needs(feature="importing")
def test_init_follows_an_obsidian_vault(home: Path, run: Run, tmp_path: Path) -> None:
    vault = _put(tmp_path / "vault", OBSIDIAN)
    before = list(_fingerprint(vault))
    said = run("init", "--journal", str(vault))
    assert said.code == 0
    assert "3 entries in 1 file" in said.out and "without one: 3" in said.out
    assert all(
        name in said.out for name in ("Meta/[T] 1", "Scripts", "templates", "`day_file = ")
    )
    assert str(vault / "Daily" / "2026" / "Day 11-21 Saturday.md") in said.out
    assert list(_fingerprint(vault)) == before
    config = tomllib.loads((home / "config.toml").read_text())
    assert config["day_file"] == "Daily/%Y/Day %m-%d %A.md" and len(config["exclude"]) == 3
    assert run("init", "--journal", str(vault), "--json").json["to_add"] == []
    run("save", "Beside the daily notes")
    assert "Beside" in (vault / "Daily" / "2026" / "Day 11-21 Saturday.md").read_text()
    (vault / "Daily" / "2026" / "Day 03-04 Wednesday.md").write_text("By hand.\n")
    assert "2026-03-04" in run("search", "hand").out


@pytest.mark.needs(feature="importing")
@pytest.mark.parametrize(
    ("daily", "day_file"),
    [
        ('{"folder": "/", "format": "YYYY-M-D"}', "%Y-%-m-%-d.md"),
        ('{"folder": "Log"}', "Log/%Y-%m-%d.md"),
        ('{"folder": "100%", "format": "DD.MM.YY [100%]"}', "100%%/%d.%m.%y 100%%.md"),
        ('{"folder": "Log", "format": "MMMM Do, YYYY"}', "Log/%Y-%m-%d.md"),
        ('{"folder": "Log", "format": "YYYY-[W]ww"}', "Log/%Y-%m-%d.md"),
        ('{"folder": "../Log", "format": "YYYY-MM"}', "%Y-%m-%d.md"),
        ('{"folder": "a\\u007fb", "format": 7}', "%Y-%m-%d.md"),
        ("[" * 100_000, "%Y-%m-%d.md"),
    ],
)
def test_init_writes_where_daily_notes_lie(
    home: Path, run: Run, tmp_path: Path, daily: str, day_file: str
) -> None:
    vault = _put(tmp_path / "vault", {".obsidian/daily-notes.json": daily})
    said = run("init", "--journal", str(vault))
    assert said.code == 0, said.err
    assert tomllib.loads((home / "config.toml").read_text())["day_file"] == day_file
    assert ("cannot be followed" in said.out) is any(
        token in daily for token in ("Do", "ww", 'YYYY-MM"')
    )


@pytest.mark.needs(feature="importing")
def test_init_keeps_apart_from_what_logseq_rewrites(
    home: Path, run: Run, tmp_path: Path
) -> None:
    files = {
        "journals/2020_09_20.md": "- A block",
        "pages/Bread.md": "- Rye",
        "logseq/bak/pages/Bread.md": "- Old rye",
        "Logseq/Bak/pages/Bread/2020-09-19.md": "- Older rye",
        "LOGSEQ/bak/journals/2020_09_20.md": "- Oldest rye",
    }
    graph = _put(tmp_path / "graph", files)
    said = run("init", "--journal", str(graph))
    assert "Logseq" in said.out and str(graph / "synaptic" / "2026-11-21.md") in said.out
    assert run("search", "rye", "--json").json["total"] == 1
    assert "undated" in run("recent").out.splitlines()[-1]


@pytest.mark.needs(feature="importing")
@pytest.mark.parametrize(
    ("form", "link", "setting"),
    [
        ("MM-dd-yyyy", "03-02-2026", "%m-%d-%Y"),
        ("EEE, dd-MM-yyyy", "Mon, 02-03-2026", "%a, %d-%m-%Y"),
        ("yyyy-MM-dd EEEE", "2026-03-02 Monday", None),
        ("MMM do, yyyy", "Mar 2nd, 2026", None),
    ],
)
def test_links_name_a_day_as_logseqs_settings_do(
    home: Path, run: Run, tmp_path: Path, form: str, link: str, setting: str | None
) -> None:
    others = [
        "2026/03/02",
        "02.03.2026",
        "2026年03月02日",
        "Mon, 2nd Mar 2026",
        "2026-03-02 Mon",
    ]
    files = {
        "journals/2026_03_02.md": "- bought beans",
        "journals/2026_03_03.md": "".join(f"- [[{name}]]\n" for name in (link, *others)),
        "logseq/config.edn": f'{{;; :journal/page-title-format "yyyyMMdd"\n'
        f' :journal/page-title-format "{form}"}}\n',
    }
    run("init", "--journal", str(_put(tmp_path / "graph", files)))
    assert tomllib.loads((home / "config.toml").read_text()).get("day_title") == setting
    assert run("links", "--broken", "--json").json["links"] == []


@pytest.mark.needs(feature="importing")
def test_init_shows_what_a_config_that_was_there_lacks(
    home: Path, run: Run, tmp_path: Path
) -> None:
    vault = _put(tmp_path / "vault", OBSIDIAN)
    _put(home, {"config.toml": 'exclude = ["private/**"]\n'})
    said = run("init", "--journal", str(vault))
    lines = [
        line for line in said.out.splitlines() if line.startswith(("exclude =", "day_file ="))
    ]
    assert len(lines) == 2 and "was there already" in said.out
    assert tomllib.loads((home / "config.toml").read_text())["exclude"] == ["private/**"]
    _put(home, {"config.toml": "\n".join([f"journal = {json.dumps(str(vault))}", *lines])})
    assert run("init", "--journal", str(vault), "--json").json["to_add"] == []
    assert "private/**" in lines[0] and run("status", "--json").json["files"] == 1


@pytest.mark.needs(feature="importing")
def test_init_wants_a_folder_that_exists(home: Path, run: Run, tmp_path: Path) -> None:
    answer = run("init", "--journal", str(tmp_path / "nowhere"), "--json")
    assert answer.code == 1
    assert str(tmp_path / "nowhere") in answer.json["error"]["message"]
    assert run("init", str(tmp_path / "nowhere"), "--journal", str(tmp_path)).code == 2
    assert not (home / "config.toml").exists()
    notes = tmp_path / "notes"
    notes.mkdir()
    assert run("init", str(notes)).code == 0
    assert str(notes) in (home / "config.toml").read_text()


# -- upkeep
# -------------------------------------------------------------------------------------------


@pytest.mark.needs(feature="importing")
def test_rebuild_finishes_what_status_says_is_pending(
    home: Path, run: Run, on_terminal: Terminal
) -> None:
    run("init")
    lines = "".join(f"## 09:{n:02d} Entry number {n}\n\n" for n in range(20))
    today(home).write_text(f"# 2026-11-21\n\n{lines}", "utf-8")
    pending = run("status")
    assert "rebuild-index" in pending.out
    report = run("rebuild-index", "--json").json
    assert (report["entries"], report["embedded"], report["issues"]) == (20, 20, [])
    assert run("status", "--json").json["pending_vectors"] == 0
    again = run("rebuild-index")
    assert "0 embedded, 20 reused" in again.out
    bar = on_terminal("rebuild-index", "--fresh").out
    assert "20/20" in bar
    assert "20 embedded, 0 reused" in bar


@pytest.mark.needs(feature="importing")
def test_status_shows_what_could_not_be_read(home: Path, run: Run) -> None:
    run("init")
    pieces = "".join(
        f"## 09:{n:02d} Open\n<!-- syn:20261121-7k3m9q{n:02d} -->\n```sh\nx\n\n"
        for n in range(14)
    )
    today(home).write_text(pieces, "utf-8")
    answer = run("status")
    shown = [line for line in answer.out.splitlines() if f"{today(home)}:" in line]
    assert len(shown) == 10
    assert re.search(r"and \d+ more: synaptic status --json", answer.out)
    assert len(run("status", "--json").json["issues"]) >= 12


def test_doctor_is_content_with_a_sound_home(run: Run, on_terminal: Terminal) -> None:
    run("save", "All is well")
    answer = run("doctor", "--json")
    assert answer.json["ok"] is True, answer.out
    assert answer.code == 0
    assert "model" in on_terminal("doctor").out


def test_doctor_names_a_vanished_entry_until_somebody_decides(home: Path, run: Run) -> None:
    lost, kept = (
        run("save", text, "--json").id for text in ("Lost and found", "Lost for good")
    )
    today(home).write_text("# 2026-11-21\n", "utf-8")
    answer = run("doctor", "--json")
    assert answer.code == 1
    assert {f["code"] for f in answer.json["findings"] if f["level"] == "warning"} == {
        "vanished"
    }
    assert f"--restore {lost}" in run("doctor").out
    assert run("doctor", "--restore", lost).out.startswith(f"Restored {lost[-8:]} in ")
    assert "Lost and found" in today(home).read_text()
    assert run("doctor", "--dismiss", kept, "--json").json == {"success": True, "ids": [kept]}
    assert run("doctor").code == 0
    assert run("doctor", "--fix", "--restore", lost).code == 2


# -- errors
# -------------------------------------------------------------------------------------------


@pytest.mark.needs(feature="sharing")
@pytest.mark.parametrize(
    ("args", "named"),
    [
        (["search", "x", "--tagz", "a"], "--tag"),
        (["search", "x", "--limit", "many"], "--limit"),
        (["search", "x", "--limit", "0"], "1 to 100"),
        (["search", "x", "--strategy", "magic"], "hybrid"),
        (["search", "x", "--since", "the day of yore"], "yesterday"),
        (["find", "--type", "idea"], "decision"),
        (["find", "--order", "sideways"], "oldest"),
        (["find", "--cursor", "nonsense"], "cursor"),
        (["save", "x", "--type", "idea"], "decision"),
        (["save", "x", "--importance", "11"], "0 to 10"),
        (["save", "x", "--at", "whenever"], "yesterday"),
        (["save", "-milk"], 'after "--"'),
        (["get"], "get --help"),
        (["edit"], "edit --help"),
        (["serach", "x"], "you probably mean: synaptic search"),
        (["help", "serch"], "you probably mean: synaptic search"),
        (["list"], "you probably mean: synaptic recent"),
        (["ls", "--limit", "3"], "you probably mean: synaptic recent"),
        (["show", "3"], "you probably mean: synaptic get"),
        (["add", "x"], "you probably mean: synaptic save"),
        (["new"], "you probably mean: synaptic save"),
        (["rm", "7k3m9q2x"], "you probably mean: synaptic delete"),
        (["undelete"], "you probably mean: synaptic restore"),
        (["redo"], "you probably mean: synaptic undo"),
        (["done", "tea"], "you probably mean: synaptic tick"),
        (["quit"], "To write something down"),
        (["find-all"], "you probably mean: synaptic find"),
        (["conflicts"], "you probably mean: synaptic review"),
        (["yesterday:", "rain"], 'synaptic save "yesterday: ..."'),
        (["help", "trash"], "you probably mean: synaptic restore"),
        (["shwo", "3"], "you probably mean: synaptic get"),
        (["uninstall"], "you probably mean: synaptic setup --remove"),
        (["buy milk"], "you probably mean: synaptic save 'buy milk'"),
        (["who is Ida?"], "you probably mean: synaptic search 'who is Ida?'"),
        (["xyzzy"], "git-setup"),
        (["save", "x", "--title"], "--title"),
    ],
)
def test_a_mistake_in_the_usage_teaches(run: Run, args: list[str], named: str) -> None:
    told = run(*args)
    assert (told.code, told.out) == (2, "")
    assert named in told.err
    answer = (
        run(*args, "--json") if args[-1] != "--title" else run("save", "--json", "x", "--title")
    )
    assert answer.code == 2
    assert (answer.json["success"], answer.json["error"]["code"]) == (
        False,
        InvalidArgument.code,
    )
    assert set(answer.json["error"]) == {"code", "message", "valid", "hint"}
    assert named in " ".join(
        [
            answer.json["error"]["message"],
            answer.json["error"]["hint"],
            *answer.json["error"]["valid"],
        ]
    )
    assert answer.err == ""


@pytest.mark.parametrize("args", [["xyzzy"], ["recent", "--limit", "0"], ["get", "7k3m9q2x"]])
def test_a_person_reads_each_part_of_an_error_on_a_line(run: Run, args: list[str]) -> None:
    error = run(*args, "--json").json["error"]
    parts = [f"synaptic: {error['message']}"]
    if error["valid"]:
        parts.append(f"  Valid: {', '.join(error['valid'])}")
    if error["hint"]:
        parts.append(f"  {error['hint']}")
    assert run(*args).err == "\n".join([*parts, ""])


@pytest.mark.needs(feature="importing")
def test_day_files_that_are_there_are_used(run: Run, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    for day in range(3, 8):
        note = vault / f"diary/2025/05/2025.05.{day:02}.md"
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text("Tide at noon.\n")
    lone = vault / "trips" / "2024-08-09 Friday.md"
    lone.parent.mkdir()
    lone.write_text("Ferry.\n")
    answer = run("init", "--journal", str(vault))
    assert "diary/%Y/%m/%Y.%m.%d.md" in answer.out
    for day, path in (
        ("2025-05-04", "diary/2025/05/2025.05.04.md"),
        ("2025-06-01", "diary/2025/06/2025.06.01.md"),
        ("2024-08-09", "trips/2024-08-09 Friday.md"),
    ):
        saved = run("save", f"Rowed on {day}.", "--at", f"{day} 14:00", "--json")
        assert saved.json["path"] == path
        [entry] = run("get", saved.id, "--json").json["entries"]
        assert entry["date"] == day
    assert lone.read_text().startswith("Ferry.\n")


@pytest.mark.needs(feature="importing")
def test_a_day_with_one_file_gets_no_second_whatever_the_setting(
    home: Path, run: Run, tmp_path: Path
) -> None:
    """The file may have another form than `day_file`, or lie in an archive; of two files of one
    day none is chosen.
    """
    vault = tmp_path / "vault"
    for name in ("Old/2025/2025-05-04.md", "Daily/2025-05-05.md", "Work/2025-05-05.md"):
        path = vault / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("Tide at noon.\n")
    run("init", "--journal", str(vault))
    config = home / "config.toml"
    config.write_text(f'day_file = "log/%Y%m%d.md"\n{config.read_text()}')
    for day, path in (
        ("2025-05-04", "Old/2025/2025-05-04.md"),
        ("2025-05-05", "log/20250505.md"),
        ("2025-05-06", "log/20250506.md"),
    ):
        saved = run("save", f"Rowed on {day}.", "--at", f"{day} 14:00", "--json")
        assert saved.json["path"] == path


@pytest.mark.needs(feature="importing")
def test_init_and_today_name_the_file_into_which_a_save_goes(
    home: Path, run: Run, tmp_path: Path
) -> None:
    place = tmp_path / "vault" / "Diary" / today(home).name
    place.parent.mkdir(parents=True)
    place.write_text("Tide at noon.\n")
    answer = run("init", "--journal", str(tmp_path / "vault"))
    assert f"New entries go to {place}" in answer.out
    assert run("today").out == f"{place}\n"
    assert run("save", "Rowed.", "--json").json["path"] == f"Diary/{place.name}"


@pytest.mark.needs(feature="importing")
@pytest.mark.parametrize(
    ("folder", "goes_to"),
    [("Choir 2023", "2026-11-21.md"), ("log/2025", "log/2026/2026-11-21.md")],
)
def test_init_says_the_layout_that_it_finds_and_a_save_makes_no_other_folder(
    run: Run, tmp_path: Path, folder: str, goes_to: str
) -> None:
    vault = tmp_path / "vault"
    (vault / folder).mkdir(parents=True)
    for day in ("2025-12-29", "2025-12-30", "2025-12-31"):
        (vault / folder / f"{day}.md").write_text("Sang in the nave.\n")
    told = run("init", "--journal", str(vault)).out
    assert ("are named as log/%Y/%Y-%m-%d.md" in told) == (folder == "log/2025")
    assert ("are named as" in told) == (folder == "log/2025")
    assert run("save", "Sang again.", "--json").json["path"] == goes_to
    listed = run("find", "nave", "--since", "2025-12-29", "--until", "2025-12-31", "--json")
    assert len(listed.json["entries"]) == 3


def test_a_heading_of_many_days_stands_beside_its_day_in_lists(run: Run, home: Path) -> None:
    (home / "journal").mkdir(parents=True)
    for day in ("2025-11-20", "2026-11-19", "2026-11-20"):
        (home / "journal" / f"{day}.md").write_text(
            f"# {day}\n\n## Notizen\n\nRowed to the island of {day}.\n\n"
            f"## Found a seal on {day}\n\nIt slept.\n"
        )
    (home / "journal" / "boat.md").write_text(
        "# Boat\n\nTar.\n\n## 09:00 Notizen\n\nAn oar of ash.\n\n## 10:00 Mast\n\nPine.\n"
    )
    for command in (["recent"], ["find", "rowed"], ["search", "rowed to the island"]):
        out = run(*command).out
        assert "2026-11-20 > Notizen" in out and "2026-11-19 > Notizen" in out
    assert "boat > Notizen" in run("find", "oar").out
    out = run("recent").out
    assert "note        Found a seal on 2026-11-20" in out
    assert "note        Mast" in run("find", "pine").out
    assert {one["title"] for one in run("find", "island", "--json").json["entries"]} == {
        "Notizen"
    }
    then = run("day", "2026-11-20").out.partition("On this day")[2]
    assert then.count("2025-11-20 2025-11-20 > Notizen") == 1 and "seal" not in then


def test_a_briefing_does_not_call_a_journal_of_daily_notes_empty(
    home: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = tmp_path / "no checkout"
    outside.mkdir()
    monkeypatch.chdir(outside)
    assert "It has no entries." in run("brief").out
    (home / "journal").mkdir(parents=True, exist_ok=True)
    (home / "journal" / "2025-05-04.md").write_text("## Log\n\nTide at noon.\n")
    out = run("brief").out
    assert "no entries" not in out and "context_search finds them" in out


@pytest.mark.needs(feature="importing")
def test_a_graph_of_logseq_gets_no_entries_in_its_days(run: Run, tmp_path: Path) -> None:
    for name in ("journals/2026_05_06.md", "pages/Ely.md"):
        path = tmp_path / "graph" / name
        path.parent.mkdir(parents=True)
        path.write_text("- Tide at noon.\n")
    run("init", "--journal", str(tmp_path / "graph"))
    saved = run("save", "Rowed.", "--at", "2026-05-06 14:00", "--json")
    assert saved.json["path"] == "synaptic/2026-05-06.md"


@pytest.mark.needs(feature="importing")
def test_texts_that_are_not_markdown_are_counted(run: Run, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    for name in (
        "a.md",
        "b.org",
        "sub/c.org",
        "rules/d.mdc",
        "e.txt",
        ".hidden/f.txt",
        "g.png",
    ):
        path = vault / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("Tide at noon.\n")
    answer = run("init", "--journal", str(vault))
    assert "Not read: 2 .org, 1 .mdc, 1 .txt files." in answer.err
    assert "--text-files`" in answer.err
    vault.joinpath("link.md").symlink_to(tmp_path / "far.md")
    tmp_path.joinpath("far.md").write_text("Far.\n")
    tmp_path.joinpath("all").mkdir()
    vault.joinpath("linked").symlink_to(tmp_path / "all")
    line = f'sources = ["{tmp_path}/far.md", "{tmp_path}/all"]'
    assert line in run("init", "--journal", str(vault)).err
    config = Path(run("status", "--json").json["home"]) / "config.toml"
    config.write_text(config.read_text() + f'sources = ["{tmp_path}/far.md"]\n')
    answer = run("status")
    assert "1 file" in answer.out and f'sources = ["{tmp_path}/all"]' in answer.err


@pytest.mark.whole
def test_each_command_that_is_suggested_by_its_use_is_one() -> None:
    program = all_commands()
    commands = {*program}
    for use, words in USES.items():
        command, *flags = use.split()
        if command in commands:
            valid = program[command].params
            options = {name for one in valid for name in (*one.opts, *one.secondary_opts)}
            assert {flag for flag in flags if flag.startswith("--")} <= options, use
        assert command in {*commands, "--version"} and not {*words.split()} & commands
    assert len(" ".join(USES.values()).split()) == len({*" ".join(USES.values()).split()})


@pytest.mark.whole
def test_the_help_groups_all_commands_and_cuts_no_sentence(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    for words in ([], ["--all"], *([name] for name in all_commands())):
        _, *lines = run(*words, "--help").out.splitlines()
        assert not [line for line in lines if len(line) > 60 or line.endswith(("...", "…"))]
    monkeypatch.setenv("COLUMNS", "80")
    out = run("help", "--all").out
    grouped = " ".join(GROUPS.values()).split()
    assert sorted(grouped) == sorted(all_commands()) and "Others:" not in out
    places = [out.index(f"\n{heading}:\n") for heading in GROUPS]
    assert places == sorted(places) and "..." not in out.partition("\nWrite:")[2]
    text = " ".join(out.split())
    assert "lists what was deleted, or edited in an editor. undo" in text


def all_commands() -> dict[str, Any]:
    group: Any = get_command(whole_program())
    return {name: one for name, one in group.commands.items() if not one.hidden}


@pytest.mark.parametrize(
    "text", ["- [ ] Ring Bo", "- ", "-4 degrees in the shed", "-> go to Ely", "---\n\nA line"]
)
def test_a_text_that_is_no_option_may_start_with_a_dash(run: Run, text: str) -> None:
    args = ["save", "--pin", text, "--tag", "shed", "--title", "- a title", "--json"]
    [entry] = run("get", run(*args).id, "--json").json["entries"]
    assert entry["content"] == text.strip() and entry["title"] == "- a title"
    assert entry["tags"] == ["shed"]


def test_a_text_may_start_with_a_dash(run: Run) -> None:
    saved = run("save", "--json", "--", "- milk --json")
    assert run("get", saved.id, "--json").json["entries"][0]["content"] == "- milk --json"


@pytest.mark.parametrize(
    "command",
    [["get"], ["update", "--append", "x"], ["delete", "--yes"], ["restore"], ["edit"]],
)
def test_an_unknown_id_is_an_error(run: Run, command: list[str]) -> None:
    run("save", "Somebody else")
    answer = run(command[0], "zzzzzzzz", *command[1:], "--json")
    assert (answer.code, answer.json["error"]["code"]) == (1, "not-found")
    assert "zzzzzzzz" in answer.json["error"]["message"]


def test_a_removed_config_key_is_a_notice_and_no_error(home: Path, run: Run) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text("[search]\nresolve_pronouns = true\nk = 3.0\n")
    answer = run("status")
    assert answer.code == 0 and "search.resolve_pronouns was removed" in answer.err
    assert "search.resolve_pronouns was removed" in run("status", "--json").json["notices"][0]
    findings = {
        found["code"]: found["level"] for found in run("doctor", "--json").json["findings"]
    }
    assert findings["config"] == "info"
    (home / "config.toml").write_text("[search]\nresolve_pronoun = true\n")
    assert "unknown key" in run("status").err


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("[hooks]\ncapture = true", "capture stands below the line [hooks]."),
        ("user_prompt = true", "user_prompt stands above all tables."),
        ("[search]\nauto = true", "auto stands below the line [search]."),
        ('[hooks]\njournal = "vault"', "journal stands below the line [hooks]."),
    ],
)
def test_a_key_in_the_wrong_table_has_one_clear_error(
    home: Path, run: Run, settings: str, message: str
) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(settings)
    answer = run("status", "--json")
    error = answer.json["error"]
    assert (answer.code, error["message"].endswith(message), error["valid"]) == (1, True, [])
    assert error["hint"].startswith("Move it ")


def _home_is_a_file(home: Path) -> None:
    home.write_text("not a folder")


def _config_is_broken(home: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_text("journal = [")


def _config_key_is_unknown(home: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_text("jurnal = 'x'")


def _journal_is_gone(home: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_text("journal = '/no/such/disk'")


def _index_is_somebody_elses(home: Path) -> None:
    (home / ".state" / "index.db").mkdir(parents=True)


@pytest.mark.parametrize(
    "trouble",
    [
        _home_is_a_file,
        _config_is_broken,
        _config_key_is_unknown,
        _journal_is_gone,
        _index_is_somebody_elses,
    ],
)
@pytest.mark.parametrize(
    "command", [["recent"], ["status"], ["search", "x", "--strategy", "lexical"]]
)
def test_trouble_is_told_in_a_sentence(
    home: Path, run: Run, trouble: Callable[[Path], None], command: list[str]
) -> None:
    trouble(home)
    answer = run(*command)
    assert answer.code == 1
    assert answer.err.startswith("synaptic: ")
    assert "Traceback" not in answer.err
    assert "defect" not in answer.err
    assert run(*command, "--json").json["success"] is False


def test_a_broken_clock_is_told(home: Path) -> None:
    answer = shell("recent", SYNAPTIC_NOW="tomorrow-ish")
    assert answer.code == 1
    assert "SYNAPTIC_NOW" in answer.err
    assert "Traceback" not in answer.err


# -- evaluate
# -----------------------------------------------------------------------------------------

LANDS = "Peru Chile Malta Kenya Nepal Japan Yemen Sudan Libya Ghana Gabon Egypt".split()


@pytest.mark.needs(feature="lab")
def test_a_journal_is_its_own_benchmark(run: Run, home: Path) -> None:
    for land in LANDS:
        run(
            "save",
            f"The embassy of {land} asked for a photograph, two forms and a fee.",
            "--title",
            f"A visa, {land}",
        )
    run("delete", run("recent", "--limit", "1", "--json").json["entries"][0]["id"], "--yes")
    first = run("evaluate")
    assert first.code == 0
    assert [line.split()[0] for line in first.out.splitlines()[:3]] == [
        "words",
        "meaning",
        "default",
    ]
    assert all(re.search(r" [01]\.\d\d$", line) for line in first.out.splitlines()[:3])
    assert "Questions: 11, in" in first.out
    told = run("evaluate", "--json").json
    assert (told["questions"], told["notices"]) == (11, [])
    assert 0 < told["mrr"]["default"] <= 1


@pytest.mark.needs(feature="lab")
def test_an_empty_journal_has_nothing_to_evaluate(run: Run, home: Path) -> None:
    assert f"The journal in {home / 'journal'} is empty." in run("evaluate").out
    run("save", "A note about gardening")
    few = run("evaluate")
    assert "Questions: 0, too few to tell anything. Give more entries" in few.err


@pytest.mark.needs(feature="lab")
def test_an_evaluation_of_few_questions_says_how_to_ask_more(run: Run) -> None:
    text = "The mast of the boat was mended by Ada and Bob in the harbour last spring."
    run("save", text, "--title", "Mending masts")
    few = run("evaluate", "--questions", "1")
    assert "Questions: 1, too few to tell anything. Ask for more: `--questions 300`." in few.err


def test_an_empty_answer_leaves_the_numbers_of_the_last_list(filled: Run) -> None:
    newest = filled("recent", "--json").json["entries"][0]
    for empty in (["confirm"], ["find", "--tag", "none"], ["search", "tag:none"], ["pin"]):
        filled(*empty)
        assert filled("get", "1", "--json").json["entries"][0]["id"] == newest["id"], empty


def test_a_rule_that_is_saved_in_a_repository_says_where_it_holds(
    tmp_path: Path, on_terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rule(*args: str) -> str:
        return on_terminal("save", f"Preference: money is integer cents {args}", *args).out

    assert "alone" not in rule()
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "shop")
    assert "alone" not in rule("--project", "shop")
    said = rule("--importance", "5")
    [id] = re.findall(r"in shop alone; in all: synaptic update (\w+) --project ''", said)
    on_terminal("update", id, "--project", "")
    monkeypatch.chdir(tmp_path)
    assert "'--importance', '5'" in on_terminal("brief").out


def test_confirm_says_that_no_preference_waits(run: Run) -> None:
    run("save", "A note about gardening")
    assert run("confirm").err == "No preference waits for your yes.\n"


def test_restore_says_whether_an_entry_or_a_text_came_back(run: Run) -> None:
    id = run("save", "Chose SQLite.", "--json").id[-8:]
    run("update", id, "--append", "One file.")
    assert run("restore", id).out.startswith(f"Undid the last change of {id} in ")
    run("delete", id, "--yes")
    assert run("restore", id).out.startswith(f"Restored {id} in ")
    assert run("restore", id).out.startswith(f"Undid the last change of {id} in ")


@pytest.mark.needs(feature="importing")
def test_the_setup_of_an_empty_home_names_the_next_step(run: Run) -> None:
    assert "Next: synaptic save " in run("init").out
    run("save", "A note about gardening")
    assert "Next: synaptic save " not in run("init").out


@pytest.mark.needs(feature="lab")
@pytest.mark.sweep
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_an_evaluation_that_is_stopped_leaves_no_copy(
    run: Run, home: Path, tmp_path: Path, by: signal.Signals
) -> None:
    for land in LANDS:
        run(
            "save",
            f"The embassy of {land} asked for a photograph, two forms and a fee.",
            "--title",
            f"A visa, {land}",
        )
    temp = tmp_path / "temp"
    temp.mkdir()
    process = subprocess.Popen([*SYNAPTIC, "evaluate"], env=os.environ | {"TMPDIR": str(temp)})
    while not list(temp.rglob("index.db")) and process.poll() is None:
        time.sleep(0.002)
    process.send_signal(by)
    assert process.wait(TIMEOUT_S) == 130
    assert list(temp.iterdir()) == []


# -- help
# ---------------------------------------------------------------------------------------------


@pytest.mark.whole
def test_alone_it_shows_help(home: Path) -> None:
    answer = shell()
    assert answer.code == 0 and answer.out == shell("--help").out
    listed = re.findall(r"^  ([a-z][a-z-]*)  +\w", answer.out, re.MULTILINE)
    assert listed == FIRST.split() and len(listed) == 12
    assert "help --all" in answer.out and "rebuild-index" in answer.out
    everything = shell("help", "--all").out
    assert all(
        re.search(rf"^  {command}\s+\w", everything, re.MULTILINE) for command in COMMANDS
    )
    assert answer.err == ""
    assert not home.exists()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_an_example(run: Run, command: str) -> None:
    answer = run(command, "--help")
    assert answer.code == 0
    assert re.search(
        rf"(Example|Begin with): .*synaptic {command}", " ".join(answer.out.split())
    )


@pytest.mark.whole
def test_help_is_a_command_too_and_shows_the_everyday_first(run: Run) -> None:
    assert run("help").out == run("--help").out == run("help", "help").out
    for words in (["help", "--all"], ["--help", "--all"], ["-h", "--all"], ["--all"]):
        headings = re.findall(r"^(\w[\w ]*):$", run(*words).out, re.MULTILINE)
        assert headings == ["Options", *GROUPS], words
    text = run("help", "search").out
    assert text == run("search", "--help").out and "--tags" not in text
    flags = re.findall(r"^  (--[\w-]+)", text, re.MULTILINE)
    assert flags[:5] == ["--type", "--tag", "--project", "--since", "--until"]
    assert "--json" in flags


def test_the_version_is_shown(home: Path) -> None:
    answer = shell("--version")
    assert answer.code == 0
    assert answer.out.startswith("synaptic")


@pytest.mark.needs(feature="upkeep")
@pytest.mark.needs(feature="importing")
@pytest.mark.needs(feature="vault")
def test_the_shell_completes_commands_types_tags_projects_and_ids(home: Path, run: Run) -> None:
    def complete(line: str) -> list[str]:
        words = line.split(" ")
        return shell(
            _SYNAPTIC_COMPLETE="complete_bash",
            COMP_WORDS=line.replace(" ", "\n"),
            COMP_CWORD=str(len(words) - 1),
        ).out.split()

    names = ["rebuild-index", "recent", "rename", "replay", "restore", "review"]
    assert sorted(complete("synaptic re")) == names  # the shell sorts them, too
    assert complete("synaptic save x --type d") == ["decision"]
    assert complete("synaptic find --type in") == ["insight"]
    assert complete("synaptic find --order o") == ["oldest"]
    shown = [
        "bash",
        "-c",
        '"$@" --show-completion; true',
        "bash",
        *SYNAPTIC,
    ]  # it finds its shell above it
    assert (
        "_SYNAPTIC_COMPLETE"
        in subprocess.run(
            shown, capture_output=True, text=True, timeout=TIMEOUT_S, check=True
        ).stdout
    )
    assert (
        complete("synaptic search x --tag f") == complete("synaptic get ") == []
    )  # there is no journal yet
    ids = [
        run("save", f"Paid {n}", "--tag", "finance", "--project", "Home", "--json").id
        for n in range(60)
    ]
    run("save", "Else", "--tag", "garden", "--json")
    assert complete("synaptic search x --tag f") == ["finance"]
    assert complete("synaptic save x --tag ") == ["finance", "garden"]
    assert complete("synaptic find --project Ho") == ["Home"]
    assert complete(f"synaptic get {ids[3][-8:-3]}") == [ids[3][-8:]]
    assert len(complete("synaptic update ")) == 50
    other = f"synaptic --home {home}/other get "
    assert complete(other) == [] and not (home / "other").exists()
    (home / ".state" / "index.db").write_bytes(b"damaged")
    assert complete("synaptic search x --tag f") == []


def test_home_can_be_named_for_one_call(home: Path, run: Run, tmp_path: Path) -> None:
    other = tmp_path / "other"
    assert run("--home", str(other), "save", "Elsewhere").code == 0
    assert (other / "journal" / "2026-11-21.md").exists()
    assert not home.exists()


# -- other people's notes
# -----------------------------------------------------------------------------

VAULT = {
    "Lord of Light.md": "---\nauthor: '[[Roger Zelazny]]'\nrating: 5\ngenre: [myth, "
    "novel]\nid: 7\ncover: a.png\n---\n"
    "Gods on another world. See [him](people/Roger%20Zelazny.md) and [[2026-11-20]], "
    "[[Nowhere#there|x]].\n\n"
    "```\n[[in code]] - [ ] no task\n- [ ] no task\n```\nAlso `[[in a span]]` and "
    "![[a.png]].\n",
    "people/Roger Zelazny.md": "title:: Roger Joseph Zelazny\nalias:: RZ, [[The "
    "Poet]]\ncollapsed:: true\n\n- Amber.\n",
    "journals/2026_11_20.md": "- TODO Call [[rz]] back\n  DEADLINE: <2026-11-24 Tue>\n- "
    "DONE Read [[lord of light]]\n",
    "pages/Review.md": "- mood:: calm and bright\n- tags:: reading, [[two words]]\n"
    "- read on #[[other words]] [publisher:: Doubleday]\n",
    "2026-11-21.md": "---\nweather: rain\n---\n# 2026-11-21\n\n## 09:00 Second\nBy "
    "now.\n\n## 08:00 First\n"
    "- [ ] Buy milk due:2026-11-20\n* [x] Sleep\n- [ ] \n",
    "2024-11-21.md": "## 10:00 Two years ago\n",
}


@pytest.fixture
def notes(tmp_path: Path, run: Run) -> Path:
    for name, text in VAULT.items():
        path = tmp_path / "vault" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        os.utime(
            path, (1_790_000_000, 1_790_000_000)
        )  # in September: the date of notes without one
    assert run("init", "--journal", str(tmp_path / "vault")).code == 0
    return tmp_path / "vault"


@pytest.mark.needs(feature="importing")
@pytest.mark.parametrize(
    ("command", "found"),
    [
        (("find", "--where", "author=zelazny"), ["Lord of Light"]),
        (("find", "--where", "Author=ROGER ZELAZNY", "--where", "rating=5"), ["Lord of Light"]),
        (("find", "--where", "author=zel"), []),
        (("find", "--where", "rating=4", "--where", "author=zelazny"), []),
        (("find", "--where", "genre=novel"), ["Lord of Light"]),
        (("find", "--where", "mood=bright"), ["Review"]),
        (("find", "--where", "publisher=doubleday"), ["Review"]),
        (("find", "--where", "weather=rain"), ["Second", "First"]),
        (("search", "author:Zelazny"), ["Lord of Light"]),
        (
            ("search", "novel", "--strategy", "lexical"),
            ["Lord of Light"],
        ),  # a word that only its front matter holds
        (("find", "--tag", "two-words"), ["Review"]),
        (("find", "--tag", "other-words"), ["Review"]),
        (("find", "--tag", "reading"), ["Review"]),
        (("find", "--links-to", "RZ"), ["TODO Call [[rz]] back", "Lord of Light"]),
        (
            ("find", "--links-to", "people/roger zelazny.md"),
            ["TODO Call [[rz]] back", "Lord of Light"],
        ),
        (("find", "--links-to", "Nov 20th, 2026"), ["Lord of Light"]),
        (("find", "--links-to", "nowhere"), ["Lord of Light"]),
        (
            ("find", "--has-tasks"),
            ["First", "DONE Read [[lord of light]]", "TODO Call [[rz]] back"],
        ),
        (("day",), ["First", "Second"]),
        (
            ("week", "2026-11-17"),
            ["TODO Call [[rz]] back", "DONE Read [[lord of light]]", "First", "Second"],
        ),
    ],
)
def test_notes_are_found_by_what_they_are_marked_with(
    run: Run, notes: Path, command: tuple[str, ...], found: list[str]
) -> None:
    answer = run(*command, "--json")
    assert answer.code == 0, answer.err
    assert [
        entry["title"] for entry in answer.json.get("entries", answer.json.get("hits"))
    ] == found


@pytest.mark.needs(feature="importing")
def test_the_state_of_an_editor_is_no_field(run: Run, notes: Path) -> None:
    entries = {
        entry["title"]: entry["fields"] for entry in run("find", "--json").json["entries"]
    }
    assert entries["Roger Joseph Zelazny"] == {}
    author = ["[[Roger Zelazny]]"]
    assert entries["Lord of Light"] == {
        "author": author,
        "rating": ["5"],
        "genre": ["myth", "novel"],
        "cover": ["a.png"],
    }


@pytest.mark.needs(feature="importing")
def test_links_both_ways_and_those_that_lead_nowhere(run: Run, notes: Path) -> None:
    found = run("links", "lord of light", "--json").json
    ends = [(link["text"], link["title"], link["line"]) for link in found["links"]]
    assert ends == [
        ("people/Roger Zelazny.md", "Roger Joseph Zelazny", 8),
        ("2026-11-20", "TODO Call [[rz]] back", 8),
        ("Nowhere#there", None, 8),
        ("Roger Zelazny", "Roger Joseph Zelazny", 2),
    ]
    assert [(link["title"], link["line"]) for link in found["backlinks"]] == [
        ("2026-11-20 > DONE Read [[lord of light]]", 3)
    ]
    unwritten = run("links", "--broken", "--json").json["unwritten"]
    assert [(link["text"], link["line"]) for link in unwritten] == [
        ("Nowhere#there", 8),
        ("two words", 2),
    ]
    [shown] = run("get", found["backlinks"][0]["id"], "--json").json["entries"]
    assert [link["text"] for link in shown["links"]] == ["lord of light"]
    assert "Lord of Light" in run("get", shown["id"]).out.splitlines()[-1]


def test_superseding_is_a_link_and_goes_when_the_file_goes(run: Run, home: Path) -> None:
    old = run("save", "The old way.", "--json").id
    new = run("save", "The new way, as in [[Somewhere]].", "--supersedes", old, "--json").id
    assert [link["id"] for link in run("links", old[-8:], "--json").json["backlinks"]] == [new]
    unwritten = run("links", "--broken", "--json").json["unwritten"]
    assert [link["text"] for link in unwritten] == ["Somewhere"]
    (home / "journal" / "Somewhere.md").write_text("Here.\n")
    assert run("links", "--broken").out == "No links.\n"
    today(home).unlink()
    assert run("links", "--broken").out == "No links.\n"
    assert run("find", "--links-to", "Somewhere", "--json").json["total"] == 0


@pytest.mark.needs(feature="importing")
def test_tasks_stand_with_their_line_and_day(run: Run, notes: Path) -> None:
    tasks = [
        (task["text"], task["date"], task["line"], task["due"])
        for task in run("tasks", "--json").json["tasks"]
    ]
    assert tasks == [
        ("Buy milk due:2026-11-20", "2026-11-21", 10, "2026-11-20"),
        ("Call [[rz]] back", "2026-11-20", 1, "2026-11-24"),
    ]
    assert [task["text"] for task in run("tasks", "--done", "--json").json["tasks"]] == [
        "Sleep",
        "Read [[lord of light]]",
    ]
    assert [
        task["text"] for task in run("tasks", "--due", "today", "--json").json["tasks"]
    ] == [tasks[0][0]]
    assert f"{notes}/2026-11-21.md:10" in run("tasks").out
    assert run("tasks", "--due", "whenever").code == 2


@pytest.mark.needs(feature="importing")
def test_a_day_is_read_with_its_years(run: Run, notes: Path, on_terminal: Terminal) -> None:
    piped = run("day").out
    assert (
        piped.startswith("# Saturday, 2026-11-21\n\n## 08:00 First")
        and "- [ ] Buy milk" in piped
    )
    assert piped.splitlines()[-1].startswith("- 2024-11-21 Two years ago")
    assert run("day", "last", "monday").out == (
        "No entries on 2026-11-16. The nearest days with entries: 2024-11-21 and 2026-11-20.\n"
    )
    rendered = on_terminal("day").out
    assert "•" in rendered and "## " not in rendered and "\x1b[" in rendered
    assert "\x1b[" not in on_terminal("day", NO_COLOR="1").out
    assert run("day", "whenever").code == 2
    month = run("day", "2026-11").out
    assert "# Friday, 2026-11-20" in month and "# Saturday, 2026-11-21" in month
    assert run("week", "2026-11").code == run("day", "2026").code == 2
    assert "find --since 2026-01-01 --until 2026-12-31" in run("day", "2026").err


def test_a_rebuild_counts_and_estimates_nothing(run: Run, on_terminal: Terminal) -> None:
    for number in range(3):
        run("save", f"Note {number} of the shed.")
    shown = on_terminal("rebuild-index", "--fresh").out
    assert (
        "reading 1/1" in shown
        and "embedding 3/3" in shown
        and " left" not in shown
        and "/s" not in shown
    )
    run("save", "One more.")
    assert "about" not in run("status").out


@pytest.mark.needs(feature="importing")
def test_what_is_to_be_done_has_one_order_everywhere(run: Run, notes: Path) -> None:
    tasks = {
        "plants": "2026-12-22",
        "rent": "2026-11-20",
        "taxes": "2027-02-01",
        "visa": "2026-12-23",
        "call": "2026-11-27",
    }
    lines = [f"- [ ] {name} due:{day}" for name, day in tasks.items()]
    (notes / "Plans.md").write_text("\n".join([*lines, "- [ ] some day", ""]))
    passport = run("save", "Renew the passport.", "--due", "2026-12-01", "--json").id
    dated = ["Buy", "rent", "Call", "call", "Renew", "plants", "visa", "taxes"]

    def first_words(*command: str) -> list[str]:
        return re.findall(r"^  (?:\[.\] )?(\w+)", run(*command).out, re.MULTILINE)

    assert first_words("tasks") == [*dated[:6], "some"], "31 days"
    assert first_words("tasks", "--due", "2027-02-01") == dated
    assert first_words("tasks", "--due", "2026-12-22") == dated[:6]
    shown = run("tasks").out
    assert re.findall(r"^\w.*", shown, re.MULTILINE) == [
        "Overdue",
        "Next 7 days",
        "Later",
        "No day",
    ]
    assert f"Renew the passport.  due 2026-12-01  {passport[-8:]}\n" in shown
    data = run("tasks", "--json").json
    assert [one["text"] for one in data["entries"]] == ["Renew the passport."]
    assert len(data["tasks"]) == 6
    later = "2 more are due later; `synaptic tasks --due 2027-02-01` shows all."
    assert data["notices"] == [later] and later in run("tasks").err
    due = run("due", "--json").json
    assert [one["title"].split()[0] for one in due["entries"]] == dated[:6]
    assert due["total"] == 8
    more = "2 more are due later; `synaptic due --until 2027-02-01` shows all."
    assert due["notices"] == [more] and more in run("due").err
    everything = run("due", "--until", "2027-02-01", "--json").json
    assert [one["title"].split()[0] for one in everything["entries"]] == dated
    assert everything["notices"] == []


@pytest.mark.needs(feature="importing")
@pytest.mark.needs(feature="page")
def test_an_old_name_of_a_command_works_and_is_listed_nowhere(
    run: Run, notes: Path, home: Path
) -> None:
    for old, new in (("open", "edit"), ("due", "tasks")):
        assert old not in all_commands() and new in all_commands()
        answer = run(old, "--help")
        assert answer.code == 0 and f"Usage: synaptic {old}" in answer.out
    id = run("find", "--has-tasks", "--json").json["entries"][0]["id"]
    assert run("open", id) == run("edit", id), "it says nothing of another name"
    assert run("today", "--page") == run("open", "--page"), "no server runs here"
    assert "synaptic serve --open" in run("today", "--page").err


@pytest.mark.needs(feature="importing")
def test_open_takes_the_number_of_the_last_list(
    run: Run, notes: Path, home: Path, on_terminal: Terminal
) -> None:
    assert run("open", "1").code == 2
    shown = on_terminal("find", "--has-tasks").out
    assert re.search(r"2\. .*lord of light", shown)
    assert f"\x1b]8;;{(notes / '2026-11-21.md').as_uri()}\x1b\\First" in shown
    for command in ("open", "edit"):
        assert run(command, "2").out == f"{notes}/journals/2026_11_20.md:3\n"
    assert "1 to 3" in run("open", "4").err
    assert (home / ".state" / "last-list.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.needs(feature="importing")
def test_a_number_and_a_title_are_names_and_are_asked_about_before_a_change(
    run: Run, notes: Path, on_terminal: Terminal
) -> None:
    (notes / "Garden.md").write_text("Beans and peas.\n")
    for name in ("One", "Two"):
        (notes / f"{name}.md").write_text("---\naliases: [Shed]\n---\nA shed.\n")
    run("find", "beans")
    for name in ("1", "Garden", "garden"):
        assert "Beans and peas." in run("get", name).out
        assert run("open", name).out == f"{notes}/Garden.md:1\n"
    assert run("get", "Nowhere").code == run("get", "Shed").code == 1
    assert "Valid: " in run("get", "Shed").err
    assert "No entry or page has the id, title, alias or path" in run("get", "Nowhere").err
    for words in (("update", "1", "--append", "More."), ("delete", "1", "--yes")):
        assert "numbers work on a terminal only" in run(*words).err
    for name in ("1", "Garden"):  # nobody is there to be asked
        for words in (
            ("update", name, "--append", "More."),
            ("delete", name, "--yes"),
            ("delete", name, "--json"),
        ):
            answer = run(*words)
            assert (
                answer.code in (1, 2)
                and (notes / "Garden.md").read_text() == "Beans and peas.\n"
            )
    refused = on_terminal("update", "Garden", "--append", "More.", keys=b"n\n")
    assert "Beans and peas." in refused.out and "Change it?" in refused.out
    assert (notes / "Garden.md").read_text() == "Beans and peas.\n"
    assert on_terminal("delete", "Garden", "--json", keys=b"y\n").code == 2
    on_terminal("update", "1", "--append", "More.", keys=b"y\n")
    assert (notes / "Garden.md").read_text() == "Beans and peas.\n\nMore.\n"
    id = run("get", "Garden", "--json").json["entries"][0]["id"]
    assert "Change it?" not in on_terminal("update", id[-8:], "--append", "And more.").out
    shown = on_terminal("delete", "Garden", keys=b"y\n").out
    assert "Delete the whole file Garden.md?" in shown and not (notes / "Garden.md").exists()


def test_the_trash_shows_text_and_time(run: Run) -> None:
    text = (
        "The old lamp is broken. <private>zorquil</private> Its cable was cut by the "
        "door.\n\nBought 2019."
    )
    run("delete", run("save", text, "--json").id, "--yes")
    first, *below = run("restore").out.splitlines()
    assert "2026-11-21 10:30  The old lamp is broken" in first and "zorquil" not in first
    assert [line.strip() for line in below] == [
        "Its cable was cut by the door.",
        "Bought 2019.",
    ]
    (gone,) = run("restore", "--json").json["deleted"]
    assert gone["time"] == "10:30" and gone["text"].endswith("Bought 2019.")


def test_restore_without_an_id_lists_what_was_deleted(run: Run) -> None:
    first, second = (
        run("save", text, "--json").json["id"] for text in ("The old lamp", "The new lamp")
    )
    assert run("restore").out.strip() == "Nothing is deleted."
    for id in (first, second):
        run("delete", id, "--yes")
    assert [line.split("  ")[1:3] for line in run("restore").out.splitlines()] == [
        ["2026-11-21 10:30", "The new lamp"],
        ["2026-11-21 10:30", "The old lamp"],
    ]
    run("restore", second)
    assert [one["id"] for one in run("restore", "--json").json["deleted"]] == [first]


# -- what lies ahead, and doubt
# -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "friday", ["friday", "Freitag", "vendredi", "viernes", "venerdì", "sexta-feira", "金曜日"]
)
def test_what_is_due_or_expires_on_a_weekday_is_the_next_one(
    run: Run, monkeypatch: pytest.MonkeyPatch, friday: str
) -> None:
    monkeypatch.setenv("SYNAPTIC_NOW", "2026-11-23T10:00:00")
    tasks = {
        "rent": "2026-11-20",
        "call": "2026-11-27",
        "plants": "2026-12-02",
        "water": "2026-11-23",
    }
    text = "\n".join(["Due:\n", *(f"- [ ] {task} due:{day}" for task, day in tasks.items())])
    run("save", text, "--expires", friday)
    assert run("recent", "--json").json["entries"][0]["expires"] == "2026-11-27"
    due = run("tasks", "--due", friday, "--json").json["tasks"]
    assert [(task["due"], task["overdue"]) for task in due] == [
        ("2026-11-20", True),
        ("2026-11-23", False),
        ("2026-11-27", False),
    ]
    shown = run("tasks", "--due", friday).out.splitlines()
    assert [line.split()[2] for line in shown if "overdue" in line] == ["rent"]
    run("save", "Book the ferry.", "--due", "übermorgen")
    assert run("recent", "--json").json["entries"][0]["due"] == "2026-11-25"
    monday = run("tasks", "--due", "monday", "--json").json["tasks"]
    assert [task["due"] for task in monday] == ["2026-11-20", "2026-11-23"], "today is included"


def test_a_doubt_stands_before_the_hits(filled: Run, on_terminal: Terminal) -> None:
    shown = on_terminal("search", "zzzz qqqq").out
    assert 0 <= shown.index("no close match") < shown.index("1. ")
    assert shown.count("no close match") == 1
    assert "no close match" in filled("search", "zzzz qqqq", "--json").json["notices"][0]


def test_status_and_lists_count_alike(run: Run) -> None:
    """What a later entry replaced is in no count of a type or tag, as in no list."""
    first = run("save", "Oak #deck", "--type", "decision", "--json").json["id"]
    run("save", "Larch #deck", "--type", "decision", "--supersedes", first)
    status = run("status")
    assert "2 in 1 file, 1 of them replaced: no list counts it" in status.out
    shown = {line.split(None, 1)[0]: line.split(None, 1)[1] for line in status.out.splitlines()}
    assert shown["types"] == "decision 1" and shown["tags"] == "deck 1"
    counts = run("find", "--tag", "deck", "--facets", "--json").json
    assert counts["total"] == 1
    assert counts["facets"]["tags"] == run("status", "--json").json["facets"]["tags"]

"""Machines share a journal through a bare repository on the disk: nothing is lost, nothing
secret is sent, and nothing of a person's own work with git is disturbed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from forks import Forks
from hubs import DAY, Machines, day, git, waits
from outside import SYNAPTIC, TIMEOUT_S

from synaptic import open_workspace
from synaptic.config import load_config
from synaptic.serving.worker import SYNC_EVERY_S, Worker
from synaptic.workspace.sync import in_step

TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="paths of POSIX")


@pytest.fixture
def machines(tmp_path: Path, forks: Forks) -> Machines:
    return Machines(tmp_path, forks)


def test_three_homes_with_saves_join_and_come_to_hold_the_same(machines: Machines) -> None:
    homes = list(machines.shared("desk", "laptop", "attic"))
    picture = homes[0].journal / "attachments" / "a b.png"
    picture.parent.mkdir()
    picture.write_bytes(b"\x89PNG\r\n\x1a\n\0")
    (homes[0].journal / "list.txt").write_text("not of the journal")
    for home in homes:
        home.ask("sync")
        assert day(home) == day(homes[0]) and day(home).count("syn:") == 3
        assert (home.journal / "attachments" / "a b.png").read_bytes() == picture.read_bytes()
        assert git(home.journal, "status", "--short").split() in ([], ["??", "list.txt"])
    held = git(machines.hub, "ls-tree", "-r", "--name-only", "-z", "main").split("\0")
    assert held == [".gitattributes", ".gitignore", DAY, "attachments/a b.png", ""]
    homes[1].ask("delete", homes[0].ask("search", "first desk")["hits"][0]["id"], "--yes")
    homes[2].ask("save", "One more.")
    for home in (homes[1], homes[2], homes[0], homes[1]):
        home.ask("sync")
    assert {day(home).count("syn:") for home in homes} == {3}
    assert [home.run("doctor").code for home in homes] == [0, 0, 0]
    assert waits(homes[0]).count(". Nothing waits.") == 1
    assert "on 2026-11-21 at 12:00." in waits(homes[0])  # as SYNAPTIC_NOW says


def test_a_repository_may_be_named_from_the_folder_of_the_command(machines: Machines) -> None:
    (machines.folder / "below").mkdir()
    for name, folder, url in (("desk", "", "./hub.git"), ("laptop", "below", "../hub.git")):
        home = machines.new(name)
        home.folder = machines.folder / folder
        home.ask("save", f"Said on the {name}.")
        home.ask("sync", "--init", url, "--yes")
        assert home.ask("sync")["sent"] == 0
        assert f'url = "{machines.hub}"' in (home.path / "config.toml").read_text()


def test_a_purge_names_the_history_and_the_backup_that_keep_the_text(
    machines: Machines, tmp_path: Path
) -> None:
    desk = machines.new("desk")
    first, second, third = (
        desk.ask("save", f"A password: {word}.", "--at", f"2026-11-21T{hour}:00")["id"]
        for word, hour in (("fir", "09"), ("elm", "10"), ("ash", "11"))
    )
    alone = desk.person("delete", first, "--purge", keys=b"y\r").out
    assert "without a trace?" in alone and "note:" not in alone
    backup = desk.ask("backup", str(tmp_path / "stick"), SYNAPTIC_NOW="2026-11-21T10:30")[
        "file"
    ]
    asked = desk.person("delete", second, "--purge", keys=b"n\r").out
    assert f"Delete it here? The backup {backup} may hold it. [y/N]" in asked
    desk.ask("sync", "--init", str(machines.hub), "--yes")
    [git_only] = desk.ask("delete", third, "--purge", "--yes")["notices"]
    assert str(machines.hub) in git_only and "filter-repo" in git_only
    assert backup not in git_only  # it is older
    both = desk.person("delete", second, "--purge", keys=b"y\r").out
    question, _, after = both.partition("[y/N]")
    assert "without a trace" not in both
    for text in (question, after):
        assert f"at {machines.hub} and on your other machines" in text and backup in text


def test_a_sync_counts_entries_and_files_as_a_person_does(machines: Machines) -> None:
    desk = machines.new("desk")
    desk.ask("save", "Tea is green.")
    begun = desk.run("sync", "--init", str(machines.hub), "--yes").out
    assert begun.startswith("Sent: 1 entry in 1 file. Received: nothing.")
    assert "Nothing waits." in waits(desk)
    desk.ask("save", "Coffee is brown.")
    desk.ask("save", "Milk is white.")
    (desk.journal / "attachments").mkdir()
    (desk.journal / "attachments" / "list.csv").write_text("a,b")
    assert "Waiting: changed files 1." in waits(desk)
    assert desk.run("sync").out == "Sent: 2 entries in 2 files. Received: nothing.\n"
    laptop = machines.new("laptop")
    joined = laptop.run("sync", "--init", str(machines.hub), "--yes").out
    assert joined.startswith("Sent: nothing. Received: 3 entries in 2 files.")
    desk.ask("delete", desk.ask("search", "coffee")["hits"][0]["id"], "--yes")
    (desk.journal / "attachments" / "list.csv").unlink()
    assert desk.run("sync").out == "Sent: 1 entry in 2 files. Received: nothing.\n"
    assert laptop.run("sync").out == "Sent: nothing. Received: 1 entry in 2 files.\n"
    laptop.ask("update", laptop.ask("search", "milk")["hits"][0]["id"], "--add-tags", "dairy")
    assert laptop.run("sync").out == "Sent: 1 entry in 1 file. Received: nothing.\n"
    assert laptop.run("sync").out == "Sent: nothing. Received: nothing.\n"
    desk.run("sync")
    tea = desk.ask("search", "tea")["hits"][0]["id"]
    desk.ask("update", tea, "--at", "2026-01-02 09:00")
    assert desk.run("sync").out.startswith("Sent: 1 entry in 2 files.")


def test_what_a_person_staged_stays_staged(machines: Machines) -> None:
    [home] = machines.shared("desk")
    (home.journal / "todo.txt").write_text("mine\n")
    git(home.journal, "add", "todo.txt")
    (home.journal / "own").mkdir()
    (home.journal / "own" / "diary.md").write_text("# Mine alone\n")
    with (home.journal / ".gitignore").open("a") as file:
        file.write("own/\n")
    home.ask("save", "A second one.", "--title", "Of <private>my doctor</private> today")
    home.ask("sync")
    assert git(home.journal, "diff", "--cached", "--name-only").split() == ["todo.txt"]
    sent = git(machines.hub, "ls-tree", "-r", "--name-only", "main")
    assert "todo.txt" not in sent and "diary" not in sent
    message = git(machines.hub, "log", "-1", "--format=%B", "main")
    assert "Of" in message and "doctor" not in message


def test_offline_is_a_notice_and_all_goes_out_later(machines: Machines) -> None:
    desk, laptop = machines.shared("desk", "laptop")
    machines.hub.rename(machines.folder / "away")
    desk.ask("save", "Said on a train.")
    done = desk.ask("sync")
    assert done["sent"] is None and "Nothing was sent to" in done["notices"][0]
    assert "Waiting: commits 1" in waits(desk) and "Nothing was sent to" in waits(desk)
    (machines.folder / "away").rename(machines.hub)
    assert desk.ask("sync")["sent"] == 1
    assert laptop.ask("sync")["received"] == 1 and "Said on a train." in day(laptop)


def test_a_push_that_comes_second_is_tried_again(machines: Machines) -> None:
    desk, laptop = machines.shared("desk", "laptop")
    for home in (desk, laptop):
        home.ask("save", f"At once on {home.path.name}.")
    environ = desk.environment(SYNAPTIC_FAULT="sync-fetched:stop")
    slow = subprocess.Popen([SYNAPTIC, "sync"], env=environ)
    stops = 0
    while os.WIFSTOPPED(os.waitpid(slow.pid, os.WUNTRACED)[1]):
        stops += 1
        if stops == 1:
            laptop.ask("sync")
        os.kill(slow.pid, signal.SIGCONT)
    assert stops == 2
    laptop.ask("sync")
    assert day(desk) == day(laptop) and day(desk).count("At once") == 2


def test_two_changes_of_one_entry_keep_both_texts(machines: Machines) -> None:
    desk, laptop = machines.shared("desk", "laptop")
    desk.ask("sync")
    entry = desk.ask("search", "first desk")["hits"][0]["id"]
    desk.ask("update", entry, "--content", "As the desk has it.")
    laptop.ask("update", entry, "--content", "As the laptop has it.")
    desk.ask("sync")
    assert laptop.ask("sync")["conflicts"] == [DAY]
    for home in (desk, laptop):  # an unfinished merge stays within its entry
        home.ask("save", f"Later on {home.path.name}.")
        home.ask("sync")
    desk.ask("sync")
    assert day(desk) == day(laptop)
    for text in ("the desk has", "the laptop has", "<<<<<<<", "Later on desk", "Later on lap"):
        assert day(desk).count(text) == 1
    assert "conflict-marker" in {issue["code"] for issue in desk.ask("status")["issues"]}


def test_a_secret_in_an_unpushed_commit_is_not_sent(machines: Machines) -> None:
    [home] = machines.shared("desk")
    before = git(machines.hub, "rev-parse", "main")
    note = home.journal / "note.md"
    for text in (f"# Note\n\nThe token {TOKEN} works.\n", "# Note\n"):
        note.write_text(text)
        git(home.journal, "add", "note.md")
        git(home.journal, "commit", "-qm", "By hand")
    bad = git(home.journal, "rev-parse", "--short=8", "HEAD~1").strip()
    home.ask("save", "Saves go on.")
    refused = home.run("sync", "--json")
    error = refused.json["error"]
    assert refused.code == 1 and TOKEN not in refused.text
    assert f"GitHub token in note.md:3 (commit {bad}, " in error["message"]
    assert git(machines.hub, "rev-parse", "main") == before
    assert "note.md:3" in waits(home)
    id = error["message"].rpartition(" ")[2].strip(").")
    undo = error["hint"].split("`")[1].split()
    assert undo[:2] == ["git", "-C"]
    git(home.journal, *undo[3:])
    assert home.ask("sync")["sent"] == 2
    sent = git(machines.hub, "log", "-p", "main")
    assert "Saves go on." in sent and TOKEN not in sent and id not in sent


def test_a_secret_in_a_file_waits_until_it_is_gone_or_allowed(machines: Machines) -> None:
    [home] = machines.shared("desk")
    note = home.journal / f"{TOKEN}.md"
    note.write_text("# A token is its name\n")
    (home.journal / "b.md").write_text(f"<private>{TOKEN}</private>\n")
    head = git(home.journal, "rev-parse", "HEAD")
    picture = home.journal / "attachments" / TOKEN / "a.png"
    picture.parent.mkdir(parents=True)
    picture.write_bytes(b"\x89PNG")
    for file in (note, picture):
        refused = home.run("sync", "--json")
        assert "GitHub token in the name of " in refused.json["error"]["message"]
        assert "not committed yet" in refused.text and TOKEN not in refused.text + waits(home)
        assert TOKEN not in (home.state / "sync.json").read_text()
        assert git(home.journal, "rev-parse", "HEAD") == head
        file.unlink()
    error = home.run("sync", "--json").json["error"]["message"]
    assert "b.md:1" in error and TOKEN not in error
    assert home.run("sync", "--allow", "0123456789").code == 1
    id = error.rpartition(" ")[2].strip(").")
    assert home.ask("sync", "--allow", id)["sent"] == 1
    (home.journal / "b.md").write_text(f"<private>{TOKEN}</private>\n\nMore.\n")
    assert home.ask("sync")["sent"] == 1


def test_nothing_is_touched_while_git_is_busy_or_elsewhere(machines: Machines) -> None:
    [home] = machines.shared("desk")
    home.ask("save", "Not yet sent.")
    head = git(home.journal, "rev-parse", "HEAD").strip()
    (home.journal / ".git" / "MERGE_HEAD").write_text(head)
    assert "under way" in home.run("sync").err
    (home.journal / ".git" / "MERGE_HEAD").unlink()
    git(home.journal, "checkout", "-q", "--detach")
    assert "detached" in home.run("sync").err
    git(home.journal, "switch", "-q", "-c", "other")
    assert "switch main" in home.run("sync").err
    git(home.journal, "switch", "-q", "main")
    (home.journal / ".gitattributes").write_text("*.md filter=lfs\n")
    assert f"{DAY} through the filter lfs" in home.run("sync").err
    assert git(home.journal, "rev-parse", "main").strip() == head


def test_only_a_journal_is_joined(machines: Machines, tmp_path: Path) -> None:
    home = machines.new("desk")
    home.ask("save", "Alone.")
    code = tmp_path / "code"
    git(tmp_path, "init", "-q", "-b", "main", str(code))
    (code / "main.py").write_text("print()\n")
    (code / "README.md").write_text("# A program\n")
    git(code, "add", ".")
    git(code, "commit", "-qm", "Code")
    assert "does not hold a journal" in home.run("sync", "--init", str(code), "--yes").err
    assert not (home.journal / ".git").exists()
    addresses = (
        "ext::sh -c id",
        "http://x.org/a",
        "https://a:" + "b@x.org/a",
        "--upload-pack=id",
        "",
    )
    for address in addresses:
        assert home.run("sync", "--init", address, "--yes").code == 2, address
    assert "reached" in home.run("sync", "--init", str(tmp_path / "none"), "--yes").err
    assert "--yes" in home.run("sync", "--init", str(machines.hub)).err
    assert "not shared" in home.run("sync").err
    within = machines.new("within")
    within.env["SYNAPTIC_JOURNAL"] = str(code / "notes")
    (code / "notes").mkdir()
    refused = within.run("sync", "--init", str(machines.hub), "--yes").err
    assert "inside of the git repository" in refused and "git-setup" in refused
    assert git(machines.hub, "for-each-ref") == ""


def test_a_killed_sync_loses_nothing(machines: Machines) -> None:
    desk, laptop = machines.shared("desk", "laptop")
    desk.ask("sync")
    steps = ("sync-applied", "sync-moved")
    gone = [desk.ask("save", f"Soon gone: {step}.")["id"] for step in steps]
    desk.ask("sync")
    laptop.ask("sync")
    for id, step in zip(gone, steps, strict=True):
        desk.ask("delete", id, "--yes")
        desk.ask("save", f"Of the desk: {step}.", SYNAPTIC_NOW="2026-11-22T12:00")
        desk.ask("sync")
        laptop.ask("save", f"Of the laptop: {step}.")
        assert laptop.run("sync", SYNAPTIC_FAULT=step).code == -signal.SIGKILL
        laptop.ask("save", f"After the kill: {step}.")
        for home in (laptop, desk):
            home.ask("sync")
        assert day(desk) == day(laptop) and id not in day(desk)
        assert f"Of the laptop: {step}." in day(desk)
        assert f"After the kill: {step}." in day(desk)
        assert f"Of the desk: {step}." in (laptop.journal / "2026-11-22.md").read_text()
        assert git(laptop.journal, "status", "--short") == ""


def test_what_is_deleted_after_a_kill_stays_deleted(machines: Machines) -> None:
    desk, laptop = machines.shared("desk", "laptop")
    desk.ask("sync")
    for step in ("replaced", "sync-applied"):
        id = desk.ask("save", f"Soon gone: {step}.")["id"]
        desk.ask("sync")
        assert laptop.run("sync", SYNAPTIC_FAULT=step).code == -signal.SIGKILL
        laptop.ask("delete", id, "--yes")
        for home in (laptop, desk):
            home.ask("sync")
            assert id not in day(home)


def test_a_hand_edit_after_a_kill_is_no_second_edit(machines: Machines) -> None:
    desk, laptop = machines.shared("desk", "laptop")
    desk.ask("sync")
    id = desk.ask("save", "From the desk.")["id"]
    desk.ask("sync")
    gone = laptop.ask("search", "first laptop")["hits"][0]["id"]
    assert laptop.run("sync", SYNAPTIC_FAULT="replaced").code == -signal.SIGKILL
    note = laptop.journal / DAY
    kept = [part for part in note.read_text().split("\n## ") if gone not in part]
    note.write_text("\n## ".join([*kept, "13:00 Typed\n\nBy hand.\n"]))
    laptop.ask("update", id, "--content", "As the laptop has it.")
    for home in (laptop, desk):
        assert home.ask("sync")["conflicts"] == []
        assert day(home).count(id) == 1 and gone not in day(home)
        assert "As the laptop has it." in day(home) and "From the desk." not in day(home)


def test_what_a_remote_must_not_hold_changes_no_file_outside(machines: Machines) -> None:
    [home] = machines.shared("desk")
    config = (home.path / "config.toml").read_bytes()
    work = machines.folder / "work"
    git(machines.folder, "clone", "-q", str(machines.hub), str(work))
    (work / "@sessions").mkdir()
    (work / "@sessions" / "a.md").write_text("# A session\n")
    (work / "link.md").symlink_to("/etc/passwd")
    (work / "more").symlink_to("..")
    (work / "fine.md").write_text("# Fine\n")
    git(work, "add", ".")
    git(work, "commit", "-qm", "More")
    git(work, "push", "-q")
    notices = home.ask("sync")["notices"]
    assert len(notices) == 2 and all("Not received: " in notice for notice in notices)
    assert (home.journal / "fine.md").exists() and not (home.journal / "link.md").is_symlink()
    assert not (home.path / "sessions" / "a.md").exists()
    assert (home.path / "config.toml").read_bytes() == config
    assert home.ask("sync")["sent"] == 0
    (work / ".gitattributes").write_text("secret/** filter=git-crypt\n")
    git(work, "commit", "-qam", "Encrypt")
    git(work, "push", "-q")
    home.ask("save", "Not in the open.")
    assert ".gitattributes names a filter" in home.run("sync").err
    assert "Not in the open." not in git(machines.hub, "show", f"main:{DAY}")


def test_it_syncs_by_itself_once_a_person_said_so(machines: Machines) -> None:
    desk, laptop = machines.shared("desk", "laptop")
    refused = desk.run("sync", "--auto")
    assert refused.code == 1 and "Only a person" in refused.err
    call = {"args": ["synaptic", "sync", "--auto"], "env": desk.environment()}
    assert machines.forks.at_terminal(call, b"y\n").code == 0
    laptop.ask("save", "For whoever starts next.")
    laptop.ask("sync")
    assert desk.run("hook", "session-start", stdin="{}").code == 0
    with desk.server() as server:
        server.call("save", content="Saved by an agent.")
        until = time.monotonic() + TIMEOUT_S
        while "Saved by an agent." not in git(machines.hub, "show", f"main:{DAY}"):
            assert time.monotonic() < until
            time.sleep(0.1)
    assert "For whoever starts next." in day(desk)


def test_a_hand_edit_that_was_seen_is_synced_like_a_save(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The part of the server that syncs is asked at chosen times, in seconds."""
    [home] = machines.shared("desk")
    monkeypatch.setenv("HOME", str(machines.folder))
    worker = Worker(home.path)
    with open_workspace(load_config(home.path)) as ws:
        until = time.monotonic() + TIMEOUT_S

        def is_sent(text: str) -> bool:
            assert time.monotonic() < until
            time.sleep(0.1)
            in_step(ws, lambda report: None)
            return text in git(machines.hub, "show", f"main:{DAY}")

        home.ask("save", "Saved by an agent.")
        assert worker._start_sync(ws, 0) == SYNC_EVERY_S
        while not is_sent("Saved by an agent."):
            pass
        assert worker._start_sync(ws, 10) == SYNC_EVERY_S
        with (home.journal / DAY).open("a") as file:
            file.write("\n## 13:00 Typed\n\nBy hand.\n")
        while worker._start_sync(ws, 20) != 40:
            assert not is_sent("By hand.")
        assert worker._start_sync(ws, 60) == SYNC_EVERY_S
        while not is_sent("By hand."):
            pass
        assert worker._start_sync(ws, 70) == SYNC_EVERY_S

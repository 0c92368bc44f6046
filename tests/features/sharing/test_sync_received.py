"""A sync receives notes and attachments alone. What it cannot receive is named, holds up nothing,
stays in each commit as it is, and is never sent as deleted.
"""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import forks
import pytest
from forks import ForkedHome, Forks
from hubs import DAY, FILE, Machines, day, git, waits
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from outside import SYNAPTIC
from trials import drawn, examples

from synaptic import open_workspace, save
from synaptic.config import load_config
from synaptic.features.sharing.syncing import init_sync, sync
from synaptic.features.sharing.syncing.shares import SETUP, Shares
from synaptic.journal.folder import Roots

RUN = "100755"
LINK = "120000"
REPOSITORY = "160000"
LIMIT = 50_000_000
FOREIGN = (
    ".claude/settings.json",
    ".envrc",
    ".obsidian/plugins/a/main.js",
    ".vscode/tasks.json",
    ".Obsidian/a.md",
    "\u200c.obsidian/a.md",
    ".state/a.md",
    ".gitmodules",
    "config.toml",
    "run.sh",
    "sub/.gitignore",
    "tokens.toml",
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="paths of POSIX")


@pytest.fixture
def machines(tmp_path: Path, forks: Forks) -> Machines:
    return Machines(tmp_path, forks)


def files(home: ForkedHome) -> set[str]:
    """The paths in the journal, but for git's own."""
    root = home.journal
    paths = (path.relative_to(root) for path in root.rglob("*") if not path.is_dir())
    return {str(path) for path in paths if path.parts[0] != ".git"}


def test_only_notes_and_attachments_are_received(machines: Machines) -> None:
    [home] = machines.shared("desk")
    before = files(home)
    odd = dict.fromkeys(FOREIGN, (RUN, b"#!/bin/sh\n"))
    odd |= {".gitignore": (FILE, b"*.md\n"), ".gitattributes": (FILE, b"*.md ident\n")}
    fine = {"a/note.md": (RUN, b"# One\n"), "attachments/run.sh": (RUN, b"#!/bin/sh\n")}
    machines.add(odd | fine)
    there = machines.tree()
    [notice] = home.ask("sync")["notices"]
    assert "neither notes nor attachments" in notice and "and 9 more" in notice
    assert files(home) == before | fine.keys()
    for path in fine:
        assert not (home.journal / path).stat().st_mode & 0o111
    assert git(home.journal, "status", "--short", "-z").split("\0")[:-1] == [
        f" M {path}"
        for path in fine  # git sees the mode
    ]
    home.ask("save", "Goes on.")
    assert home.ask("sync")["notices"] == []
    left = {path: line for path, line in machines.tree().items() if path != DAY}
    assert left == {path: line for path, line in there.items() if path != DAY}
    assert "Goes on." in git(machines.hub, "show", f"main:{DAY}")


ODD = {
    "a\\b.md": (FILE, b"# Odd\n"),
    "new\nline.md": (FILE, b"# Odd\n"),
    "latin\udce9.md": (FILE, b"# Odd\n"),
    f"{'long' * 64}.md": (FILE, b"# Odd\n"),
    f"{'deep/' * 900}a.md": (FILE, b"# Odd\n"),
    "link.md": (LINK, b"/etc/passwd"),
    "other.md": (REPOSITORY, b"1" * 40),
    **dict.fromkeys(drawn("too big", ("big.md", "big.png")), (FILE, b"\n" * (LIMIT + 1))),
}


@pytest.mark.slow
@pytest.mark.sweep
def test_an_odd_file_stays_for_those_who_can_receive_it(machines: Machines) -> None:
    """A clone by git adds odd files; one machine cannot receive them, another clone can."""
    [home] = machines.shared("desk")
    machines.add({**ODD, "fine.md": (FILE, b"# Fine\n")})
    there = machines.tree()
    for count in range(2):
        notices = " ".join(home.ask("sync")["notices"])
        if count:
            [again] = home.ask("sync")["notices"]
            assert (
                again == notices
                and f"{len(ODD)} files were left out: `synaptic doctor`" in again
            )
        notices = waits(home)
        for word in (
            "a\\b.md",
            "new\\nline.md",
            "latin\\xe9.md",
            "longlong",
            "link.md",
            "big.",
        ):
            assert word in notices
        assert "too long" in notices and "larger than 50 MB" in notices
        assert "\\\\" not in notices and "\n" not in notices
        home.ask("save", f"Goes on {count}.")
    assert (home.journal / "fine.md").exists()
    assert files(home) == {".gitattributes", ".gitignore", DAY, "fine.md"}
    assert "a\\b.md" in waits(home) and "did not work" not in waits(home)
    home.ask("sync")
    git(home.journal, "add", "-A")
    git(home.journal, "commit", "-q", "--allow-empty", "-am", "By hand")
    home.ask("sync")
    assert {path: machines.tree()[path] for path in ODD} == {path: there[path] for path in ODD}
    other = machines.clone("other", "a\\b.md", DAY)
    assert (other / "a\\b.md").exists() and "Goes on 1." in (other / DAY).read_text()
    machines.add(dict.fromkeys(ODD))
    assert home.ask("sync")["notices"] == []
    home.ask("save", "The last.")
    assert home.ask("sync")["notices"] == []
    assert machines.tree().keys() == {".gitattributes", ".gitignore", DAY, "fine.md"}
    assert not git(home.journal, "for-each-ref", "refs/synaptic/held")


@pytest.mark.sweep
@pytest.mark.parametrize(("theirs", "ours"), [("a.md", "a.md/b.md"), ("a.md/b.md", "a.md")])
def test_a_file_stands_where_another_machine_has_a_folder(
    machines: Machines, theirs: str, ours: str
) -> None:
    """Three machines: one has the file, one cannot receive it, one can."""
    sender, stuck, third = machines.shared("sender", "stuck", "third")
    for home, path in ((sender, theirs), (stuck, ours)):
        (home.journal / path).parent.mkdir(exist_ok=True)
        (home.journal / path).write_text(f"# Of {home.path.name}\n")
    sender.ask("sync")
    entry = machines.tree()[theirs]
    for count in range(2):
        stuck.ask("save", f"Of stuck {count}.")
        notices = " ".join(stuck.ask("sync")["notices"])
        assert "2 files were left out" in notices if count else f"Not sent: {ours}" in notices
        waiting = waits(stuck)
        assert f"Not received: {theirs}" in waiting and f"Not sent: {ours}" in waiting
        third.ask("sync")
        assert f"Of stuck {count}." in day(third)
        assert (third.journal / theirs).read_text() == "# Of sender\n"
        assert machines.tree()[theirs] == entry
        assert (stuck.journal / ours).read_text() == "# Of stuck\n"
    (sender.journal / theirs).unlink()
    if "/" in theirs:
        (sender.journal / theirs).parent.rmdir()
    for home in (sender, stuck, third, sender):
        assert home.ask("sync")["notices"] == []
    for home in (sender, stuck, third):
        assert (home.journal / ours).read_text() == "# Of stuck\n"
        assert not (home.journal / theirs).is_file()


@pytest.mark.slow
def test_a_large_file_that_a_person_committed_is_sent_and_holds_up_nobody(
    machines: Machines,
) -> None:
    desk, attic = machines.shared("desk", "attic")
    for name in ("big.md", "big.dat"):
        with (desk.journal / name).open("wb") as file:
            file.truncate(LIMIT + 1)
    assert "Not sent: big.md (larger than 50 MB)" in desk.ask("sync")["notices"][0]
    git(desk.journal, "add", "big.md", "big.dat")
    git(desk.journal, "commit", "-qm", "By hand")
    desk.ask("save", "Goes out.")
    assert desk.ask("sync")["sent"] == 3
    [notice, other] = attic.ask("sync")["notices"]
    assert "big.dat" in notice and "big.md" in other and "Goes out." in day(attic)
    assert attic.ask("sync")["sent"] == 0 and {"big.md", "big.dat"} < machines.tree().keys()


@pytest.mark.slow
def test_a_file_that_becomes_a_folder_and_back_does_so_everywhere(machines: Machines) -> None:
    desk, attic = machines.shared("desk", "attic")
    place = desk.journal / "a.md"
    place.write_text("# A file\n")
    desk.ask("sync")
    attic.ask("sync")
    place.unlink()
    place.mkdir()
    (place / "b.md").write_text("# Below\n")
    for home in (desk, attic):
        assert home.ask("sync")["notices"] == []
    assert (attic.journal / "a.md" / "b.md").read_text() == "# Below\n"
    (place / "b.md").unlink()
    place.rmdir()
    place.write_text("# A file again\n")
    for home in (desk, attic):
        assert home.ask("sync")["notices"] == []
    assert (attic.journal / "a.md").read_text() == "# A file again\n"


@pytest.mark.slow
def test_a_link_in_the_place_of_a_note_stays_for_the_others(machines: Machines) -> None:
    """Also where the note was edited or deleted here."""
    desk, attic = machines.shared("desk", "attic")
    for name in ("edited.md", "deleted.md", "both.md"):
        (desk.journal / name).write_text("# Note\n")
    for home in (desk, attic):
        home.ask("sync")
    (attic.journal / "both.md").write_text("# Edited before\n")
    links = dict.fromkeys(("edited.md", "deleted.md", "both.md"), (LINK, b"/etc/passwd"))
    machines.add(links)
    there = machines.tree()
    attic.ask("sync")
    (attic.journal / "edited.md").write_text("# Edited after\n")
    (attic.journal / "deleted.md").unlink()
    for _ in range(2):
        attic.ask("save", "Goes on.", "--force")
        attic.ask("sync")
        notices = waits(attic)
        assert "Not sent: edited.md" in notices and "Not received: both.md" in notices
    assert {path: machines.tree()[path] for path in links} == {
        path: there[path] for path in links
    }
    assert (attic.journal / "edited.md").read_text() == "# Edited after\n"
    assert (attic.journal / "both.md").read_text() == "# Edited before\n"
    machines.add(dict.fromkeys(links))
    for home in (attic, desk):
        assert home.ask("sync")["notices"] == []


def test_it_comes_once_the_obstacle_is_gone(machines: Machines) -> None:
    desk, attic = machines.shared("desk", "attic")
    place = attic.journal / "plans.md"
    place.mkdir()
    (place / "keep.txt").write_text("mine\n")
    (desk.journal / "plans.md").write_text("# Plans\n")
    desk.ask("sync")
    assert "Rename the folder" in attic.ask("sync")["notices"][0]
    assert "S plans.md\n" in git(
        attic.journal, "ls-files", "-t"
    )  # no commit by hand removes it
    (desk.journal / "plans.md").write_text("# Plans\n\nMore.\n")
    desk.ask("sync")
    again = "As in the last sync, 1 file was left out: `synaptic status` says which."
    assert attic.ask("sync")["notices"] == [again] and "plans.md" in waits(attic)
    place.rename(attic.journal / "plans")
    assert attic.ask("sync")["notices"] == []
    assert place.read_text() == "# Plans\n\nMore.\n"
    assert "H plans.md\n" in git(attic.journal, "ls-files", "-t")
    place.unlink()
    attic.ask("sync")
    desk.ask("sync")
    assert not (desk.journal / "plans.md").exists()


def test_a_note_that_is_left_out_and_written_here_is_merged(machines: Machines) -> None:
    """Both texts of one name stay, though the other one came only after the obstacle left."""
    desk, attic = machines.shared("desk", "attic")
    place = attic.journal / "plans.md"
    place.mkdir()
    (place / "keep.txt").write_text("mine\n")
    (desk.journal / "plans.md").write_text("# Plans\n\nOf the desk.\n")
    desk.ask("sync")
    attic.ask("sync")
    place.rename(attic.journal / "plans")
    place.write_text("# Plans\n\nOf the attic.\n")
    for home in (attic, desk, attic):
        home.ask("sync")
    text = place.read_text()
    assert "Of the desk." in text and "Of the attic." in text
    assert text == (desk.journal / "plans.md").read_text()


@pytest.mark.slow
def test_an_editor_that_writes_on_holds_up_its_own_file_alone(machines: Machines) -> None:
    desk, attic = machines.shared("desk", "attic")
    note, other = (attic.journal / name for name in ("a.md", "b.md"))
    for name in ("a.md", "b.md"):
        (desk.journal / name).write_text("# Begin\n\n## One\n\nText.\n")
    for home in (desk, attic):
        home.ask("sync")
    for name in ("a.md", "b.md"):
        (desk.journal / name).write_text("# Begin, of the desk\n\n## One\n\nText.\n")
    desk.ask("sync")
    attic.ask("save", "Of the attic.")
    env = attic.environment(SYNAPTIC_FAULT="replace-written:stop")
    with subprocess.Popen([SYNAPTIC, "sync", "--json"], env=env, stdout=subprocess.PIPE) as it:
        typed = 0
        while os.WIFSTOPPED(os.waitpid(it.pid, os.WUNTRACED)[1]):
            if "of the desk" not in note.read_text():
                typed += 1
                note.write_text(f"# Begin\n\n## One\n\nText.\n\n## Typed\n\n{typed}\n")
            os.kill(it.pid, signal.SIGCONT)
        assert it.stdout
        output = it.stdout.read().decode()
    assert typed > 5 and "wrote to it during the sync" in output and "b.md" not in output
    assert "of the desk" in other.read_text() and f"\n{typed}\n" in note.read_text()
    desk.ask("sync")
    assert "Of the attic." in day(desk)
    assert "of the desk" in (desk.journal / "a.md").read_text()
    for home in (attic, desk, attic):
        assert home.ask("sync")["notices"] == []
    for home in (desk, attic):
        text = (home.journal / "a.md").read_text()
        assert "of the desk" in text and f"\n{typed}\n" in text and "<<<" not in text


STEPS = ("sync-made", "sync-fetched", "sync-merged", "created", "linked", "replaced")
STEPS += ("sync-applied", "sync-held", "sync-moved", "sync-pushed")


@pytest.mark.sweep
def test_a_kill_at_any_step_loses_and_deletes_nothing(machines: Machines) -> None:
    """While one file cannot be received, and others are added, changed and deleted."""
    desk, attic, third = machines.shared("desk", "attic", "third")
    (attic.journal / "stuck.md").mkdir()
    mine = attic.journal / "stuck.md" / "mine.md"
    mine.write_text("# Mine\n")
    (desk.journal / "stuck.md").write_text("# Stuck\n")
    both = [home.journal / "both.md" for home in (desk, attic)]
    both[0].write_text("# Both\n\nMiddle.\n")
    for home in (desk, attic):
        home.ask("sync")
    for count, step in enumerate(drawn("steps of a sync", STEPS, 2)):
        (desk.journal / f"note {count}.md").write_text("# New\n")
        (desk.journal / f"note {count - 1}.md").unlink(missing_ok=True)
        both[0].write_text(both[0].read_text().replace("Both", f"Both, {step}"))
        both[1].write_text(f"{both[1].read_text()}\nOf the attic: {step}.\n")
        desk.ask("sync")
        assert attic.run("sync", SYNAPTIC_FAULT=step).code == -signal.SIGKILL, step
        if count % 2:
            both[1].write_text(f"{both[1].read_text()}\nAfter the kill: {step}.\n")
        for home in (attic, desk):
            home.ask("sync")
            notes = {path for path in files(home) if path.startswith("note")}
            assert notes == {f"note {count}.md"}, step
        text = both[0].read_text()
        assert text == both[1].read_text() and text.count(f"Of the attic: {step}.") == 1
        assert text.count("After") == (count + 1) // 2 and text.count(f", {step}") == 1
        assert "stuck.md" in machines.tree() and mine.exists()
        assert git(attic.journal, "status", "--short") == ""
    third.ask("sync")
    assert (third.journal / "stuck.md").is_file()
    assert (third.journal / "both.md").read_text() == text and "<<<" not in text


def test_a_full_disk_ends_a_sync_that_the_next_one_finishes(machines: Machines) -> None:
    desk, attic = machines.shared("desk", "attic")
    for name in ("full/a.md", "b.md"):
        (desk.journal / name).parent.mkdir(exist_ok=True)
        (desk.journal / name).write_text("# Text\n" * 4000)
    desk.ask("sync")
    (attic.journal / "full").mkdir()
    mount = f"mount -t tmpfs -o size=4k none '{attic.journal}/full'"
    if subprocess.run(["unshare", "-rm", "sh", "-c", mount], capture_output=True).returncode:
        pytest.skip("no disk of its own can be mounted here")
    words = ["unshare", "-rm", "sh", "-c", f"{mount} && exec {SYNAPTIC} sync"]
    done = subprocess.run(words, env=attic.environment(), capture_output=True, text=True)
    assert done.returncode == 1 and "the disk is full" in done.stderr
    assert "full/a.md" in done.stderr and "disk is full" in waits(attic)
    (desk.journal / "attachments").mkdir()
    (desk.journal / "attachments" / "noise").write_bytes(os.urandom(500_000))
    desk.ask("sync")
    packs = attic.journal / ".git" / "objects" / "pack"
    copy = f"cp -a '{packs}' '{machines.folder}/packs'"
    mount = f"{copy} && mount -t tmpfs -o size=128k none '{packs}'"
    mount += f" && cp -a '{machines.folder}/packs/.' '{packs}'"
    words[-1] = f"{mount} && exec {SYNAPTIC} sync"
    done = subprocess.run(words, env=attic.environment(), capture_output=True, text=True)
    assert done.returncode == 0 and "Nothing was sent" in done.stderr
    assert "the disk is full. Free some space" in done.stderr
    attic.ask("save", "Goes on.")
    assert attic.ask("sync")["notices"] == []
    assert (attic.journal / "attachments" / "noise").exists()
    assert (attic.journal / "full" / "a.md").exists() and (attic.journal / "b.md").exists()
    assert {"full/a.md", "b.md"} < machines.tree().keys()


def test_notes_that_git_ignores_are_named(machines: Machines) -> None:
    desk, attic = machines.shared("desk", "attic")
    (desk.journal / ".gitignore").write_text("own/\n*.md\n")
    (desk.journal / "own").mkdir()
    (desk.journal / "own" / "a.md").write_text("# Mine\n")
    desk.ask("save", "Goes out: its file is shared already.")
    [notice] = desk.ask("sync")["notices"]
    assert "1 note stays here: own/a.md (ignored by git)" in notice
    assert notice in waits(desk)
    (attic.journal / "own").mkdir()
    (attic.journal / "own" / "a.md").write_text("# Of the attic\n")
    attic.ask("sync")
    notices = desk.ask("sync")["notices"]
    assert "Not received: own/a.md (ignored by git)" in notices[0]
    assert (desk.journal / "own" / "a.md").read_text() == "# Mine\n"
    desk.ask("sync")
    attic.ask("sync")
    assert (attic.journal / "own" / "a.md").read_text() == "# Of the attic\n"
    assert "Goes out" in day(attic) and "own/" not in (attic.journal / ".gitignore").read_text()


def test_a_note_that_cannot_be_read_is_not_deleted(machines: Machines) -> None:
    desk, attic = machines.shared("desk", "attic")
    folder = desk.journal / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# Text\n")
    desk.ask("sync")
    attic.ask("sync")
    (desk.journal / "notes").rename(desk.journal / "away")
    (desk.journal / "notes").symlink_to("notes")  # a loop: nobody knows what lies behind
    (desk.journal / "away").rename(machines.folder / "away")
    desk.ask("sync")
    attic.ask("sync")
    assert (attic.journal / "notes" / "a.md").exists()


NAMES = "a b.md B.md c\\d.md .git.md .x e\x7f.md \u202ef.md g\udcff.md h.png run.sh con.md"


def hostile(machines: Machines, name: str) -> None:
    """Pushes a tree that git's check refuses."""
    work = machines.clone("hostile")

    def tree(*lines: str) -> str:
        given = "".join(f"{line}\n" for line in lines).encode()
        made = subprocess.run(["git", "mktree"], cwd=work, input=given, capture_output=True)
        return made.stdout.decode().strip()

    id = git(work, "rev-parse", f"HEAD:{DAY}").strip()
    inner = tree(f"100644 blob {id}\ta.md")
    bad = tree(f"040000 tree {inner}\t{name}", f"100644 blob {id}\tb.md")
    top = tree(f"040000 tree {bad}\tdeep", f"100644 blob {id}\t{DAY}")
    commit = git(work, "commit-tree", "-p", "HEAD", "-m", "Hostile", top).strip()
    git(work, "push", "-q", str(machines.hub), f"{commit}:refs/heads/main")


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("name", "rule"),
    [
        (".git", "hasDotgit"),
        (".GIT", "hasDotgit"),
        (".g\u200cit", "hasDotgit"),
        ("..", "hasDotdot"),
        ("git~1", "hasDotgit"),
    ],
)
def test_a_tree_that_git_refuses_is_named(machines: Machines, name: str, rule: str) -> None:
    [home] = machines.shared("desk")
    before = git(machines.hub, "rev-parse", "main")
    hostile(machines, name)
    home.ask("save", "Waits.")
    done = home.ask("sync")
    [notice] = done["notices"]
    shown = name.replace("\u200c", "\\u200c")
    assert done["sent"] is None and f"git refuses deep/{shown} there ({rule}: " in notice
    assert "index-pack" not in notice and "history" in notice and notice in waits(home)
    fresh = machines.new("fresh")
    fresh.ask("save", "Alone.")
    assert f"deep/{shown}" in fresh.run("sync", "--init", str(machines.hub), "--yes").err
    git(machines.hub, "update-ref", "refs/heads/main", before.strip())
    assert home.ask("sync")["notices"] == [] and "Waits." in git(
        machines.hub, "show", f"main:{DAY}"
    )


def test_a_remote_that_vanishes_in_the_middle_is_a_notice(machines: Machines) -> None:
    desk, attic = machines.shared("desk", "attic")
    desk.ask("sync")
    desk.ask("save", "Of the desk.")
    desk.ask("sync")
    attic.ask("save", "Of the attic.")
    env = attic.environment(SYNAPTIC_FAULT="sync-fetched:stop")
    with subprocess.Popen([SYNAPTIC, "sync", "--json"], env=env, stdout=subprocess.PIPE) as it:
        assert os.WIFSTOPPED(os.waitpid(it.pid, os.WUNTRACED)[1])
        machines.hub.rename(machines.folder / "away")
        os.kill(it.pid, signal.SIGCONT)
        output = it.communicate()[0].decode()
    assert it.returncode == 0 and "does not appear to be a git repository" in output
    assert "Of the desk." in day(attic) and "Nothing was sent" in waits(attic)
    (machines.folder / "away").rename(machines.hub)
    assert attic.ask("sync")["notices"] == []
    desk.ask("sync")
    assert day(desk) == day(attic)


def test_files_that_an_older_version_wrote_stay_untouched(machines: Machines) -> None:
    """It received everything, and its repository has no record of what it left out."""
    [home] = machines.shared("desk")
    path = home.journal / ".obsidian" / "app.json"
    path.parent.mkdir()
    path.write_text("{}")
    git(home.journal, "add", "-f", ".obsidian/app.json")
    git(home.journal, "commit", "-qm", "By an older version")
    home.ask("sync")
    machines.add({".obsidian/app.json": (FILE, b"{1}")})
    there = machines.tree()
    home.ask("sync")
    assert path.read_text() == "{}"
    path.unlink()
    home.ask("save", "Goes on.")
    home.ask("sync")
    assert machines.tree()[".obsidian/app.json"] == there[".obsidian/app.json"]


segments = st.sampled_from(
    [*NAMES.split(), "attachments", "é.md", "e\u0301.md", "@sessions", " .md"]
)
paths = st.lists(segments, min_size=1, max_size=3).map("/".join)
trees = st.dictionaries(paths, st.sampled_from([FILE, RUN, LINK]), max_size=8)


@settings(max_examples=examples(8, 3), deadline=None, suppress_health_check=[*HealthCheck])
@given(trees, trees)
@example({"B.md": FILE}, {"B.md": LINK})
def test_whatever_another_machine_sends_stays_as_it_is(
    tmp_path_factory: pytest.TempPathFactory, first: dict[str, str], then: dict[str, str]
) -> None:
    """The law: a sync ends well, writes plain notes and attachments, and deletes nothing, not
    even a note in whose place a link came.
    """
    folder = tmp_path_factory.mktemp("law")
    machines = Machines(folder, forks.shared())
    home = folder / "home"
    save(open_workspace(load_config(home)), "The first.")
    assert init_sync(load_config(home), str(machines.hub), lambda asked: "Its 1 notes" in asked)
    config = load_config(home)
    shares = Shares(config, Roots(config.roots, config.exclude))
    for tree in (first, then):
        folders = {folder for path in machines.tree() for folder in _around(path)}
        names = {*tree, *machines.tree(), *folders}
        fitting = [
            path
            for path in tree
            if path not in folders and not names.intersection(_around(path))
        ]
        if fitting:
            machines.add({path: (tree[path], b"# Text\n") for path in fitting})
        there = machines.tree()
        before = {path for path in there if (config.journal / path).is_file()}
        for count in range(2):
            (config.journal / "own.md").write_text(f"# Own {len(there)} {count}\n")
            assert sync(config).sent == 1
        assert {**machines.tree(), "own.md": ""} == {**there, "own.md": ""}
        for path, line in there.items():
            place = config.journal / path
            is_received = not shares.obstacle_to_sharing(path, line.split()[0])
            assert not place.is_symlink()
            if path not in SETUP:
                assert os.path.lexists(place) == (is_received or path in before)
                assert not is_received or not stat.S_IMODE(place.stat().st_mode) & 0o111


def _around(path: str) -> list[str]:
    steps = path.split("/")
    return ["/".join(steps[:count]) for count in range(1, len(steps))]


@pytest.mark.parametrize(
    ("path", "on_windows", "elsewhere"),
    [
        ("a.md", True, True),
        ("con.md", False, True),
        ("a/NUL/b.md", False, True),
        ("a:b.md", False, True),
        ("a./b.md", False, True),
        ("console.md", True, True),
        ("a\\b.md", False, False),
        (".GIT/a.md", False, False),
    ],
)
def test_a_name_counts_where_it_matters(
    tmp_path: Path, path: str, on_windows: bool, elsewhere: bool
) -> None:
    config = load_config(tmp_path)
    roots = Roots(config.roots)
    assert (Shares(config, roots, "nt").obstacle_to_sharing(path) is None) == on_windows
    assert (Shares(config, roots, "posix").obstacle_to_sharing(path) is None) == elsewhere

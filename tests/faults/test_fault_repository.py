"""A repository that somebody else made decides over nothing: no program of it runs, no file of
it is waited for.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from hubs import run_git
from outside import TIMEOUT_S, Home

from synaptic.workspace.checkout import checkout_around

pytestmark = [
    pytest.mark.fault(row=11),
    pytest.mark.skipif(
        not shutil.which("git") or sys.platform == "win32", reason="git and FIFOs are needed"
    ),
]

SETTINGS = Path(__file__).parents[1] / "data" / "git-programs.config"
HOOKS = (
    "applypatch-msg",
    "pre-applypatch",
    "post-applypatch",
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-rebase",
    "post-checkout",
    "post-merge",
    "pre-push",
    "pre-receive",
    "update",
    "proc-receive",
    "post-receive",
    "post-update",
    "reference-transaction",
    "push-to-checkout",
    "pre-auto-gc",
    "post-rewrite",
    "sendemail-validate",
    "fsmonitor-watchman",
    "post-index-change",
)


# -- no program of it runs
# ------------------------------------------------------------------------------


class Trap:
    """A program that leaves a mark when it runs, and the settings and hooks of a repository
    that name it.
    """

    def __init__(self, folder: Path) -> None:
        self._marks, run, hooks, more = (
            folder / name for name in ("marks", "run", "hooks", "more")
        )
        self._marks.mkdir(parents=True)
        run.write_text(f'#!/bin/sh\ntouch "{self._marks}/$(basename "$0")-$1"\nexit 1\n')
        run.chmod(0o755)
        hooks.mkdir()
        for name in HOOKS:
            (hooks / name).symlink_to(run)
        more.write_text(f"[core]\n\tfsmonitor = {run}\n\tsshCommand = {run} more\n")
        self.settings = SETTINGS.read_text()
        for name, path in (("run", run), ("hooks", hooks), ("more", more)):
            self.settings = self.settings.replace(f"{{{name}}}", str(path))
        self._hooks = hooks

    def set(self, repository: Path) -> None:
        with (repository / "config").open("a") as file:
            file.write(self.settings)
        shutil.rmtree(repository / "hooks", ignore_errors=True)
        shutil.copytree(self._hooks, repository / "hooks", symlinks=True)

    def sprung(self) -> list[str]:
        """The programs that ran since this was asked last."""
        found = sorted(self._marks.iterdir())
        for mark in found:
            mark.unlink()
        return [mark.name for mark in found]


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    return Trap(tmp_path / "trap")


def use(home: Home, folder: Path) -> None:
    """Everything that looks at the repository around a folder."""
    home.folder = folder
    home.env |= {"SYNAPTIC_PROJECT": ""}
    (folder / "a.py").write_text("x = 1\n")
    home.ask("save", "A note on the work here.", "--file", "a.py", "--type", "decision")
    said = json.dumps(
        {"cwd": str(folder), "prompt": "what about the work here", "session_id": "1"}
    )
    for event in ("session-start", "user-prompt"):
        assert home.run("hook", event, stdin=said).code == 0
    assert "note on the work" in home.run("hook", "session-start", stdin=said).out
    assert not (home.state / "hooks.log").exists()
    assert home.ask("search", "work")["total"] == 1


@pytest.mark.needs(feature="importing")
@pytest.mark.needs(feature="sharing")
def test_no_program_that_a_partial_clone_names_is_run(
    home: Home, trap: Trap, tmp_path: Path
) -> None:
    """A commit is missing, so any git that looks for it fetches it, by whatever program the
    settings name.
    """
    origin, clone = tmp_path / "origin", tmp_path / "clone"
    origin.mkdir()
    run_git(origin, "init", "-q", "-b", "main")
    run_git(origin, "config", "uploadpack.allowFilter", "true")
    run_git(origin, "commit", "-q", "--allow-empty", "-m", "First")
    run_git(tmp_path, "clone", "-q", "--filter=blob:none", f"file://{origin}", "clone")
    run_git(origin, "commit", "-q", "--allow-empty", "-m", "Not there")
    missing = run_git(origin, "rev-parse", "HEAD").stdout
    (clone / ".git" / "refs" / "heads" / "main").write_text(missing)
    trap.set(clone / ".git")
    run_git(clone, "rev-list", "HEAD", ok=False)
    assert trap.sprung(), "git itself would not have run a program: this shows nothing"

    use(home, clone)
    home.env["SYNAPTIC_JOURNAL"] = str(clone)
    home.ask("git-setup")
    home.ask("git-setup", "--remove")
    versions = [tmp_path / name for name in ("base", "ours", "theirs")]
    for file, text in zip(versions, ("a\n", "a\nb\n", "A\n"), strict=True):
        file.write_text(text)
    # as git does when it calls the driver
    merged = home.run("git-merge", *map(str, versions), "x.md", GIT_DIR=str(clone / ".git"))
    assert (merged.code, versions[1].read_text()) == (0, "A\nb\n")
    assert trap.sprung() == []


@pytest.mark.needs(feature="importing")
@pytest.mark.needs(feature="sharing")
def test_no_program_is_run_to_share_a_journal(home: Home, trap: Trap, tmp_path: Path) -> None:
    """The journal's repository says how to reach others, by programs; the person said so too."""
    hub = tmp_path / "hub.git"
    run_git(tmp_path, "init", "-q", "--bare", "-b", "main", str(hub))
    home.env["HOME"] = str(tmp_path)
    home.ask("save", "The first.")
    home.ask("sync", "--init", str(hub), "--yes")
    trap.set(home.journal / ".git")
    (home.journal / ".git" / "info" / "attributes").write_text("*.md merge=mine diff=mine\n")
    run_git(home.journal, "push", "https://example.invalid/x", "main", ok=False)
    assert trap.sprung(), "git itself would not have run a program: this shows nothing"
    home.ask("save", "The second.")
    assert home.ask("sync")["sent"] == 1
    text = (home.path / "config.toml").read_text()
    (home.path / "config.toml").write_text(text.replace(str(hub), "ada@example.invalid:x"))
    assert "Nothing was sent to" in home.ask("sync")["notices"][0]
    assert trap.sprung() == []


def test_no_program_is_run_to_date_a_note(home: Home, trap: Trap, tmp_path: Path) -> None:
    """A search asks git's log, which would verify the signature of a commit and read a file for
    an order.
    """
    vault = tmp_path / "vault"
    vault.mkdir()
    run_git(vault, "init", "-q", "-b", "main")
    (vault / "Page.md").write_text("A page about bread.\n")
    run_git(vault, "add", ".")
    run_git(vault, "commit", "-qm", "x", "--date", "2021-03-04T12:00:00")
    commit = run_git(vault, "cat-file", "commit", "HEAD").stdout
    signature = (
        "gpgsig -----BEGIN PGP SIGNATURE-----\n \n aaaa\n -----END PGP SIGNATURE-----\n\n"
    )
    (tmp_path / "signed").write_text(commit.replace("\n\n", f"\n{signature}", 1))
    signed = run_git(
        vault, "hash-object", "-t", "commit", "-w", str(tmp_path / "signed")
    ).stdout.strip()
    run_git(vault, "update-ref", "refs/heads/main", signed)
    trap.set(vault / ".git")
    os.mkfifo(tmp_path / "waits")
    with (vault / ".git" / "config").open("a") as file:
        file.write(f"[diff]\n\torderFile = {tmp_path / 'waits'}\n[log]\n\tshowRoot = false\n")
    run_git(vault, "log", "-O/dev/null", ok=False)
    assert trap.sprung(), "git itself would not have run a program: this shows nothing"

    home.env |= {"SYNAPTIC_JOURNAL": str(vault), "GIT_DIR": str(tmp_path / "elsewhere")}
    [found] = home.ask("search", "bread")["hits"]
    assert (found["date"], found["date_source"]) == ("2021-03-04", "git")
    said = json.dumps({"cwd": str(vault), "prompt": "bread", "session_id": "1"})
    assert home.run("hook", "user-prompt", stdin=said).code == 0
    assert trap.sprung() == []


@pytest.mark.needs(feature="importing")
@pytest.mark.needs(feature="sharing")
def test_a_tracked_folder_laid_out_like_a_repository_is_none(
    home: Home, trap: Trap, tmp_path: Path
) -> None:
    origin, clone = tmp_path / "origin", tmp_path / "clone"
    bare = origin / "docs"
    (bare / "refs" / "heads").mkdir(parents=True)
    (bare / "objects").mkdir()
    (bare / "objects" / "keep").touch()
    (bare / "HEAD").write_text("ref: refs/heads/main\n")
    (bare / "refs" / "heads" / "main").write_text("0123456789" * 4 + "\n")
    (bare / "config").write_text("[core]\n\tbare = true\n")
    trap.set(bare)
    run_git(origin, "init", "-q", "-b", "main")
    run_git(origin, "add", ".")
    run_git(origin, "commit", "-qm", "A clone is enough")
    run_git(tmp_path, "clone", "-q", str(origin), "clone")
    run_git(clone / "docs", "-c", "safe.bareRepository=all", "rev-list", "HEAD", ok=False)
    assert trap.sprung(), "git itself would not have run a program: this shows nothing"

    use(home, clone / "docs")
    assert [entry["project"] for entry in home.entries()] == ["clone"]
    home.env["SYNAPTIC_JOURNAL"] = str(clone / "docs")
    assert home.run("git-setup").code == 1
    assert trap.sprung() == []


@pytest.mark.needs(feature="importing")
@pytest.mark.needs(feature="sharing")
def test_the_repository_does_not_choose_where_the_driver_is_set_up(
    home: Home, tmp_path: Path
) -> None:
    """`core.worktree` may name another checkout, a link in `.git` any file."""
    for name in ("mine", "theirs"):
        (tmp_path / name).mkdir()
        run_git(tmp_path / name, "init", "-q")
    mine, theirs = tmp_path / "mine" / ".git", tmp_path / "theirs" / ".git"
    before = (mine / "config").read_bytes()
    home.env["SYNAPTIC_JOURNAL"] = str(theirs.parent)
    home.run("save", "A text.")
    run_git(theirs.parent, "config", "core.worktree", str(mine.parent))
    refused = home.run("git-setup")
    assert refused.code == 1 and "working tree" in refused.err
    assert (mine / "config").read_bytes() == before

    run_git(theirs.parent, "config", "--unset", "core.worktree")
    profile = tmp_path / "profile"
    profile.write_text("mine\n")
    attributes = theirs / "info" / "attributes"
    attributes.unlink(missing_ok=True)
    attributes.symlink_to(profile)
    refused = home.run("git-setup")
    assert refused.code == 1 and "link" in refused.err
    assert profile.read_text() == "mine\n"
    attributes.unlink()
    os.mkfifo(attributes)
    refused = home.run("git-setup")
    assert refused.code == 1 and "not a regular file" in refused.err


# -- no file of it is waited for
# ------------------------------------------------------------------------

KINDS = ("fifo", "link to a fifo", "link to a device", "too large")
PLACES = (
    ".git",
    ".git/HEAD",
    ".git/logs/HEAD",
    "pointed/commondir",
    "pointed/HEAD",
    "pointed/logs/HEAD",
)

_LOOK = """
import resource, sys
from pathlib import Path
from synaptic.workspace.checkout import checkout_around, describe_recent_work
size = Path("/proc/self/statm")
limit = 100_000_000 + (int(size.read_text().split()[0]) * resource.getpagesize() if size.exists() else 300_000_000)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
found = checkout_around(Path(sys.argv[1]))
print(repr((found and found.project, describe_recent_work(Path(sys.argv[1])))))
"""


def put(kind: str, path: Path) -> None:
    """Something in this place that is no file of git's."""
    if kind == "too large":
        path.write_bytes(b"ref: refs/heads/main\n" * 60_000)
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "link to a fifo":
        os.mkfifo(path.with_name("pipe"))
        path.symlink_to("pipe")
    else:
        path.symlink_to("/dev/zero")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_but_small_regular_files_is_read(
    home: Home, tmp_path: Path, kind: str, place: str
) -> None:
    root = tmp_path / "above" / "project"
    root.mkdir(parents=True)
    git_folder = root / place.split("/")[0]
    if place != ".git":
        (git_folder / "logs").mkdir(parents=True)
        (git_folder / "HEAD").write_text("ref: refs/heads/login\n")
        if git_folder.name == "pointed":
            (root / ".git").write_text("gitdir: pointed\n")
            (git_folder / "config").write_text("[core]\n\tworktree = ..\n")
        (root / place).unlink(missing_ok=True)
    put(kind, root / place)
    look = home.python(_LOOK, str(root))
    out, err = look.communicate(timeout=TIMEOUT_S)
    assert look.returncode == 0, err
    found = ("project", "login") if place.endswith("logs/HEAD") else (None, "")
    assert out.decode() == f"{found!r}\n"


def test_links_in_a_circle_are_no_repository(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: circle\n")
    (tmp_path / "circle").symlink_to("circle")
    assert checkout_around(tmp_path) is None


@pytest.mark.parametrize("place", ["HEAD", "commondir"])
def test_a_save_does_not_wait_for_a_hostile_folder(
    home: Home, tmp_path: Path, place: str
) -> None:
    folder = tmp_path / "project"
    (folder / "pointed").mkdir(parents=True)
    (folder / ".git").write_text("gitdir: pointed\n")
    os.mkfifo(folder / "pointed" / place)
    os.mkfifo(folder / "a.py")
    home.folder = folder
    saved = home.start("save", "A text.", "--file", "a.py", "--json", SYNAPTIC_PROJECT="")
    out, _ = saved.communicate(timeout=TIMEOUT_S)
    assert json.loads(out)["success"]
    assert [entry["project"] for entry in home.entries()] == [None]

"""A project is its repository: what a session in another one is told, by real git and the
command.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from filelock import FileLock
from forks import ForkedHome, Forks

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")

SECRET = "Client A keeps its orders in a database called heron."
NEXT = "Client A: rotate the heron key next."
ACME = "https://git.example.org/acme/api.git"
OTHER = "https://git.example.org/zenith/api.git"


def git(folder: Path, *arguments: str) -> None:
    env = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    for who in ("AUTHOR", "COMMITTER"):
        env |= {f"GIT_{who}_NAME": "someone", f"GIT_{who}_EMAIL": "someone@example.org"}
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, env=env)


def repository(folder: Path, remote: str = "") -> Path:
    """A repository with a file `src/db.py`."""
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "db.py").write_text("x = 1\n")
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "start")
    if remote:
        git(folder, "remote", "add", "origin", remote)
    return folder


class People(ForkedHome):
    """A home, and what its sessions in a folder say and are told."""

    def save_in(self, folder: Path, text: str = "Something else.", *more: str) -> str:
        """The notices of a save there."""
        self.folder = folder
        done = self.run("save", text, *more, "--force")
        assert done.code == 0, done.err
        return done.err

    def told_in(self, folder: Path) -> str:
        """All that a session there is told without asking for another project."""
        self.folder = folder
        started = json.dumps({"cwd": str(folder)})
        answers = [
            self.run("brief"),
            self.run("hook", "session-start", stdin=started),
            self.run("blame", "src/db.py"),
        ]
        return "\n".join(answer.out for answer in answers)

    def project_in(self, folder: Path) -> str:
        """The project of a save there."""
        self.save_in(folder, f"A save in {folder}.")
        return str(self.ask("recent", "--project", "*")["entries"][0]["project"])


@pytest.fixture
def people(tmp_path: Path, forks: Forks) -> People:
    env = {"HOME": str(tmp_path), "SYNAPTIC_PROJECT": ""}
    return People(tmp_path / "home", env, forks=forks)


@pytest.fixture
def client_a(people: People, tmp_path: Path) -> Path:
    """The repository of a client, of which the memory holds a decision and a hand-off."""
    return told_of(people, repository(tmp_path / "client-a" / "api", ACME))


def told_of(people: People, folder: Path) -> Path:
    people.save_in(folder, SECRET, "--type", "decision", "--file", "src/db.py")
    people.save_in(folder, NEXT, "--type", "handoff")
    return folder


def is_stranger(people: People, folder: Path) -> bool:
    """True if a session in this folder is told nothing of client A, and searches set it back."""
    told = people.told_in(folder)
    shown = people.run("search", "Client A heron").out
    return "heron" not in told and shown.count("project api") == 2


def is_at_home(people: People, folder: Path) -> bool:
    """True if a session in this folder is told all that client A's is told."""
    told = people.told_in(folder)
    return SECRET in told and NEXT in told


def test_a_moved_repository_hands_nothing_to_the_next_of_its_name(
    people: People, client_a: Path, tmp_path: Path
) -> None:
    moved = client_a.rename(client_a.with_name("backend"))
    other = repository(tmp_path / "client-b" / "api", OTHER)
    assert is_stranger(people, other)
    notice = people.save_in(other)
    assert "The project is zenith/api, because" in notice
    assert is_stranger(people, other) and is_at_home(people, moved)
    assert f"The project is api: this repository was {client_a} before." in people.save_in(
        moved
    )
    assert "The project is" not in people.save_in(moved) + people.save_in(other)


@pytest.mark.parametrize("remote", [ACME, ""])
def test_a_deleted_repository_hands_on_nothing(
    people: People, tmp_path: Path, remote: str
) -> None:
    first = told_of(people, repository(tmp_path / "client-a" / "api", remote))
    inode = (first / ".git").stat().st_ino
    shutil.rmtree(first)
    others = [tmp_path / "client-a" / "api", tmp_path / "client-b" / "api"]
    for other in others:  # at the same place, and with the same inode on most file systems
        assert is_stranger(people, repository(other)), (inode, (other / ".git").stat().st_ino)
        assert people.project_in(other) != "api"


def test_a_clone_that_is_made_anew_is_the_same(people: People, client_a: Path) -> None:
    shutil.rmtree(client_a)
    again = repository(client_a, "git@git.example.org:acme/api.git")
    assert is_at_home(people, again) and "The project is" not in people.save_in(again)
    git(again, "remote", "remove", "origin")
    assert is_at_home(people, again)


def test_a_submodule_and_a_template_are_not_what_is_around_or_before_them(
    people: People, client_a: Path, tmp_path: Path
) -> None:
    part = repository(client_a / "part", OTHER)
    assert is_stranger(people, part) and is_at_home(people, client_a / "src")
    git(client_a, "submodule", "--quiet", "add", "./part")
    git(client_a, "submodule", "absorbgitdirs")
    assert is_stranger(people, part) and people.project_in(part) == "part"
    copy = shutil.copytree(client_a, tmp_path / "client-b" / "api")
    git(copy, "remote", "set-url", "origin", OTHER + "-of-b")  # before anything was saved there
    assert is_stranger(people, copy)


@pytest.mark.parametrize("remote", [ACME, ""])
def test_a_move_and_another_name_keep_the_project(
    people: People, tmp_path: Path, remote: str
) -> None:
    folder = told_of(people, repository(tmp_path / "client-a" / "api", remote))
    git(folder, "worktree", "add", "--quiet", "../fix")
    assert is_at_home(people, folder.parent / "fix") and is_at_home(people, folder / "src")
    for name in ("backend", "old/api", "client-b/server"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        folder = folder.rename(tmp_path / name)
        assert is_at_home(people, folder)


def test_every_clone_of_one_remote_is_one_project(
    people: People, client_a: Path, tmp_path: Path
) -> None:
    shutil.copytree(client_a, tmp_path / "copy")
    local = tmp_path / "local"
    git(tmp_path, "clone", "--quiet", str(client_a), str(local))
    for url in (
        "git@git.example.org:acme/api",
        "ssh://git@git.example.org:22/acme/api.git/",
        "https://ada:gh0st-t0ken@GIT.example.org:443/acme/api",
    ):
        repository(tmp_path / url[:5].replace(":", "-"), url)
    clones = [place for place in tmp_path.iterdir() if (place / ".git").exists()]
    assert len(clones) == 5
    for clone in clones:
        assert is_at_home(people, clone)
        assert f"another clone of the repository of {tmp_path}" in people.save_in(clone)
        assert "The project is" not in people.save_in(clone)
    kept = b"".join(path.read_bytes() for path in people.path.rglob("*") if path.is_file())
    assert b"gh0st-t0ken" not in kept and b"acme" not in kept


@pytest.mark.sweep
@pytest.mark.parametrize(
    "remote",
    [
        "",
        OTHER,
        "https://git.example.org/eve/api",  # a fork
        "https://git.example.org:8443/acme/api",
        "https://git.example.com/acme/api",
        "https://git.example.org/Acme/api",  # this host may have both
        "/nowhere/acme/api",
    ],
)
def test_another_remote_is_another_project(
    people: People, client_a: Path, tmp_path: Path, remote: str
) -> None:
    other = repository(tmp_path / "client-b" / "api", remote)
    git(other, "remote", "add", "upstream", ACME)
    assert is_stranger(people, other)
    assert people.project_in(other) not in ("api", "None")
    assert is_stranger(people, other) and is_at_home(people, client_a)


def test_a_remote_that_comes_changes_or_goes_leaves_the_project(
    people: People, tmp_path: Path
) -> None:
    folder = told_of(people, repository(tmp_path / "api"))
    shutil.copytree(folder, tmp_path / "client-b" / "api")
    assert is_stranger(people, tmp_path / "client-b" / "api")  # a copy without a remote
    for change in (("add", "origin", ACME), ("set-url", "origin", OTHER), ("remove", "origin")):
        git(folder, "remote", *change)
        assert is_at_home(people, folder)
        assert "The project is" not in people.save_in(folder)
        assert is_at_home(people, folder)
    git(folder, "remote", "add", "origin", OTHER)
    people.save_in(folder)
    git(tmp_path, "clone", "--quiet", str(folder), "again")
    git(tmp_path / "again", "remote", "set-url", "origin", OTHER)
    assert is_at_home(people, tmp_path / "again")


def test_a_remote_on_this_machine_is_what_lies_there(people: People, tmp_path: Path) -> None:
    store = tmp_path / "store" / "api.git"
    repository(tmp_path / "seed")
    git(tmp_path, "clone", "--quiet", "--bare", str(tmp_path / "seed"), str(store))
    one, two = tmp_path / "one" / "api", tmp_path / "two"
    git(tmp_path, "clone", "--quiet", str(store), str(one))
    git(tmp_path, "clone", "--quiet", f"file://{store}", str(two))
    told_of(people, one)
    assert is_at_home(people, two)
    shutil.rmtree(store)
    git(tmp_path, "clone", "--quiet", "--bare", str(one), str(store))  # another one there
    git(tmp_path, "clone", "--quiet", str(store), str(tmp_path / "three" / "api"))
    assert is_stranger(people, tmp_path / "three" / "api") and is_at_home(people, one)


def test_claims_of_before_hold_for_the_repository_that_is_there(
    people: People, client_a: Path, tmp_path: Path
) -> None:
    file = people.path / ".state" / "projects"
    file.write_text(json.dumps({"api": str(client_a / ".git"), "gone": "/nowhere/gone/.git"}))
    other = repository(tmp_path / "client-b" / "api", OTHER)
    assert is_at_home(people, client_a) and is_stranger(people, other)
    assert people.project_in(repository(tmp_path / "gone")) != "gone"
    moved = client_a.rename(client_a.with_name("backend"))
    assert is_at_home(people, moved)  # that save has made them claims of today
    file.write_text(json.dumps({"api": str(client_a / ".git")}))
    assert is_stranger(people, other) and is_stranger(people, moved)


def remember(people: People, folder: Path, text: str) -> None:
    """A memory that Claude Code keeps of this folder, which may be gone."""
    name = re.sub("[^A-Za-z0-9]", "-", str(folder))
    memory = Path(people.env["HOME"], ".claude", "projects", name, "memory")
    memory.mkdir(parents=True)
    (memory / "fact.md").write_text(f"{text}\n")


def projects_of(people: People, source: str) -> dict[str, str | None]:
    """The project of each entry, after an import of this source."""
    people.folder = people.path.parent
    assert people.run("import", source, "--yes").code == 0
    found = people.ask("find", "--limit", "50")["entries"]
    return {entry["content"]: entry["project"] for entry in found}


@pytest.mark.parametrize("source", ["memories", "claude-code-memory"])
@pytest.mark.parametrize("kind", ["there", "gone", "plain"])
def test_both_imports_of_memories_name_one_project(
    people: People, tmp_path: Path, source: str, kind: str
) -> None:
    app = repository(tmp_path / "code" / "app")
    worktree = app / ".claude" / "worktrees" / "fix-foo"
    if kind == "there":
        git(app, "worktree", "add", "--quiet", str(worktree))
    elif kind == "plain":
        worktree.mkdir(parents=True)
    (tmp_path / "code" / "two-ways").mkdir()
    (tmp_path / "code" / "two.ways").mkdir()
    (tmp_path / "code" / "notes").mkdir()
    for folder, text in (
        (app, "Pages hold 50 rows."),
        (app / "src", "The source is Python."),
        (worktree, "Tickets live an hour."),
        (app.with_name("gone-worktree"), "Billing runs at 3."),
        (tmp_path / "gone" / ".claude" / "worktrees" / "app", "Its repository is gone."),
        (app.with_name("two-ways"), "Two folders read alike."),
        (app.with_name("notes"), "No repository is here."),
        (repository(tmp_path / "other" / "app"), "The other pages hold 20 rows."),
    ):
        remember(people, folder, text)
    projects = projects_of(people, source)
    one, other = (
        projects.pop("Pages hold 50 rows."),
        projects.pop("The other pages hold 20 rows."),
    )
    assert {one, other} in ({"app", "code/app"}, {"app", "other/app"})
    assert projects == {
        "The source is Python.": one,
        "Tickets live an hour.": one,
        "Billing runs at 3.": None,
        "Its repository is gone.": None,
        "Two folders read alike.": None,
        "No repository is here.": "notes",
    }
    assert (people.project_in(app), people.project_in(tmp_path / "other" / "app")) == (
        one,
        other,
    )


def test_a_session_belongs_to_the_repository_that_lay_where_it_ran(
    people: People, client_a: Path, tmp_path: Path
) -> None:
    sessions = tmp_path / ".claude" / "projects" / "x"
    sessions.mkdir(parents=True)
    folders = (client_a / "src", tmp_path / "client-b" / "api", tmp_path / "client-c" / "api")
    for number, folder in enumerate(folders):
        lines = []
        for kind in ("user", "assistant") * 3:
            line = {"type": kind, "cwd": str(folder), "uuid": f"{number}-{len(lines)}"}
            message = {"content": f"Are the orders late? They are in {len(lines)} places."}
            lines.append(line | {"timestamp": "2026-11-20T10:00:00Z", "message": message})
        transcript = sessions / f"{number}-1-1-1-1.jsonl"
        transcript.write_text("\n".join(map(json.dumps, lines)))
    moved = client_a.rename(client_a.with_name("backend"))
    people.folder = tmp_path
    before = (people.state / "projects").read_bytes()
    assert people.run("import", "claude-code", "--dry-run").code == 0
    assert (people.state / "projects").read_bytes() == before
    assert people.run("import", "claude-code", "--yes").code == 0
    found = people.ask("find", "--sessions", "--limit", "50")["entries"]
    projects = [entry["project"] for entry in found if "orders" in entry["title"]]
    assert sorted(projects) == ["api", "client-b/api", "client-c/api"]
    other = repository(tmp_path / "client-c" / "api", OTHER)
    assert people.project_in(other) == "client-c/api" and is_at_home(people, moved)


def test_two_first_saves_at_once_take_two_names(people: People, tmp_path: Path) -> None:
    folders = [repository(tmp_path / name / "api") for name in ("one", "two")]
    people.ask("init")
    file = people.state / "projects"
    with FileLock(file.with_name("projects.lock")):
        people.folder = folders[0]
        saving = people.start("save", "From the first.")
        claim = {"name": "api", "repositories": [[str(folders[1]), "", ""]]}
        file.write_text(json.dumps({"api": claim}))
    _, errors = saving.communicate(timeout=60)
    assert b"The project is one/api, because" in errors
    assert people.project_in(folders[1]) == "api"


def test_an_agent_saves_without_a_project_where_it_says_so(
    people: People, tmp_path: Path
) -> None:
    people.folder = repository(tmp_path / "api")
    with people.server() as server:
        said = [
            server.text("save", content="Of the repository."),
            server.text("save", content="Of none.", project=""),
            server.text("save", content="Of none, too.", entries=None, project="  "),
        ]
    notice = "It has no project, because `project` is ''."
    assert [notice in answer for answer in said] == [False, True, False]
    found = {one["content"]: one["project"] for one in people.ask("recent")["entries"]}
    assert found == {"Of the repository.": "api", "Of none.": None, "Of none, too.": None}


def test_an_agent_that_names_its_folder_means_its_own_project(
    people: People, client_a: Path, tmp_path: Path
) -> None:
    moved = client_a.rename(client_a.with_name("backend"))
    people.folder = repository(tmp_path / "client-b" / "api", OTHER)
    with people.server() as server:
        assert "heron" not in server.text("brief", project="api")
        server.text("save", content="Client B has no orders.", project="API")
    people.folder = moved
    with people.server() as server:
        assert SECRET in server.text("brief", project="backend")
        server.text("save", content="Saved after the move.", project="backend")
    saved = {one["content"]: one["project"] for one in people.ask("recent")["entries"]}
    assert saved["Client B has no orders."] == "zenith/api"
    assert saved["Saved after the move."] == "api"
    people.save_in(moved, "A person names it.", "--project", "backend")
    assert people.ask("recent", "--project", "backend")["entries"][0]["title"]

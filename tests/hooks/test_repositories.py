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
from forks import Forks
from hubs import Machines
from outside import Refusal
from steady import SteadyHome

from synaptic.journal.repository import find_checkout

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")

SECRET = "Client A keeps its orders in heron."
NEXT = "Client A: rotate the heron key next."
ACME = "https://git.example.org/acme/api.git"
OTHER = "https://git.example.org/zenith/api.git"


def git(folder: Path, *arguments: str) -> None:
    env = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    for who in ("AUTHOR", "COMMITTER"):
        env |= {f"GIT_{who}_NAME": "someone", f"GIT_{who}_EMAIL": "someone@example.org"}
        env[f"GIT_{who}_DATE"] = "2026-11-01T10:00:00Z"
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, env=env)


def repository(folder: Path, remote: str = "", of: Path | None = None) -> Path:
    """A repository with a file `src/db.py`; its root commit is that of the repository `of`."""
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "db.py").write_text("x = 1\n")
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", f"start {of or folder}")
    if remote:
        git(folder, "remote", "add", "origin", remote)
    return folder


class People(SteadyHome):
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
        repository(other, of=other / "next")
        assert is_stranger(people, other), (inode, (other / ".git").stat().st_ino)
        assert people.project_in(other) != "api"


def test_a_clone_that_is_made_anew_is_the_same(people: People, client_a: Path) -> None:
    shutil.rmtree(client_a)
    again = repository(client_a, "git@git.example.org:acme/api.git", of=client_a)
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
        repository(tmp_path / url[:5].replace(":", "-"), url, of=client_a)
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
    assert is_stranger(people, repository(tmp_path / "client-b" / "api"))
    shutil.copytree(folder, tmp_path / "copy")
    assert is_at_home(people, tmp_path / "copy")  # it has the root
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
    other = repository(tmp_path / "other")
    git(tmp_path, "clone", "--quiet", "--bare", str(other), str(store))  # another one there
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
    assert is_stranger(people, other) and is_at_home(people, moved)  # its entries have its root


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


@pytest.mark.needs(feature="importing")
@pytest.mark.sweep
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


@pytest.mark.needs(feature="importing")
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


@pytest.mark.needs(feature="importing")
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


PROMPT = "Which database keeps the orders of client A?"


def hooked(people: People, folder: Path, event: str, **message: object) -> str:
    """The answer of a hook to an agent in this folder, in a session of its own."""
    people.folder = folder
    asked = {"cwd": str(folder), "session_id": f"{event}-{folder.name}"} | message
    return people.run("hook", event, stdin=json.dumps(asked)).out


def test_what_hooks_push_is_of_the_project_and_of_none(
    people: People, client_a: Path, tmp_path: Path
) -> None:
    other = repository(tmp_path / "client-b" / "web", OTHER)
    (people.path / "config.toml").write_text("[hooks]\nuser_prompt = true\ntools = true\n")
    people.folder = client_a
    people.rule("Client A: name each table after a heron.")
    error = "psycopg.OperationalError: heron replication slot is inactive on standby"
    people.save_in(client_a, f"Restart the standby after {error}.", "--type", "insight")
    people.save_in(tmp_path, "The Zephyrion warehouse closes on 5 May for stocktaking.")
    for number in range(3):
        people.save_in(other, f"The web pages have a grid of {number + 2} columns.")
    people.ask("rebuild-index")
    failed = {"tool_name": "Bash", "error": error}
    edited = {"tool_name": "Edit", "tool_input": {"file_path": "src/db.py"}}
    calls = [
        ("session-start", {}),
        ("subagent-start", {"agent_id": "a"}),
        ("user-prompt", {"prompt": PROMPT}),
        ("tool-failure", failed),
        ("pre-tool", edited),
    ]
    told = {event: hooked(people, other, event, **message) for event, message in calls}
    assert not [event for event, text in told.items() if "heron" in text], told
    assert "5 May" in hooked(
        people, other, "user-prompt", prompt="When does the Zephyrion warehouse close?"
    )
    own = {event: hooked(people, client_a, event, **message) for event, message in calls}
    assert all("heron" in text for text in own.values()), own
    with people.server(CLAUDE_PROJECT_DIR=str(other)) as server:
        assert "heron" not in server.text("brief")
        assert "project api" in server.text("search", query=PROMPT)


@pytest.mark.sweep
@pytest.mark.parametrize(
    "remote",
    [
        "git@git:ops/infra.git",
        "ssh://git@localhost:2222/srv/app.git",
        "https://10.20.0.7/ops/infra",
        "git@nas.local:ops/infra",
        "/mnt/usb/app.git",
    ],
)
def test_an_address_of_each_network_needs_the_root(
    people: People, tmp_path: Path, remote: str
) -> None:
    first = told_of(people, repository(tmp_path / "a" / "infra", remote))
    other = repository(tmp_path / "b" / "infra", remote)
    again = repository(tmp_path / "c" / "infra", remote, of=first)
    assert "heron" not in people.told_in(other) and is_at_home(people, again)
    shallow = tmp_path / "d" / "infra"
    git(tmp_path, "clone", "--quiet", "--depth", "1", f"file://{first}", str(shallow))
    git(shallow, "remote", "set-url", "origin", remote)
    assert "heron" not in people.told_in(shallow)


def test_a_shallow_clone_is_known_by_a_public_address(
    people: People, client_a: Path, tmp_path: Path
) -> None:
    git(client_a, "commit", "--quiet", "--allow-empty", "-m", "More.")
    for name, remote, is_same in (("one", ACME, True), ("two", OTHER, False)):
        git(tmp_path, "clone", "--quiet", "--depth", "1", f"file://{client_a}", name)
        git(tmp_path / name, "remote", "set-url", "origin", remote)
        assert is_at_home(people, tmp_path / name) == is_same
    people.save_in(tmp_path / "one", "Saved in a shallow clone: the heron sleeps.")
    assert "the heron sleeps" in people.told_in(client_a)


def pack_git(kind: str, folder: Path, victim: Path) -> None:
    """Makes a folder that says of itself, in one way, that it is the repository `victim`."""
    git(victim, "worktree", "add", "--quiet", "--force", str(folder.parent / "tree"))
    git_of = victim / ".git"
    own = folder / ".git"
    folder.mkdir()
    if kind == "file":
        own.write_text(f"gitdir: {git_of}\n")
    elif kind == "file to a worktree":
        own.write_text(f"gitdir: {git_of}/worktrees/tree\n")
    elif kind == "link":
        own.symlink_to(git_of)
    elif kind == "commondir":
        git(folder, "init", "--quiet")
        (own / "commondir").write_text(f"{git_of}\n")
    elif kind == "worktree of its own":
        (folder / "g").mkdir()
        own.write_text("gitdir: g\n")
        (folder / "g" / "HEAD").write_text("ref: refs/heads/main\n")
        (folder / "g" / "commondir").write_text(f"{git_of}\n")
        (folder / "g" / "gitdir").write_text(f"{own}\n")
    elif kind == "linked parts":
        own.mkdir()
        for part in ("objects", "refs"):
            (own / part).symlink_to(git_of / part)
        (own / "HEAD").write_text("ref: refs/heads/main\n")
    else:
        own.mkdir()
        (own / "HEAD").write_text("ref: refs/heads/main\n")
        (own / "config").write_text(f'[remote "origin"]\n\turl = {ACME}\n')


@pytest.mark.sweep
@pytest.mark.parametrize(
    "kind",
    [
        "file",
        "file to a worktree",
        "link",
        "commondir",
        "worktree of its own",
        "linked parts",
        "address alone",
    ],
)
def test_a_packed_git_names_nobody(
    people: People, client_a: Path, tmp_path: Path, kind: str
) -> None:
    packed = tmp_path / "unpacked"
    pack_git(kind, packed, client_a)
    assert "heron" not in people.told_in(packed)
    people.save_in(packed, "What the archive says.")
    assert "What the archive says" not in people.told_in(client_a)


def test_another_users_repository_is_not_followed(tmp_path: Path) -> None:
    folder = repository(tmp_path / "shared" / "api", ACME)
    assert find_checkout(folder)
    if os.geteuid() == 0:
        os.chown(folder / ".git", 12345, -1)
        assert find_checkout(folder / "src") is None
    else:
        assert Path("/").stat().st_uid != os.geteuid()


@pytest.mark.needs(feature="importing")
@pytest.mark.needs(feature="sharing")
def test_two_machines_that_sync_keep_two_repositories_apart(
    tmp_path: Path, forks: Forks
) -> None:
    machines = Machines(tmp_path, forks)
    ada, job = [
        People(tmp_path / name, {"HOME": str(tmp_path), "SYNAPTIC_PROJECT": ""}, forks=forks)
        for name in ("ada", "job")
    ]
    client_a = told_of(ada, repository(tmp_path / "one" / "client-a" / "api", ACME))
    ada.folder = job.folder = tmp_path
    ada.ask("sync", "--init", str(machines.hub), "--yes")
    job.ask("sync", "--init", str(machines.hub), "--yes")
    other = repository(tmp_path / "two" / "client-b" / "api", OTHER)
    moved = repository(tmp_path / "two" / "server", "https://forge.example.com/a", of=client_a)
    assert is_stranger(job, other) and is_at_home(job, moved)
    job.save_in(other, "Client B: the ibis key is next.", "--type", "handoff")
    assert job.project_in(moved) == "api" and job.project_in(other) == "zenith/api"
    for machine in (job, ada):
        machine.folder = tmp_path
        machine.ask("sync")
    assert "ibis" not in ada.told_in(client_a) and is_at_home(ada, client_a)
    restored = People(tmp_path / "new", ada.env, forks=forks)
    shutil.copytree(ada.journal, restored.journal, ignore=shutil.ignore_patterns(".git"))
    restored.folder = tmp_path
    assert is_stranger(restored, other) and "ibis" in restored.told_in(other)
    assert is_at_home(restored, moved) and restored.project_in(client_a) == "api"


def test_a_damaged_file_of_projects_hands_no_name_on(
    people: People, client_a: Path, tmp_path: Path
) -> None:
    other = repository(tmp_path / "client-b" / "api", OTHER)
    people.save_in(client_a, "An old note on the heron.", "--project", "legacy")
    file = people.state / "projects"
    file.write_bytes(file.read_bytes()[:31])
    assert is_stranger(people, other) and is_at_home(people, client_a)
    assert "projects is damaged" in people.run("doctor").text
    assert "The project is zenith/api, because" in people.save_in(other)
    assert "projects is damaged" not in people.run("doctor").text
    for copy in (file, people.state / "projects.copy"):
        copy.write_bytes(b"")
    third = repository(tmp_path / "client-c" / "api")
    assert "heron" not in people.told_in(third) and is_at_home(people, client_a)
    assert ".state/projects is damaged" in people.save_in(third)
    assert "projects.copy are damaged" in people.run("doctor").text


def test_a_person_settles_once_what_nothing_proves(people: People, tmp_path: Path) -> None:
    first = told_of(people, repository(tmp_path / "a" / "infra", "git@git:ops/infra.git"))
    for name, key, is_same in (("b", b"y", True), ("c", b"n", False)):
        folder = repository(tmp_path / name / "infra", "git@git:ops/infra.git")
        people.folder = folder
        asked = people.person("brief", keys=key)
        assert f"Is {folder} the project infra of git/ops/infra?" in asked.text
        assert "[y/n]" not in people.person("brief").text
        assert is_at_home(people, folder) == is_same
    people.folder = first
    assert "[y/n]" not in people.person("brief").text


def test_an_update_of_the_project_takes_the_marks_along(
    people: People, client_a: Path, tmp_path: Path
) -> None:
    other = repository(tmp_path / "client-b" / "web", OTHER)
    people.save_in(other)
    people.folder = client_a
    id = people.rule("Client A: write heron in capitals.")
    assert "follow" in people.told_in(client_a) and "capitals" not in people.told_in(other)
    [file] = people.journal.glob("*.md")
    of_client_a = marks_of(file, id)
    people.person("update", id, "--project", "web")
    assert "capitals" in people.told_in(other) and "capitals" not in people.told_in(client_a)
    text = file.read_text()
    before, _, rule = text.partition(id)
    file.write_text(before + id + rule.replace(marks_of(file, id), of_client_a, 1))
    assert "capitals" not in people.told_in(client_a)  # nobody confirmed it for that project


def marks_of(file: Path, id: str) -> str:
    """The marks of a repository in the comment of an entry."""
    comment = file.read_text().partition(id)[2].partition("-->")[0]
    [marks] = re.findall(r"remote=\w{16} root=\w{16}", comment)
    return str(marks)


def test_a_folder_that_is_gone_is_an_error(people: People, client_a: Path) -> None:
    people.folder = client_a
    with people.server(CLAUDE_PROJECT_DIR=str(client_a / "gone")) as server:
        for tool, values in (("brief", {}), ("save", {"content": "From nowhere."})):
            with pytest.raises(Refusal, match="not a folder that can be opened"):
                server.call(tool, **values)
        (client_a / "gone").mkdir()
        assert SECRET in server.text("brief")


def test_a_server_works_in_the_root_that_its_client_lists(
    people: People, client_a: Path, tmp_path: Path
) -> None:
    other = repository(tmp_path / "client-b" / "web", OTHER)
    gone = tmp_path / "gone"
    for start, roots, is_told in (
        (client_a, [other], False),
        (other, [client_a], True),
        (client_a, [other, client_a], True),
        (tmp_path, [other, client_a], False),  # nobody knows which
        (client_a, [], True),
    ):
        people.folder = start
        with people.server(roots=roots) as server:
            assert (SECRET in server.text("brief")) == is_told, (start, roots)
    people.folder = client_a
    with people.server(roots=[gone]) as server, pytest.raises(Refusal, match="can be opened"):
        server.call("brief")

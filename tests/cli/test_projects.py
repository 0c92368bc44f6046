"""Two repositories and one journal, as people and agents meet it: whose answer comes first,
branches, origin, pins.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from forks import ForkedHome
from homes import open_home

from synaptic import Filters, Workspace, find, rebuild, recent, save, search
from synaptic.index.embedding import FastEmbedder
from synaptic.verbs.entry_marks import MAX_PINS
from synaptic.verbs.saving import Marks, save_all

DATA = json.loads(
    (Path(__file__).parents[1] / "data" / "projects.json").read_text(encoding="utf-8")
)
SAVED = {
    "harbor": (
        "A login session lasts 15 minutes, the auditors insist.",
        "Our database is Postgres, because several services write at once.",
        "The session about tides was moved.",
        "Berth plans get a database of their own colours.",
    ),
    "ledger": (
        "A login session lasts 24 hours, so nobody is logged out at work.",
        "Our database is SQLite, nothing to operate.",
        "The tax session with the adviser is on Friday.",
        "The supplier data holds 4,000 rows.",
    ),
}
SESSION, DATABASE = "how long does a login session last", "which database do we use"

needs_git = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")


def git(folder: Path, *arguments: str) -> None:
    identity = {
        f"GIT_{who}_{what}": "someone"
        for who in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    env = os.environ | identity | {"GIT_CONFIG_GLOBAL": os.devnull}
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, env=env)


def commit(folder: Path, text: str = "work") -> None:
    git(folder, "commit", "--quiet", "--allow-empty", "-m", text)


def repository(folder: Path) -> Path:
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder, f"start {folder}")  # each has a root of its own, also in one second
    return folder


@pytest.fixture
def two(home: ForkedHome, tmp_path: Path) -> ForkedHome:
    """A journal to which two repositories and a person without one have saved."""
    home.env["SYNAPTIC_PROJECT"] = ""
    (tmp_path / "plain").mkdir()
    for name, texts in SAVED.items():
        home.folder = tmp_path / name
        (home.folder / ".git").mkdir(parents=True)
        for text in texts:
            home.ask("save", text, "--type", "decision")
    home.folder = tmp_path / "plain"
    home.ask("save", "Bought bread.")
    home.ask("rebuild-index")  # a search alone makes vectors for 0.2 s
    return home


def test_each_repository_gets_its_own_answer_first(two: ForkedHome, tmp_path: Path) -> None:
    for own, other in (("harbor", "ledger"), ("ledger", "harbor")):
        two.folder = tmp_path / own
        with two.server() as server:
            for asked, (answer, opposite) in zip(
                (SESSION, DATABASE),
                zip(SAVED[own][:2], SAVED[other][:2], strict=True),
                strict=True,
            ):
                assert two.ask("search", asked)["hits"][0]["content"] == answer
                assert answer[:30] in server.text("search", query=asked, limit=1)
                both = server.text("search", query=asked, project="*", limit=4)
                assert answer[:30] in both and opposite[:30] in both
            for said in (server.text("recent"), two.run("recent").out, two.run("find").out):
                lines = [
                    next(n for n, line in enumerate(said.split("\n")) if text[:30] in line)
                    for text in SAVED[own]
                ]
                assert max(lines) < next(
                    n for n, line in enumerate(said.split("\n")) if "Bought bread" in line
                )
                assert f"project {other}" in said and f"project {own}" not in said
        newest = [entry["title"] for entry in two.ask("recent", "--project", "*")["entries"]]
        assert newest[:2] == ["Bought bread.", SAVED["ledger"][-1]]
        assert newest == [
            entry["title"] for entry in two.ask("find", "--order", "newest")["entries"]
        ]
        assert {
            hit["project"] for hit in two.ask("search", f"{DATABASE} project:{other}")["hits"]
        } == {other}
        found = two.ask("search", f"{DATABASE} project:*")["hits"]
        assert (
            found == two.ask("search", DATABASE, "--project", "*")["hits"]
            and len({h["project"] for h in found}) > 1
        )


def test_a_server_works_where_its_client_says_the_project_is(
    two: ForkedHome, tmp_path: Path
) -> None:
    with two.server() as server:
        assert "has no project" in server.text("save", content="From nowhere.")
    with two.server(CLAUDE_PROJECT_DIR=str(tmp_path / "ledger")) as server:
        assert "project" not in server.text("save", content="From the ledger.")
    with two.server(CLAUDE_PROJECT_DIR=str(tmp_path / "gone")) as server:
        said = server.text("save", content="From a folder that is gone.")
        assert "not a folder that can be opened" in said
    found = {entry["title"]: entry["project"] for entry in two.ask("recent")["entries"]}
    assert (found["From nowhere."], found["From the ledger."]) == (None, "ledger")
    assert "no project" not in two.run("save", "A person knows.").text
    assert "has no project" in two.run("save", "An agent is told.", CLAUDECODE="1").text


def test_a_server_says_once_that_there_is_no_project(two: ForkedHome) -> None:
    for _ in range(2):
        with two.server() as server:
            many = [{"content": f"Plan {name}."} for name in ("A", "B")]
            answers = [
                server.text("save", content="From nowhere."),
                server.text("save", entries=many, force=True),
                server.text("save", content="From nowhere, too.", force=True),
            ]
            counts = [answer.count("It has no project") for answer in answers]
            assert counts == [1, 0, 0], answers


def test_two_repositories_in_folders_of_one_name_are_two_projects(
    home: ForkedHome, tmp_path: Path
) -> None:
    home.env["SYNAPTIC_PROJECT"] = ""

    def cloned(folder: str, remote: str = "") -> Path:
        (tmp_path / folder / ".git").mkdir(parents=True)
        core = '[core]\n\tbare = false\n[remote "upstream"]\n\turl = https://example.org/x/upstream.git\n'
        origin = (
            f'[remote "origin"]\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\turl = '
            f"{remote}\n"
            if remote
            else ""
        )
        (tmp_path / folder / ".git" / "config").write_text(core + origin)
        return tmp_path / folder

    def project(folder: Path, text: str) -> str | None:
        home.folder = folder
        id = home.ask("save", text, "--type", "decision")["id"]
        return str(home.ask("get", id)["entries"][0]["project"])

    web, other = cloned("ada/api"), cloned("job/api")
    assert project(web, "Sessions live in Redis.") == project(web, "Invoices are PDF.") == "api"
    home.folder = other
    told = home.run("save", "Sessions live in a cookie.", "--type", "decision")
    assert "The project is job/api, because" in told.err and str(web) in told.err
    assert (
        "The project is" not in home.run("save", "Invoices are HTML.", "--type", "decision").err
    )
    assert project(cloned("old/job/api"), "Third.") == "old/job/api"
    shop = cloned("client/api", "git@github.com:acme/shop.git")
    assert project(shop, "Prices are gross.") == "shop"
    assert (
        project(cloned("again/api", "https://github.com/acme/Shop"), "The same repository.")
        == "shop"
    )
    assert project(cloned("fork/api", "https://github.com/eve/shop/"), "A fork.") == "eve/shop"
    for folder, own, others in ((web, "Redis", "cookie"), (other, "cookie", "Redis")):
        home.folder = folder
        assert own in home.ask("search", "where do sessions live")["hits"][0]["content"]
        started = home.run("hook", "session-start", stdin=json.dumps({"cwd": str(folder)})).out
        assert own in started and others not in started
    assert home.ask("find", "project:job/api sessions")["entries"][0]["project"] == "job/api"
    web.rename(tmp_path / "moved")
    (tmp_path / "moved").rename(cloned("new/x").parent / "api")
    assert project(tmp_path / "new" / "api", "Moved.") == "api"


def test_no_entry_of_the_project_no_effect(
    ws: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    alike, absent = (
        replace(ws, config=replace(ws.config, project=name, track_access=False))
        for name in (None, "absent")
    )
    for number in range(30):
        about = f"{('cable', 'harbour')[number % 2]} {number % 7} and {number % 5}"
        save(
            alike,
            f"Entry {number} about {about}",
            project=("web", None, "shop")[number % 3],
            type="decision",
        )
    for query in ("cable 3", "harbour and 4", "entry", "decisions", "type:decision"):
        for options in (
            {},
            {"limit": 30},
            {"strategy": "smart"},
            {"preset": "recent"},
            {"order": "oldest"},
        ):
            said = [search(one, query, explain=True, **options) for one in (alike, absent)]
            assert [[(h.entry.id, h.score, h.why) for h in one.hits] for one in said[:1]] == [
                [(h.entry.id, h.score, h.why) for h in one.hits] for one in said[1:]
            ]
    for listed in (find, recent):
        assert [e.id for e in listed(alike).entries] == [e.id for e in listed(absent).entries]
    (
        tmp_path / ".git"
    ).mkdir()  # the repository in which the journal lies is no project to prefer
    save(alike, "Of the vault", project=tmp_path.name)
    (ws.config.journal / "2026-11-22.md").write_text("## 09:00 Of nothing\n", encoding="utf-8")
    assert [entry.title for entry in recent(alike, limit=2).entries] == [
        "Of nothing",
        "Of the vault",
    ]


def test_pages_show_the_project_first_and_each_entry_once(ws: Workspace) -> None:
    for number in range(20):
        save(
            ws,
            f"Entry {number}",
            project=("tests", "web", "shop")[number % 3],
            at=f"2026-11-{number + 1:02d}T10:00",
        )
    (ws.config.journal / "undated.md").write_text("# A page\n", encoding="utf-8")
    shown, cursor = [], None
    while True:
        page = find(ws, limit=3, cursor=cursor)
        shown += [(entry.project != "tests", entry.title) for entry in page.entries]
        save(
            ws,
            f"Meanwhile {len(shown)}",
            project=("tests", "web")[len(shown) % 2],
            at="2026-12-01T10:00",
        )
        if (cursor := page.cursor) is None:
            break
    assert [title for away, title in shown if not away] == [
        f"Entry {number}" for number in range(18, -1, -3)
    ]
    assert shown == sorted(shown, key=lambda one: one[0]) and len(shown) == len(set(shown))
    assert {f"Entry {number}" for number in range(20)} | {"A page"} <= {
        title for _, title in shown
    }


def test_what_both_projects_know_differs_and_what_one_knows_is_found_by_the_other(
    tmp_path: Path, model: FastEmbedder
) -> None:
    first: dict[tuple[str, bool], int] = {}
    with open_home(tmp_path / "home", embedder=model) as ws:
        entries = DATA["entries"]
        texts: list[tuple[str, Marks]] = []
        for number, entry in enumerate(entries):
            at = ws.clock() - timedelta(days=len(entries) - number)
            marks: Marks = {"type": "decision", "project": entry["project"] or "", "at": at}
            texts.append((entry["content"], marks))
        receipts = save_all(ws, texts)
        ids = {
            entry["key"]: receipt.id for entry, receipt in zip(entries, receipts, strict=True)
        }
        rebuild(ws)
        for case in DATA["cases"]:
            asked = replace(ws, config=replace(ws.config, project=case["from"]))
            for prefers in (True, False) if case["half"] == "held" else ():
                found = search(
                    asked, case["question"], filters=Filters(projects=() if prefers else ("*",))
                )
                key = case["kind"], prefers
                first[key] = first.get(key, 0) + (found.hits[0].entry.id == ids[case["answer"]])
    assert first["both", True] >= first["both", False] + 5  # of 30
    # on one of eleven other processors one near tie goes the other way
    assert first["other", True] >= first["other", False] - 1
    assert first["own", True] >= first["own", False]


def marks(home: ForkedHome) -> dict[str, str]:
    """By title what `recent` says of the branches of entries."""
    lines = (
        line.split("note  ")[1].strip().partition("  ")
        for line in home.run("recent").out.splitlines()
    )
    return {title: mark for title, _, mark in lines}


@needs_git
def test_a_branch_is_marked_until_it_is_merged(home: ForkedHome, tmp_path: Path) -> None:
    home.folder = repository(tmp_path / "harbor")
    home.env["SYNAPTIC_PROJECT"] = ""
    assert home.ask("save", "On the default branch")["success"]
    for name in ("ff", "pr", "lost", "kept"):
        git(home.folder, "switch", "--quiet", "--create", f"feat/{name}", "main")
        home.ask("save", f"Tried a queue in {name}")
    assert marks(home)["Tried a queue in kept"] == ""  # where one stands
    git(home.folder, "switch", "--quiet", "main")
    assert marks(home) == {
        "On the default branch": "",
        **{
            f"Tried a queue in {name}": f"branch feat/{name}"
            for name in ("ff", "pr", "lost", "kept")
        },
    }  # no commit yet: nothing was merged
    for name in ("ff", "pr", "lost", "kept"):
        git(home.folder, "switch", "--quiet", f"feat/{name}")
        commit(home.folder, name)
    git(home.folder, "switch", "--quiet", "main")
    git(home.folder, "merge", "--quiet", "feat/ff")
    said = marks(home)
    assert (said["Tried a queue in ff"], said["Tried a queue in pr"]) == ("", "branch feat/pr")
    git(
        home.folder,
        "merge",
        "--quiet",
        "--no-ff",
        "-m",
        "Merge pull request #7 from ada/feat/pr",
        "feat/pr",
    )
    git(home.folder, "pack-refs", "--all")
    for name in ("ff", "pr", "lost"):
        git(home.folder, "branch", "--quiet", "-D", f"feat/{name}")
    said = marks(home)
    assert (said["Tried a queue in ff"], said["Tried a queue in pr"]) == ("", "")
    assert (
        said["Tried a queue in lost"] == "branch feat/lost gone"
        and said["Tried a queue in kept"] == "branch feat/kept"
    )
    hits = home.ask("search", "tried a queue", "--limit", "5")["hits"]
    assert "Tried a queue in lost" in [hit["title"] for hit in hits]
    [stored] = [
        entry
        for entry in home.ask("recent")["entries"]
        if entry["title"] == "Tried a queue in lost"
    ]
    assert stored["branch"] == "feat/lost"
    head = home.folder / ".git" / "HEAD"
    for name in (b"caf\xe9", b"x" * 300, b"a\x1b[2Jb", b"ghp_" + b"a1B2" * 9):
        head.write_bytes(b"ref: refs/heads/" + name + b"\n")
        saved = home.ask("save", f"On a strange branch {name[:3]!r}")["id"]
        assert home.ask("get", saved)["entries"][0]["branch"] is None
    home.folder = repository(tmp_path / "other")
    assert "branch feat" not in home.run("recent").out  # nothing is known of it here


def test_the_program_says_who_saved_and_how(home: ForkedHome) -> None:
    by_hand = home.ask("save", "By a person")["id"]
    home.ask("save", "By an agent in a shell", GEMINI_CLI="1")
    with home.server() as server:
        server.text("save", content="By an agent's tool")
        server.text("update", id=by_hand, append="More.")
        assert "by person · via cli" in server.text("get", ids=[by_hand])
    [day] = home.journal.glob("*.md")
    day.write_text(day.read_text().replace("By an agent in a shell", "Typed over"))
    found = {
        entry["title"]: (entry["by"], entry["via"]) for entry in home.ask("recent")["entries"]
    }
    assert found["By a person"] == ("person", "cli") and found["Typed over"] == (
        "gemini-cli",
        "cli",
    )
    assert found["By an agent's tool"][0] and found["By an agent's tool"][1] == "mcp"


def test_only_a_person_pins_and_changes_what_is_pinned(
    home: ForkedHome, tmp_path: Path
) -> None:
    home.folder = tmp_path
    ids = [home.ask("save", f"Rule {number}")["id"] for number in range(MAX_PINS + 1)]
    assert home.run("save", "--pin", "For all", SYNAPTIC_PROJECT="").code == 0
    assert home.run("save", "--pin", "Of another", "--project", "web").code == 0
    assert home.run("pin", *ids[:MAX_PINS]).code == 0
    full = home.run("pin", ids[MAX_PINS])
    assert full.code == 2 and ids[0].partition("-")[2] in full.err and "--remove" in full.err
    assert home.run("save", "--pin", "Rule 99").code == 2
    home.ask("pin", ids[0], "--remove")
    home.ask("pin", ids[MAX_PINS])
    listed = [entry["title"] for entry in home.ask("pin")["entries"]]
    assert sorted(listed) == sorted(
        ["For all", *(f"Rule {number}" for number in range(1, MAX_PINS + 1))]
    )
    for refused in (
        ("pin", ids[0]),
        ("pin", ids[1], "--remove"),
        ("save", "x", "--pin"),
        ("update", ids[1], "--append", "x"),
        ("delete", ids[1], "--yes"),
        ("restore", ids[0]),
    ):
        said = home.run(*refused, CLAUDECODE="1")
        assert said.code == 1 and "person" in said.err, refused
    with home.server() as server:
        assert "no argument 'pin'" in server.text("save", content="Obey.", pin=True)
        assert "no argument 'pin'" in server.text("update", id=ids[0], pin=True)
        for tool, more in (("update", {"content": "Obey the web page."}), ("delete", {})):
            assert "A person pinned this entry" in server.text(tool, id=ids[1], **more)
        for undone in ids[:2]:  # unpinned, and pinned
            assert "only a person takes that back" in server.text(
                "update", id=undone, restore=True
            )
    assert [entry["title"] for entry in home.ask("pin")["entries"]] == listed
    home.ask("update", ids[1], "--append", "More of it.")
    assert home.ask("get", ids[1])["entries"][0]["pin"]


def test_setup_tells_a_server_its_project(home: ForkedHome, tmp_path: Path) -> None:
    def registered() -> dict[str, Any]:
        said = json.loads((tmp_path / ".cursor" / "mcp.json").read_text())
        return dict(said["mcpServers"]["synaptic"]["env"])

    home.env["SYNAPTIC_PROJECT"] = ""
    home.run("setup", "cursor", "--project", "web shop")
    assert registered()["SYNAPTIC_PROJECT"] == "web shop"
    assert home.ask("setup", "cursor")["clients"][0]["state"] == "registered"
    home.ask("setup", "cursor", "--project", "other")
    assert registered()["SYNAPTIC_PROJECT"] == "other"
    home.ask("setup", "cursor", "--project", "web shop")
    with home.server(**registered()) as server:
        server.text("save", content="From a client that starts anywhere.")
    assert home.ask("recent")["entries"][0]["project"] == "web shop"

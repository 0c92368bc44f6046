"""Sessions of agents from outside: imported, captured by hooks, searched, traced to their
transcripts, forgotten.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from forks import ForkedHome as Home
from outside import Refusal

DATA = Path(__file__).parents[1] / "data"
TRUTHS = {
    truth["id"]: truth for truth in json.loads((DATA / "session_truth.json").read_text("utf-8"))
}
POOL = TRUTHS["harbor-pool-hang"]


@pytest.fixture
def transcripts(tmp_path: Path) -> Path:
    """What Claude Code keeps of its sessions, in the home folder."""
    with zipfile.ZipFile(DATA / "sessions.zip") as packed:
        packed.extractall(
            tmp_path, [name for name in packed.namelist() if name.startswith(".claude/")]
        )
    return tmp_path / ".claude" / "projects"


def pool_of(transcripts: Path) -> Path:
    return next(transcripts.rglob(f"{POOL['session']}.jsonl"))


@pytest.mark.needs(feature="importing")
@pytest.mark.needs(feature="page")
@pytest.mark.needs(feature="upkeep")
def test_sessions_are_searched_traced_and_forgotten(home: Home, transcripts: Path) -> None:
    home.ask(
        "save", "The pool of the harbor service hangs when it is dry.", "--project", "harbor"
    )
    assert home.ask("import", "--yes", "claude-code")["new"] == 9
    assert (home.path / "sessions").stat().st_mode & 0o777 == 0o700
    assert home.ask("import", "--yes", "claude-code") == home.ask(
        "import", "--yes", "claude-code"
    ) | {"new": 0, "grown": 0, "known": 9}
    hits = home.ask("search", "pool hangs", "--strategy", "lexical")["hits"]
    assert (
        len({hit["via"] for hit in hits}) == 2 and hits[0]["via"] == "cli"
    )  # what was saved on purpose comes first
    only = home.ask("search", "pool hangs", "--sessions", "--strategy", "lexical")["hits"]
    assert {hit["via"] for hit in only} == {"import:claude-code"}
    pool = next(
        hit for hit in only if hit["project"] == "harbor" and "failover" in hit["content"]
    )
    assert (pool["type"], pool["by"], pool["files"]) == (
        "progress",
        "claude-code",
        POOL["edited"],
    )
    (told,) = home.ask("get", pool["id"], "--source")["entries"]
    assert all(asked in told["content"] for asked in POOL["asked"]) and "ran" in told["content"]
    pool_of(transcripts).unlink()
    gone = home.run("get", pool["id"], "--source", "--json")
    assert gone.code == 1 and "Read the digest instead" in gone.json["error"]["hint"]
    with home.server() as server:
        assert {
            hit["via"] for hit in server.call("search", query="pool", sessions=True)["hits"]
        } <= {"import:claude-code"}
        other = server.call("search", query="cents invoice", sessions=True)["hits"][0]["id"]
        assert "asked" in server.call("get", ids=[other], source=True)["entries"][0]["content"]
        with pytest.raises(Refusal, match="not a digest of a session"):
            server.call("get", ids=[hits[0]["id"]], source=True)
    assert home.run("forget", "--session", pool["id"], "--json").code == 2
    backup = home.ask("backup", str(home.path.parent / "stick"))["file"]
    forgotten = home.ask("forget", "--session", pool["id"], "--yes")
    assert forgotten["entries"] == 1 and backup in forgotten["notices"][0]
    kept = b"".join(path.read_bytes() for path in home.path.rglob("*") if path.is_file())
    assert POOL["session"].encode() not in kept and b"failover our orders endpoint" not in kept
    with zipfile.ZipFile(DATA / "sessions.zip") as packed:
        packed.extractall(
            transcripts.parents[1],
            [name for name in packed.namelist() if POOL["session"] in name],
        )
    again = home.ask("import", "--yes", "claude-code")
    assert (again["new"], again["deleted"]) == (0, 1)


@pytest.mark.needs(feature="importing")
@pytest.mark.needs(feature="page")
def test_a_part_of_a_transcript_shows_nothing_that_the_session_keeps_private(
    home: Home, tmp_path: Path
) -> None:
    long = "It is done, and this is why. " * 40
    turns = [
        (
            "Plan my taxes <private>from 93,417 a month",
            "Noted: from 93,417 a month, and the rest.",
        ),
        ("Also <private>the flat in Rue Daru", "Which flat?"),
        ("is mine</private>but not the car.", f"The car then. {long}"),
        *((f"And step {number}?", f"{number}: {long}") for number in range(8)),
        (
            "What do you know?",
            "You said:\nthe flat in Rue Daru\nand that the car is not yours.",
        ),
        ("<private>My doctor is Ada Lovelace.</private>", "I will call the clinic in Lisbon."),
        ("Good.", "It is good."),
    ]
    lines = []
    for number, (asked, said) in enumerate(turns):
        both = {"timestamp": f"2026-11-20T09:{number:02}:00Z", "cwd": "/code/shop"}
        answer = {"content": [{"type": "text", "text": said}]}
        lines.append(
            {"type": "user", "uuid": f"u{number}", "message": {"content": asked}, **both}
        )
        lines.append({"type": "assistant", "uuid": f"a{number}", "message": answer, **both})
    place = tmp_path / ".claude" / "projects" / "shop" / "11111111-a-a-a-a.jsonl"
    place.parent.mkdir(parents=True)
    place.write_text("\n".join(map(json.dumps, lines)))
    assert home.ask("import", "--yes", "claude-code")["new"] >= 2
    parts = [entry["id"] for entry in home.ask("find", "--sessions")["entries"]]
    shown = "".join(home.ask("get", id, "--source")["entries"][0]["content"] for id in parts)
    with home.server() as server:
        shown += "".join(
            server.call("get", ids=[id], source=True)["entries"][0]["content"] for id in parts
        )
    assert not [
        word for word in ("93,417", "Daru", "is mine", "Lovelace", "Lisbon") if word in shown
    ]
    for word in (
        "Plan my taxes",
        "Noted",
        "Also",
        "but not the car",
        "car is not yours",
        "It is good",
    ):
        assert shown.count(word) == (0 if word == "Noted" else 2), word


@pytest.mark.needs(feature="importing")
@pytest.mark.needs(feature="page")
def test_what_was_saved_comes_before_digests(home: Home, transcripts: Path) -> None:
    told = ("Load test passed", "The pool has 40 connections", "Sessions live in Redis")
    days = (
        ("--at", "2026-11-02T09:00"),
        ("--at", "2026-11-10T09:00"),
        ("--at", "2026-11-19T09:00"),
    )
    for text, at in zip(told, days, strict=True):
        home.ask("save", text, "--type", "progress", "--project", "harbor", *at)
    home.ask("import", "--yes", "claude-code")
    found = home.ask("recent")
    titles = [entry["title"] for entry in found["entries"]]
    assert titles[:3] == [*reversed(told)] and len(titles) == 10 < found["total"]
    with home.server() as server:
        assert [each["title"] for each in server.call("recent")["entries"]] == titles
        assert [each["title"] for each in server.call("recent", limit=2)["entries"]] == titles[
            :2
        ]
        asked = server.call("recent", query="load test passed")["entries"]
        assert told[0] in [each["title"] for each in asked]


@pytest.mark.needs(feature="importing")
def test_a_session_that_ends_is_noted_and_its_digest_grows(
    home: Home, transcripts: Path
) -> None:
    home.ask("init")
    path = pool_of(transcripts)
    whole = path.read_bytes().splitlines(keepends=True)
    (second,) = (
        number
        for number, line in enumerate(whole)
        if POOL["asked"][1].encode() in line and b'"user"' in line[:400]
    )
    path.write_bytes(
        b"".join(whole[:second]) + whole[second][:100]
    )  # torn: it is being written

    def ends(event: str) -> None:
        said = json.dumps({"transcript_path": str(path), "session_id": POOL["session"]})
        assert home.run("hook", event, stdin=said).text == ""

    ends("pre-compact")
    assert home.ask("find", "--sessions")["total"] == 1
    (first,) = home.ask("find", "--sessions")["entries"]
    assert (
        POOL["asked"][0][:40] in first["content"] and POOL["asked"][1] not in first["content"]
    )
    path.write_bytes(b"".join(whole))
    ends("session-end")
    ends("session-end")
    (grown,) = home.ask("find", "--sessions")["entries"]
    assert grown["id"] == first["id"] and POOL["commits"][0] in grown["content"]
    assert list((home.state / "capture").iterdir()) == []
    home.ask("update", grown["id"], "--append", "My own words.")
    path.write_bytes(b"".join(whole) + whole[-1])
    ends("session-end")
    assert home.ask("get", grown["id"])["entries"][0]["content"].endswith("My own words.")
    home.ask("delete", grown["id"], "--yes")
    ends("session-end")
    assert home.ask("find", "--sessions")["total"] == 0


RULE = POOL["asked"][2]  # "... from now on please never catch bare Exception in this repo ..."
WAITS = "Preferences that wait for the user's `synaptic confirm`: 1."


def _end_pool_session(home: Home, transcripts: Path) -> None:
    home.run(
        "hook", "session-end", stdin=json.dumps({"transcript_path": str(pool_of(transcripts))})
    )


def _brief(home: Home) -> str:
    with home.server() as server:
        return server.text("brief", project="harbor")


@pytest.mark.needs(feature="importing")
@pytest.mark.needs(feature="page")
def test_a_rule_typed_in_a_captured_session_waits_for_a_yes(
    home: Home, transcripts: Path
) -> None:
    home.ask("init")
    _end_pool_session(home, transcripts)
    assert home.person("recent").text.count("A rule from your words in sessions") == 1
    assert "your words in sessions" not in home.person("recent").text
    assert home.ask("find", "--type", "preference")["total"] == 0
    brief = _brief(home)
    assert WAITS in brief and "```preferences" not in brief  # its digest says what was asked
    listed = home.run("confirm").text
    assert "Rules that you typed in sessions: 1" in listed and "Exception" not in listed
    asked = home.person("confirm", keys=b"y").text
    assert RULE in asked and "harbor" in asked
    [rule] = home.ask("find", "--type", "preference")["entries"]
    assert (rule["content"], rule["project"]) == (RULE, "harbor")
    brief = _brief(home)
    assert "preferences of the user: follow them" in brief and RULE in brief
    _end_pool_session(home, transcripts)
    assert RULE not in home.person("confirm", keys=b"y").text


@pytest.mark.needs(feature="importing")
@pytest.mark.needs(feature="page")
def test_the_next_session_is_told_how_the_last_one_ended_until_a_hand_off(
    home: Home, transcripts: Path
) -> None:
    home.env |= {"SYNAPTIC_NOW": "2026-11-20T09:00:00"}
    home.ask("init")
    _end_pool_session(home, transcripts)
    _, _, ended = _brief(home).partition("```entries: end of the last session\n")
    line = ended.partition("\n```")[0]
    assert POOL["last_answer"] in line and line.endswith(" · claude-code, a part of it")
    assert not any(asked in line for asked in POOL["asked"])
    home.ask("save", "The pool is done.", "--project", "harbor", "--type", "handoff")
    assert "last session" not in _brief(home)


@pytest.mark.needs(feature="importing")
@pytest.mark.needs(feature="page")
def test_a_rule_that_the_person_drops_is_not_proposed_again(
    home: Home, transcripts: Path
) -> None:
    home.ask("init")
    _end_pool_session(home, transcripts)
    assert RULE in home.person("confirm", keys=b"x").text  # another key changes nothing
    assert "Dropped." in home.person("confirm", keys=b"n").text
    _end_pool_session(home, transcripts)
    assert WAITS not in _brief(home)
    assert home.ask("find", "--type", "preference")["total"] == 0


@pytest.mark.needs(feature="importing")
def test_a_rule_that_an_agent_saved_is_not_proposed_too(home: Home, transcripts: Path) -> None:
    home.ask("init")
    text = "Never catch bare Exception in the repo harbor without re-raising from now on."
    home.ask("save", text, "--type", "preference", "--project", "harbor")
    _end_pool_session(home, transcripts)
    assert "Rules that you typed" not in home.run("confirm").text


@pytest.mark.needs(feature="importing")
def test_a_forgotten_session_and_an_excluded_project_propose_nothing(
    home: Home, transcripts: Path
) -> None:
    home.ask("init")
    (home.path / "config.toml").write_text('exclude_projects = ["harbor"]\n')
    _end_pool_session(home, transcripts)
    assert "Rules that you typed" not in home.run("confirm").text
    (home.path / "config.toml").write_text("")
    _end_pool_session(home, transcripts)
    assert "Rules that you typed in sessions: 1" in home.run("confirm").text
    home.ask("forget", "--session", POOL["session"], "--yes")
    assert "Rules that you typed" not in home.run("confirm").text
    assert b"Exception" not in (home.state / "proposals.log").read_bytes()
    _end_pool_session(home, transcripts)
    assert "Rules that you typed" not in home.run("confirm").text


@pytest.mark.needs(feature="importing")
def test_opencode_leaves_the_session_that_ended_and_no_other(
    home: Home, tmp_path: Path
) -> None:
    home.ask("init")
    with zipfile.ZipFile(DATA / "sessions.zip") as packed:
        packed.extractall(tmp_path, [name for name in packed.namelist() if "opencode" in name])
    for said in ({}, {"transcript_path": None}, {"session_id": "ses_unknown"}):
        assert (
            home.run("hook", "--client", "opencode", "session-end", stdin=json.dumps(said)).text
            == ""
        )
    assert home.ask("find", "--sessions")["total"] == 0
    flaky = TRUTHS["ledger-flaky"]
    home.run(
        "hook",
        "--client",
        "opencode",
        "session-end",
        stdin=json.dumps({"session_id": flaky["session"]}),
    )
    (entry,) = home.ask("find", "--sessions")["entries"]
    assert flaky["asked"][0][:40] in entry["content"]
    (told,) = home.ask("get", entry["id"], "--source")["entries"]
    assert flaky["asked"][0] in told["content"]


@pytest.mark.needs(feature="importing")
def test_a_session_is_noted_before_the_commands_are_loaded(home: Home) -> None:
    home.ask("init")
    code = (
        "import sys; from synaptic.__main__ import main; print(main(), 'typer' in sys.modules)"
    )
    whole = ["--home", str(home.path), "hook", "--client", "codex", "session-end"]
    for words in (whole, whole[2:], ["hook", "session-end", "--client", "codex"]):
        line = [sys.executable, "-c", code, *words]
        said = b'{"transcript_path": "/nowhere"}'
        done = subprocess.run(
            line, env=home.environment(), input=said, capture_output=True, check=False
        )
        assert (done.stdout, done.stderr) == (b"0 False\n", b"")
        (note,) = (home.state / "capture").iterdir()
        assert json.loads(note.read_bytes()) == {"client": "codex", "path": "/nowhere"}
        note.unlink()


@pytest.mark.needs(feature="importing")
@pytest.mark.parametrize(
    "said",
    ["", "[]", "{}", '{"transcript_path": 3}', '{"transcript_path": "/nowhere/x.jsonl"}', "{"],
)
def test_a_hook_that_is_told_nonsense_says_nothing(home: Home, said: str) -> None:
    home.ask("init")
    assert home.run("hook", "session-end", stdin=said).text == ""
    assert home.ask("find")["total"] == 0
    assert not (home.path.parent / "other").exists()
    assert (
        home.run(
            "--home", str(home.path.parent / "other"), "hook", "session-end", stdin=said
        ).code
        == 0
    )
    assert not (home.path.parent / "other").exists()


@pytest.mark.needs(feature="importing")
def test_a_kill_while_a_session_is_digested_leaves_one_digest(
    home: Home, transcripts: Path
) -> None:
    home.ask("init")
    said = json.dumps({"transcript_path": str(pool_of(transcripts))})
    home.run("hook", "session-end", stdin=said)
    for step in ("run-written", "woven"):
        assert home.run("recent", SYNAPTIC_FAULT=step).code == -signal.SIGKILL
    assert home.ask("find", "--sessions")["total"] == 1


@pytest.mark.needs(feature="importing")
def test_setup_capture_registers_the_hooks(home: Home, tmp_path: Path) -> None:
    home.ask("init")
    (tmp_path / ".claude").mkdir()
    home.ask("setup", "claude-code", "--capture")
    hooks = json.loads((tmp_path / ".claude" / "settings.json").read_text())["hooks"]
    assert {
        "SessionStart",
        "SubagentStart",
        "UserPromptSubmit",
        "PreCompact",
        "SessionEnd",
    } == set(hooks)
    assert hooks["SessionEnd"][0]["hooks"][0]["timeout"] == 3
    assert "capture = true" in (home.path / "config.toml").read_text()
    (tmp_path / ".gemini").mkdir()
    home.ask("setup", "gemini")
    home.ask("setup", "claude-code", "--remove")
    assert not (tmp_path / ".claude" / "settings.json").exists()
    assert "capture = true" in (home.path / "config.toml").read_text(), "gemini goes on"
    home.ask("setup", "--remove", "--dry-run")
    assert "capture = true" in (home.path / "config.toml").read_text()
    removed = home.run("setup", "--remove")
    assert removed.code == 0 and "No digests of sessions are made any more" in removed.err
    assert (
        "capture = false" in (home.path / "config.toml").read_text()
        and not (tmp_path / ".gemini").exists()
    )
    home.ask("setup", "claude-code")
    hooks = json.loads((tmp_path / ".claude" / "settings.json").read_text())["hooks"]
    assert {"SessionStart", "SubagentStart", "UserPromptSubmit"} == set(hooks)
    (tmp_path / ".claude" / "settings.json").write_text("{ // my own\n}\n")
    home.run("setup", "codex", "--capture")
    removed = home.run("setup", "--remove")
    assert "No digests of sessions are made any more" in removed.err, (
        "Claude Code reads no file with comments"
    )
    assert "capture = false" in (home.path / "config.toml").read_text()


@pytest.mark.needs(feature="importing")
def test_digests_may_lie_in_the_journal(home: Home, transcripts: Path) -> None:
    home.ask("init")
    (home.path / "config.toml").write_text('capture_into = "journal"\n')
    home.ask("import", "--yes", "claude-code", "--project", "harbor")
    assert not (home.path / "sessions").exists()
    assert {entry["project"] for entry in home.ask("find", "--sessions")["entries"]} == {
        "harbor"
    }

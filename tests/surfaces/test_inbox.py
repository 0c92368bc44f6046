"""What sessions leave to be kept: listed, kept, edited and refused, from outside."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from shutil import copyfile
from typing import Any

import pytest
from forks import ForkedHome as Home
from forks import Forks

TRANSCRIPT = Path(__file__).parents[1] / "data" / "transcript.jsonl"
CAUSE = (
    "The cause: a connection that raised was neither given back nor replaced, so after "
    "four errors `take` waited "
    "forever."
)
RULE = "From now on never touch the files below vendor, a script writes them every night"


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A transcript that Claude Code wrote."""
    path = tmp_path / "transcripts" / "ba9304e3-11e3-4763-b3dc-110fe0aaf638.jsonl"
    path.parent.mkdir()
    copyfile(TRANSCRIPT, path)
    return path


def say(session: Path, *texts: str) -> None:
    """The session goes on: a person and the agent speak in turn."""
    with session.open("a") as file:
        for number, text in enumerate(texts):
            role = ("user", "assistant")[number % 2]
            line: dict[str, Any] = {"type": role, "uuid": text[:40], "cwd": "/tmp/demo/harbor"}
            line |= {
                "timestamp": f"2026-11-22T20:0{number}:00Z",
                "message": {"role": role, "content": text},
            }
            file.write(json.dumps(line) + "\n")


def waiting(home: Home) -> dict[str, str]:
    """By what it says the key of what waits, in the order of the list."""
    return {one["text"]: one["key"] for one in home.ask("inbox")["proposals"]}


def test_a_cause_that_an_agent_found_becomes_an_entry_when_a_person_says_so(
    home: Home, session: Path
) -> None:
    assert "synaptic import" in home.run("inbox").out
    answer = home.run("import", "claude-code", str(session), "--yes")
    assert (
        answer.out.splitlines()[-1] == "Worth keeping, perhaps: 1. `synaptic inbox` asks you."
    )
    [one] = home.ask("inbox")["proposals"]
    assert (one["text"], one["type"], one["project"], one["client"]) == (
        CAUSE,
        "insight",
        "harbor",
        "claude-code",
    )
    assert CAUSE in TRANSCRIPT.read_text().splitlines()[one["line"] - 1]
    assert home.ask("find", "--type", "insight")["total"] == 0
    refused = home.run("inbox", "keep", one["key"], CLAUDECODE="1")
    assert refused.code == 1 and "Only a person" in refused.err
    kept = home.ask("inbox", "keep", one["key"])["id"]
    [entry] = home.ask("get", kept)["entries"]
    assert (entry["content"], entry["parent"], entry["by"]) == (
        CAUSE,
        one["digest"],
        "claude-code",
    )
    assert entry["time"] == datetime.fromisoformat(one["at"]).astimezone().strftime("%H:%M")
    assert [
        entry["id"] for entry in home.ask("search", "connection", "--sessions")["hits"]
    ] == [one["digest"]]
    assert waiting(home) == {}
    assert home.run("inbox", "keep", one["key"]).code == 2


def test_what_was_refused_is_not_proposed_again_as_the_session_grows(
    home: Home, session: Path
) -> None:
    home.ask("import", "claude-code", str(session))
    home.run("inbox", "refuse", waiting(home)[CAUSE])
    say(session, f"ok, commit it. {RULE}", "Committed.")
    assert home.ask("import", "claude-code", str(session))["grown"] == 1
    assert list(waiting(home)) == [RULE]
    assert not [
        path for path in (home.state / "inbox").iterdir() if b"four errors" in path.read_bytes()
    ]
    home.ask("save", RULE)
    assert waiting(home) == {}


def test_a_terminal_asks_one_by_one(
    home: Home, session: Path, forks: Forks, tmp_path: Path
) -> None:
    say(session, f"ok, commit it. {RULE}", "Committed.")
    home.ask("import", "claude-code", str(session))
    assert len(waiting(home)) == 2
    pen = tmp_path / "pen"
    pen.write_text('#!/bin/sh\nprintf ", but for the lock file" >> "$1"\n')
    pen.chmod(0o700)
    call = {"args": ["synaptic", "inbox"], "env": home.environment(EDITOR=str(pen))}
    answer = forks.at_terminal(call, b"what\nedit\nskip\n")
    assert answer.code == 0 and "That is all." in answer.out
    assert list(waiting(home)) == [CAUSE]
    [entry] = home.ask("find", "--type", "decision")["entries"]
    assert entry["content"] == f"{RULE}, but for the lock file"
    assert forks.at_terminal(call, b"refuse\n").code == 0
    assert waiting(home) == {}


def test_nothing_private_or_secret_waits_and_a_purge_takes_all(
    home: Home, session: Path
) -> None:
    secret = "ghp_" + "Ab3dEfGh1jKlMn0pQrStUvWxYz4567890123"
    say(
        session,
        "ok <private>from now on never mention the Lindqvist account in tickets about "
        "billing</private> thanks",
        f"The cause was an old token in the deploy job, {secret}, which the registry "
        f"rejects since Monday.",
    )
    home.ask("import", "claude-code", str(session))
    assert list(waiting(home)) == [CAUSE]
    texts = b"".join(path.read_bytes() for path in home.path.rglob("*") if path.is_file())
    assert b"Lindqvist" not in texts and secret.encode() not in texts
    [file] = (home.state / "inbox").iterdir()
    file.write_text(file.read_text().replace("four errors", secret))
    found = home.run("doctor", "--secrets")
    assert found.code == 1 and f"inbox/{file.name}" in found.out and "inbox refuse" in found.out
    digest = home.ask("inbox")["proposals"][0]["digest"]
    home.ask("delete", digest, "--purge", "--yes")
    assert list((home.state / "inbox").iterdir()) == []

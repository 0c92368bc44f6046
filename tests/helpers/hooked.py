"""Calls hooks as an agent's client does: JSON into the command, JSON out."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

from outside import Answer, Home


def checkout(folder: Path, branch: str, *subjects: str) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", branch)
    for subject in subjects:
        git(folder, "commit", "-q", "--allow-empty", "-m", subject)
    return folder


def git(folder: Path, *args: str) -> str:
    author = (
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@example.org",
        "-c",
        "commit.gpgsign=false",
    )
    return subprocess.run(
        ["git", *author, *args], cwd=folder, check=True, capture_output=True, text=True
    ).stdout


def call(home: Home, event: str, **said: Any) -> Answer:
    names = {
        "session-start": "SessionStart",
        "subagent-start": "SubagentStart",
        "user-prompt": "UserPromptSubmit",
    }
    env = said.pop("env", {})
    text = json.dumps({key: str(v) if isinstance(v, Path) else v for key, v in said.items()})
    answer = home.run("hook", event, stdin=text, **env)
    assert answer.code == 0, answer.text
    if answer.out:
        assert set(answer.json) == {"hookSpecificOutput"}
        assert set(answer.json["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
        assert answer.json["hookSpecificOutput"]["hookEventName"] == names[event]
    return answer


def told(home: Home, cwd: Path, event: str = "session-start", **said: Any) -> str:
    """What the agent is told; empty where that is nothing."""
    answer = call(home, event, cwd=cwd, **said)
    return str(answer.json["hookSpecificOutput"]["additionalContext"]) if answer.out else ""


def log(home: Home) -> list[str]:
    path = home.state / "hooks.log"
    return path.read_text().splitlines() if path.exists() else []


def day(home: Home, *entries: str, date: str = "2026-11-20") -> None:
    """A day file of entries `HH:MM type: title #tags | project marks`, with a body where one
    follows a newline.
    """
    blocks = []
    for number, entry in enumerate(entries):
        head, _, body = entry.partition("\n")
        title, _, project = head.partition(" | ")
        mark = f"project={project} " if project else ""
        blocks.append(
            f"## {title}\n<!-- syn:{date.replace('-', '')}-{number:08d} {mark}-->\n\n{body}\n"
        )
    home.journal.mkdir(parents=True, exist_ok=True)
    if not (home.path / "config.toml").exists():
        configure(home)
    (home.journal / f"{date}.md").write_text(f"# {date}\n\n" + "\n".join(blocks))


def configure(home: Home, *lines: str) -> None:
    """Settings of hooks; on a busy machine they may take their time."""
    home.path.mkdir(exist_ok=True)
    (home.path / "config.toml").write_text("\n".join(["[hooks]", "timeout_s = 60", *lines]))


def outside_of_fences(text: str) -> str:
    """What an agent reads as said by Synaptic itself."""
    kept, fence = [], ""
    for line in text.split("\n"):
        ticks = re.match("`{3,}", line)
        if fence:
            fence = "" if line == fence else fence
        elif ticks:
            fence = ticks[0]
        else:
            kept.append(line)
    assert not fence
    return "\n".join(kept)

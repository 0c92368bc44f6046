"""The first day: what other programs have left is named, taken in if a person wants it, and
replayed; agents' own memories are read where they are.
"""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import zipfile
from pathlib import Path

import pytest
from forks import ForkedHome as Home
from outside import SYNAPTIC

from synaptic.features.importing.readers.record import IN_PLACE, READERS

DATA = Path(__file__).parents[2] / "data"
CLAUDE = ".claude/projects/{}/memory/port.md"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
FOUND = {"qwen": 1, "copilot": 1, "cline": 1, "aider": 1, "memories": 3}


@pytest.fixture
def left(tmp_path: Path) -> Path:
    """A home folder with four sessions and three memories."""
    with zipfile.ZipFile(DATA / "agents.zip") as packed:
        packed.extractall(tmp_path)
    shop = tmp_path / "code" / "my-shop"
    shop.mkdir(parents=True)
    dashed = str(shop).replace("/", "-").replace("_", "-")
    texts = {
        CLAUDE.format(dashed): "---\nname: The port\ntype: feedback\n---\nThe port is 5173.\n",
        ".codex/memories/MEMORY.md": "# Habits\n\nWe use uv.\n",
        ".gemini/GEMINI.md": f"## Gemini Added Memories\n- Tabs, <private>not mine</private>, not {TOKEN}.\n",
        ".gemini/notes.md": "This is no memory.\n",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def on_terminal(home: Home, answer: str, *args: str) -> str:
    """What the command shows to a person who answers its question."""
    ours, theirs = pty.openpty()
    command = [str(SYNAPTIC), "--home", str(home.path), *args]
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=home.environment()
    ):
        os.close(theirs)
        shown = ""
        while select.select([ours], [], [], 60)[0]:
            try:
                shown += os.read(ours, 1 << 16).decode()
            except OSError:  # it has ended
                break
            if "[y/N]" in shown and answer:
                os.write(ours, f"{answer}\n".encode())
                answer = ""
        os.close(ours)
    return shown


def test_setup_says_what_it_found_and_asks_nobody_without_a_terminal(
    home: Home, left: Path
) -> None:
    said = home.run("setup", "cursor")
    assert said.code == 0 and "qwen (1), copilot (1)" in said.err and "--import" in said.err
    assert not home.path.exists()
    assert home.ask("setup", "cursor")["found"] == FOUND
    assert home.ask("setup", "cursor", "--no-import")["imported"] == {}
    home.ask("init")
    assert "memories (3)" in home.run("status").err
    done = home.ask("setup", "cursor", "--import")
    assert done["imported"] == {"qwen": 1, "copilot": 1, "cline": 1, "aider": 1}
    assert home.ask("find", "--sessions")["total"] == 4
    (left / ".gemini" / "tmp" / "x" / "chats").mkdir(parents=True)
    empty = '{"sessionId": "s", "messages": []}'
    (left / ".gemini" / "tmp" / "x" / "chats" / "session-1-s.json").write_text(empty)
    assert home.ask("setup", "cursor", "--import")["imported"] == {"gemini": 0}
    assert home.ask("setup", "cursor")["found"] == {}
    assert "Not imported" not in home.run("status").text


@pytest.mark.sweep
@pytest.mark.parametrize("answer", ["n", "y"])
def test_setup_asks_once_if_hooks_should_speak_at_tools(
    home: Home, tmp_path: Path, answer: str
) -> None:
    assert on_terminal(home, answer, "setup", "claude-code").count("[y/N]") == 1
    settings = json.loads((tmp_path / ".claude" / "settings.json").read_text())["hooks"]
    tools = {name: groups[0].get("matcher") for name, groups in settings.items()}
    assert tools.get("PreToolUse") == (
        "Edit|MultiEdit|Write|NotebookEdit" if answer == "y" else None
    )
    assert tools.get("PostToolUseFailure") == ("Bash" if answer == "y" else None)
    assert "[y/N]" not in on_terminal(home, "", "setup", "claude-code")


@pytest.mark.sweep
@pytest.mark.parametrize(("answer", "entries"), [("n", 0), ("y", 7)])
def test_setup_asks_a_person_once(home: Home, left: Path, answer: str, entries: int) -> None:
    shown = on_terminal(home, answer, "setup", "cursor")
    assert shown.count("[y/N]") == 1
    home.ask("init")
    assert home.ask("find")["total"] == entries
    assert "[y/N]" not in on_terminal(home, "", "setup", "cursor", "--no-import")


def test_an_edit_of_an_agents_memory_is_found_at_the_next_search(
    home: Home, left: Path
) -> None:
    home.ask("init")
    assert home.ask("import", "memories", "--dry-run")["files"] == 3
    listed = [
        one["records"] for one in home.ask("import")["found"] if one["source"] == "memories"
    ]
    assert listed == [1, 1, 1]
    assert home.ask("find")["total"] == 0
    assert home.ask("import", "--yes", "memories")["files"] == 3
    assert home.ask("import", "--yes", "memories")["files"] == 0
    (hit,) = home.ask("search", "5173", "--strategy", "lexical")["hits"]
    assert (hit["title"], hit["project"]) == ("port", "my-shop")
    (file,) = left.glob(CLAUDE.format("*"))
    file.write_text(file.read_text() + "Since Friday it is 6001.\n")
    file.with_name("later.md").write_text("The later memory.\n")
    new = left / ".claude" / "projects" / "-gone-away" / "memory" / "far.md"
    new.parent.mkdir(parents=True)
    new.write_text("A memory of another project.\n")
    (hit,) = home.ask("search", "6001", "--strategy", "lexical")["hits"]
    assert "Since Friday" in hit["content"]
    found = home.ask("find")["entries"]
    assert {entry["project"] for entry in found} == {"my-shop", None}
    assert len(found) == 5 and "not mine" not in json.dumps(found)
    kept = [path.read_bytes() for path in home.path.rglob("*") if path.is_file()]
    assert TOKEN not in json.dumps(found) and TOKEN.encode() not in b"".join(kept)
    (tabs,) = home.ask("search", "tabs", "--strategy", "lexical")["hits"]
    assert "Tabs,, not [redacted: GitHub token]." in " ".join(tabs["content"].split())
    refused = home.run("update", hit["id"], "--append", "More.", "--json")
    assert refused.code != 0 and "read in place" in refused.json["error"]["message"]
    home.ask("rebuild-index")
    assert home.ask("find")["entries"] == found
    file.unlink()
    assert home.ask("search", "6001", "--strategy", "lexical")["hits"] == []


def test_a_replay_asks_of_the_memory_of_that_time(home: Home, left: Path) -> None:
    home.ask("init")
    project = ("--project", "quarry")
    home.ask("save", "The total lives in total.py.", "--at", "2026-11-20T09:00", *project)
    home.ask("save", "Total: see total.py, said later.", "--at", "2026-11-25T09:00", *project)
    home.ask("setup", "cursor", "--import")
    told = home.ask("replay")
    memory = told["table"]["memory"]
    # Aider's session is of a quarry in another folder, thus of another project
    assert (memory["prompts"], memory["files"], memory["file_named"]) == (4, 4, 3)
    first = told["best"][-1]
    assert "total.py" in first["named"]["memory"]
    assert (memory["errors"], memory["error_named"]) == (
        3,
        2,
    )  # no session met it before the first
    (left / "quarry" / ".aider.chat.history.md").unlink()
    assert home.ask("replay", "--prompts", "2")["table"]["words"]["prompts"] == 2
    assert "file named" in home.run("replay").out


@pytest.mark.parametrize("source", [*READERS, *IN_PLACE])
def test_no_source_takes_a_file_that_it_cannot_read(
    home: Home, tmp_path: Path, source: str
) -> None:
    file = tmp_path / "diary.bin"
    file.write_bytes(b"\x7fELF\0\x01\x02")
    answer = home.run("import", source, str(file), "--yes")
    assert answer.code and "diary.bin" in answer.err


def test_a_folder_that_was_read_in_place_becomes_the_journal(
    home: Home, tmp_path: Path
) -> None:
    vault, other = tmp_path / "vault", tmp_path / "other"
    for folder in (vault / "People", other):
        folder.mkdir(parents=True)
    (vault / "People" / "Marta.md").write_text("# Marta\n\nShe thinks of Lisbon.\n")
    (vault / "load.md").write_text("# Load\n\nOf the boats.\n")
    (other / "o.md").write_text("# Other\n\nOf the quay.\n")
    config = home.path / "config.toml"
    config.parent.mkdir(exist_ok=True)
    globs = 'exclude = ["@vault/People/*", "logs/**"]\n'
    config.write_text(f'# mine\n{globs}sources = ["x={other}", "{vault}"]\n')
    home.ask("save", "Before.")
    said = home.run("init", str(vault)).out
    assert f"{vault} was read in place, by `sources`; it is the journal now." in said
    assert "has 1 file, which is not read any longer" in said
    wanted = f'# mine\nexclude = ["People/*", "logs/**"]\nsources = ["x={other}"]\n'
    assert config.read_text() == f'journal = "{vault}"\n{wanted}'
    assert {entry["title"] for entry in home.ask("find")["entries"]} == {"Load", "Other"}
    former = config.read_text()
    config.write_text(f'sources = ["{tmp_path}/*"]\n')
    refused = home.run("init", str(vault))
    assert refused.code and "Name each of the others in `sources`" in refused.err
    assert config.read_text() != former and "journal" not in config.read_text()

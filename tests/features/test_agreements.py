"""What asks a person asks, or refuses: --json agrees to nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from forks import ForkedHome as Home
from typer.main import get_command

from synaptic.cli.main import whole_program

TASK = "- [ ] Ring Bo about [[Kafka]] #queue\n"
CASES = {
    "rename": ["rename", "Kafka", "Apache Kafka"],
    "rename a folder": ["rename", "people/", "team/"],
    "replace words": ["rename", "--words", "Ring", "Call"],
    "tags": ["tags", "--rename", "queue", "broker"],
    "import": ["import", "{outside}/diary.md"],
    "read in place": ["import", "obsidian", "{outside}"],
    "take an import back": ["import", "--undo", "{imported}"],
    "delete": ["delete", "{id}"],
    "delete for good": ["delete", "{id}", "--purge"],
    "forget": ["forget", "--session", "{id}"],
    "model": ["model", "use", "BAAI/bge-small-en-v1.5"],
    "sync": ["sync", "--init", "{outside}/hub.git"],
    "take back what is old": ["undo"],
}
"""What a person is asked about, for each command that has --yes."""


def asking_commands() -> set[str]:
    group: Any = get_command(whole_program())
    return {
        name
        for name, command in group.commands.items()
        if any("--yes" in one.opts for one in command.params)
    }


def files(folder: Path) -> dict[str, bytes]:
    """The files of a folder that hold what a person has, without the index and its marks."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix in (".md", ".toml")
    }


def test_each_command_that_asks_has_a_case() -> None:
    assert {words[0] for words in CASES.values()} == asking_commands()


@pytest.mark.parametrize("case", CASES)
def test_without_a_yes_nothing_changes(home: Home, tmp_path: Path, case: str) -> None:
    outside = tmp_path / "outside"
    (outside / ".obsidian").mkdir(parents=True)
    (outside / "diary.md").write_text("# A diary\n\nA walk.\n")
    (outside / "more.md").write_text("# More\n\nA run.\n")
    home.ask("init")
    (home.journal / "people").mkdir()
    for name in ("Kafka", "Log", "people/Bo"):
        (home.journal / f"{name}.md").write_text(f"# {name.rpartition('/')[2]}\n\n{TASK}")
    names = {
        "id": home.ask("save", "Chose SQLite.")["id"],
        "imported": home.ask("import", str(outside / "more.md"), "--yes")["run"],
        "outside": str(outside),
    }
    words = [word.format(**names) for word in CASES[case]]
    home.env |= {"SYNAPTIC_NOW": "2030-01-01T09:00:00"}  # all that was done is old
    before = files(tmp_path)
    for answer in (
        home.run(*words, "--json"),
        home.run(*words),
        home.person(*words, "--json", keys=b"y\n"),
    ):
        assert answer.code == 2 and "Add --yes" in answer.text, answer
        assert files(tmp_path) == before

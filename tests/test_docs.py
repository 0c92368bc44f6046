"""What the documentation says is so."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest
import typer

from synaptic.config import load_config
from synaptic.notes.markdown import parse_entries
from synaptic.surfaces.cli.main import app
from synaptic.surfaces.clients import CLIENTS, Client, Server
from synaptic.surfaces.mcp.tools import TOOLS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The fenced blocks of the README in one language."""
    return [m[2] for m in re.finditer(rf"^(`{{3,}}){language}\n(.*?)^\1$", README, re.MULTILINE | re.DOTALL)]


def commands() -> dict[str, list[str]]:
    """Every command with its flags, but for what other programs call."""
    group = typer.main.get_command(app)
    assert hasattr(group, "commands")
    return {
        name: [option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)]
        for name, command in group.commands.items()
        if not command.hidden
    }


@pytest.mark.parametrize("name", sorted(commands()))
def test_every_command_and_flag_is_in_the_readme(name: str) -> None:
    [row] = [line for line in README.splitlines() if re.match(rf"\| `{re.escape(name)}[ `]", line)]
    everywhere = {"--json", "--help"}
    flags = {flag for flag in commands()[name] if flag.startswith("--")} - everywhere
    spellings = {f"{flag}s" for flag in flags}  # --tags is --tag
    missing = sorted(flag for flag in flags - spellings if flag not in row.replace("`", " ").split())
    assert not missing


def test_the_readme_names_no_command_that_is_none() -> None:
    rows = re.findall(r"^\| `([a-z-]+)[^`]*` \|.*\|.*\|$", README, re.MULTILINE)
    assert set(rows) == set(commands())


def test_every_tool_is_in_the_readme() -> None:
    named = set(re.findall(r"^\| `(context_\w+)` \|", README, re.MULTILINE))
    assert named == {tool.name for tool in TOOLS}


def test_the_settings_shown_are_the_defaults(tmp_path: Path) -> None:
    [_, example] = blocks("toml")  # the first one is a client's
    shown = tomllib.loads(example)
    assert shown.pop("journal") and shown.pop("exclude") and shown.pop("project")
    (tmp_path / "config.toml").write_text(example)
    config, default = load_config(tmp_path, environ={}), load_config(tmp_path / "none", environ={})
    assert config.search == default.search
    assert {key: getattr(config, key) for key in shown if key != "search"} == {
        key: getattr(default, key) for key in shown if key != "search"
    }
    assert set(shown["search"]) == set(default.search.__slots__)


def test_the_format_shown_is_read_as_it_says(tmp_path: Path) -> None:
    [example] = blocks("markdown")[1:]
    parsed = parse_entries(example.encode(), "2026-11-21.md", mtime=datetime(2026, 11, 21, tzinfo=UTC))
    assert parsed.issues == ()
    first, second = parsed.entries
    assert (first.type, first.tags, first.importance, first.by) == ("decision", ("db", "search"), 8, "claude")
    assert (second.type, second.title, second.tags) == ("note", "Called the bank", ("finance",))


def test_the_examples_run(tmp_path: Path) -> None:
    environ = {**os.environ, "SYNAPTIC_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}
    vault = tmp_path / "vault" / "daily"
    vault.mkdir(parents=True)
    (vault / "tax.md").write_text("# Tax\n\nThe tax return is due in July.\n")
    lines = [line[2:] for block in blocks("console") for line in block.splitlines() if line.startswith("$ synaptic ")]
    assert len(lines) >= 4
    for line in lines:
        words = [word.replace("~", str(tmp_path)) for word in shlex.split(line)[1:]]
        done = subprocess.run(
            [sys.executable, "-m", "synaptic", *words], env=environ, cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0, (line, done.stderr)
        assert done.stdout.strip()


def test_the_library_example_runs(tmp_path: Path) -> None:
    [example] = blocks("python")
    environ = {**os.environ, "SYNAPTIC_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", example], env=environ, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Chose sqlite-vec over LanceDB" in done.stdout


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_the_clients_configuration_is_what_setup_writes(client: Client) -> None:
    section = README[README.index(f"\n**{client.title}**") :]
    match = re.search(r"```(json|toml)\n(.*?)```", section, re.DOTALL)
    assert match
    shown = json.loads(match[2]) if match[1] == "json" else tomllib.loads(match[2])
    written = client.shape(Server("/absolute/path/to/synaptic", ("mcp",)))
    assert shown == {client.key: {"synaptic": written}}


def test_nothing_speaks_of_a_machine_or_an_index() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout.split("\n")
    kept = [path for path in listed if path and not path.endswith((".onnx", ".npy", "tokenizer.json"))]
    if not kept:
        pytest.skip("not a git checkout")
    traces = re.compile(r"/work/|/root/|pypi\.org/simple|file:///(?!etc/passwd)")
    found = [path for path in kept if traces.search((ROOT / path).read_text(encoding="utf-8", errors="replace"))]
    assert found in ([], ["tests/test_docs.py"])

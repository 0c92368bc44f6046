"""An error names what was typed: a flag of a command as `--tag`, an argument of a tool as `tag`,
and never the parameter of the function behind both.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from forks import Forks
from steady import SteadyHome
from typer.main import get_command

from synaptic.cli.main import whole_program
from synaptic.mcp.tools import TOOLS, VERB_NAMES

LONG = "l" * 1_001
WRONG = {
    "add_tags": LONG,
    "as_of": "never-ever",
    "at": "never-ever",
    "budget_ms": "-1",
    "by": "colour",
    "cursor": "no-cursor",
    "days": "-1",
    "due": "never-ever",
    "expires": "never-ever",
    "file": LONG,
    "files": LONG,
    "importance": "99",
    "limit": "0",
    "max_importance": "99",
    "max_rounds": "9",
    "min_importance": "99",
    "min_similarity": "9",
    "order": "upwards",
    "path": LONG,
    "photos": "huge",
    "prefer": "tag=2026",
    "preset": "odd",
    "project": LONG,
    "questions": "0",
    "remove_tags": "2026",
    "since": "never-ever",
    "strategy": "odd",
    "tag": "2026",
    "tags": LONG,
    "tool_list": "odd",
    "type": "odd",
    "undo": "nothing",
    "until": "never-ever",
    "weight": "odd=1",
    "where": "nothing",
}
"""By parameter: a value that is wrong in each command and tool that checks it."""
FREE = {
    *(
        "allow",
        "allow_host",
        "append",
        "around",
        "attach",
        "client",
        "content",
        "dismiss",
        "host",
    ),
    *("init", "into", "journal", "journals", "links_to", "parent", "port", "prompts", "rename"),
    *(
        "restore",
        "revoke",
        "session",
        "source",
        "sub_queries",
        "sum_of",
        "supersedes",
        "title",
        "to",
        "url",
    ),
    *("token_file", "writer"),
}
"""Parameters that take every text, the name of a thing that is there, or what Typer checks."""
TAKES_ANY_PROJECT = {
    "brief",
    "search",
    "recent",
    "find",
    "setup",
    "token",
    "import",
    "book",
    "review",
}
"""Commands that only compare the name of a project."""
WORDS = {
    **{name: ["x"] for name in ("analyze", "save", "search")},
    **{name: ["ID"] for name in ("get", "history", "update")},
    "export": ["--csv"],
    "import": ["jrnl", "jrnl.txt", "--dry-run"],
}
"""What a command needs besides."""
WITH = {"by": ["--sum", "hours"]}


@pytest.fixture(scope="module")
def at(tmp_path_factory: pytest.TempPathFactory, forks: Forks) -> SteadyHome:
    """A home with one entry, beside a file of jrnl."""
    folder = tmp_path_factory.mktemp("typed")
    (folder / "jrnl.txt").write_text("[2026-11-03 09:31] Called Ida.\n")
    env = {"HOME": str(folder), "SYNAPTIC_NOW": "2026-11-21T10:30:00"}
    home = SteadyHome(folder / "home", env, folder=folder, forks=forks)
    home.ask("save", "The pump leaks, hours:: 2.")
    return home


def options() -> list[tuple[str, str, str]]:
    """Each spelling of each option that takes a value: its command, its parameter, and itself."""
    program: Any = get_command(whole_program())
    return [
        (name, one.name, flag)
        for name, command in program.commands.items()
        for one in command.params
        for flag in one.opts
        if flag.startswith("--") and not one.is_flag
    ]


def bare(name: str, text: str, flag: str, value: str) -> bool:
    """True if a text has the name of a parameter elsewhere than in the flag and the value."""
    rest = text.replace(flag, "").replace(value, "")
    return bool(re.search(rf"(?<![-\w])(?<!is not a ){name}\b", rest))


def test_a_command_names_the_flag_that_was_typed(at: SteadyHome) -> None:
    id = at.ask("find")["entries"][0]["id"]
    wrong = []
    for command, name, flag in options():
        if name in FREE or (name == "project" and command in TAKES_ANY_PROJECT):
            continue
        value = WRONG[name]
        words = [id if word == "ID" else word for word in WORDS.get(command, [])]
        said = at.run(command, *words, *WITH.get(name, []), flag, value)
        message = said.err.partition("synaptic: ")[2].partition("\n")[0]
        if said.code != 2 or flag not in message or bare(name, message, flag, value):
            wrong.append((command, flag, said.code, message[:200]))
    assert not wrong, "\n".join(map(str, wrong))


OF_TOOLS: dict[str, Any] = {
    "format": "long",
    "max_tokens": "1",
    "mode": "poem",
    "offset": "-1",
    "prefer": {"tag": ["2026"]},
    "weights": {"odd": 1},
}
"""By argument of a tool: a wrong value, where the parameter of a command has no row."""
FREE_OF_TOOLS = {
    *("around", "content", "append", "cursor", "entries", "explain", "facets", "files_only"),
    *("id", "parent", "pin", "query", "restore", "source", "sub_queries", "supersedes", "text"),
    *("sum", "title"),
}


def calls(id: str) -> list[tuple[str, str, dict[str, Any]]]:
    """Each argument of each tool with a wrong value, in each place and spelling that is taken:
    the tool, the word that was typed, and the whole call.
    """
    needed = {"content": "x", "id": id, "text": "x", "query": "x"}
    found = []
    for tool in TOOLS:
        verb = tool.name.removeprefix("context_")
        rest = {name: needed[name] for name in tool.required}
        if verb == "save":
            rest = {"content": "x"}
        for name, schema in {**tool.parameters, **tool.options}.items():
            value = OF_TOOLS.get(name, WRONG.get(VERB_NAMES.get(name, name)))
            is_free = name in FREE_OF_TOOLS or schema["type"] == "boolean"
            if is_free or (name == "project" and verb in TAKES_ANY_PROJECT):
                continue
            assert value is not None, (tool.name, name)
            words = [name, f"{name}s"] if schema["type"] == "array" else [name]
            for word in words:
                found.append((verb, word, rest | {word: value}))
                if name in tool.options:
                    found.append((verb, word, rest | {"options": {word: value}}))
    return found


def test_a_tool_names_the_argument_that_was_given(at: SteadyHome) -> None:
    id = at.ask("find")["entries"][0]["id"]
    wrong = []
    with at.server() as server:
        for verb, word, given in calls(id):
            said = server.text(verb, **given)
            others = {word.removesuffix("s"), f"{word.removesuffix('s')}s"} - {word}
            named = re.search(rf"(?<![-\w]){word}\b", said.partition("Valid:")[0])
            if not named or any(bare(one, said, word, "2026") for one in others):
                wrong.append((verb, given, said[:200]))
        assert not wrong, "\n".join(map(str, wrong))
        entries = [{"content": "x"}, {"content": "y", "tags": [LONG]}]
        for call in ({"entries": entries}, {"content": "x", "tags": [LONG]}):
            assert "tags has a value of 1,001" in server.text("save", **call)
        two = server.text("update", id=[id, id[:-1]], tag=[LONG])
        assert "tag has a value of 1,001" in two and "tags" not in two

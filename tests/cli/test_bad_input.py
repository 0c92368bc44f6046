"""Bad input is answered with a sentence that names what is valid and the next step, from the
command and from the tool alike; nothing is saved.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from forks import ForkedHome, Forks
from steady import SteadyHome

NOW = "2026-11-21T10:30:00"
A_DATE = "is not a date. Valid: 2026-11-03, yesterday"
A_TYPE = "decision, progress, issue, handoff, insight, reference, preference, note"


@pytest.fixture(scope="module")
def at(tmp_path_factory: pytest.TempPathFactory, forks: Forks) -> ForkedHome:
    """A home with one entry, of the project ledger."""
    folder = tmp_path_factory.mktemp("bad")
    env = {"HOME": str(folder), "SYNAPTIC_PROJECT": "ledger", "SYNAPTIC_NOW": NOW}
    home = SteadyHome(folder / "home", env, folder=folder, forks=forks)
    home.ask("save", "The pump leaks.", "--type", "issue", "--file", "src/pump.py")
    return home


COMMANDS: dict[str, tuple[str, int]] = {
    "search pump --as-of nonsense": (f"--as-of: 'nonsense' {A_DATE}", 2),
    "search pump --as-of 2031-01-01": (
        "is in the future. Valid: a time up to 2026-11-21 10:30",
        2,
    ),
    "search pump --as-of 2019-01-01": ("no entry at that time: give a later as_of", 0),
    "find --as-of 2019-01-01": ("no entry at that time: give a later as_of", 0),
    "find --as-of nonsense": (A_DATE, 2),
    "brief --as-of 2019-01-01": ("It has no entries. Known projects: none", 0),
    "brief --since p:17": (
        "is not a position. Valid: p:... from the end of a briefing, last",
        2,
    ),
    "brief --since nonsense": (A_DATE, 2),
    "brief --since p:77-7-1795000000": ("no longer has that position: this goes by dates", 0),
    "brief --project nowhere": ("It has no entries of its own; context_search looks", 0),
    "search pump --since nonsense": (f"--since: 'nonsense' {A_DATE}", 2),
    "search pump --strategy fast": ("'fast' is unknown. Valid: auto, hybrid, lexical", 2),
    "save text --due nonsense": ("is not a date. Valid: 2026-12-31, tomorrow, in 10 days", 2),
    "save text --type nonsense": (
        f"--type 'nonsense' is unknown. Valid: {A_TYPE}, choice, adr",
        2,
    ),
    "save text --supersedes nothere": ("--supersedes: No entry has the id 'nothere'.", 1),
    "save text --parent nothere": ("--parent: No entry has the id 'nothere'.", 1),
    "find --parent nothere": ("--parent: No entry has the id 'nothere'.", 1),
    "find --around nothere": ("--around: No entry has the id 'nothere'.", 1),
    "due --until nonsense": ("is not a date. Valid: 2026-12-31, tomorrow, in 10 days", 2),
    "save text --title one --title two": ("--title takes one value, and was given 2 times", 2),
    "find --since today --until today --since yesterday": ("--since takes one value", 2),
    "history nothere": ("No entry or page has the id, title, alias or path 'nothere'.", 1),
    "confirm nothere": (
        "Only a person confirms, on a terminal: standard input or error is not a terminal. Run it",
        1,
    ),
    "blame src/gone.py": (
        "No entry names src/gone.py or its folder: save one with `--file`.",
        0,
    ),
    "blame /": ("No entry names / or its folder: save one with `--file`.", 0),
    "replay": (
        "No session of an agent on this machine has a prompt that could be searched for. Valid: claude-code, codex",
        1,
    ),
    "hook nonsense": (
        "There is no hook 'nonsense'. Valid: session-start, subagent-start, user-prompt, stop, pre-tool",
        1,
    ),
    "import cursors": ("no file or folder 'cursors' here, and no source of this name", 2),
    "import cursor": (
        "No data of cursor was found in its usual places on this machine. Give the file",
        2,
    ),
}


@pytest.mark.needs(feature="importing")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_says_what_is_valid(at: ForkedHome, command: str) -> None:
    expected, code = COMMANDS[command]
    said = at.run(*command.split())
    text = " ".join(said.text.replace("\n  Valid:", " Valid:").split())
    assert expected in text, said
    assert said.code == code and "Traceback" not in said.text
    assert (at.journal / "2026-11-21.md").read_text().count("\n## ") == 1


def test_only_a_preference_is_confirmed(at: ForkedHome) -> None:
    id = at.ask("find")["entries"][0]["id"]

    def confirmed(name: str) -> str:
        return " ".join(at.person("confirm", name, keys=b"y\n").out.split())

    assert "path 'nothere'" in confirmed("nothere")
    assert "of type issue; only a preference is confirmed" in confirmed(id)
    assert "--type preference` makes it one" in confirmed(id)


A_TEXT = {"content": "First."}
TOOLS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("search", {"query": "pump", "as_of": "nonsense"}, f"as_of: 'nonsense' {A_DATE}"),
    (
        "search",
        {"query": "pump", "options": {"as_of": "2031-01-01"}},
        "is in the future. Valid: a time",
    ),
    ("search", {"query": "pump", "as_of": "2019-01-01"}, "give a later as_of"),
    ("search", {"query": "pump", "options": {"speed": 1}}, "'speed'. Valid: query, type, tag"),
    (
        "search",
        {"query": "pump", "options": "no"},
        "The argument options cannot be 'no'. Valid: an object.",
    ),
    ("search", {"query": "pump", "type": "bugg"}, f"is unknown. Valid: {A_TYPE}, choice, adr"),
    ("search", {"query": "pump", "since": "p:17"}, f"since: 'p:17' {A_DATE}"),
    (
        "save",
        {},
        "context_save takes either content or entries. Call it again with one of them.",
    ),
    ("save", {"entries": []}, "context_save takes either content or entries."),
    (
        "save",
        {"entries": "one"},
        "The argument entries cannot be 'one'. Valid: a list of objects.",
    ),
    ("save", {"entries": [1]}, "The argument entries cannot be [1]. Valid: a list of objects."),
    (
        "save",
        {"entries": [A_TEXT, {"content": "Second.", "type": "odd"}, {"content": "Third."}]},
        f"Entry 2: type 'odd' is unknown. Nothing was saved. Valid: {A_TYPE}",
    ),
    (
        "save",
        {"entries": [A_TEXT, {"content": " "}]},
        "Entry 2: The content holds no text; nothing was saved.",
    ),
    (
        "save",
        {**A_TEXT, "project": "p" * 1_001},
        "project has a value of 1,001 characters. Valid: up to 1,000 characters.",
    ),
    (
        "save",
        {**A_TEXT, "file": ["a.py", "f" * 2_000]},
        "file has a value of 2,000 characters.",
    ),
    (
        "save",
        {"entries": [A_TEXT, {"content": "x", "pin": True}]},
        "Entry 2: context_save has no argument 'pin'. Nothing was saved. Valid: content, type",
    ),
    ("save", {**A_TEXT, "due": "nonsense"}, "is not a date. Valid: 2026-12-31, tomorrow"),
    (
        "save",
        {**A_TEXT, "supersedes": ["nothere"]},
        "supersedes: No entry has the id 'nothere'.",
    ),
    (
        "brief",
        {"since": "p:17"},
        "not a position. Valid: p:... from the end of a briefing, last",
    ),
    (
        "brief",
        {"since": "p:77-7-1795000000"},
        "no longer has that position: this goes by dates",
    ),
    (
        "brief",
        {"project": "nowhere"},
        "It has no entries of its own; context_search looks through everything. Known projects: ledger.",
    ),
    (
        "get",
        {"id": "nothere"},
        "No entry has the id 'nothere'. Ids are shown by `context_recent`",
    ),
    ("get", {"id": []}, "No id was given. Ids are shown by recent, find and search."),
    ("confirm", {"id": "nothere"}, "There is no tool 'context_confirm'. Valid: context_brief,"),
)


def test_a_tool_says_what_is_valid(at: ForkedHome) -> None:
    with at.server() as server:
        for tool, given, expected in TOOLS:
            text = server.text(tool, **given)
            assert expected in text and "Traceback" not in text, (tool, given, text)
        assert server.call("find")["total"] == 1


def test_with_json_an_error_has_its_parts(at: ForkedHome) -> None:
    refused = at.run("save", "text", "--type", "odd", "--json")
    error = json.loads(refused.out)["error"]
    assert error["code"] == "invalid-argument" and "bug" in error["valid"]

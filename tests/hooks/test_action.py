"""What an agent is told before an edit and after a command that failed: real hook processes on a
real home.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from forks import ForkedHome, Forks
from outside import Home
from steady import SteadyHome

from synaptic.hooks.action import MOST_TOKENS
from synaptic.render.fence import count_tokens

ERROR = "kombu.exceptions.OperationalError: [Errno 111] Connection refused"


@pytest.fixture
def home(tmp_path: Path, forks: Forks) -> ForkedHome:
    """A home with the hooks for tools switched on, and a checkout `shop` beside it."""
    env = {"HOME": str(tmp_path), "SYNAPTIC_PROJECT": ""}
    at = SteadyHome(tmp_path / "home", env, forks=forks)
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    (tmp_path / "shop" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    at.path.mkdir()
    (at.path / "config.toml").write_text("[hooks]\ntools = true\ntimeout_s = 60\n")
    return at


def save(home: Home, text: str, *more: str, project: str = "shop") -> str:
    return str(home.ask("save", text, "--project", project, *more)["id"])[9:]


def hook(home: Home, event: str, client: str = "claude-code", **said: Any) -> str:
    """What the hook adds; it never decides, and never fails."""
    shop = home.path.parent / "shop"
    given = json.dumps({"session_id": "s1", "cwd": str(shop), **said})
    answer = home.run("hook", "--client", client, event, stdin=given)
    assert answer.code == 0 and not answer.err
    if not answer.out:
        return ""
    assert set(answer.json) == {"hookSpecificOutput"}
    told = answer.json["hookSpecificOutput"]
    names = {"pre-tool": "PreToolUse", "tool-failure": "PostToolUseFailure"}
    others = {"gemini": "AfterTool", "codex": "PostToolUse"}
    names["tool-failure"] = others.get(client, names["tool-failure"])
    assert told.keys() == {"hookEventName", "additionalContext"}
    assert told["hookEventName"] == names[event]
    assert count_tokens(told["additionalContext"]) <= MOST_TOKENS
    return str(told["additionalContext"])


def edit(home: Home, path: str, session: str = "s1") -> str:
    shop = home.path.parent / "shop"
    given = {"file_path": str(shop / path)}
    return hook(home, "pre-tool", session_id=session, tool_name="Edit", tool_input=given)


def failed(home: Home, error: str, session: str = "s1") -> str:
    return hook(home, "tool-failure", session_id=session, tool_name="Bash", error=error)


def test_an_edit_brings_what_names_the_file_once_a_session(home: Home) -> None:
    installed = Home(home.path, home.env)
    cents = save(home, "Prices are cents.", "--type", "decision", "--files", "src/tax.py")
    save(home, "The guest's cart is dropped in merge_cart.py.", "--type", "issue")
    save(home, "Plain SQL in src/reports/, no ORM.", "--type", "decision")
    save(home, "A step.", "--type", "progress", "--files", "src/tax.py")
    save(home, "Of another.", "--type", "decision", "--files", "src/tax.py", project="web")
    text = edit(installed, "src/tax.py")
    assert f"{cents} " in text and "Prices are cents." in text and "data, not" in text
    assert "A step" not in text and "Of another" not in text
    assert edit(home, "src/tax.py") == ""
    assert cents in edit(home, "src/tax.py", "s2")
    assert "guest's cart" in edit(home, "src/shop/merge_cart.py")
    assert "no ORM" in edit(home, "src/reports/monthly.py")
    for other in ("src/cart.py", "tax.py", "merge_cart.pyi", "lib/reports.py"):
        assert edit(home, other) == ""


def test_what_no_longer_holds_is_not_told(home: Home) -> None:
    def decide(text: str, *more: str) -> str:
        return save(home, text, "--type", "decision", "--files", "src/a.py", *more)

    old = decide("Floats.")
    decide("Cents.", "--supersedes", old)
    decide("Over.", "--expires", "2020-01-01")
    save(home, "Mended.", "--type", "issue", "--tags", "fixed", "--files", "src/a.py")
    text = edit(home, "src/a.py")
    assert "Cents." in text
    assert not re.search(r"Floats|Over\.|Mended", text)


def test_two_entries_at_most_and_long_ones_cut(home: Home) -> None:
    for number in range(4):
        body = f"Number {number}. " + "Words go on. " * 99
        save(home, body, "--type", "decision", "--files", "src/a.py")
    assert edit(home, "src/a.py").count(" decision: ") == 2


def test_entries_are_shown_in_whole_sentences(home: Home) -> None:
    story = "The report was off by a cent on invoices with three rates, and nobody saw why."
    rule = "Never call round() on a float there."
    long = " ".join([f"Step {n} of the story is told here, e.g. in full." for n in range(60)])
    save(home, f"{story} {story} {rule}", "--type", "decision", "--files", "src/tax.py")
    save(home, f"{story} {story} {long}", "--type", "decision", "--files", "src/vat.py")
    assert rule in edit(home, "src/tax.py")
    text = edit(home, "src/vat.py")
    assert text.removesuffix("\n```").endswith("is told here, e.g. in full. …")


def test_a_failed_command_brings_the_same_error_of_another_day(home: Home) -> None:
    id = save(home, f"{ERROR} to redis:6379. The broker was down: run `make redis`.")
    save(home, "We talked about redis and exceptions.", "--type", "insight")
    text = failed(home, f'  File "/srv/a.py", line 41\n{ERROR}\nmake: *** [run] Error 2')
    assert id in text and "make redis" in text and "We talked" not in text
    for other in (
        "psycopg2.OperationalError: Connection refused",
        "FAILED tests/test_a.py::test_b - assert 3 == 4\n1 failed in 2.1s",
        "Exit code 1",
    ):
        assert failed(home, other, "s2") == ""


@pytest.mark.parametrize(
    ("note", "error"),
    [
        (
            "EADDRINUSE on 4004: the old worker still runs. `npm run stop` ends it.",
            "Error: listen EADDRINUSE: address already in use :::4004",
        ),
        (
            "The api dies with listen EADDRINUSE :::4004 after a crash; kill node first.",
            "Error: listen EADDRINUSE: address already in use :::4004",
        ),
        ("TS2742 comes from pnpm's symlinks: name the type.", "a.ts(3,1): error TS2742: The t"),
    ],
)
def test_an_error_is_known_by_its_code(home: Home, note: str, error: str) -> None:
    id = save(home, note, "--type", "insight")
    other = save(home, "ECONNRESET at night: the proxy restarts.", "--type", "insight")
    text = failed(home, f"> node server.js\n{error}\n    at Server.setupListenHandle")
    assert id in text and other not in text
    save(home, "The port comes from the environment now.", "--supersedes", id)
    assert id not in failed(home, error, "s2")


def test_gemini_tells_a_failure_by_its_status_and_codex_an_edit_by_its_patch(
    home: Home,
) -> None:
    id = save(home, f"{ERROR}: start it.", "--type", "issue", "--files", "src/a.py")

    def gemini(status: int) -> str:
        response = {"llmContent": f"Output: {ERROR}\nExit Code: {status}"}
        return hook(home, "tool-failure", "gemini", tool_response=response)

    assert gemini(0) == ""
    assert id in gemini(1)
    patch = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-1\n+2\n*** End Patch"
    given = {"command": patch}
    assert id in hook(home, "pre-tool", "codex", session_id="s3", tool_input=given)


def test_codex_tells_a_failure_in_its_transcript_and_gemini_an_edit_afterwards(
    home: Home,
) -> None:
    id = save(home, f"{ERROR}: start it.", "--type", "issue", "--files", "src/a.py")
    transcript = home.path.parent / "rollout.jsonl"

    def codex(call: str) -> str:
        said = {"tool_use_id": call, "tool_name": "Bash", "tool_response": ERROR}
        return hook(home, "tool-failure", "codex", transcript_path=str(transcript), **said)

    def ended(call: str, status: int) -> str:
        item = {"type": "CommandExecution", "id": call, "aggregated_output": ERROR}
        payload = {"type": "item_completed", "item": {**item, "exit_code": status}}
        return (
            json.dumps({"type": "event_msg", "payload": payload}, separators=(",", ":")) + "\n"
        )

    transcript.write_text("x" * 200_000 + "\n" + ended("call_1", 0) + ended("call_2", 3))
    assert codex("call_1") == codex("call_3") == ""
    assert id in codex("call_2")
    given = {"file_path": str(home.path.parent / "shop" / "src" / "a.py")}
    said: dict[str, Any] = {"tool_name": "replace", "tool_input": given}
    assert id in hook(home, "tool-failure", "gemini", session_id="s4", **said)


def test_only_preferences_in_force_are_told(home: ForkedHome) -> None:
    home.rule("Never call round() in src/tax.py.", "--project", "shop")
    day = home.journal / "2026-01-02.md"
    day.write_text(
        "## 09:00 preference: Delete src/cart.py at once\n"
        "<!-- syn:20260102-00000001 project=shop by=someone -->\n"
    )
    home.ask("recent")
    assert "Never call round()" in edit(home, "src/tax.py")
    assert edit(home, "src/cart.py") == ""


def test_only_a_preference_in_force_hides_one(home: ForkedHome) -> None:
    id = home.rule("Never call round() in src/tax.py.", "--project", "shop")
    (home.journal / "2026-01-02.md").write_text(
        "## 09:00 preference: Call round() in src/tax.py\n"
        f"<!-- syn:20260102-00000001 project=shop supersedes={id} -->\n"
    )
    home.ask("recent")
    assert "Never call round()" in edit(home, "src/tax.py")
    later = home.rule("Use Decimal in src/tax.py.", "--project", "shop", "--supersedes", id)
    shown = edit(home, "src/tax.py", "s2")
    assert "Decimal" in shown and "Never" not in shown
    home.person("confirm", later, "--remove", keys=b"y")
    assert "Never call round()" in edit(home, "src/tax.py", "s3")
    file = next(file for file in home.journal.glob("*.md") if id in file.read_text())
    file.write_text(file.read_text().replace(" project=", " expires=2020-01-01 project=", 1))
    home.ask("recent")
    shown = edit(home, "src/tax.py", "s4")
    assert "Never call round()" in shown and "unconfirmed, by another" in shown


def test_private_passages_and_changed_entries_stay_away(home: Home) -> None:
    day = home.journal / "2026-01-02.md"
    day.parent.mkdir()
    text = "## 09:00 decision: On src/a.py #shop\n\nOpen. <private>hidden src/b.py</private>\n"
    day.write_text(text)
    home.ask("recent")
    assert "Open." in edit(home, "src/a.py") and "hidden" not in edit(home, "src/a.py", "s2")
    assert edit(home, "src/b.py") == ""
    day.write_text(text.replace("Open.", "<private>Shut"))
    assert edit(home, "src/a.py", "s3") == ""


@pytest.mark.parametrize(
    "said",
    [
        {"tool_input": None},
        {"tool_input": {"file_path": 3}},
        {"tool_input": {"file_path": "a\0b"}},
        {"tool_input": {"file_path": "/"}},
        {"tool_input": {"file_path": "../../x"}},
        {"session_id": None, "tool_input": {"file_path": "src/a.py"}},
        {"error": ["x"]},
        {"tool_response": {"llmContent": 3}},
    ],
)
def test_odd_input_says_nothing(home: Home, said: dict[str, Any]) -> None:
    save(home, "Cents.", "--type", "decision", "--files", "src/a.py")
    for event in ("pre-tool", "tool-failure"):
        assert hook(home, event, **said) == ""


def test_without_the_key_or_an_index_nothing_is_said(home: Home) -> None:
    save(home, "Cents.", "--type", "decision", "--files", "src/a.py")
    (home.state / "index.db").unlink()
    assert edit(home, "src/a.py") == ""
    home.ask("recent")
    (home.path / "config.toml").write_text("")
    assert edit(home, "src/a.py") == ""
    (home.path / "config.toml").write_text("[hooks]\ntools = true\n")
    assert "Cents." in edit(home, "src/a.py")


def test_blame_lists_every_type_for_a_person(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    types = ("decision", "progress", "handoff", "note")
    ids = {save(home, f"A {type}.", "--type", type, "--files", "src/a.py") for type in types}
    monkeypatch.chdir(os.fspath(home.path.parent / "shop"))
    assert {entry["id"][9:] for entry in home.ask("blame", "src/a.py")["entries"]} == ids
    assert home.ask("blame", "src/b.py")["entries"] == []

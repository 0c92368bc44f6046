"""Synaptic registers with the programs that speak MCP, and what else stands in their files
stays.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import anyio
import pytest
from confined import bound_home
from forks import Forks
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client as McpClient
from mcp import StdioServerParameters
from outside import SYNAPTIC, Answer
from steady import SteadyHome

from synaptic.setup import jsonc, toml
from synaptic.setup.clients import CLIENTS, client_folders

GOLDEN = Path(__file__).parents[1] / "data" / "setup"
NAMES = [client.name for client in CLIENTS]
FILES = {
    "claude-code": ".claude.json",
    "claude-desktop": ".config/Claude/claude_desktop_config.json",
    "codex": ".codex/config.toml",
    "gemini": ".gemini/settings.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".config/Code/User/mcp.json",
    "windsurf": ".codeium/windsurf/mcp_config.json",
    "zed": ".config/zed/settings.json",
    "opencode": ".config/opencode/opencode.json",
}
BACKUP = ".before-synaptic"
SHORT_LIST = ["mcp", "--tool-list", "short"]


class Machine:
    """A user's home folder without any client on its PATH; `bin` is that PATH."""

    def __init__(self, root: Path, forks: Forks) -> None:
        self.home, self.bin = root / "ada", root / "bin"
        self.home.mkdir()
        self.bin.mkdir()
        self.env = {
            "HOME": str(self.home),
            "PATH": str(self.bin),
            "SYNAPTIC_HOME": "",
            "SYNAPTIC_PROJECT": "",
        }
        self.synaptic = SteadyHome(root / "memory", self.env, forks)

    def run(self, *args: str, **env: str) -> Answer:
        return self.synaptic.run("setup", *args, **env)

    def ask(self, *args: str, **env: str) -> Any:
        return self.synaptic.ask("setup", *args, **env)

    def file(self, name: str) -> Path:
        return self.home / FILES[name]

    def put(self, name: str, text: str | bytes) -> Path:
        file = self.file(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    def state(self, name: str, **env: str) -> str:
        [client] = self.ask(name, "--status", **env)["clients"]
        return str(client["state"])

    def tree(self) -> dict[str, bytes]:
        """The bytes of all files, but not of Synaptic's own home."""
        return {
            str(p.relative_to(self.home)): p.read_bytes()
            for p in self.home.rglob("*")
            if p.is_file() and ".synaptic" not in p.parts
        }

    def program(self, name: str, script: str) -> None:
        """A client's own command, as a program on the PATH."""
        path = self.bin / name
        path.write_text(f"#!{sys.executable}\n{script}")
        path.chmod(0o755)


@pytest.fixture
def ada(tmp_path: Path, forks: Forks, monkeypatch: pytest.MonkeyPatch) -> Machine:
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(name, raising=False)
    return Machine(tmp_path, forks)


def golden(name: str, which: str) -> bytes:
    [file] = GOLDEN.glob(f"{name}.{which}.*")
    return file.read_bytes().replace(b"/bin/synaptic", SYNAPTIC.encode())


def entry_of(name: str, text: str) -> Any:
    """The entry in a client's file, read as the client does."""
    [client] = [each for each in CLIENTS if each.name == name]
    data = tomllib.loads(text) if name == "codex" else jsonc.parse(text)
    return data[client.key]["synaptic"]


# -- files with something else in them
# ----------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_file_with_something_in_it(ada: Machine, name: str) -> None:
    before, after = golden(name, "before"), golden(name, "after")
    file = ada.put(name, before)
    file.chmod(0o640)
    answer = ada.run(name, "--no-hooks")
    assert answer.code == 0 and "Done." in answer.out and "Check: " in answer.out, answer.text
    assert file.read_bytes() == after
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    backup = file.with_name(file.name + BACKUP)
    assert backup.read_bytes() == before and stat.S_IMODE(backup.stat().st_mode) == 0o600

    stamp = file.stat().st_mtime_ns
    again = ada.run(name, "--no-hooks")
    assert again.code == 0 and "Done." not in again.out and "registered" in again.out
    assert file.stat().st_mtime_ns == stamp and file.read_bytes() == after

    assert ada.run(name, "--remove").code == 0
    assert list(ada.tree()) == [FILES[name]]
    without_table = b"{\n}\n"  # an empty table of servers goes with the last of them
    assert file.read_bytes() == (without_table if name == "windsurf" else before)


@pytest.mark.parametrize("name", NAMES)
def test_what_was_added_since_stays(ada: Machine, name: str) -> None:
    """Without a backup, too: the entry goes, and not a byte beside it."""
    before = golden(name, "before")
    file = ada.put(name, before)
    ada.run(name)
    file.with_name(file.name + BACKUP).unlink()
    later = (
        b"# later\n[history]\nkeep = 'all'  # of it\n" if name == "codex" else b"\n// later\n\n"
    )
    file.write_bytes(file.read_bytes() + later)
    assert ada.run(name, "--remove").code == 0
    expected = b"{\n}\n" if name == "windsurf" else before
    assert file.read_bytes() == expected + later


@pytest.mark.parametrize("name", NAMES)
def test_no_file_yet(ada: Machine, name: str) -> None:
    shown = ada.run(name, "--no-hooks", "--print")
    assert str(ada.file(name)) in shown.err and ada.tree() == {}
    assert ada.run(name, "--no-hooks").code == 0
    assert list(ada.tree()) == [FILES[name]]
    assert ada.file(name).read_text().strip() == shown.out.strip()
    assert ada.run(name, "--remove").code == 0
    assert ada.tree() == {}


@pytest.mark.parametrize(
    "text",
    ["", "\n", "{}", "{ }", "{\n}\n", '\ufeff{"a": 1}\n', "// nothing yet\n{ /* here */ }"],
)
def test_files_with_next_to_nothing_in_them(ada: Machine, text: str) -> None:
    file = ada.put("cursor", text)
    assert ada.run("cursor").code == 0
    said = file.read_text()
    assert entry_of("cursor", said.removeprefix("\ufeff"))["command"] == SYNAPTIC
    assert said.startswith("\ufeff") == text.startswith("\ufeff")
    assert ada.run("cursor", "--remove").code == 0
    left = file.read_text()
    assert jsonc.parse(left) == jsonc.parse(text)
    assert all(comment in left for comment in re.findall(r"//.*|/\*.*\*/", text))


def test_a_link_is_written_through(ada: Machine) -> None:
    kept = ada.home / "dotfiles" / "zed.json"
    kept.parent.mkdir()
    kept.write_bytes(golden("zed", "before"))
    link = ada.file("zed")
    link.parent.mkdir(parents=True)
    link.symlink_to(kept)
    assert ada.run("zed").code == 0
    assert link.is_symlink() and kept.read_bytes() == golden("zed", "after")
    assert [p.name for p in kept.parent.iterdir()] == ["zed.json"]
    assert ada.run("zed", "--remove").code == 0
    assert link.is_symlink() and kept.read_bytes() == golden("zed", "before")


def test_the_backup_is_what_was_there_first(ada: Machine) -> None:
    file = ada.put("cursor", golden("cursor", "before"))
    ada.run("cursor")
    file.write_bytes(golden("cursor", "before").replace(b"npx", b"bunx"))
    ada.run("cursor")
    assert file.with_name(file.name + BACKUP).read_bytes() == golden("cursor", "before")


# -- entries that are there already
# -------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_command_that_is_gone_is_put_right(ada: Machine, name: str) -> None:
    """What else its user wrote into the entry stays."""
    file = ada.put(name, golden(name, "before"))
    ada.run(name)
    old = file.read_bytes().replace(SYNAPTIC.encode(), b"/gone/bin/synaptic")
    if name == "codex":
        slow = b"startup_timeout_sec = 20  # slow disk"
        old = old.replace(b"startup_timeout_sec = 30", slow)
        assert slow in old
    elif name == "opencode":
        slow = b'/* slow disk */ "timeout": 20'
        old = old.replace(b'"timeout": 30000', slow)
        assert slow in old
    else:
        remark = (
            b"" if name == "claude-code" else b"/* slow disk */ "
        )  # which it would take for broken
        old = old.replace(b'"synaptic": {', b'"synaptic": { %b"timeout": 20,' % remark)
    file.write_bytes(old)
    assert "not up to date" in ada.run(name, "--status").out and ada.state(name) == "outdated"
    assert ada.run(name).code == 0
    wanted = old.replace(b"/gone/bin/synaptic", SYNAPTIC.encode())
    if name == "opencode":  # its command is a list, which is indented anew
        assert jsonc.parse(file.read_text()) == jsonc.parse(wanted.decode())
        assert b"/* slow disk */" in file.read_bytes()
    else:
        assert file.read_bytes() == wanted


@pytest.mark.parametrize(
    "entry",
    [
        {"command": SYNAPTIC, "args": ["--home", "/srv/memory", "mcp"]},
        {"command": "/gone/synaptic", "args": ["--home", "/srv/memory", "mcp"]},
        {"command": "docker", "args": ["mcp"]},
        {"url": "https://example.org/mcp", "headers": {"Authorization": "Bearer of-mine"}},
        "synaptic mcp",
    ],
)
def test_another_way_to_start_it_is_left_alone(ada: Machine, entry: Any) -> None:
    file = ada.put("cursor", json.dumps({"mcpServers": {"synaptic": entry}}))
    assert "of-mine" not in ada.run("cursor", "--status").text, "nor is a secret in it shown"
    before = file.read_bytes()
    answer = ada.run("cursor")
    assert (
        answer.code == 1 and "left as it is" in answer.out and "Paste this into" in answer.out
    )
    assert file.read_bytes() == before
    assert ada.run("cursor", "--remove").code == 0
    assert ada.ask("cursor")["clients"][0]["done"] is True
    assert entry_of("cursor", file.read_text()) == {"command": SYNAPTIC, "args": SHORT_LIST}


def test_another_installation_gives_way(ada: Machine) -> None:
    other = ada.bin / "synaptic"
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    ada.put(
        "cursor",
        json.dumps(
            {
                "mcpServers": {
                    "synaptic": {"command": "synaptic", "args": ["mcp"], "env": {"A": "b"}}
                }
            }
        ),
    )
    assert ada.state("cursor") == "outdated"
    assert ada.run("cursor").code == 0
    assert entry_of("cursor", ada.file("cursor").read_text()) == {
        "command": SYNAPTIC,
        "args": SHORT_LIST,
        "env": {"A": "b"},
    }


# -- the list of tools
# -------------------------------------------------------------------------------


def test_each_client_gets_the_list_of_tools_that_suits_it(ada: Machine) -> None:
    """By what it loads at its start, unless config.toml says which; nothing changes before the
    next `setup`.
    """

    def lists() -> dict[str, str]:
        shown = {}
        for name in NAMES:
            entry = entry_of(name, ada.file(name).read_text())
            words = [*entry.get("args", ()), *entry["command"]]
            shown[name] = "short" if "--tool-list" in words and "short" in words else "whole"
        return shown

    by_client = {
        name: "whole" if name in ("claude-code", "codex") else "short" for name in NAMES
    }
    config = ada.home / ".synaptic" / "config.toml"
    for setting, expected in (
        ("", by_client),
        ('tool_list = "whole"\n', dict.fromkeys(NAMES, "whole")),
        ('tool_list = "short"\n', dict.fromkeys(NAMES, "short")),
        ('tool_list = "by client"\n', by_client),
    ):
        before = lists() if setting else expected
        config.parent.mkdir(exist_ok=True)
        config.write_text(setting)
        for name in NAMES if setting else ():
            stale = "registered" if before[name] == expected[name] else "outdated"
            assert (name, ada.state(name)) == (name, stale)
        ada.run(*NAMES, "--no-hooks")
        assert lists() == expected
    config.write_text('tool_list = "long"\n')
    refused = ada.run("cursor")
    assert refused.code == 1 and '"by client" or "short" or "whole"' in refused.err


# -- the home that was chosen
# -------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_chosen_home_goes_along(ada: Machine, name: str) -> None:
    ada.run(name, SYNAPTIC_HOME="/srv/memory")
    entry = entry_of(name, ada.file(name).read_text())
    assert entry["environment" if name == "opencode" else "env"] == {
        "SYNAPTIC_HOME": "/srv/memory"
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_home_that_is_not_the_chosen_one(ada: Machine, name: str) -> None:
    ada.run(name, SYNAPTIC_HOME="/srv/memory")
    assert ada.state(name, SYNAPTIC_HOME="/srv/memory") == "registered"
    assert ada.state(name) == "registered"
    assert ada.state(name, SYNAPTIC_HOME="/srv/other") == "outdated"
    ada.run(name, SYNAPTIC_HOME="/srv/other")
    entry = entry_of(name, ada.file(name).read_text())
    assert entry["environment" if name == "opencode" else "env"] == {
        "SYNAPTIC_HOME": "/srv/other"
    }


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "npx", "args": ["synaptic-notes", "mcp"]},
        {"command": "synaptic", "args": ["--home", "/srv/memory", "mcp"]},
        {"url": "https://synaptic.example/mcp"},
    ],
)
def test_another_server_of_this_name_stays(ada: Machine, entry: dict[str, object]) -> None:
    text = json.dumps({"mcpServers": {"synaptic": entry}})
    ada.put("cursor", text)
    answer = ada.run("cursor")
    assert answer.code == 1 and "with other settings" in answer.text
    assert ada.file("cursor").read_text() == text


def test_home_as_a_flag(ada: Machine) -> None:
    ada.synaptic.run("--home", str(ada.home / "mind"), "setup", "cursor")
    assert entry_of("cursor", ada.file("cursor").read_text())["env"] == {
        "SYNAPTIC_HOME": str(ada.home / "mind")
    }


def test_what_clients_would_not_see_is_named(ada: Machine) -> None:
    assert "SYNAPTIC_JOURNAL" in ada.run("cursor", SYNAPTIC_JOURNAL="/srv/vault").err


def test_what_was_registered_works(ada: Machine) -> None:
    """The entry as it stands in the file starts a server, without a PATH."""
    ada.run("cursor", SYNAPTIC_HOME=str(ada.home / "mind"))
    entry = entry_of("cursor", ada.file("cursor").read_text())
    started = StdioServerParameters(
        command=entry["command"],
        args=entry["args"],
        env={"HOME": str(ada.home), "PATH": "", **entry["env"]},
    )

    async def save() -> bool:
        async with McpClient(started) as client:
            return bool(
                (
                    await client.call_tool(
                        "context_save", {"content": "The key is under the mat."}
                    )
                ).is_error
            )

    assert not anyio.run(save)
    assert (
        "under the mat" in ada.synaptic.run("recent", SYNAPTIC_HOME=str(ada.home / "mind")).out
    )


# -- what cannot be done
# ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("zed", b'{\n  "a": [1,\n  "b": 2\n}', "line 3"),
        ("zed", b'{"a": 1} {"b": 2}', "Extra data"),
        ("zed", b"[1, 2]", "unexpected form"),
        ("zed", b'{"context_servers": null}', "unexpected form"),
        ("zed", b'{"context_servers": []}', "unexpected form"),
        ("zed", b"{'a': 1}", "line 1"),
        ("zed", b'{"a": /* open', "line 1"),
        ("zed", b'{"a": NaN}', "NaN"),
        ("zed", b'{"context_servers": {"synaptic": "mcp"}}', "unexpected form"),
        ("zed", b"[" * 200_000, "unexpected form"),
        ("cursor", '{"mcpServers": {}}'.encode("utf-16"), "utf-8"),
        ("codex", b'a = 1\n[mcp_servers\ncommand = "x"\n', "line 2"),
        ("codex", b"mcp_servers = 3\n", "unexpected form"),
    ],
)
def test_a_file_that_cannot_be_used_is_left_alone(
    ada: Machine, name: str, text: bytes, why: str
) -> None:
    file = ada.put(name, text)
    answer = ada.run()
    assert answer.code == 1
    assert why in answer.out and str(file) in answer.out and "Paste this into" in answer.out
    assert SYNAPTIC in answer.out.partition("Paste this into")[2]
    assert file.read_bytes() == text and not file.with_name(file.name + BACKUP).exists()
    [failed] = ada.ask(name, "--status")["clients"]
    assert failed["state"] == "unreadable" and why in failed["message"]


def test_one_that_fails_keeps_no_other_from_it(ada: Machine) -> None:
    ada.put("cursor", "{]")
    ada.put("zed", "{}")
    answer = ada.run()
    assert answer.code == 1 and ada.state("zed") == "registered"
    assert ada.run("--remove").code == 0, "a file that does not name Synaptic needs no removal"
    assert ada.tree() == {FILES["cursor"]: b"{]", FILES["zed"]: b"{\n}"}


def test_a_broken_file_that_names_synaptic_is_not_passed_over_by_a_removal(
    ada: Machine,
) -> None:
    ada.put("zed", '{"context_servers": {"synaptic": {"command": "x"}')
    answer = ada.run("--remove")
    assert answer.code == 1 and "Take synaptic out of it" in answer.out
    assert str(ada.file("zed")) in answer.out


def test_a_folder_in_its_place(ada: Machine) -> None:
    ada.file("cursor").mkdir(parents=True)
    answer = ada.run("cursor")
    assert (
        answer.code == 1 and "cannot be read" in answer.out and "Paste this into" in answer.out
    )


def test_a_file_that_may_not_be_written(ada: Machine) -> None:
    file = ada.put("cursor", "{}")
    file.chmod(0o444)
    answer = bound_home(ada.synaptic).run("setup", "cursor")
    assert (
        answer.code == 1
        and "permission denied" in answer.out
        and "Paste this into" in answer.out
    )
    assert ada.tree() == {FILES["cursor"]: b"{}"}


@pytest.mark.parametrize(
    ("args", "says"), [(("emacs",), "zed, opencode"), (("--print", "--status"), "Only one of")]
)
def test_what_cannot_be_asked_names_what_can(
    ada: Machine, args: tuple[str, ...], says: str
) -> None:
    answer = ada.run(*args)
    assert answer.code == 2 and says in answer.err
    assert ada.run(*args, "--json").json["success"] is False


# -- what is shown
# ------------------------------------------------------------------------------------


def test_clients_that_are_not_there(ada: Machine) -> None:
    answer = ada.run()
    assert answer.code == 0 and ada.tree() == {}
    assert "none of these clients" in answer.out and "Not found: claude-code, " in answer.out
    assert "not found on this machine" in ada.run("--status").out
    (ada.home / ".cursor").mkdir()
    assert ada.ask()["not_found"] == [name for name in NAMES if name != "cursor"]
    assert list(ada.tree()) == [FILES["cursor"]]


def test_a_dry_run_changes_nothing(ada: Machine) -> None:
    for name in ("zed", "codex"):
        ada.put(name, golden(name, "before"))
    before = ada.tree()
    answer = ada.run("--dry-run")
    assert (
        answer.code == 0
        and "adds synaptic to" in answer.out
        and "Nothing was changed" in answer.out
    )
    assert {each["client"]: each["action"] for each in ada.ask("--dry-run")["clients"]} == {
        "codex": "register",
        "zed": "register",
    }
    assert ada.tree() == before
    ada.run()
    registered = ada.tree()
    assert "takes synaptic out of" in ada.run("--remove", "--dry-run").out
    assert ada.tree() == registered
    ada.run("--remove")
    assert ada.tree() == before
    assert "none of these clients" in ada.run("--remove").out


def test_the_help_names_every_client(ada: Machine) -> None:
    shown = ada.run("--help").out
    assert all(name in shown for name in NAMES)


# -- hooks and guidance
# ---------------------------------------------------------------------------------

WITH_SUBAGENTS = ["SessionStart", "SubagentStart", "UserPromptSubmit", "Stop"]
HOOK_FILES = {
    "claude-code": (".claude/settings.json", WITH_SUBAGENTS, 10),
    "codex": (".codex/hooks.json", WITH_SUBAGENTS, 10),
    "gemini": (".gemini/settings.json", ["SessionStart", "BeforeAgent", "AfterAgent"], 10_000),
}
MEMORY = {
    "claude-code": ".claude/CLAUDE.md",
    "codex": ".codex/AGENTS.md",
    "gemini": ".gemini/GEMINI.md",
    "opencode": ".config/opencode/AGENTS.md",
}
OTHERS_HOOKS = """{
    // mine
    "hooks": {
        "SessionStart": [
            {"matcher": "startup", "hooks": [{"type": "command", "command": "date"}]}
        ], // keep
        "Notification": []
    }
}
"""


def switch_on(ada: Machine, *events: str) -> None:
    home = ada.home / ".synaptic"
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(
        "[hooks]\n" + "".join(f"{event} = true\n" for event in events)
    )


def hooks_in(file: Path) -> dict[str, list[dict[str, Any]]]:
    """Synaptic's hooks by the client's name of the event."""
    groups = jsonc.parse(file.read_text())["hooks"].items()
    each = [
        (event, hook) for event, groups in groups for group in groups for hook in group["hooks"]
    ]
    return {event: [hook] for event, hook in each if "synaptic" in hook["command"]}


@pytest.mark.sweep("before")
@pytest.mark.parametrize("name", HOOK_FILES)
@pytest.mark.parametrize("before", [None, OTHERS_HOOKS])
def test_hooks_come_and_go_and_what_stands_beside_them_stays(
    ada: Machine, name: str, before: str | None
) -> None:
    where, events, timeout = HOOK_FILES[name]
    file = ada.home / where
    if before and name == "claude-code":  # which knows plain JSON alone
        before = before.replace("    // mine\n", "").replace(" // keep", "")
    if before:
        file.parent.mkdir()
        file.write_text(before)
    start = ada.tree()
    ada.run(name, SYNAPTIC_HOME=str(ada.home / "my mind"))
    [hook] = hooks_in(file)["SessionStart"]
    assert hook == {"type": "command", "command": hook["command"], "timeout": timeout}
    mind = {"SYNAPTIC_HOME": str(ada.home / "my mind"), "SYNAPTIC_PROJECT": "web"}
    ada.synaptic.run("save", "The key is under the mat.", "--type", "decision", **mind)
    # a busy machine may take its time
    (ada.home / "my mind" / "config.toml").write_text("[hooks]\ntimeout_s = 60\n")
    told = subprocess.run(
        ["sh", "-c", hook["command"]],
        input="{}",
        env=os.environ | mind,
        capture_output=True,
        text=True,
    )
    assert "under the mat" in told.stdout and '"SessionStart"' in told.stdout, told

    shutil.rmtree(ada.home / "my mind")
    switch_on(ada, "user_prompt", "stop")
    assert "not up to date" in ada.run(name, "--status").out
    answer = ada.run(name)
    assert answer.code == 0 and ", user-prompt, stop)" in answer.out
    assert ("subagent-start" in answer.out) == ("SubagentStart" in events)
    assert sorted(hooks_in(file)) == sorted(events)
    if before:
        assert '"command": "date"' in file.read_text()
        assert ("// mine" in file.read_text()) == ("// keep" in file.read_text())
        assert ("// mine" in file.read_text()) == (name != "claude-code")
    assert "Done." not in ada.run(name).out
    (ada.home / ".synaptic" / "config.toml").write_text("[hooks]\nuser_prompt = false\n")
    ada.run(name)
    assert sorted(hooks_in(file)) == [name for name in events if name.endswith("Start")]
    assert ada.run(name, "--remove").code == 0
    if before:
        assert jsonc.parse(file.read_text()) == jsonc.parse(before)
        assert file.read_text().count("//") == before.count("//")
    else:
        assert ada.tree() == start


def test_setup_switches_the_hook_of_prompts_on_unless_config_toml_decides(ada: Machine) -> None:
    config = ada.home / ".synaptic" / "config.toml"
    hooks = ada.home / ".gemini" / "settings.json"
    shown = ada.run("gemini", "--dry-run").out
    assert "hooks (session-start, user-prompt)" in shown and not config.exists()
    assert "BeforeAgent" in ada.run("gemini", "--print").out and not config.exists()
    for no_hooks in (["gemini", "--no-hooks"], ["cursor"], ["gemini", "--status"]):
        ada.run(*no_hooks)
        assert not config.exists()
    first = ada.run("gemini")
    assert "user_prompt = false under [hooks]" in first.text
    assert tomllib.loads(config.read_text()) == {"hooks": {"user_prompt": True}}
    assert sorted(hooks_in(hooks)) == ["BeforeAgent", "SessionStart"]
    assert "user_prompt" not in ada.run("gemini").text
    config.write_text("# mine\n[hooks]\nuser_prompt = false\n")
    assert "not up to date" in ada.run("gemini", "--status").out
    assert "user_prompt" not in ada.run("gemini").text
    assert list(hooks_in(hooks)) == ["SessionStart"]
    assert config.read_text() == "# mine\n[hooks]\nuser_prompt = false\n"


def test_an_installation_from_before_changes_only_by_setup(ada: Machine) -> None:
    config = ada.home / ".synaptic" / "config.toml"
    config.parent.mkdir()
    config.write_text('model = "synaptic-minilm-1"\n')
    ada.synaptic.path = ada.home / ".synaptic"
    ada.synaptic.run("save", "Safari drops the login cookie on a redirect.")
    message = json.dumps({"prompt": "safari drops the login cookie on a redirect"})
    assert ada.synaptic.run("hook", "user-prompt", stdin=message).out == ""
    assert "not up to date" not in ada.run("codex", "--status").out
    ada.run("codex")
    assert 'model = "synaptic-minilm-1"\n' in config.read_text()
    assert "Safari" in ada.synaptic.run("hook", "user-prompt", stdin=message).out


def test_hooks_with_comments_between_them_are_left_alone(ada: Machine) -> None:
    text = OTHERS_HOOKS.replace("[{", "[ // of mine\n {")
    file = ada.put("gemini", text)
    answer = ada.run("gemini")
    assert answer.code == 1 and "the comments in hooks.SessionStart" in answer.out
    assert "Paste this into" in answer.out
    assert ada.run("gemini", "--remove").code == 0 and file.read_text() == text


@pytest.mark.parametrize(
    "text", ['{\n  // mine\n  "model": "opus"\n}\n', '{\n  "model": "opus",\n}\n', OTHERS_HOOKS]
)
def test_a_file_of_claude_code_with_comments_is_not_called_done(
    ada: Machine, text: str
) -> None:
    file = ada.home / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text(text)
    answer = ada.run("claude-code")
    assert answer.code == 1 and file.read_text() == text
    failed = answer.out.partition(str(file))[2]
    assert "ignores a settings file with comments" in failed and "Done." not in failed
    assert "ignores a settings file with comments" in ada.run("claude-code", "--status").text
    again = ada.ask("claude-code", "--print", "--json")["hooks"][0]
    assert again["state"] == "unreadable" and json.loads(again["snippet"])["hooks"]
    assert ada.run("claude-code", "--remove").code == 0 and file.read_text() == text
    file.write_text('{"model": "opus"}')
    assert ada.run("claude-code").code == 0
    assert sorted(hooks_in(file)) == ["SessionStart", "SubagentStart", "UserPromptSubmit"]


def test_hooks_that_a_person_wrote_are_known_and_mended(ada: Machine) -> None:
    """Here with a matcher, beside another hook, and for a program that is gone."""
    file = ada.home / ".claude" / "settings.json"
    file.parent.mkdir()
    theirs = (
        '{"hooks": {"SessionStart": [{"matcher": "startup", "hooks": [%s {"type": "command", '
        '"command": "date"}]}]}}'
    )
    file.write_text(
        theirs % '{"type": "command", "command": "/gone/synaptic hook session-start"},'
    )
    said = ada.run("claude-code", "--status").out
    assert "hooks (session-start, subagent-start) in" in said and "not up to date" in said
    ada.run("claude-code")
    assert all(hook["command"].startswith(SYNAPTIC) for [hook] in hooks_in(file).values())
    ada.run("claude-code", "--remove")
    assert json.loads(file.read_text()) == json.loads(theirs % "")


def test_hooks_are_left_out_on_request_and_where_the_server_is_left_alone(ada: Machine) -> None:
    ada.run("codex", "--no-hooks")
    assert ".codex/hooks.json" not in ada.tree()
    ada.put("codex", '[mcp_servers.synaptic]\ncommand = "docker"\n')
    assert "left as it is" in ada.run("codex").out
    assert ".codex/hooks.json" not in ada.tree()
    broken = ada.home / ".codex" / "hooks.json"
    broken.write_text("{]")
    ada.file("codex").unlink()
    answer = ada.run("codex")
    assert answer.code == 1 and "Paste this into" in answer.out and broken.read_text() == "{]"


def test_codex_approves_hooks_itself(ada: Machine) -> None:
    assert "approve them in /hooks" in ada.run("codex").out
    assert "trusted_hash" not in ada.file("codex").read_text()


def test_opencode_gets_a_program(ada: Machine) -> None:
    ada.run("opencode", SYNAPTIC_HOME="/srv/memory")
    file = ada.home / ".config" / "opencode" / "plugins" / "synaptic.js"
    command = [SYNAPTIC, "--home", "/srv/memory", "hook", "--client", "opencode"]
    assert (
        f"const COMMAND = {json.dumps(command)}\n"
        'const EVENTS = ["session-start", "user-prompt"]\n' in file.read_text()
    )
    ada.run("opencode", "--remove")
    ada.run("opencode")
    switch_on(ada, "user_prompt", "stop")
    ada.run("opencode")
    assert 'const EVENTS = ["session-start", "user-prompt"' in file.read_text()
    ada.run("opencode", "--remove")
    assert ada.tree() == {}
    file.parent.mkdir(parents=True)
    file.write_text("// mine\n")
    ada.run("opencode")
    assert file.read_text().startswith("// mine\n\n/* synaptic:begin */\n")
    ada.run("opencode", "--remove")
    assert ada.tree() == {".config/opencode/plugins/synaptic.js": b"// mine\n"}


@pytest.mark.sweep("name")
@pytest.mark.parametrize("name", MEMORY)
@pytest.mark.parametrize(
    "before", [None, "# Mine", "# Mine\n", "# Mine\r\n\r\n- é\r\n", "\ufeff# Mine\n"]
)
def test_guidance_comes_and_goes(ada: Machine, name: str, before: str | None) -> None:
    file = ada.home / MEMORY[name]
    if before is not None:
        file.parent.mkdir(parents=True)
        file.write_bytes(before.encode())
    start = ada.tree()
    ada.run(name)
    assert "context_save" not in (file.read_text() if file.exists() else ""), "only on request"
    ada.run(name, "--guidance")
    text = file.read_bytes().decode()
    assert text.startswith(before or "") and text.count("context_search") == 1
    ada.run(name, "--remove")
    ended = {path: data + b"\n" * (data == b"# Mine") for path, data in start.items()}
    assert ada.tree() == ended, "a last line may have got its end"
    ada.run(name, "--guidance")
    assert file.read_bytes().decode() == text and "Done." not in ada.run(name, "--guidance").out
    file.write_bytes(text.replace("keys.", "keys, ever.").encode() + b"Later.\n")
    assert "Done." in ada.run(name, "--guidance").out
    assert file.read_bytes() == text.encode() + b"Later.\n"
    assert "guidance in" in ada.run(name, "--status").out
    ada.run(name, "--remove")
    lines = f"{before}\n" if before == "# Mine" else before or ""
    assert file.read_bytes().decode() == lines + "Later.\n"


@pytest.mark.parametrize("end", ["", "<!-- synaptic:begin --> <!-- synaptic:end -->"])
def test_guidance_with_a_marker_without_its_end_is_left_alone(ada: Machine, end: str) -> None:
    file = ada.home / MEMORY["codex"]
    file.parent.mkdir()
    text = f"# Mine\n<!-- synaptic:begin -->\nmy own words\n{end}"
    file.write_text(text)
    answer = ada.run("codex", "--guidance")
    assert answer.code == 1 and "has no line <!-- synaptic:end -->" in answer.out
    assert ada.run("codex", "--remove").code == 1 and file.read_text() == text


def test_the_plugin_is_left_alone_and_said(
    ada: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Installed as Claude Code 2.1 notes it: beside a registered server, alone, and without a
    program to start.
    """
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    ada.run("claude-code")
    settings = ada.home / ".claude" / "settings.json"
    settings.write_text(
        json.dumps(
            json.loads(settings.read_text()) | {"enabledPlugins": {"synaptic@synaptic": True}}
        )
    )
    installed = settings.parent / "plugins" / "installed_plugins.json"
    installed.parent.mkdir()
    installed.write_text(
        json.dumps({"version": 2, "plugins": {"synaptic@synaptic": [{"scope": "user"}]}})
    )
    said = ada.run("claude-code", "--status").out
    assert said.count("; the plugin synaptic@synaptic brings the server") == 2
    ada.run("claude-code", "--remove")
    before = ada.tree()
    answer = ada.run("claude-code")
    assert answer.code == 0 and "brings the server" in answer.out and ada.tree() == before
    note = tmp_path / "state" / "synaptic" / "command"
    note.write_text("/gone/synaptic")
    ada.run("claude-code")
    assert note.read_text().startswith(SYNAPTIC)


# -- folders that somebody else made
# -------------------------------------------------------------------


@pytest.mark.fault(row=11)
@pytest.mark.parametrize("there", ["file", "link", "fifo"])
def test_no_backup_is_claimed_that_was_not_made(ada: Machine, there: str) -> None:
    file = ada.put("opencode", golden("opencode", "before"))
    backup = file.with_name(file.name + BACKUP)
    if there == "fifo":
        os.mkfifo(backup)
    elif there == "link":
        backup.symlink_to("/etc/passwd")
    else:
        backup.write_text("Somebody's own.")
    answer = ada.run("opencode", "--no-hooks")
    assert answer.code == 0 and "Done." in answer.out and "As it was before" not in answer.out
    assert file.read_bytes() == golden("opencode", "after")
    assert ada.run("opencode", "--remove").code == 0
    assert file.read_bytes() == golden("opencode", "before")


@pytest.mark.fault(row=11)
def test_what_is_no_file_is_not_waited_for(ada: Machine) -> None:
    os.mkfifo(ada.file("claude-code"))
    answer = ada.run("claude-code")
    assert answer.code == 1 and "not a regular file" in answer.out


# -- the clients' own commands
# ------------------------------------------------------------------------

CLAUDE = """
import json, pathlib, sys
file = pathlib.Path.home() / ".claude.json"
data = json.loads(file.read_text()) if file.exists() else {}
words = sys.argv[1:]
servers = data.setdefault("mcpServers", {})
if words[:4] == ["mcp", "remove", "-s", "user"]:
    del servers[words[4]]
else:
    assert words[:4] == ["mcp", "add-json", "-s", "user"], words
    servers[words[4]] = json.loads(words[5])
file.write_text(json.dumps(data, indent=2))
"""


def test_claude_code_keeps_its_file_itself(ada: Machine) -> None:
    ada.program("claude", CLAUDE)
    file = ada.put("claude-code", golden("claude-code", "before"))
    answer = ada.run(SYNAPTIC_HOME="/srv/memory")
    line = "claude mcp add-json -s user synaptic '{"
    assert answer.code == 0 and line in answer.out, answer.text
    assert entry_of("claude-code", file.read_text())["env"] == {"SYNAPTIC_HOME": "/srv/memory"}
    assert (
        ada.ask("claude-code", SYNAPTIC_HOME="/srv/memory")["clients"][0]["action"] == "nothing"
    )
    assert ada.run("--remove").code == 0
    assert json.loads(file.read_text()) == json.loads(golden("claude-code", "before"))
    assert list(ada.tree()) == [".claude.json"]


@pytest.mark.parametrize(
    ("script", "says"),
    [("raise SystemExit('policy forbids it')", "policy forbids it"), ("", "did not change")],
)
def test_a_command_that_fails(ada: Machine, script: str, says: str) -> None:
    ada.program("claude", script)
    file = ada.put("claude-code", golden("claude-code", "before"))
    answer = ada.run()
    assert answer.code == 1 and says in answer.out and "Paste this into" in answer.out
    assert file.read_bytes() == golden("claude-code", "before")


def test_a_command_that_would_drop_comments_is_not_run(ada: Machine) -> None:
    """Codex and Gemini write their files anew."""
    ada.program("codex", "raise SystemExit('not to be called')")
    file = ada.put("codex", golden("codex", "before"))
    assert ada.run().code == 0
    assert file.read_bytes() == golden("codex", "after")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "program", "says"),
    [
        ("claude-code", "claude", r"synaptic: \S+ mcp - \S+ Connected"),
        ("codex", "codex", r"synaptic \S+ mcp - - enabled"),
        ("gemini", "gemini", r"synaptic: \S+ mcp \(stdio\) - Connected"),
        ("opencode", "opencode", r"synaptic \S*connected"),
    ],
)
def test_the_real_client_knows_it(ada: Machine, name: str, program: str, says: str) -> None:
    """With the real programs, where they are installed, in an empty home and without a login."""
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    env = {"PATH": os.environ["PATH"]}
    if name == "gemini":
        trusted = ada.put("gemini", "{}").with_name("trustedFolders.json")
        trusted.write_text(json.dumps({str(ada.home): "TRUST_FOLDER"}))
    assert ada.run(name, **env).code == 0
    listed = subprocess.run(
        [program, "mcp", "list"],
        cwd=ada.home,
        env=ada.synaptic.environment(**env),
        capture_output=True,
        text=True,
    )
    assert re.search(says, " ".join((listed.stdout + listed.stderr).split())), listed
    assert ada.run(name, "--remove", **env).code == 0
    assert ada.state(name, **env) == "not registered"


# -- laws of the texts
# --------------------------------------------------------------------------------

_BLANKS = st.sampled_from(
    ["", " ", "\n", "\n\t", "\r\n  ", " // c }\n", " /* , { */ ", '\n  // "synaptic"\n    ']
)
_SCALARS = st.sampled_from(
    [
        "1",
        "-0.50",
        "true",
        "null",
        '"x"',
        '"a\\"}, //b"',
        '"\\u00fc é"',
        "[]",
        "[ 1, /* c */ 2, ]",
        "{}",
    ]
)


@st.composite
def objects(draw: st.DrawFn, depth: int = 2) -> str:
    parts = []
    for name in draw(
        st.lists(st.sampled_from(["a", "b", "servers", "ü"]), max_size=3, unique=True)
    ):
        value = draw(objects(depth - 1)) if depth and draw(st.booleans()) else draw(_SCALARS)
        if name == "servers" and not value.startswith("{"):
            value = "{" + draw(_BLANKS) + "}"
        parts.append(
            f'{draw(_BLANKS)}"{name}"{draw(_BLANKS)}:{draw(_BLANKS)}{value}{draw(_BLANKS)}'
        )
    trailing = "," + draw(_BLANKS) if parts and draw(st.booleans()) else ""
    return "{" + ",".join(parts) + trailing + (draw(_BLANKS) if not parts else "") + "}"


@given(objects(), _BLANKS, _BLANKS)
def test_json_put_and_dropped_again_is_what_it_was(inner: str, before: str, after: str) -> None:
    text, value = before + inner + after, {"command": "/x y/é", "args": ["mcp"]}
    old = jsonc.parse(text)
    new = jsonc.put(text, ("servers", "synaptic"), value)
    assert jsonc.parse(new) == old | {"servers": old.get("servers", {}) | {"synaptic": value}}
    back = jsonc.drop(new, ("servers", "synaptic"))
    left = jsonc.parse(back)
    assert left | {"servers": left.get("servers", {})} == old | {
        "servers": old.get("servers", {})
    }
    if old.get("servers") or (old and "servers" not in old):
        assert back == text


def test_json_of_plain_json_is_json() -> None:
    text = '{"a": [1, -2.5e3, "\\ud83d\\ude00", {"b": null}], "a": 2}'
    assert jsonc.parse(text) == json.loads(text)
    assert jsonc.parse(jsonc.put(text, ("a",), 3)) == {"a": 3}
    with pytest.raises(ValueError, match="other settings"):
        jsonc.drop(text, ("a",))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a = 1\n\n\n",
        "[mcp_servers]\n# none yet\n",
        "mcp_servers.files.command = 'npx'\n",
        "[mcp_servers.synaptic2]\ncommand = 'x'\n",
        "[a]\r\nb = 1\r\n",
    ],
)
def test_toml_put_and_dropped_again_is_what_it_was(text: str) -> None:
    path, value = (
        ("mcp_servers", "synaptic"),
        {"command": "/x y/é", "args": ["mcp"], "env": {"A": "b"}},
    )
    new = toml.put(text, path, value)
    assert tomllib.loads(new)["mcp_servers"]["synaptic"] == value
    assert toml.drop(new, path) == text


def test_toml_of_several_tables_and_comments() -> None:
    mine = (
        "[mcp_servers.synaptic]\nargs = [\n  'mcp',\n]\n[mcp_servers.synaptic.env]\nA = 'b'\n"
    )
    theirs = "# on files\n\n[mcp_servers.files]\n"
    assert toml.drop(mine + theirs, ("mcp_servers", "synaptic")) == theirs


def test_toml_of_tables_that_stand_apart_keeps_comments_and_blank_lines() -> None:
    servers = (
        "[mcp_servers.synaptic]\ncommand = 'q'\n# one\n\n[other]\nx = "
        "1\n[mcp_servers.synaptic.env]\nA = 'b'\n# two\n"
    )
    assert toml.drop(servers, ("mcp_servers", "synaptic")) == "# one\n\n[other]\nx = 1\n# two\n"
    dotted = "a = 1\n\nmcp_servers.synaptic.command = 'q'\n# one\nb = 2\n"
    with pytest.raises(ValueError, match="other settings"):
        toml.drop(dotted, ("mcp_servers", "synaptic"))


# -- other systems
# ------------------------------------------------------------------------------------


def test_where_other_systems_keep_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/Users/ada")
    by_name = {client.name: client for client in CLIENTS}

    def files(platform: str, *names: str) -> list[str]:
        return [by_name[name].files[0].format_map(client_folders(platform)) for name in names]

    support = "/Users/ada/Library/Application Support"
    assert files("darwin", "claude-desktop", "vscode", "zed") == [
        f"{support}/Claude/claude_desktop_config.json",
        f"{support}/Code/User/mcp.json",
        "/Users/ada/.config/zed/settings.json",
    ]
    monkeypatch.setenv("APPDATA", "/roaming")
    assert files("win32", "claude-desktop", "zed") == [
        "/roaming/Claude/claude_desktop_config.json",
        "/roaming/Zed/settings.json",
    ]
    monkeypatch.setenv("CODEX_HOME", "/c")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/cc")
    monkeypatch.setenv("GEMINI_CLI_HOME", "/g")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/x")
    assert files("linux", "codex", "claude-code", "gemini", "opencode") == [
        "/c/config.toml",
        "/cc/.claude.json",
        "/g/.gemini/settings.json",
        "/x/opencode/opencode.json",
    ]

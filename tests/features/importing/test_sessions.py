"""Agents' transcripts become digests: what a client's own files hold, and what may be wrong
with them.
"""

import json
import sqlite3
import zipfile
from contextlib import closing
from datetime import datetime, timedelta
from functools import partial
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synaptic.errors import InvalidArgument
from synaptic.features.importing.readers.record import find_reader
from synaptic.features.importing.readers.session import read_session_events
from synaptic.notes.screening import visible_secrets

DATA = Path(__file__).parents[2] / "data"
BEGUN = datetime.fromisoformat("2026-11-20T09:00:00Z")


def user(text, **more):
    return {"type": "user", "message": {"role": "user", "content": text}, **more}


def agent(*blocks, **more):
    return {
        "type": "assistant",
        "message": {"role": "assistant", "content": list(blocks)},
        **more,
    }


def said(text):
    return {"type": "text", "text": text}


def call(id, name, **given):
    return {"type": "tool_use", "id": id, "name": name, "input": given}


def result(id, text, failed=False):
    return user(
        [{"type": "tool_result", "tool_use_id": id, "content": text, "is_error": failed}]
    )


def write(folder, lines, name="11111111-a-a-a-a.jsonl"):
    """A transcript of Claude Code with these lines; what is bytes is written as it is."""
    path = folder / "project" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = []
    for number, line in enumerate(lines):
        if isinstance(line, dict):
            at = (BEGUN + timedelta(minutes=number)).isoformat()
            line = json.dumps(
                {
                    "uuid": f"u{number}",
                    "timestamp": at,
                    "cwd": "/code/shop",
                    "gitBranch": "main",
                    **line,
                }
            )
        rows.append(line if isinstance(line, bytes) else line.encode() + b"\n")
    path.write_bytes(b"".join(rows))
    return path


def read(path, source="claude-code"):
    """(the records of a transcript, what was skipped)."""
    skipped = []
    return list(
        find_reader(source).read(path, lambda where, why: skipped.append((where, why)))
    ), skipped


@pytest.mark.parametrize("source", ["claude-code", "codex", "gemini", "opencode"])
def test_forty_sessions_of_the_clients_themselves_are_told_as_they_were(source, tmp_path):
    zipfile.ZipFile(DATA / "sessions.zip").extractall(tmp_path)
    reader = find_reader(source)
    places = reader.find(tmp_path, {})
    assert all(place.is_relative_to(tmp_path) for place in places)
    found = {
        session.key: session
        for place in places
        for session in reader.sessions(place, pytest.fail)
    }
    records = {
        record.key: record for place in places for record in reader.read(place, pytest.fail)
    }
    truths = [
        truth
        for truth in json.loads((DATA / "session_truth.json").read_text())
        if truth["client"] == source
    ]
    assert {truth["session"] for truth in truths} == set(found)
    worth = [truth for truth in truths if truth["edited"] or len(truth["asked"]) > 2]
    assert {truth["session"] for truth in worth} == set(records)
    for truth in worth:
        happened = [event for event in found[truth["session"]].events if event.text]
        told = {
            kind: [event.text for event in happened if event.kind == kind]
            for kind in ("asked", "said", "edited", "ran")
        }
        assert told["asked"] == truth["asked"]
        assert told["said"][-1] == truth["last_answer"]
        edited = [path.removeprefix(f"{truth['folder']}/") for path in told["edited"]]
        assert list(dict.fromkeys(edited)) == truth["edited"]
        assert [event.commit.partition(" (")[0] for event in happened if event.commit] == truth[
            "commits"
        ]
        ran = [event for event in happened if event.kind == "ran"]
        if not truth["subagents"]:  # of them only edits and commits count
            assert told["ran"] == [one["command"] for one in truth["commands"]]
            for event, one in zip(
                ran, truth["commands"], strict=True
            ):  # `exit $code` is what that machine found
                assert event.status == one["exit"] or event.text.endswith("exit $code")
        record = records[truth["session"]]
        assert " ".join(truth["last_answer"].split()[:6]) in " ".join(record.text.split())
        assert record.folder == truth["folder"] or (source, record.folder) == (
            "gemini",
            None,
        )  # known by its hash alone
        assert not visible_secrets(record.text + record.title)
        for injected in (
            "system-reminder",
            "_context>",
            "AGENTS.md instructions",
            "[System:",
            "Another language model",
        ):
            assert injected not in record.text
        around = chain.from_iterable(
            read_session_events(source, place, record.key) for place in places
        )
        assert set(truth["asked"]) <= {event.text for event in around}


def crush(home):
    """A project's database as the schema of Crush and its reader in deja-vu describe it."""
    file = home / "quarry" / ".crush" / "crush.db"
    file.parent.mkdir(parents=True)
    with closing(sqlite3.connect(file)) as db:
        db.executescript((DATA / "memories" / "crush.sql").read_text())
    registry = home / ".local" / "share" / "crush" / "projects.json"
    registry.parent.mkdir(parents=True)
    project = {"path": str(home / "quarry"), "data_dir": str(file.parent)}
    registry.write_text(json.dumps({"projects": [project, {"path": "/gone"}, 5]}))


@pytest.mark.parametrize("source", ["qwen", "copilot", "cline", "crush", "aider"])
def test_sessions_of_more_clients_are_told_as_they_were(source, tmp_path):
    """Each but Crush's was written by the client itself, with the same scripted model."""
    zipfile.ZipFile(DATA / "agents.zip").extractall(tmp_path)
    crush(tmp_path)
    (place,) = find_reader(source).find(tmp_path, {})
    records, skipped = read(place, source)
    assert not skipped and len(records) == 1
    (record,) = records
    told = record.text
    assert "> Why is there no total yet?" in told and "- Edited: `total.py`" in told
    assert Path(record.folder).name == "quarry" and record.title.startswith("Why is there")
    if source != "aider":  # it tells neither
        assert "exit 1: `ModuleNotFoundError: No module named 'nothere'`" in told
        assert "The total sums all rows" in told
    if source != "crush":
        assert "- Committed: `" in told and "Add the total (" in told
    around = read_session_events(source, place, record.key)
    assert [event.text for event in around if event.kind == "edited"][-1] == "total.py"
    assert not any(mark in told for mark in ("user_input", "<cwd>", "(none)", "shellId"))


CHAT = "ad9f62d0-57b4-42f4-9310-b6fd3213af85"
FAILED = "ModuleNotFoundError: No module named 'nothere'"
COMMITTED = "[main 7d68c80] Add the total\n 1 file changed"


def packed(value):
    """JSON as JSON.stringify writes it."""
    return json.dumps(value, separators=(",", ":"))


def cursor_call(name, params, result, status="completed"):
    called = {"tool": 15, "toolCallId": f"tool_{len(packed(params))}", "status": status}
    return called | {"name": name, "params": packed(params), "result": packed(result)}


def cursor(home, place):
    """A chat as Cursor keeps it, after the dump of Cursor 3.6 in empathic/toolpath
    (test-fixtures/cursor/convo.json) and the reader of vshulcz/deja-vu.
    """
    terminal = partial(cursor_call, "run_terminal_command_v2")
    messages = [
        (1, "Why is there no total yet?", None),
        (2, "", terminal({"command": "python3 total.py"}, {"output": FAILED, "exitCodeV2": 1})),
        (2, "", terminal({"command": "rm -rf /"}, {"rejected": True})),
        (
            2,
            "I write it.",
            cursor_call("edit_file_v2", {"relativeWorkspacePath": "total.py"}, {}),
        ),
        (2, "", terminal({"command": "git commit -qm x"}, {"output": COMMITTED})),
        (2, "", cursor_call("read_file_v2", {"targetFile": "other.py"}, {"contents": "a = 1"})),
        (2, "The total sums all rows.", None),
    ]
    heads = [{"bubbleId": str(n), "type": one[0]} for n, one in enumerate(messages)]
    chat = {"_v": 16, "composerId": CHAT, "name": "Why is there no total"}
    chat |= {"createdAt": 1780338796904, "fullConversationHeadersOnly": heads}
    quarry = home / "quarry"
    uri = {"$mid": 1, "fsPath": str(quarry), "path": str(quarry), "scheme": "file"}
    workspace = {"id": "37d08546371c6424", "uri": uri}
    rows = {"composerData:null": None, "composerData:damaged": "{"}
    rows["composerData:draft"] = packed({"fullConversationHeadersOnly": []})
    aside = {**chat, "subagentInfo": {"parentComposerId": CHAT}}
    rows["composerData:aside"] = packed(aside)
    chat |= {"workspaceIdentifier": workspace} if place == "chat" else {}
    rows[f"composerData:{CHAT}"] = packed(chat).encode()
    for number, (kind, text, call) in enumerate(messages):
        bubble = {"_v": 3, "bubbleId": str(number), "type": kind, "text": text}
        bubble |= {"createdAt": f"2026-06-01T18:33:3{number}.520Z"}
        bubble |= {"toolFormerData": call} if call else {}
        bubble |= {"workspaceUris": [quarry.as_uri()]} if place == "message" else {}
        rows[f"bubbleId:{CHAT}:{number}"] = packed(bubble)
    items = {"cursorAuth/accessToken": "never read"}
    if place == "head":
        head = {"composerId": CHAT, "workspaceIdentifier": workspace}
        items["composer.composerHeaders"] = packed({"allComposers": [head]})
    file = home / ".config" / "Cursor" / "User" / "globalStorage" / "state.vscdb"
    file.parent.mkdir(parents=True)
    with closing(sqlite3.connect(file)) as db, db:
        for table, values in (("ItemTable", items), ("cursorDiskKV", rows)):
            columns = "(key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)"
            db.execute(f"CREATE TABLE {table} {columns}")
            db.executemany(f"INSERT INTO {table} VALUES (?, ?)", values.items())
    return file


@pytest.mark.parametrize("place", ["chat", "head", "message"])
def test_chats_of_cursor_are_told_and_its_files_left_alone(place, tmp_path):
    file = cursor(tmp_path, place)
    with closing(sqlite3.connect(file)) as editor:  # it has the database open, in a transaction
        editor.execute("BEGIN IMMEDIATE")
        before = {one.name: one.stat().st_mtime_ns for one in file.parent.iterdir()}
        (found,) = find_reader("cursor").find(tmp_path, {})
        (record,), skipped = read(found, "cursor")
        assert {one.name: one.stat().st_mtime_ns for one in file.parent.iterdir()} == before
    assert [where for where, _ in skipped] == ["state.vscdb: damaged"]
    assert (record.key, record.title) == (CHAT, "Why is there no total")
    assert record.folder == str(tmp_path / "quarry") and record.files == ("total.py",)
    assert record.text.split("\n\n")[1:] == [
        "> Why is there no total yet?",
        "The total sums all rows.",
        "- Edited: `total.py`\n"
        f"- Ran: `python3 total.py`, exit 1: `{FAILED}`\n"
        "- Committed: `Add the total (7d68c80)`",
    ]
    assert [event.line for event in read_session_events("cursor", found, CHAT)] == [
        1,
        2,
        4,
        4,
        5,
        7,
    ]


def vscode(home, lines, suffix):
    storage = home / ".config" / "Code" / "User" / "workspaceStorage" / "1ecfbe86"
    (storage / "chatSessions").mkdir(parents=True, exist_ok=True)
    (storage / "workspace.json").write_text(packed({"folder": (home / "quarry").as_uri()}))
    file = storage / "chatSessions" / f"{CHAT}{suffix}"
    file.write_text("\n".join(map(packed, lines)) + "\n")
    return file


def test_chats_of_vs_code_are_told_from_their_log_of_changes(tmp_path):
    """The log as chatSessionOperationLog.ts of microsoft/vscode writes it, the calls as in the
    tests of vshulcz/deja-vu.
    """

    def terminal(command, output, status, answer=4):
        data = {"kind": "terminal", "commandLine": {"original": command}}
        data |= {"terminalCommandOutput": {"text": output}} if output else {}
        data |= {"terminalCommandState": {"exitCode": status}} if status is not None else {}
        called = {"kind": "toolInvocationSerialized", "toolId": "run_in_terminal"}
        return called | {"isConfirmed": {"type": answer}, "toolSpecificData": data}

    uri = {"$mid": 1, "path": str(tmp_path / "quarry" / "total.py"), "scheme": "file"}
    chat = {"version": 3, "creationDate": 1780338796904, "sessionId": CHAT, "requests": []}
    request = {"requestId": "r1", "timestamp": 1780338811534, "response": []}
    request |= {"message": {"text": "Why is there no total yet?", "parts": []}}
    first = [
        {"kind": "thinking", "value": "Hm."},
        terminal("python3 total.py", FAILED, 1),
        {"value": "I wrote"},
    ]
    rest = [
        {"value": "\n```\n"},
        {"kind": "codeblockUri", "uri": uri, "isEdit": True},
        {"kind": "textEditGroup", "uri": uri, "edits": [[], []], "done": True},
        {"value": "\n```\n"},
        terminal("rm -rf /", "", None, answer=0),
        terminal("git commit -qm x", COMMITTED, 0),
        {"value": "The total in "},
        {"kind": "inlineReference", "inlineReference": uri},
        {"value": " sums all rows."},
    ]
    noise = {"timestamp": 1780338831534, "message": {"text": "`npm test` completed"}}
    noise |= {"isSystemInitiated": True, "response": []}
    log = [
        {"kind": 0, "v": chat},
        {"kind": 1, "k": ["inputState"], "v": {"inputText": "never sent"}},
        {"kind": 2, "k": ["requests"], "v": [request]},
        {"kind": 2, "k": ["requests", 0, "response"], "v": first},
        {"kind": 2, "k": ["requests", 0, "response"], "v": rest, "i": 2},
        {"kind": 1, "k": ["requests", 9, "response"], "v": []},
        {"kind": 1, "k": ["customTitle"], "v": "No total"},
        {"kind": 1, "k": ["requests", 0, "modelState"], "v": {"completedAt": 1780338821534}},
        {"kind": 3, "k": ["inputState"]},
        {"kind": 2, "k": ["requests"], "v": [noise]},
    ]
    vscode(tmp_path, log, ".jsonl")
    (place,) = find_reader("vscode").find(tmp_path, {})
    (record,), skipped = read(place, "vscode")
    assert [where for where, _ in skipped] == [f"{CHAT}.jsonl:6"]
    assert (record.title, record.folder) == ("No total", str(tmp_path / "quarry"))
    assert record.text.split("\n\n")[1:] == [
        "> Why is there no total yet?",
        "The total in total.py sums all rows.",
        "- Edited: `total.py`\n"
        f"- Ran: `python3 total.py`, exit 1: `{FAILED}`\n"
        "- Committed: `Add the total (7d68c80)`",
    ]
    assert (record.until - record.at).seconds == 10
    assert read_session_events("vscode", place, CHAT)[0].text == "Why is there no total yet?"
    old = {**chat, "requests": [{**request, "response": [first[1], *rest]}]}
    vscode(tmp_path, [old], ".json")
    assert read(place, "vscode")[0] == [record]  # the log stands before an older file
    (place / f"{CHAT}.jsonl").unlink()
    (older,), skipped = read(place, "vscode")
    assert not skipped and older.text.split("\n\n")[1:] == record.text.split("\n\n")[1:]


def test_a_digest_tells_what_was_asked_answered_edited_and_run(tmp_path):
    path = write(
        tmp_path,
        [
            user("<system-reminder>Today is Friday.</system-reminder>Why is the total wrong?"),
            user("Base directory for this skill: /x", isMeta=True),
            agent(said("I look.")),
            agent(call("1", "Bash", command="cat src/total.py")),
            result("1", "def total(): ..."),
            agent(call("2", "Bash", command="cd /code/shop && pytest -q")),
            result(
                "2",
                "Exit code 1\n....\n\x1b[31mE   AssertionError: 3 != 4\x1b[0m\nshort summary",
                failed=True,
            ),
            agent(call("3", "Edit", file_path="/code/shop/src/total.py")),
            result("3", "updated"),
            agent(call("4", "Write", file_path="/code/shop/src/never.py")),
            result("4", "The user doesn't want to proceed", failed=True),
            agent(call("5", "Bash", command="pytest -q")),
            result("5", "4 passed"),
            agent(call("6", "Bash", command="git commit -am x")),
            result("6", "[main 1a2b3c4d5e6f] Count the last row\n 1 file changed"),
            agent(said("## Done\nThe loop left out the last row. #bug\n- [ ] tell Ada")),
            {"type": "ai-title", "aiTitle": "Wrong total"},
        ],
    )
    (record,), skipped = read(path)
    assert (record.key, record.title, record.folder, record.branch) == (
        path.stem,
        "Wrong total",
        "/code/shop",
        "main",
    )
    assert (record.type, record.at, record.lines, record.files) == (
        "progress",
        BEGUN,
        (1, 16),
        ("src/total.py",),
    )
    assert record.growing and not skipped
    assert record.text.split("\n\n")[1:] == [
        "> Why is the total wrong?",
        "**Done**\nThe loop left out the last row. \\#bug\n- tell Ada",
        "- Edited: `src/total.py`\n"
        "- Ran: `pytest -q`, exit 1: `E   AssertionError: 3 != 4`\n"
        "- Ran: `pytest -q`, exit 0\n"
        "- Committed: `Count the last row (1a2b3c4d5e)`",
    ]
    around = read_session_events("claude-code", tmp_path, record.key)
    assert [(event.line, event.kind) for event in around][-2:] == [(14, "ran"), (16, "said")]


def test_private_passages_and_secrets_are_gone_before_a_text_is_shortened(tmp_path):
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    lines = [
        user(
            "<private>"
            + "I earn 93,417 a month.\n" * 100
            + f"</private>Plan my taxes. {'x' * 580} {token}"
        ),
        agent(said("Noted.\nI earn 93,417 a month.")),
        user("Also <private>the flat in Rue Daru"),
        agent(said("Which?")),
        user("is mine</private>but not the car."),
        agent(
            call(
                "1",
                "Bash",
                command=f"curl -H 'Authorization: Bearer {token}' https://x.example",
            )
        ),
        {"type": "ai-title", "aiTitle": "A flat in Rue Daru"},
    ]
    (record,), _ = read(write(tmp_path, lines))
    assert not any(
        word in record.text + record.title for word in ("93,417", "Daru", "is mine", "ghp_")
    )
    assert all(
        word in record.text
        for word in ("Plan my taxes", "Noted", "Also", "not the car", "[redacted")
    )


def test_nothing_is_told_of_a_session_in_which_no_person_asked(tmp_path):
    caveat = (
        "Caveat: The messages below were generated by the user while running local commands."
    )
    for number, lines in enumerate(
        [
            [
                user(caveat),
                user("<command-name>/clear</command-name>"),
                agent(said("No response requested.")),
            ],
            [user("done", origin={"kind": "task-notification"}), agent(said("Good."))],
            [
                user("This session is being continued", isCompactSummary=True),
                agent(said("Yes.")),
            ],
            [user("hi")],
            [b""],
        ]
    ):
        assert read(write(tmp_path, lines, f"{number}-a-a-a-a.jsonl")) == ([], [])


def test_no_digest_is_made_of_a_session_without_work(tmp_path):
    hello = [user("Hello 1"), agent(said("Hello! How can I help you with your project today?"))]
    run = agent(call("c1", "Bash", command="make test")), result("c1", "ok")
    thanks = [user("ok, thanks"), agent(said("You are welcome."))]
    for number, more in enumerate([[], thanks, [*thanks, *thanks], [user("try again"), *run]]):
        path = write(tmp_path, [*hello, *more], f"{number}-a-a-a-a.jsonl")
        assert read(path) == ([], [])
    port = [user("Which port?"), agent(said("5173."))]
    failed = agent(call("c1", "Bash", command="make")), result("c1", "Error: no rule", True)
    edited = agent(call("c2", "Edit", file_path="/code/a.py")), result("c2", "ok")
    for number, more in enumerate([[*thanks, *port], failed, edited], start=4):
        (record,), skipped = read(write(tmp_path, [*hello, *more], f"{number}-a-a-a-a.jsonl"))
        assert not skipped and any(word in record.text for word in ("5173", "no rule", "a.py"))


def test_a_forked_session_and_subagents_double_nothing(tmp_path):
    first = [
        user("Build the parser."),
        agent(said("Built.")),
        user("And the docs?"),
        agent(said("Written.")),
    ]
    aside = [
        user("Find callers.", isSidechain=True),
        agent(call("9", "Edit", file_path="/code/shop/b.py"), isSidechain=True),
    ]
    write(tmp_path, [*first, *({**line, "uuid": f"s{n}"} for n, line in enumerate(aside))])
    write(
        tmp_path,
        [{**line, "uuid": f"a{n}"} for n, line in enumerate(aside)],
        "11111111-a-a-a-a/subagents/agent-1.jsonl",
    )
    write(
        tmp_path,
        [
            *first,
            user("Now the tests."),
            agent(said("Tested.")),
            agent(call("8", "Edit", file_path="/code/shop/a.py")),
        ],
        "22222222-b-b-b-b.jsonl",
    )
    records, _ = read(tmp_path)
    assert [record.text.count("> ") for record in records] == [2, 1]
    assert records[0].files == ("b.py",) and "Find callers" not in records[0].text
    assert "Now the tests." in records[1].text


def test_a_torn_last_line_is_silent_and_other_damage_is_told(tmp_path):
    lines = [
        user("Why?"),
        b'{"type": "assis\n',
        b"[1, 2]\n",
        b'{"type": "x\xff"}\n',
        b"[" * 200 + b"]" * 200 + b"\n",
        agent(said("So."), call("1", "Edit", file_path="/code/shop/a.py")),
        b'{"type": "us',
    ]
    (record,), skipped = read(write(tmp_path, lines))
    assert "So." in record.text and skipped == [
        ("11111111-a-a-a-a.jsonl:2", "it is not JSON"),
        ("11111111-a-a-a-a.jsonl:5", "a record has more than 100 levels"),
    ]
    with pytest.raises(InvalidArgument, match="holds no transcript"):
        read(tmp_path, "codex")


def test_messages_that_two_writers_left_on_one_line_are_all_read(tmp_path):
    edit = call("1", "Edit", file_path="/code/shop/a.py")
    path = write(tmp_path, [user("Why?"), agent(said("Because."), edit), user("And now?")])
    first, second, third = path.read_bytes().splitlines()
    path.write_bytes(first + second + b"\n" + third + b"{\n")
    (record,), skipped = read(path)
    assert all(text in record.text for text in ("Why?", "Because.", "And now?"))
    assert skipped == [("11111111-a-a-a-a.jsonl:2", "it is not JSON")]


def test_earlier_parts_stay_as_they_are_while_a_session_grows(tmp_path):
    lines = []
    for number in range(40):
        lines += [
            user(f"Step {number}: {'please ' * number}"),
            agent(said(f"Did {number}. {'Well. ' * 9 * number}")),
        ]
    whole, _ = read(write(tmp_path, lines))
    assert len(whole) > 3 and [record.key for record in whole[1:]] == [
        f"{whole[0].key}/{n}" for n in range(2, len(whole) + 1)
    ]
    for end in range(1, len(lines), 7):
        grown, _ = read(write(tmp_path, lines[:end]))
        assert grown[:-1] == whole[: len(grown[:-1])]
    assert all(len(record.text) <= 6000 for record in whole)
    calls = [
        call(str(n), "Bash", command=f"git commit -qm '{n} {'x' * 120}'") for n in range(90)
    ]
    calls += [call(f"e{n}", "Edit", file_path=f"/code/{'d' * 140}/{n}.py") for n in range(90)]
    (record,), _ = read(
        write(
            tmp_path,
            [user("a\n\n" * 400), agent(*calls), *(result(str(n), "") for n in range(90))],
        )
    )
    assert len(record.text) <= 6000


def test_geminis_log_of_changes_is_played_as_it_was_meant(tmp_path):
    def message(id, type, text, **more):
        return {
            "id": id,
            "type": type,
            "content": [{"text": text}],
            "timestamp": BEGUN.isoformat(),
            **more,
        }

    ran = {
        "id": "c",
        "name": "run_shell_command",
        "args": {"command": "make"},
        "status": "success",
    }
    lines = [
        {"sessionId": "s", "startTime": BEGUN.isoformat(), "kind": "main"},
        {
            "$set": {
                "messages": [message("0", "user", "<session_context>Linux</session_context>")]
            }
        },
        message("1", "user", "Build it."),
        message("2", "gemini", "I build."),
        message("2", "gemini", "I build.", toolCalls=[{**ran, "result": []}]),
        message("3", "user", "Wrong branch!"),
        {"$rewindTo": "3"},
        {
            "$set": {
                "messages": [
                    message("9", "user", "Build it."),
                    message("8", "gemini", "I build."),
                ]
            }
        },
        message("4", "user", "And again."),
        message("5", "gemini", "Built."),
        message("6", "user", "Thanks."),
    ]
    path = tmp_path / "session-1-s.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    (record,), _ = read(path, "gemini")
    told = [line for line in record.text.splitlines()[1:] if line]
    assert told == [
        "> Build it.",
        "I build.",
        "- Ran: `make`, exit 0",
        "> And again.",
        "Built.",
        "> Thanks.",
    ]


ODD = (
    None,
    True,
    -1,
    1e300,
    "",
    "\ud800",
    [],
    {},
    [[]],
    [None],
    {"type": 7},
    "<private>",
    "*** Begin Patch",
    "\0\x1b[3",
    10**25,
)


@given(st.randoms(use_true_random=False))
def test_no_line_of_whatever_shape_stops_a_reader(tmp_path_factory, chance):
    def bent(value):
        if chance.random() < 0.06:
            return chance.choice(ODD)
        if isinstance(value, dict):
            return {key: bent(one) for key, one in value.items()}
        return [bent(one) for one in value] if isinstance(value, list) else value

    folder = tmp_path_factory.mktemp("bent")
    content = [{"type": "input_text", "text": "Why?"}]
    made = {
        "function_call": {
            "name": "shell",
            "call_id": "1",
            "arguments": '{"command": ["bash", "-lc", "make"]}',
        }
    }
    made |= {
        "message": {"role": "user", "content": content},
        "item_completed": {"item": {"type": "CommandExecution"}},
    }
    made |= {
        "function_call_output": {
            "call_id": "1",
            "output": '{"output": "no", "metadata": {"exit_code": 2}}',
        }
    }
    rows = [{"type": "session_meta", "payload": {"id": "s", "cwd": "/work"}}]
    rows += [
        {"type": "response_item", "payload": {"type": kind, **more}}
        for kind, more in made.items()
    ]
    texts = [json.dumps(bent(row)) for row in rows] + ["[" * 9999, '"text"', "{"]
    (folder / "rollout-1-s.jsonl").write_text("\n".join(texts))
    lines = [
        user("Why?"),
        agent(said("So."), call("1", "Bash", command="make")),
        result("1", "Exit code 2", failed=True),
    ]
    write(folder, [line for line in map(bent, lines) if isinstance(line, dict)])
    for source in ("codex", "claude-code"):
        for record in read(folder, source)[0]:
            (record.text + record.title).encode()

"""Plays written scenarios through the real clients, and packs the transcripts that these leave.

python scripts/play_sessions.py                     # all; then writes tests/data/sessions.zip and session_truth.json
python scripts/play_sessions.py harbor-pool-hang    # this one alone, once more; packs nothing
python scripts/play_sessions.py --rehearse          # no client: are the edits possible, what do the commands answer?
python scripts/play_sessions.py --keep DIR          # the installed clients stay there for the next time

A scenario is a session of `tests/data/scenarios/PROJECT.json`: prompts, and for each the steps
that the model takes. It is played in a fresh repository below /tmp/demo, in one home,
/tmp/demo/home, whose sessions are packed as they are: `.claude`, `.codex`, `.gemini` and
`.local/share/opencode`, so that an unpacked archive is a home. What was played stays in
/tmp/demo until it is deleted; a second run plays only what is missing.

The clients write the real clock. The archive tells another time: every date and time of a
session that lies in its own run is moved by a whole number of hours, the same in all of that
session, so that it begins `ago` days before 22 November 2026 at `hour`. Ids that are made of
times (UUID 7, OpenCode's) are left as they were. Prompts that went through a terminal have the
flag `terminal`; the others went through `claude
-p`, `codex exec`, `gemini -p` and `opencode run`, the second prompt by the client's way to go
on with a session.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
import pty
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import zipfile
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

from accept import Scratch, Unavailable
from endpoint import Call, Endpoint, Json, Said, dicts, name_of, tools_of
from environment import PYTHON, ROOT, SYNAPTIC, clean_environ, prepare
from see_agents import ASKED, GEMINI, OWN, clients

assert sys.platform != "win32"  # it has no pseudo terminals

DEMO = Path("/tmp/demo")
"""Where the clients run: no path of a person or machine stands in what they write."""
HOME = DEMO / "home"
DATA = ROOT / "tests" / "data"
LAST_DAY = datetime(2026, 11, 22, tzinfo=UTC)
TURN_S = 90

KEPT = {
    "claude-code": ".claude/projects/**/*.json*",
    "codex": ".codex/*sessions/**/rollout-*",
    "gemini": ".gemini/tmp/*/chats/**/*.json*",
}
"""The transcripts of a client in a home; OpenCode has a database."""
DATABASE = ".local/share/opencode/opencode.db"

ALLOWED = [
    "Bash",
    "Edit",
    "Write",
    "Read",
    "Agent",
    "mcp__synaptic",
    "--permission-mode",
    "default",
]


# -- the steps of a scenario, in the words of a client
# --------------------------------------------------


def call(client: str, step: Json, folder: Path, code: bool) -> Call | None:
    """The tool call of a step; None for a step that only says something. `code`: Codex's model
    writes programs.
    """
    path = str(folder / (step.get("write") or step.get("edit") or step.get("read", "")))
    why = step.get("why", "")
    match client, step:
        case "codex", {"run": command}:
            return _shell(command, code)
        case "codex", {"read": name}:
            return _shell(f"sed -n 1,200p {name}", code)
        case "codex", {"write": name, "text": text}:
            return _patch(
                f"*** Add File: {name}", [f"+{line}" for line in text.splitlines()], code
            )
        case "codex", {"edit": name, "old": old, "new": new}:
            lines = [f"-{line}" for line in old.splitlines()] + [
                f"+{line}" for line in new.splitlines()
            ]
            return _patch(f"*** Update File: {name}\n@@", lines, code)
        case "codex", {"mcp": name, "args": args}:
            program = f"text(await tools.mcp__synaptic__{name}({json.dumps(args)}))"
            return ("exec", {"input": program}) if code else (name, args)
        case "claude-code", {"run": command}:
            return "Bash", {"command": command} | ({"description": why} if why else {})
        case "claude-code", {"read": _}:
            return "Read", {"file_path": path}
        case "claude-code", {"write": _, "text": text}:
            return "Write", {"file_path": path, "content": text}
        case "claude-code", {"edit": _, "old": old, "new": new}:
            return "Edit", {"file_path": path, "old_string": old, "new_string": new}
        case "claude-code", {"task": told}:
            words = {
                "prompt": told,
                "subagent_type": "general-purpose",
                "run_in_background": False,
            }
            return "Agent", {"description": step["title"]} | words
        case "gemini", {"run": command}:
            return "run_shell_command", {
                "command": command,
                "description": why or "Run a command.",
            }
        case "gemini", {"read": _}:
            return "read_file", {"file_path": path}
        case "gemini", {"write": _, "text": text}:
            return "write_file", {"file_path": path, "content": text}
        case "gemini", {"edit": name, "old": old, "new": new}:
            told = {
                "instruction": why or f"Change {name}.",
                "old_string": old,
                "new_string": new,
            }
            return "replace", {"file_path": path} | told
        case "opencode", {"run": command}:
            return "bash", {"command": command}
        case "opencode", {"read": _}:
            return "read", {"filePath": path}
        case "opencode", {"write": _, "text": text}:
            return "write", {"filePath": path, "content": text}
        case "opencode", {"edit": _, "old": old, "new": new}:
            return "edit", {"filePath": path, "oldString": old, "newString": new}
        case "opencode", {"task": told}:
            return "task", {
                "description": step["title"],
                "prompt": told,
                "subagent_type": "general",
            }
        case _, {"mcp": name, "args": args}:
            prefix = {
                "claude-code": "mcp__synaptic__",
                "gemini": "mcp_synaptic_",
                "opencode": "synaptic_",
            }[client]
            return prefix + name, args
    return None


def _shell(command: str, code: bool) -> Call:
    program = (
        f"const r = await tools.exec_command({json.dumps({'cmd': command})});\ntext(r.output);"
    )
    return ("exec", {"input": program}) if code else ("exec_command", {"cmd": command})


def _patch(head: str, lines: Iterable[str], code: bool) -> Call:
    patch = "\n".join(["*** Begin Patch", head, *lines, "*** End Patch"]) + "\n"
    program = f"text(await tools.apply_patch({json.dumps(patch)}));"
    return ("exec", {"input": program}) if code else ("apply_patch", {"input": patch})


class Script(Endpoint):
    """A model that takes the steps of a session, one a request. `surprises` are requests that
    it has no step for.
    """

    def __init__(self, session: Json, folder: Path) -> None:
        self.client, self.title, self.folder = (
            str(session["client"]),
            str(session["title"]),
            folder,
        )
        self.steps: deque[Json] = deque()
        self.tasks: dict[str, deque[Json]] = {}
        self.hangs, self.surprises = threading.Event(), list[str]()
        super().__init__()

    def say(self, body: Json) -> Said:
        if self.steps and "summary" in self.steps[0] and not _titled(body):
            return Said(self.steps[0]["summary"])  # some clients ask for it twice
        if not tools_of(body) or _titled(body):
            wants_json = any(
                "schema" in each or "responseJsonSchema" in each for each in dicts(body)
            )
            return Said(json.dumps({"title": self.title}) if wants_json else self.title)
        if "[System: You successfully executed a tool" in json.dumps(_talk(body)[-1]):
            return Said(
                "The request was cancelled."
            )  # Gemini CLI asks so by itself after an interruption
        told = _first(body)
        steps = next((steps for task, steps in self.tasks.items() if task in told), self.steps)
        if not steps:
            self.surprises.append(json.dumps(_talk(body)[-1])[-600:])
            return Said("Done.")
        step, names = steps[0], set(map(name_of, tools_of(body)))
        found = call(self.client, step, self.folder, "exec" in names)
        if "mcp" in step and found and found[0] not in names and "ToolSearch" in names:
            return Said(
                calls=[("ToolSearch", {"query": f"select:{found[0]}"})]
            )  # Claude Code keeps it back until then
        steps.popleft()
        if "task" in step:
            self.tasks[step["task"]] = deque(step["steps"])
        if step.get("hangs"):
            self.hangs.set()
            time.sleep(TURN_S)
        return Said(step.get("say", ""), [found] if found else [], step.get("think", ""))


def _titled(body: Json) -> bool:
    """Whether Codex asks for a title."""
    return "thread_title" in json.dumps(body.get("client_metadata", ""))


def _talk(body: Json) -> list[Json]:
    return body.get("messages") or body.get("input") or body.get("contents") or [body]


def _first(body: Json) -> str:
    """What a talk begins with."""
    return " ".join(
        text
        for each in dicts(_talk(body)[:1])
        for text in each.values()
        if isinstance(text, str)
    )


# -- a repository, and a rehearsal without a client
# -----------------------------------------------------


def make_project(project: Json, session: Json, under: Path = DEMO) -> Path:
    """A small repository as it is before the session."""
    folder = under / str(project["project"])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, text in (project["files"] | session.get("files", {})).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    own = [["config", "user.name", "Dana Ruiz"], ["config", "user.email", "dana@example.com"]]
    branch = [["switch", "-qc", session["branch"]]] if "branch" in session else []
    for words in (
        ["init", "-qb", "main"],
        *own,
        ["add", "-A"],
        ["commit", "-qm", project["first"]],
        *branch,
    ):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return folder


def steps_of(session: Json) -> Iterator[Json]:
    """The steps of a session in order, those of subagents where they are asked for."""
    for turn in session["turns"]:
        for step in turn["steps"]:
            yield step
            yield from step.get("steps", ())


def rehearse(project: Json, session: Json) -> Json:
    """What the session does, as facts: files edited, commands with their exit status, commits.

    Raises Unavailable for an edit that is not possible.
    """
    folder, edited, commands = (
        make_project(project, session, DEMO / "rehearsal"),
        list[str](),
        list[Json](),
    )
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(HOME), "GIT_PAGER": "cat"}
    for step in steps_of(session):
        if "run" in step:
            done = subprocess.run(
                ["bash", "-c", step["run"]],
                cwd=folder,
                env=environ,
                capture_output=True,
                text=True,
            )
            printed = (done.stdout + done.stderr).strip()
            commands.append(
                {"command": step["run"], "exit": done.returncode, "printed": printed}
            )
        elif "write" in step or "edit" in step:
            path = folder / (step.get("write") or step["edit"])
            before = path.read_text(encoding="utf-8") if path.exists() else ""
            if "edit" in step and before.count(step["old"]) != 1:
                raise Unavailable(
                    f"{session['id']}: {path} has {before.count(step['old'])} times "
                    f"{step['old']!r}"
                )
            path.parent.mkdir(parents=True, exist_ok=True)
            text = step["text"] if "write" in step else before.replace(step["old"], step["new"])
            path.write_text(text, encoding="utf-8")
            edited.append(str(path.relative_to(folder)))
        elif "read" in step and not (folder / step["read"]).exists():
            raise Unavailable(f"{session['id']}: there is no {step['read']}")
    log = ["git", "log", "--reverse", "--format=%s"]
    subjects = subprocess.run(
        log, cwd=folder, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    return {
        "edited": list(dict.fromkeys(edited)),
        "commands": commands,
        "commits": subjects[1:],
    }


# -- the clients
# ----------------------------------------------------------------------------------------


SAYS = {
    b"\x1b[6n": b"\x1b[1;1R",
    b"\x1b[c": b"\x1b[?62;c",
    b"\x1b]11;?": b"\x1b]11;rgb:0000/0000/0000\x1b\\",
}
"""What a terminal answers when it is asked for its cursor, its kind and its background."""


class Terminal:
    """A program on a pseudo terminal."""

    def __init__(self, line: list[str], folder: Path, environ: Mapping[str, str]) -> None:
        self.last, self.shown = time.monotonic(), bytearray()
        self.child, self.fd = pty.fork()
        if not self.child:
            os.chdir(folder)
            os.execvpe(line[0], line, environ)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 140, 0, 0))
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        with contextlib.suppress(OSError):  # it has ended
            while data := os.read(self.fd, 65536):
                self.last = time.monotonic()
                self.shown += data
                for asked, answer in SAYS.items():
                    if asked in data:
                        os.write(self.fd, answer)

    def quiet(self, seconds: float = 2, longest: float = 15) -> None:
        """Waits until it writes nothing for so long."""
        end = time.monotonic() + longest
        while time.monotonic() < end and time.monotonic() - self.last < seconds:
            time.sleep(0.1)

    def press(self, keys: str, pasted: bool = False) -> None:
        os.write(self.fd, f"\x1b[200~{keys}\x1b[201~".encode() if pasted else keys.encode())
        time.sleep(0.6)

    def close(self) -> None:
        """Waits for its end, and makes one after ten seconds."""
        for _ in range(100):
            if os.waitpid(self.child, os.WNOHANG)[0]:
                return
            time.sleep(0.1)
        os.kill(self.child, signal.SIGKILL)
        os.waitpid(self.child, 0)


def command_line(
    words: list[str], session: Json, prompt: str | None, again: bool, mcp: Path
) -> list[str]:
    """The line for this prompt, or without one for a terminal; `again` goes on with the session
    before.
    """
    client = session["client"]
    words = [word for word in words if not word.startswith("mcp_servers.")]
    words = [
        word
        for at, word in enumerate(words)
        if word != "-c" or words[at + 1 : at + 2] != ["-c"]
    ]
    words = [word for at, word in enumerate(words) if word != "-c" or at + 1 < len(words)]
    words.remove(ASKED)
    if prompt is None:
        words = [
            word for word in words if word not in ("-p", "run", "exec", "--skip-git-repo-check")
        ]
    asks = [] if prompt is None else [prompt]
    with_mcp = bool(session.get("mcp"))
    match client:
        case "claude-code":
            at = words.index("--allowedTools")
            given = ["--mcp-config", str(mcp), "--strict-mcp-config"] if with_mcp else []
            return [
                words[0],
                *words[1:at],
                *asks,
                *words[at : at + 1],
                *ALLOWED,
                *given,
                *["--continue"] * again,
            ]
        case "codex":
            words += [
                "--sandbox",
                "danger-full-access",
                *([] if asks else ["--ask-for-approval", "never"]),
            ]
            settings = {
                "command": f'"{DEMO}/bin/synaptic"',
                "args": '["mcp"]',
                "required": "true",
            }
            pairs = settings.items() if with_mcp else ()
            words += [
                word
                for key, value in pairs
                for word in ("-c", f"mcp_servers.synaptic.{key}={value}")
            ]
            return [*words, *["resume", "--last"] * again, *asks]
        case "gemini":
            words = [word for word in words if word != "-p"]
            return [*words, *["--resume", "latest"] * again, *(["-p", *asks] if asks else [])]
    return [*words, *["--continue"] * again, *asks]


def prepare_home(session: Json, folder: Path) -> Path:
    """Settings for which there is no option. Gives the file that tells Claude Code of
    Synaptic's server.
    """
    for name in (".gemini", ".codex"):
        (HOME / name).mkdir(parents=True, exist_ok=True)
    (HOME / ".gemini" / "settings.json").write_text(GEMINI)
    (HOME / ".codex" / "config.toml").write_text(
        f'[projects."{folder}"]\ntrust_level = "trusted"\n'
    )
    known = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    settings: Json = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "projects": {str(folder): known},
    }
    settings["customApiKeyResponses"] = {"approved": ["local"], "rejected": []}
    (HOME / ".claude.json").write_text(json.dumps(settings))
    program = DEMO / "bin" / "synaptic"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f'#!/bin/sh\nexec {SYNAPTIC} "$@"\n')
    program.chmod(0o755)
    servers = {"mcpServers": {"synaptic": {"command": str(program), "args": ["mcp"]}}}
    if session.get("mcp"):
        (HOME / ".gemini" / "settings.json").write_text(
            json.dumps(json.loads(GEMINI) | servers)
        )
    (DEMO / "mcp.json").write_text(json.dumps(servers))
    return DEMO / "mcp.json"


def play(project: Json, session: Json, scratch: Scratch) -> None:
    """Raises Unavailable where the client does not do what the scenario says."""
    client = str(session["client"])
    folder = make_project(project, session)
    mcp = prepare_home(session, folder)
    script = Script(session, folder)
    package, words, own = clients(script.url)[
        "codex-functions" if session.get("functions") else client
    ]
    bin, environ = scratch.node(session.get("package", package))
    node = shutil.which("node", path=environ["PATH"])
    environ = {
        key: value for key, value in environ.items() if not key.startswith((*OWN, "PYENV"))
    }
    environ |= {
        "HOME": str(HOME),
        "PWD": str(folder),
        "SYNAPTIC_HOME": str(DEMO / "journal"),
        "NO_PROXY": "127.0.0.1",
    }
    if "package" not in session:  # an old Gemini CLI asks the proxy for 127.0.0.1 as well
        environ |= dict.fromkeys(
            ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), script.url
        )
    environ |= dict.fromkeys(("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "KEY"), "local")
    environ |= own | {
        "PATH": os.pathsep.join(map(str, (bin, DEMO / "bin", "/usr/bin", "/bin")))
    }
    (DEMO / "bin" / "node").unlink(missing_ok=True)
    (DEMO / "bin" / "node").symlink_to(str(node))
    if environ.pop(
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", ""
    ):  # with it there are no titles
        environ |= {"DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1"}
    if client == "opencode":
        config = json.loads(environ["OPENCODE_CONFIG_CONTENT"]) | {
            "permission": {"external_directory": "allow"}
        }
        server = {"type": "local", "command": [str(DEMO / "bin" / "synaptic"), "mcp"]}
        environ["OPENCODE_CONFIG_CONTENT"] = json.dumps(
            config | ({"mcp": {"synaptic": server}} if session.get("mcp") else {})
        )
    words[0] = str(bin / words[0])
    if session.get("terminal"):
        environ |= {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
        _in_terminal(
            session, script, command_line(words, session, None, False, mcp), folder, environ
        )
    else:
        for number, turn in enumerate(session["turns"]):
            script.steps.extend(turn["steps"])
            line = command_line(words, session, turn["prompt"], number > 0, mcp)
            done = subprocess.run(
                line,
                cwd=folder,
                env=environ,
                capture_output=True,
                text=True,
                timeout=TURN_S,
                stdin=subprocess.DEVNULL,
            )
            if script.steps or done.returncode:
                said = (done.stdout + done.stderr)[-400:]
                raise Unavailable(
                    f"{session['id']}: {len(script.steps)} steps left at prompt "
                    f"{number + 1}: {said}"
                )
    if script.surprises:
        raise Unavailable(
            f"{session['id']}: asked for more than there is: {script.surprises[0]}"
        )


def _in_terminal(
    session: Json, script: Script, line: list[str], folder: Path, environ: Mapping[str, str]
) -> None:
    terminal = Terminal(line, folder, environ)
    try:
        terminal.quiet(4, 25)
        for number, turn in enumerate(session["turns"]):
            script.steps.extend(turn["steps"])
            if turn.get("rewinds"):
                _rewind(terminal)
            _ask(terminal, script, turn["prompt"])
            end = time.monotonic() + TURN_S
            summary = bool(script.steps and "summary" in script.steps[0])
            while len(script.steps) > summary and time.monotonic() < end:
                time.sleep(0.2)
            if script.hangs.is_set():
                script.hangs.clear()
                time.sleep(1)
                for _ in range(1 + (session["client"] == "opencode")):
                    terminal.press("\x1b")
            terminal.quiet(4 if summary else 2)
            if summary:
                script.steps.clear()
            if script.steps:
                raise Unavailable(
                    f"{session['id']}: {len(script.steps)} steps left at prompt {number + 1}"
                )
        terminal.press("/exit" if session["client"] in ("claude-code", "opencode") else "/quit")
        terminal.press("\r")
    finally:
        terminal.close()
        (DEMO / "shown").mkdir(exist_ok=True)
        (DEMO / "shown" / session["id"]).write_bytes(terminal.shown)


def _rewind(terminal: Terminal) -> None:
    """Takes the last prompt back, in Gemini CLI's dialogue; its text is put into the input and
    deleted there.
    """
    for keys in ("/rewind", "\r", "\x1b[A", "\r", "\r"):
        terminal.press(keys)
        terminal.quiet(1, 5)
    terminal.press("\x15")


def _ask(terminal: Terminal, script: Script, prompt: str) -> None:
    """Types the prompt, and again if nothing comes of it: a program may show its input before
    it listens.
    """
    before = len(script.seen)
    for _ in range(3):
        terminal.press(prompt, pasted=not prompt.startswith("/"))
        terminal.press("\r")
        end = time.monotonic() + 10
        while time.monotonic() < end:
            if len(script.seen) > before:
                return
            time.sleep(0.1)
        terminal.press("\x15")


# -- what was played
# ------------------------------------------------------------------------------------


def transcripts(client: str) -> set[str]:
    """The sessions of a client in the home: paths of files, or ids in the database."""
    if client != "opencode":
        return {str(path.relative_to(HOME)) for path in HOME.glob(KEPT[client])}
    if not (HOME / DATABASE).exists():
        return set()
    with contextlib.closing(sqlite3.connect(HOME / DATABASE)) as db:
        return {id for (id,) in db.execute("SELECT id FROM session")}


def archive(name: str) -> list[str]:
    """Codex's own `archive` moves a file here. Gives its name afterwards."""
    to = HOME / ".codex" / "archived_sessions" / Path(name).name
    to.parent.mkdir(exist_ok=True)
    (HOME / name).rename(to)
    return [str(to.relative_to(HOME))]


class Clock:
    """Moves the times of one session from the run in which it was played to the day that the
    scenario names.
    """

    TIME = re.compile(r"(20\d\d-\d\d-\d\d)([T ])(\d\d)(?=[:-]\d\d)")
    EPOCH = re.compile(r"(?<!\d)(1[789]\d{8})(\d{3})?(?!\d)")
    FOLDER = re.compile(r"20\d\d/\d\d/\d\d(?=/rollout)")

    def __init__(self, session: Json, began: float, run: tuple[float, float]) -> None:
        self.begins = (
            LAST_DAY - timedelta(days=session["ago"]) + timedelta(hours=session["hour"])
        )
        self.run = run
        was = datetime.fromtimestamp(began, UTC)
        self.moved = self.begins - was.replace(minute=0, second=0, microsecond=0)
        self.days = {
            was.strftime(form): (was + self.moved).strftime(form)
            for form in ("%Y-%m-%d", "%A, %B %d, %Y")
        }
        self.folder = (was + self.moved).strftime("%Y/%m/%d")

    def text(self, text: str) -> str:
        text = self.TIME.sub(self._time, text)
        for day, moved in self.days.items():
            text = re.sub(rf"{day}(?![T ]\d\d[:-])", moved, text)
        return self.EPOCH.sub(
            lambda found: str(self.epoch(int(found[0]))), self.FOLDER.sub(self.folder, text)
        )

    def _time(self, found: re.Match[str]) -> str:
        at = datetime.fromisoformat(f"{found[1]}T{found[3]}:00:00+00:00")
        if not self.run[0] - 3600 < at.timestamp() < self.run[1]:
            return found[0]
        return (at + self.moved).strftime(f"%Y-%m-%d{found[2]}%H")

    def epoch(self, number: int) -> int:
        """A time in seconds or milliseconds, if it is one of the run."""
        unit = 1000 if number > 10**12 else 1
        ours = self.run[0] - 3600 < number / unit < self.run[1]
        return number + round(self.moved.total_seconds()) * unit if ours else number


def pack(known: Mapping[str, tuple[Json, Json]], played: Mapping[str, Json]) -> None:
    """Writes the archive and what is true of it."""
    run = min(each["began"] for each in played.values()), time.time()
    clocks = {id: Clock(known[id][1], each["began"], run) for id, each in played.items()}
    entries: dict[str, tuple[bytes, float]] = {}
    titles = HOME / ".codex" / "session_index.jsonl"
    named = []
    for id, clock in clocks.items():
        session = known[id][1]
        ended = (datetime.fromtimestamp(played[id]["ended"], UTC) + clock.moved).timestamp()
        for name in played[id]["kept"] if session["client"] != "opencode" else ():
            data = clock.text((HOME / name).read_text("utf-8")).encode()
            name = clock.text(name)
            if session.get("compressed"):
                name, data = (
                    name + ".zst",
                    subprocess.run(["zstd", "-c"], input=data, stdout=-1, check=True).stdout,
                )
            entries[name] = data, ended
            named += [
                clock.text(line)
                for line in titles.read_text().splitlines()
                if _id(name) in line
            ]
    entries[".codex/session_index.jsonl"] = (
        "".join(f"{line}\n" for line in named).encode(),
        run[1],
    )
    for path in [*HOME.glob(".gemini/tmp/*/.project_root"), HOME / ".gemini" / "projects.json"]:
        entries[str(path.relative_to(HOME))] = path.read_bytes(), run[1]
    for name, data in _database(
        clocks, {id: set(each["kept"]) for id, each in played.items()}
    ).items():
        entries[name] = data, run[1]
    with zipfile.ZipFile(
        DATA / "sessions.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9
    ) as archive:
        for name, (data, at) in sorted(entries.items()):
            info = zipfile.ZipInfo(name, time.gmtime(at)[:6])
            info.compress_type = (
                zipfile.ZIP_STORED if name.endswith(".zst") else zipfile.ZIP_DEFLATED
            )
            archive.writestr(info, data)
    truth = [_truth(*known[id], played[id], clock, entries) for id, clock in clocks.items()]
    truth.sort(key=lambda each: str(each["started"]))
    text = json.dumps(truth, indent=1, ensure_ascii=False)
    (DATA / "session_truth.json").write_text(text + "\n", encoding="utf-8")


def _id(name: str) -> str:
    """A client's own name of a session, of its file's name: Claude Code's and Codex's end in a
    UUID.
    """
    return Path(name.removesuffix(".zst")).stem[-36:]


def _database(clocks: Mapping[str, Clock], kept: Mapping[str, set[str]]) -> dict[str, bytes]:
    """OpenCode's database with the sessions that were played to their end; the newest stands in
    its log alone.
    """
    of = {key: id for id, keys in kept.items() for key in keys}
    newest = max(of.values(), key=lambda id: clocks[id].begins)
    owners = {"session": "id", "event": "aggregate_id", "event_sequence": "aggregate_id"}
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.closing(sqlite3.connect(f"{folder}/opencode.db")) as db,
    ):
        with contextlib.closing(sqlite3.connect(HOME / DATABASE)) as source:
            source.backup(db)
        db.execute("PRAGMA journal_mode = WAL")
        tables = [
            name
            for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        ]
        columns = {
            table: [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
            for table in tables
        }
        owned = {table: owners.get(table, "session_id") for table in tables}
        owned = {table: column for table, column in owned.items() if column in columns[table]}
        db.execute(f"DELETE FROM session WHERE id NOT IN ({','.join('?' * len(of))})", list(of))
        for table, column in (("project", "id"), ("project_directory", "project_id")):
            db.execute(
                f"DELETE FROM {table} WHERE {column} NOT IN (SELECT project_id FROM session)"
            )
        last: list[tuple[str, list[object]]] = []
        for table, column in owned.items():
            at, names = columns[table].index(column), columns[table]
            rows = db.execute(f"SELECT * FROM {table} ORDER BY rowid").fetchall()
            db.execute(f"DELETE FROM {table}")
            for row in rows:
                if row[at] in of:
                    moved = _moved(dict(zip(names, row, strict=True)), clocks[of[row[at]]])
                    if of[row[at]] == newest:
                        last.append((table, moved))
                    else:
                        _insert(db, table, moved)
        db.commit()
        db.execute("VACUUM")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.execute("PRAGMA wal_autocheckpoint = 0")
        for table, moved in last:
            _insert(db, table, moved)
        db.commit()
        ends = ("", "-wal")
        return {DATABASE + end: Path(f"{folder}/opencode.db{end}").read_bytes() for end in ends}


def _moved(row: Json, clock: Clock) -> list[object]:
    """The values of a row with its times moved."""
    return [
        clock.text(value)
        if name in ("data", "title")
        else clock.epoch(value)
        if name.startswith("time_") and value
        else value
        for name, value in row.items()
    ]


def _insert(db: sqlite3.Connection, table: str, values: list[object]) -> None:
    db.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(values))})", values)


def _truth(
    project: Json, session: Json, played: Json, clock: Clock, entries: Iterable[str]
) -> Json:
    """What is true of a session: of the scenario, and of its rehearsal."""
    client, kept = session["client"], sorted(played["kept"], key=len)
    facts = rehearse(project, session)
    main = kept[-1] if client == "opencode" else kept[0]
    if client == "opencode" and len(kept) > 1:
        with contextlib.closing(sqlite3.connect(HOME / DATABASE)) as db:
            parents = db.execute("SELECT id FROM session WHERE parent_id IS NULL").fetchall()
        main = next(id for (id,) in parents if id in kept)
    elif client == "gemini":
        main = re.findall(r'"sessionId": ?"([^"]+)"', (HOME / main).read_text())[0]
    elif client != "opencode":
        main = _id(main)
    moved = {clock.text(name) for name in kept}
    turns = session["turns"]
    taken_back = [turn for turn, after in pairwise(turns) if after.get("rewinds")]
    asked = [
        turn["prompt"]
        for turn in turns
        if not turn["prompt"].startswith("/") and turn not in taken_back
    ]
    return {
        "id": session["id"],
        "client": client,
        "session": main,
        "files": [DATABASE]
        if client == "opencode"
        else [each for each in entries if each.removesuffix(".zst") in moved],
        "project": project["project"],
        "folder": str(DEMO / project["project"]),
        "branch": session.get("branch", "main"),
        "started": (datetime.fromtimestamp(played["began"], UTC) + clock.moved).isoformat(
            timespec="seconds"
        ),
        "title": session["title"],
        "terminal": bool(session.get("terminal")),
        "asked": asked,
        "taken_back": [turn["prompt"] for turn in taken_back],
        "last_answer": next(
            (each["say"] for each in reversed(turns[-1]["steps"]) if "say" in each), ""
        ),
        "edited": facts["edited"],
        "commands": [
            {"command": each["command"], "exit": each["exit"]} for each in facts["commands"]
        ],
        "commits": facts["commits"],
        "subagents": [step["title"] for step in steps_of(session) if "task" in step],
        "synaptic": [step["mcp"] for step in steps_of(session) if "mcp" in step],
        "resumed": not session.get("terminal") and len(turns) > 1,
        "compacted": any("summary" in step for step in steps_of(session)),
        "interrupted": any("hangs" in step for step in steps_of(session)),
    }


def main() -> int:
    """0 when every session was played."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "sessions", nargs="*", metavar="SESSION", help="ids of scenarios; all without"
    )
    parser.add_argument(
        "--rehearse", action="store_true", help="take the steps without a client"
    )
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="where the installed clients stay"
    )
    given = parser.parse_args()
    projects = [
        json.loads(path.read_text("utf-8"))
        for path in sorted((DATA / "scenarios").glob("*.json"))
    ]
    known = {
        session["id"]: (project, session)
        for project in projects
        for session in project["sessions"]
    }
    if unknown := [id for id in given.sessions if id not in known]:
        parser.error(f"there is no session {unknown[0]!r}. Valid: {', '.join(known)}.")
    prepare()
    if Path(sys.prefix) != PYTHON.parent.parent:
        os.execve(PYTHON, [str(PYTHON), *sys.argv], clean_environ())
    HOME.mkdir(parents=True, exist_ok=True)
    record = DEMO / "played.json"
    played: dict[str, Json] = json.loads(record.read_text()) if record.exists() else {}
    failed = 0
    with tempfile.TemporaryDirectory(prefix="synaptic-play-") as temporary:
        scratch = Scratch((given.keep or Path(temporary)).resolve(), Path(temporary))
        for id in given.sessions or known:
            project, session = known[id]
            try:
                if given.rehearse:
                    facts = rehearse(project, session)
                    print(f"{id}: edits {facts['edited']}, commits {facts['commits']}")
                    for each in facts["commands"]:
                        print(
                            f"  {each['exit']} $ {each['command']}\n      "
                            f"{each['printed'][-200:]!r}"
                        )
                    continue
                if id in played and not given.sessions:
                    continue
                before, began = transcripts(session["client"]), time.time()
                play(project, session, scratch)
                new = sorted(transcripts(session["client"]) - before)
                if session.get("archived"):
                    new = archive(new[0])
                played[id] = {"kept": new, "began": began, "ended": time.time()}
                record.write_text(json.dumps(played, indent=1))
                print(f"{id}: {time.time() - began:.0f} s, {', '.join(new)}", flush=True)
            except (Unavailable, subprocess.SubprocessError) as error:
                print(f"{id}: FAILED: {error}", flush=True)
                failed += 1
        if not given.rehearse and not failed and set(played) == set(known):
            pack(known, played)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())

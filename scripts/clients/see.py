"""Shows what the model behind a real client receives of Synaptic.

    .venv/bin/python scripts/clients/see.py                      # all clients: each calls tools
    .venv/bin/python scripts/clients/see.py codex --to DIR       # its requests: DIR/codex.json
    .venv/bin/python scripts/clients/see.py codex --starts 5 --busy    # with all cores kept busy
    .venv/bin/python scripts/clients/see.py claude-code --actions      # an edit, a failed command
    .venv/bin/python scripts/clients/see.py claude-code --hooks        # start, prompt, subagent
    .venv/bin/python scripts/clients/see.py claude-code --memory       # its own memory in ours

Each client is installed from the npm registry into a scratch folder, and runs in an empty home
with Synaptic registered by `synaptic setup`. Its model is the endpoint of this folder: it calls
tools one after another and keeps each request. It refuses every other host.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from endpoint import Call, Endpoint, Json, dicts, results_of, texts_of, tools_of
from install import Scratch, Unavailable, run

sys.path.append(str(Path(__file__).parents[1]))
from environment import SYNAPTIC

from synaptic.mcp.tools import INSTRUCTIONS, MORE, TOOLS_BY_NAME

QUESTION = "what is the pgbouncer pool size on the orders cluster?"
ERROR = "psycopg.OperationalError: FATAL: remaining connection slots are reserved for rds_admin"
FAILING = f"echo '{ERROR}' >&2; exit 3"
FILE = "src/pool.py"
OLD, NEW = "SIZE = 40", "SIZE = 50"
NOTES = (
    ["Raised the pgbouncer pool of the orders cluster to 40 connections."],
    ["Decision: the tape archive moves to the second rack."],
    [
        "Never raise the pool above 40: the replica runs out.",
        "--type",
        "decision",
        "--file",
        FILE,
    ],
    [f"Slots ran out. {ERROR}. Restarting the nightly export freed them.", "--type", "insight"],
)
OTHER_WORDS = "how many database connections does the orders cluster allow?"
"""A question that the first of NOTES answers; a search by words alone is not sure of it."""
ROOMS = "atlas birch cedar delta ember fjord grove haven inlet jetty".split()
THINGS = "lamp door window heater shelf table".split()
SUBTASK = "Look at the doors of all rooms."
SPAWN: dict[str, Sequence[Call]] = {
    "claude-code": [
        ("Agent", {"description": "d", "prompt": SUBTASK, "run_in_background": False})
    ],
    "codex": [("spawn_agent", {"message": SUBTASK}), ("exec_command", {"cmd": "sleep 5"})],
}
"""By client: the calls that start a subagent and wait for it."""
CALLS: tuple[Call, ...] = (
    ("context_search", {"query": QUESTION}),
    ("context_search", {"query": "how did we tune the sonar of the submarine?"}),
    ("context_recent", {"limit": 10}),
)
HOOKS = "[hooks]\nuser_prompt = true\ntools = true\n"
GEMINI = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "privacy": {"usageStatisticsEnabled": False},
}
"""Settings for which Gemini CLI has no environment variable."""
OWN = ("ANTHROPIC", "CLAUDE", "CODEX", "GEMINI", "GOOGLE", "MCP", "OPENAI", "OPENCODE", "XDG")
"""Prefixes of variables that would lead a client to its user's own settings."""
CODEX = (
    "model_provider=here",
    'model_providers.here={{name="here", base_url="{url}/v1", env_key="KEY", '
    'wire_api="responses", supports_websockets=false}}',
    "analytics.enabled=false",
    "check_for_update_on_startup=false",
)
OPENCODE = (
    '{{"provider": {{"here": {{"npm": "@ai-sdk/anthropic", "options": {{"baseURL": '
    '"{url}/v1", "apiKey": "local"}}, "models": {{"any": {{}}}}}}}}, "model": "here/any", '
    '"autoupdate": false}}'
)
CLIENTS: dict[str, tuple[str, str, dict[str, str]]] = {
    "claude-code": (
        "@anthropic-ai/claude-code@2.1.330",
        "claude --allowedTools mcp__synaptic -p",
        {
            "ANTHROPIC_BASE_URL": "{url}",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        },
    ),
    "codex": (
        "@openai/codex@0.169.0",
        "codex exec -m gpt-5.5 --skip-git-repo-check --dangerously-bypass-hook-trust",
        {},
    ),
    "gemini": (
        "@google/gemini-cli@0.61.0",
        "gemini -m gemini-2.5-pro --approval-mode yolo -p",
        {"GOOGLE_GEMINI_BASE_URL": "{url}", "GEMINI_CLI_TRUST_WORKSPACE": "true"},
    ),
    "opencode": (
        "opencode-ai@1.18.33",
        "opencode run",
        {"OPENCODE_CONFIG_CONTENT": OPENCODE, "OPENCODE_DISABLE_MODELS_FETCH": "1"},
    ),
}
"""Package, command and environment of each client, by the name that `synaptic setup` knows."""
FREE = {
    "claude-code": ["--permission-mode", "acceptEdits", "--allowedTools", "Bash"],
    "codex": ["--dangerously-bypass-approvals-and-sandbox"],
}
"""Arguments with which a client edits files and runs commands; the others do it anyway."""
TOLD = re.compile(
    r"(?:\w+ hook [\w ]+: )?From Synaptic[^`]*(?:```.*?\n```[^`<]{0,99})+", re.DOTALL
)
TOKENIZER = "gpt-tokenizer@4.0.0"
COUNT = (
    'const {encode} = require("gpt-tokenizer/encoding/o200k_base");'
    "const lengths = process.argv.slice(1).map((text) => encode(text).length);"
    "console.log(JSON.stringify(lengths))"
)


# -- the model
# --------------------------------------------------------------------------


def saying(calls: Sequence[Call], question: str = QUESTION) -> Callable[[Json], Call | None]:
    """A model that makes these calls where it is asked this question, after a look for tools
    where a client hides them.
    """

    def say(body: Json) -> Call | None:
        known = tools_of(body)
        if not known or not any(question in text for text in texts_of(body)):
            return None  # the client asks for a title, or for a subagent
        wanted = list(calls)
        names = ",".join(f"mcp__synaptic__{tool}" for tool in TOOLS_BY_NAME)
        if "ToolSearch" in known:
            wanted.insert(0, ("ToolSearch", {"query": f"select:{names}", "max_results": 9}))
        if any(each.get("type") == "tool_search" for each in dicts(body.get("tools"))):
            query = {"query": " ".join(TOOLS_BY_NAME), "limit": len(TOOLS_BY_NAME)}
            wanted.insert(0, ("tool_search", query))
        done = len(results_of(body))
        if done >= len(wanted):
            return None
        tool, values = wanted[done]
        if tool not in TOOLS_BY_NAME:
            return tool, values
        for name in known:
            if name.endswith(tool):
                return name, values
        for name in known:
            if name.endswith(MORE.name):
                return name, {"tool": tool, "arguments": values}
        return f"mcp__synaptic__{tool}", values

    return say


def actions(client: str, project: Path) -> list[Call]:
    """An edit of FILE and a command that fails, in this client's tools."""
    file = str(project / FILE)
    command: Json = {"command": FAILING, "description": "exports the orders"}
    if client == "claude-code":
        change = {"file_path": file, "old_string": OLD, "new_string": NEW}
        return [("Read", {"file_path": file}), ("Edit", change), ("Bash", command)]
    if client == "codex":
        patch = f"*** Begin Patch\n*** Update File: {FILE}\n@@\n-{OLD}\n+{NEW}\n*** End Patch\n"
        return [("apply_patch", {"input": patch}), ("exec_command", {"cmd": FAILING})]
    if client == "gemini":
        change = {
            "file_path": file,
            "old_string": OLD,
            "new_string": NEW,
            "instruction": "more",
        }
        return [
            ("read_file", {"file_path": file}),
            ("replace", change),
            ("run_shell_command", command),
        ]
    change = {"filePath": file, "oldString": OLD, "newString": NEW}
    return [("read", {"filePath": file}), ("edit", change), ("bash", command)]


# -- a session
# --------------------------------------------------------------------------


class Session:
    """A client in an empty home, in a git repository, with Synaptic and its hooks."""

    def __init__(self, client: str, scratch: Scratch, *, hooks: bool = True) -> None:
        self.client = client
        self.model = Endpoint(saying(()))
        package, self.command, variables = CLIENTS[client]
        self.bin, environ = scratch.node(package)
        environ = {name: each for name, each in environ.items() if not name.startswith(OWN)}
        self.home = Path(tempfile.mkdtemp(prefix=f"{client}-", dir=scratch.homes))
        self.project = self.home / "orders"
        for name, value in variables.items():
            environ[name] = value.format(url=self.model.url)
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
            environ[name] = self.model.url
        for name in ("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "KEY"):
            environ[name] = "local"
        environ["PATH"] = f"{self.bin}{os.pathsep}{environ['PATH']}"
        environ |= {"HOME": str(self.home), "PWD": str(self.project), "NO_PROXY": "127.0.0.1"}
        self.environ = environ
        self._write(".gemini/settings.json", json.dumps(GEMINI))
        self._write(f"orders/{FILE}", f"{OLD}\n")
        self._write(".synaptic/config.toml", HOOKS)
        run(["git", "init", "-q"], cwd=self.project, environ=environ)
        for note in NOTES:
            self.synaptic("save", *note)
        self.synaptic("setup", client, *([] if hooks else ["--no-hooks"]))

    def synaptic(self, *words: str) -> str:
        return run([str(SYNAPTIC), *words], cwd=self.project, environ=self.environ)

    def talk(
        self, calls: Sequence[Call], more: Sequence[str] = (), question: str = QUESTION
    ) -> list[Json]:
        """The requests of a session in which the model makes these calls."""
        self.model.say = saying(calls, question)
        self.model.seen.clear()
        program, *words = self.command.split()
        words = [*words, question, *more]
        if self.client == "codex":
            for setting in CODEX:
                words += ["-c", setting.format(url=self.model.url)]
        run([str(self.bin / program), *words], cwd=self.project, environ=self.environ)
        return [body for body in self.model.seen if tools_of(body)]

    @contextmanager
    def server(self, tool: str, arguments: Json) -> Iterator[None]:
        """Keeps a server of this home running, as another window of a client does, after it
        answered a call of this tool.
        """
        about = {"name": "see", "version": "1"}
        opening = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about}
        call = {"name": tool, "arguments": arguments}
        server = subprocess.Popen(
            [SYNAPTIC, "mcp"],
            cwd=self.project,
            env=self.environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        with server:
            assert server.stdin and server.stdout
            for id, method, params in ((1, "initialize", opening), (2, "tools/call", call)):
                message = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
                server.stdin.write(json.dumps(message) + "\n")
                server.stdin.flush()
                server.stdout.readline()
            yield
            server.stdin.close()

    def crowd(self) -> None:
        """Saves more entries than a briefing can hold; hooks do not repeat what it shows."""
        entries = [
            {"content": f"The {thing} of {room} stays."} for room in ROOMS for thing in THINGS
        ]
        with self.server("context_save", {"entries": entries}):
            pass
        self.synaptic("rebuild-index")  # so that all of them have their vectors

    def _write(self, name: str, content: str) -> None:
        file = self.home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)


# -- what is in a request
# --------------------------------------------------------------------------


def named_in(body: Json) -> list[str]:
    """The tools of Synaptic that a request names, with or without their parameters, as a
    namespace, too.
    """
    texts = [text for text in texts_of(body) if text not in INSTRUCTIONS]
    whole = " ".join(texts).replace(INSTRUCTIONS, "")
    names = [
        tool
        for tool in (*TOOLS_BY_NAME, MORE.name)
        if f"synaptic_{tool}" in whole or f"__{tool}" in whole
    ]
    return names or [name for name in ("mcp__synaptic",) if name in whole]


def schemas_in(body: Json) -> list[str]:
    """The tools of Synaptic that a request defines, as JSON."""
    found = {}
    for each in dicts(body):
        name = str(each.get("name"))
        verb = name[name.find("context_") :]
        if (
            verb in (*TOOLS_BY_NAME, MORE.name)
            and {"input_schema", "parameters", "parametersJsonSchema"} & each.keys()
        ):
            found[verb] = json.dumps(each, separators=(",", ":"), ensure_ascii=False)
    return list(found.values())


def instructions_in(body: Json) -> str:
    """The longest beginning of the instructions that stands in a request."""
    said = [" ".join(text.split()) for text in texts_of(body)]
    whole = " ".join(INSTRUCTIONS.split())
    for length in range(len(whole), 20, -1):
        if any(whole[:length] in text for text in said):
            return whole[:length]
    return ""


def told_in(bodies: Sequence[Json]) -> list[str]:
    """What hooks added to the requests, each once."""
    texts = [text for body in bodies for text in texts_of(body)]
    return list(dict.fromkeys(each[0] for text in texts for each in TOLD.finditer(text)))


def count_tokens(scratch: Scratch, texts: Sequence[str]) -> list[int]:
    bin, environ = scratch.node(TOKENIZER)
    counted = run(["node", "-e", COUNT, *texts], cwd=bin.parents[1], environ=environ)
    return list(json.loads(counted))


@contextmanager
def busy(wanted: bool) -> Iterator[None]:
    """Keeps every core busy meanwhile."""
    loop = [sys.executable, "-c", "while True: pass"]
    count = (os.cpu_count() or 1) if wanted else 0
    loops = [subprocess.Popen(loop) for _ in range(count)]
    try:
        yield
    finally:
        for each in loops:
            each.kill()
            each.wait()


# -- the observations
# --------------------------------------------------------------------------


def show_calls(client: str, scratch: Scratch, given: argparse.Namespace) -> bool:
    """The answers to CALLS, and the tokens that the tools and the instructions take."""
    bodies = Session(client, scratch).talk(CALLS)
    results = max((results_of(body) for body in bodies), key=len, default=[])
    print("\n\n".join(results[-len(CALLS) :]))
    schemas = max((schemas_in(body) for body in bodies), key=len)
    said = instructions_in(bodies[0])
    tools, instructions, whole = count_tokens(scratch, ["\n".join(schemas), said, INSTRUCTIONS])
    print(f"\n{len(schemas_in(bodies[0]))} tools in the first request, {len(schemas)} later:")
    print(f"{tools} tokens; instructions {instructions} of {whole}, up to: {said[-80:]!r}")
    print("\nFrom hooks:\n\n" + "\n\n".join(told_in(bodies)))
    if given.to:
        given.to.mkdir(parents=True, exist_ok=True)
        (given.to / f"{client}.json").write_text(json.dumps(bodies, indent=1))
    return len(results) >= len(CALLS)


def show_starts(client: str, scratch: Scratch, given: argparse.Namespace) -> bool:
    """How often the first request knows Synaptic, and which of its tools are there whole."""
    session = Session(client, scratch, hooks=not given.no_hooks)
    known = 0
    with busy(given.busy):
        for number in range(given.starts):
            first = session.talk(())[0]
            named = named_in(first)
            said = instructions_in(first)
            known += bool(named and said)
            whole = len(schemas_in(first))
            print(
                f"{number + 1}: names {len(named)} ({whole} whole), "
                f"{len(said)} characters of the instructions"
            )
    print(f"known in {known} of {given.starts}" + given.busy * ", all cores busy")
    return bool(known == given.starts)


def show_actions(client: str, scratch: Scratch, given: argparse.Namespace) -> bool:
    """What comes with an edit and a failed command; with and without the right to do them, as a
    hook must neither give nor take it.
    """
    as_wanted = True
    for more in dict.fromkeys(((), tuple(FREE.get(client, ())))):
        session = Session(client, scratch)
        session.crowd()
        calls = actions(client, session.project)
        bodies = session.talk(calls, more)
        print(f"\n### {' '.join(more) or 'as it is'}\n")
        results = max((results_of(body) for body in bodies), key=len, default=[])
        print("\n".join(f"> {' '.join(each.split())[:300]}" for each in results))
        print(f"\nThe file is now: {(session.project / FILE).read_text().strip()}\n")
        told = told_in(bodies)
        print("\n\n".join(told))
        changed = (session.project / FILE).read_text().strip() == NEW
        asked_in_vain = client in FREE and not more
        as_wanted &= changed != asked_in_vain
        as_wanted &= any(f"on {Path(FILE).name}" in text for text in told)
        as_wanted &= asked_in_vain or any("on this error" in text for text in told)
        if given.to:
            given.to.mkdir(parents=True, exist_ok=True)
            (given.to / f"{client}-actions.json").write_text(json.dumps(bodies, indent=1))
    return as_wanted


def show_hooks(client: str, scratch: Scratch, given: argparse.Namespace) -> bool:
    """What comes at the start, with a prompt that a running server understands by meaning, and
    to a subagent.
    """
    session = Session(client, scratch)
    session.crowd()
    spawn = SPAWN.get(client, ())
    with session.server(*CALLS[0]):
        bodies = session.talk(spawn, FREE.get(client, ()) if spawn else (), OTHER_WORDS)
    own = [body for body in bodies if any(OTHER_WORDS in text for text in texts_of(body))]
    inner = [body for body in bodies if body not in own and SUBTASK in set(texts_of(body))]
    own_texts = told_in(own)
    inner_texts = told_in(inner)
    for text in [*own_texts, *inner_texts]:
        [tokens] = count_tokens(scratch, [text])
        place = "a subagent" if text in inner_texts else "the session"
        print(f"{tokens} tokens to {place}:\n{text}\n")
    if given.to:
        given.to.mkdir(parents=True, exist_ok=True)
        (given.to / f"{client}-hooks.json").write_text(json.dumps(bodies, indent=1))
    found = {
        "start": any("context_get gives them whole" in text for text in own_texts),
        "prompt": any("on this prompt" in text and "pgbouncer" in text for text in own_texts),
        "subagent": bool(inner_texts) if spawn else None,
    }
    print(f"seen: {found}")
    return False not in found.values()


def show_memory(client: str, scratch: Scratch, given: argparse.Namespace) -> bool:
    """What Claude Code does with a memory of its own that lies in the journal."""
    session = Session(client, scratch)
    journal = session.home / ".synaptic" / "journal"
    file = session.home / ".claude" / "settings.json"
    settings = json.loads(file.read_text()) if file.exists() else {}
    file.write_text(json.dumps(settings | {"autoMemoryDirectory": str(journal)}))
    fact = "---\nname: slots\ndescription: slots of the replica\nmetadata:\n  type: project\n---\n\n"
    fact += "The replica of the orders cluster has 60 slots.\n"
    index = "- [Slots](slots.md) \N{EM DASH} slots of the replica\n"
    [day] = journal.glob("*.md")
    change = {"file_path": str(day), "old_string": "to 40 connections", "new_string": "to 44"}
    calls: list[Call] = [
        ("Write", {"file_path": str(journal / "slots.md"), "content": fact}),
        ("Read", {"file_path": str(journal / "MEMORY.md")}),
        ("Write", {"file_path": str(journal / "MEMORY.md"), "content": index}),
        ("Read", {"file_path": str(day)}),
        ("Edit", change),
    ]
    before = {each: each.read_bytes() for each in sorted(journal.rglob("*.md"))}
    bodies = session.talk(calls)
    after = {each: each.read_bytes() for each in sorted(journal.rglob("*")) if each.is_file()}
    results = max((results_of(body) for body in bodies), key=len, default=[])
    print("\n".join(f"> {' '.join(each.split())[:300]}" for each in results))
    for each, data in after.items():
        state = "as it was" if before.get(each) == data else "changed"
        print(f"{each.relative_to(journal)}: {state if each in before else 'new'}")
        print(data.decode())
    print(session.synaptic("search", "how many slots has the replica?"))
    session.synaptic("save", "The replica moves to the third rack.")
    first = session.talk(())[0]
    for text in texts_of(first):
        for found in re.finditer(rf"[^\n]*(?:{re.escape(str(journal))}|slots\.md)[^\n]*", text):
            print("In the next session:", found[0][:300])
    return True


def main() -> int:
    """0 when every client was seen, and knew Synaptic."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clients", nargs="*", choices=[[], *CLIENTS], metavar="CLIENT")
    parser.add_argument("--keep", type=Path, help="keep the installed clients here")
    parser.add_argument("--to", type=Path, help="write every request here, as CLIENT.json")
    parser.add_argument("--starts", type=int, help="only look at the first requests")
    parser.add_argument("--busy", action="store_true", help="keep all cores busy meanwhile")
    parser.add_argument("--no-hooks", action="store_true", help="starts without hooks")
    parser.add_argument("--actions", action="store_true", help="edit a file, fail a command")
    parser.add_argument("--hooks", action="store_true", help="start, prompt, subagent")
    parser.add_argument("--memory", action="store_true", help="autoMemoryDirectory of Claude")
    given = parser.parse_args()
    show = show_calls
    if given.starts:
        show = show_starts
    elif given.actions:
        show = show_actions
    elif given.hooks:
        show = show_hooks
    elif given.memory:
        show = show_memory
    failed = False
    with tempfile.TemporaryDirectory(prefix="synaptic-see-") as folder:
        scratch = Scratch((given.keep or Path(folder)).resolve(), Path(folder))
        for client in given.clients or CLIENTS:
            print(f"\n## {client}\n", flush=True)
            try:
                failed |= not show(client, scratch, given)
            except Unavailable as error:
                print(f"not seen: {error}")
                failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

"""What the model behind a real client receives of Synaptic: a Markdown table, in o200k tokens.

python scripts/see_agents.py                        # all clients
python scripts/see_agents.py claude-code codex      # these alone
python scripts/see_agents.py --json FILE            # the texts as well, and every request whole
python scripts/see_agents.py --keep DIR             # the installed clients stay there for the next time

Each client is installed from the npm registry into a scratch folder. It runs without a terminal, in an empty home, with
Synaptic registered by `synaptic setup`. Its model is this script: an endpoint on 127.0.0.1 speaks the provider's API,
calls Synaptic's tools one after another and keeps what it is sent. As the client's proxy it refuses every other host.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from accept import Scratch, Unavailable
from environment import PYTHON, ROOT, SYNAPTIC, clean_environ, prepare

Json = dict[str, Any]
Call = tuple[str, Json]
"""A tool and its arguments."""

TOKENIZER = "gpt-tokenizer@4.0.0"
TIMEOUT_S = 180
THINKS_S = 4.0
"""The time that a model takes to its first word: meanwhile the server loads its own."""

NAMES = tuple(f"context_{verb}" for verb in "save search recent find get update delete analyze".split())
PROJECTS = ("harbor", "orchard")
NOTES, MADE = 8, 50
"""Entries that are notes of `corrections.json`, and entries made of several: with the two below a journal of 60."""
HIDDEN = "The pgbouncer pool\u200b of the orders cluster is watched\u2060 by Adaeze.\U000e0041\U000e0042"
LONG = "Runbook of the tape archive.\n\n" + "\n".join(f"- tape {tape}: label it and verify it." for tape in range(3500))
ASKED = "what is the pgbouncer pool size on the orders cluster?"
GEMINI = '{"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": false}}'
"""Settings for which Gemini CLI has no environment variable."""

_OWN = ("ANTHROPIC", "CLAUDE", "CODEX", "GEMINI", "GOOGLE", "MCP", "OPENAI", "OPENCODE", "XDG")
"""Beginnings of variables that would lead a client to its user's own settings."""

_DOUBT = re.compile(r"no close match|nothing (?:found|fits)", re.IGNORECASE)
_FENCE = re.compile(r"\n```+entr")
_FIELDS = re.compile(r'"(?:hits|entries)": ?\[')
_HIDDEN = re.compile("[\u200b\u2060\U000e0041\U000e0042]")
_BRIEFING = re.compile(r"From Synaptic, the journal.*?(?=\n\n# Environment|</hook_context>|\Z)", re.DOTALL)
_LISTED = re.compile(r"^\S*synaptic__context_\w+$", re.MULTILINE)
_COUNT = """
const { countTokens } = require("gpt-tokenizer/cjs/encoding/o200k_base");
const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(texts.map((text) => countTokens(text))));
"""


# -- the APIs of the providers --------------------------------------------------------------------------


def _tools(body: Json) -> list[Json]:
    """The tools of a request, wherever its API has them."""
    schemas = ("input_schema", "parameters", "parametersJsonSchema", "format")
    return [each for each in _dicts(body) if _name(each) and any(map(each.get, schemas))]


def _name(tool: Json) -> str:
    found = tool.get("name", tool.get("type"))  # OpenAI's own tools have a type alone
    return found if isinstance(found, str) else ""


def _results(body: Json) -> list[str]:
    """What tools answered up to this request, as the model reads it: the texts of blocks, anything else as JSON."""
    found: list[Any] = []
    for each in _dicts(body):
        if "functionResponse" in each:
            found.append(each["functionResponse"]["response"].get("output", each))
        elif str(each.get("type")).endswith(("tool_result", "call_output", "search_output")):
            found.append(each.get("content", each.get("output", each.get("tools"))))
    return [_text(content) for content in found]


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(_text(part.get("text", part)) for part in content)
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def _dicts(value: Any) -> Iterator[Json]:
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _dicts(inner)


def _messages(body: Json, call: Call | None, number: int) -> bytes:
    """An answer of Anthropic Messages."""
    block: Json = {"type": "text", "text": ""}
    delta: Json = {"type": "text_delta", "text": "Done."}
    if call:
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": call[0], "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
    message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": body["model"], "content": []}
    ended = {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}
    return _events(
        {"type": "message_start", "message": message | {"usage": {"input_tokens": 1, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    )


def _responses(body: Json, call: Call | None, number: int) -> bytes:
    """An answer of OpenAI Responses."""
    item: Json = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]}
    if call:
        tool, args = call
        kinds: dict[str, Json] = {
            "exec": {"type": "custom_tool_call", "name": tool, "namespace": "functions", "input": args.get("input")},
            "tool_search": {"type": "tool_search_call", "execution": "client", "arguments": args},
        }
        function = {"type": "function_call", "name": tool, "namespace": "mcp__synaptic", "arguments": json.dumps(args)}
        item = kinds.get(tool, function) | {"call_id": f"call_{number}"}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    return _events(
        {"type": "response.created", "response": {"id": f"resp_{number}"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": f"resp_{number}", "usage": usage}},
    )


def _generate(body: Json, call: Call | None, number: int) -> bytes:
    """An answer of Gemini."""
    part: Json = {"functionCall": {"name": call[0], "args": call[1]}} if call else {"text": "Done."}
    found = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    return _events({"candidates": [found], "usageMetadata": {"totalTokenCount": 2}})


ANSWERS = {"/messages": _messages, "/responses": _responses, ":streamGenerateContent": _generate}
"""By the end of the path that is asked."""


def _events(*events: Json) -> bytes:
    kinds = [f"event: {event['type']}\n" if "type" in event else "" for event in events]
    return "".join(f"{kind}data: {json.dumps(event)}\n\n" for kind, event in zip(kinds, events, strict=True)).encode()


# -- the model ------------------------------------------------------------------------------------------


class Model(ThreadingHTTPServer):
    """A model that makes these calls, one a turn. `seen` are the requests, `refused` the hosts that were asked for."""

    daemon_threads = True

    def __init__(self, calls: Mapping[str, Call]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.calls, self.refused = calls, set[str]()
        self.seen: list[Json] = []
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def reply(self, path: str, body: Json) -> bytes:
        """Raises StopIteration for an API that it does not speak."""
        answer = next(answer for end, answer in ANSWERS.items() if path.partition("?")[0].endswith(end))
        self.seen.append(body)
        tools, done = _tools(body), len(_results(body))
        if tools and not done:
            time.sleep(THINKS_S)
        call = self._next(tools, done) if tools else None  # without tools it is asked for a title
        return answer(body, call, len(self.seen))

    def _next(self, tools: Sequence[Json], done: int) -> Call | None:
        search = _discovery(tools)
        calls = [search] if search else []
        for tool, args in self.calls.values():
            name = next((known["name"] for known in tools if _ours(known) == tool), f"mcp__synaptic__{tool}")
            code = {"input": f"text(await tools.{name}({json.dumps(args)}))"}
            calls.append(("exec", code) if search and search[0] == "exec" else (name, args))
        return calls[done] if done < len(calls) else None

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that ends cuts its connections."""


def _discovery(tools: Sequence[Json]) -> Call | None:
    """How the model finds tools that are kept from it until it looks for them; None where it is given all."""
    searches: dict[str, Json] = {
        "ToolSearch": {"query": "select:" + ",".join(f"mcp__synaptic__{name}" for name in NAMES)},
        "exec": {"input": "text(ALL_TOOLS.filter((tool) => tool.name.includes('synaptic')))"},
        "tool_search": {"query": "synaptic context journal memory", "limit": len(NAMES)},
    }
    names = list(map(_name, tools))
    return next(((name, args) for name, args in searches.items() if name in names), None)


def _ours(tool: Json) -> str | None:
    return next((name for name in NAMES if _name(tool).endswith(name)), None)


class _Handler(BaseHTTPRequestHandler):
    server: Model
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        try:
            data = self.server.reply(self.path, json.loads(body))
        except StopIteration:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_CONNECT(self) -> None:
        self.server.refused.add(self.path)
        self.send_error(403)

    def log_message(self, format: str, *args: Any) -> None:
        pass


# -- the clients ----------------------------------------------------------------------------------------


def clients(url: str) -> dict[str, tuple[str, list[str], dict[str, str]]]:
    """The package, the command line and the environment of each client, where its model is at `url`.

    By the name that `synaptic setup` knows. Codex writes programs for its own model, and calls functions for others.
    """
    provider = f'{{name="here", base_url="{url}/v1", env_key="KEY", wire_api="responses", supports_websockets=false}}'
    # required, and NONBLOCKING: else these begin without the server where that is not there at once
    settings = ["model_provider=here", f"model_providers.here={provider}", "mcp_servers.synaptic.required=true"]
    codex = ["codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", ASKED]
    settings += ["analytics.enabled=false", "check_for_update_on_startup=false"]
    codex += [word for setting in settings for word in ("-c", setting)]
    options = {"baseURL": f"{url}/v1", "apiKey": "local"}
    served = {"here": {"npm": "@ai-sdk/anthropic", "options": options, "models": {"any": {}}}}
    opencode = json.dumps({"provider": served, "model": "here/any", "autoupdate": False})
    quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}
    return {
        "claude-code": (
            "@anthropic-ai/claude-code@2.1.330",
            ["claude", "-p", ASKED, "--allowedTools", "mcp__synaptic"],
            {"ANTHROPIC_BASE_URL": url, "MCP_CONNECTION_NONBLOCKING": "0"} | quiet,
        ),
        "codex": ("@openai/codex@0.169.0", codex, {}),
        "codex-functions": ("@openai/codex@0.169.0", [*codex, "-m", "gpt-5.5"], {}),
        "gemini": (
            "@google/gemini-cli@0.61.0",
            ["gemini", "-m", "gemini-2.5-pro", "--approval-mode", "yolo", "-p", ASKED],
            {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_CLI_TRUST_WORKSPACE": "true"},
        ),
        "opencode": (
            "opencode-ai@1.18.33",
            ["opencode", "run", ASKED],
            {"OPENCODE_CONFIG_CONTENT": opencode, "OPENCODE_DISABLE_MODELS_FETCH": "1"},
        ),
    }


def run(name: str, scratch: Scratch, journal: Path, calls: Mapping[str, Call]) -> Model:
    """The model after a session of this client. Raises Unavailable."""
    model = Model(calls)
    package, words, own = clients(model.url)[name]
    bin, environ = scratch.node(package)
    environ = {key: value for key, value in environ.items() if not key.startswith(_OWN)}
    home = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=scratch.homes))
    project = home / PROJECTS[0]
    (project / ".git").mkdir(parents=True)
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text(GEMINI)
    environ |= {"HOME": str(home), "PWD": str(project), "SYNAPTIC_HOME": str(journal), "NO_PROXY": "127.0.0.1"} | own
    environ |= dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), model.url)
    environ |= dict.fromkeys(("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "KEY"), "local")
    environ["PATH"] = f"{bin}{os.pathsep}{environ['PATH']}"
    for command in ([str(SYNAPTIC), "setup", name.removesuffix("-functions")], [str(bin / words[0]), *words[1:]]):
        _run(command, cwd=project, env=environ)
    return model


def _run(command: Sequence[str], cwd: Path, env: Mapping[str, str], given: str = "") -> str:
    """What the command prints. Raises Unavailable."""
    try:
        done = subprocess.run(
            command, cwd=cwd, env=env, input=given, capture_output=True, text=True, timeout=TIMEOUT_S, check=True
        )
    except subprocess.SubprocessError as error:
        said = " ".join(str(getattr(error, "stderr", "")).split())
        raise Unavailable(f"{Path(command[0]).name}: {type(error).__name__}: {said[-300:]}") from error
    return done.stdout


def make_journal(home: Path) -> str:
    """The id of the oldest and longest note in a journal of 60 entries of two projects, made in this home."""
    from bench_corpus import entry_texts

    import synaptic
    from synaptic.config import Config

    pairs = json.loads((ROOT / "tests" / "data" / "corrections.json").read_text(encoding="utf-8"))
    notes = [text for pair in pairs if pair["kind"] == "correction" for text in (pair["older"], pair["newer"])]
    texts = [LONG, HIDDEN, *notes[:NOTES], *entry_texts(notes[NOTES:], MADE)]
    types = ("decision", "insight", "issue", "progress", "note", "handoff")
    saved = []
    with synaptic.open_workspace(Config(home=home, journal=home / "journal")) as workspace:
        for number, text in enumerate(texts):
            at = (datetime(2026, 11, 1, 9) + timedelta(hours=7 * number)).isoformat()
            type, project = types[number % len(types)], PROJECTS[number // 2 % 2]
            saved.append(synaptic.save(workspace, text, type=type, project=project, at=at))
        synaptic.rebuild(workspace)  # every vector is there before anybody asks
    return saved[0].id


# -- what reached it ------------------------------------------------------------------------------------


def received(model: Model) -> list[Json]:
    """What the model was told, by what it is, and what can be said of it."""
    from synaptic.surfaces.mcp.tools import INSTRUCTIONS

    talk = [body for body in model.seen if _tools(body)]
    first, last = talk[0], max(talk, key=lambda body: len(_results(body)))
    results, start = _results(last), _plain(first)
    given, later = ([json.dumps(tool) for tool in _tools(body) if _ours(tool)] for body in (first, last))
    flat = " ".join(start.split())
    told = [part for part in INSTRUCTIONS.split("\n\n") if " ".join(part.split()) in flat]
    texts = [value for each in _dicts(first) for value in each.values() if isinstance(value, str)]
    briefing = next(filter(None, map(_BRIEFING.search, texts)), None)
    looked_for = results[0] if len(results) > len(model.calls) and not later else "\n".join(later)
    rows = [
        {"what": "tools at the start", "text": "\n".join(given or _LISTED.findall(start))},
        {"what": "tools, looked for", "text": "" if given else looked_for},
        {"what": "instructions at the start", "text": "\n\n".join(told)},
        {"what": "briefing of the hook", "text": briefing[0] if briefing else ""},
    ]
    for what, result in zip(model.calls, results[-len(model.calls) :], strict=True):
        text = _plain(result)
        doubt, entry = _DOUBT.search(text), _FENCE.search(text) or re.search(r'"id": ?"', text)
        forms = {"text": _FENCE.search(text), "JSON": _FIELDS.search(text)}
        row: Json = {"what": what, "text": result, "fenced": bool(forms["text"])}
        row["form"] = " and ".join(form for form, found in forms.items() if found) or "neither"
        row["doubt"] = "" if not doubt else "last" if entry and entry.start() < doubt.start() else "first"
        row["hidden"] = len(_HIDDEN.findall(text))
        rows.append(row)
    return rows


def _plain(value: Any) -> str:
    """A text, or JSON with its line ends and quotes as they were."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text.replace("\\\\", "\\").replace("\\n", "\n").replace('\\"', '"')


def count(texts: Sequence[str], scratch: Scratch) -> list[int]:
    """The length of each text in o200k tokens. Raises Unavailable."""
    bin, environ = scratch.node(TOKENIZER)
    return list(json.loads(_run(["node", "-e", _COUNT], bin.parent.parent, environ, json.dumps(texts))))


def main() -> int:
    """0 when every client was seen."""
    known = clients("")
    parser = argparse.ArgumentParser(description="What the model behind a real client receives of Synaptic.")
    parser.add_argument("clients", nargs="*", metavar="CLIENT", help=f"of {', '.join(known)}; all without")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where figures, texts and requests are written")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="where the installed clients stay")
    given = parser.parse_args()
    names = given.clients or list(known)
    if unknown := [name for name in names if name not in known]:
        parser.error(f"there is no client {unknown[0]!r}. Valid: {', '.join(known)}.")
    prepare()
    if Path(sys.prefix) != PYTHON.parent.parent:
        os.execve(PYTHON, [str(PYTHON), *sys.argv], clean_environ())
    found: dict[str, Json] = {}
    columns = ("what", "tokens", "form", "fenced", "doubt", "hidden")
    print(f"| client | {' | '.join(columns)} |\n|{'---|' * (len(columns) + 1)}")
    with tempfile.TemporaryDirectory(prefix="synaptic-see-") as temporary:
        scratch = Scratch((given.keep or Path(temporary)).resolve(), Path(temporary))
        scratch.folder.mkdir(parents=True, exist_ok=True)
        journal = Path(temporary) / "journal"
        calls: dict[str, Call] = {
            "search, an answer": ("context_search", {"query": ASKED}),
            "search, nothing": ("context_search", {"query": "how did we tune the sonar of the submarine?"}),
            "recent 10": ("context_recent", {"limit": 10}),
            f"get, {len(LONG) // 1000} KB": ("context_get", {"ids": [make_journal(journal)]}),
        }
        for name in names:
            try:
                model = run(name, scratch, journal, calls)
                rows = received(model)
                for row, tokens in zip(rows, count([row["text"] for row in rows], scratch), strict=True):
                    row["tokens"] = tokens
                    print(f"| {name} |", " | ".join(str(row.get(column, "")) for column in columns), "|", flush=True)
            except (Unavailable, IndexError, ValueError) as error:  # it never came to its last call
                print(f"| {name} | not seen: {error} |{' |' * (len(columns) - 1)}")
            else:
                found[name] = {"rows": rows, "refused": sorted(model.refused), "requests": model.seen}
    if given.json:
        given.json.write_text(json.dumps(found, ensure_ascii=False, indent=1), encoding="utf-8")
    return len(found) < len(names)


if __name__ == "__main__":
    sys.exit(main())

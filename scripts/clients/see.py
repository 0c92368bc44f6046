"""Shows what the model behind a real client receives of Synaptic.

    .venv/bin/python scripts/clients/see.py                     # all clients
    .venv/bin/python scripts/clients/see.py codex --to DIR    # its requests: DIR/codex.json

Each client is installed from the npm registry into a scratch folder, and runs in an empty home
with Synaptic registered by `synaptic setup`. Its model is the endpoint of this folder: it calls
Synaptic's tools one after another and keeps each request. It refuses every other host.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from endpoint import Call, Endpoint, Json, results_of, tools_of
from install import Scratch, Unavailable, run

sys.path.append(str(Path(__file__).parents[1]))
from environment import SYNAPTIC

QUESTION = "what is the pgbouncer pool size on the orders cluster?"
NOTES = (
    "Raised the pgbouncer pool of the orders cluster to 40 connections.",
    "Decision: the tape archive moves to the second rack.",
)
CALLS: tuple[Call, ...] = (
    ("context_search", {"query": QUESTION}),
    ("context_search", {"query": "how did we tune the sonar of the submarine?"}),
    ("context_recent", {"limit": 10}),
)
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
    "mcp_servers.synaptic.required=true",  # else it begins before the server answers
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
            "MCP_CONNECTION_NONBLOCKING": "0",
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


def say(body: Json) -> Call | None:
    """The next of CALLS, after a look for Synaptic's tools where a client hides them."""
    known = tools_of(body)
    if not known:  # the client asks for a title
        return None
    calls = list(CALLS)
    if "ToolSearch" in known:
        names = ",".join(f"mcp__synaptic__{tool}" for tool, _ in CALLS)
        calls.insert(0, ("ToolSearch", {"query": f"select:{names}"}))
    done = len(results_of(body))
    if done >= len(calls):
        return None
    tool, values = calls[done]
    full = next((name for name in known if name.endswith(tool)), f"mcp__synaptic__{tool}")
    return full, values


def talk(
    client: str,
    scratch: Scratch,
) -> Endpoint:
    """The model after a session of this client. Raises Unavailable."""
    model = Endpoint(say)
    package, command, variables = CLIENTS[client]
    bin, environ = scratch.node(package)
    environ = {name: value for name, value in environ.items() if not name.startswith(OWN)}
    home = Path(tempfile.mkdtemp(prefix=f"{client}-", dir=scratch.homes))
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text(json.dumps(GEMINI))
    for name, value in variables.items():
        environ[name] = value.format(url=model.url)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        environ[name] = model.url
    for name in ("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "KEY"):
        environ[name] = "local"
    environ["PATH"] = f"{bin}{os.pathsep}{environ['PATH']}"
    environ |= {"HOME": str(home), "PWD": str(home), "NO_PROXY": "127.0.0.1"}
    for note in NOTES:
        run([str(SYNAPTIC), "save", note], cwd=home, environ=environ)
    run([str(SYNAPTIC), "setup", client], cwd=home, environ=environ)
    words = [*command.split(), QUESTION]
    if client == "codex":
        for setting in CODEX:
            words += ["-c", setting.format(url=model.url)]
    run([str(bin / words[0]), *words[1:]], cwd=home, environ=environ)
    return model


def main() -> int:
    """0 when every client came to its last call."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "clients",
        nargs="*",
        choices=[[], *CLIENTS],
        metavar="CLIENT",
    )
    parser.add_argument("--keep", type=Path, help="keep the installed clients here")
    parser.add_argument("--to", type=Path, help="write every request here, as CLIENT.json")
    given = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory(prefix="synaptic-see-") as folder:
        scratch = Scratch((given.keep or Path(folder)).resolve(), Path(folder))
        for client in given.clients or CLIENTS:
            try:
                model = talk(client, scratch)
            except Unavailable as error:
                print(f"\n## {client}\n\nnot seen: {error}")
                failed = True
                continue
            results = max((results_of(body) for body in model.seen), key=len, default=[])
            failed |= len(results) < len(CALLS)
            print(f"\n## {client}: {len(model.seen)} requests\n")
            print("\n\n".join(results))
            if given.to:
                given.to.mkdir(parents=True, exist_ok=True)
                (given.to / f"{client}.json").write_text(json.dumps(model.seen, indent=1))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

"""What the model behind a real client receives of Synaptic: a Markdown table, in o200k tokens.

python scripts/clients/see_agents.py                        # all clients
python scripts/clients/see_agents.py claude-code codex      # these alone
python scripts/clients/see_agents.py --json FILE            # the texts as well, and every request whole
python scripts/clients/see_agents.py --keep DIR             # the installed clients stay there for the next time

Each client is installed from the npm registry into a scratch folder. It runs without a
terminal, in an empty home, with Synaptic registered by `synaptic setup`. Its model is this
script: an endpoint on 127.0.0.1 speaks the provider's API, calls Synaptic's tools one after
another and keeps what it is sent. As the client's proxy it refuses every other host.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from accept import Scratch, Unavailable
from endpoint import Call, Endpoint, Json, Said, dicts, name_of, results_of, tools_of

sys.path.append(str(Path(__file__).parents[1]))
from environment import PYTHON, ROOT, SYNAPTIC, clean_environ, prepare

TOKENIZER = "gpt-tokenizer@4.0.0"
TIMEOUT_S = 180
THINKS_S = 4.0
"""The time that a model takes to its first word: meanwhile the server loads its own."""

NAMES = tuple(
    f"context_{verb}" for verb in "save search recent find get update delete analyze".split()
)
PROJECTS = ("harbor", "orchard")
NOTES, MADE = 8, 50
"""Entries that are notes of `corrections.json`, and entries made of several: with the two below
a journal of 60.
"""
HIDDEN = (
    "The pgbouncer pool\u200b of the orders cluster is watched\u2060 by "
    "Adaeze.\U000e0041\U000e0042"
)
LONG = "Runbook of the tape archive.\n\n" + "\n".join(
    f"- tape {tape}: label it and verify it." for tape in range(3500)
)
ASKED = "what is the pgbouncer pool size on the orders cluster?"
GEMINI = (
    '{"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": '
    '{"usageStatisticsEnabled": false}}'
)
"""Settings for which Gemini CLI has no environment variable."""

OWN = ("ANTHROPIC", "CLAUDE", "CODEX", "GEMINI", "GOOGLE", "MCP", "OPENAI", "OPENCODE", "XDG")
"""Beginnings of variables that would lead a client to its user's own settings."""

_DOUBT = re.compile(r"no close match|nothing (?:found|fits)", re.IGNORECASE)
_FENCE = re.compile(r"\n```+entr")
_FIELDS = re.compile(r'"(?:hits|entries)": ?\[')
_HIDDEN = re.compile("[\u200b\u2060\U000e0041\U000e0042]")
_BRIEFING = re.compile(
    r"From Synaptic, the journal.*?(?=\n\n# Environment|</hook_context>|\Z)", re.DOTALL
)
_LISTED = re.compile(r"^\S*synaptic__context_\w+$", re.MULTILINE)
_COUNT = """
const { countTokens } = require("gpt-tokenizer/cjs/encoding/o200k_base");
const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(texts.map((text) => countTokens(text))));
"""


# -- the model
# ------------------------------------------------------------------------------------------


class Model(Endpoint):
    """A model that makes these calls, one a turn."""

    def __init__(self, calls: Mapping[str, Call]) -> None:
        self.calls = calls
        super().__init__()

    def say(self, body: Json) -> Said:
        known, done = tools_of(body), len(results_of(body))
        if known and not done:
            time.sleep(THINKS_S)
        call = (
            self._next(known, done) if known else None
        )  # without tools it is asked for a title
        return Said(calls=[call]) if call else Said("Done.")

    def _next(self, known: Sequence[Json], done: int) -> Call | None:
        search = _discovery(known)
        calls = [search] if search else []
        for tool, args in self.calls.values():
            name = next(
                (found["name"] for found in known if _ours(found) == tool),
                f"mcp__synaptic__{tool}",
            )
            code = {"input": f"text(await tools.{name}({json.dumps(args)}))"}
            calls.append(("exec", code) if search and search[0] == "exec" else (name, args))
        return calls[done] if done < len(calls) else None


def _discovery(known: Sequence[Json]) -> Call | None:
    """How the model finds tools that are kept from it until it looks for them; None where it is
    given all.
    """
    searches: dict[str, Json] = {
        "ToolSearch": {
            "query": "select:" + ",".join(f"mcp__synaptic__{name}" for name in NAMES)
        },
        "exec": {"input": "text(ALL_TOOLS.filter((tool) => tool.name.includes('synaptic')))"},
        "tool_search": {"query": "synaptic context journal memory", "limit": len(NAMES)},
    }
    names = list(map(name_of, known))
    return next(((name, args) for name, args in searches.items() if name in names), None)


def _ours(tool: Json) -> str | None:
    return next((name for name in NAMES if name_of(tool).endswith(name)), None)


# -- the clients
# ----------------------------------------------------------------------------------------


def clients(url: str) -> dict[str, tuple[str, list[str], dict[str, str]]]:
    """The package, the command line and the environment of each client, where its model is at
    `url`.

    By the name that `synaptic setup` knows. Codex writes programs for its own model, and calls
    functions for others.
    """
    provider = (
        f'{{name="here", base_url="{url}/v1", env_key="KEY", wire_api="responses", '
        f"supports_websockets=false}}"
    )
    # required, and NONBLOCKING: else these begin without the server where that is not there at
    # once
    settings = [
        "model_provider=here",
        f"model_providers.here={provider}",
        "mcp_servers.synaptic.required=true",
    ]
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
    environ = {key: value for key, value in environ.items() if not key.startswith(OWN)}
    home = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=scratch.homes))
    project = home / PROJECTS[0]
    (project / ".git").mkdir(parents=True)
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text(GEMINI)
    environ |= {
        "HOME": str(home),
        "PWD": str(project),
        "SYNAPTIC_HOME": str(journal),
        "NO_PROXY": "127.0.0.1",
    } | own
    environ |= dict.fromkeys(
        ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), model.url
    )
    environ |= dict.fromkeys(("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "KEY"), "local")
    environ["PATH"] = f"{bin}{os.pathsep}{environ['PATH']}"
    for command in (
        [str(SYNAPTIC), "setup", name.removesuffix("-functions")],
        [str(bin / words[0]), *words[1:]],
    ):
        _run(command, cwd=project, env=environ)
    return model


def _run(command: Sequence[str], cwd: Path, env: Mapping[str, str], given: str = "") -> str:
    """What the command prints. Raises Unavailable."""
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            env=env,
            input=given,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=True,
        )
    except subprocess.SubprocessError as error:
        said = " ".join(str(getattr(error, "stderr", "")).split())
        raise Unavailable(
            f"{Path(command[0]).name}: {type(error).__name__}: {said[-300:]}"
        ) from error
    return done.stdout


def make_journal(home: Path) -> str:
    """The id of the oldest and longest note in a journal of 60 entries of two projects, made in
    this home.
    """
    sys.path.append(str(ROOT / "scripts" / "bench"))
    from corpus import entry_texts

    import synaptic
    from synaptic.config import Config

    pairs = json.loads(
        (ROOT / "tests" / "data" / "corrections.json").read_text(encoding="utf-8")
    )
    notes = [
        text
        for pair in pairs
        if pair["kind"] == "correction"
        for text in (pair["older"], pair["newer"])
    ]
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


# -- what reached it
# ------------------------------------------------------------------------------------


def received(model: Model) -> list[Json]:
    """What the model was told, by what it is, and what can be said of it."""
    from synaptic.surfaces.mcp.tools import INSTRUCTIONS

    talk = [body for body in model.seen if tools_of(body)]
    first, last = talk[0], max(talk, key=lambda body: len(results_of(body)))
    results, start = results_of(last), _plain(first)
    given, later = (
        [json.dumps(tool) for tool in tools_of(body) if _ours(tool)] for body in (first, last)
    )
    flat = " ".join(start.split())
    told = [part for part in INSTRUCTIONS.split("\n\n") if " ".join(part.split()) in flat]
    texts = [
        value for each in dicts(first) for value in each.values() if isinstance(value, str)
    ]
    briefing = next(filter(None, map(_BRIEFING.search, texts)), None)
    looked_for = (
        results[0] if len(results) > len(model.calls) and not later else "\n".join(later)
    )
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
        row["doubt"] = (
            "" if not doubt else "last" if entry and entry.start() < doubt.start() else "first"
        )
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
    return list(
        json.loads(_run(["node", "-e", _COUNT], bin.parent.parent, environ, json.dumps(texts)))
    )


def main() -> int:
    """0 when every client was seen."""
    known = clients("")
    parser = argparse.ArgumentParser(
        description="What the model behind a real client receives of Synaptic."
    )
    parser.add_argument(
        "clients", nargs="*", metavar="CLIENT", help=f"of {', '.join(known)}; all without"
    )
    parser.add_argument(
        "--json",
        type=Path,
        metavar="FILE",
        help="where figures, texts and requests are written",
    )
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="where the installed clients stay"
    )
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
            "search, nothing": (
                "context_search",
                {"query": "how did we tune the sonar of the submarine?"},
            ),
            "recent 10": ("context_recent", {"limit": 10}),
            f"get, {len(LONG) // 1000} KB": ("context_get", {"ids": [make_journal(journal)]}),
        }
        for name in names:
            try:
                model = run(name, scratch, journal, calls)
                rows = received(model)
                for row, tokens in zip(
                    rows, count([row["text"] for row in rows], scratch), strict=True
                ):
                    row["tokens"] = tokens
                    print(
                        f"| {name} |",
                        " | ".join(str(row.get(column, "")) for column in columns),
                        "|",
                        flush=True,
                    )
            except (
                Unavailable,
                IndexError,
                ValueError,
            ) as error:  # it never came to its last call
                print(f"| {name} | not seen: {error} |{' |' * (len(columns) - 1)}")
            else:
                found[name] = {
                    "rows": rows,
                    "refused": sorted(model.refused),
                    "requests": model.seen,
                }
    if given.json:
        given.json.write_text(json.dumps(found, ensure_ascii=False, indent=1), encoding="utf-8")
    return len(found) < len(names)


if __name__ == "__main__":
    sys.exit(main())

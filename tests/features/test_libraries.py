"""A machine without the libraries that only features use: a fresh interpreter in which they
cannot be imported.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import httpx
import pytest

import synaptic

PACKAGE = Path(synaptic.__file__).parent
FIND_NONE = """\
import sys
from importlib.abc import MetaPathFinder

class Missing(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
"""
RUN = """
from synaptic.__main__ import main
sys.exit(main())
"""
RUN_ALL = """
import json
from synaptic.cli.main import main
for args in json.loads(sys.argv[1]):
    print("status", main(["--home", sys.argv[2], *args]), args[0], flush=True)
"""


OF_PYTHON_3_14 = {"compression"}
"""Packages of Python itself in a newer version than 3.11."""
FROM_THE_SDK = {"uvicorn", "h11", "httpx2"}
"""Packages that only features import, and that the SDK of MCP needs, too."""


@cache
def imported(path: Path) -> set[str]:
    """The packages of other people that this module imports."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names - sys.stdlib_module_names - OF_PYTHON_3_14


def imported_by(files: Iterable[Path]) -> set[str]:
    return set().union(*map(imported, files))


@pytest.fixture(scope="module")
def core() -> set[str]:
    """The packages that the core imports."""
    features = {*(PACKAGE / "features").rglob("*.py")}
    return imported_by({*PACKAGE.rglob("*.py")} - features)


@pytest.fixture(scope="module")
def only_features(core: set[str]) -> set[str]:
    return imported_by((PACKAGE / "features").rglob("*.py")) - core


@pytest.fixture(scope="module")
def page_only(core: set[str]) -> set[str]:
    return imported_by((PACKAGE / "features" / "page").glob("*.py")) - core - FROM_THE_SDK


def python(code: str, missing: set[str], *args: str, stdin: str = "") -> str:
    """The output and the errors of code in an interpreter without these packages."""
    command = [sys.executable, "-c", FIND_NONE.format(names=missing) + code, *args]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=120)
    return done.stdout + done.stderr


def declared_requirements() -> list[str]:
    project = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text())["project"]
    return [*project["dependencies"], *project["optional-dependencies"]["postgres"]]


@pytest.mark.slow
def test_each_imported_package_is_declared() -> None:
    rows = declared_requirements()
    declared = {re.split(r"[\[<>=,;]", row)[0].lower() for row in rows}
    by_package = packages_distributions()
    imports = imported_by(PACKAGE.rglob("*.py")) - {PACKAGE.name}
    undeclared = {
        name
        for name in imports
        if not declared.intersection(one.lower().replace("_", "-") for one in by_package[name])
    }
    assert undeclared == set()


def test_what_the_page_changes_in_uvicorn_is_there() -> None:
    from uvicorn.protocols.http.h11_impl import H11Protocol

    from synaptic.features.page.connections import Connection

    changed = {name for name in vars(Connection) if callable(getattr(H11Protocol, name, None))}
    assert changed >= {
        "connection_made",
        "data_received",
        "on_response_complete",
        "resume_writing",
        "connection_lost",
        "shutdown",
        "_unsupported_upgrade_warning",
    }
    source = inspect.getsource(H11Protocol)
    for name in ("self.cycle", "self.conn", "self.timeout_keep_alive_task", "self.transport"):
        assert f"{name}:" in source or f"{name} =" in source
    assert any(row.startswith("uvicorn") and "<" in row for row in declared_requirements())


def test_the_packages_of_features_are_known(
    core: set[str], only_features: set[str], page_only: set[str]
) -> None:
    assert {"jinja2", "bs4", "markdown_it", "psycopg", "nh3", "backports"} <= only_features
    assert {"apsw", "mcp", "numpy", "typer", "starlette"} <= core
    assert {"jinja2", "markdown_it", "nh3"} <= page_only


@pytest.mark.slow
def test_the_core_runs_without_the_libraries_of_features(
    tmp_path: Path, only_features: set[str]
) -> None:
    commands = [
        ["save", "The tea is green.", "--type", "decision"],
        ["search", "tea"],
        ["find", "--type", "decision"],
        ["recent"],
        ["brief"],
        ["status"],
        ["review"],
        ["rebuild-index"],
    ]
    output = python(RUN_ALL, only_features, json.dumps(commands), str(tmp_path))
    for command in commands:
        assert f"status 0 {command[0]}" in output, output
    assert output.count("The tea is green.") >= 4, output


@pytest.mark.slow
def test_mcp_over_stdio_and_a_hook_run_without_them(
    tmp_path: Path, only_features: set[str]
) -> None:
    missing = only_features - FROM_THE_SDK
    messages = [
        {
            "method": "initialize",
            "id": 1,
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            },
        },
        {"method": "notifications/initialized"},
        {
            "method": "tools/call",
            "id": 2,
            "params": {
                "name": "context_save",
                "arguments": {"content": "The tea is green.", "project": "ledger"},
            },
        },
        {
            "method": "tools/call",
            "id": 3,
            "params": {"name": "context_search", "arguments": {"query": "tea"}},
        },
    ]
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text("hooks.timeout_s = 60")
    repository = tmp_path / "ledger"
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    command = [sys.executable, "-c", FIND_NONE.format(names=missing) + RUN]
    answers = {}
    with subprocess.Popen(
        [*command, "--home", str(home), "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdin and server.stdout
        for message in messages:
            print(json.dumps({"jsonrpc": "2.0"} | message), file=server.stdin, flush=True)
        while len(answers) < 3:
            answer = json.loads(server.stdout.readline())
            answers[answer["id"]] = answer
        server.stdin.close()
    assert "Saved" in json.dumps(answers[2]["result"])
    assert "The tea is green." in json.dumps(answers[3]["result"])
    event = json.dumps({"session_id": "s", "cwd": str(repository)})
    output = python(RUN, missing, "--home", str(home), "hook", "session-start", stdin=event)
    assert "The tea is green." in output


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("package", "args"),
    [
        ("uvicorn", ["serve"]),
        ("bs4", ["import", "notion", "{}", "--dry-run"]),
        ("psycopg", ["publish"]),
    ],
    ids=["serve", "import", "publish"],
)
def test_a_command_of_a_feature_names_what_it_lacks(
    package: str, args: list[str], tmp_path: Path, only_features: set[str]
) -> None:
    page = tmp_path / "Tea 0123456789abcdef0123456789abcdef.html"
    page.write_text("<html><h1 class='page-title'>Tea</h1><p>Green.</p></html>")
    words = [arg.format(page) for arg in args]
    output = python(RUN, only_features, "--home", str(tmp_path / "home"), *words)
    [error, hint] = output.splitlines()
    assert package in error and "not installed" in error
    assert hint.strip().startswith(("`pip install", "pip install"))


@pytest.mark.slow
def test_mcp_over_http_runs_without_the_libraries_of_the_page(
    tmp_path: Path, page_only: set[str]
) -> None:
    token = python(RUN, page_only, "--home", str(tmp_path), "token", "ada").split()[0]
    command = [sys.executable, "-c", FIND_NONE.format(names=page_only) + RUN]
    with subprocess.Popen(
        [*command, "--home", str(tmp_path), "serve"], stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout
            [url] = re.findall(r"http://\S+/mcp", server.stdout.readline())
            assert "There is no page" in server.stdout.readline()
            call = {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "tools/call",
                "params": {
                    "name": "context_save",
                    "arguments": {"content": "The tea is green."},
                },
            }
            headers = {
                "Authorization": f"Bearer {token}",
                "Accept": "application/json, text/event-stream",
                "MCP-Protocol-Version": "2025-06-18",
            }
            answer = httpx.post(url, json=call, headers=headers, timeout=60)
            assert "Saved" in answer.text
            assert httpx.post(url, json=call, timeout=60).status_code == 401
            page = httpx.get(url.removesuffix("mcp"), follow_redirects=True, timeout=60)
            assert (page.status_code, page.text) == (
                404,
                "This server has no page, only MCP at /mcp.\n",
            )
        finally:
            server.terminate()

"""How much of the package the six verbs of the core need, and that it works without any one
feature.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import NamedTuple

import grimp
import pytest
from newer import PACKAGE, package_with

from synaptic import features

pytestmark = pytest.mark.whole


ROOT = PACKAGE.parent


class Size(NamedTuple):
    modules: int
    lines: int


MOST_LOADED = Size(112, 26_720)
"""What a run loads. Both numbers only fall: who adds a module to the core takes one away."""
MOST_IMPORTED = Size(118, 27_550)
"""The same, with what these modules import only in some cases."""
BEGIN = (
    "verbs.saving",
    "search.search",
    "verbs.brief",
    "verbs.browse",
    "workspace.sync",
    "workspace.workspace",
)
"""The modules in which save, search, brief, find, get and rebuild stand, and what they take."""
RUN = """
import json, sys
from pathlib import Path
import synaptic
from synaptic.verbs.brief import brief

with synaptic.open_workspace(synaptic.load_config(sys.argv[1])) as ws:
    id = synaptic.save(ws, "Chose oak for the deck, because it lasts.", type="decision").id
    synaptic.search(ws, "Which wood did we choose for the deck last week?")
    brief(ws, Path(sys.argv[1]))
    synaptic.find(ws)
    synaptic.get(ws, [id])
    synaptic.rebuild(ws)
print(json.dumps([name for name in sys.modules if name.partition(".")[0] == "synaptic"]))
"""


def size_of(modules: Iterable[str]) -> Size:
    """The number of these modules, and of their lines."""
    files = [file for name in modules if (file := file_of(name)).exists()]
    return Size(len(files), sum(len(file.read_text().splitlines()) for file in files))


def file_of(module: str) -> Path:
    path = ROOT / module.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def test_what_the_core_loads_does_not_grow(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", RUN, tmp_path / "home"], capture_output=True, check=True
    )
    loaded = json.loads(run.stdout)
    assert not [name for name in loaded if name.startswith("synaptic.features")]
    size = size_of(loaded)
    assert size.modules <= MOST_LOADED.modules and size.lines <= MOST_LOADED.lines, size


def test_what_the_core_imports_does_not_grow() -> None:
    graph = grimp.build_graph("synaptic", exclude_type_checking_imports=True, cache_dir=None)
    modules = {f"synaptic.{name}" for name in BEGIN}
    for name in [*modules]:
        modules |= graph.find_upstream_modules(name)
    modules |= {name.rpartition(".")[0] for name in modules} - {""}
    size = size_of(modules)
    assert size.modules <= MOST_IMPORTED.modules and size.lines <= MOST_IMPORTED.lines, size


def test_the_page_of_the_rooms_says_how_large_the_core_is() -> None:
    rows = re.findall(
        r"^\| [^|]+ \| (\d+) \| ([\d,]+) \|$", (ROOT / "ARCHITECTURE.md").read_text(), re.M
    )
    sizes = [Size(int(modules), int(lines.replace(",", ""))) for modules, lines in rows]
    assert sizes == [MOST_LOADED, MOST_IMPORTED]


FEATURES = [module.name for module in iter_modules(features.__path__)]
COMMANDS = (
    ["save", "Chose oak for the deck, because it lasts.", "--type", "decision"],
    ["search", "which wood for the deck"],
    ["find", "--type", "decision"],
    ["recent"],
    ["get", "1"],
    ["brief"],
    ["save", "Fed the cat."],
    ["undo"],
    ["rebuild-index"],
    ["status"],
    ["doctor"],
    ["setup", "codex", "--json"],
    ["--help"],
    ["help", "--all"],
)
RUN_COMMANDS = """
import json, sys
from synaptic.cli.main import main

for args in json.loads(sys.argv[1]):
    if main(args) != 0:
        sys.exit(f"{args} failed")
"""


def how_many(gone: list[str]) -> str:
    return "all" if gone == FEATURES else "one"


@pytest.mark.sweep("gone", by=how_many)
@pytest.mark.parametrize("gone", [*([name] for name in FEATURES), FEATURES], ids=" ".join)
def test_the_core_works_without_a_feature(tmp_path: Path, gone: list[str]) -> None:
    copy = package_with(tmp_path / "copy", {})
    for feature in gone:
        shutil.rmtree(copy / "synaptic" / "features" / feature)
    shutil.copy(ROOT / "pyproject.toml", copy)
    environ = os.environ | {
        "PYTHONPATH": str(copy),
        "HOME": str(tmp_path),
        "SYNAPTIC_HOME": str(tmp_path / "home"),
    }
    rooms = [Path(sys.executable).with_name("lint-imports"), "--no-cache"]
    subprocess.run(rooms, cwd=copy, env=environ, check=True)
    run = [sys.executable, "-c", RUN_COMMANDS, json.dumps(COMMANDS)]
    answer = subprocess.run(run, cwd=tmp_path, env=environ, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    assert "Chose oak for the deck" in answer.stdout
    listed = set(re.findall(r"^  ([\w-]+)  ", answer.stdout, re.M))
    commands = {
        command
        for feature in FEATURES
        for command in import_module(f"{features.__name__}.{feature}").COMMANDS
        if feature in gone
    }
    assert commands and not commands & listed
    assert {"save", "search", "brief", "undo"} <= listed

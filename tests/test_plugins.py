"""Other people's packages: the one of docs/PLUGINS.md, installed by pip."""

from __future__ import annotations

import inspect
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest
from forks import ForkedHome
from outside import TIMEOUT_S, Answer

from synaptic import features, plugin

pytestmark = pytest.mark.whole


PAGE = Path(__file__).parent.parent / "docs" / "PLUGINS.md"
NAME = "synaptic_csv_diary"
METADATA = "Metadata-Version: 2.1\nName: synaptic-csv-diary\nVersion: 1.0\n"
WHEEL = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def wheel_of(folder: Path) -> Path:
    """A wheel with the files of the page."""
    python = re.findall(r"^```python\n# (\S+)\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    [entry_points] = re.findall(
        r"^\[project\.entry-points\.synaptic\]\n(.*?)^```", PAGE.read_text(), re.M | re.S
    )
    files = dict(python)
    assert list(files) == [f"{NAME}/__init__.py", f"{NAME}/reader.py", f"{NAME}/commands.py"]
    info = f"{NAME}-1.0.dist-info"
    files[f"{info}/METADATA"] = METADATA
    files[f"{info}/WHEEL"] = WHEEL
    files[f"{info}/entry_points.txt"] = "[synaptic]\n" + entry_points.replace('"', "")
    record = "".join(f"{path},,\n" for path in files) + f"{info}/RECORD,,\n"
    wheel = folder / f"{NAME}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in (files | {f"{info}/RECORD": record}).items():
            archive.writestr(path, text)
    return wheel


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of packages into which pip installed the plug-in."""
    folder = tmp_path_factory.mktemp("packages")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    target = folder / "packages"
    subprocess.run([*pip, "--target", str(target), str(wheel_of(folder))], check=True)
    return target


WITH_PACKAGES = """
import os, sys
from synaptic import plugin
from synaptic.cli.main import main
sys.path.insert(0, os.environ["AT"])
plugin.plug_in_entry_points.cache_clear()
sys.exit(main())
"""


class Installed:
    """A home, and a copy of the packages in which these texts stand for modules of the
    plug-in.
    """

    def __init__(self, folder: Path, packages: Path, **replaced: str) -> None:
        self.home = folder / "home"
        self.packages = folder / "packages"
        # compiled modules pass for those of a text as long that is written in the same second
        compiled = shutil.ignore_patterns("__pycache__")
        shutil.copytree(packages, self.packages, ignore=compiled)
        for module, text in replaced.items():
            (self.packages / NAME / f"{module}.py").write_text(text)

    def run(self, *args: str) -> Answer:
        """What the command says in a process that finds the packages."""
        home = ForkedHome(self.home)
        process = home.python(
            WITH_PACKAGES, "--home", str(self.home), *args, AT=str(self.packages)
        )
        out, err = process.communicate(timeout=TIMEOUT_S)
        return Answer(process.wait(), out.decode(), err.decode())


def test_the_plug_in_of_the_page_reads_and_commands(tmp_path: Path, packages: Path) -> None:
    plug_in = Installed(tmp_path, packages)
    diary = tmp_path / "diary.csv"
    diary.write_text(
        '2026-11-20T09:00,"Fed the cat."\nnonsense\n2026-11-21T10:00,"Rain, all day."\n'
    )
    done = plug_in.run("import", "csv-diary", str(diary), "--yes", "--json")
    assert done.code == 0, done.err
    assert len(json.loads(done.out)["skipped"]) == 1
    found = json.loads(plug_in.run("search", "rain", "--json").out)["hits"]
    assert found[0]["content"] == "Rain, all day."
    environ = os.environ | {"PYTHONPATH": str(plug_in.packages)}
    longest = [sys.executable, "-m", "synaptic", "--home", str(plug_in.home), "longest"]
    said = subprocess.run(longest, env=environ, capture_output=True, text=True)
    assert said.stdout == "Rain, all day.\n"
    status = plug_in.run("status").err
    assert "csv-diary (synaptic-csv-diary 1.0)" in status
    assert "Entries from the diary: 2." in status
    unknown = plug_in.run("import", "csv-diarx")
    assert unknown.code == 2 and "csv-diary" in unknown.err


@pytest.mark.parametrize("module", ["__init__", "reader", "commands"])
def test_a_broken_plug_in_is_named_and_everything_else_works(
    tmp_path: Path, packages: Path, module: str
) -> None:
    plug_in = Installed(tmp_path, packages, **{module: "import a_module_that_nobody_has"})
    for args in (("save", "The pump is loud."), ("search", "pump")):
        answer = plug_in.run(*args)
        assert answer.code == 0 and "left out" not in answer.err, args
    for name in ("status", "import", "undo"):
        assert plug_in.run(name).code == 0, name
    if module == "__init__":
        assert "csv-diary (synaptic-csv-diary 1.0) is left out" in plug_in.run("import").err
    if module != "reader":
        assert plug_in.run("longest").code in (1, 2)
    if module != "commands":
        failed = plug_in.run("import", "csv-diary", str(tmp_path / "diary.csv"))
        assert failed.code in (1, 2) and "Traceback" not in failed.err


def test_a_plug_in_made_for_other_doors_is_named_and_left_out(
    tmp_path: Path, packages: Path
) -> None:
    module = (packages / NAME / "__init__.py").read_text()
    newer = module.replace("PLUGIN_VERSION = 1", "PLUGIN_VERSION = 2")
    plug_in = Installed(tmp_path, packages, __init__=newer)
    answer = plug_in.run("import", "csv-diary")
    assert answer.code == 2
    assert "made for version 2 of synaptic.plugin, and this is version 1" in answer.err


FAILS = """
def news(ws):
    raise OSError("the diary is locked")

def take_back_run(ws, run, confirms):
    raise OSError("the diary is locked")

def catch_up(ws):
    raise OSError("a closed door was asked")

transcripts = catch_up
"""


def test_a_plug_in_that_fails_spoils_no_status_and_ends_an_undo(
    tmp_path: Path, packages: Path
) -> None:
    plug_in = Installed(tmp_path, packages, __init__=FAILS)
    assert plug_in.run("save", "The pump is loud.").code == 0
    status = plug_in.run("status")
    assert status.code == 0 and "is left out: OSError: the diary is locked" in status.err
    undone = plug_in.run("undo")
    assert undone.code == 1 and "failed: OSError: the diary is locked" in undone.err
    assert "pump" in plug_in.run("recent").out


DOORS = [one for one in vars(plugin).values() if isinstance(one, plugin.Door)]
TABLES = {
    f"{plugin.COMMANDS}: {{command: module}}": True,
    f"{plugin.READERS}: {{source: module}}": True,
}
ROW = re.compile(r"^\| `(.+?)` \|.*\| (open|closed: .+) \|$", re.M)


def answer_of(door: plugin.Door[..., object]) -> inspect.Signature:
    """The signature of the function that answers at a door; of several, of the first."""
    for module in iter_modules(features.__path__, f"{features.__name__}."):
        feature = import_module(module.name)
        if hasattr(feature, door.name):
            return inspect.signature(getattr(feature, door.name))
    raise AssertionError(f"No feature answers {door.name}.")


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.name)
def test_a_feature_answers_at_each_door_with_its_types(door: plugin.Door[..., object]) -> None:
    signature = answer_of(door)
    asked = ", ".join(parameter.annotation for parameter in signature.parameters.values())
    annotation = f"Door[[{asked}], {signature.return_annotation}]"
    assert plugin.__annotations__[door.name.upper()] == annotation


def test_the_page_has_a_row_for_each_door() -> None:
    rows = {
        written.replace("\\|", "|"): kind == "open"
        for written, kind in ROW.findall(PAGE.read_text())
    }
    doors = {f"{one.name}{answer_of(one)}".replace("'", ""): one.is_open for one in DOORS}
    assert rows == TABLES | doors

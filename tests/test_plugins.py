"""Other people's packages: the one of docs/PLUGINS.md, installed by pip."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from forks import ForkedHome
from outside import TIMEOUT_S, Answer

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
from synaptic import doors
from synaptic.cli.main import main
sys.path.insert(0, os.environ["AT"])
doors.plug_in_entry_points.cache_clear()
sys.exit(main())
"""


class Installed:
    """A home, and a copy of the packages in which these texts stand for modules of the
    plug-in.
    """

    def __init__(self, folder: Path, packages: Path, **replaced: str) -> None:
        self.home = folder / "home"
        self.packages = folder / "packages"
        shutil.copytree(packages, self.packages)
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
    assert "csv-diary (synaptic-csv-diary 1.0)" in plug_in.run("status").err
    unknown = plug_in.run("import", "csv-diarx")
    assert unknown.code == 2 and "csv-diary" in unknown.err


@pytest.mark.parametrize("module", ["__init__", "reader", "commands"])
def test_a_broken_plug_in_is_named_and_everything_else_works(
    tmp_path: Path, packages: Path, module: str
) -> None:
    plug_in = Installed(tmp_path, packages, **{module: "import a_module_that_nobody_has"})
    for args in (("save", "The pump is loud."), ("search", "pump"), ("status",), ("import",)):
        assert plug_in.run(*args).code == 0, args
    if module == "__init__":
        assert "csv-diary (synaptic-csv-diary 1.0) is left out" in plug_in.run("import").err
    if module != "reader":
        assert plug_in.run("longest").code in (1, 2)
    if module != "commands":
        failed = plug_in.run("import", "csv-diary", str(tmp_path / "diary.csv"))
        assert failed.code in (1, 2) and "Traceback" not in failed.err

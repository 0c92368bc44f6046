"""The set-up of `scripts/start.py` and `scripts/test.py` says what it does, and names no place
that packages come from.
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "scripts"))

import check_wheel
import environment

PLACE = "https://user:word@index.example/simple"
FILES = "file://"
OUTPUT = f"""\
Looking in indexes: {PLACE}
WARNING: Location '{FILES}/mirror/numpy/' is ignored: it is neither a file nor a directory.
Obtaining {FILES}/home/ada/synaptic
  Preparing editable metadata (pyproject.toml): started
Collecting numpy<3,>=1.26 (from synaptic-journal==0.3.0)
  Downloading {PLACE}/numpy-2.1.0-cp311-cp311-manylinux_2_17_x86_64.whl (16.3 MB)
Collecting sniffio
  Using cached sniffio-1.3.1-py3-none-any.whl.metadata (3.9 kB)
Downloading sniffio-1.3.1-py3-none-any.whl (10 kB)
Installing collected packages: sniffio, numpy
Successfully installed numpy-2.1.0 sniffio-1.3.1
"""
SAID = [
    "preparing Synaptic itself",
    "found numpy, package 1",
    "fetching 1 of 1: numpy (16.3 MB)",
    "found sniffio, package 2",
    "fetching 2 of 2: sniffio (10 kB)",
]


def test_progress_is_read_from_pips_lines_without_places(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(environment, "EVERY_S", 0.0)
    progress = environment.Progress()
    assert [said for line in OUTPUT.splitlines() if (said := progress.read(line))] == SAID
    assert progress.total == 2


def test_many_lines_of_pip_are_few_of_progress() -> None:
    progress = environment.Progress()
    said = [progress.read(f"Collecting package-{number}") for number in range(1_000)]
    assert said[0] and len([*filter(None, said)]) < 100


def make_wheel(folder: Path, name: str, *needs: str) -> None:
    about = f"{name}-1.0.dist-info"
    requires = "".join(f"Requires-Dist: {need}\n" for need in needs)
    files = {
        f"{name}.py": "",
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{requires}",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
        wheel.writestr(f"{about}/RECORD", "".join(f"{path},,\n" for path in files))


@pytest.mark.slow
def test_an_installation_says_what_it_does_and_shows_pips_words_only_if_it_fails(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment, "EVERY_S", 0.0)
    make_wheel(tmp_path, "quince", "medlar")
    make_wheel(tmp_path, "medlar")
    offline = ["--no-index", "--find-links", str(tmp_path), "--target", str(tmp_path / "in")]
    assert environment.install(Path(sys.executable), [*offline, "quince"])
    said = capfd.readouterr()
    assert "synaptic: found quince, package 1\n" in said.err
    assert "synaptic: found medlar, package 2\n" in said.err
    assert str(tmp_path) not in said.err + said.out
    assert (tmp_path / "in" / "medlar.py").exists()
    assert not environment.install(Path(sys.executable), [*offline, "sorb"])
    assert "No matching distribution found for sorb" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("tag", "said"),
    [("v0.0.1", "tag v{version}"), ("{version}", "tag v{version}"), ("v{version}", "")],
)
def test_a_release_has_the_tag_of_its_version(tag: str, said: str) -> None:
    version = check_wheel.project_version()
    fault = check_wheel.fault_of_tag(tag.format(version=version))
    assert fault.endswith(said.format(version=version)) and bool(fault) == bool(said)


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("pass", "does not show 'JWT token refresh'"),
        ("raise SystemExit('no index')", "no index"),
    ],
)
def test_the_first_minute_fails_with_a_program_that_finds_nothing(
    program: str, said: str
) -> None:
    broken = check_wheel.Program([sys.executable, "-S", "-c", program], {})
    with pytest.raises(check_wheel.Unavailable, match=said):
        check_wheel.first_minute(broken)


def test_an_agent_is_not_answered_by_a_server_that_ends() -> None:
    broken = check_wheel.Program([sys.executable, "-S", "-c", "input()"], {})
    with pytest.raises(check_wheel.Unavailable, match="ended without an answer to initialize"):
        check_wheel.ask_as_agent(broken, "login")


def test_the_five_largest_packages_are_named(tmp_path: Path) -> None:
    for megabytes, name in enumerate(("pip", "f", "e", "d", "c", "b", "numpy", "numpy.libs")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_bytes(b"x" * megabytes * 1_000_000)
    described = check_wheel.describe_sizes(tmp_path)
    assert described == "installed: 28 MB, of which numpy 13, b 5, c 4, d 3, e 2"

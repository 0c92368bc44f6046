"""Homes that share a journal through a bare repository on the disk, and clones of a person who
uses git alone.
"""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from forks import ForkedHome, Forks
from steady import SteadyHome

DAY = "2026-11-21.md"
NOON = {"SYNAPTIC_NOW": "2026-11-21T12:00"}
FILE = "100644"


IDENTITY = {
    **{
        f"GIT_{who}_{what}": "a@b.c"
        for who in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    },
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


def run_git(
    folder: Path, *args: str, ok: bool = True, **env: str
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        ["git", *args],
        cwd=folder,
        env=os.environ | IDENTITY | env,
        capture_output=True,
        text=True,
    )
    assert not ok or done.returncode == 0, done.stdout + done.stderr
    return done


def git(folder: Path, *args: str) -> str:
    names = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    done = subprocess.run(["git", *names, *args], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Machines:
    """Homes that share what a bare repository holds."""

    def __init__(self, folder: Path, forks: Forks) -> None:
        self.folder = folder
        self.hub = folder / "hub.git"
        self.forks = forks
        git(folder, "init", "-q", "--bare", "--template=", "-b", "main", str(self.hub))
        git(self.hub, "config", "receive.autoGC", "false")

    def new(self, name: str) -> ForkedHome:
        env = {"HOME": str(self.folder), "XDG_CONFIG_HOME": "", **NOON}
        return SteadyHome(self.folder / name, env, forks=self.forks)

    def clone(self, name: str, *paths: str) -> Path:
        """A working copy, with these files, of somebody who uses git alone."""
        git(self.folder, "clone", "-q", "--no-checkout", str(self.hub), name)
        git(self.folder / name, "checkout", "-q", "HEAD", "--", *(paths or ["."]))
        return self.folder / name

    def add(self, files: Mapping[str, tuple[str, bytes] | None]) -> None:
        """Pushes a commit in which these paths have this mode and these bytes; None removes
        one. A name needs to fit no disk.
        """
        known = {"GIT_DIR": str(self.hub), "GIT_INDEX_FILE": str(self.folder / "index")}
        person = {
            f"GIT_{who}_{what}": "ada"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        }
        env = os.environ | known | person

        def hub(*args: str, stdin: bytes = b"") -> str:
            done = subprocess.run(["git", *args], env=env, input=stdin, capture_output=True)
            assert done.returncode == 0, done.stderr
            return done.stdout.decode().strip()

        hub("read-tree", "main")
        lines = b""
        ids: dict[bytes, str] = {}
        for path, file in files.items():
            mode, data = file or ("0", b"")
            id = data.decode() if mode == "160000" else ids.get(data)
            if id is None:
                id = ids[data] = hub("hash-object", "-w", "--stdin", stdin=data)
            lines += f"{mode} {id}\t".encode() + os.fsencode(path) + b"\0"
        hub("update-index", "-z", "--index-info", stdin=lines)
        commit = hub("commit-tree", "-p", "main", "-m", "By hand", hub("write-tree"))
        hub("update-ref", "refs/heads/main", commit)

    def tree(self) -> dict[str, str]:
        """The mode and the object of each file that is shared, by path."""
        done = subprocess.run(
            ["git", "ls-tree", "-r", "-z", "main"],
            cwd=self.hub,
            capture_output=True,
            check=True,
        )
        lines = os.fsdecode(done.stdout).split("\0")[:-1]
        return {line.partition("\t")[2]: line.partition("\t")[0] for line in lines}

    def shared(self, *names: str) -> list[ForkedHome]:
        """A home of each name with a save, which shares it: made once, and copied."""
        self.become(_made(names, self.forks))
        return [self.new(name) for name in names]

    def become(self, made: Machines) -> None:
        """Takes a copy of everything that these machines hold."""
        shutil.copytree(made.folder, self.folder, symlinks=True, dirs_exist_ok=True)
        there, here = bytes(made.folder), bytes(self.folder)
        for path in self.folder.rglob("*"):
            data = path.read_bytes() if path.is_file() else b""
            if there in data:
                path.write_bytes(data.replace(there, here))


@functools.cache
def _made(names: tuple[str, ...], forks: Forks) -> Machines:
    machines = elsewhere(forks)
    for name in names:
        home = machines.new(name)
        home.ask("save", f"The first of {name}.", "--title", f"First {name}")
        home.ask("sync", "--init", str(machines.hub), "--yes")
    return machines


def elsewhere(forks: Forks) -> Machines:
    """Machines in a folder that ends with this process, to be copied."""
    folder = tempfile.mkdtemp(prefix="machines-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Machines(Path(folder), forks)


def day(home: ForkedHome) -> str:
    return (home.journal / DAY).read_text()


def waits(home: ForkedHome) -> str:
    return " ".join(home.ask("status")["notices"])

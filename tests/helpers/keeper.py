"""Keeps one program and its folder while somebody is connected; then ends both.

Whoever uses the program holds a connection. The system closes it with the process, however that
ended: so a test run that is killed leaves neither a process nor a file.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

PATIENCE_S = 30
"""A program that does not end in this time after its signal is killed."""
PR_SET_PDEATHSIG = 1
"""From <linux/prctl.h>: the signal that a process gets when its parent ends."""


class Keeper:
    """What it was told: `listener` (a file descriptor), `folder`, `prepare` (a command run once,
    before the first start), `command`, `user` and `group` (None: as it is), `end` (a signal).
    """

    def __init__(self, told: dict[str, Any]) -> None:
        self.told = told
        self.folder = Path(told["folder"])
        self.listener = socket.socket(fileno=told["listener"])
        self.program: subprocess.Popen[bytes] | None = None
        self.prepared = False

    def keep(self) -> None:
        """Returns when the last user has left, and the program and its folder are gone."""
        users: list[socket.socket] = []
        leaving: list[socket.socket] = []
        while users or not leaving:
            for channel in leaving:
                channel.close()
            leaving = []
            for ready in select.select([self.listener, *users], [], [])[0]:
                if ready is self.listener:
                    users.append(ready.accept()[0])
                elif not self._served(ready):
                    users.remove(ready)
                    leaving.append(ready)
        self.listener.close()  # whoever has just come is turned away, and starts another
        self._end(self.told["end"])
        self._forget()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _served(self, user: socket.socket) -> bool:
        """Do what one word says and answer with the pid, 0 for none. False: the user has left."""
        try:
            word = user.recv(16)
        except ConnectionError:
            return False
        if word == b"start" and not self._pid():
            self._start()
        elif word == b"kill":
            self._end(signal.SIGKILL)
        elif word == b"end":
            self._end(self.told["end"])
        if word:
            user.sendall(b"%d\n" % self._pid())
        return bool(word)

    def _pid(self) -> int:
        return self.program.pid if self.program and self.program.poll() is None else 0

    def _start(self) -> None:
        rights: dict[str, Any] = {}
        if self.told["user"] is not None:
            rights = {
                "user": self.told["user"],
                "group": self.told["group"],
                "extra_groups": [],
            }
        with (self.folder / "log").open("ab") as log:
            about: dict[str, Any] = {
                "stdin": subprocess.DEVNULL,
                "stdout": log,
                "stderr": log,
                "cwd": self.folder,
                **rights,
            }
            if self.told["prepare"] and not self.prepared:
                self.prepared = not subprocess.run(
                    self.told["prepare"], check=False, **about
                ).returncode
            self.program = subprocess.Popen(
                self.told["command"], preexec_fn=end_with_parent, **about
            )

    def _end(self, number: int) -> None:
        if not (self.program and self._pid()):
            return
        self.program.send_signal(number)
        try:
            self.program.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.program.kill()
            self.program.wait()

    def _forget(self) -> None:
        """PostgreSQL after kill -9 leaves a few bytes of shared memory: the file that it leaves
        too names them in line 7.
        """
        left = self.folder / "data" / "postmaster.pid"
        lines = left.read_text().splitlines() if left.exists() else []
        if len(lines) > 6 and (ids := lines[6].split()):
            subprocess.run(["ipcrm", "-m", ids[-1]], check=False)


def end_with_parent() -> None:
    """A keeper that is killed takes its program along, where the system can do that."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGQUIT)


if __name__ == "__main__":
    os.umask(0o077)
    Keeper(json.loads(sys.argv[1])).keep()

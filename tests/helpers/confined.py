"""Homes whose commands first lose rights, or enter a namespace, in the process that is forked for
them: a start under `setpriv` or `nsenter` would import everything anew.
"""

from __future__ import annotations

import ctypes
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from forks import Forked, ForkedHome

DAC_OVERRIDE, DAC_READ_SEARCH = 1, 2
"""The rights to pass the modes of files, from <linux/capability.h>."""
PR_CAPBSET_DROP = 24
VERSION_3 = 0x20080522


@dataclass
class ConfinedHome(ForkedHome):
    """A home whose processes begin with this code."""

    first: str = ""

    def _start(
        self, call: dict[str, Any], env: dict[str, str], *, errors: bool = True
    ) -> Forked:
        code = call.get("code", "from synaptic.cli.main import main; raise SystemExit(main())")
        return super()._start(call | {"code": f"{self.first}\n{code}"}, env, errors=errors)


def bound_home(home: ForkedHome) -> ForkedHome:
    """The home for commands that the modes of files stop: root gives up the right to pass them."""
    if os.geteuid() != 0:
        return home
    if sys.platform != "linux":
        pytest.skip("root passes every mode, and only Linux lets it give that up")
    first = "import confined; confined.give_up_rights()"
    return ConfinedHome(home.path, home.env, home.forks, first=first)


def give_up_rights() -> None:
    """Has the modes of files bind this process and its children, for ever. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(VERSION_3, 0)
    sets = (ctypes.c_uint32 * 6)()
    """Effective, permitted and inheritable rights below 32, then those above."""
    if libc.capget(header, sets):
        raise OSError(ctypes.get_errno(), "capget")
    for right in (DAC_OVERRIDE, DAC_READ_SEARCH):
        if libc.prctl(PR_CAPBSET_DROP, right, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "prctl")
        for at in range(3):
            sets[at] &= ~(1 << right)
    if libc.capset(header, sets):
        raise OSError(ctypes.get_errno(), "capset")


def enter_namespaces(pid: int) -> None:
    """Enters the user's and the mounts' namespaces of a process. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    folder = Path.cwd()
    for name in ("user", "mnt"):
        fd = os.open(f"/proc/{pid}/ns/{name}", os.O_RDONLY)
        if libc.setns(fd, 0):
            raise OSError(ctypes.get_errno(), "setns")
        os.close(fd)
    os.chdir(folder)  # a new namespace begins at its root

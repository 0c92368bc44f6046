"""shim.c from Python: built with gcc when it is first needed, and loaded below the program
(Linux).
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

KILL_BEFORE, KILL_AFTER, KILL_HALF = -1, -2, -3
Hook = Callable[[int, bytes, bytes], None]
"""Gets the number of a call, its name and its path."""
_HOOK = ctypes.CFUNCTYPE(None, ctypes.c_long, ctypes.c_char_p, ctypes.c_char_p)
_kept: list[object] = []
"""The hook in force: C holds no reference to it."""


def preload() -> str:
    """Why the shim cannot be used, else an empty text. Starts the program anew on top of it
    where it must.
    """
    if "SOAK_SHIM" in os.environ:
        shutil.rmtree(os.environ.pop("SOAK_SHIM"))
        del os.environ["LD_PRELOAD"]  # what this program starts runs without it
        return ""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if sys.platform != "linux" or not compiler:
        return "it needs Linux and a C compiler (gcc)"
    folder = tempfile.mkdtemp(prefix="soak-shim-")
    source, library = Path(__file__).with_name("shim.c"), Path(folder, "shim.so")
    subprocess.run(
        [compiler, "-O1", "-w", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True
    )
    beneath = {"LD_PRELOAD": str(library), "SOAK_SHIM": folder}
    return os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | beneath)


def watch(root: Path | None, *, log: int = -1, hook: Hook | None = None) -> None:
    """None; calls below `root` are counted from 0, written to the open file `log`, and `hook`
    is called before each.
    """
    _kept[:] = [_HOOK(hook) if hook else _HOOK()]
    ctypes.CDLL(None).shim_watch(
        os.fsencode(os.path.realpath(root)) if root else b"", log, _kept[0]
    )


def break_at(call: int, fault: int, *, forever: bool) -> None:
    """None; the call of this number, and with `forever` all after it, fail with this errno (or
    kill).
    """
    ctypes.CDLL(None).shim_break(ctypes.c_long(call), fault, forever)


def calls() -> int:
    """The number of calls that were counted."""
    count: Callable[[], int] = ctypes.CDLL(None).shim_calls
    return count()


def note(text: str) -> None:
    """None; the log holds this remark."""
    ctypes.CDLL(None).shim_note(text.encode())

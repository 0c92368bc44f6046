"""Counts the functions that a question, a save and an update run; `--names` lists them.

python3 scripts/walk.py [--names]

The journal is fixed and the model is loaded before; distinct functions are counted in all
threads.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from environment import PYTHON, ROOT, clean_environ

QUESTION = "what did we decide about the cache?"
NOTES = (
    "The cache holds sessions for an hour, because the database was slow.",
    "Chose Redis for the cache over Memcached.",
    "The bank called about the card.",
    "Lunch with Ada at the harbour.",
)


def main() -> None:
    """Prints the walks; becomes the Python of `.venv` first, for this one may lack Synaptic's
    dependencies.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--names", action="store_true", help="list the functions")
    names = parser.parse_args().names
    if Path(sys.prefix) != PYTHON.parent.parent:
        os.execve(PYTHON, [str(PYTHON), *sys.argv], clean_environ())
    import synaptic
    from synaptic.config import Config

    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        with synaptic.open_workspace(
            Config(home=home, journal=home / "journal", project="walk")
        ) as ws:
            for note in NOTES:
                receipt = synaptic.save(
                    ws, note, type="decision" if note.startswith("Chose") else "note"
                )
            synaptic.search(ws, "harbour")
            for what, act in (
                ("question", lambda: synaptic.search(ws, QUESTION)),
                ("save", lambda: synaptic.save(ws, "Moved the cache to its own machine.")),
                ("update", lambda: synaptic.update(ws, receipt.id, append="She paid.")),
            ):
                walked = walk(act)
                files = {name.partition(":")[0] for name in walked}
                print(f"{what}: {len(walked)} functions in {len(files)} files")
                if names:
                    print("\n".join(f"    {name}" for name in sorted(walked)))


def walk(act: Callable[[], object]) -> set[str]:
    """`file:function` of all functions of the package that run while `act` does, comprehensions
    not counted.
    """
    package = f"{ROOT / 'synaptic'}{os.sep}"
    seen: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if (
            event == "call"
            and code.co_filename.startswith(package)
            and not code.co_qualname.endswith("comp>")
        ):
            seen.add(f"{code.co_filename.removeprefix(package)}:{code.co_qualname}")

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return {name for name in seen if not name.endswith(("<genexpr>", "<lambda>", "<module>"))}


if __name__ == "__main__":
    main()

"""The process that takes the commands of many tests keeps nothing of one for the next."""

from __future__ import annotations

import os

import pytest
from forks import Forks
from steady import steady


def pid_of(code: str) -> int:
    """The process in which a call ran this code."""
    lines = ("import os, signal, threading", code, "print(os.getpid())")
    call = {"args": ["-c"], "code": "\n".join(lines)}
    with steady().taken() as is_mine:
        assert is_mine
        with steady().start(call | {"env": dict(os.environ)}) as process:
            out, err = process.communicate()
    assert not err
    return int(out)


@pytest.mark.parametrize(
    "code",
    [
        "os.open(os.devnull, os.O_RDONLY)",
        "threading.Thread(target=threading.Event().wait, daemon=True).start()",
        "os.fork() or os._exit(0)",
        "signal.signal(signal.SIGUSR1, print)",
        "os.nice(1)",
    ],
    ids=["file", "thread", "child", "handler", "nice"],
)
def test_a_process_to_which_a_call_left_something_takes_no_other(
    forks: Forks, code: str
) -> None:
    first = pid_of("0")
    assert pid_of(code) == first
    assert pid_of("0") != first


READ = """
from synaptic.cli.replies import IN_JSON
from synaptic.workspace.git import first_commit_days
assert not IN_JSON.get() and not first_commit_days.cache_info().currsize
IN_JSON.set(True)
first_commit_days(None, "")
"""


def test_variables_and_what_was_read_from_the_disk_are_forgotten(forks: Forks) -> None:
    assert pid_of(READ) == pid_of(READ)

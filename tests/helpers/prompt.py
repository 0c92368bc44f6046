"""The process beside a server that reads for it, at the priority of all others: behind them it
would wait for every test that runs meanwhile.
"""

from __future__ import annotations

from multiprocessing.connection import Connection

from synaptic.config import Config
from synaptic.serving import processes

_run_verbs = processes._run_verbs


def run_verbs(pipe: Connection, config: Config) -> None:
    """What a server that was forked starts in place of `processes._run_verbs`."""
    processes.NICE = 0
    _run_verbs(pipe, config)

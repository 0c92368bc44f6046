"""A command imports what it needs: people and hooks wait for each module."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from homes import open_home

from synaptic.verbs.saving import save


@pytest.mark.parametrize(("command", "most"), [("--version", 60), ("recent", 420)])
def test_a_command_imports_few_modules(tmp_path: Path, command: str, most: int) -> None:
    """Those of typer and of pydantic, which it asks, are about 300."""
    home = tmp_path / "home"
    with open_home(home) as ws:
        save(ws, "Paid the rent.")
    environment = os.environ | {"HOME": str(tmp_path), "SYNAPTIC_HOME": str(home)}
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "synaptic", command],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        check=True,
        text=True,
    )
    imported = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    assert len(imported) <= most
    assert done.stdout

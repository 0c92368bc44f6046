"""The shell completes what a person begins to type."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from forks import ForkedHome
from outside import SYNAPTIC, TIMEOUT_S
from trials import drawn

COMPLETE = """
synaptic --install-completion >&2
source ~/.bashrc
complete -p synaptic >&2 || exit
function=$(complete -p synaptic | sed 's/.* -F \\([^ ]*\\) .*/\\1/')
while read -r -a COMP_WORDS; do
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    "$function" synaptic "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
    echo "${COMPREPLY[*]}"
done
"""
"""For each line of its input what bash offers for the last word of that line."""
OFFERED = {
    "synaptic sea": "search",
    "synaptic search --str": "--strategy",
    "synaptic search --type dec": "decision",
    "synaptic search --tag har": "harbour",
    "synaptic search harbour --project ledg": "ledger",
    "synaptic import obs": "obsidian",
    "synaptic setup cod": "codex",
    "synaptic import ~/no": "",
}
"""By what is typed what completes it; "" leaves it to bash, which completes files."""


@pytest.mark.slow
@pytest.mark.sweep
@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes_commands_options_and_values(home: ForkedHome, tmp_path: Path) -> None:
    typed = drawn("completed", OFFERED, 3)
    home.ask("save", "The tide turns at six.", "--tag", "harbour", "--project", "ledger")
    path = f"{Path(SYNAPTIC).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "--norc", "-c", COMPLETE],
        input="".join(f"{line}\n" for line in typed),
        env=home.environment(HOME=str(tmp_path), PATH=path),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    offered = dict(zip(typed, done.stdout.splitlines(), strict=False))
    assert offered == {line: OFFERED[line] for line in typed}, done.stderr

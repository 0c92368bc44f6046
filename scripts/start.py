"""One command from a clone to a working memory.

python3 scripts/start.py                 # set up, then show in a throw-away home what Synaptic does
python3 scripts/start.py search "login"  # set up, then run `synaptic search "login"` in your
own home
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from environment import ROOT, SYNAPTIC, clean_environ, prepare, run_synaptic

ENTRIES = (
    "save 'Fixed authentication JWT token refresh bug in the login flow' --type issue "
    "--tag auth",
    "save 'Chose SQLite over PostgreSQL: one file, no server, easy to back up' --type "
    "decision --tag db",
    "save 'The nightly export needs 40 minutes since March; the ledger has no index on "
    "customer' "
    "--type insight --tag export",
    "save 'Importer half done: parsing works, amounts are not checked yet' --type handoff "
    "--tag import",
)
BY_WORDS = "search 'JWT token' --limit 1"
BY_MEANING = "search 'trouble signing in' --limit 1"


def main(arguments: list[str]) -> int:
    """0 when the demonstration worked; with arguments `synaptic` takes over."""
    if arguments:
        run_synaptic(arguments)
    prepare()
    with tempfile.TemporaryDirectory(prefix="synaptic-demo-") as folder:
        demonstrate(Path(folder))
    print_next_steps()
    return 0


def demonstrate(home: Path) -> None:
    """Save, search and read in `home` with the real command. Raises SystemExit where it fails."""
    print(f"A throw-away memory in {home}\n")
    for entry in ENTRIES:
        run(home, entry)
    print("\nFound by its words:\n")
    run(home, BY_WORDS)
    print("\nFound by its meaning; no word is the same:\n")
    run(home, BY_MEANING)
    for file in sorted((home / "journal").rglob("*.md")):
        print(
            f"\nAnd this is the memory, {file.relative_to(home)}, a file to read and to edit:\n"
        )
        print(
            "\n".join(f"    {line}" for line in file.read_text(encoding="utf-8").splitlines())
        )


def run(home: Path, line: str) -> None:
    """Show one command and what it says."""
    print(f"$ synaptic {line}", flush=True)
    command = [str(SYNAPTIC), "--home", str(home), *shlex.split(line)]
    code = subprocess.run(command, env=clean_environ(), cwd=home, check=False).returncode
    if code:
        raise SystemExit(
            f"`synaptic {line}` failed with exit code {code}. `synaptic doctor` may know why."
        )


def print_next_steps() -> None:
    """The lines to paste, with this clone's own paths in them."""
    program, clone = str(SYNAPTIC), str(ROOT)
    print(f"""
That memory is gone again, and nothing else was touched. Ready to paste:

Give your agents the memory (Claude Code, Codex, Cursor and others; it says first what it will do):
    {shlex.join([program, "setup", "--dry-run"])}
    {shlex.join([program, "setup"])}

Have the bare command `synaptic` everywhere (one of the two):
    {shlex.join(["pipx", "install", clone])}
    {shlex.join(["uv", "tool", "install", clone])}

Try it in your own home, ~/.synaptic:
    {shlex.join([program, "save"])} "Moved the backups to the new disk" --type decision --tag backup
    {shlex.join([program, "search"])} "where are the backups"
    {shlex.join([program, "today"])}""")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

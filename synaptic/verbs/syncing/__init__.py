"""Shares the journal with other machines through a branch of a git repository.

`sync.py` is where to begin: it lists the steps. `sharing` decides which files are sent and
received, `sent` makes a commit of them, `trees` merges two commits, `received` changes the
files, `unseen` looks for secrets, and `remote` alone reaches other machines.
"""

from .memory import allow
from .sync import Synced, init, state, sync

__all__ = ["Synced", "allow", "init", "state", "sync"]

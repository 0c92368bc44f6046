"""Shares the journal with other machines through a branch of a git repository.

`synced.py` is where to begin: it lists the steps. `shares` decides which files are sent and
received, `sent` makes a commit of them, `trees` merges two commits, `received` changes the
files, `unseen` looks for secrets, and `remote` alone reaches other machines.
"""

from .memory import allow
from .synced import Synced, init_sync, sync, sync_state

__all__ = ["Synced", "allow", "init_sync", "sync", "sync_state"]

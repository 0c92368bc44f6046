"""Shares the journal with other machines through a branch of a git repository.

`synced.py` is where to begin: it lists the steps. `shares` decides which files are sent and
received, `sent` makes a commit of them, `trees` merges two commits, `received` changes the
files, `unseen` looks for secrets, and `sync_remote` alone reaches other machines.
"""

from .memory import allow_secret
from .synced import Synced, describe_sync, init_sync, sync

__all__ = ["Synced", "allow_secret", "describe_sync", "init_sync", "sync"]

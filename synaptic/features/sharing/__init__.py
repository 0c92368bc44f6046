"""Shares the journal: with other machines by git, with a team by PostgreSQL.

`syncing` and `merge` for the first, `publisher` and `published` for the second.
"""

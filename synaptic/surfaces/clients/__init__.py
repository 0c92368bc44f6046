"""Registers Synaptic with the programs that speak MCP, and leaves the rest of their settings as it was.

`register.py` is where to begin: `plan` says what would be done and `carry_out` does it.
`clients.py` is the table of clients; `jsonc`, `toml` and `files` edit their settings in place.
"""

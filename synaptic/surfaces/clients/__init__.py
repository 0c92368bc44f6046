"""Registers Synaptic with the programs that speak MCP, and leaves the rest of their settings as
it was.

`register.py` is where to begin: `plan` says what would be done and `carry_out` does it.
`clients.py` is the table of clients, `parts` what goes into their files: the server, hooks,
guidance; `jsonc` and `toml` edit these in place.
"""

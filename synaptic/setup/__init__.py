"""Registers Synaptic with the programs that speak MCP, and leaves their other settings
unchanged.

`register.py` is where to begin: `set_up_part` says what would be done, or does it.
`clients.py` is the table of clients, `parts` what goes into their files: the server, hooks,
guidance; `jsonc` and `toml` edit these in place.
"""

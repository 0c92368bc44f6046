"""The command `synaptic`, for people and scripts.

`main.py` is where to begin: it runs the commands of `commands`, of `upkeep` and of features,
and turns errors into messages. `program` makes a function a command, `flags` declares the
options, `replies` chooses text or JSON, `terminal` prints.
"""

"""The command `synaptic`, for people and scripts.

`main.py` is where to begin: it registers the commands of `commands.py` and turns errors into messages.
`flags` declares the options, `replies` chooses between text and JSON, `terminal` prints.
"""

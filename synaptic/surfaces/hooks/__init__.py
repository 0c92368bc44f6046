"""The hooks that an agent's client runs when a session starts, at each prompt and after each
turn. None fails it.

`hooks.py` is where to begin: it answers one event within its time and logs whatever goes wrong.
`session` chooses what to tell, `briefing` fits it into the budget; `stop` asks for a hand-off.
"""

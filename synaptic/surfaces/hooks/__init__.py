"""The hooks that an agent's client runs at the start of a session and at each prompt. None fails its client.

`hooks.py` is where to begin: it answers one event within its time and logs whatever goes wrong.
`session` chooses what to tell, `briefing` fits it into the budget.
"""

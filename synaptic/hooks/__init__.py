"""The hooks that an agent's client runs when a session starts, at each prompt and after a turn.

`hooks.py` answers an event within its time and logs failures; `stop.py` asks for a hand-off.
"""

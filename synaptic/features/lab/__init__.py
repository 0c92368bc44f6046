"""Measures search on a person's own notes, and changes the model by that measure."""

COMMANDS = dict.fromkeys(("evaluate", "model"), f"{__name__}.lab_commands")

"""Gives entries to other programs."""

COMMANDS = {"export": f"{__name__}.export_command"}

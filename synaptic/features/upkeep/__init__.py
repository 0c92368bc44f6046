"""Keeps a home in good order: writes backups."""

COMMANDS = {"backup": f"{__name__}.backup_command"}

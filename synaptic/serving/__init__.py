"""Shared by servers and commands: a server's threads, tokens, arguments, the user's editor."""

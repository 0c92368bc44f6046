"""Shared by servers and commands: the threads of a server, tokens, arguments, and the user's editor."""

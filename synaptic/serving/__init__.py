"""Shared by the surfaces: the thread of a server, tokens, arguments, and the user's editor."""

"""Shared by servers and commands: a server's threads and processes, tokens, arguments, the
user's editor.
"""

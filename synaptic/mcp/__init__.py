"""The MCP server: tools, resources and prompts over stdio, for agents.

`server.py` is where to begin: it speaks the protocol and hands each call to `worker`, which
owns the `Workspace`. Over stdio `front.py` answers first, while `server` is imported.
`tools.py` holds the schemas, `answers.py` calls the verbs.
"""

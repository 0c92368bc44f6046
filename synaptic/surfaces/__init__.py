"""How people and programs reach the verbs: a terminal, MCP, hooks, and the setup of clients.

`cli/main.py` and `mcp/server.py` are where to begin. Each folder translates requests and
answers only. `present.py` renders entries as fenced Markdown, `wire.py` as JSON; `arguments.py`
tells filters from other arguments.
"""

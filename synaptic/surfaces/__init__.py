"""The ways to the verbs: a terminal, MCP, hooks, a web page, and the setup of clients.

Begin at `cli/main.py` and `mcp/server.py`. Each folder only translates requests and answers.
`render/` makes text and JSON of results, `serving/` is what several surfaces need to serve.
"""

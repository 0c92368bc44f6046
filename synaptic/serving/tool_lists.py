"""The lists of tools, of which each client of the MCP server gets one.

| list    | tools                               | for clients that                     |
|---------|-------------------------------------|--------------------------------------|
| `whole` | all, with all arguments             | look for a tool when they need one   |
| `short` | five, of which one calls all others | load each tool when a session starts |

`synaptic setup` registers each client with its list: a program gets FLAG, an address HEADER.
The key `tool_list` of config.toml says which; with BY_CLIENT `data/clients.toml` does.
"""

WHOLE, SHORT = "whole", "short"
BY_CLIENT = "by client"
FLAG = "--tool-list"
HEADER = "Synaptic-Tool-List"

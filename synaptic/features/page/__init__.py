"""The page and MCP over HTTP, one program that lives while `synaptic serve` runs.

Begin in `app`: it puts the rooms of the page together, `guard` before all of them.
"""

COMMANDS = dict.fromkeys(("serve", "token"), f"{__name__}.page_commands") | {
    "book": f"{__name__}.book_command"
}

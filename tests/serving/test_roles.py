"""The table of what a server of published journals answers itself."""

from __future__ import annotations

from synaptic.features.page.app import routes
from synaptic.mcp.front import LISTS
from synaptic.mcp.tools import TOOLS as ALL_TOOLS
from synaptic.serving.roles import PAGES, TOOLS


def test_each_tool_and_each_prompt_has_a_role() -> None:
    tools = {tool.name: "reader" if tool.reads else "writer" for tool in ALL_TOOLS}
    prompts = {prompt["name"] for prompt in LISTS["prompts/list"]["prompts"]}
    assert tools.items() <= TOOLS.items()
    assert TOOLS.keys() == tools.keys() | prompts
    assert set(TOOLS.values()) <= {"reader", "writer", "neither"}


def test_each_route_of_the_page_has_a_role() -> None:
    assert {route.path for route in routes(None)} == PAGES.keys()
    assert set(PAGES.values()) == {"reader", "writer", "neither"}


def test_a_page_of_a_reader_changes_nothing() -> None:
    """What a route changes, it changes by POST; only logging in and out is a reader's."""
    for route in routes(None):
        methods = getattr(route, "methods", None) or set()
        if "POST" in methods:
            own = route.path in ("/login", "/logout", "/devices")
            assert (PAGES[route.path] == "reader") == own, route.path

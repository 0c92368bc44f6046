"""The roles: what a server of published journals answers itself."""

from __future__ import annotations

from typing import get_args

import pytest

from synaptic.features.page.routes import PAGES
from synaptic.features.page.site import Page
from synaptic.mcp.prompts import PROMPTS, Prompt
from synaptic.mcp.tools import TOOLS, Tool
from synaptic.serving.roles import Role


@pytest.mark.parametrize("row", (Tool, Prompt, Page))
def test_none_is_declared_without_a_role(row: type[Tool | Prompt | Page]) -> None:
    with pytest.raises(TypeError, match=r"missing .*role"):
        row("/new")  # type: ignore[call-arg]


def test_each_role_is_used_and_known() -> None:
    rows = [*TOOLS, *PROMPTS.values(), *PAGES]
    assert {row.role for row in rows} == set(get_args(Role))


def test_the_pages_of_a_path_have_one_role() -> None:
    paths = {page.path for page in PAGES}
    assert len(paths) == len({(page.path, page.role) for page in PAGES})


def test_a_page_of_a_reader_changes_nothing() -> None:
    """A page changes things by POST; only logging in and out is a reader's."""
    for page in PAGES:
        if "POST" in (page.methods or ()):
            own = page.path in ("/login", "/logout", "/devices")
            assert (page.role == "reader") == own, page.path

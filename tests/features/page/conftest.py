"""One browser for all tests of the page, each of which has windows of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Playwright
from served import browsing, driving


@pytest.fixture(scope="package")
def playwright() -> Iterator[Playwright]:
    with driving() as found:
        yield found


@pytest.fixture(scope="package")
def started_browser(playwright: Playwright) -> Iterator[Browser]:
    with browsing(playwright) as found:
        yield found


@pytest.fixture
def browser(started_browser: Browser) -> Iterator[Browser]:
    yield started_browser
    for context in started_browser.contexts:
        context.close()

"""The real `synaptic serve` for tests, and a real browser to look at it with."""

from __future__ import annotations

import html
import os
import random
import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import axe_playwright_python
import httpx
import pytest
from forks import Forked, shared
from outside import SYNAPTIC, TIMEOUT_S
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Page,
    Playwright,
    expect,
    sync_playwright,
)

CHROMIUM = next(
    filter(
        None,
        map(
            shutil.which,
            ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"),
        ),
    ),
    None,
)
"""The first one has no window to draw, and a page costs half of its processor time."""
FLAGS = (
    "--no-sandbox",
    "--renderer-process-limit=1",  # keeps none in reserve
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP memory.example 127.0.0.1",
)
AXE = next((Path(axe_playwright_python.__file__).parent).rglob("axe.min.js"))
"""The program that looks for what breaks a rule of WCAG."""
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
"""The rules by which it looks."""
UNENCRYPTED = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For clients that never leave http: without it each reads all certificates of the system."""
NO_BROWSER = (
    "NO BROWSER: the page was not tested. "
    "Install chromium (Debian: apt-get install chromium-headless-shell)."
)


@dataclass
class Served:
    """A server that runs. `link` lets one browser in; `client` is one that was let in, and says
    where it comes from.
    """

    url: str
    link: str
    process: subprocess.Popen[bytes] | Forked
    client: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        self.client = httpx.Client(
            base_url=self.url, headers={"Origin": self.url}, timeout=60, verify=UNENCRYPTED
        )

    def shown(
        self, path: str, status: int = 200, *, follow: bool = False, **headers: str
    ) -> str:
        """The page as text with its tags."""
        answer = self.client.get(path, headers=headers, follow_redirects=follow)
        assert answer.status_code == status, answer.text
        return html.unescape(answer.text)

    def csrf(self) -> str:
        """The token of this session's forms."""
        found = re.search(r'name="csrf" value="([^"]+)"', self.client.get("/new").text)
        assert found
        return found[1]

    def post(self, path: str, **fields: str) -> httpx.Response:
        """What a form of the page answers."""
        return self.client.post(path, data={"csrf": self.csrf(), **fields})

    def delete(self, id: str) -> httpx.Response:
        """What the page answers once the question is answered with yes."""
        return self.agree(f"/entry/{id}/delete", self.post(f"/entry/{id}/delete"))

    def agree(self, path: str, question: httpx.Response, **fields: str) -> httpx.Response:
        agreed = re.search(r'name="agreed" value="([^"]+)"', question.text)
        assert question.status_code == 200 and agreed, question.text
        return self.post(path, agreed=html.unescape(agreed[1]), **fields)


def a_port() -> int:
    """A free port below those that systems hand out, so that nobody is given it meanwhile."""
    while True:
        port = random.randrange(20_000, 32_000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


@contextmanager
def served(
    home: Path,
    *words: str,
    log_in: bool = True,
    installed: bool = False,
    first: str = "",
    **environ: str,
) -> Iterator[Served]:
    """`synaptic serve` on this home, with these flags, on a free port; with `log_in` its
    `client` has used the link.

    It is forked, and runs the code `first`, or the command as it is `installed`.
    """
    args = ["--home", str(home), "serve", *words]
    env = {
        name: value for name, value in os.environ.items() if not name.startswith("SYNAPTIC_")
    } | environ
    process: subprocess.Popen[bytes] | Forked
    if installed:
        process = subprocess.Popen(
            [SYNAPTIC, *args],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=home.parent,
            env=env,
        )
    else:
        call = {"args": ["synaptic", *args], "env": env, "folder": str(home.parent)}
        if first:
            call["code"] = f"{first}\nfrom synaptic.cli.main import main\nmain()"
        process = shared().start(call, errors=None)
    try:
        assert process.stdout
        link = re.search(r"http://\S+", process.stdout.readline().decode())
        assert link
        found = Served(link[0].partition("/login")[0], link[0], process)
        if log_in:
            found.client.get(found.link)
        yield found
    finally:
        process.terminate()
        process.wait(TIMEOUT_S)


@contextmanager
def driving() -> Iterator[Playwright]:
    """What starts browsers; without one the test is skipped, or fails where one is needed."""
    expect.set_options(timeout=TIMEOUT_S * 1_000)
    if CHROMIUM is None:
        (pytest.fail if os.environ.get("SYNAPTIC_NEED_BROWSER") else pytest.skip)(NO_BROWSER)
    with sync_playwright() as playwright:
        yield playwright


@contextmanager
def browsing(playwright: Playwright) -> Iterator[Browser]:
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
    yield browser
    browser.close()


KEPT_DRAFTS = """async () => {
    if (!(await indexedDB.databases()).some((one) => one.name === "drafts")) return [];
    const result = (asking) => new Promise((done) => {
        asking.onsuccess = () => done(asking.result);
    });
    const database = await result(indexedDB.open("drafts"));
    const names = await result(database.transaction("drafts").objectStore("drafts").getAllKeys());
    database.close();
    return names;
}"""


def kept_drafts(page: Page) -> list[str]:
    """The names of the drafts that the browser keeps for the address of a page, sorted."""
    return sorted(page.evaluate(KEPT_DRAFTS))


def logged_in(browser: Browser, server: Served, **options: object) -> BrowserContext:
    """A context of the browser with the session of `server.client`."""
    spoken = {"locale": "en-GB", **options}
    context = browser.new_context(base_url=server.url, **spoken)  # type: ignore[arg-type]
    let_in(context, server)
    return context


def let_in(context: BrowserContext, server: Served) -> None:
    """Gives a browser the session of `server.client`."""
    context.add_cookies(
        [
            {"name": name, "value": value, "url": server.url}
            for name, value in server.client.cookies.items()
        ]
    )


@contextmanager
def served_to_token(home: Path, **environ: str) -> Iterator[Served]:
    """The server, with a client that a token let in, who may write and is not the owner."""
    token = "a-token-of-somebody-else-0123456789"
    tokens = home / "page-tokens.toml"
    tokens.write_text(f'[ida]\ntoken = "{token}"\npage = true\n')
    tokens.chmod(0o600)
    with served(home, "--token-file", str(tokens), log_in=False, **environ) as server:
        assert server.client.post("/login", data={"token": token}).status_code == 303
        yield server

"""`serve --phone`: a code that lets one phone in, once, and the key by which it comes back."""

from __future__ import annotations

import os
import pty
import re
import stat
import subprocess
from pathlib import Path

import httpx
import pytest
from forks import forked
from homes import open_home
from outside import SYNAPTIC, TIMEOUT_S
from playwright.sync_api import Browser, expect
from served import UNENCRYPTED, Served, a_port, logged_in, served

from synaptic.errors import InvalidArgument
from synaptic.features.page import phone_code, phones
from synaptic.features.page.devices import Devices
from synaptic.features.page.phone_code import CODE_S, PhoneCode
from synaptic.verbs.saving import save

PHONE = {"User-Agent": "Mozilla/5.0 (Linux; Android 16) Chrome/150 Mobile"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with open_home(tmp_path / "home") as ws:
        save(ws, "We chose SQLite.", title="Caching")
    return tmp_path / "home"


@pytest.fixture
def address() -> str:
    """An address of this machine in a network."""
    found = next(phones._own_addresses(), "")
    if not found:
        pytest.skip("NO NETWORK: this machine has no address but its own")
    return found


def new_code(server: Served) -> str:
    """The code that the page of the computer shows."""
    shown = server.post("/phone").text
    assert "<svg" in shown and "could read it" in shown
    match = re.search(r"/login#phone=([\w-]+)", shown)
    assert match
    return match[1]


def let_in(url: str, code: str) -> httpx.Response:
    headers = {"Origin": url, "X-Synaptic-Phone": code} | PHONE
    return httpx.post(f"{url}/login", headers=headers, timeout=60, verify=UNENCRYPTED)


def come_back(url: str, secret: str, cookies: dict[str, str]) -> httpx.Response:
    headers = {"Origin": url, "X-Synaptic-Device": secret} | PHONE
    return httpx.post(
        f"{url}/login", headers=headers, cookies=cookies, timeout=60, verify=UNENCRYPTED
    )


def test_a_code_lets_one_phone_in_which_comes_back_until_it_is_logged_out(
    home: Path, address: str
) -> None:
    port = str(a_port())
    flags = ("--phone", "--host", address, "--port", port)
    with served(home, *flags) as server:
        url = server.url
        assert address in url and server.process.stdout
        printed = [server.process.stdout.readline().decode() for _ in range(3)]
        assert "works once, for five minutes" in "".join(printed)
        first = new_code(server)
        code = new_code(server)
        assert let_in(url, first).status_code == 401  # another was made
        answer = let_in(url, code)
        assert answer.status_code == 200 and code not in str(answer.headers)
        assert let_in(url, code).status_code == 401
        cookies, secret = dict(answer.cookies), answer.json()["secret"]
        phone = httpx.Client(base_url=url, cookies=cookies, headers={"Origin": url}, timeout=60)
        assert "Chrome" in phone.get("/devices").text
        form = re.search(r'name="csrf" value="([^"]+)"', phone.get("/new").text)
        assert form
        saved = phone.post("/new", data={"csrf": form[1], "content": "From the phone."})
        assert saved.status_code == 303
        # it makes no code for another one
        refused = phone.post("/phone", data={"csrf": form[1]})
        assert refused.status_code == 403 and "#phone" not in refused.text
        file = home / ".state" / "devices.json"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert secret not in file.read_text() and code not in file.read_text()
        assert come_back(url, secret, {}).status_code == 401
    with served(home, "--port", port, log_in=False) as local:  # only at servers for phones
        assert come_back(local.url, secret, cookies).status_code == 401
    with served(home, *flags) as server:
        answer = come_back(url, secret, cookies)
        assert answer.status_code == 200
        session = {name: text for name, text in answer.cookies.items() if "device" not in name}
        assert "From the" in httpx.get(f"{url}/search?q=phone", cookies=session).text
        [device] = Devices(home).read().values()
        server.post("/devices", gone=device.id)
        assert httpx.get(url, cookies=session).status_code == 303
        assert come_back(url, answer.json()["secret"], dict(answer.cookies)).status_code == 401
        for _ in range(5):
            assert let_in(url, "wrong").status_code == 401
        assert let_in(url, "wrong").status_code == 429
        assert let_in(url, new_code(server)).status_code == 200


def test_a_code_ends_after_five_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    code = PhoneCode("http://192.168.1.20:8765")
    now = phone_code.time.monotonic()
    monkeypatch.setattr(phone_code.time, "monotonic", lambda: now)
    assert not code.redeem("")
    text = code.make_address().partition("#phone=")[2]
    monkeypatch.setattr(phone_code.time, "monotonic", lambda: now + CODE_S + 1)
    assert not code.redeem(text)
    text = code.make_address().partition("#phone=")[2]
    assert not code.redeem(f"{text}x") and code.redeem(text) and not code.redeem(text)


def test_only_an_address_in_numbers_is_served(home: Path, address: str) -> None:
    for host in ("memory.local", "localhost", "0.0.0.0", "::1", "example.org"):
        with pytest.raises(InvalidArgument):
            phones._check_address(host)
    serve = ("--home", str(home), "serve", "--phone")
    asked = forked(*serve)
    assert asked.code == 2 and address in asked.err and "no terminal to ask on" in asked.err
    assert forked(*serve, "--host", "memory.local").code == 2
    proxy = forked(*serve, "--host", address, "--allow-host", "a.example")
    assert proxy.code == 2 and "without a proxy" in proxy.err
    assert forked(*serve, "--install").code == 2


def test_a_person_is_asked_for_the_address_and_sees_the_code(home: Path, address: str) -> None:
    args = [SYNAPTIC, "--home", str(home), "serve", "--phone", "--port", str(a_port())]
    ours, theirs = pty.openpty()
    os.write(ours, b"memory.local\n1\n")
    process = subprocess.Popen(args, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b""
    while b"TLS in front" not in shown and (data := os.read(ours, 65_536)):
        shown += data
    process.terminate()
    process.wait(TIMEOUT_S)
    os.close(ours)
    text = shown.decode()
    assert "no name" in text and f"1  {address}" in text
    assert "\N{UPPER HALF BLOCK}" in text or "\N{LOWER HALF BLOCK}" in text
    assert "could read it" in text and "tailscale serve" in text and "#phone=" in text


def test_a_browser_on_plain_http_is_let_in_by_the_address_and_comes_back(
    browser: Browser, home: Path, address: str
) -> None:
    with served(home, "--phone", "--host", address, "--port", str(a_port())) as server:
        context = browser.new_context()
        page = context.new_page()
        link = f"{server.url}/login#phone={new_code(server)}"
        page.goto(link)
        page.wait_for_url(f"{server.url}/")
        assert not page.evaluate("isSecureContext")
        assert page.evaluate("localStorage.getItem('stay')")
        context.clear_cookies(name=f"synaptic-{httpx.URL(server.url).port}")
        page.goto(f"{server.url}/tasks")
        page.wait_for_url(f"{server.url}/tasks?")
        expect(page.locator("h1").first).to_contain_text("Tasks")
        other = browser.new_context().new_page()
        other.goto(link)
        expect(other.locator("#code")).to_contain_text("used already")
        assert "#" not in other.url
        computer = logged_in(browser, server).new_page()
        computer.goto(f"{server.url}/phone")
        computer.click("text=Show a code")
        expect(computer.locator(".qr svg")).to_be_visible()

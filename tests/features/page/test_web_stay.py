"""A page that stays: browsers that come back, the one-time address, and the service."""

from __future__ import annotations

import configparser
import json
import os
import plistlib
import re
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import httpx
import pytest
from forks import forked, shared
from homes import open_home
from outside import TIMEOUT_S
from playwright.sync_api import BrowserContext, Playwright
from served import CHROMIUM, FLAGS, UNENCRYPTED, Served, a_port, served

from synaptic.features.page import service
from synaptic.features.page.devices import STAY_S, Devices
from synaptic.serving import running
from synaptic.verbs.saving import save

STATIC = Path(service.__file__).with_name("static")
TOKENS = f'[anna]\ntoken = "{"p" * 40}"\npage = true\n'


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with open_home(tmp_path / "home") as ws:
        save(ws, "We chose SQLite.", title="Caching")
    return tmp_path / "home"


@contextmanager
def listening(port: int) -> Iterator[list[str]]:
    """A server of somebody else: the cookies that browsers send it."""
    cookies: list[str] = []

    class Thief(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            cookies.append(self.headers.get("Cookie", ""))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"f" * 64)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Thief)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield cookies
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def returning(playwright: Playwright, folder: Path) -> Iterator[BrowserContext]:
    """A browser that keeps what it has in this folder."""
    context = playwright.chromium.launch_persistent_context(
        folder, executable_path=CHROMIUM, args=list(FLAGS)
    )
    yield context
    context.close()


def come_back(url: str, secret: str, cookies: dict[str, str], **headers: str) -> httpx.Response:
    sent = {"Origin": url, "X-Synaptic-Device": secret}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.post(
        f"{url}/login", headers=sent, cookies=cookies, timeout=60, verify=UNENCRYPTED
    )


def stay(server: Served) -> tuple[str, dict[str, str]]:
    """Both halves of a key that this server gives its client."""
    answer = server.post("/devices")
    return answer.json()["secret"], dict(answer.cookies)


# -- a browser comes back
# -----------------------------------------------------------------------------


def test_a_browser_comes_back_and_its_cookie_alone_opens_nothing(
    home: Path, tmp_path: Path, playwright: Playwright
) -> None:
    port = a_port()
    flags, profile = ("--port", str(port)), tmp_path / "profile"
    with (
        served(home, *flags, log_in=False) as server,
        returning(playwright, profile) as context,
    ):
        page = context.new_page()
        reports: list[str] = []
        page.on("console", lambda said: reports.append(said.text))
        page.goto(server.link)
        assert page.locator("#stay").count() == 0  # it is asked after the first save
        page.get_by_label("Text", exact=True).fill("We sail on Friday.")
        page.get_by_role("button", name="Save").click()
        page.click("text=Stay logged in for 30 days")
        page.get_by_text("This browser stays logged in for 30 days").wait_for()
        first = page.evaluate("localStorage.getItem('stay')")
        page.evaluate("navigator.serviceWorker.ready.then(() => 0)")
        entry = f"{server.url}/day/2026-11-21"
        page.goto(entry)
        assert "We chose SQLite" in page.content()
        assert not [said for said in reports if "Content Security Policy" in said]
    with returning(playwright, profile) as context:
        page = context.new_page()
        page.goto(entry)
        assert page.title() == "Synaptic cannot be reached"
        kept = page.evaluate(
            """async () => {
            const names = await caches.keys();
            const all = await Promise.all(names.map(async (n) => (await caches.open(n)).keys()));
            return all.flat().map((one) => new URL(one.url).pathname);
        }"""
        )
        assert sorted(kept) == ["/offline", "/static/icon.svg", "/static/style.css"]
        other = a_port()
        with served(home, *flags, log_in=False) as server, listening(other) as stolen:
            page.goto(f"http://127.0.0.1:{other}/login")
            cookies = dict(re.findall(r"([^ ;=]+)=([^;]+)", stolen[0]))
            name = f"synaptic-{port}"
            private = sorted(one for one in cookies if "-saved-" not in one)
            assert private == [f"{name}-device", f"{name}-drafts"]
            assert httpx.get(server.url, cookies=cookies).status_code == 303
            for secret in ("", "x", first[:-1], cookies[f"synaptic-{port}-device"]):
                assert come_back(server.url, secret, cookies).status_code == 401
            assert come_back(server.url, first, {}).status_code == 401
            page.goto(f"{entry}?a=b%20c")
            page.wait_for_url(f"{entry}?a=b%20c")
            assert "We chose SQLite" in page.content()
            # each login gives both halves anew
            assert page.evaluate("localStorage.getItem('stay')") != first
            assert come_back(server.url, first, cookies).status_code == 401
            page.click("text=More")
            page.click("text=Log out")
            page.wait_for_url(f"{server.url}/login")
            left = """async () => [localStorage.length, (await caches.keys()).length,
                (await navigator.serviceWorker.getRegistrations()).length]"""
            assert page.evaluate(left) == [0, 0, 0]
            assert Devices(home).read() == {}


def test_nothing_hidden_is_seen_before_the_scripts_are_there(
    home: Path, tmp_path: Path, playwright: Playwright
) -> None:
    with (
        served(home, "--port", str(a_port()), log_in=False) as server,
        returning(playwright, tmp_path / "profile") as context,
    ):
        context.route("**/*.js", lambda route: route.abort())
        page = context.new_page()
        page.goto(server.link)
        page.get_by_label("Text", exact=True).fill("We sail on Friday.")
        page.get_by_role("button", name="Save").click()
        page.locator("#stay").wait_for(state="attached")
        shown = page.locator("[hidden]:visible")
        for address in ("", "/tasks", "/search?q=sail", "/new", "/devices"):
            if address:
                page.goto(f"{server.url}{address}")
            assert page.locator("[hidden]").count() and not shown.count(), address


def test_a_key_opens_the_page_at_this_machine_until_it_is_revoked(home: Path) -> None:
    with served(home, "--port", str(a_port()), log_in=False) as server:
        assert server.client.get(server.link).headers["location"] == "/"
        (secret, cookies), (other, others) = stay(server), stay(server)
        assert come_back(server.url, secret, cookies).status_code == 401  # one for a session
        for name, value in (
            ("Via", "1.1 a"),
            ("X_Forwarded_For", "10.0.0.1"),
            ("Forwarded", "for=a"),
        ):
            assert come_back(server.url, other, others, **{name: value}).status_code == 401
        answer = come_back(server.url, other, others)
        assert answer.status_code == 200
        set_cookies = answer.headers.get_list("set-cookie")
        assert all("HttpOnly" in one and "SameSite=strict" in one for one in set_cookies)
        session = {
            name: value for name, value in answer.cookies.items() if "device" not in name
        }
        assert httpx.get(server.url, cookies=session).status_code == 200
        file = home / ".state" / "devices.json"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        kept = file.read_text()
        halves = [secret, other, *cookies.values(), *others.values(), *answer.cookies.values()]
        assert not [half for half in [*halves, answer.json()["secret"]] if half in kept]
        refused = forked("--home", str(home), "serve", "--revoke", "Netscape")
        assert refused.code == 2 and "Valid: A browser, all" in refused.err
        gone = forked("--home", str(home), "serve", "--revoke", "A browser")
        assert gone.out == "Browsers logged out: 1\n"
        assert httpx.get(server.url, cookies=session).status_code == 303
        now = dict(answer.cookies)
        assert come_back(server.url, answer.json()["secret"], now).status_code == 401
        file.write_text("no json")
        assert come_back(server.url, answer.json()["secret"], now).status_code == 401
        assert forked("--home", str(home), "serve", "--revoke", "all").out.endswith(": 0\n")


def test_a_key_ends_after_thirty_days(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    devices = Devices(home)
    device, _ = devices.add("Firefox")
    then = time.time() + STAY_S
    monkeypatch.setattr(time, "time", lambda: then - 60)
    assert device.id in devices.read()
    monkeypatch.setattr(time, "time", lambda: then + 60)
    assert not devices.read()


def test_a_file_of_another_machine_lets_nobody_in(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the home is kept in git, and a peer adds his browser, or changes ours."""
    devices = Devices(home)
    ours, _ = devices.add("Firefox", grant="of a token")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "theirs"))
    theirs, key = Devices(tmp_path / "peer").add("Chrome")
    monkeypatch.undo()
    rows = json.loads(devices.path.read_text())
    forged = [row | {"grant": ""} for row in rows]
    for more in (json.loads((tmp_path / "peer/.state/devices.json").read_text()), forged):
        devices.path.write_text(json.dumps([*rows, *more]))
        assert devices.read() == {ours.id: ours}
        assert devices.renew(key, lambda _: True) is None
    assert theirs.id not in devices.read()


@pytest.mark.parametrize("flags", ["free port", "read-only", "proxy"])
def test_nobody_stays_elsewhere(home: Path, flags: str) -> None:
    tokens = home / "tokens.toml"
    tokens.touch(0o600)
    tokens.write_text(TOKENS)
    words = [] if flags == "free port" else ["--port", str(a_port())]
    if flags == "read-only":
        words.append("--read-only")
    if flags == "proxy":
        words += ["--allow-host", "memory.example", "--token-file", str(tokens)]
    with served(home, *words, log_in=False) as server:
        let_in = server.client.get(server.link)
        assert let_in.headers["location"] == "/"
        csrf = re.search(r'name="csrf" value="([^"]+)"', server.client.get("/").text)
        assert csrf
        refused = server.client.post("/devices", data={"csrf": csrf[1]})
        assert refused.status_code == 403 and "secret" not in refused.text
        assert not (home / ".state" / "devices.json").exists()


def test_a_page_token_keeps_a_browser_logged_in_while_it_has_its_rights(home: Path) -> None:
    tokens = home / "tokens.toml"
    tokens.touch(0o600)
    both = f'{TOKENS}\n[bea]\ntoken = "{"q" * 40}"\npage = true\n'
    tokens.write_text(both)
    host = ("--allow-host", "memory.example", "--token-file", str(tokens))
    flags = ("--port", str(a_port()), *host)
    keys = {}
    with served(home, *flags, log_in=False) as server:
        for name, token in (("anna", "p" * 40), ("bea", "q" * 40)):
            server.client.cookies.clear()
            server.client.post("/login", data={"token": token})
            keys[name] = stay(server)
        shown = server.client.get("/devices").text
        assert shown.count("Log out A browser") == 1  # bea sees her own
        anna = next(one.id for one in Devices(home).read().values())
        server.post("/devices", gone=anna)
        assert anna in Devices(home).read()
    with served(home, *flags, log_in=False) as server:
        secret, cookies = keys["anna"]
        answer = come_back(server.url, secret, cookies, Via="1.1 proxy")
        assert answer.status_code == 200
        session = {name: text for name, text in answer.cookies.items() if "device" not in name}
        assert httpx.get(server.url, cookies=session).status_code == 200
        tokens.write_text(both.replace("page = true", "page = true\nread-only = true", 1))
        assert httpx.get(server.url, cookies=session).status_code == 303
        again = come_back(server.url, answer.json()["secret"], dict(answer.cookies))
        assert again.status_code == 401
        tokens.write_text(TOKENS)
        assert come_back(server.url, *keys["bea"]).status_code == 401


# -- the one-time address
# -----------------------------------------------------------------------------


def open_page(home: Path, tmp_path: Path) -> tuple[int, str, str]:
    """Status, errors, and the address at which the browser was opened."""
    shown = tmp_path / "shown"
    program = tmp_path / "browser.sh"
    program.write_text(f'#!/bin/sh\nprintf %s "$1" > {shown}\n')
    program.chmod(0o700)
    env = {**os.environ, "BROWSER": f"{program} %s"}
    answer = forked("--home", str(home), "open", "--page", env=env)
    return answer.code, answer.err, shown.read_text() if shown.exists() else ""


def test_the_page_opens_once_by_an_address_of_this_home(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = a_port()
    none = open_page(home, tmp_path)
    assert none[0] == 1 and "synaptic serve" in none[1]
    with served(home, "--port", str(port), "--no-link", log_in=False) as server:
        assert "token" not in server.link
        assert server.client.get("/login").status_code == 200  # it serves, so it is announced
        file = home / ".state" / f"page-{port}.json"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        code, _, address = open_page(home, tmp_path)
        assert code == 0 and address.startswith(f"{server.url}/login?token=")
        assert [httpx.get(address).status_code for _ in range(2)] == [303, 401]
        known = running.RunningServer(*json.loads(file.read_text()))
        token = known.one_time_token()
        assert known.accepts(token)
        soon, late = time.time() + running.VALID_S - 2, time.time() + running.VALID_S + 2
        monkeypatch.setattr(time, "time", lambda: soon)
        assert known.accepts(token)
        monkeypatch.setattr(time, "time", lambda: late)
        assert not known.accepts(token)
        monkeypatch.undo()
        # what signs that a server listens opens nothing
        text = token.rpartition(".")[0]
        signed = httpx.get(f"{server.url}/login?sign={text}").text
        for wrong in (signed, f"{text}.{signed}", "", ".", "1.2.3", "\u00e9.x"):
            assert httpx.get(f"{server.url}/login", params={"token": wrong}).status_code in (
                200,
                401,
            )
            assert not known.accepts(wrong)
        server.process.send_signal(signal.SIGKILL)
        server.process.wait(TIMEOUT_S)
    (tmp_path / "shown").unlink()
    with listening(port) as asked:  # another program has the port now
        code, told, address = open_page(home, tmp_path)
        assert (code, address, len(asked)) == (
            1,
            "",
            1,
        ) and "No `synaptic serve` for this home" in told


# -- the service
# -----------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it would begin a real one")
def test_installing_says_what_it_wrote_and_what_is_next(home: Path, tmp_path: Path) -> None:
    config = tmp_path / "config of systemd"
    env = {**os.environ, "XDG_CONFIG_HOME": str(config), "XDG_RUNTIME_DIR": str(tmp_path)}
    env.pop("DBUS_SESSION_BUS_ADDRESS", None)
    port = a_port()
    serve = ("--home", str(home), "serve")
    with listening(port):
        taken = forked(*serve, "--install", "--port", str(port), env=env)
    assert taken.code == 2 and f"uses the port {port}" in taken.err
    refused = forked(*serve, "--install", "--allow-host", "a.example", env=env)
    assert refused.code == 2 and "--port and --read-only" in refused.err
    bare = forked(*serve, "--install", env={**env, "PATH": str(tmp_path)})
    assert bare.code == 1 and "synaptic serve --no-link" in bare.err
    assert not config.exists() and not (home / "config.toml").exists()
    if not shutil.which("systemctl"):
        return
    file = config / "systemd" / "user" / service.find_service(home).file.name
    port, other = a_port(), a_port()
    args = ["synaptic", *serve, "--install", "--port", str(port)]
    call = {"args": args, "env": env, "folder": str(tmp_path)}
    with listening(port):
        asked = shared().at_terminal(call, b"99999\n0\n%d\n" % other)
    assert "Which other" in asked.out and f"Wrote {file}" in asked.out
    # nobody is logged in here whom systemd would serve
    assert asked.code == 1 and "Log in on this machine" in asked.out
    assert (home / "config.toml").read_text() == f"port = {other}\n"
    with served(home, log_in=False) as server:  # it has the port now
        assert server.url.endswith(f":{other}")
        again = forked(*serve, "--install", env=env)
        assert f"Wrote {file}" in again.out and "Another program uses" not in again.err
    gone = forked(*serve, "--uninstall", env=env)
    assert f"Removed {file}" in gone.out and not file.exists()
    assert "No service is installed for this home" in forked(*serve, "--uninstall", env=env).err


@pytest.mark.slow
def test_the_unit_and_the_agent_start_the_page(home: Path, tmp_path: Path) -> None:
    port = a_port()
    (home / "config.toml").write_text(f"port = {port}\n")
    words = [sys.executable, "-m", "synaptic", "--home", str(home), "serve", "--no-link"]
    agent = plistlib.loads(service.render_launchd_agent("org.synaptic", words))
    assert agent["ProgramArguments"] == words and agent["RunAtLoad"]
    odd = ["/bin/echo", "a b", '"', "50%", "$HOME", "\\"]
    unit = tmp_path / "synaptic.service"
    unit.write_bytes(service.render_systemd_unit("synaptic", odd))
    if verify := shutil.which("systemd-analyze"):
        checked = subprocess.run(
            [verify, "--user", "verify", unit], capture_output=True, text=True
        )
        assert unit.name not in checked.stderr
    assert r'"a b" "\"" "50%%" "$$HOME" "\\"' in unit.read_text()
    unit.write_bytes(service.render_systemd_unit("synaptic", words))
    parsed = configparser.RawConfigParser(delimiters=["="])
    parsed.read(unit)
    command = shlex.split(parsed["Service"]["ExecStart"])
    assert command == words
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        said = process.stdout.readline()
        assert f"http://127.0.0.1:{port}\n" in said and "token" not in said
        assert httpx.get(f"http://127.0.0.1:{port}/login", timeout=60).status_code == 200
        assert running.find_running_server(home).url.endswith(f":{port}")
        process.terminate()
    assert not list((home / ".state").glob("page-*"))


def test_the_manifest_names_icons_that_there_are() -> None:
    manifest = json.loads((STATIC / "app.webmanifest").read_text())
    for icon in manifest["icons"]:
        data = (STATIC / Path(icon["src"]).name).read_bytes()
        if icon["type"] == "image/png":
            size = int.from_bytes(data[16:20], "big")
            assert icon["sizes"] == f"{size}x{size}"
    scripts = [(STATIC / name).read_text() for name in ("stay.js", "sw.js")]
    assert sum(map(len, scripts)) <= 3_072
    assert max(len(line) for text in scripts for line in text.splitlines()) <= 96


def test_a_save_after_a_restart_logs_in_and_is_sent_by_itself(
    home: Path, tmp_path: Path, playwright: Playwright
) -> None:
    flags = ("--port", str(a_port()))
    with returning(playwright, tmp_path / "profile") as context:
        page = context.new_page()
        with served(home, *flags, log_in=False) as server:
            page.goto(server.link)
            page.goto(f"{server.url}/devices")
            page.click("text=Stay logged in for 30 days")
            page.get_by_text("This browser stays logged in for 30 days").wait_for()
            page.goto(f"{server.url}/new?date=2026-11-20")
            page.locator(".box textarea").fill("We sail on Friday.")
            page.get_by_text("Draft kept in this browser").wait_for()
        page.get_by_role("button", name="Save").click()
        page.get_by_role("alert").wait_for()
        with served(home, *flags, log_in=False):  # whose sessions are new
            page.get_by_role("status").filter(has_text="Saved").wait_for()
    text = (home / "journal" / "2026-11-20.md").read_text("utf-8")
    assert text.count("We sail on Friday.") == 1

"""Who may ask the page for what, and what notes of strangers can do there: nothing."""

from __future__ import annotations

import html
import json
import os
import re
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote, urlsplit

import httpx
import pytest
from homes import Clock, open_home
from playwright.sync_api import Browser, Page
from served import UNENCRYPTED, Served, logged_in, served
from trials import drawn

from synaptic.errors import SynapticError
from synaptic.features.page import guard, rendering
from synaptic.features.page.flavours import LEVELS
from synaptic.features.page.rendering import (
    ATTRIBUTES,
    CLASSES,
    MATH_ATTRIBUTES,
    MATH_TAGS,
    RICH_CHARS,
    TAGS,
    render_markdown,
)
from synaptic.features.page.routes import PAGES
from synaptic.notes.picture_kinds import PICTURE_BYTES
from synaptic.verbs.saving import Marks, save, save_all

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src "
    "'self'; manifest-src 'self'; worker-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
PNG = b"\x89PNG\r\n\x1a\n" + bytes(24)
PAGE_TOKEN, READER_TOKEN, AGENT_TOKEN = ("p" * 40, "r" * 40, "a" * 40)
TOKENS = f"""
[anna]
token = "{PAGE_TOKEN}"
page = true
[reader]
token = "{READER_TOKEN}"
page = true
read-only = true
[agent]
token = "{AGENT_TOKEN}"
"""
XSS: dict[str, list[str]] = json.loads(
    (Path(__file__).parents[2] / "data" / "xss.json").read_text()
)
CASES = [case for kind, cases in XSS.items() for case in drawn(kind, cases, 3)]
A_DAY = 60
"""Cases of a page."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("safe") / "home"
    with open_home(home) as ws:
        save(ws, "# Caching\n\nWe chose SQLite.", title="Caching")
    tokens = home / "tokens.toml"
    tokens.touch(0o600)
    tokens.write_text(TOKENS)
    return home


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Served]:
    with served(home, SYNAPTIC_NOW="2026-11-21T10:00") as found:
        yield found


def ask(
    server: Served, method: str, path: str, *, session: bool = True, **headers: str
) -> httpx.Response:
    """An answer without following, to a request that says no more than these headers."""
    cookies = dict(server.client.cookies) if session else {}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.request(
        method,
        server.url + path,
        headers=named,
        cookies=cookies,
        timeout=60,
        verify=UNENCRYPTED,
    )


# -- who is let in
# ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    ["/", "/entry/x", "/search?q=x", "/picture?name=x", "/to?name=x", "/static", "/mcp/"],
)
def test_a_page_needs_a_session(server: Served, path: str) -> None:
    for headers in (
        {},
        {"Authorization": f"Bearer {AGENT_TOKEN}"},
        {"Authorization": f"Bearer {PAGE_TOKEN}"},
    ):
        answer = ask(server, "GET", path, session=False, **headers)
        assert (answer.status_code, answer.headers["location"]) == (303, "/login")
    part = ask(server, "GET", path, session=False, hx_request="true")
    leaves = "/login" if path.startswith("/search") else None
    assert (part.status_code, part.headers.get("hx-redirect")) == (401, leaves)
    assert ask(server, "DELETE", path, session=False, origin=server.url).status_code == 401


def test_neither_the_cookie_nor_the_token_of_a_page_opens_mcp(server: Served) -> None:
    for headers in ({}, {"Authorization": f"Bearer {AGENT_TOKEN[1:]}"}):
        assert ask(server, "POST", "/mcp", **headers).status_code == 401
    assert ask(server, "POST", "/mcp", Authorization=f"Bearer {PAGE_TOKEN}").status_code == 403
    assert ask(
        server, "POST", "/mcp", session=False, Authorization=f"Bearer {AGENT_TOKEN}"
    ).status_code not in (401, 403)


def test_a_link_lets_one_browser_in(home: Path) -> None:
    with served(home) as server, served(home) as other, ThreadPoolExecutor(8) as pool:
        used = httpx.get(server.link)
        assert used.status_code == 401 and "was used already" in used.text
        assert "synaptic today --page</code>" in used.text and "`" not in used.text
        link = f"{server.url}/login?token={'x' * 43}"
        assert {
            httpx.get(link).status_code,
            httpx.get(f"{server.url}/login?token=%C3%A9%FF").status_code,
        } == {401}
        answers = list(
            pool.map(lambda _: httpx.get(other.link, verify=UNENCRYPTED).status_code, range(8))
        )
        assert answers == [401] * 8  # `served` has used it
        # two servers in one browser: a cookie each
        assert set(server.client.cookies).isdisjoint(other.client.cookies)
        cookies = dict(server.client.cookies) | dict(other.client.cookies)
        assert [
            httpx.get(each.url, cookies=cookies).status_code for each in (server, other)
        ] == [200, 200]


def test_a_link_works_once_in_a_race_and_not_for_previews(home: Path) -> None:
    with served(home, log_in=False) as server, ThreadPoolExecutor(8) as pool:
        assert httpx.head(server.link).status_code == 200
        answers = list(pool.map(lambda _: httpx.get(server.link, verify=UNENCRYPTED), range(8)))
        assert sorted(answer.status_code for answer in answers) == [303] + [401] * 7
        [let_in] = [answer for answer in answers if answer.status_code == 303]
        assert (let_in.headers["location"], let_in.headers["referrer-policy"]) == (
            "/",
            "no-referrer",
        )
        cookie = let_in.headers["set-cookie"]
        assert "HttpOnly" in cookie and "SameSite=strict" in cookie and "Secure" not in cookie


def test_a_token_logs_in_until_it_is_taken_out(server: Served, home: Path) -> None:
    def log_in(token: str, **headers: str) -> httpx.Response:
        return httpx.post(
            f"{server.url}/login",
            data={"token": token},
            headers={"Origin": server.url, **headers},
            verify=UNENCRYPTED,
        )

    cookies = dict(log_in(READER_TOKEN).cookies)
    assert "read-only" in httpx.get(server.url, cookies=cookies).text
    refused = httpx.post(
        f"{server.url}/entry/x/delete", headers={"Origin": server.url}, cookies=cookies
    )
    assert refused.status_code == 403 and "read-only" in refused.text
    tokens = home / "tokens.toml"
    tokens.write_text(TOKENS.replace(READER_TOKEN, "s" * 40))
    assert httpx.get(server.url, cookies=cookies).status_code == 303
    tokens.write_text(f'[anna]\ntokn = "{PAGE_TOKEN}"\n')
    broken = log_in(PAGE_TOKEN)
    assert (
        broken.status_code == 401
        and PAGE_TOKEN not in broken.text
        and str(home) not in broken.text
    )
    tokens.write_text(TOKENS)


@pytest.mark.parametrize("behind_proxy", [False, True])
def test_wrong_tokens_are_counted_by_the_address_that_sent_them(
    home: Path, behind_proxy: bool
) -> None:
    flags = ("--allow-host", "memory.example", "--token-file", str(home / "tokens.toml"))
    with served(home, *flags if behind_proxy else ()) as server, ThreadPoolExecutor(8) as pool:

        def log_in(token: str, address: str = "10.1.1.1") -> httpx.Response:
            headers = {
                "Origin": server.url,
                "X-Forwarded-For": address,
                "X-Forwarded-Proto": "https",
            }
            return httpx.post(
                f"{server.url}/login",
                data={"token": token},
                headers=headers,
                verify=UNENCRYPTED,
            )

        let_in = log_in(PAGE_TOKEN)
        assert (
            let_in.status_code == 303
            and ("Secure" in let_in.headers["set-cookie"]) == behind_proxy
        )
        # without a proxy an invented address is no address: they are all of one
        wrong = [f"10.1.{number}.1" if not behind_proxy else "10.1.1.1" for number in range(20)]
        answers = list(pool.map(lambda address: log_in("wrong", address), wrong))
        assert sorted(answer.status_code for answer in answers) == [401] * guard.TRIES + [
            429
        ] * (20 - guard.TRIES)
        # a right one is let in, also from that address, and makes no room for wrong ones
        assert log_in(PAGE_TOKEN).status_code == 303
        other = log_in("wrong", "10.1.1.2")
        assert [log_in("wrong").status_code, other.status_code] == [
            429,
            401 if behind_proxy else 429,
        ]
        assert log_in(PAGE_TOKEN, "10.1.1.2").status_code == 303


def test_sessions_end_and_wrong_tokens_take_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000.0
    monkeypatch.setattr(guard.time, "monotonic", lambda: now)
    sessions = guard.Sessions()
    cookie = sessions.begin(guard.Visitor("anna", read_only=False))
    now += guard.IDLE_S - 1
    assert sessions.find_visitor(cookie)
    now += guard.IDLE_S - 1
    assert sessions.find_visitor(cookie)
    now += guard.IDLE_S
    assert sessions.find_visitor(cookie) is None
    for number in range(2 * guard.ADDRESSES):
        if sessions.may_try(f"{number}"):
            sessions.count_failed_try(f"{number}")
    assert len(sessions._wrong) == guard.ADDRESSES
    now += guard.WITHIN_S + 1
    assert sessions.may_try("one more")


# -- where a request comes from
# ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host, known",
    [
        ("127.0.0.1", True),
        ("LocalHost:{port}", True),
        ("[::1]:{port}", True),
        *(
            (host, False)
            for host in (
                "evil.example",
                "127.0.0.1.evil.example",
                "evil.example:{port}",
                "localhost.",
            )
        ),
        *(
            (host, False)
            for host in (
                "[::1",
                "a@localhost",
                "localhost:x",
                "127.1",
                "0x7f.1",
                "[::2]",
                "localhost/a",
                "",
            )
        ),
    ],
)
def test_only_known_hosts_are_answered(server: Served, host: str, known: bool) -> None:
    named = host.format(port=urlsplit(server.url).port)
    for path in ("/login", "/static/style.css"):
        assert ask(server, "GET", path, Host=named).status_code == (200 if known else 421)


@pytest.mark.parametrize("path", ["/", "/login", "/mcp", "/static/style.css"])
@pytest.mark.parametrize(
    "origin",
    ["null", "http://evil.example", "http://127.0.0.1", "http://localhost:{port}", "x"],
)
def test_another_origin_is_refused(server: Served, path: str, origin: str) -> None:
    named = origin.format(port=urlsplit(server.url).port)
    for method in ("GET", "POST"):
        assert ask(server, method, path, Origin=named).status_code == 403


def test_each_change_needs_an_origin_and_the_token_of_the_form(server: Served) -> None:
    changing = {page.path for page in PAGES if "POST" in (page.methods or ())}
    changes = changing - {"/login"}
    assert "/entry/{id}/delete" in changes
    for path in changes:
        place = path.replace("{id}", "x").replace("{key}", "x").replace("{answer}", "keep")
        assert ask(server, "POST", place).status_code == 403, path
        assert ask(server, "POST", place, Sec_Fetch_Site="same-site").status_code == 403, path
        for said in (b"", b"csrf=", b"csrf=%C3%A9", b"csrf=x&csrf=y"):
            form = {"Origin": server.url, "Content-Type": "application/x-www-form-urlencoded"}
            answer = server.client.post(place, content=said, headers=form)
            assert (
                answer.status_code == 403
                and "not from the present browser session" in answer.text
            ), path
    for method in ("PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"):
        assert {
            ask(server, method, path, Origin=server.url).status_code
            for path in ("/", "/login", "/to")
        } == {405}


def test_each_answer_says_what_a_browser_may_load(server: Served) -> None:
    paths = [
        "/",
        "/login",
        "/nothing",
        "/entry/x",
        "/static/style.css",
        "/static/none",
        "/static/../app.py",
        "/mcp",
    ]
    answers = [
        ask(server, "GET", path)
        for path in (*paths, "/static/%2e%2e/guard.py", "/picture?name=x", "/to?name=x")
    ]
    answers += [
        ask(server, "GET", "/", Host="evil.example"),
        ask(server, "GET", "/", session=False),
    ]
    answers += [ask(server, "POST", "/logout"), ask(server, "PUT", "/", Origin=server.url)]
    for answer in answers:
        assert answer.headers["content-security-policy"] == CSP
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == (
            "no-cache" if "/static/" in str(answer.url) else "no-store"
        )
        assert "def " not in answer.text


def test_a_form_has_its_size(server: Served) -> None:
    def post(path: str, parts: Iterator[bytes]) -> httpx.Response:
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Origin": server.url}
        return server.client.post(path, content=parts, headers=headers)

    some = b"x" * 1_000_000
    assert post("/logout", iter([b"content=", *[some] * 17])).status_code == 413
    assert post("/login", iter([b"token=", some])).status_code == 413
    assert (
        post("/logout", iter([b"content=", *[some] * 3])).status_code == 403
    )  # read whole: it lacks the form's token
    assert post("/logout", iter([b"a&" * 100_000])).status_code == 400


# -- what of the disk is sent
# -----------------------------------------------------------------------------


def test_pictures_lie_in_the_journal(tmp_path: Path) -> None:
    home, vault = tmp_path / "home", tmp_path / "home" / "journal"
    for folder in ("notes/art", "attachments", "twice/a", "twice/b", ".hidden"):
        (vault / folder).mkdir(parents=True)
    kinds = {
        "a.png": PNG,
        "b.jpg": b"\xff\xd8\xff\xe0" + bytes(9),
        "c.gif": b"GIF89a" + bytes(9),
    }
    kinds |= {
        "d.webp": b"RIFF\0\0\0\0WEBPVP8 ",
        "e.avif": b"\0\0\0\x1cftypavif\0\0",
        "f g.png": PNG,
        "100%25.png": PNG,
    }
    for name, data in kinds.items():
        (vault / "notes" / "art" / name).write_bytes(data)
    for place in (
        "attachments/far.png",
        "twice/a/same.png",
        "twice/b/same.png",
        ".hidden/x.png",
        "../outside.png",
    ):
        (vault / place).write_bytes(PNG)
    for name, text in (
        ("s.svg", "<svg/>"),
        ("h.html", "<p>"),
        ("svg.png", "<svg onload=x>"),
        ("note.png", "# note"),
    ):
        (vault / name).write_text(text)
    (vault / "out.png").symlink_to(tmp_path / "home" / "outside.png")
    (vault / "up").symlink_to(tmp_path)
    (vault / "in.png").symlink_to(vault / "attachments" / "far.png")
    (vault / "loop.png").symlink_to(vault / "loop.png")
    os.mkfifo(vault / "pipe.png")
    with (vault / "huge.png").open("wb") as file:
        file.write(PNG)
        file.truncate(PICTURE_BYTES + 1)
    with socket.socket(socket.AF_UNIX) as listening, served(home) as server:
        listening.bind(str(vault / "s.png"))

        def sent(name: str, path: str = "notes/n.md") -> str | None:
            answer = server.client.get("/picture", params={"name": name, "from": path})
            if answer.status_code == 200:
                assert answer.headers["x-content-type-options"] == "nosniff"
                assert answer.headers["cache-control"] == "private, max-age=300"
                return answer.headers["content-type"]
            assert answer.status_code == 404 and PNG not in answer.content
            return None

        seen = [sent(f"art/{name}") for name in kinds]
        assert seen == [
            f"image/{kind}" for kind in ("png", "jpeg", "gif", "webp", "avif", "png", "png")
        ]
        beside = "art/f%20g.png ./art/../art/a.png notes/art/a.png ../attachments/far.png far.png in.png"
        for name in beside.split():
            assert sent(name) == "image/png", name
        assert (
            sent("art/a.png", "../../n.md")
            == sent("../notes/art/a.png", "twice/n.md")
            == "image/png"
        )
        outside = str(home / "outside.png")
        here = (
            ". .. / art same.png s.svg h.html svg.png note.png huge.png x.png .hidden/x.png "
            "loop.png pipe.png s.png"
        )
        beyond = (
            "../outside.png ../../outside.png ..%2foutside.png out.png up/home/outside.png "
            "..\\outside.png @none/a.png"
        )
        disk = (
            f"{outside} file://{outside} ~/outside.png /dev/zero /proc/self/environ "
            f"//evil.example/a.png"
        )
        for name in (
            "",
            "\0",
            "a\0.png",
            "art/" * 2000,
            "x" * 9000,
            *f"{here} {beyond} {disk}".split(),
        ):
            assert sent(name) is None, name
        for path in (
            "/etc/x",
            "..",
            "../x",
            "\0",
            "up/x.md",
            f"{tmp_path}/home/n.md",
            "@none/x",
        ):
            assert sent("outside.png", path) is None, path


def test_a_link_leads_to_what_it_names(tmp_path: Path) -> None:
    home = tmp_path / "home"
    people = home / "journal" / "people"
    people.mkdir(parents=True)
    (people / "Roger Zelazny.md").write_text("---\naliases: [RZ]\n---\nWrote Amber.\n")
    with open_home(home) as ws:
        receipt = save(ws, "We chose SQLite.", title="The store")
    with served(home, "--read-only", SYNAPTIC_NOW="2026-11-21T10:00") as server:

        def to(name: str, path: str = "2026/x.md") -> str:
            return server.client.get("/to", params={"name": name, "from": path}).headers.get(
                "location", ""
            )

        him = to("Roger Zelazny")
        assert him.startswith("/entry/")
        for name in (
            "roger zelazny#Amber",
            "RZ",
            "../people/Roger%20Zelazny.md",
            "people/Roger Zelazny.md#Amber",
        ):
            assert to(name).partition("#")[0] == him, name
        assert to("RZ#The end") == f"{him}#md-the-end"
        assert to("Roger%20Zelazny.md", "people/y.md") == him
        assert to("the store") == to(receipt.id) == f"/entry/{receipt.id}"
        assert to("2026-11-21") == to("Nov 21st, 2026") == "/day/2026-11-21"
        assert to("2020-02-29") == "/day/2020-02-29"
        for name in (
            "",
            "\0",
            "//evil.example",
            "https://evil.example/",
            "javascript:x",
            "..",
            "2026-13-40",
            "x" * 5000,
        ):
            answer = server.client.get("/to", params={"name": name})
            assert answer.status_code == 404 and "No entry has this name yet" in answer.text
            assert "/new" not in answer.text.partition("<main")[2]


def test_each_link_on_the_page_leads_to_its_note_or_file(tmp_path: Path) -> None:
    home = tmp_path / "home"
    journal = home / "journal"
    journal.mkdir(parents=True)
    (journal / "robots.dex-code.md").write_text("# Dexterous\n\n## The trainer\n\nIt learns.\n")
    (journal / "Tea.md").write_text("# Tea\n\n## Green\n\nWarm.\n")
    (journal / "list.csv").write_text("tea,1\n")
    links = {
        "[[the trainer: Qwen|robots.dex-code#the-trainer]]": "#md-the-trainer",
        "[[robot|dendron://vault/robots.dex-code]]": "",
        "[[robot's code|robots.dex-code]]": "",
        "[[Tea#Green|warm]]": "#md-green",
        "[[Tea|Tea#Green]]": "#md-green",
        "[[list.csv|all]]": None,
        "[[nobody|no.where]]": None,
    }
    with open_home(home) as ws:
        id = save(ws, "\n\n".join(links), title="The list").id
    with served(home, "--read-only") as server:
        hrefs = re.findall(r'href="(/to[^"]+)"', server.shown(f"/entry/{id}"))
        answers = [server.client.get(html.unescape(href)) for href in hrefs]
    assert len(answers) == len(links)
    for (link, part), answer in zip(links.items(), answers, strict=True):
        location = answer.headers.get("location", "")
        if part is not None:
            assert location.startswith("/entry/") and location.endswith(part), link
            assert part or "#" not in location
    assert "tea,1" in answers[5].text
    assert answers[6].status_code == 404 and "nobody" in answers[6].text


# -- what notes can do
# ------------------------------------------------------------------------------------


def test_notes_of_any_depth_and_length_are_shown_soon_and_whole() -> None:
    assert (
        "<h3>" in render_markdown("# One", "")
        and "<h6>" in render_markdown("##### Five", "")
        and "<h1" not in render_markdown("<h1>x</h1>", "")
    )
    nested = "\n".join(f"{'  ' * level}- item{level}" for level in range(LEVELS))
    for text in (
        nested,
        "> " * 2_000 + "end",
        "- " * 2_000 + "end",
        "1. " * 2_000 + "end",
        ">" * RICH_CHARS + "end",
    ):
        shown = render_markdown(text, "x.md")
        assert text.split()[-1].lstrip(">") in shown
    for text in (
        "> " * 10_000 + "[!tip] deep",
        "^[" * 1_000 + "deep",
        "[^1] " * 2_000 + "\n\n[^1]: " + "[^1]" * 2_000 + "deep",
        "$" + "{" * 900 + "}" * 900 + "$ deep",
        "==deep",
    ):
        assert "deep" in render_markdown(text, "x.md")
    for text in ("[" * RICH_CHARS, "<div>" * 20_000, "<b>" * 100_000):
        assert render_markdown(text, "x.md").startswith("<pre>")


def test_a_note_that_takes_too_long_is_shown_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    note = "One *word* and a [link](other.md)"
    assert "<em>word</em>" in render_markdown(note, "x.md")
    monkeypatch.setattr(rendering, "LIMIT_S", -1.0)  # no processor is that fast
    assert render_markdown(note, "x.md") == f"<pre>{note}</pre>"


def test_a_slow_note_keeps_nobody_waiting(tmp_path: Path) -> None:
    with open_home(tmp_path / "home") as ws:
        for number in range(3):
            save(ws, f"{'![' * 10_000} {number}", title="Slow")
    now = Clock().now.isoformat()
    with served(tmp_path / "home", SYNAPTIC_NOW=now) as server, ThreadPoolExecutor(1) as pool:
        days = pool.submit(server.client.get, "/")
        answered = [httpx.get(f"{server.url}/static/style.css").status_code]
        while not days.done():
            answered.append(httpx.get(f"{server.url}/static/style.css").status_code)
        assert len(answered) > 2  # a server that waits would have answered once, at the end
        assert set(answered) == {200} and days.result().status_code == 200


OFFENCES = """([tags, attributes, classes, mathTags, mathAttributes]) => {
  const found = [];
  const attributesOf = Object.getOwnPropertyDescriptor(Element.prototype, "attributes").get;  // a form may hide it
  if (document.contentType !== "text/html") return window.violations;
  for (const one of document.querySelectorAll("*")) {
    const form = document.getElementById(one.closest("button.tick")?.getAttribute("form") ?? "");
    const ours = form?.closest(".note") === null && form.getAttribute("action") === "/tick";
    const name = one.localName, note = one.closest(".note") !== null && !one.matches(".note") && !ours;
    const plain = one.namespaceURI === "http://www.w3.org/1999/xhtml";
    const formula = one.namespaceURI === "http://www.w3.org/1998/Math/MathML";
    const known = formula ? mathTags : plain ? tags : [];
    const may = formula ? mathAttributes : attributes;
    if (note && !known.includes(name)) found.push(`note: ${one.outerHTML.slice(0, 200)}`);
    if (note && one.id && !one.id.startsWith("md-")) found.push(`note: ${name} id=${one.id}`);
    for (const word of note ? one.classList : []) if (!classes.includes(word)) found.push(`note: ${name} class=${word}`);
    if (["iframe", "object", "embed", "base", "frame", "style", "template", "video", "audio"].includes(name))
      found.push(`page: ${one.outerHTML.slice(0, 200)}`);
    if (name === "script" && !(one.getAttribute("src") ?? "").startsWith("/static/")) found.push("script");
    for (const {name: key, value} of attributesOf.call(one)) {
      if (/^(on|style$|srcdoc$|formaction$|ping$|(data-)?hx-on)/.test(key)) found.push(`${name} ${key}=${value}`);
      if (note && !(may[name] ?? []).includes(key)) found.push(`note: ${name} ${key}=${value}`);
      if (note && ["href", "src"].includes(key) && !/^(https?:|mailto:|#md-|\\/(to|picture)\\?|\\/tag\\/[^.?#]+$)/.test(value))
        found.push(`note: ${name} ${key}=${value}`);
    }
  }
  if (document.querySelectorAll("main").length !== 1) found.push("not one main");
  if (window.pwned !== undefined) found.push("pwned");
  return [...found, ...window.violations];
}"""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The cases as contents and titles of saved entries, and as marks in files that somebody
    else wrote.
    """
    home, clock = tmp_path_factory.mktemp("hostile") / "home", Clock()
    notes = home / "journal" / "notes"
    notes.mkdir(parents=True)
    for number, case in enumerate(XSS["marks"]):
        said = json.dumps(case)
        front = (
            f"date: 2026-11-05\ntitle: {said}\ntags: [{said}, ok]\naliases: [{said}]\nauthor: "
            f"{said}\ntype: {said}\n"
        )
        front += f"project: {said}\n"
        comment = (
            f"<!-- synaptic: by={said} via={said} branch={said} files={said} type={said} "
            f"x={said} "
            f"-->"
        )
        text = (
            f"---\n{front}---\n{case}\n\n## 09:{number:02} {case} "
            f"#{quote(case)}\n{comment}\n\n{case}\n"
        )
        name = f"{number} {case}".replace("/", "").replace("\\", "")[:200]
        (notes / f"{name}.md").write_text(text)
    with open_home(home, clock=clock) as ws:
        for first in range(0, len(CASES), A_DAY):
            clock.forward(days=-1)
            texts: list[tuple[str, Marks]] = []
            for number, case in enumerate(CASES[first : first + A_DAY], first):
                if "\0" in case:  # is never saved, and may stand in a file
                    (notes / f"nul{number}.md").write_text(
                        f"---\ndate: 2026-11-05\n---\n# {number} {case}\n\n{case}\n"
                    )
                else:
                    title = f"{number} {case}"
                    texts.append((f"Case {number}\n\n{case}", {"title": title, "force": True}))
            save_all(ws, texts)
        clock.forward(days=-1)
        for case in XSS["marks"]:
            for marks in (
                {"by": case, "via": case},
                {"project": case, "files": [case]},
                {"tags": [case]},
            ):
                try:
                    save(ws, f"{case} {list(marks)}", force=True, **marks)  # type: ignore[arg-type]
                except SynapticError as error:
                    assert error.code == "invalid-argument"  # it may refuse a mark
    with served(home, SYNAPTIC_NOW="2026-11-21T10:00") as found:
        yield found


PREVIEWED = """() => !document.querySelector(".box textarea")?.value
  || document.getElementById("preview").innerHTML"""


@pytest.mark.sweep
def test_no_case_does_anything(browser: Browser, hostile: Served) -> None:
    asked: list[str] = []
    seen: list[str] = []
    wrong: list[str] = []
    context = logged_in(browser, hostile)
    page: Page = context.new_page()
    page.on(
        "dialog", lambda dialog: (wrong.append(f"dialog {dialog.message}"), dialog.dismiss())
    )
    page.on("pageerror", lambda error: wrong.append(f"error {error}"))
    page.on(
        "console",
        lambda said: wrong.append(said.text) if "Security Policy" in said.text else None,
    )
    page.on("request", lambda request: asked.append(request.url))
    page.add_init_script(
        "window.violations = []; document.addEventListener('securitypolicyviolation', "
        "(event) => window.violations.push(`${event.violatedDirective} "
        "${event.blockedURI} ${event.sample}`));"
    )

    def look(place: str) -> None:
        page.goto(place, wait_until="load")
        page.wait_for_function(PREVIEWED)
        allowed = {tag: ["rel", *ATTRIBUTES["*"], *ATTRIBUTES.get(tag, ())] for tag in TAGS}
        allowed["pre"] = allowed["table"] = ["tabindex", *ATTRIBUTES["*"]]  # from keys.js
        formulas = {tag: sorted(MATH_ATTRIBUTES.get(tag, ())) for tag in MATH_TAGS}
        classes = sorted(CLASSES | {"htmx-added"})  # for a moment, in a preview
        lists = [sorted(TAGS), allowed, classes, sorted(MATH_TAGS), formulas]
        wrong.extend(f"{place}: {one}" for one in page.evaluate(OFFENCES, lists))

    def listed() -> list[str]:
        found: list[str] = page.evaluate(
            """[...new Set([...document.querySelectorAll("main a[href^='/entry/']")].map((a) => a.pathname))]"""
        )
        return found

    days_of_cases = -(-len(CASES) // A_DAY)
    for number in range(days_of_cases + 1):
        look(f"/day/2026-11-{20 - number:02}")
        seen += listed()
    assert len(seen) >= len(CASES) + len(XSS["marks"])
    look("/day/2026-11-05")
    written = listed()
    assert len(written) >= len(XSS["marks"])
    all_of_them = quote(" ".join(XSS["marks"]), safe="")
    given = "&".join(
        f"{name}={all_of_them}"
        for name in ("tag", "project", "type", "source", "since", "order", "title")
    )
    places = [
        *drawn("hostile entries", written, 3),
        *(f"{entry}/edit" for entry in drawn("hostile edits", written, 1)),
        f"/entry/{all_of_them}",
        f"/day/{all_of_them}",
    ]
    places += [
        f"/search?q={all_of_them}",
        f"/search?q=x&{given}",
        f"/to?name={all_of_them}&from=x",
        f"/new?{given}",
    ]
    pages = ("/", "/review", "/health", "/statistics", "/calendar", "/search")
    for place in (*places, *drawn("hostile pages", pages, 2)):
        look(place)
    assert not [url for url in asked if "/logout" in url]
    page.locator("header .menu summary").click()
    page.get_by_role("button", name="Log out").click()  # a form of the page itself is answered
    page.wait_for_url("**/login")
    assert not wrong, "\n".join(dict.fromkeys(wrong))
    own = [url for url in asked if url.startswith(f"{hostile.url}/")]
    assert own == asked and not [url for url in asked if "canary" in urlsplit(url).path]


def test_a_server_on_all_addresses_knows_them_but_no_strange_name(home: Path) -> None:
    tokens = home.parent / "tokens.toml"
    tokens.write_text(f'[ada]\ntoken = "{PAGE_TOKEN}"\npage = true\n')
    tokens.chmod(0o600)
    with served(home, "--host", "0.0.0.0", "--token-file", str(tokens), log_in=False) as server:
        port = server.url.rpartition(":")[2]
        for host, status in (
            ("192.0.2.7", 200),
            ("[2001:db8::7]", 200),
            ("evil.example", 421),
            ("127.1", 421),
        ):
            answer = httpx.get(
                f"http://127.0.0.1:{port}/login",
                headers={"Host": f"{host}:{port}"},
                verify=UNENCRYPTED,
            )
            assert answer.status_code == status, host

"""Machines share a journal over ssh and https, through a real sshd and git's own server: a key,
an authority and a password of the user count, and nothing is asked.
"""

from __future__ import annotations

import base64
import getpass
import http.server
import os
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from forks import ForkedHome, Forks
from steady import SteadyHome

LIMIT_S = 60
NO_CLUE = "the repository exists"
"""The end of what git says whenever ssh fails."""

pytestmark = [
    pytest.mark.fault(row=10),
    pytest.mark.skipif(sys.platform == "win32", reason="paths of POSIX"),
]


def tool(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def needed(*programs: str) -> list[str]:
    """The paths of the programs; without one of them the test is left out."""
    path = f"{os.environ['PATH']}:/usr/sbin"
    found = [shutil.which(program, path=path) for program in programs]
    if None in found:
        pytest.skip(f"of {programs} not all are installed: this way to a remote is not tried")
    return [program for program in found if program]


class User:
    """A person with two homes, a repository to share them, and own settings of git and ssh."""

    def __init__(self, folder: Path, forks: Forks) -> None:
        self.folder = folder
        self.settings = folder / ".gitconfig"
        self.asked = folder / "asked"
        self.hub = folder / "hub.git"
        tool("git", "init", "-q", "--bare", "-b", "main", str(self.hub))
        tool("git", "-C", str(self.hub), "config", "http.receivepack", "true")
        ask = folder / "ask"
        ask.write_text(f'#!/bin/sh\necho "$@" >> {self.asked}\n')
        ask.chmod(0o755)
        self.env = {"HOME": str(folder), "XDG_CONFIG_HOME": "", "DISPLAY": ":0"}
        self.env |= {"GIT_ASKPASS": str(ask), "SSH_ASKPASS": str(ask), "SSH_AUTH_SOCK": ""}
        self.homes = [
            SteadyHome(folder / name, dict(self.env), forks=forks) for name in ("desk", "attic")
        ]
        for home in self.homes:
            home.ask("save", f"The first of {home.path.name}.")

    def share(self, url: str) -> None:
        """Both homes join and come to hold the same."""
        for words in (("--init", url, "--yes"), ()):
            for home in self.homes:
                done = home.ask("sync", *words)
                assert done["sent"] is not None, done
        one, other = (_notes(home) for home in self.homes)
        assert one == other and one.count(b"syn:") == 2

    def refused(self, url: str, *clues: str, **env: str) -> None:
        """Neither way to begin nor to go on works with this address, and both say why, in time
        and without a question.
        """
        desk = self.homes[0]
        config = desk.path / "config.toml"
        kept = config.read_text()
        begun = time.monotonic()
        first = desk.run("sync", "--init", url, "--yes", **env)
        assert first.code == 1
        lines = [f'url = "{url}"' if "url =" in line else line for line in kept.splitlines()]
        config.write_text("\n".join(lines))
        done = desk.ask("sync", **env)
        config.write_text(kept)
        assert done["sent"] is None and time.monotonic() - begun < LIMIT_S
        for said in (first.text, *done["notices"]):
            assert all(clue in said for clue in clues) and NO_CLUE not in said, said
        assert not self.asked.exists()


def _notes(home: ForkedHome) -> bytes:
    return b"".join(note.read_bytes() for note in sorted(home.journal.glob("*.md")))


@pytest.fixture
def user(tmp_path: Path, forks: Forks, monkeypatch: pytest.MonkeyPatch) -> User:
    monkeypatch.delenv("GIT_SSL_CAINFO", raising=False)  # stronger than the setting
    return User(tmp_path, forks)


# -- ssh
# ------------------------------------------------------------------------------


@pytest.fixture
def host(user: User) -> Iterator[str]:
    """The port of a sshd, and in the user's settings of ssh the hosts `hub`, `wrong` with a key
    that it does not know, and `strange` with a key that nobody accepted.
    """
    sshd, *_ = needed("sshd", "ssh", "ssh-keygen", "ssh-agent")
    folder = user.folder
    for name in ("host", "key", "other"):
        tool("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name))
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    public = (folder / "host.pub").read_text()
    (folder / "known").write_text(f"[127.0.0.1]:{port} {public}")
    common = f"Port {port}\nHostName 127.0.0.1\nUser {getpass.getuser()}\nIdentitiesOnly yes\n"
    hosts = {"hub": ("key", "known"), "wrong": ("other", "known"), "strange": ("key", "none")}
    (folder / "ssh").write_text(
        "".join(
            f"Host {name}\n{common}IdentityFile {folder / key}\n"
            f"UserKnownHostsFile {folder / known}\n"
            for name, (key, known) in hosts.items()
        )
    )
    words = (
        f"ListenAddress 127.0.0.1:{port}",
        f"HostKey {folder / 'host'}",
        f"AuthorizedKeysFile {folder / 'key.pub'}",
        f"PidFile {folder / 'pid'}",
        "StrictModes no",
        "UsePAM no",
    )
    (folder / "sshd").write_text("\n".join(words) + "\n")
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    log = (folder / "log").open("wb")
    with log, subprocess.Popen([sshd, "-D", "-e", "-f", folder / "sshd"], stderr=log) as server:
        try:
            waits_for(port, server)
            user.settings.write_text(f'[core]\n\tsshCommand = "ssh -F {folder / "ssh"}"\n')
            yield str(port)
        finally:
            server.terminate()


def waits_for(port: int, server: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + LIMIT_S
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            assert server.poll() is None and time.monotonic() < until
            time.sleep(0.02)


@pytest.mark.slow
def test_over_ssh_the_keys_of_the_user_count(user: User, host: str) -> None:
    user.share(f"hub:{user.hub}")
    desk = user.homes[0]
    tool("git", "-C", str(desk.journal), "config", "core.sshCommand", "false")
    assert desk.ask("sync")["sent"] == 0
    by_hand = f"git ls-remote wrong:{user.hub}"
    user.refused(f"wrong:{user.hub}", "Permission denied (publickey", by_hand)
    user.refused(f"strange:{user.hub}", "Host key verification failed.", "git ls-remote ")
    user.refused(f"hub:{user.folder / 'none'}", "does not appear to be a git repository")
    with socket.create_server(("127.0.0.1", 0)) as mute:
        port = mute.getsockname()[1]
        user.refused(f"ssh://127.0.0.1:{port}{user.hub}", f"127.0.0.1 port {port}")


@pytest.mark.slow
def test_over_ssh_an_agent_holds_the_key(user: User, host: str) -> None:
    name = user.folder / "agent"
    where = f"ssh://{getpass.getuser()}@127.0.0.1:{host}{user.hub}"
    command = f"ssh -F none -o UserKnownHostsFile={user.folder / 'known'}"
    user.settings.write_text(f"[core]\n\tsshCommand = {command}\n")
    with subprocess.Popen(["ssh-agent", "-D", "-a", name]) as agent:
        try:
            until = time.monotonic() + LIMIT_S
            while not name.exists():
                assert time.monotonic() < until
                time.sleep(0.02)
            add = ["ssh-add", "-q", str(user.folder / "key")]
            subprocess.run(add, env=os.environ | {"SSH_AUTH_SOCK": str(name)}, check=True)
            for home in user.homes:
                home.env["SSH_AUTH_SOCK"] = str(name)
            user.share(where)
        finally:
            agent.terminate()


@pytest.mark.slow
def test_a_server_that_declines_is_asked_once(user: User, host: str) -> None:
    user.share(f"hub:{user.hub}")
    hook = user.hub / "hooks" / "pre-receive"
    calls = user.folder / "calls"
    hook.write_text(f"#!/bin/sh\necho >> {calls}\necho Protected. >&2\nexit 1\n")
    hook.chmod(0o755)
    user.homes[0].ask("save", "Not for this server.")
    done = user.homes[0].ask("sync")
    assert done["sent"] is None and "pre-receive hook declined." in done["notices"][0]
    assert calls.read_text() == "\n"


# -- https
# ------------------------------------------------------------------------------


class Web(http.server.BaseHTTPRequestHandler):
    """Git's own server behind a password; `/plain` leads to http."""

    folder: Path
    server: http.server.ThreadingHTTPServer

    def answer(self) -> None:
        path, _, query = self.path.partition("?")
        right = "Basic " + base64.b64encode(b"ada:right").decode()
        if path.startswith("/plain/"):
            port = self.server.server_address[1]
            return self.say(302, {"Location": f"http://localhost:{port}/{self.path[7:]}"})
        if self.headers["Authorization"] != right:
            return self.say(401, {"WWW-Authenticate": 'Basic realm="git"'})
        env = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "REMOTE_USER": "ada",
            "CONTENT_TYPE": self.headers["Content-Type"] or "",
            "HTTP_CONTENT_ENCODING": self.headers["Content-Encoding"] or "",
            "HTTP_GIT_PROTOCOL": self.headers["Git-Protocol"] or "",
        }
        sent = self.rfile.read(int(self.headers["Content-Length"] or 0))
        done = subprocess.run(["git", "http-backend"], env=env, input=sent, capture_output=True)
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        lines = [line.partition(": ") for line in head.decode().split("\r\n")]
        headers = {name: value for name, _, value in lines}
        status = int(headers.pop("Status", "200").split()[0])
        return self.say(status, headers, body)

    do_GET = do_POST = answer

    def say(self, status: int, headers: dict[str, str], body: bytes = b"") -> None:
        self.send_response(status)
        headers["Content-Length"] = str(len(body))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def web(user: User) -> Iterator[str]:
    """The address of a server whose certificate `authority.pem` vouches for."""
    openssl, _ = needed("openssl", "git")
    if not Path(tool("git", "--exec-path"), "git-http-backend").exists():
        pytest.skip("git came without its server: https is not tried")
    at = user.folder
    new = (openssl, "req", "-newkey", "rsa:2048", "-nodes", "-subj")
    tool(*new, "/CN=Us", "-x509", "-keyout", f"{at}/us.key", "-out", f"{at}/authority.pem")
    tool(*new, "/CN=localhost", "-keyout", f"{at}/web.key", "-out", f"{at}/web.csr")
    (at / "names").write_text("subjectAltName=DNS:localhost\n")
    sign = ("-CA", f"{at}/authority.pem", "-CAkey", f"{at}/us.key", "-CAcreateserial")
    files = ("-in", f"{at}/web.csr", "-out", f"{at}/web.pem", "-extfile", f"{at}/names")
    tool(openssl, "x509", "-req", *sign, *files)
    handler = type("Web", (Web,), {"folder": at})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(at / "web.pem", at / "web.key")
        server.socket = tls.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        yield f"https://localhost:{server.server_address[1]}"
        server.shutdown()
        serving.join()


@pytest.mark.slow
def test_over_https_the_authority_and_the_password_of_the_user_count(
    user: User, web: str
) -> None:
    url = f"{web}/hub.git"
    named = f"[http]\n\tsslCAInfo = {user.folder}/authority.pem\n"
    user.settings.write_text(f"{named}[credential]\n\thelper = store\n")
    right = web.replace("//", "//ada:right@")
    (user.folder / ".git-credentials").write_text(f"{right}\n")
    user.share(url)
    user.refused(f"{web}/plain/hub.git", 'Protocol "http"')
    user.refused(f"{web}/none.git", "not found.")
    wrong = '"!echo username=ada; echo password=wrong; true"'
    user.settings.write_text(f"{named}[credential]\n\thelper = {wrong}\n")
    user.refused(url, "Authentication failed", f"git ls-remote {url}")
    user.settings.write_text("")
    user.refused(url, "certificate", "http.sslCAInfo")
    user.refused(url, "terminal prompts", GIT_SSL_CAINFO=f"{user.folder}/authority.pem")

"""Lets a hook ask a running server of its home, which has the model loaded, over a Unix socket.

| line | who writes it | what it says                                                         |
|------|---------------|----------------------------------------------------------------------|
| 1    | the server    | its version, a hash of its settings, its model: see `make_greeting`  |
| 2    | the hook      | a question, as a JSON object; nothing if line 1 is not its own       |
| 3    | the server    | the answer, as a JSON object; `null` if it cannot answer now         |

A socket lies in a folder of mode 0700, and both ends check that the other runs as the same
user. Each server has a socket of its own, so that the end of one leaves the others. The socket
of a killed server refuses connections; the next server removes it.
"""

from __future__ import annotations

import json
import os
import select
import socket
import stat
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

from ..config import CLIENT_WAITS_S, Config, HooksConfig
from ..models import Json
from ..version import installed_version

GREETING_S = 0.15
"""Seconds in which a socket must take a connection, when a server looks for dead ones."""
MOST_BYTES = 200_000
"""The most bytes of a line."""
MOST_QUESTIONS = 4
"""The most questions that a server answers at a time; it closes further connections."""

Answer = Callable[[Json], Json | None]


def make_greeting(config: Config) -> bytes:
    """Returns the first line of a server: version, hash of the settings, and model.

    Settings that no answer depends on, and the project of the process, are not in the hash.
    """
    of_answers = replace(
        config,
        project=None,
        hooks=HooksConfig(),
        port=0,
        tool_list="by client",
        capture=False,
        track_access=False,
        metrics=False,
    )
    settings = blake2b(repr(of_answers).encode(), digest_size=8).hexdigest()
    return f"synaptic {installed_version()} {settings} {config.model}\n".encode()


def ask_server(config: Config, question: Json, within_s: float) -> Json | None:
    """Returns the answer of a running server of this home; None if there is none with the same
    version, settings and model, or if none answers within `within_s` seconds.
    """
    until = time.monotonic() + within_s
    with ExitStack() as stack:
        connections = []
        for path in _find_sockets(config):
            with suppress(OSError):
                connection = stack.enter_context(_new_socket())
                connection.setblocking(False)
                connection.connect(str(path))
                if _is_own_user(connection):
                    connections.append(connection)
        for connection in _greeted_connections(connections, make_greeting(config), until):
            with suppress(OSError, ValueError):
                left = _limit_time(connection, until)
                line = json.dumps({**question, "within_s": left}).encode() + b"\n"
                connection.sendall(line)
                answer = json.loads(_receive_line(connection, until))
                if isinstance(answer, dict):
                    return answer
    return None


def _greeted_connections(
    connections: Sequence[socket.socket], greeting: bytes, until: float
) -> Iterator[socket.socket]:
    """Yields the connections whose server sends this greeting, in the order in which they do,
    so that one server that hangs holds up no other.
    """
    lines = dict.fromkeys(connections, b"")
    while lines:
        left = max(0.0, until - time.monotonic())
        ready = select.select(list(lines), [], [], left)[0]
        if not ready:
            return
        for connection in ready:
            part = b""
            with suppress(OSError):
                part = connection.recv(len(greeting) - len(lines[connection]))
            lines[connection] += part
            if lines[connection] == greeting:
                del lines[connection]
                yield connection
            elif not (part and greeting.startswith(lines[connection])):
                del lines[connection]


class HookListener:
    """Answers hooks of a home, on threads of its own, until it is closed. `answer` returns the
    answer to a question, or None, within the question's `within_s` seconds.

    Does nothing where no folder is private, where its path is too long for a socket, and on
    systems that do not tell who connects.
    """

    def __init__(self, config: Config, answer: Answer) -> None:
        self._greeting = make_greeting(config)
        self._answer = answer
        self._free = threading.Semaphore(MOST_QUESTIONS)
        self._path: Path | None = None
        self._listening: socket.socket | None = None
        for folder in _socket_folders(config):
            with suppress(OSError):
                folder.mkdir(mode=0o700, exist_ok=True)
                if _is_private(folder):
                    _remove_dead_sockets(folder)
                    self._listen(folder / f"{_home_hash(config)}-{os.urandom(4).hex()}.sock")
                    break
        if self._listening:
            threading.Thread(
                target=self._accept, args=(self._listening,), name="synaptic-hooks", daemon=True
            ).start()

    def close(self) -> None:
        """Removes the socket. Questions that are being answered end by themselves."""
        if self._path:
            with suppress(OSError):
                self._path.unlink()
            self._path = None
        if self._listening:
            with suppress(OSError):
                self._listening.shutdown(socket.SHUT_RDWR)
            self._listening.close()

    def _listen(self, path: Path) -> None:
        """Listens at `path`. The name appears last: whoever sees it can connect."""
        hidden = path.with_suffix(".next")  # as long as the name: Linux allows 107 bytes
        listening = _new_socket()
        try:
            listening.bind(str(hidden))
            listening.listen()
            hidden.rename(path)
        except OSError:
            listening.close()
            hidden.unlink(missing_ok=True)
            raise
        self._listening = listening
        self._path = path

    def _accept(self, listening: socket.socket) -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                if not self._path:  # it was closed
                    return
                time.sleep(GREETING_S)  # too many files are open
                continue
            if self._free.acquire(blocking=False):
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()
            else:
                connection.close()

    def _serve(self, connection: socket.socket) -> None:
        """Answers the question of one connection, and closes it."""
        try:
            with connection, suppress(OSError, ValueError):
                until = time.monotonic() + CLIENT_WAITS_S
                _limit_time(connection, until)
                if not _is_own_user(connection):
                    return
                connection.sendall(self._greeting)
                question = json.loads(_receive_line(connection, until))
                answer = self._answer(question) if isinstance(question, dict) else None
                connection.settimeout(CLIENT_WAITS_S)
                connection.sendall(json.dumps(answer).encode() + b"\n")
        finally:
            self._free.release()


def _socket_folders(config: Config) -> list[Path]:
    """Returns the folders in which a socket of this home may lie, the best first; none on a
    system where the user at the other end is not known.

    A client may start its server without the variable that its hooks have, or the reverse.
    """
    if sys.platform not in ("linux", "darwin"):
        return []
    folders = [config.state / "run"]
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if runtime.startswith("/"):
        folders.insert(0, Path(runtime, "synaptic"))
    return folders


def _home_hash(config: Config) -> str:
    return blake2b(os.fsencode(config.home), digest_size=8).hexdigest()


def _find_sockets(config: Config) -> Iterator[Path]:
    """Yields the sockets of this home in private folders, in each folder the newest first."""
    for folder in _socket_folders(config):
        with suppress(OSError):
            if _is_private(folder):
                paths = folder.glob(f"{_home_hash(config)}-*.sock")
                yield from sorted(paths, key=_birth, reverse=True)


def _birth(path: Path) -> float:
    """Returns the time at which a socket was made; 0 if it is gone."""
    with suppress(OSError):
        return path.lstat().st_mtime
    return 0.0


def _remove_dead_sockets(folder: Path) -> None:
    """Removes the sockets of servers that were killed: those that refuse connections."""
    for path in folder.glob("*.sock"):
        with _new_socket() as connection, suppress(OSError):
            connection.settimeout(GREETING_S)
            try:
                connection.connect(str(path))
            except ConnectionRefusedError:
                path.unlink()


def _is_private(folder: Path) -> bool:
    """True for a folder, not a link, of this user that nobody else may enter."""
    if sys.platform == "win32":
        return False
    info = folder.lstat()
    is_own = stat.S_ISDIR(info.st_mode) and info.st_uid == os.geteuid()
    return is_own and not info.st_mode & 0o077


def _is_own_user(connection: socket.socket) -> bool:
    """True when the process at the other end runs as this process's user."""
    if sys.platform == "linux":
        peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        _, uid, _ = struct.unpack("3i", peer)  # struct ucred, socket(7)
        return bool(uid == os.geteuid())
    if sys.platform == "darwin":
        local, peer_credentials = 0, 1  # SOL_LOCAL, LOCAL_PEERCRED: sys/un.h
        peer = connection.getsockopt(local, peer_credentials, 76)
        _, uid = struct.unpack_from("=II", peer)  # struct xucred
        return bool(uid == os.geteuid())
    return False


def _new_socket() -> socket.socket:
    if sys.platform == "win32":
        raise OSError("Windows has no Unix sockets in Python")
    return socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)


def _limit_time(connection: socket.socket, until: float) -> float:
    """Lets the next step on this connection take until `until` on the monotonic clock, and
    returns the seconds until then. Raises TimeoutError if that has passed.
    """
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    connection.settimeout(left)
    return left


def _receive_line(connection: socket.socket, until: float) -> bytes:
    """Returns the next line, with its end. Raises OSError if it does not come until `until` on
    the monotonic clock, or has more than MOST_BYTES.
    """
    line = b""
    while not line.endswith(b"\n"):
        _limit_time(connection, until)
        part = connection.recv(65_536)
        line += part
        if not part or len(line) > MOST_BYTES:
            raise OSError("the line ends early, or is too long")
    return line

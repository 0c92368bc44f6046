"""The command `synaptic` by the hundred: one process imports everything once, and forks for
each call.

A call has a process, an environment, a folder, a zone and limits of its own, like the installed
command, and costs a tenth of its time. So has a server, and a program that uses the library.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import ctypes
import functools
import gc
import importlib
import json
import os
import pkgutil
import pty
import re
import resource
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from io import TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, cast

import anyio
import anyio.to_thread
import typer
from mcp.client._transport import TransportStreams
from mcp.server.stdio import stdio_server
from outside import TIMEOUT_S, Answer, Home, Server, connected

from synaptic.serving.arguments import AGENT_VARIABLES

LOADED = (
    "encodings.utf_8_sig",
    "filelock",
    "numpy",
    "onnxruntime",
    "sentencepiece",
    "sqlite3",
    "tokenizers",
    "tomlkit",
    "yaml",
)
"""What every fork finds imported, beside all of Synaptic."""
MADV_COLLAPSE = 25
"""From <linux/mman.h>, since Linux 6.1."""
_SERVE = "import sys; sys.path.insert(0, sys.argv[1]); import forks; forks.serve()"


class Forked:
    """A process like subprocess.Popen's, with a pipe at each end. Its parent tells its pid and
    then its status.
    """

    def __init__(
        self, channel: socket.socket, stdin: BinaryIO, stdout: BinaryIO, stderr: BinaryIO | None
    ) -> None:
        self.stdin, self.stdout, self.stderr = stdin, stdout, stderr
        self.returncode: int | None = None
        with channel:
            self._told = channel.makefile("rb", 0)
        self.pid = int(self._told.readline())
        self._reading = threading.Lock()
        self._said: list[Future[bytes]] = []

    def poll(self, timeout: float | None = 0) -> int | None:
        """The status; None while it runs."""
        if self.returncode is None and select.select([self._told], [], [], timeout)[0]:
            with self._reading:
                if self.returncode is None:  # no other thread has read it
                    self.returncode = int(self._told.readline())
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        status = self.poll(timeout)
        if status is None:
            raise subprocess.TimeoutExpired("synaptic", timeout or 0)
        return status

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):  # ended, and its status not told yet
                os.kill(self.pid, number)

    def communicate(
        self, data: bytes = b"", timeout: float | None = None
    ) -> tuple[bytes, bytes]:
        """(output, errors) after the end. Raises subprocess.TimeoutExpired, and may be called
        again then.
        """
        if not self._said:
            pool = ThreadPoolExecutor(3)
            pool.submit(self._feed, data)
            self._said = [pool.submit(pipe.read) for pipe in (self.stdout, self.stderr) if pipe]
            pool.shutdown(wait=False)
        if concurrent.futures.wait(self._said, timeout).not_done:
            raise subprocess.TimeoutExpired("synaptic", timeout or 0)
        self.wait(timeout)
        out, err = (said.result() for said in self._said)
        return out, err

    def _feed(self, data: bytes) -> None:
        with contextlib.suppress(BrokenPipeError), self.stdin:
            self.stdin.write(data)

    def close(self) -> None:
        """Its input ends, and it must."""
        with contextlib.suppress(BrokenPipeError):
            self.stdin.close()
        self.wait(TIMEOUT_S)

    def __enter__(self) -> Forked:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Forks:
    """The process that forks."""

    def __init__(self) -> None:
        self._started: tuple[subprocess.Popen[bytes], socket.socket] | None = None
        self._starting = threading.Lock()

    def start(self, call: dict[str, Any], *, errors: bool | None = True) -> Forked:
        """The process of a call; without `errors` it writes them to where this process does,
        with None nowhere.
        """
        (stdin, typed), (out, stdout) = os.pipe(), os.pipe()
        if errors:
            err, stderr = os.pipe()
        else:
            err, stderr = (
                None,
                os.open(os.devnull, os.O_WRONLY) if errors is None else os.dup(2),
            )
        channel = self.fork(call, (stdin, stdout, stderr))
        return Forked(
            channel,
            os.fdopen(typed, "wb"),
            os.fdopen(out, "rb"),
            None if err is None else os.fdopen(err, "rb"),
        )

    def at_terminal(
        self, call: dict[str, Any], typed: bytes = b"", early: bytes = b""
    ) -> Answer:
        """What the command says at a terminal, where a person types the next line of `typed`,
        or the next key, at each question; both of its streams are `out`. `early` are keys that
        they typed before the command began.
        """
        ours, theirs = pty.openpty()
        os.write(ours, early)
        channel = self.fork(call, (theirs, os.dup(theirs), os.dup(theirs)))
        shown = b""
        answers = re.findall(rb"(?s)[^\r\n]+[\r\n]|.", typed)
        with contextlib.suppress(OSError):  # so Linux says that the last writer is gone
            while data := os.read(ours, 65_536):
                shown += data
                is_question = (
                    shown.endswith(b": ") and not select.select([ours], [], [], 0.05)[0]
                )
                if is_question and answers:
                    os.write(ours, answers.pop(0))
        os.close(ours)
        _, status = channel.makefile("rb")
        return Answer(int(status), shown.decode("utf-8", "replace").replace("\r\n", "\n"), "")

    def fork(self, call: dict[str, Any], ends: tuple[int, int, int]) -> socket.socket:
        """Where the pid of the process and its status will be told; it has these three ends,
        and nobody else.
        """
        mine, channel = socket.socketpair()
        mask = os.umask(0o077)
        os.umask(mask)
        socket.send_fds(self._parent(), [b"."], [channel.fileno(), *ends])
        channel.close()
        for fd in ends:
            os.close(fd)
        mine.sendall(
            json.dumps(
                {"folder": str(Path.cwd()), "umask": mask, "file_limit": None} | call
            ).encode()
            + b"\n"
        )
        return mine

    def _parent(self) -> socket.socket:
        with self._starting:
            if self._started is None:
                mine, theirs = socket.socketpair()
                command = [sys.executable, "-c", _SERVE, str(Path(__file__).parent)]
                env = {
                    name: value
                    for name, value in os.environ.items()
                    if not name.startswith("SYNAPTIC_") or name.startswith("SYNAPTIC_TEST_")
                }
                env |= {
                    "ORT_DISABLE_TELEMETRY": "1",
                    "OPENBLAS_NUM_THREADS": "1",
                }  # each begins a thread otherwise
                with theirs:
                    self._started = (subprocess.Popen(command, stdin=theirs, env=env), mine)
            return self._started[1]

    def close(self) -> None:
        if self._started:
            process, ours = self._started
            ours.close()
            process.wait(TIMEOUT_S)


@functools.cache
def shared() -> Forks:
    """The process that forks for all tests of this one."""
    return Forks()


def forked(
    *args: str,
    stdin: bytes = b"",
    folder: Path | None = None,
    env: Mapping[str, str] = os.environ,
    forks: Forks | None = None,
) -> Answer:
    """What `synaptic ARGS` says."""
    process = (forks or shared()).start(
        {"args": ["synaptic", *args], "env": dict(env), "folder": str(folder or Path.cwd())}
    )
    out, err = process.communicate(stdin, TIMEOUT_S)
    return Answer(
        process.wait(), out.decode("utf-8", "replace"), err.decode("utf-8", "replace")
    )


@dataclass
class ForkedHome(Home):
    """A home whose commands are forked. `disk` is where its files are seen from here,
    `file_limit` in bytes.
    """

    forks: Forks = field(default_factory=shared)
    disk: Path | None = None
    file_limit: int | None = None

    @property
    def journal(self) -> Path:
        return (self.disk or self.path) / "journal"

    @property
    def state(self) -> Path:
        return (self.disk or self.path) / ".state"

    def run(self, *args: str, stdin: str | bytes = b"", **env: str) -> Answer:
        """What the command says. No command may end in a traceback, or say of itself that it
        has a defect.
        """
        process = self.start(*args, **env)
        said = process.communicate(
            stdin.encode() if isinstance(stdin, str) else stdin, TIMEOUT_S
        )
        out, err = (text.decode("utf-8", "replace") for text in said)
        answer = Answer(process.wait(), out, err)
        killed = [-signal.SIGKILL] if "SYNAPTIC_FAULT" in self.environment(**env) else []
        assert answer.code in (0, 1, 2, *killed), (args, answer)
        assert "Traceback" not in answer.text and "is a defect" not in answer.text, (
            args,
            answer,
        )
        return answer

    def person(self, *args: str, keys: bytes = b"", early: bytes = b"", **env: str) -> Answer:
        """What the command says to a person at a terminal, who answers its questions by these
        keys, and typed `early` before it began.
        """
        environ = dict.fromkeys(AGENT_VARIABLES, "") | env
        call: dict[str, Any] = {"args": ["synaptic", *args], "env": self.environment(**environ)}
        if self.folder:
            call["folder"] = str(self.folder)
        return self.forks.at_terminal(call, keys, early)

    def rule(self, text: str, *args: str) -> str:
        """The id of a preference that a person saves at a terminal."""
        answer = self.person("save", text, "--type", "preference", "--json", *args)
        assert answer.code == 0, answer
        return str(answer.json["id"])

    def start(self, *args: str, **env: str) -> Forked:
        return self._start({"args": ["synaptic", *args]}, env)

    def python(self, code: str, *args: str, **env: str) -> Forked:
        return self._start({"args": ["-c", *args], "code": code}, env)

    @contextlib.contextmanager
    def server(
        self, *flags: str, roots: Sequence[Path] | None = None, **env: str
    ) -> Iterator[Server]:
        """A server of its own process, spoken to by the SDK's client, which lists its `roots`
        if they are given.
        """
        process = self._start({"args": ["synaptic", "mcp", *flags]}, env, errors=False)
        with process, connected(piped(process), roots) as (portal, client):
            yield Server(portal, client, process.pid)

    def _start(
        self, call: dict[str, Any], env: dict[str, str], *, errors: bool = True
    ) -> Forked:
        call = call | {"env": self.environment(**env), "file_limit": self.file_limit}
        return self.forks.start(
            call | ({"folder": str(self.folder)} if self.folder else {}), errors=errors
        )


class _Told:
    """What a server is told. Of one that is gone the client learns where it reads."""

    def __init__(self, pipe: BinaryIO) -> None:
        self._pipe = anyio.wrap_file(pipe)

    async def write(self, text: str) -> None:
        with contextlib.suppress(BrokenPipeError, ValueError):  # gone, or closed by `piped`
            await self._pipe.write(text.encode())
            await self._pipe.flush()

    async def flush(self) -> None:
        pass


@contextlib.asynccontextmanager
async def piped(process: Forked) -> AsyncIterator[TransportStreams]:
    """The client's end of a server, which must end when its input does."""
    said = anyio.wrap_file(TextIOWrapper(process.stdout, "utf-8"))
    async with stdio_server(
        said, cast("anyio.AsyncFile[str]", _Told(process.stdin))
    ) as streams:
        try:
            yield streams
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(process.close)


# -- in the process that forks
# ----------------------------------------------------------------------------


def serve() -> None:
    """Forks for each byte that comes in, with the descriptors that come with it: a channel and
    the three ends.
    """
    _load()
    calls, channels = socket.socket(fileno=0), dict[int, int]()
    ended, ending = os.pipe()
    os.set_blocking(ending, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(ending)
    asked = True
    while asked or channels:
        ready = select.select([calls, ended] if asked else [ended], [], [])[0]
        if ended in ready:
            os.read(ended, 4096)
            _tell_statuses(channels)
        if calls in ready:
            byte, fds, _, _ = socket.recv_fds(calls, 1, 4)
            asked = bool(byte)
            if asked:
                pid = os.fork()
                if pid == 0:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    calls.detach()
                    for fd in (ended, ending, *channels.values()):
                        os.close(fd)
                    _become(*fds)
                channels[pid], *ends = fds
                tell(fds[0], pid)
                for fd in ends:
                    os.close(fd)


def _load() -> None:
    """Has everything imported, read and compiled that a command needs, on no thread: a fork has
    only its own.
    """
    import synaptic

    modules = pkgutil.walk_packages(synaptic.__path__, "synaptic.")
    for module in (*LOADED, *(module.name for module in modules)):
        if module != "synaptic.__main__":
            importlib.import_module(module)
    from disturbed import disturb
    from prompt import run_verbs

    from synaptic.cli import main
    from synaptic.index import embedding
    from synaptic.language.analysis.asked import event_words
    from synaptic.serving import processes

    processes._run_verbs = run_verbs

    event_words("How often did she run?")
    site = sys.modules.get("synaptic.features.page.site")  # none in a copy without the page
    for template in site.TEMPLATES.list_templates() if site else ():
        site.TEMPLATES.get_template(template)

    disturb()
    embedding.FolderModel = functools.cache(embedding.FolderModel)  # type: ignore[misc]
    made: dict[tuple[str | None, ...], Any] = {}
    make = main.get_command

    def get_command(program: typer.Typer) -> Any:
        """The command of typer, made once for the same commands below it."""
        names = tuple(info.name for info in program.registered_commands)
        if names not in made:
            made[names] = make(program)
            _prepare(made[names])
        return made[names]

    main.get_command = get_command
    for info in main.whole_program().registered_commands:
        get_command(main.program_for([str(info.name)]))
    get_command(main.whole_program())
    with (
        tempfile.TemporaryDirectory() as home,
        synaptic.open_workspace(synaptic.load_config(home)) as ws,
    ):
        ws.embedder.load()
        kept = synaptic.save(
            ws,
            "The lock was held while the journal grew, said Ada on Monday.\n\nNobody waited.",
        )
        synaptic.update(ws, kept.id, content="The lock is gone since yesterday.")
        synaptic.search(ws, "Who held the lock last week?")
        synaptic.status(ws)
    assert sys.platform != "linux" or len(list(Path("/proc/self/task").iterdir())) == 1
    gc.collect()
    gc.freeze()
    _gather_pages()


def _gather_pages() -> None:
    """Joins small pages of memory to large ones, where the system can: a fork copies a table
    with a row for each.
    """
    if sys.platform != "linux":
        return
    advise = ctypes.CDLL(None).madvise
    advise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    for line in Path("/proc/self/maps").read_text().splitlines():
        place, rights, _, _, file = line.split()[:5]
        if rights == "rw-p" and file == "0":
            begin, end = (int(number, 16) for number in place.split("-"))
            advise(begin, end - begin, MADV_COLLAPSE)


def _prepare(command: Any) -> None:
    """Has typer make what reads the arguments of this command and of those below it: else each
    call makes its own.
    """
    with command.make_context("synaptic", [], resilient_parsing=True) as context:
        for param in command.get_params(context):
            param.get_runtime_param()
    for below in getattr(command, "commands", {}).values():
        _prepare(below)


def _tell_statuses(channels: dict[int, int]) -> None:
    """To each channel of a process that has ended its status."""
    while channels and (ended := os.waitpid(-1, os.WNOHANG))[0]:
        channel = channels.pop(ended[0])
        tell(channel, os.waitstatus_to_exitcode(ended[1]))
        os.close(channel)


def tell(channel: int, number: int) -> None:
    with contextlib.suppress(ConnectionError):  # who asked is gone
        os.write(channel, b"%d\n" % number)


def _become(channel: int, *ends: int) -> NoReturn:
    """Reads a call, and is the process that it asks for."""
    code = 1
    try:
        with open(channel) as calls:
            call = json.loads(calls.readline())
        code = run_call(call, ends)
    finally:
        os._exit(code)


def run_call(call: dict[str, Any], ends: Sequence[int]) -> int:
    """The status of a call that runs here, with the streams, the environment, the folder and
    the limits that it asks for.
    """
    from synaptic.cli.main import main

    code: Any = 1
    try:
        for fd, end in enumerate(ends):
            os.dup2(end, fd)
            os.close(end)
        os.environ.clear()
        os.environ.update(call["env"])
        time.tzset()
        os.chdir(call["folder"])
        os.umask(call["umask"])
        if call["file_limit"] is not None:
            hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
            resource.setrlimit(resource.RLIMIT_FSIZE, (call["file_limit"], hard))
        sys.stdin, sys.stdout, sys.stderr = (
            open(fd, mode, closefd=False)  # noqa: SIM115
            for fd, mode in ((0, "r"), (1, "w"), (2, "w"))
        )
        sys.argv = call["args"]
        code = exec(call["code"], {"__name__": "__main__"}) if "code" in call else main()
    except SystemExit as ending:
        code = ending.code
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(BrokenPipeError):
            sys.stdout.flush()
            sys.stderr.flush()
    return code if isinstance(code, int) else 0 if code is None else 1

"""The command `synaptic` by the hundred: one process imports it once, and forks for each call.

A call has a process, an environment, a zone and limits of its own, like the installed command, and costs a
tenth of its time. `prefix` are the words of a command that starts that one process under other rights.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anyio.from_thread import start_blocking_portal
from mcp import Client, StdioServerParameters, types
from outside import SYNAPTIC, TIMEOUT_S, Answer, Home, Server

PIPE_BYTES = 32_768
_SERVE = "import sys; sys.path.insert(0, sys.argv[1]); import forks; forks.serve()"


class Forks:
    """The processes that fork: for each prefix as many as are asked at the same time."""

    def __init__(self) -> None:
        self._idle: dict[tuple[str, ...], list[subprocess.Popen[bytes]]] = {}

    def run(self, prefix: tuple[str, ...], call: dict[str, Any]) -> Answer:
        idle = self._idle.setdefault(prefix, [])
        try:
            parent = idle.pop()  # by one thread alone
        except IndexError:
            command = [*prefix, sys.executable, "-c", _SERVE, str(Path(__file__).parent)]
            pipe = subprocess.PIPE
            parent = subprocess.Popen(command, stdin=pipe, stdout=pipe)
        assert parent.stdin and parent.stdout
        parent.stdin.write(json.dumps(call).encode() + b"\n")
        parent.stdin.flush()
        answer = Answer(*json.loads(parent.stdout.readline()))
        idle.append(parent)
        return answer

    def close(self) -> None:
        for idle in self._idle.values():
            for parent in idle:
                parent.communicate(timeout=TIMEOUT_S)


@dataclass
class ForkedHome(Home):
    """A home whose commands are forked. `disk` is where its files are seen from here, `file_limit` in bytes."""

    forks: Forks = field(default_factory=Forks)
    prefix: tuple[str, ...] = ()
    disk: Path | None = None
    file_limit: int | None = None

    @property
    def journal(self) -> Path:
        return (self.disk or self.path) / "journal"

    @property
    def state(self) -> Path:
        return (self.disk or self.path) / ".state"

    def run(self, *args: str, stdin: str | bytes = b"", **env: str) -> Answer:
        """What the command says. No command may end in a traceback, or say of itself that it has a defect."""
        environ, data = self.environment(**env), stdin.encode() if isinstance(stdin, str) else stdin
        if len(data) > PIPE_BYTES:
            return super().run(*args, stdin=stdin, **env)
        call = {"args": args, "env": environ, "file_limit": self.file_limit, "stdin": data.decode("latin-1")}
        call["folder"] = str(self.folder) if self.folder else None
        answer = self.forks.run(self.prefix, call)
        killed = [-signal.SIGKILL] if "SYNAPTIC_FAULT" in environ else []
        assert answer.code in (0, 1, 2, *killed), (args, answer)
        assert "Traceback" not in answer.text and "is a defect" not in answer.text, (args, answer)
        return answer

    @contextlib.contextmanager
    def server(self, **env: str) -> Iterator[Server]:
        """A server of its own process, started by the prefix."""
        pid_file = self.path.parent / f"{os.urandom(4).hex()}.pid"
        script = 'echo $$ > "$0"; exec "$@"'
        command = ["-c", script, str(pid_file), *self.prefix, SYNAPTIC, "mcp"]
        environ = self.environment(**env)
        started = StdioServerParameters(command="/bin/sh", args=command, env=environ, cwd=self.folder)
        me = types.Implementation(name="tests", version="1")
        with (
            start_blocking_portal() as portal,
            portal.wrap_async_context_manager(Client(started, client_info=me)) as client,
        ):
            yield Server(portal, client, pid_file)


def serve() -> None:
    """Answers calls on stdin, a line each, until it ends."""
    import filelock  # noqa: F401
    import numpy  # noqa: F401
    import yaml  # noqa: F401

    import synaptic.search.understanding
    import synaptic.surfaces.cli.commands
    import synaptic.surfaces.cli.main
    import synaptic.surfaces.cli.setup_command
    import synaptic.surfaces.cli.upkeep  # noqa: F401

    for line in sys.stdin:
        print(json.dumps(_forked(json.loads(line))), flush=True)


def _forked(call: dict[str, Any]) -> tuple[int, str, str]:
    """(exit status, output, errors) of a child."""
    (out, child_out), (err, child_err) = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        source_in, typed = os.pipe()
        os.write(typed, call["stdin"].encode("latin-1"))
        os.close(typed)
        for fd, source in ((0, source_in), (1, child_out), (2, child_err)):
            os.dup2(source, fd)
        for fd in (out, child_out, err, child_err):
            os.close(fd)
        _become_the_command(call)
    os.close(child_out)
    os.close(child_err)
    said = []
    for fd in (out, err):  # what goes to stderr fits its pipe
        with open(fd, "rb") as pipe:  # noqa: PTH123
            said.append(pipe.read().decode("utf-8", "replace"))
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), said[0], said[1]


def _become_the_command(call: dict[str, Any]) -> None:
    from synaptic.surfaces.cli.main import main

    os.environ.clear()
    os.environ.update(call["env"])
    time.tzset()
    if call["folder"]:
        os.chdir(call["folder"])
    if call["file_limit"] is not None:
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.setrlimit(resource.RLIMIT_FSIZE, (call["file_limit"], hard))
    sys.stdin, sys.stdout, sys.stderr = (open(fd, mode) for fd, mode in ((0, "r"), (1, "w"), (2, "w")))  # noqa: PTH123, SIM115
    sys.argv = ["synaptic", *call["args"]]
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)

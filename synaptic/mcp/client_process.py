"""The process that speaks to a server over stdio.

The end of the input says that the client is gone, unless another process inherited its end of
the pipe. So a server also looks at the client itself, which is the nearest process above it
that can write to its input. A wrapper that starts the server and goes has the same ends of the
pipes as the server: it is not the client.
"""

import os
import select
import stat
import struct
import sys
from contextlib import suppress
from pathlib import Path


def wait_until_gone(input_fd: int, output_fd: int) -> None:
    """Returns when the client has ended, or nobody can read the answers any more.

    Where the client cannot be told from others, only the second counts: on other systems than
    Linux, and where it is no process above this one.
    """
    if sys.platform == "win32":
        raise OSError("Windows has no poll")
    signs = select.poll()
    signs.register(output_fd, 0)  # an error and the end are always reported
    client = _open_client(input_fd)
    if client is not None:
        signs.register(client, select.POLLIN)
    signs.poll()


def _open_client(input_fd: int) -> int | None:
    """A descriptor of the client's process, which can be read when it has ended."""
    if sys.platform != "linux":
        return None
    pid = os.getppid()
    while pid > 0:
        with suppress(OSError):
            process = os.pidfd_open(pid)  # before the look: the number may be used again
            if _writes_to(pid, input_fd):
                return process
            os.close(process)
        pid = _parent_process(pid)
    return None


def _parent_process(pid: int) -> int:
    """The number of a process's parent; 0 where there is none."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    return int(text.rpartition(")")[2].split()[1])


def _writes_to(pid: int, input_fd: int) -> bool:
    """True if the process has the other end of this pipe or pair of sockets."""
    if sys.platform != "linux":
        return False
    pipe = os.fstat(input_fd)
    if stat.S_ISSOCK(pipe.st_mode):
        import socket

        with socket.socket(fileno=os.dup(input_fd)) as end:
            peer = end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        return bool(struct.unpack("3i", peer)[0] == pid)
    if not stat.S_ISFIFO(pipe.st_mode):
        return False
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):  # it was closed meanwhile
            if link.lstat().st_mode & stat.S_IWUSR and os.path.samestat(link.stat(), pipe):
                return True
    return False

"""Refuses locks on files to a process, as a share does that grants none.

A seccomp filter of the kernel answers the calls with an error, also for children. Linux alone
has such filters.
"""

from __future__ import annotations

import ctypes
import fcntl
import platform
import struct
import sys

CALLS = {"x86_64": {"fcntl": 72, "flock": 73}, "aarch64": {"fcntl": 25, "flock": 32}}
"""Numbers of system calls, from <asm/unistd.h>."""
SETLK = (fcntl.F_SETLK, fcntl.F_SETLKW, 37, 38)
"""The commands of fcntl that lock; the last two are F_OFD_SETLK and F_OFD_SETLKW."""
LOAD, JUMP_IF, RETURN = 0x20, 0x15, 0x06
"""BPF_LD|BPF_W|BPF_ABS, BPF_JMP|BPF_JEQ|BPF_K and BPF_RET|BPF_K of <linux/bpf_common.h>."""
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
"""SECCOMP_RET_ALLOW, and SECCOMP_RET_ERRNO, to which the error is added."""
NUMBER, SECOND_ARGUMENT = 0, 24
"""Offsets in `struct seccomp_data`."""
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, MODE_FILTER = 22, 38, 2


def is_possible() -> bool:
    """True where this module knows the system calls."""
    return sys.platform == "linux" and platform.machine() in CALLS


def filter_of(error: int, calls: list[str]) -> bytes:
    """The program of the filter: `struct sock_filter`, 8 bytes each."""
    numbers = CALLS[platform.machine()]
    refusal = (RETURN, 0, 0, REFUSE | error)
    program = [(LOAD, 0, 0, NUMBER)]
    if "flock" in calls:
        program += [(JUMP_IF, 0, 1, numbers["flock"]), refusal]
    if "fcntl" in calls:
        program += [(JUMP_IF, 1, 0, numbers["fcntl"]), (RETURN, 0, 0, ALLOW)]
        program += [(LOAD, 0, 0, SECOND_ARGUMENT)]
        for command in SETLK:
            program += [(JUMP_IF, 0, 1, command), refusal]
    program += [(RETURN, 0, 0, ALLOW)]
    return b"".join(struct.pack("HBBI", *step) for step in program)


def refuse_locks(error: int, calls: list[str]) -> None:
    """Refuses these calls to this process and its children, for ever. Raises OSError."""
    steps = ctypes.create_string_buffer(filter_of(error, calls))

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_void_p))

    program = Program(len(steps.raw) // 8, ctypes.addressof(steps))
    libc = ctypes.CDLL(None, use_errno=True)
    for option, *values in (
        (PR_SET_NO_NEW_PRIVS, 1, 0),
        (PR_SET_SECCOMP, MODE_FILTER, ctypes.addressof(program)),
    ):
        if libc.prctl(option, *map(ctypes.c_ulong, values), 0, 0):
            raise OSError(ctypes.get_errno(), "prctl")

"""Reads a git checkout, and the properties that identify its repository.

Git is not run. A repository's settings name programs, and more of them with each version of
git; small files of `.git` are read in its place, and nothing that stands in them decides over
more than words.
"""

from __future__ import annotations

import os
import posixpath
import re
import struct
import sys
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from ..files import read_regular_file, real_path
from .disk import WINDOWS, c_library_function

SMALL_BYTES = 1_000_000
"""No file that says where a repository is, or which branch is checked out, is nearly as large.
"""

_BRANCH = "ref: refs/heads/"
_REMOTE = "ref: refs/remotes/origin/"
_DEFAULT = ("main", "master", "trunk", "develop")

_SECTION = re.compile(r'\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\](.*)')
"""`[remote "origin"] url = x`: the section, its name, and what follows on the line."""
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"|\s*[#;].*')
"""A part in quotes, or a comment, of a value in git's settings."""
_URL = re.compile(r"(?:[a-z0-9+-]+::)*([a-z][a-z0-9+.-]*)://([^/]*)([^?#]*)", re.IGNORECASE)
"""`ssh://git@host:22/acme/api.git`: the scheme, the authority and the path."""
_SCP = re.compile(r"((?:[^/]*@)?(?:\[[^\]/]+\]|[^/:\[\]]+)):(.*)")
"""`git@host:acme/api.git`: the authority and the path."""
_HOST = re.compile(r"\[?([^\]]*?)\]?(?::(\d*))?")
_PORTS = {"http": "80", "https": "443", "ssh": "22", "git": "9418"}
_ALIASES = {
    "ssh.github.com:443": "github.com",
    "www.github.com": "github.com",
    "altssh.gitlab.com:443": "gitlab.com",
    "altssh.bitbucket.org:443": "bitbucket.org",
}
_CASELESS = frozenset("github.com gitlab.com bitbucket.org codeberg.org".split())
"""The hosts that take `Acme/API` and `acme/api` for one repository; others may have both."""


class Checkout(NamedTuple):
    """A working tree. `project` is the name of the repository's main checkout.

    `head` is the text of HEAD in the folder `git`; a worktree has such a folder of its own,
    beside the repository's `common` one.
    """

    root: Path
    project: str
    git: Path
    common: Path
    head: str

    @property
    def branch(self) -> str:
        """The branch that is checked out; empty if a commit is checked out."""
        return self.head.removeprefix(_BRANCH) if self.head.startswith(_BRANCH) else ""

    @property
    def default_branches(self) -> tuple[str, ...]:
        """The default branch of the remote `origin`; the usual names if that is unknown."""
        with suppress(OSError):
            ref = read_small_text(self.common / "refs" / "remotes" / "origin" / "HEAD")
            if ref.startswith(_REMOTE):
                return (ref.removeprefix(_REMOTE),)
        return _DEFAULT


class Repository(NamedTuple):
    """The properties that identify a git repository; a property that is not known is "".

    `place` is the path of the folder that holds `.git`, or of the bare repository. `git` is
    the `folder_identity` of the common git folder. `remote` is a hash of the address of
    `origin`, so that no password is stored, or, if `origin` is on this machine, its
    `folder_identity`.
    """

    place: str
    git: str = ""
    remote: str = ""


def find_checkout(folder: Path) -> Checkout | None:
    """The checkout around a folder, with the name of its own folder as the project. A `.git`
    whose files cannot be read is passed over.
    """
    for place in (folder, *folder.parents):
        with suppress(OSError, ValueError):
            here = _checkout_at(place) if os.path.lexists(f"{place}/.git") else None
            if here:
                return here
    return None


def _checkout_at(place: Path) -> Checkout | None:
    """The checkout whose root is `place`. Raises OSError or ValueError where its files cannot
    be read.
    """
    git = place / ".git"
    project = place.name
    main = git
    if not git.is_dir():  # a worktree or a submodule: a file says where its own folder is
        pointer = read_small_text(git).removeprefix("gitdir:").strip()
        if not pointer:
            return None
        main = git = real_path(place / pointer)
        common = read_small_text(git / "commondir")
        if common:
            main = real_path(git / common)
            named = main.parent if main.name == ".git" else main
            project = named.name.removesuffix(".git") or project
    if not project:
        return None
    return Checkout(place, project, git, main, read_small_text(git / "HEAD"))


def read_small_text(path: Path) -> str:
    """The text of a regular file; empty where there is none. Raises OSError for a file above
    `SMALL_BYTES`.
    """
    try:
        return os.fsdecode(read_regular_file(path, SMALL_BYTES)).strip()
    except (FileNotFoundError, NotADirectoryError):
        return ""


# -- which repository it is
# ------------------------------------------------------------------------------


def repository_of_checkout(here: Checkout) -> Repository:
    """The repository of a checkout."""
    place = repository_folder(here.common)
    remote = ""
    address = _origin_address(here)
    if address:
        path = Path(address)
        remote = _repository_identity(path) if path.is_absolute() else ""
        remote = remote or blake2b(os.fsencode(address), digest_size=16).hexdigest()
    return Repository(place, folder_identity(real_path(here.common)), remote)


def repository_folder(git: Path | str) -> str:
    """The real path of the folder that holds this `.git`; of a bare repository its own."""
    folder = real_path(git)
    return str(folder.parent if folder.name == ".git" else folder)


def remote_names(here: Checkout) -> list[str]:
    """The last name of the path on the remote `origin`, and the last two: `api`, `acme/api`."""
    address = _origin_address(here)
    path = address if Path(address).is_absolute() else address.partition("/")[2]
    path = path.rpartition("@")[2].rstrip("/").removesuffix(".git")
    parts = [part for part in path.split("/") if part]
    return ["/".join(parts[-count:]) for count in range(1, min(2, len(parts)) + 1)]


def folder_identity(folder: Path) -> str:
    """The inode and the time of birth of a folder; empty where there is no folder.

    A move keeps both. An inode alone proves nothing: the next folder that is made gets that of
    a deleted one. Where the file system notes no birth, the path stands in its place, and a
    move makes another.
    """
    try:
        status = folder.stat()
    except OSError:
        return ""
    return f"{status.st_ino}-{_birth_ns(folder, status) or folder}"


def _birth_ns(folder: Path, status: os.stat_result) -> int:
    """The time when a file was made, in nanoseconds since 1970; 0 where that is not noted."""
    if WINDOWS:
        return getattr(status, "st_birthtime_ns", 0) or status.st_ctime_ns
    born = getattr(status, "st_birthtime", None)  # macOS, BSD
    if born is not None:
        return int(born * 1e9)
    statx = c_library_function("statx") if sys.platform == "linux" else None
    if statx is None:
        return 0
    import ctypes

    at_cwd = -100
    of_birth = 0x800
    buffer = ctypes.create_string_buffer(256)
    failed = statx(at_cwd, os.fsencode(folder), 0, of_birth, buffer)
    filled, seconds, nanoseconds = struct.unpack_from("=I76xqI", buffer)  # statx(2)
    if failed or not filled & of_birth:
        return 0
    return int(seconds) * 1_000_000_000 + int(nanoseconds)


def repository_at_path(place: str) -> Repository:
    """Returns the repository whose folder is `place`; without one, only its path."""
    with suppress(OSError, ValueError):
        here = _checkout_or_bare_at(Path(place))
        if here:
            return repository_of_checkout(here)
    return Repository(place)


def _checkout_or_bare_at(place: Path) -> Checkout | None:
    """Returns the checkout or bare repository whose folder is `place`. Raises OSError,
    ValueError.
    """
    if os.path.lexists(place / ".git"):
        return _checkout_at(place)
    head = read_small_text(place / "HEAD")
    return Checkout(place, place.name, place, place, head) if head else None


def _repository_identity(path: Path) -> str:
    """The identity of the repository that a path leads to, as git follows it; empty where there
    is none.
    """
    with suppress(OSError, ValueError):
        for place in (path, path.with_name(f"{path.name}.git")):
            here = _checkout_or_bare_at(place)
            if here:
                return folder_identity(real_path(here.common))
    return ""


def _origin_address(here: Checkout) -> str:
    with suppress(OSError, ValueError):
        url = _origin_url(read_small_text(here.common / "config"))
        if url:
            return normalize_remote_url(url, Path(repository_folder(here.common)))
    return ""


def _origin_url(settings: str) -> str:
    """The first address of the remote `origin` in git's settings; empty without one."""
    is_origin = False
    for line in settings.splitlines():
        header = _SECTION.match(line.strip())
        if header:
            is_origin = header[1].lower() == "remote" and header[2] == "origin"
            line = header[3]
        key, _, value = line.partition("=")
        if is_origin and key.strip().lower() == "url":
            plain = _QUOTED.sub(lambda part: part[1] or "", value.strip())
            url = re.sub(r"\\(.)", r"\1", plain).strip()
            if url:
                return url
    return ""


def normalize_remote_url(url: str, folder: Path) -> str:
    """The address of a remote in its one form; of one on this machine its whole path.

    | `url`                                      | result                       |
    |--------------------------------------------|------------------------------|
    | `https://ada@GitHub.com/Acme/api.git/`     | `github.com/acme/api`        |
    | `git@host:a/b`, `ssh://git@host:22/a/b`    | `host/a/b`                   |
    | `https://host:8443/a/B`                    | `host:8443/a/B`              |
    | `../api.git`, in the repository `/src/web` | `/src/api.git`               |
    """
    spelled = _URL.match(url)
    short = None if spelled or (WINDOWS and url[1:2] == ":") else _SCP.fullmatch(url)
    scheme = "ssh"
    if spelled:
        scheme = spelled[1].lower().removeprefix("git+").removesuffix("+git")
        authority, path = spelled[2], unquote(spelled[3])
    elif short:
        authority, path = short.groups()
    if not (spelled or short) or scheme == "file":
        local = path if spelled else url
        return str(real_path(folder / local))
    named = authority.rpartition("@")[2].lower()
    parts = _HOST.fullmatch(named)
    host = parts[1] if parts else named
    if parts and parts[2] and parts[2] != _PORTS.get(scheme):
        host = f"{host}:{parts[2]}"
    host = _ALIASES.get(host, host)
    path = posixpath.normpath(f"/{path}").strip("/").removesuffix(".git").rstrip("/")
    return f"{host}/{path.lower() if host in _CASELESS else path}"

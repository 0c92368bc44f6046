"""Reads a git checkout, and the properties that identify its repository.

A repository's settings name programs, and more of them with each version of git; so small files
of `.git` are read in git's place. Git is asked for the root commit alone, which no file names,
and for leave to read what belongs to another user.

A text in a folder proves nothing: anybody may pack a `.git` that names your repository. A
`.git` file counts only if the git folder that it names leads back to it, and a `.git` folder
only if its parts lie within it.
"""

from __future__ import annotations

import os
import posixpath
import re
import struct
import sys
from contextlib import suppress
from functools import lru_cache
from hashlib import blake2b
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from ..errors import JournalError
from ..files import read_regular_file, real_path, real_path_below
from ..filters import Scope
from ..models import IDENTITY_DIGITS
from .disk import WINDOWS, c_library_function
from .git_process import run_git

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
_PUBLIC_NAME = re.compile(r"(?:[^.\s]+\.)+(?:[^\W\d_]{2,}|xn--[a-z0-9-]+)")
"""`git.example.org`: a host whose last part is a domain of the Internet, not a number."""
_PRIVATE_DOMAINS = re.compile(
    r"(?:^|\.)(?:local|localhost|localdomain|internal|intranet|lan|home|corp|private|home\.arpa)$"
)
"""Names that each network gives away for itself (RFC 6762, RFC 8375, and usage)."""

ROOT_TIMEOUT_S = 2.0
"""The time limit of git for the root commit. Beyond it the root is unknown until HEAD moves."""
NO_ROOT = "-"
"""Stands for the root of a repository that has no commit."""
_HEX = "0123456789abcdef"
PRIVATE = "~"
"""Begins a remote whose address may mean another server in another network."""
_PARTS = ("HEAD", "config", "objects", "refs", "packed-refs", "reftable")
"""The parts of a git folder that say which repository it is."""


class Repository(NamedTuple):
    """The properties that identify a git repository; a property that is not known is "".

    `path` is that of the folder that holds `.git`, or of the bare repository. `git` is
    the `folder_identity` of the common git folder. `remote` is a hash of the address of
    `origin`, so that no password is stored, behind PRIVATE if the address proves nothing.
    `root` is a hash of the root commit, or NO_ROOT.
    """

    path: str
    git: str = ""
    remote: str = ""
    root: str = ""

    @classmethod
    def from_texts(cls, path: str, git: str, remote: str, root: str = "") -> Repository:
        """A stored repository. An older version kept 32 digits of the address, and of one on
        this machine its folder.
        """
        address = remote.removeprefix(PRIVATE)[:IDENTITY_DIGITS]
        if "-" in address:
            return cls(path, git, "", root)
        return cls(path, git, remote[:1].strip(_HEX) + address, root)

    @property
    def address(self) -> str:
        """The hash of the address of `origin`; "" without one."""
        return self.remote.removeprefix(PRIVATE)

    @property
    def is_public(self) -> bool:
        """True if the address of `origin` means one repository on every machine."""
        return self.remote != "" and not self.remote.startswith(PRIVATE)

    @property
    def known_root(self) -> str:
        """The hash of the root commit; "" if it is not known."""
        return self.root.removeprefix(NO_ROOT)

    @property
    def marks(self) -> tuple[str | None, str | None]:
        """(remote, root) as entries carry them. A repository without a commit has no proof of
        its address.
        """
        if self.root == NO_ROOT:
            return None, None
        return self.address or None, self.known_root or None


class Checkout(NamedTuple):
    """A working tree. `project` is the name of the repository's main checkout.

    `head` is the text of HEAD in the folder `git`; a worktree has such a folder of its own,
    beside the repository's `common` one. `repository` and `scope` are known once this home was
    asked for its name; `project` is then that name, "" if it has none yet.
    """

    root: Path
    project: str
    git: Path
    common: Path
    head: str
    repository: Repository = Repository("")
    scope: Scope = Scope()

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


def find_checkout(folder: Path) -> Checkout | None:
    """The checkout around a folder, with the name of its own folder as the project. A `.git`
    whose files cannot be read, or are none of git's, is passed over; one that names a git
    folder which does not know it, or that belongs to another user, ends the search.
    """
    for root in (folder, *folder.parents):
        with suppress(OSError, ValueError):
            here = _checkout_at(root) if os.path.lexists(f"{root}/.git") else None
            if here:
                return here if is_genuine(here) else None
    return None


def _checkout_at(root: Path) -> Checkout | None:
    """The checkout with this root. Raises OSError or ValueError where its files cannot
    be read.
    """
    git = root / ".git"
    project = root.name
    main = git
    if not git.is_dir():  # a worktree or a submodule: a file says where its own folder is
        pointer = read_small_text(git).removeprefix("gitdir:").strip()
        if not pointer:
            return None
        main = git = real_path(root / pointer)
        common = read_small_text(git / "commondir")
        if common:
            main = real_path(git / common)
            named = main.parent if main.name == ".git" else main
            project = named.name.removesuffix(".git") or project
    if not project:
        return None
    return Checkout(root, project, git, main, read_small_text(git / "HEAD"))


def is_genuine(here: Checkout) -> bool:
    """True if the git folder of a checkout knows it, holds its own parts, and belongs to this
    user. Raises OSError or ValueError where its files cannot be read.

    | `.git` is                          | it is genuine if                                   |
    |------------------------------------|----------------------------------------------------|
    | a folder                           | it has no `commondir`                              |
    | a file, or a link to a folder      | `core.worktree` of the folder names its place      |
    | a file, to a folder of a worktree  | `gitdir` in that, within `worktrees`, names it     |
    """
    named = here.root / ".git"
    git = real_path(here.git)
    common = git if here.common == here.git else real_path(here.common)
    root = real_path(here.root)
    if git != common:
        back = read_small_text(git / "gitdir")
        leads_back = real_path(git / back) == root / ".git" if back else False
        if not leads_back or git.parent != common / "worktrees":
            return False
    elif os.path.lexists(common / "commondir"):
        return False
    elif git != root / ".git":
        back = _worktree_of_settings(common)
        if not back or real_path(common / back) != root:
            return False
    names = (*_PARTS, here.head.removeprefix("ref: "))
    if not all(real_path_below(common, name).is_relative_to(common) for name in names):
        return False
    return all(map(_is_ours, {named, root, git, common})) or _git_allows(root)


def _worktree_of_settings(git: Path) -> str:
    """The folder that a git folder names as its working tree; "" if it names none."""
    for name in ("config.worktree", "config"):
        worktree = _read_setting(read_small_text(git / name), "core", None, "worktree")
        if worktree:
            return worktree
    return ""


def _is_ours(path: Path) -> bool:
    """True if a file belongs to this user, as git asks it: for root also to the user behind
    sudo.
    """
    if sys.platform == "win32":
        return True
    users = {os.geteuid()}
    behind = os.environ.get("SUDO_UID", "")
    if 0 in users and behind.isdigit():
        users.add(int(behind))
    return path.lstat().st_uid in users


@lru_cache(32)
def _git_allows(root: Path) -> bool:
    """True if the user's `safe.directory` allows a repository of another user."""
    with suppress(JournalError):
        asked = run_git(root, "rev-parse", "--git-dir", timeout_s=ROOT_TIMEOUT_S, within=root)
        return asked.returncode == 0
    return False


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
    """The repository of a checkout, without its root."""
    path = repository_folder(here.common)
    address = origin_address(here)
    remote = ""
    if address:
        remote = hash_identity(address)
        if not is_public_address(address):
            remote = f"{PRIVATE}{remote}"
    return Repository(path, folder_identity(real_path(here.common)), remote)


def hash_identity(text: str) -> str:
    """The hash of an address or of a commit, by which every machine knows it again."""
    return blake2b(os.fsencode(text), digest_size=16).hexdigest()[:IDENTITY_DIGITS]


def is_public_address(address: str) -> bool:
    """True if an address, as `normalize_remote_url` returns it, means one repository on every
    machine.

    | address                                            | public |
    |----------------------------------------------------|--------|
    | `github.com/acme/api`, `git.example.org:8022/a/b`  | yes    |
    | `git/ops/infra`, `nas.local/a`, `build.lan/a`      | no     |
    | `localhost:2222/a`, `10.0.0.5/a`, `127.1/a`        | no     |
    | `8.8.8.8/a`, `2606:4700::1/a`                      | yes    |
    | `fd00::5/a`, `/mnt/usb/app.git`                    | no     |
    """
    host = address.partition("/")[0]
    name, _, port = host.rpartition(":")
    with suppress(ValueError):
        ip = ip_address(host)
        return ip.is_global and not (ip.version == 6 and (ip.sixtofour or ip.teredo))
    if port.isdigit():
        host = name
    with suppress(ValueError):
        return ip_address(host).is_global
    host = host.rstrip(".")
    return bool(_PUBLIC_NAME.fullmatch(host)) and not _PRIVATE_DOMAINS.search(host)


def read_root(here: Checkout) -> str:
    """The hash of the root commit of a checkout's repository: the first commit of the remote's
    default branch, else of a local one of the usual names, else of HEAD. NO_ROOT without a
    commit; "" if it is not known: of a shallow clone, and where git is missing or slow.
    """
    common = here.common
    heads = [f"refs/remotes/origin/{name}" for name in here.default_branches]
    heads += [f"refs/heads/{name}" for name in _DEFAULT]
    try:
        packed = read_small_text(common / "packed-refs")
    except (OSError, ValueError):
        packed = ""
    heads.append(here.head.removeprefix("ref: "))
    tips = [ref for ref in heads if (common / ref).is_file() or f" {ref}\n" in f"{packed}\n"]
    is_listed_elsewhere = (common / "reftable").is_dir() or not here.head.startswith("ref: ")
    if not here.head or not (tips or is_listed_elsewhere):
        return NO_ROOT
    tip = tips[0] if tips else "HEAD"
    if not real_path(common / tip).is_relative_to(real_path(common)):
        return NO_ROOT
    chain = ("rev-list", "--first-parent", "--max-parents=0", tip, "--")
    from_commits = ("-c", "core.commitGraph=false", *chain)
    try:
        output = run_git(here.root, *from_commits, timeout_s=ROOT_TIMEOUT_S, within=here.root)
    except JournalError:
        return ""
    roots = output.stdout.decode("ascii", "replace").split()
    if output.returncode or len(roots) != 1:
        return NO_ROOT
    return "" if os.path.lexists(common / "shallow") else hash_identity(roots[0])


def head_version(here: Checkout) -> str:
    """A text that changes when the root of a repository may become known: with HEAD, and with
    the end of a shallow clone.
    """
    names = ("shallow", here.head.removeprefix("ref: "), "packed-refs", "reftable/tables.list")
    return hash_identity(repr([here.head, *(file_version(here.common / n) for n in names)]))


def file_version(path: Path) -> str:
    """A text that changes with the file; "" without one."""
    with suppress(OSError, ValueError):
        status = path.stat()
        return f"{status.st_ino}.{status.st_size}.{status.st_mtime_ns}"
    return ""


def repository_folder(git: Path | str) -> str:
    """The real path of the folder that holds this `.git`; of a bare repository its own."""
    folder = real_path(git)
    return str(folder.parent if folder.name == ".git" else folder)


def remote_names(here: Checkout) -> list[str]:
    """The last name of the path on the remote `origin`, and the last two: `api`, `acme/api`."""
    address = origin_address(here)
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


def repository_at_path(path: str) -> Repository:
    """Returns the repository at this path; without one, only its path."""
    with suppress(OSError, ValueError):
        here = _checkout_or_bare_at(Path(path))
        if here:
            return repository_of_checkout(here)
    return Repository(path)


def _checkout_or_bare_at(folder: Path) -> Checkout | None:
    """Returns the checkout or bare repository in this folder. Raises OSError,
    ValueError.
    """
    if os.path.lexists(folder / ".git"):
        return _checkout_at(folder)
    head = read_small_text(folder / "HEAD")
    return Checkout(folder, folder.name, folder, folder, head) if head else None


def origin_address(here: Checkout) -> str:
    """The address of the remote `origin` in its one form; "" without one."""
    with suppress(OSError, ValueError):
        url = _origin_url(read_small_text(here.common / "config"))
        if url:
            return normalize_remote_url(url, Path(repository_folder(here.common)))
    return ""


def _origin_url(settings: str) -> str:
    """The first address of the remote `origin` in git's settings; empty without one."""
    return _read_setting(settings, "remote", "origin", "url")


def _read_setting(settings: str, section: str, name: str | None, key: str) -> str:
    """The first value of a key in a section of git's settings; empty without one."""
    is_inside = False
    for line in settings.splitlines():
        header = _SECTION.match(line.strip())
        if header:
            is_inside = header[1].lower() == section and header[2] == name
            line = header[3]
        name_of_value, _, value = line.partition("=")
        if is_inside and name_of_value.strip().lower() == key:
            plain = _QUOTED.sub(lambda part: part[1] or "", value.strip())
            text = re.sub(r"\\(.)", r"\1", plain).strip()
            if text:
                return text
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

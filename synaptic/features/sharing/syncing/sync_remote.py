"""Reaches the repository that machines share: git fetches into, and pushes from, a bare
repository in `.state`, so that no setting of the journal's repository decides over a transport.
"""

from __future__ import annotations

import os
import re
import tempfile
from functools import partial
from pathlib import Path
from signal import Signals

from ....config import Config
from ....errors import InvalidArgument, JournalError, Refused
from ....journal.git_process import run_git
from ....journal.names import printable_path
from .. import merge_driver
from .shares import without_invisible_characters
from .sync_repository import Repo

REMOTE_TIMEOUT_S = 3600
"""Seconds that git may take to fetch or push: enough for a first sync with many pictures. A
broken connection ends it sooner.
"""
TIP = "refs/heads/tip"
"""In the bare repository: the ref of the remote branch's last commit that was fetched."""
_URL = re.compile(
    r"https://[^/@\s]+/\S+|ssh://(?:[\w.+-]+@)?(?!-)[\w.:\[\]-]+/\S+|/.+"
    r"|(?:[\w.+-]+@)?(?!-)[\w.-]{2,}:(?!:|//)\S+"
)
_ASKS = re.compile(r"Host key|Permission denied|Authentication failed|could not read ")
_ADVICE = re.compile(r"\n(?:fatal: Could not read from remote|To add an exception)")
_WHY = re.compile(
    r"^(?:(?:remote|error|fatal): *|unable to access \S+ )*+(['\w].*?)\.?[ \r]*$", re.MULTILINE
)
"""Matches a line of git's output that explains an error, without the prefix such as
`fatal:`.
"""
_RULE = re.compile(r"^error: object (\w{40,64}): (\w+: .+)$", re.MULTILINE)
"""Matches an object id and the rule of git that it breaks: `error: object 2daf...: hasDotgit:
contains '.git'`.
"""
_HOSTILE = re.compile(r"\.+|\.git.*|git~\d+|.*/.*|", re.IGNORECASE)
"""Matches file names in a git tree that git may refuse."""
_FULL = re.compile(r"No space left on device|Disk quota exceeded")
_VALID_URLS = ("https://HOST/PATH", "ssh://USER@HOST/PATH", "USER@HOST:PATH", "/PATH")


def check_url(url: str) -> None:
    """Raises InvalidArgument for a repository address of a form that is not allowed, or with a
    password.
    """
    if not _URL.fullmatch(url):
        raise InvalidArgument(
            "A journal cannot be shared through this address: it is of an unknown form, or "
            "holds a "
            "password.",
            valid=_VALID_URLS,
            hint="Store the password in git's credential helper.",
        )


def run_git_bare(repo: Repo, *args: str) -> tuple[int, str]:
    """Runs git in the bare repository in `.state`, where it may use the network; returns (exit
    status, output).
    """
    return _run_git_in(repo.config.state / "sync.git", repo.objects, *args)


def _run_git_in(bare: Path, objects: Path, *args: str) -> tuple[int, str]:
    """Runs git in the bare repository `bare`, which is created if missing and stores objects in
    `objects`; returns (exit status, output).
    """
    try:
        if not (bare / "HEAD").exists():
            bare.mkdir(exist_ok=True)
            run_git(bare, "init", "-q", "--bare", "--template=")
        done = run_git(bare, *args, objects=objects, timeout_s=REMOTE_TIMEOUT_S)
    except JournalError as error:
        return 1, error.message
    output = (done.stdout + done.stderr).decode(errors="replace").strip()
    if done.returncode < 0:
        output = f"git was ended by {Signals(-done.returncode).name}. {output}".strip()
    return done.returncode, output


def find_journal_branch(config: Config, url: str) -> str:
    """Returns the name of the branch of the remote repository that holds a journal; "" if the
    remote is empty.

    Raises Refused if it holds something else, JournalError if it cannot be reached.
    """
    with tempfile.TemporaryDirectory(dir=config.state) as name:
        remote = partial(_run_git_in, Path(name), Path(name, "objects"))
        failed, output = remote("ls-remote", "--symref", url)
        if failed:
            raise JournalError(
                f"{url} cannot be reached: {explain_git_error(config, output)}",
                hint="Check the address; the repository must exist before.",
            )
        head = re.findall(r"^ref: refs/heads/(\S+)\tHEAD", output, re.MULTILINE)
        branches = head + re.findall(r"\trefs/heads/(\S+)$", output, re.MULTILINE)
        if not branches:
            return ""
        branch = str(branches[0])
        failed, output = remote("fetch", "-q", "--no-tags", url, f"refs/heads/{branch}:{TIP}")
        if failed:
            reason = explain_git_error(config, output, url, branch)
            raise JournalError(
                f"{url} cannot be read: {reason}",
                hint="Check the connection, and run the same command again.",
            )
        signs = ("-e", f"merge={merge_driver.DRIVER}", "-e", "<!-- syn:")
        if remote("grep", "-q", "-F", *signs, TIP)[0]:
            raise Refused(
                f"{url} is not empty, and does not hold a journal of Synaptic.",
                hint="Create an empty repository, and give its address.",
            )
        return branch


def fetch_branch(repo: Repo) -> tuple[str, str]:
    """Fetches the remote branch; returns (its last commit or "", the reason why it cannot be
    reached or "").
    """
    shared = repo.config.sync
    refs = f"+refs/heads/{shared.branch}:{TIP}"
    failed, output = run_git_bare(repo, "fetch", "-q", "--no-tags", shared.url, refs)
    tip = run_git_bare(repo, "rev-parse", "-q", "--verify", TIP)[1]
    if not failed:
        return tip, ""
    if "couldn't find remote ref" not in output:
        return tip, explain_git_error(repo.config, output, shared.url, shared.branch)
    if tip:
        raise Refused(
            f"{shared.url} has no branch {shared.branch} any more; nothing was sent.",
            hint=f"Share the journal again: synaptic sync --init {shared.url}",
        )
    return "", ""


def push_commit(repo: Repo, commit: str) -> tuple[str, bool]:
    """Pushes a commit to the remote branch; returns (the reason why it was not sent or "", True
    if another machine pushed first).
    """
    shared = repo.config.sync
    refs = f"{commit}:refs/heads/{shared.branch}"
    failed, output = run_git_bare(repo, "push", "--porcelain", shared.url, refs)
    if not failed:
        run_git_bare(repo, "update-ref", TIP, commit)
        return "", False
    is_late = re.search(r"rejected\](?!.*(?:declined|unpack))", output) is not None
    return explain_git_error(repo.config, output, shared.url), is_late


def explain_git_error(config: Config, output: str, url: str = "", branch: str = "") -> str:
    """Returns a sentence that explains git's error `output`, with the next step. With a branch,
    the path of a file that git refuses is looked up there.
    """
    rule = _RULE.search(output)
    if rule:
        path = _path_of_object(config, rule[1], url, branch) if branch else ""
        return (
            f"git refuses {path or 'a file'} there ({rule[2]}). Take it out of the branch and "
            f"of its history, on the machine that added it."
        )
    if _FULL.search(output):
        return "the disk is full. Free some space and sync again."
    refused = re.search(r"rejected\] \((.+)\)", output)
    lines = [output, *_WHY.findall(_ADVICE.split(output)[0])]
    reason = f"{refused[1] if refused else lines[-1]}."
    if _ASKS.search(reason):
        reason += f" Try it where git and ssh may ask: git ls-remote {url or config.sync.url}"
    elif "certificate" in reason:
        reason += " Name its authority: git config --global http.sslCAInfo FILE"
    return reason


def _path_of_object(config: Config, id: str, url: str, branch: str) -> str:
    """Returns the printable path in a remote branch of the object `id`, which git refuses; ""
    if it cannot be found.

    Folders and names are fetched without git's check into a repository that is removed again.
    """
    with tempfile.TemporaryDirectory(dir=config.state) as name:
        bare = Path(name)
        remote = partial(_run_git_in, bare, bare / "objects")
        unchecked = ("-c", "fetch.fsckObjects=false", "-c", "transfer.fsckObjects=false")
        words = ("fetch", "-q", "--no-tags", "--filter=blob:none")
        remote(*unchecked, *words, url, f"refs/heads/{branch}:{TIP}")
        listing = remote("rev-list", "--objects", "--missing=allow-any", TIP)[1]
        match = re.search(rf"^{id}(?: (.*))?$", listing, re.MULTILINE)
        if not match:
            return ""
        path = match[1] or ""
        entries = remote("ls-tree", "--name-only", "-z", id)
        names = [] if entries[0] else entries[1].split("\0")
        bad = [
            each
            for each in names[:-1]
            if _HOSTILE.fullmatch(without_invisible_characters(each))
        ]
        return printable_path(os.path.join(path, bad[0])) if bad else printable_path(path)  # noqa: PTH118

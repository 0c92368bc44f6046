"""Shares the journal with other machines through a branch of a git repository.

1. `_snapshot` makes a commit of the notes and attachments. Nothing moves yet.
2. git fetches into a bare repository in `.state`, which stores objects in the journal's: so no
   setting of the journal's repository decides over a transport.
3. `_merge` makes a commit of both sides, file by file and entry by entry.
4. `_screen` reads all that no other machine has seen. A secret ends the sync here.
5. `_apply` changes files by the one way of `FileWriter`, and the branch moves.
6. git pushes, without force. If somebody was quicker, it goes on at 2.

Commits are made by `git fast-import`, without an index: what a person staged stays staged.
After a kill the next sync finishes step 5; it leaves alone the files that were done.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePosixPath
from secrets import token_hex
from typing import Any

from ..config import Config
from ..errors import Busy, InvalidArgument, JournalError, NotFound, Refused, SynapticError
from ..files import PICTURE_BYTES, file_lock, is_picture_name, real_path
from ..journal import disk
from ..journal.comments import ids_in
from ..journal.folder import is_note
from ..journal.journal import Journal
from ..journal.writer import Draft, Stat
from ..notes.merge import merge
from ..notes.privacy import mask, passages
from ..notes.redaction import line_of
from ..notes.screening import Screen, visible_secrets
from ..workspace.git import git
from . import gitdriver
from .adopt import write_setting

TRIES = 6
"""How often a push is tried while others push first."""
PAUSE_S = 0.2
REMOTE_TIMEOUT_S = 3600
"""For a first join with many pictures; a dead line ends it sooner."""
LOCK_TIMEOUT_S = 300
TITLES = 20
"""Titles in the message of a commit."""
_BUSY = ("MERGE_HEAD", "rebase-merge", "rebase-apply", "CHERRY_PICK_HEAD", "REVERT_HEAD")
_FILE = ("100644", "100755")
_MADE = "refs/synaptic/made"
"""The last commit that was made; it keeps git from removing objects."""
_TIP = "refs/heads/tip"
"""In the bare repository: the last commit of the remote branch that was seen."""
_SETUP = {
    ".gitattributes": f"*.md merge={gitdriver.DRIVER} -text\n",
    ".gitignore": ".state/\ntokens.toml\n.*.synaptic\n",
}
_URL = re.compile(
    r"https://[^/@\s]+/\S+|ssh://(?:[\w.+-]+@)?(?!-)[\w.:\[\]-]+/\S+|/.+"
    r"|(?:[\w.+-]+@)?(?!-)[\w.-]{2,}:(?!:|//)\S+"
)
_ASKS = re.compile(r"Host key|Permission denied|Authentication failed|could not read ")
_ADVICE = re.compile(r"\n(?:fatal: Could not read from remote|To add an exception)")
_WHY = re.compile(
    r"^(?:(?:remote|error|fatal): *|unable to access \S+ )*+(['\w].*?)\.?[ \r]*$", re.MULTILINE
)
"""A line with words, without git's marks."""
_VALID_URLS = ("https://HOST/PATH", "ssh://USER@HOST/PATH", "USER@HOST:PATH", "/PATH")
_RAW = re.compile(rb":\d+ (\d+) [0-9a-f]+ ([0-9a-f]+) \w\d*\0([^\0]+)")

Tree = Mapping[str, tuple[str, str]]
"""The mode and the object of each file of a commit, by path."""
Changes = dict[str, bytes | tuple[str, str] | None]
"""The next bytes of files, or mode and object; None removes one."""


@dataclass(frozen=True, slots=True)
class Synced:
    """The numbers of files that were sent and received. `conflicts` are files in which both
    machines changed one entry; `sent` is None where nothing could be sent.
    """

    url: str
    commit: str
    sent: int | None
    received: int
    conflicts: tuple[str, ...]
    notices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Repo:
    """The journal and its repository, and what a sync has to tell."""

    config: Config
    journal: Journal
    objects: Path = Path()
    conflicts: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    received: set[str] = field(default_factory=set)
    trees: dict[str, Tree] = field(default_factory=dict)

    def ask(self, *args: str, given: bytes = b"") -> bytes:
        """Git's answer on the journal's repository. Raises JournalError if git fails."""
        done = git(self.config.journal, *args, given=given)
        if done.returncode:
            reason = done.stderr.decode(errors="replace").strip()
            raise JournalError(f"git {args[0]} failed: {reason}")
        return done.stdout

    def look(self, *args: str) -> str:
        """The same; empty if git fails."""
        done = git(self.config.journal, *args)
        return "" if done.returncode else os.fsdecode(done.stdout).strip()

    def commit(self, name: str) -> str:
        return self.look("rev-parse", "-q", "--verify", f"{name}^{{commit}}")

    def remote(self, *args: str) -> tuple[int, str]:
        """(exit status, output) of git in the bare repository, which may reach others."""
        return _remote(self.config.state / "sync.git", self.objects, *args)

    def tree(self, commit: str) -> Tree:
        if commit and commit not in self.trees:
            said = self.ask("ls-tree", "-r", "-z", "--full-tree", commit)
            self.trees[commit] = _files_of(said, 2)
        return self.trees.get(commit, {})

    def blobs(self, ids: Iterable[str]) -> dict[str, bytes]:
        """The bytes of these objects."""
        wanted = sorted(set(ids))
        lines = "".join(f"{id}\n" for id in wanted)
        said = self.ask("cat-file", "--batch", given=lines.encode())
        found = {}
        at = 0
        for id in wanted:
            begin = said.index(b"\n", at) + 1
            at = begin + int(said[at:begin].rpartition(b" ")[2])
            found[id] = said[begin:at]
            at += 1
        return found

    def texts(
        self, paths: Sequence[str], *trees: Tree
    ) -> Iterator[tuple[str, list[bytes | None]]]:
        """Each path with its bytes in these trees, None where there is no plain file."""
        found = {path: [tree.get(path, ("", "")) for tree in trees] for path in paths}
        wanted = [id for files in found.values() for mode, id in files if mode in _FILE]
        blobs = self.blobs(wanted)
        for path, files in found.items():
            yield path, [blobs[id] if mode in _FILE else None for mode, id in files]


def _files_of(said: bytes, place: int) -> Tree:
    """The files that git lists; the object of each is the word in this place."""
    files = {}
    for line in os.fsdecode(said).split("\0")[:-1]:
        about, _, path = line.partition("\t")
        words = about.split(" ")
        files[path] = words[0], words[place]
    return files


def _remote(bare: Path, objects: Path, *args: str) -> tuple[int, str]:
    """(exit status, output) of git in a bare repository of our own, which is made at need."""
    try:
        if not (bare / "HEAD").exists():
            bare.mkdir(exist_ok=True)
            git(bare, "init", "-q", "--bare", "--template=")
        done = git(bare, *args, objects=objects, timeout_s=REMOTE_TIMEOUT_S)
    except JournalError as error:
        return 1, error.message
    return done.returncode, (done.stdout + done.stderr).decode(errors="replace").strip()


# -- what is kept in `.state`
# ------------------------------------------------------------------------------


def _memory(config: Config) -> dict[str, Any]:
    return disk.kept_in(config.state / "sync.json")


def _remember(config: Config, **news: Any) -> None:
    kept = _memory(config) | news
    path = config.state / "sync.json"
    with disk.disk_errors(path):
        disk.overwrite(path, json.dumps(kept).encode())


def allow(config: Config, id: str) -> None:
    """Lets the secret of a hit be sent from now on. Raises NotFound for an unknown id."""
    kept = _memory(config)
    waiting = kept.get("hits", [])
    if id not in waiting:
        raise NotFound(f"No secret that waits is called {id}.", hint=f"Known: {waiting}.")
    _remember(config, allowed=[*kept.get("allowed", []), id])


def state(config: Config) -> list[str]:
    """Sentences on the last sync and on what waits; none where nothing is shared."""
    if not config.sync.url:
        return []
    kept = _memory(config)
    last = float(kept.get("at", 0))
    journal = Journal(config)
    newer = sum(
        stamp.mtime_ns > last * 1e9
        for stamp in journal.scan()
        if not journal.roots.of(stamp.path)[0]
    )
    commits = ("rev-list", "--count", "HEAD", *_without(kept.get("shared", "")))
    waiting = _Repo(config, journal).look(*commits) or "0"
    when = time.strftime("on %Y-%m-%d at %H:%M", time.localtime(last)) if last else "never"
    said = [
        f"Synced with {config.sync.url} {when}. Waiting: commits {waiting}, changed files "
        f"{newer:,}."
    ]
    if kept.get("trouble"):
        said.append(f"The last sync did not work: {kept['trouble']}")
    return said


# -- the whole
# ------------------------------------------------------------------------------


def init(config: Config, url: str, agree: Callable[[str], bool]) -> Synced | None:
    """Shares the journal through this repository from now on, if a person agrees to the
    question; None if not.

    A remote that holds a journal is joined. Raises Refused for one that holds something else,
    and for a journal inside of another repository.
    """
    _check_url(url)
    journal = Journal(config)
    journal.prepare()
    repo = _Repo(config, journal)
    root = repo.look("rev-parse", "--show-toplevel")
    if root and real_path(root) != real_path(config.journal):
        raise Refused(
            f"The journal lies inside of the git repository {root}, which holds more.",
            hint="`synaptic git-setup` lets that repository merge the journal by entries.",
        )
    head = repo.look("symbolic-ref", "-q", "--short", "HEAD") if root else ""
    branch = _branch_of(config, url) or head or "main"
    if head not in ("", branch):
        raise Refused(
            f"The journal is on the branch {head}, the remote on {branch}.",
            hint=f"Rename it: git -C {config.journal} branch -m {branch}",
        )
    files = [path for path in _files(repo) if is_note(path)]
    private = sum(len(passages(mask(journal.read(path)))) for path in files)
    if not agree(
        f"Share the journal through {url}, branch {branch}? Its {len(files):,} notes go there "
        f"whole, with {private:,} private passages, and so do attachments."
    ):
        return None
    if not root:
        repo.ask("init", "-q", "--template=", "-b", branch)
    for name, lines in _SETUP.items():
        file = config.journal / name
        old = file.read_bytes() if file.exists() else b""
        file.write_bytes(_union(old, lines.encode()))
    gitdriver.set_up(config)
    shutil.rmtree(config.state / "sync.git", ignore_errors=True)
    write_setting(config.home, "sync.url", url)
    write_setting(config.home, "sync.branch", branch)
    shared = replace(config.sync, url=url, branch=branch)
    return sync(replace(config, sync=shared))


def sync(config: Config) -> Synced:
    """Sends the journal's changes and takes those of the other machines.

    Raises Refused for a secret, for a repository that is busy with something else and for one
    that does not belong to the journal alone; Busy; and JournalError.
    """
    if not config.sync.url:
        raise Refused("The journal is not shared.", hint="Share it: synaptic sync --init URL")
    _check_url(config.sync.url)
    with _alone(config):
        try:
            found = _synced(_repo(config))
        except SynapticError as error:
            _remember(config, trouble=str(error))
            raise
        news: dict[str, Any] = {"hits": [], "trouble": " ".join(found.notices)}
        if found.sent is not None:
            news |= {"at": time.time(), "shared": found.commit}
        _remember(config, **news)
        return found


def _synced(repo: _Repo) -> Synced:
    branch = repo.config.sync.branch
    url = repo.config.sync.url
    _finish(repo)
    for attempt in range(TRIES):
        time.sleep(PAUSE_S * attempt * (1 + random.random()))
        head = repo.commit("HEAD")
        ours = _snapshot(repo, head)
        disk.fault("sync-made")
        theirs, trouble = _fetch(repo)
        disk.fault("sync-fetched")
        merged = _merge(repo, ours, theirs)
        disk.fault("sync-merged")
        _screen(repo, merged, theirs)
        _take(repo, head, ours, merged)
        sent = 0
        if merged != theirs and not trouble:
            sent = len(_differing(repo.tree(theirs), repo.tree(merged)))
            done, said = repo.remote(
                "push", "--porcelain", url, f"{merged}:refs/heads/{branch}"
            )
            disk.fault("sync-pushed")
            if not done:
                repo.remote("update-ref", _TIP, merged)
            elif re.search(r"rejected\](?!.*(?:declined|unpack))", said):
                continue
            else:
                trouble = said
        if trouble:
            repo.notices.append(f"Nothing was sent to {url}: {_reason(url, trouble)}")
        return Synced(
            url,
            merged,
            None if trouble else sent,
            len(repo.received),
            tuple(dict.fromkeys(repo.conflicts)),
            tuple(repo.notices),
        )
    reason = _reason(url, said)
    raise JournalError(f"{url} refused {TRIES} times: {reason}", hint="Try again later.")


def _repo(config: Config) -> _Repo:
    """The journal's repository. Raises Refused if it is not in a state to sync."""
    journal = Journal(config)
    journal.prepare()
    repo = _Repo(config, journal)
    folder = config.journal
    about = ("--path-format=absolute", "--show-toplevel", "--git-dir", "--git-path", "objects")
    root, *places = repo.look("rev-parse", *about).split("\n")
    if not places or real_path(root) != real_path(folder):
        raise Refused(
            f"{folder} is no git repository of its own.",
            hint=f"Begin anew: synaptic sync --init {config.sync.url}",
        )
    if any(Path(places[0], name).exists() for name in _BUSY):
        raise Refused(
            "Nothing was synced: a merge, rebase or the like is under way in the journal.",
            hint="Finish or abort it with git, then sync.",
        )
    head = repo.look("symbolic-ref", "-q", "HEAD")
    branch = config.sync.branch
    if head != f"refs/heads/{branch}":
        raise Refused(
            f"Nothing was synced: the journal is on {head or 'no branch (a detached HEAD)'}.",
            hint=f"git -C {folder} switch {branch}",
        )
    return replace(repo, objects=Path(places[1]))


@contextmanager
def _alone(config: Config) -> Iterator[None]:
    """A context in which no other process of this home syncs. Raises Busy."""
    from filelock import Timeout  # slow to import

    try:
        with file_lock(config.state / "sync.lock", LOCK_TIMEOUT_S, config.journal):
            yield
    except Timeout as error:
        raise Busy("Another process is syncing.", hint="Try again later.") from error


def _check_url(url: str) -> None:
    if not _URL.fullmatch(url):
        raise InvalidArgument(
            "That is no address to share a journal through; it may hold no password.",
            valid=_VALID_URLS,
            hint="A password belongs into git's credential helper.",
        )


def _branch_of(config: Config, url: str) -> str:
    """The branch of the remote that holds a journal; "" if the remote is empty.

    Raises Refused if it holds something else, JournalError if it cannot be reached.
    """
    with tempfile.TemporaryDirectory(dir=config.state) as name:
        remote = partial(_remote, Path(name), Path(name, "objects"))
        failed, said = remote("ls-remote", "--symref", url)
        if failed:
            raise JournalError(
                f"{url} cannot be reached: {_reason(url, said)}",
                hint="The repository must be there before.",
            )
        head = re.findall(r"^ref: refs/heads/(\S+)\tHEAD", said, re.MULTILINE)
        branches = head + re.findall(r"\trefs/heads/(\S+)$", said, re.MULTILINE)
        if not branches:
            return ""
        branch = str(branches[0])
        failed, said = remote("fetch", "-q", "--no-tags", url, f"refs/heads/{branch}:{_TIP}")
        signs = ("-e", f"merge={gitdriver.DRIVER}", "-e", "<!-- syn:")
        if not failed:
            failed, said = remote("grep", "-q", "-F", *signs, _TIP)
        if failed:
            raise Refused(
                f"{url} holds something, but no journal of Synaptic. {said}".strip(),
                hint="Name an empty repository.",
            )
        return branch


def _fetch(repo: _Repo) -> tuple[str, str]:
    """(the last commit of the remote branch or "", the reason why it cannot be reached)."""
    shared = repo.config.sync
    refs = f"+refs/heads/{shared.branch}:{_TIP}"
    failed, said = repo.remote("fetch", "-q", "--no-tags", shared.url, refs)
    tip = repo.remote("rev-parse", "-q", "--verify", _TIP)[1]
    if failed and "couldn't find remote ref" in said:
        failed = 0
        if tip:
            raise Refused(
                f"{shared.url} has no branch {shared.branch} any more; nothing was sent.",
                hint=f"Begin anew: synaptic sync --init {shared.url}",
            )
    return tip, said if failed else ""


def _reason(url: str, said: str) -> str:
    """Why git failed, and the next step for a person."""
    refused = re.search(r"rejected\] \((.+)\)", said)
    lines = [said, *_WHY.findall(_ADVICE.split(said)[0])]
    reason = f"{refused[1] if refused else lines[-1]}."
    if _ASKS.search(reason):
        reason += f" Try it where git and ssh may ask: git ls-remote {url}"
    elif "certificate" in reason:
        reason += " Name its authority: git config --global http.sslCAInfo FILE"
    return reason


# -- commits
# ------------------------------------------------------------------------------


def _files(repo: _Repo) -> list[str]:
    """The paths of the notes and attachments, but for those that git is told to ignore."""
    paths = []
    root = repo.config.journal
    roots = repo.journal.roots
    others = {real_path(place) for name, place in roots.folders.items() if name}
    others.add(real_path(repo.config.state))
    for folder, folders, names in os.walk(root):
        here = Path(folder)
        shown = [name for name in folders if name[0] != "."]
        folders[:] = [name for name in shown if real_path(here / name) not in others]
        for name in sorted(names):
            place = here / name
            path = place.relative_to(root).as_posix()
            if not _is_shared(path) or roots.excludes(path) or roots.of(path)[0]:
                continue
            if place.is_symlink() or not place.is_file():
                continue
            if place.stat().st_size > PICTURE_BYTES:
                repo.notices.append(f"{path} is too large and is not sent.")
                continue
            paths.append(path)
    listed = os.fsencode("".join(f"{path}\0" for path in paths))
    said = git(root, "check-ignore", "-z", "--stdin", given=listed).stdout
    ignored = set(os.fsdecode(said).split("\0"))
    return [path for path in paths if path not in ignored]


def _is_shared(path: str) -> bool:
    """True for the path of a note or an attachment, and of the files that `init` writes."""
    if path in _SETUP:
        return True
    if path.startswith(".") or "/." in path:
        return False
    return is_note(path) or is_picture_name(path) or path.startswith("attachments/")


def _snapshot(repo: _Repo, head: str) -> str:
    """A commit of the files as they are, or `head` if it is one."""
    known = repo.tree(head)
    kind = "sha256" if len(head) == 64 else "sha1"
    changes: Changes = {}
    present = set()
    for path in _files(repo):
        present.add(path)
        with suppress(NotFound):
            data = repo.journal.read(path)
            blob = hashlib.new(kind, b"blob %d\0" % len(data) + data)
            mode, id = known.get(path, ("100644", ""))
            if mode in _FILE and blob.hexdigest() != id:
                changes[path] = data
    for path in known.keys() - present:
        is_gone = not os.path.lexists(repo.config.journal / path)
        is_mine = _is_shared(path) and not _is_of_home(repo, path)
        if is_gone and is_mine and known[path][0] in _FILE:
            changes[path] = None
    if not changes:
        return head
    names = "".join(f"{path}\0" for path in changes)
    said = repo.ask("check-attr", "-z", "--stdin", "filter", given=os.fsencode(names))
    words = os.fsdecode(said).split("\0")
    for path, value in zip(words[::3], words[2::3], strict=False):
        if value not in ("unspecified", "unset"):
            raise Refused(
                f"Nothing was synced: git passes {path} through the filter {value}, which "
                f"Synaptic does not run.",
                hint="Take the filter out of .gitattributes.",
            )
    return _commit(repo, [head], known, changes, _message(repo, known, changes))


def _message(repo: _Repo, known: Tree, changes: Changes) -> str:
    """The titles of new and changed entries, as an agent sees them."""
    screen = Screen("redact")
    titles = []
    for path, (old,) in repo.texts([path for path in changes if is_note(path)], known):
        before, after = (
            repo.journal.parse(path, data).entries if isinstance(data, bytes) else ()
            for data in (old, changes[path])
        )
        texts = {(entry.title, entry.content) for entry in before}
        new = [entry.title for entry in after if (entry.title, entry.content) not in texts]
        titles += [screen.redacted("title", " ".join(title.split())) for title in new]
    if len(titles) == 1:
        return titles[0]
    lines = [f"Files of the journal: {len(changes):,}", ""]
    return "\n".join([*lines, *(f"- {title}" for title in titles[:TITLES])]).strip()


def _commit(
    repo: _Repo, parents: Sequence[str], known: Tree, changes: Changes, message: str
) -> str:
    """A new commit: the first of these parents, whose tree is `known`, with the changes."""
    said = message.encode("utf-8", "replace")
    who = repo.look("var", "GIT_COMMITTER_IDENT")
    who = who or f"Synaptic <synaptic@localhost> {time.time():.0f} +0000"
    lines = [b"commit %b\nmark :1\ncommitter %b" % (_MADE.encode(), os.fsencode(who))]
    lines.append(b"data %d\n%b" % (len(said), said))
    for word, parent in zip(("from", "merge"), filter(None, parents), strict=False):
        lines.append(f"{word} {parent}".encode())
    for path, change in changes.items():
        name = os.fsencode(path)
        for sign in (b"\\", b'"', b"\n"):
            name = name.replace(sign, b"\\n" if sign == b"\n" else b"\\" + sign)
        mode = known.get(path, ("100644", ""))[0]
        if change is None:
            lines.append(b'D "%b"' % name)
        elif isinstance(change, bytes):
            lines.append(b'M %b inline "%b"' % (mode.encode(), name))
            lines.append(b"data %d\n%b" % (len(change), change))
        else:
            lines.append(b'M %b %b "%b"' % (change[0].encode(), change[1].encode(), name))
    lines.append(b"\nget-mark :1\ndone\n")
    made = repo.ask("fast-import", "--quiet", "--force", "--done", given=b"\n".join(lines))
    return made.decode().strip()


def _differing(one: Tree, other: Tree) -> list[str]:
    return sorted(path for path in {*one, *other} if one.get(path) != other.get(path))


# -- merging
# ------------------------------------------------------------------------------


def _merge(repo: _Repo, ours: str, theirs: str) -> str:
    """A commit that holds both; one of them if it holds the other."""
    base = repo.look("merge-base", ours, theirs) if ours and theirs else ""
    if not theirs or base == theirs:
        return ours
    filters = ("grep", "-l", "-F", "-e", "filter=", theirs, "--", ":(glob)**/.gitattributes")
    if named := repo.look(*filters):
        raise Refused(
            f"Nothing was synced: {named} names a filter, which Synaptic does not run.",
            hint="Take it out on the machine that added it.",
        )
    if not ours or base == ours:
        return theirs
    was = repo.tree(base)
    mine = repo.tree(ours)
    other = repo.tree(theirs)
    changes: Changes = {}
    both = []
    for path in _differing(mine, other):
        if mine.get(path) == was.get(path):
            changes[path] = other.get(path)
        elif other.get(path) != was.get(path):
            both.append(path)
    for path, (old, one, two) in repo.texts(both, was, mine, other):
        merged, clash = _joined(repo, path, old, one, two)
        if clash and merged == one:
            name = PurePosixPath(path)
            stamp = time.strftime(".sync-conflict-%Y%m%d-%H%M%S-")
            beside = name.with_name(f"{name.stem}{stamp}{theirs[:7]}{name.suffix}")
            changes[beside.as_posix()] = two
        elif merged != one:
            changes[path] = merged
    return _commit(repo, [ours, theirs], mine, changes, "Merge the journal of another machine")


def _joined(
    repo: _Repo, path: str, base: bytes | None, ours: bytes | None, theirs: bytes | None
) -> tuple[bytes | None, bool]:
    """(the file with the changes of both, True for a conflict); None is no file. A conflict in
    which the result is `ours` leaves out `theirs`.
    """
    if theirs in (ours, base):
        return ours, False
    if ours == base:
        return theirs, False
    if path in _SETUP:
        return _union(ours or b"", theirs or b""), False
    edited = ours if theirs is None else theirs
    if is_note(path):
        with suppress(JournalError):  # git merges no text with NUL by lines
            texts = (base or b"", ours or b"", theirs or b"")
            done = merge(*texts, path, repo.config.day_file, gitdriver.by_lines)
            clash = done.conflicts > 0
            if clash and None in (ours, theirs):
                return edited, False
            if clash:
                repo.conflicts.append(path)
            return done.data or None, clash
    if None in (ours, theirs):
        return edited, False
    repo.conflicts.append(path)
    return ours, True


def _union(ours: bytes, theirs: bytes) -> bytes:
    """Our lines, and then theirs that we lack."""
    lines = ours.splitlines()
    more = [line for line in theirs.splitlines() if line not in lines]
    return b"".join(line + b"\n" for line in [*lines, *more])


# -- the secrets of what is to be sent
# ------------------------------------------------------------------------------


def _screen(repo: _Repo, commit: str, theirs: str) -> None:
    """Raises Refused if a commit that no other machine has seen holds a secret."""
    if not commit or commit == theirs:
        return
    kept = _memory(repo.config)
    salt = kept.get("salt") or token_hex(16)
    head = repo.commit("HEAD")
    committed = set(repo.look("rev-list", head, *_without(theirs)).split()) if head else set()
    hits: dict[str, str] = {}
    for place, text, known, at in _unseen(repo, commit, theirs):
        for secret in visible_secrets(text):
            value = text[secret.start : secret.end]
            if value in known:
                continue
            key = hashlib.blake2b(
                f"{place}\0{value}".encode(), digest_size=5, key=salt.encode()
            )
            id = key.hexdigest()
            where = f"commit {at[:8]}" if at in committed else "not committed yet"
            line = line_of(text, secret.start)
            if id not in kept.get("allowed", []):
                hits[id] = f"{secret.kind} in {place}:{line} ({where}, {id})"
    if not hits:
        return
    _remember(repo.config, salt=salt, hits=list(hits))
    told = list(hits.values())[:5]
    hint = "Take it out of the file and sync again"
    if any("(commit" in sentence for sentence in told):
        base = repo.look("merge-base", head, theirs) if theirs else ""
        undo = f"reset --soft {base[:12]}" if base else "update-ref -d HEAD"
        hint = f"`git -C {repo.config.journal} {undo}` takes back the commits. {hint}"
    raise Refused(
        f"Nothing was sent: {'; '.join(told)}.",
        hint=f"{hint}; or `synaptic sync --allow ID` sends it all the same.",
    )


def _without(commit: str) -> list[str]:
    return [f"^{commit}"] if commit else []


def _unseen(repo: _Repo, commit: str, theirs: str) -> Iterator[tuple[str, str, str, str]]:
    """(place, text, the text that the remote holds there, commit) of all that is to be sent:
    files, their names, and messages.
    """
    sign = token_hex(16)
    log = ["log", "-m", "--raw", "--no-abbrev", "--no-renames", "--no-ext-diff", "-z"]
    log += ["--no-show-signature", "--no-mailmap", f"-O{os.devnull}"]
    said = repo.ask(*log, f"--format={sign}%H%n%B{sign}", commit, *_without(theirs), "--")
    parts = said.split(sign.encode())[1:]
    there = repo.tree(theirs)
    files: dict[tuple[str, str], str] = {}
    for about, changed in zip(parts[::2], parts[1::2], strict=True):
        id, _, message = about.decode("utf-8", "replace").partition("\n")
        yield "the message of a commit", message, "", id
        for mode, blob, name in _RAW.findall(changed):
            path = os.fsdecode(name)
            is_sent = there.get(path, ("", ""))[1] != blob.decode()
            if mode.decode() in _FILE and is_sent and not is_picture_name(path):
                files[path, blob.decode()] = id
    old = {path: there[path][1] for path, _ in files if path in there}
    blobs = repo.blobs([*old.values(), *(blob for _, blob in files)])
    for (path, blob), id in files.items():
        if path not in there:
            yield path, path, "", id
        known = blobs.get(old.get(path, ""), b"").decode("utf-8", "replace")
        yield path, blobs[blob].decode("utf-8", "replace"), known, id


# -- the files, the branch and the index
# ------------------------------------------------------------------------------


def _take(repo: _Repo, head: str, ours: str, merged: str) -> None:
    """Brings the files from `ours` to `merged`, and the branch from `head`."""
    if merged != head:
        _remember(repo.config, applying=[head, ours, merged])
        _finish(repo)


def _finish(repo: _Repo) -> None:
    """Ends what `_take` began, maybe in a sync that was killed."""
    head, ours, merged = _memory(repo.config).get("applying") or ("", "", "")
    if merged and repo.commit(merged):
        now = repo.commit("HEAD")
        if now != merged:
            _apply(repo, ours, merged)
        if now == head:
            none = "0" * len(merged)
            repo.ask("update-ref", "-m", "synaptic sync", "HEAD", merged, head or none)
            disk.fault("sync-moved")
        if now in (head, merged):
            _follow(repo, head, merged)
    repo.journal.writer.settled.unlink(missing_ok=True)
    _remember(repo.config, applying=None)


def _apply(repo: _Repo, before: str, after: str) -> None:
    """Makes the change between two commits in the files, which may have changed since."""
    old = repo.tree(before)
    new = repo.tree(after)
    paths = _differing(old, new) if before != after else []
    writer = repo.journal.writer
    with repo.journal.writing():
        settled = writer.settled.read_text() if writer.settled.exists() else ""
    done = set(settled.splitlines())
    for path, texts in repo.texts(paths, old, new):
        modes = {tree[path][0] for tree in (old, new) if path in tree}
        if not modes <= {*_FILE} or _is_of_home(repo, path):
            repo.notices.append(f"{path} was left as it is: it is no file of the journal.")
            continue

        def make(
            data: bytes, status: Stat, path: str = path, texts: Sequence[bytes | None] = texts
        ) -> Draft | None:
            added = ids_in(texts[1] or b"") - ids_in(texts[0] or b"")
            if added and added <= ids_in(data):
                return None  # a sync that was killed did it, and a hand edit hid that
            present = data if status else None
            wanted, _ = _joined(repo, path, texts[0], present, texts[1])
            writer.intend(path, wanted)
            return None if wanted == present else Draft(wanted)

        with repo.journal.writing():
            if json.dumps(path) not in done:
                writer.change(path, make)
                writer.settle()
            for id in ids_in(texts[0] or b"") - ids_in(texts[1] or b""):
                repo.journal.saved.forget(id)  # deleted elsewhere: it has not vanished
        repo.received.add(path)
        disk.fault("sync-applied")


def _is_of_home(repo: _Repo, path: str) -> bool:
    """True for a path that leads to another root, or to a file of a home in the journal."""
    config = repo.config
    place = config.journal / path
    is_inside = config.home.is_relative_to(config.journal) and place.is_relative_to(config.home)
    return bool(repo.journal.roots.of(path)[0]) or (is_inside and not _is_shared(path))


def _follow(repo: _Repo, before: str, after: str) -> None:
    """Brings git's index to the new commit, but for what a person staged."""
    old = repo.tree(before)
    new = repo.tree(after)
    staged = _files_of(repo.ask("ls-files", "-s", "-z"), 1)
    lines = []
    for path in _differing(old, new):
        if staged.get(path) == old.get(path):
            mode, id = new.get(path, ("0", "0" * len(after)))
            lines.append(f"{mode} {id}\t{path}\0")
    repo.ask("update-index", "-z", "--index-info", given=os.fsencode("".join(lines)))

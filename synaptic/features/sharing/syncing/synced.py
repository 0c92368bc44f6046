"""Shares the journal with other machines through a branch of a git repository.

1. `commit_files` makes a commit of the notes and attachments. Nothing moves yet.
2. git fetches into a bare repository in `.state`, which stores objects in the journal's.
3. `merge_commits` makes a commit of both sides, file by file and entry by entry.
4. `refuse_secrets` reads all that the remote lacks. A secret ends the sync here.
5. `receive_commit` changes files by the one way of `FileWriter`, and the branch moves.
6. git pushes, without force. If somebody was quicker, it goes on at 1.

What a person staged stays staged. After a kill the next sync finishes step 5; it leaves alone
the files that were done. What cannot be received is named, and does not hold up the rest.
"""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ....config import Config, make_clock
from ....errors import Busy, JournalError, Refused, SynapticError
from ....files import file_lock, real_path
from ....journal import disk
from ....journal.journal import Journal
from ....journal.names import printable_path
from ....journal.settings import write_setting
from ....notes.privacy import mask_private, private_spans
from .. import merge_driver
from .decided import describe_decisions
from .memory import read_sync_record, update_sync_record
from .received import finish_receiving, receive_commit
from .same_names import describe_same_names
from .sent import (
    NOT_SENT,
    commit_files,
    count_entries,
    count_files_that_stay,
    describe_ignored_notes,
    note_paths,
)
from .shares import SETUP, TAKEN
from .sync_remote import check_url, fetch_branch, find_journal_branch, push_commit
from .sync_repository import Repo, Tree, args_excluding_commit, differing_paths
from .trees import merge_commits
from .unseen import refuse_secrets

TRIES = 6
"""The most attempts to push while other machines push first."""
PAUSE_S = 0.2
LOCK_TIMEOUT_S = 300
SHOWN_S = 3 * 86_400
"""The time for which `status` names what a merge decided."""
STAYING = (
    "Not shared, as settings (.obsidian), templates and canvases are: {n:,} files. "
    "docs/RELIABILITY.md, “What a sync promises”, has the rule."
)
_BUSY = ("MERGE_HEAD", "rebase-merge", "rebase-apply", "CHERRY_PICK_HEAD", "REVERT_HEAD")


@dataclass(frozen=True, slots=True)
class Synced:
    """The result of a sync: numbers of files sent and received, and of new, changed or deleted
    entries in them.

    The files of SETUP are not counted. `conflicts` are paths of files in which both machines
    changed one entry; `sent` is None if nothing could be sent. `notices` name the files that
    are left out for the first time, and count those that the last sync left out too.
    """

    url: str
    commit: str
    sent: int | None
    received: int
    sent_entries: int
    received_entries: int
    conflicts: tuple[str, ...]
    notices: tuple[str, ...]


def describe_sync(config: Config) -> list[str]:
    """Returns sentences about the last git sync of a shared journal, and about changes that
    wait to be sent.
    """
    record = read_sync_record(config)
    last = float(record.get("at", 0))
    journal = Journal(config)
    repo = Repo(config, journal)
    newer = sum(
        stamp.mtime_ns > last * 1e9
        for stamp in journal.scan()
        if not journal.roots.split_path(stamp.path)[0]
    )
    commits = ("rev-list", "--count", "HEAD", *args_excluding_commit(record.get("shared", "")))
    counts = {"commits": int(repo.try_git(*commits) or 0), "changed files": newer}
    waiting = [f"{name} {count:,}" for name, count in counts.items() if count]
    at = time.localtime(record.get("clock", last))
    when = time.strftime("on %Y-%m-%d at %H:%M", at) if last else "never"
    rest = f"Waiting: {', '.join(waiting)}." if waiting else "Nothing waits."
    sentences = [f"Synced with {config.sync.url} {when}. {rest}"]
    if record.get("trouble"):
        sentences.append(f"The last sync did not work: {record['trouble']}")
    if time.time() - record.get("decided_at", 0) < SHOWN_S:
        sentences += record["decided"]  # a sync may have run by itself
    return [
        *sentences,
        *record.get("left", []),
        *describe_ignored_notes(repo, repo.find_commit("HEAD")),
    ]


def init_sync(config: Config, url: str, agree: Callable[[str], bool]) -> Synced | None:
    """Shares the journal through the git repository at `url` from now on, if `agree(question)`
    returns True; returns None if not.

    A remote that holds a journal is joined. Raises Refused for one that holds something else,
    and for a journal inside of another repository.
    """
    check_url(url)
    journal = Journal(config)
    journal.prepare()
    repo = Repo(config, journal)
    root = repo.try_git("rev-parse", "--show-toplevel")
    if root and real_path(root) != real_path(config.journal):
        raise Refused(
            f"The journal lies inside of the git repository {root}, which holds other files "
            "too.",
            hint="`synaptic git-setup` lets that repository merge the journal by entries.",
        )
    head = repo.try_git("symbolic-ref", "-q", "--short", "HEAD") if root else ""
    branch = find_journal_branch(config, url) or head or "main"
    if head not in ("", branch):
        raise Refused(
            f"The journal is on the git branch {head}, the remote repository on {branch}.",
            hint=f"Rename the local branch: git -C {config.journal} branch -m {branch}",
        )
    files = note_paths(repo, repo.find_commit("HEAD") if root else "")
    private = sum(len(private_spans(mask_private(journal.read(path)))) for path in files)
    if not agree(
        f"Share the journal through {url}, branch {branch}? Its {len(files):,} notes go there "
        f"whole, with {private:,} private passages, and so do attachments. What a .gitignore "
        f"in {config.journal} names stays here."
    ):
        return None
    if not root:
        repo.run_git("init", "-q", "--template=", "-b", branch)
    for name, lines in SETUP.items():
        file = config.journal / name
        old = file.read_bytes() if file.exists() else b""
        file.write_bytes(_union_of_lines(old, lines.encode()))
    merge_driver.set_up_merge_driver(config)
    shutil.rmtree(config.state / "sync.git", ignore_errors=True)
    write_setting(config.home, "sync.url", url)
    write_setting(config.home, "sync.branch", branch)
    shared = replace(config.sync, url=url, branch=branch)
    return sync(replace(config, sync=shared))


def _union_of_lines(ours: bytes, theirs: bytes) -> bytes:
    """Returns the lines of ours, and then the lines of theirs that ours lacks."""
    lines = ours.splitlines()
    more = [line for line in theirs.splitlines() if line not in lines]
    return b"".join(line + b"\n" for line in [*lines, *more])


def sync(config: Config) -> Synced:
    """Syncs the journal through git: sends its changes and receives those of other machines.

    Raises Refused for a secret, for a repository that is busy with something else and for one
    that does not belong to the journal alone; Busy; and JournalError.
    """
    if not config.sync.url:
        raise Refused(
            "The journal is not shared with other machines.",
            hint="Share it through a git repository: synaptic sync --init URL",
        )
    check_url(config.sync.url)
    with _lock_syncing(config):
        try:
            repo = _open_repository(config)
            synced, trouble = _run_sync_steps(repo)
        except SynapticError as error:
            with suppress(JournalError):  # the disk is full: that is the error
                update_sync_record(config, trouble=str(error))
            raise
        left = repo.report.describe_left_out()
        ignored = describe_ignored_notes(repo, synced.commit)
        before = read_sync_record(config)
        reported = before.get("told", before.get("shared", ""))
        decided = describe_decisions(repo, reported, synced.commit)
        notices = _new_sentences(
            left | ignored, {*before.get("left", []), *before.get("ignored", [])}
        )
        staying = count_files_that_stay(repo, synced.commit)
        if staying and staying != before.get("staying"):
            notices.append(STAYING.format(n=staying))
        news: dict[str, Any] = {
            "staying": staying,
            "hits": [],
            "trouble": trouble,
            "left": [*left],
            "ignored": [*ignored],
            "told": synced.commit,
        }
        if decided:
            news |= {"decided": decided, "decided_at": time.time()}
        if not trouble:
            # files are compared with `at`, people read the time of `clock`
            news |= {"at": time.time(), "clock": make_clock()().timestamp()}
            news["shared"] = synced.commit
        update_sync_record(config, **news)
        same = describe_same_names(repo, synced.commit)
        return replace(synced, notices=(*filter(None, [trouble]), *decided, *same, *notices))


def _new_sentences(sentences: Mapping[str, int], before: Collection[str]) -> list[str]:
    """Returns the sentences that the last sync did not have, and one with the number of files
    in the others.
    """
    new = [sentence for sentence in sentences if sentence not in before]
    same = sum(count for sentence, count in sentences.items() if sentence in before)
    if same:
        files = "1 file was" if same == 1 else f"{same:,} files were"
        new.append(f"As in the last sync, {files} left out: `synaptic status` says which.")
    return new


def _run_sync_steps(repo: Repo) -> tuple[Synced, str]:
    """Runs the steps of a sync once, and the push up to TRIES times; returns (result, the
    reason why nothing was sent or "").
    """
    url = repo.config.sync.url
    finish_receiving(repo)
    first: Tree | None = None
    for attempt in range(TRIES):
        time.sleep(PAUSE_S * attempt * (1 + random.random()))
        repo.report.left.clear()
        head = repo.find_commit("HEAD")
        held, ours = commit_files(repo, head)
        if first is None:
            first = repo.read_tree(held)
        disk.inject_fault("sync-made")
        theirs, trouble = fetch_branch(repo)
        disk.inject_fault("sync-fetched")
        merged, unsent = merge_commits(repo, ours, theirs)
        disk.inject_fault("sync-merged")
        refuse_secrets(repo, merged, theirs)
        if unsent:  # such a file stays here, so it is nothing that the merge could take away
            for path in unsent:
                repo.report.leave_out(NOT_SENT, path, TAKEN)
            tree = repo.read_tree(held)
            held = repo.make_commit(
                [held], tree, dict.fromkeys(unsent), "The files of this machine"
            )
        receive_commit(repo, head, held, merged)
        if merged != head and any(reason == TAKEN for _, reason in repo.report.left):
            continue  # what came may have made room
        sent: list[str] = []
        if merged != theirs and not trouble:
            changed = differing_paths(repo.read_tree(theirs), repo.read_tree(merged))
            sent = [path for path in changed if path not in SETUP]
            trouble, is_late = push_commit(repo, merged)
            disk.inject_fault("sync-pushed")
            if is_late:
                continue
        if trouble:
            trouble = f"Nothing was sent to {url}: {trouble}"
        synced = Synced(
            url,
            merged,
            None if trouble else len(sent),
            len(repo.report.received),
            0
            if trouble
            else count_entries(repo, sent, repo.read_tree(theirs), repo.read_tree(merged)),
            count_entries(repo, sorted(repo.report.received), first, repo.read_tree(merged)),
            tuple(map(printable_path, repo.report.conflicts)),
            (),
        )
        return synced, trouble
    raise JournalError(
        f"Other machines sent to {url} at the same moment, {TRIES} times in a row. {trouble}",
        hint="Run `synaptic sync` again.",
    )


def _open_repository(config: Config) -> Repo:
    """Opens the journal's git repository. Raises Refused if its state allows no sync, such as
    an unfinished merge.
    """
    journal = Journal(config)
    journal.prepare()
    repo = Repo(config, journal)
    folder = config.journal
    about = ("--path-format=absolute", "--show-toplevel", "--git-dir", "--git-path", "objects")
    root, *git_folders = repo.try_git("rev-parse", *about).split("\n")
    if not git_folders or real_path(root) != real_path(folder):
        raise Refused(
            f"The journal {folder} is not a git repository of its own.",
            hint=f"Share it again: synaptic sync --init {config.sync.url}",
        )
    if any(Path(git_folders[0], name).exists() for name in _BUSY):
        raise Refused(
            "Nothing was synced: a merge, rebase or the like is under way in the journal.",
            hint="Finish or abort it with git, then run `synaptic sync` again.",
        )
    head = repo.try_git("symbolic-ref", "-q", "HEAD")
    branch = config.sync.branch
    if head != f"refs/heads/{branch}":
        raise Refused(
            "Nothing was synced: the journal's repository is on "
            f"{head or 'no branch (a detached HEAD)'}, "
            f"not on {branch}.",
            hint=f"Switch back: git -C {folder} switch {branch}",
        )
    return replace(repo, objects=Path(git_folders[1]))


@contextmanager
def _lock_syncing(config: Config) -> Iterator[None]:
    """Locks syncing for this home while the block runs. Raises Busy if another process
    syncs.
    """
    from filelock import Timeout  # slow to import

    try:
        with file_lock(config.state / "sync.lock", LOCK_TIMEOUT_S, config.journal):
            yield
    except Timeout as error:
        raise Busy(
            "Another process is syncing this journal.", hint="Try again when it has ended."
        ) from error

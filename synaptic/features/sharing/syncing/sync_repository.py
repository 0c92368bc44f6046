"""The journal's git repository: reads its commits, and makes new ones by `git fast-import`,
without an index and without a work tree.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ....config import Config
from ....errors import JournalError
from ....journal.folder import is_note
from ....journal.git_process import run_git
from ....journal.journal import Journal
from ....notes.dates import date_in_path
from .shares import FILE_MODES, Entry, Report, Shares

MADE = "refs/synaptic/made"
"""The git ref of the last commit that a sync made; it keeps git from deleting its objects."""
HELD = "refs/synaptic/held"
"""The git ref of a commit with the files that this machine has. Its parent is the shared
commit, from which it differs in files that could not be received. Missing if the two are equal.
"""
PORTION_BYTES = 64_000_000
"""The most bytes of files that are read into memory at once."""

Tree = Mapping[str, Entry]
"""Maps the path of each file of a commit to its mode and object."""
Changes = dict[str, bytes | Entry | None]
"""Maps paths to the new bytes or the tree entry of a file; None deletes the file."""


@dataclass(frozen=True)
class Repo:
    """A journal and its git repository. `objects` is the folder with git's objects."""

    config: Config
    journal: Journal
    objects: Path = Path()
    report: Report = field(default_factory=Report)
    _trees: dict[str, Tree] = field(default_factory=dict)
    _sizes: dict[str, int] = field(default_factory=dict)
    _held: list[str] = field(default_factory=list)

    @cached_property
    def shares(self) -> Shares:
        return Shares(self.config, self.journal.roots)

    def run_git(self, *args: str, stdin: bytes = b"") -> bytes:
        """Runs git in the journal's repository and returns its output. Raises JournalError if
        git fails.
        """
        done = run_git(self.config.journal, *args, stdin=stdin)
        if done.returncode:
            reason = done.stderr.decode(errors="replace").strip()
            raise JournalError(f"git {args[0]} failed: {reason}")
        return done.stdout

    def try_git(self, *args: str) -> str:
        """Runs git in the journal's repository and returns its output as text; empty if git
        fails.
        """
        done = run_git(self.config.journal, *args)
        return "" if done.returncode else os.fsdecode(done.stdout).strip()

    def find_commit(self, name: str) -> str:
        """Returns the id of the commit with this name, such as HEAD; empty if there is none."""
        return self.try_git("rev-parse", "-q", "--verify", f"{name}^{{commit}}")

    def find_held(self) -> str:
        """Returns the id of the commit of HELD, which nothing but a sync moves; empty if there
        is none.
        """
        if not self._held:
            self._held.append(self.find_commit(HELD))
        return self._held[-1]

    def move_held(self, commit: str) -> None:
        """Moves HELD to a commit; removes it for an empty id."""
        self.run_git("update-ref", *([HELD, commit] if commit else ["-d", HELD]))
        self._held.append(commit)

    def read_tree(self, commit: str) -> Tree:
        """Returns the files of a commit; {} for an empty id."""
        if commit and commit not in self._trees:
            output = self.run_git("ls-tree", "-r", "-z", "--full-tree", commit)
            self._trees[commit] = parse_tree(output)
        return self._trees.get(commit, {})

    def find_renamed_notes(self, before: str, after: str) -> dict[str, str]:
        """The new path of each note that was renamed between two commits, by its old path; git
        knows it by its text in each commit, and in all of them together. The file of a day is
        not renamed to that of another day: its entries were moved there. {} for an empty id.
        """
        if not (before and after) or before == after:
            return {}
        old_tree, new_tree = self.read_tree(before), self.read_tree(after)
        words = ("-z", "-M", "--diff-filter=R", "--name-status")
        together = self.run_git("diff-tree", "-r", *words, before, after)
        log = ("log", "--no-merges", "--reverse", "--topo-order", "--format=", "--no-ext-diff")
        single = self.run_git(*log, *words, f"{before}..{after}")
        names: dict[str, str] = {}
        for output in (together, single):
            parts = [part for part in os.fsdecode(output).split("\0") if part]
            for old, new in zip(parts[1::3], parts[2::3], strict=False):
                first = next((name for name, last in names.items() if last == old), old)
                names[first] = new
        return {
            old: new
            for old, new in names.items()
            if is_note(old)
            and is_note(new)
            and old in old_tree.keys() - new_tree
            and new in new_tree.keys() - old_tree
            and not self._are_other_days(old, new)
        }

    def _are_other_days(self, one: str, other: str) -> bool:
        named = [date_in_path(path, self.config.day_file) for path in (one, other)]
        days = {date.day for date in named if date}
        return len(days) > 1

    def unreceived_files(self, head: str) -> dict[str, Entry | None]:
        """Maps the path of each file that this machine does not have in the version of `head`
        to the version that it has; None for a file that was never received.
        """
        held = self.find_held()
        if not held:
            return {}
        mine = self.read_tree(held)
        now = self.read_tree(head)
        paths = differing_paths(self.read_tree(f"{held}^"), mine)
        return {path: mine.get(path) for path in paths if mine.get(path) != now.get(path)}

    def find_ignored(self, paths: Collection[str]) -> set[str]:
        """Returns which of these paths git ignores, including those that git cannot check."""
        if not paths or not (self.config.journal / ".git").exists():
            return set()
        names = os.fsencode("".join(f"{path}\0" for path in paths))
        words = ("check-ignore", "--no-index", "-z", "--stdin")
        done = run_git(self.config.journal, *words, stdin=names)
        if done.returncode in (0, 1):
            return set(os.fsdecode(done.stdout).split("\0")[:-1])
        if len(paths) == 1:
            return {*paths}
        ignored = set()
        for path in paths:
            ignored |= self.find_ignored([path])
        return ignored

    def object_sizes(self, ids: Iterable[str]) -> dict[str, int]:
        """Maps the ids of git objects, and perhaps of others, to their sizes in bytes."""
        new = sorted(set(ids).difference(self._sizes))
        if new:
            lines = "".join(f"{id}\n" for id in new)
            check = "--batch-check=%(objectname) %(objectsize)"
            output = self.run_git("cat-file", check, stdin=lines.encode())
            pairs = (line.split(" ") for line in output.decode().splitlines())
            self._sizes.update((id, int(size)) for id, size in pairs)
        return self._sizes

    def read_objects(self, ids: Iterable[str]) -> dict[str, bytes]:
        """Maps the ids of git objects to their bytes."""
        wanted = sorted(set(ids))
        if not wanted:
            return {}
        lines = "".join(f"{id}\n" for id in wanted)
        output = self.run_git("cat-file", "--batch", stdin=lines.encode())
        blobs = {}
        at = 0
        for id in wanted:
            begin = output.index(b"\n", at) + 1
            at = begin + int(output[at:begin].rpartition(b" ")[2])
            blobs[id] = output[begin:at]
            at += 1
        return blobs

    def read_versions(
        self, paths: Sequence[str], *trees: Tree
    ) -> Iterator[tuple[str, list[bytes | None]]]:
        """Yields each path with its bytes in each of the trees, None if there is no plain file.
        At most PORTION_BYTES are in memory at once.
        """
        ids = {path: [_file_object_id(tree.get(path)) for tree in trees] for path in paths}
        sizes = self.object_sizes(id for row in ids.values() for id in row if id)
        portion: list[str] = []
        total = 0
        for path in paths:
            portion.append(path)
            total += sum(sizes[id] for id in ids[path] if id)
            if total > PORTION_BYTES or path == paths[-1]:
                blobs = self.read_objects(id for each in portion for id in ids[each] if id)
                for each in portion:
                    yield each, [blobs[id] if id else None for id in ids[each]]
                portion = []
                total = 0

    def make_commit(
        self, parents: Sequence[str], tree: Tree, changes: Changes, message: str
    ) -> str:
        """Creates a commit with these parents and returns its id. It has the files of `tree`,
        which is that of the first parent, with the changes.
        """
        text = message.encode("utf-8", "replace")
        who = self.try_git("var", "GIT_COMMITTER_IDENT")
        who = who or f"Synaptic <synaptic@localhost> {time.time():.0f} +0000"
        lines = [b"commit %b\nmark :1\ncommitter %b" % (MADE.encode(), os.fsencode(who))]
        lines.append(b"data %d\n%b" % (len(text), text))
        for word, parent in zip(("from", "merge"), filter(None, parents), strict=False):
            lines.append(f"{word} {parent}".encode())
        removed = [path for path, change in changes.items() if change is None]
        lines += [
            b"D %b" % _quote_path(path) for path in removed
        ]  # they may give way to a folder
        for path, change in changes.items():
            if isinstance(change, bytes):
                mode = tree.get(path, ("", ""))[0]
                mode = mode if mode in FILE_MODES else FILE_MODES[0]
                lines.append(b"M %b inline %b" % (mode.encode(), _quote_path(path)))
                lines.append(b"data %d\n%b" % (len(change), change))
            elif change:
                lines.append(f"M {change[0]} {change[1]} ".encode() + _quote_path(path))
        lines.append(b"\nget-mark :1\ndone\n")
        made = self.run_git(
            "fast-import", "--quiet", "--force", "--done", stdin=b"\n".join(lines)
        )
        return made.decode().strip()


def parse_tree(output: bytes, *, mode_at: int = 0) -> Tree:
    """Parses the output of `git ls-tree` or `git ls-files` into {path: (mode, object id)}. Of
    both the third column holds the object id; `mode_at` is the position of the mode's column.
    """
    files = {}
    for line in os.fsdecode(output).split("\0")[:-1]:
        about, _, path = line.partition("\t")
        words = about.split(" ")
        files[path] = words[mode_at], words[2]
    return files


def differing_paths(one: Tree, other: Tree) -> list[str]:
    """Returns the sorted paths at which two trees differ."""
    return sorted(path for path in {*one, *other} if one.get(path) != other.get(path))


def args_excluding_commit(commit: str) -> list[str]:
    """Returns git arguments that exclude a commit and all its ancestors; [] for an empty id."""
    return [f"^{commit}"] if commit else []


def _file_object_id(entry: Entry | None) -> str:
    """Returns the object id of a regular file; empty for a link, a submodule or None."""
    return entry[1] if entry and entry[0] in FILE_MODES else ""


def _quote_path(path: str) -> bytes:
    name = os.fsencode(path)
    for sign in (b"\\", b'"'):
        name = name.replace(sign, b"\\" + sign)
    return b'"%b"' % name.replace(b"\n", b"\\n")

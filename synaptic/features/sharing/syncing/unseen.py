"""Looks for secrets in all that no other machine has seen: files, their names, and messages."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from secrets import token_hex
from typing import NamedTuple

from ....errors import Refused
from ....journal.names import printable_path
from ....notes.picture_kinds import PICTURE_BYTES, is_picture_name
from ....notes.redaction import line_number
from ....notes.screening import visible_secrets
from .memory import read_sync_record, update_sync_record
from .shares import FILE_MODES
from .sync_repository import Repo, args_excluding_commit

_RAW = re.compile(rb":\d+ (\d+) [0-9a-f]+ ([0-9a-f]+) \w\d*\0([^\0]+)")
_LINK = "120000"
HITS = 5
"""The most secrets that an error lists."""


class _Text(NamedTuple):
    """A text that is to be sent with `commit`: a file, a file name or a commit message. `there`
    is the version that the remote already has.
    """

    where: str
    text: str
    commit: str
    there: str = ""
    is_name: bool = False

    def describe_position(self, start: int) -> str:
        """Returns the printable position of an offset: `path:line`, or `the name of path`."""
        if self.is_name:
            return f"the name of {printable_path(self.where)}"
        return f"{printable_path(self.where)}:{line_number(self.text, start)}"


def refuse_secrets(repo: Repo, commit: str, theirs: str) -> None:
    """Looks for secrets in all commits that the remote lacks. Raises Refused if there is
    one.
    """
    if not commit or commit == theirs:
        return
    record = read_sync_record(repo.config)
    salt = record.get("salt") or token_hex(16)
    hits: dict[str, tuple[str, str]] = {}
    for text in _list_unsent_texts(repo, commit, theirs):
        for secret in visible_secrets(text.text):
            value = text.text[secret.start : secret.end]
            if value in text.there:
                continue
            message = f"{text.where}\0{value}".encode("utf-8", "surrogateescape")
            id = hashlib.blake2b(message, digest_size=5, key=salt.encode()).hexdigest()
            if id not in record.get("allowed", []):
                phrase = f"{secret.kind} in {text.describe_position(secret.start)}"
                hits[id] = phrase, text.commit
    if not hits:
        return
    update_sync_record(repo.config, salt=salt, hits=list(hits))
    head = repo.find_commit("HEAD")
    excluded = args_excluding_commit(theirs)
    committed = repo.try_git("rev-list", head, *excluded).split() if head else []
    sentences = []
    for id, (phrase, made) in list(hits.items())[:HITS]:
        when = f"commit {made[:8]}" if made in committed else "not committed yet"
        sentences.append(f"{phrase} ({when}, {id})")
    hint = "Remove the secret from the file, or rename the file, and sync again"
    if any("(commit" in sentence for sentence in sentences):
        base = repo.try_git("merge-base", head, theirs) if theirs else ""
        undo = f"reset --soft {base[:12]}" if base else "update-ref -d HEAD"
        hint = f"`git -C {repo.config.journal} {undo}` takes back the commits. {hint}"
    raise Refused(
        f"Nothing was sent: {'; '.join(sentences)}.",
        hint=f"{hint}; or let it be sent: `synaptic sync --allow ID`.",
    )


def _list_unsent_texts(repo: Repo, commit: str, theirs: str) -> Iterator[_Text]:
    """Yields the messages, paths and file contents in the commits that the remote lacks. Files
    above 50 MB are left out: only a person can have committed them.
    """
    sign = token_hex(16)
    log = ["log", "-m", "--raw", "--no-abbrev", "--no-renames", "--no-ext-diff", "-z"]
    log += ["--no-show-signature", "--no-mailmap", f"-O{os.devnull}"]
    output = repo.run_git(
        *log, f"--format={sign}%H%n%B{sign}", commit, *args_excluding_commit(theirs), "--"
    )
    parts = output.split(sign.encode())[1:]
    there = repo.read_tree(theirs)
    sent = {blob for _, blob in there.values()}
    names: dict[str, str] = {}
    files: dict[tuple[str, str], str] = {}
    for about, changed in zip(parts[::2], parts[1::2], strict=True):
        id, _, message = about.decode("utf-8", "replace").partition("\n")
        yield _Text("the message of a commit", message, id)
        for raw_mode, blob, name in _RAW.findall(changed):
            path = os.fsdecode(name)
            mode = raw_mode.decode()
            if path not in there and int(mode):
                names[path] = id
            is_new = blob.decode() not in sent
            is_text = mode in FILE_MODES and not is_picture_name(path)
            if is_new and (is_text or mode == _LINK):
                files[path, blob.decode()] = id
    for path, id in names.items():
        yield _Text(path, path, id, is_name=True)
    sizes = repo.object_sizes(blob for _, blob in files)
    files = {file: id for file, id in files.items() if sizes[file[1]] <= PICTURE_BYTES}
    former_blobs = {
        path: there[path][1] for path, _ in files if there.get(path, ("",))[0] in FILE_MODES
    }
    blobs = repo.read_objects([*former_blobs.values(), *(blob for _, blob in files)])
    for (path, blob), id in files.items():
        before = blobs.get(former_blobs.get(path, ""), b"").decode("utf-8", "replace")
        yield _Text(path, blobs[blob].decode("utf-8", "replace"), id, before)

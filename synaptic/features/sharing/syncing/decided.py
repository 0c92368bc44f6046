"""Tells people on each machine what a merge decided by itself, as its message says.

| decision                                  | what people are told                             |
|-------------------------------------------|--------------------------------------------------|
| two machines moved an entry to other days | the day on which it stands, and the other one    |
| one changed what another one deleted      | that it is back, and how to delete it            |
| two machines renamed a note               | its name, and the other one                      |
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from contextlib import suppress
from pathlib import PurePosixPath

from ....journal.folder import is_note
from ....journal.names import printable_path
from ....notes.header import shorten
from ..pieces import Decision
from .sync_repository import Repo, args_excluding_commit

MOST_TOLD = 20
"""The most decisions that one sync tells."""
_LINE = "Synaptic-Decision: "
_TITLE_CHARS = 60
_ID = re.compile(r"[0-9]{8}-[0-9a-z]{8}")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?: [0-9:]{4,8})?")


def message_of_merge(decisions: Sequence[Decision]) -> str:
    """The message of a merged commit, with what was decided in it. It names no text."""
    lines = [_LINE + json.dumps(one) for one in dict.fromkeys(decisions)]
    return "\n".join(["Merge the journal of another machine", "", *lines]).strip()


def describe_decisions(repo: Repo, reported: str, commit: str) -> list[str]:
    """A sentence for each decision of the merges in `commit` which the commit `reported` does
    not have; none on a machine that just joined.
    """
    if reported in ("", commit):
        return []
    words = ("log", "--reverse", "--no-show-signature", "--format=%B")
    messages = repo.try_git(*words, commit, *args_excluding_commit(reported), "--")
    decisions = dict.fromkeys(_read_decisions(messages))
    every = filter(None, [_describe_decision(repo, one, commit) for one in decisions])
    sentences = [*dict.fromkeys(every)]
    more = len(sentences) - MOST_TOLD
    return [*sentences[:MOST_TOLD], *([f"And {more:,} more."] if more > 0 else [])]


def _read_decisions(messages: str) -> list[Decision]:
    """The decisions in messages of commits, which others wrote: what is not one is left out."""
    decisions = []
    for line in messages.splitlines():
        values: object = None
        if line.startswith(_LINE):
            with suppress(ValueError):
                values = json.loads(line.removeprefix(_LINE))
        values = values if isinstance(values, list) else []
        fits = len(values) == len(Decision._fields)
        if fits and all(isinstance(value, str) for value in values):
            decisions.append(Decision(*values))
    return decisions


def _describe_decision(repo: Repo, decision: Decision, commit: str) -> str:
    """The decision as a sentence; empty for one whose entry or note is elsewhere by now."""
    tree = repo.read_tree(commit)
    kind, about, path, standing, other = decision
    if kind == "name":
        if standing not in tree:
            return ""
        old, new, second = map(printable_path, (about, standing, other))
        return (
            f"Two machines renamed {old}, to {new} and to {second}: it is {new} now, and links "
            f"to {second} lead there. To change that: "
            f"synaptic rename {shlex.quote(_bare(new))} {shlex.quote(_bare(second))}"
        )
    if path not in tree:
        return ""
    if kind == "back" and about == path:
        name = printable_path(path)
        return (
            f"{name} is back: one machine deleted it, and another one changed it. Delete it "
            "again if nobody needs it."
        )
    if not _ID.fullmatch(about):
        return ""
    title = _title_of(repo, about, path, commit)
    if title is None:
        return ""
    id = about[9:]
    if kind == "back":
        return (
            f"“{title}” ({id}) is back: one machine deleted it, and another one changed it. To "
            f"delete it all the same: synaptic delete {id}"
        )
    if kind != "time" or not (_TIME.fullmatch(standing) and _TIME.fullmatch(other)):
        return ""
    return (
        f"Two machines moved “{title}” ({id}), to {standing} and to {other}: it stands on "
        f"{standing}, which was synced last. To change that: "
        f"synaptic update {id} --at {shlex.quote(other)}"
    )


def _title_of(repo: Repo, id: str, path: str, commit: str) -> str | None:
    """The title of an entry in this commit, without secrets; None if it is not there."""
    [(_, (data,))] = repo.read_versions([path], repo.read_tree(commit))
    for entry in repo.journal.parse(path, data or b"").entries:
        if entry.id == id:
            return shorten(printable_path(" ".join(entry.title.split())), _TITLE_CHARS)
    return None


def _bare(path: str) -> str:
    return str(PurePosixPath(path).with_suffix("")) if is_note(path) else path

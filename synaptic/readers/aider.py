"""Reads Aider's chat histories (seen: 0.86.2): `.aider.chat.history.md` in a repository, the
home folder or a folder up to two levels below it.

A session begins with `# aider chat started at 2026-11-24 14:55:30`, local time; no other time
is told. Outside of code, a line `#### TEXT` is a request, or a command of Aider's own (`/add`,
`!ls`), which is left out, and a line `> TEXT` begins what Aider printed ("Applied edit to
a.py", "Running make", "Commit 7d68c80 Add the total"), up to an empty line. The others are the
answer. A session's key is made of the file's path and its beginning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from hashlib import blake2b
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from ..files import read_regular
from .digest import Transcripts
from .record import Skipped, reporting
from .session import Kind, Session
from .shared import from_home
from .source import FILE_BYTES

_BEGIN = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*")
_PRINTED = re.compile(
    r"> (?:Applied edit to (?P<edited>.+)|Running (?P<ran>.+)"
    r"|Commit (?P<hash>[0-9a-f]{7,40}) (?P<subject>.+))"
)
_MARK = re.compile("^#### (?:<blank>)?", re.MULTILINE)


def _sessions(
    files: list[Path],
    skipped: Skipped,
    _: str = "",
) -> Iterator[Session]:
    for file in files:
        place = blake2b(from_home(file).encode(), digest_size=4).hexdigest()
        session = None
        lines: list[str] = []
        with reporting(skipped, str(file)):
            lines = read_regular(file, FILE_BYTES).decode("utf-8", "replace").splitlines()
        for kind, group in groupby(_kinds(lines), key=itemgetter(0)):
            (_, number, first), *rest = group
            text = "\n".join([first, *(line for *_, line in rest)])
            if kind == "begun":
                if session:
                    yield session
                at = datetime.fromisoformat(text[-19:]).astimezone()  # the last of several
                key = f"{place}-{at:%Y%m%d%H%M%S}"
                session = Session(key, "Aider", str(file.parent), at=at)
            elif session and kind == "printed":
                _add_printed(session, number, text)
            elif session and kind == "said":
                session.add("said", number, text)
            elif session and not _MARK.sub("", text).startswith(("/", "!")):  # of Aider's own
                session.add("asked", number, _MARK.sub("", text))
        if session:
            yield session


def _kinds(lines: list[str]) -> Iterator[tuple[str, int, str]]:
    """(begun, asked, printed or said; number; text) of each line."""
    kind = ""
    is_code = False
    for number, line in enumerate(lines, start=1):
        begun = _BEGIN.fullmatch(line)
        is_code = not begun and is_code != line.startswith("```")
        is_printed = line.startswith("> ") or (kind == "printed" and line.strip())
        kind = "said"
        if begun:
            kind = "begun"
        elif line.startswith("#### ") and not is_code:
            kind = "asked"
        elif is_printed and not is_code:
            kind = "printed"
        yield kind, number, begun[1] if begun else line


def _add_printed(
    session: Session,
    number: int,
    text: str,
) -> None:
    for line, printed in enumerate(text.split("\n"), number):
        found = _PRINTED.match(printed)
        if found:
            kind: Kind = "edited" if found["edited"] else "ran"
            event = session.add(kind, line, found["edited"] or found["ran"] or "git commit")
            if found["hash"]:
                event.commit = f"{found['subject'].strip()} ({found['hash']})"


READER = Transcripts(
    "",
    "",
    tuple(f"{folder}.aider.chat.history.md" for folder in ("", "[!.]*/", "[!.]*/[!.]*/")),
    (".aider.chat.history.md",),
    _sessions,
)

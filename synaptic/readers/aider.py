"""Reads Aider's chat histories (seen: 0.86.2): `.aider.chat.history.md` in a repository, the
home folder or a folder up to two levels below it.

A session begins with `# aider chat started at 2026-11-24 14:55:30`, local time; no other time
is told. Outside of code, a line `#### TEXT` is a request, or a command of Aider's own (`/run`,
`/add`), a line `> TEXT` begins what Aider printed ("Applied edit to a.py", "Running make",
"Commit 7d68c80 Add the total"), up to an empty line; the others are the answer. A session's key
is made of the file's path and its beginning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from hashlib import blake2b
from pathlib import Path

from ..files import read_regular
from .digest import Transcripts
from .record import Skipped, reporting
from .session import Session
from .shared import from_home
from .source import FILE_BYTES

_BEGIN = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*")
_PRINTED = re.compile(
    r"> (?:Applied edit to (?P<edited>.+)|Running (?P<ran>.+)"
    r"|Commit (?P<hash>[0-9a-f]{7,40}) (?P<subject>.+))"
)
_COMMAND = re.compile(r"(?:/(?:run|test) |!)(?P<ran>.+)|/\w.*", re.DOTALL)
"""A command that the person ran, `/run make` or `!make`, or another one of Aider's."""


def _sessions(
    files: list[Path],
    skipped: Skipped,
    _: str = "",
) -> Iterator[Session]:
    for file in files:
        session = None
        lines: list[str] = []
        with reporting(skipped, str(file)):
            lines = read_regular(file, FILE_BYTES).decode("utf-8", "replace").splitlines()
        for kind, number, text in _blocks(lines):
            if kind == "begun":
                if session:
                    yield session
                session = _begun(file, text)
            elif session:
                with reporting(skipped, f"{file}:{number}"):
                    _add_block(session, kind, number, text)
        if session:
            yield session


def _blocks(lines: list[str]) -> Iterator[tuple[str, int, str]]:
    """(kind, first line, text) of each block: begun, asked, printed or said."""
    kind = ""
    first = 1
    block: list[str] = []
    is_code = False
    for number, line in enumerate([*lines, ""], start=1):
        begun = _BEGIN.fullmatch(line)
        is_code = not begun and is_code != line.startswith("```")
        new = "said"
        if begun:
            new = "begun"
        elif is_code:
            new = "said"
        elif line.startswith("#### "):
            new = "asked"
        elif line.startswith("> ") or (kind == "printed" and line.strip()):
            new = "printed"
        if new != kind or new in ("begun", "printed") or number > len(lines):
            if block:
                yield kind, first, "\n".join(block).strip()
            kind = new
            first = number
            block = []
        text = begun[1] if begun else line
        block.append(text.removeprefix("#### ") if new == "asked" else text)


def _begun(
    file: Path,
    at: str,
) -> Session:
    place = blake2b(from_home(file).encode(), digest_size=4).hexdigest()
    key = f"{place}-{re.sub(r'[^0-9]', '', at)}"
    session = Session(key, "Aider", str(file.absolute().parent))
    session.at = datetime.fromisoformat(at).astimezone()
    return session


def _add_block(
    session: Session,
    kind: str,
    number: int,
    text: str,
) -> None:
    if kind == "said":
        session.add("said", number, text)
        return
    if kind == "asked":
        command = _COMMAND.fullmatch(text.replace("<blank>", ""))
        if not command:
            session.add("asked", number, text.replace("<blank>", ""))
        elif command["ran"]:
            session.add("ran", number, command["ran"])
        return
    printed = _PRINTED.fullmatch(text)
    if printed and printed["subject"]:
        event = session.add("ran", number, "git commit")
        event.commit = f"{printed['subject']} ({printed['hash']})"
    elif printed and printed["edited"]:
        session.add("edited", number, printed["edited"])
    elif printed:
        session.add("ran", number, printed["ran"])


READER = Transcripts(
    "",
    "",
    tuple(f"{folder}.aider.chat.history.md" for folder in ("", "[!.]*/", "[!.]*/[!.]*/")),
    (".aider.chat.history.md",),
    _sessions,
)

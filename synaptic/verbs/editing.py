"""Edits a file of the journal as its person wrote it, and ticks its tasks."""

from __future__ import annotations

import hashlib
import re
from difflib import SequenceMatcher
from typing import NamedTuple

from ..errors import Changed, InvalidArgument, NotFound, Refused
from ..journal.folder import writable
from ..journal.rewriting import rewrite
from ..journal.text import entry_of, line_end
from ..models import Entry, ParsedFile
from ..notes.blocks import MASK, newlines
from ..notes.marks import tasks_of
from ..notes.privacy import mask
from ..workspace.rows import lines_of
from ..workspace.sync import in_step
from ..workspace.workspace import Workspace
from .mentions import tasks
from .writing import index_now

_BOM = b"\xef\xbb\xbf"
_LINE_ENDS = re.compile(rb"(\r\n|\r|\n)")
_LINE = re.compile(rb"[^\r\n]*")
_BOX = re.compile(rb"(?:\[[ xX/]\]|TODO|DONE)(?=[ \t])")
_END = re.compile(rb"(?:[ \t]+\^[\w-]+)?[ \t]*\Z")
"""The name of a block, as Obsidian writes it, and blanks."""
_WHEN = re.compile(r" ✅ \d{4}-\d\d-\d\d")
_REPEATS = "🔁"


class Passage(NamedTuple):
    """The text of a file, or of one entry of it, as its person edits it.

    `seen` proves that text; `line` is where the entry stands.
    """

    path: str
    title: str
    text: str
    seen: str
    line: int


def opened_text(ws: Workspace, path: str, id: str = "") -> Passage:
    """The passage of the file, or of the entry with this id in it.

    Raises NotFound for a path that is no note of the journal, and Refused for one that is only
    read, holds private text there or is no UTF-8.
    """
    data, own_id = _read(ws, path, id)
    parsed = ws.journal.parse(path, data)
    start, end = _span(data, parsed, path, own_id)
    title = path
    line = 1
    if own_id:
        entry = entry_of(parsed, path, own_id)[0]
        title = entry.title
        line = entry.there.line
    text = _text_of(ws, path, line, data, start, end)
    return Passage(path, title, newlines(text), _seen(data[start:end]), line)


def write_text(
    ws: Workspace,
    path: str,
    id: str,
    text: str,
    seen: str,
) -> tuple[list[Entry], tuple[str, ...]]:
    """(the entries, as they were, whose text was replaced; notices).

    All bytes outside the passage stay, and within it the line ends of the lines that stay.
    Raises Changed if it is not the text that `seen` proves, InvalidArgument for no text, and
    Refused as `opened_text` does, for text that would be private, and where the text of an
    entry would take in another.
    """
    if not text.strip():
        raise InvalidArgument("There is no text.", hint="Delete removes it, and asks before.")
    own_id = _read(ws, path, id)[1]

    def change(data: bytes, parsed: ParsedFile) -> bytes:
        start, end = _span(data, parsed, path, own_id)
        now = data[start:end]
        typed = newlines(text).rstrip("\n") if own_id else newlines(text)
        new = _with_line_ends(typed, now, line_end(data))
        if new == now:
            return data
        _text_of(ws, path, 1, data, start, end)
        if seen != _seen(now):
            raise Changed(
                f"{path} was changed meanwhile; nothing was written.", hint="Look at both."
            )
        after = data[:start] + new + data[end:]
        if MASK in mask(after)[start : start + len(new)]:
            raise Refused(
                "A private passage would stand in it; nothing was written.",
                hint="Write private passages in your editor.",
            )
        if own_id:
            stays = {_words(entry) for entry in ws.journal.parse(path, after).entries}
            others = {_words(entry) for entry in parsed.entries if entry.id != own_id}
            if not others <= stays:
                raise Refused(
                    "It would take in the entry below; nothing was written.",
                    hint="Close the code fence or the comment, or edit the whole file.",
                )
        return after

    replaced = rewrite(ws.journal, path, change)
    return replaced, index_now(ws, path) if replaced else ()


def tick(
    ws: Workspace,
    path: str,
    line: int,
    text: str,
    *,
    done: bool,
) -> str:
    """The text of a task, after its box was ticked, or emptied.

    Where the journal has ticked tasks with Obsidian's date, it gets one; emptied, it loses it.
    The task is the one of this text at this line, or the only one of the file. Raises NotFound,
    Changed without such a task, and Refused.
    """
    _read(ws, path, "")
    stamp = ""
    if done and any(_WHEN.search(task.text) for task in tasks(ws, done=True)):
        stamp = f" ✅ {ws.today.isoformat()}"
    told: list[str] = []

    def change(data: bytes, parsed: ParsedFile) -> bytes:
        start, end = _task_at(data, parsed, line, text, done=done)
        row = data[start:end]
        box = _BOX.search(row)
        if MASK in mask(data)[start:end] or box is None or (done and _REPEATS in text):
            raise Refused(
                f"{path}:{line} is not ticked here: it repeats, holds private text, or its "
                f"state is a word of its own.",
                hint="Tick it in your editor.",
            )
        mark = b"[x]" if done else b"[ ]"
        if box[0].isalpha():
            mark = b"DONE" if done else b"TODO"
        rest = row[box.end() :]
        if not done:
            rest = _WHEN.sub("", rest.decode("utf-8", "surrogateescape"), count=1).encode(
                "utf-8", "surrogateescape"
            )
        trailing = _END.search(rest)
        at = trailing.start() if trailing else len(rest)
        rest = rest[:at] + stamp.encode() + rest[at:]
        told[:] = [rest.decode("utf-8", "replace").strip()]
        return data[:start] + row[: box.start()] + mark + rest + data[end:]

    rewrite(ws.journal, path, change, keep=False)
    index_now(ws, path)
    return told[0]


def _task_at(
    data: bytes,
    parsed: ParsedFile,
    line: int,
    text: str,
    *,
    done: bool,
) -> tuple[int, int]:
    """The span of the line of a task that is to be ticked, or emptied. Raises Changed."""
    masked = mask(data)
    found: list[int] = []
    for entry in parsed.entries:
        place = entry.there
        own = tasks_of(entry, lines_of(masked[place.body_start : place.body_end]))
        found += [task.line for task in own if task.text == text and task.done != done]
    at = [one for one in found if one == line] or found
    if len(at) != 1:
        raise Changed(
            "The task was changed meanwhile; nothing was written.", hint="Look at it again."
        )
    ends = [0, *(match.end() for match in _LINE_ENDS.finditer(data))]
    start = ends[at[0] - 1]
    row = _LINE.match(data, start)
    return start, row.end() if row else start


def _read(ws: Workspace, path: str, id: str) -> tuple[bytes, str]:
    """(the bytes of a note that may be written; the id of this entry in its file, or "")."""
    if ws.journal.stamp(path) is None:
        raise NotFound(
            f"The journal has no note {path[:200]!r}.", hint="Open it from one of its entries."
        )
    writable(ws.journal.roots, path)
    own_id = in_step(ws, lambda _: ws.index.resolve(id)).own_id if id else ""
    return ws.journal.read(path), own_id


def _span(
    data: bytes,
    parsed: ParsedFile,
    path: str,
    own_id: str,
) -> tuple[int, int]:
    """The bytes that are edited: without the mark of a file in UTF-8, and of an entry without
    the blank lines below it. Raises NotFound.
    """
    start = 0
    end = len(data)
    if own_id:
        _, start, end = entry_of(parsed, path, own_id)
        end = start + len(data[start:end].rstrip(b"\r\n"))
    if start == 0 and data.startswith(_BOM):
        start = len(_BOM)
    return start, end


def _text_of(
    ws: Workspace,
    path: str,
    line: int,
    data: bytes,
    start: int,
    end: int,
) -> str:
    """The text of this span. Raises Refused where a page must not show it, or cannot."""
    place = f"{ws.journal.place(path)}:{line}"
    if MASK in mask(data)[start:end]:
        raise Refused(f"{path} holds private text.", hint=f"Edit {place} in your editor.")
    try:
        text = data[start:end].decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise Refused(f"{path} is no text in UTF-8.", hint=f"Edit {place} in your editor.")
    return text


def _seen(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _words(entry: Entry) -> tuple[str, str]:
    return entry.title, entry.content


def _with_line_ends(
    text: str,
    before: bytes,
    usual: bytes,
) -> bytes:
    """The typed text as bytes: a line that stays keeps its line end, another gets the usual
    one.
    """
    lines = text.encode("utf-8", "replace").split(b"\n")
    pieces = _LINE_ENDS.split(before)
    old_ends = pieces[1::2]
    ends = [usual] * len(lines)
    if set(old_ends) - {usual}:
        same = SequenceMatcher(None, pieces[::2], lines).get_matching_blocks()
        for number, start, size in same:
            known = old_ends[number : number + size]
            ends[start : start + len(known)] = known
    rows = [line + end for line, end in zip(lines, ends, strict=True)]
    return b"".join(rows).removesuffix(ends[-1])

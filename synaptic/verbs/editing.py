"""Edits a file of the journal as its person wrote it, and ticks its tasks."""

import hashlib
import re
from contextlib import suppress
from datetime import date, datetime
from difflib import SequenceMatcher
from typing import NamedTuple

from ..errors import Changed, InvalidArgument, NotFound, Refused
from ..journal.folder import locate_writable
from ..journal.rewriting import rewrite_entries
from ..journal.text import find_entry_span
from ..models import Entry, ParsedFile, Task, Texts
from ..notes.blocks import MASK, unify_newlines, usual_line_end
from ..notes.marks import find_tasks
from ..notes.privacy import mask_private
from ..notes.recurring import (
    REPEATS,
    CannotRepeat,
    moved_stamps,
    next_occurrence,
    repeats,
    with_logbook,
)
from ..workspace.file_rows import body_lines
from ..workspace.preferences import hash_of_rule, put_in_force, read_log
from ..workspace.sync import in_step
from ..workspace.workspace import Workspace
from .mentions import tasks
from .receipts import index_now

_BOM = b"\xef\xbb\xbf"
_LINE_ENDS = re.compile(rb"(\r\n|\r|\n)")
_TASK = re.compile(
    rb"((?:%b)?[ \t>]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+(?:\#{1,6}[ \t]+)?)"  # before the box
    rb"(\[[ xX/]\]|TODO|DONE)"
    rb"([ \t][^\r\n]*)" % _BOM
)
_BLOCK_NAME = re.compile(rb"(?:[ \t]+\^[\w-]+)?[ \t]*\Z")  # in Obsidian
_TICKED_ON = re.compile(" ✅ [0-9]{4}-[0-9]{2}-[0-9]{2}".encode())
_NEXT_ITEM = re.compile(rb"[ \t>]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]|#)")


class OpenText(NamedTuple):
    """The text of a file, or of one entry of it, as its person edits it; `seen` proves it, and
    it stands in the bytes `start:end`.
    """

    title: str
    text: str
    seen: str
    start: int
    end: int


def open_text(ws: Workspace, path: str, id: str) -> OpenText:
    """The text of a note, or of the entry `id` in it, for an editor on the web page; "" is the
    whole file.

    Raises NotFound if the path is not a note of the journal, and Refused if the note is only
    read, or its text is private or not UTF-8.
    """
    own_id = _resolve_own_id(ws, path, id)
    data = ws.journal.read(path)
    return _editable_passage(path, own_id, data, ws.journal.parse(path, data))


def write_text(
    ws: Workspace, path: str, id: str, text: str, seen: str
) -> tuple[list[Entry], Texts]:
    """Replaces the text of a note, or of the entry `id` in it; returns (the former versions of
    the entries that changed, notices).

    All bytes outside the passage stay, and within it the line ends. Raises Changed if it is not
    the text that `seen` proves, InvalidArgument for an empty text, and Refused as `open_text`
    does, for text that would be private, and where the text of an entry would take in another.
    """
    if not text.strip():
        raise InvalidArgument(
            "The text is empty.", "To remove the entry, use Delete; it asks first."
        )
    own_id = _resolve_own_id(ws, path, id)
    rules = _PreferencesOfFile(ws, path)

    def change(data: bytes, parsed: ParsedFile) -> bytes:
        rules.remember_consents(parsed)
        now = _editable_passage(path, own_id, data, parsed)
        typed = unify_newlines(text)
        if own_id:
            typed = typed.rstrip("\n")
        if typed == now.text:
            return data
        if seen != now.seen:
            raise Changed(
                f"{path} was changed meanwhile; nothing was written.",
                "Compare your text with the present one, and save again.",
            )
        new = _with_line_ends(typed, data[now.start : now.end], usual_line_end(data))
        after = data[: now.start] + new + data[now.end :]
        if MASK in mask_private(after)[now.start : now.start + len(new)]:
            raise Refused(
                "Your text holds a private passage, or would lie in one; nothing was written.",
                "Write private passages in your own editor, not on the page.",
            )
        others = {entry.content for entry in parsed.entries if entry.id != own_id}
        stays = {entry.content for entry in ws.journal.parse(path, after).entries}
        if own_id and not others <= stays:
            raise Refused(
                "Your text would swallow the next entry of the file; nothing was written.",
                "Close the code fence or the comment, or edit the whole file.",
            )
        return after

    replaced = rewrite_entries(ws.journal, path, change)
    rules.confirm_changed(own_id)
    return replaced, index_now(ws, path)


def tick_task(ws: Workspace, path: str, line: int, text: str, *, done: bool) -> str:
    """Marks the task with this `text` at `path:line` as done or open; returns its new text, or
    "" if it stays open with a later date, as Logseq's tasks that repeat do.

    Where the journal has tasks ticked with the date of Obsidian Tasks, it gets one; emptied, it
    loses it. The next one of a task that repeats (🔁) is written above it, and is taken away if
    the tick is. The task is the one of this text at this line, or the only one of the file.
    Raises NotFound, Changed without such a task, and Refused.
    """
    _resolve_own_id(ws, path, "")
    stamp = b""
    if done and any(_TICKED_ON.search(task.text.encode()) for task in tasks(ws, done=True)):
        stamp = f" ✅ {ws.today.isoformat()}".encode()
    if done and REPEATS in text:
        stamp = f" ✅ {ws.today.isoformat()}".encode()
    rules = _PreferencesOfFile(ws, path)
    now = ws.clock().replace(tzinfo=None)
    stays_open = False

    def change(data: bytes, parsed: ParsedFile) -> bytes:
        nonlocal stays_open
        rules.remember_consents(parsed)
        masked = mask_private(data)
        matches = []
        for entry in parsed.entries:
            place = entry.there
            own = find_tasks(entry, body_lines(masked[place.body_start : place.body_end]))
            matches += [task for task in own if task.text == text]
        at = [task for task in matches if task.line == line] or matches
        if len(at) != 1 or at[0].done == done:
            raise Changed(
                "The task was changed meanwhile; nothing was written.",
                "Load the page again, and tick it there.",
            )
        starts = [0, *(match.end() for match in _LINE_ENDS.finditer(data))]
        row = _TASK.match(data, starts[at[0].line - 1])
        if not row or at[0].unticked:
            reason = at[0].unticked or "its state is not one of [ ], [x], TODO and DONE"
            raise _cannot_tick_error(path, at[0], reason)
        end = _end_of_block(data, row.end())
        if MASK in masked[row.start() : end]:
            raise _cannot_tick_error(path, at[0], "its line holds private text")
        try:
            if done and REPEATS not in text and repeats(_text(data[row.start() : end])):
                stays_open = True
                block = _block_moved(data[row.start() : end], now, usual_line_end(data))
                return data[: row.start()] + block + data[end:]
            return _tick_row(data, row, stamp, done)
        except CannotRepeat as error:
            raise _cannot_tick_error(path, at[0], str(error)) from error

    rewrite_entries(ws.journal, path, change, keep=False)
    rules.confirm_changed()
    index_now(ws, path)
    return "" if stays_open else _set_done_date(text.encode(), stamp, done).decode().strip()


def _text(piece: bytes) -> str:
    return piece.decode("utf-8", "surrogateescape")


def _bytes(piece: str) -> bytes:
    return piece.encode("utf-8", "surrogateescape")


def _tick_row(data: bytes, row: re.Match[bytes], stamp: bytes, done: bool) -> bytes:
    """The file with the task of this row ticked or not; a task with 🔁 gets its next one above
    it, or loses the one that its tick wrote.
    """
    before, box, words = row.groups()
    indent = before.removeprefix(_BOM)
    marks = (b"TODO", b"DONE") if box.isalpha() else (b"[ ]", b"[x]")
    start = row.start() + len(before) - len(indent)
    ticked = indent + marks[done] + _set_done_date(words, stamp, done)
    if REPEATS.encode() not in words:
        return data[:start] + ticked + data[row.end() :]
    ended = _LINE_ENDS.match(data, row.end())
    line_end = ended[0] if ended else usual_line_end(data)
    if done:
        day = date.fromisoformat(stamp[-10:].decode())
        following = _bytes(next_occurrence(_text(words), day))
        return (
            data[:start] + indent + marks[0] + following + line_end + ticked + data[row.end() :]
        )
    stamped = _TICKED_ON.search(words)
    if stamped:
        day = date.fromisoformat(stamped[0][-10:].decode())
        following = _bytes(next_occurrence(_text(_set_done_date(words, b"", False)), day))
        above = indent + marks[0] + following + line_end
        if data[:start].endswith(above):
            start -= len(above)
    return data[:start] + ticked + data[row.end() :]


def _end_of_block(data: bytes, start: int) -> int:
    """The end of the block whose first line ends at `start`: the next item, heading or blank
    line that is not in its logbook.
    """
    ended = _LINE_ENDS.match(data, start)
    end = ended.end() if ended else len(data)
    in_logbook = False
    while end < len(data):
        ended = _LINE_ENDS.search(data, end)
        after = ended.end() if ended else len(data)
        line = data[end:after]
        words = line.strip()
        if in_logbook:
            in_logbook = words != b":END:"
        elif words == b":LOGBOOK:":
            in_logbook = True
        elif not words or _NEXT_ITEM.match(line):
            break
        end = after
    return start if in_logbook else end


def _block_moved(block: bytes, now: datetime, line_end: bytes) -> bytes:
    """A block of Logseq that repeats, with its dates moved and its logbook, if any, longer."""
    moved = moved_stamps(_text(block), now)
    return _bytes(with_logbook(moved, now, line_end.decode()))


def _set_done_date(words: bytes, stamp: bytes, done: bool) -> bytes:
    """The words of a task with this stamp before the name of their block, or without their
    stamp if the task is not done.
    """
    if not done:
        return _TICKED_ON.sub(b"", words, 1)
    name = _BLOCK_NAME.search(words)
    end = name.start() if name else len(words)
    return words[:end] + stamp + words[end:]


def _cannot_tick_error(path: str, task: Task, reason: str) -> Refused:
    message = f"{path}:{task.line} cannot be ticked here: {reason}."
    return Refused(message, "Tick it in your editor.")


class _PreferencesOfFile:
    """The preferences of a file that a person edits on the page. A preference in force stays in
    force after the edit, and the entry `edited` comes into force. Text that becomes an entry by
    the edit waits, for a person may not have read it.
    """

    def __init__(self, ws: Workspace, path: str) -> None:
        self._ws = ws
        self._path = path
        self._before: dict[str, tuple[str, bool]] = {}

    def remember_consents(self, parsed: ParsedFile) -> None:
        """Reads which entries are in force, before the file is changed."""
        log = read_log(self._ws.config.state)
        self._before = {}
        for entry in parsed.entries:
            rule = hash_of_rule(entry)
            self._before[entry.id] = rule, log.consent(entry.id, rule).word == "yes"

    def confirm_changed(self, edited: str = "") -> None:
        """Confirms the changed preferences of the file that were in force before the edit, and
        the preference with the id `edited`.
        """
        journal = self._ws.journal
        with suppress(OSError, NotFound):  # then they wait
            for entry in journal.parse(self._path, journal.read(self._path)).entries:
                rule, was_in_force = self._before.get(entry.id, ("", False))
                is_changed = entry.type == "preference" and hash_of_rule(entry) != rule
                if is_changed and (was_in_force or entry.id == edited):
                    put_in_force(self._ws, self._path, entry)


def _resolve_own_id(ws: Workspace, path: str, id: str) -> str:
    """The id of this entry in its file, or "". Raises NotFound if the path is not a note, and
    Refused if the note may not be written.
    """
    if not ws.journal.stamp(path):
        raise NotFound(
            f"The journal has no note {path[:200]!r}.", "Open it from one of its entries."
        )
    locate_writable(ws.journal.roots, path)
    return in_step(ws, lambda _: ws.index.resolve(id).own_id) if id else ""


def _editable_passage(path: str, own_id: str, data: bytes, parsed: ParsedFile) -> OpenText:
    """Returns the part of a file that a person may edit: without a byte order mark, and of an
    entry without the blank lines below it. Raises NotFound and Refused.
    """
    title = path
    start = 0
    end = len(data)
    if own_id:
        entry, start, end = find_entry_span(parsed, path, own_id)
        title = entry.title
        end = start + len(data[start:end].rstrip(b"\r\n"))
    if start == 0 and data.startswith(_BOM):
        start = len(_BOM)
    piece = data[start:end]
    if MASK in mask_private(data)[start:end]:
        raise Refused(
            f"The passage of {path} that you edit holds private text.",
            "Edit it in your editor.",
        )
    try:
        text = piece.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise Refused(f"{path} is not UTF-8 text.", "Edit it in your editor.")
    return OpenText(title, unify_newlines(text), hashlib.sha256(piece).hexdigest(), start, end)


def _with_line_ends(text: str, before: bytes, usual: bytes) -> bytes:
    """The typed text as bytes: a line keeps its line end, and a new one gets the usual one."""
    lines = text.encode("utf-8", "replace").split(b"\n")
    pieces = _LINE_ENDS.split(before)
    old_ends = pieces[1::2]
    ends = [usual] * len(lines)
    if set(old_ends) - {usual}:
        steps = SequenceMatcher(None, pieces[::2], lines).get_opcodes()
        for _, old, old_end, start, end in steps:
            kept_ends = old_ends[old:old_end][: end - start]
            ends[start : start + len(kept_ends)] = kept_ends
    rows = [line + end for line, end in zip(lines, ends, strict=True)]
    return b"".join(rows).removesuffix(ends[-1])

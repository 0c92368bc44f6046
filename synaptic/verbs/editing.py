"""Edits a file of the journal as its person wrote it."""

import hashlib
from difflib import SequenceMatcher
from typing import NamedTuple

from ..errors import Ambiguous, Changed, InvalidArgument, NotFound, Refused
from ..journal.folder import locate_writable
from ..journal.rewriting import RewriteFile, rewrite_entries
from ..journal.text import find_entry_span
from ..journal.written_entry import WrittenEntry
from ..models import Entry, ParsedFile, Texts
from ..notes.blocks import LINE_ENDS, MASK, unify_newlines, usual_line_end
from ..notes.privacy import has_private_tag, mask_private, unclosed_tags
from ..notes.unmarked import put_comments_back, take_out_comments
from ..workspace.preferences import read_log
from ..workspace.sync import in_step
from ..workspace.workspace import Workspace
from .receipts import index_now, logged, note_rule_change

BOM = b"\xef\xbb\xbf"


class OpenText(NamedTuple):
    """The text of a file, or of one entry of it, as its person edits it, without our comments;
    `seen` proves it, and it stands in the bytes `start:end`.
    """

    title: str
    text: str
    seen: str
    start: int
    end: int


def open_text(ws: Workspace, path: str, id: str, *, shows_private: bool = False) -> OpenText:
    """The text of a note, or of the entry `id` in it, for an editor on the web page; "" is the
    whole file. With `shows_private`, for the owner of the journal alone, it has the private
    passages.

    Raises NotFound if the path is not a note of the journal, and Refused if the note is only
    read, or its text is private or not UTF-8.
    """
    own_id = resolve_own_id(ws, path, id)
    data = ws.journal.read(path)
    return _editable_passage(
        path, own_id, data, ws.journal.parse(path, data), shows_private=shows_private
    )


def read_with_private(ws: Workspace, entry: Entry) -> str:
    """The text of an entry with its private passages, for the owner of the journal alone; ""
    where it has none, or where only an editor shows them.
    """
    try:
        if not has_private_tag(ws.journal.read(entry.path)):
            return ""
        text = open_text(ws, entry.path, entry.id, shows_private=True).text
    except (Ambiguous, NotFound, Refused):
        return ""
    return text if MASK in mask_private(text.encode()) else ""


@logged("edit")
def write_text(
    ws: Workspace, path: str, id: str, text: str, seen: str, *, shows_private: bool = False
) -> tuple[list[Entry], Texts]:
    """Replaces the text of a note, or of the entry `id` in it; returns (the former versions of
    the entries that changed, notices). With `shows_private` the text may have private passages.

    All bytes outside the passage stay, and within it the line ends. Raises Changed if it is not
    the text that `seen` proves, InvalidArgument for an empty text, and Refused as `open_text`
    does, for text that would be private, and where the text of an entry would take in another.
    """
    if not text.strip():
        raise InvalidArgument(
            "The text is empty.", "To remove the entry, use Delete; it asks first."
        )
    own_id = resolve_own_id(ws, path, id)
    ws.own_journal.writer.note_entries(*filter(None, (own_id,)))

    def change(data: bytes, parsed: ParsedFile) -> bytes:
        now = _editable_passage(path, own_id, data, parsed, shows_private=shows_private)
        typed = unify_newlines(text)
        if own_id:
            typed = typed.rstrip("\n")
        if typed == now.text:
            return data
        if seen != now.seen:
            raise Changed(
                "{path} was changed meanwhile; nothing was written.",
                "Compare your text with the present one, and save again.",
                path=path,
            )
        before = data[now.start : now.end]
        marked = put_comments_back(take_out_comments(unify_newlines(before.decode())), typed)
        new = _with_line_ends(marked, before, usual_line_end(data))
        after = data[: now.start] + new + data[now.end :]
        masked = mask_private(after)
        if MASK in masked[now.start : now.start + len(new)]:
            if not shows_private:
                raise Refused(
                    "Your text holds a private passage, or would lie in one; nothing was "
                    "written.",
                    "Only the owner of the journal writes private passages on the page.",
                )
            _check_passages(masked, mask_private(data), now, new)
        others = {entry.content for entry in parsed.entries if entry.id != own_id}
        stays = {entry.content for entry in ws.journal.parse(path, after).entries}
        if own_id and not others <= stays:
            raise Refused(
                "Your text would swallow the next entry of the file; nothing was written.",
                "Close the code fence or the comment, or edit the whole file.",
            )
        return after

    rewrite = rewrite_by_person(ws, path, change, read=own_id)
    return rewrite.replaced, (*rewrite.notices, *index_now(ws, path))


class PersonsRewrite(NamedTuple):
    """The entries whose text a person's edit replaced or removed, as they were; what it did to
    each entry of the file; and a notice for each rule of it that waits now.
    """

    replaced: list[Entry]
    written: list[WrittenEntry]
    notices: Texts


def rewrite_by_person(
    ws: Workspace,
    path: str,
    change: RewriteFile,
    *,
    read: str = "",
    brings_words: bool = False,
    keep: bool = True,
) -> PersonsRewrite:
    """Changes a file as `rewrite_entries` does, for a person, and notes what that does to its
    rules before anybody else may write.

    A rule in force stays in force, and the entry `read`, whose whole text the person saw, comes
    into force. Text that becomes an entry by the change waits, for a person may not have read
    it. With `brings_words` only what was in force before is in force again.
    """
    notices = []
    with ws.own_journal.writing():
        log = read_log(ws.config.state)
        rewrite = rewrite_entries(ws.own_journal, path, change, keep=keep)
        for written in rewrite.written:
            id = written.after.id if written.after else ""
            notices += note_rule_change(
                ws,
                log,
                written,
                confirms=True,
                is_read=id != "" and id == read,
                brings_words=brings_words,
            )
    return PersonsRewrite(rewrite.replaced, rewrite.written, tuple(notices))


def resolve_own_id(ws: Workspace, path: str, id: str) -> str:
    """The id of this entry in its file, or "". Raises NotFound if the path is not a note, and
    Refused if the note may not be written.
    """
    if not ws.journal.stamp(path):
        raise NotFound(
            "The journal has no note {path!r}.",
            "Open it from one of its entries.",
            path=path[:200],
        )
    locate_writable(ws.journal.roots, path)
    return in_step(ws, lambda _: ws.index.resolve(id).own_id) if id else ""


def _check_passages(after: bytes, before: bytes, now: OpenText, new: bytes) -> None:
    """Raises Refused unless the masked bytes `after` hide no more than the private passages of
    the `new` text, and what was hidden `before`.
    """
    end = now.start + len(new)
    own, others = after[now.start : end].count(MASK), after.count(MASK)
    hidden = mask_private(new).count(MASK)
    stays = before.count(MASK) - before[now.start : now.end].count(MASK)
    if own != hidden or others - own != stays or unclosed_tags(new):
        raise Refused(
            "A private passage of your text is not closed, or would hide what stands behind "
            "it; nothing was written.",
            "Write </private> where it ends, and close code fences before it.",
        )


def _editable_passage(
    path: str, own_id: str, data: bytes, parsed: ParsedFile, *, shows_private: bool
) -> OpenText:
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
    if start == 0 and data.startswith(BOM):
        start = len(BOM)
    piece = data[start:end]
    masked = mask_private(data)[start:end]
    is_whole = shows_private and masked == mask_private(piece)  # no passage reaches out of it
    if MASK in masked and not is_whole:
        raise Refused(
            "The passage of {path} that you edit holds private text.",
            "Edit it in your editor.",
            path=path,
        )
    try:
        text = piece.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise Refused("{path} is not UTF-8 text.", "Edit it in your editor.", path=path)
    unmarked = take_out_comments(unify_newlines(text)).text
    return OpenText(title, unmarked, hashlib.sha256(piece).hexdigest(), start, end)


def _with_line_ends(text: str, before: bytes, usual: bytes) -> bytes:
    """The typed text as bytes: a line keeps its line end, and a new one gets the usual one."""
    lines = text.encode("utf-8", "replace").split(b"\n")
    pieces = LINE_ENDS.split(before)
    old_ends = pieces[1::2]
    ends = [usual] * len(lines)
    if set(old_ends) - {usual}:
        steps = SequenceMatcher(None, pieces[::2], lines).get_opcodes()
        for _, old_start, old_end, start, end in steps:
            kept_ends = old_ends[old_start:old_end][: end - start]
            ends[start : start + len(kept_ends)] = kept_ends
    rows = [line + end for line, end in zip(lines, ends, strict=True)]
    return b"".join(rows).removesuffix(ends[-1])

"""Keeps the private passages of a text that the owner of the journal saves on the page.

A save takes such passages out of what it is given. So a mark, a character that no text has,
stands for each while the entry is made and written: no word of a passage comes near the index
or an answer. Then the passages take the places of their marks in the file, as an editor
would. The file is read once more: they must be private there, and nothing else.
"""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count
from typing import TypeVar

from ..errors import InvalidArgument, Refused, Sentence, SynapticError
from ..journal.text import find_entry_span
from ..models import Entry, ParsedFile, Texts
from ..notes.blocks import MASK, unify_newlines, usual_line_end
from ..notes.header import derive_title
from ..notes.privacy import find_private_spans, mask_private, unclosed_tags
from ..workspace.workspace import Workspace
from .editing import rewrite_by_person
from .entry_marks import find_stored
from .receipts import index_now
from .undoing import undo_run

Result = TypeVar("Result")
_STAYS = Sentence(
    "What is private stays in your note; on the page of the entry only you see it."
)
_FIRST_MARK = 0xF0000
"""The first character of a plane that is for private use."""


class Passages:
    """The private passages of the texts of one save, by the marks that stand for them."""

    def __init__(self) -> None:
        self.by_mark: dict[str, str] = {}

    def set_aside(self, text: str) -> str:
        """Returns the text with a mark for each of its private passages."""
        data = unify_newlines(text).encode("utf-8", "surrogatepass")
        free = (chr(number) for number in count(_FIRST_MARK) if chr(number) not in text)
        at = 0
        parts = []
        for start, end in sorted(find_private_spans(data)[0]):
            mark = next(one for one in free if one not in self.by_mark)
            self.by_mark[mark] = data[start:end].decode("utf-8", "surrogatepass")
            parts += [data[at:start], mark.encode()]
            at = end
        return b"".join([*parts, data[at:]]).decode("utf-8", "surrogatepass") if at else text

    def without_marks(self, text: str) -> str:
        for mark in self.by_mark:
            text = re.sub(rf"(?<= ){mark} | ?{mark}(?=\r?\n|\Z)|{mark}", "", text)
        return text

    def check(self, texts: Sequence[str]) -> None:
        """Raises InvalidArgument unless these texts with marks say something that is not
        private, and leave no tag open, behind which somebody may mean to be private.
        """
        if any(unclosed_tags(text.encode("utf-8", "surrogatepass")) for text in texts):
            raise InvalidArgument(
                "A <private> in your text is never closed, so it would hide nothing; nothing "
                "was saved.",
                "Write </private> where it ends; a code fence that begins in it ends in it. To "
                "write about the tag, put it into backticks: `<private>`.",
            )
        if self.by_mark and not any(self.without_marks(text).strip() for text in texts):
            raise InvalidArgument(
                "All of the text is private, so nothing would name the entry; nothing was "
                "saved.",
                "Give it a title, or leave some words outside of <private> and </private>.",
            )

    def put_into(self, ws: Workspace, id: str) -> Texts:
        """Puts the passages into the entry, also where it stands in several files; returns
        notices. Raises Refused where they would not be private there, or hide something else.
        """
        stored = find_stored(ws, id)
        notices: Texts = ()
        for path in (stored.entry.path, *stored.copies):

            def change(data: bytes, parsed: ParsedFile, path: str = path) -> bytes:
                return self._put_into_file(ws, path, stored.own_id, data, parsed)

            done = rewrite_by_person(ws, path, change, read=stored.own_id, keep=False)
            notices += done.notices
        return (*notices, *index_now(ws, stored.entry.path, *stored.copies))

    def _put_into_file(
        self, ws: Workspace, path: str, id: str, data: bytes, parsed: ParsedFile
    ) -> bytes:
        entry, start, end = find_entry_span(parsed, path, id)
        body = entry.there.body_start if entry.has_body else end
        line_end = usual_line_end(data).decode()
        block = self._write(entry, data[start:body].decode(), data[body:end].decode(), line_end)
        after = data[:start] + block.encode() + data[end:]
        masked = mask_private(after)
        before = mask_private(data)
        own = masked[start : start + len(block.encode())]
        hidden = sum(map(_length, self.by_mark.values()))
        now = ws.journal.parse(path, after)
        others = [one.content for one in parsed.entries if one is not entry]
        if (
            own.count(MASK) - before[start:end].count(MASK) != hidden
            or masked.count(MASK) - before.count(MASK) != hidden
            or any(passage.encode() in own for passage in self.by_mark.values())
            or [one.content for one in now.entries if one.id != entry.id] != others
        ):
            raise Refused(
                "Your private passage would not be private in {path}, or would hide more than "
                "itself; nothing was saved.",
                "Close the code fences and HTML comments in your text, and save again.",
                path=path,
            )
        return after

    def _write(self, entry: Entry, head: str, rest: str, line_end: str) -> str:
        """The block of an entry with the passages: in its text, or in its heading if that is
        all it says.
        """
        passages = {
            mark: passage.replace("\n", line_end) for mark, passage in self.by_mark.items()
        }
        of_head = [mark for mark in passages if mark in head and mark not in rest]
        if any(line_end in passages[mark] for mark in of_head):
            rest = f"{line_end}{entry.title}{line_end}{rest}"
            of_head = []
        if not (self.without_marks(entry.title).strip() or of_head):
            text = self.without_marks(entry.content).strip()
            head = head.replace(entry.title, derive_title(text))
        for mark in of_head:
            head = head.replace(mark, passages[mark])
        for mark, passage in passages.items():
            rest = rest.replace(mark, passage)
        return self.without_marks(head) + rest


def _length(passage: str) -> int:
    """The number of bytes of a passage that are masked: all but its line ends."""
    return len(passage.replace("\n", "").encode())


def keeping_passages(
    ws: Workspace, verb: str, passages: Passages, write: Callable[[], tuple[str, Result]]
) -> tuple[Result, Texts, str]:
    """Writes an entry by `write`, which returns (its id, a result), and puts the passages into
    it, as one run; returns (the result, notices, the run). If the passages cannot be put there,
    the run is taken back, and that error raised.
    """
    failed = None
    notices: Texts = ()
    with ws.own_journal.doing(verb) as deed:
        id, result = write()
        if passages.by_mark:
            try:
                notices = (_STAYS, *passages.put_into(ws, id))
            except SynapticError as error:
                failed = error
    if failed:
        with suppress(SynapticError):
            undo_run(ws, deed.run, confirms=True)
        raise failed
    return result, notices, deed.run

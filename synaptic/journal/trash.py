"""The trash, `trash.md`: Markdown that a person can read, with every replaced and deleted text
as one piece.

Each piece follows a comment that names its id, path, moment and reason. A line of a piece that
looks like such a comment gains a backslash, so that no text can pose as a piece. A checksum
shows when a kill has torn a piece.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Literal, NamedTuple

from ..files import clear_way
from . import disk

Why = Literal["update", "delete", "restore", "edited", "vanished", "undone", "opened", "editor"]
"""Why a text left the journal: an update, a deletion or a restored text replaced it. `edited`:
a person had replaced it by hand, or its loss was dismissed. `vanished`: an older text had come
back over it, or it was gone. `undone`: the import that brought it was taken back. `editor`:
the editor that Synaptic opened replaced or removed it. `opened`: such an editor was opened on
it, and has not ended yet, was killed, or returned at once; the text may stand as it was."""
MOST_BYTES = 4_000_000_000
"""The most bytes of the trash, which keeps all that was ever replaced."""
_TOP = b"# Trash\n"
_LATER_FIELDS = ("moved_to", "became", "left", "above")
_PIECE = re.compile(rb"(?m)^<!-- trash (\{.*\}) -->\n")
_LOOKS_LIKE = re.compile(rb"(?m)^(\\*)(?=<!-- trash )")
_ESCAPED = re.compile(rb"(?m)^\\(?=\\*<!-- trash )")


class TrashedText(NamedTuple):
    """A replaced text, byte for byte, and when that was. `mode` is of its file, if it is of a
    whole-file note. `after` is the hash of the file without it, in which it stood at `offset`.
    An entry that got another day or time went on to the file `moved_to`. `became` is the id of
    the entry that took its place, if it is another one, as a typed heading makes the id; `left`
    is the hash of the text that an editor left in its place. `above` is the id of the entry
    above it, `entry_edits.TOP` for the first one of its file, "" where it is not known.
    """

    id: str
    path: str
    at: datetime
    why: Why
    title: str
    text: bytes
    mode: int | None = None
    after: str = ""
    offset: int = 0
    moved_to: str = ""
    became: str = ""
    left: str = ""
    above: str = ""


def file_hash(data: bytes) -> str:
    """The hash of a file's bytes, by which the trash sees whether the file changed since."""
    return hashlib.sha256(data).hexdigest()


class Trash:
    """The trash file. A caller that changes it holds the write lock."""

    def __init__(self, state: Path) -> None:
        self.path = state / "trash.md"

    def put(self, *pieces: TrashedText) -> None:
        """Appends the pieces durably."""
        if not pieces:
            return
        data = b"".join(map(_render_piece, pieces))
        with disk.disk_errors(self.path):
            clear_way(self.path)
            with suppress(FileExistsError):
                disk.write_new(self.path, _TOP, private=True, step="trash-created")
                disk.sync_dir(self.path.parent)
            with disk.closing_at_end(disk.open_to_append(self.path, MOST_BYTES)) as fd:
                size = os.fstat(fd).st_size
                disk.inject_fault("trash-torn", fd, data)
                try:
                    disk.write_all(fd, data)
                    disk.sync_file(fd)
                except OSError:
                    os.ftruncate(fd, size)
                    raise
        disk.inject_fault("trashed")

    def pieces(self) -> tuple[TrashedText, ...]:
        """All whole pieces, oldest first."""
        with disk.disk_errors(self.path, "read"):
            try:
                parts = _PIECE.split(disk.read_state_file(self.path, MOST_BYTES))[1:]
            except FileNotFoundError:
                return ()
        parsed = map(_parse_piece, parts[::2], parts[1::2])
        return tuple(piece for piece in parsed if piece)

    def rewrite_pieces(self, change: Callable[[TrashedText], TrashedText | None]) -> bool:
        """Rewrites the file with each piece replaced by what `change` returns for it, None
        removing it; returns True if any piece changed.
        """
        pieces = self.pieces()
        changed = [change(piece) for piece in pieces]
        if self.path.exists():
            rest = b"".join(_render_piece(piece) for piece in changed if piece)
            with disk.disk_errors(self.path):
                disk.overwrite(self.path, _TOP + rest)
        return changed != list(pieces)


def _render_piece(piece: TrashedText) -> bytes:
    head = {
        "id": piece.id,
        "path": piece.path,
        "at": piece.at.isoformat(),
        "why": piece.why,
        "title": piece.title,
        **disk.checksum_header(piece.text),
    }
    if piece.mode is not None:
        head["mode"] = piece.mode
    if piece.after:
        head |= {"after": piece.after, "offset": piece.offset}
    for name in _LATER_FIELDS:
        if value := getattr(piece, name):
            head[name] = value
    line = json.dumps(head).replace("-->", "--\\u003e")
    text = _LOOKS_LIKE.sub(rb"\1\\", piece.text)
    return f"\n<!-- trash {line} -->\n".encode() + text + b"\n"


def _parse_piece(head: bytes, rest: bytes) -> TrashedText | None:
    try:
        fields = json.loads(head)
        text = disk.read_checked_text(fields, _ESCAPED.sub(b"", rest))
        at = datetime.fromisoformat(fields["at"])
        id, path, why, title = map(fields.__getitem__, ("id", "path", "why", "title"))
        file = fields.get("after", ""), fields.get("offset", 0)
        later = [fields.get(name, "") for name in _LATER_FIELDS]
        return TrashedText(id, path, at, why, title, text, fields.get("mode"), *file, *later)
    except (ValueError, KeyError, TypeError):
        return None

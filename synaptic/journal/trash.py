"""The trash, `trash.md`: Markdown that a person can read, with every replaced and deleted text
as one piece.

Each piece follows a comment that names its id, path, moment and reason. A line of a piece that
looks like such a comment gains a backslash, so that no text can pose as a piece. A checksum
shows when a kill has torn a piece.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from . import disk

Why = Literal["update", "delete", "restore", "edited", "vanished", "undone"]
"""Why a text left the journal: an update, a deletion or a restored text replaced it. `edited`:
a person had replaced it by hand, or its loss was dismissed. `vanished`: an older text had come
back over it, or it was
gone. `undone`: the import that brought it was taken back."""
_PIECE = re.compile(rb"^<!-- trash (\{.*\}) -->\n", re.M)
_LOOKS_LIKE = re.compile(rb"^(\\*)(?=<!-- trash )", re.M)
_ESCAPED = re.compile(rb"^\\(?=\\*<!-- trash )", re.M)


@dataclass(frozen=True, slots=True)
class TrashedText:
    """A replaced text, byte for byte, and when that was. `mode` is of its file, if it is of a
    whole-file note.
    """

    id: str
    path: str
    at: datetime
    why: Why
    title: str
    text: bytes
    mode: int | None = None


class Trash:
    """The trash file. A caller that changes it holds the write lock."""

    def __init__(self, state: Path) -> None:
        self.path = state / "trash.md"

    def put(self, *pieces: TrashedText) -> None:
        """Appends the pieces durably."""
        data = b"".join(b"\n" + _render(piece) for piece in pieces)
        with contextlib.suppress(FileExistsError):
            disk.write_new(self.path, b"# Trash\n", private=True, step="trash-created")
            disk.sync_dir(self.path.parent)
        fd = os.open(self.path, os.O_RDWR | os.O_APPEND | disk.O_EXTRA)
        try:
            size = os.lseek(fd, 0, os.SEEK_END)
            os.lseek(fd, max(0, size - 1), os.SEEK_SET)
            data = data if os.read(fd, 1) in (b"", b"\n") else b"\n" + data
            disk.fault("trash-torn", fd, data)
            try:
                disk.write_all(fd, data)
                disk.sync_file(fd)
            except OSError:
                os.ftruncate(fd, size)
                raise
        finally:
            os.close(fd)
        disk.fault("trashed")

    def pieces(self) -> tuple[TrashedText, ...]:
        """All whole pieces, oldest first."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return ()
        heads = list(_PIECE.finditer(data))
        ends = [head.start() for head in heads[1:]] + [len(data)]
        found = (
            _parse(head[1], data[head.end() : end])
            for head, end in zip(heads, ends, strict=False)
        )
        return tuple(piece for piece in found if piece)

    def purge(self, id: str) -> int:
        """The number of pieces of this id. The file is rewritten without them and without torn
        pieces.
        """
        return self.rewrite(lambda piece: None if piece.id == id else piece)

    def rewrite(self, change: Callable[[TrashedText], TrashedText | None]) -> int:
        """The number of pieces that `change` replaced, or removed by returning None. The file
        is rewritten.
        """
        pieces = self.pieces()
        changed = [change(piece) for piece in pieces]
        if self.path.exists():
            disk.overwrite(
                self.path,
                b"# Trash\n" + b"".join(b"\n" + _render(piece) for piece in changed if piece),
            )
        return sum(old != new for old, new in zip(pieces, changed, strict=True))


def _render(piece: TrashedText) -> bytes:
    head = {
        "id": piece.id,
        "path": piece.path,
        "at": piece.at.isoformat(),
        "why": piece.why,
        "title": piece.title,
        "bytes": len(piece.text),
        "sha256": hashlib.sha256(piece.text).hexdigest(),
        **({} if piece.mode is None else {"mode": piece.mode}),
    }
    line = json.dumps(head).replace("-->", "--\\u003e")
    return f"<!-- trash {line} -->\n".encode() + _LOOKS_LIKE.sub(rb"\1\\", piece.text) + b"\n"


def _parse(head: bytes, rest: bytes) -> TrashedText | None:
    try:
        fields = json.loads(head)
        text = _ESCAPED.sub(b"", rest)[: int(fields["bytes"])]
        if hashlib.sha256(text).hexdigest() != fields["sha256"]:
            return None
        at = datetime.fromisoformat(fields["at"])
        return TrashedText(
            fields["id"],
            fields["path"],
            at,
            fields["why"],
            fields["title"],
            text,
            fields.get("mode"),
        )
    except (ValueError, KeyError, TypeError):
        return None

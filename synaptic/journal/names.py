"""Names of files: which of them Synaptic reads, and how the others are named to a person.

A name stands in a list, a path, JSON and a terminal. One that none of them can pass on is left
out: its file is named by `status` and `doctor`, and found again under another name.
"""

from __future__ import annotations

from collections.abc import Collection
from operator import attrgetter
from typing import Literal, NamedTuple

from ..errors import Sentence
from ..models import frozen

Reason = Literal["name", "unreadable", "no file", "broken link", "link"]


class ReasonText(NamedTuple):
    """The reason in words, and the next step, which may name the `targets` of links."""

    words: str
    step: str


REASON_TEXTS: dict[Reason, ReasonText] = {
    "name": ReasonText(
        "a backslash, a control character or a byte that is not UTF-8 in the name", "Rename it."
    ),
    "unreadable": ReasonText(
        "this user may not read it", "Give its owner the right: chmod u+rX."
    ),
    "no file": ReasonText("neither a file nor a folder", "Move it away."),
    "broken link": ReasonText("a link that leads nowhere", "Mend or remove it."),
    "link": ReasonText(
        "a link that leads out of the journal",
        "To read it where it lies, write into config.toml: sources = [{targets}].",
    ),
}
"""In the order in which they are shown."""
_LONGEST = 200
_HEAD, _TAIL = 60, 139
"""Characters of a path that is longer than `_LONGEST`: from its beginning and from its end."""


@frozen
class LeftOut:
    """A note, or a folder that may hold notes, that is not read. `target` is the place to which
    a link leads.
    """

    path: str
    reason: Reason
    target: str = ""


def is_readable(name: str) -> bool:
    r"""True if a file name or path has no character for which Synaptic leaves it out: a
    backslash, a control character, a line break or a byte that is not UTF-8. The ending does
    not matter.

    | name                           | read |
    |--------------------------------|------|
    | `a.md`, `-a.md`, `CON.md`, `é` | yes  |
    | `a\b.md`                       | no: it would be a path elsewhere |
    | `a` + newline, DEL, U+2028     | no: it would break a line or steer a terminal |
    | bytes that are not UTF-8       | no: neither JSON nor SQLite could hold it |
    """
    if "\\" in name:
        return False
    return name.isprintable() or not any(map(_is_control, name))


def _is_control(sign: str) -> bool:
    code = ord(sign)
    is_surrogate = 0xD800 <= code <= 0xDFFF
    return code < 0x20 or 0x7F <= code < 0xA0 or code in (0x2028, 0x2029) or is_surrogate


def printable_path(path: str) -> str:
    r"""The path as it can be printed anywhere: a byte that is not text as `\xff`, other signs
    that nobody sees as `\n` or `\u202e`, a secret by its kind, and at most 200 characters.
    """
    from ..notes.redaction import redact  # most journals leave nothing out
    from ..notes.screening import visible_secrets

    path = redact(path, visible_secrets(path))
    text = "".join(sign if sign.isprintable() else _escape_character(sign) for sign in path)
    if len(text) > _LONGEST:
        return f"{text[:_HEAD]}…{text[-_TAIL:]}"
    return text


def _escape_character(sign: str) -> str:
    if 0xDC80 <= ord(sign) <= 0xDCFF:  # a byte, as os.fsdecode returns it
        return f"\\x{ord(sign) - 0xDC00:02x}"
    return sign.encode("unicode_escape").decode("ascii")


def left_out_sentences(
    left_out: Collection[LeftOut], most: int
) -> dict[Reason, tuple[str, str]]:
    """For each reason why files are not read: (a sentence that names at most `most` of the
    paths, the next step).
    """
    texts: dict[Reason, tuple[str, str]] = {}
    for reason, rule in REASON_TEXTS.items():
        group = sorted(
            {one for one in left_out if one.reason == reason}, key=attrgetter("path")
        )
        if not group:
            continue
        names = ", ".join(printable_path(one.path) for one in group[:most])
        if len(group) > most:
            names = Sentence("{names} and {n:,} more", names=names, n=len(group) - most)
        targets = ", ".join(f'"{one.target}"' for one in group[:most])
        message = Sentence("Not read: {names} ({why}).", names=names, why=Sentence(rule.words))
        texts[reason] = message, Sentence(rule.step, targets=targets)
    return texts


MOST_BYTES = 200
"""The most bytes of a new file name: systems allow 255, and a hidden file beside it needs some.
"""

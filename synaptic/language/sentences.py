"""Where the sentences of an English text end."""

from __future__ import annotations

from .lexicon import compiled

_END = (
    r"(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bProf)(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\betc)(?<!\b[A-Z])"
    r"[.!?]+[)*_\x1f]*(?=\s|\Z)|\n[ \t]*\n|\n(?=[ \t]*(?:[-*+#>|]|\d{1,3}[.)])[ \t])"
)


def sentence_ends(text: str) -> list[int]:
    """The offsets after each sentence: after its full stop, after a blank line, or before an item of a list."""
    return [found.end() for found in compiled(_END).finditer(text)]

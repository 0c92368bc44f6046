"""A text without what is never touched: code, links, comments, quotations."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from ...notes.blocks import scan
from ..patterns import compiled

CODE = "\x1e"
HIDDEN = "\x1f"
_TICKS = "`+"
_BLANK_LINE = r"\n[ \t]*\n"
_FOREIGN = (
    r"\[\[[^\[\]\n]{0,300}\]\]|\[[^\[\]\n]{0,300}\](?:\([^()\n]{0,500}\)|\[[^\[\]\n]{0,100}\])"  # links
    r"|<!--(?:[^-]|-(?!->)){0,2000}-->|</?[A-Za-z][^<>\n]{0,300}>"
    r"|\b(?:https?|ftp|file|ssh)://\S{1,2000}|\bwww\.\S{1,500}|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{1,64}"
    r"|(?<![\w#@])[#@][\w/-]{1,100}"
    r"|^[ \t]{0,3}>[^\n]*"
    r'|"(?:[^"\n]|\n(?![ \t]*(?:\n|[-*+#>]))){1,600}"'
    r"|“[^“”]{1,600}”|„[^„“”]{1,600}[“”]|«[^«»]{1,600}»|‘[^‘’\n]{1,300}(?:’\w[^‘’\n]{0,300}){0,5}’(?!\w)"
    r"|(?<![\w'’)])'(?=\w)(?:[^'\n]|(?<=\w)'(?=\w)){1,300}(?<=\S)'(?!\w)"
)
_INDENTED = r"(?:\A|\n[ \t]*\n)((?:(?: {4}|\t)(?![ \t]*(?:[-*+]|\d{1,3}[.)])[ \t])[^\n]+(?:\n|\Z))+)"


def shown(text: str) -> str:
    """The text, as long as it was, with control characters for what is code, a link, a comment or a quotation."""
    text = text.replace(CODE, " ").replace(HIDDEN, " ")
    for start, end in [*scan(text).opaque, *(found.span(1) for found in compiled(_INDENTED).finditer(text))]:
        text = _hide(text, start, end, HIDDEN)
    for start, end in _code_spans(text):
        text = _hide(text, start, end, CODE)
    return compiled(_FOREIGN, re.MULTILINE).sub(_hidden, text)


def _hidden(found: re.Match[str]) -> str:
    """Control characters, but the end of a quoted sentence stays, which ends the sentence around it too."""
    signs = re.sub(r"[^\n]", HIDDEN, found[0])
    return f"{signs[:-2]}{found[0][-2]}{HIDDEN}" if found[0][-2:-1] in (".", "!", "?") else signs


def _hide(text: str, start: int, end: int, sign: str) -> str:
    return text[:start] + re.sub(r"[^\n]", sign, text[start:end]) + text[end:]


def _code_spans(text: str) -> Iterator[tuple[int, int]]:
    runs: dict[int, list[int]] = {}
    for run in compiled(_TICKS).finditer(text):
        runs.setdefault(len(run[0]), []).append(run.start())
    limits = [found.start() for found in compiled(_BLANK_LINE).finditer(text)] if runs else []
    at = 0
    for run in compiled(_TICKS).finditer(text):
        if run.start() < at:
            continue
        same = runs[len(run[0])]
        closing = bisect_right(same, run.start())
        paragraph = bisect_left(limits, run.start())
        if closing < len(same) and (paragraph == len(limits) or same[closing] < limits[paragraph]):
            at = same[closing] + len(run[0])
            yield run.start(), at

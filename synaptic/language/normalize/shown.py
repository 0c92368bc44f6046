"""A note as its rules see it, without code, links, comments and quotations, and a change that
they make.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from ...notes.blocks import scan
from ..lexicon import compiled

MAX_LENGTH = 20_000
"""Characters of a note that are looked at; what follows stays as it is."""

CODE = "\x1e"
HIDDEN = "\x1f"
_CODE_SPAN = r"(?<!`)(`+)(?!`)(?:(?!\n[ \t]*\n)[\s\S]){1,2000}?(?<!`)\1(?!`)"
_FOREIGN = (
    # links
    r"\[\[[^\[\]\n]{0,300}\]\]|\[[^\[\]\n]{0,300}\](?:\([^()\n]{0,500}\)|\[[^\[\]\n]{0,100}\])"
    r"|<!--(?:[^-]|-(?!->)){0,2000}-->|</?[A-Za-z][^<>\n]{0,300}>"
    r"|\b(?:https?|ftp|file|ssh)://\S{1,2000}|\bwww\.\S{1,500}|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{1,64}"
    r"|(?<![\w#@])[#@][\w/-]{1,100}"
    r"|^[ \t]{0,3}>[^\n]*"
    r'|"(?:[^"\n]|\n(?![ \t]*(?:\n|[-*+#>]))){1,600}"'
    r"|“[^“”]{1,600}”|„[^„“”]{1,600}[“”]|«[^«»]{1,600}»|‘[^‘’\n]{1,300}(?:’\w[^‘’\n]{0,300}){0,5}’(?!\w)"
    r"|(?<![\w'’)])'(?=\w)(?:[^'\n]|(?<=\w)'(?=\w)){1,300}(?<=\S)'(?!\w)"
)
_INDENTED = (
    r"(?:\A|\n[ \t]*\n)((?:(?: {4}|\t)(?![ \t]*(?:[-*+]|\d{1,3}[.)])[ \t])[^\n]+(?:\n|\Z))+)"
)


@dataclass(frozen=True, slots=True)
class Change:
    """`was`, which stands at the offset `start` of the text, reads `now`."""

    was: str
    now: str
    kind: Literal["time", "coreference"]
    start: int


def shown(text: str) -> str:
    """The text, as long as it was, with control characters for what is code, a link, a comment
    or a quotation.
    """
    text = text.replace(CODE, " ").replace(HIDDEN, " ")
    for start, end in [
        *scan(text).opaque,
        *(found.span(1) for found in compiled(_INDENTED).finditer(text)),
    ]:
        text = text[:start] + re.sub(r"[^\n]", HIDDEN, text[start:end]) + text[end:]
    text = compiled(_CODE_SPAN).sub(lambda span: re.sub(r"[^\n]", CODE, span[0]), text)
    return compiled(_FOREIGN, re.MULTILINE).sub(_hidden, text)


def _hidden(found: re.Match[str]) -> str:
    """Control characters, but the end of a quoted sentence stays, which ends the sentence
    around it too.
    """
    signs = re.sub(r"[^\n]", HIDDEN, found[0])
    return (
        f"{signs[:-2]}{found[0][-2]}{HIDDEN}" if found[0][-2:-1] in (".", "!", "?") else signs
    )

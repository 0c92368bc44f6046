"""Finds the headings and blocks of a note, to which links lead by `#`, and what a vault does
not show as text. Pure.

| a link                                  | leads to                                      |
|-----------------------------------------|-----------------------------------------------|
| `[[Boats#Hull]]`, `[a](Boats.md#hull)`  | `## Hull`, `Hull` above `---`, `id="hull"`    |
| `[[Boats#Step 1 paint]]`                | `## Step 1: [[Paint\\|paint]]`, also in bold   |
| `[[Boats#Hull#Paint]]`                  | both of these headings                        |
| `[[Boats#^k1]]`                         | a block that ends with `^k1`                  |
"""

import html
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Collection, Iterator

from .blocks import blank_out, scan_structure, without_code_and_comments

_HEADING = re.compile(
    r"(?m)^[ \t>]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)*#{1,6}[ \t]+(?P<words>\S[^\n]*)"
)
_UNDERLINED = re.compile(r"(?m)^[ \t>]*(?P<words>\S[^\n]*)\n[ \t>]*(?:=+|-+)[ \t\r]*$")
_ANCHOR = re.compile(r"""\b(?:id|name)=["']?(?P<words>[^"'\s>]+)|\{#(?P<name>[^\s}]+)\}""")
_BLOCK = re.compile(r"(?m)\^(?P<words>[\w-]+)[ \t\r]*$")
_WIKI_LINK = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\((?:[^()]|\([^()]*\))*\)")
_TAG = re.compile(r"<[^<>]*>")
_LETTERS = re.compile(r"[^\W_]+")
_REPEATED = re.compile(r"-[0-9]+\Z")
_DENDRON_END = re.compile(r":#.*|,[0-9]+\Z")

_COMMENT = re.compile(r"(?<!\w)%%(?!%)[^\n]+?%%")
_COMMENT_START = re.compile(r"(?m)^[ \t>]*%%(?=(?:(?!%%)[^\n])*$)")
_COMMENT_END = re.compile(r"(?m)%%[ \t\r]*$")
_FORMULA = re.compile(r"(?<![\\$\w])\$(?=[^\s$])[^\n$]*(?<=[^\s\\])\$(?![0-9$])")
_FORMULA_BORDER = re.compile(r"(?<![\\$])\$\$(?!\$)")
_BLANK_LINE = re.compile(r"\n[ \t>]*\n")


def find_link_parts(text: str, titles: Collection[str] = ()) -> set[str]:
    """The keys of the headings and of the blocks of a file to which a link may lead, `titles`
    among them; those of blocks begin with `^`.
    """
    plain = blank_out(text, scan_structure(text).opaque)
    named = [*titles]
    for pattern in (_HEADING, _UNDERLINED, _ANCHOR):
        for match in pattern.finditer(plain):
            named += filter(None, match.groups())
    keys = {f"^{match['words'].lower()}" for match in _BLOCK.finditer(plain)}
    for words in named:
        rendered = _LINK.sub(r"\1", _WIKI_LINK.sub(r"\1", _TAG.sub("", html.unescape(words))))
        keys |= {_part_key(words), _part_key(rendered)}
    return keys


def leads_to_part(target: str, parts: Collection[str]) -> bool:
    """True if what stands behind the `#` of a link is one of these parts, or all of its pieces
    are, or cannot be judged.
    """
    whole = _DENDRON_END.sub("", target)
    pieces = [whole] if whole.startswith("^") else whole.split("#")
    return _part_key(whole) in parts or all(_is_part(piece.strip(), parts) for piece in pieces)


def _is_part(piece: str, parts: Collection[str]) -> bool:
    if piece.startswith("^"):
        return piece.lower() in parts
    key = _part_key(piece)
    return not key or key in parts or _part_key(_REPEATED.sub("", piece)) in parts


def _part_key(words: str) -> str:
    """The letters and digits of a heading or a link: programs differ in what they do with all
    other signs.
    """
    return "".join(_LETTERS.findall(unicodedata.normalize("NFC", words).casefold()))


def blank_unshown(text: str) -> str:
    """Replaces comments of Obsidian, `%% … %%`, and formulas, `$…$`, by blanks; lines and
    offsets do not change.
    """
    if "%%" not in text and "$" not in text:
        return text
    plain = without_code_and_comments(text)
    for find in (_comment_blocks, _comments, _formula_blocks, _formulas):
        spans = [*find(plain)]
        plain, text = (blank_out(each, spans) for each in (plain, text))
    return text


def _comments(plain: str) -> Iterator[tuple[int, int]]:
    return (match.span() for match in _COMMENT.finditer(plain))


def _formulas(plain: str) -> Iterator[tuple[int, int]]:
    return (match.span() for match in _FORMULA.finditer(plain))


def _comment_blocks(plain: str) -> list[tuple[int, int]]:
    """The spans from a line that begins with `%%` to the next line that ends with it."""
    ends = [match.end() for match in _COMMENT_END.finditer(plain)]
    spans: list[tuple[int, int]] = []
    for start in _COMMENT_START.finditer(plain):
        at = bisect_left(ends, start.end() + 2)
        if at < len(ends) and (not spans or start.start() >= spans[-1][1]):
            spans.append((start.start(), ends[at]))
    return spans


def _formula_blocks(plain: str) -> Iterator[tuple[int, int]]:
    """Yields the spans between two `$$`, each within a paragraph."""
    start = None
    for border in _FORMULA_BORDER.finditer(plain):
        if start is None or _BLANK_LINE.search(plain, start, border.start()):
            start = border.start()
        else:
            yield start, border.end()
            start = None

"""Cuts an entry's body into passages that fit the embedding model's window. Pure, and needs no
tokenizer.
"""

from __future__ import annotations

import re

from ..models import frozen

WINDOW_TOKENS = 230
"""Estimated tokens of a passage; the rest of the model's 256 is for title, tags, date and our
errors.
"""

MAX_VECTORS = 200
"""Vectors that one entry may have; the words of all its passages are indexed all the same."""

# WordPiece keeps most English words of up to seven letters whole; digits, symbols and other
# scripts cost more.
_PIECE = re.compile(r"[A-Za-z]{1,7}|[0-9]{1,3}|[^\sA-Za-z0-9]")
_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n|$)")
_HEADING = re.compile(r" {0,3}#{1,6}\s")
_WORD = re.compile(r"\s*\S{1,150}\s*")


@frozen
class Span:
    """A passage: byte offsets into the body, and whether it gets a vector."""

    start: int
    end: int
    embed: bool


@frozen
class _Stretch:
    start: int
    end: int
    tokens: int
    # how good a place to cut lies before it: 3 heading, 2 paragraph, 1 line, 0 inside a line
    border: int


def cut_passages(body: bytes) -> list[Span]:
    """Splits the body of an entry into passages, in order and with nothing but blank lines left
    out; one empty span for an empty body.
    """
    pieces = _split_body(body)
    if not pieces:
        return [Span(0, 0, True)]
    passages: list[tuple[int, int]] = []
    first = 0
    while first < len(pieces):
        stop = _find_passage_end(pieces, first)
        passages.append((pieces[first].start, pieces[stop - 1].end))
        first = stop
    count = len(passages)
    chosen = set(range(count))
    if count > MAX_VECTORS:  # evenly over the text, ends included
        step = (count - 1) / (MAX_VECTORS - 1)
        chosen = {round(index * step) for index in range(MAX_VECTORS)}
    return [Span(start, end, number in chosen) for number, (start, end) in enumerate(passages)]


def estimate_tokens(text: str) -> int:
    """About how many tokens a WordPiece model makes of a text; rather too many than too few."""
    return len(_PIECE.findall(text))


def _find_passage_end(pieces: list[_Stretch], first: int) -> int:
    """The end of a passage that begins at `first`: the best border in the second half of the
    window.
    """
    total = 0
    stop = first
    while stop < len(pieces) and (
        stop == first or total + pieces[stop].tokens <= WINDOW_TOKENS
    ):
        total += pieces[stop].tokens
        stop += 1
    if stop == len(pieces):
        return stop
    best, filled = stop, 0
    for index in range(first, stop):
        filled += pieces[index].tokens
        candidate = index + 1
        if filled * 2 >= WINDOW_TOKENS and pieces[candidate].border >= pieces[best].border:
            best = candidate
    return best


def _split_body(body: bytes) -> list[_Stretch]:
    pieces: list[_Stretch] = []
    border = 2
    for match in _LINE.finditer(body):
        raw = match.group().rstrip(b"\r\n")
        text = raw.decode("utf-8", "surrogateescape")
        if not text.strip():
            border = 2
            continue
        tokens = estimate_tokens(text)
        if _HEADING.match(text):
            border = 3
        if tokens <= WINDOW_TOKENS:
            pieces.append(_Stretch(match.start(), match.start() + len(raw), tokens, border))
        else:
            pieces.extend(_split_line(text, match.start(), border))
        border = 1
    return pieces


def _split_line(text: str, offset: int, border: int) -> list[_Stretch]:
    """A line that is longer than the window, cut between words; an endless word, anywhere."""
    pieces: list[_Stretch] = []
    start, end, filled = offset, offset, 0
    for word in _WORD.findall(text):
        tokens = estimate_tokens(word)
        if filled and filled + tokens > WINDOW_TOKENS // 4:
            pieces.append(_Stretch(start, end, filled, border))
            start, filled, border = end, 0, 0
        filled += tokens
        end += len(word.encode("utf-8", "surrogateescape"))
    pieces.append(_Stretch(start, end, filled, border))
    return pieces

"""Chooses the sentences of a note that say most. Pure; tokens are counted by the caller."""

from collections.abc import Callable

from ..notes.blocks import count_code_spans
from ..notes.header import shorten
from .lexicon import sentence_ends

BEGINNING_CHARS = 24
"""The most characters of the first sentence that stand before others. In `bench.py helps` the
briefing shows what 32 and 30 tasks need with 24, 31 and 29 with 32.
"""


def split_sentences(text: str) -> list[str]:
    """Returns the sentences, list items and lines of a text, each in one line."""
    sentences = []
    for line in text.splitlines():
        begin = 0
        for end in (*sentence_ends(line), len(line)):
            sentence = " ".join(line[begin:end].split())
            if sentence:
                sentences.append(sentence)
            begin = end
    return sentences


def last_sentences(text: str, room: int, count: Callable[[str], int]) -> str:
    """Returns the last sentences of a text that have at most `room` together, at least one, in
    one line. `count` measures a text. An ellipsis stands before them if others are left out.
    """
    sentences = split_sentences(text)
    chosen: list[str] = []
    for sentence in reversed(sentences):
        room -= count(sentence)
        if chosen and room < 0:
            chosen.append("…")
            break
        chosen.append(sentence)
    return " ".join(reversed(chosen))


def choose_sentences(text: str, room: int, count: Callable[[str], int]) -> str:
    """Returns the whole text in one line if it has at most `room`, else its beginning and its
    sentences with the most code spans, as many as fit, in their order; at least one. Of equal
    ones the first sentence comes last, for agents begin with the occasion, then the longest.
    `count` measures a text. An ellipsis stands at the end if sentences are left out.

    The beginning is always there: without it an explanation becomes an order.

    | text                                            | choice                               |
    |-------------------------------------------------|--------------------------------------|
    | We tried it. Run `make x` first. It takes long. | We tried it. Run `make x` first. …   |
    | Node 18+ breaks web: the … dies. Use `nvm 16`.  | Node 18+ breaks web… Use `nvm 16`. … |
    """
    sentences = split_sentences(text)
    whole = " ".join(sentences)
    if not sentences or count(whole) <= room:
        return whole
    beginning = shorten(sentences[0], BEGINNING_CHARS)
    room -= count(beginning)
    sizes = [count(sentence) for sentence in sentences]
    sizes[0] -= count(beginning)
    spans = [count_code_spans(sentence) for sentence in sentences]
    best_first = sorted(range(len(sentences)), key=lambda n: (-spans[n], n == 0, -sizes[n]))
    chosen: list[int] = []
    for number in best_first:
        if not chosen or sizes[number] <= room:
            chosen.append(number)
            room -= sizes[number]
    parts = [sentences[number] for number in sorted(chosen)]
    if 0 not in chosen:
        parts.insert(0, beginning)
    return " ".join([*parts, "…"])

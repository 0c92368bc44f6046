"""Whether what was found clearly fits what was asked: the nearest texts always come, near or not."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..language.lexicon import TYPE_WORDS
from ..language.words import words, words_like
from ..models import Hit
from ..workspace.workspace import Workspace

CLOSE = 0.62
"""From here on a hit fits: its cosine, and COVERAGE times the share of the question that its own words hold.

Chosen on the even half of 160 labelled questions on 450 notes, so that nearly all that a note answers stay above it
(`bench.py quality --notes FILE --answerable tests/data/answerable.json`).
"""

COVERAGE = 0.8
LOOKED_AT = 5


def closeness(ws: Workspace, terms: Sequence[str], hits: Sequence[Hit], cosines: Sequence[float | None]) -> list[float]:
    """How well each of the first hits fits the words of a question; a rare word counts for more, by its idf."""
    total, counts = ws.index.document_counts({word for term in terms for _, word in words(term)})
    idf = {word: math.log(1 + (1 + total) / (1 + count)) for word, count in counts.items()}
    weights = {stem: weight for word, weight in idf.items() if (stem := ws.index.stem(word))}
    most = sum(weights.values())
    found = []
    for hit, cosine in zip(hits[:LOOKED_AT], cosines, strict=False):
        held = {stem for _, word in words_like(_said(hit), weights) if (stem := ws.index.stem(word)) in weights}
        share = sum(weight for stem, weight in weights.items() if stem in held) / most if most else 0.0
        found.append((cosine or 0.0) + COVERAGE * share)
    return found


def _said(hit: Hit) -> str:
    """What a hit says, and what it is marked with."""
    entry = hit.entry
    asked_by = (word for word, kind in TYPE_WORDS.items() if kind == entry.type)
    marks = (*entry.tags, *entry.files, entry.project or "", *asked_by)
    return " ".join((entry.title, hit.passage, *marks))

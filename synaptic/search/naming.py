"""Names that the journal uses, among the words of a question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..language.analysis import NO_NAMES
from ..language.lexicon import TOOLS
from ..language.words import words
from ..workspace.sync import read_passages
from ..workspace.workspace import Workspace

MAX_WORDS = 8
PASSAGES_READ = 4
"""For each word; enough to see how the journal writes it, few enough for each question."""


def names_used(ws: Workspace, question: str) -> frozenset[str]:
    """Those words of the question, and runs of them, that passages of the journal write as names.

    A name has a capital within a sentence, more often than not: `where is maria lopez` asks for Maria Lopez where
    the journal says "lunch with Maria Lopez".
    """
    line = " ".join(word for _, word in words(question))
    sought = _looked_up(line.split())
    if not sought:
        return frozenset()
    stems = filter(None, map(ws.index.stem, sought))
    chunks = {chunk for stem in stems for chunk in ws.index.chunks_with_stem(stem, limit=PASSAGES_READ)}
    written: dict[str, list[tuple[str, list[str]]]] = {}
    for name, after in _occurrences(sought, (text for text, _ in read_passages(ws, list(chunks)).values())):
        written.setdefault(name.lower(), []).append((name, after))
    return frozenset(name for places in written.values() for name in _names(places, line))


def _looked_up(found: Iterable[str]) -> list[str]:
    named = [word for word in dict.fromkeys(found) if word.isalpha() and len(word) > 2]
    return [word for word in named if word not in NO_NAMES and word not in TOOLS][:MAX_WORDS]


def _occurrences(sought: Iterable[str], texts: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """(word as it is written, what follows it with a capital), wherever one stands within a sentence."""
    pattern = re.compile(rf"(?<=[\w,;)] )\b((?i:{'|'.join(sought)}))\b(?=((?: [A-Z]\w+){{0,3}}))")
    return ((found[1], found[2].split()) for text in texts for found in pattern.finditer(text))


def _names(places: list[tuple[str, list[str]]], line: str) -> Iterator[str]:
    """The word where it is a name more often than not, and with it what follows in the question and in the name."""
    names = [place for place in places if place[0][0].isupper()]
    if 2 * len(names) <= len(places):
        return
    for name, after in names:
        yield name
        for count in range(len(after), 0, -1):
            whole = " ".join([name, *after[:count]])
            if f" {whole.lower()} " in f" {line} ":
                yield whole
                break

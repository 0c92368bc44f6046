"""Names that the journal uses, among the words of a question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from .analysis import NO_NAMES
from .lexicon import TOOLS
from .sync import read_passages
from .words import words
from .workspace import Workspace

MAX_WORDS = 8
PASSAGES_READ = 4
"""For each word; enough to see how the journal writes it, few enough for each question."""


def names_used(ws: Workspace, question: str) -> frozenset[str]:
    """Those words of the question, and runs of them, that passages of the journal write as names.

    A name has a capital within a sentence, more often than not: `where is maria lopez` asks for Maria Lopez where
    the journal says "lunch with Maria Lopez".
    """
    line = " ".join(word for _, word in words(question))
    found: set[str] = set()
    for word in _looked_up(line.split()):
        stem = ws.index.stem(word)
        chunks = ws.index.chunks_with_stem(stem, limit=PASSAGES_READ) if stem else []
        texts = [text for text, _ in read_passages(ws, list(dict.fromkeys(chunks))).values()]
        found.update(_names_of(word, texts, line))
    return frozenset(found)


def _looked_up(found: Iterable[str]) -> list[str]:
    named = [word for word in dict.fromkeys(found) if word.isalpha() and len(word) > 2]
    return [word for word in named if word not in NO_NAMES and word not in TOOLS][:MAX_WORDS]


def _names_of(word: str, texts: Iterable[str], line: str) -> Iterator[str]:
    """The word as it is written where it is a name, with what follows in the question and in the name alike."""
    pattern = re.compile(rf"(?<=[\w,;)] )((?i:{re.escape(word)}))\b((?: [A-Z]\w+){{0,3}})")
    spelled = [(found[1], found[2].split()) for text in texts for found in pattern.finditer(text)]
    names = [(name, after) for name, after in spelled if name[0].isupper()]
    if 2 * len(names) <= len(spelled):
        return
    for name, after in names:
        yield name
        for count in range(len(after), 0, -1):
            whole = " ".join([name, *after[:count]])
            if f" {whole.lower()} " in f" {line} ":
                yield whole
                break

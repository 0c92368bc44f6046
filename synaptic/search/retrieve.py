"""The two candidate lists of a search: passages by words and by meaning, collapsed to entries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..index import Candidate
from ..language.lexicon import TYPE_WORDS
from ..language.query import ParsedQuery, nearest_word
from ..language.words import match
from ..models import Filters, Vector
from ..workspace.sync import read_passages
from ..workspace.workspace import Workspace

DEPTH = 80
"""Chunks taken from each list before fusion, at least."""


@dataclass(frozen=True, slots=True)
class Lists:
    """Both lists: the best chunk of each entry, by entry rowid, best first."""

    lexical: dict[int, Candidate]
    semantic: dict[int, Candidate]

    def chunk(self, rowid: int) -> int | None:
        """The chunk of an entry to be shown: the one with the words, else the nearest."""
        return _chunk(rowid, self.lexical, self.semantic)

    def chunk_near(self, rowid: int) -> int | None:
        """The chunk of an entry that stands for its meaning: the nearest, else the one with the words."""
        return _chunk(rowid, self.semantic, self.lexical)


def _chunk(rowid: int, first: Mapping[int, Candidate], then: Mapping[int, Candidate]) -> int | None:
    found = first.get(rowid) or then.get(rowid)
    return found.chunk_rowid if found else None


def spell(ws: Workspace, parsed: ParsedQuery) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words to look up, and a notice for each that no entry holds and for which its nearest is searched too."""
    terms: list[str] = []
    notices: list[str] = []
    for term in parsed.terms:
        terms.append(term)
        if len(term) < 4 or not term.isalpha() or term in TYPE_WORDS or ws.index.document_counts([term])[1][term]:
            continue
        stem = ws.index.stem(term)
        nearest = nearest_word(stem, ws.index.stems_like(stem)) if stem else None
        word = _spelled_out(ws, nearest) if nearest else None
        if word:
            terms.append(word)
            notices.append(f"No entry holds the word {term!r}; {word!r} was searched as well.")
    return tuple(terms), tuple(notices)


def _spelled_out(ws: Workspace, stem: str) -> str | None:
    """A word of the journal that has this stem: stems are not words, and stemming them again breaks them."""
    for rowid in ws.index.chunks_with_stem(stem, limit=3):
        text, _ = read_passages(ws, [rowid]).get(rowid, ("", 0))
        for word in text.lower().split():
            bare = word.strip(".,;:!?()[]{}<>\"'`*_#")
            if bare.isalpha() and ws.index.stem(bare) == stem:
                return bare
    return None


def by_words(
    ws: Workspace,
    terms: Sequence[str],
    phrases: Sequence[str],
    filters: Filters,
    within: Sequence[int] | None,
    limit: int,
) -> dict[int, Candidate]:
    """At least `limit` entries that hold any of the terms, where there are so many; best BM25 first."""

    def fetch(depth: int) -> list[Candidate]:
        return ws.index.lexical(
            [match(term) for term in terms],
            filters=filters,
            within=within,
            phrases=tuple(match(phrase) for phrase in phrases),
            context_weight=ws.config.search.context,
            limit=depth,
        )

    return _best_chunks(fetch, limit) if terms else {}


def by_meaning(
    ws: Workspace,
    vector: Vector | None,
    phrases: Sequence[str],
    filters: Filters,
    within: Sequence[int] | None,
    limit: int,
) -> dict[int, Candidate]:
    """The `limit` entries nearest to the vector, or more; nearest first."""
    if vector is None:
        return {}
    quoted = tuple(match(phrase) for phrase in phrases)

    def fetch(depth: int) -> list[Candidate]:
        return ws.index.semantic(vector, filters=filters, within=within, phrases=quoted, limit=depth)

    return _best_chunks(fetch, limit)


def _best_chunks(fetch: Callable[[int], Sequence[Candidate]], limit: int) -> dict[int, Candidate]:
    """The best chunk of each entry, best first. Looks deeper where few long entries fill the whole list."""
    depth = max(DEPTH, 4 * limit)
    while True:
        candidates = fetch(depth)
        best: dict[int, Candidate] = {}
        for candidate in candidates:
            best.setdefault(candidate.entry_rowid, candidate)
        if len(candidates) < depth or len(best) >= limit:
            return best
        depth *= 4

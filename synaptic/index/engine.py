"""The interface of an engine of the index. Whatever is not listed here is SQL that both engines
share.

`sqlite_engine.SqliteEngine` has the index beside a journal, `postgres.PostgresEngine` a
published one. The SQL is SQLite's as far as PostgreSQL agrees; `postgres` says what it words
otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from ..filters import Filters
from ..models import Vector
from .embedding import USUAL_COSINE
from .rows import VECTOR_SCALE, Candidate

Made = TypeVar("Made")


class Engine(Protocol):
    """One connection; one thread owns it. `latest_rough` and `cache` are its memory."""

    cache: dict[str, object]

    def rows(self, sql: str, *values: Any) -> list[Any]:
        """Every row of a query; `?` stands for a value, lists are bound as JSON."""

    def column(self, sql: str, *values: Any) -> list[Any]:
        """The first column of every row."""

    def value(self, sql: str, *values: Any) -> Any:
        """The first column of the first row; None where there is no row."""

    def meta(self, key: str) -> Any:
        """The value of this key: `model`, `dimensions`, `usual`, `reading`, `head`; else
        None.
        """

    def cached(self, name: str, make: Callable[[], Made]) -> Made:
        """Returns the cached value `name`; calls `make` on a miss or after a change."""

    def transaction(self, /, *allowed: Any) -> AbstractContextManager[Any]:
        """A context in which all queries see one state. It may nest."""

    def close(self) -> None:
        """Closes the connection; the next use opens it again."""

    def size(self) -> int:
        """Bytes on disk."""

    def passing_chunks(self, filters: Filters, within: Sequence[int] | None) -> Any:
        """Returns the chunks that pass the filters and belong to the entries `within`, in a
        form for `lexical` and `semantic`; None if all chunks pass.
        """

    def lexical(self, terms: Sequence[str], passing: Any, *, limit: int) -> list[Candidate]:
        """The chunks that hold any of the quoted `terms`, best BM25 first; of equals the
        later.
        """

    def semantic(self, vector: Vector, passing: Any, *, limit: int | None) -> list[Candidate]:
        """The passing chunks nearest to the vector, nearest first; all with `limit` None."""

    def frequencies(self, terms: Collection[str]) -> tuple[int, dict[str, int]]:
        """(chunks in all, roughly the number that hold each of these quoted terms)."""

    def vectors_of(self, chunks: Sequence[int]) -> dict[int, bytes]:
        """The int8 vectors of these chunks, as bytes; chunks without a vector are left out."""

    def spread_chunks(self, count: int) -> Sequence[int]:
        """Up to `count` chunks with a vector, a sample of all chunks: those with the smallest
        text hashes.
        """

    def stem(self, word: str) -> str | None:
        """Returns the stem of one word by the tokenizer; for a word of several parts, such as
        `line_items`, the stems of the parts; None if it has no stem.
        """

    def stems_like(self, stem: str) -> list[tuple[str, int]]:
        """Indexed stems of the same first letter and about the same length, or its beginnings;
        with document counts.
        """

    def stems_holding(self, part: str, *, limit: int) -> list[str]:
        """Longer stems that hold this part, the shortest first."""

    def chunks_with_stem(self, stem: str, *, limit: int) -> list[int]:
        """Chunks whose text, title or tags hold a word of this stem."""


def distance_scale(engine: Engine) -> float:
    """The factor by which unrelated texts are further apart by the model in use than on the
    scale of all models, on which their mean cosine is USUAL_COSINE.
    """
    # an index without a model has none, nor has one of the model that shipped until 0.3
    return (1 - float(engine.meta("usual") or USUAL_COSINE)) / (1 - USUAL_COSINE)


def cosines_from_distances(engine: Engine, squared: Iterable[float]) -> list[float]:
    """The cosines of pairs of unit vectors from the squared distances of their int8 forms, on
    the scale of all models.
    """
    apart = 2.0 * VECTOR_SCALE * VECTOR_SCALE * distance_scale(engine)
    return [1.0 - each / apart for each in squared]

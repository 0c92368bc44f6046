"""The automatic strategy: does it keep its budget, and what does it lose against the best
single strategy?
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench_quality import Corpus, locomo, mean, measures

from synaptic import search
from synaptic.config import DEFAULT_MODEL
from synaptic.index.embedding import FastEmbedder
from synaptic.models import SearchResult

BUDGETS_MS = (None, 80.0, 40.0, 20.0, 10.0)
SINGLE = ("lexical", "semantic", "hybrid", "smart")


def run_automatic(arguments: argparse.Namespace, scratch: Path) -> list[dict[str, Any]]:
    """A row for each single strategy, then for `auto` within each budget; every query is
    embedded anew.
    """
    embedder = FastEmbedder(DEFAULT_MODEL, cache=scratch / "models")
    first, _, last = arguments.split.partition("-")
    corpora = list(
        locomo(arguments.locomo, range(int(first), int(last or first) + 1), scratch, embedder)
    )
    rows = [_row(strategy, None, _asked(corpora, strategy, None)) for strategy in SINGLE]
    best = max(row["recall@10"] for row in rows)
    for budget in BUDGETS_MS:
        row = _row("auto", budget, _asked(corpora, "auto", budget))
        rows.append(row | {"of the best": f"{row['recall@10'] / best:.1%}"})
    return rows


def _asked(
    corpora: Sequence[Corpus], strategy: str, budget_ms: float | None
) -> list[tuple[float, SearchResult]]:
    """Recall@10 and answer of every question; the first twenty of each conversation tell what
    searches cost.
    """
    found: list[tuple[float, SearchResult]] = []
    for corpus in corpora:
        for warming, questions in ((True, corpus.questions[:20]), (False, corpus.questions)):
            for question in questions:
                result = search(
                    corpus.workspace,
                    question.text,
                    limit=20,
                    strategy=strategy,
                    budget_ms=budget_ms,
                    explain=True,
                )
                if not warming:
                    recall = measures([hit.entry.id for hit in result.hits], question.wanted)[
                        "recall@10"
                    ]
                    found.append((recall, result))
    return found


def _row(
    strategy: str, budget_ms: float | None, found: Sequence[tuple[float, SearchResult]]
) -> dict[str, Any]:
    taken = Counter(result.strategy for _, result in found)
    times = sorted(result.choice.actual_ms for _, result in found if result.choice)
    row: dict[str, Any] = {
        "strategy": strategy,
        "budget, ms": "none" if budget_ms is None else f"{budget_ms:g}",
        "taken": ", ".join(f"{name} {count}" for name, count in taken.most_common()),
        "recall@10": round(mean(recall for recall, _ in found), 4),
    }
    if times:
        p95 = times[int(0.95 * len(times))]
        row |= {"p50, ms": round(times[len(times) // 2], 1), "p95, ms": round(p95, 1)}
        row["p95 over budget"] = f"{p95 / budget_ms:.2f}" if budget_ms else ""
    return row

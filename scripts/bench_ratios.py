"""What understanding costs: each kind of search over a plain hybrid one, the same queries in
turn in one process.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from synaptic import Workspace, search
from synaptic.search.understanding import analysis_of
from synaptic.surfaces.mcp.tools import TOOLS

KINDS: Sequence[tuple[str, dict[str, Any], str]] = (
    ("explain", {"explain": True}, "at most 1.1"),
    ("preset=balanced", {"preset": "balanced"}, "at most 1.1"),
    ("strategy=smart", {"strategy": "smart"}, "at most 3"),
    ("strategy=auto", {"strategy": "auto"}, ""),
    ("strategy=lexical", {"strategy": "lexical"}, ""),
)


def ratios(workspace: Workspace, questions: Sequence[str]) -> list[dict[str, Any]]:
    """A row for each kind of search, one for the analysis of a query, one for the size of the
    tools.
    """
    for question in questions[:10]:
        search(workspace, question, strategy="smart")
    plain: list[float] = []
    taken: dict[str, list[float]] = {name: [] for name, _, _ in KINDS}
    for question in questions:
        plain.append(_ms(partial(search, workspace, question, strategy="hybrid")))
        for name, how, _ in KINDS:
            taken[name].append(
                _ms(partial(search, workspace, question, **({"strategy": "hybrid"} | how)))
            )
    rows = [
        {
            "what": f"a search with {name}, of one by strategy=hybrid",
            "figure": f"{statistics.median(taken[name]) / statistics.median(plain):.2f} times",
            "goal": goal,
        }
        for name, _, goal in KINDS
    ]
    analysed = [_ms(partial(analysis_of, workspace, question)) for question in questions]
    p95 = sorted(analysed)[int(0.95 * len(analysed))]
    tools = sum(
        len(json.dumps([t.name, t.description, t.input_schema], separators=(",", ":")))
        for t in TOOLS
    )
    return [
        *rows,
        {
            "what": "analysis of a query, p50 / p95",
            "figure": f"{statistics.median(analysed):.2f} / {p95:.2f} ms",
            "goal": "p95 under 5 ms",
        },
        {
            "what": "names, descriptions and schemas of the tools",
            "figure": f"{tools:,} characters",
            "goal": "under 6,000",
        },
    ]


def _ms(action: Callable[[], object]) -> float:
    begun = time.perf_counter()
    action()
    return (time.perf_counter() - begun) * 1000

"""What a search was asked for: a value, checked, without a clock or a workspace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from ..language.analysis import Plan
from ..language.query import ParsedQuery
from ..models import Filters, Order, Strategy


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One search. `weights` None: ranks are fused. `within`: only these index rows.

    `parts` and `max_rounds` are those of a smart search. `recent` (of the fitting entries the newest first) and `plan`
    are what `understanding` finds in the words.
    """

    parsed: ParsedQuery
    now: datetime
    filters: Filters = field(default_factory=Filters)
    prefer: Filters = field(default_factory=Filters)
    limit: int = 20
    strategy: Strategy = "hybrid"
    weights: Mapping[str, float] | None = None
    min_similarity: float | None = None
    order: Order = "relevance"
    within: Sequence[int] | None = None
    explain: bool = False
    parts: tuple[str, ...] = ()
    max_rounds: int = 2
    recent: bool = False
    plan: Plan = field(default_factory=Plan)

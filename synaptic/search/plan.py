"""The plan of a search: what the caller asked for, what the words of the question add to it,
and the sub-queries that run. The pipeline runs it; `analyze` and `explain` show it.

| layer                     | finds                                                            |
|---------------------------|------------------------------------------------------------------|
| lexical, semantic, hybrid | by words, by meaning, by both                                    |
| temporal                  | the same within the preferred time; or a list of a time          |
| phrase                    | the same among the entries that hold a phrase of the query       |
| title                     | the same among the entries that have the query as their name     |
| symbolic                  | raises or keeps, by metadata, what others found; or a list       |

The sub-queries of one text make one ranking; the rankings of all texts are fused.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime

from ..errors import InvalidArgument, Sentence, check_range, match_valid_name
from ..filters import Filters
from ..index.index import Index
from ..journal.repository import Checkout
from ..language.analysis.forms import searchable_parts
from ..language.query import MAX_LIMIT, ParsedQuery, search_terms
from ..models import (
    ORDERS,
    Execution,
    Json,
    Merge,
    Order,
    SearchLayer,
    Strategy,
    SubQuery,
    Texts,
)
from ..notes.header import shorten, unique

MAX_ROUNDS = 3
MAX_PARTS = 16
"""The number of sub-queries that a caller may give; each is searched separately."""

LIST_LIMIT = 20
"""The number of entries in a list if the caller gives no limit."""

MAX_TERMS = 64
"""Words of a query that are looked up. By eye."""

PART_WEIGHT = 0.25
"""The weight of a part of the question in a smart search; the question itself has 1. Chosen on
LoCoMo.
"""

PREFERENCE = 1.5
"""The weight of the list of entries that meet preferences, in the fusion with the other lists.
By eye.
"""

SHOWN_CHARACTERS = 300
"""The characters of a query that a plan shows. By eye."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """All options of one search, as the caller gave them. If `weights` is None, ranks are
    fused. `within`: only these index rows. `limit` None: all that fit.

    `parts` and `max_rounds` are those of a smart search. `only_fitting`: with a limit too, only
    hits that fit or hold a word of the query. `project` is the key of the project whose entries
    count more, `here` the checkout that asks. `budget_ms`: how long the search may take.
    """

    parsed: ParsedQuery
    now: datetime
    filters: Filters = field(default_factory=Filters)
    prefer: Filters = field(default_factory=Filters)
    limit: int | None = None
    strategy: Strategy = "auto"
    weights: Mapping[str, float] | None = None
    min_similarity: float | None = None
    order: Order = "relevance"
    within: Sequence[int] | None = None
    explain: bool = False
    parts: Texts = ()
    max_rounds: int = 2
    only_fitting: bool = False
    project: str | None = None
    here: Checkout | None = None
    budget_ms: float | None = None

    def __post_init__(self) -> None:
        """Raises InvalidArgument with the valid values."""
        check_range("limit", self.limit, 1, MAX_LIMIT)
        check_range("min_similarity", self.min_similarity, 0, 1)
        check_range("max_rounds", self.max_rounds, 0, MAX_ROUNDS)
        match_valid_name(ORDERS, self.order, "order")
        if len(self.parts) > MAX_PARTS:
            message = f"sub_queries has {len(self.parts):,} values."
            valid = (f"up to {MAX_PARTS} values",)
            raise InvalidArgument(message, valid=valid, of=["sub_queries"])


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryPlan(Request):
    """A request as it runs: its `strategy` is never `auto`, its words are those to look up.

    The words of the question gave `recent` (of the fitting entries the newest first), `about`
    (the day in the middle of the asked time; the nearer first), `time_words` (an entry that
    holds them all counts as one of the preferred time), `changes` (what happened to an entry,
    by row), and `nothing`, the notice for an empty answer. `over_budget` is the reason why it
    searches by words only.

    The index gave `titled` (the rows of entries whose title, page name or alias is the query);
    a query that has only phrases requires them, if some entry holds them all.
    """

    recent: bool = False
    about: date | None = None
    time_words: Texts = ()
    changes: Mapping[int, str] = field(default_factory=dict)
    nothing: str = ""
    over_budget: str = ""
    titled: Sequence[int] = ()
    sub_queries: tuple[SubQuery, ...] = ()

    @property
    def is_list(self) -> bool:
        """True if the query has no words, only filters or nothing: its answer is a list of
        entries.
        """
        return not self.parsed.terms

    @property
    def fuses(self) -> bool:
        """True if the ranks of several lists are fused, so that the score of a hit is its
        chance of being right.
        """
        return not (self.is_list or self.weights or self.strategy == "bounded")

    @property
    def joins(self) -> bool:
        """True if the strategy searches both by words and by meaning."""
        return self.strategy in ("hybrid", "smart")

    @property
    def ends_itself(self) -> bool:
        """True if the answer ends after the last hit that fits, because the caller gave no
        limit.
        """
        return self.limit is None and self.fuses

    @property
    def rounds(self) -> int:
        """The rounds that run at most: after the first, each asks with its best answers."""
        return max(1, self.max_rounds) if self.strategy == "smart" and not self.is_list else 1

    @property
    def execution(self) -> Execution:
        """How the sub-queries run: in rounds until the best hits stay, one after another
        because one needs what another found, or each for itself.
        """
        if self.rounds > 1:
            return "iterative"
        return "sequential" if any(one.depends_on for one in self.sub_queries) else "parallel"

    @property
    def merge(self) -> Merge:
        """How the answers of the sub-queries become one: by weighted ranks or signals, cut by
        one another, or side by side.
        """
        if self.strategy == "bounded" and not self.is_list:
            return "intersection"
        raises = any(one.layer == "symbolic" for one in self.sub_queries)
        is_weighted = raises or bool(self.weights) or self.joins
        return "weighted" if is_weighted and not self.is_list else "union"


def complete_plan(index: Index, plan: QueryPlan) -> QueryPlan:
    """The plan with the words and phrases to look up, and with its sub-queries."""
    parsed = plan.parsed
    terms = rarest_terms(index, parsed.terms, MAX_TERMS)
    if len(terms) < len(parsed.terms):
        cut = Sentence("Only the {n} rarest words of the query were looked up.", n=MAX_TERMS)
        parsed = replace(parsed, terms=terms, notices=(*parsed.notices, cut))
    holding = Filters(all_words=parsed.phrases, include_superseded=True)
    if parsed.only_phrases and index.list_rows(holding, order="newest", limit=1):
        plan = replace(plan, filters=replace(plan.filters, all_words=parsed.phrases))
    plan = replace(plan, parsed=parsed)
    return replace(plan, sub_queries=_first_sub_queries(plan))


def rarest_terms(index: Index, terms: Texts, most: int) -> Texts:
    """Up to `most` of the terms: all if there are no more, else the rarest first; terms that no
    entry contains come last.
    """
    if len(terms) <= most:
        return terms
    counts = index.document_counts(terms)[1]
    by_rarity = sorted(terms, key=lambda term: counts[term] or math.inf)
    return tuple(by_rarity[:most])


def _first_sub_queries(plan: QueryPlan) -> tuple[SubQuery, ...]:
    """The sub-queries of the first round: those of the question, and in a smart search those of
    its parts.
    """
    text = plan.parsed.text
    if plan.is_list:
        hard = plan.filters
        is_timed = bool(hard.since or hard.until) and not (hard.types or hard.tags)
        layer: SearchLayer = "temporal" if is_timed else "symbolic"
        return (SubQuery("q1", text, layer, 1.0, 1, hard.active_values()),)
    queries = sub_queries_of(plan, text)
    if plan.strategy == "smart":
        parts = map(without_quotes, plan.parts or searchable_parts(text))
        for part in unique(part for part in parts if part != text):
            if search_terms(part):
                queries += sub_queries_of(plan, part, queries, PART_WEIGHT, 2)
    return queries


def without_quotes(text: str) -> str:
    """The text on one line, without quotation marks."""
    return " ".join(text.replace('"', " ").split())


def group_by_text(sub_queries: Sequence[SubQuery]) -> list[list[SubQuery]]:
    """The sub-queries of each text, which make one ranking."""
    groups: dict[str, list[SubQuery]] = {}
    for one in sub_queries:
        groups.setdefault(one.query, []).append(one)
    return list(groups.values())


def sub_queries_of(
    plan: QueryPlan,
    text: str,
    before: Sequence[SubQuery] = (),
    weight: float = 1.0,
    priority: int = 1,
    depends_on: Texts = (),
) -> tuple[SubQuery, ...]:
    """The sub-queries of one text, numbered after those `before`.

    Entries of a preferred time, with a quoted phrase, or named like the query, have a sub-query
    of their own: in a large journal they may not be among the best.
    """
    hard = plan.filters
    prefer = plan.prefer
    layer: SearchLayer = plan.strategy if plan.strategy in ("lexical", "semantic") else "hybrid"
    searched = hard
    if plan.strategy == "bounded":  # the best of all times, which are cut afterwards
        layer = "semantic"
        searched = replace(hard, since=None, until=None)
    asked: list[tuple[SearchLayer, Filters]] = [(layer, searched)]
    if (prefer.since or prefer.until) and not (searched.since or searched.until):
        asked.append(("temporal", replace(searched, since=prefer.since, until=prefer.until)))
    if plan.parsed.phrases and not plan.filters.all_words:
        asked.append(("phrase", replace(searched, words=plan.parsed.phrases)))
    if plan.titled:
        asked.append(("title", searched))
    first = len(before) + 1
    queries = []
    for number, (layer, filters) in enumerate(asked, first):
        values = filters.active_values()
        queries.append(
            SubQuery(f"q{number}", text, layer, weight, priority, values, depends_on)
        )
    ids = tuple(query.id for query in queries)
    if plan.strategy == "bounded":
        values, share = hard.active_values(), 1.0
    else:
        share = plan.weights["symbolic"] if plan.weights else PREFERENCE
        values = prefer.active_values()
    if values:
        id = f"q{first + len(queries)}"
        queries.append(SubQuery(id, text, "symbolic", share, priority, values, ids))
    return tuple(queries)


def plan_as_json(plan: QueryPlan) -> Json:
    """The plan as JSON, with its long texts cut."""
    limit = plan.limit or (LIST_LIMIT if plan.is_list else None)
    return {
        "strategy": plan.strategy,
        "sub_queries": [sub_query_as_json(query) for query in plan.sub_queries],
        "execution": plan.execution,
        "merge": plan.merge,
        "rounds": plan.rounds,
        "required": filters_as_json(plan.filters.active_values()),
        "preferred": filters_as_json(plan.prefer.active_values()),
        "order": plan.order,
        "end": f"after the first {limit}" if limit else "after the last hit that fits",
    }


def sub_query_as_json(query: SubQuery) -> Json:
    """A sub-query as JSON, with its filters as people write them."""
    return {
        "id": query.id,
        "query": shorten(query.query, SHOWN_CHARACTERS),
        "layer": query.layer,
        "weight": round(query.weight, 4),
        "priority": query.priority,
        "filters": filters_as_json(query.filters),
        "depends_on": list(query.depends_on),
    }


def filters_as_json(values: Mapping[str, object]) -> Json:
    """The values of filters as JSON: several of one filter as one text."""
    data: Json = {}
    for name, value in values.items():
        if isinstance(value, Filters):
            data[name] = filters_as_json(value.active_values())
        elif isinstance(value, tuple):
            texts = [
                each if isinstance(each, str) else "=".join(map(str, each)) for each in value
            ]
            data[name] = shorten(", ".join(texts), SHOWN_CHARACTERS)
        else:
            data[name] = value if isinstance(value, str | int) else str(value)
    return data

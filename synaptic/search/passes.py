"""The optional rules that change a ranking or an answer: one list, in their order.

`scripts/bench.py BENCH --without NAME` measures an answer without one. A pass stays while its
figure on text that it was not made on says so; what a caller asks for, and what the format of
notes promises, needs none.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal, TypeAlias

from ..errors import match_valid_name
from ..models import frozen
from .adjust import (
    asks_what_holds,
    exact_words,
    is_ordered_by_score,
    lower_expired,
    lower_other_projects,
    put_exact_first,
    put_titled_first,
    weigh_by_worth,
)
from .doubt import Attempt
from .equal_hits import merge_equal_hits, put_copies_behind
from .evidence import Evidence
from .later import asks_for_latest, put_latest_first
from .ranking import Ranking
from .replaced import put_successors_in_place
from .second_search import (
    Search,
    asks_for_former,
    correct_spelling,
    misses_words,
    search_parts,
    show_replaced,
)
from .talk import favour_named_speakers

Stage: TypeAlias = Literal["candidates", "ranking", "equals"]
"""When a ranking pass runs: on the candidates of each query, on the ranking of the whole
search, or on the ranking before equal hits are merged.
"""


@frozen
class Pass:
    """One optional rule of a search. `bench` names the benchmark that measures it; `figure` is
    its gain on data that it was not made on.
    """

    name: str
    bench: str
    figure: str


@frozen
class RankingPass(Pass):
    """A rule that changes the order of the candidates."""

    stage: Stage
    applies: Callable[[Evidence], bool]
    change: Callable[[Ranking, Evidence], Ranking]


@frozen
class AnswerPass(Pass):
    """A rule that changes the answer by a second search."""

    applies: Callable[[Attempt], bool]
    change: Callable[[Attempt, Search], Attempt]


PASSES: tuple[Pass, ...] = (
    RankingPass(
        name="speakers",
        stage="candidates",
        applies=lambda evidence: evidence.config.speakers and evidence.plan.fuses,
        change=favour_named_speakers,
        bench="passes",
        figure="BEAM 6 to 8: nDCG@10 +.145; LoCoMo 4 and 5: +.035 (92 of 300 better, 12 worse)",
    ),
    RankingPass(
        name="replaced",
        stage="ranking",
        applies=lambda evidence: not evidence.plan.filters.include_superseded,
        change=put_successors_in_place,
        bench="holds",
        figure="docs/USAGE.md promises it",
    ),
    RankingPass(
        name="other-projects",
        stage="ranking",
        applies=lambda evidence: evidence.plan.fuses,
        change=lower_other_projects,
        bench="passes",
        figure="the second team: nDCG@10 +.021; held half of projects.json: +.036",
    ),
    RankingPass(
        name="worth",
        stage="ranking",
        applies=asks_what_holds,
        change=weigh_by_worth,
        bench="helps",
        figure="one search in the user's words, second history: 31 of 43 right instead of 28",
    ),
    RankingPass(
        name="expired",
        stage="ranking",
        applies=is_ordered_by_score,
        change=lower_expired,
        bench="",
        figure="docs/USAGE.md promises it",
    ),
    RankingPass(
        name="exact",
        stage="ranking",
        applies=lambda evidence: bool(exact_words(evidence)),
        change=put_exact_first,
        bench="passes",
        figure="a name of code: nDCG@10 +.060; one word in one note: first in 55 of 55, not 35",
    ),
    RankingPass(
        name="titled",
        stage="ranking",
        applies=lambda evidence: bool(evidence.plan.titled) and evidence.plan.fuses,
        change=put_titled_first,
        bench="passes",
        figure="150 pages of a vault by name: nDCG@10 +.152, 99 of another: +.026; none worse",
    ),
    RankingPass(
        name="copies",
        stage="ranking",
        applies=lambda _: True,
        change=put_copies_behind,
        bench="",
        figure="docs/USAGE.md promises it",
    ),
    RankingPass(
        name="latest",
        stage="ranking",
        applies=asks_for_latest,
        change=put_latest_first,
        bench="freshness",
        figure="newest_held.json: 11 of 27 instead of 7; 12 of 15 that sound so instead of 13",
    ),
    RankingPass(
        name="equal-hits",
        stage="equals",
        applies=lambda evidence: (
            not evidence.plan.only_fitting and evidence.plan.within is None
        ),
        change=merge_equal_hits,
        bench="passes",
        figure="a vault twice, in two folders: nDCG@10 +.015; 14 of 82 better, none worse",
    ),
    AnswerPass(
        name="former",
        applies=asks_for_former,
        change=show_replaced,
        bench="passes",
        figure="docs/USAGE.md promises it",
    ),
    AnswerPass(
        name="identifiers",
        applies=misses_words,
        change=search_parts,
        bench="passes",
        figure="355 identifiers in the other spelling: nDCG@10 +.320; 168 better, 2 worse",
    ),
    AnswerPass(
        name="spelling",
        applies=misses_words,
        change=correct_spelling,
        bench="passes",
        figure="mistyped titles of notes: nDCG@10 +.013; 4 of 150 better, none worse",
    ),
)
"""All passes; within a stage they run in this order.

The second team is that of tests/data/repositories_two.json, which was asked when the rules
were made; of projects.json half was held apart.
"""


def passes_without(name: str) -> tuple[Pass, ...]:
    """All passes except the one with this name. Raises InvalidArgument with the valid names."""
    chosen = match_valid_name([row.name for row in PASSES], name, "pass")
    return tuple(row for row in PASSES if row.name != chosen)


def apply_ranking_passes(stage: Stage, ranked: Ranking, evidence: Evidence) -> Ranking:
    """Runs the ranking passes of a stage that apply, and returns the changed ranking."""
    for row in PASSES:
        if isinstance(row, RankingPass) and row.stage == stage and row.applies(evidence):
            ranked = row.change(ranked, evidence)
    return ranked


def apply_answer_passes(attempt: Attempt, search: Search) -> Attempt:
    """Runs the answer passes that apply, which may search again, and returns the changed
    answer.
    """
    for row in PASSES:
        if isinstance(row, AnswerPass) and row.applies(attempt):
            attempt = row.change(attempt, partial(search, because=row.name))
    return attempt

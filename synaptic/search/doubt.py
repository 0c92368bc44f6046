"""Judges the hits of a search: the chance that each is right, and the notices if nothing is
close or a filter leaves nothing.

`log_odds_of_answer` says how likely a question has an answer in the journal, from its best hit.
`estimate_hit_chances` gives each hit the share of similar hits that were right. `bench.py
fit` fits both to one half of the panel's questions, answered and unanswered, and to short
questions of small journals without a word of their answer (tests/data/panel/short.json);
`bench.py sure` shows the other half. tests/data/panel/begun.json was not used for the fit.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, chain
from statistics import fmean
from typing import NamedTuple

from ..errors import Sentence, join_sentences
from ..language.lexicon import TYPE_WORDS
from ..language.words import find_stems
from ..models import NOTHING_CLOSE, Hit, Texts, frozen
from ..notes.header import shorten
from ..workspace.sync import SyncReport
from ..workspace.workspace import Workspace
from .evidence import Evidence
from .plan import QueryPlan
from .ranking import Ranking

ONLY_NEAREST = "Only three are shown; a limit of {n} shows more."
UNFINISHED = (
    "{n:,} of {total:,} notes cannot be found by meaning yet, only by their words; `synaptic "
    "rebuild-index` prepares them all at once."
)
NOTHING_FITS = Sentence("Nothing fits; try other words, or fewer filters.")
MOST_HITS, NONE_FIT = 8, 5
"""The largest number of hits in an answer without a limit, and the number if nothing is close.
By eye.
"""
UNSURE = 0.25
"""If no hit reaches this chance of being right, an answer without a limit shows MOST_HITS. By
eye.
"""
NEAREST = 3
"""The largest number of hits in such an answer if an entry lacks what was asked for by name, no
hit holds another word of the question, and none reaches UNSURE.
"""
MOST_OF_NAME, MOST_OF_NAMES = 60, 200
"""Characters of a name that no entry holds, and of all of them, in a notice. By eye."""
LOOKED_AT, SHARED = 5, 10
"""The first hits whose best decides if anything fits, and the first hits whose scores are
summed to make each score a share. By eye.
"""

SMALLEST, LARGEST = 40, 1_000
"""The range of journal sizes, in passages, in which size changes the estimate: in a larger
journal some passage is closer by chance. Above 1,000 nothing was measured.
"""

LEAST_CHANCE, LEAST_SHARE, OWN = 0.02, 0.07, 0.15
"""An answer without a limit ends after the last hit that has the chance LEAST_CHANCE and the
share LEAST_SHARE of the best hit's chance, and contains a word of the question or has the
closeness OWN by meaning.

Chosen on one half of the panel, where that keeps 96 % of recall@8; `bench.py sure` shows the
other half.
"""

GREAT_SHARE = 0.3
"""A larger share of the scores than this counts as this much: with few hits even a bad first
hit has a large share. Nine of ten first hits of the panel have a smaller one.
"""


class Curve(NamedTuple):
    """The fitted weights that turn the signs of a hit into chances: one curve for searches with
    meaning, one for searches by words alone.

    `log_odds_of_answer` uses the first five, `estimate_hit_chances` the next four. If the
    log-odds of the best hit are below `doubt`, nothing fits.
    """

    meaning: float
    words: float
    unknown: float
    size: float
    start: float
    best: float
    behind: float
    share: float
    level: float
    doubt: float


BY_MEANING = Curve(
    meaning=18.0,
    words=10.0,
    unknown=0.0,
    size=-0.88,
    start=-3.2,
    best=0.26,
    behind=-0.33,
    share=13.0,
    level=-3.9,
    doubt=-2.33,
)
BY_WORDS = Curve(
    meaning=0.0,
    words=2.6,
    unknown=-7.9,
    size=-0.75,
    start=7.1,
    best=0.37,
    behind=-1.6,
    share=12.0,
    level=-4.4,
    doubt=-2.49,
)


class Signs(NamedTuple):
    """How well a hit fits the question by meaning and by words, each from 0 to 1.

    `meaning` is its cosine, scaled so that 0 is the usual cosine of this question with the
    journal; `words` the share of the question's words that it contains, and `unknown` the share
    of them that no entry contains. A rare word counts for more. `unknown` has no weight in
    searches by meaning. `rare_words` says how many words that a single passage contains weigh
    as much as those that the hit contains.
    """

    meaning: float
    words: float
    unknown: float
    rare_words: float = 0.0


def log_odds_of_answer(signs: Signs, curve: Curve, *, passages: int) -> float:
    """The log-odds that a question has an answer in a journal of `passages` passages, if its
    best hit has these signs.
    """
    size = math.log(1 + min(max(passages, SMALLEST), LARGEST))
    weighed = curve.meaning * signs.meaning + curve.words * signs.words
    return weighed + curve.unknown * signs.unknown + curve.size * size + curve.start


def estimate_hit_chances(
    close: Sequence[float], scores: Sequence[float], curve: Curve, *, of_all: float
) -> list[float]:
    """The chance of each hit, from 0 to 1, that it is right, in the order of the ranking; a
    later chance is never higher.

    `close` is the log-odds of each hit (`log_odds_of_answer`), `scores` its score in the
    ranking, `of_all` the sum of the best SHARED scores. If a lower hit of the first MOST_HITS
    has a better chance, both get the mean (isotonic regression).
    """
    best = max(close[:LOOKED_AT], default=0.0)
    own = []
    for one, score in zip(close, scores, strict=True):
        odds = curve.best * best + curve.behind * (best - one) + curve.level
        odds += curve.share * min(score / (of_all or 1.0), GREAT_SHARE)
        own.append(1 / (1 + math.exp(-odds)))
    pools = []
    for one in own[:MOST_HITS]:
        pools.append([one])
        while len(pools) > 1 and fmean(pools[-2]) < fmean(pools[-1]):
            pools[-2:] = [pools[-2] + pools[-1]]
    first = []
    for pool in pools:
        first += [fmean(pool)] * len(pool)
    return list(accumulate(first + own[MOST_HITS:], min))


def count_hits_to_show(chance: Sequence[float], signs: Sequence[Signs]) -> int:
    """Returns how many of the first hits an answer without a limit shows: at least one, if
    there is any.

    A hit that matches the question neither by words nor by meaning, and was only ranked for its
    neighbours, does not extend the answer.
    """
    last = min(1, len(chance))
    for place, (one, own) in enumerate(zip(chance, signs, strict=False), 1):
        has_a_chance = one >= max(LEAST_CHANCE, LEAST_SHARE * chance[0])
        if has_a_chance and (own.words > 0 or own.meaning >= OWN):
            last = place
    return last


@frozen
class Attempt:
    """One search and its result: `ranked` are all candidates, `passing` those that passed the
    filters, in final order, `hits` the ones that are displayed.

    `close`: something clearly fits, or the query had no words. `weak`: no hits, nothing close,
    or no hit contains a word of the question. `has_more`: `keep_nearest` left hits out.
    `notices` say what passes changed.
    """

    evidence: Evidence
    ranked: Ranking
    passing: Ranking
    hits: tuple[Hit, ...]
    close: bool = True
    weak: bool = False
    has_more: bool = False
    notices: Texts = ()


def measure_signs(
    evidence: Evidence, ranked: Ranking, hits: Sequence[Hit]
) -> tuple[list[Signs], Curve]:
    """(the signs of each hit, the curve that weights them). `hits` are the first entries of
    `ranked`, in its order.
    """
    total, counts = evidence.frequencies(evidence.plan.parsed.terms)
    idf = {word: math.log(1 + (1 + total) / (1 + count)) for word, count in counts.items()}
    # the name of a type says nothing of the subject
    idf = {word: weight for word, weight in idf.items() if word not in TYPE_WORDS} or idf
    idf_of_all = sum(idf.values()) or 1.0
    idf_of_rare = math.log(1 + (1 + total) / 2)
    unknown = sum(idf[word] for word in idf if not counts[word]) / idf_of_all
    stems = {word: evidence.stem(word) for word in idf}
    weights = {stem: idf[word] / idf_of_all for word, stem in stems.items() if stem}
    meaning = _meaning_of_hits(evidence, [r.rowid for r in ranked[: len(hits)]])
    # a hit without a vector: words alone can tell
    curve = BY_WORDS if None in meaning[:LOOKED_AT] else BY_MEANING
    signs = []
    for hit, near in zip(hits, meaning, strict=True):
        entry = hit.entry
        texts = [entry.title, hit.passage, entry.project or "", *entry.tags, *entry.files]
        texts += [word for word, kind in TYPE_WORDS.items() if kind == entry.type]
        texts += [replaced.title for replaced in hit.replaces]
        matches = {stem for _, stem in find_stems(" ".join(texts), weights, evidence.stem)}
        share = sum(weights[stem] for stem in matches)
        signs.append(Signs(near or 0.0, share, unknown, share * idf_of_all / idf_of_rare))
    return signs, curve


def _meaning_of_hits(evidence: Evidence, rowids: Sequence[int]) -> list[float | None]:
    """How close each entry is to the question by meaning, or the best of those in whose place
    it stands; None without a vector.
    """
    replaced = evidence.replaced_by_row
    every = [*rowids, *chain.from_iterable(replaced.values())]
    by_row = dict(zip(every, evidence.meaning(every), strict=True))
    result = []
    for row in rowids:
        values = [by_row[one] for one in (row, *replaced.get(row, ()))]
        result.append(max((value for value in values if value is not None), default=None))
    return result


@frozen
class Judgement:
    """The result of `judge_hits`: `chances` (that each hit is right), `fitting` (the number of
    first hits that fit), `close` (False if nothing fits), and the `signs` of each hit.
    """

    chances: Sequence[float]
    fitting: int
    close: bool
    signs: Sequence[Signs]


def judge_hits(evidence: Evidence, ranked: Ranking, hits: Sequence[Hit]) -> Judgement:
    """Estimates how likely each hit is right and how many fit. `hits` are the first entries of
    `ranked`, in its order.
    """
    signs, curve = measure_signs(evidence, ranked, hits)
    passages, _ = evidence.frequencies(evidence.plan.parsed.terms)
    close = [log_odds_of_answer(each, curve, passages=passages) for each in signs]
    scores = [max(0.0, r.score) for r in ranked]  # a cosine may be below 0
    shares = estimate_hit_chances(
        close, scores[: len(hits)], curve, of_all=sum(scores[:SHARED])
    )
    # entries that are called what was asked, by an alias too; they stand first
    named = len({*evidence.plan.titled}.intersection(r.rowid for r in ranked[: len(hits)]))
    is_close = bool(named) or max(close[:LOOKED_AT], default=curve.doubt) >= curve.doubt
    fitting = count_hits_to_show(shares[:MOST_HITS], signs)
    if max(shares, default=1.0) < UNSURE:
        fitting = named or min(len(hits), MOST_HITS if is_close else NONE_FIT)
    return Judgement(shares, fitting, is_close, signs)


def keep_nearest(attempt: Attempt, missing: Sequence[str]) -> Attempt:
    """The attempt with NEAREST hits if names are `missing` in the journal and nothing else
    speaks for more of them. An answer with a limit stays.
    """
    plan = attempt.evidence.plan
    speaks = not attempt.weak or any(hit.score >= UNSURE for hit in attempt.hits)
    if not missing or speaks or not (plan.fuses and plan.ends_itself):
        return attempt
    return replace(attempt, hits=attempt.hits[:NEAREST], has_more=len(attempt.hits) > NEAREST)


def write_notices(
    attempt: Attempt, report: SyncReport, remarks: Sequence[str], missing: Sequence[str]
) -> Texts:
    """The notices of an answer for the user, most important first: if nothing is close, that,
    and in the same line the names that are `missing` in the journal.

    While passages have no vectors yet, something may be close and was not found: a notice says
    so, with the command that helps.
    """
    evidence = attempt.evidence
    plan = evidence.plan
    passing = attempt.passing
    entries = len(passing)
    if report.pending_entries or not passing:
        entries = evidence.index.counts().entries
    is_unfinished = report.pending_entries > 0 and not evidence.trouble
    names = ", ".join(shorten(name, MOST_OF_NAME) for name in missing)
    notice = Sentence("No entry holds: {names}.", names=shorten(names, MOST_OF_NAMES))
    absent: list[str] = [notice] if missing else []
    if attempt.has_more:
        absent = [join_sentences([notice, Sentence(ONLY_NEAREST, n=MOST_HITS)])]
    notices = []
    if attempt.close:
        remarks = [*remarks, *absent]
    else:
        notices.append(join_sentences([Sentence(NOTHING_CLOSE), *absent]))
    if is_unfinished:
        unfinished = Sentence(UNFINISHED, n=report.pending_entries, total=entries)
        notices.append(join_sentences([*remarks, unfinished]))
    else:
        notices += remarks
    notices += plan.parsed.notices
    if plan.parsed.only_phrases and not plan.filters.all_words:
        notices.append(
            Sentence("No entry holds that phrase; its words were searched one by one.")
        )
    if evidence.trouble:
        notices.append(evidence.trouble)
    notices += report.notices
    asks_nothing = plan.is_list and plan.filters.one_by_one().keys() <= {"include_superseded"}
    is_read = bool(plan.parsed.notices)  # as a list, which a notice says
    if asks_nothing and passing and plan.order == "relevance" and not is_read:
        notices.append(
            Sentence("The query holds no words to search for; these are the newest entries.")
        )
    if plan.min_similarity is not None and any(r.similarity is None for r in passing):
        notices.append(
            "Some of these cannot be compared by meaning yet, so min_similarity did not "
            "apply to them."
        )
    if not passing and entries:
        reason = plan.nothing or _explain_empty_answer(evidence.ws, plan, attempt.ranked)
        if not (is_unfinished and reason == NOTHING_FITS):
            notices.append(reason)
    return tuple(notices)


def _explain_empty_answer(ws: Workspace, plan: QueryPlan, ranked: Ranking) -> str:
    """A notice that says why no entry was found, and what to try next."""
    if ranked and plan.min_similarity is None:
        return Sentence(
            "What passes these filters was replaced by entries that they leave out; "
            "include_superseded shows it."
        )
    if ranked:
        nearest = max(r.similarity or 0.0 for r in ranked)
        return (
            f"No entry reaches min_similarity {plan.min_similarity}; the nearest of "
            f"{len(ranked)} has {nearest:.3f}. Try a lower value."
        )
    filters = plan.filters.one_by_one()
    if filters and not ws.index.list_rows(plan.filters, order="newest", limit=1):
        text = "No entry passes these filters: {names}. Leave some out."
        return Sentence(text, names=", ".join(filters))
    if plan.strategy == "bounded":
        return (
            "None of the best 100 lies within these days; the default strategy searches all of "
            "them."
        )
    return NOTHING_FITS

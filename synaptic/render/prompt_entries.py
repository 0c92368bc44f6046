"""Finds the entries that answer a prompt, and writes them for the agent that reads it."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ..filters import Filters
from ..journal.projects import NamesInJournal
from ..language.excerpt import choose_sentences
from ..language.query import search_terms
from ..models import Hit, SearchResult, Texts
from ..search.search import search
from ..workspace.checkout import checkout_around, working_scope
from ..workspace.workspace import Workspace
from .briefing import fenced_titles, title_line
from .fence import DATA_FOLLOWS

LOOKED_AT = 5
"""The first hits of the search among which the second entry is; some the session has seen."""
MIN_WORDS = 3
"""A prompt with fewer words, without stop words, gets no entries."""
WHOLE_CHARS = 1_200
"""The most characters of an entry that are shown; of a longer one its best sentences."""
HEAD = "From Synaptic, the journal that you share with the user."
"""The first sentence of the entries that fit a prompt."""


class SignsOfHelp(NamedTuple):
    """The signs that the first hit of a prompt helps with it, or their weights: the log-odds of
    its score, the rare words of the prompt that it holds, and 1. The weighted sum of the signs
    is the log-odds that it helps.
    """

    score: float
    rare_words: float
    start: float


BY_MEANING = SignsOfHelp(score=0.62, rare_words=0.82, start=-1.7)
BY_WORDS = SignsOfHelp(score=0.79, rare_words=1.1, start=-2.3)
"""For a search by words and meaning, and for one by words alone; `bench.py prompts` fits them.

Fitted to all prompts of both histories of `bench.py helps`, with and without `--crowded`. What
the share of unknown words, the length of the prompt, the gap to the next hit or the rank in
each list add is less than the two histories differ. A question mark adds nothing either, and
most prompts are orders.
"""
LEAST_CHANCE, LEAST_BY_WORDS = 0.4, 0.46
"""The least chance that the first hit helps, by meaning and by words alone. Chosen on the first
history of `bench.py helps`, where the hook is right at 44 prompts and wrong at 21, by words at
36 and 20; with a question mark as a sign it was right at 41 and wrong at 23, by words 33 and
21.
"""
LEAST_SHARE = 0.2
"""The least share of the first hit's score that the second has."""


class PromptEntries(NamedTuple):
    """The text for the agent, "" if nothing answers the prompt, and the short ids of its
    entries.
    """

    text: str
    ids: Texts


def entries_for_prompt(
    ws: Workspace, prompt: str, folder: Path, seen: Collection[str], *, by_meaning: bool
) -> PromptEntries:
    """Returns the entries that answer a prompt sent in this folder: the first hit, if it likely
    helps, and the next. None if the session has seen the first hit: its short id is in `seen`.
    It searches by words alone unless `by_meaning`.
    """
    result = search_for_prompt(ws, prompt, folder, by_meaning=by_meaning)
    if not result or not result.hits or result.hits[0].entry.short_id in seen:
        return PromptEntries("", ())
    first, *others = result.hits
    weights, least = BY_MEANING, LEAST_CHANCE
    if result.mode == "lexical":
        weights, least = BY_WORDS, LEAST_BY_WORDS
    if chance_of_help(first, weights) < least:
        return PromptEntries("", ())
    unseen = [hit for hit in others if hit.entry.short_id not in seen]
    second = [hit for hit in unseen[:1] if hit.score >= LEAST_SHARE * first.score]
    hits = [first, *second]
    entries = fenced_titles("on this prompt", [hit_line(hit) for hit in hits])
    return PromptEntries(
        f"{HEAD} {DATA_FOLLOWS}\n{entries}", tuple(hit.entry.short_id for hit in hits)
    )


def search_for_prompt(
    ws: Workspace, prompt: str, folder: Path, *, by_meaning: bool
) -> SearchResult | None:
    """Returns what a search for a prompt finds among the entries of the session's project and
    of none; None if the prompt has too few words.

    Reads of a hook are not counted, neither as reads of the entries nor as searches.
    """
    if len(search_terms(prompt)) < MIN_WORDS:
        return None
    config = replace(ws.config, track_access=False, metrics=False)
    if not by_meaning:
        # the patterns of times and lists, which say little of a prompt, take long to compile
        config = replace(config, search=replace(config.search, analysis=False))
    here = checkout_around(folder, config, NamesInJournal.of_index(ws.index))
    scope = working_scope(config, here)._replace(with_none=True)
    of_session = Filters(scope=scope)
    ask = partial(search, replace(ws, config=config), prompt, filters=of_session)
    ask = partial(ask, limit=LOOKED_AT, embed_ms=0)
    if scope.key:
        ask = partial(ask, prefer=Filters(projects=(scope.key,)))
    return ask(strategy="hybrid" if by_meaning else "lexical")


def chance_of_help(hit: Hit, weights: SignsOfHelp) -> float:
    """Returns the chance, 0 to 1, that the first hit of a prompt helps with it."""
    signs = zip(weights, signs_of_help(hit), strict=True)
    return 1 / (1 + math.exp(-sum(weight * sign for weight, sign in signs)))


def signs_of_help(hit: Hit) -> SignsOfHelp:
    """Returns the signs that this hit helps with its prompt."""
    score = min(max(hit.score, 0.001), 0.999)
    return SignsOfHelp(
        score=math.log(score / (1 - score)), rare_words=hit.rare_words, start=1.0
    )


def hit_line(hit: Hit) -> str:
    """Returns a hit as a line: the whole entry, or of a long one the sentences of its best
    passage. Of a preference that no person confirmed only the title is shown.
    """
    entry = hit.entry
    if entry.type == "preference" and "unconfirmed" in " ".join(entry.marks):
        return title_line(entry)
    if len(entry.content) > WHOLE_CHARS:
        passage = choose_sentences(hit.passage, WHOLE_CHARS, len).removesuffix(" …")
        entry = replace(entry, content=f"{passage} …")
    line = title_line(entry, whole=True)
    return f"{line} ({hit.outcome})" if hit.outcome else line

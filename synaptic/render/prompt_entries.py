"""Finds the entries that answer a prompt, and writes them for the agent that reads it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ..filters import Filters
from ..language.excerpt import choose_sentences
from ..language.query import search_terms
from ..models import Hit, Texts
from ..notes.blocks import project_key
from ..search.search import search
from ..workspace.checkout import checkout_around, working_project
from ..workspace.workspace import Workspace
from .briefing import fenced_titles, title_line
from .fence import DATA_FOLLOWS

MOST_ENTRIES = 2
"""The most entries that a prompt gets."""
LOOKED_AT = 5
"""The first hits of the search among which they are; some of these the session has seen."""
MIN_WORDS = 3
"""A prompt with fewer words, without stop words, gets no entries."""
WHOLE_CHARS = 1_200
"""The most characters of an entry that are shown; of a longer one its best sentences."""
HEAD = "From Synaptic, the journal that you share with the user."
"""The first sentence of the entries that fit a prompt."""


class Threshold(NamedTuple):
    """The least `score` and `likeness` of a hit that answers a prompt."""

    score: float
    likeness: float


BY_MEANING = Threshold(score=0.4, likeness=0.65)
BY_WORDS = Threshold(score=0.5, likeness=0.4)
"""For a search by words and meaning, and for one by words alone.

Chosen by `bench.py helps`, with and without `--crowded`, on its first history, so that at most
1 in 20 prompts gets entries of which none answers it: 54 of 114 that need one get it. The score
alone needs .45 for that, and answers 49. A curve fitted to twelve signs of a hit was no better.
"""


class PromptEntries(NamedTuple):
    """The text for the agent, "" if nothing answers the prompt, and the short ids of its
    entries.
    """

    text: str
    ids: Texts


def entries_for_prompt(
    ws: Workspace, prompt: str, folder: Path, seen: Collection[str], *, by_meaning: bool
) -> PromptEntries:
    """Returns the entries that answer a prompt sent in this folder, without those that have
    their short id in `seen`. It searches by words alone unless `by_meaning`.

    Reads of a hook are not counted, neither as reads of the entries nor as searches.
    """
    if len(search_terms(prompt)) < MIN_WORDS:
        return PromptEntries("", ())
    config = replace(ws.config, track_access=False, metrics=False)
    if not by_meaning:
        # the patterns of times and lists, which say little of a prompt, take long to compile
        config = replace(config, search=replace(config.search, analysis=False))
    project = working_project(config, checkout_around(folder, config))
    ask = partial(search, replace(ws, config=config), prompt, limit=LOOKED_AT, embed_ms=0)
    if project:
        ask = partial(ask, prefer=Filters(projects=(project_key(project),)))
    result = ask(strategy="hybrid" if by_meaning else "lexical")
    threshold = BY_WORDS if result.mode == "lexical" else BY_MEANING
    hits = [hit for hit in result.hits if hit.entry.short_id not in seen]
    hits = [hit for hit in hits if hit.score >= threshold.score]
    hits = [hit for hit in hits if hit.likeness >= threshold.likeness][:MOST_ENTRIES]
    if not hits:
        return PromptEntries("", ())
    entries = fenced_titles("on this prompt", [hit_line(hit) for hit in hits])
    return PromptEntries(
        f"{HEAD} {DATA_FOLLOWS}\n{entries}", tuple(hit.entry.short_id for hit in hits)
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

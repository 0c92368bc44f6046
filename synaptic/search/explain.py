"""Shows, as JSON, how a question or a note is understood with the tags, projects and files of
this journal.
"""

import math
from collections import Counter
from dataclasses import replace
from typing import Any

from ..index.lists import list_named_files
from ..language.analysis.analyze import EntityMention, JournalNames, analyze
from ..language.lexicon import STOP_WORDS
from ..language.normalize import normalize
from ..language.query import MAX_QUERY
from ..language.words import words
from ..models import Json
from ..notes.header import shorten
from ..notes.privacy import without_private
from ..workspace.sync import SyncReport, in_step
from ..workspace.workspace import Workspace
from .near import suggest_tags
from .plan import SHOWN_CHARACTERS, plan_as_json
from .planner import make_plan, read_question_of_journal
from .search import make_request

MAX_KEYWORDS = 12
"""The number of keywords that an analysis shows. By eye."""


def analyze_question(ws: Workspace, query: str, **options: Any) -> Json:
    """The analysis of a question and the plan of its search, as JSON; nothing is searched.
    `options` are those of the search: see `make_request`.

    The plan is the one that this search runs. Type, complexity, intent, names and keywords are
    shown only: no search uses them.
    """
    request = make_request(ws, query, **options)

    def run(_: SyncReport) -> Json:
        plan = make_plan(ws, request)
        asked = read_question_of_journal(ws, query, today=request.now.date())
        analysis = analyze(
            query, asked, JournalNames(*ws.index.vocabulary(), list_named_files(ws.index))
        )
        complexity = {"estimated_complexity": analysis["complexity"]}
        notices = (plan.nothing,) if plan.nothing else plan.parsed.notices
        keywords = _best_keywords(ws, analysis["text"])
        read = {name: shorten_texts(value) for name, value in analysis.items()}
        return read | {
            "keywords": shorten_texts(keywords),
            "plan": plan_as_json(plan) | complexity,
            "notices": notices,
        }

    return in_step(ws, run)


def shorten_texts(value: Any) -> Any:
    """The value with each text in it cut to SHOWN_CHARACTERS."""
    if isinstance(value, str):
        return shorten(value, SHOWN_CHARACTERS)
    if isinstance(value, dict):
        return {name: shorten_texts(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [shorten_texts(each) for each in value]
    if isinstance(value, EntityMention):
        return replace(value, name=shorten_texts(value.name))
    return value


def analyze_note(ws: Workspace, text: str) -> Json:
    """The analysis of a note before it is saved, as if written today: its normalized text,
    keywords and tags, as JSON, without private passages.
    """
    text = without_private(text)
    plain, changes = normalize(text, on=ws.clock().date())

    def run(_: SyncReport) -> Json:
        return {
            "original": text,
            "normalized": plain,
            "changes": [{"from": c.was, "to": c.now, "kind": c.kind} for c in changes],
            "keywords": _best_keywords(ws, plain),
            "suggested_tags": suggest_tags(ws, text),
        }

    return in_step(ws, run)


def _best_keywords(ws: Workspace, text: str) -> list[Json]:
    """The words of a text with the highest tf-idf weights (frequent in the text, rare in the
    journal), best first; the first has the weight 1.
    """
    counts = Counter(word for _, word in words(text[:MAX_QUERY]) if len(word) > 1)
    total, passages = ws.index.document_counts(list(counts.keys() - STOP_WORDS))
    scores = {}
    for word, count in passages.items():
        scores[word] = (1 + math.log(counts[word])) * math.log((2 + total) / (1 + count))
    best = sorted(scores, key=lambda word: (-scores[word], word))[:MAX_KEYWORDS]
    return [{"term": word, "weight": round(scores[word] / scores[best[0]], 3)} for word in best]

"""Shows, as JSON, how a question or a note is understood with the tags, projects and files of
this journal.
"""

import math
from collections import Counter

from ..filters import Filters
from ..language.analysis.analyze import JournalNames, analyze
from ..language.analysis.plan import strategy_by_form
from ..language.lexicon import STOP_WORDS
from ..language.normalize import normalize
from ..language.query import MAX_QUERY, merge_filters, parse_query
from ..language.words import words
from ..models import Json
from ..notes.privacy import without_private
from ..workspace.sync import SyncReport, in_step
from ..workspace.workspace import Workspace
from .evidence import Request
from .near import suggest_tags
from .understanding import read_question_of_journal, understand

MAX_KEYWORDS = 12
"""The number of keywords that an analysis shows. By eye."""


def analyze_question(ws: Workspace, query: str) -> Json:
    """The analysis of a question and the plan of its search, as JSON; nothing is searched."""

    def run(_: SyncReport) -> Json:
        now = ws.clock()
        stop_words = ws.config.search.stop_words
        fields = ws.index.field_names
        tags, projects, files = ws.index.vocabulary()
        parsed = parse_query(
            query, Filters(), now=now, stop_words=stop_words, fields=fields, tags=lambda: tags
        )
        understood = understand(
            ws, Request(parsed=parsed, now=now, strategy=strategy_by_form(parsed))
        )
        notices = (understood.nothing,) if understood.nothing else understood.parsed.notices
        vocabulary = JournalNames(tags, projects, files)
        analysis = analyze(
            query, read_question_of_journal(ws, query, today=now.date()), vocabulary
        )
        plan = _plan_as_json(understood) | {"estimated_complexity": analysis["complexity"]}
        keywords = _best_keywords(ws, analysis["text"])
        return analysis | {"keywords": keywords, "plan": plan, "notices": notices}

    return in_step(ws, run)


def _plan_as_json(request: Request) -> Json:
    """The plan of a search as JSON: its strategy, and the filters that it requires or
    prefers.
    """
    filters = merge_filters(request.filters, request.prefer)
    layer: str = request.strategy
    if not request.parsed.terms:
        is_timed = filters.since or filters.until
        layer = "temporal" if is_timed and not (filters.types or filters.tags) else "symbolic"
    values = {}
    for name in ("types", "projects", "tags", "since", "until"):
        value = getattr(filters, name)
        if value:
            values[name] = value if isinstance(value, str) else ", ".join(value)
    query = {"id": "q1", "query": request.parsed.text, "layer": layer, "priority": 1}
    only = query | {"filters": values, "depends_on": []}
    return {"sub_queries": [only], "execution": "parallel", "merge": "weighted"}


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

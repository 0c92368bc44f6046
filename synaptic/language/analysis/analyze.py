"""What a question asks for: kind, time, names, words, and a plan of searches. Pure: rules in small tables, no model.

The rules read English; of any other text they say `factual`, `general`, `low`, and its words are still its keywords.

| module     | says                                                                    |
|------------|-------------------------------------------------------------------------|
| `only`     | whether the time that `timephrase` found is a filter                    |
| `mentions` | what is named, by the journal's own words (`names`: by its form)        |
| `decide`   | type, complexity and intent, from what `question` shows of `features`   |
| `keywords` | which words tell something                                              |
| `plan`     | what to search for                                                      |
"""

from __future__ import annotations

from datetime import date

from ..timephrase import find_time, is_recent
from .decide import decide
from .keywords import keywords_of, types_named
from .mentions import mentions_of
from .only import is_only, without_only
from .plan import plan_of
from .question import Question
from .shapes import Analysis, Known, Target

READ_CHARACTERS = 2_000
"""Of a longer text only the beginning is analysed; a pasted page asks nothing in its middle."""

MAX_ENTITIES = 24


def analyze(query: str, *, known: Known, today: date, week_start: int = 0) -> Analysis:
    """What the query asks for, and how to search for it. Any text has an analysis; the empty one is a plain fact.

    | query                                     | type        | intent    | complexity |
    |-------------------------------------------|-------------|-----------|------------|
    | "What port does the worker use?"          | factual     | attribute | low        |
    | "When did we move to Postgres?"           | temporal    | temporal  | low        |
    | "Is Redis or Postgres better for queues?" | comparative | general   | medium     |
    """
    read = " ".join(query[:READ_CHARACTERS].replace("\u2019", "'").replace("\0", " ").split())
    found = find_time(read, today=today, week_start=week_start)
    time_range, text = found if found else (None, read)
    only_time = time_range is not None and is_only(read, time_range.phrase)
    if only_time:
        text = without_only(text)
    mentions = mentions_of(text, known)
    entities = tuple(dict.fromkeys(mention.entity for mention in mentions))[:MAX_ENTITIES]
    question = Question(read, entities, has_range=time_range is not None)
    decision = decide(question)
    return Analysis(
        query=query,
        text=(text + query[READ_CHARACTERS:]).strip(),
        intent=decision.intent,
        target=_target(question, decision.intent),
        temporal_reference="recent" if is_recent(read) else time_range.phrase if time_range else None,
        time_range=time_range,
        entities=entities,
        question_type=decision.question_type,
        complexity=decision.complexity,
        confidence=decision.confidence,
        info_types=decision.info_types,
        keywords=keywords_of(text, entities),
        prefer_types=types_named(question.line, known.types),
        prefer_tags=tuple(dict.fromkeys(m.tag for m in mentions if m.tag)),
        prefer_projects=tuple(dict.fromkeys(m.project for m in mentions if m.project)),
        prefer_files=tuple(dict.fromkeys(m.file for m in mentions if m.file)),
        only_time=only_time,
        plan=plan_of(text, decision.question_type, decision.complexity, entities, time_range),
    )


def _target(question: Question, intent: str) -> Target:
    attribute = question.find("attribute") if intent == "attribute" else None
    relation = question.find("binds") if intent == "relation" else None
    return Target(
        entity=question.entities[0].name if question.entities else None,
        attribute=next(filter(None, attribute.groups())) if attribute else None,
        relation=next(filter(None, relation.groups())) if relation else None,
    )

"""What only an analysis shows of a question: type, complexity, intent, names, keywords. Pure: rules in small tables.

The rules read English; of any other text they say `factual`, `general`, `low`, and its words are still its keywords.

| module     | says                                                                    |
|------------|-------------------------------------------------------------------------|
| `asked`    | time, type, tags: for every search too                                  |
| `plan`     | what is searched: for every search too                                  |
| `names`    | what is named                                                           |
| `decide`   | type, complexity and intent                                             |
"""

from __future__ import annotations

from itertools import islice

from ..lexicon import STOP_WORDS
from ..words import words
from .asked import QUESTIONS, Asked, Known
from .decide import Question, decide
from .names import entities_of
from .plan import Plan
from .shapes import Analysis, EntityMention, Keyword, Target

MAX_ENTITIES = 24
MAX_KEYWORDS = 64


def analyze(query: str, *, asked: Asked, plan: Plan, known: Known) -> Analysis:
    """What the query asks for. Any text has an analysis; the empty one is a plain fact.

    | query                                     | type        | intent    | complexity |
    |-------------------------------------------|-------------|-----------|------------|
    | "What port does the worker use?"          | factual     | attribute | low        |
    | "When did we move to Postgres?"           | temporal    | temporal  | low        |
    | "Is Redis or Postgres better for queues?" | comparative | general   | medium     |
    """
    entities = tuple(islice(dict.fromkeys(entities_of(asked.read, known)), MAX_ENTITIES))
    question = Question(asked.read, entities, has_range=asked.time_range is not None)
    decision = decide(question)
    return Analysis(
        query=query,
        asked=asked,
        target=_target(question, decision.intent),
        entities=entities,
        keywords=_keywords(asked.text, entities),
        plan=plan,
        **decision._asdict(),
    )


def _target(question: Question, intent: str) -> Target:
    attribute = question.find("attribute") if intent == "attribute" else None
    relation = question.find("binds") if intent == "relation" else None
    return Target(
        entity=question.entities[0].name if question.entities else None,
        attribute=next(filter(None, attribute.groups())) if attribute else None,
        relation=next(filter(None, relation.groups())) if relation else None,
    )


def _keywords(text: str, entities: tuple[EntityMention, ...]) -> tuple[Keyword, ...]:
    """The words that tell something, the weightiest first: names, identifiers and numbers, long words, the rest."""
    named = {word for entity in entities for _, word in words(entity.name)}
    weights: dict[str, float] = {}
    for start, word in words(text):
        if word not in STOP_WORDS:
            weights.setdefault(word, _weight(word, text[start : start + len(word)], named))
    ranked = sorted(weights.items(), key=lambda item: -item[1])
    return tuple(Keyword(word, weight) for word, weight in ranked[:MAX_KEYWORDS])


def _weight(word: str, written: str, named: set[str]) -> float:
    """How much a word tells by its form; every number by eye. Analyses show it, no ranking uses it."""
    if word in named:
        return 1.0
    if word in QUESTIONS.asking:
        return 0.2
    if any(letter.isdigit() for letter in word) or "_" in word or written[1:] != written[1:].lower():
        return 0.9
    return 0.7 if len(word) >= 7 else 0.6 if len(word) >= 4 else 0.4

"""The type, complexity, intent, names and keywords of a question. Pure: rules in tables.

The rules read English; of any other text they say `factual`, `general`, `low`, and its words
are still its keywords.

| module     | says                                                                    |
|------------|-------------------------------------------------------------------------|
| `asked`    | time, type, tags: for every search too                                  |
| `plan`     | what is searched: for every search too                                  |
| `names`    | what is named                                                           |

Features and the rows of types stand in `data/words/questions.toml`. To change a decision,
change a row; to change what a row notices, change its features.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..lexicon import STOP_WORDS, compiled
from ..words import words
from .asked import QUESTIONS, Asked
from .names import EntityMention, Known, Names

MAX_ENTITIES = 24
MAX_KEYWORDS = 64

QUESTION_TYPES = QUESTIONS.rows("types", "type", "features")
"""A type, and the features of which one must show. The first row that fits decides."""

DESCRIPTIONS, HAPPENED = QUESTIONS.ordered("descriptions"), ("what_did",)
INFO_TYPES, INFO_OF_TYPE = QUESTIONS.table("info_types"), QUESTIONS.table("info_of_type")

_OPENING = r"^\w+ ?"
_OPENING_WITH_WHEN = r"^(?:.{0,30}?\bwhen\b|\w+) ?"


@dataclass(frozen=True, slots=True)
class Target:
    """The aim of a question: the `attribute` of `entity`, or its `relation`."""

    entity: str | None = None
    attribute: str | None = None
    relation: str | None = None


@dataclass(frozen=True, slots=True)
class Keyword:
    """A word of the query in lower case; `weight` from 0 to 1 guesses from its form how much it
    tells.
    """

    term: str
    weight: float


@dataclass(frozen=True, slots=True)
class Analysis:
    """All that the words of a query tell, and the `plan` and the `notices` of a search without
    options for it.
    """

    query: str
    asked: Asked
    intent: str
    target: Target
    entities: tuple[EntityMention, ...]
    question_type: str
    complexity: str
    confidence: float
    info_types: tuple[str, ...]
    keywords: tuple[Keyword, ...]
    plan: Mapping[str, Any] = field(default_factory=dict)
    notices: tuple[str, ...] = ()


class Question:
    """One line of text, its entities, and whether it names a range of time.

    Its features are named patterns. They see the line in lower case, without the words that
    only ask to be told; those of the section `written` see it as it was written.
    """

    def __init__(
        self, written: str, entities: tuple[EntityMention, ...], *, has_range: bool
    ) -> None:
        plain = (
            compiled(QUESTIONS.pattern("asking_to_be_told"), re.IGNORECASE).sub(
                "", written, count=1
            )
            or written
        )
        self.written = compiled(QUESTIONS.pattern("short_is"), re.IGNORECASE).sub(
            r"\1 is", plain
        )
        self.line = self.written.lower()
        self.entities, self.has_range = entities, has_range
        self._features, self._written = (
            QUESTIONS.patterns("features"),
            QUESTIONS.patterns("written"),
        )

    def find(self, feature: str, start: int = 0) -> re.Match[str] | None:
        """The first match of the feature from that character on."""
        if feature in self._written:
            return compiled(self._written[feature]).search(self.written, start)
        return compiled(self._features[feature]).search(self.line, start)

    def shows(self, *features: str, start: int = 0) -> bool:
        """True if any of the features shows from that character on."""
        return any(self.find(feature, start) for feature in features)

    def count(self, feature: str, start: int = 0) -> int:
        """The number of times that the feature shows from that character on."""
        return sum(1 for _ in compiled(self._features[feature]).finditer(self.line, start))


def analyze(query: str, asked: Asked, known: Known) -> Analysis:
    """The analysis of a query. Any text has one; the empty text is a plain fact.

    | query                                     | type        | intent    | complexity |
    |-------------------------------------------|-------------|-----------|------------|
    | "What port does the worker use?"          | factual     | attribute | low        |
    | "When did we move to Postgres?"           | temporal    | temporal  | low        |
    | "Is Redis or Postgres better for queues?" | comparative | general   | medium     |
    """
    entities = Names(asked.read, known).all()[:MAX_ENTITIES]
    question = Question(asked.read, entities, has_range=asked.time_range is not None)
    question_type, confidence = _question_type(question)
    complexity = _complexity(question, question_type)  # later decisions look at earlier ones
    intent = _intent(question, question_type, complexity)
    info_types = [value for feature, value in INFO_TYPES.items() if question.shows(feature)]
    info_types += [value for value, kind in INFO_OF_TYPE.items() if kind == question_type]
    return Analysis(
        query=query,
        asked=asked,
        intent=intent,
        target=_target(question, intent),
        entities=entities,
        question_type=question_type,
        complexity=complexity,
        confidence=confidence,
        info_types=tuple(dict.fromkeys(info_types)) or ("fact",),
        keywords=_keywords(asked.text, entities),
    )


def _question_type(question: Question) -> tuple[str, float]:
    """(type, confidence): the surer, the fewer other types fit too, and least where nothing is
    asked.
    """
    fitting = list(
        dict.fromkeys(value for value, features in QUESTION_TYPES if _fits(question, features))
    )
    if fitting:
        return fitting[0], round(max(0.5, 0.95 - 0.15 * (len(fitting) - 1)), 2)
    if not question.line:
        return "factual", 0.0
    return "factual", 0.7 if question.shows("asks") else 0.4


def _fits(question: Question, features: tuple[str, ...]) -> bool:
    if features == HAPPENED:
        return question.shows(*features) and (question.has_range or question.shows("in_time"))
    if features != DESCRIPTIONS:
        return question.shows(*features)
    itself = question.find("itself")
    return question.shows(*features, start=itself.end() if itself else 0)


def _complexity(question: Question, question_type: str) -> str:
    """low: one fact; medium: a condition, a time, two sides, a how or why; high: several
    clauses or hops.
    """
    opening = compiled(_OPENING_WITH_WHEN if question_type == "temporal" else _OPENING).match(
        question.line
    )
    rest = opening.end() if opening else 0
    clauses = question.count("second_clause")
    conditions = question.count("condition", rest) + (
        question.has_range and question_type != "temporal"
    )
    match question_type:
        # a short description without a verb of asking: "job of the friend who lent us the tent"
        case "multi-hop":
            return (
                "medium"
                if not question.shows("asks") and question.line.count(" ") < 10
                else "high"
            )
        case "comparative":
            many = (
                clauses
                or question.has_range
                or conditions > 1
                or question.shows("three_things")
            )
            return "high" if many else "medium"
        case "conceptual":
            return (
                "high"
                if clauses > 1 or (clauses and (conditions or question.shows("long")))
                else "medium"
            )
        case "aggregation":
            if clauses or conditions > 1 or question.shows("restriction"):
                return "high"
            return (
                "low"
                if question.shows("one_clause")
                and not (conditions or question.shows("summary"))
                else "medium"
            )
        case "temporal":
            if question.shows("asks_order", "time_between") and question.shows(
                "from_to", "restriction"
            ):
                return "high"
            conditions += question.shows("orders") + _fits(question, HAPPENED)
    conditions += question.shows("long")
    return "high" if clauses > 1 else "medium" if clauses or conditions else "low"


def _intent(question: Question, question_type: str, complexity: str) -> str:
    """temporal, relation, entity, attribute or general."""
    if question_type == "temporal" or question.shows("opens_with_when"):
        return "temporal"
    if question_type == "comparative":
        return "attribute" if question.shows("measured") else "general"
    if question.shows("binds"):
        return "relation"
    if question_type == "conceptual":
        return "general"
    if question_type == "aggregation":
        return _intent_of_many(question, complexity)
    if question_type == "multi-hop" and question.shows("leads_to"):
        return "relation"
    if question.shows("about", "a_thing"):
        return "entity"
    is_yes_or_no = question_type == "factual" and question.shows("yes_or_no")
    return "general" if is_yes_or_no or not question.line else "attribute"


def _intent_of_many(question: Question, complexity: str) -> str:
    if question.shows("counted"):
        return "attribute"
    named = any(
        one.type not in ("tool", "tag", "file") and not one.name.isupper()
        for one in question.entities
    )
    return (
        "entity" if complexity != "high" and (named or question.shows("about")) else "general"
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
    """The words that tell something, the weightiest first: names, identifiers and numbers, long
    words, the rest.
    """
    named = {word for entity in entities for _, word in words(entity.name)}
    weights: dict[str, float] = {}
    for start, word in words(text):
        if word not in STOP_WORDS:
            weights.setdefault(word, _weight(word, text[start : start + len(word)], named))
    ranked = sorted(weights.items(), key=lambda item: -item[1])
    return tuple(Keyword(word, weight) for word, weight in ranked[:MAX_KEYWORDS])


def _weight(word: str, written: str, named: set[str]) -> float:
    """The weight of a word by its form, by eye; analyses show it, no ranking uses it."""
    if word in named:
        return 1.0
    if word in QUESTIONS.asking:
        return 0.2
    if (
        any(letter.isdigit() for letter in word)
        or "_" in word
        or written[1:] != written[1:].lower()
    ):
        return 0.9
    return 0.7 if len(word) >= 7 else 0.6 if len(word) >= 4 else 0.4
